// Phases of an alloy on a grid of n x n cells and on a smaller one of m x m x m: they part, grow and coarsen.
#include "device.h"

// One step of Allen and Cahn's equation on a grid that repeats itself.
__global__ void allen_cahn(const double* phase, double* next, double rate, double width, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int west = (x + n - 1) % n, east = (x + 1) % n, north = (y + n - 1) % n, south = (y + 1) % n;
  const double own = phase[y * n + x];
  const double curvature =
      phase[y * n + west] + phase[y * n + east] + phase[north * n + x] + phase[south * n + x] - 4 * own;
  next[y * n + x] = own + rate * (width * curvature + own - own * own * own);
}

// The chemical potential of Cahn and Hilliard's equation: a tile of the grid with its rim in shared memory.
template <class T>
__global__ void __launch_bounds__(256)
    chemical_potential(const T* __restrict__ mix, T* __restrict__ potential, T kappa, int n) {
  __shared__ T tile[10][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
    const int x = (x0 + k % 34 - 1 + n) % n, y = (y0 + k / 34 - 1 + n) % n;
    tile[k / 34][k % 34] = mix[y * n + x];
  }
  __syncthreads();
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= n || y >= n) return;
  const T own = tile[j][i];
  const T curvature = tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i] - 4 * own;
  potential[y * n + x] = 2 * own * (1 - own) * (1 - 2 * own) - kappa * curvature;
}

// How fast matter moves at a mean of two mixtures.
__device__ float mobility(float a, float b) {
  const float mean = 0.5f * (a + b);
  return fmaxf(mean * (1 - mean), 0.0f) + 0.01f;
}

// One step of Cahn and Hilliard's equation: what flows through the four sides of each cell.
__global__ void flow_step(const float* mix, const float* potential, float* next, float rate, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int own = y * n + x;
  const int west = x > 0 ? own - 1 : own + n - 1, east = x < n - 1 ? own + 1 : own - n + 1;
  const int north = y > 0 ? own - n : own + (n - 1) * n, south = y < n - 1 ? own + n : x;
  const float c = mix[own], p = potential[own];
  const float flow =
      mobility(c, mix[west]) * (potential[west] - p) + mobility(c, mix[east]) * (potential[east] - p) +
      mobility(c, mix[north]) * (potential[north] - p) + mobility(c, mix[south]) * (potential[south] - p);
  next[own] = c + rate * flow;
}

// The width of a dendrite's surface in the direction of its slope, and the turning terms that come from it.
__global__ void surface_widths(const float* phase, float4* widths, float mean, float strength, float folds,
                               float turn, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float sx = 0.5f * (phase[y * n + min(x + 1, n - 1)] - phase[y * n + max(x - 1, 0)]);
  const float sy = 0.5f * (phase[min(y + 1, n - 1) * n + x] - phase[max(y - 1, 0) * n + x]);
  float s, c;
  sincosf(folds * (atan2f(sy, sx) - turn), &s, &c);
  const float width = mean * (1 + strength * c), slope = -mean * strength * folds * s;
  widths[y * n + x] = make_float4(width * width, width * slope * sx, width * slope * sy, 0);
}

// One step of a dendrite in a melt that is too cold: the phase and the heat that its growth sets free.
__global__ void dendrite_step(const float* phase, const float* heat, const float4* widths, float* next_phase,
                              float* next_heat, float step, float latent, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1) return;
  const int own = y * n + x;
  const float p = phase[own], t = heat[own], push = 0.2864789f * atanf(10 * (1 - t));
  const float sides = phase[own - 1] + phase[own + 1] + phase[own - n] + phase[own + n];
  const float corners = phase[own - n - 1] + phase[own - n + 1] + phase[own + n - 1] + phase[own + n + 1];
  const float curvature = (4 * sides + corners - 20 * p) / 6;
  const float4 west = widths[own - 1], east = widths[own + 1], north = widths[own - n],
               south = widths[own + n];
  const float along = (east.x - west.x) * (phase[own + 1] - phase[own - 1]) +
                      (south.x - north.x) * (phase[own + n] - phase[own - n]);
  const float turning = 0.5f * (south.y - north.y) - 0.5f * (east.z - west.z);
  const float growth =
      step / 0.0003f *
      (widths[own].x * curvature + 0.25f * along + turning + p * (1 - p) * (p - 0.5f + push));
  next_phase[own] = p + growth;
  next_heat[own] =
      t + latent * growth + step * (heat[own - 1] + heat[own + 1] + heat[own - n] + heat[own + n] - 4 * t);
}

