// One use of a function each: its instructions are counted, and compared with nvcc's.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
namespace cg = cooperative_groups;

#define HALF(name, value) \
  extern "C" __global__ void name(half* r, const half* a, const half* b, float* f, int* n) { r[0] = value; }
#define PAIR(name, value) \
  extern "C" __global__ void name(half2* r, const half2* a, const half2* b, float* f, int* n) { r[0] = value; }
#define FLOAT(name, value) \
  extern "C" __global__ void name(float* r, const half* a, const half2* b, const __nv_bfloat16* c) { r[0] = value; }
#define BF16(name, value) \
  extern "C" __global__ void name(__nv_bfloat16* r, const __nv_bfloat16* a, const __nv_bfloat16* b, float* f) { r[0] = value; }
#define GROUP(name, ...)                                  \
  extern "C" __global__ void name(float* f, int* n) {     \
    const auto block = cg::this_thread_block();           \
    const auto tile = cg::tiled_partition<32>(block);     \
    const auto four = cg::tiled_partition<4>(block);      \
    __VA_ARGS__;                                          \
  }
#define COMPLEX(name, value) \
  extern "C" __global__ void name(cuComplex* r, cuComplex* a) { r[0] = value; }

HALF(half_add, __hadd(*a, *b))
HALF(half_multiply, *a * *b)
HALF(half_subtract, *a - *b)
HALF(half_fma, __hfma(*a, *b, *a))
HALF(half_maximum, __hmax(*a, *b))
HALF(half_negative, __hneg(*a))
HALF(half_absolute, __habs(*a))
HALF(half_of_float, __float2half(*f))
HALF(half_of_int, __int2half_rn(*n))
HALF(half_compare, *a > *b ? *a : *b)
HALF(half_load, __ldg(a))
HALF(half_root, hsqrt(*a))
HALF(half_reciprocal, hrcp(*a))
PAIR(pair_add, __hadd2(*a, *b))
PAIR(pair_fma, __hfma2(*a, *b, *a))
PAIR(pair_maximum, __hmax2(*a, *b))
PAIR(pair_compare, __hgt2(*a, *b))
PAIR(pair_of_floats, __floats2half2_rn(f[0], f[1]))
PAIR(pair_of_one, __half2half2(a->x))
PAIR(pair_of_two, __halves2half2(a->x, b->y))
PAIR(pair_swapped, __lowhigh2highlow(*a))
FLOAT(float_of_half, __half2float(*a))
FLOAT(float_of_low, __low2float(*b))
FLOAT(floats_of_pair, __half22float2(*b).x + __half22float2(*b).y)
FLOAT(float_of_bf16, __bfloat162float(*c))
BF16(bf16_add, *a + *b)
BF16(bf16_multiply, *a * *b)
BF16(bf16_fma, __hfma(*a, *b, *a))
BF16(bf16_maximum, __hmax(*a, *b))
BF16(bf16_of_float, __float2bfloat16(*f))
GROUP(block_rank, n[0] = block.thread_rank())
GROUP(block_size, n[0] = block.size())
GROUP(block_sync, block.sync(); n[0] = 1)
GROUP(tile_rank, n[0] = tile.thread_rank())
GROUP(tile_number, n[0] = tile.meta_group_rank())
GROUP(tile_sync, tile.sync(); n[0] = 1)
GROUP(small_tile_sync, four.sync(); n[0] = 1)
GROUP(tile_ballot, n[0] = tile.ballot(n[1]))
GROUP(tile_any, n[0] = tile.any(n[1]))
GROUP(tile_sum, n[0] = cg::reduce(tile, n[1], cg::plus<int>()))
GROUP(coalesced_rank, const auto here = cg::coalesced_threads(); n[0] = here.thread_rank(); n[1] = here.size())
GROUP(coalesced_shuffle, n[0] = cg::coalesced_threads().shfl(n[1], 0))
GROUP(grid_rank, n[0] = static_cast<int>(cg::this_grid().thread_rank()))
COMPLEX(complex_add, cuCaddf(a[0], a[1]))
COMPLEX(complex_multiply, cuCmulf(a[0], a[1]))
COMPLEX(complex_divide, cuCdivf(a[0], a[1]))
