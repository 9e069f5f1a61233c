// Prefix sums of blocks, and what puts them together.
#include "device.h"

__global__ void scan_steps(const float* in, float* out) {
  __shared__ float part[2][512];
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  int from = 0;
  part[0][tid] = in[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    part[1 - from][tid] = tid >= s ? part[from][tid] + part[from][tid - s] : part[from][tid];
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][tid];
}

// Up and down a tree, two elements per thread; kPad spreads them over shared memory's banks.
template <bool kPad>
__global__ void scan_tree(const int* in, int* out, int* sums) {
  __shared__ int part[512 + 512 / 32];
  const int tid = threadIdx.x, first = blockIdx.x * 512;
  const auto at = [](int i) { return kPad ? i + i / 32 : i; };
  part[at(2 * tid)] = in[first + 2 * tid];
  part[at(2 * tid + 1)] = in[first + 2 * tid + 1];
  int offset = 1;
  for (int d = 256; d > 0; d /= 2) {
    __syncthreads();
    if (tid < d) part[at(offset * (2 * tid + 2) - 1)] += part[at(offset * (2 * tid + 1) - 1)];
    offset *= 2;
  }
  if (tid == 0) {
    sums[blockIdx.x] = part[at(511)];
    part[at(511)] = 0;
  }
  for (int d = 1; d < 512; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (tid < d) {
      const int a = at(offset * (2 * tid + 1) - 1), b = at(offset * (2 * tid + 2) - 1), t = part[a];
      part[a] = part[b];
      part[b] += t;
    }
  }
  __syncthreads();
  out[first + 2 * tid] = part[at(2 * tid)];
  out[first + 2 * tid + 1] = part[at(2 * tid + 1)];
}

__device__ double scan_warp(double value) {
  const int lane = threadIdx.x % 32;
  for (int s = 1; s < 32; s *= 2) {
    const double other = __shfl_up_sync(0xffffffffu, value, s);
    if (lane >= s) value += other;
  }
  return value;
}

__global__ void scan_by_warps(const double* in, double* out) {
  __shared__ double last[32];
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  double value = scan_warp(in[i]);
  if (tid % 32 == 31) last[tid / 32] = value;
  __syncthreads();
  if (tid < 32) last[tid] = scan_warp(tid < blockDim.x / 32 ? last[tid] : 0);
  __syncthreads();
  if (tid >= 32) value += last[tid / 32 - 1];
  out[i] = value;
}

__global__ void add_sums(int* data, const int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += sums[i / 512];
}

// A thread's own run of 16 elements, one after the other.
__global__ void scan_runs(const float* in, float* out, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (first + 16 > n) return;
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    sum += in[first + k];
    out[first + k] = sum;
  }
}

void run(int n) {
  float* in = device_floats(n);
  float* out = device_zeros<float>(n);
  int* keys = device_ints(n, 100);
  int* ranks = device_zeros<int>(n);
  int* sums = device_zeros<int>(n / 512);
  double* x = device_doubles(n);
  double* y = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) scan_steps<<<n / 256, 256>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) scan_steps<<<n / 512, 512>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) scan_tree<false><<<n / 512, 256>>>(keys, ranks, sums);
  for (int r = 0; r < kLaunches; ++r) scan_tree<true><<<n / 512, 256>>>(keys, ranks, sums);
  for (int r = 0; r < kLaunches; ++r) scan_by_warps<<<n / 1024, 1024>>>(x, y);
  for (int r = 0; r < kLaunches; ++r) add_sums<<<ceil_div(n, 256), 256>>>(ranks, sums, n);
  for (int r = 0; r < kLaunches; ++r) scan_runs<<<ceil_div(n, 16 * 128), 128>>>(in, out, n);
  free_all(in, out, keys, ranks, sums, x, y);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("scans");
}
