// Neighbours, with guards at the edges.
#include "device.h"

__global__ void five_points(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    const float* p = in + y * width + x;
    out[y * width + x] = 0.25f * (p[-1] + p[1] + p[-width] + p[width]);
  }
}

__global__ void seven_points(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1) {
    const float* p = in + (z * ny + y) * nx + x;
    out[(z * ny + y) * nx + x] = p[0] + p[-1] + p[1] + p[-nx] + p[nx] + p[-nx * ny] + p[nx * ny];
  }
}

__global__ void columns_of_planes(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int z = 1; z < nz - 1; ++z) {
    const int i = (z * ny + y) * nx + x;
    out[i] = in[i - nx * ny] - 2 * in[i] + in[i + nx * ny];
  }
}

__global__ void three_points_shared(const float* in, float* out, int n) {
  __shared__ float tile[256 + 2];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
  if (i < n) tile[t] = in[i];
  if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0;
  if (threadIdx.x == blockDim.x - 1 || i == n - 1) tile[t + 1] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[t - 1] + tile[t] + tile[t + 1];
}

int main() {
  const int width = 1000, height = 750, nx = 100, ny = 75, nz = 50;
  float* in = device_floats(width * height);
  float* out = device_floats(width * height);
  for (int run = 0; run < kRuns; ++run)
    five_points<<<dim3(ceil_div(width, 32), ceil_div(height, 8)), dim3(32, 8)>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    five_points<<<dim3(ceil_div(width, 16), ceil_div(height, 16)), dim3(16, 16)>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    seven_points<<<dim3(ceil_div(nx, 8), ceil_div(ny, 8), ceil_div(nz, 4)), dim3(8, 8, 4)>>>(in, out, nx, ny,
                                                                                             nz);
  for (int run = 0; run < kRuns; ++run)
    columns_of_planes<<<dim3(ceil_div(nx, 32), ceil_div(ny, 4)), dim3(32, 4)>>>(in, out, nx, ny, nz);
  for (int run = 0; run < kRuns; ++run) three_points_shared<<<ceil_div(100000, 256), 256>>>(in, out, 100000);
  return finish("stencils");
}
