#pragma once
#pragma clang system_header

#include "math_basic.h"

// Double-precision functions in software: argument reduction, then a series in Horner's form. Branch-free, accurate to some units in
// the last place over the usual ranges. They are not libdevice's: sin, cos and tan lose accuracy beyond |x| > 1e8.

__WT_DEVICE double __wt_from_words(int high, int low) { return __nvvm_lohi_i2d(low, high); }

template <int n> __WT_DEVICE double __wt_horner(const double (&c)[n], double x) {
  double sum = c[n - 1];
  _Pragma("unroll") for (int i = n - 2; i >= 0; --i) sum = __builtin_fma(sum, x, c[i]);
  return sum;
}

// x * 2^n, in four factors that are each a normal number.
__WT_DEVICE double __wt_scale(double x, int n) {
  n = n < -2400 ? -2400 : n > 2400 ? 2400 : n;
  const int quarter = n >> 2;
  const double part = __wt_from_words((quarter + 1023) << 20, 0);
  return x * part * part * part * __wt_from_words((n - 3 * quarter + 1023) << 20, 0);
}

// e^r for |r| <= ln(2)/2: Taylor.
__WT_DEVICE double __wt_exp_near_zero(double r) {
  const double c[] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  return __wt_horner(c, r);
}
__WT_DEVICE double __wt_exp(double x) {
  const double n = __builtin_rint(x * 1.4426950408889634);
  double r = __builtin_fma(n, -6.93147180369123816490e-01, x);
  r = __builtin_fma(n, -1.90821492927058770002e-10, r);
  const double y = __wt_scale(__wt_exp_near_zero(r), static_cast<int>(n));
  return x > 710.0 ? __builtin_inf() : x < -746.0 ? 0.0 : y;
}
__WT_DEVICE double __wt_exp2(double x) {
  const double n = __builtin_rint(x);
  const double y = __wt_scale(__wt_exp_near_zero((x - n) * 0.69314718055994531), static_cast<int>(n));
  return x >= 1024.0 ? __builtin_inf() : x < -1076.0 ? 0.0 : y;
}
__WT_DEVICE double __wt_exp10(double x) { return __wt_exp2(x * 3.3219280948873623); }
__WT_DEVICE double __wt_expm1(double x) {
  const double c[] = {1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
  const double near_zero = x * __wt_horner(c, x);
  const double far = __wt_exp(x) - 1.0;
  return x > -0.5 && x < 0.5 ? near_zero : far;
}

// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh(s), s = (m - 1) / (m + 1).
__WT_DEVICE double __wt_log_parts(double x, int& e) {
  const bool tiny = x < 2.2250738585072014e-308;
  x = tiny ? x * 18014398509481984.0 : x;
  int high = __nvvm_d2i_hi(x);
  const int low = __nvvm_d2i_lo(x);
  const int above = high + (0x3ff00000 - 0x3fe6a09e);
  e = (above >> 20) - 0x3ff - (tiny ? 54 : 0);
  high = (above & 0x000fffff) + 0x3fe6a09e;
  const double m = __wt_from_words(high, low);
  const double s = (m - 1.0) / (m + 1.0);
  const double c[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  return s * __wt_horner(c, s * s);
}
__WT_DEVICE double __wt_log_special(double x, double y) {
  y = x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : y;
  return x == __builtin_inf() ? x : y;
}
__WT_DEVICE double __wt_log(double x) {
  int e;
  const double m = __wt_log_parts(x, e);
  return __wt_log_special(x, __builtin_fma(e, 6.93147180369123816490e-01, __builtin_fma(e, 1.90821492927058770002e-10, m)));
}
__WT_DEVICE double __wt_log2(double x) {
  int e;
  const double m = __wt_log_parts(x, e);
  return __wt_log_special(x, __builtin_fma(m, 1.4426950408889634, e));
}
__WT_DEVICE double __wt_log10(double x) { return __wt_log(x) * 0.43429448190325183; }
__WT_DEVICE double __wt_log1p(double x) {
  const double u = 1.0 + x;
  return u == 1.0 ? x : u == __builtin_inf() ? u : __wt_log(u) - ((u - 1.0) - x) / u;
}

// x = n * pi/2 + r, |r| <= pi/4: pi/2 in three parts.
__WT_DEVICE double __wt_reduce(double x, int& quadrant) {
  const double n = __builtin_rint(x * 0.63661977236758134);
  quadrant = static_cast<int>(n);
  double r = __builtin_fma(n, -1.57079632679489655800e+00, x);
  r = __builtin_fma(n, -6.12323399573676603587e-17, r);
  return __builtin_fma(n, 1.49738490485916983692e-33, r);
}
__WT_DEVICE double __wt_sin_near_zero(double r) {
  const double c[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                      -1.0 / 1307674368000.0};
  return r * __wt_horner(c, r * r);
}
__WT_DEVICE double __wt_cos_near_zero(double r) {
  const double c[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                      -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
  return __wt_horner(c, r * r);
}
__WT_DEVICE double __wt_quadrant_sin(double r, int quadrant) {
  const double y = (quadrant & 1) ? __wt_cos_near_zero(r) : __wt_sin_near_zero(r);
  return (quadrant & 2) ? -y : y;
}
__WT_DEVICE double __wt_sin(double x) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  return __wt_quadrant_sin(r, quadrant);
}
__WT_DEVICE double __wt_cos(double x) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  return __wt_quadrant_sin(r, quadrant + 1);
}
__WT_DEVICE double __wt_tan(double x) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  const double s = __wt_sin_near_zero(r);
  const double c = __wt_cos_near_zero(r);
  return (quadrant & 1) ? -c / s : s / c;
}
__WT_DEVICE double __wt_sinpi(double x) {
  const double n = __builtin_rint(2.0 * x);
  return __wt_quadrant_sin(__builtin_fma(n, -0.5, x) * 3.14159265358979312, static_cast<int>(n));
}
__WT_DEVICE double __wt_cospi(double x) {
  const double n = __builtin_rint(2.0 * x);
  return __wt_quadrant_sin(__builtin_fma(n, -0.5, x) * 3.14159265358979312, static_cast<int>(n) + 1);
}

