// A lattice Boltzmann fluid: nine directions in a plane of n x n cells, nineteen in a volume.
#include "device.h"

__constant__ int step_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int step_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                                1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

// kArrays: an array for each direction, or the nine numbers of a cell in a row.
template <bool kArrays>
__global__ void flow_plane(const float* in, float* out, float omega, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float f[9], density = 0, u = 0, v = 0;
#pragma unroll
  for (int d = 0; d < 9; ++d) {
    const int from = (y - step_y[d] + n) % n * n + (x - step_x[d] + n) % n;
    f[d] = in[kArrays ? d * n * n + from : from * 9 + d];
    density += f[d];
    u += f[d] * step_x[d];
    v += f[d] * step_y[d];
  }
  u /= density;
  v /= density;
  const float square = 1.5f * (u * u + v * v);
#pragma unroll
  for (int d = 0; d < 9; ++d) {
    const float along = 3 * (u * step_x[d] + v * step_y[d]);
    const float rest = weight[d] * density * (1 + along + 0.5f * along * along - square);
    out[kArrays ? d * n * n + y * n + x : (y * n + x) * 9 + d] = f[d] + omega * (rest - f[d]);
  }
}

__global__ void stream_volume(const double* in, double* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= n) return;
  const int cells = n * n * n;
  double sum = 0;
  int d = 0;
#pragma unroll
  for (int w = -1; w <= 1; ++w)
#pragma unroll
    for (int v = -1; v <= 1; ++v)
#pragma unroll
      for (int u = -1; u <= 1; ++u) {
        if (u * u + v * v + w * w > 2) continue;
        const int i = min(max(x - u, 0), n - 1), j = min(max(y - v, 0), n - 1), k = min(max(z - w, 0), n - 1);
        const double f = in[d * cells + (k * n + j) * n + i];
        sum += f;
        out[d * cells + (z * n + y) * n + x] = 0.9 * f + 0.1 * sum;
        ++d;
      }
}

void run(int n) {
  const int cells = n * n, side = n / 16;
  float* in = device_floats(9 * cells);
  float* out = device_zeros<float>(9 * cells);
  const dim3 flat(64, 2), flats(ceil_div(n, 64), ceil_div(n, 2));
  for (int r = 0; r < kLaunches; ++r) flow_plane<true><<<flats, flat>>>(in, out, 0.6f, n);
  for (int r = 0; r < kLaunches; ++r) flow_plane<false><<<flats, flat>>>(in, out, 0.6f, n);
  free_all(in, out);
  double* from = device_doubles(19 * side * side * side);
  double* to = device_zeros<double>(19 * side * side * side);
  for (int r = 0; r < kLaunches; ++r)
    stream_volume<<<dim3(ceil_div(side, 64), side, side), 64>>>(from, to, side);
  free_all(from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("lattice_gas");
}
