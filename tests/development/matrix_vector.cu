// Products of a square matrix and a vector.
#include "device.h"

template <class T>
__global__ void row_per_thread(const T* a, const T* x, T* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  y[row] = sum;
}

// The transposed matrix: a column per thread.
template <class T>
__global__ void column_per_thread(const T* a, const T* x, T* y, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  T sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * x[k];
  y[column] = sum;
}

template <class T>
__global__ void row_per_warp(const T* a, const T* x, T* y, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  T sum = 0;
  for (int k = lane; k < n; k += 32) sum += a[row * n + k] * x[k];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if (lane == 0) y[row] = sum;
}

__global__ void row_per_block(const float4* a, const float4* x, float* y, int n4) {
  __shared__ float part[128];
  const int tid = threadIdx.x;
  float sum = 0;
  for (int k = tid; k < n4; k += blockDim.x) {
    const float4 m = a[blockIdx.x * n4 + k], v = x[k];
    sum += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
  }
  part[tid] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = part[0];
}

void run(int n) {
  float* a = device_floats(n * n);
  float* x = device_floats(n);
  float* y = device_zeros<float>(n);
  double* da = device_doubles(n * n);
  double* dx = device_doubles(n);
  double* dy = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) row_per_thread<float><<<ceil_div(n, 128), 128>>>(a, x, y, n);
  for (int r = 0; r < kLaunches; ++r) row_per_thread<float><<<ceil_div(n, 32), 32>>>(a, x, y, n);
  for (int r = 0; r < kLaunches; ++r) column_per_thread<float><<<ceil_div(n, 128), 128>>>(a, x, y, n);
  for (int r = 0; r < kLaunches; ++r) column_per_thread<double><<<ceil_div(n, 64), 64>>>(da, dx, dy, n);
  for (int r = 0; r < kLaunches; ++r) row_per_warp<float><<<ceil_div(n, 8), 256>>>(a, x, y, n);
  for (int r = 0; r < kLaunches; ++r) row_per_warp<double><<<ceil_div(n, 4), 128>>>(da, dx, dy, n);
  for (int r = 0; r < kLaunches; ++r) row_per_block<<<n, 128>>>((float4*)a, (float4*)x, y, n / 4);
  free_all(a, x, y, da, dx, dy);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("matrix_vector");
}
