// Threads of a warp that go different ways, by what their indices are.
#include "device.h"

constexpr int kCities = 12;
constexpr int kTours = 479001600;  // 12!

// Points of a square that the origin sees: their coordinates share no divisor. One half by Euclid's
// algorithm, the other half is its mirror image. Threads above the diagonal and those of two even coordinates
// leave early.
__global__ void visible_points(unsigned char* seen, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y > x) return;
  if (x % 2 == 1 && y % 2 == 1) return;
  unsigned a = x + 1, b = y + 1;
  while (b != 0) {
    const unsigned rest = a % b;
    a = b;
    b = rest;
  }
  seen[y * n + x] = a == 1;
  if (x != y) seen[x * n + y] = a == 1;
}

// How many steps Collatz's rule takes from each number to one.
__global__ void collatz_lengths(unsigned short* lengths, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned long long value = i + 1;
  int steps = 0;
  while (value != 1) {
    if (value & 1)
      value = 3 * value + 1;
    else
      value >>= 1;
    ++steps;
  }
  lengths[i] = static_cast<unsigned short>(steps);
}

// Six kinds of series: kRun threads in a row are of one kind, then comes the next kind.
template <int kRun>
__global__ void mixed_series(float* sums, int terms, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = (i % 1024 + 1) * (1.0f / 1024);
  float sum = 0;
  switch (i / kRun % 6) {
    case 0:  // harmonic
      for (int k = 1; k <= terms; ++k) sum += 1.0f / (x + k);
      break;
    case 1:  // geometric
      for (int k = 0; k < 4 * terms; ++k) sum = sum * x + 1;
      break;
    case 2:  // Fourier
      for (int k = 1; k <= terms; ++k) sum += sinf(k * x) * 0.5f;
      break;
    case 3: {  // square root by Newton's method
      sum = 1;
      for (int k = 0; k < terms; ++k) sum = 0.5f * (sum + __fdividef(x, sum));
      break;
    }
    case 4: {  // noise
      unsigned state = i * 2654435761u + 1;
      for (int k = 0; k < terms; ++k) {
        state = (state ^ state >> 15) * 0x2c1b3c6du;
        sum += (state >> 8) * (1.0f / 16777216);
      }
      break;
    }
    default:  // logistic map
      sum = x;
      for (int k = 0; k < 2 * terms; ++k) sum = 3.7f * sum * (1 - sum);
  }
  sums[i] = sum;
}

// Legendre polynomials at an angle for each row of blocks: the thread of degree l takes l steps. At each 64th
// step, which comes at another time for each thread, it takes the size out of its two numbers.
__global__ void legendre_terms(float* terms, float* scales, float angle, int degrees) {
  const int degree = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (degree >= degrees) return;
  const float x = cosf(angle * (row + 1));
  float before = 1, term = degree > 0 ? x : 1, scale = 0;
  for (int k = 1; k < degree; ++k) {
    const float next = __fdividef((2 * k + 1) * x * term - k * before, k + 1.0f);
    before = term;
    term = next;
    if ((k + degree) % 64 == 0) {
      const float size = sqrtf(before * before + term * term) + 1e-20f;
      scale += logf(size);
      before /= size;
      term /= size;
    }
  }
  terms[row * degrees + degree] = term;
  scales[row * degrees + degree] = scale;
}

// Energies of triples of atoms: each thread finds its triple by two binary searches of binomial coefficients.
__global__ void triple_energies(const float4* __restrict__ atoms, float* __restrict__ energies, int number,
                                int triples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= triples) return;
  int low = 2, high = number;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (middle * (middle - 1) * (middle - 2) / 6 <= i)
      low = middle;
    else
      high = middle;
  }
  const int c = low, rest = i - c * (c - 1) * (c - 2) / 6;
  low = 1;
  high = c;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (middle * (middle - 1) / 2 <= rest)
      low = middle;
    else
      high = middle;
  }
  const int b = low, a = rest - b * (b - 1) / 2;
  const float4 p = atoms[a], q = atoms[b], s = atoms[c];
  const float pq = (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z) + 0.01f;
  const float qs = (q.x - s.x) * (q.x - s.x) + (q.y - s.y) * (q.y - s.y) + (q.z - s.z) * (q.z - s.z) + 0.01f;
  const float sp = (s.x - p.x) * (s.x - p.x) + (s.y - p.y) * (s.y - p.y) + (s.z - p.z) * (s.z - p.z) + 0.01f;
  const float inverse = rsqrtf(pq * qs * sp), square = inverse * inverse;
  const float cosines = (pq + qs - sp) * (qs + sp - pq) * (sp + pq - qs) * 0.125f * square;
  energies[i] = p.w * q.w * s.w * (1 + 3 * cosines) * square * inverse;
}

