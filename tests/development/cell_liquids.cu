// Molecular dynamics of a Lennard-Jones liquid in a periodic box: forces from cells, from lists of neighbours
// and from bonds, steps in time, a thermostat and a histogram of distances.
// n is the number of cells along each side of the box, at least 3; of its 20 places a cell uses 9 to 18.
#include "device.h"

constexpr int kSlots = 20, kMaxNeighbours = 64, kBins = 100;
constexpr float kSide = 2.5f;

struct Atom {
  float position[3], mass, velocity[3], charge;
};

__constant__ float kStrengths[4] = {1.0f, 0.8f, 1.1f, 0.6f};

// The shortest of the vectors from the images of q to p, and the square of its length.
__device__ float4 nearest_image(float4 p, float4 q, float box) {
  const float x = p.x - q.x - box * rintf((p.x - q.x) / box), y = p.y - q.y - box * rintf((p.y - q.y) / box);
  const float z = p.z - q.z - box * rintf((p.z - q.z) / box);
  return make_float4(x, y, z, x * x + y * y + z * z);
}

__device__ float pair_force(float r2, float cutoff2) {
  if (r2 >= cutoff2) return 0;
  const float inverse = 1 / fmaxf(r2, 0.6f), sixth = inverse * inverse * inverse;
  return 24 * sixth * (2 * sixth - 1) * inverse;
}

__device__ float4 add_scaled(float4 sum, float f, float4 d) {
  return make_float4(sum.x + f * d.x, sum.y + f * d.y, sum.z + f * d.z, sum.w + f * d.w);
}

// Lists the neighbours of each particle from its own and the 26 cells around, a thread per place.
__global__ void build_lists(const float4* places, const int* used, int* list, int* counts, float cutoff2,
                            float box, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, all = n * n * n * kSlots;
  if (thread >= all) return;
  const int cell = thread / kSlots, cx = cell % n, cy = cell / n % n, cz = cell / (n * n);
  int found = 0;
  const float4 p = places[thread];
  for (int k = 0; k < 27 && thread % kSlots < used[cell]; ++k) {
    const int x = (cx + k % 3 + n - 1) % n, y = (cy + k / 3 % 3 + n - 1) % n, z = (cz + k / 9 + n - 1) % n;
    const int first = ((z * n + y) * n + x) * kSlots, last = first + used[(z * n + y) * n + x];
    for (int j = first; j < last; ++j)
      if (j != thread && found < kMaxNeighbours && nearest_image(p, places[j], box).w < cutoff2)
        list[(size_t)found++ * all + thread] = j;
  }
  counts[thread] = found;
}

// Sums the forces with a block per cell: the three layers of cells are shared out over threadIdx.y.
__global__ void forces_by_cell(const float4* places, const int* used, float4* forces, float box) {
  __shared__ float4 tile[3][kSlots], sums[3][kSlots];
  const int n = gridDim.x, slot = threadIdx.x, layer = threadIdx.y;
  const int cell = (blockIdx.z * n + blockIdx.y) * n + blockIdx.x;
  const int z = (blockIdx.z + layer + n - 1) % n;
  const float4 p = places[cell * kSlots + slot];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int around = 0; around < 9; ++around) {
    const int x = (blockIdx.x + around % 3 + n - 1) % n, y = (blockIdx.y + around / 3 + n - 1) % n;
    const int other = (z * n + y) * n + x, count = used[other];
    __syncthreads();
    tile[layer][slot] = places[other * kSlots + slot];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float4 d = nearest_image(p, tile[layer][k], box);
      sum = add_scaled(sum, d.w > 0 ? pair_force(d.w, kSide * kSide) : 0, d);
    }
  }
  sums[layer][slot] = sum;
  __syncthreads();
  if (layer > 0 || slot >= used[cell]) return;
  sum = add_scaled(sum, 1, sums[1][slot]);
  sum = add_scaled(sum, 1, sums[2][slot]);
  forces[cell * kSlots + slot] = sum;
}

// Sums the forces from the lists, for four kinds of particles.
__global__ void forces_by_list(const float4* __restrict__ places, const int* __restrict__ list,
                               const int* __restrict__ counts, float4* forces, float box, int all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  const float4 p = places[i];
  float4 sum = make_float4(0, 0, 0, 0);
  int k = counts[i];
  while (--k >= 0) {
    const float4 q = __ldg(&places[list[(size_t)k * all + i]]), d = nearest_image(p, q, box);
    sum = add_scaled(sum, kStrengths[(int)p.w] * kStrengths[(int)q.w] * pair_force(d.w, 5.0f), d);
  }
  forces[i] = sum;
}

// Adds the forces of springs between two particles, a thread per bond.
__global__ void bond_forces(const int2* bonds, const float4* places, float* forces, float box, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int2 bond = bonds[i];
    const float4 d = nearest_image(places[bond.x], places[bond.y], box);
    const float f = 8 * (rsqrtf(d.w + 1e-6f) - 1), parts[3] = {f * d.x, f * d.y, f * d.z};
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      atomicAdd(&forces[4 * bond.x + axis], parts[axis]);
      atomicAdd(&forces[4 * bond.y + axis], -parts[axis]);
    }
  }
}

