// Images and tables sampled between their points.
#include "device.h"

__global__ void resize_bilinear(const float* in, float* out, int from, int to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= to || y >= to) return;
  const float scale = static_cast<float>(from) / to, u = x * scale, v = y * scale;
  const int i = static_cast<int>(u), j = static_cast<int>(v), i1 = min(i + 1, from - 1),
            j1 = min(j + 1, from - 1);
  const float a = u - i, b = v - j;
  out[y * to + x] = (1 - b) * ((1 - a) * in[j * from + i] + a * in[j * from + i1]) +
                    b * ((1 - a) * in[j1 * from + i] + a * in[j1 * from + i1]);
}

__global__ void rotate(const uchar4* in, uchar4* out, float s, float c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float u = c * (x - n / 2) - s * (y - n / 2) + n / 2, v = s * (x - n / 2) + c * (y - n / 2) + n / 2;
  const int i = __float2int_rd(u), j = __float2int_rd(v);
  uchar4 p = make_uchar4(0, 0, 0, 0);
  if (i >= 0 && j >= 0 && i < n && j < n) p = in[j * n + i];
  out[y * n + x] = p;
}

// A table of 32 x 32 x 32 values.
__global__ void look_up_3d(const float* table, const float* points, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float u = points[i] * 30.9f, v = points[(i + n / 3) % n] * 30.9f, w = points[(i + n / 2) % n] * 30.9f;
  const int x = static_cast<int>(u), y = static_cast<int>(v), z = static_cast<int>(w);
  const float a = u - x, b = v - y, c = w - z;
  const float* p = table + (z * 32 + y) * 32 + x;
  const float lower = (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[32] + a * p[33]);
  const float upper = (1 - b) * ((1 - a) * p[1024] + a * p[1025]) + b * ((1 - a) * p[1056] + a * p[1057]);
  out[i] = (1 - c) * lower + c * upper;
}

// Cubic pieces between 256 knots, found by halving.
__global__ void spline(const double* knots, const double* values, const double* at, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = at[i] * 254;
  int low = 0, high = 255;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (knots[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  const double t = x - knots[low], p = values[low], q = values[low + 1];
  out[i] = p + t * (q - p + t * (0.5 * (p - q) + t * (0.25 * (q - 2 * p))));
}

void run(int n) {
  const int count = n * n;
  float* in = device_floats(count);
  float* out = device_zeros<float>(count);
  float* table = device_floats(32 * 32 * 32);
  double* knots = device_array<double>(256, [](int i) { return 1.0 * i; });
  double* at = device_doubles(count);
  double* curve = device_zeros<double>(count);
  const dim3 flat(32, 8), flats(ceil_div(n, 32), ceil_div(n, 8));
  for (int r = 0; r < kLaunches; ++r) resize_bilinear<<<flats, flat>>>(in, out, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    resize_bilinear<<<dim3(ceil_div(n, 64), ceil_div(n, 32)), dim3(16, 16)>>>(in, out, n, n / 2);
  for (int r = 0; r < kLaunches; ++r)
    rotate<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>((uchar4*)in, (uchar4*)out, 0.5f, 0.866f,
                                                                     n);
  for (int r = 0; r < kLaunches; ++r) look_up_3d<<<ceil_div(count, 256), 256>>>(table, in, out, count);
  for (int r = 0; r < kLaunches; ++r) spline<<<ceil_div(count, 128), 128>>>(knots, knots, at, curve, count);
  free_all(in, out, table, knots, at, curve);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("interpolation");
}
