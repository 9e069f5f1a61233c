#pragma once
#pragma clang system_header

#include "math_basic.h"

// Single precision in software: built on the hardware's ex2, lg2, rsqrt and division where these are accurate enough, otherwise
// reduction and a short series. sinf, cosf and tanf lose accuracy beyond |x| > 1e5; there is no slow path for huge arguments.

template <int n> __WT_DEVICE float __wt_horner(const float (&c)[n], float x) {
  float sum = c[n - 1];
  _Pragma("unroll") for (int i = n - 2; i >= 0; --i) sum = __builtin_fmaf(sum, x, c[i]);
  return sum;
}

// 2^(whole + fraction): the whole part is exact in ex2, the fraction keeps its accuracy.
__WT_DEVICE float __wt_exp2(float x) { return __nvvm_ex2_approx_f(x); }
__WT_DEVICE float __wt_exp(float x) {
  const float n = __builtin_rintf(x * 1.44269504f);
  const float f = __builtin_fmaf(x, 1.92596299e-8f, __builtin_fmaf(x, 1.44269502f, -n));
  return __nvvm_ex2_approx_f(f) * __nvvm_ex2_approx_f(n);
}
__WT_DEVICE float __wt_exp10(float x) {
  const float n = __builtin_rintf(x * 3.32192809f);
  const float f = __builtin_fmaf(x, 7.05949496e-8f, __builtin_fmaf(x, 3.32192802f, -n));
  return __nvvm_ex2_approx_f(f) * __nvvm_ex2_approx_f(n);
}
__WT_DEVICE float __wt_expm1(float x) {
  const float c[] = {1.0f, 1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  const float near_zero = x * __wt_horner(c, x);
  const float far = __wt_exp(x) - 1.0f;
  return x > -0.5f && x < 0.5f ? near_zero : far;
}
__WT_DEVICE float __wt_log_parts(float x, int& e) {
  const bool tiny = x < 1.17549435e-38f;
  x = tiny ? x * 8388608.0f : x;
  const int above = __nvvm_bitcast_f2i(x) + (0x3f800000 - 0x3f3504f3);
  e = (above >> 23) - 127 - (tiny ? 23 : 0);
  const float m = __nvvm_bitcast_i2f((above & 0x007fffff) + 0x3f3504f3);
  const float s = __nvvm_div_rn_f(m - 1.0f, m + 1.0f);
  const float c[] = {2.0f, 2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9};
  return s * __wt_horner(c, s * s);
}
__WT_DEVICE float __wt_log_special(float x, float y) {
  y = x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : y;
  return x == __builtin_inff() ? x : y;
}
__WT_DEVICE float __wt_log(float x) {
  int e;
  const float m = __wt_log_parts(x, e);
  return __wt_log_special(x, __builtin_fmaf(static_cast<float>(e), 0.693147181f, m));
}
__WT_DEVICE float __wt_log2(float x) {
  int e;
  const float m = __wt_log_parts(x, e);
  return __wt_log_special(x, __builtin_fmaf(m, 1.44269504f, static_cast<float>(e)));
}
__WT_DEVICE float __wt_log10(float x) { return __wt_log(x) * 0.434294482f; }
__WT_DEVICE float __wt_log1p(float x) {
  const float u = 1.0f + x;
  return u == 1.0f ? x : u == __builtin_inff() ? u : __wt_log(u) - __nvvm_div_rn_f((u - 1.0f) - x, u);
}

__WT_DEVICE float __wt_reduce(float x, int& quadrant) {
  const float n = __builtin_rintf(x * 0.636619772f);
  quadrant = static_cast<int>(n);
  float r = __builtin_fmaf(n, -1.57079601e+00f, x);
  r = __builtin_fmaf(n, -3.13916473e-07f, r);
  return __builtin_fmaf(n, -5.39030253e-15f, r);
}
__WT_DEVICE float __wt_sin_near_zero(float r) {
  const float c[] = {1.0f, -1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880};
  return r * __wt_horner(c, r * r);
}
__WT_DEVICE float __wt_cos_near_zero(float r) {
  const float c[] = {1.0f, -1.0f / 2, 1.0f / 24, -1.0f / 720, 1.0f / 40320, -1.0f / 3628800};
  return __wt_horner(c, r * r);
}
__WT_DEVICE float __wt_quadrant_sin(float r, int quadrant) {
  const float y = (quadrant & 1) ? __wt_cos_near_zero(r) : __wt_sin_near_zero(r);
  return (quadrant & 2) ? -y : y;
}
__WT_DEVICE float __wt_sin(float x) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  return __wt_quadrant_sin(r, quadrant);
}
__WT_DEVICE float __wt_cos(float x) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  return __wt_quadrant_sin(r, quadrant + 1);
}
__WT_DEVICE float __wt_tan(float x) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  const float s = __wt_sin_near_zero(r);
  const float c = __wt_cos_near_zero(r);
  return (quadrant & 1) ? __nvvm_div_rn_f(-c, s) : __nvvm_div_rn_f(s, c);
}
__WT_DEVICE float __wt_sinpi(float x) {
  const float n = __builtin_rintf(2.0f * x);
  return __wt_quadrant_sin(__builtin_fmaf(n, -0.5f, x) * 3.14159265f, static_cast<int>(n));
}
__WT_DEVICE float __wt_cospi(float x) {
  const float n = __builtin_rintf(2.0f * x);
  return __wt_quadrant_sin(__builtin_fmaf(n, -0.5f, x) * 3.14159265f, static_cast<int>(n) + 1);
}

