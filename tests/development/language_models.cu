// Layers of a transformer network over n tokens: norms, positions, attention, activations, quantised weights and
// the choice of tokens.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kHidden = 1024, kHeads = 16, kHeadWidth = 64, kInner = 2048;
constexpr int kVocabulary = 8192, kContext = 256, kRow = 1024, kOutputs = 512;

__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__device__ float warp_max(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

// Root mean square norm: a block of 256 threads for each token.
__global__ void rms_norm(const float* x, const float* weights, float* out, float epsilon, int width) {
  __shared__ float parts[8];
  const float* row = x + blockIdx.x * width;
  float sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i] * row[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < 8; ++w) total += parts[w];
  const float scale = rsqrtf(total / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = row[i] * scale * weights[i];
}

// Rotary positions: neighbouring elements of a head turn together, by an angle that grows with the position.
__global__ void rotary_positions(const float2* __restrict__ queries, float2* __restrict__ out, float fall,
                                 int tokens) {
  const int pair = threadIdx.x, head = blockIdx.y * blockDim.y + threadIdx.y, token = blockIdx.x;
  if (token >= tokens || head >= kHeads) return;
  const float angle = token * exp2f(-fall * pair);
  float sine, cosine;
  sincosf(angle, &sine, &cosine);
  const int i = (token * kHeads + head) * (kHeadWidth / 2) + pair;
  const float2 v = queries[i];
  out[i] = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
}

// Softmax of attention scores under a causal mask: a warp for each row, which sees the tokens up to its own.
__global__ void causal_softmax(const float* __restrict__ scores, float* __restrict__ out, float scale,
                               int context, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int seen = row % context + 1;
  const float* from = scores + row * context;
  float* to = out + row * context;
  float most = -1e30f;
  for (int i = lane; i < seen; i += 32) most = fmaxf(most, from[i]);
  most = warp_max(most);
  float sum = 0;
  for (int i = lane; i < seen; i += 32) sum += __expf(scale * (from[i] - most));
  sum = warp_sum(sum);
  const float share = 1 / sum;
  for (int i = lane; i < context; i += 32) to[i] = i < seen ? __expf(scale * (from[i] - most)) * share : 0;
}

// Attention of one new token for each sequence and head, over keys and values in a cache of halves.
__global__ void decode_attention(const float* __restrict__ queries, const __half* __restrict__ keys,
                                 const __half* __restrict__ values, float* __restrict__ out, float scale,
                                 int length) {
  __shared__ float weights[kContext];
  __shared__ float parts[2][kHeadWidth];
  const int head = blockIdx.y * kHeads + blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const __half2* cached = reinterpret_cast<const __half2*>(keys + head * length * kHeadWidth);
  const float qx = queries[head * kHeadWidth + 2 * lane], qy = queries[head * kHeadWidth + 2 * lane + 1];
  for (int t = warp; t < length; t += 4) {
    const float2 key = __half22float2(cached[t * (kHeadWidth / 2) + lane]);
    const float score = warp_sum(qx * key.x + qy * key.y);
    if (lane == 0) weights[t] = score * scale;
  }
  __syncthreads();
  float most = -1e30f, sum = 0;
  for (int t = lane; t < length; t += 32) most = fmaxf(most, weights[t]);
  most = warp_max(most);
  for (int t = lane; t < length; t += 32) sum += __expf(weights[t] - most);
  sum = warp_sum(sum);
  const int element = threadIdx.x % kHeadWidth, half = threadIdx.x / kHeadWidth;
  const __half* column = values + head * length * kHeadWidth + element;
  float mixed = 0;
  for (int t = half; t < length; t += 2)
    mixed += __expf(weights[t] - most) * __half2float(column[t * kHeadWidth]);
  parts[half][element] = mixed;
  __syncthreads();
  if (half == 0) out[head * kHeadWidth + element] = (parts[0][element] + parts[1][element]) / sum;
}

struct Silu {
  __device__ float operator()(float v) const { return v / (1 + __expf(-v)); }
};

struct Gelu {
  __device__ float operator()(float v) const {
    return 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  }
};

// Gated activations: the gate and the other half lie side by side in each row.
template <class Activation>
__global__ void gate_activations(const float* gates, float* out, int inner, int count) {
  const Activation activation;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int row = i / inner, column = i % inner;
    const float* pair = gates + row * 2 * inner + column;
    out[i] = activation(pair[0]) * pair[inner];
  }
}

