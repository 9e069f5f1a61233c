// Dense matrices of order n, and many small ones: factorisations, reflections, rotations, updates, products.
#include "device.h"

constexpr int kPanel = 32, kOrder = 32, kStrip = 256;

// Cholesky factors of many 32 x 32 matrices: a warp for each, a row for each lane.
__global__ void factor_blocks(const double* __restrict__ blocks, double* __restrict__ factors, int count) {
  __shared__ double tiles[4][kPanel][kPanel + 1];
  const int which = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
  if (which >= count) return;
  double(*tile)[kPanel + 1] = tiles[threadIdx.y];
  for (int j = 0; j < kPanel; ++j) tile[j][lane] = blocks[(which * kPanel + j) * kPanel + lane];
  __syncwarp();
  for (int k = 0; k < kPanel; ++k) {
    const double pivot = sqrt(tile[k][k]);
    const double own = lane == k ? pivot : tile[lane][k] / pivot;
    __syncwarp();
    if (lane >= k) tile[lane][k] = own;
    __syncwarp();
    for (int j = k + 1; j <= lane; ++j) tile[lane][j] -= own * tile[j][k];
    __syncwarp();
  }
  for (int j = 0; j < kPanel; ++j)
    factors[(which * kPanel + j) * kPanel + lane] = lane <= j ? tile[j][lane] : 0;
}

// What a panel of a Cholesky factor takes from the rest of the matrix, on and below the diagonal.
__global__ void trailing_update(double* matrix, const double* panel, int n) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ double rows[16][kPanel + 1], columns[16][kPanel + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  for (int k = tx; k < kPanel; k += 16) {
    rows[ty][k] = panel[row * kPanel + k];
    columns[ty][k] = panel[(blockIdx.x * 16 + ty) * kPanel + k];
  }
  __syncthreads();
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kPanel; ++k) sum += rows[ty][k] * columns[tx][k];
  if (column <= row) matrix[row * n + column] -= sum;
}

// Forward substitution: the triangle lies in shared memory, each thread has a right-hand side in registers.
__global__ void __launch_bounds__(128)
    substitute_forward(const float* __restrict__ lower, const float* __restrict__ sides,
                       float* __restrict__ solutions, int count) {
  __shared__ float l[kOrder][kOrder];
  for (int k = threadIdx.x; k < kOrder * kOrder; k += 128) l[k / kOrder][k % kOrder] = lower[k];
  __syncthreads();
  const int column = blockIdx.x * 128 + threadIdx.x;
  if (column >= count) return;
  float x[kOrder];
#pragma unroll
  for (int i = 0; i < kOrder; ++i) x[i] = sides[i * count + column];
#pragma unroll
  for (int i = 0; i < kOrder; ++i) {
    x[i] /= l[i][i];
#pragma unroll
    for (int j = i + 1; j < kOrder; ++j) x[j] -= l[j][i] * x[i];
  }
#pragma unroll
  for (int i = 0; i < kOrder; ++i) solutions[i * count + column] = x[i];
}

// LU factors of small matrices, a thread for each, without pivots. Equal elements lie side by side.
template <class Real, int kSize>
__global__ void factor_small(const Real* __restrict__ matrices, Real* __restrict__ factors, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Real a[kSize][kSize];
#pragma unroll
  for (int k = 0; k < kSize * kSize; ++k) a[k / kSize][k % kSize] = matrices[k * count + i];
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    const Real inverse = 1 / a[k][k];
#pragma unroll
    for (int row = k + 1; row < kSize; ++row) {
      a[row][k] *= inverse;
#pragma unroll
      for (int column = k + 1; column < kSize; ++column) a[row][column] -= a[row][k] * a[k][column];
    }
  }
#pragma unroll
  for (int k = 0; k < kSize * kSize; ++k) factors[k * count + i] = a[k / kSize][k % kSize];
}

