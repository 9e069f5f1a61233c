// One training step of a small multilayer perceptron, kernel by kernel: dense layers of kIns inputs and kOuts
// outputs forwards and backwards, batch normalisation, dropout, cross entropy, and three optimisers.
// n is the number of samples of the batch; the optimisers update 128 * n parameters.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kIns = 192;
constexpr int kOuts = 256;
constexpr int kClasses = 100;
constexpr int kPixels = 8;

// A parameter with what root-mean-square propagation keeps for it.
struct Parameter {
  float value, gradient, square, momentum;
};

__device__ __forceinline__ float as_float(float v) {
  return v;
}
__device__ __forceinline__ float as_float(__half v) {
  return __half2float(v);
}

// A dense layer with a rectifier, one thread for each output of each sample, straight from global memory.
__global__ void dense_forward_naive(const float* in, const float* weights, const float* bias, float* out,
                                    int batch, int ins, int outs) {
  const int o = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
  if (o >= outs || b >= batch) return;
  float sum = bias[o];
  for (int k = 0; k < ins; ++k) sum += in[b * ins + k] * weights[k * outs + o];
  out[b * outs + o] = sum > 0 ? sum : 0;
}

// The same layer by tiles of 64 by 64 outputs, each thread keeping 4 by 4 sums in registers.
template <class T>
__global__ void __launch_bounds__(256)
    dense_forward_tiled(const T* __restrict__ in, const T* __restrict__ weights,
                        const float* __restrict__ bias, float* __restrict__ out, int batch, int ins,
                        int outs) {
  __shared__ float a[16][68];
  __shared__ float w[16][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < ins; k0 += 16) {
#pragma unroll
    for (int e = threadIdx.x; e < 1024; e += 256) {
      const int row = first_row + e / 16;
      a[e % 16][e / 16] = row < batch ? as_float(in[row * ins + k0 + e % 16]) : 0.0f;
      w[e / 64][e % 64] = as_float(weights[(k0 + e / 64) * outs + first_column + e % 64]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = a[k][4 * ty + i];
        y[i] = w[k][4 * tx + i];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first_row + 4 * ty + i;
    if (row >= batch) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = first_column + 4 * tx + j;
      out[row * outs + column] = fmaxf(sums[i][j] + bias[column], 0.0f);
    }
  }
}

// The gradient at the inputs of a dense layer: the one at its outputs times the transposed weights, by tiles.
__global__ void dense_backward_inputs(const float* __restrict__ gradient, const float* __restrict__ weights,
                                      float* __restrict__ out, int batch, int ins, int outs) {
  __shared__ float g[16][16];
  __shared__ float w[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int b = blockIdx.y * 16 + ty, k = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int o = 0; o < outs; o += 16) {
    g[ty][tx] = b < batch ? gradient[b * outs + o + tx] : 0.0f;
    w[ty][tx] = weights[(blockIdx.x * 16 + ty) * outs + o + tx];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 16; ++e) sum += g[ty][e] * w[tx][e];
    __syncthreads();
  }
  if (b < batch) out[b * ins + k] = sum;
}

// The gradient of the weights of a dense layer: each layer of the grid sums over its own slice of the batch.
__global__ void dense_backward_weights(const float* in, const float* gradient, float* out, int batch,
                                       int slice, int ins, int outs) {
  const int o = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
  if (o >= outs || k >= ins) return;
  const int first = blockIdx.z * slice, last = min(first + slice, batch);
  float sum = 0;
  for (int b = first; b < last; ++b) sum += in[b * ins + k] * gradient[b * outs + o];
  atomicAdd(&out[k * outs + o], sum / batch);
}

