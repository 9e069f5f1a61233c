// Complex numbers of floats and doubles: the types and functions of CUDA's cuComplex.h.
#pragma once
#pragma clang system_header

#include "cuda_runtime.h"
#include "warptime/math_basic.h"
#include "warptime/vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

__WT_BOTH float cuCrealf(cuFloatComplex v) { return v.x; }
__WT_BOTH float cuCimagf(cuFloatComplex v) { return v.y; }
__WT_BOTH double cuCreal(cuDoubleComplex v) { return v.x; }
__WT_BOTH double cuCimag(cuDoubleComplex v) { return v.y; }

// Division and magnitude scale their parts, so that nothing overflows on the way.
#define __WT_COMPLEX(f, complex, real, absolute, root)                                                       \
  __WT_BOTH complex cuConj##f(complex v) { return {v.x, -v.y}; }                                             \
  __WT_BOTH complex cuCadd##f(complex a, complex b) { return {a.x + b.x, a.y + b.y}; }                       \
  __WT_BOTH complex cuCsub##f(complex a, complex b) { return {a.x - b.x, a.y - b.y}; }                       \
  __WT_BOTH complex cuCmul##f(complex a, complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  __WT_BOTH complex cuCdiv##f(complex a, complex b) {                                                        \
    const real scale = real(1) / (absolute(b.x) + absolute(b.y));                                            \
    const real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                       \
    const real inverse = real(1) / (bx * bx + by * by);                                                      \
    return {(ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse};                                   \
  }                                                                                                          \
  __WT_BOTH real cuCabs##f(complex v) {                                                                      \
    const real x = absolute(v.x), y = absolute(v.y);                                                         \
    const real high = x > y ? x : y, low = x > y ? y : x;                                                    \
    const real ratio = low / high;                                                                           \
    const real r = high * root(real(1) + ratio * ratio);                                                     \
    return high == 0 || !(high < real(__builtin_inf())) || !(low < real(__builtin_inf())) ? x + y : r;       \
  }
__WT_COMPLEX(f, cuFloatComplex, float, __builtin_fabsf, __builtin_sqrtf)
__WT_COMPLEX(, cuDoubleComplex, double, __builtin_fabs, __builtin_sqrt)
#undef __WT_COMPLEX
__WT_BOTH cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
__WT_BOTH cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
__WT_BOTH cuComplex make_cuComplex(float x, float y) { return {x, y}; }
__WT_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y)};
}
__WT_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex v) { return {v.x, v.y}; }
__WT_BOTH cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) {
  return {a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};
}
__WT_BOTH cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) {
  return {a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};
}