// Moves the particles by a step of Verlet's method and keeps them in the box.
__global__ void verlet_step(Atom* atoms, const float* forces, float step, float box, int all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  Atom atom = atoms[i];
  for (int axis = 0; axis < 3; ++axis) {
    atom.velocity[axis] += step / atom.mass * forces[4 * i + axis];
    const float moved = atom.position[axis] + step * atom.velocity[axis];
    atom.position[axis] = moved - box * floorf(moved / box);
  }
  atoms[i] = atom;
}

__device__ float next_uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) * 0x1p-24f;
}

// Pulls the velocities towards a temperature: friction and normal random numbers, two from each pair.
__global__ void thermostat(float2* velocities, unsigned* states, float keep, float noise, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  unsigned state = states[i];
  const float radius = noise * sqrtf(-2 * logf(1 - 0.999f * next_uniform(state))), turn = next_uniform(state);
  velocities[i].x = keep * velocities[i].x + radius * cospif(2 * turn);
  velocities[i].y = keep * velocities[i].y + radius * sinpif(2 * turn);
  states[i] = state;
}

// Sums the kinetic energy of all particles, an atomic addition for each warp.
__global__ void kinetic_energy(const Atom* atoms, double* energy, int all) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
    const float* v = atoms[i].velocity;
    sum += 0.5 * atoms[i].mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(energy, sum);
}

// Counts the distances of all particles from 64 of them for each blockIdx.y, in bins of a tenth.
__global__ void distance_histogram(const float4* places, unsigned* bins, float box, int all) {
  __shared__ float4 centres[64];
  __shared__ unsigned own[kBins];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 64) centres[threadIdx.x] = places[blockIdx.y * 64 + threadIdx.x];
  if (threadIdx.x < kBins) own[threadIdx.x] = 0;
  __syncthreads();
  const float4 p = places[min(i, all - 1)];
  for (int k = 0; k < 64; ++k) {
    const int bin = (int)(10 * sqrtf(nearest_image(p, centres[k], box).w));
    if (i < all && bin < kBins) atomicAdd(&own[bin], 1u);
  }
  __syncthreads();
  if (threadIdx.x < kBins && own[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

void run(int n) {
  const int cells = n * n * n, all = cells * kSlots, pairs = 3 * all / 2, blocks = ceil_div(all, 128);
  const float box = n * kSide;
  float4* places = device_array<float4>(all, [n](int i) {
    const int cell = i / kSlots, k = i % kSlots;
    const float shake = 0.2f * hashed_unit(i), x = k % 3 * 0.8f + shake, y = k / 3 % 3 * 0.8f + shake;
    return make_float4(x + cell % n * kSide, y + cell / n % n * kSide,
                       k / 9 % 2 * 1.2f + 0.5f - shake + cell / (n * n) * kSide, k % 4);
  });
  int* used = device_array<int>(cells, [](int i) { return 9 + (int)(9.99f * hashed_unit(i)); });
  int2* bonds = device_array<int2>(
      all / 2, [all](int i) { return int2{2 * i, min(2 * i + 1 + (int)(30 * hashed_unit(i)), all - 1)}; });
  Atom* atoms = device_array<Atom>(all, [box](int i) {
    return Atom{{box * hashed_unit(i), 1, 2}, 1 + i % 4 * 0.5f, {0.1f, hashed_unit(i), -0.3f}, 0};
  });
  unsigned* states = device_array<unsigned>(pairs, [](int i) { return i * 2654435761u + 12345u; });
  float2* speeds = device_zeros<float2>(pairs);
  int *list = device_zeros<int>(kMaxNeighbours * all), *counts = device_zeros<int>(all);
  float4* forces = device_zeros<float4>(all);
  double* energy = device_zeros<double>(1);
  unsigned* bins = device_zeros<unsigned>(kBins);
  for (int r = 0; r < kLaunches; ++r) build_lists<<<blocks, 128>>>(places, used, list, counts, 5.0f, box, n);
  for (int r = 0; r < kLaunches; ++r)
    forces_by_cell<<<dim3(n, n, n), dim3(kSlots, 3)>>>(places, used, forces, box);
  for (int r = 0; r < kLaunches; ++r) forces_by_list<<<blocks, 128>>>(places, list, counts, forces, box, all);
  for (int r = 0; r < kLaunches; ++r) bond_forces<<<512, 192>>>(bonds, places, (float*)forces, box, all / 2);
  for (int r = 0; r < kLaunches; ++r) verlet_step<<<2 * blocks, 64>>>(atoms, (float*)forces, 1e-3f, box, all);
  for (int r = 0; r < kLaunches; ++r)
    thermostat<<<ceil_div(pairs, 320), 320>>>(speeds, states, 0.95f, 0.3f, pairs);
  for (int r = 0; r < kLaunches; ++r) kinetic_energy<<<264, 512>>>(atoms, energy, all);
  for (int r = 0; r < kLaunches; ++r) distance_histogram<<<dim3(blocks, 4), 128>>>(places, bins, box, all);
  free_all(places, used, bonds, atoms, states, speeds, list, counts, forces, energy, bins);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("cell_liquids");
}