// Round trips of twelve cities: the digits of a number in the factorial system choose the next of the cities
// that are left. Each block keeps its shortest trip.
__global__ void shortest_tours(const int* __restrict__ distances, int* __restrict__ best, int stride,
                               int count) {
  __shared__ int table[kCities * kCities];
  __shared__ int shortest;
  for (int k = threadIdx.x; k < kCities * kCities; k += blockDim.x) table[k] = distances[k];
  if (threadIdx.x == 0) shortest = 0x7fffffff;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int length = 0x7fffffff;
  if (i < count) {
    unsigned rest = i * stride, visited = 0;
    int first = 0, city = 0;
    length = 0;
#pragma unroll
    for (int left = kCities; left > 0; --left) {
      unsigned skip = rest % left;
      rest /= left;
      int next = 0;
      while (true) {
        if ((visited >> next & 1) == 0) {
          if (skip == 0) break;
          --skip;
        }
        ++next;
      }
      visited |= 1u << next;
      if (left == kCities)
        first = next;
      else
        length += table[city * kCities + next];
      city = next;
    }
    length += table[city * kCities + first];
  }
  length = __reduce_min_sync(0xffffffffu, length);
  if (threadIdx.x % 32 == 0) atomicMin(&shortest, length);
  __syncthreads();
  if (threadIdx.x == 0) best[blockIdx.x] = shortest;
}

void run(int n) {
  const int count = n * n, rows = n / 32;
  const int number = n / 8 + 32, triples = number * (number - 1) * (number - 2) / 6;
  unsigned char* seen = device_zeros<unsigned char>(count);
  unsigned short* lengths = device_zeros<unsigned short>(count);
  float* sums = device_zeros<float>(count);
  float* terms = device_zeros<float>(rows * n);
  float* scales = device_zeros<float>(rows * n);
  float4* atoms = device_array<float4>(number, [](int i) {
    return make_float4(10 * hashed_unit(3 * i), 10 * hashed_unit(3 * i + 1), 10 * hashed_unit(3 * i + 2), 1);
  });
  float* energies = device_zeros<float>(triples);
  int* distances = device_array<int>(kCities * kCities, [](int i) {
    return 10 + static_cast<int>(90 * hashed_unit(static_cast<unsigned>(i)));
  });
  int* best = device_zeros<int>(ceil_div(count, 512));
  for (int r = 0; r < kLaunches; ++r)
    visible_points<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(seen, n);
  for (int r = 0; r < kLaunches; ++r) collatz_lengths<<<ceil_div(count, 256), 256>>>(lengths, count);
  for (int r = 0; r < kLaunches; ++r) mixed_series<1><<<ceil_div(count, 128), 128>>>(sums, 16, count);
  for (int r = 0; r < kLaunches; ++r) mixed_series<64><<<ceil_div(count, 128), 128>>>(sums, 16, count);
  for (int r = 0; r < kLaunches; ++r)
    legendre_terms<<<dim3(ceil_div(n, 64), rows), 64>>>(terms, scales, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    triple_energies<<<ceil_div(triples, 192), 192>>>(atoms, energies, number, triples);
  for (int r = 0; r < kLaunches; ++r)
    shortest_tours<<<ceil_div(count, 512), 512>>>(distances, best, kTours / count, count);
  free_all(seen, lengths, sums, terms, scales, atoms, energies, distances, best);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("branching_threads");
}
