// Lattice Boltzmann fluids: a plane with nine velocities (D2Q9) and a box with nineteen (D3Q19), in several
// orders of storage and with several models of collision.
// n is the side of the square plane in nodes, a multiple of 4; the box has n / 4 x n / 4 x 16 nodes, as many.
#include "device.h"

// Directions of the plane: rest, east, north, west, south, north-east, north-west, south-west, south-east.
__constant__ double moment_rows[9][9] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1},     {-4, -1, -1, -1, -1, 2, 2, 2, 2}, {4, -2, -2, -2, -2, 1, 1, 1, 1},
    {0, 1, 0, -1, 0, 1, -1, -1, 1},  {0, -2, 0, 2, 0, 1, -1, -1, 1},   {0, 0, 1, 0, -1, 1, 1, -1, -1},
    {0, 0, -2, 0, 2, 1, 1, -1, -1},  {0, 1, -1, 1, -1, 0, 0, 0, 0},    {0, 0, 0, 0, 0, 1, -1, 1, -1}};
__constant__ double moment_norms[9] = {9, 36, 36, 6, 12, 6, 12, 4, 4};
__constant__ double moment_rates[9] = {0, 1.4, 1.4, 0, 1.2, 0, 1.2, 1.7, 1.7};

// Directions of the box: rest, six along the axes, twelve along the diagonals of the planes.
__constant__ int box_steps[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},  {0, -1, 0},
                                     {0, 0, 1},  {0, 0, -1},  {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},
                                     {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1},
                                     {0, 1, 1},  {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

__device__ int wrap(int i, int n) {
  return i < 0 ? i + n : i >= n ? i - n : i;
}

__device__ float box_weight(int k) {
  return k == 0 ? 1.0f / 3 : k < 7 ? 1.0f / 18 : 1.0f / 36;
}

template <class Real>
__device__ void relax(Real (&f)[9], Real omega) {
  const Real density = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8];
  const Real u = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / density;
  const Real v = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / density;
  const Real rest = 1 - Real(1.5) * (u * u + v * v);
  const Real along[9] = {0, u, v, -u, -v, u + v, v - u, -u - v, u - v};
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const Real weight = k == 0 ? Real(4) / 9 : k < 5 ? Real(1) / 9 : Real(1) / 36;
    const Real balance = weight * density * (rest + 3 * along[k] + Real(4.5) * along[k] * along[k]);
    f[k] += omega * (balance - f[k]);
  }
}

// Moves each of the nine populations by one node along its direction, on a periodic plane.
__global__ void stream_pull(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int cells = n * n, here = y * n + x;
  const int west = wrap(x - 1, n), east = wrap(x + 1, n), south = wrap(y - 1, n), north = wrap(y + 1, n);
  to[here] = from[here];
  to[cells + here] = from[cells + y * n + west];
  to[2 * cells + here] = from[2 * cells + south * n + x];
  to[3 * cells + here] = from[3 * cells + y * n + east];
  to[4 * cells + here] = from[4 * cells + north * n + x];
  to[5 * cells + here] = from[5 * cells + south * n + west];
  to[6 * cells + here] = from[6 * cells + south * n + east];
  to[7 * cells + here] = from[7 * cells + north * n + east];
  to[8 * cells + here] = from[8 * cells + north * n + west];
}

// Relaxes the nine populations of each node towards their balance with a single rate, in place.
__global__ void collide_single_rate(float* f, float omega, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float local[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) local[k] = f[k * cells + i];
  relax(local, omega);
#pragma unroll
  for (int k = 0; k < 9; ++k) f[k * cells + i] = local[k];
}

// Streams and collides in one step, with the populations stored node by node or direction by direction.
template <class Real, bool kNodeByNode>
__global__ void stream_collide(const Real* __restrict__ from, Real* __restrict__ to, Real omega, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const int cells = n * n, here = y * n + x;
  Real local[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int there = wrap(y - cy[k], n) * n + wrap(x - cx[k], n);
    local[k] = from[kNodeByNode ? there * 9 + k : k * cells + there];
  }
  relax(local, omega);
#pragma unroll
  for (int k = 0; k < 9; ++k) to[kNodeByNode ? here * 9 + k : k * cells + here] = local[k];
}

