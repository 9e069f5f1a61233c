// Parts of sparse solvers: matrices in several formats for the n x n unknowns of a grid, and smoothers.
#include "device.h"

__constant__ int kOffsets[5];

// Compressed rows, kLanes threads for each row.
template <int kLanes>
__global__ void csr_rows(const int* __restrict__ starts, const int* __restrict__ columns,
                         const float* __restrict__ values, const float* __restrict__ x, float* y, int rows) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / kLanes, lane = t % kLanes;
  float sum = 0;
  if (row < rows) {
    const int end = starts[row + 1];
    for (int k = starts[row] + lane; k < end; k += kLanes) sum += values[k] * x[columns[k]];
  }
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, kLanes);
  if (lane == 0 && row < rows) y[row] = sum;
}

// ELLPACK: seven entries a row, kept by columns, with distances of 16 bits in the place of column numbers.
__global__ void ell_rows(const short* __restrict__ distances, const float* __restrict__ values,
                         const double* __restrict__ x, double* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 7; ++k) {
    const float value = values[k * rows + row];
    if (value != 0) sum += value * x[row + distances[k * rows + row]];
  }
  y[row] = sum;
}

// Five diagonals, scaled by the middle one.
__global__ void dia_rows(const double* diagonals, const double* x, double* y, int rows) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    double sum = 0;
    for (int d = 0; d < 5; ++d) {
      const int column = row + kOffsets[d];
      if (column >= 0 && column < rows) sum += diagonals[(size_t)d * rows + row] * x[column];
    }
    y[row] = sum / (1 + diagonals[2 * (size_t)rows + row]);
  }
}

// Rows of 3 x 3 blocks: three threads for each, one for each row of its blocks.
__global__ void block_rows(const int* __restrict__ starts, const int* __restrict__ columns,
                           const float* __restrict__ blocks, const float* x, float* y, int rows) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 3, r = t - 3 * row;
  if (row >= rows) return;
  float sum = 0;
  for (int b = starts[row]; b < starts[row + 1]; ++b) {
    const float* block = blocks + 9 * b + 3 * r;
    const float* part = x + 3 * columns[b];
    sum += block[0] * part[0] + block[1] * part[1] + block[2] * part[2];
  }
  y[t] = sum;
}

// A Chebyshev step for the five-point operator without a matrix. A tile of x is in shared memory.
__global__ void chebyshev_step(const double* __restrict__ x, const double* __restrict__ rhs,
                               double* __restrict__ p, double* __restrict__ next, double alpha, double beta,
                               int n) {
  __shared__ double tile[10][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
    const int column = left + k % 34, row = top + k / 34;
    tile[k / 34][k % 34] = column >= 0 && row >= 0 && column < n && row < n ? x[row * n + column] : 0;
  }
  __syncthreads();
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, at = (top + ty) * n + left + tx;
  if (left + tx >= n || top + ty >= n) return;
  const double around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
  const double residual = rhs[at] - 4 * tile[ty][tx] + around, step = beta * p[at] + alpha * residual / 4;
  p[at] = step;
  next[at] = tile[ty][tx] + step;
}

// Conjugate gradients: x += a p and r -= a q in one pass, with the square of the new residual.
template <class T, int kItems>
__global__ void cg_update(const T* __restrict__ p, const T* __restrict__ q, T* __restrict__ x,
                          T* __restrict__ r, T a, double* square, int count) {
  extern __shared__ double sums[];
  const int first = blockIdx.x * blockDim.x * kItems + threadIdx.x;
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int i = first + k * blockDim.x;
    if (i >= count) break;
    const T rest = r[i] - a * q[i];
    x[i] += a * p[i];
    r[i] = rest;
    sum += rest * rest;
  }
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(square, sums[0]);
}

// The forward sweep of an incomplete factorization in tiles of 32 x 32, a warp for each. Lanes are columns.
// Each is a row behind its neighbour to the west, so each step is a level of the sweep.
__global__ void ilu_tiles(const float* __restrict__ west, const float* __restrict__ north, const float* rhs,
                          float* out, int n) {
  __shared__ float tiles[2][32][33];
  float(*tile)[33] = tiles[threadIdx.y];
  const int lane = threadIdx.x, x = blockIdx.x * 32 + lane, top = (blockIdx.y * 2 + threadIdx.y) * 32;
  for (int row = 0; row < 32; ++row)
    tile[row][lane] = x < n && top + row < n ? rhs[(top + row) * n + x] : 0;
  __syncwarp();
  float last = 0;
  for (int level = 0; level < 63; ++level) {
    const float before = __shfl_up_sync(0xffffffffu, last, 1);
    const int row = level - lane;
    if (row < 0 || row >= 32 || x >= n || top + row >= n) continue;
    const int at = (top + row) * n + x;
    last = tile[row][lane] - (lane > 0 ? west[at] * before : 0) - (row > 0 ? north[at] * last : 0);
    tile[row][lane] = last;
  }
  __syncwarp();
  for (int row = 0; row < 32; ++row)
    if (x < n && top + row < n) out[(top + row) * n + x] = tile[row][lane];
}

