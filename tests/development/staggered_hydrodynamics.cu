// Compressible flow on a staggered grid in double precision: a Lagrangian step and advection along x and y.
// n is the side of the square in cells. All arrays have a side of n + 5: two ghost cells and one more node.
#include "device.h"

struct Gas {
  double gamma, least_energy;
};

// Pressure and speed of sound of ideal gases, a gas for each cell.
__global__ void gas_state(const double* __restrict__ density, const double* __restrict__ energy,
                          const unsigned char* __restrict__ material, const Gas* __restrict__ gases,
                          double* __restrict__ pressure, double* __restrict__ sound, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n + 4 || y >= n + 4) return;
  const int i = y * (n + 5) + x;
  const Gas gas = gases[material[i]];
  const double rho = density[i], e = fmax(energy[i], gas.least_energy), p = (gas.gamma - 1) * rho * e;
  pressure[i] = p;
  sound[i] = sqrt(gas.gamma * p / rho);
}

// Artificial viscosity where the gas is compressed along the gradient of its pressure.
__global__ void shock_viscosity(const double* u, const double* v, const double* density,
                                const double* pressure, double* viscosity, double dx, double dy, int n) {
  const int w = n + 5, x = blockIdx.x * blockDim.x + threadIdx.x + 2;
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 2;
  if (x > n + 1 || y > n + 1) return;
  const int i = y * w + x;
  const double du = 0.5 * (u[i + 1] + u[i + w + 1] - u[i] - u[i + w]) / dx;
  const double dv = 0.5 * (v[i + w] + v[i + w + 1] - v[i] - v[i + 1]) / dy;
  viscosity[i] = 0;
  if (du + dv >= 0) return;
  const double px = fmax(fabs(pressure[i + 1] - pressure[i - 1]) / (2 * dx), 1e-16);
  const double py = fmax(fabs(pressure[i + w] - pressure[i - w]) / (2 * dy), 1e-16);
  const double slope = sqrt(px * px + py * py), strain = (du * px * px + dv * py * py) / (slope * slope);
  const double length = fmin(dx * slope / px, dy * slope / py);
  viscosity[i] = strain < 0 ? 2 * density[i] * strain * strain * length * length : 0;
}

// Accelerates the nodes by the pressure of the four cells around each, which the block shares.
__global__ void accelerate(const double* density, const double* pressure, const double* q, const double* u,
                           const double* v, double* new_u, double* new_v, double step, int n) {
  __shared__ double push[17][17], mass[17][17];
  const int w = n + 5, tx = threadIdx.x, ty = threadIdx.y;
  for (int k = ty * 16 + tx; k < 17 * 17; k += 256) {
    const int x = min(blockIdx.x * 16 + k % 17 + 1, n + 3), y = min(blockIdx.y * 16 + k / 17 + 1, n + 3);
    push[k / 17][k % 17] = pressure[y * w + x] + q[y * w + x];
    mass[k / 17][k % 17] = density[y * w + x];
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + tx + 2, y = blockIdx.y * 16 + ty + 2, i = y * w + x;
  if (x > n + 2 || y > n + 2) return;
  const double scale = 2 * step / (mass[ty][tx] + mass[ty][tx + 1] + mass[ty + 1][tx] + mass[ty + 1][tx + 1]);
  const double rising = push[ty + 1][tx + 1] - push[ty][tx], falling = push[ty][tx + 1] - push[ty + 1][tx];
  new_u[i] = u[i] - scale * (rising + falling);
  new_v[i] = v[i] - scale * (rising - falling);
}

__device__ double limited(double behind, double here, double ahead, double courant) {
  const double back = here - behind, front = ahead - here;
  if (back * front <= 0) return here;
  const double mean = ((2 - courant) * fabs(front) + (1 + courant) * fabs(back)) / 6;
  const double slope = fmin(mean, fmin(fabs(back), fabs(front)));
  return here + (1 - courant) * (front > 0 ? slope : -slope);
}

// Mass and energy through the faces across one direction, from the cell upwind with limited slopes.
template <int kDirection>
__global__ void upwind_fluxes(const double* density, const double* energy, const double* volumes,
                              double* masses, double* energies, double cell, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 2, w = n + 5, stride = kDirection == 0 ? 1 : w;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y + 2; y <= n + 2; y += gridDim.y * blockDim.y) {
    if (x > n + 2) continue;
    const int i = y * w + x;
    const double volume = volumes[i], courant = fabs(volume) / cell;
    const int step = volume > 0 ? stride : -stride, from = volume > 0 ? i - stride : i;
    const double mass = volume * limited(density[from - step], density[from], density[from + step], courant);
    masses[i] = mass;
    energies[i] = mass * limited(energy[from - step], energy[from], energy[from + step], courant);
  }
}

