// Stencils over a line of n points.
#include "device.h"

__global__ void three_points(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}

__global__ void nine_points(const float* in, float* out, float a, float b, float c, float d, float e, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 4 || i >= n - 4) return;
  out[i] = a * in[i] + b * (in[i - 1] + in[i + 1]) + c * (in[i - 2] + in[i + 2]) +
           d * (in[i - 3] + in[i + 3]) + e * (in[i - 4] + in[i + 4]);
}

// Eight steps in shared memory, the block's ends getting shorter.
__global__ void eight_steps(const float* in, float* out, int n) {
  __shared__ float part[2][256];
  const int t = threadIdx.x, i = blockIdx.x * (256 - 16) - 8 + t;
  part[0][t] = i >= 0 && i < n ? in[i] : 0;
  int from = 0;
  for (int step = 1; step <= 8; ++step) {
    __syncthreads();
    if (t >= step && t < 256 - step)
      part[1 - from][t] = 0.3f * part[from][t - 1] + 0.4f * part[from][t] + 0.3f * part[from][t + 1];
    from = 1 - from;
  }
  if (t >= 8 && t < 248 && i < n) out[i] = part[from][t];
}

// Four points each, in a row.
__global__ void four_each(const float4* in, float4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n4 - 1) return;
  const float4 a = in[i - 1], b = in[i], c = in[i + 1];
  out[i] = make_float4(a.w - 2 * b.x + b.y, b.x - 2 * b.y + b.z, b.y - 2 * b.z + b.w, b.z - 2 * b.w + c.x);
}

void run(int n) {
  float* in = device_floats(n);
  float* out = device_zeros<float>(n);
  for (int r = 0; r < kLaunches; ++r)
    nine_points<<<ceil_div(n, 256), 256>>>(in, out, 0.4f, 0.2f, 0.05f, 0.03f, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    nine_points<<<ceil_div(n, 1024), 1024>>>(in, out, 0.4f, 0.2f, 0.05f, 0.03f, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r) eight_steps<<<ceil_div(n, 240), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) four_each<<<ceil_div(n, 512), 128>>>((float4*)in, (float4*)out, n / 4);
  free_all(in, out);
  double* from = device_doubles(n);
  double* to = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) three_points<<<ceil_div(n, 128), 128>>>(from, to, n);
  for (int r = 0; r < kLaunches; ++r) three_points<<<ceil_div(n, 48), 48>>>(from, to, n);
  free_all(from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stencils_1d");
}
