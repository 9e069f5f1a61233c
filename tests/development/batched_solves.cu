// Many small systems of equations at once.
#include "device.h"

// 4 x 4 by elimination in registers; kSide puts the systems' k-th numbers side by side.
template <bool kSide>
__global__ void solve_4x4(const float* matrices, const float* right, float* x, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float a[4][4], b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    b[i] = right[kSide ? i * systems + s : s * 4 + i];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      a[i][j] = matrices[kSide ? (i * 4 + j) * systems + s : s * 16 + i * 4 + j] + (i == j ? 5 : 0);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float inverse = 1 / a[k][k];
#pragma unroll
    for (int i = k + 1; i < 4; ++i) {
      const float factor = a[i][k] * inverse;
#pragma unroll
      for (int j = k; j < 4; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
#pragma unroll
  for (int i = 3; i >= 0; --i) {
#pragma unroll
    for (int j = i + 1; j < 4; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
    x[kSide ? i * systems + s : s * 4 + i] = b[i];
  }
}

// Tridiagonal systems of 64 unknowns, one per thread, side by side.
__global__ void thomas(const double* lower, const double* diagonal, const double* upper, const double* right,
                       double* scratch, double* x, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  double c = upper[s] / (diagonal[s] + 3), d = right[s] / (diagonal[s] + 3);
  scratch[s] = c;
  x[s] = d;
  for (int i = 1; i < 64; ++i) {
    const int at = i * systems + s;
    const double m = 1 / (diagonal[at] + 3 - lower[at] * c);
    c = upper[at] * m;
    d = (right[at] - lower[at] * d) * m;
    scratch[at] = c;
    x[at] = d;
  }
  for (int i = 62; i >= 0; --i) {
    const int at = i * systems + s;
    d = x[at] - scratch[at] * d;
    x[at] = d;
  }
}

// The Cholesky factor of a 32 x 32 matrix by a warp in shared memory.
__global__ void cholesky_32(const float* matrices, float* factors) {
  __shared__ float a[32][33];
  const int lane = threadIdx.x, first = blockIdx.x * 1024;
  for (int i = 0; i < 32; ++i) a[i][lane] = matrices[first + i * 32 + lane] + (i == lane ? 40 : 0);
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    if (lane == k) a[k][k] = sqrtf(a[k][k]);
    __syncwarp();
    if (lane > k) a[lane][k] /= a[k][k];
    __syncwarp();
    for (int j = k + 1; j < 32; ++j)
      if (lane >= j) a[lane][j] -= a[lane][k] * a[j][k];
    __syncwarp();
  }
  for (int i = 0; i < 32; ++i) factors[first + i * 32 + lane] = lane <= i ? a[i][lane] : 0;
}

// Tridiagonal systems of 256 unknowns, one per block, by cyclic reduction.
__global__ void cyclic_reduction(const float* lower, const float* diagonal, const float* upper,
                                 const float* right, float* x) {
  __shared__ float a[256], b[256], c[256], d[256];
  const int t = threadIdx.x, at = blockIdx.x * 256 + t;
  a[t] = t > 0 ? lower[at] : 0;
  b[t] = diagonal[at] + 3;
  c[t] = t < 255 ? upper[at] : 0;
  d[t] = right[at];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    const int under = max(t - s, 0), over = min(t + s, 255);
    const float k1 = t - s >= 0 ? a[t] / b[under] : 0, k2 = t + s < 256 ? c[t] / b[over] : 0;
    const float na = -a[under] * k1, nb = b[t] - c[under] * k1 - a[over] * k2, nc = -c[over] * k2;
    const float nd = d[t] - d[under] * k1 - d[over] * k2;
    __syncthreads();
    a[t] = na;
    b[t] = nb;
    c[t] = nc;
    d[t] = nd;
  }
  x[at] = d[t] / b[t];
}

// 8 x 8 with row exchanges: the rows are picked by an index, so the matrix lies in local memory.
__global__ void solve_8x8_pivoted(const float* matrices, float* x, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float a[8][9];
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) a[i][j] = matrices[(i * 8 + j) * systems + s];
    a[i][8] = i + 1;
  }
  for (int k = 0; k < 8; ++k) {
    int best = k;
    for (int i = k + 1; i < 8; ++i)
      if (fabsf(a[i][k]) > fabsf(a[best][k])) best = i;
    for (int j = k; j < 9; ++j) {
      const float t = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = t;
    }
    for (int i = k + 1; i < 8; ++i) {
      const float factor = a[i][k] / (a[k][k] + 1e-6f);
      for (int j = k; j < 9; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  for (int i = 7; i >= 0; --i) {
    for (int j = i + 1; j < 8; ++j) a[i][8] -= a[i][j] * a[j][8];
    a[i][8] /= a[i][i] + 1e-6f;
    x[i * systems + s] = a[i][8];
  }
}

void run(int systems) {
  const int tridiagonal = systems / 4;
  float* matrices = device_floats(64 * systems);
  float* right = device_floats(8 * systems);
  float* x = device_zeros<float>(64 * systems);
  for (int r = 0; r < kLaunches; ++r)
    solve_4x4<false><<<ceil_div(systems, 128), 128>>>(matrices, right, x, systems);
  for (int r = 0; r < kLaunches; ++r)
    solve_4x4<true><<<ceil_div(systems, 128), 128>>>(matrices, right, x, systems);
  for (int r = 0; r < kLaunches; ++r) cholesky_32<<<systems / 16, 32>>>(matrices, x);
  for (int r = 0; r < kLaunches; ++r)
    cyclic_reduction<<<systems / 16, 256>>>(matrices, matrices + 16 * systems, matrices + 32 * systems,
                                            matrices, x);
  for (int r = 0; r < kLaunches; ++r) solve_8x8_pivoted<<<ceil_div(systems, 64), 64>>>(matrices, x, systems);
  free_all(matrices, right, x);
  double* lines = device_doubles(64 * tridiagonal);
  double* scratch = device_zeros<double>(64 * tridiagonal);
  double* solution = device_zeros<double>(64 * tridiagonal);
  for (int r = 0; r < kLaunches; ++r)
    thomas<<<ceil_div(tridiagonal, 128), 128>>>(lines, lines, lines, lines, scratch, solution, tridiagonal);
  free_all(lines, scratch, solution);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("batched_solves");
}
