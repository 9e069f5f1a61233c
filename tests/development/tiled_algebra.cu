// Dense linear algebra and regular grids as an optimiser's benchmark holds them: n x n matrices and fields.
#include "device.h"

__constant__ float kWeights[27] = {0.01f, 0.02f, 0.01f, 0.02f, 0.05f, 0.02f, 0.01f, 0.02f, 0.01f,
                                   0.03f, 0.06f, 0.03f, 0.06f, 0.20f, 0.06f, 0.03f, 0.06f, 0.03f,
                                   0.01f, 0.02f, 0.01f, 0.02f, 0.05f, 0.02f, 0.01f, 0.02f, 0.01f};

struct Shape { int rows, inner, columns; };

// A product with the matrix (a thread for each row) or with its transpose (a thread for each column).
template <class T, bool kTransposed>
__global__ void matrix_vector(const T* __restrict__ a, const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T sum = 0;
#pragma unroll 4
  for (int j = 0; j < n; ++j) sum += (kTransposed ? a[j * n + i] : a[i * n + j]) * x[j];
  y[i] = sum;
}

// An update of rank one or two: a = beta a + u1 v1' + u2 v2'.
template <class T, int kRank>
__global__ void rank_update(T* a, const T* u, const T* v, T beta, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  T value = beta * a[row * n + column];
  for (int k = 0; k < kRank; ++k) value += u[k * n + row] * v[k * n + column];
  a[row * n + column] = value;
}

// A product with a symmetric matrix of which the lower triangle is stored, or with that triangle alone.
template <class T, bool kTriangular>
__global__ void structured_product(const T* lower, const T* b, T* c, T alpha, int m) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= m) return;
  T sum = 0;
  for (int k = 0; k < (kTriangular ? i + 1 : m); ++k)
    sum += (k <= i ? lower[i * m + k] : lower[k * m + i]) * b[k * m + j];
  c[i * m + j] = alpha * sum;
}

// A product in tiles: two slabs in shared memory, kEach x kEach sums in the registers of a thread.
template <int kTile, int kDepth, int kEach>
__global__ void tile_product(const float* __restrict__ a, const float* __restrict__ b, float* c, Shape s) {
  constexpr int kSide = kTile / kEach;
  __shared__ float left[kDepth][kTile + 1], right[kDepth][kTile];
  const int t = threadIdx.y * kSide + threadIdx.x;
  const int top = blockIdx.y * kTile, start = blockIdx.x * kTile;
  float sums[kEach][kEach] = {};
  for (int slab = 0; slab < s.inner; slab += kDepth) {
    for (int e = t; e < kTile * kDepth; e += kSide * kSide) {
      const int row = top + e / kDepth, k = slab + e % kDepth;
      left[e % kDepth][e / kDepth] = row < s.rows && k < s.inner ? a[row * s.inner + k] : 0;
      const int deep = slab + e / kTile, column = start + e % kTile;
      right[e / kTile][e % kTile] = deep < s.inner && column < s.columns ? b[deep * s.columns + column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float mine[kEach];
      for (int r = 0; r < kEach; ++r) mine[r] = left[k][threadIdx.y * kEach + r];
      for (int q = 0; q < kEach; ++q) {
        const float other = right[k][threadIdx.x + q * kSide];
        for (int r = 0; r < kEach; ++r) sums[r][q] += mine[r] * other;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r)
    for (int q = 0; q < kEach; ++q) {
      const int row = top + threadIdx.y * kEach + r, column = start + threadIdx.x + q * kSide;
      if (row < s.rows && column < s.columns) c[row * s.columns + column] = sums[r][q];
    }
}

// The covariance of each pair of columns, a thread for a pair. Threads above the diagonal write both halves.
__global__ void covariance(const float* data, float* out, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= columns || j >= columns || j < i) return;
  float both = 0, sum_i = 0, sum_j = 0;
  for (int k = 0; k < rows; ++k) {
    const float x = data[k * columns + i], y = data[k * columns + j];
    both += x * y;
    sum_i += x;
    sum_j += y;
  }
  out[i * columns + j] = out[j * columns + i] = (both - sum_i * sum_j / rows) / (rows - 1);
}

// Finite differences in time: a component of the electric field. The first row or column is the border.
template <bool kAlongX>
__global__ void fdtd_electric(float* field, const float* __restrict__ hz, float c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n || (kAlongX ? y : x) == 0) return;
  const int i = y * n + x;
  field[i] += (kAlongX ? c : -c) * (hz[i] - hz[kAlongX ? i - n : i - 1]);
}

// Finite differences in time: the magnetic field from both components of the electric one.
__global__ void fdtd_magnetic(const float* ex, const float* ey, float* hz, float c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  hz[i] += c * ((ex[i + n] - ex[i]) - (ey[i + 1] - ey[i]));
}

// An implicit sweep: a thread solves the tridiagonal system of a row or a column, forwards and backwards.
template <bool kAlongRows>
__global__ void implicit_sweep(double* u, double* p, double* q, double step, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line < 1 || line >= n - 1) return;
  const int stride = kAlongRows ? 1 : n, first = kAlongRows ? line * n : line;
  double last_p = 0, last_q = u[first];
  for (int k = 1; k < n - 1; ++k) {
    const int at = first + k * stride;
    const double value = u[at], a = step * (1 + 0.1 * value);
    const double scale = 1 / (1 + 2 * a - a * last_p);
    p[at] = last_p = a * scale;
    q[at] = last_q = (value + a * last_q) * scale;
  }
  double next = u[first + (n - 1) * stride];
  for (int k = n - 2; k > 0; --k) {
    const int at = first + k * stride;
    u[at] = next = p[at] * next + q[at];
  }
}

