// Arrays of n x n x n numbers with their axes in another order, turned, thinned, rolled.
#include <cuda_fp16.h>

#include "device.h"

// out[x][z][y] = in[z][y][x]: blocks of 8 x 8 x 4 threads along what is read.
__global__ void last_axis_first(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < n && y < n && z < n) out[(x * n + z) * n + y] = in[(z * n + y) * n + x];
}

// out[y][z][x] = in[z][y][x] by tiles of rows: 16 bytes for each thread.
__global__ void swap_outer_axes(const float4* __restrict__ in, float4* __restrict__ out, int quads, int n) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  for (int k = x; k < quads; k += blockDim.x) out[(y * n + z) * quads + k] = in[(z * n + y) * quads + k];
}

// out[z][x][y] = in[z][y][x]: tiles of 32 x 32 in shared memory, in double precision.
template <int kRows>
__global__ void swap_inner_axes(const double* __restrict__ in, double* __restrict__ out, int n) {
  __shared__ double tile[32][33];
  const double* plane = in + blockIdx.z * n * n;
  double* turned = out + blockIdx.z * n * n;
  const int left = blockIdx.x * 32, low = blockIdx.y * 32;
#pragma unroll
  for (int k = 0; k < 32; k += kRows)
    tile[k + threadIdx.y][threadIdx.x] = plane[(low + k + threadIdx.y) * n + left + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 32; k += kRows)
    turned[(left + k + threadIdx.y) * n + low + threadIdx.x] = tile[threadIdx.x][k + threadIdx.y];
}

// Five axes of 8, n / 8, n, n / 4 and 4, from the place in the result back to the place in the source.
__global__ void five_axes(const short* in, short* out, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int a = i % 8, b = i / 8 % n, c = i / 8 / n % (n / 4), d = i / 8 / n / (n / 4) % 4, e = i / 8 / n / n;
  out[i] = in[(((a * (n / 8) + e) * n + b) * (n / 4) + c) * 4 + d];
}

// Every second number along x, every third along y, backwards along z, in half precision.
__global__ void thin(const __half* in, __half* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (2 * x >= n || 3 * y >= n) return;
  out[(z * (n / 3 + 1) + y) * (n / 2) + x] =
      __hadd(in[((n - 1 - z) * n + 3 * y) * n + 2 * x], __float2half(1.0f));
}

// Each axis rolled by another distance: what leaves at an end comes back at the other; a loop over the grid.
__global__ void roll(const float* in, float* out, int by_x, int by_y, int by_z, int n) {
  const int count = n * n * n;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int x = (i + by_x) % n, y = (i / n + by_y) % n, z = (i / n / n + by_z) % n;
    out[(z * n + y) * n + x] = in[i];
  }
}

void run(int n) {
  const int count = n * n * n;
  double* in = device_doubles(count);
  double* out = device_zeros<double>(count);
  for (int r = 0; r < kLaunches; ++r)
    last_axis_first<<<dim3(ceil_div(n, 8), ceil_div(n, 8), ceil_div(n, 4)), dim3(8, 8, 4)>>>((float*)in,
                                                                                             (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    swap_outer_axes<<<dim3(n, n), 64>>>((float4*)in, (float4*)out, n / 4, n);
  for (int r = 0; r < kLaunches; ++r)
    swap_inner_axes<8><<<dim3(n / 32, n / 32, n), dim3(32, 8)>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    five_axes<<<ceil_div(count, 256), 256>>>((short*)in, (short*)out, n, count);
  for (int r = 0; r < kLaunches; ++r)
    thin<<<dim3(ceil_div(n / 2, 32), ceil_div(n, 3 * 8), n), dim3(32, 8)>>>((__half*)in, (__half*)out, n);
  for (int r = 0; r < kLaunches; ++r) roll<<<1320, 128>>>((float*)in, (float*)out, 5, n / 2, 3, n);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tensor_permutations");
}
