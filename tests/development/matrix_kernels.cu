// Dense linear algebra: products of matrices, triangular systems, factors of small ones, norms and powers.
// n is the side of the square matrices, a multiple of 64; the batches of small ones have 8 n^2 elements.
#include "device.h"

struct Matrix3 {
  float m[9];
};

// C = A B, an element for each thread.
__global__ void naive_product(const double* a, const double* b, double* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// C = alpha A B + beta C in tiles of 64 x 64, 4 x 4 elements for each of 16 x 16 threads.
__global__ void tiled_product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                              float alpha, float beta, int n) {
  __shared__ float a_tile[64][17], b_tile[16][64];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int row = blockIdx.y * 64, left = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int part = 0; part < 4; ++part) {
      a_tile[part * 16 + ty][tx] = a[(row + part * 16 + ty) * n + k + tx];
      b_tile[part * 4 + t / 64][t % 64] = b[(k + part * 4 + t / 64) * n + left + t % 64];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 16; ++kk)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += a_tile[ty + 16 * i][kk] * b_tile[kk][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int at = (row + ty + 16 * i) * n + left + tx + 16 * j;
      c[at] = alpha * sums[i][j] + beta * c[at];
    }
}

// C = A' B by vectors of four, 8 x 4 elements for each of 128 threads.
__global__ void __launch_bounds__(128) product_of_fours(const float4* a, const float4* b, float4* c, int n) {
  __shared__ float4 a_tile[8][16], b_tile[8][16];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, quads = n / 4;
  float4 sums[8] = {};
  for (int k = 0; k < n; k += 8) {
    a_tile[ty][tx] = a[(k + ty) * quads + blockIdx.y * 16 + tx];
    b_tile[ty][tx] = b[(k + ty) * quads + blockIdx.x * 16 + tx];
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      const float4 low = a_tile[kk][2 * ty], high = a_tile[kk][2 * ty + 1], v = b_tile[kk][tx];
      const float left[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
      for (int i = 0; i < 8; ++i) {
        sums[i].x += left[i] * v.x;
        sums[i].y += left[i] * v.y;
        sums[i].z += left[i] * v.z;
        sums[i].w += left[i] * v.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) c[(blockIdx.y * 64 + ty * 8 + i) * quads + blockIdx.x * 16 + tx] = sums[i];
}

// Solves L X = B for 32 columns in each block, from the top down in blocks of 32 x 32.
__global__ void __launch_bounds__(1024) solve_lower(const float* lower, const float* b, float* x, int n) {
  __shared__ float l_tile[32][33], x_tile[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 32 + tx;
  for (int row = 0; row < n; row += 32) {
    float value = b[(row + ty) * n + column];
    for (int k = 0; k < row; k += 32) {
      l_tile[ty][tx] = lower[(row + ty) * n + k + tx];
      x_tile[ty][tx] = x[(k + ty) * n + column];
      __syncthreads();
      for (int i = 0; i < 32; ++i) value -= l_tile[ty][i] * x_tile[i][tx];
      __syncthreads();
    }
    l_tile[ty][tx] = lower[(row + ty) * n + row + tx];
    for (int i = 0; i < 32; ++i) {
      __syncthreads();
      if (ty == i) x_tile[i][tx] = value = value / l_tile[i][i];
      __syncthreads();
      if (ty > i) value -= l_tile[ty][i] * x_tile[i][tx];
    }
    x[(row + ty) * n + column] = value;
    __syncthreads();
  }
}

// Factors a symmetric matrix of kSide x kSide for each block, kSide being added to its diagonal.
template <int kSide>
__global__ void small_cholesky(const float* in, float* out) {
  __shared__ float m[kSide][kSide + 1];
  const int column = threadIdx.x, row = threadIdx.y, i = (blockIdx.x * kSide + row) * kSide + column;
  m[row][column] = in[i] + (row == column ? kSide : 0);
  __syncthreads();
  for (int k = 0; k < kSide; ++k) {
    if (row == k && column == k) m[k][k] = sqrtf(m[k][k]);
    __syncthreads();
    if (column == k && row > k) m[row][k] /= m[k][k];
    __syncthreads();
    if (column > k && row >= column) m[row][column] -= m[row][k] * m[column][k];
    __syncthreads();
  }
  out[i] = row >= column ? m[row][column] : 0;
}

// Factors a matrix of 32 x 32 for each warp, whose lanes hold a row each and pass on the row of the pivot.
__global__ void small_lu(const float4* in, float4* out, int matrices) {
  const int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (matrix >= matrices) return;
  float row[32];
#pragma unroll
  for (int k = 0; k < 32; k += 4) {
    const float4 v = in[(matrix * 32 + lane) * 8 + k / 4];
    row[k] = v.x, row[k + 1] = v.y, row[k + 2] = v.z, row[k + 3] = v.w;
  }
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    if (lane == k) row[k] += 32;
    const float factor = row[k] / __shfl_sync(0xffffffffu, row[k], k);
    if (lane > k) row[k] = factor;
#pragma unroll
    for (int j = k + 1; j < 32; ++j) {
      const float pivot = __shfl_sync(0xffffffffu, row[j], k);
      if (lane > k) row[j] -= factor * pivot;
    }
  }
#pragma unroll
  for (int k = 0; k < 32; k += 4)
    out[(matrix * 32 + lane) * 8 + k / 4] = make_float4(row[k], row[k + 1], row[k + 2], row[k + 3]);
}

// Finds the sum of squares and the largest magnitude of each column, rows shared out over blockIdx.y.
__global__ void column_norms(const double* a, double* squares, unsigned long long* largest, int rows, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  double sum = 0, most = 0;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const double value = a[row * n + column];
    sum += value * value;
    most = fmax(most, fabs(value));
  }
  atomicAdd(&squares[column], sum);
  atomicMax(&largest[column], (unsigned long long)__double_as_longlong(most));
}

__device__ Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
#pragma unroll
  for (int i = 0; i < 9; ++i)
    c.m[i] = a.m[i / 3 * 3] * b.m[i % 3] + a.m[i / 3 * 3 + 1] * b.m[3 + i % 3] +
             a.m[i / 3 * 3 + 2] * b.m[6 + i % 3];
  return c;
}

