// Bone that remodels under load on a cube of voxels: forces and energies of elements, growth and shapes.
// n is the side of the cube in voxels, a multiple of 8; there are n + 1 nodes along each side.
#include "device.h"

constexpr int kBins = 100;
__constant__ float stiffness[24][24];

__device__ int node_of(int element, int corner, int n) {
  const int x = element % n + (corner & 1), y = element / n % n + (corner >> 1 & 1);
  return ((element / n / n + (corner >> 2)) * (n + 1) + y) * (n + 1) + x;
}

// Forces of the listed elements: gathers 24 displacements, multiplies and adds to the nodes.
__global__ void element_forces(const int* list, const float* density, const float* moved, float* forces,
                               int n, int count) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const int element = list[k];
  const float rho = density[element], modulus = rho * rho * rho;
  float u[24];
#pragma unroll
  for (int c = 0; c < 8; ++c)
    for (int axis = 0; axis < 3; ++axis) u[3 * c + axis] = moved[3 * node_of(element, c, n) + axis];
  for (int c = 0; c < 8; ++c) {
    float fx = 0, fy = 0, fz = 0;
#pragma unroll
    for (int j = 0; j < 24; ++j) {
      fx += stiffness[3 * c][j] * u[j];
      fy += stiffness[3 * c + 1][j] * u[j];
      fz += stiffness[3 * c + 2][j] * u[j];
    }
    float* out = forces + 3 * node_of(element, c, n);
    atomicAdd(out, modulus * fx);
    atomicAdd(out + 1, modulus * fy);
    atomicAdd(out + 2, modulus * fz);
  }
}

// The density of strain energy in the centre of each element; Real is what the strains are computed in.
template <class Real>
__global__ void strains(const float* density, const float* moved, float* energy, Real first, Real mu, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z, e = (z * n + y) * n + x;
  if (x >= n || y >= n) return;
  Real slope[3][3] = {};
  for (int c = 0; c < 8; ++c) {
    const float* u = moved + 3 * (((z + c / 4) * (n + 1) + y + c / 2 % 2) * (n + 1) + x + c % 2);
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      slope[axis][0] += (c % 2 ? Real(0.25) : Real(-0.25)) * u[axis];
      slope[axis][1] += (c / 2 % 2 ? Real(0.25) : Real(-0.25)) * u[axis];
      slope[axis][2] += (c / 4 ? Real(0.25) : Real(-0.25)) * u[axis];
    }
  }
  const Real trace = slope[0][0] + slope[1][1] + slope[2][2];
  Real squares = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) squares += (slope[i][j] + slope[j][i]) * (slope[i][j] + slope[j][i]) / 4;
  energy[e] = density[e] * density[e] * (first / 2 * trace * trace + mu * squares);
}

// Changes densities where the stimulus is outside of the lazy zone, four voxels at a time.
__global__ void remodel(const float4* density, const float4* energy, float4* grown, float rate, float lazy,
                        int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 d = density[i], e = energy[i];
    float rho[4] = {d.x, d.y, d.z, d.w}, given[4] = {e.x, e.y, e.z, e.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float stimulus = powf(given[k] / rho[k], 0.75f) - 0.1f;
      const float change = stimulus > lazy ? stimulus - lazy : stimulus < -lazy ? stimulus + lazy : 0;
      rho[k] = fminf(fmaxf(rho[k] + rate * change, 0.01f), 1.8f);
    }
    grown[i] = make_float4(rho[0], rho[1], rho[2], rho[3]);
  }
}

// The largest of the 27 values around each voxel, from a brick of bytes in shared memory.
__global__ void dilate(const unsigned char* solid, unsigned char* out, int n) {
  __shared__ unsigned char brick[6][10][34];
  const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1, z0 = blockIdx.z * 4 - 1;
  for (int k = (threadIdx.z * 8 + threadIdx.y) * 32 + threadIdx.x; k < 6 * 10 * 34; k += 1024) {
    const int x = x0 + k % 34, y = y0 + k / 34 % 10, z = z0 + k / 340;
    const bool inside = x >= 0 && y >= 0 && z >= 0 && x < n && y < n && z < n;
    (&brick[0][0][0])[k] = inside ? solid[(z * n + y) * n + x] : 0;
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y, z = z0 + 1 + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  int most = 0;
  for (int k = 0; k < 27; ++k)
    most = max(most, (int)brick[threadIdx.z + k / 9][threadIdx.y + k / 3 % 3][threadIdx.x + k % 3]);
  out[(z * n + y) * n + x] = most;
}

// Marches from each voxel along its chain of parents and gives it the label of the root.
__global__ void march_labels(const int* parents, int* labels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i, steps = 0;
  while (parents[at] != at && ++steps < 100) at = parents[at];
  labels[i] = at;
}

// Distances along x to the nearest solid voxel, forth and back, a thread for each row.
__global__ void distances_in_rows(const unsigned char* solid, unsigned short* distances, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n * n) return;
  unsigned short last = n;
  for (int x = 0; x < n; ++x) {
    last = solid[row * n + x] ? 0 : min(last + 1, n);
    distances[row * n + x] = last;
  }
  for (int x = n - 2; x >= 0; --x) {
    last = min(last + 1, (int)distances[row * n + x]);
    distances[row * n + x] = last;
  }
}

