// A sea on a grid of n x 3n/4 cells with land and some tens of levels, and tide gauges along its coasts.
#include "device.h"

constexpr int kTides = 8;
__constant__ double speeds[kTides];

// The level of the sea after a step: what flows through the four sides of each cell that is wet.
__global__ void sea_level(const float* __restrict__ level, const float* __restrict__ u,
                          const float* __restrict__ v, const float* __restrict__ depth,
                          const unsigned char* __restrict__ wet, float* __restrict__ next, float rate, int nx,
                          int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int c = y * nx + x;
  if (!wet[c]) {
    next[c] = 0;
    return;
  }
  const float own = depth[c] + level[c];
  const float west = u[c] * (own + depth[c - 1] + level[c - 1]);
  const float east = u[c + 1] * (own + depth[c + 1] + level[c + 1]);
  const float south = v[c] * (own + depth[c - nx] + level[c - nx]);
  const float north = v[c + nx] * (own + depth[c + nx] + level[c + nx]);
  next[c] = level[c] - 0.5f * rate * (east - west + north - south);
}

// Both speeds after a step: the slope of the sea, the turning earth, and friction at the bottom. Speeds are
// on the sides of the cells, and zero on the sides of land.
template <class T>
__global__ void currents(const T* level, const T* u, const T* v, const T* depth, const unsigned char* wet,
                         T* next_u, T* next_v, T step, T gravity, T turn, T drag, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int c = y * nx + x;
  T new_u = 0, new_v = 0;
  if (wet[c] && wet[c - 1]) {
    const T across = T(0.25) * (v[c] + v[c - 1] + v[c + nx] + v[c + nx - 1]);
    const T thick = T(0.5) * (depth[c] + depth[c - 1]), speed = sqrt(u[c] * u[c] + across * across);
    new_u = (u[c] + step * (turn * across - gravity * (level[c] - level[c - 1]))) /
            (1 + step * drag * speed / thick);
  }
  if (wet[c] && wet[c - nx]) {
    const T across = T(0.25) * (u[c] + u[c + 1] + u[c - nx] + u[c - nx + 1]);
    const T thick = T(0.5) * (depth[c] + depth[c - nx]), speed = sqrt(v[c] * v[c] + across * across);
    new_v = (v[c] - step * (turn * across + gravity * (level[c] - level[c - nx]))) /
            (1 + step * drag * speed / thick);
  }
  next_u[c] = new_u;
  next_v[c] = new_v;
}

// Mixing along each column of water, by a tridiagonal system of as many unknowns as the column has levels:
// its factors go through memory.
__global__ void mix_columns(const double* heat, const double* mixing, const int* bottoms, double* factors,
                            double* next, double rate, int cells) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  const int levels = bottoms[c];
  if (levels == 0) return;
  double above = 0, factor = 0, value = 0;
  for (int k = 0; k < levels; ++k) {
    const double below = k + 1 < levels ? rate * mixing[k * cells + c] : 0;
    const double scale = 1 / (1 + above + below - above * factor);
    factor = below * scale;
    value = (heat[k * cells + c] + above * value) * scale;
    factors[k * cells + c] = factor;
    next[k * cells + c] = value;
    above = below;
  }
  for (int k = levels - 2; k >= 0; --k) {
    value = next[k * cells + c] + factors[k * cells + c] * value;
    next[k * cells + c] = value;
  }
}

// The same for the salt, in floats, with the factors and the values on the way down in shared memory.
__global__ void __launch_bounds__(64)
    mix_columns_shared(const float* __restrict__ salt, const float* __restrict__ mixing,
                       const int* __restrict__ bottoms, float* __restrict__ next, float rate, int cells) {
  extern __shared__ float2 column[];
  const int c = blockIdx.x * 64 + threadIdx.x, levels = c < cells ? bottoms[c] : 0;
  float above = 0, factor = 0, value = 0;
  for (int k = 0; k < levels; ++k) {
    const float below = k + 1 < levels ? rate * mixing[k * cells + c] : 0;
    const float scale = __fdividef(1.0f, 1 + above + below - above * factor);
    factor = below * scale;
    value = (salt[k * cells + c] + above * value) * scale;
    column[k * 64 + threadIdx.x] = make_float2(factor, value);
    above = below;
  }
  value = 0;
  for (int k = levels - 1; k >= 0; --k) {
    const float2 own = column[k * 64 + threadIdx.x];
    value = own.y + own.x * value;
    next[k * cells + c] = value;
  }
}

