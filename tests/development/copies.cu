// Copies: contiguous in several widths, offset, strided, gathered, scattered, between structures and arrays.
#include "device.h"

template <class T>
__global__ void copy(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_offset(const float* in, float* out, int offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - offset) out[i] = in[i + offset];
}

template <int kStride>
__global__ void read_strided(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = n / kStride;
  if (i < n) out[i] = in[i % rows * kStride + i / rows];
}

__global__ void write_strided(const double* in, double* out, int stride, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = n / stride;
  if (i < n) out[i % rows * stride + i / rows] = in[i];
}

__global__ void gather(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

struct Point {
  float x, y, z;
};

__global__ void to_arrays(const Point* in, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Point p = in[i];
  x[i] = p.x;
  y[i] = p.y;
  z[i] = p.z;
}

__global__ void copy_by_few(const float4* in, float4* out, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) out[i] = in[i];
}

void run(int n) {
  float* in = device_floats(n);
  float* out = device_zeros<float>(n);
  int* far = device_ints(n, n);
  int* near = device_array<int>(n, [](int i) { return i ^ 21; });
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) copy<float><<<blocks, 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    copy<float4><<<ceil_div(n, 1024), 256>>>((float4*)in, (float4*)out, n / 4);
  for (int r = 0; r < kLaunches; ++r) copy<char><<<blocks, 256>>>((char*)in, (char*)out, n);
  for (int r = 0; r < kLaunches; ++r) copy_offset<<<ceil_div(n, 192), 192>>>(in, out, 3, n);
  for (int r = 0; r < kLaunches; ++r)
    copy_by_few<<<ceil_div(n, 16384), 256>>>((float4*)in, (float4*)out, n / 4);
  for (int r = 0; r < kLaunches; ++r) read_strided<2><<<blocks, 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) read_strided<8><<<blocks, 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) read_strided<32><<<blocks, 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    write_strided<<<ceil_div(n / 2, 128), 128>>>((double*)in, (double*)out, 16, n / 2);
  for (int r = 0; r < kLaunches; ++r) gather<<<blocks, 256>>>(in, far, out, n);
  for (int r = 0; r < kLaunches; ++r) gather<<<ceil_div(n, 128), 128>>>(in, near, out, n);
  for (int r = 0; r < kLaunches; ++r) scatter<<<blocks, 256>>>(in, far, out, n);
  for (int r = 0; r < kLaunches; ++r)
    to_arrays<<<ceil_div(n / 4, 128), 128>>>((Point*)in, out, out + n / 4, out + n / 2, n / 4);
  free_all(in, out, far, near);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("copies");
}
