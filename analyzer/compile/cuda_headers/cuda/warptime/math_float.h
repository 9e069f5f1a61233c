#pragma once
#pragma clang system_header

#include "math_basic.h"

// Single precision in software. Each function does the kind of work that nvcc's does, so that a kernel's predicted instructions
// are near those that its hardware executes: the same reductions, about as many steps of a polynomial, the same use of the
// hardware's approximations, a branch where nvcc has a branch and a select where it has a select. The polynomials are minimax fits
// of our own (Sollya's fpminimax, and weighted ones by Lawson's iteration). Errors are within the tables of the CUDA C++
// Programming Guide: tests/execute/math_accuracy_test.cc measures them. tests/compile/math_instructions.csv has nvcc's number of
// instructions for each.

template <int n> __WT_DEVICE float __wt_horner(const float (&c)[n], float x) {
  float sum = c[n - 1];
  _Pragma("unroll") for (int i = n - 2; i >= 0; --i) sum = __builtin_fmaf(sum, x, c[i]);
  return sum;
}
// x + x * (x^2 * P(x^2)): odd functions near zero.
template <int n> __WT_DEVICE float __wt_odd(const float (&c)[n], float x) {
  const float z = x * x;
  return __builtin_fmaf(z * __wt_horner(c, z), x, x);
}
__WT_DEVICE int __wt_bits(float x) { return __nvvm_bitcast_f2i(x); }
__WT_DEVICE float __wt_of_int(int x) { return __nvvm_bitcast_i2f(x); }
// A product and a sum that no compiler fuses into an fma: error terms are computed from their rounding.
__WT_DEVICE float __wt_product(float x, float y) { return __nvvm_mul_rn_f(x, y); }
__WT_DEVICE float __wt_sum(float x, float y) { return __nvvm_add_rn_f(x, y); }
// A select that stays one: of a costly value the compiler makes a branch otherwise.
__WT_DEVICE float __wt_select(bool which, float yes, float no) { return __builtin_unpredictable(which) ? yes : no; }
__WT_DEVICE float __wt_reciprocal(float x) { return __nvvm_rcp_approx_ftz_f(x); }
// pi/2 + x: the product of the two constants is pi/2 to 43 bits.
__WT_DEVICE float __wt_half_pi_plus(float x) { return __builtin_fmaf(0.841627777f, 1.8663789f, x); }

// 2^n with n = floor(x * log2_of_base), times 2^fraction: the exponent by a shift, the fraction by the hardware.
__WT_DEVICE float __wt_power(float x, float log2_high, float log2_low) {
  const float clamped = __nvvm_saturate_f(__builtin_fmaf(x, log2_high * (1.0f / 252), 0.5f));
  const float shifted = __nvvm_fma_rm_f(clamped, 252.0f, 12582913.0f);  // 127 + n in its low bits
  const float n = shifted - 12583039.0f;
  const float f = __builtin_fmaf(x, log2_low, __builtin_fmaf(x, log2_high, -n));
  return __nvvm_ex2_approx_ftz_f(f) * __wt_of_int(__wt_bits(shifted) << 23);
}
__WT_DEVICE float __wt_exp2(float x) { return __nvvm_ex2_approx_f(x); }
__WT_DEVICE float __wt_exp(float x) { return __wt_power(x, 1.44269502f, 1.92596299e-8f); }
__WT_DEVICE float __wt_exp10(float x) { return __wt_power(x, 3.32192802f, 7.05953716e-8f); }
// e^x / 2^less with n = trunc(x * log2(e)), at most 126 + less in magnitude.
template <int less> __WT_DEVICE float __wt_exp_clamped(float x) {
  float n = __nvvm_trunc_f(__wt_product(x, 1.44269502f));
  n = __builtin_fabsf(n) > 126.0f + less ? __wt_copysign(126.0f + less, n) : n;
  const float f = __builtin_fmaf(n, 1.90465421e-9f, __builtin_fmaf(n, -0.693147182f, x)) * 1.44269502f;
  return __nvvm_ex2_approx_ftz_f(f) * __wt_of_int(__wt_bits(n + (12583039.0f - less)) << 23);
}
// (e^f - 1) * 2^n + (2^n - 1), n = rint(x * log2(e)), or 0 near zero.
__WT_DEVICE float __wt_expm1(float x) {
  float n = __builtin_rintf(x * 1.44269502f);
  n = __builtin_fabsf(x) < 0.41f ? 0.0f : n;
  const float f = __builtin_fmaf(-n, 1.42860682e-6f, __builtin_fmaf(-n, 0.693145752f, x));
  const bool last = n == 128.0f;
  n = last ? n - 1.0f : n;
  const float c[] = {0.5f, 0.16666424f, 0.04166624f, 0.008379908f, 0.0013955543f};
  const float m = __builtin_fmaf(f * __wt_horner(c, f), f, f);
  const float scale = __nvvm_ex2_approx_f(n);
  float y = __builtin_fmaf(m, scale, scale - 1.0f);
  y = last ? y + y : y;
  y = n > 128.0f ? __builtin_inff() : y;
  y = n < -25.0f ? -1.0f : y;
  return __wt_select(x == 0.0f, x + x, y);
}