// Gauss-Seidel for one of four colours of the nine-point operator.
__global__ void colour_sweep(float* x, const float* __restrict__ rhs, int colour, int n) {
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + colour % 2;
  const int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y) + colour / 2;
  if (column >= n || row >= n) return;
  float sum = rhs[row * n + column];
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int cx = column + dx, cy = row + dy;
      if ((dx != 0 || dy != 0) && cx >= 0 && cy >= 0 && cx < n && cy < n) sum += x[cy * n + cx];
    }
  x[row * n + column] = 0.125f * sum;
}

void run(int n) {
  const int rows = n * n, groups = rows / 4, offsets[5] = {-n, -1, 0, 1, n};
  std::vector<int> starts(1, 0), columns;
  for (int row = 0; row < rows; ++row) {
    const int end = starts[row] + 4 + (int)(9 * hashed_unit(row));
    for (int k = 0; k < end - starts[row]; ++k)
      columns.push_back((row + (k < 5 ? offsets[k] + rows : (int)(8 * n * hashed_unit(row + k)))) % rows);
    starts.push_back(end);
  }
  int* csr_starts = device_array<int>(rows + 1, [&](int i) { return starts[i]; });
  int* csr_columns = device_array<int>(starts[rows], [&](int i) { return columns[i]; });
  float* csr_values = device_floats(starts[rows]);
  short* distances = device_array<short>(7 * rows, [n, rows](int i) {
    const int steps[7] = {0, -1, 1, -n, n, -n - 1, n + 1}, to = i % rows + steps[i / rows];
    return to >= 0 && to < rows ? steps[i / rows] : 0;
  });
  float* ell_values = device_floats(7 * rows);
  double* diagonals = device_doubles(5 * rows);
  int* block_starts = device_array<int>(groups + 1, [](int i) { return 5 * i; });
  int* block_columns = device_array<int>(5 * groups, [n, groups](int i) {
    const int steps[5] = {-n / 2, -1, 0, 1, n / 2};
    return (i / 5 + steps[i % 5] + groups) % groups;
  });
  float* blocks = device_floats(45 * groups);
  float *xf = device_floats(rows), *yf = device_floats(rows), *pf = device_floats(rows);
  float* west = device_array<float>(rows, [](int i) { return 0.4f * hashed_unit(i); });
  float* north = device_array<float>(rows, [](int i) { return 0.4f * hashed_unit(~i); });
  double *xd = device_doubles(rows), *yd = device_doubles(rows), *pd = device_doubles(rows);
  double *rd = device_doubles(rows), *square = device_zeros<double>(1);
  cudaMemcpyToSymbol(kOffsets, offsets, sizeof offsets);
  for (int r = 0; r < kLaunches; ++r)
    csr_rows<1><<<ceil_div(rows, 128), 128>>>(csr_starts, csr_columns, csr_values, xf, yf, rows);
  for (int r = 0; r < kLaunches; ++r)
    csr_rows<8><<<ceil_div(rows, 32), 256>>>(csr_starts, csr_columns, csr_values, xf, yf, rows);
  for (int r = 0; r < kLaunches; ++r)
    ell_rows<<<ceil_div(rows, 192), 192>>>(distances, ell_values, xd, yd, rows);
  for (int r = 0; r < kLaunches; ++r) dia_rows<<<396, 640>>>(diagonals, xd, yd, rows);
  for (int r = 0; r < kLaunches; ++r)
    block_rows<<<ceil_div(groups, 32), 96>>>(block_starts, block_columns, blocks, xf, yf, groups);
  for (int r = 0; r < kLaunches; ++r)
    chebyshev_step<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(xd, yd, pd, rd, 0.8, 0.3, n);
  for (int r = 0; r < kLaunches; ++r)
    cg_update<float, 4><<<ceil_div(rows, 1024), 256, 2048>>>(xf, yf, pf, west, 0.01f, square, rows);
  for (int r = 0; r < kLaunches; ++r)
    cg_update<double, 1><<<ceil_div(rows, 512), 512, 4096>>>(xd, yd, pd, rd, 0.01, square, rows);
  for (int r = 0; r < kLaunches; ++r)
    ilu_tiles<<<dim3(ceil_div(n, 32), ceil_div(n, 64)), dim3(32, 2)>>>(west, north, xf, yf, n);
  for (int r = 0; r < kLaunches; ++r)
    colour_sweep<<<dim3(ceil_div(n, 64), ceil_div(n, 8)), dim3(32, 4)>>>(xf, yf, 3, n);
  free_all(csr_starts, csr_columns, csr_values, distances, ell_values, diagonals, block_starts, block_columns,
           blocks, xf, yf, pf, west, north, xd, yd, pd, rd, square);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sparse_solvers");
}
