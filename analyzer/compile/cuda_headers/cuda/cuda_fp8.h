// Numbers of 8 bits: the types of CUDA's cuda_fp8.h, and conversions by the instructions of sm_89 and later, in integer
// arithmetic before.
#pragma once
#pragma clang system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// A half is 5 bits of exponent and 10 of mantissa: e5m2 is its upper byte.
__WT_TARGET __nv_fp8x2_storage_t __wt_fp8x2_bits(float low, float high, __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  unsigned short r;
  if (kind == __NV_E4M3)
    __asm__("{cvt.rn.satfinite.e4m3x2.f32 %0,%2,%1;}" : "=h"(r) : "f"(low), "f"(high));
  else
    __asm__("{cvt.rn.satfinite.e5m2x2.f32 %0,%2,%1;}" : "=h"(r) : "f"(low), "f"(high));
  return r;
#else
  const float values[2] = {low, high};
  unsigned r = 0;
  for (int i = 0; i < 2; ++i) {
    const unsigned mantissa = kind == __NV_E4M3 ? 3 : 2, largest = kind == __NV_E4M3 ? 0x7eu : 0x7bu;
    const float limit = kind == __NV_E4M3 ? 448.0f : 57344.0f, least = kind == __NV_E4M3 ? 0x1p-6f : 0x1p-14f;
    const unsigned bits = __builtin_bit_cast(unsigned, values[i]), magnitude = bits & 0x7fffffffu;
    const float size = __builtin_bit_cast(float, magnitude);
    unsigned code;
    if (magnitude > 0x7f800000u) code = 0x7f;
    else if (size >= limit) code = largest;
    else if (size < least) code = static_cast<unsigned>(__builtin_rintf(size / least * static_cast<float>(1u << mantissa)));
    else {
      const unsigned shift = 23 - mantissa;
      const unsigned rounded = magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u);
      code = (rounded >> shift) - ((127u - (kind == __NV_E4M3 ? 7u : 15u)) << mantissa);
    }
    r |= (code | (bits >> 24 & 0x80u)) << (8 * i);
  }
  return static_cast<__nv_fp8x2_storage_t>(r);
#endif
}
__WT_TARGET __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  unsigned r;
  if (kind == __NV_E4M3) __asm__("{cvt.rn.f16x2.e4m3x2 %0,%1;}" : "=r"(r) : "h"(v));
  else __asm__("{cvt.rn.f16x2.e5m2x2 %0,%1;}" : "=r"(r) : "h"(v));
  return {static_cast<unsigned short>(r), static_cast<unsigned short>(r >> 16)};
#else
  unsigned short halves[2];
  for (int i = 0; i < 2; ++i) {
    const unsigned code = v >> (8 * i) & 0xffu;
    if (kind == __NV_E5M2) halves[i] = static_cast<unsigned short>(code << 8);
    else if ((code & 0x7fu) == 0x7fu) halves[i] = 0x7fff;
    else halves[i] = __wt_half_bits(__wt_half_value(static_cast<unsigned short>((code & 0x80u) << 8 | (code & 0x7fu) << 7)) * 256.0f);
  }
  return {halves[0], halves[1]};
#endif
}
__WT_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8x2_to_halfraw2(v, kind).x};
}
__WT_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8_storage_t>(__wt_fp8x2_bits(v, 0, kind));
}
__WT_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return __wt_fp8x2_bits(v.x, v.y, kind);
}
__WT_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(v), s, kind);
}
__WT_DEVICE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__wt_half_value(v.x), s, kind);
}
__WT_DEVICE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return __wt_fp8x2_bits(__wt_half_value(v.x), __wt_half_value(v.y), kind);
}
__WT_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t s,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__wt_bfloat16_value(v.x), s, kind);
}
__WT_DEVICE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t,
                                                               __nv_fp8_interpretation_t kind) {
  return __wt_fp8x2_bits(__wt_bfloat16_value(v.x), __wt_bfloat16_value(v.y), kind);
}

#define __WT_FP8(name, kind)                                                                                     \
  struct __nv_fp8_##name {                                                                                       \
    __nv_fp8_storage_t __x;                                                                                      \
    __nv_fp8_##name() = default;                                                                                 \
    __WT_MEMBER explicit __nv_fp8_##name(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind)) {}       \
    __WT_MEMBER explicit __nv_fp8_##name(double v) : __nv_fp8_##name(static_cast<float>(v)) {}                   \
    __WT_MEMBER explicit __nv_fp8_##name(int v) : __nv_fp8_##name(static_cast<float>(v)) {}                      \
    __WT_MEMBER explicit __nv_fp8_##name(__half v) : __nv_fp8_##name(__half2float(v)) {}                         \
    __WT_MEMBER explicit __nv_fp8_##name(__nv_bfloat16 v) : __nv_fp8_##name(__bfloat162float(v)) {}              \
    __WT_MEMBER explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }          \
    __WT_MEMBER explicit operator float() const { return __wt_half_value(__nv_cvt_fp8_to_halfraw(__x, kind).x); } \
    __WT_MEMBER explicit operator double() const { return static_cast<float>(*this); }                           \
    __WT_MEMBER explicit operator __nv_bfloat16() const { return __float2bfloat16(static_cast<float>(*this)); }  \
    __WT_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                                     \
  };                                                                                                             \
  struct __align__(2) __nv_fp8x2_##name {                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                    \
    __nv_fp8x2_##name() = default;                                                                               \
    __WT_MEMBER explicit __nv_fp8x2_##name(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    __WT_MEMBER explicit __nv_fp8x2_##name(__half2 v) : __nv_fp8x2_##name(__half22float2(v)) {}                  \
    __WT_MEMBER explicit __nv_fp8x2_##name(__nv_bfloat162 v) : __nv_fp8x2_##name(__bfloat1622float2(v)) {}       \
    __WT_MEMBER explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }     \
    __WT_MEMBER explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); }         \
  };                                                                                                             \
  struct __align__(4) __nv_fp8x4_##name {                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                    \
    __nv_fp8x4_##name() = default;                                                                               \
    __WT_MEMBER explicit __nv_fp8x4_##name(float4 v)                                                             \
        : __x(__nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, kind) |                            \
              static_cast<unsigned>(__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __NV_SATFINITE, kind)) << 16) {} \
    __WT_MEMBER explicit operator float4() const {                                                               \
      __nv_fp8x2_##name low, high;                                                                               \
      low.__x = static_cast<unsigned short>(__x);                                                                \
      high.__x = static_cast<unsigned short>(__x >> 16);                                                         \
      const float2 a = static_cast<float2>(low), b = static_cast<float2>(high);                                  \
      return make_float4(a.x, a.y, b.x, b.y);                                                                    \
    }                                                                                                            \
  };
__WT_FP8(e4m3, __NV_E4M3)
__WT_FP8(e5m2, __NV_E5M2)
#undef __WT_FP8
