// Pieces of Krylov solvers (conjugate gradients, GMRES) for convection and diffusion on a square grid: sparse
// products in several layouts, inner products, vector updates, preconditioners and small least squares.
// n is the number of grid points along a side, so the vectors have n * n entries.
#include "device.h"

// The rows of the irregular matrix repeat a pattern of eight lengths, 48 entries in all.
constexpr int kPattern[9] = {0, 3, 8, 15, 19, 28, 33, 45, 48};
constexpr int kDiagonals = 7;
constexpr int kEllWidth = 7;
constexpr int kBasis = 16;
constexpr int kRestart = 12;

struct Block4 {
  float a[16];
};

__constant__ int diagonal_offsets[kDiagonals];

// Multiplies a matrix in compressed rows by a vector, with one thread for each row.
template <class T>
__global__ void csr_product_scalar(const int* __restrict__ starts, const int* __restrict__ columns,
                                   const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y,
                                   int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// Multiplies a matrix in compressed rows by a vector, with kLanes neighbouring lanes of a warp for each row.
template <class T, int kLanes>
__global__ void csr_product_vector(const int* __restrict__ starts, const int* __restrict__ columns,
                                   const T* __restrict__ values, const T* __restrict__ x, T* __restrict__ y,
                                   int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / kLanes, lane = thread % kLanes;
  T sum = 0;
  if (row < rows) {
    const int end = starts[row + 1];
    for (int k = starts[row] + lane; k < end; k += kLanes) sum += values[k] * x[columns[k]];
  }
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset, kLanes);
  if (lane == 0 && row < rows) y[row] = sum;
}

// Multiplies a matrix in the ELLPACK layout by a vector; absent entries have the column -1.
template <class T>
__global__ void ell_product(const int* __restrict__ columns, const T* __restrict__ values,
                            const T* __restrict__ x, T* __restrict__ y, int width, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = 0; k < width; ++k) {
    const int column = columns[k * rows + row];
    if (column >= 0) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

// Multiplies a matrix that is stored by diagonals by a vector; the offsets are in constant memory.
template <class T>
__global__ void dia_product(const T* __restrict__ diagonals, const T* __restrict__ x, T* __restrict__ y,
                            int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
#pragma unroll
  for (int d = 0; d < kDiagonals; ++d) {
    const int column = row + diagonal_offsets[d];
    if (column >= 0 && column < rows) sum += diagonals[d * rows + row] * x[column];
  }
  y[row] = sum;
}

// Adds the inner product of two vectors to a number, by shuffles within warps and one atomic for each block.
template <int kBlock>
__global__ void dot_product(const double* __restrict__ a, const double* __restrict__ b, double* result,
                            int rows) {
  __shared__ double parts[kBlock / 32];
  double sum = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < rows; i += gridDim.x * kBlock) sum += a[i] * b[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < kBlock / 32 ? parts[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(result, sum);
  }
}

// Moves the solution and the residual in a step of conjugate gradients, two entries for each thread.
__global__ void cg_update(const double* __restrict__ scalars, const double2* __restrict__ p,
                          const double2* __restrict__ q, double2* x, double2* r, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const double alpha = scalars[0] / scalars[1];
  const double2 direction = p[i], image = q[i];
  double2 solution = x[i], residual = r[i];
  solution.x += alpha * direction.x;
  solution.y += alpha * direction.y;
  residual.x -= alpha * image.x;
  residual.y -= alpha * image.y;
  x[i] = solution;
  r[i] = residual;
}

// Applies the operator without a matrix: five points and an upwind term, from a tile in shared memory.
__global__ void stencil_product(const float* __restrict__ x, float* __restrict__ y, float wind_x,
                                float wind_y, int n) {
  __shared__ float tile[10][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
    const int column = left + k % 34, row = top + k / 34;
    const bool inside = column >= 0 && column < n && row >= 0 && row < n;
    tile[k / 34][k % 34] = inside ? x[row * n + column] : 0.0f;
  }
  __syncthreads();
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (column >= n || row >= n) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float middle = tile[ty][tx], west = tile[ty][tx - 1], east = tile[ty][tx + 1];
  const float north = tile[ty - 1][tx], south = tile[ty + 1][tx];
  const float along_x = wind_x > 0 ? middle - west : east - middle;
  const float along_y = wind_y > 0 ? middle - north : south - middle;
  y[row * n + column] = 4 * middle - west - east - north - south + wind_x * along_x + wind_y * along_y;
}

// The block Jacobi preconditioner: each thread solves its own dense system of four equations by elimination.
__global__ void block_jacobi(const Block4* blocks, const float* r, float* z, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Block4 m = blocks[i];
  float b[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) b[k] = r[4 * i + k];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float inverse = 1 / m.a[5 * k];
#pragma unroll
    for (int row = k + 1; row < 4; ++row) {
      const float factor = m.a[4 * row + k] * inverse;
#pragma unroll
      for (int column = k + 1; column < 4; ++column) m.a[4 * row + column] -= factor * m.a[4 * k + column];
      b[row] -= factor * b[k];
    }
  }
#pragma unroll
  for (int k = 3; k >= 0; --k) {
#pragma unroll
    for (int column = k + 1; column < 4; ++column) b[k] -= m.a[4 * k + column] * b[column];
    b[k] /= m.a[5 * k];
    z[4 * i + k] = b[k];
  }
}

