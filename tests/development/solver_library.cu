// Kernels of a linear-algebra library: batches of small matrices, and sparse systems with n rows.
#include "device.h"

constexpr int kPanel = 16, kEll = 7, kLevels = 16, kLevelRows = 64, kWidth = 1024;

// LU of 32 x 32 matrices with partial pivoting: a block for each, in shared memory.
template <class T>
__global__ void lu_batched(const T* __restrict__ in, T* __restrict__ out, int* pivots) {
  __shared__ T a[32][33];
  const int lane = threadIdx.x, base = blockIdx.x * 1024;
  for (int row = threadIdx.y; row < 32; row += blockDim.y) a[row][lane] = in[base + row * 32 + lane];
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    if (threadIdx.y == 0) {
      T best = lane >= k ? fabs(a[lane][k]) : T(-1);
      int where = lane;
      for (int d = 16; d > 0; d /= 2) {
        const T other = __shfl_xor_sync(0xffffffffu, best, d);
        const int place = __shfl_xor_sync(0xffffffffu, where, d);
        if (other > best || (other == best && place < where)) best = other, where = place;
      }
      const T upper = a[k][lane], lower = a[where][lane];
      __syncwarp();
      a[where][lane] = upper;
      __syncwarp();
      a[k][lane] = lower;
      if (lane == 0) pivots[blockIdx.x * 32 + k] = where;
    }
    __syncthreads();
    for (int row = k + 1 + threadIdx.y; row < 32; row += blockDim.y) {
      const T factor = a[row][k] / a[k][k];
      __syncwarp();
      if (lane >= k) a[row][lane] = lane == k ? factor : a[row][lane] - factor * a[k][lane];
    }
    __syncthreads();
  }
  for (int row = threadIdx.y; row < 32; row += blockDim.y) out[base + row * 32 + lane] = a[row][lane];
}

// A Householder reflection for each block: its vector is applied to columns of a matrix, a warp for each.
__global__ void reflect_columns(float* matrix, const float* __restrict__ vectors, int height) {
  extern __shared__ float v[];
  const int lane = threadIdx.x, columns = blockDim.y;
  float norm = 0;
  for (int k = lane; k < height; k += 32) {
    const float value = vectors[blockIdx.x * height + k] + 0.1f;
    if (threadIdx.y == 0) v[k] = value;
    norm += value * value;
  }
  __syncthreads();
  float* column = matrix + (blockIdx.x * columns + threadIdx.y) * height;
  float dot = 0;
  for (int k = lane; k < height; k += 32) dot += v[k] * column[k];
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    dot += __shfl_xor_sync(0xffffffffu, dot, d);
    norm += __shfl_xor_sync(0xffffffffu, norm, d);
  }
  for (int k = lane; k < height; k += 32) column[k] -= 2 * dot / norm * v[k];
}

// A Cholesky panel: each block factors the diagonal block, then each thread solves for its row by blocks.
__global__ void cholesky_panel(const double* __restrict__ diagonal, const double* panel, double* out,
                               int rows) {
  __shared__ double l[kPanel][kPanel + 1];
  const int t = threadIdx.x, row = blockIdx.x * blockDim.x + t;
  for (int k = t; k < kPanel * kPanel; k += blockDim.x) {
    const int i = k / kPanel, j = k % kPanel;
    l[i][j] = diagonal[max(i, j) * kPanel + min(i, j)] + (i == j ? 16 : 0);
  }
  __syncthreads();
  for (int k = 0; k < kPanel; ++k) {
    if (t == k) l[k][k] = sqrt(l[k][k]);
    __syncthreads();
    if (t > k && t < kPanel) l[t][k] /= l[k][k];
    __syncthreads();
    for (int j = k + 1; j <= t && t < kPanel; ++j) l[t][j] -= l[t][k] * l[j][k];
    __syncthreads();
  }
  if (row >= rows) return;
  double x[kPanel];
#pragma unroll
  for (int j = 0; j < kPanel; ++j) {
    double sum = panel[j * rows + row];
#pragma unroll
    for (int m = 0; m < j; ++m) sum -= x[m] * l[j][m];
    x[j] = sum / l[j][j];
    out[j * rows + row] = x[j];
  }
}

// A sequence of Givens rotations of neighbouring rows: each thread goes down its column.
__global__ void rotate_rows(float* matrix, const float* angles, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float upper = matrix[column];
  for (int row = 1; row < rows; ++row) {
    const float lower = matrix[row * columns + column];
    float s, c;
    sincosf(angles[row], &s, &c);
    matrix[(row - 1) * columns + column] = c * upper - s * lower;
    upper = s * upper + c * lower;
  }
  matrix[(rows - 1) * columns + column] = upper;
}

