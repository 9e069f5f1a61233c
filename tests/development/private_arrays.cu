// Arrays of each thread in local memory, and registers that are spilled there.
#include "device.h"

__global__ void count_own(const unsigned char* in, unsigned* out, int each, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned bins[32];
  for (int b = 0; b < 32; ++b) bins[b] = 0;
  for (int k = 0; k < each; ++k) ++bins[in[k * n + i] & 31];
  unsigned most = 0;
  for (int b = 0; b < 32; ++b) most = max(most, bins[b]);
  out[i] = most;
}

__global__ void sort_own(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int own[16];
  for (int k = 0; k < 16; ++k) {
    const int value = in[k * n + i];
    int at = k;
    while (at > 0 && own[at - 1] > value) {
      own[at] = own[at - 1];
      --at;
    }
    own[at] = value;
  }
  for (int k = 0; k < 16; ++k) out[k * n + i] = own[k];
}

// A binary tree of 1023 nodes in order of depth, walked with a stack.
__global__ void walk_tree(const float* tree, const float* limits, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[12], top = 0;
  stack[top++] = 0;
  const float limit = limits[i];
  float sum = 0;
  while (top > 0) {
    const int node = stack[--top];
    const float value = tree[node];
    sum += value;
    if (node < 511 && value > limit) {
      stack[top++] = 2 * node + 1;
      if (node % 3 == 0) stack[top++] = 2 * node + 2;
    }
  }
  out[i] = sum;
}

// More values alive than registers allow.
__global__ void __launch_bounds__(1024, 2) many_values(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[48];
#pragma unroll
  for (int k = 0; k < 48; ++k) v[k] = in[(i + k * 37) % n];
  for (int round = 0; round < 4; ++round)
#pragma unroll
    for (int k = 0; k < 48; ++k) v[k] = v[k] * v[(k + 17) % 48] + v[(k + 31) % 48];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 48; ++k) sum += v[k];
  out[i] = sum;
}

void run(int n) {
  int* in = device_ints(16 * n, 1 << 20);
  int* out = device_zeros<int>(16 * n);
  float* tree = device_floats(1023);
  float* values = device_floats(n);
  for (int r = 0; r < kLaunches; ++r)
    count_own<<<ceil_div(n, 128), 128>>>((unsigned char*)in, (unsigned*)out, 64, n);
  for (int r = 0; r < kLaunches; ++r) sort_own<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) walk_tree<<<ceil_div(n, 128), 128>>>(tree, values, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r) many_values<<<ceil_div(n, 1024), 1024>>>(values, (float*)out, n);
  free_all(in, out, tree, values);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("private_arrays");
}