// atan(a / b) for 0 <= a, 0 <= b: the quotient is brought below tan(pi/8), then the series.
__WT_DEVICE double __wt_atan_quotient(double a, double b) {
  const bool swapped = a > b;
  const double small = swapped ? b : a;
  const double large = swapped ? a : b;
  const bool rotated = small > 0.41421356237309503 * large;
  const double numerator = rotated ? small - large : small;
  const double denominator = rotated ? small + large : large;
  const double t = denominator == 0.0 ? 0.0 : numerator / denominator;
  const double c[] = {1.0,      -1.0 / 3, 1.0 / 5,   -1.0 / 7, 1.0 / 9,   -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19,
                      1.0 / 21, -1.0 / 23, 1.0 / 25, -1.0 / 27, 1.0 / 29, -1.0 / 31, 1.0 / 33, -1.0 / 35, 1.0 / 37};
  double y = t * __wt_horner(c, t * t);
  y = rotated ? y + 0.78539816339744828 : y;
  return swapped ? 1.5707963267948966 - y : y;
}
__WT_DEVICE double __wt_atan(double x) { return __builtin_copysign(__wt_atan_quotient(__builtin_fabs(x), 1.0), x); }
__WT_DEVICE double __wt_atan2(double y, double x) {
  const double a = __wt_atan_quotient(__builtin_fabs(y), __builtin_fabs(x));
  const bool left = __nvvm_d2i_hi(x) < 0;
  return __builtin_copysign(left ? 3.14159265358979312 - a : a, y);
}
__WT_DEVICE double __wt_asin(double x) { return __wt_atan2(x, __nvvm_sqrt_rn_d((1.0 - x) * (1.0 + x))); }
__WT_DEVICE double __wt_acos(double x) { return __wt_atan2(__nvvm_sqrt_rn_d((1.0 - x) * (1.0 + x)), x); }

