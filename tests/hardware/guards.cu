// Guards that hold for some of a launch's warps, or for some lanes of a warp.
#include "device.h"

__global__ void first_thread(const float* in, float* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x] + 1;
}

__global__ void first_warp(const float* in, float* out) {
  if (threadIdx.x < 32) out[blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x] * 2;
}

__global__ void guarded_line(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 3;
}

__global__ void guarded_plane(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + x] + 4;
}

__global__ void guarded_volume(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = in[(z * ny + y) * nx + x] + 5;
}

__global__ void third_block(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x % 3 == 0) {
    out[i] = in[i] * in[i] + 1;
  } else {
    out[i] = 0;
  }
}

__global__ void odd_lanes(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2 == 1) out[i] = in[i] * 6;
}

int main() {
  const int n = 100000, width = 1000, height = 750, nx = 100, ny = 75, nz = 50;
  float* in = device_floats(1 << 20);
  float* out = device_floats(1 << 20);
  for (int run = 0; run < kRuns; ++run) first_thread<<<500, 256>>>(in, out);
  for (int run = 0; run < kRuns; ++run) first_warp<<<500, 256>>>(in, out);
  for (int run = 0; run < kRuns; ++run) guarded_line<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) guarded_line<<<ceil_div(n, 100), 100>>>(in, out, n);
  const dim3 flat(32, 8), square(16, 16), cube(8, 8, 4), odd(20, 7);
  for (int run = 0; run < kRuns; ++run)
    guarded_plane<<<dim3(ceil_div(width, 32), ceil_div(height, 8)), flat>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    guarded_plane<<<dim3(ceil_div(width, 16), ceil_div(height, 16)), square>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    guarded_plane<<<dim3(ceil_div(width, 20), ceil_div(height, 7)), odd>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    guarded_volume<<<dim3(ceil_div(nx, 8), ceil_div(ny, 8), ceil_div(nz, 4)), cube>>>(in, out, nx, ny, nz);
  for (int run = 0; run < kRuns; ++run) third_block<<<1000, 128>>>(in, out);
  for (int run = 0; run < kRuns; ++run) odd_lanes<<<1000, 128>>>(in, out);
  return finish("guards");
}
