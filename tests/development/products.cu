// Products of square matrices: naive at several block shapes, tiled in shared memory, several results per thread.
#include <cuda_fp16.h>

#include "device.h"

template <class T>
__global__ void multiply(const T* a, const T* b, T* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// b is given transposed: neighbouring threads read rows of it.
__global__ void multiply_by_transposed(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[column * n + k];
  c[row * n + column] = sum;
}

template <class T, int kTile>
__global__ void multiply_tiled(const T* a, const T* b, T* c, int n) {
  __shared__ T as[kTile][kTile], bs[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  T sum = 0;
  for (int t = 0; t < n; t += kTile) {
    as[y][x] = a[row * n + t + x];
    bs[y][x] = b[(t + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// A block of 16 x 16 threads makes a tile of 64 x 64.
__global__ void multiply_4x4(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int t = 0; t < n; t += 16) {
    for (int i = thread; i < 16 * 64; i += 256) {
      as[i % 16][i / 16] = a[(row + i / 16) * n + t + i % 16];
      bs[i / 64][i % 64] = b[(t + i / 64) * n + column + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float left[4], right[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) left[i] = as[k][y * 4 + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) right[j] = bs[k][x * 4 + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + y * 4 + i) * n + column + x * 4 + j] = sum[i][j];
}

__global__ void multiply_half(const __half* a, const __half* b, __half* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += __half2float(a[row * n + k]) * __half2float(b[k * n + column]);
  c[row * n + column] = __float2half(sum);
}

void run(int n) {
  float* a = device_floats(n * n);
  float* b = device_floats(n * n);
  float* c = device_zeros<float>(n * n);
  double* da = device_doubles(n * n);
  double* db = device_doubles(n * n);
  double* dc = device_zeros<double>(n * n);
  const dim3 square(16, 16), flat(32, 8), tall(8, 32), line(256, 1);
  const dim3 squares(ceil_div(n, 16), ceil_div(n, 16));
  for (int r = 0; r < kLaunches; ++r) multiply<float><<<squares, square>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply<float><<<dim3(ceil_div(n, 32), ceil_div(n, 8)), flat>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply<float><<<dim3(ceil_div(n, 8), ceil_div(n, 32)), tall>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) multiply<float><<<dim3(ceil_div(n, 256), n), line>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) multiply<double><<<squares, square>>>(da, db, dc, n);
  for (int r = 0; r < kLaunches; ++r) multiply_by_transposed<<<squares, square>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) multiply_tiled<float, 16><<<squares, square>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_tiled<float, 32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) multiply_tiled<double, 16><<<squares, square>>>(da, db, dc, n);
  for (int r = 0; r < kLaunches; ++r) multiply_4x4<<<dim3(n / 64, n / 64), square>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_half<<<squares, square>>>((__half*)a, (__half*)b, (__half*)c, n);
  free_all(a, b, c, da, db, dc);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("products");
}