// A product with a matrix in ELLPACK format: seven entries for each row, those below zero are empty.
__global__ void ell_product(const float* __restrict__ values, const int* __restrict__ columns,
                            const float* __restrict__ x, float* __restrict__ y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int k = 0; k < kEll; ++k) {
    const int column = columns[k * n + row];
    if (column >= 0) sum += values[k * n + row] * x[column];
  }
  y[row] = sum;
}

// Sweeps with an incomplete lower factor: a block takes the levels of its part one after the other.
__global__ void sweep_levels(const float* lower, const unsigned short* columns, float* x, int rows) {
  __shared__ float solved[kLevels * kLevelRows];
  for (int level = 0; level < kLevels; ++level) {
    const int local = level * kLevelRows + threadIdx.x, row = blockIdx.x * kLevels * kLevelRows + local;
    float sum = 1;
    for (int k = 0; k < 4 && level > 0; ++k) sum -= lower[k * rows + row] * solved[columns[k * rows + row]];
    solved[local] = x[row] = sum * 0.25f;
    __syncthreads();
  }
}

// The inverses of blocks on the diagonal times a vector.
template <int kBlock>
__global__ void apply_block_inverses(const double* __restrict__ inverses, const double* __restrict__ x,
                                     double* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, first = row / kBlock * kBlock;
  if (row >= rows) return;
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kBlock; ++k) sum += inverses[row * kBlock + k] * x[first + k];
  y[row] = sum;
}

// A step of power iteration with a dense matrix: a block for each row, and the square of the new norm.
__global__ void power_step(const float4* __restrict__ matrix, const float4* __restrict__ x, float* y,
                           double* norms) {
  const float4 a = matrix[blockIdx.x * blockDim.x + threadIdx.x], b = x[threadIdx.x];
  __shared__ float partial[kWidth / 128];
  float sum = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 1; k < blockDim.x / 32; ++k) sum += partial[k];
  sum *= (float)rsqrt(norms[0]);
  y[blockIdx.x] = sum;
  atomicAdd(&norms[1], (double)sum * sum);
}

void run(int n) {
  const int batch = n / 256, part = kLevels * kLevelRows, parts = n / part, rows = parts * part;
  double* values = device_array<double>(8 * n, [](int i) { return hashed_unit(i); });
  double *x = device_doubles(n), *y = device_zeros<double>(4 * n);
  float* floats = device_array<float>(16 * n, [](int i) { return hashed_unit(i); });
  float *xf = device_floats(n), *yf = device_zeros<float>(4 * n);
  int* columns = device_array<int>(kEll * n, [n](int i) {
    const int near = i % n + (i / n - 3) * 37 + i * 7 % 11;
    return near < n ? near : -1;
  });
  unsigned short* earlier = device_array<unsigned short>(4 * rows, [part](int i) {
    return static_cast<unsigned short>(hashed_unit(i) * (i % part / kLevelRows * kLevelRows));
  });
  double* norms = device_array<double>(2, [](int i) { return 1.0 + i; });
  int* pivots = device_zeros<int>(32 * batch);
  for (int r = 0; r < kLaunches; ++r) reflect_columns<<<batch, dim3(32, 8), 2048>>>(floats, yf, 512);
  for (int r = 0; r < kLaunches; ++r) lu_batched<<<batch, dim3(32, 4)>>>(floats, yf, pivots);
  for (int r = 0; r < kLaunches; ++r) lu_batched<<<batch, dim3(32, 8)>>>(values, y, pivots);
  for (int r = 0; r < kLaunches; ++r)
    cholesky_panel<<<ceil_div(n / 4, 64), 64>>>(x, values, y, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    rotate_rows<<<ceil_div(n / 4, 160), 160>>>(floats, xf, 64, n / 4);
  for (int r = 0; r < kLaunches; ++r) ell_product<<<ceil_div(n, 256), 256>>>(floats, columns, xf, yf, n);
  for (int r = 0; r < kLaunches; ++r) sweep_levels<<<parts, kLevelRows>>>(floats, earlier, yf, rows);
  for (int r = 0; r < kLaunches; ++r)
    apply_block_inverses<3><<<ceil_div(n / 3 * 3, 320), 320>>>(values, x, y, n / 3 * 3);
  for (int r = 0; r < kLaunches; ++r)
    apply_block_inverses<8><<<ceil_div(n / 8 * 8, 768), 768>>>(values, x, y, n / 8 * 8);
  for (int r = 0; r < kLaunches; ++r)
    power_step<<<n / 64, kWidth / 4>>>((const float4*)floats, (const float4*)xf, yf, norms);
  free_all(values, x, y, floats, xf, yf, columns, earlier, norms, pivots);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("solver_library");
}
