// Rows of 1024 numbers: softmax, normalisation by mean and variance, by the root of the squares; columns' statistics.
#include <cuda_fp16.h>

#include "device.h"

__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(0xffffffffu, value, s);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
  for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(0xffffffffu, value, s);
  return value;
}

__global__ void softmax_block(const float* in, float* out, int columns) {
  const float* row = in + blockIdx.x * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c]);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = expf(row[c]) / sum;
}

__global__ void softmax_warp(const float* in, float* out, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[32], most = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    v[k] = in[row * 1024 + k * 32 + lane];
    most = fmaxf(most, v[k]);
  }
  for (int s = 16; s > 0; s /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, s));
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    v[k] = __expf(v[k] - most);
    sum += v[k];
  }
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
#pragma unroll
  for (int k = 0; k < 32; ++k) out[row * 1024 + k * 32 + lane] = v[k] / sum;
}

__global__ void layer_norm(const float* in, const float* scale, const float* shift, float* out, int columns) {
  const float* row = in + blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += row[c];
    squares += row[c] * row[c];
  }
  const float mean = block_sum(sum) / columns, variance = block_sum(squares) / columns - mean * mean;
  const float factor = rsqrtf(variance + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = (row[c] - mean) * factor * scale[c] + shift[c];
}

__global__ void root_mean_square_half(const __half2* in, __half2* out, int columns2) {
  float sum = 0;
  for (int c = threadIdx.x; c < columns2; c += blockDim.x) {
    const float2 v = __half22float2(in[blockIdx.x * columns2 + c]);
    sum += v.x * v.x + v.y * v.y;
  }
  const __half2 factor = __float2half2_rn(rsqrtf(block_sum(sum) / (2 * columns2) + 1e-5f));
  for (int c = threadIdx.x; c < columns2; c += blockDim.x)
    out[blockIdx.x * columns2 + c] = __hmul2(in[blockIdx.x * columns2 + c], factor);
}

// Mean and variance of each column, a column per thread of a row of blocks, 32 rows each.
__global__ void column_sums(const float* in, float* sums, float* squares, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, square = 0;
  for (int r = blockIdx.y * 32; r < blockIdx.y * 32 + 32; ++r) {
    const float v = in[r * columns + c];
    sum += v;
    square += v * v;
  }
  atomicAdd(&sums[c], sum);
  atomicAdd(&squares[c], square);
}

void run(int rows) {
  const int columns = 1024;
  float* in = device_floats(rows * columns);
  float* out = device_zeros<float>(rows * columns);
  float* scale = device_floats(columns);
  float* shift = device_floats(columns);
  for (int r = 0; r < kLaunches; ++r) softmax_block<<<rows, 256>>>(in, out, columns);
  for (int r = 0; r < kLaunches; ++r) softmax_warp<<<rows / 4, 128>>>(in, out, rows);
  for (int r = 0; r < kLaunches; ++r) layer_norm<<<rows, 256>>>(in, scale, shift, out, columns);
  for (int r = 0; r < kLaunches; ++r) layer_norm<<<rows, 1024>>>(in, scale, shift, out, columns);
  for (int r = 0; r < kLaunches; ++r)
    root_mean_square_half<<<rows, 128>>>((__half2*)in, (__half2*)out, columns / 2);
  for (int r = 0; r < kLaunches; ++r)
    column_sums<<<dim3(columns / 128, rows / 32), 128>>>(in, scale, shift, columns);
  free_all(in, out, scale, shift);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("row_normalisations");
}