// x = m * 2^e with m from the number whose bits are `pivot` to twice that; subnormal numbers are scaled by 2^lift before.
template <int pivot, int lift> __WT_DEVICE float __wt_split(float& x, float& e) {
  const bool tiny = x < 1.17549435e-38f;
  x = tiny ? x * static_cast<float>(1 << lift) : x;
  const int k = (__wt_bits(x) - pivot) & static_cast<int>(0xff800000u);
  e = __builtin_fmaf(static_cast<float>(k), 1.1920929e-7f, tiny ? -static_cast<float>(lift) : 0.0f);
  return __wt_of_int(__wt_bits(x) - k);
}
// Of infinite and negative arguments and NaN.
__WT_DEVICE float __wt_log_special(float x, float y) {
  const bool special = static_cast<unsigned>(__wt_bits(x)) >= 0x7f800000u;
  return __wt_select(special, __builtin_fmaf(x, __builtin_inff(), __builtin_inff()), y);
}
// log(m), and e, of x = m * 2^e with m from 2/3
__WT_DEVICE float __wt_log_mantissa(float& x, float& e) {
  const float f = __wt_split<0x3f2aaaab, 23>(x, e) - 1.0f;
  const float c[] = {-0.5f, 0.33333224f, -0.24999689f, 0.20010036f, -0.16685465f, 0.14010996f, -0.12115251f, 0.1396226f, -0.13190661f};
  return __builtin_fmaf(f * __wt_horner(c, f), f, f);
}
__WT_DEVICE float __wt_log(float x) {
  float e;
  const float m = __wt_log_mantissa(x, e);
  const float y = __wt_log_special(x, __builtin_fmaf(e, 0.693147182f, m));
  return x == 0.0f ? -__builtin_inff() : y;
}
__WT_DEVICE float __wt_log10(float x) {
  float e;
  const float m = __wt_log_mantissa(x, e);
  const float log = __builtin_fmaf(e, 0.693147182f, m);
  const float y = __wt_log_special(x, __builtin_fmaf(log, 0.434294492f, log * -1.01030501e-8f));
  return x == 0.0f ? -__builtin_inff() : y;
}
__WT_DEVICE float __wt_log2(float x) {
  float e;
  const float f = __wt_split<0x3f3504f3, 23>(x, e) - 1.0f;  // m from sqrt(1/2)
  const float c[] = {-0.7213475f, 0.4809045f, -0.36067814f, 0.28823388f, -0.24010606f, 0.2108324f, -0.18745227f, 0.14093158f, -0.11166703f, 0.09612745f};
  const float m = __builtin_fmaf(f, 1.44269502f, f * (f * __wt_horner(c, f)));
  const float y = __wt_log_special(x, e + m);
  return x == 0.0f ? -__builtin_inff() : y;
}
// 1 + x = (1 + f) * 2^e with 1 + f from 3/4: f = (2^-e - 1) + x * 2^-e, without the rounding of 1 + x.
__WT_DEVICE float __wt_log1p(float x) {
  const int k = (__wt_bits(__nvvm_add_rz_f(x, 1.0f)) - 0x3f400000) & static_cast<int>(0xff800000u);
  const float scale = __wt_of_int(0x40800000 - k);  // 4 * 2^-e
  const float f = __wt_of_int(__wt_bits(x) - k) + __builtin_fmaf(0.25f, scale, -1.0f);
  const float c[] = {-0.5f, 0.33333448f, -0.25000194f, 0.19991109f, -0.16643763f, 0.14467545f, -0.13186699f, 0.10583249f, -0.046174f};
  const float e = static_cast<float>(k) * 1.1920929e-7f;
  float y = __builtin_fmaf(e, 0.693147182f, __builtin_fmaf(f * __wt_horner(c, f), f, f));
  if (__builtin_expect_with_probability(static_cast<unsigned>(__wt_bits(x)) >= 0x7f800000u, 1, 0.4)) {
    if (__wt_bits(x) >= static_cast<int>(0xbf800001u)) y = __builtin_fmaf(x, __builtin_inff(), __builtin_inff());
    y = x == 0.0f ? -0.0f : y;
  }
  return y;
}

// An angle above 105615: x * 2/pi to 96 bits after those that a whole number of turns leaves out (Payne and Hanek).
__WT_DEVICE float __wt_reduce_large(float x, int& quadrant) {
  const unsigned words[] = {0x3c439041u, 0xdb629599u, 0xf534ddc0u, 0xfc2757d1u, 0x4e441529u, 0xa2f9836eu};  // 2/pi * 2^192
  const unsigned bits = static_cast<unsigned>(__wt_bits(x));
  const unsigned mantissa = bits << 8 | 0x80000000u;
  const unsigned e = (bits >> 23 & 255u) - 128u;
  unsigned p[7];
  unsigned long long carry = 0;
  _Pragma("unroll") for (int i = 0; i < 6; ++i) {
    carry += static_cast<unsigned long long>(words[i]) * mantissa;
    p[i] = static_cast<unsigned>(carry);
    carry >>= 32;
  }
  p[6] = static_cast<unsigned>(carry);
  const unsigned from = e >> 5;
  const unsigned high = from == 0 ? p[6] : from == 1 ? p[5] : from == 2 ? p[4] : p[3];
  const unsigned middle = from == 0 ? p[5] : from == 1 ? p[4] : from == 2 ? p[3] : p[2];
  const unsigned low = from == 0 ? p[4] : from == 1 ? p[3] : from == 2 ? p[2] : p[1];
  const unsigned shift = e & 31u;
  unsigned long long turns = static_cast<unsigned long long>(high) << 32 | middle;  // in quarters, 2 bits before the point
  turns = turns << shift | static_cast<unsigned long long>(low) << shift >> 32;
  const int n = static_cast<int>(turns >> 62) + static_cast<int>(turns >> 61 & 1u);
  const float r = static_cast<float>(static_cast<double>(static_cast<long long>(turns << 2)) * 8.5153039502163873e-20);
  quadrant = x < 0.0f ? -n : n;
  return x < 0.0f ? -r : r;
}
// x = n * pi/2 + r, |r| <= pi/4: pi/2 in three parts.
__WT_DEVICE float __wt_reduce(float x, int& quadrant) {
  quadrant = __nvvm_f2i_rn(x * 0.636619747f);
  const float n = static_cast<float>(quadrant);
  float r = __builtin_fmaf(n, -1.57079625f, x);
  r = __builtin_fmaf(n, -7.54978942e-8f, r);
  r = __builtin_fmaf(n, -5.39030253e-15f, r);
  if (__builtin_expect(!(__builtin_fabsf(x) < 105615.0f), 0)) {
    if (!(__builtin_fabsf(x) < __builtin_inff())) {
      quadrant = 0;
      r = __wt_product(x, 0.0f);
    } else {
      r = __wt_reduce_large(x, quadrant);
    }
  }
  return r;
}
__WT_DEVICE float __wt_sin_near_zero(float r, float z) {
  const float c[] = {-0.16666655f, 0.008332192f, -0.00019518785f};
  return __builtin_fmaf(__wt_horner(c, z), __builtin_fmaf(z, r, 0.0f), r);
}
__WT_DEVICE float __wt_cos_near_zero(float z) {
  const float c[] = {1.0f, -0.5f, 0.041666646f, -0.0013887314f, 2.443317e-05f};
  return __wt_horner(c, z);
}
// sin(r) in even quadrants, cos(r) in odd ones: one polynomial, its coefficients selected.
__WT_DEVICE float __wt_quadrant_sin(float r, int quadrant) {
  const bool odd = quadrant & 1;
  const float sine[] = {-0.16666655f, 0.008332192f, -0.00019518785f}, cosine[] = {-0.5f, 0.041666646f, -0.0013887314f, 2.443317e-05f};
  const float s = odd ? 1.0f : r;
  const float z = __wt_product(r, r);
  float c = odd ? __builtin_fmaf(cosine[3], z, cosine[2]) : sine[2];
  c = __builtin_fmaf(c, z, odd ? cosine[1] : sine[1]);
  c = __builtin_fmaf(c, z, odd ? cosine[0] : sine[0]);
  const float y = __builtin_fmaf(c, __builtin_fmaf(z, s, 0.0f), s);
  return (quadrant & 2) ? __builtin_fmaf(y, -1.0f, 0.0f) : y;
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
__WT_DEVICE float __wt_turned(float y, int quadrant) { return (quadrant & 2) ? -y : y; }
__WT_DEVICE void __wt_sincos(float x, float* s, float* c) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  const float z = r * r;
  const float sine = __wt_sin_near_zero(r, z), cosine = __wt_cos_near_zero(z);
  const bool odd = quadrant & 1;
  *s = __wt_turned(odd ? cosine : sine, quadrant);
  *c = __wt_turned(odd ? sine : cosine, quadrant + 1);
}
__WT_DEVICE float __wt_tan(float x) {
  int quadrant;
  const float r = __wt_reduce(x, quadrant);
  const float c[] = {0.3333314f, 0.13339183f, 0.05338219f, 0.024526028f, 0.002976799f, 0.009464739f};
  const float z = r * r;
  const float t = __builtin_fmaf(__wt_horner(c, z), z * r, r);
  return __wt_select(quadrant & 1, __wt_reciprocal(-t), t);
}
// sin(pi t) and cos(pi t), |t| <= 1/4
__WT_DEVICE void __wt_sincospi_near_zero(float t, float& sine, float& cosine) {
  const float s[] = {-5.167734f, 2.550857f, -0.6004969f}, c[] = {1.0f, -4.934802f, 4.058698f, -1.3348162f, 0.2295497f};
  const float z = __wt_product(t, t);
  cosine = __wt_horner(c, z);
  sine = __builtin_fmaf(3.14159274f, t, __builtin_fmaf(__wt_horner(s, z), __builtin_fmaf(z, t, 0.0f), 0.0f));
}
__WT_DEVICE float __wt_half_turns(float x, int& quadrant) {
  const float n = __builtin_rintf(x + x);
  quadrant = static_cast<int>(n);
  return __builtin_fmaf(-n, 0.5f, x);
}
__WT_DEVICE float __wt_sinpi_quadrant(float x, int more) {
  int quadrant;
  const float t = __wt_half_turns(x, quadrant);
  quadrant += more;
  float s, c;
  __wt_sincospi_near_zero(t, s, c);
  const float y = (quadrant & 1) ? c : s;
  return (quadrant & 2) ? 0.0f - y : y;
}
__WT_DEVICE float __wt_sinpi(float x) {
  return __wt_select(__nvvm_trunc_f(x) == x, __wt_product(x, 0.0f), __wt_sinpi_quadrant(x, 0));
}
__WT_DEVICE float __wt_cospi(float x) {
  return __wt_sinpi_quadrant(__wt_select(__builtin_fabsf(x) <= 16777216.0f, x, __wt_product(x, 0.0f)), 1);
}