// Does a step on a single copy of the populations: even steps stay at home, odd ones visit the neighbours.
template <bool kOdd>
__global__ void step_in_place(float* f, float omega, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, cells = n * n;
  if (i >= cells) return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  const int x = i % n, y = i / n;
  float local[9];
  int behind[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    behind[k] = kOdd ? wrap(y - cy[k], n) * n + wrap(x - cx[k], n) : i;
    local[k] = f[(kOdd ? opposite[k] : k) * cells + behind[k]];
  }
  relax(local, omega);
#pragma unroll
  for (int k = 0; k < 9; ++k) f[(kOdd ? k : opposite[k]) * cells + behind[opposite[k]]] = local[k];
}

// Reverses the populations of the nodes on a list of solid nodes.
__global__ void bounce_back(float* f, const int* solid, int count, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int node = solid[i];
  const int first[4] = {1, 2, 5, 6}, second[4] = {3, 4, 7, 8};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float a = f[first[k] * cells + node], b = f[second[k] * cells + node];
    f[first[k] * cells + node] = b;
    f[second[k] * cells + node] = a;
  }
}

// Sets the unknown populations of the western edge for given speeds, and lets the eastern edge flow out.
__global__ void inlet_and_outlet(float* f, const float* speeds, int n) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, cells = n * n;
  if (y >= n) return;
  float* in = f + y * n;
  const float u = 0.1f * speeds[y];
  const float density = (in[0] + in[2 * cells] + in[4 * cells] +
                         2 * (in[3 * cells] + in[6 * cells] + in[7 * cells])) / (1 - u);
  const float skew = 0.5f * (in[2 * cells] - in[4 * cells]);
  in[cells] = in[3 * cells] + 2.0f / 3 * density * u;
  in[5 * cells] = in[7 * cells] - skew + density * u / 6;
  in[8 * cells] = in[6 * cells] + skew + density * u / 6;
  float* out = f + y * n + n - 1;
  out[3 * cells] = out[3 * cells - 1];
  out[6 * cells] = out[6 * cells - 1];
  out[7 * cells] = out[7 * cells - 1];
}

// Relaxes nine moments of the populations, each at its own rate, in double precision.
__global__ void collide_moments(double* f, int cells) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    double local[9], moments[9];
    for (int k = 0; k < 9; ++k) local[k] = f[k * cells + i];
#pragma unroll
    for (int row = 0; row < 9; ++row) {
      double sum = 0;
#pragma unroll
      for (int k = 0; k < 9; ++k) sum += moment_rows[row][k] * local[k];
      moments[row] = sum;
    }
    const double density = moments[0], jx = moments[3], jy = moments[5], square = jx * jx + jy * jy;
    const double balance[9] = {density, 3 * square - 2 * density, density - 3 * square, jx, -jx, jy, -jy,
                               jx * jx - jy * jy, jx * jy};
#pragma unroll
    for (int row = 0; row < 9; ++row) {
      moments[row] += moment_rates[row] * (balance[row] - moments[row]);
      moments[row] /= moment_norms[row];
    }
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      double sum = 0;
#pragma unroll
      for (int row = 0; row < 9; ++row) sum += moment_rows[row][k] * moments[row];
      f[k * cells + i] = sum;
    }
  }
}

