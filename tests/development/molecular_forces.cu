// Molecular dynamics of n atoms in a periodic box: bonded and pair forces, constraints, motion and energies.
#include "device.h"

constexpr int kNeighbours = 64, kCluster = 64, kSlots = 32;

struct Particle {
  float x, y, z, mass, vx, vy, vz, friction;
};

__device__ inline float3 shortest(float4 a, float4 b, float box) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, scale = 1 / box;
  return make_float3(x - box * rintf(x * scale), y - box * rintf(y * scale), z - box * rintf(z * scale));
}

__device__ inline float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Lennard-Jones forces over lists of fixed length. The place in the list is the slow index.
__global__ void lennard_jones(const float4* __restrict__ atoms, const int* __restrict__ lists,
                              float4* __restrict__ out, float box, float cutoff, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 own = atoms[i];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < kNeighbours; ++k) {
    const float3 d = shortest(own, atoms[lists[k * n + i]], box);
    const float r2 = dot(d, d);
    if (r2 >= cutoff * cutoff) continue;
    const float s2 = 4 / r2, s6 = s2 * s2 * s2, pull = 24 * s6 * (2 * s6 - 1) / r2;
    sum.x += pull * d.x;
    sum.y += pull * d.y;
    sum.z += pull * d.z;
  }
  out[i] = sum;
}

// The near part of Ewald's sum: clusters of 64 atoms against the 27 clusters around them in the order.
__global__ void ewald_near(const float4* atoms, float4* out, float box, float alpha, int clusters) {
  __shared__ float4 other[kCluster];
  const int i = blockIdx.x * kCluster + threadIdx.x;
  const float4 own = atoms[i];
  float fx = 0, fy = 0, fz = 0;
  for (int shift = -13; shift <= 13; ++shift) {
    const int cluster = (blockIdx.x + shift + clusters) % clusters;
    __syncthreads();
    other[threadIdx.x] = atoms[cluster * kCluster + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < kCluster; ++j) {
      if (shift == 0 && j == threadIdx.x) continue;
      const float3 d = shortest(own, other[j], box);
      const float r2 = dot(d, d), inverse = rsqrtf(r2), charge = own.w * other[j].w;
      const float bell = alpha * 1.128379f * __expf(-alpha * alpha * r2);
      const float pull = charge * (erfcf(alpha * r2 * inverse) * inverse + bell) * inverse * inverse;
      fx += pull * d.x;
      fy += pull * d.y;
      fz += pull * d.z;
    }
  }
  out[i] = make_float4(fx, fy, fz, own.w);
}

// Waters keep their shape: SHAKE with three constraints for each molecule, in double precision.
__global__ void shake(const double* before, const double* moved, double* out, int molecules) {
  const int molecule = blockIdx.x * blockDim.x + threadIdx.x;
  if (molecule >= molecules) return;
  double old[9], now[9], worst = 1;
  for (int k = 0; k < 9; ++k) old[k] = before[molecule * 9 + k];
  for (int k = 0; k < 9; ++k) now[k] = moved[molecule * 9 + k];
  for (int round = 0; worst > 1e-8 && round < 30; ++round) {
    worst = 0;
#pragma unroll
    for (int bond = 0; bond < 3; ++bond) {
      const int a = bond == 2 ? 3 : 0, b = bond == 0 ? 3 : 6;
      double missing = bond == 2 ? 2.56 : 1.0, along = 0;
      for (int c = 0; c < 3; ++c) {
        const double apart = now[a + c] - now[b + c];
        missing -= apart * apart;
        along += apart * (old[a + c] - old[b + c]);
      }
      for (int c = 0; c < 3; ++c) {
        const double pull = missing / (4 * along) * (old[a + c] - old[b + c]);
        now[a + c] += pull;
        now[b + c] -= pull;
      }
      worst = fmax(worst, fabs(missing));
    }
  }
  for (int k = 0; k < 9; ++k) out[molecule * 9 + k] = now[k];
}

// Torsions along a chain: the outer two of four atoms in a row get forces by atomic additions.
__global__ void twist_chain(const float4* atoms, float* forces, float box, float bar, float phase, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 3 >= n || i % 12 > 8) return;
  const float4 b = atoms[i + 1], c = atoms[i + 2];
  const float3 u = shortest(atoms[i], b, box), v = shortest(c, b, box), w = shortest(c, atoms[i + 3], box);
  const float3 m = cross(u, v), q = cross(v, w);
  const float length = sqrtf(dot(v, v)), phi = atan2f(length * dot(u, q), dot(m, q));
  const float slope = 3 * bar * sinf(3 * phi - phase) * length;
  const float first = slope / fmaxf(dot(m, m), 0.1f), last = -slope / fmaxf(dot(q, q), 0.1f);
  const float ends[6] = {first * m.x, first * m.y, first * m.z, last * q.x, last * q.y, last * q.z};
  for (int k = 0; k < 6; ++k) atomicAdd(&forces[3 * (k < 3 ? i : i + 3) + k % 3], ends[k]);
}

