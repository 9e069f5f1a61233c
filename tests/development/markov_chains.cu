// Chains that go from each of n states to each other one: their n x n chances.
#include "device.h"

// Counts to chances: the sum of a row, then its numbers by the sum; a row per thread.
__global__ void counts_to_chances(const float* counts, float* chances, float more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = 0; j < n; j++) sum += counts[i * n + j] + more;
    for (int j = 0; j < n; j++) chances[i * n + j] = (counts[i * n + j] + more) / sum;
  }
}

// A step of two distributions at once, which stay where they are with some chance: a state per thread, the sums in
// memory.
__global__ void lazy_step(const double* chances, const double* now, double* next, double stay, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  next[2 * j] = stay * now[2 * j];
  next[2 * j + 1] = stay * now[2 * j + 1];
  for (int i = 0; i < n; ++i) {
    next[2 * j] += (1 - stay) * now[2 * i] * chances[i * n + j];
    next[2 * j + 1] += (1 - stay) * now[2 * i + 1] * chances[i * n + j];
  }
}

// How long it takes to one state from the others, a round of the equations: a row per thread.
__global__ void hitting_times(const float* chances, const float* now, float* next, int target, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 1;
  for (int j = 0; j < n; ++j)
    if (j != target) sum += chances[i * n + j] * now[j];
  next[i] = i == target ? 0 : sum;
}

// How uncertain the next state is: a warp for a row, four numbers for each of its threads.
__global__ void uncertainties(const float4* __restrict__ chances, float* __restrict__ out, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int j = lane; j < n / 4; j += 32) {
    const float4 p = chances[row * (n / 4) + j];
    sum -= p.x * __log2f(p.x + 1e-20f) + p.y * __log2f(p.y + 1e-20f) + p.z * __log2f(p.z + 1e-20f) +
           p.w * __log2f(p.w + 1e-20f);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) out[row] = sum;
}

// How much more goes from a state to those before it than comes back: a triangle, of which each thread has a row.
__global__ void one_way_flows(const double* chances, const double* weights, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 0;
  for (int j = 0; j < i; j++)
    out[i] += fabs(weights[i] * chances[i * n + j] - weights[j] * chances[j * n + i]);
}

// States in groups of 32: the chances from group to group, a block of 32 x 8 threads for each pair.
__global__ void groups(const float* chances, float* grouped, int n) {
  __shared__ float part[8];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += chances[(blockIdx.y * 32 + k * 8 + threadIdx.y) * n + column];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) part[threadIdx.y] = sum;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int k = 1; k < 8; ++k) sum += part[k];
    grouped[blockIdx.y * gridDim.x + blockIdx.x] = sum / 32;
  }
}

void run(int n) {
  const int count = n * n;
  double* chances = device_doubles(count);
  float* counts = device_floats(count);
  float* out = device_zeros<float>(count);
  double* now = device_doubles(2 * n);
  double* next = device_zeros<double>(2 * n);
  for (int r = 0; r < kLaunches; ++r) counts_to_chances<<<ceil_div(n, 128), 128>>>(counts, out, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r) lazy_step<<<ceil_div(n, 256), 256>>>(chances, now, next, 0.1, n);
  for (int r = 0; r < kLaunches; ++r)
    hitting_times<<<ceil_div(n, 64), 64>>>(out, (float*)now, (float*)next, 7, n);
  for (int r = 0; r < kLaunches; ++r) uncertainties<<<ceil_div(n, 8), 256>>>((float4*)out, (float*)next, n);
  for (int r = 0; r < kLaunches; ++r) one_way_flows<<<ceil_div(n, 32), 32>>>(chances, now, next, n);
  for (int r = 0; r < kLaunches; ++r) groups<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(counts, out, n);
  free_all(chances, counts, out, now, next);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("markov_chains");
}
