// n atoms in chains: the forces of bonds, and molecules that keep their shape.
#include "device.h"

// Springs between neighbours in a chain: each thread adds to both of its atoms.
__global__ void bonds(const float4* atoms, float* forces, float* energy, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float own = 0;
  if (i < n - 1 && i % 20 != 19) {
    const float4 a = atoms[i], b = atoms[i + 1];
    const float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    const float length = sqrtf(x * x + y * y + z * z + 1e-6f), stretch = length - 0.15f;
    const float f = 300 * stretch / length;
    own = 150 * stretch * stretch;
    atomicAdd(&forces[3 * i], f * x);
    atomicAdd(&forces[3 * i + 1], f * y);
    atomicAdd(&forces[3 * i + 2], f * z);
    atomicAdd(&forces[3 * i + 3], -f * x);
    atomicAdd(&forces[3 * i + 4], -f * y);
    atomicAdd(&forces[3 * i + 5], -f * z);
  }
  for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(0xffffffffu, own, s);
  if (threadIdx.x % 32 == 0) atomicAdd(energy, own);
}

__device__ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The torsion of four atoms, a sum of five cosines; what it needs is read again from a list of indices.
__global__ void torsions(const float4* atoms, const int4* lists, float3* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 list = lists[i];
  const float4 a = atoms[list.x % n], b = atoms[list.y % n], c = atoms[list.z % n], d = atoms[list.w % n];
  const float3 ab = make_float3(b.x - a.x, b.y - a.y, b.z - a.z),
               bc = make_float3(c.x - b.x, c.y - b.y, c.z - b.z);
  const float3 cd = make_float3(d.x - c.x, d.y - c.y, d.z - c.z), u = cross(ab, bc), v = cross(bc, cd);
  const float uu = u.x * u.x + u.y * u.y + u.z * u.z + 1e-6f, vv = v.x * v.x + v.y * v.y + v.z * v.z + 1e-6f;
  const float cosine = fminf(1.0f, fmaxf(-1.0f, (u.x * v.x + u.y * v.y + u.z * v.z) * rsqrtf(uu * vv)));
  const float angle = acosf(cosine);
  float torque = 0;
#pragma unroll
  for (int k = 1; k <= 5; ++k) torque += k * 0.3f * sinf(k * angle - 0.2f * k);
  const float fu = torque / uu, fv = torque / vv;
  forces[i] = make_float3(fu * u.x - fv * v.x, fu * u.y - fv * v.y, fu * u.z - fv * v.z);
}

// Three atoms of a molecule of water get their distances back, ten times, in double precision.
__global__ void keep_shape(double* positions, int molecules) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= molecules) return;
  double p[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) p[k] = positions[9 * m + k];
  for (int round = 0; round < 10; ++round) {
#pragma unroll
    for (int pair = 0; pair < 3; ++pair) {
      const int a = pair == 2 ? 3 : 0, b = pair == 0 ? 3 : 6;
      const double x = p[b] - p[a], y = p[b + 1] - p[a + 1], z = p[b + 2] - p[a + 2];
      const double wanted = pair == 2 ? 0.0229 : 0.01, square = x * x + y * y + z * z;
      const double g = (square - wanted) / (4 * (square + wanted)), share = pair == 2 ? 0.5 : 0.06;
      p[a] += share * g * x;
      p[a + 1] += share * g * y;
      p[a + 2] += share * g * z;
      p[b] -= (1 - share) * g * x;
      p[b + 1] -= (1 - share) * g * y;
      p[b + 2] -= (1 - share) * g * z;
    }
  }
#pragma unroll
  for (int k = 0; k < 9; ++k) positions[9 * m + k] = p[k];
}

// Positions and speeds move on, coordinates of three floats each; those that leave the box come in again.
__global__ void move(float* positions, float* speeds, const float* forces, const float* masses, float box,
                     int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= 3 * n) return;
  const float speed = speeds[k] + 0.002f * forces[k] / (1 + masses[k / 3]);
  float at = positions[k] + 0.002f * speed;
  while (at >= box) at -= box;
  while (at < 0) at += box;
  positions[k] = at;
  speeds[k] = speed;
}

void run(int n) {
  float* atoms = device_floats(4 * n);
  int* lists = device_ints(4 * n, 1 << 30);
  int* near = device_array<int>(4 * n, [](int i) { return i / 4 + i % 4; });
  float* forces = device_zeros<float>(3 * n + 3);
  float* speeds = device_floats(3 * n);
  double* molecules = device_doubles(3 * n);
  float* pulls = device_floats(3 * n);
  float* masses = device_floats(n);
  float* energy = device_zeros<float>(1);
  for (int r = 0; r < kLaunches; ++r) bonds<<<ceil_div(n, 128), 128>>>((float4*)atoms, forces, energy, n);
  for (int r = 0; r < kLaunches; ++r)
    torsions<<<ceil_div(n, 256), 256>>>((float4*)atoms, (int4*)near, (float3*)forces, n);
  for (int r = 0; r < kLaunches; ++r)
    torsions<<<ceil_div(n, 96), 96>>>((float4*)atoms, (int4*)lists, (float3*)forces, n);
  for (int r = 0; r < kLaunches; ++r) keep_shape<<<ceil_div(n / 3, 64), 64>>>(molecules, n / 3);
  for (int r = 0; r < kLaunches; ++r)
    move<<<ceil_div(3 * n, 256), 256>>>(atoms, speeds, pulls, masses, 0.7f, n);
  free_all(atoms, lists, near, forces, speeds, molecules, pulls, masses, energy);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("molecular_chains");
}