// Density and energy of the cells after what flowed through their two faces across one direction.
template <int kDirection>
__global__ void update(const double* __restrict__ density, const double* __restrict__ energy,
                       const double* __restrict__ volumes, const double* __restrict__ masses,
                       const double* __restrict__ energies, double* __restrict__ new_density,
                       double* __restrict__ new_energy, double cell, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y + 2;
  if (x >= n + 2) return;
  const int i = y * (n + 5) + x, next = kDirection == 0 ? i + 1 : i + n + 5;
  const double before = density[i] * cell, after = before + masses[i] - masses[next];
  new_density[i] = after / (cell + volumes[i] - volumes[next]);
  new_energy[i] = (energy[i] * before + energies[i] - energies[next]) / after;
}

// Carries a velocity along the rows of nodes, with a row and its margins in shared memory.
__global__ void carry_momentum(const double* density, const double* masses, const double* velocity,
                               double* new_velocity, double cell, int n) {
  extern __shared__ double row[];
  const int w = n + 5, y = blockIdx.y + 2, t = threadIdx.x, first = blockIdx.x * blockDim.x;
  for (int k = t; k < blockDim.x + 4; k += blockDim.x) row[k] = velocity[y * w + min(first + k, w - 1)];
  __syncthreads();
  const int x = first + t + 2, i = y * w + x;
  if (x > n + 2) return;
  const double node = 0.25 * cell * (density[i] + density[i - 1] + density[i - w] + density[i - w - 1]);
  double gain = 0;
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    const double mass = 0.5 * (masses[i + side] + masses[i + side - w]), part = fmin(fabs(mass) / node, 1.0);
    const int at = t + 1 + side;
    const double carried = mass > 0 ? limited(row[at - 1], row[at], row[at + 1], part)
                                    : limited(row[at + 2], row[at + 1], row[at], part);
    gain += side == 0 ? mass * carried : -mass * carried;
  }
  new_velocity[i] = row[t + 2] + gain / node;
}

// Mirrors a field into its ghost cells, an edge for each blockIdx.y.
__global__ void mirror_edges(double* field, double sign, int n) {
  const int along = blockIdx.x * blockDim.x + threadIdx.x + 2, edge = blockIdx.y, w = n + 5;
  if (along >= n + 2) return;
  for (int d = 0; d < 2; ++d) {
    const int inner = edge % 2 ? n + 1 - d : 2 + d, outer = edge % 2 ? n + 2 + d : 1 - d;
    if (edge < 2)
      field[along * w + outer] = sign * field[along * w + inner];
    else
      field[outer * w + along] = sign * field[inner * w + along];
  }
}

// The longest stable step: the least of all cells, as the bits of a positive number.
__global__ void stable_step(const double* sound, const double* u, const double* v, unsigned long long* least,
                            double size, int n) {
  __shared__ double steps[1024];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const int t = threadIdx.y * 32 + threadIdx.x, i = (y + 2) * (n + 5) + x + 2;
  steps[t] = 1e30;
  if (x < n && y < n) steps[t] = 0.5 * size / (sound[i] + hypot(u[i], v[i]) + 1e-12);
  for (int half = 512; half > 0; half >>= 1) {
    __syncthreads();
    if (t < half) steps[t] = fmin(steps[t], steps[t + half]);
  }
  if (t == 0) atomicMin(least, static_cast<unsigned long long>(__double_as_longlong(steps[0])));
}

