// Sums that stay in memory while they grow, as loops over arrays are written first: products of matrices and vectors, moments
// of columns, triangular systems, sweeps in place.
#include "device.h"

__global__ void product_in_memory(const float* a, const float* b, float* c, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    c[i * n + j] *= 0.5f;
    for (int k = 0; k < n; ++k) c[i * n + j] += 1.5f * a[i * n + k] * b[k * n + j];
  }
}

// a times its transpose: both factors by rows.
__global__ void square_in_memory(const double* a, double* c, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n)
    for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * a[j * n + k] + a[j * n + k];
}

__global__ void rows_in_memory(const float* a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < n; ++j) y[i] += a[i * n + j] * x[j];
}

__global__ void columns_in_memory(const float* a, const float* x, float* y, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n)
    for (int i = 0; i < n; ++i) y[j] += a[i * n + j] * x[i];
}

__global__ void two_vectors(const double* a, const double* b, const double* x, double* y, double* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; j++) {
    z[i] += a[i * n + j] * x[j];
    y[i] += b[i * n + j] * x[j];
  }
  y[i] = 0.4 * z[i] + 0.6 * y[i];
}

__global__ void moments(const float* data, float* mean, float* deviation, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  mean[j] = 0;
  for (int i = 0; i < rows; ++i) mean[j] += data[i * columns + j];
  mean[j] /= rows;
  deviation[j] = 0;
  for (int i = 0; i < rows; ++i)
    deviation[j] += (data[i * columns + j] - mean[j]) * (data[i * columns + j] - mean[j]);
  deviation[j] = sqrtf(deviation[j] / rows);
}

// Upper triangle of the products of columns.
__global__ void pairs_of_columns(const float* data, float* products, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int k = j; k < columns; ++k) {
    products[j * columns + k] = 0;
    for (int i = 0; i < rows; ++i) products[j * columns + k] += data[i * columns + j] * data[i * columns + k];
    products[k * columns + j] = products[j * columns + k];
  }
}

// One column of the systems each, of a triangular matrix that all share.
__global__ void solve_lower(const double* a, double* x, int n, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x[i * columns + j] -= a[i * n + k] * x[k * columns + j];
    x[i * columns + j] /= a[i * n + i] + 2;
  }
}

__global__ void sweep_rows(float* u, const float* rhs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 1; j < n - 1; ++j)
    u[i * n + j] = 0.25f * (u[i * n + j - 1] + u[i * n + j + 1] + rhs[i * n + j]);
}

__global__ void sweep_columns(float* u, const float* rhs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 1; j < n - 1; ++j)
    u[j * n + i] = 0.25f * (u[(j - 1) * n + i] + u[(j + 1) * n + i] + rhs[j * n + i]);
}

void run(int n) {
  float* a = device_floats(n * n);
  float* b = device_floats(n * n);
  float* c = device_zeros<float>(n * n);
  double* wide = device_doubles(n * n);
  double* wider = device_doubles(n * n);
  double* sums = device_zeros<double>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    product_in_memory<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    product_in_memory<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    square_in_memory<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(wide, sums, n);
  for (int r = 0; r < kLaunches; ++r) rows_in_memory<<<ceil_div(n, 256), 256>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) rows_in_memory<<<ceil_div(n, 32), 32>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) columns_in_memory<<<ceil_div(n, 256), 256>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    two_vectors<<<ceil_div(n, 128), 128>>>(wide, wider, wide, sums, sums + n, n);
  for (int r = 0; r < kLaunches; ++r) moments<<<ceil_div(n, 256), 256>>>(a, c, c + n, n, n);
  for (int r = 0; r < kLaunches; ++r) pairs_of_columns<<<ceil_div(n, 64), 64>>>(a, c, n / 4, n / 4);
  for (int r = 0; r < kLaunches; ++r) solve_lower<<<ceil_div(n, 64), 64>>>(wide, sums, n / 4, n);
  for (int r = 0; r < kLaunches; ++r) sweep_rows<<<ceil_div(n, 64), 64>>>(c, a, n);
  for (int r = 0; r < kLaunches; ++r) sweep_columns<<<ceil_div(n, 64), 64>>>(c, a, n);
  free_all(a, b, c, wide, wider, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("running_sums");
}
