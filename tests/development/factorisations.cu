// Steps of the factorisation of a matrix of n x n numbers.
#include "device.h"

__global__ void column_factors(double* a, int k, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
  if (row < n) a[row * n + k] /= a[k * n + k] + 10;
}

// Takes a row's and a column's product from the rest of the matrix.
__global__ void rank_one_update(double* a, int k, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + k + 1,
            y = blockIdx.y * blockDim.y + threadIdx.y + k + 1;
  if (x < n && y < n) a[y * n + x] -= a[y * n + k] * a[k * n + x];
}

// The triangle of a tile, one thread a row.
__global__ void tile_factor(float* a, int first, int n) {
  __shared__ float tile[32][33];
  const int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) tile[i][t] = a[(first + i) * n + first + t] + (i == t ? 40 : 0);
  __syncthreads();
  for (int k = 0; k < 31; ++k) {
    if (t > k) {
      tile[t][k] /= tile[k][k];
      for (int j = k + 1; j < 32; ++j) tile[t][j] -= tile[t][k] * tile[k][j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 32; ++i) a[(first + i) * n + first + t] = tile[i][t];
}

// x of a lower triangle, one block, the unknowns in shared memory.
__global__ void forward_substitution(const float* a, float* x, int n) {
  extern __shared__ float known[];
  const int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x) known[i] = x[i];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const float value = known[k] / (a[k * n + k] + 10);
    for (int i = k + 1 + t; i < n; i += blockDim.x) known[i] -= a[i * n + k] * value;
    if (t == 0) x[k] = value;
  }
}

// A reflection of all columns, a column per block.
__global__ void reflect(const float* v, float* a, float factor, int n) {
  __shared__ float part[128];
  const int t = threadIdx.x, column = blockIdx.x;
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += v[i] * a[i * n + column];
  part[t] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  const float along = factor * part[0];
  for (int i = t; i < n; i += 128) a[i * n + column] -= along * v[i];
}

void run(int n) {
  double* a = device_doubles(n * n);
  for (int r = 0; r < kLaunches; ++r) column_factors<<<ceil_div(n, 128), 128>>>(a, 0, n);
  for (int r = 0; r < kLaunches; ++r)
    rank_one_update<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, 0, n);
  for (int r = 0; r < kLaunches; ++r)
    rank_one_update<<<dim3(ceil_div(n / 2, 16), ceil_div(n / 2, 16)), dim3(16, 16)>>>(a, n / 2, n);
  free_all(a);
  float* b = device_floats(n * n);
  float* x = device_floats(n);
  for (int r = 0; r < kLaunches; ++r) tile_factor<<<1, 32>>>(b, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    forward_substitution<<<1, 256, 1024 * sizeof(float)>>>(b, x, 1024 < n ? 1024 : n);
  for (int r = 0; r < kLaunches; ++r) reflect<<<n, 128>>>(x, b, 0.001f, n);
  free_all(b, x);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("factorisations");
}
