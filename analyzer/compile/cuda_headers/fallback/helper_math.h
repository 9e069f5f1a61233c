// Arithmetic on CUDA's vector types, which many projects take from a header of this name: operators of two vectors and
// of a vector and a number, and the usual functions of geometry.
#pragma once
#pragma clang system_header

#include <cuda_runtime.h>

#define __WT_OPERATOR(n, vector, element, op)                                                                        \
  __WT_BOTH vector operator op(vector a, vector b) { return make_##vector(__WT_OP##n(a., b., op)); }                 \
  __WT_BOTH vector operator op(vector a, element b) { return make_##vector(__WT_OPR##n(a., b, op)); }                \
  __WT_BOTH vector operator op(element a, vector b) { return make_##vector(__WT_OPL##n(a, b., op)); }                \
  __WT_BOTH void operator op##=(vector& a, vector b) { a = a op b; }                                                 \
  __WT_BOTH void operator op##=(vector& a, element b) { a = a op b; }
#define __WT_OP2(a, b, op) a x op b x, a y op b y
#define __WT_OP3(a, b, op) __WT_OP2(a, b, op), a z op b z
#define __WT_OP4(a, b, op) __WT_OP3(a, b, op), a w op b w
#define __WT_OPR2(a, b, op) a x op b, a y op b
#define __WT_OPR3(a, b, op) __WT_OPR2(a, b, op), a z op b
#define __WT_OPR4(a, b, op) __WT_OPR3(a, b, op), a w op b
#define __WT_OPL2(a, b, op) a op b x, a op b y
#define __WT_OPL3(a, b, op) __WT_OPL2(a, b, op), a op b z
#define __WT_OPL4(a, b, op) __WT_OPL3(a, b, op), a op b w
#define __WT_VECTOR(n, vector, element) \
  __WT_OPERATOR(n, vector, element, +)  \
  __WT_OPERATOR(n, vector, element, -)  \
  __WT_OPERATOR(n, vector, element, *)
#define __WT_VECTORS(name, element)   \
  __WT_VECTOR(2, name##2, element)    \
  __WT_VECTOR(3, name##3, element)    \
  __WT_VECTOR(4, name##4, element)
__WT_VECTORS(float, float)
__WT_VECTORS(int, int)
__WT_VECTORS(uint, unsigned)
__WT_OPERATOR(2, float2, float, /)
__WT_OPERATOR(3, float3, float, /)
__WT_OPERATOR(4, float4, float, /)

#define __WT_PAIRS2(f) f(a.x, b.x), f(a.y, b.y)
#define __WT_PAIRS3(f) __WT_PAIRS2(f), f(a.z, b.z)
#define __WT_PAIRS4(f) __WT_PAIRS3(f), f(a.w, b.w)
#define __WT_ALONE2(f) f(a.x), f(a.y)
#define __WT_ALONE3(f) __WT_ALONE2(f), f(a.z)
#define __WT_ALONE4(f) __WT_ALONE3(f), f(a.w)
#define __WT_LESS(a, b) ((a) < (b) ? (a) : (b))
#define __WT_MORE(a, b) ((a) > (b) ? (a) : (b))
#define __WT_FRACTION(a) ((a) - __builtin_floorf(a))
#define __WT_NEGATIVE(a) (-(a))
#define __WT_FLOATS(n)                                                                                               \
  __WT_BOTH float##n operator-(const float##n& a) { return make_float##n(__WT_ALONE##n(__WT_NEGATIVE)); }            \
  __WT_BOTH float##n fminf(float##n a, float##n b) { return make_float##n(__WT_PAIRS##n(__builtin_fminf)); }         \
  __WT_BOTH float##n fmaxf(float##n a, float##n b) { return make_float##n(__WT_PAIRS##n(__builtin_fmaxf)); }         \
  __WT_BOTH float##n floorf(float##n a) { return make_float##n(__WT_ALONE##n(__builtin_floorf)); }                   \
  __WT_BOTH float##n fabs(float##n a) { return make_float##n(__WT_ALONE##n(__builtin_fabsf)); }                      \
  __WT_BOTH float##n fracf(float##n a) { return make_float##n(__WT_ALONE##n(__WT_FRACTION)); }                       \
  __WT_BOTH float##n make_float##n(float a) { return make_float##n(__WT_ALONE##n##_SAME); }                          \
  __WT_DEVICE float length(float##n v) { return sqrtf(dot(v, v)); }                                                  \
  __WT_DEVICE float##n normalize(float##n v) { return v * rsqrtf(dot(v, v)); }                                       \
  __WT_BOTH float##n lerp(float##n a, float##n b, float t) { return a + t * (b - a); }                               \
  __WT_BOTH float##n reflect(float##n i, float##n normal) { return i - 2.0f * normal * dot(normal, i); }             \
  __WT_BOTH float##n clamp(float##n v, float low, float high) {                                                      \
    return fmaxf(make_float##n(low), fminf(v, make_float##n(high)));                                                 \
  }                                                                                                                  \
  __WT_BOTH float##n clamp(float##n v, float##n low, float##n high) { return fmaxf(low, fminf(v, high)); }
#define __WT_ALONE2_SAME a, a
#define __WT_ALONE3_SAME a, a, a
#define __WT_ALONE4_SAME a, a, a, a
#define __WT_INTEGERS(type, element, n)                                                                              \
  __WT_BOTH type##n min(type##n a, type##n b) { return make_##type##n(__WT_PAIRS##n(__WT_LESS)); }                   \
  __WT_BOTH type##n max(type##n a, type##n b) { return make_##type##n(__WT_PAIRS##n(__WT_MORE)); }                   \
  __WT_BOTH type##n make_##type##n(element a) { return make_##type##n(__WT_ALONE##n##_SAME); }                       \
  __WT_BOTH type##n clamp(type##n v, type##n low, type##n high) { return max(low, min(v, high)); }

__WT_BOTH float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
__WT_BOTH float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__WT_BOTH float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__WT_FLOATS(2)
__WT_FLOATS(3)
__WT_FLOATS(4)
__WT_INTEGERS(int, int, 2)
__WT_INTEGERS(int, int, 3)
__WT_INTEGERS(int, int, 4)
__WT_INTEGERS(uint, unsigned, 2)
__WT_INTEGERS(uint, unsigned, 3)
__WT_INTEGERS(uint, unsigned, 4)
__WT_BOTH float lerp(float a, float b, float t) { return a + t * (b - a); }
__WT_BOTH float clamp(float v, float low, float high) { return __builtin_fmaxf(low, __builtin_fminf(v, high)); }
__WT_BOTH int clamp(int v, int low, int high) { return __WT_MORE(low, __WT_LESS(v, high)); }
__WT_BOTH unsigned clamp(unsigned v, unsigned low, unsigned high) { return __WT_MORE(low, __WT_LESS(v, high)); }
__WT_BOTH float smoothstep(float low, float high, float v) {
  const float t = clamp((v - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}
__WT_BOTH float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__WT_BOTH float2 make_float2(float3 v) { return make_float2(v.x, v.y); }
__WT_BOTH float2 make_float2(int2 v) { return make_float2(static_cast<float>(v.x), static_cast<float>(v.y)); }
__WT_BOTH float2 make_float2(uint2 v) { return make_float2(static_cast<float>(v.x), static_cast<float>(v.y)); }
__WT_BOTH float3 make_float3(float2 v) { return make_float3(v.x, v.y, 0.0f); }
__WT_BOTH float3 make_float3(float2 v, float z) { return make_float3(v.x, v.y, z); }
__WT_BOTH float3 make_float3(float4 v) { return make_float3(v.x, v.y, v.z); }
__WT_BOTH float3 make_float3(int3 v) {
  return make_float3(static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z));
}
__WT_BOTH float3 make_float3(uint3 v) {
  return make_float3(static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z));
}
__WT_BOTH float4 make_float4(float3 v) { return make_float4(v.x, v.y, v.z, 0.0f); }
__WT_BOTH float4 make_float4(float3 v, float w) { return make_float4(v.x, v.y, v.z, w); }
__WT_BOTH float4 make_float4(int4 v) {
  return make_float4(static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z), static_cast<float>(v.w));
}
__WT_BOTH int2 make_int2(int3 v) { return make_int2(v.x, v.y); }
__WT_BOTH int3 make_int3(float3 v) {
  return make_int3(static_cast<int>(v.x), static_cast<int>(v.y), static_cast<int>(v.z));
}
__WT_BOTH int3 make_int3(int2 v, int z) { return make_int3(v.x, v.y, z); }
__WT_BOTH int3 make_int3(uint3 v) {
  return make_int3(static_cast<int>(v.x), static_cast<int>(v.y), static_cast<int>(v.z));
}
__WT_BOTH uint3 make_uint3(uint2 v, unsigned z) { return make_uint3(v.x, v.y, z); }