// One step in three dimensions, where surfaces along the axes of a cubic crystal move faster than others.
__global__ void cubic_crystal(const float* phase, float* next, float rate, float strength, float push,
                              int m) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= m || y >= m || z >= m) return;
  const int own = (z * m + y) * m + x;
  const float p = phase[own];
  if (x == 0 || y == 0 || z == 0 || x == m - 1 || y == m - 1 || z == m - 1) {
    next[own] = p;
    return;
  }
  const float w = phase[own - 1], e = phase[own + 1], a = phase[own - m], b = phase[own + m];
  const float c = phase[own - m * m], d = phase[own + m * m];
  const float xx = (e - w) * (e - w), yy = (b - a) * (b - a), zz = (d - c) * (d - c), all = xx + yy + zz;
  float speed = 1;
  if (all > 1e-8f) speed += strength * (4 * (xx * xx + yy * yy + zz * zz) / (all * all) - 3);
  const float curvature = w + e + a + b + c + d - 6 * p;
  next[own] = p + rate * speed * (speed * curvature + p * (1 - p) * (p - 0.5f + push));
}

// The chemical potential in three dimensions: threads walk along z and keep three cells of it in registers.
__global__ void potential_along_z(const double* __restrict__ mix, double* __restrict__ potential,
                                  double kappa, int depth, int m) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= m || y >= m) return;
  const int west = y * m + (x > 0 ? x - 1 : m - 1), east = y * m + (x < m - 1 ? x + 1 : 0);
  const int north = (y > 0 ? y - 1 : m - 1) * m + x, south = (y < m - 1 ? y + 1 : 0) * m + x;
  const int here = y * m + x, slice = m * m, first = blockIdx.z * depth, last = min(first + depth, m);
  double below = mix[(first > 0 ? first - 1 : m - 1) * slice + here], own = mix[first * slice + here];
  for (int z = first; z < last; ++z) {
    const double above = mix[(z < m - 1 ? z + 1 : 0) * slice + here];
    const double* level = mix + z * slice;
    const double curvature =
        level[west] + level[east] + level[north] + level[south] + below + above - 6 * own;
    potential[z * slice + here] = own * own * own - own - kappa * curvature;
    below = own;
    own = above;
  }
}

// Many grains that push each other: the fields of all of them at each cell, one plane of the grid for each
// grain.
__global__ void grow_grains(const float* grains, float* next, float rate, float width, float strife,
                            int count, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= n) return;
  const int own = y * n + x, plane = n * n;
  const int west = x > 0 ? own - 1 : own + n - 1, east = x < n - 1 ? own + 1 : own - n + 1;
  const int north = y > 0 ? own - n : own + plane - n, south = y < n - 1 ? own + n : x;
  float squares = 0;
  for (int g = 0; g < count; ++g) squares += grains[g * plane + own] * grains[g * plane + own];
  for (int g = 0; g < count; ++g) {
    const float* field = grains + g * plane;
    const float e = field[own], curvature = field[west] + field[east] + field[north] + field[south] - 4 * e;
    next[g * plane + own] = e + rate * (width * curvature + e - e * e * e - strife * e * (squares - e * e));
  }
}

// The free energy of the whole grid: of the mixture and of its slopes.
__global__ void free_energy(const double* phase, double* sums, double width, int n) {
  __shared__ double bulk[8], edges[8];
  double a = 0, b = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) {
    const double p = phase[i], east = (i + 1) % n != 0 ? phase[i + 1] - p : 0;
    const double south = i + n < n * n ? phase[i + n] - p : 0;
    a += 0.25 * (1 - p * p) * (1 - p * p);
    b += 0.5 * width * (east * east + south * south);
  }
  for (int step = 16; step > 0; step /= 2) {
    a += __shfl_down_sync(0xffffffffu, a, step);
    b += __shfl_down_sync(0xffffffffu, b, step);
  }
  if (threadIdx.x % 32 == 0) {
    bulk[threadIdx.x / 32] = a;
    edges[threadIdx.x / 32] = b;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) {
      a += bulk[w];
      b += edges[w];
    }
    atomicAdd(&sums[0], a);
    atomicAdd(&sums[1], b);
  }
}

// One half-implicit step of Cahn and Hilliard's equation on the waves of the mixture, after Fourier's
// transform.
__global__ void spectral_step(double2* mix, const double2* force, double step, double kappa, double wave,
                              int n) {
  const int half = n / 2 + 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < half * n; i += gridDim.x * blockDim.x) {
    const int column = i % half, row = i / half;
    const double kx = column * wave, ky = (row <= n / 2 ? row : row - n) * wave, square = kx * kx + ky * ky;
    const double scale = 1 / (1 + step * kappa * square * square);
    const double2 c = mix[i], f = force[i];
    mix[i] = make_double2((c.x - step * square * f.x) * scale, (c.y - step * square * f.y) * scale);
  }
}

