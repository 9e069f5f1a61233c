// Plasmas and lattices with n x n cells, and (n / 8)^3 in three dimensions.
#include "device.h"

struct Particles {
  float *x, *y, *u, *v;
};
struct Node {
  float f[19];
};

__constant__ signed char moves[19][3] = {
    {0, 0, 0},  {1, 0, 0},  {-1, 0, 0}, {0, 1, 0},   {0, -1, 0}, {0, 0, 1},  {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},  {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},  {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

// A step of particles: the field at their places, half a kick, a turn by the magnetic field, half a kick.
__global__ void push_particles(Particles p, const float2* __restrict__ field, float dt, float turn, int n,
                               int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = p.x[i], y = p.y[i];
  const int cx = static_cast<int>(x), cy = static_cast<int>(y), right = cx + 1 < n ? cx + 1 : 0;
  const int row = cy * n, next = cy + 1 < n ? row + n : 0;
  const float fx = x - cx, fy = y - cy;
  const float2 a = field[row + cx], b = field[row + right], c = field[next + cx], d = field[next + right];
  const float ex = (a.x * (1 - fx) + b.x * fx) * (1 - fy) + (c.x * (1 - fx) + d.x * fx) * fy - 0.5f;
  const float ey = (a.y * (1 - fx) + b.y * fx) * (1 - fy) + (c.y * (1 - fx) + d.y * fx) * fy - 0.5f;
  const float u = p.u[i] + 0.5f * dt * ex, v = p.v[i] + 0.5f * dt * ey, s = 2 * turn / (1 + turn * turn);
  const float mid = u + turn * v, u1 = u + s * (v - turn * u), v1 = v - s * mid;
  p.u[i] = u1 + 0.5f * dt * ex;
  p.v[i] = v1 + 0.5f * dt * ey;
  const float to_x = x + dt * u1, to_y = y + dt * v1;
  const float in_x = to_x - n * floorf(to_x / n), in_y = to_y - n * floorf(to_y / n);
  p.x[i] = in_x < n ? in_x : 0;
  p.y[i] = in_y < n ? in_y : 0;
}

// Charges of particles in no order, added to the four corners of their cells.
template <class T>
__global__ void deposit_charges(const float* x, const float* y, T* charge, T weight, int n, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int cx = static_cast<int>(x[i]), cy = static_cast<int>(y[i]);
    const T fx = x[i] - cx, fy = y[i] - cy;
    const int right = cx + 1 == n ? 0 : cx + 1, below = cy + 1 == n ? 0 : cy + 1;
    atomicAdd(&charge[cy * n + cx], weight * (1 - fx) * (1 - fy));
    atomicAdd(&charge[cy * n + right], weight * fx * (1 - fy));
    atomicAdd(&charge[below * n + cx], weight * (1 - fx) * fy);
    atomicAdd(&charge[below * n + right], weight * fx * fy);
  }
}

// Charges of sorted particles: eight lanes for the eight particles of a cell.
__global__ void deposit_sorted(const float2* places, float4* corners, int cells) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, cell = t / 8;
  const float2 p = cell < cells ? places[t] : make_float2(0, 0);
  float4 w = make_float4((1 - p.x) * (1 - p.y), p.x * (1 - p.y), (1 - p.x) * p.y, p.x * p.y);
  for (int d = 1; d < 8; d *= 2) {
    w.x += __shfl_down_sync(0xffffffffu, w.x, d, 8);
    w.y += __shfl_down_sync(0xffffffffu, w.y, d, 8);
    w.z += __shfl_down_sync(0xffffffffu, w.z, d, 8);
    w.w += __shfl_down_sync(0xffffffffu, w.w, d, 8);
  }
  if (t % 8 == 0 && cell < cells) corners[cell] = w;
}

// A sweep of successive over-relaxation over the red or the black points of the potential.
__global__ void red_black_sweep(double* potential, const double* charge, double omega, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + colour) % 2;
  if (x >= n - 1 || y >= n - 1) return;
  double* at = potential + y * n + x;
  const double mean = (at[-1] + at[1] + at[-n] + at[n] + charge[y * n + x]) / 4;
  *at += omega * (mean - *at);
}