// What flows upwind through one side of a cell, from the cell before it or into it.
__device__ float upwind(float speed, float before, float after) {
  return speed > 0 ? speed * before : speed * after;
}

// One step of the salt with the currents in three dimensions. Nothing flows out of cells below the bottom.
__global__ void carry_salt(const float* salt, const float* u, const float* v, const float* w,
                           const int* bottoms, float* next, float rate, int nx, int ny, int levels) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1 || z >= levels) return;
  const int flat = y * nx + x, cells = nx * ny, c = z * cells + flat, bottom = bottoms[flat];
  if (z >= bottom) return;
  const float own = salt[c];
  float flow = 0;
  if (z < bottoms[flat - 1]) flow += upwind(u[c], salt[c - 1], own);
  if (z < bottoms[flat + 1]) flow -= upwind(u[c + 1], own, salt[c + 1]);
  if (z < bottoms[flat - nx]) flow += upwind(v[c], salt[c - nx], own);
  if (z < bottoms[flat + nx]) flow -= upwind(v[c + nx], own, salt[c + nx]);
  if (z > 0) flow += upwind(w[c], salt[c - cells], own);
  if (z + 1 < bottom) flow -= upwind(w[c + cells], own, salt[c + cells]);
  next[c] = own + rate * flow;
}

// The sums of each gauge's heights times the cosine and sine of each tide, without the hours that are
// missing.
__global__ void __launch_bounds__(128)
    gauge_sums(const float* heights, double* sums, double interval, int hours) {
  __shared__ double parts[4][2 * kTides];
  const float* own = heights + blockIdx.x * hours;
  double cosines[kTides] = {}, sines[kTides] = {};
  for (int t = threadIdx.x; t < hours; t += 128) {
    const float height = own[t];
    if (height < -900) continue;
#pragma unroll
    for (int k = 0; k < kTides; ++k) {
      const double turns = speeds[k] * interval * t;
      float s, c;
      sincospif(2 * (float)(turns - floor(turns)), &s, &c);
      cosines[k] += height * c;
      sines[k] += height * s;
    }
  }
#pragma unroll
  for (int k = 0; k < kTides; ++k) {
    for (int step = 16; step > 0; step /= 2) {
      cosines[k] += __shfl_down_sync(0xffffffffu, cosines[k], step);
      sines[k] += __shfl_down_sync(0xffffffffu, sines[k], step);
    }
    if (threadIdx.x % 32 == 0) {
      parts[threadIdx.x / 32][2 * k] = cosines[k];
      parts[threadIdx.x / 32][2 * k + 1] = sines[k];
    }
  }
  __syncthreads();
  if (threadIdx.x < 2 * kTides)
    sums[blockIdx.x * 2 * kTides + threadIdx.x] =
        parts[0][threadIdx.x] + parts[1][threadIdx.x] + parts[2][threadIdx.x] + parts[3][threadIdx.x];
}

// Solves the equations of each place for its mean and its tides, kSize unknowns each, by Cholesky's factors
// in registers. The lower triangles are stored with the places side by side.
template <int kSize>
__global__ void __launch_bounds__(96)
    solve_tides(const double* __restrict__ triangles, const double* __restrict__ right,
                double* __restrict__ out, int places) {
  const int i = blockIdx.x * 96 + threadIdx.x;
  if (i >= places) return;
  double a[kSize][kSize], y[kSize];
#pragma unroll
  for (int r = 0; r < kSize; ++r) {
    y[r] = right[r * places + i];
#pragma unroll
    for (int c = 0; c <= r; ++c) {
      double sum = triangles[(r * (r + 1) / 2 + c) * places + i];
#pragma unroll
      for (int k = 0; k < c; ++k) sum -= a[r][k] * a[c][k];
      a[r][c] = r == c ? rsqrt(fmax(sum, 1e-12)) : sum * a[c][c];
    }
#pragma unroll
    for (int k = 0; k < r; ++k) y[r] -= a[r][k] * y[k];
    y[r] *= a[r][r];
  }
#pragma unroll
  for (int r = kSize - 1; r >= 0; --r) {
#pragma unroll
    for (int k = r + 1; k < kSize; ++k) y[r] -= a[k][r] * y[k];
    y[r] *= a[r][r];
    out[r * places + i] = y[r];
  }
}

