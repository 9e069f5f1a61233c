// Neutrons in a reactor: source, cross sections, flights, collisions, survival, leakage and sorting keys.
// n is the number of neutrons; the cube of voxels has about n / 2 of them, the energy grid n / 16 points.
#include "device.h"

struct Particle {
  float x, y, z, weight, u, v, w, energy;
};
constexpr int kLayers = 12, kNuclides = 6;
__constant__ float4 layers[kLayers];  // From where, to where, cross section, scattered part.
__constant__ float densities[kNuclides] = {0.8f, 0.05f, 1.2f, 0.3f, 0.02f, 0.6f};
__constant__ float masses[4] = {1, 12, 16, 238};

// A random number in [0, 1) from a congruential generator.
__device__ float draw(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) * (1 / 16777216.0f);
}

__device__ void turn_anywhere(Particle& p, unsigned& state) {
  p.w = 2 * draw(state) - 1;
  sincosf(6.2831853f * draw(state), &p.v, &p.u);
  const float across = sqrtf(1 - p.w * p.w);
  p.u *= across;
  p.v *= across;
}

// Starts neutrons in a ball, in all directions, with the energies of fission.
__global__ void sample_source(Particle* bank, unsigned* seeds, float radius, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = seeds[i];
  float3 r = make_float3(1, 1, 1);
  while (r.x * r.x + r.y * r.y + r.z * r.z > 1)
    r = make_float3(2 * draw(state) - 1, 2 * draw(state) - 1, 2 * draw(state) - 1);
  Particle p = {0.5f + radius * r.x, 0.5f + radius * r.y, 0.5f + radius * r.z, 1};
  turn_anywhere(p, state);
  const float half = cosf(1.5707963f * draw(state));
  p.energy = 1e-4f - 1.3f * (logf(1 - draw(state)) + logf(1 - draw(state)) * half * half);
  bank[i] = p;
  seeds[i] = state;
}

// Seeks the energy of each neutron in a grid and sums the cross sections of all nuclides there.
__global__ void seek(const Particle* __restrict__ bank, const float* __restrict__ grid,
                     const float2* __restrict__ sections, float* totals, int points, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float energy = fminf(fmaxf(bank[i].energy, grid[0]), grid[points - 1]);
    int low = 0, high = points - 1;
    while (high - low > 1) {
      const int middle = (low + high) >> 1;
      (grid[middle] > energy ? high : low) = middle;
    }
    float part = (energy - grid[low]) / (grid[low + 1] - grid[low]), total = 0;
#pragma unroll
    for (int k = 0; k < kNuclides; ++k) {
      const float2 a = sections[k * points + low], b = sections[k * points + low + 1];
      total += densities[k] * (a.x + a.y + part * (b.x + b.y - a.x - a.y));
    }
    totals[i] = total;
  }
}

