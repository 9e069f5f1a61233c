// Linear models of n observations and some tens to hundreds of columns: their sums, products and fits.
#include "device.h"

// Mean and inverse deviation of each column, which lies in one piece: a block for each column.
__global__ void __launch_bounds__(256) column_moments(const double* columns, double2* moments, int n) {
  __shared__ double sums[256], squares[256];
  const double* column = columns + blockIdx.x * n;
  double sum = 0, square = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    sum += column[i];
    square += column[i] * column[i];
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      sums[threadIdx.x] += sums[threadIdx.x + step];
      squares[threadIdx.x] += squares[threadIdx.x + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const double mean = sums[0] / n;
    moments[blockIdx.x] = make_double2(mean, 1 / sqrt(fmax(squares[0] / n - mean * mean, 1e-12)));
  }
}

// Centres and scales all columns, and stores them as rows of floats: tiles turned over in shared memory.
__global__ void standardise(const double* __restrict__ columns, const double2* __restrict__ moments,
                            float* __restrict__ rows, int n, int p) {
  __shared__ float tile[32][33];
  const int r = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    const int c = blockIdx.y * 32 + k;
    if (r < n && c < p) {
      const double2 moment = moments[c];
      tile[k][threadIdx.x] = (float)((columns[c * n + r] - moment.x) * moment.y);
    }
  }
  __syncthreads();
  const int c = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    const int row = blockIdx.x * 32 + k;
    if (row < n && c < p) rows[row * p + c] = tile[threadIdx.x][k];
  }
}

// The products of all pairs of columns, without any tiles: a thread for each pair and for some of the rows.
__global__ void gram_naive(const float* rows, float* gram, int each, int n, int p) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p || j >= p) return;
  const int first = blockIdx.z * each, last = min(first + each, n);
  float sum = 0;
  for (int r = first; r < last; ++r) sum += rows[r * p + i] * rows[r * p + j];
  atomicAdd(&gram[i * p + j], sum);
}

// The same with a weight for each row: tiles of 32 x 32 pairs on and below the diagonal, four pairs in each
// thread.
template <class T>
__global__ void __launch_bounds__(256)
    gram_tiled(const T* __restrict__ rows, const T* __restrict__ weights, T* gram, int each, int n, int p) {
  __shared__ T left[16][32], right[16][32];
  if (blockIdx.x > blockIdx.y) return;
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.z * each, last = min(first + each, n);
  T a = 0, b = 0, c = 0, d = 0;
  for (int start = first; start < last; start += 16) {
    const int r = start + y;
    const T weight = r < last ? weights[r] : T(0);
    for (int k = x; k < 32; k += 16) {
      const int i = blockIdx.y * 32 + k, j = blockIdx.x * 32 + k;
      left[y][k] = r < last && i < p ? weight * rows[r * p + i] : T(0);
      right[y][k] = r < last && j < p ? rows[r * p + j] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const T u = left[k][y], v = left[k][y + 16], s = right[k][x], t = right[k][x + 16];
      a += u * s;
      b += u * t;
      c += v * s;
      d += v * t;
    }
    __syncthreads();
  }
  const int i = blockIdx.y * 32 + y, j = blockIdx.x * 32 + x;
  if (i < p && j < p) atomicAdd(&gram[i * p + j], a);
  if (i < p && j + 16 < p) atomicAdd(&gram[i * p + j + 16], b);
  if (i + 16 < p && j < p) atomicAdd(&gram[(i + 16) * p + j], c);
  if (i + 16 < p && j + 16 < p) atomicAdd(&gram[(i + 16) * p + j + 16], d);
}

// What the model says of each observation, and how far it is off: a warp for each row.
__global__ void residuals_by_rows(const float* rows, const float* beta, const float* target, float* misses,
                                  int n, int p) {
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= n) return;
  float sum = 0;
  for (int k = threadIdx.x; k < p; k += 32) sum += rows[r * p + k] * beta[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) misses[r] = target[r] - sum;
}

