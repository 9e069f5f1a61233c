// How far each of n points is from each other one, in several senses.
#include "device.h"

// Points of 64 numbers in a row each; a pair per thread.
__global__ void straight(const float* points, float* out, int dimensions, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    float sum = 0.0f;
    for (int k = 0; k < dimensions; k++) {
      float difference = points[i * dimensions + k] - points[j * dimensions + k];
      sum += difference * difference;
    }
    out[i * n + j] = sqrtf(sum);
  }
}

// Numbers in planes, the sum in memory.
__global__ void around_corners(const float* planes, float* out, int dimensions, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  out[i * n + j] = 0;
  for (int k = 0; k < dimensions; ++k)
    out[i * n + j] += fabsf(planes[k * n + i] - planes[k * n + j]) / (fabsf(planes[k * n + i]) + 0.5f);
}

// The lower triangle, a row per thread, in double precision: chords between places in space.
__global__ void chords(const double* points, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
  for (int j = 0; j < i; ++j) {
    const double dx = points[3 * j] - x, dy = points[3 * j + 1] - y, dz = points[3 * j + 2] - z;
    out[i * n + j] = sqrt(dx * dx + dy * dy + dz * dz);
  }
  out[i * n + i] = 0;
}

// Bells of the distance: tiles of 16 points of both sides in shared memory, 16 numbers at a time.
__global__ void bells(const float* points, float* out, float width, int dimensions, int n) {
  __shared__ float a[16][17], b[16][17];
  const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < dimensions; k += 16) {
    a[y][x] = i < n ? points[i * dimensions + k + x] : 0;
    b[y][x] = blockIdx.x * 16 + y < n ? points[(blockIdx.x * 16 + y) * dimensions + k + x] : 0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; ++q) {
      const float difference = a[y][q] - b[x][q];
      sum += difference * difference;
    }
    __syncthreads();
  }
  if (i < n && j < n) out[i * n + j] = expf(-sum * width);
}

// The largest difference: 64 x 64 pairs for a block, 4 x 4 of them in a thread's registers.
__global__ void __launch_bounds__(256)
    largest(const float* __restrict__ planes, float* __restrict__ out, int dimensions, int n) {
  __shared__ float a[8][64], b[8][64];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, left = blockIdx.x * 64, low = blockIdx.y * 64;
  float most[4][4];
#pragma unroll
  for (int p = 0; p < 4; ++p)
#pragma unroll
    for (int q = 0; q < 4; ++q) most[p][q] = 0;
  for (int k = 0; k < dimensions; k += 8) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int at = threadIdx.x + r * 256;
      a[at / 64][at % 64] = planes[(k + at / 64) * n + low + at % 64];
      b[at / 64][at % 64] = planes[(k + at / 64) * n + left + at % 64];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 8; ++d) {
      float u[4], v[4];
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        u[p] = a[d][y * 4 + p];
        v[p] = b[d][x + 16 * p];
      }
#pragma unroll
      for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q) most[p][q] = fmaxf(most[p][q], fabsf(u[p] - v[q]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 4; ++p)
#pragma unroll
    for (int q = 0; q < 4; ++q) out[(low + y * 4 + p) * n + left + x + 16 * q] = most[p][q];
}

// What two sets of 256 things have in common, as a share of what both have: bits; a column of 256 pairs a block.
__global__ void in_common(const ulonglong2* sets, short* out, int n) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x;
  if (i >= n) return;
  const ulonglong2 a = sets[2 * i], b = sets[2 * i + 1], c = sets[2 * j], d = sets[2 * j + 1];
  const int both = __popcll(a.x & c.x) + __popcll(a.y & c.y) + __popcll(b.x & d.x) + __popcll(b.y & d.y);
  const int any = __popcll(a.x | c.x) + __popcll(a.y | c.y) + __popcll(b.x | d.x) + __popcll(b.y | d.y);
  out[i * n + j] = 1000 * both / (any + 1);
}

void run(int n) {
  const int dimensions = 64;
  float* points = device_floats(dimensions * n);
  double* places = device_doubles(3 * n);
  double* out = device_zeros<double>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    straight<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(points, (float*)out, dimensions, n);
  for (int r = 0; r < kLaunches; ++r)
    around_corners<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(points, (float*)out, 24, n);
  for (int r = 0; r < kLaunches; ++r) chords<<<ceil_div(n, 64), 64>>>(places, out, n);
  for (int r = 0; r < kLaunches; ++r)
    bells<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(points, (float*)out, 0.1f, dimensions, n);
  for (int r = 0; r < kLaunches; ++r)
    largest<<<dim3(n / 64, n / 64), 256>>>(points, (float*)out, dimensions, n);
  for (int r = 0; r < kLaunches; ++r)
    in_common<<<dim3(n, ceil_div(n, 256)), dim3(1, 256)>>>((ulonglong2*)points, (short*)out, n);
  free_all(points, places, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("pairwise_distances");
}
