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
#define __WT_MEMBER __inline__ __attribute__((host, device, always_inline, nodebug))  // of a class
// Written in software here, and in libdevice under nvcc: another number of instructions. The user is told (see SignatureSink).
#define __WT_MATH __attribute__((annotate("warptime.math"))) __WT_DEVICE
// What stands behind it depends on the target: a source that uses it is compiled anew for each.
#define __WT_TARGET __attribute__((annotate("warptime.target"))) __WT_DEVICE

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
// What the C library's headers define and nvcc's bring along.
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
#ifndef INT_MAX
#define CHAR_BIT 8
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define ULONG_MAX (__LONG_MAX__ * 2UL + 1UL)
#define LLONG_MAX __LONG_LONG_MAX__
#define SHRT_MAX __SHRT_MAX__
#define USHRT_MAX (__SHRT_MAX__ * 2 + 1)
#define UCHAR_MAX (__SCHAR_MAX__ * 2 + 1)
#endif
#ifndef NULL
#define NULL __null
#endif