__WT_DEVICE float __wt_atan_quotient(float a, float b) {
  const bool swapped = a > b;
  const float small = swapped ? b : a;
  const float large = swapped ? a : b;
  const bool rotated = small > 0.414213562f * large;
  const float numerator = rotated ? small - large : small;
  const float denominator = rotated ? small + large : large;
  const float t = denominator == 0.0f ? 0.0f : __nvvm_div_rn_f(numerator, denominator);
  const float c[] = {1.0f, -1.0f / 3, 1.0f / 5, -1.0f / 7, 1.0f / 9, -1.0f / 11, 1.0f / 13, -1.0f / 15};
  float y = t * __wt_horner(c, t * t);
  y = rotated ? y + 0.785398163f : y;
  return swapped ? 1.57079633f - y : y;
}
__WT_DEVICE float __wt_atan(float x) { return __builtin_copysignf(__wt_atan_quotient(__builtin_fabsf(x), 1.0f), x); }
__WT_DEVICE float __wt_atan2(float y, float x) {
  const float a = __wt_atan_quotient(__builtin_fabsf(y), __builtin_fabsf(x));
  const bool left = __nvvm_bitcast_f2i(x) < 0;
  return __builtin_copysignf(left ? 3.14159265f - a : a, y);
}
__WT_DEVICE float __wt_asin(float x) { return __wt_atan2(x, __nvvm_sqrt_rn_f((1.0f - x) * (1.0f + x))); }
__WT_DEVICE float __wt_acos(float x) { return __wt_atan2(__nvvm_sqrt_rn_f((1.0f - x) * (1.0f + x)), x); }

__WT_DEVICE float __wt_sinh(float x) {
  const float m = __wt_expm1(__builtin_fabsf(x));
  return __builtin_copysignf(m == __builtin_inff() ? m : 0.5f * (m + __nvvm_div_rn_f(m, m + 1.0f)), x);
}
__WT_DEVICE float __wt_cosh(float x) {
  const float e = __wt_exp(__builtin_fabsf(x));
  return __builtin_fmaf(0.5f, e, __nvvm_div_rn_f(0.5f, e));
}
__WT_DEVICE float __wt_tanh(float x) {
  const float m = __wt_expm1(2.0f * __builtin_fabsf(x));
  return __builtin_copysignf(m == __builtin_inff() ? 1.0f : __nvvm_div_rn_f(m, m + 2.0f), x);
}
__WT_DEVICE float __wt_asinh(float x) {
  const float a = __builtin_fabsf(x);
  const float root = __nvvm_sqrt_rn_f(__builtin_fmaf(a, a, 1.0f));
  const float y = a > 1e4f ? __wt_log(a) + 0.693147181f : __wt_log1p(a + __nvvm_div_rn_f(a * a, root + 1.0f));
  return __builtin_copysignf(y, x);
}
__WT_DEVICE float __wt_acosh(float x) {
  const float t = x - 1.0f;
  return x > 1e4f ? __wt_log(x) + 0.693147181f : __wt_log1p(t + __nvvm_sqrt_rn_f(t * (x + 1.0f)));
}
__WT_DEVICE float __wt_atanh(float x) {
  const float a = __builtin_fabsf(x);
  return __builtin_copysignf(0.5f * __wt_log1p(__nvvm_div_rn_f(2.0f * a, 1.0f - a)), x);
}

