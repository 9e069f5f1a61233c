// Loop nests over n x n matrices as a parallelising compiler would map them; n is a multiple of 32.
#include "device.h"

// A triangular matrix, transposed, times a full one: the inner loop starts below the diagonal.
__global__ void triangular_product(const double* a, const double* b, double* c, double alpha, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    double sum = b[i * n + j];
    for (int k = i + 1; k < n; k++) sum += a[k * n + i] * b[k * n + j];
    c[i * n + j] = alpha * sum;
  }
}

// Symmetric rank-2m update of the lower triangle.
__global__ void rank_update(float* c, const float* a, const float* b, float alpha, float beta, int n, int m) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j > i) return;
  float sum = 0.0f;
  for (int k = 0; k < m; k++) sum += a[i * m + k] * b[j * m + k] + b[i * m + k] * a[j * m + k];
  c[i * n + j] = beta * c[i * n + j] + alpha * sum;
}

// One of the two products of D = (A B) C + beta D: a thread has kRows entries of a column.
template <int kRows, bool kAdd>
__global__ void product(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c,
                        double alpha, double beta, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  if (j >= n || first >= n) return;
  double sums[kRows] = {};
  for (int k = 0; k < n; k++) {
    const double right = b[k * n + j];
#pragma unroll
    for (int r = 0; r < kRows; r++) sums[r] += a[(first + r) * n + k] * right;
  }
#pragma unroll
  for (int r = 0; r < kRows; r++) {
    const int at = (first + r) * n + j;
    c[at] = kAdd ? beta * c[at] + alpha * sums[r] : alpha * sums[r];
  }
}

// A matrix or its transpose times a vector: a thread for each entry of the result.
template <class T, bool kTransposed>
__global__ void times_vector(const T* a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T sum = 0;
  for (int j = 0; j < n; j++) sum += (kTransposed ? a[j * n + i] : a[i * n + j]) * x[j];
  y[i] = sum;
}

// A sweep of Jacobi's method, three rows of loads for each thread, blocks strided down the rows.
__global__ void jacobi_2d(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int j = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n - 1) return;
  for (int i = 1 + blockIdx.y; i < n - 1; i += gridDim.y)
    out[i * n + j] = 0.2f * (in[i * n + j] + in[i * n + j - 1] + in[i * n + j + 1] + in[(i - 1) * n + j] +
                             in[(i + 1) * n + j]);
}

// Gauss-Seidel on one diagonal of tiles. Inside a tile in shared memory, 63 wavefronts of 32 threads.
__global__ void seidel_tiles(double* a, int diagonal, int first, int n) {
  __shared__ double tile[34][35];
  const int row = (first + blockIdx.x) * 32, column = (diagonal - first - blockIdx.x) * 32, t = threadIdx.x;
  for (int y = 0; y < 34; y++)
    for (int x = t; x < 34; x += 32) tile[y][x] = a[min(row + y, n - 1) * n + min(column + x, n - 1)];
  __syncthreads();
  for (int wave = 0; wave < 63; wave++) {
    const int x = wave - t + 1, y = t + 1;
    if (x >= 1 && x <= 32 && row + y < n - 1 && column + x < n - 1)
      tile[y][x] = 0.2 * (tile[y][x] + tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1]);
    __syncthreads();
  }
  for (int y = 1; y <= 32; y++)
    if (row + y < n - 1 && column + t + 1 < n - 1) a[(row + y) * n + column + t + 1] = tile[y][t + 1];
}

// Time steps of a stencil in one dimension: blocks overlap by the number of steps on both sides.
__global__ void stencil_1d(const float* in, float* out, int steps, int count) {
  extern __shared__ float cells[];
  const int width = blockDim.x - 2 * steps, t = threadIdx.x;
  const int at = blockIdx.x * width + t - steps;
  float *now = cells, *next = cells + blockDim.x;
  now[t] = in[at < 0 ? 0 : at < count ? at : count - 1];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    const bool edge = t == 0 || t == blockDim.x - 1 || at <= 0 || at >= count - 1;
    next[t] = edge ? now[t] : 0.33333f * (now[t - 1] + now[t] + now[t + 1]);
    __syncthreads();
    float* swap = now;
    now = next;
    next = swap;
  }
  if (t >= steps && t < blockDim.x - steps && at < count) out[at] = now[t];
}

// The update behind a pivot: of LU for the square, or of Cholesky for the triangle below the diagonal.
template <class T, bool kCholesky>
__global__ void factor_update(T* a, int k, int n) {
  const int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  const int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n || (kCholesky && j > i)) return;
  a[i * n + j] -= a[i * n + k] * (kCholesky ? a[j * n + k] : a[k * n + j]);
}

