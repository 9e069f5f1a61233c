// Layers of neural networks for n tokens of 512 features, or for n / 64 images of 64 channels of 32 x 32 pixels.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "device.h"

#define REPEAT for (int r = 0; r < kLaunches; ++r)

constexpr int kWidth = 512, kVocabulary = 30000;

struct AdamW {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};

__device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

// Convolves each channel with its own kernel. A block holds a whole plane of 32 x 32 pixels with its border.
template <int kSize>
__global__ void depthwise_convolution(const float* in, const float* weights, float* out) {
  constexpr int kPad = kSize / 2, kSide = 32 + 2 * kPad;
  __shared__ float plane[kSide][kSide];
  const int channel = blockIdx.x, start = (blockIdx.y * gridDim.x + channel) * 1024;
  const int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
  for (int k = t; k < kSide * kSide; k += 256) {
    const int px = k % kSide - kPad, py = k / kSide - kPad;
    plane[k / kSide][k % kSide] = px >= 0 && px < 32 && py >= 0 && py < 32 ? in[start + py * 32 + px] : 0.0f;
  }
  float w[kSize * kSize];
#pragma unroll
  for (int k = 0; k < kSize * kSize; ++k) w[k] = __ldg(&weights[channel * kSize * kSize + k]);
  __syncthreads();
  for (int row = y; row < 32; row += 8) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kSize * kSize; ++k) sum += w[k] * plane[row + k / kSize][x + k % kSize];
    out[start + row * 32 + x] = fmaxf(sum, 0.0f);
  }
}

// Normalises groups of eight channels to mean zero and variance one, then scales and shifts each channel.
__global__ void group_norm(const float4* in, const float* gain, const float* shift, float4* out) {
  __shared__ float sums[2][16];
  const int start = blockIdx.x * 2048, t = threadIdx.x;
  float4 values[4];
  float sum = 0, squares = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 v = values[k] = in[start + k * 512 + t];
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = warp_sum(sum), squares = warp_sum(squares);
  if (t % 32 == 0) sums[0][t / 32] = sum, sums[1][t / 32] = squares;
  __syncthreads();
  sum = warp_sum(t % 32 < 16 ? sums[0][t % 32] : 0.0f), squares = warp_sum(t % 32 < 16 ? sums[1][t % 32] : 0.0f);
  const float mean = sum / 8192, inverse = rsqrtf(fmaxf(squares / 8192 - mean * mean, 0.0f) + 1e-5f);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int channel = blockIdx.x % 8 * 8 + k * 2 + t / 256;
    const float g = gain[channel] * inverse, s = shift[channel] - mean * g;
    const float4 v = values[k];
    out[start + k * 512 + t] = make_float4(v.x * g + s, v.y * g + s, v.z * g + s, v.w * g + s);
  }
}

// Adds the bias and applies the tanh form of the Gaussian error unit to two halves at a time.
__global__ void bias_gelu(const __half2* in, const __half2* bias, __half2* out, int pairs) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const float2 x = __half22float2(__hadd2(in[i], bias[i % (kWidth / 2)]));
    const float u = 0.5f * x.x * (1 + tanhf(0.79788456f * (x.x + 0.044715f * x.x * x.x * x.x)));
    const float v = 0.5f * x.y * (1 + tanhf(0.79788456f * (x.y + 0.044715f * x.y * x.y * x.y)));
    out[i] = __floats2half2_rn(u, v);
  }
}

// Rotates pairs of features of each head by an angle that depends on the position in the sequence.
__global__ void rotary_embedding(const __nv_bfloat162* in, __nv_bfloat162* out, int tokens, int sequence) {
  const int pair = threadIdx.x, token = blockIdx.x * blockDim.y + threadIdx.y;
  if (token >= tokens) return;
  const float angle = token % sequence * powf(10000.0f, -2.0f * pair / 64);
  float s, c;
  sincosf(angle, &s, &c);
  for (int head = 0; head < kWidth / 64; ++head) {
    const int i = token * (kWidth / 2) + head * 32 + pair;
    const float2 x = __bfloat1622float2(in[i]);
    out[i] = __floats2bfloat162_rn(x.x * c - x.y * s, x.x * s + x.y * c);
  }
}

// Takes the softmax of each row with a maximum that is corrected on the way, a warp for each row.
__global__ void online_softmax(const float* in, float* out, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float most = -1e30f, sum = 0;
  for (int k = lane; k < kWidth; k += 32) {
    const float x = in[row * kWidth + k];
    if (x > most) sum = sum * __expf(most - x) + 1, most = x;
    else sum += __expf(x - most);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, most, d), more = __shfl_xor_sync(0xffffffffu, sum, d);
    const float larger = fmaxf(most, other);
    sum = sum * __expf(most - larger) + more * __expf(other - larger), most = larger;
  }
  for (int k = lane; k < kWidth; k += 32) out[row * kWidth + k] = __expf(in[row * kWidth + k] - most) / sum;
}