// Chances and weights of a logistic model, with the data in columns: a thread for each row.
__global__ void logistic_by_columns(const double* __restrict__ columns, const double* __restrict__ beta,
                                    double2* __restrict__ out, double intercept, int n, int p) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  double sum = intercept;
  for (int k = 0; k < p; ++k) sum += columns[k * n + r] * beta[k];
  const double chance = 1 / (1 + exp(-sum));
  out[r] = make_double2(chance, fmax(chance * (1 - chance), 1e-6));
}

// The transposed product: each column times the residuals. Eight rows of threads share the rows of a block.
__global__ void slopes_of_columns(const float* __restrict__ rows, const float* __restrict__ misses,
                                  float* __restrict__ slopes, int each, int n, int p) {
  __shared__ float parts[8][32];
  const int c = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * each, last = min(first + each, n);
  float sum = 0;
  if (c < p)
    for (int r = first + threadIdx.y; r < last; r += 8) sum += rows[r * p + c] * misses[r];
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || c >= p) return;
  for (int k = 1; k < 8; ++k) sum += parts[k][threadIdx.x];
  atomicAdd(&slopes[c], sum);
}

// Sweeps of coordinate descent for the lasso, from the products of the columns: a block for each penalty.
__global__ void lasso_sweeps(const float* __restrict__ gram, const float* __restrict__ products,
                             const float* __restrict__ penalties, float* __restrict__ betas, int sweeps,
                             int p) {
  extern __shared__ float room[];
  __shared__ float change;
  float *beta = room, *slope = room + p;
  const float penalty = penalties[blockIdx.x];
  for (int k = threadIdx.x; k < p; k += blockDim.x) {
    beta[k] = 0;
    slope[k] = products[k];
  }
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int j = 0; j < p; ++j) {
      if (threadIdx.x == 0) {
        const float own = gram[j * p + j], at = slope[j] + own * beta[j];
        const float shrunk = fmaxf(fabsf(at) - penalty, 0.0f), next = copysignf(shrunk, at) / own;
        change = next - beta[j];
        beta[j] = next;
      }
      __syncthreads();
      const float by = change;
      if (by != 0)
        for (int k = threadIdx.x; k < p; k += blockDim.x) slope[k] -= by * gram[j * p + k];
      __syncthreads();
    }
  for (int k = threadIdx.x; k < p; k += blockDim.x) betas[blockIdx.x * p + k] = beta[k];
}

// A step of Cholesky's factors of a larger matrix: what the 32 columns of a panel take from the triangle
// behind it.
__global__ void __launch_bounds__(1024) triangular_update(double* matrix, int panel, int m) {
  __shared__ double left[32][33], right[32][33];
  if (blockIdx.x > blockIdx.y) return;
  const int x = threadIdx.x, y = threadIdx.y, start = panel + 32;
  const int i = start + blockIdx.y * 32 + y, j = start + blockIdx.x * 32 + x;
  const int other = start + blockIdx.x * 32 + y;
  left[y][x] = i < m ? matrix[i * m + panel + x] : 0;
  right[y][x] = other < m ? matrix[other * m + panel + x] : 0;
  __syncthreads();
  if (i >= m || j > i) return;
  double sum = 0;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) sum += left[y][k] * right[x][k];
  matrix[i * m + j] -= sum;
}

// Solves a triangular system for many right sides, by putting in one unknown after the other: a thread for
// each.
__global__ void forward_substitution(const double* factor, const double* right, double* out, int count,
                                     int p) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  for (int i = 0; i < p; ++i) {
    double sum = right[i * count + t];
    for (int j = 0; j < i; ++j) sum -= factor[i * p + j] * out[j * count + t];
    out[i * count + t] = sum / factor[i * p + i];
  }
}

static float scattered(int i) {
  return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
}