__WT_DEVICE double __wt_sinh(double x) {
  const double m = __wt_expm1(__builtin_fabs(x));
  return __builtin_copysign(m == __builtin_inf() ? m : 0.5 * (m + m / (m + 1.0)), x);
}
__WT_DEVICE double __wt_cosh(double x) {
  const double e = __wt_exp(__builtin_fabs(x));
  return 0.5 * e + 0.5 / e;
}
__WT_DEVICE double __wt_tanh(double x) {
  const double m = __wt_expm1(2.0 * __builtin_fabs(x));
  return __builtin_copysign(m == __builtin_inf() ? 1.0 : m / (m + 2.0), x);
}
__WT_DEVICE double __wt_asinh(double x) {
  const double a = __builtin_fabs(x);
  const double y = a > 1e8 ? __wt_log(a) + 0.69314718055994531
                           : __wt_log1p(a + a * a / (__nvvm_sqrt_rn_d(__builtin_fma(a, a, 1.0)) + 1.0));
  return __builtin_copysign(y, x);
}
__WT_DEVICE double __wt_acosh(double x) {
  const double t = x - 1.0;
  return x > 1e8 ? __wt_log(x) + 0.69314718055994531 : __wt_log1p(t + __nvvm_sqrt_rn_d(t * (x + 1.0)));
}
__WT_DEVICE double __wt_atanh(double x) {
  const double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * __wt_log1p(2.0 * a / (1.0 - a)), x);
}

__WT_DEVICE double __wt_pow(double x, double y) {
  const double a = __builtin_fabs(x);
  int e;
  const double m = __wt_log_parts(a, e);
  // y * log2(a) in two parts, so that a large exponent costs no accuracy.
  const double high = __builtin_fma(m, 1.4426950408889634, e);
  const double p = y * high;
  const double rest = __builtin_fma(y, high, -p) + y * (__builtin_fma(m, 1.4426950408889634, e - high));
  const double n = __builtin_rint(p);
  double z = __wt_scale(__wt_exp_near_zero(((p - n) + rest) * 0.69314718055994531), static_cast<int>(n));
  z = p >= 1024.0 ? __builtin_inf() : p < -1076.0 ? 0.0 : z;
  const bool whole = __nvvm_trunc_d(y) == y;
  const bool odd = whole && __nvvm_trunc_d(0.5 * y) != 0.5 * y;
  z = x < 0.0 ? (whole ? (odd ? -z : z) : __builtin_nan("")) : z;
  z = a == 0.0 ? (y < 0.0 ? __builtin_inf() : 0.0) : z;
  return y == 0.0 || x == 1.0 ? 1.0 : z;
}
__WT_DEVICE double __wt_cbrt(double x) {
  const double a = __builtin_fabs(x);
  double y = __wt_exp2(__wt_log2(a) * 0.33333333333333331);
  y = y - (y * y * y - a) / (3.0 * y * y);  // Newton
  return a == 0.0 || a == __builtin_inf() ? x : __builtin_copysign(y, x);
}
__WT_DEVICE double __wt_hypot(double x, double y) {
  const double a = __nvvm_fmax_d(__builtin_fabs(x), __builtin_fabs(y));
  const double b = __nvvm_fmin_d(__builtin_fabs(x), __builtin_fabs(y));
  const double t = b / a;
  return a == 0.0 || a == __builtin_inf() ? a : a * __nvvm_sqrt_rn_d(__builtin_fma(t, t, 1.0));
}
// The exact remainder for quotients below 2^53.
__WT_DEVICE double __wt_fmod(double x, double y) {
  const double a = __builtin_fabs(x);
  const double b = __builtin_fabs(y);
  double r = __builtin_fma(-__nvvm_trunc_d(a / b), b, a);
  r = r < 0.0 ? r + b : r;
  r = r >= b ? r - b : r;
  return __builtin_copysign(b == __builtin_inf() ? a : r, x);
}
__WT_DEVICE double __wt_remainder(double x, double y) {
  return y == __builtin_inf() || y == -__builtin_inf() ? x : __builtin_fma(-__builtin_rint(x / y), y, x);
}

