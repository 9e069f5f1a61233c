// Attention of n queries to n keys of 64 numbers each.
#include "device.h"

// A warp for each pair of 32 queries and one key.
__global__ void scores(const float* queries, const float* keys, float* out, int n) {
  __shared__ float q[32][65], k[32][65];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8)
    for (int d = x; d < 64; d += 32) {
      q[r][d] = queries[(blockIdx.y * 32 + r) * 64 + d];
      k[r][d] = keys[(blockIdx.x * 32 + r) * 64 + d];
    }
  __syncthreads();
  for (int r = y; r < 32; r += 8) {
    float sum = 0;
    for (int d = 0; d < 64; ++d) sum += q[r][d] * k[x][d];
    out[(blockIdx.y * 32 + r) * n + blockIdx.x * 32 + x] = sum * 0.125f;
  }
}

// A query per thread, keys and values through shared memory, the sums kept as they come.
__global__ void online(const float* queries, const float* keys, const float* values, float* out, int n) {
  __shared__ float k[32][64], v[32][64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  float q[64], sum[64], most = -1e30f, weight = 0;
#pragma unroll
  for (int d = 0; d < 64; ++d) {
    q[d] = queries[i * 64 + d];
    sum[d] = 0;
  }
  for (int first = 0; first < n; first += 32) {
    __syncthreads();
    for (int r = 0; r < 32; ++r) {
      k[r][t] = keys[(first + r) * 64 + t];
      v[r][t] = values[(first + r) * 64 + t];
    }
    __syncthreads();
    for (int r = 0; r < 32; ++r) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < 64; ++d) score += q[d] * k[r][d];
      const float top = fmaxf(most, score), old = __expf(most - top), now = __expf(score - top);
      weight = weight * old + now;
#pragma unroll
      for (int d = 0; d < 64; ++d) sum[d] = sum[d] * old + now * v[r][d];
      most = top;
    }
  }
#pragma unroll
  for (int d = 0; d < 64; ++d) out[i * 64 + d] = sum[d] / weight;
}

// The same with half the registers that it wants.
__global__ void __launch_bounds__(64, 12)
    online_spilled(const float* queries, const float* keys, const float* values, float* out, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  float q[64], sum[64], weight = 0;
#pragma unroll
  for (int d = 0; d < 64; ++d) {
    q[d] = queries[i * 64 + d];
    sum[d] = 0;
  }
  for (int j = 0; j < n; ++j) {
    float score = 0;
#pragma unroll
    for (int d = 0; d < 64; ++d) score += q[d] * keys[j * 64 + d];
    const float now = __expf(score * 0.125f);
    weight += now;
#pragma unroll
    for (int d = 0; d < 64; ++d) sum[d] += now * values[j * 64 + d];
  }
#pragma unroll
  for (int d = 0; d < 64; ++d) out[i * 64 + d] = sum[d] / weight;
}

void run(int n) {
  float* queries = device_floats(64 * n);
  float* keys = device_floats(64 * n);
  float* values = device_floats(64 * n);
  float* out = device_zeros<float>(n * n);
  for (int r = 0; r < kLaunches; ++r) scores<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(queries, keys, out, n);
  for (int r = 0; r < kLaunches; ++r) online<<<n / 64, 64>>>(queries, keys, values, out, n);
  for (int r = 0; r < kLaunches; ++r) online_spilled<<<n / 64, 64>>>(queries, keys, values, out, n);
  free_all(queries, keys, values, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("attention");
}
