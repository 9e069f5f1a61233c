// Loops of numerical linear algebra on n x n matrices: factorisations, reflections, rotations, solves and products.
#include "device.h"

#define REPEAT for (int r = 0; r < kLaunches; ++r)

// Subtracts from the trailing matrix the product of the pivot column and the pivot row, one step of LU.
template <class T>
__global__ void lu_eliminate(T* a, const T* multipliers, int n, int pivot) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i <= pivot || j <= pivot || i >= n || j >= n) return;
  a[i * n + j] -= multipliers[i] * a[pivot * n + j];
}

// Factors 32 x 32 symmetric blocks into L D L^T, a warp for each block. The diagonal is shifted to stay positive.
__global__ void ldlt_blocks(const double* __restrict__ a, double* __restrict__ factors, int blocks) {
  __shared__ double s[2][32][33];
  const int row = threadIdx.x, w = threadIdx.y, b = blockIdx.x * 2 + w;
  if (b >= blocks) return;
  double (*m)[33] = s[w];
  for (int k = 0; k < 32; ++k) m[k][row] = a[b * 1024 + k * 32 + row] + (k == row ? 40.0 : 0.0);
  __syncwarp();
  for (int k = 0; k < 31; ++k) {
    const double l = m[row][k] / m[k][k];
    if (row > k)
      for (int j = k + 1; j <= row; ++j) m[row][j] -= l * m[j][k];
    __syncwarp();
    if (row > k) m[row][k] = l;
    __syncwarp();
  }
  for (int k = 0; k < 32; ++k) factors[b * 1024 + k * 32 + row] = k >= row ? m[k][row] : 0.0;
}

// Applies a reflection from the right to each row, as a Hessenberg reduction does, with a block for a row.
__global__ void hessenberg_right(double* a, const double* v, double beta, int n, int first) {
  __shared__ double sums[8];
  double* row = a + blockIdx.x * n;
  double dot = 0;
  for (int j = first + threadIdx.x; j < n; j += blockDim.x) dot += row[j] * v[j];
  for (int d = 16; d > 0; d >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, d);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = dot;
  __syncthreads();
  double total = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) total += sums[w];
  total *= beta;
  for (int j = first + threadIdx.x; j < n; j += blockDim.x) row[j] -= total * v[j];
}

// Runs a chain of Givens rotations over neighbouring rows from the bottom up, a thread for each column.
template <class T>
__global__ void givens_chain(const T* a, const float2* rotations, T* out, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= n) return;
  T below = a[(n - 1) * n + col];
  for (int i = n - 2; i >= 0; --i) {
    const T above = a[i * n + col], c = rotations[i].x, s = rotations[i].y;
    out[(i + 1) * n + col] = c * below - s * above;
    below = s * below + c * above;
  }
  out[col] = below;
}

// Solves a small triangular tile for many right-hand sides. Each thread keeps one solution in a local array.
template <class T, int kTile>
__global__ void triangular_tile(const T* l, const T* b, T* x, int n) {
  __shared__ T tile[kTile][kTile];
  const int first = blockIdx.y * kTile, col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < kTile * kTile; k += blockDim.x)
    tile[k / kTile][k % kTile] = l[(first + k / kTile) * n + first + k % kTile] + (k % (kTile + 1) == 0 ? kTile : 0);
  __syncthreads();
  if (col >= n) return;
  T solution[kTile];
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
    T sum = b[(first + i) * n + col];
#pragma unroll
    for (int k = 0; k < i; ++k) sum -= tile[i][k] * solution[k];
    solution[i] = sum / tile[i][i];
    x[(first + i) * n + col] = solution[i];
  }
}

// Multiplies the matrix by a vector for power iteration, a warp for each row, and adds up the squared norm.
__global__ void power_step(const float4* a, const float4* x, float* y, double* norm, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int k = lane; k < n / 4; k += 32) {
    const float4 p = a[row * (n / 4) + k], q = x[k];
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum, atomicAdd(norm, static_cast<double>(sum) * sum);
}

// Makes pairs of rows orthogonal by one-sided Jacobi rotations, a warp for each pair of a round-robin schedule.
__global__ void jacobi_rotate(float* a, int n, int round) {
  const int players = n - 1, k = blockIdx.x, t = threadIdx.x;
  const int p = k == 0 ? n - 1 : (round + k) % players, q = (round + players - k) % players;
  float alpha = 0, beta = 0, gamma = 0;
  for (int j = t; j < n; j += 32) {
    const float x = a[p * n + j], y = a[q * n + j];
    alpha += x * x, beta += y * y, gamma += x * y;
  }
  for (int d = 16; d > 0; d /= 2) {
    alpha += __shfl_down_sync(0xffffffffu, alpha, d);
    beta += __shfl_down_sync(0xffffffffu, beta, d);
    gamma += __shfl_down_sync(0xffffffffu, gamma, d);
  }
  if (fabsf(gamma) <= 1e-12f * sqrtf(alpha * beta)) return;
  const float zeta = (beta - alpha) / (2 * gamma);
  const float tangent = copysignf(1.0f, zeta) / (fabsf(zeta) + sqrtf(1 + zeta * zeta));
  const float c = rsqrtf(1 + tangent * tangent), s = c * tangent;
  for (int j = t; j < n; j += 32) {
    const float x = a[p * n + j], y = a[q * n + j];
    a[p * n + j] = c * x - s * y, a[q * n + j] = s * x + c * y;
  }
}