// atan2f's quotient is rounded, atanf's is the hardware's reciprocal.
__WT_DEVICE float __wt_atan_near_zero(float t) {
  const float c[] = {-0.33333167f, 0.19994146f, -0.14214265f, 0.106791265f, -0.07580917f, 0.043556992f, -0.016583024f, 0.0029749894f};
  return __wt_odd(c, t);
}
__WT_DEVICE float __wt_atan(float x) {
  const float a = __builtin_fabsf(x);
  const bool large = a > 1.0f;
  float y = __wt_atan_near_zero(__wt_select(large, __wt_reciprocal(a), a));
  y = __wt_select(large, __wt_half_pi_plus(-y), y);
  return __wt_select(a <= __builtin_inff(), __wt_copysign(y, x), y);
}
__WT_DEVICE float __wt_atan2(float y, float x) {
  const float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  const bool steep = b > a;
  const float large = steep ? b : a;
  float r = __wt_atan_near_zero(__nvvm_div_rn_f(steep ? a : b, large));
  const bool left = __wt_bits(x) < 0;
  if (steep) {
    r = left ? __wt_half_pi_plus(r) : __wt_half_pi_plus(-r);
  } else {
    r = left ? __builtin_fmaf(2.0f * 0.841627777f, 1.8663789f, -r) : r;
  }
  r = a == b ? (left ? 2.35619449f : 0.785398163f) : r;
  r = large == 0.0f ? (left ? 3.14159265f : 0.0f) : r;
  const float sum = a + b;
  return __wt_select(__builtin_fabsf(sum) <= __builtin_inff(), __wt_copysign(r, y), sum);
}
// asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2)) above 0.56
__WT_DEVICE float __wt_asin_argument(float a) {
  const float t = __builtin_fmaf(0.5f, -a, 0.5f);
  const float r = __nvvm_rsqrt_approx_ftz_f(t);
  const float s = t * r;
  const float root = __builtin_fmaf(s, __builtin_fmaf(-s, r * 0.5f, 0.5f), s);
  return __wt_select(a == 1.0f, 0.0f, root);
}
__WT_DEVICE float __wt_asin(float x) {
  const float a = __builtin_fabsf(x);
  const bool large = a > 0.56f;
  const float c[] = {0.16667004f, 0.07485508f, 0.04664001f, 0.018721523f, 0.050890334f};
  float y = __wt_odd(c, __wt_select(large, __wt_asin_argument(a), a));
  y = large ? __wt_half_pi_plus(y * -2.0f) : y;
  return __wt_select(y <= __builtin_inff(), __wt_copysign(y, x), y);
}
__WT_DEVICE float __wt_acos(float x) {
  const float a = __builtin_fabsf(x);
  const bool large = a > 0.56f;
  const float c[] = {0.16666633f, 0.07502018f, 0.044245698f, 0.033912834f, 0.0070602833f, 0.047104903f};
  const float y = __wt_odd(c, __wt_copysign(__wt_select(large, __wt_asin_argument(a), a), x));
  const float r = x > 0.56f ? y : __wt_half_pi_plus(large ? y : -y);
  return large ? r + r : r;
}

// From e^x / 4, which does not overflow before the results do.
__WT_DEVICE float __wt_sinh(float x) {
  const float a = __builtin_fabsf(x);
  const float e = __wt_exp_clamped<2>(a);
  const float far = __builtin_fmaf(2.0f, e, __nvvm_div_approx_ftz_f(-0.125f, e));
  const float c[] = {0.16666667f, 0.008333316f, 0.0001984142f, 2.7915391e-06f};
  const float near_zero = __wt_odd(c, x);
  return __wt_select(a >= 1.0f, __wt_copysign(far, x), near_zero);
}
__WT_DEVICE float __wt_cosh(float x) {
  const float e = __wt_exp_clamped<2>(__builtin_fabsf(x));
  return __builtin_fmaf(2.0f, e, __nvvm_div_approx_ftz_f(0.125f, e));
}
__WT_DEVICE float __wt_tanh(float x) {
  const float a = __builtin_fabsf(x);
  const float e = __nvvm_ex2_approx_ftz_f(a * 2.88539004f);
  float far = __builtin_fmaf(__wt_reciprocal(e + 1.0f), -2.0f, 1.0f);
  far = a >= 9.01f ? 1.0f : far;
  const float c[] = {-0.33332622f, 0.13313527f, -0.052231405f, 0.015640892f};
  const float z = x * x;
  const float near_zero = __builtin_fmaf(__builtin_fmaf(__wt_horner(c, z), z, 0.0f), x, x);
  return __wt_select(a >= 0.6f, __wt_copysign(far, x), near_zero);
}
__WT_DEVICE float __wt_asinh(float x) {
  const float a = __builtin_fabsf(x);
  const float s = __builtin_fmaf(x, x, 1.0f);
  const float root_plus_1 = __builtin_fmaf(s, __nvvm_rsqrt_approx_ftz_f(s), 1.0f);
  const bool large = a > 8388608.0f;
  const float y = __wt_log1p(large ? a : __builtin_fmaf(a, a * __wt_reciprocal(root_plus_1), a));
  const float r = large ? y + 0.693147182f : y;
  return __wt_select(a <= __builtin_inff(), __wt_copysign(r, x), r);
}
__WT_DEVICE float __wt_acosh(float x) {
  const float t = __wt_sum(x, -1.0f);
  const bool large = static_cast<unsigned>(__wt_bits(t)) > 0x4b000000u;
  const float s = __builtin_fmaf(x, x, -1.0f);
  const float r = __nvvm_rsqrt_approx_ftz_f(s);
  const float h = s * r;
  float root = __builtin_fmaf(__builtin_fmaf(-h, h, s), r * 0.5f, h);
  root = s == 0.0f ? 0.0f : root;
  const float y = __wt_log1p(t + (large ? -1.0f : root));
  return large ? y + 0.693147182f : y;
}
__WT_DEVICE float __wt_atanh(float x) {
  const float a = __builtin_fabsf(x);
  const float r = __wt_reciprocal(1.0f - a);
  const float t = a > 8.50705917e37f ? -2.0f : a * (r + r);
  return __wt_copysign(0.5f, x) * __wt_log1p(t);
}

