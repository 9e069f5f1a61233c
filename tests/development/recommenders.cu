// n users of a shop, a quarter as many items, and sixteen ratings by each user: factors of users and items.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kFactors = 64;

// What users would give to items: a warp for each rating, its two rows found through their numbers.
__global__ void predict(const float* users, const float* items, const int* user_of, const int* item_of,
                        const float* user_bias, const float* item_bias, float mean, float* out, int ratings) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= ratings) return;
  const int u = user_of[r], v = item_of[r];
  float sum = users[u * kFactors + lane] * items[v * kFactors + lane] +
              users[u * kFactors + lane + 32] * items[v * kFactors + lane + 32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) out[r] = mean + user_bias[u] + item_bias[v] + sum;
}

// A step of each user's factors down the slope of the error of the user's ratings, which are one after the other.
__global__ void step_users(const float2* __restrict__ users, const float2* __restrict__ items,
                           const int* __restrict__ item_of, const float* __restrict__ given,
                           float2* __restrict__ next, float rate, float smooth, int each, int n) {
  const int u = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (u >= n) return;
  const float2 own = users[u * 32 + lane];
  float2 slope = make_float2(0, 0);
  for (int k = 0; k < each; ++k) {
    const float2 item = items[item_of[u * each + k] * 32 + lane];
    float dot = own.x * item.x + own.y * item.y;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
    const float miss = given[u * each + k] - dot;
    slope.x += miss * item.x;
    slope.y += miss * item.y;
  }
  next[u * 32 + lane] =
      make_float2(own.x + rate * (slope.x - smooth * own.x), own.y + rate * (slope.y - smooth * own.y));
}

// The slopes for the items: each rating adds its user's row, times its error, to the row of its item.
__global__ void item_slopes(const float* users, const float* misses, const int* user_of, const int* item_of,
                            float* slopes, int ratings) {
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= ratings) return;
  const int k = threadIdx.x;
  const float add = misses[r] * users[user_of[r] * kFactors + k];
  atomicAdd(&slopes[item_of[r] * kFactors + k], add);
}

// The four best of some items for each user: the user's factors in registers, tiles of items in shared memory.
template <int kWidth>
__global__ void __launch_bounds__(128)
    best_items(const float* users, const float* items, float4* scores, int4* best, int candidates, int n) {
  __shared__ float4 tile[32][kWidth / 4];
  const int u = blockIdx.x * 128 + threadIdx.x;
  float own[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) own[k] = u < n ? users[k * n + u] : 0;
  float s0 = -1e30f, s1 = -1e30f, s2 = -1e30f, s3 = -1e30f;
  int b0 = -1, b1 = -1, b2 = -1, b3 = -1;
  for (int first = 0; first < candidates; first += 32) {
    __syncthreads();
    for (int k = threadIdx.x; k < 32 * kWidth / 4; k += 128)
      tile[k / (kWidth / 4)][k % (kWidth / 4)] = ((const float4*)items)[first * (kWidth / 4) + k];
    __syncthreads();
    for (int t = 0; t < 32; ++t) {
      float score = 0;
#pragma unroll
      for (int k = 0; k < kWidth / 4; ++k) {
        const float4 v = tile[t][k];
        score += own[4 * k] * v.x + own[4 * k + 1] * v.y + own[4 * k + 2] * v.z + own[4 * k + 3] * v.w;
      }
      if (score > s3) {
        s3 = score;
        b3 = first + t;
        if (s3 > s2) {
          const float s = s2;
          const int b = b2;
          s2 = s3, b2 = b3, s3 = s, b3 = b;
          if (s2 > s1) {
            const float s = s1;
            const int b = b1;
            s1 = s2, b1 = b2, s2 = s, b2 = b;
            if (s1 > s0) {
              const float s = s0;
              const int b = b0;
              s0 = s1, b0 = b1, s1 = s, b1 = b;
            }
          }
        }
      }
    }
  }
  if (u >= n) return;
  scores[u] = make_float4(s0, s1, s2, s3);
  best[u] = make_int4(b0, b1, b2, b3);
}