// Computes the curl of the velocity, the velocities of a tile and of its rim taken to shared memory first.
__global__ void vorticity(const float* f, float* curl, int n) {
  __shared__ float2 velocity[18][18];
  const int cells = n * n, thread = threadIdx.y * 16 + threadIdx.x;
  for (int t = thread; t < 18 * 18; t += 256) {
    const int x = wrap(static_cast<int>(blockIdx.x) * 16 + t % 18 - 1, n);
    const int y = wrap(static_cast<int>(blockIdx.y) * 16 + t / 18 - 1, n);
    const float* p = f + y * n + x;
    const float east = p[cells], north = p[2 * cells], west = p[3 * cells], south = p[4 * cells];
    const float ne = p[5 * cells], nw = p[6 * cells], sw = p[7 * cells], se = p[8 * cells];
    const float density = p[0] + east + north + west + south + ne + nw + sw + se;
    velocity[t / 18][t % 18] =
        make_float2((east - west + ne - nw - sw + se) / density,
                    (north - south + ne + nw - sw - se) / density);
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  curl[y * n + x] =
      0.5f * (velocity[j][i + 1].y - velocity[j][i - 1].y - velocity[j + 1][i].x + velocity[j - 1][i].x);
}

// Sums all populations in double precision, by shuffles and one atomic addition per warp.
__global__ void total_mass(const float* f, double* mass, int count) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += f[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(mass, sum);
}

// Does a whole step of the periodic box with nineteen velocities.
__global__ void box_step(const float* __restrict__ from, float* __restrict__ to, float omega, int nx, int ny,
                         int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int cells = nx * ny * nz, here = (z * ny + y) * nx + x;
  float local[19], density = 0, u = 0, v = 0, w = 0;
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const int sx = wrap(x - box_steps[k][0], nx), sy = wrap(y - box_steps[k][1], ny),
              sz = wrap(z - box_steps[k][2], nz);
    const float value = from[k * cells + (sz * ny + sy) * nx + sx];
    local[k] = value;
    density += value;
    u += value * box_steps[k][0];
    v += value * box_steps[k][1];
    w += value * box_steps[k][2];
  }
  const float inverse = 1 / density;
  u *= inverse;
  v *= inverse;
  w *= inverse;
  const float rest = 1 - 1.5f * (u * u + v * v + w * w);
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const float along = u * box_steps[k][0] + v * box_steps[k][1] + w * box_steps[k][2];
    const float balance = box_weight(k) * density * (rest + 3 * along + 4.5f * along * along);
    to[k * cells + here] = local[k] + omega * (balance - local[k]);
  }
}

// Relaxes the box in place with a rate that follows the local stress, as large-eddy models do.
__global__ void box_collide_turbulent(float* f, float* viscosity, float tau, float smagorinsky, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float local[19], density = 0, u = 0, v = 0, w = 0;
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    local[k] = f[k * cells + i];
    density += local[k];
    u += local[k] * box_steps[k][0];
    v += local[k] * box_steps[k][1];
    w += local[k] * box_steps[k][2];
  }
  u /= density;
  v /= density;
  w /= density;
  const float rest = 1 - 1.5f * (u * u + v * v + w * w);
  float away[19], stress[6] = {0, 0, 0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const float cx = box_steps[k][0], cy = box_steps[k][1], cz = box_steps[k][2];
    const float along = u * cx + v * cy + w * cz;
    away[k] = local[k] - box_weight(k) * density * (rest + 3 * along + 4.5f * along * along);
    stress[0] += cx * cx * away[k];
    stress[1] += cy * cy * away[k];
    stress[2] += cz * cz * away[k];
    stress[3] += cx * cy * away[k];
    stress[4] += cy * cz * away[k];
    stress[5] += cz * cx * away[k];
  }
  const float norm = sqrtf(stress[0] * stress[0] + stress[1] * stress[1] + stress[2] * stress[2] +
                           2 * (stress[3] * stress[3] + stress[4] * stress[4] + stress[5] * stress[5]));
  const float effective =
      0.5f * (tau + sqrtf(tau * tau + 25.4558f * smagorinsky * smagorinsky * norm / density));
  viscosity[i] = (effective - 0.5f) / 3;
  const float omega = 1 / effective;
#pragma unroll
  for (int k = 0; k < 19; ++k) f[k * cells + i] = local[k] - omega * away[k];
}

