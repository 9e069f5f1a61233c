// Products of n x n matrices whose entries lie on a few diagonals, in a band, or at regular distances in each row.
#include "device.h"

constexpr int kDiagonals = 9;

__constant__ int offsets[kDiagonals] = {-1024, -64, -8, -1, 0, 1, 8, 64, 1024};

// Diagonal by diagonal, each of them in one piece.
__global__ void by_diagonals(const double* values, const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int d = 0; d < kDiagonals; ++d) {
    const int j = i + offsets[d];
    if (j >= 0 && j < n) sum += values[d * n + i] * x[j];
  }
  y[i] = sum;
}

// The same entries row by row, and the sum in memory.
__global__ void by_rows(const double* values, const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0;
    for (int d = 0; d < kDiagonals; ++d)
      if (i + offsets[d] >= 0 && i + offsets[d] < n) y[i] += values[i * kDiagonals + d] * x[i + offsets[d]];
  }
}

// Entry k of row i is in the column i + k * k * stride, around the end.
__global__ void by_formula(const float* __restrict__ values, const float* __restrict__ x,
                           float* __restrict__ y, int entries, int stride, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < entries; ++k) sum += values[k * n + i] * x[(i + k * k * stride) % n];
  y[i] = sum;
}

// Columns read from memory; two rows for each thread, next to each other.
template <int kEntries>
__global__ void by_columns_read(const float2* __restrict__ values, const int2* __restrict__ columns,
                                const float* __restrict__ x, float2* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i >= n) return;
  float2 sum = make_float2(0, 0);
#pragma unroll
  for (int k = 0; k < kEntries; ++k) {
    const float2 value = values[k * (n / 2) + i];
    const int2 column = columns[k * (n / 2) + i];
    sum.x += value.x * __ldg(x + column.x);
    sum.y += value.y * __ldg(x + column.y);
  }
  y[i] = sum;
}

// Blocks of 8 x 8 on the diagonal: a row for each thread, the vector in shared memory.
__global__ void blocks_on_diagonal(const float4* values, const float* x, float* y, int n) {
  __shared__ float part[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i >= n) return;
  const float* own = part + threadIdx.x / 8 * 8;
  const float4 a = values[2 * i], b = values[2 * i + 1];
  y[i] = a.x * own[0] + a.y * own[1] + a.z * own[2] + a.w * own[3] + b.x * own[4] + b.y * own[5] +
         b.z * own[6] + b.w * own[7];
}

// The transposed of a band that is stored by rows: neighbours read from one row, a step of a row's length at a time.
__global__ void band_transposed(const float* values, const float* x, float* y, int width, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  float sum = 0;
  for (int i = max(0, j - width); i <= min(n - 1, j + width); ++i)
    sum += values[i * (2 * width + 1) + j - i + width] * x[i];
  y[j] = sum;
}

void run(int n) {
  float* values = device_floats(34 * n);
  int* columns = device_ints(12 * n, n);
  double* x = device_doubles(n);
  double* y = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) by_diagonals<<<ceil_div(n, 256), 256>>>((double*)values, x, y, n);
  for (int r = 0; r < kLaunches; ++r) by_rows<<<ceil_div(n, 128), 128>>>((double*)values, x, y, n);
  for (int r = 0; r < kLaunches; ++r)
    by_formula<<<ceil_div(n, 256), 256>>>(values, (float*)x, (float*)y, 12, 5, n);
  for (int r = 0; r < kLaunches; ++r)
    by_columns_read<12>
        <<<ceil_div(n, 2 * 192), 192>>>((float2*)values, (int2*)columns, (float*)x, (float2*)y, n);
  for (int r = 0; r < kLaunches; ++r)
    blocks_on_diagonal<<<ceil_div(n, 128), 128>>>((float4*)values, (float*)x, (float*)y, n);
  for (int r = 0; r < kLaunches; ++r)
    band_transposed<<<ceil_div(n, 512), 512>>>(values, (float*)x, (float*)y, 16, n);
  free_all(values, columns, x, y);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("banded_matrices");
}
