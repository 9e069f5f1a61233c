// Square matrices transposed: one side strided, or through shared memory.
#include "device.h"

template <class T>
__global__ void reads_rows(const T* in, T* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

template <class T>
__global__ void writes_rows(const T* in, T* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = in[x * n + y];
}

template <class T, int kPad>
__global__ void through_tile(const T* in, T* out, int n) {
  __shared__ T tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

void run(int n) {
  float* in = device_floats(n * n);
  float* out = device_zeros<float>(n * n);
  const dim3 flat(32, 8), square(16, 16), tiles(n / 32, n / 32);
  for (int r = 0; r < kLaunches; ++r) reads_rows<float><<<dim3(n / 32, n / 8), flat>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) reads_rows<float><<<dim3(n / 16, n / 16), square>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) writes_rows<float><<<dim3(n / 32, n / 8), flat>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) through_tile<float, 0><<<tiles, flat>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) through_tile<float, 1><<<tiles, flat>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    through_tile<unsigned char, 1><<<tiles, flat>>>((unsigned char*)in, (unsigned char*)out, n);
  free_all(in, out);
  double* from = device_doubles(n * n);
  double* to = device_zeros<double>(n * n);
  for (int r = 0; r < kLaunches; ++r) through_tile<double, 1><<<tiles, flat>>>(from, to, n);
  for (int r = 0; r < kLaunches; ++r) writes_rows<double><<<dim3(n / 16, n / 16), square>>>(from, to, n);
  free_all(from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("transposes");
}
