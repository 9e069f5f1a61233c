// A use of each of the headers that come with warptime beside cuda_runtime.h.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <mma.h>
namespace cg = cooperative_groups;

__global__ void halves(half* x, half2* y, float* f) {
  const int i = threadIdx.x;
  x[i] = x[i] * x[i + 1] + __float2half(f[i]);
  y[i] = __hfma2(y[i], y[i + 1], y[i + 2]);
  if (x[i] > half(1.0f)) f[i] = __half2float(x[i + 7]);
  x[i + 9] = hexp(half(3));
  atomicAdd(x, x[1]);
  atomicAdd(y, y[1]);
  x[3] = __shfl_down_sync(~0u, x[i], 3);
  y[9] = __ldg(y + 1);
}
__global__ void bfloats(__nv_bfloat16* x, __nv_bfloat162* y, float* f) {
  const int i = threadIdx.x;
  x[i] = x[i] * x[i + 1] + __float2bfloat16(f[i]);
  y[i] = __hfma2(y[i], y[i + 1], y[i + 2]);
  if (x[i] > __nv_bfloat16(1.0f)) f[i] = __bfloat162float(x[i + 7]);
}
__global__ void groups(float* f, int* n) {
  __shared__ float s[256];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  const auto four = cg::tiled_partition<4>(tile);
  float v = cg::reduce(tile, f[block.thread_rank()], cg::plus<float>());
  v += cg::reduce(four, v, cg::greater<float>{});
  if (tile.thread_rank() == 0) f[tile.meta_group_rank()] = v;
  n[0] = cg::reduce(tile, n[threadIdx.x], cg::plus<int>());
  cg::memcpy_async(block, s, f, sizeof(float) * 256);
  cg::wait(block);
  f[9] = s[3];
  const auto here = cg::coalesced_threads();
  n[2] = here.shfl(n[1], 0) + cg::inclusive_scan(tile, n[3]);
  cg::this_grid().sync();
}
__global__ void numbers(curandState* s, curandStatePhilox4_32_10_t* p, float* f) {
  curandState own = s[threadIdx.x];
  f[0] = curand_uniform(&own) + curand_normal(&own);
  s[threadIdx.x] = own;
  f[2] = curand_uniform4(p).x;
  curand_init(1, threadIdx.x, 0, s);
}
__global__ void complex(cuComplex* x) { x[0] = cuCmulf(x[1], cuCdivf(x[2], x[3])); }

texture<float, 2, cudaReadModeElementType> reference;
__global__ void textures(cudaTextureObject_t object, cudaSurfaceObject_t surface, float* f, int i) {
  f[0] = tex2D(reference, 1.0f, f[1]) + tex2D<float>(object, i, 2.0f) + tex3D<float4>(object, 1, 2, 3).x;
  surf2Dwrite(f[3], surface, i * 4, 2);
}
#if __CUDA_ARCH__ >= 700
using namespace nvcuda;
__global__ void matrices(half* a, half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < n; i += 16) {
    wmma::load_matrix_sync(left, a + i, n);
    wmma::load_matrix_sync(right, b + i, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
}
#endif
