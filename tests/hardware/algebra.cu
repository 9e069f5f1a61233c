// Products of matrices and vectors, in single and double precision.
#include "device.h"

template <class T>
__global__ void multiply(const T* a, const T* b, T* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void multiply_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
    bs[y][x] = t + y < n && column < n ? b[(t + y) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void row_per_thread(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
  y[row] = sum;
}

__global__ void row_per_warp(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0;
  for (int k = threadIdx.x; k < columns; k += 32) sum += a[row * columns + k] * x[k];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if (threadIdx.x == 0) y[row] = sum;
}

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 250, rows = 1000, columns = 500;
  float* a = device_floats(rows * columns);
  float* b = device_floats(rows * columns);
  float* c = device_floats(rows * columns);
  const dim3 square(16, 16), flat(32, 8);
  for (int run = 0; run < kRuns; ++run)
    multiply<float><<<dim3(ceil_div(n, 16), ceil_div(n, 16)), square>>>(a, b, c, n);
  for (int run = 0; run < kRuns; ++run)
    multiply<float><<<dim3(ceil_div(n, 32), ceil_div(n, 8)), flat>>>(a, b, c, n);
  for (int run = 0; run < kRuns; ++run)
    multiply<double>
        <<<dim3(ceil_div(n, 16), ceil_div(n, 16)), square>>>((double*)a, (double*)b, (double*)c, n);
  for (int run = 0; run < kRuns; ++run)
    multiply_tiled<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), square>>>(a, b, c, n);
  for (int run = 0; run < kRuns; ++run) row_per_thread<<<ceil_div(rows, 128), 128>>>(a, b, c, rows, columns);
  for (int run = 0; run < kRuns; ++run) row_per_warp<<<ceil_div(rows, 8), flat>>>(a, b, c, rows, columns);
  for (int run = 0; run < kRuns; ++run) saxpy<<<ceil_div(100000, 256), 256>>>(2, a, b, 100000);
  return finish("algebra");
}
