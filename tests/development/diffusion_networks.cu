// Layers of an image generator: 64 channels of n x n pixels, in planes or with the channels innermost.
#include "device.h"

#include <cuda_fp16.h>

constexpr int kChannels = 64, kHead = 32, kSteps = 1000;

struct Step {
  float keep, predicted, noise;
};
__constant__ Step schedule[kSteps];

__device__ float silu(float x) {
  return x / (1 + __expf(-x));
}

// Group normalisation and SiLU: a block for each group of channels.
__global__ void group_norm(const float* __restrict__ x, const float* __restrict__ gains,
                           float* __restrict__ out, int pixels, int channels) {
  __shared__ float sums[32], squares[32];
  const int base = blockIdx.x * channels * pixels, lane = threadIdx.x % 32;
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < channels * pixels; i += blockDim.x)
    sum += x[base + i], square += x[base + i] * x[base + i];
  for (int round = 0; round < 2; ++round) {
    for (int d = 16; d > 0; d /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, d);
      square += __shfl_xor_sync(0xffffffffu, square, d);
    }
    if (round == 1) break;
    if (lane == 0) sums[threadIdx.x / 32] = sum, squares[threadIdx.x / 32] = square;
    __syncthreads();
    sum = lane < blockDim.x / 32 ? sums[lane] : 0, square = lane < blockDim.x / 32 ? squares[lane] : 0;
  }
  const float mean = sum / (channels * pixels);
  const float scale = rsqrtf(square / (channels * pixels) - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < channels * pixels; i += blockDim.x)
    out[base + i] = silu((x[base + i] - mean) * scale * gains[blockIdx.x * channels + i / pixels]);
}

// A 3 x 3 convolution of planes: a thread has one pixel of four output channels.
__global__ void conv_planes(const float* x, const float* weights, float* out, int n) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= n || py >= n) return;
  float sums[4] = {0, 0, 0, 0};
  for (int c = 0; c < kChannels; c++)
    for (int ky = 0; ky < 3; ky++)
      for (int kx = 0; kx < 3; kx++) {
        int sx = px + kx - 1, sy = py + ky - 1;
        float v = sx >= 0 && sx < n && sy >= 0 && sy < n ? x[(c * n + sy) * n + sx] : 0.0f;
        for (int k = 0; k < 4; k++)
          sums[k] += v * weights[((blockIdx.z * 4 + k) * kChannels + c) * 9 + ky * 3 + kx];
      }
  for (int k = 0; k < 4; k++) out[((blockIdx.z * 4 + k) * n + py) * n + px] = sums[k];
}

// The same with the channels innermost and half precision: a thread for each output channel of a pixel.
__global__ void conv_channels_last(const __half* __restrict__ x, const __half* __restrict__ weights,
                                   __half* __restrict__ out, int n) {
  const int pixel = blockIdx.x * blockDim.y + threadIdx.y, co = threadIdx.x;
  if (pixel >= n * n) return;
  float sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    const int sx = pixel % n + tap % 3 - 1, sy = pixel / n + tap / 3 - 1;
    if (sx < 0 || sx >= n || sy < 0 || sy >= n) continue;
#pragma unroll 8
    for (int ci = 0; ci < kChannels; ++ci)
      sum += __half2float(x[(sy * n + sx) * kChannels + ci] *
                          weights[(tap * kChannels + ci) * kChannels + co]);
  }
  out[pixel * kChannels + co] = __float2half(sum);
}

// Twice as many pixels each way: the nearest one, or a mean of four by their distances.
template <bool kSmooth>
__global__ void upsample(const float* x, float* out, int n) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y, c = blockIdx.z;
  if (ox >= 2 * n) return;
  const float* plane = x + c * n * n;
  float value;
  if (kSmooth) {
    const float fx = fmaxf(0.5f * ox - 0.25f, 0.0f), fy = fmaxf(0.5f * oy - 0.25f, 0.0f);
    const int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, n - 1), y1 = min(y0 + 1, n - 1);
    const float a = fx - x0, b = fy - y0;
    value = (1 - b) * ((1 - a) * plane[y0 * n + x0] + a * plane[y0 * n + x1]) +
            b * ((1 - a) * plane[y1 * n + x0] + a * plane[y1 * n + x1]);
  } else {
    value = plane[oy / 2 * n + ox / 2];
  }
  out[(c * 2 * n + oy) * 2 * n + ox] = value;
}

// Attention over pixels with online softmax: a thread for each query, 32 keys and values in shared memory.
__global__ void pixel_attention(const float* q, const float* k, const float* v, float* out, int tokens) {
  __shared__ float keys[32][kHead], values[32][kHead];
  const int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y * tokens * kHead;
  float query[kHead], sums[kHead], most = -1e30f, total = 0;
  for (int d = 0; d < kHead; ++d) sums[d] = 0, query[d] = 0.177f * q[head + min(row, tokens - 1) * kHead + d];
  for (int start = 0; start < tokens; start += 32) {
    const int here = min(32, tokens - start);
    for (int i = threadIdx.x; i < here * kHead; i += blockDim.x) {
      keys[i / kHead][i % kHead] = k[head + start * kHead + i];
      values[i / kHead][i % kHead] = v[head + start * kHead + i];
    }
    __syncthreads();
    for (int j = 0; j < here; ++j) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < kHead; ++d) score += query[d] * keys[j][d];
      const float now = fmaxf(most, score), old = __expf(most - now), weight = __expf(score - now);
      most = now, total = total * old + weight;
#pragma unroll
      for (int d = 0; d < kHead; ++d) sums[d] = sums[d] * old + weight * values[j][d];
    }
    __syncthreads();
  }
  if (row >= tokens) return;
  for (int d = 0; d < kHead; ++d) out[head + row * kHead + d] = sums[d] / total;
}

