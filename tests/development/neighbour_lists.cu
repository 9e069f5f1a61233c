// Atoms in n x n x n cells, eight in each, and the neighbours that are near enough: lists, and forces from them.
#include "device.h"

// The cell of each atom, and how many each cell has.
__global__ void count_in_cells(const float4* atoms, int* cells, int* counts, int side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = atoms[i];
  const int x = min(max((int)floorf(p.x), 0), side - 1), y = min(max((int)floorf(p.y), 0), side - 1),
            z = min(max((int)floorf(p.z), 0), side - 1);
  const int cell = (z * side + y) * side + x;
  cells[i] = cell;
  atomicAdd(&counts[cell], 1);
}

// Up to 40 neighbours of each atom from the 27 cells about it; its k-th neighbour beside that of the next atom.
__global__ void make_lists(const float4* __restrict__ atoms, int* __restrict__ list,
                           int* __restrict__ lengths, float radius, int side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 own = atoms[i];
  const int cell = i / 8, cx = cell % side, cy = cell / side % side, cz = cell / (side * side);
  int length = 0;
  for (int z = max(cz - 1, 0); z <= min(cz + 1, side - 1); ++z)
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y)
      for (int x = max(cx - 1, 0); x <= min(cx + 1, side - 1); ++x) {
        const int first = ((z * side + y) * side + x) * 8;
        for (int k = first; k < first + 8; ++k) {
          const float4 other = atoms[k];
          const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
          if (k != i && length < 40 && dx * dx + dy * dy + dz * dz < radius * radius) {
            list[length * n + i] = k;
            ++length;
          }
        }
      }
  lengths[i] = length;
}

// Forces from a table of splines over the distance: four coefficients at a time.
__global__ void from_splines(const float4* atoms, const int* list, const int* lengths, const float4* splines,
                             float4* forces, float radius, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 own = atoms[i];
  const int length = lengths[i];
  float fx = 0, fy = 0, fz = 0, energy = 0;
  for (int k = 0; k < length; ++k) {
    const float4 other = atoms[list[k * n + i]];
    const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
    const float square = dx * dx + dy * dy + dz * dz;
    if (square >= radius * radius) continue;
    const float distance = sqrtf(square), place = distance / radius * 1023.0f;
    const int at = (int)place;
    const float t = place - at;
    const float4 s = splines[at];
    const float force = ((s.x * t + s.y) * t + s.z) * t + s.w;
    fx += force * dx;
    fy += force * dy;
    fz += force * dz;
    energy += force * distance;
  }
  forces[i] = make_float4(fx, fy, fz, energy);
}

// Charges that are screened, without lists: a warp for each cell, a quarter of the 27 cells for each eight lanes.
__global__ void screened_charges(const float4* atoms, float* potentials, float screen, int side) {
  const int cell = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (cell >= side * side * side) return;
  const int cx = cell % side, cy = cell / side % side, cz = cell / (side * side);
  const float4 own = atoms[cell * 8 + lane % 8];
  float sum = 0;
  for (int c = lane / 8; c < 28; c += 4) {
    const int x = cx + c % 3 - 1, y = cy + c / 3 % 3 - 1, z = cz + c / 9 - 1;
    const bool inside = c < 27 && x >= 0 && y >= 0 && z >= 0 && x < side && y < side && z < side;
    const float4 theirs =
        inside ? atoms[((z * side + y) * side + x) * 8 + lane % 8] : make_float4(0, 0, 0, 0);
    for (int k = 0; k < 8; ++k) {
      const float ox = __shfl_sync(0xffffffffu, theirs.x, k, 8),
                  oy = __shfl_sync(0xffffffffu, theirs.y, k, 8);
      const float oz = __shfl_sync(0xffffffffu, theirs.z, k, 8),
                  ow = __shfl_sync(0xffffffffu, theirs.w, k, 8);
      const float dx = own.x - ox, dy = own.y - oy, dz = own.z - oz;
      const float square = dx * dx + dy * dy + dz * dz;
      if (inside && square > 0) {
        const float inverse = rsqrtf(square);
        sum += ow * erfcf(screen * square * inverse) * inverse;
      }
    }
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 8);
  sum += __shfl_xor_sync(0xffffffffu, sum, 16);
  if (lane < 8) potentials[cell * 8 + lane] = own.w * sum;
}

// The stress of all pairs of the lists: differences in single precision, six sums in double.
__global__ void stresses(const float4* atoms, const float4* forces, double* sums, int n) {
  __shared__ double part[6][8];
  double own[6] = {0, 0, 0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 p = atoms[i], f = forces[i];
    own[0] += p.x * f.x;
    own[1] += p.y * f.y;
    own[2] += p.z * f.z;
    own[3] += p.x * f.y;
    own[4] += p.x * f.z;
    own[5] += p.y * f.z;
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    for (int step = 16; step > 0; step /= 2) own[k] += __shfl_down_sync(0xffffffffu, own[k], step);
    if (threadIdx.x % 32 == 0) part[k][threadIdx.x / 32] = own[k];
  }
  __syncthreads();
  if (threadIdx.x >= 6) return;
  double sum = 0;
  for (int w = 0; w < 8; ++w) sum += part[threadIdx.x][w];
  atomicAdd(&sums[threadIdx.x], sum);
}

void run(int n) {
  const int cells = n * n * n, atoms = 8 * cells;
  float* places = device_array<float>(4 * atoms, [n](int i) {
    const int cell = i / 32, axis = i % 4;
    const float part = static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 8) % 1024u) / 1024;
    if (axis == 3) return part - 0.5f;
    return (axis == 0 ? cell % n : axis == 1 ? cell / n % n : cell / (n * n)) + part;
  });
  float* splines = device_floats(4 * 1024);
  float* forces = device_zeros<float>(4 * atoms);
  int* cell_of = device_zeros<int>(atoms);
  int* counts = device_zeros<int>(cells);
  int* list = device_zeros<int>(40 * atoms);
  int* lengths = device_zeros<int>(atoms);
  double* sums = device_zeros<double>(6);
  for (int r = 0; r < kLaunches; ++r)
    count_in_cells<<<ceil_div(atoms, 256), 256>>>((float4*)places, cell_of, counts, n, atoms);
  for (int r = 0; r < kLaunches; ++r)
    make_lists<<<ceil_div(atoms, 128), 128>>>((float4*)places, list, lengths, 0.9f, n, atoms);
  for (int r = 0; r < kLaunches; ++r)
    from_splines<<<ceil_div(atoms, 64), 64>>>((float4*)places, list, lengths, (float4*)splines,
                                              (float4*)forces, 0.8f, atoms);
  for (int r = 0; r < kLaunches; ++r)
    screened_charges<<<ceil_div(cells, 4), 128>>>((float4*)places, (float*)list, 2.5f, n);
  for (int r = 0; r < kLaunches; ++r) stresses<<<264, 256>>>((float4*)places, (float4*)forces, sums, atoms);
  free_all(places, splines, forces, cell_of, counts, list, lengths, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("neighbour_lists");
}
