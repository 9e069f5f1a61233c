// Ways to mix the n tokens of a sequence: attention with and without masks, in tiles, with grouped heads,
// over a long cache, a linear recurrence, and the positions that go with them.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kHeads = 8, kScored = 4, kWidth = 64, kGroup = 4;
constexpr int kSteps = 64;        // of the recurrence
constexpr int kPositions = 2048;  // in the table of turns
constexpr int kPart = 64;         // keys of the cache for each block

// Scores under a causal mask: a warp for each query, which goes through the keys one by one.
__global__ void score_queries(const float* q, const float* k, float* scores, float scale, int n) {
  const int lane = threadIdx.x & 31;
  const int query = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const int head = blockIdx.y;
  if (query >= n) return;
  const float2 mine = ((const float2*)q)[(head * n + query) * (kWidth / 2) + lane];
  const float2* keys = (const float2*)k + head * n * (kWidth / 2);
  float* row = scores + (head * n + query) * n;
  for (int base = 0; base <= query; base += 32) {
    float kept = 0;
    for (int j = 0; j < 32; j++) {
      const float2 key = keys[(base + j) * (kWidth / 2) + lane];
      float part = mine.x * key.x + mine.y * key.y;
      for (int d = 16; d > 0; d >>= 1) part += __shfl_xor_sync(0xffffffff, part, d);
      if (lane == j) kept = part;
    }
    row[base + lane] = base + lane <= query ? kept * scale : -1e30f;
  }
}

// Attention without a mask: a thread for each query, tiles of keys and values in shared memory.
template <int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads)
    attend_tiles(const float4* __restrict__ q, const float4* __restrict__ k, const float4* __restrict__ v,
                 float4* __restrict__ out, float scale, int n) {
  constexpr int kQuads = kWidth / 4;
  __shared__ float4 keys[kTile][kQuads], values[kTile][kQuads];
  const int base = blockIdx.y * n, query = blockIdx.x * kThreads + threadIdx.x;
  float4 mine[kQuads], mixed[kQuads];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    mine[i] = q[(base + query) * kQuads + i];
    mixed[i] = make_float4(0, 0, 0, 0);
  }
  float top = -1e30f, sum = 0;
  for (int first = 0; first < n; first += kTile) {
    for (int i = threadIdx.x; i < kTile * kQuads; i += kThreads) {
      keys[i / kQuads][i % kQuads] = k[(base + first) * kQuads + i];
      values[i / kQuads][i % kQuads] = v[(base + first) * kQuads + i];
    }
    __syncthreads();
    for (int j = 0; j < kTile; ++j) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const float4 key = keys[j][i];
        score += mine[i].x * key.x + mine[i].y * key.y + mine[i].z * key.z + mine[i].w * key.w;
      }
      score *= scale;
      if (score > top) {
        const float shrink = __expf(top - score);
        sum *= shrink;
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
          mixed[i].x *= shrink;
          mixed[i].y *= shrink;
          mixed[i].z *= shrink;
          mixed[i].w *= shrink;
        }
        top = score;
      }
      const float weight = __expf(score - top);
      sum += weight;
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const float4 value = values[j][i];
        mixed[i].x += weight * value.x;
        mixed[i].y += weight * value.y;
        mixed[i].z += weight * value.z;
        mixed[i].w += weight * value.w;
      }
    }
    __syncthreads();
  }
  const float share = 1 / sum;
#pragma unroll
  for (int i = 0; i < kQuads; ++i)
    out[(base + query) * kQuads + i] =
        make_float4(mixed[i].x * share, mixed[i].y * share, mixed[i].z * share, mixed[i].w * share);
}

