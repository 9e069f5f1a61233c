// Magnets of n x n spins, which turn by chance.
#include "device.h"

__device__ unsigned mix(unsigned v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

__device__ float chance(unsigned v) {
  return (mix(v) >> 8) * (1.0f / 16777216.0f);
}

// Spins up or down, a byte each, one colour of a chessboard at a time.
__global__ void turn_colour(signed char* spins, float heat, int colour, unsigned seed, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + colour) % 2;
  if (x >= n || y >= n) return;
  const int left = x > 0 ? x - 1 : n - 1, right = x < n - 1 ? x + 1 : 0;
  const int above = y > 0 ? y - 1 : n - 1, below = y < n - 1 ? y + 1 : 0;
  const int own = spins[y * n + x];
  const int around = spins[y * n + left] + spins[y * n + right] + spins[above * n + x] + spins[below * n + x];
  if (chance(y * n + x + seed) < expf(-2.0f * own * around / heat)) spins[y * n + x] = -own;
}

// 64 magnets at once, a bit of each word: how many neighbours differ by adders of bits.
__global__ void turn_words(unsigned long long* spins, unsigned* states, int colour, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= n || ((x + y) & 1) != colour) return;
  const int i = y * n + x;
  const unsigned long long own = spins[i];
  const unsigned long long a = own ^ spins[y * n + (x + 1) % n], b = own ^ spins[y * n + (x + n - 1) % n];
  const unsigned long long c = own ^ spins[(y + 1) % n * n + x], d = own ^ spins[(y + n - 1) % n * n + x];
  const unsigned long long ab = a ^ b, cd = c ^ d, both = ab & cd, two = (a & b) ^ (c & d) ^ both;
  const unsigned long long half = two | (a & b & c & d);
  unsigned state = states[i];
  unsigned long long rare = 0, rarer = ~0ull;
  for (int k = 0; k < 6; ++k) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const unsigned long long random = (unsigned long long)state << 32 | state * 2654435761u;
    rare = k % 2 ? rare & random : rare | random;
    rarer &= random;
  }
  states[i] = state;
  spins[i] = own ^ (half | ((ab ^ cd) & rare) | rarer);
}

// Eight kinds of spins: weights of each in an array of the thread, of which a random number chooses.
__global__ void choose_kinds(unsigned char* spins, const float* weights, int colour, unsigned seed, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + colour) % 2;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  int count[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  ++count[spins[i - 1] & 7];
  ++count[spins[i + 1] & 7];
  ++count[spins[i - n] & 7];
  ++count[spins[i + n] & 7];
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += weights[count[k]];
  float left = sum * chance(i ^ seed);
  int kind = 0;
  while (kind < 7) {
    left -= weights[count[kind]];
    if (left < 0) break;
    ++kind;
  }
  spins[i] = kind;
}

// Spins that point anywhere in the plane: each is reflected at the sum of its neighbours.
__global__ void reflect_angles(const float* __restrict__ angles, float* __restrict__ out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  __shared__ float2 tile[10][34];
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
    const int column = (blockIdx.x * 32 + k % 34 + n - 1) % n, row = (blockIdx.y * 8 + k / 34 + n - 1) % n;
    float sine, cosine;
    __sincosf(angles[row * n + column], &sine, &cosine);
    tile[k / 34][k % 34] = make_float2(cosine, sine);
  }
  __syncthreads();
  if (x >= n || y >= n) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float fx = tile[ty][tx - 1].x + tile[ty][tx + 1].x + tile[ty - 1][tx].x + tile[ty + 1][tx].x;
  const float fy = tile[ty][tx - 1].y + tile[ty][tx + 1].y + tile[ty - 1][tx].y + tile[ty + 1][tx].y;
  out[y * n + x] = 2 * atan2f(fy, fx) - atan2f(tile[ty][tx].y, tile[ty][tx].x);
}

// Energy and magnetisation of spins of a byte, sixteen for each thread at a time, in one row.
__global__ void measure(const int4* spins, long long* sums, int quads) {
  __shared__ int parts[2];
  if (threadIdx.x < 2) parts[threadIdx.x] = 0;
  __syncthreads();
  int up = 0, same = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const int4 v = spins[i];
    up += __popc(v.x & 0x80808080) + __popc(v.y & 0x80808080) + __popc(v.z & 0x80808080) +
          __popc(v.w & 0x80808080);
    same += __popc((v.x ^ v.y) & 0x80808080) + __popc((v.y ^ v.z) & 0x80808080) +
            __popc((v.z ^ v.w) & 0x80808080);
  }
  up = __reduce_add_sync(0xffffffffu, up);
  same = __reduce_add_sync(0xffffffffu, same);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&parts[0], up);
    atomicAdd(&parts[1], same);
  }
  __syncthreads();
  if (threadIdx.x < 2)
    atomicAdd((unsigned long long*)&sums[threadIdx.x], (unsigned long long)parts[threadIdx.x]);
}

void run(int n) {
  const int count = n * n;
  signed char* spins = device_array<signed char>(count, [](int i) {
    return static_cast<signed char>((static_cast<unsigned>(i) * 2654435761u >> 15 & 1) ? 1 : -1);
  });
  unsigned char* kinds = device_array<unsigned char>(count, [](int i) {
    return static_cast<unsigned char>(static_cast<unsigned>(i) * 2654435761u >> 11 & 7);
  });
  unsigned long long* words = device_array<unsigned long long>(
      count, [](int i) { return static_cast<unsigned long long>(i + 1) * 0x9e3779b97f4a7c15ull; });
  unsigned* states =
      device_array<unsigned>(count, [](int i) { return static_cast<unsigned>(i) * 2654435761u | 1; });
  float* weights = device_array<float>(8, [](int i) { return 1.0f + 2.0f * i; });
  float* angles = device_floats(count);
  float* out = device_zeros<float>(count);
  long long* sums = device_zeros<long long>(2);
  for (int r = 0; r < kLaunches; ++r)
    turn_colour<<<dim3(ceil_div(n, 64), ceil_div(n, 8)), dim3(32, 8)>>>(spins, 2.27f, 0, 17u, n);
  for (int r = 0; r < kLaunches; ++r) turn_words<<<dim3(ceil_div(n, 128), n), 128>>>(words, states, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    choose_kinds<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(16, 8)>>>(kinds, weights, 0, 99u, n);
  for (int r = 0; r < kLaunches; ++r)
    reflect_angles<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(angles, out, n);
  for (int r = 0; r < kLaunches; ++r) measure<<<132, 1024>>>((int4*)spins, sums, count / 16);
  free_all(spins, kinds, words, states, weights, angles, out, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("spin_models");
}
