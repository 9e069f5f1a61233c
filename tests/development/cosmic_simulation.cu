// Steps of a particle-mesh simulation of structure formation on a periodic grid of n^3 cells with n^3 particles.
#include "device.h"

#define REPEAT for (int r = 0; r < kLaunches; ++r)

struct State {
  float density, u, v, w, pressure;
};

__device__ int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

// Spreads the mass of each particle over the eight nearest cells.
__global__ void cloud_in_cell(const float4* particles, float* density, int count, int n) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= count) return;
  const float4 q = particles[p];
  const int x0 = wrap((int)floorf(q.x), n), y0 = wrap((int)floorf(q.y), n), z0 = wrap((int)floorf(q.z), n);
  const float fx = q.x - floorf(q.x), fy = q.y - floorf(q.y), fz = q.z - floorf(q.z);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int x = wrap(x0 + (k & 1), n), y = wrap(y0 + (k >> 1 & 1), n), z = wrap(z0 + (k >> 2), n);
    const float share = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) * (k & 4 ? fz : 1 - fz);
    atomicAdd(&density[(z * n + y) * n + x], q.w * share);
  }
}

// Sums the attraction of all bodies on each one, going through tiles of them in shared memory.
template <int kTile>
__global__ void direct_gravity(const float4* bodies, float4* accelerations, int count, float softening) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float4 self = bodies[min(i, count - 1)];
  float ax = 0, ay = 0, az = 0, potential = 0;
  for (int first = 0; first < count; first += kTile) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < count ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTile; ++k) {
      const float4 b = tile[k];
      const float dx = b.x - self.x, dy = b.y - self.y, dz = b.z - self.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening), pull = b.w * inverse * inverse * inverse;
      ax += pull * dx, ay += pull * dy, az += pull * dz, potential -= b.w * inverse;
    }
    __syncthreads();
  }
  if (i < count) accelerations[i] = make_float4(ax, ay, az, potential);
}

// Relaxes the Poisson equation on the cells of one colour.
template <class T>
__global__ void red_black(T* potential, const T* source, int n, int colour, T omega) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + z + colour) & 1);
  if (x >= n || y >= n || z >= n) return;
  const int row = (z * n + y) * n;
  const T sum = potential[row + wrap(x - 1, n)] + potential[row + wrap(x + 1, n)] +
                potential[(z * n + wrap(y - 1, n)) * n + x] + potential[(z * n + wrap(y + 1, n)) * n + x] +
                potential[(wrap(z - 1, n) * n + y) * n + x] + potential[(wrap(z + 1, n) * n + y) * n + x];
  potential[row + x] += omega * ((sum - source[row + x]) / 6 - potential[row + x]);
}

__device__ State load_state(const float* fields, int cell, int cells) {
  return {fields[cell] + 0.1f, fields[cells + cell] - 0.5f, fields[2 * cells + cell] - 0.5f,
          fields[3 * cells + cell] - 0.5f, fields[4 * cells + cell] + 0.1f};
}

