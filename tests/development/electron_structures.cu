// Quantum chemistry with n basis functions: integrals, densities, contractions and vector updates.
#include "device.h"

constexpr int kOrbitals = 8, kAuxiliary = 32, kActive = 16, kOrders = 5, kTableWidth = 8;

struct Shell {
  float x, y, z, exponents[3], weights[3];
  int power;
};

__constant__ double rotation[kActive * kActive];

// Overlap along one axis of two Gaussians with powers up to two, by a recursion in both powers.
__device__ float overlap_line(int first, int second, float to_first, float to_second, float half) {
  float s[3][3] = {{1, to_second}, {to_first}, {to_first * to_first + half}};
  for (int a = 0; a < 3; ++a) {
    s[a][1] = to_second * s[a][0] + (a > 0 ? a * half * s[a - 1][0] : 0.0f);
    s[a][2] = to_second * s[a][1] + half * s[a][0] + (a > 0 ? a * half * s[a - 1][1] : 0.0f);
  }
  return s[first][second];
}

// Two-centre overlap integrals: a thread for each pair of shells, nine pairs of primitives.
__global__ void overlap_pairs(const Shell* shells, float* overlaps, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const Shell a = shells[i], b = shells[j];
  const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  float sum = 0;
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const float ea = a.exponents[k], eb = b.exponents[l], inverse = 1 / (ea + eb);
      const float root = sqrtf(3.14159265f * inverse);
      sum += a.weights[k] * b.weights[l] * root * root * root *
             expf(-ea * eb * inverse * (dx * dx + dy * dy + dz * dz)) *
             overlap_line(a.power, b.power, -eb * inverse * dx, ea * inverse * dx, 0.5f * inverse);
    }
  overlaps[i * n + j] = sum;
}

// Boys functions of orders zero to four: a series for the highest, then a recursion downwards.
__global__ void boys_series(const double* __restrict__ args, double* __restrict__ values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double t = 20 * args[i], decay = exp(-t);
  double term = 1.0 / (2 * kOrders - 1), sum = term;
  int odd = 2 * kOrders + 1;
  while (term > 1e-13 * sum) {
    term *= 2 * t / odd;
    sum += term;
    odd += 2;
  }
  double value = decay * sum;
  for (int m = kOrders - 1; m >= 0; --m) {
    values[m * count + i] = value;
    if (m > 0) value = (2 * t * value + decay) / (2 * m - 1);
  }
}

// The Boys function of order zero from a table by a Taylor series, or its limit for large arguments.
__global__ void boys_table(const double* args, const double* table, double* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double t = 16 * args[i];
  const int row = (int)(fmin(t, 12.0) * 10 + 0.5);
  double power = 1, sum = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    sum += table[row * kTableWidth + k] * power;
    power *= (row * 0.1 - t) / (k + 1);
  }
  values[i] = t < 12 ? sum : 0.5 * sqrt(3.141592653589793 / t);
}

// Density of eight orbitals at each point of a grid of boxes. The basis functions come in tiles of 64.
__global__ void density_on_grid(const Shell* __restrict__ shells, const float* __restrict__ orbitals,
                                float* __restrict__ density, float spacing, int depth, int n) {
  __shared__ float4 tile[64];
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int z = blockIdx.z * 4 + threadIdx.z, t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
  float sums[kOrbitals] = {};
  for (int start = 0; start < n; start += 64) {
    const int here = min(64, n - start);
    if (t < here) {
      const Shell& shell = shells[start + t];
      tile[t] = make_float4(shell.x, shell.y, shell.z, shell.exponents[0]);
    }
    __syncthreads();
    for (int k = 0; k < here; ++k) {
      const float4 f = tile[k];
      const float dx = spacing * x - f.x, dy = spacing * y - f.y, dz = spacing * z - f.z;
      const float value = __expf(-f.w * (dx * dx + dy * dy + dz * dz));
#pragma unroll
      for (int o = 0; o < kOrbitals; ++o) sums[o] += value * orbitals[(start + k) * kOrbitals + o];
    }
    __syncthreads();
  }
  if (z >= depth) return;
  float total = 0;
  for (int o = 0; o < kOrbitals; ++o) total += 2 * sums[o] * sums[o];
  density[(z * 32 + y) * 32 + x] = total;
}

// Exchange and correlation energies of the local density, per point in double precision.
__global__ void exchange_correlation(const double* density, double* energies, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || density[i] < 1e-10) return;
  const double rho = density[i];
  const double root = cbrt(rho), radius = 0.6203504908994 / root, s = sqrt(radius);
  const double q = 0.062182 * s * (7.5957 + s * (3.5876 + s * (1.6382 + s * 0.49294)));
  energies[i] = rho * (-0.738558766382 * root - 0.062182 * (1 + 0.2137 * radius) * log(1 + 1 / q));
}