// Householder reflection of all columns, each of which lies in one piece and has a block.
__global__ void reflect_columns(float* columns, const float* mirror, int n) {
  __shared__ float parts[8];
  float* column = columns + blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += mirror[i] * column[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += parts[w];
  for (int i = threadIdx.x; i < n; i += blockDim.x) column[i] -= 2 * sum * mirror[i];
}

// Jacobi or Givens rotations of pairs of rows, which lie `apart` rows from each other.
template <class Real, class Real2>
__global__ void rotate_rows(Real* __restrict__ matrix, const Real2* __restrict__ turns, int apart, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, pair = blockIdx.y;
  if (column >= n) return;
  const int row = pair / apart * 2 * apart + pair % apart;
  const Real2 turn = turns[pair];
  Real* high = matrix + row * n + column;
  Real* low = high + apart * n;
  const Real a = *high, b = *low;
  *high = turn.x * a - turn.y * b;
  *low = turn.y * a + turn.x * b;
}

// Of each row, the sum of the sizes of its elements and the greatest size.
__global__ void row_norms(const float* matrix, float* sums, float* greatest, int n) {
  __shared__ float total[128], most[128];
  const int t = threadIdx.x;
  total[t] = 0;
  most[t] = 0;
  for (int j = t; j < n; j += 128) {
    const float size = fabsf(matrix[blockIdx.x * n + j]);
    total[t] += size;
    most[t] = fmaxf(most[t], size);
  }
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      total[t] += total[t + d];
      most[t] = fmaxf(most[t], most[t + d]);
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[blockIdx.x] = total[0];
    greatest[blockIdx.x] = most[0];
  }
}

// A lower triangle by a vector: a warp for each row.
__global__ void multiply_triangle(const double* __restrict__ lower, const double* __restrict__ x,
                                  double* __restrict__ y, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  double sum = 0;
  for (int j = lane; j <= row; j += 32) sum += lower[row * n + j] * x[j];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

// A + scale x y', four elements of a row for each thread.
__global__ void rank_one_update(float4* __restrict__ matrix, const float* __restrict__ x,
                                const float4* __restrict__ y, float scale, int quads, int rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= quads || row >= rows) return;
  const float factor = scale * x[row];
  const float4 v = y[column];
  float4 a = matrix[row * quads + column];
  a.x += factor * v.x;
  a.y += factor * v.y;
  a.z += factor * v.z;
  a.w += factor * v.w;
  matrix[row * quads + column] = a;
}

// A + scale (x y' + y x') on and below the diagonal.
__global__ void rank_two_update(double* matrix, const double* x, const double* y, double scale, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column > row) return;
  matrix[row * n + column] += scale * (x[row] * y[column] + y[row] * x[column]);
}

// Gram-Schmidt step: each thread takes the part along a direction from its column.
__global__ void remove_direction(float* matrix, const float* direction, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += direction[i] * matrix[i * n + column];
  for (int i = 0; i < n; ++i) matrix[i * n + column] -= sum * direction[i];
}

// The transpose by a vector, for strips of rows: eight rows of threads go down 32 columns.
__global__ void multiply_transposed(const float* __restrict__ matrix, const float* __restrict__ x,
                                    float* __restrict__ partial, int n) {
  __shared__ float parts[8][32];
  const int column = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * kStrip;
  const int last = min(first + kStrip, n);
  float sum = 0;
  if (column < n)
    for (int i = first + threadIdx.y; i < last; i += 8) sum += matrix[i * n + column] * x[i];
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= n) return;
#pragma unroll
  for (int k = 1; k < 8; ++k) sum += parts[k][threadIdx.x];
  partial[blockIdx.y * n + column] = sum;
}

// Sums of the strips.
__global__ void add_strips(const float* partial, float* y, int strips, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int s = 0; s < strips; ++s) sum += partial[s * n + i];
  y[i] = sum;
}