// A step back along the noise schedule. The random numbers come from counters by rounds of wide products.
__global__ void denoise(const float2* image, const float2* predicted, float2* out, int step, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned a = i, b = step, key = 0x3c6ef372u;
#pragma unroll
  for (int round = 0; round < 7; ++round, key += 0x9e3779b9u) {
    const unsigned high = __umulhi(a, 0xcaf649a9u);
    a = a * 0xcaf649a9u ^ b, b = high ^ key;
  }
  const Step s = schedule[step];
  const float u = ((a >> 8) + 1) / 16777217.0f, angle = b * 1.4629180e-9f;
  const float radius = s.noise * sqrtf(-2 * logf(u));
  const float2 x = image[i], p = predicted[i];
  out[i] = make_float2(s.keep * x.x - s.predicted * p.x + radius * cosf(angle),
                       s.keep * x.y - s.predicted * p.y + radius * sinf(angle));
}

// Gated activation and residual add, two halves at a time.
__global__ void gated_residual(const __half2* pairs, __half2* stream, int width, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int at = i / width * 2 * width + i % width;
    const float2 gate = __half22float2(pairs[at + width]);
    const __half2 opened = __floats2half2_rn(silu(gate.x), silu(gate.y));
    stream[i] = __hfma2(pairs[at], opened, __hmul2(stream[i], __float2half2_rn(0.5f)));
  }
}

// A product of matrices of bytes, four of them in each word, in tiles of words.
template <int kTile>
__global__ void int8_product(const int* a, const int* b, float* out, float scale, int words, int columns) {
  __shared__ int left[kTile][kTile + 1], right[kTile][kTile + 1];
  const int row = blockIdx.x * kTile + threadIdx.y, first = blockIdx.y * kTile;
  int sum = 0;
  for (int start = 0; start < words; start += kTile) {
    left[threadIdx.y][threadIdx.x] = a[row * words + start + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * words + start + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum = __dp4a(left[threadIdx.y][k], right[threadIdx.x][k], sum);
    __syncthreads();
  }
  out[row * columns + first + threadIdx.x] = scale * sum;
}

void run(int n) {
  const int pixels = n * n, count = kChannels * pixels, tokens = n / 8 * (n / 8), each = tokens * 8 * kHead;
  float* x = device_array<float>(count, [](int i) { return 2 * hashed_unit(i) - 1; });
  float* weights = device_array<float>(40000, [](int i) { return 0.1f * hashed_unit(i) - 0.05f; });
  float* out = device_zeros<float>(count);
  float* wide = device_zeros<float>(4 * count);
  __half* halves = device_array<__half>(2 * count, [](int i) { return __half(i % 1000 * 0.002f - 1); });
  __half* stream = device_zeros<__half>(count);
  int* words = device_array<int>(count, [](int i) { return static_cast<int>((i + 1) * 2654435761u); });
  Step* steps = device_array<Step>(kSteps, [](int t) { return Step{1 - 1e-4f * t, 5e-4f * t, 1e-3f * t}; });
  cudaMemcpyToSymbol(schedule, steps, sizeof schedule, 0, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < kLaunches; ++r) group_norm<<<32, 1024>>>(x, weights, out, pixels, kChannels / 32);
  for (int r = 0; r < kLaunches; ++r)
    conv_planes<<<dim3(ceil_div(n, 32), ceil_div(n, 4), kChannels / 4), dim3(32, 4)>>>(x, weights, out, n);
  for (int r = 0; r < kLaunches; ++r)
    conv_channels_last<<<ceil_div(pixels, 3), dim3(kChannels, 3)>>>(halves, halves + 500, stream, n);
  for (int r = 0; r < kLaunches; ++r)
    upsample<false><<<dim3(ceil_div(2 * n, 64), 2 * n, kChannels), 64>>>(x, wide, n);
  for (int r = 0; r < kLaunches; ++r)
    upsample<true><<<dim3(ceil_div(2 * n, 128), 2 * n, kChannels), 128>>>(x, wide, n);
  for (int r = 0; r < kLaunches; ++r)
    pixel_attention<<<dim3(ceil_div(tokens, 64), 8), 64>>>(x, x + each, x + 2 * each, out, tokens);
  for (int r = 0; r < kLaunches; ++r)
    denoise<<<ceil_div(count / 2, 384), 384>>>((float2*)x, (float2*)out, (float2*)wide, 600, count / 2);
  for (int r = 0; r < kLaunches; ++r)
    gated_residual<<<min(count / 512, 792), 256>>>((__half2*)halves, (__half2*)stream, 32, count / 2);
  for (int r = 0; r < kLaunches; ++r)
    int8_product<32><<<dim3(pixels / 32, 8), dim3(32, 32)>>>(words, words, wide, 1e-4f, kChannels, 256);
  free_all(x, weights, out, wide, halves, stream, words, steps);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("diffusion_networks");
}
