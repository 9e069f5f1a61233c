// Products of half-precision matrices with the warp's matrix instructions.
#include <cuda_fp16.h>
#include <mma.h>

#include "device.h"

using namespace nvcuda;

// Each warp makes 16 x 16 results, its operands straight from global memory.
__global__ void tile_per_warp(const __half* a, const __half* b, float* c, int n) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (warp * 16 >= n || row * 16 >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + row * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + warp * 16, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * 16 * n + warp * 16, sum, n, wmma::mem_row_major);
}

// A block of four warps makes 64 x 64 results of tiles in shared memory.
__global__ void tile_per_block(const __half* a, const __half* b, float* c, int n) {
  __shared__ __half as[64][32 + 8], bs[32][64 + 8];
  const int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i], 0.0f);
  for (int t = 0; t < n; t += 32) {
    for (int i = threadIdx.x; i < 64 * 4; i += 128)
      *(float4*)&as[i / 4][i % 4 * 8] = *(const float4*)&a[(row + i / 4) * n + t + i % 4 * 8];
    for (int i = threadIdx.x; i < 32 * 8; i += 128)
      *(float4*)&bs[i / 8][i % 8 * 8] = *(const float4*)&b[(t + i / 8) * n + column + i % 8 * 8];
    __syncthreads();
    for (int k = 0; k < 32; k += 16) {
      wmma::load_matrix_sync(left, &as[warp * 16][k], 40);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wmma::load_matrix_sync(right, &bs[k][i * 16], 72);
        wmma::mma_sync(sum[i], left, right, sum[i]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(c + (row + warp * 16) * n + column + i * 16, sum[i], n, wmma::mem_row_major);
}

void run(int n) {
  __half* a = device_zeros<__half>(n * n);
  __half* b = device_zeros<__half>(n * n);
  float* c = device_zeros<float>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    tile_per_warp<<<dim3(ceil_div(n, 64), ceil_div(n, 64)), dim3(128, 4)>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) tile_per_warp<<<dim3(ceil_div(n, 16), n / 16), 32>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) tile_per_block<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n);
  free_all(a, b, c);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tensor_products");
}
