// A particle-in-cell code for a plasma in two dimensions with periodic edges, kernel by kernel: electrons as
// separate arrays and as records, ions in double precision, the field on the grid, and sorting by cells.
// n is the number of cells along a side; there are 16 n * n electrons and 4 n * n ions.
#include "device.h"

struct Electron {
  float x, y, vx, vy, vz, weight;
};

struct Ion {
  double x, y, ux, uy, uz, weight;
};

struct Moments {
  float density, px, py, pz, energy;
};

constexpr int kInner = 16;
constexpr int kSweeps = 4;
constexpr int kOuter = kInner + 2 * kSweeps;

__constant__ float3 outer_field;

// A place brought back into the box.
__device__ float wrapped(float x, float length) {
  x -= length * floorf(x / length);
  return x >= 0 && x < length ? x : 0.0f;
}

__device__ int cell_at(float x, int n) {
  return max(0, min(static_cast<int>(x), n - 1));
}

// Spreads the charge of each electron over the four nearest grid points with atomic additions.
__global__ void deposit_charge(const float* __restrict__ x, const float* __restrict__ y, float* rho,
                               float charge, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int ix = cell_at(x[i], n), iy = cell_at(y[i], n);
  const int jx = ix + 1 == n ? 0 : ix + 1, jy = iy + 1 == n ? 0 : iy + 1;
  const float fx = x[i] - ix, fy = y[i] - iy;
  atomicAdd(&rho[iy * n + ix], charge * (1 - fx) * (1 - fy));
  atomicAdd(&rho[iy * n + jx], charge * fx * (1 - fy));
  atomicAdd(&rho[jy * n + ix], charge * (1 - fx) * fy);
  atomicAdd(&rho[jy * n + jx], charge * fx * fy);
}

// Relaxes the potential a few times in shared memory: a tile with a rim that is lost line by line.
__global__ void poisson_sweeps(const float* __restrict__ potential, const float* __restrict__ rho,
                               float* __restrict__ out, int n) {
  __shared__ float tile[2][kOuter][kOuter];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kInner + tx - kSweeps, y = blockIdx.y * kInner + ty - kSweeps;
  const int at = (y + n) % n * n + (x + n) % n;
  const float source = rho[at];
  tile[0][ty][tx] = potential[at];
  __syncthreads();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const int from = sweep % 2, to = 1 - from;
    float value = tile[from][ty][tx];
    if (tx > 0 && tx < kOuter - 1 && ty > 0 && ty < kOuter - 1)
      value = 0.25f * (tile[from][ty][tx - 1] + tile[from][ty][tx + 1] + tile[from][ty - 1][tx] +
                       tile[from][ty + 1][tx] + source);
    tile[to][ty][tx] = value;
    __syncthreads();
  }
  const bool inner = tx >= kSweeps && tx < kSweeps + kInner && ty >= kSweeps && ty < kSweeps + kInner;
  if (inner && x < n && y < n) out[y * n + x] = tile[kSweeps % 2][ty][tx];
}

// The electric field, minus the gradient of the potential by central differences.
__global__ void field_of_potential(const float* potential, float2* field, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int left = x == 0 ? n - 1 : x - 1, right = x == n - 1 ? 0 : x + 1;
  const int below = y == 0 ? n - 1 : y - 1, above = y == n - 1 ? 0 : y + 1;
  field[y * n + x] = make_float2(0.5f * (potential[y * n + left] - potential[y * n + right]),
                                 0.5f * (potential[below * n + x] - potential[above * n + x]));
}

