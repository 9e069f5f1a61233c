// What the 768 columns of two tables of n rows are like, each and together.
#include "device.h"

// The sums of the first three powers, a column per thread, the sums in memory.
__global__ void raw_moments(double* moments, const double* table, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < columns) {
    moments[j] = 0.0;
    moments[columns + j] = 0.0;
    moments[2 * columns + j] = 0.0;
    for (int i = 0; i < rows; i++) {
      double value = table[i * columns + j];
      moments[j] += value;
      moments[columns + j] += value * value;
      moments[2 * columns + j] += value * value * value;
    }
    moments[j] /= rows;
    moments[columns + j] /= rows;
    moments[2 * columns + j] /= rows;
  }
}

// A column of one table with 16 columns of the other.
__global__ void products_of_tables(const double* first, const float* second, double* products, int rows,
                                   int columns) {
  const int k = threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j >= columns) return;
  products[j * 16 + k] = 0;
  for (int i = 0; i < rows; ++i)
    products[j * 16 + k] += first[i * columns + j] * second[i * columns + (j + k) % columns];
}

// The least, the most and the middle of each row, a row per thread.
__global__ void row_ranges(const float* table, float* ranges, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float least = table[i * columns], most = least;
  for (int j = 1; j < columns; ++j) {
    least = fminf(least, table[i * columns + j]);
    most = fmaxf(most, table[i * columns + j]);
  }
  ranges[3 * i] = least;
  ranges[3 * i + 1] = most;
  ranges[3 * i + 2] = 0.5f * (least + most);
}

// Each value by its column's mean and deviation, and what is far out drawn nearer.
__global__ void standardise(const double* table, const double* moments, double* out, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  const double mean = moments[j], variance = moments[columns + j] - mean * mean;
  const double z = (table[i * columns + j] - mean) / sqrt(fmax(variance, 1e-12));
  out[i * columns + j] = copysign(pow(fabs(z), 0.7), z);
}

__constant__ float thresholds[24];

// How many values of a column are below each of 24 thresholds: 64 rows for each thread.
__global__ void counts_below(const float* __restrict__ table, int* counts, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  int below[24];
#pragma unroll
  for (int q = 0; q < 24; ++q) below[q] = 0;
  for (int i = blockIdx.y * 64; i < min(rows, blockIdx.y * 64 + 64); ++i) {
    const float value = table[i * columns + j];
#pragma unroll
    for (int q = 0; q < 24; ++q) below[q] += value < thresholds[q];
  }
#pragma unroll
  for (int q = 0; q < 24; ++q) atomicAdd(counts + q * columns + j, below[q]);
}

// A mean and a variance that forget, after each row.
__global__ void forgetting(const float* __restrict__ table, float* __restrict__ scores, float keep, int rows,
                           int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  float mean = 0, variance = 1;
  for (int i = 0; i < rows; ++i) {
    const float difference = table[i * columns + j] - mean;
    scores[i * columns + j] = difference * rsqrtf(variance);
    mean += (1 - keep) * difference;
    variance = keep * (variance + (1 - keep) * difference * difference);
  }
}

void run(int n) {
  const int columns = 768, count = n * columns;
  float levels[24];
  for (int q = 0; q < 24; ++q) levels[q] = (q + 1) / 25.0f;
  cudaMemcpyToSymbol(thresholds, levels, sizeof levels);
  double* first = device_doubles(count);
  float* second = device_floats(count);
  double* moments = device_zeros<double>(16 * columns);
  double* out = device_zeros<double>(count);
  int* counts = device_zeros<int>(24 * columns);
  for (int r = 0; r < kLaunches; ++r)
    raw_moments<<<ceil_div(columns, 256), 256>>>(moments, first, n, columns);
  for (int r = 0; r < kLaunches; ++r)
    standardise<<<dim3(ceil_div(columns, 32), ceil_div(n, 8)), dim3(32, 8)>>>(first, moments, out, n,
                                                                              columns);
  for (int r = 0; r < kLaunches; ++r)
    products_of_tables<<<dim3(1, ceil_div(columns, 16)), dim3(16, 16)>>>(first, second, moments, n, columns);
  for (int r = 0; r < kLaunches; ++r) row_ranges<<<ceil_div(n, 128), 128>>>(second, (float*)out, n, columns);
  for (int r = 0; r < kLaunches; ++r)
    counts_below<<<dim3(ceil_div(columns, 64), ceil_div(n, 64)), 64>>>(second, counts, n, columns);
  for (int r = 0; r < kLaunches; ++r)
    forgetting<<<ceil_div(columns, 32), 32>>>(second, (float*)out, 0.98f, n, columns);
  free_all(first, second, moments, out, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("column_statistics");
}
