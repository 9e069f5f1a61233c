// Dense loop nests as they are ported from C: a thread for each row, column or element, and loops inside.
#include "device.h"

// Two products of one matrix, a thread for each row.
template <class T>
__global__ void matrix_two_vectors(const T* a, const T* x, const T* y, T* ax, T* ay, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T sum_x = 0, sum_y = 0;
    for (int j = 0; j < n; ++j) {
      const T value = a[i * n + j];
      sum_x += value * x[j];
      sum_y += value * y[j];
    }
    ax[i] = sum_x;
    ay[i] = sum_y;
  }
}

// The product of the transposed matrix, a thread for each column. The sum stays in global memory, as in C.
__global__ void transposed_product(const float* a, const float* x, float* y, float alpha, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  y[j] = 0;
  for (int i = 0; i < n; ++i) y[j] += alpha * a[i * n + j] * x[i];
}

// Three matrices in a chain: a block has kRows rows of a * b in shared memory and multiplies them by c.
template <int kRows>
__global__ void chain_rows(const float* __restrict__ a, const float* __restrict__ b,
                           const float* __restrict__ c, float* __restrict__ out, int m) {
  extern __shared__ float middle[];
  const int first = blockIdx.x * kRows;
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float sums[kRows] = {};
    for (int k = 0; k < m; ++k) {
      const float value = b[k * m + j];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r] += a[min(first + r, m - 1) * m + k] * value;
    }
    for (int r = 0; r < kRows; ++r) middle[r * m + j] = sums[r];
  }
  __syncthreads();
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float sums[kRows] = {};
#pragma unroll 4
    for (int k = 0; k < m; ++k) {
      const float value = c[k * m + j];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r] += middle[r * m + k] * value;
    }
    for (int r = 0; r < kRows; ++r)
      if (first + r < m) out[(first + r) * m + j] = sums[r];
  }
}

// Symmetric update of rank k: the lower triangle of c = beta * c + alpha * a * transposed a.
__global__ void rank_k_update(const float* a, float* c, float alpha, float beta, int m, int rank) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j > i) return;
  float value = beta * c[i * m + j];
  for (int k = 0; k < rank; ++k) value += alpha * a[i * rank + k] * a[j * rank + k];
  c[i * m + j] = value;
}

// One step of a triangular solution by columns: the known x[step] leaves all the later equations.
__global__ void solve_step(const double* lower, double* x, int step, int n) {
  const int i = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] -= lower[i * n + step] * x[step] / lower[step * n + step];
}

// Products of all pairs of columns, a thread for a pair of the upper triangle. Both halves are stored.
__global__ void gram(const double* __restrict__ data, double* __restrict__ products, int rows, int columns) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i >= columns || j >= columns || j < i) return;
  double sum = 0;
  for (int r = 0; r < rows; ++r) sum += data[r * columns + i] * data[r * columns + j];
  products[i * columns + j] = sum;
  products[j * columns + i] = sum;
}

// One step of the LU factorisation in place. The part to the right of and below the pivot changes.
__global__ void lu_step(double* a, int step, int n) {
  const int j = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  const int i = step + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const double factor = a[i * n + step] / a[step * n + step];
  a[i * n + j] -= factor * a[step * n + j];
}

// One column of the Cholesky factor, a thread for each row below the diagonal.
__global__ void cholesky_column(double* a, int step, int n) {
  for (int i = step + 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double* row = a + i * n;
    const double* pivot_row = a + step * n;
    double sum = row[step];
    for (int k = 0; k < step; ++k) sum -= row[k] * pivot_row[k];
    a[i * n + step] = sum / sqrt(pivot_row[step]);
  }
}

// The shortest ways of two legs between all pairs of places, and the place in the middle.
__global__ void two_legs(const unsigned short* __restrict__ lengths, unsigned short* __restrict__ best,
                         short* __restrict__ middle, int m) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y;
  if (to >= m) return;
  int shortest = 65535, place = -1;
  for (int via = 0; via < m; ++via) {
    const int length = lengths[from * m + via] + lengths[via * m + to];
    if (length < shortest) {
      shortest = length;
      place = via;
    }
  }
  best[from * m + to] = shortest;
  middle[from * m + to] = place;
}

