// Sweeps over grids of n * n and (n / 8) cubed cells: lines, colours, fields, filters and diagonals.
#include "device.h"

constexpr int kPlanes = 16;

__constant__ float kDecay[4] = {1.0f, 0.98f, 0.9f, 0.5f};
__constant__ float kGain[4] = {0.5f, 0.45f, 0.3f, 0.1f};

struct Fields {
  float *ex, *ey, *ez, *hx, *hy, *hz;
};

// The magnetic field of a step in time, a thread for each cell.
__global__ void update_magnetic(Fields f, float step, int d) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= d - 1 || y >= d - 1 || z >= d - 1) return;
  const int plane = d * d, i = z * plane + y * d + x;
  const float ex = f.ex[i], ey = f.ey[i], ez = f.ez[i];
  f.hx[i] -= step * (f.ez[i + d] - ez - f.ey[i + plane] + ey);
  f.hy[i] -= step * (f.ex[i + plane] - ex - f.ez[i + 1] + ez);
  f.hz[i] -= step * (f.ey[i + 1] - ey - f.ex[i + d] + ex);
}

// The electric field, kPlanes cells of a column for each thread. Tables have the constants of a material.
__global__ void update_electric(Fields f, const unsigned char* __restrict__ materials, int d) {
  const int x = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  const int y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= d || y >= d) return;
  const int first = 1 + blockIdx.z * kPlanes, last = min(first + kPlanes, d);
  int i = ((first - 1) * d + y) * d + x;
  float below_x = f.hx[i], below_y = f.hy[i];
  for (int z = first; z < last; ++z) {
    i += d * d;
    const int material = materials[i];
    const float decay = kDecay[material], gain = kGain[material];
    const float hx = f.hx[i], hy = f.hy[i], hz = f.hz[i];
    f.ex[i] = decay * f.ex[i] + gain * (hz - f.hz[i - d] - hy + below_y);
    f.ey[i] = decay * f.ey[i] + gain * (hx - below_x - hz + f.hz[i - 1]);
    f.ez[i] = decay * f.ez[i] + gain * (hy - f.hy[i - 1] - hx + f.hx[i - d]);
    below_x = hx;
    below_y = hy;
  }
}

// Implicit diffusion along x, a thread for each line. The factors of the elimination go to memory.
__global__ void sweep_x(float* u, float* factors, float a, int d) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
  if (y >= d) return;
  float* line = u + (z * d + y) * d;
  float* factor = factors + (z * d + y) * d;
  float last_factor = 0, last = 0;
  for (int x = 0; x < d; ++x) {
    const float scale = 1 / (1 + 2 * a - a * last_factor);
    last_factor = a * scale;
    last = (line[x] + a * last) * scale;
    factor[x] = last_factor;
    line[x] = last;
  }
  for (int x = d - 2; x >= 0; --x) {
    last = line[x] + factor[x] * last;
    line[x] = last;
  }
}

// The same along y (axis 1) or z (axis 2) with a table of the factors, which all lines share.
template <int kAxis>
__global__ void sweep_across(float* u, const float* __restrict__ factors, int d) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, other = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= d || other >= d) return;
  const int stride = kAxis == 1 ? d : d * d;
  const int start = x + other * (kAxis == 1 ? d * d : d);
  float last = 0;
  for (int k = 0; k < d; ++k) {
    last = factors[k] * (2.5f * u[start + k * stride] + last);
    u[start + k * stride] = last;
  }
#pragma unroll 4
  for (int k = d - 2; k >= 0; --k) {
    last = u[start + k * stride] + factors[k] * last;
    u[start + k * stride] = last;
  }
}

// Over-relaxation of the cells of one colour of a chessboard.
__global__ void relax_colour(double* u, const double* source, double omega, int colour, int n) {
  const int y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 1 + 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + colour) % 2;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const double rest = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i] - source[i];
  u[i] += omega / 4 * rest;
}

// Alternating directions: explicit along y, implicit along x in pieces of kPiece cells. A block solves a
// piece by parallel cyclic reduction.
template <int kPiece>
__global__ void alternate(const float* __restrict__ u, float* __restrict__ out, float a, int n) {
  __shared__ float4 equations[kPiece];
  const int t = threadIdx.x, x = blockIdx.x * kPiece + t, y = blockIdx.y;
  const bool inside = x < n;
  const float here = inside ? u[y * n + x] : 0;
  const float north = inside && y > 0 ? u[(y - 1) * n + x] : here;
  const float south = inside && y < n - 1 ? u[(y + 1) * n + x] : here;
  float lower = t > 0 ? -a : 0, diagonal = 1 + 2 * a, upper = t < kPiece - 1 ? -a : 0;
  float right = here + a * (north - 2 * here + south);
  for (int distance = 1; distance < kPiece; distance *= 2) {
    equations[t] = make_float4(lower, diagonal, upper, right);
    __syncthreads();
    const float4 none = make_float4(0, 1, 0, 0);
    const float4 before = t >= distance ? equations[t - distance] : none;
    const float4 after = t + distance < kPiece ? equations[t + distance] : none;
    const float left_factor = lower / before.y, right_factor = upper / after.y;
    lower = -left_factor * before.x;
    upper = -right_factor * after.z;
    diagonal -= left_factor * before.z + right_factor * after.x;
    right -= left_factor * before.w + right_factor * after.w;
    __syncthreads();
  }
  if (inside) out[y * n + x] = right / diagonal;
}