static float scattered(int i) {
  return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
}

void run(int n) {
  const int m = n / 12 + 32, cells = n * n, voxels = m * m * m, count = 6, half = n / 2 + 1;
  const int depth = m < 64 ? 4 : 16;
  // Stripes and noise about the middle of what a mixture may be, and a disc that is solid.
  const auto mixture = [](int i) { return 0.4f + 0.2f * scattered(i) + 0.1f * (i / 40 % 2); };
  const auto disc = [n](int i) {
    const int x = i % n - n / 2, y = i / n - n / 2;
    return x * x + y * y < n * n / 9 ? 1.0f : 0.0f;
  };
  double* phase = device_array<double>(cells, [](int i) { return 2.0 * scattered(i) - 1; });
  double* next_phase = device_zeros<double>(cells);
  float* mix = device_array<float>(cells, mixture);
  float* potential = device_zeros<float>(cells);
  float* next_mix = device_zeros<float>(cells);
  float* solid = device_array<float>(cells, disc);
  float* heat = device_array<float>(cells, [](int i) { return 0.2f * scattered(i); });
  float* next_heat = device_zeros<float>(cells);
  float4* widths = device_zeros<float4>(cells);
  float* crystal = device_array<float>(
      voxels, [m](int i) { return i / m % m > m / 3 && i / m / m > m / 4 ? 0.9f : 0.1f; });
  float* next_crystal = device_zeros<float>(voxels);
  double* mix3 = device_array<double>(voxels, [](int i) { return scattered(i) - 0.5; });
  double* potential3 = device_zeros<double>(voxels);
  float* grains = device_array<float>(count * cells, [n, cells](int i) {
    return (i % n / 50 + i % cells / n / 50) % 6 == i / cells ? 0.9f : 0;
  });
  float* next_grains = device_zeros<float>(count * cells);
  double2* waves = device_array<double2>(half * n, [](int i) { return make_double2(scattered(i), i % 7); });
  double2* force = device_array<double2>(half * n, [](int i) { return make_double2(i % 5, scattered(i)); });
  double* sums = device_zeros<double>(2);
  const dim3 large(ceil_div(n, 32), ceil_div(n, 32)), squares(ceil_div(n, 16), ceil_div(n, 16));
  const dim3 tiles(ceil_div(n, 32), ceil_div(n, 8));
  const dim3 inner(ceil_div(n - 2, 16), ceil_div(n - 2, 12)), rows(ceil_div(n, 128), n);
  const dim3 boxes(ceil_div(m, 32), ceil_div(m, 4), ceil_div(m, 2));
  const dim3 columns(ceil_div(m, 32), ceil_div(m, 6), ceil_div(m, depth));
  for (int r = 0; r < kLaunches; ++r) allen_cahn<<<large, dim3(32, 32)>>>(phase, next_phase, 0.05, 0.6, n);
  for (int r = 0; r < kLaunches; ++r)
    chemical_potential<float><<<tiles, dim3(32, 8)>>>(mix, potential, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r)
    chemical_potential<double><<<tiles, dim3(32, 8)>>>(phase, next_phase, 0.5, n);
  for (int r = 0; r < kLaunches; ++r) flow_step<<<tiles, dim3(32, 8)>>>(mix, potential, next_mix, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    surface_widths<<<squares, dim3(16, 16)>>>(solid, widths, 0.01f, 0.02f, 6.0f, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    dendrite_step<<<inner, dim3(16, 12)>>>(solid, heat, widths, next_mix, next_heat, 0.0001f, 1.8f, n);
  for (int r = 0; r < kLaunches; ++r)
    cubic_crystal<<<boxes, dim3(32, 4, 2)>>>(crystal, next_crystal, 0.05f, 0.1f, 0.02f, m);
  for (int r = 0; r < kLaunches; ++r)
    potential_along_z<<<columns, dim3(32, 6)>>>(mix3, potential3, 0.5, depth, m);
  for (int r = 0; r < kLaunches; ++r)
    grow_grains<<<rows, 128>>>(grains, next_grains, 0.05f, 0.8f, 2.0f, count, n);
  for (int r = 0; r < kLaunches; ++r)
    free_energy<<<min(ceil_div(cells, 256), 792), 256>>>(phase, sums, 0.5, n);
  for (int r = 0; r < kLaunches; ++r)
    spectral_step<<<min(ceil_div(half * n, 512), 528), 512>>>(waves, force, 0.01, 0.5, 0.1, n);
  free_all(phase, next_phase, mix, potential, next_mix, solid, heat, next_heat, widths, crystal, next_crystal,
           mix3, potential3, grains, next_grains, waves, force, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("phase_fields");
}