// Rows of length one, as halves: a quarter of a warp for each row, eight numbers for each lane.
__global__ void unit_rows(const float4* in, uint4* out, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 8;
  const bool inside = row < rows;
  float4 a = make_float4(0, 0, 0, 0), b = a;
  if (inside) {
    a = in[2 * i];
    b = in[2 * i + 1];
  }
  float sum = a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w + b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
  sum += __shfl_xor_sync(0xffffffffu, sum, 4, 8);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2, 8);
  sum += __shfl_xor_sync(0xffffffffu, sum, 1, 8);
  const float scale = rsqrtf(fmaxf(sum, 1e-12f));
  __half2 halves[4] = {
      __floats2half2_rn(a.x * scale, a.y * scale), __floats2half2_rn(a.z * scale, a.w * scale),
      __floats2half2_rn(b.x * scale, b.y * scale), __floats2half2_rn(b.z * scale, b.w * scale)};
  if (inside) out[i] = *(const uint4*)halves;
}

// The weighted mean of the rows in each user's bag of items; bags are of many sizes.
__global__ void mean_of_bags(const __half2* table, const int* numbers, const float* weights,
                             const int* firsts, float2* out, int bags) {
  const int bag = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (bag >= bags) return;
  const int last = firsts[bag + 1];
  float2 sum = make_float2(0, 0);
  float all = 0;
  for (int k = firsts[bag]; k < last; ++k) {
    const float weight = weights[k];
    const float2 row = __half22float2(table[numbers[k] * (kFactors / 2) + lane]);
    sum.x += weight * row.x;
    sum.y += weight * row.y;
    all += weight;
  }
  const float share = 1 / (all + 1e-6f);
  out[bag * (kFactors / 2) + lane] = make_float2(sum.x * share, sum.y * share);
}

// The squared and the absolute error of all ratings, in double precision, and how many miss by more than a star.
__global__ void rating_errors(const float* given, const float* predicted, double* sums, int* wrong,
                              int ratings) {
  __shared__ double squares[32], absolutes[32];
  __shared__ int counts[32];
  double square = 0, absolute = 0;
  int count = 0;
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < ratings; r += gridDim.x * blockDim.x) {
    const double miss = (double)given[r] - fmin(fmax((double)predicted[r], 1.0), 5.0);
    square += miss * miss;
    absolute += fabs(miss);
    count += fabs(miss) > 1.0;
  }
  for (int step = 16; step > 0; step /= 2) {
    square += __shfl_down_sync(0xffffffffu, square, step);
    absolute += __shfl_down_sync(0xffffffffu, absolute, step);
    count += __shfl_down_sync(0xffffffffu, count, step);
  }
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) {
    squares[warp] = square;
    absolutes[warp] = absolute;
    counts[warp] = count;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) {
      square += squares[w];
      absolute += absolutes[w];
      count += counts[w];
    }
    atomicAdd(&sums[0], square);
    atomicAdd(&sums[1], absolute);
    atomicAdd(wrong, count);
  }
}

// Each user's slope for ranking a bought item above one drawn by chance: sixteen lanes for each user.
__global__ void ranking_slopes(const float4* users, const float4* items, const int* bought, float4* slopes,
                               float* losses, unsigned seed, int count, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, u = t / 16, lane = t % 16;
  if (u >= n) return;
  unsigned draw = u * 747796405u + seed;
  draw = ((draw >> ((draw >> 28) + 4)) ^ draw) * 277803737u;
  draw = (draw >> 22 ^ draw) % (unsigned)count;
  const float4 own = users[u * 16 + lane], good = items[bought[u] * 16 + lane], bad = items[draw * 16 + lane];
  const float4 apart = make_float4(good.x - bad.x, good.y - bad.y, good.z - bad.z, good.w - bad.w);
  float dot = own.x * apart.x + own.y * apart.y + own.z * apart.z + own.w * apart.w;
  const unsigned mask = 0xffffu << (threadIdx.x & 16);
  for (int step = 8; step > 0; step /= 2) dot += __shfl_xor_sync(mask, dot, step, 16);
  const float e = expf(-dot), push = e / (1 + e);
  slopes[u * 16 + lane] = make_float4(push * apart.x, push * apart.y, push * apart.z, push * apart.w);
  if (lane == 0) losses[u] = log1pf(e);
}