__WT_DEVICE float __wt_pow(float x, float y) {
  const float a = __builtin_fabsf(x);
  int e;
  const float m = __wt_log_parts(a, e);
  const float high = __builtin_fmaf(m, 1.44269504f, static_cast<float>(e));
  const float p = y * high;
  const float rest = __builtin_fmaf(y, high, -p) + y * __builtin_fmaf(m, 1.44269504f, static_cast<float>(e) - high);
  const float n = __builtin_rintf(p);
  float z = __nvvm_ex2_approx_f((p - n) + rest) * __nvvm_ex2_approx_f(n);
  const bool whole = __nvvm_trunc_f(y) == y;
  const bool odd = whole && __nvvm_trunc_f(0.5f * y) != 0.5f * y;
  z = x < 0.0f ? (whole ? (odd ? -z : z) : __builtin_nanf("")) : z;
  z = a == 0.0f ? (y < 0.0f ? __builtin_inff() : 0.0f) : z;
  return y == 0.0f || x == 1.0f ? 1.0f : z;
}
__WT_DEVICE float __wt_cbrt(float x) {
  const float a = __builtin_fabsf(x);
  float y = __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(a) * 0.333333333f);
  y = y - __nvvm_div_rn_f(y * y * y - a, 3.0f * y * y);
  return a == 0.0f || a == __builtin_inff() ? x : __builtin_copysignf(y, x);
}
__WT_DEVICE float __wt_hypot(float x, float y) {
  const float a = __nvvm_fmax_f(__builtin_fabsf(x), __builtin_fabsf(y));
  const float b = __nvvm_fmin_f(__builtin_fabsf(x), __builtin_fabsf(y));
  const float t = __nvvm_div_rn_f(b, a);
  return a == 0.0f || a == __builtin_inff() ? a : a * __nvvm_sqrt_rn_f(__builtin_fmaf(t, t, 1.0f));
}
__WT_DEVICE float __wt_fmod(float x, float y) {
  const float a = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  float r = __builtin_fmaf(-__nvvm_trunc_f(__nvvm_div_rn_f(a, b)), b, a);
  r = r < 0.0f ? r + b : r;
  r = r >= b ? r - b : r;
  return __builtin_copysignf(b == __builtin_inff() ? a : r, x);
}
__WT_DEVICE float __wt_remainder(float x, float y) {
  return __builtin_fabsf(y) == __builtin_inff() ? x : __builtin_fmaf(-__builtin_rintf(__nvvm_div_rn_f(x, y)), y, x);
}
__WT_DEVICE float __wt_erfc_positive(float x) {
  const float c[] = {-0.671794084f,  0.67264217f,    0.0473435276f,  -0.0468742683f, -0.0098772444f, 0.0087016009f,
                     0.00178649683f, -0.00204580603f, -0.000219426882f, 0.000332440702f, 4.65786229e-6f};
  const float t = __nvvm_div_rn_f(2.0f, 2.0f + x);
  return t * __wt_exp(__builtin_fmaf(-x, x, __wt_horner(c, __builtin_fmaf(2.0f, t, -1.0f))));
}
__WT_DEVICE float __wt_erfc(float x) {
  const float y = __wt_erfc_positive(__builtin_fabsf(x));
  return x < 0.0f ? 2.0f - y : y;
}
__WT_DEVICE float __wt_erf(float x) {
  const float c[] = {1.0f, -1.0f / 3, 1.0f / 10, -1.0f / 42, 1.0f / 216, -1.0f / 1320};
  const float near_zero = 1.12837917f * x * __wt_horner(c, x * x);
  const float far = __builtin_copysignf(1.0f - __wt_erfc_positive(__builtin_fabsf(x)), x);
  return __builtin_fabsf(x) < 0.5f ? near_zero : far;
}
__WT_DEVICE float __wt_lgamma_large(float x) {
  const float r = __nvvm_rcp_rn_f(x);
  const float c[] = {1.0f / 12, -1.0f / 360, 1.0f / 1260};
  return (x - 0.5f) * __wt_log(x) - x + 0.918938533f + r * __wt_horner(c, r * r);
}
__WT_DEVICE float __wt_lgamma_positive(float x) {
  const float product = x * (x + 1.0f) * (x + 2.0f) * (x + 3.0f);
  return x < 4.0f ? __wt_lgamma_large(x + 4.0f) - __wt_log(product) : __wt_lgamma_large(x);
}
__WT_DEVICE float __wt_lgamma(float x) {
  const float reflected =
      __wt_log(__nvvm_div_rn_f(3.14159265f, __builtin_fabsf(__wt_sinpi(x)))) - __wt_lgamma_positive(1.0f - x);
  return x <= 0.0f ? reflected : __wt_lgamma_positive(x);
}
__WT_DEVICE float __wt_tgamma(float x) {
  const float reflected = __nvvm_div_rn_f(3.14159265f, __wt_sinpi(x) * __wt_exp(__wt_lgamma_positive(1.0f - x)));
  return x <= 0.0f ? reflected : __wt_exp(__wt_lgamma_positive(x));
}
__WT_DEVICE int __wt_ilogb(float x) { return ((__nvvm_bitcast_f2i(x) >> 23) & 0xff) - 127; }
__WT_DEVICE float __wt_frexp(float x, int* e) {
  const bool special = x == 0.0f || !(__builtin_fabsf(x) < __builtin_inff());
  *e = special ? 0 : __wt_ilogb(x) + 1;
  return special ? x : __nvvm_bitcast_i2f((__nvvm_bitcast_f2i(x) & static_cast<int>(0x807fffffu)) | 0x3f000000);
}
__WT_DEVICE float __wt_modf(float x, float* whole) {
  *whole = __nvvm_trunc_f(x);
  return __builtin_copysignf(x - *whole, x);
}
// x * 2^n, in four factors that are each a normal number.
__WT_DEVICE float __wt_scale(float x, int n) {
  n = n < -400 ? -400 : n > 400 ? 400 : n;
  const int quarter = n >> 2;
  const float part = __nvvm_bitcast_i2f((quarter + 127) << 23);
  return x * part * part * part * __nvvm_bitcast_i2f((n - 3 * quarter + 127) << 23);
}
__WT_DEVICE float __wt_nextafter(float x, float y) {
  if (x == y) return y;
  if (x == 0.0f) return __builtin_copysignf(1.40129846e-45f, y);
  const int bits = __nvvm_bitcast_f2i(x) + ((x < y) == (x > 0.0f) ? 1 : -1);
  return x != x || y != y ? x + y : __nvvm_bitcast_i2f(bits);
}