// log2(a) as the sum of two numbers, a > 0.
__WT_DEVICE float __wt_log2_pair(float a, float& low) {
  float e;
  const float m = __wt_split<0x3f3504f3, 24>(a, e);
  const float f = m - 1.0f;
  const float r = __wt_reciprocal(m + 1.0f);
  const float s = __wt_product(f + f, r);  // 2 (m - 1) / (m + 1), and its error
  const float z = s * s;
  const float d = f - s;
  const float error = __wt_product(r, __builtin_fmaf(-s, f, d + d));
  const float c[] = {0.12022459f, 0.01803367f, 0.0032192064f, 0.00065146195f};
  const float p = __wt_product(__wt_horner(c, z), z);
  const float high = __builtin_fmaf(s, 1.44269502f, e);
  float rest = __builtin_fmaf(s, 1.44269502f, e - high);
  rest = __builtin_fmaf(s, 1.92596299e-8f, __builtin_fmaf(error, 1.44269502f, rest));
  rest = __builtin_fmaf(p, s, __builtin_fmaf(p * 3.0f, error, rest));
  const float sum = __wt_sum(high, rest);
  low = __wt_sum(rest, -__wt_sum(sum, -high));
  return sum;
}
// 2^(p + rest), in two factors, so that subnormal results come out.
__WT_DEVICE float __wt_exp2_pair(float p, float rest) {
  const float n = __builtin_rintf(p);
  const float f = rest + (p - n);
  const float c[] = {1.0f, 0.6931472f, 0.2402265f, 0.05550366f, 0.009618077f, 0.001338807f, 0.0001545641f};
  const float y = __wt_horner(c, f);
  const int first = n > 0.0f ? 0 : static_cast<int>(0x83000000u);
  const float scaled = y * __wt_of_int(0x7f000000 + first) * __wt_of_int((static_cast<int>(n) << 23) - first);
  return __builtin_fabsf(p) > 152.0f ? (p < 0.0f ? 0.0f : __builtin_inff()) : scaled;
}
__WT_DEVICE float __wt_pow(float x, float y) {
  const float half = __nvvm_trunc_f(y * 0.5f);
  const float odd = __builtin_fabsf(y - (half + half));  // 1 where y is an odd whole number
  const float a = __builtin_fabsf(x);
  float low;
  const float high = __wt_log2_pair(a, low);
  const float p = __wt_product(high, y);
  float z = __wt_exp2_pair(p, __builtin_fmaf(low, y, __builtin_fmaf(high, y, -p)));
  if (__builtin_expect(x == 1.0f || y == 0.0f, 0)) return 1.0f;
  if (__builtin_expect(__builtin_isnan(x) || __builtin_isnan(y), 0)) return __wt_sum(x, y);
  if (__builtin_expect(x == 0.0f || a == __builtin_inff(), 0)) {
    int bits = __wt_bits(x + x);
    bits = y < 0.0f ? bits ^ 0x7f800000 : bits;
    return __wt_of_int(odd == 1.0f ? bits : bits & 0x7fffffff);
  }
  if (__builtin_expect(x == -1.0f && __builtin_fabsf(y) == __builtin_inff(), 0)) return 1.0f;
  if (__builtin_expect(x < 0.0f, 0)) {
    z = odd == 1.0f ? -z : z;
    z = __nvvm_floor_f(y) != y ? __wt_of_int(0x7fffffff) : z;
  }
  return z;
}
// a * r^2 with r = a^(-1/3), and a step of Newton's method.
__WT_DEVICE float __wt_cbrt(float x) {
  const float a = __builtin_fabsf(x);
  const float r = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_f(a) * -0.666666687f);
  const float y = a * r;
  const float z = __builtin_fmaf(y, __builtin_fmaf(y, -(r * y), 1.0f) * 0.333333343f, y);
  const float twice = x + x;
  return __wt_select(twice == x, twice, x < 0.0f ? -z : z);
}
__WT_DEVICE float __wt_rcbrt(float x) {
  const float a = __builtin_fabsf(x);
  const float r = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_f(a) * -0.333333343f);
  const float z = __builtin_fmaf(__builtin_fmaf(r * r, -(a * r), 1.0f), r * 0.333333343f, r);
  const float twice = x + x;
  return __wt_select(twice == x, __wt_of_int(__wt_bits(twice) ^ 0x7f800000), x < 0.0f ? -z : z);
}
// Lengths of vectors: all parts times a power of two that brings the largest near one.
__WT_DEVICE float __wt_length_scale(int largest) { return __wt_of_int(0x7e800000 - (largest & static_cast<int>(0xfe000000u))); }
__WT_DEVICE float __wt_length_unscale(int largest) { return __wt_of_int((largest & static_cast<int>(0xfe000000u)) | 0x00800000); }
__WT_DEVICE void __wt_order(float x, float y, float& small, float& large) {
  const int a = __wt_bits(__builtin_fabsf(x)), b = __wt_bits(__builtin_fabsf(y));
  small = __wt_of_int(a < b ? a : b);
  large = __wt_of_int(a > b ? a : b);
}
__WT_DEVICE float __wt_hypot(float x, float y) {
  float small, large;
  __wt_order(x, y, small, large);
  const float scale = __wt_length_scale(__wt_bits(large));
  const float a = small * scale, b = large * scale;
  float r = __nvvm_sqrt_rn_f(__builtin_fmaf(b, b, a * a)) * __wt_length_unscale(__wt_bits(large));
  r = small == 0.0f ? large : r;
  return small == __builtin_inff() ? __builtin_inff() : r;
}
__WT_DEVICE float __wt_rhypot(float x, float y) {
  float small, large;
  __wt_order(x, y, small, large);
  const float scale = __wt_length_scale(__wt_bits(large));
  const float a = small * scale, b = large * scale;
  const float r = __nvvm_rsqrt_approx_f(__builtin_fmaf(b, b, a * a)) * scale;
  return small == __builtin_inff() ? 0.0f : r;
}
// The sum of the squares of 3 or 4 numbers from the smallest on, scaled; `sum` is their sum, which zeros and NaN fall back to.
__WT_DEVICE float __wt_squares(float x, float y, float z, float& large, float& scale, float& sum) {
  const float a = __builtin_fabsf(x), b = __builtin_fabsf(y), c = __builtin_fabsf(z);
  sum = a + b + c;
  const float t = __nvvm_fmax_f(a, b);
  large = __nvvm_fmax_f(t, c);
  scale = __wt_length_scale(__wt_bits(large));
  const float p = __nvvm_fmin_f(t, c) * scale, q = __nvvm_fmin_f(a, b) * scale, r = large * scale;
  return __builtin_fmaf(r, r, __builtin_fmaf(q, q, p * p));
}
__WT_DEVICE float __wt_squares(float x, float y, float z, float w, float& large, float& scale, float& sum) {
  const float a = __builtin_fabsf(x), b = __builtin_fabsf(y), c = __builtin_fabsf(z), d = __builtin_fabsf(w);
  sum = a + b + c + d;
  const float t = __nvvm_fmax_f(a, b), u = __nvvm_fmax_f(t, c);
  large = __nvvm_fmax_f(u, d);
  scale = __wt_length_scale(__wt_bits(large));
  const float p = __nvvm_fmin_f(u, d) * scale, q = __nvvm_fmin_f(t, c) * scale, r = __nvvm_fmin_f(a, b) * scale, s = large * scale;
  return __builtin_fmaf(s, s, __builtin_fmaf(r, r, __builtin_fmaf(q, q, p * p)));
}
template <class... T> __WT_DEVICE float __wt_norm(T... v) {
  float large, scale, sum;
  const float squares = __wt_squares(v..., large, scale, sum);
  float r = __nvvm_sqrt_rn_f(squares) * __wt_length_unscale(__wt_bits(large));
  r = sum > large ? r : sum;
  return large == __builtin_inff() ? __builtin_inff() : r;
}
template <class... T> __WT_DEVICE float __wt_rnorm(T... v) {
  float large, scale, sum;
  const float squares = __wt_squares(v..., large, scale, sum);
  float r = __nvvm_rsqrt_approx_f(squares) * scale;
  r = __builtin_fabsf(sum) <= __builtin_inff() ? r : sum;
  return large == __builtin_inff() ? 0.0f : r;
}

