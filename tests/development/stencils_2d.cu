// Stencils over a plane of n x n points, at several block shapes.
#include "device.h"

__global__ void five_points(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                             in[(y + 1) * n + x]);
}

__global__ void nine_points_shared(const double* in, double* out, int n) {
  __shared__ double tile[18][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int t = threadIdx.y * 32 + threadIdx.x; t < 18 * 34; t += 512) {
    const int u = blockIdx.x * 32 - 1 + t % 34, v = blockIdx.y * 16 - 1 + t / 34;
    tile[t / 34][t % 34] = u >= 0 && v >= 0 && u < n && v < n ? in[v * n + u] : 0.0;
  }
  __syncthreads();
  double sum = 0;
  for (int v = 0; v < 3; ++v)
    for (int u = 0; u < 3; ++u) sum += tile[threadIdx.y + v][threadIdx.x + u] * (1 + u + v);
  if (x < n && y < n) out[y * n + x] = sum / 27;
}

// Heat through a material that conducts differently from place to place.
__global__ void heat(const float* heat_in, const float* conducts, float* heat_out, float dt, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x, w = x > 0 ? i - 1 : i, e = x < n - 1 ? i + 1 : i, s = y > 0 ? i - n : i,
            o = y < n - 1 ? i + n : i;
  const float here = heat_in[i], c = conducts[i];
  const float flow = 2 * c * conducts[w] / (c + conducts[w] + 1e-6f) * (heat_in[w] - here) +
                     2 * c * conducts[e] / (c + conducts[e] + 1e-6f) * (heat_in[e] - here) +
                     2 * c * conducts[s] / (c + conducts[s] + 1e-6f) * (heat_in[s] - here) +
                     2 * c * conducts[o] / (c + conducts[o] + 1e-6f) * (heat_in[o] - here);
  heat_out[i] = here + dt * flow;
}

__global__ void wave(const double* before, const double* now, double* after, double c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  after[i] = 2 * now[i] - before[i] + c * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i]);
}

// A thread goes down a strip of 16 rows, three rows in registers.
__global__ void strips(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, first = blockIdx.y * 16 + 1;
  if (x >= n - 1) return;
  float above = in[(first - 1) * n + x], here = in[first * n + x];
  for (int y = first; y < first + 16 && y < n - 1; ++y) {
    const float below = in[(y + 1) * n + x];
    out[y * n + x] = above + below + in[y * n + x - 1] + in[y * n + x + 1] - 4 * here;
    above = here;
    here = below;
  }
}

void run(int n) {
  float* in = device_floats(n * n);
  float* conducts = device_floats(n * n);
  float* out = device_zeros<float>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    five_points<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    five_points<<<dim3(ceil_div(n, 8), ceil_div(n, 32)), dim3(8, 32)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) five_points<<<dim3(ceil_div(n, 128), n), dim3(128, 1)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    five_points<<<dim3(ceil_div(n, 4), ceil_div(n, 4)), dim3(4, 4)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    heat<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(in, conducts, out, 0.1f, n);
  for (int r = 0; r < kLaunches; ++r) strips<<<dim3(ceil_div(n, 64), ceil_div(n, 16)), 64>>>(in, out, n);
  free_all(in, conducts, out);
  double* before = device_doubles(n * n);
  double* now = device_doubles(n * n);
  double* after = device_zeros<double>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    nine_points_shared<<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(before, after, n);
  for (int r = 0; r < kLaunches; ++r)
    wave<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(before, now, after, 0.25, n);
  free_all(before, now, after);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stencils_2d");
}