// erfc(x) = t exp(-x^2 + P(t)), t = 2 / (2 + x), for x >= 0; P was fitted by interpolation at Chebyshev's nodes.
__WT_DEVICE double __wt_erfc_positive(double x) {
  const double c[] = {-0.6717940840566905,      0.67264322397765679,     0.047343306841395757,    -0.046895610231183452,
                      -0.0098726893420237142,   0.0088249385573180428,   0.0017589330988850738,   -0.0023458125029206382,
                      -0.00014624237797834921,  0.00067367878922867568,  -9.3761039220427845e-5,  -0.00017430267774157289,
                      7.1497293471322415e-5,    3.1743039891258861e-5,   -3.0424804196234133e-5,  1.4671892565573575e-7,
                      8.9571410431572341e-6,    -2.9712581178582876e-6,  -1.7161931348241183e-6,  1.2889414656295187e-6,
                      1.611507277019833e-7,     -2.9181400931075829e-7,  5.4539962358745332e-10,  3.0201809718255128e-8};
  const double t = 2.0 / (2.0 + x);
  return t * __wt_exp(__builtin_fma(-x, x, __wt_horner(c, __builtin_fma(2.0, t, -1.0))));
}
__WT_DEVICE double __wt_erfc(double x) {
  const double y = __wt_erfc_positive(__builtin_fabs(x));
  return x < 0.0 ? 2.0 - y : y;
}
__WT_DEVICE double __wt_erf(double x) {
  const double c[] = {1.0, -1.0 / 3, 1.0 / 10, -1.0 / 42, 1.0 / 216, -1.0 / 1320, 1.0 / 9360, -1.0 / 75600, 1.0 / 685440,
                      -1.0 / 6894720, 1.0 / 76204800};
  const double near_zero = 1.1283791670955126 * x * __wt_horner(c, x * x);
  const double far = __builtin_copysign(1.0 - __wt_erfc_positive(__builtin_fabs(x)), x);
  return __builtin_fabs(x) < 0.5 ? near_zero : far;
}

// Stirling's series for x >= 8, reached from below by the recurrence.
__WT_DEVICE double __wt_lgamma_large(double x) {
  const double r = 1.0 / x;
  const double c[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  return (x - 0.5) * __wt_log(x) - x + 0.91893853320467278 + r * __wt_horner(c, r * r);
}
__WT_DEVICE double __wt_lgamma_positive(double x) {
  const double product = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) * (x + 5.0) * (x + 6.0) * (x + 7.0);
  return x < 8.0 ? __wt_lgamma_large(x + 8.0) - __wt_log(product) : __wt_lgamma_large(x);
}
__WT_DEVICE double __wt_lgamma(double x) {
  const double reflected =
      __wt_log(3.14159265358979312 / __builtin_fabs(__wt_sinpi(x))) - __wt_lgamma_positive(1.0 - x);
  return x <= 0.0 ? reflected : __wt_lgamma_positive(x);
}
__WT_DEVICE double __wt_tgamma(double x) {
  const double reflected = 3.14159265358979312 / (__wt_sinpi(x) * __wt_exp(__wt_lgamma_positive(1.0 - x)));
  return x <= 0.0 ? reflected : __wt_exp(__wt_lgamma_positive(x));
}

__WT_DEVICE int __wt_ilogb(double x) { return ((__nvvm_d2i_hi(x) >> 20) & 0x7ff) - 1023; }
__WT_DEVICE double __wt_frexp(double x, int* e) {
  const bool special = x == 0.0 || !(__builtin_fabs(x) < __builtin_inf());
  *e = special ? 0 : __wt_ilogb(x) + 1;
  return special ? x : __wt_from_words((__nvvm_d2i_hi(x) & 0x800fffff) | 0x3fe00000, __nvvm_d2i_lo(x));
}
__WT_DEVICE double __wt_modf(double x, double* whole) {
  *whole = __nvvm_trunc_d(x);
  return __builtin_copysign(x - *whole, x);
}
__WT_DEVICE double __wt_nextafter(double x, double y) {
  long long bits = __nvvm_bitcast_d2ll(x);
  if (x == y) return y;
  if (x == 0.0) return __builtin_copysign(4.9406564584124654e-324, y);
  bits += (x < y) == (x > 0.0) ? 1 : -1;
  return x != x || y != y ? x + y : __nvvm_bitcast_ll2d(bits);
}

