// Gradients of the layers of image and text networks, as the backward pass of a training step needs them.
// n is the number of images in the batch; each has 64 channels of 32 x 32 values.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kChannels = 64, kSide = 32, kPlane = kSide * kSide;

struct Statistics {
  float mean, inverse_deviation;
};

__device__ double block_sum(double value, double* parts) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(0xffffffffu, value, offset);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
  __syncthreads();
  double sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += parts[warp];
  return sum;
}

// Gradient of a batch normalisation, a block per channel: two sums over the batch, then the inputs.
__global__ void batch_norm_gradient(const float* x, const float* dy, const Statistics* statistics,
                                    const float* scale, float* dscale, float* dshift, float* dx, int images) {
  __shared__ double parts[16];
  const int channel = blockIdx.x, count = images * kPlane;
  const Statistics s = statistics[channel];
  double sum = 0, dot = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int at = (i / kPlane * kChannels + channel) * kPlane + i % kPlane;
    sum += dy[at];
    dot += dy[at] * (x[at] - s.mean) * s.inverse_deviation;
  }
  sum = block_sum(sum, parts);
  dot = block_sum(dot, parts);
  if (threadIdx.x == 0) {
    dshift[channel] = sum;
    dscale[channel] = dot;
  }
  const float mean_sum = sum / count, mean_dot = dot / count, factor = scale[channel] * s.inverse_deviation;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int at = (i / kPlane * kChannels + channel) * kPlane + i % kPlane;
    dx[at] = factor * (dy[at] - mean_sum - (x[at] - s.mean) * s.inverse_deviation * mean_dot);
  }
}

// Gradient of a 3 x 3 maximum pooling with stride 2: each input asks the windows that it lies in.
__global__ void max_pool_gradient(const float* __restrict__ dy, const unsigned char* __restrict__ winners,
                                  float* __restrict__ dx) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int small = blockIdx.z * kPlane / 4;
  float sum = 0;
  for (int v = y / 2; v <= (y + 1) / 2 && v < kSide / 2; ++v) {
    for (int u = x / 2; u <= (x + 1) / 2 && u < kSide / 2; ++u) {
      const int cell = (y - 2 * v + 1) * 3 + x - 2 * u + 1, at = small + v * (kSide / 2) + u;
      if (winners[at] == cell) sum += dy[at];
    }
  }
  dx[blockIdx.z * kPlane + y * kSide + x] = sum;
}

// Gradient of a depthwise convolution for its inputs, a block per plane in a tile with a margin.
template <int kSize>
__global__ void depthwise_gradient(const float* dy, const float* weights, float* dx) {
  constexpr int kHalf = kSize / 2, kWide = kSide + 2 * kHalf;
  __shared__ float tile[kWide][kWide + 1];
  const int plane = blockIdx.x * kPlane;
  for (int i = threadIdx.y * kSide + threadIdx.x; i < kWide * kWide; i += kSide * blockDim.y) {
    const int x = i % kWide - kHalf, y = i / kWide - kHalf;
    const bool inside = x >= 0 && y >= 0 && x < kSide && y < kSide;
    tile[i / kWide][i % kWide] = inside ? dy[plane + y * kSide + x] : 0.0f;
  }
  __syncthreads();
  const float* w = weights + (blockIdx.x % kChannels) * kSize * kSize;
  for (int y = threadIdx.y; y < kSide; y += blockDim.y) {
    float sum = 0;
#pragma unroll
    for (int v = 0; v < kSize; ++v) {
#pragma unroll
      for (int u = 0; u < kSize; ++u)
        sum += w[(kSize - 1 - v) * kSize + kSize - 1 - u] * tile[y + v][threadIdx.x + u];
    }
    dx[plane + y * kSide + threadIdx.x] = sum;
  }
}

// Gradient of GELU in its form with the hyperbolic tangent, two half-precision values at a time.
__global__ void gelu_gradient(const __half2* x, const __half2* dy, __half2* dx, int pairs) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const float2 value = __half22float2(x[i]), change = __half22float2(dy[i]);
    const float in[2] = {value.x, value.y}, from[2] = {change.x, change.y};
    float out[2];
    for (int k = 0; k < 2; ++k) {
      const float square = in[k] * in[k], t = tanhf(0.7978846f * in[k] * (1 + 0.044715f * square));
      const float slope = 0.7978846f * (1 + 3 * 0.044715f * square);
      out[k] = from[k] * 0.5f * (1 + t + in[k] * (1 - t * t) * slope);
    }
    dx[i] = __floats2half2_rn(out[0], out[1]);
  }
}

// Gradient of a softmax over rows of kWidth values, a warp per row that it keeps in registers.
template <int kWidth>
__global__ void softmax_gradient(const float* probabilities, const float* dy, float* dx, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float p[kWidth / 32], d[kWidth / 32], dot = 0;
#pragma unroll
  for (int k = 0; k < kWidth / 32; ++k) {
    p[k] = probabilities[row * kWidth + k * 32 + lane];
    d[k] = dy[row * kWidth + k * 32 + lane];
    dot = fmaf(p[k], d[k], dot);
  }
  for (int mask = 1; mask < 32; mask <<= 1) dot += __shfl_xor_sync(0xffffffffu, dot, mask);
#pragma unroll
  for (int k = 0; k < kWidth / 32; ++k) dx[row * kWidth + k * 32 + lane] = p[k] * (d[k] - dot);
}