// erf(x): x (1 + P(x^2)) below 1, else 1 - 2^(-a (1 + Q(a))); the coefficients are selected.
__WT_DEVICE float __wt_erf(float x) {
  const float a = __builtin_fabsf(x);
  const bool large = a >= 1.00295997f;
  const float p[] = {0.12837917f, -0.3761263f, 0.112836175f, -0.026855057f, 0.0051905285f, -0.0008028304f, 7.9101206e-05f};
  const float q[] = {0.62836653f, 0.91604817f, 0.15372321f, -0.034666453f, 0.0054338058f, -0.00050898857f, 2.0464413e-05f};
  const float t = large ? a : x * x;
  float y = large ? q[6] : p[6];
  _Pragma("unroll") for (int i = 5; i >= 0; --i) y = __builtin_fmaf(y, t, large ? q[i] : p[i]);
  const float s = large ? -a : x;
  y = __builtin_fmaf(y, s, s);
  if (__builtin_expect_with_probability(large, 1, 0.5)) y = __wt_copysign(1.0f - __nvvm_ex2_approx_ftz_f(y), x);
  return y;
}
// erfc(a) * exp(a^2) for a >= 0: a polynomial of (a - 4) / (a + 4), over 1 + 2 a. The quotients' rounding is made good.
__WT_DEVICE float __wt_erfcx_positive(float a) {
  const float r = __wt_reciprocal(a + 4.0f);
  const float q = __wt_product(a - 4.0f, r);
  const float t = __builtin_fmaf(r, __builtin_fmaf(-q, a, __builtin_fmaf(-4.0f, q + 1.0f, a)), q);
  const float c[] = {1.2329952f, -0.13962108f, 0.015377389f, 0.06809398f, -0.10099063f, 0.09381476f, -0.06664262f, 0.036429558f, -0.01586944f, 0.0070427675f, 0.0008901301f};
  const float p = __wt_horner(c, t);
  const float d = __wt_reciprocal(__builtin_fmaf(2.0f, a, 1.0f));
  const float y = __wt_product(p, d);
  return __builtin_fmaf(__builtin_fmaf(a, y * -2.0f, p) - y, d, y);
}
__WT_DEVICE float __wt_erfc(float x) {
  const float a = __builtin_fabsf(x);
  const float y = __wt_erfcx_positive(a);
  const float square = a * a;
  const float e = __wt_exp_clamped<0>(-square);
  float r = y * __builtin_fmaf(e, __builtin_fmaf(-a, a, square), e);
  r = a > 10.0550003f ? 0.0f : r;
  return x < 0.0f ? 2.0f - r : r;
}
__WT_DEVICE float __wt_erfcx(float x) {
  const float a = __builtin_fabsf(x);
  float y;
  if (__builtin_expect_with_probability(a < 10.0550003f, 1, 0.9)) {
    y = __wt_erfcx_positive(a);
  } else {  // the asymptotic series
    const float r = __nvvm_div_approx_f(0.25f, a * 0.25f);
    const float c[] = {1.0f, -0.5f, 0.75f, -1.875f, 6.5625f};
    y = r * 0.564189584f * __wt_horner(c, r * r);
  }
  if (__builtin_expect_with_probability(x < 0.0f, 1, 0.5)) {
    const float square = __nvvm_mul_rz_f(a, a);
    const float e = __wt_exp(square), twice = e + e;
    const float r = __builtin_fmaf(twice, __builtin_fmaf(a, a, -square), twice) - y;
    y = twice == __builtin_inff() ? twice : r;
  }
  return y;
}
__WT_DEVICE float __wt_normcdf(float x) {
  x = __builtin_fabsf(x) > 14.5f ? __wt_copysign(14.5f, x) : x;
  const float high = __wt_product(x, -0.707106769f);
  const float low = __builtin_fmaf(x, -1.21016175e-8f, __builtin_fmaf(x, -0.707106769f, -high));
  const float t = __wt_sum(high, low);
  float y = __wt_erfc(t);
  if (__builtin_expect_with_probability(x < -1.0f, 1, 0.5)) y = __builtin_fmaf(t * -2.0f * y, __wt_sum(high - t, low), y);
  return y * 0.5f;
}