__WT_DOUBLE_1(__WT_MATH, sin, __wt_sin(x))
__WT_DOUBLE_1(__WT_MATH, cos, __wt_cos(x))
__WT_DOUBLE_1(__WT_MATH, tan, __wt_tan(x))
__WT_DOUBLE_1(__WT_MATH, exp, __wt_exp(x))
__WT_DOUBLE_1(__WT_MATH, exp10, __wt_exp10(x))
__WT_DOUBLE_1(__WT_MATH, log, __wt_log(x))
__WT_DOUBLE_1(__WT_MATH, log2, __wt_log2(x))
__WT_DOUBLE_1(__WT_MATH, log10, __wt_log10(x))
__WT_DOUBLE_1(__WT_MATH, sinpi, __wt_sinpi(x))
__WT_DOUBLE_1(__WT_MATH, cospi, __wt_cospi(x))
__WT_DOUBLE_1(__WT_MATH, asin, __wt_asin(x))
__WT_DOUBLE_1(__WT_MATH, acos, __wt_acos(x))
__WT_DOUBLE_1(__WT_MATH, atan, __wt_atan(x))
__WT_DOUBLE_1(__WT_MATH, sinh, __wt_sinh(x))
__WT_DOUBLE_1(__WT_MATH, cosh, __wt_cosh(x))
__WT_DOUBLE_1(__WT_MATH, tanh, __wt_tanh(x))
__WT_DOUBLE_1(__WT_MATH, asinh, __wt_asinh(x))
__WT_DOUBLE_1(__WT_MATH, acosh, __wt_acosh(x))
__WT_DOUBLE_1(__WT_MATH, atanh, __wt_atanh(x))
__WT_DOUBLE_1(__WT_MATH, exp2, __wt_exp2(x))
__WT_DOUBLE_1(__WT_MATH, expm1, __wt_expm1(x))
__WT_DOUBLE_1(__WT_MATH, log1p, __wt_log1p(x))
__WT_DOUBLE_1(__WT_MATH, cbrt, __wt_cbrt(x))
__WT_DOUBLE_1(__WT_MATH, erf, __wt_erf(x))
__WT_DOUBLE_1(__WT_MATH, erfc, __wt_erfc(x))
__WT_DOUBLE_1(__WT_MATH, lgamma, __wt_lgamma(x))
__WT_DOUBLE_1(__WT_MATH, tgamma, __wt_tgamma(x))
__WT_DOUBLE_1(__WT_MATH, rcbrt, 1.0 / __wt_cbrt(x))
__WT_DOUBLE_1(__WT_MATH, normcdf, 0.5 * __wt_erfc(x * -0.70710678118654752))
__WT_DOUBLE_2(__WT_MATH, pow, __wt_pow(x, y))
__WT_DOUBLE_2(__WT_MATH, atan2, __wt_atan2(x, y))
__WT_DOUBLE_2(__WT_MATH, fmod, __wt_fmod(x, y))
__WT_DOUBLE_2(__WT_MATH, remainder, __wt_remainder(x, y))
__WT_DOUBLE_2(__WT_MATH, hypot, __wt_hypot(x, y))
__WT_DOUBLE_2(__WT_MATH, nextafter, __wt_nextafter(x, y))
__WT_DOUBLE_2(__WT_MATH, rhypot, 1.0 / __wt_hypot(x, y))
__WT_MATH double pow(double x, int n) { return __wt_pow(x, static_cast<double>(n)); }
__WT_MATH double pow(int x, int n) { return __wt_pow(static_cast<double>(x), static_cast<double>(n)); }
__WT_MATH double pow(int x, double y) { return __wt_pow(static_cast<double>(x), y); }
__WT_MATH void sincos(double x, double* s, double* c) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  *s = __wt_quadrant_sin(r, quadrant);
  *c = __wt_quadrant_sin(r, quadrant + 1);
}
__WT_MATH void sincospi(double x, double* s, double* c) {
  *s = __wt_sinpi(x);
  *c = __wt_cospi(x);
}
__WT_MATH double norm3d(double x, double y, double z) { return __wt_hypot(__wt_hypot(x, y), z); }
__WT_MATH double norm4d(double x, double y, double z, double w) {
  return __wt_hypot(__wt_hypot(x, y), __wt_hypot(z, w));
}
__WT_MATH double rnorm3d(double x, double y, double z) { return 1.0 / __wt_hypot(__wt_hypot(x, y), z); }
__WT_MATH double frexp(double x, int* e) { return __wt_frexp(x, e); }
__WT_MATH double ldexp(double x, int n) { return __wt_scale(x, n); }
__WT_MATH double scalbn(double x, int n) { return __wt_scale(x, n); }
__WT_MATH double modf(double x, double* whole) { return __wt_modf(x, whole); }
__WT_MATH int ilogb(double x) { return __wt_ilogb(x); }
__WT_MATH double logb(double x) { return __wt_ilogb(x); }
