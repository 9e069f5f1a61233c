// A gas in a plane of n x n cells: density, two momenta and energy, in double precision.
#include "device.h"

constexpr double kGamma = 1.4;

// Density, velocities and pressure.
__global__ void to_primitive(const double* u, double* w, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int size = n * n;
  if (x < n && y < n) {
    int at = y * n + x;
    double density = u[at] + 0.1;
    w[at] = density;
    w[size + at] = u[size + at] / density;
    w[2 * size + at] = u[2 * size + at] / density;
    w[3 * size + at] = (kGamma - 1.0) *
                       (u[3 * size + at] + 1.0 -
                        0.5 * (u[size + at] * u[size + at] + u[2 * size + at] * u[2 * size + at]) / density);
  }
}

__device__ double limited(double a, double b) {
  return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b;
}

__device__ void flux(double density, double along, double across, double pressure, double* out) {
  const double energy = pressure / (kGamma - 1) + 0.5 * density * (along * along + across * across);
  out[0] = density * along;
  out[1] = density * along * along + pressure;
  out[2] = density * along * across;
  out[3] = (energy + pressure) * along;
}

// What flows through the left side of each cell: slopes on both sides, and the fastest wave.
__global__ void flows_x(const double* __restrict__ w, double* __restrict__ flows, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || x > n - 2 || y >= n) return;
  const int at = y * n + x, size = n * n;
  double left[4], right[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double* v = w + k * size + at;
    const double a = v[-2], b = v[-1], c = v[0], d = v[1];
    left[k] = b + 0.5 * limited(b - a, c - b);
    right[k] = c - 0.5 * limited(c - b, d - c);
  }
  double from[4], to[4];
  flux(left[0], left[1], left[2], left[3], from);
  flux(right[0], right[1], right[2], right[3], to);
  const double speed = fmax(fabs(left[1]) + sqrt(kGamma * fabs(left[3]) / left[0]),
                            fabs(right[1]) + sqrt(kGamma * fabs(right[3]) / right[0]));
  const double jump[4] = {right[0] - left[0], right[0] * right[1] - left[0] * left[1],
                          right[0] * right[2] - left[0] * left[2], right[3] - left[3]};
#pragma unroll
  for (int k = 0; k < 4; ++k) flows[k * size + at] = 0.5 * (from[k] + to[k] - speed * jump[k]);
}

// Through the lower side: two waves, their speeds guessed.
__global__ void flows_y(const double* w, double* flows, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y < 1 || y >= n) return;
  const int at = y * n + x, below = at - n, size = n * n;
  const double density = w[at], other = w[below], v = w[2 * size + at], vb = w[2 * size + below];
  const double pressure = w[3 * size + at], pb = w[3 * size + below];
  const double sound = sqrt(kGamma * fabs(pressure) / density), sound_below = sqrt(kGamma * fabs(pb) / other);
  const double slow = fmin(fmin(vb - sound_below, v - sound), -1e-9);
  const double fast = fmax(fmax(vb + sound_below, v + sound), 1e-9);
  double to[4], from[4];
  flux(density, v, w[size + at], pressure, to);
  flux(other, vb, w[size + below], pb, from);
  const double width = 1 / (fast - slow);
  flows[at] = (fast * from[0] - slow * to[0] + fast * slow * (density - other)) * width;
  flows[size + at] =
      (fast * from[2] - slow * to[2] + fast * slow * (density * w[size + at] - other * w[size + below])) *
      width;
  flows[2 * size + at] = (fast * from[1] - slow * to[1] + fast * slow * (density * v - other * vb)) * width;
  flows[3 * size + at] = (fast * from[3] - slow * to[3] + fast * slow * (pressure - pb) * 2.5) * width;
}

// A step in time from the differences of both flows, with weight.
__global__ void advance(double* u, const double* across, const double* up, double step, double weight,
                        int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2) return;
  const int at = y * n + x, size = n * n;
  const double density = u[at], momentum = u[2 * size + at];
  for (int k = 0; k < 4; ++k)
    u[k * size + at] -= step * (across[k * size + at + 1] - across[k * size + at] + up[k * size + at + n] -
                                up[k * size + at]);
  u[2 * size + at] -= step * weight * density;
  u[3 * size + at] -= step * weight * momentum;
}

// Walls: two rows of cells at each of the four sides mirror the two next to them.
__global__ void walls(double* u, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x + 2, side = blockIdx.y;
  if (t >= n - 2) return;
  const int along = side < 2 ? n : 1, inwards = side == 0 ? 1 : side == 1 ? -1 : side == 2 ? n : -n;
  const int edge = t * along + (side == 1 ? n - 1 : side == 3 ? (n - 1) * n : 0);
  for (int k = 0; k < 4; ++k) {
    const double sign = k == (side < 2 ? 1 : 2) ? -1 : 1;
    u[k * n * n + edge] = sign * u[k * n * n + edge + 3 * inwards];
    u[k * n * n + edge + inwards] = sign * u[k * n * n + edge + 2 * inwards];
  }
}

// The fastest wave of each block's cells, which says how long a step may be.
__global__ void fastest(const double* w, double* out, int size) {
  __shared__ double most[256];
  double own = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < size; i += gridDim.x * 256)
    own = fmax(own,
               fmax(fabs(w[size + i]), fabs(w[2 * size + i])) + sqrt(kGamma * fabs(w[3 * size + i]) / w[i]));
  most[threadIdx.x] = own;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = most[0];
}

void run(int n) {
  const int size = n * n;
  double* u = device_doubles(4 * size);
  double* w = device_zeros<double>(4 * size);
  double* across = device_zeros<double>(4 * size);
  double* up = device_zeros<double>(4 * size);
  double* speeds = device_zeros<double>(264);
  for (int r = 0; r < kLaunches; ++r) to_primitive<<<dim3(ceil_div(n, 256), n), dim3(256, 1)>>>(u, w, n);
  for (int r = 0; r < kLaunches; ++r)
    flows_x<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(w, across, n);
  for (int r = 0; r < kLaunches; ++r)
    flows_y<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(w, up, n);
  for (int r = 0; r < kLaunches; ++r)
    advance<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(u, across, up, 1e-6, 0.1, n);
  for (int r = 0; r < kLaunches; ++r) walls<<<dim3(ceil_div(n - 4, 64), 4), 64>>>(u, n);
  for (int r = 0; r < kLaunches; ++r) fastest<<<264, 256>>>(w, speeds, size);
  free_all(u, w, across, up, speeds);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("gas_dynamics");
}