// Inverses: a polynomial of w = -log2(1 - x^2), as M. Giles has it (2012), and of 1 / sqrt(w) in the tails.
__WT_DEVICE float __wt_erfinv_center(float w) {
  const float c[] = {0.8862269f, 0.16082028f, 0.0055463985f, -0.000774097f, -3.1860727e-05f, 8.133854e-06f, 2.0079383e-07f, -1.1843478e-07f, 9.279469e-09f, -2.4743096e-10f};
  return __wt_horner(c, w);
}
__WT_DEVICE float __wt_erfinv(float x) {
  const float log = __nvvm_lg2_approx_ftz_f(__builtin_fmaf(x, -x, 1.0f));
  const float w = -log;
  float y = x * __wt_erfinv_center(w);
  if (__builtin_expect(!(log >= -8.2f), 0)) {
    const float c[] = {0.8353404f, -0.0949726f, -0.67714316f, 1.6043031f, -0.6766624f, -0.5797774f};
    const float r = __nvvm_rsqrt_approx_ftz_f(w);
    const float t = r * w * __wt_horner(c, r);
    y = __wt_copysign(log == -__builtin_inff() ? w : t, x);
  }
  return y;
}
__WT_DEVICE float __wt_erfcinv(float x) {
  const float rest = __wt_sum(2.0f, -x);
  if (__builtin_expect(x >= 0.0034f && x <= 1.9966f, 1)) {
    const float p = __wt_erfinv_center(-__nvvm_lg2_approx_ftz_f(__wt_product(rest, x)));
    return __builtin_fmaf(p, -x, p);
  }
  const bool above = x > 1.0f;
  const float log = __nvvm_lg2_approx_f(above ? rest : x);
  const float w = -log;
  const float r = __nvvm_rsqrt_approx_ftz_f(w);
  const float c[] = {0.8328767f, -0.030294077f, -1.8335805f, 6.4739676f, -21.83093f, 60.484947f, -114.480095f, 127.974236f, -63.386196f};
  const float s = log == -__builtin_inff() ? w : r * w;
  return __wt_product(__wt_horner(c, r), above ? -s : s);
}
__WT_DEVICE float __wt_normcdfinv(float x) { return __builtin_fmaf(-1.41421354f, __wt_erfcinv(x + x), 0.0f); }

// log(Gamma(a)) by a piece for each range of a: polynomials around 0, 1 and 2, a quotient to 7.8, Stirling's series above.
__WT_DEVICE float __wt_lgamma_positive(float a) {
  if (a < 3.0f) {
    if (a < 1.5f) {
      if (a < 0.7f) {
        const float c[] = {0.5772154f, -0.6558681f, -0.04212709f, 0.16727601f, -0.044529386f, -0.0055830455f, 0.0036371264f};
        return -__wt_log(__builtin_fmaf(a * __wt_horner(c, a), a, a));
      }
      const float c[] = {0.5772157f, 0.82246697f, 0.40068543f, 0.2705875f, 0.20740801f, 0.16934414f, 0.14321597f, 0.12751736f, 0.12280173f, 0.10376767f, 0.045914143f};
      const float t = 1.0f - a;
      return t * __wt_horner(c, t);
    }
    const float c[] = {0.42278433f, 0.32246703f, -0.06735249f, 0.020581322f, -0.007382752f, 0.0028842397f, -0.0012045237f, 0.0005413411f, -0.00022091146f, 4.9600647e-05f};
    const float t = a - 2.0f;
    return t * __wt_horner(c, t);
  }
  if (a < 7.8f) {
    const float p[] = {-133849.58f, -45704.29f, -38509.125f, -11688.355f, -721.5476f}, q[] = {-193104.11f, -87448.88f, -10286.276f, -251.25456f};
    const float t = a - 3.0f;
    float quotient = q[3] + t;
    quotient = __builtin_fmaf(__builtin_fmaf(__builtin_fmaf(quotient, t, q[2]), t, q[1]), t, q[0]);
    return __builtin_fmaf(__wt_horner(p, t), __wt_reciprocal(quotient), t);
  }
  const float r = __wt_reciprocal(a);
  const float c[] = {0.083333336f, -0.0027776905f, 0.0007793691f};
  const float series = __builtin_fmaf(__wt_horner(c, r * r), r, 0.918938518f);
  const float p = __wt_product(__wt_log(a) * 0.5f, a - 0.5f);
  const float y = (p - a) + __wt_sum(p, series);
  return a == __builtin_inff() ? a : y;
}
__WT_DEVICE float __wt_lgamma(float x) {
  const float a = __builtin_fabsf(x);
  const float y = __wt_lgamma_positive(a);
  if (__builtin_expect(x >= 0.0f, 1)) return y;
  if (__nvvm_floor_f(a) == a) return __builtin_inff();
  if (a < 1e-19f) return -__wt_log(a);
  int quadrant;  // log(pi / (a |sin(pi a)|)) - log(Gamma(a))
  const float t = __wt_half_turns(a, quadrant);
  const float s = __builtin_fabsf(__wt_quadrant_sin(t * 3.14159274f, quadrant));
  return (1.14472985f - __wt_log(a * s)) - y;
}
__WT_DEVICE float __wt_tgamma(float x) {
  if (__builtin_fabsf(x) < 1.5f) {  // 1 / Gamma(t) is t + t^2 P(t)
    const float t = x == 0.0f ? x : x - __builtin_rintf(x);
    const float s = x < -0.5f ? x : 1.0f;
    const float u = x <= 0.5f ? s * t : s;
    const float c[] = {0.57721573f, -0.65587795f, -0.042005688f, 0.16653542f, -0.04216305f, -0.009605477f, 0.007069012f, -0.0011577324f};
    float y = __nvvm_div_approx_f(1.0f, __builtin_fmaf(__builtin_fmaf(__wt_horner(c, t), u, 0.0f), t, u));
    if (x < 0.0f && __nvvm_trunc_f(x) == x) y = __builtin_nanf("");
    return y;
  }
  // sqrt(2 pi) a^(a - 1/2) e^-a (1 + P(1/a) / a) in powers of 2, its reciprocal for negative arguments
  const bool negative = x < 0.0f;
  const float limited = __builtin_fabsf(x) > 41.1f ? __wt_copysign(41.1f, negative ? -1.0f : 1.0f) : x;
  const float a = __builtin_fabsf(limited);
  float low;
  const float high = __wt_log2_pair(a, low);
  const float h = a - 0.5f;
  const float p = __wt_product(high, h);
  const float p_low = __builtin_fmaf(low, h, __builtin_fmaf(high, h, -p));
  const float q = __wt_product(a, 1.44269502f);
  const float q_low = __builtin_fmaf(1.92596299e-8f, a, __builtin_fmaf(1.44269502f, a, -q));
  const float difference = __wt_sum(p, -q);
  const float back = __wt_sum(difference, q);
  const float error = __wt_sum(__wt_sum(p, -back), __wt_sum(-q, -__wt_sum(difference, -back)));
  const float rest = (p_low - q_low) + error;
  const bool huge = negative && a > 33.0f;
  float exponent = negative ? -difference : difference;
  exponent = huge ? exponent + 48.0f : exponent;
  const float power = __wt_exp2_pair(exponent, negative ? -rest : rest) * 2.50662827f;
  const float r = __wt_reciprocal(a);
  const float c[] = {0.08333334f, 0.0034719133f, -0.0026761387f, -0.00027168638f, 0.00097125565f, -0.0003872888f, -8.219724e-05f, 7.990623e-05f};
  const float series = r * __wt_horner(c, r);
  if (__builtin_expect(!negative, 1)) return x != x ? x : __builtin_fmaf(series, power, power);
  const float whole = __nvvm_trunc_f(x);
  if (whole == x) return __builtin_nanf("");
  if (x < -41.1f) return (static_cast<int>(whole) & 1) ? 0.0f : -0.0f;
  // Gamma(-a) = -pi / (a sin(pi a) Gamma(a)); `power` is 2 pi / (Gamma(a) without its series)
  const float turn = __wt_sinpi_quadrant(a, 0);
  const float b = __builtin_fmaf(series, -a, -a);
  const float product = __wt_product(b, turn);
  const float inverse = __nvvm_div_approx_f(1.0f, product);
  const float correction = power * (__builtin_fmaf(b, turn, -product) * (inverse * inverse));
  const float y = __builtin_fmaf(power, inverse, -correction) * 0.5f;
  return huge ? y * 3.55271368e-15f : y;
}