// Classical Gram-Schmidt: the products of one vector with all kVectors vectors of the basis in one pass.
template <int kVectors>
__global__ void __launch_bounds__(256)
    gram_schmidt_products(const double* __restrict__ basis, const double* __restrict__ w, double* h,
                          int rows) {
  __shared__ double parts[kVectors][8];
  double sums[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) sums[v] = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < rows; i += gridDim.x * 256) {
    const double own = w[i];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) sums[v] += basis[v * rows + i] * own;
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    for (int mask = 16; mask > 0; mask /= 2) sums[v] += __shfl_xor_sync(0xffffffffu, sums[v], mask);
    if (threadIdx.x % 32 == 0) parts[v][threadIdx.x / 32] = sums[v];
  }
  __syncthreads();
  if (threadIdx.x < kVectors) {
    double sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += parts[threadIdx.x][warp];
    atomicAdd(&h[threadIdx.x], sum);
  }
}

// One half of a sweep of successive over-relaxation: the points of one colour, in place.
__global__ void red_black_sweep(double* u, const double* f, double omega, int colour, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((row + colour) & 1);
  if (row >= n - 1 || column >= n - 1) return;
  const int at = row * n + column;
  const double around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n];
  u[at] = (1 - omega) * u[at] + omega * 0.25 * (around + f[at]);
}

// The residuals of many small GMRES problems: each thread turns its Hessenberg matrix, column after column,
// by Givens rotations.
__global__ void givens_residuals(const double* hessenbergs, const double* norms, double* residuals,
                                 int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  double cosines[kRestart], sines[kRestart];
  double residual = norms[s];
  for (int j = 0; j < kRestart; ++j) {
    const double* column = hessenbergs + j * (kRestart + 1) * systems + s;
    double upper = column[0];
    for (int i = 0; i < j; ++i) {
      const double lower = column[(i + 1) * systems];
      upper = cosines[i] * lower - sines[i] * upper;
    }
    const double last = column[(j + 1) * systems];
    const double length = sqrt(upper * upper + last * last);
    cosines[j] = length > 1e-300 ? upper / length : 1;
    sines[j] = length > 1e-300 ? last / length : 0;
    residual *= fabs(sines[j]);
    residuals[j * systems + s] = residual;
  }
}

static int row_start(int row) {
  return row / 8 * 48 + kPattern[row % 8];
}

// The column of an entry of the irregular matrix: the nearest points, then some within a wide band.
static int column_of(int entry, int n) {
  const int within = entry % 48;
  int slot = 0;
  for (int k = 1; k < 8; ++k)
    if (kPattern[k] <= within) slot = k;
  const int row = entry / 48 * 8 + slot, order = within - kPattern[slot];
  const int near[5] = {0, -1, 1, -n, n};
  const int offset = order < 5 ? near[order] : static_cast<int>((hashed_unit(entry) - 0.5f) * 16 * n);
  const int column = row + offset;
  return column < 0 ? 0 : column >= n * n ? n * n - 1 : column;
}