// Softmax, cross entropy and their gradient, one warp for each sample.
__global__ void softmax_cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                                      float* __restrict__ losses, float* __restrict__ gradient, int batch,
                                      int classes) {
  const int b = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (b >= batch) return;
  const float* row = logits + b * classes;
  float most = -1e30f;
  for (int c = lane; c < classes; c += 32) most = fmaxf(most, row[c]);
  for (int mask = 16; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
  float sum = 0;
  for (int c = lane; c < classes; c += 32) sum += __expf(row[c] - most);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  const int label = labels[b];
  for (int c = lane; c < classes; c += 32) {
    const float chance = __expf(row[c] - most) / sum;
    gradient[b * classes + c] = chance - (c == label ? 1.0f : 0.0f);
  }
  if (lane == 0) losses[b] = logf(sum) + most - row[label];
}

// Batch normalisation forwards: a block takes 32 features, finds their moments over the batch, then scales
// them.
__global__ void __launch_bounds__(1024)
    batch_norm_forward(const float* in, const float* gains, const float* shifts, float* out, float2* saved,
                       int batch, int features) {
  __shared__ float sums[32][32], squares[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, f = blockIdx.x * 32 + tx;
  float sum = 0, square = 0;
  for (int b = ty; b < batch; b += 32) {
    const float v = in[b * features + f];
    sum += v;
    square += v * v;
  }
  sums[ty][tx] = sum;
  squares[ty][tx] = square;
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    if (ty < half) {
      sums[ty][tx] += sums[ty + half][tx];
      squares[ty][tx] += squares[ty + half][tx];
    }
    __syncthreads();
  }
  const float mean = sums[0][tx] / batch;
  const float scale = rsqrtf(fmaxf(squares[0][tx] / batch - mean * mean, 0.0f) + 1e-5f);
  if (ty == 0) saved[f] = make_float2(mean, scale);
  const float gain = gains[f], shift = shifts[f];
  for (int b = ty; b < batch; b += 32) {
    const int at = b * features + f;
    out[at] = (in[at] - mean) * scale * gain + shift;
  }
}

// Batch normalisation backwards for images of few pixels: one block for each channel goes over the batch
// twice.
__global__ void batch_norm_backward(const float* __restrict__ in, const float* __restrict__ gradient,
                                    const float2* __restrict__ saved, const float* __restrict__ gains,
                                    float* __restrict__ out, int batch, int channels, int pixels) {
  __shared__ float parts[2][16];
  const int channel = blockIdx.x, count = batch * pixels;
  const float2 moments = saved[channel];
  float sum = 0, product = 0;
  for (int e = threadIdx.x; e < count; e += blockDim.x) {
    const int at = (e / pixels * channels + channel) * pixels + e % pixels;
    const float g = gradient[at];
    sum += g;
    product += g * (in[at] - moments.x) * moments.y;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
    product += __shfl_down_sync(0xffffffffu, product, offset);
  }
  if (threadIdx.x % 32 == 0) {
    parts[0][threadIdx.x / 32] = sum;
    parts[1][threadIdx.x / 32] = product;
  }
  __syncthreads();
  sum = product = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) {
    sum += parts[0][warp];
    product += parts[1][warp];
  }
  const float factor = gains[channel] * moments.y;
  for (int e = threadIdx.x; e < count; e += blockDim.x) {
    const int at = (e / pixels * channels + channel) * pixels + e % pixels;
    const float normal = (in[at] - moments.x) * moments.y;
    out[at] = factor * (gradient[at] - sum / count - normal * product / count);
  }
}

// A well mixed number from a counter and a seed.
__device__ __forceinline__ unsigned mixed(unsigned counter, unsigned seed) {
  unsigned v = counter * 0x9e3779b9u + seed;
  v = (v ^ (v >> 16)) * 0x85ebca6bu;
  v = (v ^ (v >> 13)) * 0xc2b2ae35u;
  return v ^ (v >> 16);
}

