// What the training of a network does besides products of matrices: n rows of 768 numbers.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kWidth = 768;

// Backwards through a normalisation, a block of 192 threads per row with four numbers each; the sums of the weights'
// gradients are those of the rows that a block has, one after the other.
__global__ void normalisation_backwards(const float4* dy, const float4* x, const float4* weight, float4* dx,
                                        float* dweight, int rows) {
  __shared__ float part[2][6];
  const int c = threadIdx.x;
  const float4 w = weight[c];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float4 g = dy[row * (kWidth / 4) + c], v = x[row * (kWidth / 4) + c];
    float a = g.x * w.x + g.y * w.y + g.z * w.z + g.w * w.w;
    float b = g.x * w.x * v.x + g.y * w.y * v.y + g.z * w.z * v.z + g.w * w.w * v.w;
    for (int s = 16; s > 0; s /= 2) {
      a += __shfl_xor_sync(0xffffffffu, a, s);
      b += __shfl_xor_sync(0xffffffffu, b, s);
    }
    if (c % 32 == 0) {
      part[0][c / 32] = a;
      part[1][c / 32] = b;
    }
    __syncthreads();
    a = b = 0;
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      a += part[0][k];
      b += part[1][k];
    }
    __syncthreads();
    a /= kWidth;
    b /= kWidth;
    dx[row * (kWidth / 4) + c] = make_float4(g.x * w.x - a - v.x * b, g.y * w.y - a - v.y * b,
                                             g.z * w.z - a - v.z * b, g.w * w.w - a - v.w * b);
    sum = make_float4(sum.x + g.x * v.x, sum.y + g.y * v.y, sum.z + g.z * v.z, sum.w + g.w * v.w);
  }
  atomicAdd(&dweight[4 * c], sum.x);
  atomicAdd(&dweight[4 * c + 1], sum.y);
  atomicAdd(&dweight[4 * c + 2], sum.z);
  atomicAdd(&dweight[4 * c + 3], sum.w);
}

// Each token's gradient is added to the row of its word: tokens are frequent or rare.
__global__ void add_to_words(const int* tokens, const float* gradients, float* table, int words) {
  const int word = tokens[blockIdx.x] % words;
  for (int c = threadIdx.x; c < kWidth; c += blockDim.x)
    atomicAdd(&table[word * kWidth + c], gradients[blockIdx.x * kWidth + c]);
}

__device__ float sigmoid(float v) {
  return 1 / (1 + __expf(-v));
}

// A cell with a reset gate and an update gate, its products already there; halves in, a state of floats in place.
__global__ void gated_cell(const __half* gates, const __half* hidden, float* state, __half* out, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const int row = i / kWidth, c = i % kWidth, at = row * 3 * kWidth + c;
  const float r = sigmoid(__half2float(gates[at]) + __half2float(hidden[at]));
  const float z = sigmoid(__half2float(gates[at + kWidth]) + __half2float(hidden[at + kWidth]));
  const float candidate =
      tanhf(__half2float(gates[at + 2 * kWidth]) + r * __half2float(hidden[at + 2 * kWidth]));
  const float next = (1 - z) * candidate + z * state[i];
  state[i] = next;
  out[i] = __float2half(next);
}

// A step of the sign of a mixed momentum, weights with a copy in half precision, and none where a number is not finite.
__global__ void sign_step(float4* weights, float4* momentum, const __half2* gradients, __half2* copies,
                          float rate, int count4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count4; i += gridDim.x * blockDim.x) {
    float4 w = weights[i], m = momentum[i];
    const float2 a = __half22float2(gradients[2 * i]), b = __half22float2(gradients[2 * i + 1]);
    if (!isfinite(a.x + a.y + b.x + b.y)) continue;
    w.x -= rate * (copysignf(1, 0.9f * m.x + 0.1f * a.x) + 0.01f * w.x);
    w.y -= rate * (copysignf(1, 0.9f * m.y + 0.1f * a.y) + 0.01f * w.y);
    w.z -= rate * (copysignf(1, 0.9f * m.z + 0.1f * b.x) + 0.01f * w.z);
    w.w -= rate * (copysignf(1, 0.9f * m.w + 0.1f * b.y) + 0.01f * w.w);
    m = make_float4(0.99f * m.x + 0.01f * a.x, 0.99f * m.y + 0.01f * a.y, 0.99f * m.z + 0.01f * b.x,
                    0.99f * m.w + 0.01f * b.y);
    weights[i] = w;
    momentum[i] = m;
    copies[2 * i] = __floats2half2_rn(w.x, w.y);
    copies[2 * i + 1] = __floats2half2_rn(w.z, w.w);
  }
}

// A loss that weighs what is hard, its gradient, and the sum of the losses.
__global__ void weighted_loss(const float* logits, const unsigned char* labels, float* gradients, float* loss,
                              int count) {
  __shared__ float part[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float own = 0;
  if (i < count) {
    const float logit = logits[i], p = 1 / (1 + expf(-logit));
    if (labels[i] & 1) {
      own = -powf(1 - p, 2.5f) * logf(p + 1e-8f);
      gradients[i] = powf(1 - p, 2.5f) * (2.5f * p * logf(p + 1e-8f) + p - 1);
    } else {
      own = -powf(p, 2.5f) * logf(1 - p + 1e-8f);
      gradients[i] = powf(p, 2.5f) * (p - 2.5f * (1 - p) * logf(1 - p + 1e-8f));
    }
  }
  for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(0xffffffffu, own, s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x < 32) {
    own = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(0xffffffffu, own, s);
    if (threadIdx.x == 0) atomicAdd(loss, own);
  }
}

void run(int n) {
  const int words = n / 4, count = n * kWidth;
  int* tokens = device_ints(n, 1 << 30);
  float* x = device_floats(count);
  float* dy = device_floats(count);
  float* out = device_zeros<float>(count);
  float* weight = device_floats(kWidth);
  float* sums = device_zeros<float>(kWidth);
  __half* gates = device_zeros<__half>(3 * count);
  for (int r = 0; r < kLaunches; ++r)
    normalisation_backwards<<<140, 192>>>((float4*)dy, (float4*)x, (float4*)weight, (float4*)out, sums, n);
  for (int r = 0; r < kLaunches; ++r) add_to_words<<<n, 128>>>(tokens, dy, out, words);
  for (int r = 0; r < kLaunches; ++r)
    gated_cell<<<ceil_div(count, 256), 256>>>(gates, gates, out, (__half*)dy, count);
  for (int r = 0; r < kLaunches; ++r)
    sign_step<<<528, 256>>>((float4*)x, (float4*)dy, (__half2*)gates, (__half2*)out, 1e-4f, count / 4);
  for (int r = 0; r < kLaunches; ++r)
    sign_step<<<64, 1024>>>((float4*)x, (float4*)dy, (__half2*)gates, (__half2*)out, 1e-4f, count / 4);
  for (int r = 0; r < kLaunches; ++r)
    weighted_loss<<<ceil_div(4 * n, 512), 512>>>(x, (unsigned char*)tokens, out, sums, 4 * n);
  free_all(tokens, x, dy, out, weight, sums, gates);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("training_steps");
}