// Lattice Boltzmann in two dimensions with nine planes: pull, then relax.
template <class T>
__global__ void boltzmann_planes(const T* __restrict__ from, T* __restrict__ to, T rate, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, plane = n * n;
  if (x >= n) return;
  T f[9], density = 0, u = 0, v = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 - 1;
    f[k] = from[k * plane + (y - dy + n) % n * n + (x - dx + n) % n];
    density += f[k], u += dx * f[k], v += dy * f[k];
  }
  u /= density, v /= density;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 - 1, far = dx * dx + dy * dy;
    const T weight = far == 0 ? T(4) / 9 : far == 1 ? T(1) / 9 : T(1) / 36, along = dx * u + dy * v;
    const T rest = weight * density * (1 + 3 * along + T(4.5) * along * along - T(1.5) * (u * u + v * v));
    to[k * plane + y * n + x] = f[k] + rate * (rest - f[k]);
  }
}

// Lattice Boltzmann in three dimensions with an array of structures and walls at the sides.
__global__ void boltzmann_nodes(const Node* __restrict__ from, Node* __restrict__ to, float rate, int m) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z, i = (z * m + y) * m + x;
  if (x >= m || y >= m || z >= m) return;
  float f[19], density = 0, u = 0, v = 0, w = 0;
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const int dx = moves[k][0], dy = moves[k][1], dz = moves[k][2];
    const int sx = min(max(x - dx, 0), m - 1), sy = min(max(y - dy, 0), m - 1);
    f[k] = from[(min(max(z - dz, 0), m - 1) * m + sy) * m + sx].f[k];
    density += f[k], u += dx * f[k], v += dy * f[k], w += dz * f[k];
  }
  u /= density, v /= density, w /= density;
  const float speed = 1 - 1.5f * (u * u + v * v + w * w);
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const float along = 3 * (moves[k][0] * u + moves[k][1] * v + moves[k][2] * w);
    const float weight = k == 0 ? 1.0f / 3 : k < 7 ? 1.0f / 18 : 1.0f / 36;
    to[i].f[k] = f[k] + rate * (weight * density * (speed + along + 0.5f * along * along) - f[k]);
  }
}

// A checkerboard half of an Ising model with heat-bath updates. Each site has its own xorshift generator.
__global__ void ising_update(signed char* spins, unsigned* seeds, float beta, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + colour) % 2, i = y * n + x;
  if (x >= n || y >= n) return;
  const int sum = spins[y * n + (x + 1) % n] + spins[y * n + (x + n - 1) % n] + spins[(y + 1) % n * n + x] +
                  spins[(y + n - 1) % n * n + x];
  unsigned s = seeds[i];
  s ^= s << 13, s ^= s >> 17, s ^= s << 5;
  seeds[i] = s;
  spins[i] = (s >> 8) * 0x1p-24f < 1 / (1 + __expf(-2 * beta * sum)) ? 1 : -1;
}

// A cellular automaton with 64 cells a word: the neighbours are counted for all 64 at once.
__global__ void life_words(const unsigned long long* cells, unsigned long long* out, int words, int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= rows) return;
  unsigned long long ones = 0, twos = 0, fours = 0, here = 0;
  for (int d = -1; d <= 1; ++d) {
    const unsigned long long* row = cells + (y + d + rows) % rows * words;
    const unsigned long long own = row[x], west = row[x > 0 ? x - 1 : words - 1], east = row[(x + 1) % words];
    const unsigned long long around[3] = {own << 1 | west >> 63, own >> 1 | east << 63, d == 0 ? 0 : own};
    for (int k = 0; k < 3; ++k) {
      const unsigned long long carry = ones & around[k];
      ones ^= around[k];
      fours |= twos & carry;
      twos ^= carry;
    }
    if (d == 0) here = own;
  }
  out[y * words + x] = twos & ~fours & (ones | here);
}

