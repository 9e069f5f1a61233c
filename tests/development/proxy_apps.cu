// Small proxies of scientific applications, on a cube of n x n x n cells.
#include "device.h"

constexpr int kNuclides = 12, kTable = 512, kAngles = 8, kLongest = 512;

// Weights of the 27-point stencil by the number of directions in which a neighbour differs.
__constant__ double kWeights[4] = {26.0, -1.25, -0.875, -0.5};

__device__ unsigned next_random(unsigned long long* state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<unsigned>(*state >> 33);
}

// Macroscopic cross-sections: a binary search in an energy grid, and tables of the nuclides of a material.
__global__ void lookup_cross_sections(const double* __restrict__ energies, const float4* __restrict__ tables,
                                      float4* __restrict__ results, int points, int lookups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lookups) return;
  unsigned long long state = i * 2862933555777941757ull + 7;
  next_random(&state);
  const double energy = next_random(&state) / 2147483648.0;
  const int nuclides = 2 + next_random(&state) % (kNuclides - 1);
  int low = 0, high = points - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const bool above = energies[middle] > energy;
    low = above ? low : middle;
    high = above ? middle : high;
  }
  const float f = (energy - energies[low]) / (energies[low + 1] - energies[low]);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < nuclides; ++k) {
    const float4 a = tables[k * points + low], b = tables[k * points + low + 1];
    const float before = (1 - f) / (k + 1), after = f / (k + 1);
    sum.x += before * a.x + after * b.x, sum.y += before * a.y + after * b.y;
    sum.z += before * a.z + after * b.z, sum.w += before * a.w + after * b.w;
  }
  results[i] = sum;
}

// A step of gas dynamics by cells, periodic: new velocities (x, y, z) and energies (w).
__global__ void hydro_step(const float4* u, const float* rho, float4* out, float* pseudo, float dt, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int row = (z * n + y) * n, i = row + x;
  const int east = row + (x + 1 == n ? 0 : x + 1), west = row + (x == 0 ? n - 1 : x - 1);
  const int north = (z * n + (y + 1) % n) * n + x, south = (z * n + (y + n - 1) % n) * n + x;
  const int top = ((z + 1) % n * n + y) * n + x, bottom = ((z + n - 1) % n * n + y) * n + x;
  const float4 e = u[east], w = u[west], a = u[north], b = u[south], t = u[top], d = u[bottom], own = u[i];
  const float divergence = 0.5f * (e.x - w.x + a.y - b.y + t.z - d.z), density = rho[i];
  const float q = divergence < 0 ? density * divergence * divergence : 0;
  const float step = 0.2f * dt / density;
  out[i] = make_float4(own.x - step * (rho[east] * e.w - rho[west] * w.w),
                       own.y - step * (rho[north] * a.w - rho[south] * b.w),
                       own.z - step * (rho[top] * t.w - rho[bottom] * d.w),
                       own.w - dt * divergence * (0.4f * own.w + q / density));
  pseudo[i] = q;
}

// The matrix of a conjugate gradient: 27 points, a thread goes through eight planes of its column.
__global__ void apply_stencil(const double* __restrict__ p, double* __restrict__ q, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int first = blockIdx.z * 8, last = min(n, first + 8);
  for (int z = first; z < last; ++z) {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < 27; ++k) {
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= n) continue;
      sum += kWeights[(dx != 0) + (dy != 0) + (dz != 0)] * p[((z + dz) * n + y + dy) * n + x + dx];
    }
    q[(z * n + y) * n + x] = sum;
  }
}

// The update of a conjugate gradient, with the norm of the residual.
__global__ void update_residual(double* x, double* r, const double* p, const double* q, double alpha,
                                double* norm, int count) {
  __shared__ double partial[16];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    x[i] += alpha * p[i];
    const double rest = r[i] - alpha * q[i];
    r[i] = rest;
    sum += rest * rest;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int k = 1; k < 16 && threadIdx.x == 0; ++k) sum += partial[k];
  if (threadIdx.x == 0) atomicAdd(norm, sum);
}

struct Particle {
  float x, y, z, vx, vy, vz, charge, weight;
};

// Particles in a field on m x m x m nodes: weights of eight nodes, half a kick, a rotation, half a kick.
__global__ void push_particles(Particle* particles, const float4* field, float dt, int m, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Particle p = particles[i];
  const int cx = min(int(p.x), m - 1), cy = min(int(p.y), m - 1), cz = min(int(p.z), m - 1);
  const float fx = p.x - cx, fy = p.y - cy, fz = p.z - cz;
  float ex = 0, ey = 0, ez = 0, b = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int nx = (cx + (k & 1)) % m, ny = (cy + (k >> 1 & 1)) % m, nz = (cz + (k >> 2)) % m;
    const float w = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) * (k & 4 ? fz : 1 - fz);
    const float4 node = field[(nz * m + ny) * m + nx];
    ex += w * node.x, ey += w * node.y, ez += w * node.z, b += w * node.w;
  }
  const float half = 0.5f * dt * p.charge, t = half * b, s = 2 * t / (1 + t * t);
  const float ux = p.vx + half * ex, uy = p.vy + half * ey, rx = ux + t * uy, ry = uy - t * ux;
  p.vx = ux + s * ry + half * ex, p.vy = uy - s * rx + half * ey, p.vz += 2 * half * ez;
  p.x += dt * p.vx, p.y += dt * p.vy, p.z += dt * p.vz;
  p.x -= m * floorf(p.x / m), p.y -= m * floorf(p.y / m), p.z -= m * floorf(p.z / m);
  particles[i] = p;
}