void simulate_plane(int n) {
  const int cells = n * n, solids = cells / 16;
  float* a = device_array<float>(9 * cells, [cells](int i) {
    const float weight = i < cells ? 4.0f / 9 : i < 5 * cells ? 1.0f / 9 : 1.0f / 36;
    return weight * (0.98f + 0.04f * hashed_unit(i));
  });
  float* b = device_zeros<float>(9 * cells);
  float* curl = device_zeros<float>(cells);
  float* speeds = device_floats(n);
  double* mass = device_zeros<double>(1);
  int* solid =
      device_array<int>(solids, [](int i) { return 16 * i + static_cast<int>(16 * hashed_unit(i)); });
  const dim3 wide(32, 8), wides(ceil_div(n, 32), ceil_div(n, 8));
  const dim3 line(128, 1), lines(ceil_div(n, 128), n);
  const dim3 square(16, 16), squares(ceil_div(n, 16), ceil_div(n, 16));
  for (int run = 0; run < kLaunches; ++run) stream_pull<<<wides, wide>>>(a, b, n);
  for (int run = 0; run < kLaunches; ++run)
    collide_single_rate<<<ceil_div(cells, 256), 256>>>(a, 1.2f, cells);
  for (int run = 0; run < kLaunches; ++run) stream_collide<float, false><<<lines, line>>>(a, b, 1.2f, n);
  for (int run = 0; run < kLaunches; ++run) step_in_place<false><<<ceil_div(cells, 128), 128>>>(a, 1.1f, n);
  for (int run = 0; run < kLaunches; ++run) step_in_place<true><<<ceil_div(cells, 512), 512>>>(a, 1.1f, n);
  for (int run = 0; run < kLaunches; ++run)
    bounce_back<<<ceil_div(solids, 64), 64>>>(a, solid, solids, cells);
  for (int run = 0; run < kLaunches; ++run) inlet_and_outlet<<<ceil_div(n, 32), 32>>>(a, speeds, n);
  for (int run = 0; run < kLaunches; ++run) vorticity<<<squares, square>>>(a, curl, n);
  for (int run = 0; run < kLaunches; ++run) total_mass<<<264, 1024>>>(a, mass, 9 * cells);
  // The same plane once more, the nine populations of a node beside one another.
  float* nodes = device_array<float>(9 * cells, [](int i) {
    const int k = i % 9;
    return (k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36) * (0.98f + 0.04f * hashed_unit(i));
  });
  for (int run = 0; run < kLaunches; ++run) stream_collide<float, true><<<wides, wide>>>(nodes, b, 1.2f, n);
  free_all(a, b, curl, speeds, mass, solid, nodes);
}

void simulate_plane_in_double(int n) {
  const int cells = n * n;
  double* a = device_array<double>(9 * cells, [cells](int i) {
    const double weight = i < cells ? 4.0 / 9 : i < 5 * cells ? 1.0 / 9 : 1.0 / 36;
    return weight * (0.98 + 0.04 * hashed_unit(i));
  });
  double* b = device_zeros<double>(9 * cells);
  const dim3 block(64, 4), grid(ceil_div(n, 64), ceil_div(n, 4));
  for (int run = 0; run < kLaunches; ++run) stream_collide<double, false><<<grid, block>>>(a, b, 1.2, n);
  for (int run = 0; run < kLaunches; ++run) collide_moments<<<528, 192>>>(a, cells);
  free_all(a, b);
}

void simulate_box(int n) {
  const int nx = n / 4, ny = n / 4, nz = 16, cells = nx * ny * nz;
  float* a = device_array<float>(19 * cells, [cells](int i) {
    const float weight = i < cells ? 1.0f / 3 : i < 7 * cells ? 1.0f / 18 : 1.0f / 36;
    return weight * (0.98f + 0.04f * hashed_unit(i));
  });
  float* b = device_zeros<float>(19 * cells);
  float* viscosity = device_zeros<float>(cells);
  const dim3 block(32, 4, 2), grid(ceil_div(nx, 32), ceil_div(ny, 4), ceil_div(nz, 2));
  for (int run = 0; run < kLaunches; ++run) box_step<<<grid, block>>>(a, b, 1.3f, nx, ny, nz);
  for (int run = 0; run < kLaunches; ++run)
    box_collide_turbulent<<<ceil_div(cells, 128), 128>>>(a, viscosity, 0.6f, 0.1f, cells);
  free_all(a, b, viscosity);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int n = atoi(argv[i]);
    simulate_plane(n);
    simulate_plane_in_double(n);
    simulate_box(n);
  }
  return finish("lattice_boltzmann");
}