void run(int n) {
  const int cells = n * n, count = 4 * cells, m = n / 8, words = n / 8, nodes = m * m * m;
  const auto x = [n](int i) { return n * hashed_unit(i); };
  const auto y = [n](int i) { return n * hashed_unit(~i); };
  Particles p = {device_array<float>(count, x), device_array<float>(count, y), device_floats(count),
                 device_floats(count)};
  float2* field = (float2*)device_floats(2 * cells);
  float2* places = (float2*)device_floats(16 * cells);
  float4* corners = device_zeros<float4>(cells);
  double* potential = device_zeros<double>(cells);
  double* charge = device_doubles(cells);
  float* planes = device_array<float>(9 * cells, [](int i) { return 0.1f + 0.001f * (i % 7); });
  float* new_planes = device_zeros<float>(9 * cells);
  double* planesd = device_array<double>(9 * cells, [](int i) { return 0.1 + 0.001 * (i % 11); });
  double* new_planesd = device_zeros<double>(9 * cells);
  float* flow = device_array<float>(19 * nodes, [](int i) { return 0.05f + 0.001f * (i % 5); });
  Node* new_flow = device_zeros<Node>(nodes);
  signed char* spins = device_array<signed char>(cells, [](int i) { return hashed_unit(i) < 0.5f ? -1 : 1; });
  unsigned* seeds = device_array<unsigned>(cells, [](int i) { return i * 2654435761u | 1; });
  const auto alive = [](int i) { return (i + 1) * 0x9e3779b97f4a7c15ull & (i + 7) * 0xd1342543de82ef95ull; };
  unsigned long long* life = device_array<unsigned long long>(words * 8 * n, alive);
  unsigned long long* new_life = device_zeros<unsigned long long>(words * 8 * n);
  const dim3 rows(ceil_div(n, 128), n), halves(ceil_div(n / 2, 32), ceil_div(n, 8)), block(32, 8);
  for (int r = 0; r < kLaunches; ++r)
    push_particles<<<ceil_div(count, 256), 256>>>(p, field, 0.1f, 0.2f, n, count);
  for (int r = 0; r < kLaunches; ++r)
    deposit_charges<<<min(ceil_div(count, 512), 528), 512>>>(p.x, p.y, new_planes, 0.25f, n, count);
  for (int r = 0; r < kLaunches; ++r)
    deposit_charges<<<ceil_div(count, 128), 128>>>(p.x, p.y, new_planesd, 0.25, n, count);
  for (int r = 0; r < kLaunches; ++r) deposit_sorted<<<ceil_div(cells, 24), 192>>>(places, corners, cells);
  for (int r = 0; r < kLaunches; ++r) red_black_sweep<<<halves, block>>>(potential, charge, 1.7, r % 2, n);
  for (int r = 0; r < kLaunches; ++r) boltzmann_planes<<<rows, 128>>>(planes, new_planes, 0.8f, n);
  for (int r = 0; r < kLaunches; ++r) boltzmann_planes<<<rows, 128>>>(planesd, new_planesd, 0.8, n);
  const dim3 boxes(ceil_div(m, 16), ceil_div(m, 4), ceil_div(m, 2));
  for (int r = 0; r < kLaunches; ++r)
    boltzmann_nodes<<<boxes, dim3(16, 4, 2)>>>((Node*)flow, new_flow, 0.9f, m);
  for (int r = 0; r < kLaunches; ++r) ising_update<<<halves, block>>>(spins, seeds, 0.44f, r % 2, n);
  for (int r = 0; r < kLaunches; ++r)
    life_words<<<dim3(ceil_div(words, 16), ceil_div(n, 2)), dim3(16, 16)>>>(life, new_life, words, 8 * n);
  free_all(p.x, p.y, p.u, p.v, field, places, corners, potential, charge, planes, new_planes, planesd,
           new_planesd, flow, new_flow, spins, seeds, life, new_life);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("plasma_lattices");
}
