// Chemistry of flames: n cells with twelve species each, whose quantities lie side by side.
#include "device.h"

constexpr int kSpecies = 12, kReactions = 20;
__constant__ double arrhenius[kReactions][3];
__constant__ int partners[kReactions][4];
__constant__ float heats[kSpecies][2][6];

// How fast each reaction is at the temperature of its cell, by the law of Arrhenius.
__global__ void rates(const double* temperatures, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double t = 300 + 2000 * temperatures[i], logarithm = log(t), inverse = 1 / t;
  for (int k = 0; k < kReactions; ++k)
    out[k * n + i] = exp(arrhenius[k][0] + arrhenius[k][1] * logarithm - arrhenius[k][2] * inverse);
}

// What is made and what is used up, in an array of each thread whose places a table tells.
__global__ void production(const float* concentrations, const float* forward, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float amount[kSpecies], change[kSpecies];
  for (int s = 0; s < kSpecies; ++s) {
    amount[s] = concentrations[s * n + i];
    change[s] = 0;
  }
#pragma unroll 1
  for (int k = 0; k < kReactions; ++k) {
    const int a = partners[k][0], b = partners[k][1], c = partners[k][2], d = partners[k][3];
    const float net = forward[k * n + i] * (amount[a] * amount[b] - 0.1f * amount[c] * amount[d]);
    change[a] -= net;
    change[b] -= net;
    change[c] += net;
    change[d] += net;
  }
  for (int s = 0; s < kSpecies; ++s) out[s * n + i] = change[s];
}

__device__ float heat_of(int species, float t) {
  const float* c = heats[species][t > 1000.0f];
  return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * c[4])));
}

// The temperature that belongs to an energy: Newton's steps until they are small.
__global__ void find_temperatures(const float* energies, const float* shares, float* temperatures, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float wanted = 500.0f + 3000.0f * energies[i];
  float t = 300;
  for (int step = 0; step < 30; ++step) {
    float energy = 0, heat = 0;
    for (int s = 0; s < kSpecies; ++s) {
      const float share = shares[s * n + i], own = heat_of(s, t);
      energy += share * own * t;
      heat += share * own;
    }
    const float move = (energy - wanted) / fmaxf(heat, 0.1f);
    t = fminf(fmaxf(t - move, 250.0f), 3500.0f);
    if (fabsf(move) < 0.01f * t) break;
  }
  temperatures[i] = t;
}

// An implicit step of N species: a system of equations in registers for each thread, without pivots.
template <int N>
__global__ void __launch_bounds__(64)
    implicit_step(const double* slopes, double* amounts, double step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a[N][N], b[N];
#pragma unroll
  for (int r = 0; r < N; ++r) {
    b[r] = amounts[r * n + i];
#pragma unroll
    for (int c = 0; c < N; ++c) a[r][c] = (r == c ? 4.0 : 0.0) - step * slopes[(r * N + c) * n + i];
  }
#pragma unroll
  for (int p = 0; p < N; ++p) {
    const double inverse = 1 / a[p][p];
#pragma unroll
    for (int r = p + 1; r < N; ++r) {
      const double factor = a[r][p] * inverse;
#pragma unroll
      for (int c = p + 1; c < N; ++c) a[r][c] -= factor * a[p][c];
      b[r] -= factor * b[p];
    }
  }
#pragma unroll
  for (int r = N - 1; r >= 0; --r) {
#pragma unroll
    for (int c = r + 1; c < N; ++c) b[r] -= a[r][c] * b[c];
    b[r] /= a[r][r];
    amounts[r * n + i] = b[r];
  }
}

// Flames from a table over the mixture and the progress: eight quantities between four of its 128 x 128 points.
__global__ void from_flame_table(const float4* __restrict__ table, const float* __restrict__ mixture,
                                 const float* __restrict__ progress, float4* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = 126.0f * mixture[i], y = 126.0f * sqrtf(progress[i]);
    const int column = min((int)x, 126), row = min((int)y, 126);
    const float u = x - column, v = y - row;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float4 a = table[(row * 128 + column) * 2 + half], b = table[(row * 128 + column + 1) * 2 + half];
      const float4 c = table[(row * 128 + column + 128) * 2 + half],
                   d = table[(row * 128 + column + 129) * 2 + half];
      out[half * n + i] = make_float4((1 - v) * (a.x + u * (b.x - a.x)) + v * (c.x + u * (d.x - c.x)),
                                      (1 - v) * (a.y + u * (b.y - a.y)) + v * (c.y + u * (d.y - c.y)),
                                      (1 - v) * (a.z + u * (b.z - a.z)) + v * (c.z + u * (d.z - c.z)),
                                      (1 - v) * (a.w + u * (b.w - a.w)) + v * (c.w + u * (d.w - c.w)));
    }
  }
}

void run(int n) {
  double laws[kReactions][3];
  int who[kReactions][4];
  float coefficients[kSpecies][2][6];
  for (int k = 0; k < kReactions; ++k) {
    laws[k][0] = 2 + k % 7;
    laws[k][1] = 0.1 * (k % 5);
    laws[k][2] = 1000.0 + 300 * k;
    for (int p = 0; p < 4; ++p) who[k][p] = (k * 5 + p * 3) % kSpecies;
  }
  for (int s = 0; s < kSpecies; ++s)
    for (int h = 0; h < 2; ++h)
      for (int k = 0; k < 6; ++k)
        coefficients[s][h][k] = k == 0 ? 1 + 0.1f * s : k == 1 ? 0.0002f * (h + 1) : 0;
  cudaMemcpyToSymbol(arrhenius, laws, sizeof laws);
  cudaMemcpyToSymbol(partners, who, sizeof who);
  cudaMemcpyToSymbol(heats, coefficients, sizeof coefficients);
  double* doubles = device_doubles(36 * n);
  double* amounts = device_doubles(20 * n);
  float* shares = device_floats(kReactions * n);
  float* out = device_zeros<float>(kSpecies * n);
  float* table = device_floats(128 * 128 * 8);
  for (int r = 0; r < kLaunches; ++r) rates<<<ceil_div(n, 128), 128>>>(doubles, amounts, n);
  for (int r = 0; r < kLaunches; ++r) production<<<ceil_div(n, 128), 128>>>(shares, shares, out, n);
  for (int r = 0; r < kLaunches; ++r)
    find_temperatures<<<ceil_div(n, 256), 256>>>(shares, shares + n, out, n);
  for (int r = 0; r < kLaunches; ++r) implicit_step<6><<<ceil_div(n, 64), 64>>>(doubles, amounts, 0.01, n);
  for (int r = 0; r < kLaunches; ++r)
    from_flame_table<<<396, 256>>>((float4*)table, shares, shares + 3 * n, (float4*)out, n);
  free_all(doubles, amounts, shares, out, table);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("reactions");
}
