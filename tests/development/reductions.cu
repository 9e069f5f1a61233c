// Sums, maxima and dot products of arrays.
#include "device.h"

__global__ void sum_interleaved(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

// The same with neighbouring threads at work, whose accesses conflict in shared memory's banks.
__global__ void sum_strided(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  part[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    const int at = 2 * s * tid;
    if (at < blockDim.x) part[at] += part[at + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

template <class T>
__global__ void sum_eight_each(const T* in, T* out, int n) {
  __shared__ T part[32];
  const int tid = threadIdx.x, first = blockIdx.x * blockDim.x * 8 + tid;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = first + k * blockDim.x;
    if (i < n) sum += in[i];
  }
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if (tid % 32 == 0) part[tid / 32] = sum;
  __syncthreads();
  if (tid < 32) {
    sum = tid < blockDim.x / 32 ? part[tid] : 0;
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}

__global__ void maximum(const int* in, int* out, int n) {
  int most = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    most = max(most, in[i]);
  most = __reduce_max_sync(0xffffffffu, most);
  if (threadIdx.x % 32 == 0) atomicMax(out, most);
}

__global__ void dot(const double* x, const double* y, double* out, int n) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void run(int n) {
  float* in = device_floats(n);
  float* out = device_zeros<float>(ceil_div(n, 256));
  int* keys = device_ints(n, 1 << 20);
  int* most = device_zeros<int>(1);
  double* x = device_doubles(n);
  double* y = device_doubles(n);
  double* sums = device_zeros<double>(ceil_div(n, 1024));
  for (int r = 0; r < kLaunches; ++r) sum_interleaved<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) sum_strided<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) sum_eight_each<float><<<ceil_div(n, 8 * 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) sum_eight_each<double><<<ceil_div(n, 8 * 128), 128>>>(x, sums, n);
  for (int r = 0; r < kLaunches; ++r) maximum<<<ceil_div(n, 256 * 16), 256>>>(keys, most, n);
  for (int r = 0; r < kLaunches; ++r) dot<<<ceil_div(n, 512 * 16), 512>>>(x, y, sums, n);
  free_all(in, out, keys, most, x, y, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("reductions");
}
