// Lines of a cube of n x n x n points, each swept from one end to the other: along x, along y, along z.
#include "device.h"

// Implicit diffusion along x, there and back: a line per thread, the threads n points apart.
__global__ void diffuse_x(double* u, const double* factors, double rate, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n * n) return;
  double before = 0;
  for (int x = 0; x < n; ++x) {
    before = (u[line * n + x] + rate * before) * factors[x];
    u[line * n + x] = before;
  }
  for (int x = n - 2; x >= 0; --x) {
    before = u[line * n + x] + rate * factors[x] * before;
    u[line * n + x] = before;
  }
}

// Along y: neighbours in a warp are neighbours in memory.
__global__ void diffuse_y(double* u, const double* factors, double rate, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int z = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && z < n) {
    u[z * n * n + x] *= factors[0];
    for (int y = 1; y < n; y++)
      u[(z * n + y) * n + x] = (u[(z * n + y) * n + x] + rate * u[(z * n + y - 1) * n + x]) * factors[y];
    for (int y = n - 2; y >= 0; y--) u[(z * n + y) * n + x] += rate * factors[y] * u[(z * n + y + 1) * n + x];
  }
}

// Light along z in eight directions through matter that absorbs and emits: what arrives is added in memory.
__global__ void light_z(const float* absorption, const float* emission, float* light, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  for (int m = 0; m < 8; ++m) {
    const float slant = 2 * (m + 0.5f) / 8;
    float intensity = 0;
    for (int z = 0; z < n; ++z) {
      const int i = (z * n + y) * n + x;
      intensity = (emission[i] + slant * intensity) / (absorption[i] + slant);
      light[i] += 0.125f * intensity;
    }
  }
}

// Slopes along x by an implicit formula, a line in a block of n threads: every equation takes in its neighbours,
// then those at twice the distance.
__global__ void slopes_x(const float* u, float* slopes, int n) {
  __shared__ float left[512], right[512], value[512];
  const int x = threadIdx.x, base = blockIdx.x * n;
  left[x] = x > 0 ? 0.25f : 0;
  right[x] = x < n - 1 ? 0.25f : 0;
  value[x] = 0.75f * (u[base + min(x + 1, n - 1)] - u[base + max(x - 1, 0)]);
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    const int a = max(x - step, 0), b = min(x + step, n - 1);
    const float p = -left[x], q = -right[x], factor = 1 / (1 + p * right[a] + q * left[b]);
    const float next_left = p * left[a] * factor, next_right = q * right[b] * factor;
    const float next = (value[x] + p * value[a] + q * value[b]) * factor;
    __syncthreads();
    left[x] = next_left;
    right[x] = next_right;
    value[x] = next;
    __syncthreads();
  }
  slopes[base + x] = value[x];
}

// A wave that steepens, along y: a plane for each block row, four old values kept in registers.
template <class T>
__global__ void steepen_y(const T* __restrict__ u, T* __restrict__ next, T step, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
  if (x >= n) return;
  const T* in = u + z * n * n + x;
  T* out = next + z * n * n + x;
  T a = in[0], b = in[n], c = in[2 * n], before = T(0.5) * a * a;
  for (int y = 2; y < n - 1; ++y) {
    const T d = in[(y + 1) * n];
    const T rise = b - a, next_rise = c - b, product = rise * next_rise;
    const T part = product > 0 ? 2 * product / (rise + next_rise) : T(0);
    const T edge = b + T(0.5) * part, flow = T(0.5) * edge * edge;
    out[(y - 1) * n] = b - step * (flow - before);
    before = flow;
    a = b;
    b = c;
    c = d;
  }
}

// The longest way through each column along z, and where it began: short numbers.
__global__ void longest_z(const short* costs, short* best, unsigned short* starts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  int sum = 0, most = -32768, start = 0, first = 0;
  for (int z = 0; z < n; ++z) {
    const int cost = costs[z * n * n + i] % 64 - 31;
    first = sum > 0 ? first : z;
    sum = max(sum, 0) + cost;
    start = sum > most ? first : start;
    most = max(most, sum);
  }
  best[i] = most;
  starts[i] = start;
}

void run(int n) {
  const int lines = n * n, count = n * n * n;
  double* u = device_doubles(count);
  double* next = device_doubles(count);
  float* matter = device_floats(2 * count);
  double* factors = device_array<double>(n, [](int i) { return 0.52 - 0.02 / (i + 1); });
  for (int r = 0; r < kLaunches; ++r) diffuse_x<<<ceil_div(lines, 128), 128>>>(u, factors, 0.5, n);
  for (int r = 0; r < kLaunches; ++r)
    diffuse_y<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(u, factors, 0.5, n);
  for (int r = 0; r < kLaunches; ++r) slopes_x<<<lines, n>>>(matter, (float*)next, n);
  for (int r = 0; r < kLaunches; ++r) steepen_y<double><<<dim3(ceil_div(n, 64), n), 64>>>(u, next, 0.01, n);
  for (int r = 0; r < kLaunches; ++r)
    longest_z<<<ceil_div(lines, 256), 256>>>((short*)u, (short*)next, (unsigned short*)next + lines, n);
  for (int r = 0; r < kLaunches; ++r)
    light_z<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(matter, matter + count, (float*)next, n);
  free_all(u, next, matter, factors);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("line_sweeps");
}
