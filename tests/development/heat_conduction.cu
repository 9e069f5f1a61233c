// Heat that spreads through plates, rods and bars: explicit steps, relaxation in two colours and implicit
// steps line by line, with uniform and with varying conductivity.
// n is the side of the square plate in cells, a multiple of 256; the bar has n / 8 x n / 8 x 64, as many.
#include "device.h"

struct Material {
  float conductivity;
  float capacity;
};

__device__ float harmonic_mean(float a, float b) {
  return 2 * a * b / (a + b);
}

// Advances the temperature of a uniform plate by one explicit step, its edge held fixed.
__global__ void explicit_plate(const double* from, double* to, double rate, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
    to[i] = from[i];
    return;
  }
  to[i] = from[i] + rate * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] - 4 * from[i]);
}

// Advances a plate whose cells are of different materials, with insulated edges.
__global__ void explicit_materials(const float* from, float* to, const Material* materials, float step,
                                   int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const Material here = materials[i];
  const float t = from[i];
  float flow = 0;
  if (x > 0) flow += harmonic_mean(here.conductivity, materials[i - 1].conductivity) * (from[i - 1] - t);
  if (x < n - 1) flow += harmonic_mean(here.conductivity, materials[i + 1].conductivity) * (from[i + 1] - t);
  if (y > 0) flow += harmonic_mean(here.conductivity, materials[i - n].conductivity) * (from[i - n] - t);
  if (y < n - 1) flow += harmonic_mean(here.conductivity, materials[i + n].conductivity) * (from[i + n] - t);
  to[i] = t + step * flow / here.capacity;
}

// Advances a uniform plate by two explicit steps at once, in tiles of 32 x 32 whose inner 28 x 28 are kept.
__global__ void two_steps_in_tile(const float* __restrict__ from, float* __restrict__ to, float rate, int n) {
  __shared__ float first[32][33], second[32][33];
  const int i = threadIdx.x, j = threadIdx.y;
  const int x = static_cast<int>(blockIdx.x) * 28 + i - 2, y = static_cast<int>(blockIdx.y) * 28 + j - 2;
  first[j][i] = from[min(max(y, 0), n - 1) * n + min(max(x, 0), n - 1)];
  __syncthreads();
  const bool inside = x > 0 && y > 0 && x < n - 1 && y < n - 1;
  float value = first[j][i];
  if (inside && i > 0 && j > 0 && i < 31 && j < 31)
    value += rate * (first[j][i - 1] + first[j][i + 1] + first[j - 1][i] + first[j + 1][i] - 4 * value);
  second[j][i] = value;
  __syncthreads();
  if (i < 2 || j < 2 || i > 29 || j > 29 || x >= n || y >= n) return;
  if (inside)
    value += rate * (second[j][i - 1] + second[j][i + 1] + second[j - 1][i] + second[j + 1][i] - 4 * value);
  to[y * n + x] = value;
}

// Relaxes the cells of one colour of a chessboard towards the steady state, with varying conductivity.
template <int kColour>
__global__ void relax_colour(double* t, const double* conductivity, const double* sources, double omega,
                             int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + kColour) % 2 + 1;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const double k = conductivity[i];
  const double west = k + conductivity[i - 1], east = k + conductivity[i + 1];
  const double south = k + conductivity[i - n], north = k + conductivity[i + n];
  const double sum = west * t[i - 1] + east * t[i + 1] + south * t[i - n] + north * t[i + n] + sources[i];
  t[i] += omega * (sum / (west + east + south + north) - t[i]);
}

// Solves one implicit step along each row of the plate, a thread per row.
__global__ void implicit_rows(const float* from, float* to, float* factors, float rate, int n) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= n) return;
  const float* in = from + y * n;
  float *out = to + y * n, *factor = factors + y * n;
  float previous_factor = 0, previous = 0;
  for (int x = 0; x < n; ++x) {
    const float pivot = 1 / (1 + 2 * rate + rate * previous_factor);
    previous_factor = -rate * pivot;
    previous = (in[x] + rate * previous) * pivot;
    factor[x] = previous_factor;
    out[x] = previous;
  }
  for (int x = n - 2; x >= 0; --x) {
    previous = out[x] - factor[x] * previous;
    out[x] = previous;
  }
}

// Solves one implicit step along each column with varying conductivity, a thread per column.
__global__ void implicit_columns(const double* from, const double* conductivity, double* to, double* factors,
                                 double step, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  double previous_factor = 0, previous = 0, above = 0, k = conductivity[x];
  for (int y = 0; y < n; ++y) {
    const int i = y * n + x;
    const double next_k = y < n - 1 ? conductivity[i + n] : k, below = 0.5 * step * (k + next_k);
    const double pivot = 1 + above + below + above * previous_factor;
    previous = (from[i] + above * previous) / pivot;
    previous_factor = -below / pivot;
    factors[i] = previous_factor;
    to[i] = previous;
    above = below;
    k = next_k;
  }
  for (int y = n - 2; y >= 0; --y) {
    const int i = y * n + x;
    previous = to[i] - factors[i] * previous;
    to[i] = previous;
  }
}

