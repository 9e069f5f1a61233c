// Ensembles of n cells of reacting gas: rates, properties, and steps of stiff systems.
#include "device.h"

constexpr int kSpecies = 9, kReactions = 16, kGases = 10, kColumns = 17;

__constant__ double3 kArrhenius[kReactions];  // logarithms of factors, exponents, activation temperatures
__constant__ signed char kParticipants[kReactions][4] = {
    {0, 1, 2, -1}, {1, 2, 3, 8}, {2, 3, 4, -1}, {0, 4, 5, 6}, {5, 1, 6, 7}, {6, 2, 7, 0}, {7, 3, 8, -1},
    {8, 0, 1, 4},  {1, 6, 0, 2}, {2, 7, 5, -1}, {3, 8, 0, 5}, {4, 5, 1, 8}, {5, 8, 3, 2}, {6, 0, 4, -1},
    {7, 2, 6, 3},  {8, 4, 7, 0}};
__constant__ float kPolynomials[kSpecies][2][7];

// Rates by the law of Arrhenius: a thread for each cell and reaction.
__global__ void arrhenius_rates(const double* __restrict__ temperatures, double* __restrict__ rates, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (i >= n) return;
  const double t = temperatures[i];
  const double3 law = kArrhenius[r];
  rates[r * n + i] = exp(law.x + law.y * log(t) - law.z / t);
}

// Enthalpies of all species and the heat capacity of the mixture, by polynomials for two ranges.
__global__ void thermodynamics(const double* temperatures, const double* y, float* heats, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float t = 1e-3f * (float)temperatures[i];
    float sum = 0;
    for (int s = 0; s < kSpecies; ++s) {
      const float* a = kPolynomials[s][t > 1 ? 1 : 0];
      heats[s * n + i] = a[0] + t * (a[1] / 2 + t * (a[2] / 3 + t * a[3] / 4)) + a[5] / t - a[6] * logf(t);
      sum += (a[0] + t * (a[1] + t * (a[2] + t * (a[3] + t * a[4])))) * (float)y[s * n + i];
    }
    out[i] = sum;
  }
}

// Net production of each species. Concentrations and sums lie in shared memory, since tables say who reacts.
__global__ void net_production(const double* y, const double* rates, double* production, int n) {
  extern __shared__ double shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, width = blockDim.x;
  if (i >= n) return;
  double* sums = shared + kSpecies * width;
  for (int s = 0; s < kSpecies; ++s) shared[s * width + t] = y[s * n + i], sums[s * width + t] = 0;
  for (int r = 0; r < kReactions; ++r) {
    const signed char* who = kParticipants[r];
    const double forward = rates[r * n + i] * shared[who[0] * width + t] * shared[who[1] * width + t];
    const double net = 0.9 * forward - 1e-3 * shared[who[2] * width + t];
    for (int k = 0; k < 4; ++k)
      if (who[k] >= 0) sums[who[k] * width + t] += k < 2 ? -net : net;
  }
  for (int s = 0; s < kSpecies; ++s) production[s * n + i] = sums[s * width + t];
}

// An oscillating pair of species by Rosenbrock steps of second order. An error norm chooses the next step.
__global__ void adaptive_rosenbrock(const double* speeds, double2* state, unsigned short* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double b = 2 + 4 * speeds[i], gamma = 1.7071067811865475;
  double x = 1, y = 2, t = 0, h = 0.01;
  int tries = 0;
  while (t < 1 && tries++ < 200) {
    const double g = gamma * h, a00 = 1 - g * (2 * x * y - b - 1), a01 = -g * x * x;
    const double a10 = -g * (b - 2 * x * y), a11 = 1 + g * x * x, scale = 1 / (a00 * a11 - a01 * a10);
    const double fx = 1 + x * x * y - (b + 1) * x, fy = b * x - x * x * y;
    const double kx = scale * (a11 * fx - a01 * fy), ky = scale * (a00 * fy - a10 * fx);
    const double mx = x + h * kx, my = y + h * ky;
    const double rx = 1 + mx * mx * my - (b + 1) * mx - 2 * kx, ry = b * mx - mx * mx * my - 2 * ky;
    const double lx = scale * (a11 * rx - a01 * ry), ly = scale * (a00 * ry - a10 * rx);
    const double ex = h * (kx + lx) / (1 + fabs(x)), ey = h * (ky + ly) / (1 + fabs(y));
    const double error = 350 * sqrt(ex * ex + ey * ey) + 1e-10;
    if (error < 1) t += h, x += h * (1.5 * kx + 0.5 * lx), y += h * (1.5 * ky + 0.5 * ly);
    h *= fmin(3.0, fmax(0.3, 0.9 / sqrt(error)));
  }
  state[i] = make_double2(x, y);
  steps[i] = tries;
}