// Transport sweeps: a block has a plane and an angle, a thread has a row, and the block goes by diagonals.
__global__ void sweep_angles(const float* __restrict__ source, float* flux, int n) {
  __shared__ float outgoing[2][kLongest];
  const int y = threadIdx.x, row = (blockIdx.x * n + y) * n;
  const float mu = 0.1f + 0.1f * blockIdx.y, eta = sqrtf(1 - mu * mu);
  float west = 0;
  for (int d = 0; d < 2 * n - 1; ++d) {
    const int x = d - y;
    if (y < n && x >= 0 && x < n) {
      const float north = y > 0 ? outgoing[(d + 1) % 2][y - 1] : 0;
      const float psi = (source[row + x] + 2 * mu * west + 2 * eta * north) / (1.5f + 2 * mu + 2 * eta);
      west = fmaxf(2 * psi - west, 0.0f);
      outgoing[d % 2][y] = fmaxf(2 * psi - north, 0.0f);
      atomicAdd(&flux[row + x], psi / kAngles);
    }
    __syncthreads();
  }
}

// An equation of state: pressure and speed of sound from a table over the logarithms of density and energy.
__global__ void lookup_state(const float* rho, const float* energy, const float2* table, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = fminf(fmaxf((log10f(rho[i]) + 2) * (kTable / 4), 0.0f), kTable - 1.01f);
  const float b = fminf(fmaxf((log10f(energy[i] / rho[i]) + 1) * (kTable / 2), 0.0f), kTable - 1.01f);
  const int j = int(b) * kTable + int(a);
  const float fa = a - int(a), fb = b - int(b);
  const float2 v00 = table[j], v01 = table[j + 1], v10 = table[j + kTable], v11 = table[j + kTable + 1];
  const float low = v00.x + fa * (v01.x - v00.x), high = v10.x + fa * (v11.x - v10.x);
  const float slow = v00.y + fa * (v01.y - v00.y), fast = v10.y + fa * (v11.y - v10.y);
  out[i] = make_float2(low + fb * (high - low), sqrtf(slow + fb * (fast - slow)));
}

// Packs the two outermost layers of each face (blockIdx.y) into a buffer to send.
__global__ void pack_halo(const float4* u, float4* buffer, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, face = blockIdx.y, layer = blockIdx.z;
  if (k >= n * n) return;
  const int a = k % n, b = k / n, depth = face % 2 == 0 ? layer : n - 1 - layer;
  const int i = face < 2   ? (b * n + a) * n + depth
                : face < 4 ? (b * n + depth) * n + a : (depth * n + b) * n + a;
  buffer[(face * gridDim.z + layer) * n * n + k] = u[i];
}

void run(int n) {
  const int cells = n * n * n, points = 4 * n * n, lookups = cells / 4, particles = cells / 2, m = n / 2;
  double* energies = device_array<double>(points, [=](int i) { return (i + 0.5 * hashed_unit(i)) / points; });
  float4* tables = (float4*)device_floats(4 * kNuclides * points);
  float4* u = (float4*)device_array<float>(
      4 * cells, [](int i) { return hashed_unit(i) * 0.1f + (i % 4 == 3 ? 2 : 0); });
  float* rho = device_array<float>(cells, [](int i) { return 0.5f + hashed_unit(i); });
  float4* out = device_zeros<float4>(cells);
  float* flux = device_zeros<float>(cells);
  double *p = device_doubles(cells), *q = device_zeros<double>(cells);
  double *x = device_zeros<double>(cells), *r = device_doubles(cells), *norm = device_zeros<double>(1);
  Particle* plasma = (Particle*)device_array<float>(
      8 * particles, [m](int i) { return i % 8 < 3 ? m * hashed_unit(i) : i % 8 < 6 ? 0.5f - i % 2 : 1.0f; });
  float2* table = (float2*)device_array<float>(2 * kTable * kTable, [](int i) { return 1 + hashed_unit(i); });
  for (int k = 0; k < kLaunches; ++k)
    lookup_cross_sections<<<ceil_div(lookups, 256), 256>>>(energies, tables, out, points, lookups);
  const dim3 bricks(ceil_div(n, 32), ceil_div(n, 4), ceil_div(n, 2));
  for (int k = 0; k < kLaunches; ++k) hydro_step<<<bricks, dim3(32, 4, 2)>>>(u, rho, out, flux, 0.05f, n);
  const dim3 columns(ceil_div(n, 64), ceil_div(n, 3), ceil_div(n, 8));
  for (int k = 0; k < kLaunches; ++k) apply_stencil<<<columns, dim3(64, 3)>>>(p, q, n);
  for (int k = 0; k < kLaunches; ++k) update_residual<<<264, 512>>>(x, r, p, q, 1e-3, norm, cells);
  for (int k = 0; k < kLaunches; ++k)
    push_particles<<<ceil_div(particles, 128), 128>>>(plasma, u, 0.05f, m, particles);
  for (int k = 0; k < kLaunches; ++k)
    sweep_angles<<<dim3(n, kAngles), ceil_div(n, 32) * 32>>>(rho, flux, n);
  for (int k = 0; k < kLaunches; ++k)
    lookup_state<<<ceil_div(cells, 320), 320>>>(rho, flux, table, (float2*)out, cells);
  for (int k = 0; k < kLaunches; ++k) pack_halo<<<dim3(ceil_div(n * n, 96), 6, 2), 96>>>(u, out, n);
  free_all(energies, tables, u, rho, out, flux, p, q, x, r, norm, plasma, table);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("proxy_apps");
}