// Solves one implicit step of many rods of kLength cells by parallel cyclic reduction, a block per rod.
template <int kLength>
__global__ void __launch_bounds__(kLength) implicit_rods(const float* from, float* to, float rate) {
  __shared__ float lower[kLength], diagonal[kLength], upper[kLength], right[kLength];
  const int t = threadIdx.x, i = blockIdx.x * kLength + t;
  float a = t > 0 ? -rate : 0, b = 1 + 2 * rate, c = t < kLength - 1 ? -rate : 0, d = from[i];
  for (int stride = 1; stride < kLength; stride *= 2) {
    lower[t] = a;
    diagonal[t] = b;
    upper[t] = c;
    right[t] = d;
    __syncthreads();
    const int before = t - stride, after = t + stride;
    if (before >= 0) {
      const float factor = -a / diagonal[before];
      a = factor * lower[before];
      b += factor * upper[before];
      d += factor * right[before];
    }
    if (after < kLength) {
      const float factor = -c / diagonal[after];
      c = factor * upper[after];
      b += factor * lower[after];
      d += factor * right[after];
    }
    __syncthreads();
  }
  to[i] = d / b;
}

// Advances a bar that conducts differently along its three axes, a thread per cell.
template <class Real>
__global__ void explicit_bar(const Real* from, Real* to, Real rate_x, Real rate_y, Real rate_z, int nx,
                             int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x, plane = nx * ny;
  const Real t = from[i];
  const Real west = x > 0 ? from[i - 1] : t, east = x < nx - 1 ? from[i + 1] : t;
  const Real south = y > 0 ? from[i - nx] : t, north = y < ny - 1 ? from[i + nx] : t;
  const Real bottom = z > 0 ? from[i - plane] : t, top = z < nz - 1 ? from[i + plane] : t;
  to[i] = t + rate_x * (west + east - 2 * t) + rate_y * (south + north - 2 * t) +
          rate_z * (bottom + top - 2 * t);
}