// Writes the Kronecker product of two small matrices.
__global__ void kronecker(const float* a, const float* b, float* out, int n, int rows_b, int cols_b) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= n * n) return;
  const int i = cell / n, j = cell % n;
  out[cell] = a[i / rows_b * ((n + cols_b - 1) / cols_b) + j / cols_b] * b[i % rows_b * cols_b + j % cols_b];
}

// Multiplies two matrices with a thread for each element of the result.
__global__ void multiply_naive(const double* a, const double* b, double* c, int n, int inner) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  double sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

// Multiplies A (B C) from tiles of 64 x 64 in shared memory, with 4 x 4 results in the registers of a thread.
__global__ void multiply_tiled(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  __shared__ float left[16][65], right[16][64];
  const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = blockIdx.y * 64, col = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int e = t; e < 1024; e += 256) {
      left[e % 16][e / 16] = a[(row + e / 16) * n + k0 + e % 16];
      right[e / 64][e % 64] = b[(k0 + e / 64) * n + col + e % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += left[k][y + 16 * i] * right[k][x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + y + 16 * i) * n + col + x + 16 * j] = acc[i][j];
}

// Multiplies a Toeplitz matrix, given by its diagonals, by many vectors: a block makes 128 elements of one of them.
__global__ void toeplitz(const float* diagonals, const float* vectors, float* out, int n) {
  __shared__ float t[256], x[128];
  const int first = blockIdx.x * 128, i = threadIdx.x;
  float sum = 0;
  for (int j0 = 0; j0 < n; j0 += 128) {
    for (int k = i; k < 255; k += 128) t[k] = diagonals[min(max(first - j0 + k - 127 + n, 0), 2 * n - 1)];
    x[i] = j0 + i < n ? vectors[blockIdx.y * n + j0 + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 128; ++j) sum += t[i - j + 127] * x[j];
    __syncthreads();
  }
  if (first + i < n) out[blockIdx.y * n + first + i] = sum;
}

// The order n is a multiple of 64.
void run(int n) {
  const int cells = n * n;
  float *a = device_floats(cells), *b = device_floats(cells), *c = device_zeros<float>(cells);
  double *p = device_doubles(cells), *q = device_doubles(cells), *s = device_zeros<double>(cells);
  double* norm = device_zeros<double>(1);
  auto* rotations = (float2*)device_array<float>(2 * n, [](int i) { return i % 2 ? 0.6f : 0.8f; });
  REPEAT lu_eliminate<float><<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, b, n, 3);
  REPEAT lu_eliminate<double><<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(p, q, n, n / 2);
  REPEAT ldlt_blocks<<<ceil_div(cells / 1024, 2), dim3(32, 2)>>>(q, s, cells / 1024);
  REPEAT hessenberg_right<<<n, 256>>>(p, q, 1e-4, n, 5);
  REPEAT givens_chain<float><<<ceil_div(n, 64), 64>>>(b, rotations, c, n);
  REPEAT givens_chain<double><<<ceil_div(n, 32), 32>>>(q, rotations, s, n);
  REPEAT triangular_tile<float, 32><<<dim3(ceil_div(n, 128), n / 32), 128>>>(b, b, c, n);
  REPEAT triangular_tile<double, 16><<<dim3(ceil_div(n, 96), n / 16), 96>>>(q, q, s, n);
  REPEAT power_step<<<ceil_div(n, 6), 192>>>((float4*)b, (float4*)a, c, norm, n);
  REPEAT jacobi_rotate<<<n / 2, 32>>>(a, n, 7);
  REPEAT kronecker<<<ceil_div(cells, 512), 512>>>(b, a, c, n, 12, 20);
  REPEAT multiply_naive<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(q, q, s, n, n / 2);
  REPEAT multiply_tiled<<<dim3(n / 64, n / 64), dim3(16, 16)>>>(b, a, c, n);
  REPEAT multiply_tiled<<<dim3(n / 64, n / 64), dim3(16, 16)>>>(a, c, (float*)s, n);
  REPEAT toeplitz<<<dim3(ceil_div(n, 128), n / 4), 128>>>(b, a, c, n);
  free_all(a, b, c, p, q, s, norm, rotations);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("linear_solvers");
}
