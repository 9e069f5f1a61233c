// Convolutions that keep channels apart, of n pictures of 64 channels of 32 x 32 numbers.
#include "device.h"

constexpr int kChannels = 64, kSide = 32, kPixels = kSide * kSide;

// Each channel by its own 3 x 3 weights, with tests at the edges.
__global__ void depthwise(const float* in, const float* weights, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int map = blockIdx.z;
  int channel = map % kChannels;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      if (x + dx >= 0 && x + dx < kSide && y + dy >= 0 && y + dy < kSide)
        sum += in[(map * kSide + y + dy) * kSide + x + dx] * weights[channel * 9 + (dy + 1) * 3 + dx + 1];
    }
  }
  out[(map * kSide + y) * kSide + x] = sum;
}

// A whole channel in shared memory, the sides of the weights known: four rows for each thread.
template <int kSize>
__global__ void __launch_bounds__(256)
    depthwise_shared(const float* __restrict__ in, const float* __restrict__ weights,
                     float* __restrict__ out) {
  constexpr int kEdge = kSize / 2, kWide = kSide + 2 * kEdge;
  __shared__ float tile[kWide][kWide + 1];
  __shared__ float weight[kSize * kSize];
  const int map = blockIdx.x, t = threadIdx.y * 32 + threadIdx.x;
  if (t < kSize * kSize) weight[t] = weights[map % kChannels * kSize * kSize + t];
  for (int k = t; k < kWide * kWide; k += 256) {
    const int x = k % kWide - kEdge, y = k / kWide - kEdge;
    const bool inside = x >= 0 && y >= 0 && x < kSide && y < kSide;
    tile[k / kWide][k % kWide] = inside ? in[map * kPixels + y * kSide + x] : 0;
  }
  __syncthreads();
  float sums[4] = {0, 0, 0, 0};
#pragma unroll
  for (int dy = 0; dy < kSize; ++dy)
#pragma unroll
    for (int dx = 0; dx < kSize; ++dx) {
      const float w = weight[dy * kSize + dx];
#pragma unroll
      for (int r = 0; r < 4; ++r) sums[r] += w * tile[threadIdx.y * 4 + r + dy][threadIdx.x + dx];
    }
#pragma unroll
  for (int r = 0; r < 4; ++r) out[map * kPixels + (threadIdx.y * 4 + r) * kSide + threadIdx.x] = sums[r];
}

// Groups of eight channels: what leaves in one channel comes from all eight of its group.
__global__ void grouped(const float* in, const float* weights, float* out, int group) {
  const int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y, channel = blockIdx.y;
  const int first = (blockIdx.z * kChannels + channel / group * group) * kPixels;
  float sum = 0;
  for (int c = 0; c < group; ++c)
    for (int dy = max(0, 1 - y); dy < min(3, kSide + 1 - y); ++dy)
      for (int dx = max(0, 1 - x); dx < min(3, kSide + 1 - x); ++dx)
        sum += in[first + c * kPixels + (y + dy - 1) * kSide + x + dx - 1] *
               weights[(channel * group + c) * 9 + dy * 3 + dx];
  out[(blockIdx.z * kChannels + channel) * kPixels + y * kSide + x] = sum;
}

// The nine neighbours of each pixel as nine planes, zeros at the edges.
__global__ void unfold(const float* __restrict__ in, float* __restrict__ planes, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int p = i % kPixels, k = i / kPixels % 9, map = i / (kPixels * 9);
    const int x = p % kSide + k % 3 - 1, y = p / kSide + k / 3 - 1;
    const bool inside = x >= 0 && y >= 0 && x < kSide && y < kSide;
    planes[i] = inside ? in[map * kPixels + y * kSide + x] : 0;
  }
}

// All 64 channels of a pixel mixed to 64 others: 16 of them for each thread, the weights in shared memory.
__global__ void pointwise(const float* __restrict__ in, const float* __restrict__ weights,
                          float* __restrict__ out) {
  __shared__ float4 weight[kChannels * 4];
  const int p = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 16,
            base = blockIdx.z * kChannels * kPixels;
  for (int k = threadIdx.x; k < kChannels * 16; k += 128)
    reinterpret_cast<float*>(weight)[k] = weights[k / 16 * kChannels + first + k % 16];
  __syncthreads();
  float sums[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) sums[k] = 0;
  for (int c = 0; c < kChannels; ++c) {
    const float value = in[base + c * kPixels + p];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float4 w = weight[c * 4 + k];
      sums[4 * k] += w.x * value;
      sums[4 * k + 1] += w.y * value;
      sums[4 * k + 2] += w.z * value;
      sums[4 * k + 3] += w.w * value;
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) out[base + (first + k) * kPixels + p] = sums[k];
}

// Twice as wide and high: each pixel takes those of the 5 x 5 weights that fall on one of the smaller picture.
__global__ void enlarge(const float* in, const float* weights, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            map = blockIdx.z;
  float sum = 0;
  for (int dy = 0; dy < 5; ++dy) {
    const int row = y + dy - 2;
    if (row % 2 != 0 || row < 0 || row >= 2 * kSide) continue;
    for (int dx = 0; dx < 5; ++dx) {
      const int column = x + dx - 2;
      if (column % 2 != 0 || column < 0 || column >= 2 * kSide) continue;
      sum += in[map * kPixels + row / 2 * kSide + column / 2] * weights[map % kChannels * 25 + dy * 5 + dx];
    }
  }
  out[(map * 2 * kSide + y) * 2 * kSide + x] = sum;
}

void run(int n) {
  const int maps = n * kChannels, count = maps * kPixels;
  float* in = device_floats(count);
  float* weights = device_floats(kChannels * kChannels * 9);
  float* out = device_zeros<float>(9 * count);
  for (int r = 0; r < kLaunches; ++r) depthwise<<<dim3(1, 4, maps), dim3(32, 8)>>>(in, weights, out);
  for (int r = 0; r < kLaunches; ++r) depthwise_shared<7><<<maps, dim3(32, 8)>>>(in, weights, out);
  for (int r = 0; r < kLaunches; ++r) grouped<<<dim3(8, kChannels, n), dim3(32, 4)>>>(in, weights, out, 8);
  for (int r = 0; r < kLaunches; ++r) unfold<<<1056, 256>>>(in, out, 9 * count);
  for (int r = 0; r < kLaunches; ++r) pointwise<<<dim3(8, 4, n), 128>>>(in, weights, out);
  for (int r = 0; r < kLaunches; ++r) enlarge<<<dim3(4, 4, maps), dim3(16, 16)>>>(in, weights, out);
  free_all(in, weights, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("grouped_convolutions");
}
