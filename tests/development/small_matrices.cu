// n small matrices, each a thread's: its eigenvalues, its exponential, its triangular factor.
#include "device.h"

// Symmetric, 3 x 3, in double precision: turned six times around each pair of axes.
__global__ void eigenvalues(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double m[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) m[k] = in[k * n + i] + 0.1 * k;
  for (int sweep = 0; sweep < 6; ++sweep) {
#pragma unroll
    for (int pair = 0; pair < 3; ++pair) {
      // xx, yy, zz, xy, yz, zx: the pair's own places and those of the third axis.
      const int p = pair, q = (pair + 1) % 3, pq = 3 + pair, qr = 3 + (pair + 1) % 3, rp = 3 + (pair + 2) % 3;
      if (fabs(m[pq]) > 1e-30) {
        const double theta = (m[q] - m[p]) / (2 * m[pq]);
        const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1));
        const double c = rsqrt(t * t + 1), s = t * c, a = m[rp], b = m[qr];
        m[p] -= t * m[pq];
        m[q] += t * m[pq];
        m[pq] = 0;
        m[rp] = c * a - s * b;
        m[qr] = s * a + c * b;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 3; ++k) out[k * n + i] = m[k];
}

// The exponential of a 4 x 4 matrix: a series of eight terms after scaling, then squared five times.
__global__ void exponential(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[4][4], sum[4][4], term[4][4], next[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const float4 row = in[4 * i + r];
    a[r][0] = row.x / 32;
    a[r][1] = row.y / 32;
    a[r][2] = row.z / 32;
    a[r][3] = row.w / 32;
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[r][c] = term[r][c] = r == c;
  }
#pragma unroll
  for (int k = 1; k <= 8; ++k) {
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float v = 0;
#pragma unroll
        for (int m = 0; m < 4; ++m) v += term[r][m] * a[m][c];
        next[r][c] = v / k;
      }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        term[r][c] = next[r][c];
        sum[r][c] += next[r][c];
      }
  }
#pragma unroll 1
  for (int k = 0; k < 5; ++k) {
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float v = 0;
#pragma unroll
        for (int m = 0; m < 4; ++m) v += sum[r][m] * sum[m][c];
        next[r][c] = v;
      }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int c = 0; c < 4; ++c) sum[r][c] = next[r][c];
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) out[4 * i + r] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

// An orthogonal and a triangular factor of 6 x 6: all 36 in registers, of which there are too few.
__global__ void __launch_bounds__(256, 6) triangular_6x6(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float m[6][6];
#pragma unroll
  for (int k = 0; k < 36; ++k) m[k / 6][k % 6] = in[k * n + i] + (k % 7 == 0);
#pragma unroll
  for (int p = 0; p < 6; ++p) {
    float norm = 0;
#pragma unroll
    for (int r = 0; r < 6; ++r) norm += m[r][p] * m[r][p];
    const float length = sqrtf(norm), inverse = 1 / length;
    out[p * 7 * n + i] = length;
#pragma unroll
    for (int r = 0; r < 6; ++r) m[r][p] *= inverse;
#pragma unroll
    for (int c = p + 1; c < 6; ++c) {
      float dot = 0;
#pragma unroll
      for (int r = 0; r < 6; ++r) dot += m[r][p] * m[r][c];
      out[(p * 6 + c) * n + i] = dot;
#pragma unroll
      for (int r = 0; r < 6; ++r) m[r][c] -= dot * m[r][p];
    }
  }
}

// The determinant of 8 x 8 by elimination with pivots, the matrix in local memory as the pivot's place is not known.
__global__ void determinants(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float m[64], determinant = 1;
  for (int k = 0; k < 64; ++k) m[k] = in[k * n + i] + (k * 37 % 11);
  for (int p = 0; p < 8; ++p) {
    int best = p;
    for (int r = p + 1; r < 8; ++r)
      if (fabsf(m[r * 8 + p]) > fabsf(m[best * 8 + p])) best = r;
    if (best != p) determinant = -determinant;
    for (int c = p; c < 8; ++c) {
      const float kept = m[best * 8 + c];
      m[best * 8 + c] = m[p * 8 + c];
      m[p * 8 + c] = kept;
    }
    determinant *= m[p * 8 + p];
    for (int r = p + 1; r < 8; ++r) {
      const float factor = m[r * 8 + p] / m[p * 8 + p];
      for (int c = p + 1; c < 8; ++c) m[r * 8 + c] -= factor * m[p * 8 + c];
    }
  }
  out[i] = determinant;
}

// The square root of a symmetric positive matrix of 16 x 16 for each half of a warp, a row per lane.
__global__ void lower_factors(const float* in, float* out, int n) {
  const int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
  if (matrix >= n) return;
  float row[16];
#pragma unroll
  for (int c = 0; c < 16; ++c) row[c] = in[matrix * 256 + c * 16 + lane] + (c == lane ? 32 : 0);
#pragma unroll
  for (int p = 0; p < 16; ++p) {
    const float pivot = rsqrtf(__shfl_sync(0xffffffffu, row[p], p, 16));
    row[p] *= pivot;
#pragma unroll
    for (int c = p + 1; c < 16; ++c) row[c] -= row[p] * __shfl_sync(0xffffffffu, row[p], c, 16);
  }
#pragma unroll
  for (int c = 0; c < 16; ++c) out[matrix * 256 + c * 16 + lane] = row[c];
}

void run(int n) {
  double* doubles = device_doubles(6 * n);
  float* floats = device_floats(64 * n);
  float* out = device_zeros<float>(64 * n);
  const int larger = n / 4;
  for (int r = 0; r < kLaunches; ++r) eigenvalues<<<ceil_div(n, 128), 128>>>(doubles, (double*)out, n);
  for (int r = 0; r < kLaunches; ++r) exponential<<<ceil_div(n, 64), 64>>>((float4*)floats, (float4*)out, n);
  for (int r = 0; r < kLaunches; ++r) triangular_6x6<<<ceil_div(n, 256), 256>>>(floats, out, n);
  for (int r = 0; r < kLaunches; ++r) determinants<<<ceil_div(n, 128), 128>>>(floats, out, n);
  for (int r = 0; r < kLaunches; ++r) lower_factors<<<ceil_div(larger, 12), 192>>>(floats, out, larger);
  free_all(doubles, floats, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("small_matrices");
}
