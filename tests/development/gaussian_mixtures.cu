// n points in eight dimensions, and 16 bells that they came from.
#include "device.h"

constexpr int kBells = 16, kDimensions = 8;

__constant__ float centres[kBells * kDimensions], sharpness[kBells * kDimensions], weights[kBells];

// The logarithm of each bell at each point: dimensions of their own planes, one thread for a point.
__global__ void log_densities(const float* points, float* logs, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < kBells; k++) {
    float sum = weights[k];
    for (int d = 0; d < kDimensions; d++) {
      float difference = points[d * n + i] - centres[k * kDimensions + d];
      sum -= 0.5f * difference * difference * sharpness[k * kDimensions + d];
    }
    logs[i * kBells + k] = sum;
  }
}

// Which share of a point is each bell's: half a warp for a point.
__global__ void shares(float* logs, float* likelihoods, int n) {
  const int i = blockIdx.x * blockDim.y + threadIdx.y, k = threadIdx.x;
  const float value = i < n ? logs[i * kBells + k] : 0;
  float most = value;
#pragma unroll
  for (int step = 8; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step, 16));
  const float own = __expf(value - most);
  float sum = own;
#pragma unroll
  for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step, 16);
  if (i >= n) return;
  logs[i * kBells + k] = own / sum;
  if (k == 0) likelihoods[i] = most + logf(sum);
}

// What the new centres are made of: a thread for each bell and dimension, a block for some of the points.
__global__ void centre_sums(const float* points, const float* shares, float* sums, int each, int n) {
  const int k = threadIdx.x, d = threadIdx.y, first = blockIdx.x * each;
  float sum = 0;
  for (int i = first; i < first + each && i < n; ++i) sum += shares[i * kBells + k] * points[d * n + i];
  atomicAdd(sums + k * kDimensions + d, sum);
}

// How the dimensions of a bell's points go together: the lower triangle, each block its own sums in memory.
__global__ void covariance_sums(const float* points, const float* shares, double* sums, int each, int n) {
  const int d = threadIdx.x, e = threadIdx.y, k = blockIdx.x, part = blockIdx.y;
  if (e > d) return;
  const int at = ((part * kBells + k) * kDimensions + d) * kDimensions + e;
  sums[at] = 0;
  for (int i = part * each; i < min(n, part * each + each); ++i)
    sums[at] += shares[i * kBells + k] * (points[d * n + i] - centres[k * kDimensions + d]) *
                (points[e * n + i] - centres[k * kDimensions + e]);
}

// The distance of each point from one bell with a full covariance, by its triangular factor in shared memory.
template <int kSize>
__global__ void distances(const float* __restrict__ points, const double* __restrict__ factor,
                          double* __restrict__ out, int n) {
  __shared__ double lower[kSize * kSize];
  for (int k = threadIdx.x; k < kSize * kSize; k += blockDim.x) lower[k] = factor[k] + (k % (kSize + 1) == 0);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double z[kSize], sum = 0;
#pragma unroll
  for (int d = 0; d < kSize; ++d) {
    double value = points[d * n + i];
#pragma unroll
    for (int e = 0; e < d; ++e) value -= lower[d * kSize + e] * z[e];
    z[d] = value / lower[d * kSize + d];
    sum += z[d] * z[d];
  }
  out[i] = sqrt(sum);
}

// All likelihoods added, in double precision: a loop over the grid, then warps.
__global__ void add_likelihoods(const float4* in, double* total, int quads) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += static_cast<double>(v.x) + v.y + v.z + v.w;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

void run(int n) {
  float table[kBells * kDimensions];
  for (int k = 0; k < kBells * kDimensions; ++k) table[k] = k % 9 / 9.0f;
  cudaMemcpyToSymbol(centres, table, sizeof table);
  for (int k = 0; k < kBells * kDimensions; ++k) table[k] = 1 + k % 7;
  cudaMemcpyToSymbol(sharpness, table, sizeof table);
  cudaMemcpyToSymbol(weights, table, kBells * sizeof(float));
  const int each = 1024, parts = ceil_div(n, each);
  float* points = device_floats(kDimensions * n);
  float* logs = device_zeros<float>(kBells * n);
  double* out = device_zeros<double>(n);
  double* sums = device_zeros<double>(parts * kBells * kDimensions * kDimensions);
  for (int r = 0; r < kLaunches; ++r) log_densities<<<ceil_div(n, 256), 256>>>(points, logs, n);
  for (int r = 0; r < kLaunches; ++r) shares<<<ceil_div(n, 16), dim3(16, 16)>>>(logs, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    centre_sums<<<ceil_div(n, 256), dim3(kBells, kDimensions)>>>(points, logs, (float*)sums, 256, n);
  for (int r = 0; r < kLaunches; ++r)
    covariance_sums<<<dim3(kBells, parts), dim3(kDimensions, kDimensions)>>>(points, logs, sums, each, n);
  for (int r = 0; r < kLaunches; ++r) distances<8><<<ceil_div(n, 192), 192>>>(points, sums, out, n);
  for (int r = 0; r < kLaunches; ++r) add_likelihoods<<<132, 512>>>((float4*)out, sums, n / 4);
  free_all(points, logs, out, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("gaussian_mixtures");
}
