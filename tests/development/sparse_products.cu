// Products of a sparse matrix and a vector in several formats: rows of 1 to 31 entries in columns far and near.
#include "device.h"

template <class T>
__global__ void csr_row_per_thread(const int* first, const int* columns, const T* values, const T* x, T* y,
                                   int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = first[row]; k < first[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

__global__ void csr_row_per_warp(const int* first, const int* columns, const float* values, const float* x,
                                 float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += values[k] * x[columns[k]];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  if (lane == 0) y[row] = sum;
}

// Sixteen entries in each row, the rows' k-th entries side by side.
__global__ void ell(const int* columns, const float* values, const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += values[k * rows + row] * x[columns[k * rows + row]];
  y[row] = sum;
}

__global__ void coo(const int* rows, const int* columns, const float* values, const float* x, float* y,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[rows[i]], values[i] * x[columns[i]]);
}

void run(int rows) {
  const int entries = 16 * rows;
  // Row r has 1 + r % 31 entries; 31 rows have 496.
  int* first = device_array<int>(rows + 1, [](int r) { return r / 31 * 496 + (r % 31) * (r % 31 + 1) / 2; });
  int* near = device_array<int>(entries, [rows](int i) { return (i / 16 + i % 16 * 5) % rows; });
  int* far = device_ints(entries, rows);
  int* row_of = device_array<int>(entries, [](int i) { return i / 16; });
  float* values = device_floats(entries);
  float* x = device_floats(rows);
  float* y = device_zeros<float>(rows);
  double* dvalues = device_doubles(entries);
  double* dx = device_doubles(rows);
  double* dy = device_zeros<double>(rows);
  for (int r = 0; r < kLaunches; ++r)
    csr_row_per_thread<float><<<ceil_div(rows, 128), 128>>>(first, near, values, x, y, rows);
  for (int r = 0; r < kLaunches; ++r)
    csr_row_per_thread<float><<<ceil_div(rows, 256), 256>>>(first, far, values, x, y, rows);
  for (int r = 0; r < kLaunches; ++r)
    csr_row_per_thread<double><<<ceil_div(rows, 128), 128>>>(first, near, dvalues, dx, dy, rows);
  for (int r = 0; r < kLaunches; ++r)
    csr_row_per_warp<<<ceil_div(rows, 4), 128>>>(first, near, values, x, y, rows);
  for (int r = 0; r < kLaunches; ++r) ell<<<ceil_div(rows, 128), 128>>>(near, values, x, y, rows);
  for (int r = 0; r < kLaunches; ++r) ell<<<ceil_div(rows, 256), 256>>>(far, values, x, y, rows);
  for (int r = 0; r < kLaunches; ++r)
    coo<<<ceil_div(entries, 256), 256>>>(row_of, near, values, x, y, entries);
  free_all(first, near, far, row_of, values, x, y, dvalues, dx, dy);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sparse_products");
}