// Gram-Schmidt with column k of q: eight threads share the dot product of a column, then take q's part away.
__global__ void gram_schmidt(const double* q, double* a, double* r, int k, int n) {
  __shared__ double sums[8][32];
  const int j = k + 1 + blockIdx.x * 32 + threadIdx.x, ty = threadIdx.y;
  double sum = 0.0;
  if (j < n)
    for (int i = ty; i < n; i += 8) sum += q[i * n + k] * a[i * n + j];
  sums[ty][threadIdx.x] = sum;
  for (int half = 4; half > 0; half /= 2) {
    __syncthreads();
    if (ty < half) sums[ty][threadIdx.x] += sums[ty + half][threadIdx.x];
  }
  __syncthreads();
  if (j >= n) return;
  const double part = sums[0][threadIdx.x];
  if (ty == 0) r[k * n + j] = part;
#pragma unroll 4
  for (int i = ty; i < n; i += 8) a[i * n + j] -= q[i * n + k] * part;
}

// A contraction over two of four indices: out[a][b][c][d] = sum of x[a][e][c][f] y[e][f][b][d].
__global__ void contraction(const float* __restrict__ x, const float* __restrict__ y, float* out, int side) {
  const int bd = blockIdx.x * blockDim.x + threadIdx.x, ac = blockIdx.y * blockDim.y + threadIdx.y;
  const int square = side * side;
  if (bd >= square || ac >= square) return;
  const int a = ac / side, c = ac % side, b = bd / side, d = bd % side;
  float sum = 0;
  for (int e = 0; e < side; e++)
    for (int f = 0; f < side; f++)
      sum += x[((a * side + e) * side + c) * side + f] * y[(e * side + f) * square + bd];
  out[((a * side + b) * side + c) * side + d] = sum;
}

void run(int n) {
  const int cells = n * n, wide = ceil_div(n, 32), tiles = ceil_div(n - 2, 32), stencils = 4 * cells;
  int side = 1;
  while ((side + 1) * (side + 1) <= n) ++side;
  const double unit = 1.0 / n;
  double* a = device_array<double>(cells, [unit](int i) { return unit * (1 + i % 7); });
  double* b = device_doubles(cells);
  double* c = device_doubles(cells);
  double* d = device_zeros<double>(cells);
  double* q = device_array<double>(cells, [unit](int i) { return sqrt(unit) * (i % 3 - 1); });
  float* x = device_floats(stencils);
  float* y = device_zeros<float>(stencils);
  float* z = device_array<float>(cells, [](int i) { return 0.05f * hashed_unit(i); });
  const dim3 grid(wide, ceil_div(n, 8)), block(32, 8);
  for (int r = 0; r < kLaunches; ++r) triangular_product<<<grid, block>>>(a, b, c, 1.5, n);
  for (int r = 0; r < kLaunches; ++r)
    rank_update<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(y, x, x + cells, 1.2f, 0.5f, n, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    product<2, false><<<dim3(wide, ceil_div(n, 8)), dim3(32, 4)>>>(a, b, d, 1.0, 0.0, n);
  for (int r = 0; r < kLaunches; ++r)
    product<4, true><<<dim3(ceil_div(n, 64), ceil_div(n, 16)), dim3(64, 4)>>>(d, a, c, 0.5, 0.5, n);
  for (int r = 0; r < kLaunches; ++r) times_vector<double, false><<<ceil_div(n, 64), 64>>>(a, b, d, n);
  for (int r = 0; r < kLaunches; ++r) times_vector<float, true><<<ceil_div(n, 128), 128>>>(x, z, y, n);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_2d<<<dim3(ceil_div(n - 2, 160), ceil_div(n, 4)), 160>>>(x, y, n);
  for (int diagonal = tiles / 2; diagonal < tiles + 2; diagonal += tiles / 2) {
    const int first = diagonal < tiles ? 0 : diagonal - tiles + 1;
    const int blocks = (diagonal < tiles ? diagonal : tiles - 1) - first + 1;
    for (int r = 0; r < kLaunches; ++r) seidel_tiles<<<blocks, 32>>>(b, diagonal, first, n);
  }
  for (int r = 0; r < kLaunches; ++r)
    stencil_1d<<<ceil_div(stencils, 512 - 24), 512, 1024 * sizeof(float)>>>(x, y, 12, stencils);
  for (int k = n / 8; k < n; k += n / 4) {
    const int rest = n - k - 1;
    for (int r = 0; r < kLaunches; ++r)
      factor_update<float, false><<<dim3(ceil_div(rest, 128), ceil_div(rest, 2)), dim3(128, 2)>>>(z, k, n);
    for (int r = 0; r < kLaunches; ++r)
      factor_update<double, true><<<dim3(ceil_div(rest, 32), ceil_div(rest, 32)), dim3(32, 32)>>>(a, k, n);
  }
  for (int k = 0; k < n; k += n / 3) {
    if (k + 1 >= n) break;
    for (int r = 0; r < kLaunches; ++r) gram_schmidt<<<ceil_div(n - k - 1, 32), block>>>(q, b, d, k, n);
  }
  const int square = side * side;
  for (int r = 0; r < kLaunches; ++r)
    contraction<<<dim3(ceil_div(square, 64), ceil_div(square, 4)), dim3(64, 4)>>>(x, x + cells, y, side);
  free_all(a, b, c, d, q, x, y, z);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("affine_loops");
}