// Product of a tall and a wide matrix: tiles of 64 x 64 elements, 4 x 4 of them for each thread. Rows and
// columns are multiples of 64 in number, `inner` is one of 16.
template <class Real>
__global__ void __launch_bounds__(256) multiply_tiles(const Real* __restrict__ a, const Real* __restrict__ b,
                                                      Real* __restrict__ c, int inner, int columns) {
  __shared__ Real left[16][65], right[16][64];
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  const int top = blockIdx.y * 64, start = blockIdx.x * 64;
  Real sums[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[i][j] = 0;
  }
  for (int first = 0; first < inner; first += 16) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      left[tx][ty + 16 * k] = a[(top + ty + 16 * k) * inner + first + tx];
      right[thread / 64 + 4 * k][thread % 64] =
          b[(first + thread / 64 + 4 * k) * columns + start + thread % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      Real x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = left[k][ty * 4 + i];
        y[i] = right[k][tx + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(top + ty * 4 + i) * columns + start + tx + 16 * j] = sums[i][j];
  }
}

// Conjugate gradients: new solution and residual, and of the residual the sum of squares for each block.
__global__ void advance_solution(double* __restrict__ x, double* __restrict__ residual,
                                 const double* __restrict__ direction, const double* __restrict__ image,
                                 double* __restrict__ squares, double step, int count) {
  __shared__ double parts[8];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    x[i] += step * direction[i];
    const double r = residual[i] - step * image[i];
    residual[i] = r;
    sum += r * r;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; ++w) sum += parts[w];
  squares[blockIdx.x] = sum;
}

// Rows in a new order.
__global__ void permute_rows(const float* matrix, const int* order, float* out, int n) {
  const int from = order[blockIdx.x];
  for (int j = threadIdx.x; j < n; j += blockDim.x) out[blockIdx.x * n + j] = matrix[from * n + j];
}

