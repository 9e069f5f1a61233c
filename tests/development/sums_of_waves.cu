// Sums of cosines at n places: from constant and global memory, discrete cosine transforms of 8 x 8 blocks.
#include "device.h"

__constant__ float4 waves_constant[512];

__global__ void sums_constant(const float* x, float2* out, int waves, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float at = x[i];
  float real = 0, imaginary = 0;
  for (int k = 0; k < waves; ++k) {
    const float4 w = waves_constant[k];
    const float phase = w.x * at + w.y;
    real += w.z * __cosf(phase);
    imaginary += w.z * __sinf(phase);
  }
  out[i] = make_float2(real, imaginary);
}

__global__ void sums_global(const double* x, const double2* waves, double* out, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += waves[k].y * cos(waves[k].x * x[i]);
  out[i] = sum;
}

// A block of 64 threads for 8 x 8 numbers.
__global__ void cosines_8x8(const float* in, float* out, int width) {
  __shared__ float block[8][8], rows[8][8];
  const int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
  block[y][x] = in[at];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[y][k] * cospif((2 * k + 1) * x / 16.0f);
  rows[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += rows[k][x] * cospif((2 * k + 1) * y / 16.0f);
  out[at] = sum * 0.25f;
}

void run(int n) {
  float* x = device_floats(n);
  float2* out = device_zeros<float2>(n);
  float* table = device_floats(2048);
  cudaMemcpyToSymbol(waves_constant, table, sizeof waves_constant, 0, cudaMemcpyDeviceToDevice);
  double* dx = device_doubles(n);
  double* dout = device_zeros<double>(n);
  double* waves = device_doubles(512);
  const int width = 512, height = n / 512;
  for (int r = 0; r < kLaunches; ++r) sums_constant<<<ceil_div(n, 256), 256>>>(x, out, 512, n);
  for (int r = 0; r < kLaunches; ++r) sums_constant<<<ceil_div(n, 64), 64>>>(x, out, 100, n);
  for (int r = 0; r < kLaunches; ++r)
    sums_global<<<ceil_div(n, 128), 128>>>(dx, (double2*)waves, dout, 64, n);
  for (int r = 0; r < kLaunches; ++r)
    cosines_8x8<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(x, (float*)out, width);
  free_all(x, out, table, dx, dout, waves);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sums_of_waves");
}
