#pragma once
#pragma clang system_header

// The vector types: C structures with the alignment that makes a load of 2 or 4 elements one instruction.
#define __WT_VECTORS(name, type, align2, align4)                                                         \
  struct name##1 { type x; };                                                                            \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                                        \
  struct name##3 { type x, y, z; };                                                                      \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                  \
  __WT_BOTH name##1 make_##name##1(type x) { return {x}; }                                               \
  __WT_BOTH name##2 make_##name##2(type x, type y) { return {x, y}; }                                    \
  __WT_BOTH name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                         \
  __WT_BOTH name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

__WT_VECTORS(char, signed char, 2, 4)
__WT_VECTORS(uchar, unsigned char, 2, 4)
__WT_VECTORS(short, short, 4, 8)
__WT_VECTORS(ushort, unsigned short, 4, 8)
__WT_VECTORS(int, int, 8, 16)

// uint3 itself stands with the built-in variables.
struct uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
__WT_BOTH uint1 make_uint1(unsigned int x) { return {x}; }
__WT_BOTH uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
__WT_BOTH uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
__WT_BOTH uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }

__WT_VECTORS(long, long, 16, 16)
__WT_VECTORS(ulong, unsigned long, 16, 16)
__WT_VECTORS(longlong, long long, 16, 16)
__WT_VECTORS(ulonglong, unsigned long long, 16, 16)
__WT_VECTORS(float, float, 8, 16)
__WT_VECTORS(double, double, 16, 16)
#undef __WT_VECTORS