// Boris's push of the electrons: half a kick, a turn about the magnetic field, half a kick, and a drift.
__global__ void push_electrons(float* __restrict__ x, float* __restrict__ y, float* __restrict__ vx,
                               float* __restrict__ vy, float* __restrict__ vz,
                               const float2* __restrict__ field, float dt, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float px = x[i], py = y[i];
  const int ix = cell_at(px, n), iy = cell_at(py, n);
  const int jx = ix + 1 == n ? 0 : ix + 1, jy = iy + 1 == n ? 0 : iy + 1;
  const float fx = px - ix, fy = py - iy;
  const float2 e00 = field[iy * n + ix], e10 = field[iy * n + jx];
  const float2 e01 = field[jy * n + ix], e11 = field[jy * n + jx];
  const float ex = (1 - fy) * ((1 - fx) * e00.x + fx * e10.x) + fy * ((1 - fx) * e01.x + fx * e11.x);
  const float ey = (1 - fy) * ((1 - fx) * e00.y + fx * e10.y) + fy * ((1 - fx) * e01.y + fx * e11.y);
  const float half = -0.5f * dt;
  const float ux = vx[i] + half * ex, uy = vy[i] + half * ey, uz = vz[i];
  const float tx = half * outer_field.x, ty = half * outer_field.y, tz = half * outer_field.z;
  const float factor = 2 / (1 + tx * tx + ty * ty + tz * tz);
  const float wx = ux + uy * tz - uz * ty, wy = uy + uz * tx - ux * tz, wz = uz + ux * ty - uy * tx;
  const float ax = ux + factor * (wy * tz - wz * ty) + half * ex;
  const float ay = uy + factor * (wz * tx - wx * tz) + half * ey;
  const float az = uz + factor * (wx * ty - wy * tx);
  vx[i] = ax;
  vy[i] = ay;
  vz[i] = az;
  x[i] = wrapped(px + dt * ax, n);
  y[i] = wrapped(py + dt * ay, n);
}

// The relativistic push of the ions, which are records, through several short steps in a given wavy field.
__global__ void push_ions(Ion* ions, double dt, double wave, double length, int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Ion ion = ions[i];
  for (int step = 0; step < steps; ++step) {
    double sx, cx, sy, cy;
    sincos(wave * ion.x, &sx, &cx);
    sincos(wave * ion.y, &sy, &cy);
    const double ex = 0.02 * sx * cy, ey = -0.02 * cx * sy, half = 0.5 * dt;
    double ux = ion.ux + half * ex, uy = ion.uy + half * ey;
    const double gamma = sqrt(1 + ux * ux + uy * uy + ion.uz * ion.uz);
    const double t = half * (1 + 0.3 * cx * cy) / gamma, s = 2 * t / (1 + t * t);
    const double turned = ux + uy * t;
    uy -= turned * s;
    ux = turned + uy * t;
    ion.ux = ux + half * ex;
    ion.uy = uy + half * ey;
    const double drift = dt / sqrt(1 + ion.ux * ion.ux + ion.uy * ion.uy + ion.uz * ion.uz);
    ion.x += drift * ion.ux;
    ion.y += drift * ion.uy;
    ion.x -= length * floor(ion.x / length);
    ion.y -= length * floor(ion.y / length);
  }
  ions[i] = ion;
}

// Counts the electrons of each cell.
__global__ void count_cells(const Electron* electrons, int* counts, int count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int cell = cell_at(electrons[i].y, n) * n + cell_at(electrons[i].x, n);
    atomicAdd(&counts[cell], 1);
  }
}

// Sums of all cells before each one within blocks of 1024 cells, and the total of each block.
__global__ void scan_counts(const int* counts, int* before, int* totals, int cells) {
  __shared__ int warps[32];
  const int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int own = i < cells ? counts[i] : 0;
  int sum = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int total = warps[lane];
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total += other;
    }
    warps[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += warps[warp - 1];
  if (i < cells) before[i] = sum - own;
  if (threadIdx.x == 1023) totals[blockIdx.x] = sum;
}

// Moves each electron's record to its place in the order of the cells.
__global__ void reorder_electrons(const Electron* electrons, const int* places, Electron* sorted, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sorted[places[i]] = electrons[i];
}

// Density, momentum and energy of each cell from its own electrons, which lie together.
__global__ void cell_moments(const Electron* sorted, const int* starts, Moments* out, int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  Moments sum = {0, 0, 0, 0, 0};
  const int end = starts[cell + 1];
  for (int i = starts[cell]; i < end; ++i) {
    const Electron e = sorted[i];
    sum.density += e.weight;
    sum.px += e.weight * e.vx;
    sum.py += e.weight * e.vy;
    sum.pz += e.weight * e.vz;
    sum.energy += 0.5f * e.weight * (e.vx * e.vx + e.vy * e.vy + e.vz * e.vz);
  }
  out[cell] = sum;
}