// A linearly implicit step of Euler for a ring of kDim species: a dense elimination in registers.
template <class T, int kDim>
__global__ void implicit_euler(const double* __restrict__ start, T* __restrict__ out, T h, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T y[kDim], a[kDim][kDim] = {}, b[kDim] = {};
  for (int s = 0; s < kDim; ++s) y[s] = start[s * n + i], a[s][s] = 1;
#pragma unroll
  for (int s = 0; s < kDim; ++s) {
    const int next = (s + 1) % kDim, made = (s + 2) % kDim;
    const T speed = h * (s + 1) / kDim;
    a[s][s] += speed * y[next], a[s][next] += speed * y[s], b[s] -= speed * y[s] * y[next];
    a[made][s] -= speed * y[next], a[made][next] -= speed * y[s], b[made] += speed * y[s] * y[next];
  }
#pragma unroll
  for (int p = 0; p < kDim; ++p) {
#pragma unroll
    for (int r = p + 1; r < kDim; ++r) {
      const T factor = a[r][p] / a[p][p];
      for (int c = p + 1; c < kDim; ++c) a[r][c] -= factor * a[p][c];
      b[r] -= factor * b[p];
    }
  }
#pragma unroll
  for (int r = kDim - 1; r >= 0; --r) {
    for (int c = r + 1; c < kDim; ++c) b[r] -= a[r][c] * b[c];
    b[r] /= a[r][r];
    out[r * n + i] = y[r] + b[r];
  }
}

// Jacobians by differences: 32 cells in a block, a column of the matrix for each threadIdx.y.
__global__ void jacobians(const double* y, float* jacobian, int n) {
  __shared__ float cells[kSpecies][32];
  const int i = blockIdx.x * 32 + threadIdx.x, column = threadIdx.y;
  cells[column][threadIdx.x] = i < n ? y[column * n + i] : 0;
  __syncthreads();
  if (i >= n) return;
  const float change = 1e-3f + 1e-2f * cells[column][threadIdx.x];
#pragma unroll 3
  for (int s = 0; s < kSpecies; ++s) {
    const int next = (s + 1) % kSpecies, other = (s + 4) % kSpecies;
    const float a = cells[s][threadIdx.x], b = cells[next][threadIdx.x], c = cells[other][threadIdx.x];
    auto moved = [&](int k) { return cells[k][threadIdx.x] + (k == column ? change : 0); };
    const float before = a * b - c / (1 + a), after = moved(s) * moved(next) - moved(other) / (1 + moved(s));
    jacobian[(s * kSpecies + column) * n + i] = (after - before) / change;
  }
}

struct Gas {
  float temperature, pressure, fractions[kGases];
};

// The viscosity of a mixture: each species with each other, from an array of structures.
__global__ void mixture_viscosity(const Gas* gases, float* out, int n) {
  __shared__ float ratios[kGases][kGases];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, high = t / kGases, low = t % kGases;
  if (high < kGases) ratios[high][low] = powf((2.0f + high) / (2.0f + low), 0.25f);
  __syncthreads();
  if (i >= n) return;
  const Gas gas = gases[i];
  float pure[kGases], sum = 0;
  for (int a = 0; a < kGases; ++a) pure[a] = (1 + 0.3f * a) * sqrtf(gas.temperature / (gas.pressure + a));
  for (int a = 0; a < kGases; ++a) {
    float weight = 0;
#pragma unroll
    for (int b = 0; b < kGases; ++b) {
      const float term = 1 + sqrtf(pure[a] / pure[b]) * ratios[b][a];
      weight += gas.fractions[b] * term * term * rsqrtf(8 + 8 * ratios[a][b]);
    }
    sum += gas.fractions[a] * pure[a] / weight;
  }
  out[i] = sum;
}