// Finds the flux through the upper face of each cell along one axis by the HLLC solver.
template <int kAxis>
__global__ void riemann_flux(const float* __restrict__ fields, float* __restrict__ fluxes, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= n || y >= n) return;
  const int cells = n * n * n, cell = (z * n + y) * n + x;
  const int next = kAxis == 0 ? cell - x + wrap(x + 1, n) : (wrap(z + 1, n) * n + y) * n + x;
  const State l = load_state(fields, cell, cells), r = load_state(fields, next, cells);
  const float ul = kAxis == 0 ? l.u : l.w, ur = kAxis == 0 ? r.u : r.w, gamma = 5.0f / 3;
  const float cl = sqrtf(gamma * l.pressure / l.density), cr = sqrtf(gamma * r.pressure / r.density);
  const float sl = fminf(ul - cl, ur - cr), sr = fmaxf(ul + cl, ur + cr);
  const float ml = l.density * (sl - ul), mr = r.density * (sr - ur);
  const float middle = (r.pressure - l.pressure + ul * ml - ur * mr) / (ml - mr);
  const State s = middle >= 0 ? l : r;
  const float un = middle >= 0 ? ul : ur, speed = middle >= 0 ? sl : sr;
  const float energy = s.pressure / (gamma - 1) + 0.5f * s.density * (s.u * s.u + s.v * s.v + s.w * s.w);
  float f[5] = {s.density * un, s.density * un * s.u, s.density * un * s.v, s.density * un * s.w,
                un * (energy + s.pressure)};
  f[kAxis == 0 ? 1 : 3] += s.pressure;
  if (middle >= 0 ? sl < 0 : sr > 0) {
    const float star = s.density * (speed - un) / (speed - middle);
    f[0] += speed * (star - s.density);
    f[1] += speed * (star * (kAxis == 0 ? middle : s.u) - s.density * s.u);
    f[2] += speed * (star - s.density) * s.v;
    f[3] += speed * (star * (kAxis == 0 ? s.w : middle) - s.density * s.w);
    f[4] += speed * (star * (energy / s.density + (middle - un) * (middle + s.pressure / (s.density * (speed - un)))) -
                     energy);
  }
  for (int k = 0; k < 5; ++k) fluxes[k * cells + cell] = f[k];
}

// Links dense cells with dense neighbours to halos: the smaller label wins, and chains of labels are shortened.
__global__ void link_halos(const float* density, int* labels, int n, float threshold) {
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int cell = (z * n + y) * n + x;
  if (density[cell] < threshold) return;
  int best = labels[cell];
  for (int k = 0; k < 27; ++k) {
    const int near = (wrap(z + k / 9 - 1, n) * n + wrap(y + k / 3 % 3 - 1, n)) * n + wrap(x + k % 3 - 1, n);
    if (density[near] >= threshold) best = min(best, labels[near]);
  }
  for (int hop = 0; hop < 32 && labels[best] < best; ++hop) best = labels[best];
  if (best < labels[cell]) atomicMin(&labels[labels[cell]], best), atomicMin(&labels[cell], best);
}

// Integrates the energy density of massive neutrinos over momentum by Simpson's rule.
__global__ void fermi_integrals(const double* masses, double* energies, int count, int nodes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double m = 10 * masses[i], h = 30.0 / nodes;
  double sum = 0;
  for (int k = 1; k < nodes; ++k) {
    const double q = k * h;
    sum += (k & 1 ? 4 : 2) * q * q * sqrt(q * q + m * m) / (exp(q) + 1);
  }
  energies[i] = sum * h / 3;
}

// Follows a ray through the cells that it crosses until it leaves the grid or the light is absorbed.
__global__ void ray_transfer(const float* opacity, float* image, int n, float3 way, float scale) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= n || py >= n) return;
  int x = px, y = py, z = 0;
  float tx = 0.5f / way.x, ty = 0.5f / way.y, tz = 1 / way.z, t = 0, depth = 0, light = 0;
  while (x < n && y < n && z < n && depth < 12) {
    const float next = fminf(tx, fminf(ty, tz)), k = scale * opacity[(z * n + y) * n + x], d = k * (next - t);
    light += __expf(-depth) * (1 - __expf(-d)) * (1 + 0.5f * k);
    depth += d, t = next;
    if (tx <= ty && tx <= tz) ++x, tx += 1 / way.x;
    else if (ty <= tz) ++y, ty += 1 / way.y;
    else ++z, tz += 1 / way.z;
  }
  image[py * n + px] = light;
}

