// n series of 512 values each.
#include "device.h"

constexpr int kLength = 512;

// The mean of the last `width` values, a series per thread, the series side by side: what leaves is read again.
__global__ void moving_means(const float* in, float* out, int width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int t = 0; t < kLength; ++t) {
    sum += in[t * n + i];
    if (t >= width) sum -= in[(t - width) * n + i];
    out[t * n + i] = sum / min(t + 1, width);
  }
}

// A level, a trend and a season of 12 for each series that lies in one piece: neighbours are 2 KiB apart.
__global__ void smooth_seasons(const float* in, float* forecasts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float season[12], level = 0, trend = 0;
  for (int k = 0; k < 12; ++k) season[k] = 1;
  int at = 0;
  for (int t = 0; t < kLength; ++t) {
    const float value = in[i * kLength + t], before = level;
    level = 0.3f * value / season[at] + 0.7f * (level + trend);
    trend = 0.1f * (level - before) + 0.9f * trend;
    season[at] = 0.2f * value / (level + 1e-3f) + 0.8f * season[at] + 1e-3f;
    at = at + 1 < 12 ? at + 1 : 0;
  }
  forecasts[i] = (level + trend) * season[at];
}

// How a series is like itself 0 to blockDim.x - 1 values ago: a block per series, a thread per distance, which has the
// more to do the shorter the distance is.
__global__ void like_itself(const float* in, float* out) {
  __shared__ float series[kLength];
  for (int t = threadIdx.x; t < kLength; t += blockDim.x) series[t] = in[blockIdx.x * kLength + t];
  __syncthreads();
  float sum = 0;
  for (int t = threadIdx.x; t < kLength; ++t) sum += series[t] * series[t - threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// How far two series of 128 are from each other when one may be stretched: diagonals, a barrier after each.
__global__ void warped_distances(const float* in, float* out) {
  __shared__ float a[128], b[128], cost[3][129];
  const int t = threadIdx.x;
  a[t] = in[blockIdx.x * kLength + t];
  b[t] = in[blockIdx.x * kLength + 128 + t];
  for (int k = t; k < 3 * 129; k += 128) cost[k / 129][k % 129] = 1e30f;
  __syncthreads();
  for (int d = 0; d < 255; ++d) {
    const int j = d - t;
    float* now = cost[(d + 2) % 3];
    if (j >= 0 && j < 128) {
      const float difference = a[t] - b[j];
      const float least =
          d == 0 ? 0 : fminf(cost[d % 3][t], fminf(cost[(d + 1) % 3][t], cost[(d + 1) % 3][t + 1]));
      now[t + 1] = fabsf(difference) + least;
    } else {
      now[t + 1] = 1e30f;
    }
    __syncthreads();
  }
  if (t == 127) out[blockIdx.x] = cost[(254 + 2) % 3][128];
}

// The median of each seven values, in order by a network, 16 results for each thread in a row.
__global__ void medians(const float* __restrict__ in, float* __restrict__ out, int count) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (first + 24 > count) return;
  float window[7];
#pragma unroll
  for (int k = 0; k < 7; ++k) window[k] = in[first + k];
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    float v[7];
#pragma unroll
    for (int k = 0; k < 7; ++k) v[k] = window[k];
#pragma unroll
    for (int pass = 0; pass < 7; ++pass)
#pragma unroll
      for (int k = pass % 2; k + 1 < 7; k += 2) {
        const float less = fminf(v[k], v[k + 1]);
        v[k + 1] = fmaxf(v[k], v[k + 1]);
        v[k] = less;
      }
    out[first + r] = v[3];
    window[r % 7] = in[first + 7 + r];
  }
}

// Where the series turns, by votes of a warp, and how long the longest rise in a part of 32 values is.
__global__ void turning_points(const float* in, int* turns, int* rises, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float here = in[i], left = __shfl_up_sync(0xffffffffu, here, 1),
              right = __shfl_down_sync(0xffffffffu, here, 1);
  const int lane = threadIdx.x % 32;
  const bool inside = lane > 0 && lane < 31;
  const unsigned turn = __ballot_sync(0xffffffffu, inside && (here > left) == (here > right));
  unsigned rise = __ballot_sync(0xffffffffu, lane > 0 && here > left);
  int length = 0;
  while (rise != 0) {
    rise &= rise >> 1;
    ++length;
  }
  if (lane == 0) {
    turns[i / 32] = turn;
    rises[i / 32] = length;
  }
}

void run(int n) {
  const int count = kLength * n;
  float* in = device_floats(count);
  float* out = device_zeros<float>(count);
  for (int r = 0; r < kLaunches; ++r) moving_means<<<ceil_div(n, 128), 128>>>(in, out, 20, n);
  for (int r = 0; r < kLaunches; ++r) smooth_seasons<<<ceil_div(n, 64), 64>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) like_itself<<<n, 96>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) like_itself<<<n, 256>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) warped_distances<<<n, 128>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) medians<<<ceil_div(count, 16 * 192), 192>>>(in, out, count);
  for (int r = 0; r < kLaunches; ++r)
    turning_points<<<ceil_div(count, 1024), 1024>>>(in, (int*)out, (int*)out + n * 16, count);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("time_series");
}