// Sixteen equations for each half of a warp: a lane has a row, and shuffles give it the pivot's row.
__global__ void eliminate_rows(const float* __restrict__ matrices, float* __restrict__ out, int systems) {
  const int lane = threadIdx.x % 16, system = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  const int own = min(system, systems - 1);
  float row[kColumns];
  for (int c = 0; c < kColumns; ++c) row[c] = matrices[(own * kColumns + c) * 16 + lane] + (c == lane) * 16;
#pragma unroll
  for (int p = 0; p < 16; ++p) {
    const float pivot = __shfl_sync(0xffffffffu, row[p], p, 16), factor = lane == p ? 0 : row[p] / pivot;
    for (int c = p + 1; c < kColumns; ++c) row[c] -= factor * __shfl_sync(0xffffffffu, row[c], p, 16);
    for (int c = p + 1; c < kColumns; ++c) row[c] /= lane == p ? pivot : 1;
  }
  if (system < systems) out[system * 16 + lane] = row[16];
}

void run(int n) {
  const int m = n / 16, quarter = n / 4, blocks = ceil_div(n, 128), shared = 2 * kSpecies * 96 * 8;
  double3 laws[kReactions];
  for (int r = 0; r < kReactions; ++r) laws[r] = {0.5 + 0.1 * r, 0.1 * (r % 4), 1000.0 + 250 * r};
  float coefficients[kSpecies * 14];
  for (int k = 0; k < kSpecies * 14; ++k) coefficients[k] = 3.0f / (1 + k % 7) + k * 0.01f;
  cudaMemcpyToSymbol(kArrhenius, laws, sizeof laws);
  cudaMemcpyToSymbol(kPolynomials, coefficients, sizeof coefficients);
  double* temperatures = device_array<double>(n, [](int i) { return 300 + 2000 * hashed_unit(i); });
  double *y = device_doubles(kSpecies * n), *rates = device_zeros<double>(kReactions * n);
  double* made = device_zeros<double>(kSpecies * n);
  float *heats = device_zeros<float>(kSpecies * n), *out = device_zeros<float>(n);
  unsigned short* steps = device_zeros<unsigned short>(n);
  float* jacobian = device_zeros<float>(kSpecies * kSpecies * quarter);
  Gas* gases = (Gas*)device_array<float>(12 * n, [](int i) { return i % 12 == 0 ? 900 : 0.1f + i % 7; });
  float* matrices = device_floats(m * kColumns * 16);
  const dim3 pairs(ceil_div(n, 256), kReactions), bands(32, kSpecies);
  for (int r = 0; r < kLaunches; ++r) arrhenius_rates<<<pairs, 256>>>(temperatures, rates, n);
  for (int r = 0; r < kLaunches; ++r) thermodynamics<<<blocks, 64>>>(temperatures, y, heats, out, n);
  for (int r = 0; r < kLaunches; ++r) net_production<<<ceil_div(n, 96), 96, shared>>>(y, rates, made, n);
  for (int r = 0; r < kLaunches; ++r) adaptive_rosenbrock<<<blocks, 128>>>(y, (double2*)made, steps, n);
  for (int r = 0; r < kLaunches; ++r) implicit_euler<float, 9><<<blocks, 128>>>(y, (float*)made, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r) implicit_euler<double, 5><<<ceil_div(n, 64), 64>>>(y, made, 0.5, n);
  for (int r = 0; r < kLaunches; ++r) jacobians<<<ceil_div(quarter, 32), bands>>>(y, jacobian, quarter);
  for (int r = 0; r < kLaunches; ++r) mixture_viscosity<<<ceil_div(n, 160), 160>>>(gases, out, n);
  for (int r = 0; r < kLaunches; ++r) eliminate_rows<<<ceil_div(m, 16), 256>>>(matrices, (float*)made, m);
  free_all(temperatures, y, rates, made, heats, out, steps, jacobian, gases, matrices);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("chemistry_kinetics");
}