// Adds the power of each mode to the bin of its wave number, first in shared memory.
__global__ void power_spectrum(const float2* modes, float* power, int* counts, int n, int bins) {
  extern __shared__ float sums[];
  int* hits = (int*)(sums + bins);
  for (int k = threadIdx.x; k < bins; k += blockDim.x) sums[k] = 0, hits[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n * n / 2; i += gridDim.x * blockDim.x) {
    int kx = i % n, ky = i / n % n, kz = i / (n * n);
    kx = min(kx, n - kx), ky = min(ky, n - ky), kz = min(kz, n - kz);
    const int bin = min((int)(sqrtf(kx * kx + ky * ky + kz * kz) * bins / n), bins - 1);
    atomicAdd(&sums[bin], modes[i].x * modes[i].x + modes[i].y * modes[i].y);
    atomicAdd(&hits[bin], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < bins; k += blockDim.x) atomicAdd(&power[k], sums[k]), atomicAdd(&counts[k], hits[k]);
}

// Integrates the inverse expansion rate up to each redshift by the midpoint rule.
__global__ void comoving_distances(const float* redshifts, float* distances, int count, float matter, int steps) {
  const int i = min(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), count - 1);
  const float h = 8 * redshifts[i] / steps;
  float sum = 0;
  for (int k = 0; k < steps; ++k) sum += 1 / sqrtf(1 - matter + matter * powf(1 + (k + 0.5f) * h, 3.02f));
  distances[i] = sum * h * 2997.92458f;
}

// The side n is a multiple of 8.
void run(int n) {
  const int cells = n * n * n, rays = n * n, bins = n / 2;
  auto* particles = (float4*)device_array<float>(4 * cells, [n](int i) {
    const int p = i / 4, place[3] = {p % n, p / n % n, p / n / n};
    return i % 4 == 3 ? 1.0f : fminf(fmaxf(place[i % 4] + 4 * hashed_unit(i) - 2, 0.0f), n - 0.01f);
  });
  float *fields = device_array<float>(5 * cells, hashed_unit), *power = device_zeros<float>(bins);
  float *fluxes = device_zeros<float>(5 * cells), *grid = device_zeros<float>(cells);
  double *values = device_doubles(cells), *results = device_zeros<double>(cells);
  int *labels = device_array<int>(cells, [](int i) { return i; }), *counts = device_zeros<int>(bins);
  REPEAT cloud_in_cell<<<ceil_div(cells, 256), 256>>>(particles, grid, cells, n);
  REPEAT direct_gravity<256><<<ceil_div(rays, 256), 256>>>(particles, (float4*)fluxes, rays, 0.01f);
  REPEAT red_black<float><<<dim3(ceil_div(n, 64), ceil_div(n, 8), n), dim3(32, 8)>>>(grid, fields, n, r & 1, 1.2f);
  REPEAT red_black<double><<<dim3(ceil_div(n, 32), ceil_div(n, 4), ceil_div(n, 4)), dim3(16, 4, 4)>>>(
      results, values, n, r & 1, 1.5);
  REPEAT riemann_flux<0><<<dim3(ceil_div(n, 32), ceil_div(n, 4), n), dim3(32, 4)>>>(fields, fluxes, n);
  REPEAT riemann_flux<2><<<dim3(ceil_div(n, 16), ceil_div(n, 16), n), dim3(16, 16)>>>(fields, fluxes, n);
  REPEAT link_halos<<<dim3(ceil_div(n, 8), ceil_div(n, 8), ceil_div(n, 4)), dim3(8, 8, 4)>>>(fields, labels, n, 0.8f);
  REPEAT fermi_integrals<<<ceil_div(rays, 96), 96>>>(values, results, rays, 200);
  REPEAT ray_transfer<<<dim3(ceil_div(n, 16), ceil_div(n, 8)), dim3(16, 8)>>>(
      fields, fluxes, n, make_float3(0.3f, 0.2f, 0.93f), 0.05f);
  REPEAT power_spectrum<<<264, 512, bins * 8>>>((float2*)fields, power, counts, n, bins);
  REPEAT comoving_distances<<<ceil_div(rays, 32), 32>>>(fields, fluxes, rays, 0.3f, 256);
  free_all(particles, fields, fluxes, grid, power, values, results, labels, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("cosmic_simulation");
}
