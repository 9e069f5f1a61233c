// Stationary iterations on grids, tridiagonal and triangular systems, and products with dense matrices.
#include "device.h"

// Jacobi in two dimensions, five points, a thread for each cell.
template <class T>
__global__ void jacobi_plane(const T* u, const T* f, T* out, T h2, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  out[i] = T(0.25) * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * f[i]);
}

// Jacobi in three dimensions: a block walks up a column of `chunk` layers. The layers below and above are in
// registers and the one between is in shared memory.
template <class T>
__global__ void jacobi_volume(const T* __restrict__ u, const T* __restrict__ f, T* __restrict__ out, T h2,
                              int nx, int ny, int nz, int chunk) {
  __shared__ T plane[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, layer = nx * ny;
  const int x = min(blockIdx.x * 32 + threadIdx.x, nx - 1);
  const int y = min(blockIdx.y * 8 + threadIdx.y, ny - 1);
  const bool inner =
      blockIdx.x * 32 + threadIdx.x < nx - 1 && blockIdx.y * 8 + threadIdx.y < ny - 1 && x > 0 && y > 0;
  const int first = 1 + blockIdx.z * chunk, last = min(first + chunk, nz - 1);
  const int column = y * nx + x;
  T below = u[(first - 1) * layer + column], here = u[first * layer + column];
  for (int z = first; z < last; ++z) {
    const T* floor = u + z * layer;
    const T above = u[(z + 1) * layer + column];
    plane[ty][tx] = here;
    if (tx == 1) plane[ty][0] = floor[y * nx + max(x - 1, 0)];
    if (tx == 32) plane[ty][33] = floor[y * nx + min(x + 1, nx - 1)];
    if (ty == 1) plane[0][tx] = floor[max(y - 1, 0) * nx + x];
    if (ty == 8) plane[9][tx] = floor[min(y + 1, ny - 1) * nx + x];
    __syncthreads();
    const T sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
    if (inner) out[z * layer + column] = (sum + below + above + h2 * f[z * layer + column]) / 6;
    below = here;
    here = above;
    __syncthreads();
  }
}

// Red-black Gauss-Seidel in two dimensions: threads only for cells of the colour, over-relaxed.
template <class T>
__global__ void red_black_plane(T* u, const T* f, T h2, T omega, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const T old = u[i], mean = T(0.25) * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * f[i]);
  u[i] = old + omega * (mean - old);
}

// Red-black Gauss-Seidel in three dimensions: a thread for each cell, and those of the other colour leave.
template <class T>
__global__ void red_black_volume(T* u, const T* f, T h2, int colour, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  if ((x + y + z) % 2 != colour) return;
  const int layer = nx * ny, i = z * layer + y * nx + x;
  const T sum = u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - layer] + u[i + layer];
  u[i] = (sum + h2 * f[i]) * T(1.0 / 6);
}

// The norm of the residual on a plane: each block writes the sum of its squares.
template <class T>
__global__ void residual_norm(const T* __restrict__ u, const T* __restrict__ f, T* norms, T per_h2, int n) {
  __shared__ T parts[32];
  T sum = 0;
  for (int i = n + blockIdx.x * blockDim.x + threadIdx.x; i < n * (n - 1); i += gridDim.x * blockDim.x) {
    const int x = i % n;
    if (x == 0 || x == n - 1) continue;
    const T r = f[i] - per_h2 * (4 * u[i] - u[i - 1] - u[i + 1] - u[i - n] - u[i + n]);
    sum += r * r;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += parts[w];
    norms[blockIdx.x] = sum;
  }
}