// Follows neutrons through a stack of layers until they leak or are absorbed.
__global__ void walk_layers(double* tallies, unsigned salt, int n) {
  __shared__ float tally[kLayers + 2];
  if (threadIdx.x < kLayers + 2) tally[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x, layer = 0;
  unsigned state = (i * 2654435769u ^ salt) | 1;
  float x = 0, mu = sqrtf(1 - draw(state)), weight = i < n ? 1 : 0;
  while (weight > 0) {
    const float4 here = layers[layer];
    const float move = -logf(1 - draw(state)) / here.z * mu, edge = mu > 0 ? here.y : here.x;
    if (fabsf(move) > fabsf(edge - x)) {
      x = edge;
      layer += mu > 0 ? 1 : -1;
      if (layer >= 0 && layer < kLayers) continue;
      atomicAdd(&tally[layer < 0 ? kLayers : kLayers + 1], weight);
      break;
    }
    x += move;
    atomicAdd(&tally[layer], weight * (1 - here.w));
    weight *= weight > 0.1f ? here.w : draw(state) < 0.5f ? 2 * here.w : 0;
    mu = 2 * draw(state) - 1;
  }
  __syncthreads();
  if (threadIdx.x < kLayers + 2) atomicAdd(&tallies[threadIdx.x], static_cast<double>(tally[threadIdx.x]));
}

// Adds the lengths of straight tracks to the voxels that they cross.
__global__ void track_voxels(const Particle* bank, const float* sigma, float* tally, float most, int side,
                             int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Particle p = bank[i];
  const float start[3] = {p.x * side, p.y * side, p.z * side}, way[3] = {p.u, p.v, p.w};
  float next[3], step[3], travelled = 0, depth = 0;
  int at[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    step[a] = 1 / (fabsf(way[a]) < 1e-6f ? 1e-6f : way[a]);
    at[a] = min(max(static_cast<int>(start[a]), 0), side - 1);
    next[a] = ((step[a] > 0 ? at[a] + 1 : at[a]) - start[a]) * step[a];
  }
  while (depth < most) {
    const int voxel = (at[2] * side + at[1]) * side + at[0];
    const float nearest = fminf(next[0], fminf(next[1], next[2])), length = nearest - travelled;
    atomicAdd(&tally[voxel], p.weight * expf(-depth) * length);
    depth += sigma[voxel] * length;
    travelled = nearest;
    for (int a = 0; a < 3; ++a) {
      if (next[a] > nearest) continue;
      at[a] += step[a] > 0 ? 1 : -1;
      next[a] += fabsf(step[a]);
    }
    if (min(at[0], min(at[1], at[2])) < 0 || max(at[0], max(at[1], at[2])) >= side) break;
  }
}

// Scatters each neutron at a nucleus of one of four masses: a new direction and less energy.
__global__ void scatter(const Particle* from, Particle* to, const unsigned* seeds, unsigned salt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = from[i];
  unsigned state = seeds[i] ^ salt;
  const float mass = masses[i & 3], least = (mass - 1) / (mass + 1);
  turn_anywhere(p, state);
  p.energy *= 1 - (1 - least * least) * draw(state);
  to[i] = p;
}

// Takes the absorbed part from each weight and marks with a bit who still matters.
__global__ void survive(const float* totals, const float* absorbed, const double* weights, double* left,
                        unsigned* alive, double least, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double weight = 0;
  if (i < n) left[i] = weight = weights[i] * (1 - fminf(absorbed[i] / totals[i], 0.95f));
  const unsigned bits = __ballot_sync(0xffffffffu, weight >= least);
  if (i >= n || threadIdx.x % 32 != 0) return;
  alive[i / 32] = bits;
  atomicAdd(&alive[(n + 31) / 32], __popc(bits));
}

// Interleaves ten bits of each coordinate under the logarithm of the energy, in a key of 64 bits.
__global__ void make_keys(const float4* bank, unsigned long long* keys, int n) {
  for (int k = 0, i = blockIdx.x * 2 * blockDim.x + threadIdx.x; k < 2 && i < n; ++k, i += blockDim.x) {
    const float4 place = bank[2 * i];
    const unsigned x = 1023 * place.x, y = 1023 * place.y, z = 1023 * place.z;
    unsigned long long key = static_cast<unsigned>(8 * log2f(bank[2 * i + 1].w + 1e-9f) + 256);
    for (int b = 9; b >= 0; --b) key = key << 3 | (x >> b & 1) << 2 | (y >> b & 1) << 1 | (z >> b & 1);
    keys[i] = key << 24 | (i & 0xffffff);
  }
}

// Sums what leaves the unit cube through each of its six faces, a sum per face in each lane.
__global__ void leak_through_faces(const Particle* bank, double* leaked, float total, int n) {
  float sums[6] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Particle p = bank[i];
    const float x = ((p.u >= 0) - p.x) / p.u, y = ((p.v >= 0) - p.y) / p.v, z = ((p.w >= 0) - p.z) / p.w;
    const int face = x < y && x < z ? (p.u > 0) : y < z ? 2 + (p.v > 0) : 4 + (p.w > 0);
    const float part = p.weight * __expf(-total * fminf(x, fminf(y, z)));
    for (int f = 0; f < 6; ++f) sums[f] += face == f ? part : 0;
  }
  for (int f = 0; f < 6; ++f) {
    for (int mask = 16; mask > 0; mask >>= 1) sums[f] += __shfl_xor_sync(0xffffffffu, sums[f], mask);
    if (threadIdx.x % 32 == f) atomicAdd(&leaked[f], static_cast<double>(sums[f]));
  }
}

void run(int n) {
  int points = n / 16, blocks = ceil_div(n, 128), many = ceil_div(n, 1024), side = 16;
  while ((side + 8) * (side + 8) * (side + 8) <= n / 2) side += 8;
  float4 stack[kLayers];
  for (int k = 0; k < kLayers; ++k) stack[k] = {0.5f * k, 0.5f * (k + 1), 1.0f + k % 3, 0.9f - k % 4 * 0.1f};
  cudaMemcpyToSymbol(layers, stack, sizeof stack);
  Particle *bank = device_zeros<Particle>(n), *other = device_zeros<Particle>(n);
  unsigned* seeds = device_array<unsigned>(n, [](int i) { return (i * 747796405u + 2891336453u) | 1; });
  float* grid = device_array<float>(points, [=](int i) { return 1e-5f + 20.0f * i / points; });
  float* sections = device_array<float>(2 * kNuclides * points, [](int i) { return 0.1f + hashed_unit(i); });
  float *totals = device_zeros<float>(n), *tally = device_zeros<float>(side * side * side);
  float* absorbed = device_array<float>(max(n, side * side * side), [](int i) { return 5 * hashed_unit(i); });
  double *weights = device_doubles(n), *left = device_zeros<double>(n), *sums = device_zeros<double>(20);
  unsigned* alive = device_zeros<unsigned>(n / 32 + 2);
  unsigned long long* keys = device_zeros<unsigned long long>(n);
  for (int r = 0; r < kLaunches; ++r) sample_source<<<blocks, 128>>>(bank, seeds, 0.4f, n);
  for (int r = 0; r < kLaunches; ++r) seek<<<1320, 256>>>(bank, grid, (float2*)sections, totals, points, n);
  for (int r = 0; r < kLaunches; ++r) walk_layers<<<ceil_div(n, 192), 192>>>(sums, 12345, n);
  for (int r = 0; r < kLaunches; ++r) track_voxels<<<blocks, 32>>>(bank, absorbed, tally, 2, side, n / 4);
  for (int r = 0; r < kLaunches; ++r) scatter<<<ceil_div(n, 96), 96>>>(bank, other, seeds, 77u, n);
  for (int r = 0; r < kLaunches; ++r) survive<<<many, 1024>>>(totals, absorbed, weights, left, alive, 0.3, n);
  for (int r = 0; r < kLaunches; ++r) make_keys<<<many, 512>>>((float4*)other, keys, n);
  for (int r = 0; r < kLaunches; ++r) leak_through_faces<<<396, 160>>>(bank, sums + kLayers + 2, 3, n);
  free_all(bank, other, seeds, grid, sections, totals, tally, absorbed, weights, left, sums, alive, keys);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("neutron_walks");
}
