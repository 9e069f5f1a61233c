// A statistics package: n observations of 64 variables, and series and samples taken from the same numbers.
#include "device.h"

constexpr int kColumns = 64;
constexpr int kSlice = 256, kGroups = 16;

// Mean and standard deviation of each column in two passes, a thread for each column.
template <class T>
__global__ void column_spread(const T* data, T* means, T* deviations, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  T mean = 0, squares = 0;
  for (int i = 0; i < rows; i++) mean += data[i * columns + j];
  mean /= rows;
  for (int i = 0; i < rows; i++) squares += (data[i * columns + j] - mean) * (data[i * columns + j] - mean);
  T deviation = sqrt(squares / (rows - 1));
  means[j] = mean;
  deviations[j] = deviation <= T(0.1) ? T(1) : deviation;
}

// Covariance straight from the definition: a thread for each pair of variables and slice of the rows.
__global__ void covariance_naive(const float* data, const float* means, float* covariance) {
  int a = blockIdx.y * blockDim.y + threadIdx.y, b = blockIdx.x * blockDim.x + threadIdx.x;
  if (a >= kColumns || b >= kColumns || b < a) return;
  int first = blockIdx.z * kSlice;
  float sum = 0.0f;
  for (int r = first; r < first + kSlice; r++)
    sum += (data[r * kColumns + a] - means[a]) * (data[r * kColumns + b] - means[b]);
  sum /= kSlice - 1.0f;
  float* out = covariance + blockIdx.z * kColumns * kColumns;
  out[a * kColumns + b] = out[b * kColumns + a] = sum;
}

// Correlation with tiles of standardised rows in shared memory: 4 x 4 pairs for each thread.
template <int kRows>
__global__ void correlation_tiled(const float* __restrict__ data, const float* __restrict__ means,
                                  const float* __restrict__ deviations, float* result, int slice) {
  __shared__ float tile[kRows][kColumns];
  const int t = threadIdx.y * 16 + threadIdx.x;
  const float mean = means[t % kColumns], scale = 1 / deviations[t % kColumns];
  const float* rows = data + static_cast<size_t>(blockIdx.x) * slice * kColumns;
  float sums[4][4] = {};
  for (int start = 0; start < slice; start += kRows) {
#pragma unroll
    for (int k = t; k < kRows * kColumns; k += 256)
      tile[k / kColumns][k % kColumns] = (rows[start * kColumns + k] - mean) * scale;
    __syncthreads();
#pragma unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int k = 0; k < 16; ++k)
        sums[k / 4][k % 4] += tile[r][threadIdx.y * 4 + k / 4] * tile[r][threadIdx.x + 16 * (k % 4)];
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 16; ++k)
    atomicAdd(&result[(threadIdx.y * 4 + k / 4) * kColumns + threadIdx.x + 16 * (k % 4)],
              sums[k / 4][k % 4] / slice);
}

__device__ double warp_sum(double v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}

// The first four power sums: a grid-stride loop over groups of four, then shuffles, then one atomic a block.
__global__ void power_sums(const float4* __restrict__ data, double* totals, int count) {
  __shared__ double partial[4][32];
  double s[4] = {0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float4 v = data[i];
    const float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float square = x[k] * x[k];
      s[0] += x[k], s[1] += square;
      s[2] += square * x[k], s[3] += square * square;
    }
  }
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (int k = 0; k < 4; ++k) {
    const double sum = warp_sum(s[k]);
    if (lane == 0) partial[k][warp] = sum;
  }
  __syncthreads();
  if (warp >= 4) return;
  const double sum = warp_sum(lane < warps ? partial[warp][lane] : 0.0);
  if (lane == 0) atomicAdd(&totals[warp], sum);
}

struct Range {
  float low, high;
};

// One refinement of a quantile: how many values of each group lie in each bin of the group's range.
__global__ void refine_histogram(const float* data, const Range* ranges, unsigned* counts, int bins,
                                 int length) {
  extern __shared__ unsigned bin_counts[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) bin_counts[b] = 0;
  __syncthreads();
  const Range range = ranges[blockIdx.y];
  const float scale = bins / (range.high - range.low);
  const float* group = data + static_cast<size_t>(blockIdx.y) * length;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    const float v = group[i];
    if (v < range.low || v >= range.high) continue;
    atomicAdd(&bin_counts[min(static_cast<int>((v - range.low) * scale), bins - 1)], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (bin_counts[b] != 0) atomicAdd(&counts[blockIdx.y * bins + b], bin_counts[b]);
}

// Bootstrap: each thread draws a sample with replacement and keeps its mean.
__global__ void bootstrap_means(const float* sample, float* means, int draws, int size, int replicas) {
  const int replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= replicas) return;
  unsigned state = 0x9e3779b9u * (replica + 1) | 1u;
  float sum = 0;
  for (int d = 0; d < draws; ++d) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    sum += sample[__umulhi(state, size)];
  }
  means[replica] = sum / draws;
}