// A recursive filter of second order along each line and back, a thread for each row or column.
template <class T>
__global__ void filter_lines(const T* in, T* out, int step, int line_step, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n) return;
  T first = 0, second = 0;
  for (int k = 0; k < n; ++k) {
    const T next = T(0.2) * in[line * line_step + k * step] + T(1.2) * first - T(0.4) * second;
    second = first;
    first = next;
    out[line * line_step + k * step] = next;
  }
  first = second = 0;
  for (int k = n - 1; k >= 0; --k) {
    const T next = T(0.2) * out[line * line_step + k * step] + T(1.2) * first - T(0.4) * second;
    second = first;
    first = next;
    out[line * line_step + k * step] = next;
  }
}

// One diagonal of the tables that align pairs of sequences, blockIdx.y being the pair.
__global__ void align_diagonal(const unsigned char* sequences, const int* __restrict__ scores, short* tables,
                               int gap, int diagonal, int n) {
  const int i = max(1, diagonal - n + 1) + blockIdx.x * blockDim.x + threadIdx.x;
  const int j = diagonal - i;
  if (i >= n || j < 1) return;
  const unsigned char* first = sequences + 2 * blockIdx.y * n;
  const unsigned char* second = first + n;
  short* here = tables + blockIdx.y * n * n + i * n + j;
  const int both = here[-n - 1] + scores[4 * first[i] + second[j]];
  const int one = max(here[-n], here[-1]) - gap;
  *here = max(max(both, one), 0);
}

void run(int n) {
  const int d = n / 8, volume = d * d * d, pairs = 8;
  float* fields = device_floats(6 * volume);
  const Fields f = {fields,              fields + volume,     fields + 2 * volume,
                    fields + 3 * volume, fields + 4 * volume, fields + 5 * volume};
  unsigned char* materials = device_array<unsigned char>(volume, [](int i) { return i / 40 % 4; });
  float* factors = device_array<float>(d, [last = 0.0f](int) mutable {
    return last = 0.4f / (1.8f - 0.4f * last);
  });
  double* u = device_doubles(n * n);
  double* source = device_doubles(n * n);
  float* image = device_floats(n * n);
  float* out = device_zeros<float>(n * n);
  unsigned char* sequences =
      device_array<unsigned char>(2 * pairs * n, [](int i) { return (int)(4 * hashed_unit(i)); });
  int* scores = device_array<int>(16, [](int i) { return i % 5 == 0 ? 5 : -3; });
  short* tables = device_zeros<short>(pairs * n * n);
  for (int r = 0; r < kLaunches; ++r)
    update_magnetic<<<dim3(ceil_div(d, 32), ceil_div(d, 4), ceil_div(d, 2)), dim3(32, 4, 2)>>>(f, 0.5f, d);
  for (int r = 0; r < kLaunches; ++r)
    update_electric<<<dim3(ceil_div(d, 32), ceil_div(d, 8), ceil_div(d, kPlanes)), dim3(32, 8)>>>(
        f, materials, d);
  for (int r = 0; r < kLaunches; ++r) sweep_x<<<dim3(ceil_div(d, 64), d), 64>>>(f.ex, f.hz, 0.4f, d);
  for (int r = 0; r < kLaunches; ++r)
    sweep_across<1><<<dim3(ceil_div(d, 32), ceil_div(d, 4)), dim3(32, 4)>>>(f.ey, factors, d);
  for (int r = 0; r < kLaunches; ++r) sweep_across<2><<<dim3(ceil_div(d, 96), d), 96>>>(f.ez, factors, d);
  for (int r = 0; r < kLaunches; ++r)
    relax_colour<<<dim3(ceil_div(n, 64), ceil_div(n, 8)), dim3(32, 8)>>>(u, source, 1.6, 0, n);
  for (int r = 0; r < kLaunches; ++r) alternate<64><<<dim3(ceil_div(n, 64), n), 64>>>(image, out, 0.4f, n);
  for (int r = 0; r < kLaunches; ++r)
    alternate<192><<<dim3(ceil_div(n, 192), n), 192>>>(image, out, 0.4f, n);
  for (int r = 0; r < kLaunches; ++r) filter_lines<<<ceil_div(n, 32), 32>>>(image, out, 1, n, n);
  for (int r = 0; r < kLaunches; ++r) filter_lines<<<ceil_div(n, 128), 128>>>(source, u, n, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    align_diagonal<<<dim3(ceil_div(n, 128), pairs), 128>>>(sequences, scores, tables, 4, n, n);
  free_all(fields, materials, factors, u, source, image, out, sequences, scores, tables);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("implicit_grids");
}
