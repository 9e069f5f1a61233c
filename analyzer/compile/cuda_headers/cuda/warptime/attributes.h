#pragma once
#pragma clang system_header

// CUDA's own words. __noinline__ is one of clang's keywords.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))  // where it lives matters to the host alone
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__ __attribute__((nv_inline_hint))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __grid_constant__
#define __cluster_dims__(...)
#define __nv_pure__ __attribute__((pure))
#define CUDARTAPI
#define CUDART_CB

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__ 1
#define CUDART_VERSION 12050
#define CUDA_VERSION 12050
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 5
#define __CUDACC_VER_BUILD__ 0

// For the functions of these headers.
#define __WT_DEVICE static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define __WT_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
// Written in software here, and in libdevice under nvcc: another number of instructions. The user is told (see SignatureSink).
#define __WT_MATH __attribute__((annotate("warptime.math"))) __WT_DEVICE
// What stands behind it depends on the target: a source that uses it is compiled anew for each.
#define __WT_TARGET __attribute__((annotate("warptime.target"))) __WT_DEVICE

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif
