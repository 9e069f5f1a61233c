// Pictures of n x n rays: spheres in constant memory, a distance field that rays march through, a grid of voxels.
#include "device.h"

__constant__ float4 spheres[64];

__global__ void hit_spheres(float* out, int count, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float u = 2.0f * x / n - 1, v = 2.0f * y / n - 1, length = rsqrtf(u * u + v * v + 1);
  const float dx = u * length, dy = v * length, dz = length;
  float nearest = 1e30f;
  for (int s = 0; s < count; ++s) {
    const float4 sphere = spheres[s];
    const float b = dx * sphere.x + dy * sphere.y + dz * sphere.z;
    const float c = sphere.x * sphere.x + sphere.y * sphere.y + sphere.z * sphere.z - sphere.w * sphere.w;
    const float discriminant = b * b - c;
    if (discriminant > 0) {
      const float t = b - sqrtf(discriminant);
      if (t > 0 && t < nearest) nearest = t;
    }
  }
  out[y * n + x] = nearest < 1e30f ? 1 / (1 + nearest) : 0;
}

__global__ void march(float* out, int most, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float u = 2.0f * x / n - 1, v = 2.0f * y / n - 1, length = rsqrtf(u * u + v * v + 1);
  float t = 0;
  int k = 0;
  for (; k < most; ++k) {
    const float px = u * length * t, py = v * length * t, pz = length * t - 3;
    const float ring = sqrtf(px * px + pz * pz) - 1, distance = sqrtf(ring * ring + py * py) - 0.4f;
    if (distance < 1e-3f || t > 20) break;
    t += distance;
  }
  out[y * n + x] = t + k;
}

__global__ void through_voxels(const unsigned char* voxels, float* out, int side, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float px = 1.0f * x * side / n, py = 1.0f * y * side / n, light = 1;
  const float dx = 0.3f * (x - n / 2) / n, dy = 0.3f * (y - n / 2) / n;
  for (int z = 0; z < side && light > 0.05f; ++z) {
    const int i = static_cast<int>(px), j = static_cast<int>(py);
    if (i < 0 || j < 0 || i >= side || j >= side) break;
    light *= 1 - voxels[(z * side + j) * side + i] * (0.05f / 255);
    px += dx;
    py += dy;
  }
  out[y * n + x] = light;
}

void run(int n) {
  float* out = device_zeros<float>(n * n);
  float* table = device_floats(64 * 4);
  cudaMemcpyToSymbol(spheres, table, sizeof spheres, 0, cudaMemcpyDeviceToDevice);
  unsigned char* voxels = (unsigned char*)device_ints(128 * 128 * 32, 1 << 30);
  const dim3 flat(32, 8), flats(ceil_div(n, 32), ceil_div(n, 8));
  for (int r = 0; r < kLaunches; ++r) hit_spheres<<<flats, flat>>>(out, 64, n);
  for (int r = 0; r < kLaunches; ++r) march<<<flats, flat>>>(out, 128, n);
  for (int r = 0; r < kLaunches; ++r)
    through_voxels<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(voxels, out, 128, n);
  free_all(out, table, voxels);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("rays");
}