// Bessel functions. The modified ones: a polynomial of x^2, and one of 1/x times e^x / sqrt(x).
template <int n> __WT_DEVICE float __wt_bessel_growth(const float (&c)[n], float a) {
  const float r = __wt_reciprocal(a);
  const float scaled = __wt_horner(c, r) * __nvvm_rsqrt_approx_ftz_f(a);
  const float m = __wt_expm1(a * 0.5f);
  return __wt_sum(__wt_product(__wt_product(scaled, m), __wt_sum(m, 2.0f)), scaled);
}
__WT_DEVICE float __wt_bessel_i0(float x) {
  const float a = __builtin_fabsf(x);
  if (a >= 9.0f && a < __builtin_inff()) {
    const float c[] = {0.3989423f, 0.049868554f, 0.027977398f, 0.03171221f, 0.008255921f, 0.30607566f};
    return __wt_bessel_growth(c, a);
  }
  const float c[] = {1.0f, 0.24999999f, 0.015625011f, 0.00043402374f, 6.782317e-06f, 6.7763686e-08f, 4.735563e-10f, 2.3250995e-12f, 1.0802467e-14f, 1.3779179e-17f, 1.5696286e-19f};
  return __wt_horner(c, a * a);
}
__WT_DEVICE float __wt_bessel_i1(float x) {
  const float a = __builtin_fabsf(x);
  if (a >= 8.0f && a < __builtin_inff()) {
    const float c[] = {0.3989423f, -0.14960544f, -0.046576302f, -0.04614054f, 0.009526868f, -0.45175514f};
    return __wt_copysign(__wt_bessel_growth(c, a), x);
  }
  const float c[] = {0.5f, 0.0625f, 0.0026041633f, 5.425447e-05f, 6.780308e-07f, 5.661653e-09f, 3.3195877e-11f, 1.6156446e-13f, 3.5240343e-16f, 2.7432318e-18f};
  return __wt_horner(c, a * a) * x;
}

__WT_DEVICE float __wt_fmod_positive(float a, float b, unsigned& quotient) {
  if (__builtin_expect(!(a <= b * 8388608.0f), 0)) {  // digits of 23 bits, from the top
    unsigned digits = static_cast<unsigned>(__wt_bits(a) & 0x007fffff) | 0x3f800000u;
    const int limit = __wt_bits(b * 8388608.0f);
    unsigned left = static_cast<unsigned>(__wt_bits(a) - ((limit - 0x0b800000) & static_cast<int>(0xff800000u))) & 0xff800000u;
    const float divisor = __wt_of_int((limit & 0x007fffff) | 0x3f800000);
    const float r = __wt_reciprocal(divisor);
    float rest = __wt_of_int(static_cast<int>(digits));
    quotient = 0;
#pragma clang loop unroll(disable)
    while (left != 0 && digits != 0) {
      const unsigned step = left < 0x0b800000u ? left : 0x0b800000u;
      const float t = __wt_of_int(static_cast<int>(digits + step));
      float q = __builtin_fmaf(t, r, -0.0f);
      q = __builtin_fmaf(__builtin_fmaf(-divisor, q, t), r, q);
      q = __nvvm_trunc_f(__nvvm_fma_rz_f(__builtin_fmaf(-divisor, q, t), r, q));
      rest = __builtin_fmaf(-divisor, q, t);
      left -= step;
      digits = static_cast<unsigned>(__wt_bits(rest));
      quotient = (quotient << (step >> 23)) + static_cast<unsigned>(q);
    }
    quotient <<= left >> 23;
    const bool wrong = __wt_bits(a) > 0x7f7fffff || !(b > 0.0f);
    return (wrong ? __builtin_nanf("") : __wt_of_int(limit & static_cast<int>(0xff800000u))) * (rest * 1.1920929e-7f);
  }
  float q = __nvvm_trunc_f(__nvvm_div_approx_f(a, b));
  const float r = __builtin_fmaf(-b, q, a);
  if (static_cast<unsigned>(__wt_bits(r)) >= static_cast<unsigned>(__wt_bits(b))) {  // the approximate quotient is off by 1 or 2
    if (__wt_bits(r) < 0) {
      q -= 1.0f;
      q = r < -b ? q - 1.0f : q;
    } else {
      q += 1.0f;
      if (r >= b + b) {
        q += 1.0f;
        q = __builtin_fmaf(-3.0f, b, r) >= 0.0f ? q + 1.0f : q;
      }
    }
  }
  quotient = static_cast<unsigned>(q);
  return __builtin_fmaf(-b, q, a);
}
__WT_DEVICE float __wt_fmod(float x, float y) {
  float a = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  unsigned quotient;
  if (!(a < b)) a = __wt_fmod_positive(a, b, quotient);
  return __builtin_fabsf(a) <= __builtin_inff() ? __wt_copysign(a, x) : b != b ? b : a;
}
__WT_DEVICE float __wt_remquo(float x, float y, int* to) {
  float a = __builtin_fabsf(x);
  const float b = __builtin_fabsf(y);
  unsigned quotient = 0;
  if (!(a < b)) a = __wt_fmod_positive(a, b, quotient);
  const float twice = a + a;
  if (twice > b || (twice == b && (quotient & 1))) {
    ++quotient;
    a -= b;
  }
  const int n = static_cast<int>(quotient & 0x7fffffffu);
  *to = (__wt_bits(x) ^ __wt_bits(y)) < 0 ? -n : n;
  if (__wt_bits(x) < 0) a = __builtin_fabsf(a) <= __builtin_inff() ? -a : a;
  return b != b ? b : a;
}
__WT_DEVICE float __wt_remainder(float x, float y) {
  int quotient;
  return __wt_remquo(x, y, &quotient);
}