// Dropout on pairs of half precision, which keeps its choices as bits; the pairs are a multiple of 32.
__global__ void dropout_forward(const __half2* in, __half2* out, unsigned* masks, float keep, unsigned seed,
                                int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const unsigned draw = mixed(i, seed);
  const unsigned limit = static_cast<unsigned>(keep * 65536);
  const bool first = (draw & 0xffffu) < limit, second = (draw >> 16) < limit;
  const __half2 scale = __floats2half2_rn(first ? 1 / keep : 0.0f, second ? 1 / keep : 0.0f);
  out[i] = __hmul2(in[i], scale);
  const unsigned low = __ballot_sync(0xffffffffu, first), high = __ballot_sync(0xffffffffu, second);
  if (threadIdx.x % 32 == 0) {
    masks[i / 32 * 2] = low;
    masks[i / 32 * 2 + 1] = high;
  }
}

// Stochastic gradient descent with Nesterov's momentum, weight decay and a limit on the gradient's norm.
__global__ void sgd_momentum(float4* values, float4* momenta, const float4* gradients, const float* norm,
                             float rate, float decay, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float clip = fminf(1.0f, 5 / (norm[0] + 1e-6f));
  float4 value = values[i], momentum = momenta[i];
  const float4 gradient = gradients[i];
  const auto step = [&](float& v, float& m, float g) {
    g = g * clip + decay * v;
    m = 0.9f * m + g;
    v -= rate * (g + 0.9f * m);
  };
  step(value.x, momentum.x, gradient.x);
  step(value.y, momentum.y, gradient.y);
  step(value.z, momentum.z, gradient.z);
  step(value.w, momentum.w, gradient.w);
  values[i] = value;
  momenta[i] = momentum;
}

// Adam with gradients of half precision, whose loss was scaled, and decoupled weight decay.
__global__ void adam_step(float* __restrict__ values, float* __restrict__ first, float* __restrict__ second,
                          const __half* __restrict__ gradients, float rate, float unscale, float correct1,
                          float correct2, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float g = __half2float(gradients[i]) * unscale;
    const float m = 0.9f * first[i] + 0.1f * g;
    const float v = 0.999f * second[i] + 0.001f * g * g;
    const float value = values[i];
    first[i] = m;
    second[i] = v;
    values[i] = value - rate * (m / correct1 / (sqrtf(v / correct2) + 1e-8f) + 0.01f * value);
  }
}

// Root-mean-square propagation on parameters that lie side by side with their state.
__global__ void rms_step(Parameter* parameters, float rate, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = parameters[i].gradient;
  const float square = 0.99f * parameters[i].square + 0.01f * g * g;
  const float momentum = 0.5f * parameters[i].momentum + rate * g * rsqrtf(square + 1e-8f);
  parameters[i].square = square;
  parameters[i].momentum = momentum;
  parameters[i].value -= momentum;
}

