// Half-precision numbers: the types and functions of CUDA's cuda_fp16.h.
#pragma once
#pragma clang system_header

#include "cuda_runtime.h"
#include "warptime/half_common.h"

#define __CUDA_FP16_TYPES_EXIST__
#define __CUDA_FP16_H__

struct __align__(2) __half_raw { unsigned short x; };
struct __align__(4) __half2_raw { unsigned short x, y; };

__WT_DEVICE unsigned short __wt_half_bits(float v) {
  unsigned short r;
  __asm__("{cvt.rn.f16.f32 %0,%1;}" : "=h"(r) : "f"(v));
  return r;
}
__WT_DEVICE float __wt_half_value(unsigned short bits) {
  float r;
  __asm__("{cvt.f32.f16 %0,%1;}" : "=f"(r) : "h"(bits));
  return r;
}

#define __WT_CONVERT(name, to, to_ptx, to_constraint, from, from_ptx, from_constraint, rounding)  \
  __WT_DEVICE to name(from v) {                                                                   \
    to r;                                                                                         \
    __asm__("cvt." rounding to_ptx "." from_ptx " %0,%1;" : to_constraint(r) : from_constraint(v)); \
    return r;                                                                                     \
  }
#define __WT_CONVERT_INTEGER(type, ptx, constraint)                                               \
  __WT_CONVERT(__wt_half_of, unsigned short, "f16", "=h", type, ptx, constraint, "rn.")           \
  __WT_CONVERT_ROUNDED(type, ptx, constraint, rn, "rn.", "rni.")                                  \
  __WT_CONVERT_ROUNDED(type, ptx, constraint, rz, "rz.", "rzi.")                                  \
  __WT_CONVERT_ROUNDED(type, ptx, constraint, rd, "rm.", "rmi.")                                  \
  __WT_CONVERT_ROUNDED(type, ptx, constraint, ru, "rp.", "rpi.")
#define __WT_CONVERT_ROUNDED(type, ptx, constraint, suffix, to_half, to_integer)                  \
  __WT_CONVERT(__wt_half_of_##suffix, unsigned short, "f16", "=h", type, ptx, constraint, to_half) \
  __WT_DEVICE void __wt_from_half_##suffix(unsigned short v, type& r) {                           \
    __asm__("cvt." to_integer ptx ".f16 %0,%1;" : "=" constraint(r) : "h"(v));                    \
  }
__WT_CONVERT_INTEGER(short, "s16", "h")
__WT_CONVERT_INTEGER(unsigned short, "u16", "h")
__WT_CONVERT_INTEGER(int, "s32", "r")
__WT_CONVERT_INTEGER(unsigned, "u32", "r")
__WT_CONVERT_INTEGER(long long, "s64", "l")
__WT_CONVERT_INTEGER(unsigned long long, "u64", "l")
__WT_CONVERT(__wt_half_of, unsigned short, "f16", "=h", double, "f64", "d", "rn.")
__WT_CONVERT(__wt_half_of_rz, unsigned short, "f16", "=h", float, "f32", "f", "rz.")
__WT_CONVERT(__wt_half_of_rd, unsigned short, "f16", "=h", float, "f32", "f", "rm.")
__WT_CONVERT(__wt_half_of_ru, unsigned short, "f16", "=h", float, "f32", "f", "rp.")
#undef __WT_CONVERT
#undef __WT_CONVERT_INTEGER
#undef __WT_CONVERT_ROUNDED
__WT_DEVICE unsigned short __wt_half_of(float v) { return __wt_half_bits(v); }

struct __align__(2) __half {
  unsigned short __x;
  __half() = default;
  __WT_MEMBER constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  __WT_MEMBER __half& operator=(const __half_raw& raw) { __x = raw.x; return *this; }
  __WT_MEMBER operator __half_raw() const { return {__x}; }
#if !defined(__CUDA_NO_HALF_CONVERSIONS__)
  __WT_MEMBER __half(float v) : __x(__wt_half_bits(v)) {}
  __WT_MEMBER __half(double v) : __x(__wt_half_of(v)) {}
  __WT_MEMBER operator float() const { return __wt_half_value(__x); }
  __WT_MEMBER __half& operator=(float v) { __x = __wt_half_bits(v); return *this; }
  __WT_MEMBER __half& operator=(double v) { __x = __wt_half_of(v); return *this; }
#define __WT_INTEGER(type, as)                                                                      \
  __WT_MEMBER __half(type v) : __x(__wt_half_of(static_cast<as>(v))) {}                      \
  __WT_MEMBER __half& operator=(type v) { __x = __wt_half_of(static_cast<as>(v)); return *this; } \
  __WT_MEMBER operator type() const { as r; __wt_from_half_rz(__x, r); return static_cast<type>(r); }
  __WT_INTEGER(short, short)
  __WT_INTEGER(unsigned short, unsigned short)
  __WT_INTEGER(int, int)
  __WT_INTEGER(unsigned, unsigned)
  __WT_INTEGER(long long, long long)
  __WT_INTEGER(unsigned long long, unsigned long long)
#undef __WT_INTEGER
  __WT_MEMBER __half(long v) : __x(__wt_half_of(static_cast<long long>(v))) {}
  __WT_MEMBER __half(unsigned long v) : __x(__wt_half_of(static_cast<unsigned long long>(v))) {}
  __WT_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }
#endif
};

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __WT_MEMBER constexpr __half2(const __half& low, const __half& high) : x(low), y(high) {}
  __WT_MEMBER __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  __WT_MEMBER __half2& operator=(const __half2_raw& raw) {
    x = __half_raw{raw.x};
    y = __half_raw{raw.y};
    return *this;
  }
  __WT_MEMBER operator __half2_raw() const { return {x.__x, y.__x}; }
};

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#endif

template <> struct __wt_number<__half> {
  static __WT_MEMBER unsigned short narrow(float v) { return __wt_half_bits(v); }
};
__WT_DEVICE float __wt_widen(__half v) { return __wt_half_value(v.__x); }

#define __WT_H __half
#define __WT_H2 __half2
#define __WT_F "f16"
#define __WT_ONE 0x3c00
#define __WT_INFINITY 0x7c00
#define __WT_HAS_FMA (__CUDA_ARCH__ >= 530)
#define __WT_HAS_ALL (__CUDA_ARCH__ >= 530)
#define __WT_HAS_ATOMIC (__CUDA_ARCH__ >= 700)
#define __WT_HAS_ATOMIC2 (__CUDA_ARCH__ >= 600)
#include "warptime/half_arithmetic.h"

__WT_DEVICE __half __float2half(float v) { return __wt_of_bits<__half>(__wt_half_bits(v)); }
__WT_DEVICE __half __float2half_rn(float v) { return __float2half(v); }
__WT_DEVICE __half __float2half_rz(float v) { return __wt_of_bits<__half>(__wt_half_of_rz(v)); }
__WT_DEVICE __half __float2half_rd(float v) { return __wt_of_bits<__half>(__wt_half_of_rd(v)); }
__WT_DEVICE __half __float2half_ru(float v) { return __wt_of_bits<__half>(__wt_half_of_ru(v)); }
__WT_DEVICE __half __double2half(double v) { return __wt_of_bits<__half>(__wt_half_of(v)); }
__WT_DEVICE float __half2float(__half v) { return __wt_half_value(v.__x); }
#define __WT_ROUNDED(name, type, suffix)                                                              \
  __WT_DEVICE __half __##name##2half_##suffix(type v) { return __wt_of_bits<__half>(__wt_half_of_##suffix(v)); } \
  __WT_DEVICE type __half2##name##_##suffix(__half v) {                                               \
    type r;                                                                                           \
    __wt_from_half_##suffix(v.__x, r);                                                                \
    return r;                                                                                         \
  }
#define __WT_INTEGER(name, type)  \
  __WT_ROUNDED(name, type, rn)    \
  __WT_ROUNDED(name, type, rz)    \
  __WT_ROUNDED(name, type, rd)    \
  __WT_ROUNDED(name, type, ru)
__WT_INTEGER(short, short)
__WT_INTEGER(ushort, unsigned short)
__WT_INTEGER(int, int)
__WT_INTEGER(uint, unsigned)
__WT_INTEGER(ll, long long)
__WT_INTEGER(ull, unsigned long long)
#undef __WT_INTEGER
#undef __WT_ROUNDED
__WT_DEVICE signed char __half2char_rz(__half v) { return static_cast<signed char>(__half2int_rz(v)); }
__WT_DEVICE unsigned char __half2uchar_rz(__half v) { return static_cast<unsigned char>(__half2uint_rz(v)); }
__WT_DEVICE short __half_as_short(__half v) { return static_cast<short>(v.__x); }
__WT_DEVICE unsigned short __half_as_ushort(__half v) { return v.__x; }
__WT_DEVICE __half __short_as_half(short v) { return __wt_of_bits<__half>(static_cast<unsigned short>(v)); }
__WT_DEVICE __half __ushort_as_half(unsigned short v) { return __wt_of_bits<__half>(v); }

__WT_BOTH __half __low2half(__half2 v) { return v.x; }
__WT_BOTH __half __high2half(__half2 v) { return v.y; }
__WT_BOTH __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
__WT_BOTH __half2 make_half2(__half low, __half high) { return __half2(low, high); }
__WT_BOTH __half2 __half2half2(__half v) { return __half2(v, v); }
__WT_BOTH __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
__WT_BOTH __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
__WT_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
__WT_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
__WT_BOTH __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
__WT_DEVICE float __low2float(__half2 v) { return __wt_widen(v.x); }
__WT_DEVICE float __high2float(__half2 v) { return __wt_widen(v.y); }
__WT_DEVICE float2 __half22float2(__half2 v) { return make_float2(__wt_widen(v.x), __wt_widen(v.y)); }
__WT_DEVICE __half2 __float2half2_rn(float v) { return __half2half2(__float2half(v)); }
__WT_TARGET __half2 __floats2half2_rn(float low, float high) {
#if __CUDA_ARCH__ >= 800
  unsigned r;
  __asm__("{cvt.rn.f16x2.f32 %0,%2,%1;}" : "=r"(r) : "f"(low), "f"(high));
  return __builtin_bit_cast(__half2, r);
#else
  return __half2(__float2half(low), __float2half(high));
#endif
}
__WT_DEVICE __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
__WT_DEVICE __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {
  const __half2 real = __hfma2(__half2half2(a.x), b, c);
  return __hfma2(__half2(__hneg(a.y), a.y), __lowhigh2highlow(b), real);
}
