// Kernels that make compilers emit many kinds of PTX; README.md says how the .ptx files here were made from
// it.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>

namespace cg = cooperative_groups;

__constant__ float coefficients[64];
__device__ int counter = 3;
__device__ float table[4][8] = {{1.0f, 2.0f}, {3.0f}};

__device__ __noinline__ float helper(float x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x * coefficients[i & 63];
  return sum;
}

struct Pair {
  double a;
  int b[3];
};

__device__ __noinline__ Pair make_pair_of(double a, int b) {
  return {a, {b, b + 1, b + 2}};
}

__device__ __noinline__ int recursive(int n) {
  return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

__device__ float add_one(float x) {
  return x + 1;
}
__device__ float twice(float x) {
  return x * 2;
}
typedef float (*Function)(float);
__device__ Function functions[2] = {add_one, twice};

__global__ void lifting(int n, float p, float u, float* x) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * k + 2 >= n) return;
  x[2 * k + 1] += p * (x[2 * k] + x[2 * k + 2]);
  x[2 * k] += u * x[2 * k + 1];
}

__global__ void convolution(const float* __restrict__ in, float* __restrict__ out, int taps) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < taps; ++t) sum = fmaf(coefficients[t], tile[(threadIdx.x + t) % blockDim.x], sum);
  out[i] = sum;
}

__global__ void haar4(const float4* in, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    out[i] = {v.x + v.y, v.z + v.w, v.x - v.y, v.z - v.w};
  }
}

__global__ void cases(int* x, int n) {
  int i = threadIdx.x;
  switch (n) {
    case 0:
      x[i] = i;
      break;
    case 1:
      x[i] *= 3;
      break;
    case 2:
      x[i] -= 7;
      break;
    case 3:
      x[i] ^= 0x55;
      break;
    case 4:
      x[i] <<= 2;
      break;
    case 5:
      x[i] = x[i] / (i + 1);
      break;
    case 6:
      x[i] = x[i] % (i + 3);
      break;
    case 7:
      x[i] = __popc(x[i]);
      break;
    default:
      x[i] = -1;
  }
}

__global__ void calls(float* x, int n, int which) {
  x[threadIdx.x] = helper(x[threadIdx.x], n) + functions[which & 1](x[0]);
  const Pair pair = make_pair_of(x[1], n);
  x[2] = static_cast<float>(pair.a) + pair.b[1] + recursive(n);
}

__global__ void warps(int* x) {
  int v = x[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  const unsigned ballot = __ballot_sync(0xffffffffu, v > 3);
  int predicate = 0;
  int reduced = 0;
#if __CUDA_ARCH__ >= 800
  reduced = __reduce_add_sync(0xffffffffu, v);
#endif
  const unsigned same = __match_all_sync(0xffffffffu, v, &predicate);
  x[threadIdx.x] =
      v + __popc(ballot) + static_cast<int>(same) + predicate + __any_sync(0xffffffffu, v) + reduced;
}

__global__ void atomics(int* x, float* y, unsigned long long* z, double* d) {
  atomicAdd(x, 1);
  atomicCAS(x + 1, 2, 3);
  atomicMax(x + 2, static_cast<int>(threadIdx.x));
  atomicAdd(y, 1.5f);
  atomicExch(z, 7ull);
  atomicAdd(d, 2.5);
  __threadfence();
}

__global__ void halves(__half2* h, __nv_bfloat16* b, const double* d) {
  h[threadIdx.x] = __hfma2(h[threadIdx.x], h[0], h[1]);
  b[threadIdx.x] = __float2bfloat16(__bfloat162float(b[threadIdx.x]) + static_cast<float>(d[0]));
}

__global__ void transcendental(float* x, double* d) {
  const int i = threadIdx.x;
  x[i] = sinf(x[i]) + __expf(x[i]) + rsqrtf(x[i]) + log2f(x[i]) / x[i];
  d[i] = sqrt(d[i]) + exp(d[i]) / d[0];
}

__global__ void matrices(const __half* a, const __half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out, float x, float y) {
  float4 v = tex2D<float4>(t, x, y);
  out[threadIdx.x] = v.x + v.w + tex1Dfetch<float>(t, 3) + tex2DLod<float>(t, x, y, 1.0f);
  surf2Dwrite(v.x, s, threadIdx.x * 4, 0);
}

__global__ void groups(int* x) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  x[block.thread_rank()] = tile.shfl_down(x[block.thread_rank()], 1);
  block.sync();
  x[0] = static_cast<int>(tile.size());
}

__global__ void inline_assembly(int* x, float* y) {
  int a, b;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p add.s32 %0, %1, 1; @!p mov.s32 %0, 0; }"
               : "=r"(a)
               : "r"(x[0]));
  asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.s32 p|_, %1, 4;\n\tselp.s32 %0, 1, 2, p;\n\t}"
               : "=r"(b)
               : "r"(x[1]));
  asm volatile("{.reg.b32 t; mov.b32 t, {%1, %2}; mov.b32 %0, t;}"
               : "=r"(a)
               : "h"(static_cast<short>(a)), "h"(static_cast<short>(b)));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(y));
  float f;
  asm volatile("ld.global.L2::128B.f32 %0, [%1+4];" : "=f"(f) : "l"(y));
  x[2] = a + b;
  y[0] = f;
}

__global__ void locals(int* x, int n) {
  int stack[32];
  for (int i = 0; i < 32; ++i) stack[i] = x[i];
  for (int i = 0; i < n; ++i) stack[(i * 7) & 31] += stack[x[i] & 31];
  x[0] = stack[n & 31];
  counter += 1;
  table[n & 3][1] += 1.0f;
  printf("%d %f\n", n, 1.5);
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
__global__ void copies(const int4* in, int* out) {
  __shared__ alignas(16) int4 staged[64];
  __shared__ alignas(8) uint64_t barrier;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&staged[threadIdx.x]));
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;");
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(64));
  __syncthreads();
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
  int done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(at), "l"(state));
  out[threadIdx.x] = staged[threadIdx.x ^ 1].y + done;
}
#endif

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2) clusters(int* x) {
  __shared__ int value;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) value = static_cast<int>(cluster.block_rank());
  cluster.sync();
  x[blockIdx.x] = *cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
  cluster.sync();
}
#endif