void run(int n) {
  const int rows = n * n, entries = row_start(rows), systems = ceil_div(rows, 16);
  const int near[kDiagonals] = {0, -1, 1, -n, n, 1 - n, n - 1};
  cudaMemcpyToSymbol(diagonal_offsets, near, sizeof near);
  int* starts = device_array<int>(rows + 1, [](int i) { return row_start(i); });
  int* columns = device_array<int>(entries, [n](int i) { return column_of(i, n); });
  double* values = device_array<double>(entries, [](int i) { return hashed_unit(i) - 0.4; });
  float* short_values = device_array<float>(entries, [](int i) { return hashed_unit(i) - 0.4f; });
  double* x = device_doubles(rows + 1);
  double* y = device_zeros<double>(rows + 1);
  double* p = device_array<double>(rows + 1, [](int i) { return hashed_unit(i) - 0.5; });
  double* r = device_doubles(rows + 1);
  double* dots = device_zeros<double>(1 + kBasis);
  double* scalars = device_array<double>(2, [](int i) { return i == 0 ? 0.3 : 1.7; });
  float* u = device_array<float>(rows + 4, [](int i) { return hashed_unit(i); });
  float* v = device_zeros<float>(rows + 4);
  const int blocks = ceil_div(rows, 256);
  for (int run = 0; run < kLaunches; ++run)
    csr_product_scalar<double><<<ceil_div(rows, 128), 128>>>(starts, columns, values, x, y, rows);
  for (int run = 0; run < kLaunches; ++run)
    csr_product_vector<float, 8><<<ceil_div(rows, 32), 256>>>(starts, columns, short_values, u, v, rows);
  for (int run = 0; run < kLaunches; ++run)
    dot_product<512><<<min(ceil_div(rows, 512), 264), 512>>>(x, p, dots, rows);
  for (int run = 0; run < kLaunches; ++run)
    cg_update<<<ceil_div(rows / 2, 256), 256>>>(scalars, (double2*)p, (double2*)y, (double2*)x, (double2*)r,
                                                rows / 2);
  for (int run = 0; run < kLaunches; ++run)
    stencil_product<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(u, v, 0.3f, -0.2f, n);
  for (int run = 0; run < kLaunches; ++run)
    red_black_sweep<<<dim3(ceil_div(n, 64), ceil_div(n, 8)), dim3(32, 8)>>>(x, p, 1.6, run % 2, n);
  free_all(starts, columns, values, short_values);

  // The regular matrix of seven neighbours, in both layouts for it.
  int* ell_columns = device_array<int>(kEllWidth * rows, [near, rows, n](int i) {
    const int row = i % rows, column = row % n, other = row + near[i / rows];
    const int across = other % n - column;
    return other < 0 || other >= rows || across > 1 || across < -1 ? -1 : other;
  });
  double* ell_values =
      device_array<double>(kEllWidth * rows, [rows](int i) { return i < rows ? 6.5 : -1 + 0.1 * (i % 3); });
  for (int run = 0; run < kLaunches; ++run)
    ell_product<double><<<blocks, 256>>>(ell_columns, ell_values, p, y, kEllWidth, rows);
  free_all(ell_columns, ell_values);
  float* diagonals =
      device_array<float>(kDiagonals * rows, [rows](int i) { return i < rows ? 6.5f : -1 + 0.1f * (i % 3); });
  for (int run = 0; run < kLaunches; ++run)
    dia_product<float><<<ceil_div(rows, 1024), 1024>>>(diagonals, u, v, rows);
  free_all(diagonals);
  float* small_blocks = device_array<float>(
      4 * rows, [](int i) { return i % 16 % 5 == 0 ? 5 + hashed_unit(i) : -hashed_unit(i); });
  for (int run = 0; run < kLaunches; ++run)
    block_jacobi<<<ceil_div(rows / 4, 64), 64>>>((Block4*)small_blocks, u, v, rows / 4);
  free_all(small_blocks);
  double* basis = device_array<double>(kBasis * rows, [](int i) { return 0.01 * (hashed_unit(i) - 0.5); });
  for (int run = 0; run < kLaunches; ++run)
    gram_schmidt_products<kBasis><<<min(blocks, 528), 256>>>(basis, p, dots + 1, rows);
  free_all(basis);
  double* hessenbergs =
      device_array<double>(kRestart * (kRestart + 1) * systems, [](int i) { return 0.1 + hashed_unit(i); });
  double* residuals = device_zeros<double>(kRestart * systems);
  for (int run = 0; run < kLaunches; ++run)
    givens_residuals<<<ceil_div(systems, 32), 32>>>(hessenbergs, x, residuals, systems);
  free_all(hessenbergs, residuals, x, y, p, r, dots, scalars, u, v);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("krylov_solvers");
}