// Collisions of pairs of electrons of the same cell, which turn their relative speed by a random angle; eight
// lanes share a cell.
__global__ void collide_pairs(Electron* sorted, const int* starts, float strength, unsigned seed, int cells) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, cell = thread / 8;
  if (cell >= cells) return;
  const int first = starts[cell], pairs = (starts[cell + 1] - first) / 2;
  for (int k = thread % 8; k < pairs; k += 8) {
    Electron a = sorted[first + k], b = sorted[first + pairs + k];
    const float gx = a.vx - b.vx, gy = a.vy - b.vy, gz = a.vz - b.vz;
    const float flat = gx * gx + gy * gy, speed = sqrtf(flat + gz * gz);
    if (speed < 1e-6f) continue;
    unsigned bits = (first + k) * 747796405u + seed;
    bits = ((bits >> ((bits >> 28) + 4)) ^ bits) * 277803737u;
    bits ^= bits >> 22;
    const float angle = 6.2831853f * (bits & 0xffff) / 65536.0f, draw = (bits >> 16) / 65536.0f - 0.5f;
    const float delta = draw * fminf(strength / (speed * speed * speed), 4.0f);
    const float sine = 2 * delta / (1 + delta * delta), loss = 2 * delta * delta / (1 + delta * delta);
    float sp, cp;
    __sincosf(angle, &sp, &cp);
    float dx, dy, dz;
    if (flat > 1e-12f) {
      const float side = sqrtf(flat);
      dx = gx / side * gz * sine * cp - gy / side * speed * sine * sp - gx * loss;
      dy = gy / side * gz * sine * cp + gx / side * speed * sine * sp - gy * loss;
      dz = -side * sine * cp - gz * loss;
    } else {
      dx = speed * sine * cp;
      dy = speed * sine * sp;
      dz = -speed * loss;
    }
    sorted[first + k].vx = a.vx + 0.5f * dx;
    sorted[first + k].vy = a.vy + 0.5f * dy;
    sorted[first + k].vz = a.vz + 0.5f * dz;
    sorted[first + pairs + k].vx = b.vx - 0.5f * dx;
    sorted[first + pairs + k].vy = b.vy - 0.5f * dy;
    sorted[first + pairs + k].vz = b.vz - 0.5f * dz;
  }
}

// The kinetic energy of all electrons, summed in double precision.
__global__ void kinetic_energy(const float* vx, const float* vy, const float* vz, double* energy, int count) {
  __shared__ double sums[256];
  double sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256)
    sum += 0.5 * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(energy, sums[0]);
}

// The cell of an electron at the start: near its place in the order, as if some steps had passed since a
// sort.
static int first_cell(int i, int cells) {
  return (i / 16 + static_cast<int>(24 * hashed_unit(i)) + cells) % cells;
}

static float thermal(int i) {
  return 0.2f * (hashed_unit(3 * i) + hashed_unit(3 * i + 1) + hashed_unit(3 * i + 2) - 1.5f);
}

