// bfloat16 numbers: the types and functions of CUDA's cuda_bf16.h. Before sm_80 there is no hardware for them: they are the
// upper halves of floats, and rounding is a few integer instructions.
#pragma once
#pragma clang system_header

#include "cuda_fp16.h"

#define __CUDA_BF16_TYPES_EXIST__
#define __CUDA_BF16_H__

struct __align__(2) __nv_bfloat16_raw { unsigned short x; };
struct __align__(4) __nv_bfloat162_raw { unsigned short x, y; };

__WT_TARGET unsigned short __wt_bfloat16_bits(float v) {
#if __CUDA_ARCH__ >= 800
  unsigned short r;
  __asm__("{cvt.rn.bf16.f32 %0,%1;}" : "=h"(r) : "f"(v));
  return r;
#else
  const unsigned bits = __builtin_bit_cast(unsigned, v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // ties to even
#endif
}
__WT_DEVICE float __wt_bfloat16_value(unsigned short bits) {
  float r;
  __asm__("{ mov.b32 %0, {0,%1};}" : "=f"(r) : "h"(bits));
  return r;
}

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __WT_MEMBER constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  __WT_MEMBER __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) { __x = raw.x; return *this; }
  __WT_MEMBER operator __nv_bfloat16_raw() const { return {__x}; }
#if !defined(__CUDA_NO_BFLOAT16_CONVERSIONS__)
  __WT_MEMBER __nv_bfloat16(float v) : __x(__wt_bfloat16_bits(v)) {}
  __WT_MEMBER __nv_bfloat16(double v) : __x(__wt_bfloat16_bits(static_cast<float>(v))) {}
  __WT_MEMBER operator float() const { return __wt_bfloat16_value(__x); }
  __WT_MEMBER __nv_bfloat16& operator=(float v) { __x = __wt_bfloat16_bits(v); return *this; }
  __WT_MEMBER __nv_bfloat16& operator=(double v) {
    __x = __wt_bfloat16_bits(static_cast<float>(v));
    return *this;
  }
#define __WT_INTEGER(type)                                                                               \
  __WT_MEMBER __nv_bfloat16(type v) : __x(__wt_bfloat16_bits(static_cast<float>(v))) {}           \
  __WT_MEMBER operator type() const { return static_cast<type>(__wt_bfloat16_value(__x)); }
  __WT_INTEGER(short)
  __WT_INTEGER(unsigned short)
  __WT_INTEGER(int)
  __WT_INTEGER(unsigned)
  __WT_INTEGER(long long)
  __WT_INTEGER(unsigned long long)
#undef __WT_INTEGER
  __WT_MEMBER __nv_bfloat16(long v) : __x(__wt_bfloat16_bits(static_cast<float>(v))) {}
  __WT_MEMBER __nv_bfloat16(unsigned long v) : __x(__wt_bfloat16_bits(static_cast<float>(v))) {}
  __WT_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }
#endif
};

struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __WT_MEMBER constexpr __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
  __WT_MEMBER __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  __WT_MEMBER operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

template <> struct __wt_number<__nv_bfloat16> {
  static __WT_MEMBER unsigned short narrow(float v) { return __wt_bfloat16_bits(v); }
};
__WT_DEVICE float __wt_widen(__nv_bfloat16 v) { return __wt_bfloat16_value(v.__x); }

#define __WT_IS_BF16
#define __WT_H __nv_bfloat16
#define __WT_H2 __nv_bfloat162
#define __WT_F "bf16"
#define __WT_ONE 0x3f80
#define __WT_INFINITY 0x7f80
#define __WT_HAS_FMA (__CUDA_ARCH__ >= 800)
#define __WT_HAS_ALL (__CUDA_ARCH__ >= 900)
#define __WT_HAS_ATOMIC (__CUDA_ARCH__ >= 900)
#define __WT_HAS_ATOMIC2 (__CUDA_ARCH__ >= 900)
#include "warptime/half_arithmetic.h"
#undef __WT_IS_BF16

__WT_DEVICE __nv_bfloat16 __float2bfloat16(float v) { return __wt_narrow<__nv_bfloat16>(v); }
__WT_DEVICE __nv_bfloat16 __float2bfloat16_rn(float v) { return __float2bfloat16(v); }
__WT_DEVICE __nv_bfloat16 __float2bfloat16_rz(float v) {
  return __wt_of_bits<__nv_bfloat16>(__builtin_bit_cast(unsigned, v) >> 16);
}
__WT_DEVICE __nv_bfloat16 __double2bfloat16(double v) { return __float2bfloat16(static_cast<float>(v)); }
__WT_DEVICE float __bfloat162float(__nv_bfloat16 v) { return __wt_widen(v); }
#define __WT_INTEGER(name, type)                                                                              \
  __WT_DEVICE __nv_bfloat16 __##name##2bfloat16_rn(type v) { return __float2bfloat16(static_cast<float>(v)); } \
  __WT_DEVICE type __bfloat162##name##_rn(__nv_bfloat16 v) { return static_cast<type>(__builtin_rintf(__wt_widen(v))); } \
  __WT_DEVICE type __bfloat162##name##_rz(__nv_bfloat16 v) { return static_cast<type>(__wt_widen(v)); }
__WT_INTEGER(short, short)
__WT_INTEGER(ushort, unsigned short)
__WT_INTEGER(int, int)
__WT_INTEGER(uint, unsigned)
__WT_INTEGER(ll, long long)
__WT_INTEGER(ull, unsigned long long)
#undef __WT_INTEGER
__WT_DEVICE short __bfloat16_as_short(__nv_bfloat16 v) { return static_cast<short>(v.__x); }
__WT_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
__WT_DEVICE __nv_bfloat16 __short_as_bfloat16(short v) {
  return __wt_of_bits<__nv_bfloat16>(static_cast<unsigned short>(v));
}
__WT_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __wt_of_bits<__nv_bfloat16>(v); }

__WT_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__WT_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
__WT_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
__WT_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
__WT_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return __nv_bfloat162(v, v); }
__WT_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
__WT_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
__WT_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
__WT_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
__WT_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }
__WT_DEVICE float __low2float(__nv_bfloat162 v) { return __wt_widen(v.x); }
__WT_DEVICE float __high2float(__nv_bfloat162 v) { return __wt_widen(v.y); }
__WT_DEVICE float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2(__wt_widen(v.x), __wt_widen(v.y)); }
__WT_DEVICE __nv_bfloat162 __float2bfloat162_rn(float v) { return __bfloat162bfloat162(__float2bfloat16(v)); }
__WT_TARGET __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
#if __CUDA_ARCH__ >= 800
  unsigned r;
  __asm__("{cvt.rn.bf16x2.f32 %0,%2,%1;}" : "=r"(r) : "f"(low), "f"(high));
  return __builtin_bit_cast(__nv_bfloat162, r);
#else
  return __nv_bfloat162(__float2bfloat16(low), __float2bfloat16(high));
#endif
}
__WT_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
