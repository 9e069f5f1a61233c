// Inference with a network for n images: maps of 28 x 28 pixels and 64 channels, and layers of a classifier.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kSide = 28, kArea = kSide * kSide, kChannels = 64, kDepth = 128, kWidth = 768;

// Convolution 3 x 3: a thread has a pixel and kOut output channels, whose weights are in shared memory.
template <int kOut>
__global__ void conv3x3(const float* __restrict__ input, const float* __restrict__ weights,
                            float* __restrict__ output) {
  __shared__ float shared[kChannels * 9][kOut];
  const int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y, first = blockIdx.y * kOut;
  for (int k = threadIdx.y * kSide + x; k < kOut * kChannels * 9; k += kSide * blockDim.y)
    shared[k % (kChannels * 9)][k / (kChannels * 9)] = weights[first * kChannels * 9 + k];
  __syncthreads();
  if (y >= kSide) return;
  float sums[kOut] = {};
  for (int c = 0; c < kChannels; ++c) {
    const float* plane = input + (blockIdx.z * kChannels + c) * kArea;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      const int row = y + k / 3 - 1, column = x + k % 3 - 1;
      const bool inside = row >= 0 && row < kSide && column >= 0 && column < kSide;
      const float value = inside ? plane[row * kSide + column] : 0.0f;
#pragma unroll
      for (int o = 0; o < kOut; ++o) sums[o] += value * shared[c * 9 + k][o];
    }
  }
  for (int o = 0; o < kOut; ++o)
    output[(blockIdx.z * kChannels + first + o) * kArea + y * kSide + x] = fmaxf(sums[o], 0.0f);
}

// Depthwise convolution: a block has a plane with a rim of zeros in shared memory.
__global__ void convolve_depthwise(const float* input, const float* weights, float* output) {
  __shared__ float plane[kSide + 2][kSide + 2];
  const float* filter = weights + blockIdx.x % kChannels * 9;
  for (int k = threadIdx.x; k < (kSide + 2) * (kSide + 2); k += blockDim.x) {
    const int y = k / (kSide + 2) - 1, x = k % (kSide + 2) - 1;
    const bool inside = x >= 0 && x < kSide && y >= 0 && y < kSide;
    plane[y + 1][x + 1] = inside ? input[blockIdx.x * kArea + y * kSide + x] : 0.0f;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kArea; k += blockDim.x) {
    float sum = 0;
    for (int f = 0; f < 9; ++f) sum += filter[f] * plane[k / kSide + f / 3][k % kSide + f % 3];
    output[blockIdx.x * kArea + k] = fminf(fmaxf(sum, 0.0f), 6.0f);
  }
}

// Convolution 1 x 1 as a product of matrices: 32 channels by 32 pixels for a block, 16 inputs at a time.
__global__ void convolve1x1(const float* __restrict__ input, const float* __restrict__ weights,
                            const float* __restrict__ bias, float* __restrict__ output) {
  __shared__ float pixels[16][32], factors[32][17];
  const int tx = threadIdx.x, ty = threadIdx.y, pixel = blockIdx.x * 32 + tx, first = blockIdx.y * 32;
  const float* image = input + blockIdx.z * kChannels * kArea;
  float sums[4] = {bias[first + ty], bias[first + ty + 8], bias[first + ty + 16], bias[first + ty + 24]};
  for (int start = 0; start < kChannels; start += 16) {
    for (int k = ty; k < 16; k += 8)
      pixels[k][tx] = pixel < kArea ? image[(start + k) * kArea + pixel] : 0.0f;
    for (int k = ty * 32 + tx; k < 512; k += 256)
      factors[k / 16][k % 16] = weights[(first + k / 16) * kChannels + start + k % 16];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      for (int o = 0; o < 4; ++o) sums[o] += factors[ty + 8 * o][k] * pixels[k][tx];
    __syncthreads();
  }
  if (pixel >= kArea) return;
  for (int o = 0; o < 4; ++o)
    output[(blockIdx.z * kChannels + first + ty + 8 * o) * kArea + pixel] = sums[o];
}

// Pooling of 3 x 3 windows with stride 2, by maximum or by average with zeros outside.
template <bool kMaximum>
__global__ void pool(const float* input, float* output, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int half = kSide / 2, x = i % half, y = i / half % half;
  const float* plane = input + i / (half * half) * kArea;
  float result = kMaximum ? -1e30f : 0.0f;
  for (int row = max(2 * y - 1, 0); row <= 2 * y + 1; ++row) {
    for (int column = max(2 * x - 1, 0); column <= 2 * x + 1; ++column) {
      const float value = plane[row * kSide + column];
      result = kMaximum ? fmaxf(result, value) : result + value;
    }
  }
  output[i] = kMaximum ? result : result / 9;
}

// Batch normalisation, the swish function and the residual, on pairs of half-precision numbers.
__global__ void batch_norm(const __half2* input, const __half2* residual, const float2* factors,
                                __half2* output, int pairs) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const float2 factor = factors[i / (kArea / 2) % kChannels];
    const __half2 scaled = __hfma2(input[i], __float2half2_rn(factor.x), __float2half2_rn(factor.y));
    const __half2 gate = h2rcp(__hadd2(__float2half2_rn(1.0f), h2exp(__hneg2(scaled))));
    output[i] = __hfma2(scaled, gate, residual[i]);
  }
}

