// Statistics of n records of 32 columns: moments, correlations, histograms, quantiles, medians and samples.
#include "device.h"

constexpr int kColumns = 32, kDraws = 200;

__constant__ float kLevels[8] = {0.01f, 0.05f, 0.1f, 0.25f, 0.5f, 0.75f, 0.9f, 0.99f};

__device__ float warp_sum(float value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
  return value;
}

// Means, variances and moments of the records that a block reads, one record for each warp in turn.
__global__ void record_moments(const float* __restrict__ data, float4* moments, int n) {
  __shared__ float4 sums[8][kColumns];
  const int column = threadIdx.x, warp = threadIdx.y;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = blockIdx.x * 8 + warp; i < n; i += gridDim.x * 8) {
    const float value = data[i * kColumns + column] - 0.5f, square = value * value;
    sum.x += value;
    sum.y += square;
    sum.z += value * square;
    sum.w += square * square;
  }
  sums[warp][column] = sum;
  for (int half = 4; half > 0; half /= 2) {
    __syncthreads();
    if (warp >= half) continue;
    const float4 a = sums[warp][column], b = sums[warp + half][column];
    sums[warp][column] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
  if (warp > 0) return;
  sum = sums[0][column];
  const float part = static_cast<float>(gridDim.x) / n, mean = sum.x * part;
  const float variance = fmaxf(sum.y * part - mean * mean, 1e-6f);
  moments[blockIdx.x * kColumns + column] =
      make_float4(mean + 0.5f, sqrtf(variance), sum.z * part / powf(variance, 1.5f),
                  sum.w * part / (variance * variance) - 3);
}

// Correlations of all pairs of columns for each of gridDim.z parts, where columns lie one after another.
__global__ void pair_correlations(const float* __restrict__ data, float* __restrict__ correlations, int n) {
  __shared__ float parts[5][6];
  if (blockIdx.x < blockIdx.y) return;
  const float* first = data + blockIdx.x * n;
  const float* second = data + blockIdx.y * n;
  float sums[5] = {0, 0, 0, 0, 0};
  for (int i = blockIdx.z * blockDim.x + threadIdx.x; i < n; i += gridDim.z * blockDim.x) {
    const float x = first[i] - 0.5f, y = second[i] - 0.5f;
    sums[0] += x;
    sums[1] += y;
    sums[2] += x * x;
    sums[3] += y * y;
    sums[4] += x * y;
  }
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    const float sum = warp_sum(sums[k]);
    if (threadIdx.x % 32 == 0) parts[k][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 0; k < 5; ++k) {
    sums[k] = 0;
    for (int w = 0; w < 6; ++w) sums[k] += parts[k][w] * gridDim.z / n;
  }
  const float variances = (sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1]);
  correlations[(blockIdx.z * kColumns + blockIdx.y) * kColumns + blockIdx.x] =
      (sums[4] - sums[0] * sums[1]) * rsqrtf(variances + 1e-12f);
}

// A histogram for each block in shared memory, which joins the whole at the end.
template <class Key, int kBins>
__global__ void histogram(const Key* keys, unsigned* counts, int count) {
  __shared__ unsigned bins[kBins];
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[keys[i] % kBins], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x)
    if (bins[k] > 0) atomicAdd(&counts[k], bins[k]);
}

// A histogram of pairs in 16 * 16 bins. The lanes of a warp that have the same bin add once.
__global__ void joint_histogram(const float* x, const float* y, unsigned long long* counts, int n) {
  const int lane = threadIdx.x % 32;
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    const int i = start + threadIdx.x;
    const int bin = i < n ? min((int)(16 * x[i]), 15) * 16 + min((int)(16 * y[i]), 15) : -1;
    const unsigned same = __match_any_sync(0xffffffffu, bin);
    if (bin >= 0 && lane == __ffs(same) - 1) atomicAdd(&counts[bin], (unsigned long long)__popc(same));
  }
}

// How many values of a column are below each of eight levels, by ballots.
__global__ void count_below(const float* data, int* counts, int n) {
  int below[8] = {};
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    const int i = start + threadIdx.x;
    const float value = i < n ? data[blockIdx.y * n + i] : 2.0f;
#pragma unroll
    for (int k = 0; k < 8; ++k) below[k] += __popc(__ballot_sync(0xffffffffu, value < kLevels[k]));
  }
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (threadIdx.x % 32 == k) atomicAdd(&counts[blockIdx.y * 8 + k], below[k]);
}

// Normalised records, four columns for each thread. The means and the scales are loaded as vectors too.
__global__ void normalise(const float4* data, const float4* means, const float4* scales, float4* out, int n) {
  const int quad = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y;
  if (i >= n) return;
  const float4 value = data[i * 8 + quad], mean = means[quad], scale = scales[quad];
  out[i * 8 + quad] = make_float4((value.x - mean.x) / scale.x, (value.y - mean.y) / scale.y,
                                  (value.z - mean.z) / scale.z, (value.w - mean.w) / scale.w);
}