#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__  // --use_fast_math: the hardware's approximations in place of accurate functions
__WT_FLOAT_1(__WT_DEVICE, sin, __nvvm_sin_approx_f(x))
__WT_FLOAT_1(__WT_DEVICE, cos, __nvvm_cos_approx_f(x))
__WT_FLOAT_1(__WT_DEVICE, tan, __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)))
__WT_FLOAT_1(__WT_DEVICE, exp, __nvvm_ex2_approx_f(x * 1.44269504f))
__WT_FLOAT_1(__WT_DEVICE, exp10, __nvvm_ex2_approx_f(x * 3.32192809f))
__WT_FLOAT_1(__WT_DEVICE, log, __nvvm_lg2_approx_f(x) * 0.693147181f)
__WT_FLOAT_1(__WT_DEVICE, log2, __nvvm_lg2_approx_f(x))
__WT_FLOAT_1(__WT_DEVICE, log10, __nvvm_lg2_approx_f(x) * 0.301029996f)
__WT_FLOAT_2(__WT_DEVICE, pow, __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)))
__WT_DEVICE void sincosf(float x, float* s, float* c) {
  *s = __nvvm_sin_approx_f(x);
  *c = __nvvm_cos_approx_f(x);
}
#else
__WT_FLOAT_1(__WT_MATH, sin, __wt_sin(x))
__WT_FLOAT_1(__WT_MATH, cos, __wt_cos(x))
__WT_FLOAT_1(__WT_MATH, tan, __wt_tan(x))
__WT_FLOAT_1(__WT_MATH, exp, __wt_exp(x))
__WT_FLOAT_1(__WT_MATH, exp10, __wt_exp10(x))
__WT_FLOAT_1(__WT_MATH, log, __wt_log(x))
__WT_FLOAT_1(__WT_MATH, log2, __wt_log2(x))
__WT_FLOAT_1(__WT_MATH, log10, __wt_log10(x))
__WT_FLOAT_2(__WT_MATH, pow, __wt_pow(x, y))
__WT_MATH void sincosf(float x, float* s, float* c) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  *s = __wt_quadrant_sin(r, quadrant);
  *c = __wt_quadrant_sin(r, quadrant + 1);
}
#endif
__WT_FLOAT_1(__WT_MATH, sinpi, __wt_sinpi(x))
__WT_FLOAT_1(__WT_MATH, cospi, __wt_cospi(x))
__WT_FLOAT_1(__WT_MATH, asin, __wt_asin(x))
__WT_FLOAT_1(__WT_MATH, acos, __wt_acos(x))
__WT_FLOAT_1(__WT_MATH, atan, __wt_atan(x))
__WT_FLOAT_1(__WT_MATH, sinh, __wt_sinh(x))
__WT_FLOAT_1(__WT_MATH, cosh, __wt_cosh(x))
__WT_FLOAT_1(__WT_MATH, tanh, __wt_tanh(x))
__WT_FLOAT_1(__WT_MATH, asinh, __wt_asinh(x))
__WT_FLOAT_1(__WT_MATH, acosh, __wt_acosh(x))
__WT_FLOAT_1(__WT_MATH, atanh, __wt_atanh(x))
__WT_FLOAT_1(__WT_MATH, exp2, __wt_exp2(x))
__WT_FLOAT_1(__WT_MATH, expm1, __wt_expm1(x))
__WT_FLOAT_1(__WT_MATH, log1p, __wt_log1p(x))
__WT_FLOAT_1(__WT_MATH, cbrt, __wt_cbrt(x))
__WT_FLOAT_1(__WT_MATH, erf, __wt_erf(x))
__WT_FLOAT_1(__WT_MATH, erfc, __wt_erfc(x))
__WT_FLOAT_1(__WT_MATH, lgamma, __wt_lgamma(x))
__WT_FLOAT_1(__WT_MATH, tgamma, __wt_tgamma(x))
__WT_FLOAT_1(__WT_MATH, rcbrt, __nvvm_rcp_rn_f(__wt_cbrt(x)))
__WT_FLOAT_1(__WT_MATH, normcdf, 0.5f * __wt_erfc(x * -0.707106781f))
__WT_FLOAT_2(__WT_MATH, atan2, __wt_atan2(x, y))
__WT_FLOAT_2(__WT_MATH, fmod, __wt_fmod(x, y))
__WT_FLOAT_2(__WT_MATH, remainder, __wt_remainder(x, y))
__WT_FLOAT_2(__WT_MATH, hypot, __wt_hypot(x, y))
__WT_FLOAT_2(__WT_MATH, nextafter, __wt_nextafter(x, y))
__WT_FLOAT_2(__WT_MATH, rhypot, __nvvm_rcp_rn_f(__wt_hypot(x, y)))
__WT_DEVICE float powf(float x, int n) { return powf(x, static_cast<float>(n)); }
__WT_DEVICE float pow(float x, int n) { return powf(x, static_cast<float>(n)); }
__WT_DEVICE void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__WT_MATH void sincospif(float x, float* s, float* c) {
  *s = __wt_sinpi(x);
  *c = __wt_cospi(x);
}
__WT_MATH float norm3df(float x, float y, float z) { return __wt_hypot(__wt_hypot(x, y), z); }
__WT_MATH float norm4df(float x, float y, float z, float w) { return __wt_hypot(__wt_hypot(x, y), __wt_hypot(z, w)); }
__WT_MATH float rnorm3df(float x, float y, float z) { return __nvvm_rcp_rn_f(__wt_hypot(__wt_hypot(x, y), z)); }
__WT_MATH float frexpf(float x, int* e) { return __wt_frexp(x, e); }
__WT_MATH float frexp(float x, int* e) { return __wt_frexp(x, e); }
__WT_MATH float ldexpf(float x, int n) { return __wt_scale(x, n); }
__WT_MATH float ldexp(float x, int n) { return __wt_scale(x, n); }
__WT_MATH float scalbnf(float x, int n) { return __wt_scale(x, n); }
__WT_MATH float scalbn(float x, int n) { return __wt_scale(x, n); }
__WT_MATH float modff(float x, float* whole) { return __wt_modf(x, whole); }
__WT_MATH float modf(float x, float* whole) { return __wt_modf(x, whole); }
__WT_MATH int ilogbf(float x) { return __wt_ilogb(x); }
__WT_MATH int ilogb(float x) { return __wt_ilogb(x); }
__WT_MATH float logbf(float x) { return static_cast<float>(__wt_ilogb(x)); }
__WT_MATH float logb(float x) { return static_cast<float>(__wt_ilogb(x)); }
