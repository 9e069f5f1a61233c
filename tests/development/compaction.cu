// What passes a test is written without gaps.
#include "device.h"

__global__ void ticket_each(const int* in, int* out, int* count, int below, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] < below) out[atomicAdd(count, 1) % n] = in[i];
}

__global__ void ticket_per_warp(const int* in, int* out, int* count, int below, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int value = i < n ? in[i] : below;
  const unsigned passed = __ballot_sync(0xffffffffu, value < below);
  int first = 0;
  if (lane == 0) first = atomicAdd(count, __popc(passed));
  first = __shfl_sync(0xffffffffu, first, 0);
  if (value < below) out[(first + __popc(passed & ((1u << lane) - 1))) % n] = value;
}

__global__ void ticket_per_block(const float* in, float* out, int* count, float below, int n) {
  __shared__ int before[256], first;
  const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  const float value = i < n ? in[i] : below;
  const int mine = value < below;
  before[tid] = mine;
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    const int add = tid >= s ? before[tid - s] : 0;
    __syncthreads();
    before[tid] += add;
    __syncthreads();
  }
  if (tid == 255) first = atomicAdd(count, before[255]);
  __syncthreads();
  if (mine) out[(first + before[tid] - 1) % n] = value;
}

__global__ void to_places(const float* in, const int* place, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && place[i] != place[i + 1]) out[place[i]] = in[i];
}

void run(int n) {
  int* in = device_ints(n, 1000);
  int* out = device_zeros<int>(n);
  int* count = device_zeros<int>(1);
  int* place = device_array<int>(n + 1, [](int i) { return i / 3; });
  float* values = device_floats(n);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) ticket_each<<<blocks, 256>>>(in, out, count, 100, n);
  for (int r = 0; r < kLaunches; ++r) ticket_per_warp<<<blocks, 256>>>(in, out, count, 500, n);
  for (int r = 0; r < kLaunches; ++r) ticket_per_block<<<blocks, 256>>>(values, (float*)out, count, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r) to_places<<<ceil_div(n, 512), 512>>>(values, place, (float*)out, n);
  free_all(in, out, count, place, values);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("compaction");
}
