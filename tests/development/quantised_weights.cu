// Weights of few bits: n rows of 2048 of them.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kColumns = 2048;

// A word has eight weights of four bits, a scale and a zero in half precision for each 64 of them.
__global__ void unpack_nibbles(const unsigned* packed, const __half2* scales, __half2* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const unsigned word = packed[i];
  const __half2 scale = scales[i / 8], low = __low2half2(scale), high = __high2half2(scale);
  __half2 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    v[k] = __hfma2(__floats2half2_rn(word >> 8 * k & 15, word >> (8 * k + 4) & 15), low, high);
  reinterpret_cast<uint4*>(out)[i] = *reinterpret_cast<uint4*>(v);
}

// Each row by its largest: a block finds it, and rounds to 8 bits.
__global__ void round_rows(const float4* in, char4* out, float* scales) {
  __shared__ float part[32];
  float most = 0;
  for (int c = threadIdx.x; c < kColumns / 4; c += blockDim.x) {
    const float4 v = in[blockIdx.x * (kColumns / 4) + c];
    most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  }
  for (int s = 16; s > 0; s /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, s));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  most = part[0];
  for (int w = 1; w < blockDim.x / 32; ++w) most = fmaxf(most, part[w]);
  const float factor = 127 / (most + 1e-9f);
  for (int c = threadIdx.x; c < kColumns / 4; c += blockDim.x) {
    const float4 v = in[blockIdx.x * (kColumns / 4) + c];
    out[blockIdx.x * (kColumns / 4) + c] =
        make_char4(__float2int_rn(v.x * factor), __float2int_rn(v.y * factor), __float2int_rn(v.z * factor),
                   __float2int_rn(v.w * factor));
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = most / 127;
}

// Weights of 8 bits times four vectors of 8 bits: a row per warp, products of four at a time.
__global__ void times_vectors(const int4* weights, const int4* __restrict__ x, const float* scales, float* y,
                              int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int sum[4] = {0, 0, 0, 0};
  for (int c = lane; c < kColumns / 16; c += 32) {
    const int4 w = weights[row * (kColumns / 16) + c];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int4 a = x[v * (kColumns / 16) + c];
      sum[v] = __dp4a(w.x, a.x, sum[v]);
      sum[v] = __dp4a(w.y, a.y, sum[v]);
      sum[v] = __dp4a(w.z, a.z, sum[v]);
      sum[v] = __dp4a(w.w, a.w, sum[v]);
    }
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    for (int s = 16; s > 0; s /= 2) sum[v] += __shfl_down_sync(0xffffffffu, sum[v], s);
    if (lane == 0) y[v * rows + row] = sum[v] * scales[row];
  }
}

// Weights of four bits through a table of 16 values in shared memory, times a vector of halves that the block holds.
__global__ void table_times_vector(const uint4* packed, const __half* x, const float* levels, float* y,
                                   int rows) {
  __shared__ __half2 vector[kColumns / 2];
  __shared__ float level[16];
  for (int c = threadIdx.x; c < kColumns / 2; c += blockDim.x)
    vector[c] = reinterpret_cast<const __half2*>(x)[c];
  if (threadIdx.x < 16) level[threadIdx.x] = levels[threadIdx.x];
  __syncthreads();
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const uint4 four = packed[row * (kColumns / 32) + part * 32 + lane];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float2 a = __half22float2(vector[(part * 32 + lane) * 16 + w * 4 + k]);
        sum += level[words[w] >> 8 * k & 15] * a.x + level[words[w] >> (8 * k + 4) & 15] * a.y;
      }
  }
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (lane == 0) y[row] = sum;
}

void run(int n) {
  int* packed = device_ints(n * (kColumns / 4), 1 << 30);
  float* weights = device_floats(n * kColumns);
  float* scales = device_floats(n * (kColumns / 64));
  int* vectors = device_ints(kColumns, 1 << 30);
  float* levels = device_floats(16);
  int* out = device_zeros<int>(n * kColumns / 2);
  const int words = n * (kColumns / 8);
  for (int r = 0; r < kLaunches; ++r)
    unpack_nibbles<<<ceil_div(words, 256), 256>>>((unsigned*)packed, (__half2*)scales, (__half2*)out, words);
  for (int r = 0; r < kLaunches; ++r) round_rows<<<n, 128>>>((float4*)weights, (char4*)out, scales);
  for (int r = 0; r < kLaunches; ++r) round_rows<<<n, 512>>>((float4*)weights, (char4*)out, scales);
  for (int r = 0; r < kLaunches; ++r)
    times_vectors<<<ceil_div(n, 8), 256>>>((int4*)packed, (int4*)vectors, scales, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    table_times_vector<<<ceil_div(n, 4), 128>>>((uint4*)packed, (__half*)vectors, levels, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    table_times_vector<<<ceil_div(n, 32), 1024>>>((uint4*)packed, (__half*)vectors, levels, (float*)out, n);
  free_all(packed, weights, scales, vectors, levels, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("quantised_weights");
}