// Raises 3 x 3 matrices to powers by squaring, a thread for each.
__global__ void matrix_powers(const Matrix3* in, Matrix3* out, int highest, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Matrix3 base = in[i], result = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  for (int k = 0; k < 9; ++k) base.m[k] *= 0.3f;
  for (int power = 1 + i % highest; power > 0; power >>= 1) {
    if (power & 1) result = multiply(result, base);
    base = multiply(base, base);
  }
  out[i] = result;
}

void run(int n) {
  const int all = n * n, batch = 8 * all, count = batch / 9, tiles = n / 64;
  double *x = device_doubles(all), *y = device_doubles(all), *z = device_zeros<double>(all);
  double* squares = device_zeros<double>(n);
  unsigned long long* largest = device_zeros<unsigned long long>(n);
  float *a = device_floats(all), *b = device_floats(all), *c = device_zeros<float>(all);
  float* lower = device_array<float>(all, [n](int i) { return i / n == i % n ? 1.5f : hashed_unit(i) / n; });
  float *in = device_array<float>(batch, hashed_unit), *out = device_zeros<float>(batch);
  const dim3 square(16, 16), squares_of_16(n / 16, n / 16), squares_of_64(tiles, tiles), wide(32, 32);
  for (int r = 0; r < kLaunches; ++r) naive_product<<<squares_of_16, square>>>(x, y, z, n);
  for (int r = 0; r < kLaunches; ++r) tiled_product<<<squares_of_64, square>>>(a, b, c, 0.5f, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r)
    product_of_fours<<<squares_of_64, 128>>>((float4*)a, (float4*)b, (float4*)c, n);
  for (int r = 0; r < kLaunches; ++r) solve_lower<<<n / 32, wide>>>(lower, b, c, n);
  for (int r = 0; r < kLaunches; ++r) small_cholesky<16><<<batch / 256, square>>>(in, out);
  for (int r = 0; r < kLaunches; ++r) small_cholesky<32><<<batch / 1024, wide>>>(in, out);
  for (int r = 0; r < kLaunches; ++r)
    small_lu<<<batch / 4096, 128>>>((float4*)in, (float4*)out, batch / 1024);
  for (int r = 0; r < kLaunches; ++r) column_norms<<<dim3(tiles, 32), 64>>>(x, squares, largest, n, n);
  for (int r = 0; r < kLaunches; ++r)
    matrix_powers<<<ceil_div(count, 224), 224>>>((Matrix3*)in, (Matrix3*)out, 30, count);
  free_all(x, y, z, squares, largest, a, b, c, lower, in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("matrix_kernels");
}
