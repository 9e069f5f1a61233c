// The state of some qubits, a complex number for each of their 2^qubits patterns: gates, and what is measured.
#include "device.h"

// A turn of one qubit: pairs of numbers that are 2^target apart.
__global__ void one_qubit(float2* state, int target, float along, float about, float over, int pairs) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= pairs) return;
  const int low = t & ((1 << target) - 1), i = (t - low) * 2 + low, j = i + (1 << target);
  const float2 u = state[i], v = state[j];
  state[i] = make_float2(along * u.x - about * u.y + over * v.x, along * u.y + about * u.x + over * v.y);
  state[j] = make_float2(along * v.x + about * v.y - over * u.x, along * v.y - about * v.x - over * u.y);
}

// A phase for each pattern: all neighbours in a ring act on each other, in double precision.
__global__ void ring_phases(double2* state, double angle, int qubits) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (1u << qubits)) return;
  unsigned turned = (i >> 1) | ((i & 1) << (qubits - 1));
  int energy = qubits - 2 * __popc(i ^ turned);
  double s, c;
  sincos(angle * energy, &s, &c);
  double2 value = state[i];
  state[i] = make_double2(value.x * c - value.y * s, value.x * s + value.y * c);
}

__constant__ float2 matrix[16];

// A gate on two qubits, a matrix of 4 x 4 in constant memory.
__global__ void two_qubits(float2* state, int first, int second, int quads) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= quads) return;
  int i = t;
  i = (i >> first << (first + 1)) | (i & ((1 << first) - 1));
  i = (i >> second << (second + 1)) | (i & ((1 << second) - 1));
  const int at[4] = {i, i | 1 << first, i | 1 << second, i | 1 << first | 1 << second};
  float2 in[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) in[k] = state[at[k]];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const float2 factor = matrix[4 * k + m];
      sum.x += factor.x * in[m].x - factor.y * in[m].y;
      sum.y += factor.x * in[m].y + factor.y * in[m].x;
    }
    state[at[k]] = sum;
  }
}

// The lowest ten qubits into superposition: 1024 numbers of a block in shared memory, a barrier for each qubit.
__global__ void superpose_lowest(float2* state) {
  __shared__ float2 part[1024];
  const int base = blockIdx.x * 1024, t = threadIdx.x;
  part[t] = state[base + t];
  part[t + 512] = state[base + t + 512];
  for (int target = 0; target < 10; ++target) {
    __syncthreads();
    const int low = t & ((1 << target) - 1), i = (t - low) * 2 + low, j = i + (1 << target);
    const float2 u = part[i], v = part[j];
    part[i] = make_float2(0.70710678f * (u.x + v.x), 0.70710678f * (u.y + v.y));
    part[j] = make_float2(0.70710678f * (u.x - v.x), 0.70710678f * (u.y - v.y));
  }
  __syncthreads();
  state[base + t] = part[t];
  state[base + t + 512] = part[t + 512];
}

// How likely each pattern of the lowest eight qubits is: a thread for each, which goes through some of the others.
__global__ void marginals(const float2* state, double* chances, int each) {
  const int low = threadIdx.x;
  double sum = 0;
  for (int k = 0; k < each; ++k) {
    const float2 value = state[(blockIdx.x * each + k) * 256 + low];
    sum += value.x * value.x + value.y * value.y;
  }
  atomicAdd(chances + low, sum);
}

// The mean of a product of spins: those of `flips` turn patterns into others, those of `signs` give a sign.
__global__ void mean_of_spins(const float2* __restrict__ state, double* mean, unsigned flips, unsigned signs,
                              unsigned count) {
  double sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float2 a = state[i], b = state[i ^ flips];
    const float product = a.x * b.x + a.y * b.y;
    sum += __popc(i & signs) % 2 == 0 ? product : -product;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(mean, sum);
}

void run(int qubits) {
  const int n = 1 << qubits;
  float2 table[16];
  for (int k = 0; k < 16; ++k) table[k] = make_float2(k % 5 == 0 ? 0.8f : 0.1f, 0.2f);
  cudaMemcpyToSymbol(matrix, table, sizeof table);
  double* state = device_doubles(2 * n);
  float* single = device_floats(2 * n);
  double* chances = device_zeros<double>(256);
  for (int r = 0; r < kLaunches; ++r)
    one_qubit<<<ceil_div(n / 2, 256), 256>>>((float2*)single, 3, 0.8f, 0.48f, 0.36f, n / 2);
  for (int r = 0; r < kLaunches; ++r)
    one_qubit<<<ceil_div(n / 2, 256), 256>>>((float2*)single, qubits - 2, 0.8f, 0.48f, 0.36f, n / 2);
  for (int r = 0; r < kLaunches; ++r) ring_phases<<<ceil_div(n, 128), 128>>>((double2*)state, 0.3, qubits);
  for (int r = 0; r < kLaunches; ++r)
    two_qubits<<<ceil_div(n / 4, 192), 192>>>((float2*)single, 1, qubits - 1, n / 4);
  for (int r = 0; r < kLaunches; ++r) superpose_lowest<<<n / 1024, 512>>>((float2*)single);
  for (int r = 0; r < kLaunches; ++r) marginals<<<n / (256 * 32), 256>>>((float2*)single, chances, 32);
  for (int r = 0; r < kLaunches; ++r)
    mean_of_spins<<<396, 256>>>((float2*)single, chances, 0x105u, 0x3a2u, (unsigned)n);
  free_all(state, single, chances);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("quantum_gates");
}