// A bit for each value that lies far from the mean of its column.
__global__ void flag_outliers(const float* data, unsigned* flags, float mean, float limit, int words, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  const bool far = i < n && fabsf(data[column * n + i] - mean) > limit;
  const unsigned bits = __ballot_sync(0xffffffffu, far);
  if (threadIdx.x % 32 == 0 && i / 32 < words) flags[column * words + i / 32] = bits;
}

// The median of each window, by insertion into a small array.
template <int kWindow>
__global__ void moving_medians(const float* __restrict__ data, float* __restrict__ medians, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sorted[kWindow];
#pragma unroll
  for (int k = 0; k < kWindow; ++k) {
    float value = data[blockIdx.y * n + min(max(i + k - kWindow / 2, 0), n - 1)];
#pragma unroll
    for (int j = 0; j < k; ++j) {
      const float smaller = fminf(sorted[j], value);
      value = fmaxf(sorted[j], value);
      sorted[j] = smaller;
    }
    sorted[k] = value;
  }
  medians[blockIdx.y * n + i] = sorted[kWindow / 2];
}

// Means of random samples with replacement, a sample for each thread.
__global__ void resample(const float* data, float* means, int count, int samples) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  unsigned long long state = 88172645463325252ull + sample * 2654435761ull;
  float sum = 0;
  for (int k = 0; k < kDraws; ++k) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    sum += data[__umulhi(static_cast<unsigned>(state >> 32), count)];
  }
  means[sample] = sum / kDraws;
}

void run(int n) {
  const int count = kColumns * n, keys = 8 * n, words = ceil_div(n, 32), blocks = min(528, n / 8);
  float* data = device_array<float>(count, [](int i) { return hashed_unit(i); });
  float4* means = device_array<float4>(8, [](int i) { return make_float4(0.5f, 0.4f, 0.45f, i / 16.0f); });
  float4* scales = device_array<float4>(8, [](int i) { return make_float4(0.3f, 0.2f, 0.25f, 0.4f); });
  float* out = device_zeros<float>(count);
  float4* moments = device_zeros<float4>(blocks * kColumns);
  float* correlations = device_zeros<float>(8 * kColumns * kColumns);
  unsigned char* bytes = device_array<unsigned char>(keys, [](int i) { return i * 2654435761u >> 24; });
  unsigned short* shorts = device_array<unsigned short>(keys, [](int i) { return 4000 * hashed_unit(i); });
  unsigned* counts = device_zeros<unsigned>(4096);
  unsigned long long* joint = device_zeros<unsigned long long>(256);
  int* below = device_zeros<int>(8 * kColumns);
  unsigned* flags = device_zeros<unsigned>(words * kColumns);
  for (int r = 0; r < kLaunches; ++r) record_moments<<<blocks, dim3(32, 8)>>>(data, moments, n);
  for (int r = 0; r < kLaunches; ++r)
    pair_correlations<<<dim3(kColumns, kColumns, 8), 192>>>(data, correlations, n);
  for (int r = 0; r < kLaunches; ++r)
    histogram<unsigned char, 256><<<min(1056, ceil_div(keys, 256)), 256>>>(bytes, counts, keys);
  for (int r = 0; r < kLaunches; ++r)
    histogram<unsigned short, 4096><<<min(264, ceil_div(keys, 1024)), 1024>>>(shorts, counts, keys);
  for (int r = 0; r < kLaunches; ++r)
    joint_histogram<<<min(792, ceil_div(4 * n, 320)), 320>>>(data, data + 4 * n, joint, 4 * n);
  for (int r = 0; r < kLaunches; ++r)
    count_below<<<dim3(min(40, ceil_div(n, 256)), kColumns), 256>>>(data, below, n);
  for (int r = 0; r < kLaunches; ++r)
    normalise<<<ceil_div(n, 16), dim3(8, 16)>>>((float4*)data, means, scales, (float4*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    flag_outliers<<<dim3(ceil_div(n, 512), kColumns), 512>>>(data, flags, 0.5f, 0.48f, words, n);
  for (int r = 0; r < kLaunches; ++r)
    moving_medians<5><<<dim3(ceil_div(n, 128), kColumns), 128>>>(data, out, n);
  for (int r = 0; r < kLaunches; ++r)
    moving_medians<9><<<dim3(ceil_div(n, 256), kColumns / 2), 256>>>(data, out, n);
  for (int r = 0; r < kLaunches; ++r) resample<<<ceil_div(n, 512), 64>>>(data, out, count, n / 8);
  free_all(data, means, scales, out, moments, correlations, bytes, shorts, counts, joint, below, flags);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("data_statistics");
}