void run(int n) {
  const int p = 40 + n / 1000, each = n < 10000 ? 64 : 512, chunks = ceil_div(n, each),
            tiles = ceil_div(p, 32);
  const int m = 16 * p, panel = 64, behind = ceil_div(m - panel - 32, 32), penalty_count = 64 + n / 1000;
  const int sides = n / 8, sweeps = n < 10000 ? 1 : 4;
  double* columns = device_array<double>(n * p, [n](int i) { return scattered(i) + i / n % 5; });
  double2* moments = device_zeros<double2>(p);
  float* rows = device_array<float>(n * p, [](int i) { return scattered(i) - 0.5f; });
  float* float_weights = device_array<float>(n, [](int i) { return 0.5f + scattered(3 * i); });
  double* weights = device_array<double>(n, [](int i) { return 0.5 + scattered(5 * i); });
  float* beta = device_array<float>(p, [](int i) { return i % 3 ? 0 : scattered(i) - 0.5f; });
  double* double_beta = device_array<double>(p, [](int i) { return 0.1 * scattered(i) - 0.05; });
  float* target = device_floats(n);
  float* misses = device_zeros<float>(n);
  double2* chances = device_zeros<double2>(n);
  float* slopes = device_zeros<float>(p);
  float* sums = device_zeros<float>(p * p);
  double* double_sums = device_zeros<double>(p * p);
  // Columns that are the more alike the nearer they are.
  float* gram = device_array<float>(p * p, [p](int i) { return 1.0f / (1 + abs(i / p - i % p)); });
  float* products = device_array<float>(p, [](int i) { return 2 * scattered(7 * i) - 1; });
  float* penalties = device_array<float>(penalty_count, [](int i) { return 0.9f / (1 + i); });
  float* betas = device_zeros<float>(penalty_count * p);
  double* matrix = device_array<double>(m * m, [m](int i) { return i / m == i % m ? 100 : scattered(i); });
  double* factor =
      device_array<double>(p * p, [p](int i) { return i / p == i % p ? 4 : scattered(i) - 0.5; });
  double* right = device_array<double>(sides * p, [](int i) { return scattered(i); });
  double* solved = device_zeros<double>(sides * p);
  const dim3 pairs(ceil_div(p, 16), ceil_div(p, 16), chunks), halves(tiles, tiles, chunks);
  for (int r = 0; r < kLaunches; ++r) column_moments<<<p, 256>>>(columns, moments, n);
  for (int r = 0; r < kLaunches; ++r)
    standardise<<<dim3(ceil_div(n, 32), tiles), dim3(32, 8)>>>(columns, moments, rows, n, p);
  for (int r = 0; r < kLaunches; ++r) gram_naive<<<pairs, dim3(16, 16)>>>(rows, sums, each, n, p);
  for (int r = 0; r < kLaunches; ++r)
    gram_tiled<float><<<halves, dim3(16, 16)>>>(rows, float_weights, sums, each, n, p);
  for (int r = 0; r < kLaunches; ++r)
    gram_tiled<double><<<halves, dim3(16, 16)>>>(columns, weights, double_sums, each, n, p);
  for (int r = 0; r < kLaunches; ++r)
    residuals_by_rows<<<ceil_div(n, 4), dim3(32, 4)>>>(rows, beta, target, misses, n, p);
  for (int r = 0; r < kLaunches; ++r)
    logistic_by_columns<<<ceil_div(n, 128), 128>>>(columns, double_beta, chances, 0.2, n, p);
  for (int r = 0; r < kLaunches; ++r)
    slopes_of_columns<<<dim3(tiles, chunks), dim3(32, 8)>>>(rows, misses, slopes, each, n, p);
  for (int r = 0; r < kLaunches; ++r)
    lasso_sweeps<<<penalty_count, 96, 2 * p * sizeof(float)>>>(gram, products, penalties, betas, sweeps, p);
  for (int r = 0; r < kLaunches; ++r)
    triangular_update<<<dim3(behind, behind), dim3(32, 32)>>>(matrix, panel, m);
  for (int r = 0; r < kLaunches; ++r)
    forward_substitution<<<ceil_div(sides, 64), 64>>>(factor, right, solved, sides, p);
  free_all(columns, moments, rows, float_weights, weights, beta, double_beta, target, misses, chances, slopes,
           sums, double_sums, gram, products, penalties, betas, matrix, factor, right, solved);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("linear_models");
}
