// n pictures of 32 channels of 32 x 32 numbers in a network: normalised over the batch, and pooled; there and back.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kChannels = 32, kSide = 32, kPixels = kSide * kSide;

// Mean and variance of a channel: a block for each, which goes through all pictures.
__global__ void channel_statistics(const float* in, float* means, float* variances, int pictures) {
  __shared__ float sums[8], squares[8];
  const int channel = blockIdx.x;
  float sum = 0, square = 0;
  for (int picture = 0; picture < pictures; ++picture)
    for (int p = threadIdx.x; p < kPixels; p += blockDim.x) {
      const float value = in[(picture * kChannels + channel) * kPixels + p];
      sum += value;
      square += value * value;
    }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, step);
    square += __shfl_down_sync(0xffffffffu, square, step);
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    squares[threadIdx.x / 32] = square;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) {
      sum += sums[k];
      square += squares[k];
    }
    const float count = static_cast<float>(pictures) * kPixels, mean = sum / count;
    means[channel] = mean;
    variances[channel] = square / count - mean * mean;
  }
}

// Four numbers for each thread, in a loop over the grid.
__global__ void normalise(const float4* __restrict__ in, float4* __restrict__ out,
                          const float* __restrict__ means, const float* __restrict__ variances,
                          const float* __restrict__ scales, int quads) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const int channel = i / (kPixels / 4) % kChannels;
    const float factor = scales[channel] * rsqrtf(variances[channel] + 1e-5f), mean = means[channel];
    const float4 v = in[i];
    out[i] = make_float4(fmaxf(0.0f, (v.x - mean) * factor), fmaxf(0.0f, (v.y - mean) * factor),
                         fmaxf(0.0f, (v.z - mean) * factor), fmaxf(0.0f, (v.w - mean) * factor));
  }
}

// What the scale and the shift of a channel get from each picture: a thread goes through one channel of one picture.
__global__ void backward_sums(const float* in, const float* gradient, const float* means,
                              const float* variances, float* scale_gradient, float* shift_gradient,
                              int pictures) {
  int channel = threadIdx.x;
  int picture = blockIdx.x * blockDim.y + threadIdx.y;
  if (picture >= pictures) return;
  float scale = 0.0f;
  float shift = 0.0f;
  for (int p = 0; p < kPixels; p++) {
    int at = (picture * kChannels + channel) * kPixels + p;
    scale += gradient[at] * (in[at] - means[channel]) / sqrtf(variances[channel] + 1e-5f);
    shift += gradient[at];
  }
  atomicAdd(&scale_gradient[channel], scale);
  atomicAdd(&shift_gradient[channel], shift);
}

// The gradient of the input, in half precision.
__global__ void backward_apply(const __half2* in, const __half2* gradient, __half2* out, const float* means,
                               const float* variances, const float* sums, float share, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const int channel = i / (kPixels / 2) % kChannels;
  const float factor = rsqrtf(variances[channel] + 1e-5f), mean = means[channel];
  const float2 x = __half22float2(in[i]), g = __half22float2(gradient[i]);
  const float first = (x.x - mean) * factor, second = (x.y - mean) * factor;
  const float a = sums[channel] * share, b = sums[kChannels + channel] * share;
  out[i] = __floats2half2_rn(factor * (g.x - b - first * a), factor * (g.y - b - second * a));
}

// The largest of 3 x 3, every second in both directions, and which of the nine it was.
__global__ void maximum_pool(const float* in, float* out, unsigned char* which) {
  const int x = threadIdx.x, y = threadIdx.y, map = blockIdx.x;
  float most = -1e30f;
  int place = 0;
  for (int k = 0; k < 9; ++k) {
    const int column = 2 * x + k % 3 - 1, row = 2 * y + k / 3 - 1;
    if (column < 0 || row < 0 || column >= kSide || row >= kSide) continue;
    const float value = in[map * kPixels + row * kSide + column];
    if (value > most) {
      most = value;
      place = k;
    }
  }
  out[(map * 16 + y) * 16 + x] = most;
  which[(map * 16 + y) * 16 + x] = place;
}

// The gradient before means of 5 x 5 at every place: each pixel gathers from 25 of them, fewer at the edge.
__global__ void mean_pool_backward(const float* gradient, float* out) {
  __shared__ float tile[kSide + 4][kSide + 5];
  const int map = blockIdx.x;
  for (int k = threadIdx.y * kSide + threadIdx.x; k < (kSide + 4) * (kSide + 4); k += kSide * blockDim.y) {
    const int x = k % (kSide + 4) - 2, y = k / (kSide + 4) - 2;
    tile[y + 2][x + 2] =
        x >= 0 && y >= 0 && x < kSide && y < kSide ? gradient[map * kPixels + y * kSide + x] : 0.0f;
  }
  __syncthreads();
  for (int y = threadIdx.y; y < kSide; y += blockDim.y) {
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 5; ++dy)
#pragma unroll
      for (int dx = 0; dx < 5; ++dx) sum += tile[y + dy][threadIdx.x + dx];
    out[map * kPixels + y * kSide + threadIdx.x] = sum * (1.0f / 25);
  }
}

void run(int n) {
  const int maps = n * kChannels, count = maps * kPixels;
  float* in = device_floats(count);
  float* gradient = device_floats(count);
  float* out = device_zeros<float>(count);
  float* which = device_zeros<float>(maps * 64);
  float* channels = device_floats(5 * kChannels);
  for (int r = 0; r < kLaunches; ++r)
    channel_statistics<<<kChannels, 256>>>(in, channels, channels + kChannels, n);
  for (int r = 0; r < kLaunches; ++r)
    normalise<<<528, 256>>>((float4*)in, (float4*)out, channels, channels + kChannels,
                            channels + 2 * kChannels, count / 4);
  for (int r = 0; r < kLaunches; ++r)
    backward_sums<<<ceil_div(n, 8), dim3(32, 8)>>>(in, gradient, channels, channels + kChannels,
                                                   channels + 3 * kChannels, channels + 4 * kChannels, n);
  for (int r = 0; r < kLaunches; ++r)
    backward_apply<<<ceil_div(count / 2, 256), 256>>>((__half2*)in, (__half2*)gradient, (__half2*)out,
                                                      channels, channels + kChannels,
                                                      channels + 3 * kChannels, 1e-6f, count / 2);
  for (int r = 0; r < kLaunches; ++r) maximum_pool<<<maps, dim3(16, 16)>>>(in, out, (unsigned char*)which);
  for (int r = 0; r < kLaunches; ++r) mean_pool_backward<<<maps, dim3(32, 4)>>>(gradient, out);
  free_all(in, gradient, out, which, channels);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("feature_maps");
}