// Compares the 64 queries of a short sequence with its keys; each thread keeps its query in registers.
__global__ void attention_scores(const __half* queries, const __half* keys, float* scores) {
  __shared__ float tile[64][64];
  const int sequence = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  float q[64];
  for (int k = 0; k < 64; ++k) tile[k][t] = __half2float(keys[(sequence * 64 + k) * kWidth + head * 64 + t]);
#pragma unroll
  for (int k = 0; k < 64; ++k) q[k] = __half2float(queries[(sequence * 64 + t) * kWidth + head * 64 + k]);
  __syncthreads();
  for (int key = 0; key < 64; ++key) {
    float dot = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k) dot += q[k] * tile[key][k];
    scores[((sequence * gridDim.y + head) * 64 + key) * 64 + t] = key <= t ? dot * 0.125f : -1e9f;
  }
}

// Looks up the vector of each word and adds the vector of its position.
__global__ void embedding_gather(const int* words, const float4* table, const float4* positions, float4* out) {
  const int token = blockIdx.x, k = threadIdx.x;
  const float4 w = table[words[token] * (kWidth / 4) + k], p = positions[token % 64 * (kWidth / 4) + k];
  out[token * (kWidth / 4) + k] = make_float4(w.x + p.x, w.y + p.y, w.z + p.z, w.w + p.w);
}

// Adds the gradient of each token to the row of its word.
__global__ void embedding_scatter(const int* words, const float* gradients, float* table, int tokens) {
  for (int token = blockIdx.x; token < tokens; token += gridDim.x)
    for (int k = threadIdx.x; k < kWidth; k += blockDim.x)
      atomicAdd(&table[words[token] * kWidth + k], gradients[token * kWidth + k]);
}

// Drops elements by the bits of a counter-based generator of kRounds rounds, four at a time.
template <int kRounds>
__global__ void dropout(const float4* in, float4* out, int quads, unsigned seed, unsigned threshold, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  unsigned a = i, b = 0, c = seed, d = 1, key0 = seed, key1 = ~seed;
#pragma unroll
  for (int k = 0; k < kRounds; ++k, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
    const unsigned high0 = __umulhi(a, 0xd2511f53u), low0 = a * 0xd2511f53u;
    const unsigned high1 = __umulhi(c, 0xcd9e8d57u), low1 = c * 0xcd9e8d57u;
    a = high1 ^ b ^ key0, b = low1, c = high0 ^ d ^ key1, d = low0;
  }
  const float4 v = in[i];
  out[i] = make_float4(a < threshold ? 0 : v.x * scale, b < threshold ? 0 : v.y * scale,
                       c < threshold ? 0 : v.z * scale, d < threshold ? 0 : v.w * scale);
}

// Updates weights from half-precision gradients by Adam with decoupled decay.
__global__ void adamw_step(float* weights, const __half* gradients, float* first, float* second, int count, AdamW o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = __half2float(gradients[i]), m = first[i] = o.beta1 * first[i] + (1 - o.beta1) * g;
  const float v = second[i] = o.beta2 * second[i] + (1 - o.beta2) * g * g;
  weights[i] -= o.rate * (m * o.correction1 / (sqrtf(v * o.correction2) + o.epsilon) + o.decay * weights[i]);
}

// The number of tokens n is a multiple of 64.
void run(int n) {
  const int count = n * kWidth, planes = n, pixels = planes * 1024;
  float *in = device_floats(pixels), *out = device_zeros<float>(pixels), *gradients = device_floats(count);
  float *first = device_zeros<float>(count), *second = device_zeros<float>(count);
  float *weights = device_floats(4096), *table = device_floats(kVocabulary * kWidth);
  int* words = device_ints(n, kVocabulary);
  auto* halves = device_array<__half>(count, [](int i) { return __float2half(i % 97 / 60.0f - 0.8f); });
  const AdamW adam = {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 10.0f, 1000.0f};
  REPEAT depthwise_convolution<3><<<dim3(64, n / 64), dim3(32, 8)>>>(in, weights, out);
  REPEAT depthwise_convolution<7><<<dim3(64, n / 64), dim3(32, 8)>>>(in, weights, out);
  REPEAT group_norm<<<planes / 8, 512>>>((float4*)in, weights, weights + 64, (float4*)out);
  REPEAT bias_gelu<<<1056, 256>>>((__half2*)halves, (__half2*)halves, (__half2*)out, count / 2);
  REPEAT rotary_embedding<<<ceil_div(n, 6), dim3(32, 6)>>>((__nv_bfloat162*)halves, (__nv_bfloat162*)out, n, 2048);
  REPEAT online_softmax<<<ceil_div(n, 4), dim3(32, 4)>>>(in, out, n);
  REPEAT attention_scores<<<dim3(n / 64, 8), 64>>>(halves, halves, out);
  REPEAT embedding_gather<<<n, 128>>>(words, (float4*)table, (float4*)in, (float4*)out);
  REPEAT embedding_scatter<<<min(n, 660), 384>>>(words, gradients, table, n);
  REPEAT dropout<7><<<ceil_div(pixels / 4, 320), 320>>>((float4*)in, (float4*)out, pixels / 4, 9, 1u << 29, 1.14f);
  REPEAT dropout<10><<<ceil_div(count / 4, 1024), 1024>>>((float4*)in, (float4*)out, count / 4, 5, 1u << 30, 1.33f);
  REPEAT adamw_step<<<ceil_div(count, 256), 256>>>(gradients, halves, first, second, count, adam);
  free_all(in, out, gradients, first, second, weights, table, words, halves);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("neural_layers");
}
