// A potential in a cube of n x n x n points, on that grid and on one half as fine.
#include "device.h"

// The points of one colour, every second of a line: a thread for each of them.
__global__ void relax_colour(float* u, const float* source, float weight, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + z + colour) % 2;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int i = (z * n + y) * n + x;
  const float around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n];
  u[i] += weight * ((around - source[i]) / 6 - u[i]);
}

// The same in double precision: a thread for each column, half of its points left out.
__global__ void relax_columns(double* u, const double* source, int colour, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    for (int z = 1; z < n - 1; z++) {
      if ((x + y + z) % 2 == colour)
        u[(z * n + y) * n + x] =
            (u[(z * n + y) * n + x - 1] + u[(z * n + y) * n + x + 1] + u[(z * n + y - 1) * n + x] +
             u[(z * n + y + 1) * n + x] + u[((z - 1) * n + y) * n + x] + u[((z + 1) * n + y) * n + x] -
             source[(z * n + y) * n + x]) /
            6.0;
    }
  }
}

// What is still wrong at each point, with a coefficient between the points: planes in registers.
__global__ void __launch_bounds__(256)
    residuals(const float* __restrict__ u, const float* __restrict__ source,
              const float* __restrict__ conductivity, float* __restrict__ out, int planes, int n) {
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int first = 1 + blockIdx.z * planes, last = min(first + planes, n - 1);
  int i = (first * n + y) * n + x;
  float below = u[i - n * n], here = u[i];
  for (int z = first; z < last; ++z) {
    const float above = u[i + n * n], k = conductivity[i];
    out[i] = source[i] - k * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + below + above - 6 * here);
    below = here;
    here = above;
    i += n * n;
  }
}

// To the coarse grid: the mean of 27 points, which are weighed by how near they are.
__global__ void to_coarse(const float* fine, float* coarse, int half) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= half || y >= half || z >= half) return;
  const int n = 2 * half;
  float sum = 0;
#pragma unroll
  for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx) {
        const float weight = (dx == 0 ? 0.5f : 0.25f) * (dy == 0 ? 0.5f : 0.25f) * (dz == 0 ? 0.5f : 0.25f);
        sum += weight * fine[((2 * z + dz) * n + 2 * y + dy) * n + 2 * x + dx];
      }
  coarse[(z * half + y) * half + x] = sum;
}

// The correction back to the fine grid, between up to eight coarse points.
__global__ void to_fine(const float* coarse, float* fine, int half) {
  const int n = 2 * half;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int x0 = x / 2, y0 = y / 2, z0 = z / 2;
  const int x1 = min(x0 + x % 2, half - 1), y1 = min(y0 + y % 2, half - 1), z1 = min(z0 + z % 2, half - 1);
  float sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int column = corner & 1 ? x1 : x0, row = corner & 2 ? y1 : y0, plane = corner & 4 ? z1 : z0;
    sum += coarse[(plane * half + row) * half + column];
  }
  fine[(z * n + y) * n + x] += 0.125f * sum;
}

// The size of the residual: four numbers at a time, in a loop over the grid.
__global__ void norm(const float4* in, float* squares, int quads) {
  __shared__ float part[16];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < 16 ? part[threadIdx.x] : 0;
  for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

void run(int n) {
  const int count = n * n * n, half = n / 2;
  float* u = device_floats(count);
  float* source = device_floats(count);
  float* conductivity = device_floats(count);
  float* out = device_zeros<float>(count);
  float* coarse = device_floats(half * half * half);
  double* doubles = device_doubles(half * half * half);
  double* sources = device_doubles(half * half * half);
  for (int r = 0; r < kLaunches; ++r)
    relax_colour<<<dim3(ceil_div(half, 32), ceil_div(n, 4), ceil_div(n, 2)), dim3(32, 4, 2)>>>(u, source,
                                                                                               1.1f, 0, n);
  for (int r = 0; r < kLaunches; ++r)
    relax_columns<<<dim3(ceil_div(half, 16), ceil_div(half, 16)), dim3(16, 16)>>>(doubles, sources, 1, half);
  for (int r = 0; r < kLaunches; ++r)
    residuals<<<dim3(ceil_div(n, 64), ceil_div(n, 4), ceil_div(n, 32)), dim3(64, 4)>>>(
        u, source, conductivity, out, 32, n);
  for (int r = 0; r < kLaunches; ++r)
    to_coarse<<<dim3(ceil_div(half, 32), ceil_div(half, 8), half), dim3(32, 8)>>>(out, coarse, half);
  for (int r = 0; r < kLaunches; ++r)
    to_fine<<<dim3(ceil_div(n, 64), ceil_div(n, 4), n), dim3(64, 4)>>>(coarse, u, half);
  for (int r = 0; r < kLaunches; ++r) norm<<<264, 512>>>((float4*)out, coarse, count / 4);
  free_all(u, source, conductivity, out, coarse, doubles, sources);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("multigrid");
}