// The last index of a tensor of q * q * q numbers is contracted with a matrix.
__global__ void contract(const double* __restrict__ tensor, const double* __restrict__ matrix,
                         double* __restrict__ out, int q) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = blockIdx.y * blockDim.y + threadIdx.y;
  const int r = blockIdx.z;
  if (p >= q || s >= q) return;
  double sum = 0;
#pragma unroll 2
  for (int k = 0; k < q; ++k) sum += tensor[(r * q + s) * q + k] * matrix[k * q + p];
  out[(r * q + s) * q + p] = sum;
}

void run(int n) {
  const int m = n / 2, q = n / 16, rank = n / 8;
  // Large values on the diagonal keep the steps of the factorisations tame.
  const auto dominant = [n](int i) { return i % (n + 1) == 0 ? 4.0 * n : (i % 1000) / 1000.0; };
  const auto length = [](int i) { return (unsigned short)(1 + 20000 * hashed_unit(i)); };
  float* a = device_floats(n * n);
  double* ad = device_array<double>(n * n, dominant);
  float* b = device_floats(m * m);
  float* c = device_floats(m * m);
  float* out = device_zeros<float>(m * m);
  float* vectors = device_floats(4 * n);
  double* vectorsd = device_doubles(4 * n);
  double* products = device_zeros<double>(m * m);
  unsigned short* lengths = device_array<unsigned short>(m * m, length);
  unsigned short* best = device_zeros<unsigned short>(m * m);
  short* middle = device_zeros<short>(m * m);
  double* tensor = device_doubles(q * q * q);
  double* matrix = device_doubles(q * q);
  double* contracted = device_zeros<double>(q * q * q);
  for (int r = 0; r < kLaunches; ++r)
    matrix_two_vectors<float><<<ceil_div(n, 64), 64>>>(a, vectors, vectors + n, vectors + 2 * n,
                                                       vectors + 3 * n, n);
  for (int r = 0; r < kLaunches; ++r)
    matrix_two_vectors<double><<<ceil_div(n, 256), 256>>>(ad, vectorsd, vectorsd + n, vectorsd + 2 * n,
                                                          vectorsd + 3 * n, n);
  for (int r = 0; r < kLaunches; ++r)
    transposed_product<<<ceil_div(n, 96), 96>>>(a, vectors, vectors + 2 * n, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r)
    chain_rows<2><<<ceil_div(m, 2), 256, 2 * m * sizeof(float)>>>(a, b, c, out, m);
  for (int r = 0; r < kLaunches; ++r)
    chain_rows<4><<<ceil_div(m, 4), 512, 4 * m * sizeof(float)>>>(a, b, c, out, m);
  for (int r = 0; r < kLaunches; ++r)
    rank_k_update<<<dim3(ceil_div(m, 32), ceil_div(m, 8)), dim3(32, 8)>>>(a, c, 0.5f, 0.9f, m, rank);
  for (int r = 0; r < kLaunches; ++r) solve_step<<<ceil_div(n, 128), 128>>>(ad, vectorsd, n / 8, n);
  for (int r = 0; r < kLaunches; ++r)
    gram<<<dim3(ceil_div(m, 32), ceil_div(m, 4)), dim3(32, 4)>>>(ad, products, m, m);
  for (int r = 0; r < kLaunches; ++r)
    lu_step<<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(ad, n / 4, n);
  for (int r = 0; r < kLaunches; ++r) cholesky_column<<<ceil_div(n, 160), 80>>>(ad, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    two_legs<<<dim3(ceil_div(m, 128), m), 128>>>(lengths, best, middle, m);
  for (int r = 0; r < kLaunches; ++r)
    contract<<<dim3(ceil_div(q, 16), ceil_div(q, 16), q), dim3(16, 16)>>>(tensor, matrix, contracted, q);
  free_all(a, ad, b, c, out, vectors, vectorsd, products, lengths, best, middle, tensor, matrix, contracted);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("loop_nests");
}