// Adds the gradient of each token to the row of its word, a block per token; word 0 is padding.
__global__ void embedding_gradient(const int* tokens, const float* dy, float* table, float rate) {
  const int word = tokens[blockIdx.x];
  if (word == 0) return;
  atomicAdd(&table[word * blockDim.x + threadIdx.x], -rate * dy[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Gradient of a dropout, whose mask is drawn again from the place of the values and a key.
__global__ void dropout_gradient(const float4* dy, float4* dx, unsigned key, float keep, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  unsigned a = i, b = 0, c = key, d = ~key;
#pragma unroll
  for (int round = 0; round < 7; ++round) {
    const unsigned high_a = __umulhi(a, 0xcd9e8d57u), high_c = __umulhi(c, 0xd2511f53u);
    const unsigned low_a = a * 0xcd9e8d57u, low_c = c * 0xd2511f53u;
    a = high_c ^ b ^ (key + round * 0x9e3779b9u);
    c = high_a ^ d ^ (~key + round * 0xbb67ae85u);
    b = low_c;
    d = low_a;
  }
  const unsigned limit = keep * 4294967040.0f;
  const float4 v = dy[i];
  const float s = 1 / keep;
  dx[i] = make_float4(a < limit ? v.x * s : 0, b < limit ? v.y * s : 0, c < limit ? v.z * s : 0,
                      d < limit ? v.w * s : 0);
}

// Gradient of a bilinear enlargement by two, gathered from the 4 x 4 large pixels around each small one.
__global__ void upsample_gradient(const float* dy, float* dx, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, low = kSide / 2;
  if (i >= count) return;
  const int x = i % low, y = i / low % low, plane = i / (low * low);
  float sum = 0;
  for (int v = max(2 * y - 1, 0); v <= min(2 * y + 2, kSide - 1); ++v) {
    const float from_y = fminf(fmaxf(0.5f * v - 0.25f, 0.0f), low - 1.0f);
    for (int u = max(2 * x - 1, 0); u <= min(2 * x + 2, kSide - 1); ++u) {
      const float from_x = fminf(fmaxf(0.5f * u - 0.25f, 0.0f), low - 1.0f);
      sum += (1 - fabsf(from_x - x)) * (1 - fabsf(from_y - y)) * dy[plane * kPlane + v * kSide + u];
    }
  }
  dx[i] = sum;
}

void run(int n) {
  const int planes = n * kChannels, all = planes * kPlane, tokens = n * 256;
  float* x = device_array<float>(all, [](int i) { return hashed_unit(i) * 2 - 1; });
  float* dy = device_array<float>(all, [](int i) { return hashed_unit(i + 77) - 0.5f; });
  float* dx = device_zeros<float>(all);
  __half2* halves = device_array<__half2>(all / 2, [](int i) { return __floats2half2_rn(i % 9 - 4, 0.3f); });
  __half2* half_out = device_zeros<__half2>(all / 2);
  float* weights = device_floats(kChannels * 25);
  float* sums = device_zeros<float>(2 * kChannels);
  float* table = device_zeros<float>(8192 * 256);
  Statistics* statistics =
      device_array<Statistics>(kChannels, [](int i) { return Statistics{i * 0.001f, 1.5f + i * 0.01f}; });
  unsigned char* winners = device_array<unsigned char>(
      all / 4, [](int i) { return static_cast<unsigned char>(hashed_unit(i) * 9); });
  int* words = device_array<int>(tokens, [](int i) { return int(hashed_unit(i) * hashed_unit(i) * 8191); });
  const dim3 rows(kSide, 8);
  for (int r = 0; r < kLaunches; ++r)
    batch_norm_gradient<<<kChannels, 512>>>(x, dy, statistics, weights, sums, sums + kChannels, dx, n);
  for (int r = 0; r < kLaunches; ++r)
    max_pool_gradient<<<dim3(2, 2, planes), dim3(16, 16)>>>(dy, winners, dx);
  for (int r = 0; r < kLaunches; ++r) depthwise_gradient<3><<<planes, rows>>>(dy, weights, dx);
  for (int r = 0; r < kLaunches; ++r) depthwise_gradient<5><<<planes, rows>>>(dy, weights, dx);
  for (int r = 0; r < kLaunches; ++r) gelu_gradient<<<792, 256>>>(halves, halves, half_out, all / 2);
  for (int r = 0; r < kLaunches; ++r) softmax_gradient<128><<<all / 512, 128>>>(x, dy, dx, all / 128);
  for (int r = 0; r < kLaunches; ++r) softmax_gradient<512><<<all / 4096, 256>>>(x, dy, dx, all / 512);
  for (int r = 0; r < kLaunches; ++r) embedding_gradient<<<tokens, 256>>>(words, dy, table, 0.01f);
  for (int r = 0; r < kLaunches; ++r)
    dropout_gradient<<<ceil_div(all / 4, 1024), 1024>>>((float4*)dy, (float4*)dx, 1234567u, 0.8f, all / 4);
  for (int r = 0; r < kLaunches; ++r) upsample_gradient<<<ceil_div(all / 4, 192), 192>>>(dy, dx, all / 4);
  free_all(x, dy, dx, halves, half_out, weights, sums, table, statistics, winners, words);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("layer_gradients");
}