void run(int n) {
  const int slices = min(64, ceil_div(n, 64)), channels = kOuts / kPixels, count = 128 * n;
  const auto centred = [](int i) { return hashed_unit(i) - 0.5f; };
  float* in = device_array<float>(n * kIns, centred);
  __half* in_half = device_array<__half>(n * kIns, [](int i) { return __float2half(hashed_unit(i) - 0.5f); });
  float* weights = device_array<float>(kIns * kOuts, [](int i) { return 0.2f * hashed_unit(i + 9) - 0.1f; });
  __half* weights_half = device_array<__half>(
      kIns * kOuts, [](int i) { return __float2half(0.2f * hashed_unit(i + 9) - 0.1f); });
  float* bias = device_floats(kOuts);
  float* gains = device_array<float>(kOuts, [](int i) { return 0.8f + 0.4f * hashed_unit(i); });
  float* out = device_zeros<float>(n * kOuts);
  float* gradient = device_array<float>(n * kOuts, centred);
  float* back = device_zeros<float>(n * kOuts);
  float* weight_gradient = device_zeros<float>(kIns * kOuts);
  float2* saved = device_array<float2>(kOuts, [](int i) { return make_float2(0.3f + i * 1e-4f, 2.5f); });
  const dim3 wide(32, 8), tiles(kOuts / 64, ceil_div(n, 64));
  for (int run = 0; run < kLaunches; ++run)
    dense_forward_naive<<<dim3(kOuts / 32, ceil_div(n, 8)), wide>>>(in, weights, bias, out, n, kIns, kOuts);
  for (int run = 0; run < kLaunches; ++run)
    dense_forward_tiled<float><<<tiles, 256>>>(in, weights, bias, out, n, kIns, kOuts);
  for (int run = 0; run < kLaunches; ++run)
    dense_forward_tiled<__half><<<tiles, 256>>>(in_half, weights_half, bias, out, n, kIns, kOuts);
  for (int run = 0; run < kLaunches; ++run)
    dense_backward_inputs<<<dim3(kIns / 16, ceil_div(n, 16)), dim3(16, 16)>>>(gradient, weights, back, n,
                                                                              kIns, kOuts);
  for (int run = 0; run < kLaunches; ++run)
    dense_backward_weights<<<dim3(kOuts / 64, kIns / 4, slices), dim3(64, 4)>>>(
        in, gradient, weight_gradient, n, ceil_div(n, slices), kIns, kOuts);
  for (int run = 0; run < kLaunches; ++run)
    batch_norm_backward<<<channels, 512>>>(out, gradient, saved, gains, back, n, channels, kPixels);
  for (int run = 0; run < kLaunches; ++run)
    batch_norm_forward<<<kOuts / 32, dim3(32, 32)>>>(gradient, gains, bias, out, saved, n, kOuts);
  free_all(in, in_half, weights, weights_half, bias, gains, out, gradient, back, weight_gradient, saved);

  float* logits = device_array<float>(n * kClasses, [](int i) { return 8 * hashed_unit(i) - 4; });
  int* labels = device_ints(n, kClasses);
  float* losses = device_zeros<float>(n);
  float* slopes = device_zeros<float>(n * kClasses);
  for (int run = 0; run < kLaunches; ++run)
    softmax_cross_entropy<<<ceil_div(n, 4), dim3(32, 4)>>>(logits, labels, losses, slopes, n, kClasses);
  free_all(logits, labels, losses, slopes);
  __half* active = device_array<__half>(n * kOuts, [](int i) { return __float2half(hashed_unit(i)); });
  __half* dropped = device_zeros<__half>(n * kOuts);
  unsigned* masks = device_zeros<unsigned>(n * kOuts / 32);
  for (int run = 0; run < kLaunches; ++run)
    dropout_forward<<<ceil_div(n * kOuts / 2, 256), 256>>>((__half2*)active, (__half2*)dropped, masks, 0.8f,
                                                           1234u, n * kOuts / 2);
  free_all(active, dropped, masks);

  float* values = device_array<float>(count, centred);
  float* first = device_zeros<float>(count);
  float* second = device_zeros<float>(count);
  float* slope = device_array<float>(count, centred);
  __half* slope_half =
      device_array<__half>(count, [](int i) { return __float2half(64 * hashed_unit(i) - 32); });
  float* norm = device_array<float>(1, [](int) { return 7.5f; });
  Parameter* parameters = device_array<Parameter>(count, [](int i) {
    return Parameter{hashed_unit(i) - 0.5f, hashed_unit(i + 5) - 0.5f, 0.01f, 0};
  });
  for (int run = 0; run < kLaunches; ++run)
    sgd_momentum<<<ceil_div(count / 4, 128), 128>>>((float4*)values, (float4*)first, (float4*)slope, norm,
                                                    0.01f, 1e-4f, count / 4);
  for (int run = 0; run < kLaunches; ++run)
    adam_step<<<min(ceil_div(count, 512), 1056), 512>>>(values, first, second, slope_half, 1e-3f, 1 / 64.0f,
                                                        0.41f, 0.005f, count);
  for (int run = 0; run < kLaunches; ++run)
    rms_step<<<ceil_div(count, 1024), 1024>>>(parameters, 1e-3f, count);
  free_all(values, first, second, slope, slope_half, norm, parameters);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("neural_training");
}