// Mass, inner and kinetic energy and pressure of the whole field, rows dealt to blocks.
__global__ void summarise(const double* density, const double* energy, const double* pressure,
                          const double* u, const double* v, double* totals, int n) {
  double sums[4] = {0, 0, 0, 0};
  for (int y = blockIdx.x; y < n; y += gridDim.x)
    for (int x = threadIdx.x; x < n; x += blockDim.x) {
      const int i = (y + 2) * (n + 5) + x + 2;
      sums[0] += density[i];
      sums[1] += density[i] * energy[i];
      sums[2] += 0.5 * density[i] * (u[i] * u[i] + v[i] * v[i]);
      sums[3] += pressure[i];
    }
  for (int k = 0; k < 4; ++k) {
    for (int offset = 16; offset > 0; offset /= 2) sums[k] += __shfl_down_sync(0xffffffffu, sums[k], offset);
    if (threadIdx.x % 32 == 0) atomicAdd(totals + k, sums[k]);
  }
}

void run(int n) {
  const int all = (n + 5) * (n + 5);
  double* rho = device_array<double>(all, [](int i) { return 0.5 + hashed_unit(i / 16); });
  double* e = device_array<double>(all, [](int i) { return 1 + 0.5 * hashed_unit(i / 8); });
  double* u = device_array<double>(all, [](int i) { return hashed_unit(i / 4) - 0.5; });
  double* v = device_array<double>(all, [](int i) { return hashed_unit(i / 4 + 7) - 0.5; });
  double* f[9];
  for (double*& field : f) field = device_zeros<double>(all);
  double *p = f[0], *sound = f[1], *q = f[2], *u1 = f[3], *v1 = f[4], *rho1 = f[5], *e1 = f[6];
  double *m = f[7], *me = f[8], *totals = device_zeros<double>(4);
  double* flow = device_array<double>(all, [](int i) { return 0.2 * hashed_unit(i / 4) - 0.1; });
  Gas* gases = device_array<Gas>(4, [](int i) { return Gas{1.4 + 0.1 * i, 0.01}; });
  unsigned char* kinds = device_array<unsigned char>(all, [](int i) { return (unsigned char)(i / 64 % 4); });
  unsigned long long* least = device_array<unsigned long long>(1, [](int) { return 0x7fe0000000000000ull; });
  const int s = ceil_div(n + 4, 16), t = ceil_div(n + 4, 32);
  const dim3 square(16, 16), squares(s, s), flat(32, 8), flats(t, ceil_div(n + 4, 8)), wide(64, 4);
  const dim3 wides(ceil_div(n + 1, 64), 66), rows(ceil_div(n, 192), n), nodes(ceil_div(n + 1, 224), n + 1);
  for (int r = 0; r < kLaunches; ++r) gas_state<<<flats, flat>>>(rho, e, kinds, gases, p, sound, n);
  for (int r = 0; r < kLaunches; ++r) shock_viscosity<<<squares, square>>>(u, v, rho, p, q, 1, 1.1, n);
  for (int r = 0; r < kLaunches; ++r) accelerate<<<squares, square>>>(rho, p, q, u, v, u1, v1, 0.1, n);
  for (int r = 0; r < kLaunches; ++r) upwind_fluxes<0><<<wides, wide>>>(rho, e, flow, m, me, 1, n);
  for (int r = 0; r < kLaunches; ++r) update<0><<<rows, 192>>>(rho, e, flow, m, me, rho1, e1, 1, n);
  for (int r = 0; r < kLaunches; ++r) upwind_fluxes<1><<<wides, wide>>>(rho, e, flow, m, me, 1, n);
  for (int r = 0; r < kLaunches; ++r) update<1><<<rows, 192>>>(rho, e, flow, m, me, rho1, e1, 1, n);
  for (int r = 0; r < kLaunches; ++r) carry_momentum<<<nodes, 224, 228 * 8>>>(rho, m, u, u1, 1, n);
  for (int r = 0; r < kLaunches; ++r) mirror_edges<<<dim3(ceil_div(n, 64), 4), 64>>>(u1, -1, n);
  for (int r = 0; r < kLaunches; ++r) stable_step<<<dim3(t, t), dim3(32, 32)>>>(sound, u, v, least, 1, n);
  for (int r = 0; r < kLaunches; ++r) summarise<<<264, 288>>>(rho, e, p, u, v, totals, n);
  free_all(rho, e, u, v, flow, totals, gases, kinds, least);
  for (double* field : f) cudaFree(field);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("staggered_hydrodynamics");
}
