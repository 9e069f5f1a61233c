// All pairs of bodies: from global memory, from tiles in shared memory, in single and double precision.
#include "device.h"

__global__ void forces_global(const float4* bodies, float4* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 mine = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f),
                s = other.w * inverse * inverse * inverse;
    x += dx * s;
    y += dy * s;
    z += dz * s;
  }
  forces[i] = make_float4(x, y, z, 0);
}

__global__ void forces_tiled(const float4* bodies, float4* forces, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 mine = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = bodies[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f),
                  s = other.w * inverse * inverse * inverse;
      x += dx * s;
      y += dy * s;
      z += dz * s;
    }
    __syncthreads();
  }
  forces[i] = make_float4(x, y, z, 0);
}

__global__ void potential(const double* x, const double* y, const double* z, double* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int j = 0; j < n; ++j) {
    const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    sum += 1 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9);
  }
  sums[i] = sum;
}

// Lennard-Jones forces of 64 neighbours in a list, within a radius.
__global__ void forces_of_neighbours(const float4* atoms, const int* neighbours, float4* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 mine = atoms[i];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < 64; ++k) {
    const float4 other = atoms[neighbours[k * n + i]];
    const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
    const float square = dx * dx + dy * dy + dz * dz + 0.01f;
    if (square < 0.5f) {
      const float inverse = 1 / square, sixth = inverse * inverse * inverse;
      const float force = inverse * sixth * (1.5f * sixth - 2.0f);
      x += dx * force;
      y += dy * force;
      z += dz * force;
    }
  }
  forces[i] = make_float4(x, y, z, 0);
}

void run(int n) {
  float4* bodies = (float4*)device_floats(4 * n);
  float4* forces = device_zeros<float4>(n);
  double* x = device_doubles(n);
  double* y = device_doubles(n);
  double* z = device_doubles(n);
  double* sums = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) forces_global<<<ceil_div(n, 256), 256>>>(bodies, forces, n);
  for (int r = 0; r < kLaunches; ++r) forces_global<<<ceil_div(n, 64), 64>>>(bodies, forces, n);
  for (int r = 0; r < kLaunches; ++r) forces_tiled<<<n / 128, 128>>>(bodies, forces, n);
  for (int r = 0; r < kLaunches; ++r) potential<<<ceil_div(n, 128), 128>>>(x, y, z, sums, n);
  int* near = device_array<int>(64 * n, [n](int i) { return (i % n + i / n * 3) % n; });
  for (int r = 0; r < kLaunches; ++r)
    forces_of_neighbours<<<ceil_div(n, 256), 256>>>(bodies, near, forces, n);
  free_all(bodies, forces, x, y, z, sums, near);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("n_body");
}
