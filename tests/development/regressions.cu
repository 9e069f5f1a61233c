// Lines and planes through n observations of 32 variables each, in a row each.
#include "device.h"

constexpr int kVariables = 32;

// The products of each two variables, the upper triangle, 1024 rows for each block: sums in memory.
__global__ void normal_equations(const float* table, float* products, int n) {
  int k = threadIdx.x, j = threadIdx.y;
  if (j <= k) {
    int at = (blockIdx.x * kVariables + j) * kVariables + k;
    products[at] = 0.0f;
    for (int i = blockIdx.x * 1024; i < blockIdx.x * 1024 + 1024 && i < n; i++)
      products[at] += table[i * kVariables + j] * table[i * kVariables + k];
  }
}

// What a plane does not explain: an observation for each thread, the neighbours 128 bytes apart, the rest in memory.
__global__ void unexplained(const float* table, const float* values, const float* coefficients, float* rest,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  rest[i] = values[i];
  for (int j = 0; j < kVariables; ++j) rest[i] -= coefficients[j] * table[i * kVariables + j];
}

// How the rests are spread: 128 bins in shared memory.
__global__ void spread(const float* rest, int* counts, float least, float width, int n) {
  __shared__ int own[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(own + min(max(static_cast<int>((rest[i] - least) / width), 0), 127), 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 128; k += blockDim.x) atomicAdd(counts + k, own[k]);
}

// Yes or no: the gradient of the coefficients, a variable for each lane, a row for each warp at a time.
__global__ void yes_or_no(const float* __restrict__ table, const float* __restrict__ values,
                          const float* __restrict__ coefficients, float* __restrict__ gradient, int n) {
  __shared__ float part[8][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const float coefficient = coefficients[lane];
  float sum = 0;
  for (int i = blockIdx.x * 8 + warp; i < n; i += gridDim.x * 8) {
    const float x = table[i * kVariables + lane];
    float margin = x * coefficient;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) margin += __shfl_xor_sync(0xffffffffu, margin, step);
    sum += x * (1 / (1 + __expf(-margin)) - values[i]);
  }
  part[warp][lane] = sum;
  __syncthreads();
  if (warp > 0) return;
#pragma unroll
  for (int k = 1; k < 8; ++k) sum += part[k][lane];
  atomicAdd(gradient + lane, sum);
}

// How much weight an observation has: a triangular system for each, in registers; the triangle in shared memory.
template <int kSize>
__global__ void leverages(const float4* __restrict__ table, const float* __restrict__ factor, float* out,
                          int n) {
  __shared__ float lower[kSize][kSize];
  for (int k = threadIdx.x; k < kSize * kSize; k += blockDim.x)
    lower[k / kSize][k % kSize] = factor[k] * 0.1f + (k / kSize == k % kSize ? 1.0f : 0.0f);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float z[kSize], sum = 0;
#pragma unroll
  for (int k = 0; k < kSize / 4; ++k) {
    const float4 v = table[i * (kSize / 4) + k];
    z[4 * k] = v.x;
    z[4 * k + 1] = v.y;
    z[4 * k + 2] = v.z;
    z[4 * k + 3] = v.w;
  }
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
#pragma unroll
    for (int k = 0; k < j; ++k) z[j] -= lower[j][k] * z[k];
    z[j] *= lower[j][j];
    sum += z[j] * z[j];
  }
  out[i] = sum;
}

// A line through each group of 128 observations, in double precision: a group per thread, two rounds of weights.
__global__ void lines(const double* x, const double* y, double* out, int groups) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  double slope = 0, height = 0;
  for (int round = 0; round < 2; ++round) {
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < 128; ++k) {
      const double a = x[k * groups + g], b = y[k * groups + g];
      const double weight = 1 / (1 + fabs(b - height - slope * a));
      s += weight;
      sx += weight * a;
      sy += weight * b;
      sxx += weight * a * a;
      sxy += weight * a * b;
    }
    slope = (s * sxy - sx * sy) / (s * sxx - sx * sx + 1e-9);
    height = (sy - slope * sx) / s;
  }
  out[2 * g] = slope;
  out[2 * g + 1] = height;
}

void run(int n) {
  float* table = device_floats(kVariables * n);
  float* values = device_floats(n);
  float* coefficients = device_floats(kVariables * kVariables);
  float* out = device_zeros<float>(n + ceil_div(n, 1024) * 1024);
  double* x = device_array<double>(4 * n, [](int i) { return i * 37 % 1009 / 1009.0; });
  double* y = device_doubles(4 * n);
  int* counts = device_zeros<int>(128);
  for (int r = 0; r < kLaunches; ++r)
    normal_equations<<<ceil_div(n, 1024), dim3(kVariables, kVariables)>>>(table, out, n);
  for (int r = 0; r < kLaunches; ++r)
    unexplained<<<ceil_div(n, 256), 256>>>(table, values, coefficients, out, n);
  for (int r = 0; r < kLaunches; ++r) spread<<<132, 256>>>(out, counts, -12.0f, 0.2f, n);
  for (int r = 0; r < kLaunches; ++r)
    yes_or_no<<<264, dim3(32, 8)>>>(table, values, coefficients, (float*)counts, n);
  for (int r = 0; r < kLaunches; ++r)
    leverages<32><<<ceil_div(n, 128), 128>>>((float4*)table, coefficients, out, n);
  for (int r = 0; r < kLaunches; ++r) lines<<<ceil_div(n / 32, 64), 64>>>(x, y, (double*)out, n / 32);
  free_all(table, values, coefficients, out, x, y, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("regressions");
}
