// Threads of a warp that go apart: different trip counts, different branches.
#include "device.h"

__global__ void escape_times(int* out, int width, int height, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cx = -2.2f + 3.2f * x / width, cy = -1.4f + 2.8f * y / height;
  float a = 0, b = 0;
  int k = 0;
  while (k < most && a * a + b * b < 4) {
    const float t = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = t;
    ++k;
  }
  out[y * width + x] = k;
}

__global__ void collatz(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = i + 1;
  int steps = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  out[i] = steps;
}

__global__ void eight_branches(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  float y;
  switch (i % 8) {
    case 0:
      y = sinf(x);
      break;
    case 1:
      y = expf(x);
      break;
    case 2:
      y = logf(x + 1);
      break;
    case 3:
      y = sqrtf(x);
      break;
    case 4:
      y = x / (x + 3);
      break;
    case 5:
      y = powf(x + 1, 1.7f);
      break;
    case 6:
      y = atanf(x);
      break;
    default:
      y = x * x;
  }
  out[i] = y;
}

// The same by whole warps.
__global__ void branches_by_warp(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  const int kind = i / 32 % 4;
  float y = x;
  if (kind == 0)
    for (int k = 0; k < 20; ++k) y = y * 0.9f + 0.1f;
  else if (kind == 1)
    y = sinf(x) * cosf(x);
  else if (kind == 2)
    y = expf(-x) / (1 + x);
  out[i] = y;
}

// Each thread sums as many numbers as its lane says.
__global__ void triangular_lanes(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k <= threadIdx.x % 32; ++k) sum += in[(i + k * 32) % n];
  out[i] = sum;
}

void run(int n) {
  const int side = static_cast<int>(sqrtf(static_cast<float>(n)));
  float* in = device_floats(n);
  float* out = device_zeros<float>(n);
  for (int r = 0; r < kLaunches; ++r)
    escape_times<<<dim3(ceil_div(side, 16), ceil_div(side, 16)), dim3(16, 16)>>>((int*)out, side, side, 256);
  for (int r = 0; r < kLaunches; ++r)
    escape_times<<<dim3(ceil_div(side, 128), side), dim3(128, 1)>>>((int*)out, side, side, 256);
  for (int r = 0; r < kLaunches; ++r) collatz<<<ceil_div(n, 256), 256>>>((int*)out, n);
  for (int r = 0; r < kLaunches; ++r) eight_branches<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) branches_by_warp<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) triangular_lanes<<<ceil_div(n, 128), 128>>>(in, out, n);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("divergence");
}