// Softmax by warps: each lane keeps kEach elements of its row in registers.
template <int kEach>
__global__ void softmax(const float* __restrict__ input, float* __restrict__ output, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float values[kEach], most = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    values[k] = input[(row * kEach + k) * 32 + lane];
    most = fmaxf(most, values[k]);
  }
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
#pragma unroll
  for (int k = 0; k < kEach; ++k) sum += values[k] = __expf(values[k] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int k = 0; k < kEach; ++k) output[(row * kEach + k) * 32 + lane] = values[k] / sum;
}

// Layer normalisation and GELU: a block of six warps for each token of 768 numbers.
__global__ void normalise_tokens(const float4* tokens, const float4* gains, float4* output) {
  __shared__ float2 parts[6];
  const int t = threadIdx.x, at = blockIdx.x * (kWidth / 4) + t;
  float4 v = tokens[at];
  float sum = v.x + v.y + v.z + v.w, squares = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  }
  if (t % 32 == 0) parts[t / 32] = make_float2(sum, squares);
  __syncthreads();
  sum = squares = 0;
  for (int k = 0; k < 6; ++k) sum += parts[k].x, squares += parts[k].y;
  const float mean = sum / kWidth, scale = rsqrtf(squares / kWidth - mean * mean + 1e-5f);
  const float4 gain = gains[t];
  auto gelu = [](float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); };
  output[at] = make_float4(gelu((v.x - mean) * scale * gain.x), gelu((v.y - mean) * scale * gain.y),
                           gelu((v.z - mean) * scale * gain.z), gelu((v.w - mean) * scale * gain.w));
}

// Products of bytes, four at a time: tiles of 16 x 16 results. Each row has kDepth words of four bytes.
__global__ void multiply_bytes(const int* activations, const int* weights, float* output, float scale) {
  __shared__ int rows[16][16], columns[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, first = blockIdx.y * 16, column = blockIdx.x * 16;
  int sum = 0;
  for (int start = 0; start < kDepth; start += 16) {
    rows[ty][tx] = activations[(first + ty) * kDepth + start + tx];
    columns[ty][tx] = weights[(column + ty) * kDepth + start + tx];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = __dp4a(rows[ty][k], columns[tx][k], sum);
    __syncthreads();
  }
  output[(first + ty) * gridDim.x * 16 + column + tx] = scale * sum;
}

// Embeddings: sums of the table's rows of 64 numbers for bags of words.
__global__ void embed_bags(const int* words, const float* table, float* sums, int bags, int each) {
  const int bag = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (bag >= bags) return;
  float low = 0, high = 0;
  for (int k = 0; k < each; ++k) {
    const float* row = table + words[bag * each + k] * 64;
    low += row[lane];
    high += row[lane + 32];
  }
  sums[bag * 64 + lane] = low;
  sums[bag * 64 + lane + 32] = high;
}

void run(int n) {
  const int cells = n * kChannels * kArea, pairs = cells / 2, pooled = cells / 4, bags = n * 196;
  float *input = device_floats(cells), *output = device_zeros<float>(cells);
  float* weights = device_array<float>(9 * kChannels * kChannels, [](int i) { return hashed_unit(i) - .5f; });
  __half2* halves = device_array<__half2>(pairs, [](int i) { return __float2half2_rn(i % 100 * 0.02f - 1); });
  __half2* sums = device_zeros<__half2>(pairs);
  int* bytes = device_ints(96 * n * kDepth, 1 << 25);
  int *matrix = device_ints(256 * kDepth, 1 << 25), *words = device_ints(bags * 20, 20000);
  float* table = device_floats(20000 * 64);
  for (int r = 0; r < kLaunches; ++r) conv3x3<8><<<dim3(4, 8, n), dim3(kSide, 8)>>>(input, weights, output);
  for (int r = 0; r < kLaunches; ++r) conv3x3<4><<<dim3(2, 16, n), dim3(kSide, 14)>>>(input, weights, output);
  for (int r = 0; r < kLaunches; ++r) convolve_depthwise<<<n * kChannels, 196>>>(input, weights, output);
  for (int r = 0; r < kLaunches; ++r)
    convolve1x1<<<dim3(25, 2, n), dim3(32, 8)>>>(input, weights, weights, output);
  for (int r = 0; r < kLaunches; ++r) pool<true><<<ceil_div(pooled, 256), 256>>>(input, output, pooled);
  for (int r = 0; r < kLaunches; ++r) pool<false><<<ceil_div(pooled, 160), 160>>>(input, output, pooled);
  for (int r = 0; r < kLaunches; ++r) batch_norm<<<528, 512>>>(halves, halves, (float2*)weights, sums, pairs);
  for (int r = 0; r < kLaunches; ++r) softmax<4><<<ceil_div(bags, 4), dim3(32, 4)>>>(input, output, bags);
  for (int r = 0; r < kLaunches; ++r)
    normalise_tokens<<<n * 64, 192>>>((float4*)input, (float4*)table, (float4*)output);
  for (int r = 0; r < kLaunches; ++r)
    multiply_bytes<<<dim3(16, 6 * n), dim3(16, 16)>>>(bytes, matrix, output, 1e-3f);
  for (int r = 0; r < kLaunches; ++r)
    embed_bags<<<ceil_div(bags, 8), dim3(32, 8)>>>(words, table, output, bags, 20);
  free_all(input, output, weights, halves, sums, bytes, matrix, words, table);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("network_inference");
}