// A vector by a matrix of halves: a warp for each row.
__global__ void multiply_halves(const __half2* __restrict__ weights, const float2* __restrict__ x,
                                float* __restrict__ y, int pairs, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const __half2* w = weights + row * pairs;
  float sum = 0;
#pragma unroll 4
  for (int i = lane; i < pairs; i += 32) {
    const float2 a = __half22float2(w[i]), b = x[i];
    sum += a.x * b.x + a.y * b.y;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

// A vector by a matrix of four-bit weights, eight in a word, with a scale for each 32 of them.
__global__ void multiply_four_bits(const unsigned* __restrict__ weights, const __half* __restrict__ scales,
                                   const float4* __restrict__ x, float* __restrict__ y, int words, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = lane; i < words; i += 32) {
    const unsigned word = weights[row * words + i];
    const float scale = __half2float(scales[row * (words / 4) + i / 4]);
    const float4 a = x[2 * i], b = x[2 * i + 1];
    float part = (static_cast<int>(word & 15) - 8) * a.x;
    part += (static_cast<int>(word >> 4 & 15) - 8) * a.y;
    part += (static_cast<int>(word >> 8 & 15) - 8) * a.z;
    part += (static_cast<int>(word >> 12 & 15) - 8) * a.w;
    part += (static_cast<int>(word >> 16 & 15) - 8) * b.x;
    part += (static_cast<int>(word >> 20 & 15) - 8) * b.y;
    part += (static_cast<int>(word >> 24 & 15) - 8) * b.z;
    part += (static_cast<int>(word >> 28) - 8) * b.w;
    sum += scale * part;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

// Rows of the embedding table for the tokens, plus the embedding of the position.
__global__ void look_up_tokens(const int* tokens, const float4* table, const float4* positions, float4* out,
                               int quads) {
  const int token = tokens[blockIdx.x], i = threadIdx.x;
  const float4 a = table[token * quads + i], b = positions[blockIdx.x % kContext * quads + i];
  out[blockIdx.x * quads + i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The likeliest token of each row.
__global__ void pick_top(const float* __restrict__ logits, int* __restrict__ picked, int vocabulary) {
  __shared__ float values[8];
  __shared__ int places[8];
  const float* row = logits + blockIdx.x * vocabulary;
  float best = -1e30f;
  int place = 0;
  for (int i = threadIdx.x; i < vocabulary; i += 256) {
    const float value = row[i];
    place = value > best ? i : place;
    best = fmaxf(best, value);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, best, d);
    const int other_place = __shfl_down_sync(0xffffffffu, place, d);
    place = other > best ? other_place : place;
    best = fmaxf(best, other);
  }
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = best;
    places[threadIdx.x / 32] = place;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; ++w) {
    place = values[w] > best ? places[w] : place;
    best = fmaxf(best, values[w]);
  }
  picked[blockIdx.x] = place;
}

// Logits with a bias, a penalty for each time that the token came before, and a temperature.
__global__ void penalise_logits(const float* logits, const float* bias, const unsigned char* times,
                                float* out, float penalty, float temperature, int vocabulary) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vocabulary) return;
  const int at = blockIdx.y * vocabulary + i;
  out[at] = (logits[at] + bias[i] - penalty * times[at]) / temperature;
}

// Residual connection, four elements for each thread.
__global__ void add_residual(const float4* __restrict__ x, const float4* __restrict__ branch,
                             float4* __restrict__ out, float scale, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float4 a = x[i], b = branch[i];
  out[i] = make_float4(a.x + scale * b.x, a.y + scale * b.y, a.z + scale * b.z, a.w + scale * b.w);
}

// Keys for the cache: halves, and all tokens of an element side by side.
__global__ void transpose_keys(const float* keys, __half* cache, int tokens) {
  __shared__ float tile[32][33];
  const int first = blockIdx.x * 32, channel = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (first + k < tokens) tile[k][threadIdx.x] = keys[(first + k) * kHidden + channel + threadIdx.x];
  __syncthreads();
  const int token = first + threadIdx.x;
  if (token >= tokens) return;
  for (int k = threadIdx.y; k < 32; k += 8)
    cache[(channel + k) * tokens + token] = __float2half(tile[threadIdx.x][k]);
}

// Product of matrices of bytes, four in a word, with scales for rows and columns.
__global__ void multiply_bytes(const int* __restrict__ x, const int* __restrict__ weights,
                               const float* __restrict__ row_scales, const float* __restrict__ column_scales,
                               float* __restrict__ out, int words, int outputs) {
  __shared__ int a[16][17], b[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int sum = 0;
  for (int first = 0; first < words; first += 16) {
    a[ty][tx] = x[row * words + first + tx];
    b[ty][tx] = weights[(blockIdx.x * 16 + ty) * words + first + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum = __dp4a(a[ty][k], b[tx][k], sum);
    __syncthreads();
  }
  out[row * outputs + column] = sum * row_scales[row] * column_scales[column];
}

// n is a multiple of 64.
void run(int n) {
  const int sequences = n / 64, rows = 4 * n, samples = n / 4;
  const int hidden = n * kHidden, cached = sequences * kHeads * kContext * kHeadWidth;
  const auto around_zero = [](int i) { return 2 * hashed_unit(static_cast<unsigned>(i)) - 1; };
  const auto half_around_zero = [](int i) {
    return __float2half(2 * hashed_unit(static_cast<unsigned>(i)) - 1);
  };
  const auto bits = [](int i) { return static_cast<unsigned>(i) * 2654435761u; };
  float* x = device_array<float>(hidden, around_zero);
  float* branch = device_array<float>(hidden, around_zero);
  float* out = device_zeros<float>(hidden);
  float* norm_weights = device_array<float>(kHidden, [](int i) { return 0.9f + 0.0001f * i; });
  float* scores = device_array<float>(n * kRow, around_zero);
  float* shares = device_zeros<float>(n * kRow);
  float* queries = device_array<float>(sequences * kHidden, around_zero);
  float* attended = device_zeros<float>(sequences * kHidden);
  __half* keys = device_array<__half>(cached, half_around_zero);
  __half* values = device_array<__half>(cached, half_around_zero);
  float* gates = device_array<float>(n * 2 * kInner, around_zero);
  float* activated = device_zeros<float>(n * kInner);
  __half* half_weights = device_array<__half>(rows * kHidden, half_around_zero);
  unsigned* packed_weights = device_array<unsigned>(rows * (kInner / 8), bits);
  __half* scales =
      device_array<__half>(rows * (kInner / 32), [](int i) { return __float2half(0.01f + i % 7 * 0.001f); });
  float* vector = device_array<float>(kInner, around_zero);
  float* projected = device_zeros<float>(rows);
  int* tokens = device_array<int>(n, [](int i) {
    return static_cast<int>(static_cast<unsigned>(i) * 2654435761u >> 19);  // less than 8192
  });
  float* table = device_array<float>(kVocabulary * kHidden, around_zero);
  float* positions = device_array<float>(kContext * kHidden, around_zero);
  float* logits = device_array<float>(samples * kVocabulary, around_zero);
  float* new_logits = device_zeros<float>(samples * kVocabulary);
  float* bias = device_array<float>(kVocabulary, around_zero);
  unsigned char* times = device_array<unsigned char>(samples * kVocabulary,
                                                     [](int i) { return static_cast<unsigned char>(i % 3); });
  int* picked = device_zeros<int>(samples);
  __half* cache = device_zeros<__half>(hidden);
  unsigned* byte_rows = device_array<unsigned>(n * (kHidden / 4), bits);
  unsigned* byte_weights = device_array<unsigned>(kOutputs * (kHidden / 4), bits);
  float* row_scales = device_array<float>(n, [](int i) { return 0.001f + i % 5 * 0.0001f; });
  float* column_scales = device_array<float>(kOutputs, [](int i) { return 0.002f + i % 9 * 0.0001f; });
  float* products = device_zeros<float>(n * kOutputs);
  for (int r = 0; r < kLaunches; ++r) rms_norm<<<n, 256>>>(x, norm_weights, out, 1e-5f, kHidden);
  for (int r = 0; r < kLaunches; ++r)
    rotary_positions<<<dim3(n, 2), dim3(32, 8)>>>((float2*)x, (float2*)out, 0.4f, n);
  for (int r = 0; r < kLaunches; ++r)
    causal_softmax<<<ceil_div(n, 4), 128>>>(scores, shares, 0.125f, kRow, n);
  for (int r = 0; r < kLaunches; ++r)
    decode_attention<<<dim3(kHeads, sequences), 128>>>(queries, keys, values, attended, 0.125f, kContext);
  for (int r = 0; r < kLaunches; ++r)
    gate_activations<Silu><<<1056, 256>>>(gates, activated, kInner, n * kInner);
  for (int r = 0; r < kLaunches; ++r)
    gate_activations<Gelu><<<528, 512>>>(gates, activated, kInner, n * kInner);
  for (int r = 0; r < kLaunches; ++r)
    multiply_halves<<<ceil_div(rows, 8), 256>>>((__half2*)half_weights, (float2*)vector, projected,
                                                kHidden / 2, rows);
  for (int r = 0; r < kLaunches; ++r)
    multiply_four_bits<<<ceil_div(rows, 4), 128>>>(packed_weights, scales, (float4*)vector, projected,
                                                   kInner / 8, rows);
  for (int r = 0; r < kLaunches; ++r)
    look_up_tokens<<<n, kHidden / 4>>>(tokens, (float4*)table, (float4*)positions, (float4*)out, kHidden / 4);
  for (int r = 0; r < kLaunches; ++r) pick_top<<<samples, 256>>>(logits, picked, kVocabulary);
  for (int r = 0; r < kLaunches; ++r)
    penalise_logits<<<dim3(ceil_div(kVocabulary, 256), samples), 256>>>(logits, bias, times, new_logits, 0.2f,
                                                                        0.7f, kVocabulary);
  for (int r = 0; r < kLaunches; ++r)
    add_residual<<<ceil_div(hidden / 4, 256), 256>>>((float4*)x, (float4*)branch, (float4*)out, 0.5f,
                                                     hidden / 4);
  for (int r = 0; r < kLaunches; ++r)
    transpose_keys<<<dim3(ceil_div(n, 32), kHidden / 32), dim3(32, 8)>>>(x, cache, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_bytes<<<dim3(kOutputs / 16, n / 16), dim3(16, 16)>>>(
        (int*)byte_rows, (int*)byte_weights, row_scales, column_scales, products, kHidden / 4, kOutputs);
  free_all(x, branch, out, norm_weights, scores, shares, queries, attended, keys, values, gates, activated);
  free_all(half_weights, packed_weights, scales, vector, projected, tokens, table, positions, logits);
  free_all(new_logits, bias, times, picked, cache, byte_rows, byte_weights, row_scales, column_scales,
           products);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("language_models");
}