// Causal attention in halves, where kGroup heads share keys and values: a warp for each query, a key for each
// lane.
__global__ void attend_grouped(const __half2* __restrict__ q, const __half2* __restrict__ k,
                               const __half2* __restrict__ v, __half2* __restrict__ out, float scale, int n) {
  __shared__ __half2 keys[32][33], values[32][32];
  __shared__ float2 asked[8][32];
  const int lane = threadIdx.x, w = threadIdx.y;
  const int query = blockIdx.x * 8 + w, head = blockIdx.y, shared_head = head / kGroup;
  asked[w][lane] = __half22float2(q[(head * n + query) * 32 + lane]);
  float2 mixed = {0.0f, 0.0f};
  float top = -1e30f, sum = 0.0f;
  const int last = blockIdx.x * 8 + 7;
  for (int first = 0; first <= last; first += 32) {
    __syncthreads();
    for (int j = w; j < 32; j += 8) {
      keys[j][lane] = k[(shared_head * n + first + j) * 32 + lane];
      values[j][lane] = v[(shared_head * n + first + j) * 32 + lane];
    }
    __syncthreads();
    float score = 0.0f;
#pragma unroll 8
    for (int i = 0; i < 32; ++i) {
      const float2 key = __half22float2(keys[lane][i]), part = asked[w][i];
      score = fmaf(part.x, key.x, score);
      score = fmaf(part.y, key.y, score);
    }
    score = first + lane <= query ? score * scale : -1e30f;
    float most = fmaxf(top, score);
#pragma unroll
    for (int d = 1; d < 32; d *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    const float weight = __expf(score - most), shrink = __expf(top - most);
    float total = weight;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) total += __shfl_xor_sync(~0u, total, d);
    sum = sum * shrink + total;
    mixed.x *= shrink;
    mixed.y *= shrink;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const float factor = __shfl_sync(~0u, weight, j);
      const float2 value = __half22float2(values[j][lane]);
      mixed.x += factor * value.x;
      mixed.y += factor * value.y;
    }
    top = most;
  }
  out[(head * n + query) * 32 + lane] = __floats2half2_rn(mixed.x / sum, mixed.y / sum);
}

// Linear attention: the state is a matrix, of which each thread has a column. A block for each sequence and
// head.
__global__ void mix_linearly(const float* __restrict__ q, const float* __restrict__ k,
                             const float* __restrict__ v, float* __restrict__ out, float decay) {
  __shared__ float key[kWidth], query[kWidth];
  const int tid = threadIdx.x;
  float state[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; i++) state[i] = 0.f;
  const size_t base = (size_t)blockIdx.x * kSteps * kWidth + tid;
  for (int t = 0; t < kSteps; t++) {
    key[tid] = k[base + t * kWidth];
    query[tid] = q[base + t * kWidth];
    const float value = v[base + t * kWidth];
    __syncthreads();
    float y = 0.f;
#pragma unroll
    for (int i = 0; i < kWidth; i++) {
      state[i] = decay * state[i] + key[i] * value;
      y += query[i] * state[i];
    }
    out[base + t * kWidth] = y;
    __syncthreads();
  }
}

// Rotary positions from a table: element i of a head turns with element i + 32, two such pairs for each thread.
__global__ void turn_by_table(const __half2* in, const float2* table, __half2* out, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < total) {
    int pair = idx & 15, row = idx >> 4;
    int position = row / kHeads % kPositions;
    float2 a = __half22float2(in[row * 32 + pair]);
    float2 b = __half22float2(in[row * 32 + pair + 16]);
    float2 first = table[position * 32 + 2 * pair], second = table[position * 32 + 2 * pair + 1];
    out[row * 32 + pair] = __floats2half2_rn(a.x * first.x - b.x * first.y, a.y * second.x - b.y * second.y);
    out[row * 32 + pair + 16] =
        __floats2half2_rn(a.x * first.y + b.x * first.x, a.y * second.y + b.y * second.x);
  }
}

