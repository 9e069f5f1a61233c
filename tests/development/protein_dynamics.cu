// Molecular dynamics of about n atoms in a periodic box of cells of side one, eight atoms to a cell.
#include "device.h"

constexpr int kSlots = 8, kMost = 48, kBins = 200;

__device__ float3 between(float4 a, float4 b, float side) {
  const float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
  return make_float3(x - side * rintf(x / side), y - side * rintf(y / side), z - side * rintf(z / side));
}

__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ void add_force(float4* forces, int i, float scale, float3 d) {
  atomicAdd(&forces[i].x, scale * d.x);
  atomicAdd(&forces[i].y, scale * d.y);
  atomicAdd(&forces[i].z, scale * d.z);
}

// Forces of bonds and angles from lists. The first threads take the bonds, the others the angles.
__global__ void bonded_forces(const float4* __restrict__ positions, const int2* bonds, const int4* angles,
                              float4* forces, int atoms, float side) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < atoms - 1) {
    const int2 bond = bonds[t];
    const float3 d = between(positions[bond.x], positions[bond.y], side);
    const float length = sqrtf(dot(d, d)), pull = 2e-3f * (length - 0.5f) / length;
    add_force(forces, bond.x, pull, d);
    add_force(forces, bond.y, -pull, d);
  } else if (t - (atoms - 1) < atoms - 2) {
    const int4 angle = angles[t - (atoms - 1)];
    const float4 p = positions[angle.x], q = positions[angle.y], s = positions[angle.z];
    const float3 a = between(q, p, side), b = between(q, s, side);
    const float ra = rsqrtf(dot(a, a)), rb = rsqrtf(dot(b, b)), cosine = dot(a, b) * ra * rb;
    const float pull = -1e-3f * (cosine + 0.01f * angle.w);
    add_force(forces, angle.x, pull * ra * rb, b);
    add_force(forces, angle.x, -pull * cosine * ra * ra, a);
    add_force(forces, angle.z, pull * ra * rb, a);
    add_force(forces, angle.z, -pull * cosine * rb * rb, b);
  }
}

// Torsions along the chain of atoms. Forces are added as integers so that the order does not matter.
__global__ void chain_torsions(const float4* positions, unsigned long long* forces, int atoms, float side) {
  __shared__ float4 near[131];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int k = t; k < 131; k += 128) near[k] = positions[min(blockIdx.x * 128 + k, atoms - 1)];
  __syncthreads();
  if (i + 3 >= atoms) return;
  const float3 a = between(near[t], near[t + 1], side), b = between(near[t + 1], near[t + 2], side),
               c = between(near[t + 2], near[t + 3], side);
  const float3 m = cross(a, b), n = cross(b, c);
  const float mm = dot(m, m) + 1e-4f, nn = dot(n, n) + 1e-4f, length = sqrtf(dot(b, b));
  const float slope = 3 * length * sinf(3 * atan2f(length * dot(a, n), dot(m, n)) - 0.5f);
  for (int axis = 0; axis < 3; ++axis) {
    const float first = -slope / mm * (&m.x)[axis], last = slope / nn * (&n.x)[axis];
    atomicAdd(&forces[axis * atoms + i], (unsigned long long)(long long)(first * 65536));
    atomicAdd(&forces[axis * atoms + i + 3], (unsigned long long)(long long)(last * 65536));
  }
}