// Autocorrelation: the second index of the grid is the lag, a tree in shared memory adds up a block.
__global__ void autocorrelation(const double* series, double mean, double* out, int length) {
  __shared__ double tree[128];
  const int lag = blockIdx.y + 1;
  double sum = 0;
  for (int t = blockIdx.x * 128 + threadIdx.x; t + lag < length; t += gridDim.x * 128)
    sum += (series[t] - mean) * (series[t + lag] - mean);
  tree[threadIdx.x] = sum;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(out + blockIdx.y, tree[0] / length);
}

// Median of a window around each moment, sorted by exchanges in a private array.
template <int kWindow>
__global__ void rolling_median(const float* series, float* out, int length) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= length) return;
  float w[kWindow];
#pragma unroll
  for (int k = 0; k < kWindow; ++k) w[k] = series[min(max(t + k - kWindow / 2, 0), length - 1)];
#pragma unroll
  for (int end = kWindow - 1; end > 0; --end) {
#pragma unroll
    for (int k = 0; k < end; ++k) {
      const float low = fminf(w[k], w[k + 1]), high = fmaxf(w[k], w[k + 1]);
      w[k] = low, w[k + 1] = high;
    }
  }
  out[t] = w[kWindow / 2];
}

void run(int n) {
  const int length = 16 * n, wide = n / 2, blocks = ceil_div(n, 1024);
  float* data = device_array<float>(n * kColumns, [](int i) { return hashed_unit(i); });
  double* series = device_doubles(length);
  float* means = device_floats(n);
  float* spreads = device_floats(n);
  double* means2 = device_zeros<double>(n);
  double* sums = device_zeros<double>(64);
  float* out = device_zeros<float>(length);
  Range* ranges = device_array<Range>(kGroups, [](int g) { return Range{0.05f * g, 0.05f * g + 0.2f}; });
  unsigned* counts = device_zeros<unsigned>(kGroups * 1000);
  for (int r = 0; r < kLaunches; ++r)
    column_spread<<<ceil_div(wide, 64), 64>>>(data, means, spreads, 128, wide);
  for (int r = 0; r < kLaunches; ++r)
    column_spread<<<ceil_div(wide, 128), 128>>>(series, means2, means2 + wide, 32, wide);
  for (int r = 0; r < kLaunches; ++r)
    covariance_naive<<<dim3(4, 4, n / kSlice), dim3(16, 16)>>>(data, means, out);
  for (int r = 0; r < kLaunches; ++r)
    correlation_tiled<16><<<n / 512, dim3(16, 16)>>>(data, means, spreads, out, 512);
  for (int r = 0; r < kLaunches; ++r)
    correlation_tiled<64><<<n / 1024, dim3(16, 16)>>>(data, means, spreads, out, 1024);
  for (int r = 0; r < kLaunches; ++r)
    power_sums<<<min(blocks * 16, 1056), 256>>>((const float4*)data, sums, n * kColumns / 4);
  for (int r = 0; r < kLaunches; ++r)
    refine_histogram<<<dim3(min(blocks, 64), kGroups), 320, 4000>>>(data, ranges, counts, 1000, 4 * n);
  for (int r = 0; r < kLaunches; ++r)
    bootstrap_means<<<ceil_div(n / 4, 160), 160>>>(data, out, 400, n, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    autocorrelation<<<dim3(min(blocks, 128), 24), 128>>>(series, 0.4995, sums + 8, length);
  for (int r = 0; r < kLaunches; ++r) rolling_median<5><<<ceil_div(length, 192), 192>>>(data, out, length);
  for (int r = 0; r < kLaunches; ++r) rolling_median<9><<<ceil_div(length, 512), 512>>>(data, out, length);
  free_all(data, series, means, spreads, means2, sums, out, ranges, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("statistics_suite");
}