__WT_DEVICE int __wt_ilogb(float x) {
  const int a = __wt_bits(__builtin_fabsf(x));
  if (__builtin_expect(a < 0x00800000, 0)) return a == 0 ? -0x7fffffff - 1 : -118 - __builtin_clz(static_cast<unsigned>(a));
  return a > 0x7f800000 ? -0x7fffffff - 1 : a == 0x7f800000 ? 0x7fffffff : (a >> 23) - 127;
}
__WT_DEVICE float __wt_logb(float x) {
  const int a = __wt_bits(__builtin_fabsf(x));
  if (__builtin_expect_with_probability(a < 0x00800000, 1, 0.5)) {
    const float y = static_cast<float>(-118 - (a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a))));
    return x == 0.0f ? -__builtin_inff() : y;
  }
  const float y = static_cast<float>((a >> 23) - 127);
  return a > 0x7f7fffff ? x * x : y;
}
__WT_DEVICE float __wt_frexp(float x, int* e) {
  const float a = __builtin_fabsf(x);
  const bool tiny = a < 1.17549435e-38f;
  x = tiny ? x * 16777216.0f : x;
  const int bits = __wt_bits(x), exponent = bits >> 23 & 255;
  if (__builtin_expect_with_probability(a == 0.0f || exponent == 255, 1, 0.5)) {
    *e = 0;
    return x + x;
  }
  *e = exponent + (tiny ? -150 : -126);
  return __wt_of_int((bits & static_cast<int>(0x807fffffu)) | 0x3f000000);
}
__WT_DEVICE float __wt_modf(float x, float* whole) {
  const float n = __nvvm_trunc_f(x);
  *whole = n;
  return n == x ? __wt_of_int(__wt_bits(x) & static_cast<int>(0x80000000u)) : x - n;
}
// x * 2^n in four factors, of which three are 1 where |n| is small.
__WT_DEVICE float __wt_scale(float x, int n) {
  n = n > 278 ? 278 : n < -278 ? -278 : n;
  const unsigned quarter = static_cast<unsigned>(n + 508) >> 2;
  const bool small = (n < 0 ? -n : n) < 101;
  const int first = small ? n + 127 : n + 508 - 3 * static_cast<int>(quarter);
  const float part = __wt_of_int(small ? 0x3f800000 : static_cast<int>(quarter << 23));
  return __wt_product(__wt_product(__wt_product(__wt_product(x, __wt_of_int(first << 23)), part), part), part);
}
__WT_DEVICE float __wt_nextafter(float x, float y) {
  if (__builtin_expect(!(__builtin_fabsf(x) <= __builtin_inff()), 0)) return x + y;
  if (__builtin_expect(!(__builtin_fabsf(y) <= __builtin_inff()), 0)) return x + y;
  if (__builtin_expect(((__wt_bits(x) | __wt_bits(y)) & 0x7fffffff) == 0, 0)) return y;
  if (__builtin_expect(x == 0.0f, 0)) return __wt_copysign(1.40129846e-45f, y);
  const bool up = x < y, down = x > y, positive = x > 0.0f, negative = x < 0.0f;
  int bits = __wt_bits(x);
  bits += negative & up ? -1 : 0;
  bits += positive & up ? 1 : 0;
  bits += negative & down ? 1 : 0;
  bits += positive & down ? -1 : 0;
  return __wt_of_int(bits);
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
  __wt_sincos(x, s, c);
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
__WT_FLOAT_1(__WT_MATH, rcbrt, __wt_rcbrt(x))
__WT_FLOAT_1(__WT_MATH, normcdf, __wt_normcdf(x))
__WT_FLOAT_1(__WT_MATH, normcdfinv, __wt_normcdfinv(x))
__WT_FLOAT_1(__WT_MATH, erfinv, __wt_erfinv(x))
__WT_FLOAT_1(__WT_MATH, erfcinv, __wt_erfcinv(x))
__WT_FLOAT_1(__WT_MATH, erfcx, __wt_erfcx(x))
__WT_FLOAT_1(__WT_MATH, cyl_bessel_i0, __wt_bessel_i0(x))
__WT_FLOAT_1(__WT_MATH, cyl_bessel_i1, __wt_bessel_i1(x))
__WT_FLOAT_2(__WT_MATH, atan2, __wt_atan2(x, y))
__WT_FLOAT_2(__WT_MATH, fmod, __wt_fmod(x, y))
__WT_FLOAT_2(__WT_MATH, remainder, __wt_remainder(x, y))
__WT_FLOAT_2(__WT_MATH, hypot, __wt_hypot(x, y))
__WT_FLOAT_2(__WT_MATH, nextafter, __wt_nextafter(x, y))
__WT_FLOAT_2(__WT_MATH, rhypot, __wt_rhypot(x, y))
__WT_DEVICE float powf(float x, int n) { return powf(x, static_cast<float>(n)); }
__WT_DEVICE float pow(float x, int n) { return powf(x, static_cast<float>(n)); }
__WT_DEVICE void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__WT_MATH void sincospif(float x, float* s, float* c) {
  int quadrant;
  const float t = __wt_half_turns(x, quadrant);
  float sine, cosine;
  __wt_sincospi_near_zero(t, sine, cosine);
  const bool odd = quadrant & 1;
  float first = __wt_turned(odd ? cosine : sine, quadrant);
  float second = odd ? sine : cosine;
  second = ((quadrant + 1) & 2) ? __builtin_fmaf(second, -1.0f, 0.0f) : second;
  first = __wt_select(__nvvm_trunc_f(x) == x, __wt_product(x, 0.0f), first);
  second = __wt_select(__builtin_fabsf(x) <= 16777216.0f, second, __wt_sum(first, 1.0f));
  *s = first;
  *c = second;
}
__WT_MATH float norm3df(float x, float y, float z) { return __wt_norm(x, y, z); }
__WT_MATH float norm4df(float x, float y, float z, float w) { return __wt_norm(x, y, z, w); }
__WT_MATH float rnorm3df(float x, float y, float z) { return __wt_rnorm(x, y, z); }
__WT_MATH float rnorm4df(float x, float y, float z, float w) { return __wt_rnorm(x, y, z, w); }
__WT_MATH float remquof(float x, float y, int* q) { return __wt_remquo(x, y, q); }
__WT_MATH float remquo(float x, float y, int* q) { return __wt_remquo(x, y, q); }
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
__WT_MATH float logbf(float x) { return __wt_logb(x); }
__WT_MATH float logb(float x) { return __wt_logb(x); }
__WT_MATH float scalblnf(float x, long n) { return __wt_scale(x, n > 400 ? 400 : n < -400 ? -400 : static_cast<int>(n)); }
__WT_MATH float scalbln(float x, long n) { return scalblnf(x, n); }
__WT_MATH float normf(int count, const float* v) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum = __wt_hypot(sum, v[i]);
  return sum;
}
__WT_MATH float rnormf(int count, const float* v) { return __wt_reciprocal(normf(count, v)); }