// Thomas algorithm, a thread for each system, the rows of which are contiguous.
template <class T>
__global__ void thomas_contiguous(const T* lower, const T* diagonal, const T* upper, const T* rhs, T* scratch,
                                  T* x, int length, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  const int first = s * length;
  T c = upper[first] / diagonal[first], d = rhs[first] / diagonal[first];
  scratch[first] = c;
  x[first] = d;
  for (int i = first + 1; i < first + length; ++i) {
    const T a = lower[i], w = 1 / (diagonal[i] - a * c);
    c = upper[i] * w;
    d = (rhs[i] - a * d) * w;
    scratch[i] = c;
    x[i] = d;
  }
  for (int i = first + length - 2; i >= first; --i) {
    d = x[i] - scratch[i] * d;
    x[i] = d;
  }
}

// Thomas algorithm, a thread for each system, row i of all systems lying together.
template <class T>
__global__ void thomas_interleaved(const T* __restrict__ lower, const T* __restrict__ diagonal,
                                   const T* __restrict__ upper, const T* __restrict__ rhs,
                                   T* __restrict__ scratch, T* __restrict__ x, int length, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  T c = 0, d = 0;
#pragma unroll 4
  for (int i = 0; i < length; ++i) {
    const int k = i * systems + s;
    const T a = lower[k], w = 1 / (diagonal[k] - a * c);
    c = upper[k] * w;
    d = (rhs[k] - a * d) * w;
    scratch[k] = c;
    x[k] = d;
  }
#pragma unroll 4
  for (int i = length - 2; i >= 0; --i) {
    const int k = i * systems + s;
    d = x[k] - scratch[k] * d;
    x[k] = d;
  }
}

// Parallel cyclic reduction in shared memory: a thread for each row, kSystems systems in a block.
template <class T, int kRows, int kSystems>
__global__ void cyclic_reduction(const T* lower, const T* diagonal, const T* upper, const T* rhs, T* x,
                                 int systems) {
  __shared__ T as[kSystems][kRows], bs[kSystems][kRows], cs[kSystems][kRows], ds[kSystems][kRows];
  const int row = threadIdx.x, own = threadIdx.y, system = blockIdx.x * kSystems + own;
  const int i = min(system, systems - 1) * kRows + row;
  T a = row > 0 ? lower[i] : T(0), b = diagonal[i], c = row < kRows - 1 ? upper[i] : T(0), d = rhs[i];
  for (int step = 1; step < kRows; step *= 2) {
    as[own][row] = a;
    bs[own][row] = b;
    cs[own][row] = c;
    ds[own][row] = d;
    __syncthreads();
    const int above = row - step, below = row + step;
    T next_a = 0, next_c = 0;
    if (above >= 0) {
      const T k = a / bs[own][above];
      next_a = -k * as[own][above];
      b -= k * cs[own][above];
      d -= k * ds[own][above];
    }
    if (below < kRows) {
      const T k = c / bs[own][below];
      next_c = -k * cs[own][below];
      b -= k * as[own][below];
      d -= k * ds[own][below];
    }
    a = next_a;
    c = next_c;
    __syncthreads();
  }
  if (system < systems) x[i] = d / b;
}

// Matrix times vector, a thread for each row.
template <class T>
__global__ void product_row_thread(const T* matrix, const T* x, T* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = 0; k < columns; ++k) sum += matrix[row * columns + k] * x[k];
  y[row] = sum;
}

// Matrix times vector, a warp for each row.
template <class T>
__global__ void product_row_warp(const T* __restrict__ matrix, const T* __restrict__ x, T* __restrict__ y,
                                 int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* line = matrix + row * columns;
  T sum = 0;
#pragma unroll 4
  for (int k = lane; k < columns; k += 32) sum += line[k] * x[k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

// Transposed matrix times vector, a thread for each column. Each row of blocks sums `chunk` rows of it.
template <class T>
__global__ void product_column_thread(const T* __restrict__ matrix, const T* __restrict__ x,
                                      T* __restrict__ parts, int rows, int columns, int chunk) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int first = blockIdx.y * chunk, last = min(first + chunk, rows);
  T sum = 0;
  for (int row = first; row < last; ++row) sum += matrix[row * columns + column] * x[row];
  parts[blockIdx.y * columns + column] = sum;
}

// Forward substitution, a warp for each system of 32 rows, the matrix stored by columns.
template <class T>
__global__ void forward_warp(const T* __restrict__ lower, const T* __restrict__ rhs, T* __restrict__ x,
                             int systems) {
  const int s = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (s >= systems) return;
  const T* matrix = lower + s * 1024;
  const T inverse = 1 / matrix[lane * 33];
  T value = rhs[s * 32 + lane];
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const T known = __shfl_sync(0xffffffffu, value * inverse, k);
    if (lane > k) value -= matrix[k * 32 + lane] * known;
  }
  x[s * 32 + lane] = value * inverse;
}

