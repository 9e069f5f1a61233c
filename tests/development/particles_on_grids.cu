// n charged particles and the grid of their field, 64 x 64 cells for each of n / 4096 patches.
#include "device.h"

// Each particle's charge goes to the four corners of its cell, wherever that is.
__global__ void deposit_charge(const float2* at, float* charge, int cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 p = at[i];
  const float x = p.x * 62.99f, y = p.y * 62.99f;
  const int column = x, row = y, cell = i / 4096 * 4096 % cells + row * 64 + column;
  const float u = x - column, v = y - row;
  atomicAdd(&charge[cell], (1 - u) * (1 - v));
  atomicAdd(&charge[cell + 1], u * (1 - v));
  atomicAdd(&charge[cell + 64], (1 - u) * v);
  atomicAdd(&charge[cell + 65], u * v);
}

// A patch's grid in shared memory: 16 KiB for each block, then to global memory once.
__global__ void deposit_patch(const float2* at, float* charge) {
  __shared__ float patch[4096];
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) patch[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) {
    const float2 p = at[blockIdx.x * 4096 + k];
    const float x = p.x * 62.99f, y = p.y * 62.99f;
    const int column = x, row = y, cell = row * 64 + column;
    const float u = x - column, v = y - row;
    atomicAdd(&patch[cell], (1 - u) * (1 - v));
    atomicAdd(&patch[cell + 1], u * (1 - v));
    atomicAdd(&patch[cell + 64], (1 - u) * v);
    atomicAdd(&patch[cell + 65], u * v);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) charge[blockIdx.x * 4096 + k] += patch[k];
}

// Half a kick, a turn in the magnetic field, half a kick: positions and speeds in arrays of their own.
__global__ void push(float2* at, float* vx, float* vy, float* vz, const float4* field, int cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = at[i];
  const int cell =
      i / 4096 * 4096 % cells + static_cast<int>(p.y * 62.99f) * 64 + static_cast<int>(p.x * 62.99f);
  const float4 e = __ldg(&field[cell]);
  float x = vx[i] + 0.01f * e.x, y = vy[i] + 0.01f * e.y, z = vz[i] + 0.01f * e.z;
  const float gamma = rsqrtf(1 + x * x + y * y + z * z), t = 0.05f * e.w * gamma, s = 2 * t / (1 + t * t);
  const float x1 = x + y * t, y1 = y - x * t;
  x += y1 * s;
  y -= x1 * s;
  x += 0.01f * e.x;
  y += 0.01f * e.y;
  z += 0.01f * e.z;
  p.x += 0.001f * x * gamma;
  p.y += 0.001f * y * gamma;
  if (p.x < 0 || p.x >= 1) p.x = fabsf(p.x - floorf(p.x));
  if (p.y < 0 || p.y >= 1) p.y = fabsf(p.y - floorf(p.y));
  at[i] = p;
  vx[i] = x;
  vy[i] = y;
  vz[i] = z;
}

// Particles that meet: pairs of neighbours in memory scatter by a random angle, with a generator for each.
__global__ void collide(float4* speeds, unsigned seed, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  unsigned state = (i + 1) * 2654435761u ^ seed;
  float4 a = speeds[2 * i], b = speeds[2 * i + 1];
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, g = sqrtf(x * x + y * y + z * z);
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  if ((state >> 8) * (1.0f / 16777216) < 0.7f * g) {
    state = state * 1664525u + 1013904223u;
    const float c = 2 * (state >> 8) * (1.0f / 16777216) - 1, s = sqrtf(1 - c * c);
    state = state * 1664525u + 1013904223u;
    float sp, cp;
    sincosf((state >> 8) * (6.2831853f / 16777216), &sp, &cp);
    const float nx = g * s * cp, ny = g * s * sp, nz = g * c;
    a = make_float4(a.x + 0.5f * (nx - x), a.y + 0.5f * (ny - y), a.z + 0.5f * (nz - z), a.w + 1);
    b = make_float4(b.x - 0.5f * (nx - x), b.y - 0.5f * (ny - y), b.z - 0.5f * (nz - z), b.w + 1);
    speeds[2 * i] = a;
    speeds[2 * i + 1] = b;
  }
}

void run(int n) {
  const int cells = n;
  float* at = device_floats(2 * n);
  float* spread = device_array<float>(2 * n, [](int i) {
    return static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 7) % 65536u) / 65536;
  });
  float* speeds = device_floats(4 * n);
  float* field = device_floats(4 * cells);
  float* charge = device_zeros<float>(cells + 128);
  for (int r = 0; r < kLaunches; ++r)
    deposit_charge<<<ceil_div(n, 256), 256>>>((float2*)spread, charge, cells, n);
  for (int r = 0; r < kLaunches; ++r) deposit_charge<<<ceil_div(n, 64), 64>>>((float2*)at, charge, cells, n);
  for (int r = 0; r < kLaunches; ++r) deposit_patch<<<n / 4096, 512>>>((float2*)spread, charge);
  for (int r = 0; r < kLaunches; ++r)
    push<<<ceil_div(n, 192), 192>>>((float2*)spread, speeds, speeds + n, speeds + 2 * n, (float4*)field,
                                    cells, n);
  for (int r = 0; r < kLaunches; ++r) collide<<<ceil_div(n / 2, 128), 128>>>((float4*)speeds, 77, n / 2);
  free_all(at, spread, speeds, field, charge);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("particles_on_grids");
}