// n is a multiple of 256.
void run(int n) {
  const int elements = n * n, half = n / 2, columns = 64 * n, strips = ceil_div(n, kStrip), length = 1024 * n;
  float* matrix =
      device_array<float>(elements, [](int i) { return hashed_unit(static_cast<unsigned>(i)) - 0.5f; });
  float* result = device_zeros<float>(elements);
  double* double_matrix = device_array<double>(elements, [](int i) { return i % 31 * 0.02 - 0.3; });
  double* blocks = device_array<double>(n * kPanel * kPanel, [](int i) {
    const int row = i / kPanel % kPanel, column = i % kPanel;
    return row == column ? 40.0 : 1.0 / (1 + row + column);
  });
  double* factors = device_zeros<double>(n * kPanel * kPanel);
  double* panel = device_array<double>(n * kPanel, [](int i) { return i % 29 * 0.01 - 0.1; });
  float* lower = device_array<float>(kOrder * kOrder,
                                     [](int i) { return i / kOrder == i % kOrder ? 2.0f : 0.02f * (i % 5); });
  float* sides =
      device_array<float>(kOrder * columns, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* solutions = device_zeros<float>(kOrder * columns);
  // Elements k of all matrices, one k after another: those on the diagonal are large.
  float* small = device_array<float>(16 * columns, [columns](int i) {
    return i / columns % 5 == 0 ? 4.0f : hashed_unit(static_cast<unsigned>(i));
  });
  float* small_factors = device_zeros<float>(16 * columns);
  double* middle = device_array<double>(
      36 * columns, [columns](int i) { return i / columns % 7 == 0 ? 6.0 : i % 9 * 0.1; });
  double* middle_factors = device_zeros<double>(36 * columns);
  const float unit = 1 / sqrtf(static_cast<float>(n));
  float* mirror = device_array<float>(n, [unit](int i) { return i % 3 == 0 ? -unit : unit; });
  float2* turns =
      device_array<float2>(half, [](int i) { return make_float2(cosf(0.01f * i), sinf(0.01f * i)); });
  double2* double_turns =
      device_array<double2>(half, [](int i) { return make_double2(cos(0.02 * i), sin(0.02 * i)); });
  float* x = device_array<float>(n, [](int i) { return 0.5f - 0.1f * (i % 11); });
  float* y = device_array<float>(n, [](int i) { return 0.4f - 0.1f * (i % 9); });
  float* sums = device_zeros<float>(n);
  float* greatest = device_zeros<float>(n);
  float* partial = device_zeros<float>(strips * n);
  double* double_x = device_array<double>(n, [](int i) { return 0.5 - 0.1 * (i % 11); });
  double* double_y = device_array<double>(n, [](int i) { return 0.4 - 0.1 * (i % 9); });
  double* double_sums = device_zeros<double>(n);
  float* tall = device_array<float>(n * 256, [](int i) { return 0.01f * (i % 23) - 0.1f; });
  float* wide = device_array<float>(n * 256, [](int i) { return 0.01f * (i % 19) - 0.1f; });
  double* long_x = device_array<double>(length, [](int i) { return i % 13 * 0.1; });
  double* residual = device_array<double>(length, [](int i) { return i % 17 * 0.01; });
  double* direction = device_array<double>(length, [](int i) { return i % 7 * 0.1; });
  double* image = device_array<double>(length, [](int i) { return i % 5 * 0.01; });
  double* squares = device_zeros<double>(528);
  int* order = device_array<int>(n, [n](int i) { return static_cast<int>(i * 37LL % n); });
  for (int r = 0; r < kLaunches; ++r) factor_blocks<<<ceil_div(n, 4), dim3(32, 4)>>>(blocks, factors, n);
  for (int r = 0; r < kLaunches; ++r)
    trailing_update<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(double_matrix, panel, n);
  for (int r = 0; r < kLaunches; ++r)
    substitute_forward<<<ceil_div(columns, 128), 128>>>(lower, sides, solutions, columns);
  for (int r = 0; r < kLaunches; ++r)
    factor_small<float, 4><<<ceil_div(columns, 256), 256>>>(small, small_factors, columns);
  for (int r = 0; r < kLaunches; ++r)
    factor_small<double, 6><<<ceil_div(columns, 128), 128>>>(middle, middle_factors, columns);
  for (int r = 0; r < kLaunches; ++r) reflect_columns<<<n, 256>>>(matrix, mirror, n);
  for (int r = 0; r < kLaunches; ++r)
    rotate_rows<float, float2><<<dim3(ceil_div(n, 256), half), 256>>>(matrix, turns, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    rotate_rows<double, double2><<<dim3(ceil_div(n, 128), half), 128>>>(double_matrix, double_turns, 8, n);
  for (int r = 0; r < kLaunches; ++r) row_norms<<<n, 128>>>(matrix, sums, greatest, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_triangle<<<ceil_div(n, 8), 256>>>(double_matrix, double_x, double_sums, n);
  for (int r = 0; r < kLaunches; ++r)
    rank_one_update<<<dim3(ceil_div(n / 4, 32), ceil_div(n, 8)), dim3(32, 8)>>>((float4*)matrix, x,
                                                                                (float4*)y, 1e-3f, n / 4, n);
  for (int r = 0; r < kLaunches; ++r)
    rank_two_update<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(double_matrix, double_x,
                                                                              double_y, 1e-3, n);
  for (int r = 0; r < kLaunches; ++r) remove_direction<<<ceil_div(n, 64), 64>>>(matrix, mirror, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_transposed<<<dim3(ceil_div(n, 32), strips), dim3(32, 8)>>>(matrix, x, partial, n);
  for (int r = 0; r < kLaunches; ++r) add_strips<<<ceil_div(n, 128), 128>>>(partial, sums, strips, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_tiles<float><<<dim3(n / 64, n / 64), 256>>>(tall, wide, result, 256, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_tiles<double><<<dim3(half / 64, half / 64), 256>>>(panel, blocks, double_matrix, 64, half);
  for (int r = 0; r < kLaunches; ++r)
    advance_solution<<<528, 256>>>(long_x, residual, direction, image, squares, 1e-3, length);
  for (int r = 0; r < kLaunches; ++r) permute_rows<<<n, 256>>>(matrix, order, result, n);
  free_all(matrix, result, double_matrix, blocks, factors, panel, lower, sides, solutions, small,
           small_factors);
  free_all(middle, middle_factors, mirror, turns, double_turns, x, y, sums, greatest, partial);
  free_all(double_x, double_y, double_sums, tall, wide, long_x, residual, direction, image, squares, order);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("dense_solvers");
}