// Contraction of the last index of a four-index tensor, which becomes the third: a block for each matrix.
__global__ void contract_last(const double* in, double* out) {
  __shared__ double matrix[kActive][kActive + 1];
  const int p = threadIdx.x, q = threadIdx.y;
  const int at = ((blockIdx.y * gridDim.x + blockIdx.x) * kActive + q) * kActive + p;
  matrix[p][q] = in[at];
  __syncthreads();
  double sum = 0;
  for (int l = 0; l < kActive; ++l) sum += matrix[l][p] * rotation[q * kActive + l];
  out[at] = sum;
}

// Coulomb matrix by pairs i >= j from three-index integrals. Both halves are written.
__global__ void coulomb_triangle(const float* __restrict__ integrals, const double* __restrict__ fitted,
                                 float* coulomb, int pairs, int n) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  int i = (int)((sqrt(8.0 * pair + 1) - 1) / 2);
  while (i * (i + 1) / 2 > pair) --i;
  while ((i + 1) * (i + 2) / 2 <= pair) ++i;
  const int j = pair - i * (i + 1) / 2;
  double sum = 0;
#pragma unroll 8
  for (int k = 0; k < kAuxiliary; ++k) sum += integrals[k * pairs + pair] * fitted[k];
  coulomb[i * n + j] = coulomb[j * n + i] = (float)sum;
}

// One sweep of orthogonalisation: a block of three warps takes the pivot's part out of its vector.
__global__ void orthogonalise(double* vectors, int pivot, int n) {
  __shared__ double partial[3];
  if (blockIdx.x == pivot) return;
  double *mine = vectors + blockIdx.x * n, *first = vectors + pivot * n, dot = 0;
  for (int k = threadIdx.x; k < n; k += 96) dot += mine[k] * first[k];
  for (int d = 16; d > 0; d /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, d);
  partial[threadIdx.x / 32] = dot;
  __syncthreads();
  dot = partial[0] + partial[1] + partial[2];
  for (int k = threadIdx.x; k < n; k += 96) mine[k] -= dot * first[k];
}

// Davidson corrections of two vectors from residuals and the diagonal, kept away from division by zero.
__global__ void davidson_update(const double* x, const double* product, const double* diagonal, double* out,
                                double energy, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.y * length + i;
  if (i >= length) return;
  out[at] = (product[at] - energy * x[at]) / (fabs(diagonal[i] - energy) + 1e-3);
}

void run(int n) {
  const int square = n * n, pairs = n * (n + 1) / 2, depth = n / 16, tensor_size = 4096 * n;
  const dim3 tiles(ceil_div(n, 16), ceil_div(n, 16)), tile(16, 16);
  Shell* shells = device_array<Shell>(n, [](int i) {
    return Shell{i % 13 * 0.3f, i % 7 * 0.5f, i % 5 * 0.7f, {0.4f, 1.1f, 3.2f}, {0.3f, 0.5f, 0.2f}, i % 3};
  });
  double* args = device_doubles(square);
  double* table = device_array<double>(121 * kTableWidth, [](int i) {
    return exp(-0.05 * (i / kTableWidth)) / (2 * (i % kTableWidth) + 1);
  });
  double* vectors = device_array<double>(square, [n](int i) { return hashed_unit(i) / sqrt(1.0 * n); });
  double *boys = device_zeros<double>(kOrders * square), *energies = device_zeros<double>(square);
  double* tensor = device_doubles(tensor_size);
  double* out = device_zeros<double>(tensor_size);
  float* integrals = device_floats(kAuxiliary * pairs);
  float *matrix = device_zeros<float>(square), *density = device_zeros<float>(1024 * depth);
  cudaMemcpyToSymbol(rotation, args, sizeof rotation, 0, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < kLaunches; ++r) overlap_pairs<<<tiles, tile>>>(shells, matrix, n);
  for (int r = 0; r < kLaunches; ++r) boys_series<<<ceil_div(square, 128), 128>>>(args, boys, square);
  for (int r = 0; r < kLaunches; ++r)
    boys_table<<<ceil_div(square, 320), 320>>>(args, table, energies, square);
  for (int r = 0; r < kLaunches; ++r)
    density_on_grid<<<dim3(4, 4, ceil_div(depth, 4)), dim3(8, 8, 4)>>>(shells, integrals, density, 0.1f,
                                                                       depth, n);
  for (int r = 0; r < kLaunches; ++r)
    exchange_correlation<<<ceil_div(square, 256), 256>>>(args, energies, square);
  for (int r = 0; r < kLaunches; ++r) contract_last<<<dim3(16, n), tile>>>(tensor, out);
  for (int r = 0; r < kLaunches; ++r)
    coulomb_triangle<<<ceil_div(pairs, 192), 192>>>(integrals, args, matrix, pairs, n);
  for (int r = 0; r < kLaunches; ++r) orthogonalise<<<n, 96>>>(vectors, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    davidson_update<<<dim3(ceil_div(square, 512), 2), 512>>>(boys, boys + 2 * square, args, out, 0.4, square);
  free_all(shells, args, table, vectors, boys, energies, tensor, out, integrals, matrix, density);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("electron_structures");
}
