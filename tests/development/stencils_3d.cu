// Stencils over n x n x n points.
#include "device.h"

template <class T>
__global__ void seven_points(const T* in, T* out, T a, T b, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int i = (z * n + y) * n + x;
  out[i] = a * in[i] + b * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

__global__ void twenty_seven_points(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float sum = 0;
  for (int w = -1; w <= 1; ++w)
    for (int v = -1; v <= 1; ++v)
      for (int u = -1; u <= 1; ++u) sum += in[((z + w) * n + y + v) * n + x + u];
  out[(z * n + y) * n + x] = sum / 27;
}

// A thread goes through all planes, three of its points in registers.
__global__ void planes(const double* in, double* out, double c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int plane = n * n;
  int i = plane + y * n + x;
  double under = in[i - plane], here = in[i];
  for (int z = 1; z < n - 1; ++z) {
    const double over = in[i + plane];
    out[i] = c * (under + over + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]) - here;
    under = here;
    here = over;
    i += plane;
  }
}

// The same with each plane in shared memory, sixteen planes a block.
__global__ void planes_shared(const float* in, float* out, int n) {
  __shared__ float tile[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = n * n;
  const int first = blockIdx.z * 16 + 1, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool inside = x >= 1 && y >= 1 && x < n - 1 && y < n - 1;
  float under = in[(first - 1) * plane + y * n + x], here = in[first * plane + y * n + x];
  for (int z = first; z < first + 16 && z < n - 1; ++z) {
    const int i = z * plane + y * n + x;
    const float over = in[i + plane];
    tile[ty][tx] = here;
    if (tx == 1 && x > 0) tile[ty][0] = in[i - 1];
    if (tx == 32 && x < n - 1) tile[ty][33] = in[i + 1];
    if (ty == 1 && y > 0) tile[0][tx] = in[i - n];
    if (ty == 8 && y < n - 1) tile[9][tx] = in[i + n];
    __syncthreads();
    if (inside)
      out[i] =
          under + over + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 6 * here;
    __syncthreads();
    under = here;
    here = over;
  }
}

void run(int n) {
  float* in = device_floats(n * n * n);
  float* out = device_zeros<float>(n * n * n);
  for (int r = 0; r < kLaunches; ++r)
    seven_points<float><<<dim3(n / 8, n / 8, n / 4), dim3(8, 8, 4)>>>(in, out, 0.4f, 0.1f, n);
  for (int r = 0; r < kLaunches; ++r)
    seven_points<float><<<dim3(n / 32, n / 4, n / 2), dim3(32, 4, 2)>>>(in, out, 0.4f, 0.1f, n);
  for (int r = 0; r < kLaunches; ++r)
    twenty_seven_points<<<dim3(n / 32, n / 8, n), dim3(32, 8, 1)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) planes_shared<<<dim3(n / 32, n / 8, n / 16), dim3(32, 8)>>>(in, out, n);
  free_all(in, out);
  double* from = device_doubles(n * n * n);
  double* to = device_zeros<double>(n * n * n);
  for (int r = 0; r < kLaunches; ++r)
    seven_points<double><<<dim3(n / 32, n / 4, n), dim3(32, 4, 1)>>>(from, to, 0.4, 0.1, n);
  for (int r = 0; r < kLaunches; ++r) planes<<<dim3(n / 32, n / 4), dim3(32, 4)>>>(from, to, 0.2, n);
  free_all(from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stencils_3d");
}