// Each atom takes a slot of its cell. Slots are taken in turn, so a full cell starts again.
__global__ void assign_cells(const float4* atoms, unsigned* counts, int* out, float scale, int side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 atom = atoms[i];
  const int x = min((int)(atom.x * scale), side - 1), y = min((int)(atom.y * scale), side - 1);
  const int cell = (min((int)(atom.z * scale), side - 1) * side + y) * side + x;
  out[cell * kSlots + atomicAdd(&counts[cell], 1u) % kSlots] = i;
}

// Velocity Verlet's first half for all coordinates: three in a row belong to an atom.
__global__ void verlet_step(const double* __restrict__ places, const double* __restrict__ speeds,
                            const float* __restrict__ forces, double* __restrict__ out, double step, int n) {
  const int i = blockIdx.x * blockDim.y + threadIdx.y, axis = threadIdx.x;
  if (i >= n) return;
  const double speed = speeds[3 * i + axis] + 0.5 * step * forces[4 * i + axis];
  out[3 * i + axis] = places[3 * i + axis] + step * speed;
}

// Langevin's thermostat on an array of structures: a linear congruence and the method of Box and Muller.
__global__ void thermostat(const Particle* particles, Particle* out, float heat, unsigned seed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = (i + 1) * 2654435761u ^ seed;
  float normals[4];
  for (int k = 0; k < 4; ++k) {
    state = state * 1664525u + 1013904223u;
    normals[k] = ((state >> 8) + 0.5f) / 16777216;
  }
  Particle p = particles[i];
  const float keep = expf(-p.friction), kick = sqrtf((1 - keep * keep) * heat / (p.mass + 1));
  p.vx = keep * p.vx + kick * sqrtf(-2 * logf(normals[0])) * cospif(2 * normals[1]);
  p.vy = keep * p.vy + kick * sqrtf(-2 * logf(normals[0])) * sinpif(2 * normals[1]);
  p.vz = keep * p.vz + kick * sqrtf(-2 * logf(normals[2])) * cospif(2 * normals[3]);
  out[i] = p;
}

// The kinetic energy: sums by warps, then by blocks of 32 warps, and an atomic addition for each block.
__global__ void kinetic_energy(const Particle* particles, double* energy, int n) {
  __shared__ double parts[32];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Particle p = particles[i];
    sum += 0.5f * p.mass * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = parts[threadIdx.x % 32];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) atomicAdd(energy, sum);
}

void run(int n) {
  const int side = static_cast<int>(ceil(cbrt(n - 0.5))), area = side * side, cells = side / 3;
  const int clusters = n / kCluster, waters = n / 3 - 1, blocks = ceil_div(n, 256);
  const float box = 2.2f * side;
  auto place = [](int lattice, int seed) { return 2.2f * lattice + 0.3f * hashed_unit(seed); };
  float4* atoms = device_array<float4>(n, [=](int i) {
    return make_float4(place(i % side, i), place(i / side % side, i ^ 7), place(i / area, ~i), i % 2 - .5f);
  });
  int* lists = device_array<int>(kNeighbours * n, [=](int i) {
    const int k = i / n == 21 ? 0 : i / n;
    return (i + n + k % 4 - 1 + (k / 4 % 4 - 1) * side + (k / 16 - 1) * area) % n;
  });
  double* sites = device_array<double>(3 * n, [](int i) {
    const double water[9] = {0, 0, 0, 0.8, 0.6, 0, -0.8, 0.6, 0};
    return water[i % 9] + 0.05 * hashed_unit(i);
  });
  Particle* particles = (Particle*)device_floats(8 * n);
  Particle* out = device_zeros<Particle>(n);
  float4* forces = device_zeros<float4>(n);
  unsigned* counts = device_zeros<unsigned>(cells * cells * cells);
  double* moved = device_zeros<double>(3 * n);
  for (int r = 0; r < kLaunches; ++r) lennard_jones<<<2 * blocks, 128>>>(atoms, lists, forces, box, 5.5f, n);
  for (int r = 0; r < kLaunches; ++r) ewald_near<<<clusters, kCluster>>>(atoms, forces, box, 0.3f, clusters);
  for (int r = 0; r < kLaunches; ++r) shake<<<ceil_div(waters, 96), 96>>>(sites, sites + 9, moved, waters);
  for (int r = 0; r < kLaunches; ++r) twist_chain<<<blocks, 256>>>(atoms, (float*)forces, box, 1.4f, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    assign_cells<<<ceil_div(n, 512), 512>>>(atoms, counts, (int*)out, cells / box, cells, n);
  for (int r = 0; r < kLaunches; ++r)
    verlet_step<<<ceil_div(n, 64), dim3(3, 64)>>>(sites, sites, (float*)forces, moved, 1e-3, n);
  for (int r = 0; r < kLaunches; ++r) thermostat<<<ceil_div(n, 192), 192>>>(particles, out, 0.6f, 77, n);
  for (int r = 0; r < kLaunches; ++r) kinetic_energy<<<132, 1024>>>(particles, moved, n);
  free_all(atoms, lists, sites, particles, out, forces, counts, moved);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("molecular_forces");
}