// Pairs of tiles of 32 atoms, one pair for each warp. The second tile is in shared memory.
__global__ void nonbonded_tiles(const float4* positions, float4* forces, int atoms, float side, float reach) {
  const int tiles = (atoms + 31) / 32, tile = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (tile >= tiles) return;
  const int i = tile * 32 + lane, j = (tile + blockIdx.y) % tiles * 32 + lane;
  const float4 mine = positions[min(i, atoms - 1)];
  __shared__ float4 others[4][32];
  others[threadIdx.y][lane] = positions[min(j, atoms - 1)];
  if (j >= atoms) others[threadIdx.y][lane].w = 0;
  __syncwarp();
  float3 force = make_float3(0, 0, 0);
  for (int k = 0; k < 32; ++k) {
    const float4 other = others[threadIdx.y][(lane + k) % 32];
    const float3 d = between(mine, other, side);
    const float r2 = dot(d, d);
    if (r2 < reach * reach && r2 > 0) {
      const float r = rsqrtf(r2), scale = mine.w * other.w * r * r * r * erfcf(r2 * r);
      force = make_float3(force.x - scale * d.x, force.y - scale * d.y, force.z - scale * d.z);
    }
  }
  if (i < atoms) add_force(forces, i, 1, force);
}

// A table of the atoms within the cutoff of each atom, from its cell and the 26 around.
__global__ void build_neighbours(const float4* __restrict__ positions, int* table, int cells, float cutoff) {
  const int cell = blockIdx.x * blockDim.y + threadIdx.y, atoms = cells * cells * cells * kSlots;
  const int i = cell * kSlots + threadIdx.x;
  if (i >= atoms) return;
  const int x = cell % cells, y = cell / cells % cells, z = cell / (cells * cells);
  int count = 0;
  for (int around = 0; around < 27; ++around) {
    const int to_x = (x + around % 3 - 1 + cells) % cells, to_y = (y + around / 3 % 3 - 1 + cells) % cells;
    const int first = (((z + around / 9 - 1 + cells) % cells * cells + to_y) * cells + to_x) * kSlots;
    for (int j = first; j < first + kSlots; ++j) {
      const float3 d = between(positions[i], positions[j], cells);
      if (j != i && dot(d, d) < cutoff * cutoff && count < kMost) table[count++ * atoms + i] = j;
    }
  }
}

// A step of Langevin dynamics. The noise is a sum of four uniform numbers of a congruential generator.
__global__ void langevin_step(const float4* positions, const float4* velocities, const float4* forces,
                              float4* moved, float step, int atoms) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < atoms; i += gridDim.x * blockDim.x) {
    const float4 p = positions[i], v = velocities[i], f = forces[i];
    float kicks[3] = {0, 0, 0};
    for (unsigned k = 0, state = i * 747796405u + 1; k < 12; ++k, state = state * 1664525u + 1013904223u)
      kicks[k % 3] += 0.1f * ((state >> 8) * 5.9604645e-8f - 0.5f);
    moved[i] = make_float4(p.x + step * (0.99f * v.x + 1e-4f * f.x + kicks[0]),
                           p.y + step * (0.99f * v.y + 1e-4f * f.y + kicks[1]),
                           p.z + step * (0.99f * v.z + 1e-4f * f.z + kicks[2]), p.w);
  }
}

__device__ float spline(float d) {
  return d < 1 ? (4 - 6 * d * d + 3 * d * d * d) / 6 : (2 - d) * (2 - d) * (2 - d) / 6;
}

// Spreads charges over a grid by cubic B-splines. Four threads for each atom, one for each plane.
__global__ void spread_charges(const float4* positions, float* grid, int size, int atoms) {
  const int plane = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y;
  if (i >= atoms) return;
  const float4 p = positions[i];
  const float x = 2 * p.x, y = 2 * p.y, z = 2 * p.z;
  float wx[4], wy[4];
  for (int k = 0; k < 4; ++k)
    wx[k] = spline(fabsf(x - floorf(x) + 1 - k)), wy[k] = spline(fabsf(y - floorf(y) + 1 - k));
  const float charge = p.w * spline(fabsf(z - floorf(z) + 1 - plane));
  const int row = ((int)z + plane) % size * size;
  for (int k = 0; k < 16; ++k)
    atomicAdd(&grid[(row + ((int)y + k / 4) % size) * size + ((int)x + k % 4) % size],
              charge * wy[k / 4] * wx[k % 4]);
}