// Softmax of causal scores with a penalty that grows with the distance (ALiBi). A block for each row.
__global__ void softmax_alibi(const float* __restrict__ scores, float* __restrict__ out, int n) {
  __shared__ float scratch[128];
  const int query = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const float slope = exp2f(-2.0f * (head + 1));
  const float* from = scores + (head * n + query) * n;
  float* to = out + (head * n + query) * n;
  float most = -1e30f;
  for (int j = t; j <= query; j += blockDim.x) most = fmaxf(most, from[j] - slope * (query - j));
  scratch[t] = most;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) scratch[t] = fmaxf(scratch[t], scratch[t + s]);
    __syncthreads();
  }
  most = scratch[0];
  __syncthreads();
  float sum = 0;
  for (int j = t; j <= query; j += blockDim.x) sum += __expf(from[j] - slope * (query - j) - most);
  scratch[t] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) scratch[t] += scratch[t + s];
    __syncthreads();
  }
  const float share = 1.0f / scratch[0];
  for (int j = t; j < n; j += blockDim.x)
    to[j] = j <= query ? __expf(from[j] - slope * (query - j) - most) * share : 0.0f;
}

// One new token over a part of its cache: eight lanes for each key, sixteen bytes of it for each lane.
__global__ void decode_part(const float* __restrict__ q, const uint4* __restrict__ keys,
                            const __half2* __restrict__ values, float2* __restrict__ partial,
                            float2* __restrict__ stats, float scale, int length) {
  __shared__ float weights[kPart];
  __shared__ float2 parts[4][32];
  const int row = blockIdx.y, split = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int start = row * length + split * kPart;
  float mine[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) mine[i] = q[row * kWidth + lane % 8 * 8 + i];
  for (int j = warp * 4 + lane / 8; j < kPart; j += 16) {
    const uint4 raw = keys[(start + j) * 8 + lane % 8];
    const __half2* h = reinterpret_cast<const __half2*>(&raw);
    float score = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 f = __half22float2(h[i]);
      score += f.x * mine[2 * i] + f.y * mine[2 * i + 1];
    }
    score += __shfl_xor_sync(0xffffffffu, score, 4);
    score += __shfl_xor_sync(0xffffffffu, score, 2);
    score += __shfl_xor_sync(0xffffffffu, score, 1);
    if (lane % 8 == 0) weights[j] = score * scale;
  }
  __syncthreads();
  float most = fmaxf(weights[lane], weights[lane + 32]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  float sum = __expf(weights[lane] - most) + __expf(weights[lane + 32] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  float2 mixed = make_float2(0, 0);
#pragma unroll 4
  for (int j = warp; j < kPart; j += 4) {
    const float weight = __expf(weights[j] - most);
    const float2 value = __half22float2(values[(start + j) * 32 + lane]);
    mixed.x += weight * value.x;
    mixed.y += weight * value.y;
  }
  parts[warp][lane] = mixed;
  __syncthreads();
  if (warp > 0) return;
  for (int w = 1; w < 4; ++w) {
    mixed.x += parts[w][lane].x;
    mixed.y += parts[w][lane].y;
  }
  const int at = row * gridDim.x + split;
  partial[at * 32 + lane] = mixed;
  if (lane == 0) stats[at] = make_float2(most, sum);
}

// The parts of the cache together: a thread for each element.
__global__ void combine_parts(const float* partial, const float2* stats, __half* out, int splits) {
  const int row = blockIdx.x, i = threadIdx.x;
  float most = -1e30f;
  for (int s = 0; s < splits; ++s) most = fmaxf(most, stats[row * splits + s].x);
  float sum = 0, mixed = 0;
  for (int s = 0; s < splits; ++s) {
    const float2 stat = stats[row * splits + s];
    const float factor = __expf(stat.x - most);
    sum += factor * stat.y;
    mixed += factor * partial[(row * splits + s) * kWidth + i];
  }
  out[row * kWidth + i] = __float2half(mixed / sum);
}

// n is a multiple of 128.
void run(int n) {
  const int states = n * n / 1024, turned = 2 * n * n, rows = n / 8, splits = n / kPart;
  const auto around_zero = [](int i) { return 2 * hashed_unit(static_cast<unsigned>(i)) - 1; };
  const auto half_around_zero = [](int i) {
    return __float2half(2 * hashed_unit(static_cast<unsigned>(i)) - 1);
  };
  float* queries = device_array<float>(kHeads * n * kWidth, around_zero);
  float* keys = device_array<float>(kHeads * n * kWidth, around_zero);
  float* values = device_array<float>(kHeads * n * kWidth, around_zero);
  float* mixed = device_zeros<float>(kHeads * n * kWidth);
  float* scores = device_array<float>(kScored * n * n, around_zero);
  float* shares = device_zeros<float>(kScored * n * n);
  __half* half_queries = device_array<__half>(kHeads * n * kWidth, half_around_zero);
  __half* half_keys = device_array<__half>(kHeads / kGroup * n * kWidth, half_around_zero);
  __half* half_values = device_array<__half>(kHeads / kGroup * n * kWidth, half_around_zero);
  __half* half_mixed = device_zeros<__half>(kHeads * n * kWidth);
  float* step_queries = device_array<float>(states * kSteps * kWidth, around_zero);
  float* step_keys = device_array<float>(states * kSteps * kWidth, around_zero);
  float* step_values = device_array<float>(states * kSteps * kWidth, around_zero);
  float* step_out = device_zeros<float>(states * kSteps * kWidth);
  float2* table = device_array<float2>(kPositions * 32, [](int i) {
    const float angle = i / 32 * exp2f(-0.4f * (i % 32));
    return make_float2(cosf(angle), sinf(angle));
  });
  __half* cached_keys = device_array<__half>(rows * n * kWidth, half_around_zero);
  __half* cached_values = device_array<__half>(rows * n * kWidth, half_around_zero);
  __half* turned_keys = device_zeros<__half>(rows * n * kWidth);
  float* partial = device_zeros<float>(rows * splits * kWidth);
  float2* stats = device_zeros<float2>(rows * splits);
  __half* decoded = device_zeros<__half>(rows * kWidth);
  for (int r = 0; r < kLaunches; ++r)
    score_queries<<<dim3(n / 4, kScored), 128>>>(queries, keys, scores, 0.125f, n);
  for (int r = 0; r < kLaunches; ++r)
    attend_tiles<32, 64><<<dim3(n / 64, kHeads), 64>>>((float4*)queries, (float4*)keys, (float4*)values,
                                                       (float4*)mixed, 0.125f, n);
  for (int r = 0; r < kLaunches; ++r)
    attend_grouped<<<dim3(n / 8, kHeads), dim3(32, 8)>>>(
        (__half2*)half_queries, (__half2*)half_keys, (__half2*)half_values, (__half2*)half_mixed, 0.125f, n);
  for (int r = 0; r < kLaunches; ++r)
    mix_linearly<<<states, kWidth>>>(step_queries, step_keys, step_values, step_out, 0.97f);
  for (int r = 0; r < kLaunches; ++r)
    turn_by_table<<<ceil_div(turned, 256), 256>>>((__half2*)cached_keys, table, (__half2*)turned_keys,
                                                  turned);
  for (int r = 0; r < kLaunches; ++r) softmax_alibi<<<dim3(n, kScored), 128>>>(scores, shares, n);
  for (int r = 0; r < kLaunches; ++r)
    decode_part<<<dim3(splits, rows), 128>>>(queries, (uint4*)cached_keys, (__half2*)cached_values,
                                             (float2*)partial, stats, 0.125f, n);
  for (int r = 0; r < kLaunches; ++r) combine_parts<<<rows, kWidth>>>(partial, stats, decoded, splits);
  free_all(queries, keys, values, mixed, scores, shares, half_queries, half_keys, half_values, half_mixed);
  free_all(step_queries, step_keys, step_values, step_out, table, cached_keys, cached_values, turned_keys);
  free_all(partial, stats, decoded);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sequence_mixing");
}