// Squared distances in planes from those in rows: seeks up and down until no nearer voxel is possible.
__global__ void distances_in_planes(const unsigned short* rows, int* squares, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const size_t i = (static_cast<size_t>(blockIdx.z) * n + y) * n + x;
  int least = rows[i] * rows[i];
  for (int d = 1; d < n && d * d < least; ++d) {
    const int up = y + d < n ? rows[i + d * n] : n, down = y >= d ? rows[i - d * n] : n;
    least = min(least, d * d + min(up, down) * min(up, down));
  }
  squares[i] = least;
}

// How many voxels have densities in each of kBins ranges, counted for each warp first.
__global__ void histogram(const float* density, unsigned* counts, float most, int n) {
  extern __shared__ unsigned bins[];
  for (int k = threadIdx.x; k < kBins * (blockDim.x / 32); k += blockDim.x) bins[k] = 0;
  __syncthreads();
  unsigned* own = bins + threadIdx.x / 32 * kBins;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(own + min(static_cast<int>(density[i] / most * kBins), kBins - 1), 1u);
  __syncthreads();
  if (threadIdx.x >= kBins) return;
  unsigned sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += bins[w * kBins + threadIdx.x];
  if (sum > 0) atomicAdd(counts + threadIdx.x, sum);
}

// Smooths along z with weights 1 4 6 4 1, a column for each thread and a window in registers.
__global__ void smooth_columns(const float* __restrict__ from, float* __restrict__ to, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, plane = n * n, first = blockIdx.y * (n / 8);
  if (column >= plane) return;
  float window[5];
  for (int k = 0; k < 4; ++k) window[k] = from[max(first + k - 2, 0) * plane + column];
  for (int z = first; z < first + n / 8; ++z) {
    window[4] = from[min(z + 2, n - 1) * plane + column];
    to[z * plane + column] = (window[0] + 4 * window[1] + 6 * window[2] + 4 * window[3] + window[4]) / 16;
    for (int k = 0; k < 4; ++k) window[k] = window[k + 1];
  }
}

void run(int n) {
  const int all = n * n * n, nodes = (n + 1) * (n + 1) * (n + 1), columns = ceil_div(n * n, 224);
  float matrix[24 * 24];
  for (int k = 0; k < 24 * 24; ++k) matrix[k] = k % 25 == 0 ? 1 : -0.04f * ((k / 24 + k % 24) % 3);
  cudaMemcpyToSymbol(stiffness, matrix, sizeof matrix);
  float* density = device_array<float>(all, [](int i) { return 0.05f + 1.7f * hashed_unit(i / 4); });
  float* moved = device_array<float>(3 * nodes, [](int i) { return hashed_unit(i) - 0.5f; });
  float *pull = device_zeros<float>(3 * nodes), *energy = device_zeros<float>(2 * all), *other = energy + all;
  unsigned char* solid = device_array<unsigned char>(all, [=](int i) {
    return hashed_unit(i % n / 6 + i / n % n / 6 * 64 + i / n / n / 6 * 4096) < 0.3f;
  });
  unsigned char* thick = device_zeros<unsigned char>(all);
  unsigned short* distances = device_zeros<unsigned short>(all);
  int* parents = device_array<int>(all, [=](int i) {
    const int kind = hashed_unit(i) * 12, back = kind == 0 ? 0 : kind < 7 ? 1 : kind < 10 ? n : n * n;
    return i >= back ? i - back : i;
  });
  int* list = device_array<int>(all / 2, [](int i) { return 2 * i + (hashed_unit(i) < 0.5f); });
  int* labels = device_zeros<int>(all);
  unsigned* counts = device_zeros<unsigned>(kBins);
  const dim3 flat(64, 4), flats(ceil_div(n, 64), n / 4, n), bricks(ceil_div(n, 32), n / 8, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    element_forces<<<ceil_div(all / 2, 128), 128>>>(list, density, moved, pull, n, all / 2);
  for (int r = 0; r < kLaunches; ++r) strains<float><<<flats, flat>>>(density, moved, energy, 1, 1, n);
  for (int r = 0; r < kLaunches; ++r) strains<double><<<flats, flat>>>(density, moved, energy, 1, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    remodel<<<528, 256>>>((float4*)density, (float4*)energy, (float4*)other, 0.1f, 0.05f, all / 4);
  for (int r = 0; r < kLaunches; ++r) dilate<<<bricks, dim3(32, 8, 4)>>>(solid, thick, n);
  for (int r = 0; r < kLaunches; ++r) march_labels<<<ceil_div(all, 384), 384>>>(parents, labels, all);
  for (int r = 0; r < kLaunches; ++r) distances_in_rows<<<ceil_div(n * n, 64), 64>>>(solid, distances, n);
  for (int r = 0; r < kLaunches; ++r) distances_in_planes<<<flats, flat>>>(distances, labels, n);
  for (int r = 0; r < kLaunches; ++r) histogram<<<264, 512, 64 * kBins>>>(density, counts, 1.8f, all);
  for (int r = 0; r < kLaunches; ++r) smooth_columns<<<dim3(columns, 8), 224>>>(density, other, n);
  free_all(density, moved, pull, energy, solid, thick, distances, parents, labels, list, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("bone_remodelling");
}