void run(int n) {
  const int each = 16, items = n / 4, ratings = each * n, candidates = items < 1024 ? items : 1024;
  // Numbers about zero that follow no order.
  const auto factor = [](int i) {
    return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216 - 0.5f;
  };
  float* user_rows = device_array<float>(n * kFactors, factor);
  float* item_rows =
      device_array<float>(items * kFactors, [factor](int i) { return factor(5 * i + i / 64 % 101); });
  float* slopes = device_zeros<float>(items * kFactors);
  float* next = device_zeros<float>(n * kFactors);
  __half* halves = device_zeros<__half>(items * kFactors);
  float* user_bias = device_floats(n);
  float* item_bias = device_floats(items);
  int* user_of = device_array<int>(ratings, [each](int i) { return i / each; });
  int* item_of = device_ints(ratings, items);
  float* given = device_array<float>(ratings, [](int i) { return static_cast<float>(1 + i % 7 * 3 % 5); });
  float* predicted = device_floats(ratings);
  std::vector<int> ends(n + 1, 0);
  for (int b = 0; b < n; ++b) ends[b + 1] = ends[b] + 1 + (b * 7 + b / 13) % 23;
  int* firsts = device_array<int>(n + 1, [&ends](int i) { return ends[i]; });
  int* numbers = device_ints(ends[n], items);
  float* weights = device_array<float>(ends[n], [](int i) { return 0.5f + i % 3; });
  float4* scores = device_zeros<float4>(n);
  int4* best = device_zeros<int4>(n);
  double* sums = device_zeros<double>(2);
  int* wrong = device_zeros<int>(1);
  for (int r = 0; r < kLaunches; ++r)
    predict<<<ceil_div(ratings, 8), 256>>>(user_rows, item_rows, user_of, item_of, user_bias, item_bias, 3.5f,
                                           predicted, ratings);
  for (int r = 0; r < kLaunches; ++r)
    step_users<<<ceil_div(n, 4), dim3(32, 4)>>>((float2*)user_rows, (float2*)item_rows, item_of, given,
                                                (float2*)next, 0.002f, 0.05f, each, n);
  for (int r = 0; r < kLaunches; ++r)
    item_slopes<<<ceil_div(ratings / 4, 6), dim3(kFactors, 6)>>>(user_rows, predicted, user_of, item_of,
                                                                 slopes, ratings / 4);
  for (int r = 0; r < kLaunches; ++r)
    best_items<32><<<ceil_div(n, 128), 128>>>(user_rows, item_rows, scores, best, candidates, n);
  for (int r = 0; r < kLaunches; ++r)
    unit_rows<<<ceil_div(items * 8, 256), 256>>>((float4*)item_rows, (uint4*)halves, items);
  for (int r = 0; r < kLaunches; ++r)
    mean_of_bags<<<ceil_div(n, 16), dim3(32, 16)>>>((__half2*)halves, numbers, weights, firsts, (float2*)next,
                                                    n);
  for (int r = 0; r < kLaunches; ++r)
    rating_errors<<<min(ceil_div(ratings, 1024), 264), 1024>>>(given, predicted, sums, wrong, ratings);
  for (int r = 0; r < kLaunches; ++r)
    ranking_slopes<<<ceil_div(n * 16, 128), 128>>>((float4*)user_rows, (float4*)item_rows, item_of,
                                                   (float4*)next, user_bias, 11u, items, n);
  free_all(user_rows, item_rows, slopes, next, halves, user_bias, item_bias, user_of, item_of, given,
           predicted, firsts, numbers, weights, scores, best, sums, wrong);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("recommenders");
}