void run(int n) {
  const int cells = n * n, count = 16 * cells, ions = 4 * cells;
  const float3 magnet = make_float3(0.1f, 0.05f, 0.8f);
  cudaMemcpyToSymbol(outer_field, &magnet, sizeof magnet);
  const auto place_x = [n, cells](int i) { return first_cell(i, cells) % n + 0.999f * hashed_unit(i + 77); };
  const auto place_y = [n, cells](int i) { return first_cell(i, cells) / n + 0.999f * hashed_unit(i + 99); };
  float* x = device_array<float>(count, place_x);
  float* y = device_array<float>(count, place_y);
  float* vx = device_array<float>(count, [](int i) { return thermal(i); });
  float* vy = device_array<float>(count, [](int i) { return thermal(i + 1000); });
  float* vz = device_array<float>(count, [](int i) { return thermal(i + 2000); });
  float* rho = device_array<float>(cells, [](int i) { return 0.1f * (hashed_unit(i) - 0.5f); });
  float* potential = device_array<float>(cells, [](int i) { return 0.2f * hashed_unit(i + 5); });
  float* relaxed = device_zeros<float>(cells);
  float2* field = device_zeros<float2>(cells);
  double* energy = device_zeros<double>(1);
  const int tiles = ceil_div(n, kInner);
  for (int run = 0; run < kLaunches; ++run)
    deposit_charge<<<ceil_div(count, 256), 256>>>(x, y, rho, -0.001f, count, n);
  for (int run = 0; run < kLaunches; ++run)
    poisson_sweeps<<<dim3(tiles, tiles), dim3(kOuter, kOuter)>>>(potential, rho, relaxed, n);
  for (int run = 0; run < kLaunches; ++run)
    field_of_potential<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(relaxed, field, n);
  for (int run = 0; run < kLaunches; ++run)
    push_electrons<<<ceil_div(count, 128), 128>>>(x, y, vx, vy, vz, field, 0.2f, count, n);
  for (int run = 0; run < kLaunches; ++run)
    kinetic_energy<<<min(ceil_div(count, 256), 792), 256>>>(vx, vy, vz, energy, count);
  free_all(x, y, vx, vy, vz, rho, potential, relaxed, field, energy);

  Ion* heavy = device_array<Ion>(ions, [n](int i) {
    return Ion{n * static_cast<double>(hashed_unit(i)),
               n * static_cast<double>(hashed_unit(i + 3)),
               0.5 * thermal(i),
               0.5 * thermal(i + 5),
               0.5 * thermal(i + 9),
               1.0};
  });
  for (int run = 0; run < kLaunches; ++run)
    push_ions<<<ceil_div(ions, 64), 64>>>(heavy, 0.1, 6.283185307179586 * 4 / n, n, 4, ions);
  free_all(heavy);

  // Where each cell's electrons start and where each electron goes, counted here.
  std::vector<int> begins(cells + 1, 0), next(cells, 0);
  for (int i = 0; i < count; ++i) ++begins[first_cell(i, cells) + 1];
  for (int c = 0; c < cells; ++c) begins[c + 1] += begins[c];
  int* starts = device_array<int>(cells + 1, [&begins](int i) { return begins[i]; });
  int* places = device_array<int>(count, [&begins, &next, cells](int i) {
    const int cell = first_cell(i, cells);
    return begins[cell] + next[cell]++;
  });
  Electron* electrons = device_array<Electron>(count, [place_x, place_y](int i) {
    return Electron{place_x(i),        place_y(i),        thermal(i),
                    thermal(i + 1000), thermal(i + 2000), 1 + hashed_unit(i)};
  });
  Electron* sorted = device_zeros<Electron>(count);
  Moments* moments = device_zeros<Moments>(cells);
  int* counts = device_zeros<int>(cells);
  int* before = device_zeros<int>(cells);
  int* totals = device_zeros<int>(ceil_div(cells, 1024));
  for (int run = 0; run < kLaunches; ++run)
    count_cells<<<min(ceil_div(count, 512), 528), 512>>>(electrons, counts, count, n);
  for (int run = 0; run < kLaunches; ++run)
    scan_counts<<<ceil_div(cells, 1024), 1024>>>(counts, before, totals, cells);
  for (int run = 0; run < kLaunches; ++run)
    reorder_electrons<<<ceil_div(count, 128), 128>>>(electrons, places, sorted, count);
  for (int run = 0; run < kLaunches; ++run)
    cell_moments<<<ceil_div(cells, 96), 96>>>(sorted, starts, moments, cells);
  for (int run = 0; run < kLaunches; ++run)
    collide_pairs<<<ceil_div(cells, 32), 256>>>(sorted, starts, 1e-4f, 17u, cells);
  free_all(starts, places, electrons, sorted, moments, counts, before, totals);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("plasma_particles");
}