// A step of heat with seven points. The border keeps its temperature.
__global__ void heat_step(const double* old, double* out, double c, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  double value = old[i];
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
    value += c * (old[i - 1] + old[i + 1] + old[i - nx] + old[i + nx] + old[i - nx * ny] + old[i + nx * ny] -
                  6 * value);
  out[i] = value;
}

// A convolution of 3 x 3 x kDepth weights over the inside of an image or a volume.
template <class T, int kDepth>
__global__ void convolve(const T* in, T* out, int nx, int ny, int nz) {
  const int x = 1 + blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx - 1 || y >= ny - 1) return;
  for (int z = kDepth / 2; z < nz - kDepth / 2; ++z) {
    T sum = 0;
#pragma unroll
    for (int k = 0; k < 9 * kDepth; ++k) {
      const int dz = k / 9 - kDepth / 2, dy = k / 3 % 3 - 1, dx = k % 3 - 1;
      sum += T(kWeights[(dz + 1) * 9 + k % 9]) * in[((z + dz) * ny + y + dy) * nx + x + dx];
    }
    out[(z * ny + y) * nx + x] = sum;
  }
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

// The grid of blocks that covers nx x ny x nz threads.
dim3 cover(dim3 block, int nx, int ny, int nz = 1) {
  return dim3(ceil_div(nx, block.x), ceil_div(ny, block.y), ceil_div(nz, block.z));
}

// The chain a b c of an m x h, an h x m and an m x m matrix, in tiles of two sizes.
void chain(const float* a, const float* b, const float* c, float* ab, float* abc, int m, int h) {
  const dim3 block(16, 16);
  REPEAT tile_product<64, 16, 4><<<dim3(ceil_div(m, 64), ceil_div(m, 64)), block>>>(a, b, ab, {m, h, m});
  REPEAT tile_product<128, 8, 8><<<dim3(ceil_div(m, 128), ceil_div(m, 128)), block>>>(ab, c, abc, {m, m, m});
}

void run(int n) {
  const int m = n / 2, columns = n / 8, side = n / 8, planes = n / 64, blocks = ceil_div(n, 128);
  float *a = device_floats(n * n), *b = device_floats(n * n), *c = device_floats(n * n);
  float *d = device_zeros<float>(n * n), *vf = device_floats(2 * n), *outf = device_zeros<float>(n);
  double *u = device_doubles(n * n), *p = device_doubles(n * n), *q = device_zeros<double>(n * n);
  double *vd = device_doubles(2 * n), *outd = device_zeros<double>(n);
  const dim3 wide(32, 8), square(16, 16), box(32, 4, 2), line(256, 1);
  REPEAT matrix_vector<float, false><<<ceil_div(n, 64), 64>>>(a, vf, outf, n);
  REPEAT matrix_vector<double, true><<<blocks, 128>>>(p, vd, outd, n);
  REPEAT structured_product<double, false><<<cover(square, m, m), square>>>(u, p, q, 0.75, m);
  REPEAT structured_product<float, true><<<cover(wide, m, m), wide>>>(a, b, d, 1.5f, m);
  chain(a, b, c, d, d + m * m, m, m / 2);
  REPEAT covariance<<<cover(square, columns, columns), square>>>(a, d, n, columns);
  REPEAT rank_update<float, 1><<<cover(line, n, n), line>>>(d, vf, vf + n, 0.5f, n);
  REPEAT rank_update<double, 2><<<cover(wide, n, n), wide>>>(u, vd, vd, 0.4, n);
  REPEAT fdtd_electric<true><<<cover(wide, n, n), wide>>>(a, c, 0.5f, n);
  REPEAT fdtd_electric<false><<<cover(line, n, n), line>>>(b, c, 0.5f, n);
  REPEAT fdtd_magnetic<<<cover(wide, n, n), wide>>>(a, b, c, 0.7f, n);
  REPEAT implicit_sweep<true><<<blocks, 128>>>(u, p, q, 0.3, n);
  REPEAT implicit_sweep<false><<<blocks, 128>>>(u, p, q, 0.3, n);
  REPEAT heat_step<<<cover(box, side, side, planes), box>>>(p, q, 0.1, side, side, planes);
  REPEAT convolve<float, 1><<<cover(wide, n - 2, n - 2), wide>>>(a, d, n, n, 1);
  REPEAT convolve<double, 3><<<cover(square, side - 2, side - 2), square>>>(p, q, side, side, planes);
  free_all(a, b, c, d, vf, outf, u, p, q, vd, outd);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tiled_algebra");
}