// Forward substitution, a thread for each system: the lower triangles are packed and interleaved.
template <class T, int kRows>
__global__ void forward_thread(const T* __restrict__ packed, const T* __restrict__ rhs, T* __restrict__ x,
                               int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  T known[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    T value = rhs[i * systems + s];
#pragma unroll
    for (int k = 0; k < i; ++k) value -= packed[(i * (i + 1) / 2 + k) * systems + s] * known[k];
    known[i] = value / packed[(i * (i + 1) / 2 + i) * systems + s];
    x[i * systems + s] = known[i];
  }
}

void run(int n) {
  const int count = n * n, side = n / 8, depth = 64, length = n / 16, systems = 16 * n;
  const int longer = 4 * n, shorter = n / 4;
  float* u = device_floats(count);
  float* f = device_floats(count);
  float* out = device_zeros<float>(count);
  double* ud = device_doubles(count);
  double* fd = device_doubles(count);
  double* outd = device_zeros<double>(count);
  float* norms = device_zeros<float>(264);
  double* normsd = device_zeros<double>(528);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_plane<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(u, f, out, 0.01f, n);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_plane<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(ud, fd, outd, 0.01, n);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_volume<<<dim3(ceil_div(side, 32), ceil_div(side, 8), ceil_div(depth, 16)), dim3(32, 8)>>>(
        u, f, out, 0.01f, side, side, depth, 16);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_volume<<<dim3(ceil_div(side, 32), ceil_div(side, 8), ceil_div(depth, 32)), dim3(32, 8)>>>(
        ud, fd, outd, 0.01, side, side, depth, 32);
  for (int r = 0; r < kLaunches; ++r)
    red_black_plane<<<dim3(ceil_div(n, 128), ceil_div(n, 4)), dim3(64, 4)>>>(u, f, 0.01f, 1.5f, 0, n);
  for (int r = 0; r < kLaunches; ++r)
    red_black_plane<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(32, 4)>>>(ud, fd, 0.01, 1.5, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    red_black_volume<<<dim3(ceil_div(side, 64), ceil_div(side, 2), ceil_div(depth, 2)), dim3(64, 2, 2)>>>(
        u, f, 0.01f, 0, side, side, depth);
  for (int r = 0; r < kLaunches; ++r)
    red_black_volume<<<dim3(ceil_div(side, 8), ceil_div(side, 8), ceil_div(depth, 8)), dim3(8, 8, 8)>>>(
        ud, fd, 0.01, 1, side, side, depth);
  for (int r = 0; r < kLaunches; ++r) residual_norm<<<264, 512>>>(u, f, norms, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r) residual_norm<<<528, 256>>>(ud, fd, normsd, 0.5, n);
  free_all(u, f, out, ud, fd, outd, norms, normsd);
  float* lower = device_floats(count);
  float* diagonal = device_array<float>(count, [](int i) { return 3 + hashed_unit(i); });
  float* upper = device_floats(count);
  float* rhs = device_array<float>(count, [](int i) { return hashed_unit(i + 5u); });
  float* scratch = device_zeros<float>(count);
  float* x = device_zeros<float>(count);
  double* lowerd = device_doubles(count);
  double* diagonald = device_array<double>(count, [](int i) { return 3.0 + hashed_unit(i); });
  double* upperd = device_doubles(count);
  double* rhsd = device_doubles(count);
  double* scratchd = device_zeros<double>(count);
  double* xd = device_zeros<double>(count);
  for (int r = 0; r < kLaunches; ++r)
    thomas_contiguous<<<ceil_div(systems, 64), 64>>>(lower, diagonal, upper, rhs, scratch, x, length,
                                                     systems);
  for (int r = 0; r < kLaunches; ++r)
    thomas_contiguous<<<ceil_div(systems, 128), 128>>>(lowerd, diagonald, upperd, rhsd, scratchd, xd, length,
                                                       systems);
  for (int r = 0; r < kLaunches; ++r)
    thomas_interleaved<<<ceil_div(systems, 128), 128>>>(lower, diagonal, upper, rhs, scratch, x, length,
                                                        systems);
  for (int r = 0; r < kLaunches; ++r)
    thomas_interleaved<<<ceil_div(systems, 64), 64>>>(lowerd, diagonald, upperd, rhsd, scratchd, xd, length,
                                                      systems);
  for (int r = 0; r < kLaunches; ++r)
    cyclic_reduction<float, 128, 2>
        <<<ceil_div(count / 128, 2), dim3(128, 2)>>>(lower, diagonal, upper, rhs, x, count / 128);
  for (int r = 0; r < kLaunches; ++r)
    cyclic_reduction<double, 256, 1><<<count / 256, 256>>>(lowerd, diagonald, upperd, rhsd, xd, count / 256);
  free_all(lower, diagonal, upper, rhs, scratch, x, lowerd, diagonald, upperd, rhsd, scratchd, xd);
  float* matrix = device_array<float>(count, [](int i) { return 1 + hashed_unit(i); });
  double* matrixd = device_array<double>(count, [](int i) { return 1.0 + hashed_unit(i); });
  float* vector = device_floats(count / 8);
  float* result = device_zeros<float>(count / 8);
  double* vectord = device_doubles(count / 8);
  double* resultd = device_zeros<double>(count / 8);
  for (int r = 0; r < kLaunches; ++r)
    product_row_thread<<<ceil_div(longer, 128), 128>>>(matrix, vector, result, longer, shorter);
  for (int r = 0; r < kLaunches; ++r)
    product_row_thread<<<ceil_div(longer, 64), 64>>>(matrixd, vectord, resultd, longer, shorter);
  for (int r = 0; r < kLaunches; ++r) product_row_warp<<<ceil_div(n, 8), 256>>>(matrix, vector, result, n, n);
  for (int r = 0; r < kLaunches; ++r)
    product_row_warp<<<ceil_div(longer, 4), 128>>>(matrixd, vectord, resultd, longer, shorter);
  for (int r = 0; r < kLaunches; ++r)
    product_column_thread<<<ceil_div(longer, 128), 128>>>(matrix, vector, result, shorter, longer, shorter);
  for (int r = 0; r < kLaunches; ++r)
    product_column_thread<<<dim3(ceil_div(n, 256), 16), 256>>>(matrixd, vectord, resultd, n, n,
                                                               ceil_div(n, 16));
  for (int r = 0; r < kLaunches; ++r)
    forward_warp<<<ceil_div(count / 1024, 4), dim3(32, 4)>>>(matrix, vector, result, count / 1024);
  for (int r = 0; r < kLaunches; ++r)
    forward_warp<<<ceil_div(count / 1024, 8), dim3(32, 8)>>>(matrixd, vectord, resultd, count / 1024);
  for (int r = 0; r < kLaunches; ++r)
    forward_thread<float, 8><<<ceil_div(count / 64, 256), 256>>>(matrix, vector, result, count / 64);
  for (int r = 0; r < kLaunches; ++r)
    forward_thread<double, 8><<<ceil_div(count / 64, 128), 128>>>(matrixd, vectord, resultd, count / 64);
  free_all(matrix, matrixd, vector, result, vectord, resultd);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stationary_solvers");
}