// Advances a bar of varying conductivity plane by plane, each in shared memory, the next ones in registers.
__global__ void march_bar(const float* __restrict__ from, const float* __restrict__ conductivity,
                          float* __restrict__ to, float step, int nx, int ny, int nz, int planes) {
  __shared__ float heat[10][34], conducts[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int cx = min(x, nx - 1), cy = min(y, ny - 1), plane = nx * ny, column = cy * nx + cx;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  const int start = blockIdx.z * planes, end = min(start + planes, nz);
  float below = from[max(start - 1, 0) * plane + column], here = from[start * plane + column];
  float k_below = conductivity[max(start - 1, 0) * plane + column], k = conductivity[start * plane + column];
  for (int z = start; z < end; ++z) {
    const int above_at = min(z + 1, nz - 1) * plane + column, row = z * plane + cy * nx;
    const float above = from[above_at], k_above = conductivity[above_at];
    heat[j][i] = here;
    conducts[j][i] = k;
    if (threadIdx.x == 0 || threadIdx.x == 31) {
      const int side = threadIdx.x == 0 ? max(cx - 1, 0) : min(cx + 1, nx - 1);
      const int at = threadIdx.x == 0 ? 0 : 33;
      heat[j][at] = from[row + side];
      conducts[j][at] = conductivity[row + side];
    }
    if (threadIdx.y == 0 || threadIdx.y == 7) {
      const int side = threadIdx.y == 0 ? max(cy - 1, 0) : min(cy + 1, ny - 1);
      const int at = threadIdx.y == 0 ? 0 : 9;
      heat[at][i] = from[z * plane + side * nx + cx];
      conducts[at][i] = conductivity[z * plane + side * nx + cx];
    }
    __syncthreads();
    const float flow = (k + conducts[j][i - 1]) * (heat[j][i - 1] - here) +
                       (k + conducts[j][i + 1]) * (heat[j][i + 1] - here) +
                       (k + conducts[j - 1][i]) * (heat[j - 1][i] - here) +
                       (k + conducts[j + 1][i]) * (heat[j + 1][i] - here) + (k + k_below) * (below - here) +
                       (k + k_above) * (above - here);
    if (x < nx && y < ny) to[z * plane + column] = here + step * flow;
    __syncthreads();
    below = here;
    here = above;
    k_below = k;
    k = k_above;
  }
}

// Sums the squares of what the steady state of a plate misses, with one atomic addition per block.
__global__ void residual(const double* t, const double* conductivity, const double* sources, double* total,
                         int n) {
  __shared__ double parts[32];
  double sum = 0;
  for (int i = n + blockIdx.x * blockDim.x + threadIdx.x; i < n * (n - 1); i += gridDim.x * blockDim.x) {
    const int x = i % n;
    if (x == 0 || x == n - 1) continue;
    const double k = conductivity[i], here = t[i];
    const double missing = sources[i] + (k + conductivity[i - 1]) * (t[i - 1] - here) +
                           (k + conductivity[i + 1]) * (t[i + 1] - here) +
                           (k + conductivity[i - n]) * (t[i - n] - here) +
                           (k + conductivity[i + n]) * (t[i + n] - here);
    sum += missing * missing;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}

// Lets the four edges of a plate lose heat to the air and by radiation.
__global__ void cool_edges(float* t, float air, float convection, float radiation, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= 4 * n) return;
  const int edge = thread / n, along = thread % n;
  if (along == 0 && edge < 2) return;
  if (along == n - 1 && edge >= 2) return;
  int i, inner;
  if (edge == 0) {
    i = along;
    inner = i + n;
  } else if (edge == 1) {
    i = along * n + n - 1;
    inner = i - 1;
  } else if (edge == 2) {
    i = (n - 1) * n + along;
    inner = i - n;
  } else {
    i = along * n;
    inner = i + 1;
  }
  const float here = t[i], square = here * here, air_square = air * air;
  t[i] = here + 0.1f * (t[inner] - here) + convection * (air - here) +
         radiation * (air_square * air_square - square * square);
}

void heat_in_single(int n) {
  const int cells = n * n, nx = n / 8, ny = n / 8, nz = 64;
  float* a = device_array<float>(cells, [](int i) { return 0.2f + hashed_unit(i / 8); });
  float* b = device_zeros<float>(cells);
  float* other = device_array<float>(cells, [](int i) { return 0.5f + 0.5f * hashed_unit(i / 64); });
  Material* materials = device_array<Material>(cells, [](int i) {
    const float kind = hashed_unit(i / 16);
    return Material{kind < 0.3f ? 0.1f : 1 + kind, 1 + 0.5f * kind};
  });
  const dim3 square(16, 16), squares(ceil_div(n, 16), ceil_div(n, 16));
  const dim3 slab(32, 8), columns(ceil_div(nx, 32), ceil_div(ny, 8), 4);
  const dim3 tile(32, 32), tiles(ceil_div(n, 28), ceil_div(n, 28));
  for (int run = 0; run < kLaunches; ++run)
    explicit_materials<<<squares, square>>>(a, b, materials, 0.1f, n);
  for (int run = 0; run < kLaunches; ++run) two_steps_in_tile<<<tiles, tile>>>(a, b, 0.2f, n);
  for (int run = 0; run < kLaunches; ++run)
    cool_edges<<<ceil_div(4 * n, 128), 128>>>(a, 0.3f, 0.05f, 0.01f, n);
  for (int run = 0; run < kLaunches; ++run)
    march_bar<<<columns, slab>>>(a, other, b, 0.05f, nx, ny, nz, nz / 4);
  // From here on `other` holds the factors of the eliminations.
  for (int run = 0; run < kLaunches; ++run) implicit_rows<<<ceil_div(n, 64), 64>>>(a, b, other, 0.7f, n);
  for (int run = 0; run < kLaunches; ++run) implicit_rods<512><<<cells / 512, 512>>>(a, b, 0.7f);
  for (int run = 0; run < kLaunches; ++run) implicit_rods<128><<<cells / 128, 128>>>(a, b, 0.7f);
  const dim3 brick(32, 4, 4), bricks(ceil_div(nx, 32), ceil_div(ny, 4), ceil_div(nz, 4));
  for (int run = 0; run < kLaunches; ++run)
    explicit_bar<<<bricks, brick>>>(a, b, 0.1f, 0.15f, 0.05f, nx, ny, nz);
  free_all(a, b, other, materials);
}

void heat_in_double(int n) {
  const int cells = n * n, nx = n / 8, ny = n / 8, nz = 64;
  double* a = device_array<double>(cells, [](int i) { return 0.2 + hashed_unit(i / 8); });
  double* b = device_zeros<double>(cells);
  double* conductivity = device_array<double>(cells, [](int i) { return 0.5 + hashed_unit(i / 16); });
  double* other = device_doubles(cells);
  double* total = device_zeros<double>(1);
  const dim3 wide(32, 8), wides(ceil_div(n, 32), ceil_div(n, 8));
  const dim3 half(64, 2), halves(ceil_div(n / 2, 64), ceil_div(n - 2, 2));
  const dim3 brick(64, 2, 1), bricks(ceil_div(nx, 64), ceil_div(ny, 2), nz);
  for (int run = 0; run < kLaunches; ++run) explicit_plate<<<wides, wide>>>(a, b, 0.2, n);
  for (int run = 0; run < kLaunches; ++run) relax_colour<0><<<halves, half>>>(a, conductivity, other, 1.2, n);
  for (int run = 0; run < kLaunches; ++run) relax_colour<1><<<halves, half>>>(a, conductivity, other, 1.2, n);
  for (int run = 0; run < kLaunches; ++run) residual<<<396, 256>>>(a, conductivity, other, total, n);
  for (int run = 0; run < kLaunches; ++run)
    explicit_bar<<<bricks, brick>>>(a, b, 0.1, 0.15, 0.05, nx, ny, nz);
  for (int run = 0; run < kLaunches; ++run)
    implicit_columns<<<ceil_div(n, 32), 32>>>(a, conductivity, b, other, 0.8, n);
  free_all(a, b, conductivity, other, total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int n = atoi(argv[i]);
    heat_in_single(n);
    heat_in_double(n);
  }
  return finish("heat_conduction");
}