// Some levels of the salt on another grid, from the four cells about each new place that are wet there.
__global__ void regrid(const float* salt, const int* bottoms, const int* corners, const float2* weights,
                       float* out, int levels, int nx, int cells, int targets) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < targets; i += gridDim.x * blockDim.x) {
    const int corner = corners[i];
    const float2 f = weights[i];
    const int depth0 = bottoms[corner], depth1 = bottoms[corner + 1];
    const int depth2 = bottoms[corner + nx], depth3 = bottoms[corner + nx + 1];
    for (int z = 0; z < levels; ++z) {
      const float* from = salt + z * cells + corner;
      const float w0 = z < depth0 ? (1 - f.x) * (1 - f.y) : 0, w1 = z < depth1 ? f.x * (1 - f.y) : 0;
      const float w2 = z < depth2 ? (1 - f.x) * f.y : 0, w3 = z < depth3 ? f.x * f.y : 0;
      const float all = w0 + w1 + w2 + w3;
      out[z * targets + i] =
          all > 0.01f ? (w0 * from[0] + w1 * from[1] + w2 * from[nx] + w3 * from[nx + 1]) / all : -999.0f;
    }
  }
}

static float scattered(int i) {
  return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
}

void run(int n) {
  const int nx = n, ny = n * 3 / 4, cells = nx * ny, levels = 10 + n / 75, all = cells * levels;
  const int gauges = 20 + n / 2, hours = 500 + 8 * n, places = cells / 4, size = 9, upper = 8;
  const int tx = nx + nx / 3, ty = ny + ny / 5, targets = tx * ty;
  // Cycles in an hour: M2, S2, N2, K2, K1, O1, P1, Q1.
  const double host_speeds[kTides] = {0.0805114007, 0.0833333333, 0.0789992488, 0.0835614924,
                                      0.0417807462, 0.0387306544, 0.0415525871, 0.0372185026};
  cudaMemcpyToSymbol(speeds, host_speeds, sizeof host_speeds);
  // How many levels are wet: none at the rim and on two islands, and more where it is far from the west.
  const auto bottom = [nx, ny, levels](int i) {
    const int x = i % nx, y = i / nx, x1 = x - nx / 3, y1 = y - ny / 2, x2 = x - nx * 3 / 4, y2 = y - ny / 4;
    const bool island = x1 * x1 + 2 * y1 * y1 < nx * nx / 60 || 2 * x2 * x2 + y2 * y2 < nx * nx / 100;
    if (x < 2 || y < 2 || x >= nx - 2 || y >= ny - 2 || island) return 0;
    return 2 + (levels - 2) * x / nx;
  };
  int* bottoms = device_array<int>(cells, bottom);
  unsigned char* wet =
      device_array<unsigned char>(cells, [bottom](int i) { return (unsigned char)(bottom(i) > 0); });
  float* depth = device_array<float>(cells, [bottom](int i) { return 10.0f * bottom(i) + scattered(i); });
  double* deep = device_array<double>(cells, [bottom](int i) { return 10.0 * bottom(i) + 1; });
  float* level = device_array<float>(cells, scattered);
  double* high = device_doubles(cells);
  double* fast = device_doubles(cells);
  float* next = device_zeros<float>(cells);
  double* next_u = device_zeros<double>(cells);
  double* next_v = device_zeros<double>(cells);
  double* heat = device_array<double>(all, [](int i) { return 5 + 10 * scattered(i); });
  double* mixing = device_doubles(all);
  double* factors = device_zeros<double>(all);
  double* mixed = device_zeros<double>(all);
  float* salt = device_array<float>(all, [](int i) { return 33 + scattered(i); });
  float* u = device_array<float>(all, [](int i) { return scattered(3 * i) - 0.5f; });
  float* v = device_array<float>(all, [](int i) { return scattered(5 * i) - 0.5f; });
  float* w = device_array<float>(all, [](int i) { return 0.01f * scattered(7 * i) - 0.005f; });
  float* eddies = device_floats(all);
  float* next_salt = device_zeros<float>(all);
  float* heights =
      device_array<float>(gauges * hours, [](int i) { return i / 50 % 13 == 4 ? -999 : scattered(i); });
  float2* parts =
      device_array<float2>(kTides * gauges, [](int i) { return make_float2(scattered(i), i % 6); });
  double* sums = device_zeros<double>(gauges * 2 * kTides);
  // Triangles whose diagonals, at 0, 2, 5, 9 and so on, outweigh the rest.
  double* triangles = device_array<double>(size * (size + 1) / 2 * places, [places](int i) {
    const int k = 8 * (i / places + 1) + 1, root = static_cast<int>(sqrtf(k) + 0.5f);
    return root * root == k ? 20.0 : 2.0 * scattered(i) - 1;
  });
  double* right = device_array<double>(size * places, [](int i) { return scattered(i) - 0.5; });
  double* tides = device_zeros<double>(size * places);
  const auto corner = [nx, ny, tx, ty](int i) {
    return i / tx * (ny - 1) / ty * nx + i % tx * (nx - 1) / tx;
  };
  int* corners = device_array<int>(targets, corner);
  float2* weights =
      device_array<float2>(targets, [](int i) { return make_float2(scattered(i), scattered(i + 99)); });
  float* other_grid = device_zeros<float>(upper * targets);
  const dim3 tiles(ceil_div(nx, 32), ceil_div(ny, 8)), squares(ceil_div(nx, 16), ceil_div(ny, 16));
  const dim3 boxes(ceil_div(nx, 32), ceil_div(ny, 4), ceil_div(levels, 2));
  for (int r = 0; r < kLaunches; ++r)
    sea_level<<<tiles, dim3(32, 8)>>>(level, u, v, depth, wet, next, 0.01f, nx, ny);
  for (int r = 0; r < kLaunches; ++r)
    currents<float><<<tiles, dim3(32, 8)>>>(level, u, v, depth, wet, next_salt, next, 0.5f, 9.81f, 1e-4f,
                                            0.003f, nx, ny);
  for (int r = 0; r < kLaunches; ++r)
    currents<double><<<squares, dim3(16, 16)>>>(high, fast, mixing, deep, wet, next_u, next_v, 0.5, 9.81,
                                                1e-4, 0.003, nx, ny);
  for (int r = 0; r < kLaunches; ++r)
    mix_columns<<<ceil_div(cells, 128), 128>>>(heat, mixing, bottoms, factors, mixed, 0.3, cells);
  for (int r = 0; r < kLaunches; ++r)
    mix_columns_shared<<<ceil_div(cells, 64), 64, 64 * levels * sizeof(float2)>>>(salt, eddies, bottoms,
                                                                                  next_salt, 0.3f, cells);
  for (int r = 0; r < kLaunches; ++r)
    carry_salt<<<boxes, dim3(32, 4, 2)>>>(salt, u, v, w, bottoms, next_salt, 0.1f, nx, ny, levels);
  for (int r = 0; r < kLaunches; ++r) gauge_sums<<<gauges, 128>>>(heights, sums, 0.25, hours);
  for (int r = 0; r < kLaunches; ++r)
    solve_tides<9><<<ceil_div(places, 96), 96>>>(triangles, right, tides, places);
  for (int r = 0; r < kLaunches; ++r)
    regrid<<<min(ceil_div(targets, 256), 528), 256>>>(salt, bottoms, corners, weights, other_grid, upper, nx,
                                                      cells, targets);
  free_all(bottoms, wet, depth, deep, level, high, fast, next, next_u, next_v, heat, mixing, factors, mixed,
           salt, u, v, w, eddies, next_salt, heights, sums, triangles, right, tides, corners, weights,
           other_grid);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("ocean_tides");
}
