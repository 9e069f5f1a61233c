// A use of each of the parts of libcu++ and of the newer headers that come with warptime.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cufft.h>
#include <helper_math.h>
#include <mma.h>
#include <array>
#include <optional>
#include <variant>
namespace cg = cooperative_groups;

__global__ void atomics(int* n, float* f, unsigned long long* w) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  static_assert(sizeof(count) == sizeof(int));
  if (threadIdx.x == 0) count.store(0, cuda::std::memory_order_relaxed);
  __syncthreads();
  count.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> number(*n);
  number.fetch_max(3);
  int expected = 1;
  number.compare_exchange_strong(expected, 2);
  cuda::atomic_ref<float> sum(*f);
  sum += 2.0f;
  cuda::std::atomic_ref<unsigned long long> bits(*w);
  bits.fetch_and(7);
  n[1] = count;
}
__global__ void pipelines(float4* to, const float4* from) {
  __shared__ float4 stages[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, stages[0], from, cuda::aligned_size_t<16>(sizeof(stages[0])), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  to[threadIdx.x] = stages[0][threadIdx.x];
  pipe.consumer_release();
  __pipeline_memcpy_async(&stages[1][threadIdx.x], from + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  to[threadIdx.x + 128] = stages[1][threadIdx.x];
}
__global__ void numbers(float* f, __nv_fp8_e4m3* e, __nv_fp8_e5m2* g, cufftComplex* z, float3* v) {
  const auto pair = cuda::std::make_tuple(1, f[0]);
  f[cuda::ptx::get_sreg_laneid()] = cuda::std::get<1>(pair) + float(e[0]) + float(g[0]) + z[0].x;
  e[1] = __nv_fp8_e4m3(cuda::std::max(f[1], f[2]));
  g[1] = __nv_fp8_e5m2(cuda::maximum{}(f[3], f[4]));
  v[0] = normalize(v[1]) * 2.0f + cross(v[2], v[3]) - make_float3(dot(v[4], v[5]));
  f[5] = cuda::std::plus{}(f[6], f[7]) + cuda::ceil_div(blockDim.x, 7u) + cuda::std::sqrt(f[8]);
}
__global__ void choices(const cuda::std::variant<int, float>* v, float* f) {
  f[0] = cuda::std::visit([](auto x) { return static_cast<float>(x); }, v[0]);
  f[1] = std::get<float>(v[1]);
}
__global__ void checks(const std::optional<float>* o, const std::array<float, 3>* a, float* f, int i) {
  f[0] = o->value() + a->at(i);
}
#if __CUDA_ARCH__ >= 750
using namespace nvcuda;
__global__ void bits(int* to, const void* a, const void* b) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::fill_fragment(sum, 0);
  wmma::load_matrix_sync(left, a, 128);
  wmma::load_matrix_sync(right, b, 128);
  wmma::bmma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(to, sum, 8, wmma::mem_row_major);
}
#endif
#if __CUDA_ARCH__ >= 800
__global__ void barriers(int* to, const int* from) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[256];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, from, sizeof(tile), barrier);
  barrier.arrive_and_wait();
  to[threadIdx.x] = tile[threadIdx.x];
}
#endif