// A histogram of distances from 64 atoms for each y of the grid, with bins in shared memory.
__global__ void distance_histogram(const float4* positions, int* totals, int atoms, float side) {
  __shared__ int bins[kBins];
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 64 && i < atoms; ++k) {
    const float3 d = between(positions[blockIdx.y * 64 + k], positions[i], side);
    atomicAdd(&bins[min((int)(sqrtf(dot(d, d)) * kBins / side), kBins - 1)], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) atomicAdd(&totals[k], bins[k]);
}

// The root mean square deviation of each frame from the first, a warp for each frame.
__global__ void frame_deviations(const float* frames, double* deviations, int length, int count) {
  const int frame = blockIdx.x * blockDim.y + threadIdx.y;
  if (frame >= count) return;
  double sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += powf(frames[frame * length + k] - frames[k], 2);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) deviations[frame] = sqrt(sum / length);
}

void run(int n) {
  const int cells = static_cast<int>(cbrt(n / 8)), atoms = 8 * cells * cells * cells, frames = atoms / 125;
  float4* positions = device_array<float4>(atoms, [cells](int i) {
    const int cell = i / 8, x = cell % cells, y = cell / cells % cells, z = cell / cells / cells;
    return float4{x + i % 2 * 0.5f + 0.3f * hashed_unit(i), y + i / 2 % 2 * 0.5f + 0.3f * hashed_unit(7 * i),
                  z + i / 4 % 2 * 0.5f + 0.3f * hashed_unit(5 * i), i % 2 - 0.5f};
  });
  float4 *forces = device_zeros<float4>(atoms), *moved = device_zeros<float4>(atoms);
  int2* bonds = device_array<int2>(atoms - 1, [](int i) { return int2{i, i + 1}; });
  int4* angles = device_array<int4>(atoms - 2, [](int i) { return int4{i, i + 1, i + 2, i % 40}; });
  auto* integers = device_zeros<unsigned long long>(3 * atoms);
  int *table = device_zeros<int>(kMost * atoms), *totals = device_zeros<int>(kBins);
  float *grid = device_zeros<float>(atoms), *trajectory = device_floats(12 * atoms);
  double* deviations = device_zeros<double>(frames);
  for (int r = 0; r < kLaunches; ++r)
    bonded_forces<<<ceil_div(2 * atoms, 128), 128>>>(positions, bonds, angles, forces, atoms, cells);
  for (int r = 0; r < kLaunches; ++r)
    chain_torsions<<<ceil_div(atoms, 128), 128>>>(positions, integers, atoms, cells);
  for (int r = 0; r < kLaunches; ++r)
    nonbonded_tiles<<<dim3(ceil_div(atoms, 128), 12), dim3(32, 4)>>>(positions, forces, atoms, cells, 2);
  for (int r = 0; r < kLaunches; ++r)
    build_neighbours<<<ceil_div(atoms, 192), dim3(8, 24)>>>(positions, table, cells, 0.9f);
  for (int r = 0; r < kLaunches; ++r)
    langevin_step<<<ceil_div(atoms, 512), 256>>>(positions, (float4*)trajectory, forces, moved, 0.001f,
                                                 atoms);
  for (int r = 0; r < kLaunches; ++r)
    spread_charges<<<ceil_div(atoms, 64), dim3(4, 64)>>>(positions, grid, 2 * cells, atoms);
  for (int r = 0; r < kLaunches; ++r)
    distance_histogram<<<dim3(ceil_div(atoms, 1024), 3), 1024>>>(positions, totals, atoms, cells);
  for (int r = 0; r < kLaunches; ++r)
    frame_deviations<<<ceil_div(frames, 5), dim3(32, 5)>>>(trajectory, deviations, 1500, frames);
  free_all(positions, forces, moved, bonds, angles, integers, table, grid, trajectory, deviations, totals);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("protein_dynamics");
}
