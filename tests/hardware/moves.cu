// Copies: strides, offsets, widths, transposes.
#include "device.h"

struct Triple {
  float x, y, z;
};

template <class T>
__global__ void copy(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_strided(const float* in, float* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

__global__ void copy_misaligned(const float* in, float* out, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i + offset] = in[i + offset];
}

__global__ void reverse(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

__global__ void transpose_naive(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

__global__ void transpose_tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (tx < height && ty + j < width) out[(ty + j) * height + tx] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int n = 100000, width = 1000, height = 750;
  float* in = device_floats(32 * n);
  float* out = device_floats(32 * n);
  for (int run = 0; run < kRuns; ++run) copy<float><<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) copy<float4><<<ceil_div(n, 256), 256>>>((float4*)in, (float4*)out, n);
  for (int run = 0; run < kRuns; ++run) copy<double><<<ceil_div(n, 192), 192>>>((double*)in, (double*)out, n);
  for (int run = 0; run < kRuns; ++run)
    copy<unsigned char><<<ceil_div(n, 256), 256>>>((unsigned char*)in, (unsigned char*)out, n);
  for (int run = 0; run < kRuns; ++run) copy<Triple><<<ceil_div(n, 256), 256>>>((Triple*)in, (Triple*)out, n);
  for (int run = 0; run < kRuns; ++run) copy_strided<<<ceil_div(n, 256), 256>>>(in, out, n, 2);
  for (int run = 0; run < kRuns; ++run) copy_strided<<<ceil_div(n, 256), 256>>>(in, out, n, 5);
  for (int run = 0; run < kRuns; ++run) copy_strided<<<ceil_div(n, 256), 256>>>(in, out, n, 32);
  for (int run = 0; run < kRuns; ++run) copy_misaligned<<<ceil_div(n, 256), 256>>>(in, out, n, 1);
  for (int run = 0; run < kRuns; ++run) copy_misaligned<<<ceil_div(n, 256), 256>>>(in, out, n, 11);
  for (int run = 0; run < kRuns; ++run) reverse<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run)
    transpose_naive<<<dim3(ceil_div(width, 16), ceil_div(height, 16)), dim3(16, 16)>>>(in, out, width,
                                                                                       height);
  for (int run = 0; run < kRuns; ++run)
    transpose_naive<<<dim3(ceil_div(width, 32), ceil_div(height, 8)), dim3(32, 8)>>>(in, out, width, height);
  for (int run = 0; run < kRuns; ++run)
    transpose_tiled<<<dim3(ceil_div(width, 32), ceil_div(height, 32)), dim3(32, 8)>>>(in, out, width, height);
  return finish("moves");
}
