#pragma once
#pragma clang system_header

#include "math_float.h"

// Double precision in software, of the kind of work that nvcc's functions do: see math_float.h.

__WT_DEVICE double __wt_from_words(int high, int low) { return __nvvm_lohi_i2d(low, high); }

template <int n> __WT_DEVICE double __wt_horner(const double (&c)[n], double x) {
  double sum = c[n - 1];
  _Pragma("unroll") for (int i = n - 2; i >= 0; --i) sum = __builtin_fma(sum, x, c[i]);
  return sum;
}

template <int n> __WT_DEVICE double __wt_odd(const double (&c)[n], double x) {
  const double z = x * x;
  return __builtin_fma(z * __wt_horner(c, z), x, x);
}
__WT_DEVICE int __wt_high(double x) { return __nvvm_d2i_hi(x); }
__WT_DEVICE double __wt_product(double x, double y) { return __nvvm_mul_rn_d(x, y); }
__WT_DEVICE double __wt_sum(double x, double y) { return __nvvm_add_rn_d(x, y); }
__WT_DEVICE double __wt_select(bool which, double yes, double no) { return __builtin_unpredictable(which) ? yes : no; }
// x * 2^n where no exponent overflows: added to its upper word.
__WT_DEVICE double __wt_shifted(double x, int n) { return __wt_from_words(__wt_high(x) + (n << 20), __nvvm_d2i_lo(x)); }
// From the hardware's 20 bits, by a step that cubes the error.
__WT_DEVICE double __wt_reciprocal(double x) {
  const double r = __nvvm_rcp_approx_ftz_d(x);
  const double e = __builtin_fma(-x, r, 1.0);
  return __builtin_fma(__builtin_fma(e, e, e), r, r);
}
__WT_DEVICE double __wt_reciprocal_root(double x) {
  const double r = __wt_rsqrt_approx(x);
  const double e = __builtin_fma(x, -__wt_product(r, r), 1.0);
  return __builtin_fma(__builtin_fma(0.375, e, 0.5), __wt_product(e, r), r);
}

// x * 2^n, in four factors that are each a normal number.
__WT_DEVICE double __wt_scale(double x, int n) {
  n = n < -2400 ? -2400 : n > 2400 ? 2400 : n;
  const int quarter = n >> 2;
  const double part = __wt_from_words((quarter + 1023) << 20, 0);
  return x * part * part * part * __wt_from_words((n - 3 * quarter + 1023) << 20, 0);
}

// e^r for |r| <= ln(2)/2.
__WT_DEVICE double __wt_exp_near_zero(double r) {
  const double c[] = {1.0, 1.0, 0.5, 0.16666666666666674, 0.04166666666661972, 0.008333333333322014, 0.0013888888920619642, 0.00019841269887467062, 2.480151620590329e-05, 2.7557241423474477e-06, 2.7622283529877757e-07, 2.51103338622144e-08};
  return __wt_horner(c, r);
}
// y * 2^n in two factors: near the ends of the range of exponents.
__WT_DEVICE double __wt_scaled_twice(double y, int n) {
  const int half = n / 2;
  return __wt_shifted(y, half) * __wt_from_words((n - half + 1023) << 20, 0);
}
// x = n * ln(2) / factor + r: the rounding of a sum with 1.5 * 2^52 leaves n in its lower word.
__WT_DEVICE double __wt_exp_reduce(double x, double log2, double part, double rest, int& n) {
  const double shifted = __builtin_fma(x, log2, 6755399441055744.0);
  n = __nvvm_d2i_lo(shifted);
  const double m = __wt_sum(shifted, -6755399441055744.0);
  return __builtin_fma(m, -rest, __builtin_fma(m, -part, x));
}
__WT_DEVICE double __wt_exp_reduce(double x, int& n) {
  return __wt_exp_reduce(x, 1.4426950408889634, 0.69314718055994529, 2.3190468138462996e-17, n);
}
// The upper half of |x|, as a single-precision number: enough to tell where results overflow.
__WT_DEVICE float __wt_upper_half(double x) { return __builtin_fabsf(__nvvm_bitcast_i2f(__wt_high(x))); }
__WT_DEVICE double __wt_exp(double x) {
  int n;
  const double r = __wt_exp_reduce(x, n);
  const double e = __wt_exp_near_zero(r);
  double y = __wt_shifted(e, n);
  const float size = __wt_upper_half(x);
  if (__builtin_expect(!(size < 4.1917929649353027344f), 0)) {
    y = x < 0.0 ? 0.0 : x + __builtin_inf();
    if (size < 4.2275390625f) y = __wt_scaled_twice(e, n);
  }
  return y;
}
__WT_DEVICE double __wt_exp2(double x) {
  const double shifted = __wt_sum(x, 6755399441055744.0);
  const int n = __nvvm_d2i_lo(shifted);
  const double f = x - __wt_sum(shifted, -6755399441055744.0);
  const double e = __wt_exp_near_zero(__builtin_fma(f, 0.69314718055994529, f * 2.3190468138462996e-17));
  double y = __wt_shifted(e, n);
  const bool inside = __wt_upper_half(x) < 4.49804688f;  // 1022
  if (!inside) {
    y = x != x ? x + x : __wt_high(x) < 0 ? 0.0 : __builtin_inf();
    if (__wt_upper_half(x) < 4.52539062f) y = __wt_scaled_twice(e, n);
  }
  return y;
}
__WT_DEVICE double __wt_exp10(double x) {
  int n;
  const double f = __wt_exp_reduce(x, 3.3219280948873622, 0.30102999566398120, -2.8037281277851704e-18, n);
  const double e = __wt_exp_near_zero(__builtin_fma(f, 2.3025850929940459, f * -2.1707562233822494e-16));
  double y = __wt_shifted(e, n);
  const bool inside = __wt_upper_half(x) < 3.8004417419433594f;
  if (!inside) {
    y = x != x ? x + x : __wt_high(x) < 0 ? 0.0 : __builtin_inf();
    if (__wt_upper_half(x) < 3.8160228729248047f) y = __wt_scaled_twice(e, n);
  }
  return y;
}
// (e^f - 1) * 2^n + (2^n - 1), with n = 0 near zero.
__WT_DEVICE double __wt_expm1(double x) {
  const float size = __nvvm_bitcast_i2f(__wt_high(x));
  const bool inside = size < 4.19314671f && size > -3.1640625f;
  if (!inside) return x != x ? x + x : __wt_high(x) < 0 ? -1.0 : __builtin_inf();
  int n;
  double f = __wt_exp_reduce(x, n);
  const unsigned twice = static_cast<unsigned>(__wt_high(x)) << 1;
  const bool near_zero = twice < 0x7fb3e647u;  // 0.405
  f = near_zero ? x : f;
  n = near_zero ? 0 : n;
  const double c[] = {0.5, 0.16666666666666713, 0.041666666666666775, 0.008333333333292892, 0.0013888888888824447, 0.00019841269955304694, 2.4801587439425888e-05, 2.7557179313652432e-06, 2.7557182462626146e-07, 2.5129895456551133e-08, 2.0940831248291968e-09};
  const double m = __builtin_fma(f * __wt_horner(c, f), f, f);
  const bool last = n == 1024;
  n = last ? n - 1 : n;
  const double scale = __wt_from_words((n << 20) + 0x3ff00000, 0);
  double y = __builtin_fma(m, scale, scale - 1.0);
  y = last ? y + y : y;
  return twice == 0 ? f : y;
}

// log(x): x = m * 2^e with m in [sqrt(1/2), sqrt(2)), log(m) = 2 atanh(s / 2) with s = 2 (m - 1) / (m + 1), its rounding made good.
__WT_DEVICE double __wt_log(double x) {
  int high = __wt_high(x), more = -1023;
  double scaled = x;
  if (__builtin_expect_with_probability(high < 0x00100000, 1, 0.4)) {  // subnormal, or not positive
    scaled = x * 18014398509481984.0;
    high = __wt_high(scaled);
    more = -1023 - 54;
  }
  if (__builtin_expect_with_probability(static_cast<unsigned>(high - 1) >= 0x7fefffffu, 1, 0.2)) {
    const double y = __builtin_fma(scaled, __builtin_inf(), __builtin_inf());
    return scaled == 0.0 ? -__builtin_inf() : y;
  }
  int e = (high >> 20) + more;
  high = (high & 0x000fffff) | 0x3ff00000;
  if (high >= 0x3ff6a09f) {  // sqrt(2)
    high -= 0x00100000;
    ++e;
  }
  const double m = __wt_from_words(high, __nvvm_d2i_lo(scaled));
  const double r = __wt_reciprocal(m + 1.0);
  const double f = m - 1.0;
  const double s = __builtin_fma(f, r, f * r);
  const double z = s * s;
  const double c[] = {0.08333333333333333, 0.012500000000001663, 0.0022321428569665605, 0.0004340277862469521, 8.877819186716267e-05, 1.8783222781386607e-05, 4.042557328918718e-06, 1.013724191662986e-06};
  const double d = f - s;
  const double error = r * __builtin_fma(-s, f, d + d);
  const double rest = __builtin_fma(z * __wt_horner(c, z), s, error);
  const double n = e;
  const double sum = __builtin_fma(n, 0.69314718055994529, s);
  const double lost = __builtin_fma(-n, 0.69314718055994529, sum) - s;
  return sum + __builtin_fma(n, 2.3190468138462996e-17, rest - lost);
}
// Times a constant in two parts: infinities and NaN stay.
__WT_DEVICE double __wt_log_in_base(double x, double factor, double rest) {
  const double y = __wt_log(x);
  return __builtin_fma(y, factor, y * rest);
}
__WT_DEVICE double __wt_log2(double x) { return __wt_log_in_base(x, 1.4426950408889634, 2.0355273740931033e-17); }
__WT_DEVICE double __wt_log10(double x) { return __wt_log_in_base(x, 0.43429448190325182, 1.0983196502167651e-17); }
// Near zero 2 atanh(x / (x + 2)), elsewhere log(1 + x).
__WT_DEVICE double __wt_log1p(double x) {
  const float size = __nvvm_bitcast_i2f(__wt_high(x));
  if (size < 1.7916666f && size > -1.7f) {  // -0.39 to 0.66
    const double c[] = {0.08333333333333322, 0.012500000000060955, 0.002232142852026484, 0.00043402794052876324, 8.877587579382967e-05, 1.8801357877921706e-05, 3.970604821755996e-06, 1.1289011961339437e-06};
    const double d = x * (x / (x + 2.0));
    const double s = x - d;
    const double z = s * s;
    return x + __builtin_fma(z * __wt_horner(c, z), s, -d);
  }
  return __wt_log(1.0 + x);
}

// 2/pi in words of 64 bits behind one of zeros, and the coefficients of sine and cosine, in memory, where nvcc's
// are, too. Not const: clang would take them for constant memory.
static __attribute__((device, unused)) unsigned long long __wt_two_over_pi[20] = {0, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x6492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0};
static __attribute__((device, unused, aligned(16))) double __wt_sin_cos_coefficients[16] = {
    -2.505075996151551e-08, 2.7557313705596196e-06, -0.00019841269829854998, 0.008333333333322488, -0.16666666666666632, 0.0, 0.0, 0.0,
    2.0875729395041473e-09, -2.755731440201029e-07, 2.4801587289675016e-05, -0.0013888888888874478, 0.0416666666666666, -0.5, 1.0, 0.0};
// An angle above 2^31: the words of 2/pi that matter, times its mantissa (Payne and Hanek).
__WT_DEVICE double __wt_reduce_large(double x, int& quadrant) {
  const unsigned long long bits = static_cast<unsigned long long>(__nvvm_bitcast_d2ll(x));
  const unsigned long long mantissa = bits << 11 | 0x8000000000000000ull;
  const unsigned e = static_cast<unsigned>(bits >> 52 & 2047u) - 1024u;
  const unsigned long long* words = __wt_two_over_pi + (e >> 6);
  const unsigned long long w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
  unsigned long long r2 = mantissa * w2, r1 = mantissa * w1, r0 = mantissa * w0;
  const unsigned long long h3 = __nvvm_mulhi_ull(mantissa, w3), h2 = __nvvm_mulhi_ull(mantissa, w2);
  r2 += h3;
  const unsigned long long carry = r2 < h3;
  r1 += h2;
  r0 += r1 < h2;
  r1 += carry;
  r0 += r1 < carry;
  r0 += __nvvm_mulhi_ull(mantissa, w1);
  const unsigned shift = e & 63u;
  unsigned long long high = r0 << shift | r1 >> 1 >> (63u - shift);
  unsigned long long low = r1 << shift | r2 >> 1 >> (63u - shift);
  const int n = static_cast<int>(high >> 62) + static_cast<int>(high >> 61 & 1u);
  high = high << 2 | low >> 62;
  low <<= 2;
  const bool negative = static_cast<long long>(high) < 0;
  high = negative ? ~high : high;
  low = negative ? ~low : low;
  const unsigned zeros = static_cast<unsigned>(high == 0 ? 64 : __builtin_clzll(high)) & 63u;
  high = high << zeros | low >> 1 >> (63u - zeros);
  const double first = static_cast<double>(high & ~2047ull), rest = static_cast<double>(high & 2047ull);
  const double scaled = __builtin_fma(first, 8.515303950216386e-20,
                                      __builtin_fma(rest, 8.515303950216386e-20, first * 3.3194181231205397e-36));  // pi/2 * 2^-64
  const double r = scaled * __wt_from_words(static_cast<int>(1023u - zeros) << 20, 0);
  quadrant = x < 0.0 ? -n : n;
  return (x < 0.0) != negative ? -r : r;
}
// x = n * pi/2 + r, |r| <= pi/4: pi/2 in three parts.
__WT_DEVICE double __wt_reduce(double x, int& quadrant) {
  const double a = __builtin_fabs(x);
  if (__builtin_expect_with_probability(!(a < __builtin_inf()), 1, 0.4)) {
    quadrant = 0;
    return __wt_product(x, 0.0);
  }
  quadrant = __nvvm_d2i_rn(x * 0.63661977236758138);
  const double n = quadrant;
  double r = __builtin_fma(-n, 1.5707963267948966, x);
  r = __builtin_fma(-n, 6.1232339957367660e-17, r);
  r = __builtin_fma(-n, -1.4973849048591833e-33, r);
  if (__builtin_expect(!(a < 2147483648.0), 0)) r = __wt_reduce_large(x, quadrant);
  return r;
}
// Of both sides the compiler would make a select, which for doubles costs more than the branch.
__WT_DEVICE double __wt_fma_in_branch(double x, double y, double z) {
  double r;
  __asm__("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(x), "d"(y), "d"(z));
  return r;
}
// sin(r) in even quadrants, cos(r) in odd ones: one polynomial, its coefficients loaded.
__WT_DEVICE double __wt_quadrant_sin(double r, int quadrant) {
  typedef double Pair __attribute__((ext_vector_type(2)));
  const bool odd = quadrant & 1;
  const Pair* c = reinterpret_cast<const Pair*>(__wt_sin_cos_coefficients + ((quadrant << 3) & 8));
  const double z = __wt_product(r, r);
  const Pair c0 = __nvvm_ldg_d2(c), c1 = __nvvm_ldg_d2(c + 1), c2 = __nvvm_ldg_d2(c + 2);
  double p = odd ? -1.135993874153831e-11 : 1.5896889928330611e-10;
  p = __builtin_fma(__builtin_fma(p, z, c0.x), z, c0.y);
  p = __builtin_fma(__builtin_fma(p, z, c1.x), z, c1.y);
  p = __builtin_fma(__builtin_fma(p, z, c2.x), z, c2.y);
  double y = __builtin_fma(p, r, r);
  if (odd) y = __wt_fma_in_branch(p, z, 1.0);
  if (quadrant & 2) y = __wt_fma_in_branch(y, -1.0, 0.0);
  return y;
}
__WT_DEVICE void __wt_sin_cos_near_zero(double r, double& sine, double& cosine) {
  const double s[] = {-0.16666666666666632, 0.008333333333322488, -0.00019841269829854998, 2.7557313705596196e-06, -2.505075996151551e-08, 1.5896889928330611e-10}, c[] = {1.0, -0.5, 0.0416666666666666, -0.0013888888888874478, 2.4801587289675016e-05, -2.755731440201029e-07, 2.0875729395041473e-09, -1.135993874153831e-11};
  const double z = __wt_product(r, r);
  cosine = __wt_horner(c, z);
  sine = __builtin_fma(__builtin_fma(__wt_horner(s, z), z, 0.0), r, r);
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
__WT_DEVICE double __wt_negated(double x) { return __wt_from_words(__wt_high(x) ^ static_cast<int>(0x80000000u), __nvvm_d2i_lo(x)); }
__WT_DEVICE void __wt_sincos(double x, double* s, double* c) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  double sine, cosine;
  __wt_sin_cos_near_zero(r, sine, cosine);
  const bool odd = quadrant & 1;
  const double first = odd ? cosine : sine, second = odd ? __wt_negated(sine) : cosine;
  *s = (quadrant & 2) ? __wt_negated(first) : first;
  *c = (quadrant & 2) ? __wt_negated(second) : second;
}
__WT_DEVICE double __wt_tan(double x) {
  int quadrant;
  const double r = __wt_reduce(x, quadrant);
  const double c[] = {0.3333333333333338, 0.13333333333325273, 0.05396825397295199, 0.02186948839796679, 0.008863237942270263, 0.003592100704751657, 0.0014560465458000884, 0.0005888608827503122, 0.00024375991599199156, 8.354695505982492e-05, 6.722496110509643e-05, -2.561477390719475e-05, 4.860166586569471e-05, -2.4248201015454772e-05, 9.791450609970957e-06};
  const double z = r * r;
  const double p = z * __wt_horner(c, z);
  double t = __builtin_fma(p, r, r);
  if (__builtin_expect_with_probability(quadrant & 1, 1, 0.5)) {  // -1/t, with the error of t
    const double error = __builtin_fma(p, r, r - t);
    const double q = -__wt_reciprocal(t);
    t = __builtin_fma(__builtin_fma(q, error, __builtin_fma(t, q, 1.0)), q, q);
  }
  return t;
}
// x = n/2 + t, |t| <= 1/4, and pi t
__WT_DEVICE double __wt_half_turns(double x, int& quadrant) {
  const double n = __builtin_rint(__wt_shifted(x, 1));
  quadrant = static_cast<int>(static_cast<long long>(n));
  const double t = __builtin_fma(-n, 0.5, x);
  return __builtin_fma(t, 3.1415926535897931, t * 1.2246467991473532e-16);
}
__WT_DEVICE double __wt_sinpi(double x) {
  int quadrant;
  const double r = __wt_half_turns(x, quadrant);
  double y = __wt_quadrant_sin(r, quadrant);
  if (__nvvm_trunc_d(x) == x) y = __wt_fma_in_branch(x, 0.0, -0.0);
  return y;
}
__WT_DEVICE double __wt_cospi(double x) {
  x = __wt_select((static_cast<unsigned>(__wt_high(x)) << 1) < 0x86800001u, x, __wt_product(x, 0.0));  // 2^53
  int quadrant;
  const double r = __wt_half_turns(x, quadrant);
  return __wt_quadrant_sin(r, quadrant + 1);
}

__WT_DEVICE double __wt_atan_near_zero(double t) {
  const double c[] = {-0.33333333333331994, 0.19999999999774778, -0.142857142723534, 0.11111110705509024, -0.09090901657453558, 0.07692217314036584, -0.06665892142126562, 0.058774749487192954, -0.05239888137751901, 0.046758955048227, -0.040970641448376206, 0.034145213402320546, -0.025930659598655134, 0.01708399569343109, -0.00926524506185385, 0.0039003706524574164, -0.0011807406842172655, 0.0002268428484712889, -2.066170457926946e-05};
  return __wt_odd(c, t);
}
__WT_DEVICE double __wt_atan(double x) {
  const double a = __builtin_fabs(x);
  const bool large = a > 1.0;
  double t = a;
  if (__builtin_expect_with_probability(large, 1, 0.5)) t = __wt_select(a == __builtin_inf(), 0.0, __wt_reciprocal(a));
  const double y = __wt_atan_near_zero(t);
  return __wt_copysign(large ? 1.5707963267948966 - y : y, x);
}
__WT_DEVICE double __wt_atan2(double y, double x) {
  const double a = __builtin_fabs(x), b = __builtin_fabs(y);
  const bool steep = b > a, left = __wt_high(x) < 0;
  const double large = steep ? b : a;
  double r = left ? 3.1415926535897931 : 0.0;
  if (__builtin_expect(large != 0.0, 1)) {
    const double t = __wt_atan_near_zero((steep ? a : b) / large);
    const double up = 1.5707963267948966 + (left ? t : -t), flat = left ? 3.1415926535897931 - t : t;
    r = steep ? up : flat;
    r = a == b ? (left ? 2.3561944901923448 : 0.78539816339744828) : r;
  }
  const double sum = a + b;
  return __wt_select(__builtin_fabs(sum) <= __builtin_inf(), __wt_copysign(r, y), sum);
}
// Near zero a polynomial, else pi/2 - 2 asin(sqrt((1 - a)/2)).
__WT_DEVICE double __wt_asin_near_zero(double z) {
  const double c[] = {0.16666666666674634, 0.0749999999815162, 0.04464285864059133, 0.03038188341997422, 0.02237362183077838, 0.017330321815761895, 0.014196135724127324, 0.009909246397655511, 0.01786236980097241, -0.019070154669089553, 0.06909821745715637, -0.07862920608373962, 0.0637612865991272};
  return z * __wt_horner(c, z);
}
__WT_DEVICE double __wt_asin(double x) {
  if (__wt_upper_half(x) < 1.76875f) return __builtin_fma(__wt_asin_near_zero(x * x), x, x);  // 0.5766
  const double z = __builtin_fma(-0.5, __builtin_fabs(x), 0.5);
  const double root = __nvvm_sqrt_rn_d(z) * -2.0;
  const double rest = __builtin_fma(root, __wt_asin_near_zero(z), 6.1232339957367660e-17);
  return __wt_copysign(((root + 0.78539816339744828) + rest) + 0.78539816339744828, x);
}
__WT_DEVICE double __wt_acos(double x) {
  const double a = __builtin_fabs(x);
  if (__wt_high(a) < 0x3fe26666) {
    const double y = __builtin_fma(__wt_asin_near_zero(a * a), a, a);
    if (__wt_high(x) < 0) return __wt_sum(1.5707963267948966, __wt_sum(y, 6.1232339957367660e-17));
    return __wt_sum(1.5707963267948966, -__wt_sum(y, -6.1232339957367660e-17));
  }
  const double z = __builtin_fma(-0.5, a, 0.5);
  const double root = __nvvm_sqrt_rn_d(z) * 2.0;
  const double y = __builtin_fma(__wt_asin_near_zero(z), root, root);
  return __wt_high(x) < 0 ? __wt_sum(3.1415926535897931, -__wt_sum(y, -1.2246467991473532e-16)) : y;
}

__WT_DEVICE double __wt_sinh(double x) {
  const double a = __builtin_fabs(x);
  double y;
  if (__builtin_expect_with_probability(a < 1.0, 1, 0.5)) {
    const double c[] = {0.16666666666666669, 0.008333333333332972, 0.00019841269841529635, 2.755731913090625e-06, 2.5052126772277166e-08, 1.6057006893607603e-10, 7.765710822780967e-13};
    y = __wt_odd(c, a);
  } else {  // from (e^a - 1) / 2
    int n;
    const double f = __wt_exp_reduce(a, n);
    const double c[] = {0.5, 0.16666666666666713, 0.041666666666666775, 0.008333333333292892, 0.0013888888888824447, 0.00019841269955304694, 2.4801587439425888e-05, 2.7557179313652432e-06, 2.7557182462626146e-07, 2.5129895456551133e-08, 2.0940831248291968e-09};
    const double m = __builtin_fma(f * __wt_horner(c, f), f, f);
    const bool last = --n == 1024;
    n = last ? n - 1 : n;
    const double scale = __wt_from_words((n << 20) + 0x3ff00000, 0);
    double h = __builtin_fma(m, scale, scale - 0.5);
    h = last ? h + h : h;
    y = h + h / __builtin_fma(2.0, h, 1.0);
    y = a >= 710.47586007394394 ? __builtin_inf() : y;
  }
  return __wt_copysign(y, x);
}
__WT_DEVICE double __wt_cosh(double x) {
  const double a = __builtin_fabs(x);
  double y;
  if (__builtin_expect_with_probability(static_cast<unsigned>(__wt_high(a)) < 0x408633cfu, 1, 0.9)) {  // 710.475
    int n;
    const double f = __wt_exp_reduce(a, n);
    const double e = __wt_shifted(__wt_exp_near_zero(f), n - 2);  // a quarter
    y = __builtin_fma(__wt_reciprocal(e), 0.0625, e);
  } else {
    y = x <= __builtin_inf() ? __builtin_inf() : x;
  }
  return y + y;
}
// Near zero a polynomial, else 1 - 2 / (e^2a + 1).
__WT_DEVICE double __wt_tanh(double x) {
  const double a = __builtin_fabs(x);
  if (__builtin_expect_with_probability(a < 0.5547, 1, 0.5)) {
    const double c[] = {-0.3333333333333329, 0.13333333333325628, -0.05396825396316944, 0.021869488368459686, -0.00886323230837379, 0.0035920889888270487, -0.0014555227443063636, 0.0005883597037854755, -0.00023316069382242594, 8.29927069968745e-05, -1.9290544761199495e-05};
    const double z = x * x;
    return __builtin_fma(__builtin_fma(__wt_horner(c, z), z, 0.0), x, x);
  }
  const double s = a + a;
  const float n = __builtin_rintf(static_cast<float>(s) * 1.44269502f);
  const double f = __builtin_fma(-static_cast<double>(n), 0.69314718055994529, s);
  const double e[] = {0.5, 0.16666666666666674, 0.04166666666661972, 0.008333333333322014, 0.0013888888920619642, 0.00019841269887467062, 2.480151620590329e-05, 2.7557241423474477e-06, 2.7622283529877757e-07, 2.51103338622144e-08};
  const double m = __builtin_fma(f * __wt_horner(e, f), f, f);
  const double scale = __nvvm_ex2_approx_ftz_f(n);
  double y = __builtin_fma(2.0, -__wt_reciprocal(2.0 - __builtin_fma(-m, scale, 1.0 - scale)), 1.0);
  y = a >= 19.0615 ? 1.0 : y;
  return __wt_copysign(y, x);
}
__WT_DEVICE double __wt_asinh(double x) {
  const double a = __builtin_fabs(x);
  const double s = __builtin_fma(x, x, 1.0);
  const double root_plus_1 = __builtin_fma(s, __wt_reciprocal_root(s), 1.0);
  const bool large = a > 1.7976931348623157e154 || a > 4503599627370496.0;
  const double y = __wt_log1p(large ? a : __builtin_fma(a, a * __wt_reciprocal(root_plus_1), a));
  return __wt_copysign(large ? y + 0.69314718055994529 : y, x);
}
__WT_DEVICE double __wt_acosh(double x) {
  const double t = x - 1.0;
  const bool large = x > 4503599627370496.0;
  const double s = __builtin_fma(x, x, -1.0);
  const double root = s == 0.0 ? 0.0 : s * __wt_reciprocal_root(s);
  const double y = __wt_log1p(large ? t : t + root);
  return large ? y + 0.69314718055994529 : y;
}
__WT_DEVICE double __wt_atanh(double x) {
  const double a = __builtin_fabs(x);
  return __wt_copysign(0.5, x) * __wt_log1p((a + a) / (1.0 - a));
}

// A sum of two numbers as its rounded value and the rest, |x| >= |y|.
__WT_DEVICE double __wt_renormalise(double x, double y, double& low) {
  const double sum = x + y;
  low = y + (x - sum);
  return sum;
}
// log(a), a > 0, as the sum of two numbers: 2 atanh(s) with s = (m - 1) / (m + 1), all in pairs.
__WT_DEVICE double __wt_log_pair(double a, double& low) {
  int high = __wt_high(a), words_low = __nvvm_d2i_lo(a);
  int e = static_cast<int>(static_cast<unsigned>(high) >> 20);
  if (__builtin_expect_with_probability(e == 0, 1, 0.4)) {  // subnormal
    a = a * 18014398509481984.0;
    high = __wt_high(a), words_low = __nvvm_d2i_lo(a);
    e = static_cast<int>(static_cast<unsigned>(high) >> 20) - 54;
  }
  high = (high & static_cast<int>(0x800fffffu)) | 0x3ff00000;
  const bool above = static_cast<unsigned>(high) >= 0x3ff6a09fu;  // sqrt(2)
  high = above ? high - 0x00100000 : high;
  const int n = e - (above ? 1022 : 1023);
  const double m = __wt_from_words(high, words_low);
  const double r = __wt_reciprocal(m + 1.0);
  const double f = m - 1.0;
  const double half = f * r;
  const double s = __builtin_fma(f, r, half);
  const double z = s * s;
  const double d = f - s;
  const double s_low = r * __builtin_fma(-s, f, d + d);
  const double c[] = {0.012500000000001663, 0.0022321428569665605, 0.0004340277862469521, 8.877819186716267e-05, 1.8783222781386607e-05, 4.042557328918718e-06, 1.013724191662986e-06};
  // s^2 and s^3 and the series as pairs
  const double p = z * __wt_horner(c, z);
  double q_low;
  const double q = __wt_renormalise(0.083333333333333329, p, q_low);
  q_low += 4.6259292692714856e-18;
  double k_low;
  const double k = __wt_renormalise(q, q_low, k_low);
  const double square = __wt_product(s, s);
  const double square_low = __builtin_fma(s, s_low + s_low, __builtin_fma(s, s, -square));
  const double cube = __wt_product(square, s);
  const double cube_low = __builtin_fma(square_low, s, __builtin_fma(square, s_low, __builtin_fma(square, s, -cube)));
  const double t = __wt_product(k, cube);
  const double t_low = __builtin_fma(k_low, cube, __builtin_fma(k, cube_low, __builtin_fma(k, cube, -t)));
  double u_low, v_low, w_low;
  const double u = __wt_renormalise(t, t_low, u_low);
  const double v = __wt_renormalise(s, u, v_low);
  const double w = __wt_renormalise(v, s_low + (u_low + v_low), w_low);
  const double exponent = n;
  const double sum = __builtin_fma(exponent, 0.69314718055994529, w);
  const double error = w_low - (__builtin_fma(-exponent, 0.69314718055994529, sum) - w);
  return __wt_renormalise(sum, __builtin_fma(exponent, 2.3190468138462996e-17, error), low);
}
__WT_DEVICE double __wt_pow_positive(double a, double y) {
  double low;
  const double high = __wt_log_pair(a, low);
  // an exponent that large overflows all the same, but not in between
  const int words = __wt_high(y);
  const double limited = __wt_from_words(static_cast<unsigned>(words) << 1 > 0xfe000000u ? words & static_cast<int>(0xff0fffffu) : words,
                                         __nvvm_d2i_lo(y));
  const double product = __wt_product(high, limited);
  double rest;
  const double p = __wt_renormalise(product, __builtin_fma(low, limited, __builtin_fma(high, limited, -product)), rest);
  int n;
  const double r = __wt_exp_reduce(p, n);
  const double e = __wt_exp_near_zero(r);
  double z = __wt_shifted(e, n);
  const float size = __wt_upper_half(p);
  if (__builtin_expect(!(size < 4.1917929649353027344f), 0)) {
    z = p < 0.0 ? 0.0 : p + __builtin_inf();
    if (size < 4.2275390625f) z = __wt_scaled_twice(e, n);
  }
  return __builtin_fabs(z) == __builtin_inf() ? z : __builtin_fma(z, rest, z);
}
__WT_DEVICE double __wt_pow(double x, double y) {
  const int x_high = __wt_high(x), y_high = __wt_high(y);
  const double a = __builtin_fabs(x);
  double z = __wt_pow_positive(a, y);
  // A whole number is odd where its lowest bit before the point is the last that is set.
  const unsigned exponent = static_cast<unsigned>(y_high) >> 20 & 2047u;
  const unsigned long long fraction = static_cast<unsigned long long>(__nvvm_bitcast_d2ll(y)) << ((exponent - 1012u) & 63u);
  const bool odd = exponent >= 1023u && exponent <= 1075u && fraction == 0x8000000000000000ull;
  if (__builtin_expect_with_probability(x == 0.0, 1, 0.4)) {
    int high = odd ? x_high : 0;
    high = y_high < 0 ? high | 0x7ff00000 : high;
    z = __wt_from_words(high, 0);
  } else if (__builtin_expect_with_probability(x_high < 0, 1, 0.4)) {
    z = odd ? -z : z;
    z = __nvvm_trunc_d(y) == y ? z : __builtin_nan("");
  }
  const double sum = x + y;
  if (__builtin_expect((__wt_high(sum) & 0x7ff00000) == 0x7ff00000, 0)) {  // one of them is infinite or NaN, or both are large
    if (x != x || y != y) {
      z = sum;
    } else if (__builtin_fabs(y) == __builtin_inf()) {
      int high = a > 1.0 ? 0x7ff00000 : 0;
      high = y_high < 0 ? high ^ 0x7ff00000 : high;
      z = __wt_from_words(x == -1.0 ? 0x3ff00000 : high, 0);
    } else if (a == __builtin_inf()) {
      const int high = y_high >= 0 ? 0x7ff00000 : 0;
      z = __wt_from_words(x_high < 0 && odd ? high | static_cast<int>(0x80000000u) : high, 0);
    }
  }
  return x == 1.0 || y == 0.0 ? 1.0 : z;
}
// m * 8^e with m from 1/2 or so to 4: the root of m from the hardware's logarithm, and a step.
__WT_DEVICE double __wt_cube_split(double a, int& thirds) {
  int high = __wt_high(a), low = __nvvm_d2i_lo(a), more = 0;
  int e = static_cast<int>(static_cast<unsigned>(high) >> 20);
  if (__builtin_expect_with_probability(e == 0, 1, 0.4)) {  // subnormal
    const double scaled = a * 18014398509481984.0;
    high = __wt_high(scaled), low = __nvvm_d2i_lo(scaled);
    e = static_cast<int>(static_cast<unsigned>(high) >> 20);
    more = 18;
  }
  const int third = __nvvm_f2i_rn(static_cast<float>(e - 1022) * 0.333333343f);
  thirds = third - more;
  return __wt_from_words(high - third * 0x00300000, low);
}
__WT_DEVICE double __wt_cbrt(double x) {
  int thirds;
  const double a = __wt_cube_split(__builtin_fabs(x), thirds);
  const double y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(static_cast<float>(a)) * 0.333333343f);
  const double square = y * y;
  const double step = __wt_reciprocal(__builtin_fma(__wt_shifted(square, 1), y, a)) * __builtin_fma(square, -y, a);
  const double z = __wt_copysign(__wt_shifted(__builtin_fma(y, step, y), thirds), x);
  const double twice = x + x;
  return twice == x || x != x ? twice : z;
}
__WT_DEVICE double __wt_rcbrt(double x) {
  int thirds;
  const double a = __wt_cube_split(__builtin_fabs(x), thirds);
  const double y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(static_cast<float>(a)) * -0.333333343f);
  const double square = __wt_product(y, y);
  const double product = __wt_product(a, y);
  double error = __builtin_fma(square, -product, 1.0);  // 1 - a y^3, with the roundings of both
  error = __builtin_fma(square, -__builtin_fma(a, y, -product), error);
  error = __builtin_fma(product, -__builtin_fma(y, y, -square), error);
  const double z = __builtin_fma(__builtin_fma(0.22222222222222221, error, 0.33333333333333331), __wt_product(error, y), y);
  const double twice = x + x;
  double r = __wt_shifted(z, -thirds);
  if (__builtin_expect_with_probability(twice == x, 1, 0.4)) {
    r = __wt_from_words(__wt_high(x) ^ 0x7ff00000, 0);
  } else {
    r = x != x ? twice : r;
  }
  return __wt_copysign(r, x);
}
__WT_DEVICE double __wt_double_length_scale(int high) { return __wt_from_words(0x7fd00000 - (high & static_cast<int>(0xffc00000u)), 0); }
__WT_DEVICE void __wt_order(double x, double y, double& small, double& large) {
  const unsigned long long a = static_cast<unsigned long long>(__nvvm_bitcast_d2ll(__builtin_fabs(x)));
  const unsigned long long b = static_cast<unsigned long long>(__nvvm_bitcast_d2ll(__builtin_fabs(y)));
  small = __nvvm_bitcast_ll2d(static_cast<long long>(a < b ? a : b));
  large = __nvvm_bitcast_ll2d(static_cast<long long>(a > b ? a : b));
}
__WT_DEVICE double __wt_hypot(double x, double y) {
  double small, large;
  __wt_order(x, y, small, large);
  const int high = __wt_high(large);
  const double scale = __wt_double_length_scale(high);
  const double a = small * scale, b = large * scale;
  const double s = __builtin_fma(b, b, a * a);
  const double limited = __nvvm_fmin_d(s, 1.7976931348623157e308);
  double r = s * __wt_reciprocal_root(limited) * __wt_from_words((high & static_cast<int>(0xffc00000u)) | 0x00100000, 0);
  r = small == 0.0 ? large : r;
  return static_cast<unsigned>(__wt_high(small)) < 0x7ff00000u ? r : small;
}
__WT_DEVICE double __wt_rhypot(double x, double y) {
  double small, large;
  __wt_order(x, y, small, large);
  const double scale = __wt_double_length_scale(__wt_high(large));
  const double a = small * scale, b = large * scale;
  double r = scale * __wt_reciprocal_root(__builtin_fma(b, b, a * a));
  if (__builtin_expect(static_cast<unsigned>(__wt_high(r)) >= 0x7ff00000u, 0)) {
    r = large != large ? large + small : large == __builtin_inf() ? 0.0 : __builtin_inf();
    r = small == __builtin_inf() ? 0.0 : r;
  }
  return r;
}
template <class... T> __WT_DEVICE double __wt_norm(double first, T... v) {
  double large = __builtin_fabs(first), sum = large;
  ((large = __nvvm_fmax_d(large, __builtin_fabs(v)), sum += __builtin_fabs(v)), ...);
  const double scale = __wt_double_length_scale(__wt_high(large));
  double squares = (first * scale) * (first * scale);
  ((squares = __builtin_fma(v * scale, v * scale, squares)), ...);
  const double r = __nvvm_sqrt_rn_d(squares) * __wt_from_words((__wt_high(large) & static_cast<int>(0xffc00000u)) | 0x00100000, 0);
  return large == __builtin_inf() ? large : sum > large ? r : sum;
}
template <class... T> __WT_DEVICE double __wt_rnorm(double first, T... v) {
  double large = __builtin_fabs(first), sum = large;
  ((large = __nvvm_fmax_d(large, __builtin_fabs(v)), sum += __builtin_fabs(v)), ...);
  const double scale = __wt_double_length_scale(__wt_high(large));
  double squares = (first * scale) * (first * scale);
  ((squares = __builtin_fma(v * scale, v * scale, squares)), ...);
  const double r = scale * __wt_reciprocal_root(squares);
  return large == __builtin_inf() ? 0.0 : sum != sum ? sum : large == 0.0 ? __builtin_inf() : r;
}
// The remainder of a by b for 0 < b <= a, a bit of the quotient at a time, and the quotient's lowest bits.
__WT_DEVICE double __wt_long_division(double a, double b, unsigned& quotient) {
  int a_exponent = __wt_high(a) >> 20, b_exponent = __wt_high(b) >> 20;
  if (__builtin_expect_with_probability(a_exponent == 0, 1, 0.4)) {  // subnormal
    a *= 18014398509481984.0;
    a_exponent = (__wt_high(a) >> 20) - 54;
  }
  if (__builtin_expect_with_probability(b_exponent == 0, 1, 0.4)) {
    b *= 18014398509481984.0;
    b_exponent = (__wt_high(b) >> 20) - 54;
  }
  long long rest = (__nvvm_bitcast_d2ll(a) & 0x000fffffffffffffll) | 0x0010000000000000ll, kept;
  const long long divisor = (__nvvm_bitcast_d2ll(b) & 0x000fffffffffffffll) | 0x0010000000000000ll;
  unsigned bits = 0;
  int left = a_exponent - b_exponent;
#pragma clang loop unroll(disable)
  do {
    const long long difference = rest - divisor;
    kept = difference < 0 ? rest : difference;
    bits = bits + bits + (difference < 0 ? 0u : 1u);
    rest = kept << 1;
  } while (left-- > 0);
  quotient = bits;
  if (kept == 0) return 0.0;
  const int shift = __builtin_clzll(static_cast<unsigned long long>(kept)) - 11;
  const long long mantissa = kept << shift;
  const int exponent = b_exponent - shift;
  if (exponent > 0) return __nvvm_bitcast_ll2d((static_cast<long long>(exponent - 1) << 52) + mantissa);
  return __nvvm_bitcast_ll2d(mantissa >> ((1 - exponent) & 63));
}
__WT_DEVICE double __wt_fmod(double x, double y) {
  const double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (__builtin_expect(!(a < __builtin_inf()) || !(b < __builtin_inf()), 0)) {
    if (x != x || y != y) return x + y;
    return a == __builtin_inf() ? __builtin_nan("") : x;
  }
  if (__builtin_expect_with_probability(b == 0.0, 1, 0.4)) return __builtin_nan("");
  if (a < b) return x;
  unsigned quotient;
  return __wt_copysign(__wt_long_division(a, b, quotient), x);
}
__WT_DEVICE double __wt_remquo(double x, double y, int* to) {
  double a = __builtin_fabs(x);
  const double b = __builtin_fabs(y);
  *to = 0;
  if (__builtin_expect(!(a < __builtin_inf()) || !(b < __builtin_inf()), 0)) {
    if (x != x || y != y) return x + y;
    return a == __builtin_inf() ? __builtin_nan("") : x;
  }
  if (__builtin_expect_with_probability(b == 0.0, 1, 0.4)) return __builtin_nan("");
  unsigned quotient = 0;
  if (!(a < b)) a = __wt_long_division(a, b, quotient);
  const double twice = a + a;
  if (twice > b || (twice == b && (quotient & 1))) {
    ++quotient;
    a -= b;
  }
  const int n = static_cast<int>(quotient & 0x7fffffffu);
  *to = (__wt_high(x) ^ __wt_high(y)) < 0 ? -n : n;
  return __wt_high(x) < 0 ? -a : a;
}
__WT_DEVICE double __wt_remainder(double x, double y) {
  int quotient;
  return __wt_remquo(x, y, &quotient);
}

// erfc(a) * exp(a^2) as in single precision.
__WT_DEVICE double __wt_erfcx_positive(double a) {
  const double r = __wt_reciprocal(a + 4.0);
  const double q = (a - 4.0) * r;
  const double t = __builtin_fma(r, __builtin_fma(-q, a, __builtin_fma(-4.0, __wt_sum(q, 1.0), a)), q);
  const double c[] = {1.2329951186255526, -0.13962111684056286, 0.015379652102620048, 0.06809705425473477, -0.1010390660363171, 0.093732834996878, -0.06633036581221027, 0.03716751556117378, -0.01619773405246879, 0.005031969767651968, -0.0007577733780412986, -0.0001992555716183684, 0.00015062236313582246, -2.440294901382891e-05, -1.1225014400157905e-05, 5.7174095777583215e-06, 3.0156719097389926e-07, -8.345303051724123e-07, 6.266952341708077e-08, 1.1488636994377538e-07, -7.816165582464665e-09, -1.3527327795888761e-08, -1.7608613738419468e-09};
  const double p = __wt_horner(c, t);
  const double d = __wt_reciprocal(__builtin_fma(2.0, a, 1.0));
  const double y = p * d;
  return __builtin_fma(__wt_sum(__builtin_fma(a, y * -2.0, p), -y), d, y);
}
__WT_DEVICE double __wt_erfc(double x) {
  const double a = __builtin_fabs(x);
  if (__builtin_expect(!(a < __builtin_inf()), 0)) return x != x ? x + x : x < 0.0 ? 2.0 : 0.0;
  const double y = __wt_erfcx_positive(a);
  const double square = a * a;
  int n;
  const double r = __wt_exp_reduce(-square, n);
  const double e = __wt_scaled_twice(__wt_exp_near_zero(r), n);
  double z = y * __builtin_fma(e, __builtin_fma(-a, a, square), e);
  z = static_cast<unsigned>(__wt_high(a)) > 0x403b4000u ? 0.0 : z;  // 27.25
  return __wt_high(x) < 0 ? 2.0 - z : z;
}
__WT_DEVICE double __wt_erfcx(double x) {
  const double a = __builtin_fabs(x);
  double y;
  if (__builtin_expect_with_probability(a < 27.25, 1, 0.9)) {
    y = __wt_erfcx_positive(a);
  } else {  // the asymptotic series
    const double r = 0.25 / (a * 0.25);
    const double c[] = {1.0, -0.5, 0.75, -1.875, 6.5625, -29.53125, 162.421875};
    y = r * 0.56418958354775628 * __wt_horner(c, r * r);
  }
  if (__builtin_expect_with_probability(x < 0.0, 1, 0.5)) {
    const double square = a * a;
    const double e = __wt_exp(square), twice = e + e;
    y = twice == __builtin_inf() ? twice : __builtin_fma(twice, __builtin_fma(a, a, -square), twice) - y;
  }
  return y;
}
// 1 - e^-(a + a P(a)), with the rounding of the exponent made good.
__WT_DEVICE double __wt_erf(double x) {
  const double a = __builtin_fabs(x);
  const double c[] = {0.12837916709551256, 0.6366197723675913, 0.10277260330130712, -0.019128446992919195, -0.00020919485602915284, 0.0016962076852701953, -0.0005901325048283509, 2.590475447921496e-05, 6.441983504803665e-05, -2.9574465141817453e-05, 3.167921611495314e-06, 3.134955711954641e-06, -2.038983537182884e-06, 5.719181691145026e-07, -1.2442737850402499e-08, -6.539899844170576e-08, 3.446386901698712e-08, -1.0738904081176296e-08, 2.3529010497546834e-09, -3.7479367949102275e-10, 4.2860856224379285e-11, -3.3510379072293673e-12, 1.6079207649882494e-13, -3.5753733311175285e-15};
  const double p = __wt_horner(c, a);
  const double s = __builtin_fma(p, a, a);
  const double error = __builtin_fma(p, a, a - s);
  const float n = __builtin_rintf(static_cast<float>(s) * -1.44269502f);
  const double f = __builtin_fma(-static_cast<double>(n), 0.69314718055994529, -s);
  const double e[] = {0.5, 0.16666666666666674, 0.04166666666661972, 0.008333333333322014, 0.0013888888920619642, 0.00019841269887467062, 2.480151620590329e-05, 2.7557241423474477e-06, 2.7622283529877757e-07, 2.51103338622144e-08};
  const double m = f + __builtin_fma(f * __wt_horner(e, f), f, -error);  // e^f - 1
  const double scale = __nvvm_ex2_approx_ftz_f(n);
  double y = __builtin_fma(-m, scale, 1.0 - scale);
  y = a >= 5.9215871957945065 ? 1.0 : y;
  return __wt_copysign(y, x);
}
__WT_DEVICE double __wt_normcdf(double x) {
  x = __wt_select(__builtin_fabs(x) > 38.5, __wt_copysign(38.5, x), x);
  const double high = __wt_product(x, -0.70710678118654757);
  const double low = __builtin_fma(x, 4.8336466567264567e-17, __builtin_fma(x, -0.70710678118654757, -high));
  const double t = __wt_sum(high, low);
  double y = __wt_erfc(t);
  if (__builtin_expect_with_probability(x < -1.0, 1, 0.5)) y = __builtin_fma(t * -2.0 * y, __wt_sum(high - t, low), y);
  return y * 0.5;
}
// Modified Bessel functions: the power series, and the asymptotic one's polynomial.
template <int n> __WT_DEVICE double __wt_bessel_growth(const double (&c)[n], double a) {
  const double e = __wt_exp(a * 0.5);
  return __wt_horner(c, 1.0 / a) / __nvvm_sqrt_rn_d(a) * e * e;
}
__WT_DEVICE double __wt_bessel_i0(double x) {
  const double a = __builtin_fabs(x);
  if (a >= 12.0 && a < __builtin_inf()) {
    const double c[] = {0.39894228040143265, 0.049867785050299714, 0.02805062898002805, 0.029219445300183996, 0.04473467812207426, 0.09145266993122082, 0.16643342589240323, 3.748457312408888, -102.41333082122812, 2524.0218590081154, -41789.82730987862, 467988.4712297195, -3259185.548208737, 11580399.974776777, -3989645.1095078, -67341301.68602683};
    return __wt_bessel_growth(c, a);
  }
  const double c[] = {1.0, 0.25, 0.015625, 0.000434027777777778, 6.7816840277777e-06, 6.78168402777919e-08, 4.709502797051623e-10, 2.4028075496512906e-12, 9.3859669833426e-15, 2.8969034201407263e-17, 7.242257640175987e-20, 1.496336298214178e-22, 2.5977699433320345e-25, 3.843336996573917e-28, 4.897299437535949e-31, 5.479411267937174e-34, 5.132988619318273e-37, 5.341245897850821e-40, 1.5900943098044833e-43, 5.426777218899534e-46};
  return __wt_horner(c, a * a);
}
__WT_DEVICE double __wt_bessel_i1(double x) {
  const double a = __builtin_fabs(x);
  if (a >= 12.0 && a < __builtin_inf()) {
    const double c[] = {0.3989422804014327, -0.14960335515066378, -0.0467510483689007, -0.040907209038729436, -0.05751789489808319, -0.11161378978987693, -0.20626542740754986, -3.9226103087927107, 103.8000454713868, -2547.391034797878, 41727.19416213984, -459965.5300953744, 3106494.51502618, -10094833.273322023, -3701457.463799218, 83958954.31234962};
    return __wt_copysign(__wt_bessel_growth(c, a), x);
  }
  const double c[] = {0.5, 0.0625, 0.0026041666666666665, 5.425347222222223e-05, 6.781684027777741e-07, 5.65140335648209e-09, 3.363930569327746e-11, 1.501754718499744e-13, 5.214426103307577e-16, 1.4484517052812237e-18, 3.291935409344932e-21, 6.234732362392981e-24, 9.991454338855683e-27, 1.3725863551499793e-29, 1.6327097208212857e-32, 1.7106513339604276e-35, 1.5168848904364936e-38, 1.4626884814598247e-41, 4.556424817461464e-45, 1.3265348780380765e-47};
  return __wt_horner(c, a * a) * x;
}
// erfc(y) = q with 0 <= q <= 1 and rest = 1 - q: from a single-precision number, by a step on erf, on erfc or on its logarithm.
__WT_DEVICE double __wt_inverse_of_erfc(double q, double rest) {
  double y, error, slope;  // Halley's step; the error is times e^(y^2)
  if (__builtin_expect_with_probability(q >= 0.0035, 1, 0.9)) {
    const float w = -__nvvm_lg2_approx_ftz_f(static_cast<float>(q * (1.0 + rest)));
    y = rest * static_cast<double>(__wt_erfinv_center(w));
    const double growth = __wt_exp(y * y);
    slope = y;
    if (__builtin_expect_with_probability(q > 0.5, 1, 0.5))
      error = (rest - __wt_erf(y)) * growth;
    else
      error = __builtin_fma(q, -growth, __wt_erfcx_positive(y));
  } else {
    const float c[] = {0.832687736f, -0.0201849565f, -2.0574398f, 9.15288162f, -40.8266792f, 142.537018f, -326.271881f, 427.984283f, -242.691925f};
    const double log = __wt_log(q);
    const float w = static_cast<float>(log * -1.4426950408889634), r = __nvvm_rsqrt_approx_ftz_f(w);
    y = __wt_horner(c, r) * (r * w);
    const double e = __wt_erfcx_positive(y);
    error = e * (__wt_log(e) - __builtin_fma(y, y, log));  // of the logarithm
    slope = y - 0.56418958354775628 / e;
  }
  const double f = error * 0.88622692545275805;
  y += f / __builtin_fma(-slope, f, 1.0);
  return q == 0.0 ? __builtin_inf() : q < 0.0 ? __builtin_nan("") : y;
}
__WT_DEVICE double __wt_erfcinv(double x) {
  const bool above = x > 1.0;
  const double q = above ? 2.0 - x : x;
  const double y = __wt_inverse_of_erfc(q, 1.0 - q);
  return above ? -y : y;
}
__WT_DEVICE double __wt_erfinv(double x) {
  const double a = __builtin_fabs(x);
  return __wt_copysign(__wt_inverse_of_erfc(1.0 - a, a), x);
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
  const double y = x <= 0.0 ? reflected : __wt_lgamma_positive(x);
  return __builtin_fabs(x) == __builtin_inf() ? __builtin_inf() : y;
}
__WT_DEVICE double __wt_tgamma(double x) {
  const double reflected = 3.14159265358979312 / (__wt_sinpi(x) * __wt_exp(__wt_lgamma_positive(1.0 - x)));
  if (x < 0.0 && __nvvm_trunc_d(x) == x) return __builtin_nan("");
  return x <= 0.0 ? reflected : __wt_exp(__wt_lgamma_positive(x));
}

__WT_DEVICE int __wt_ilogb(double x) {
  const double a = __builtin_fabs(x);
  if (__builtin_expect(static_cast<unsigned>(__wt_high(a)) < 0x00100000u, 0))
    return a == 0.0 ? -0x7fffffff - 1 : -1011 - __builtin_clzll(static_cast<unsigned long long>(__nvvm_bitcast_d2ll(a)));
  return a == __builtin_inf() ? 0x7fffffff : x != x ? -0x7fffffff - 1 : (__wt_high(a) >> 20) - 1023;
}
__WT_DEVICE double __wt_logb(double x) {
  const double a = __builtin_fabs(x);
  if (__builtin_expect(x != x, 0)) return x + x;
  if (__builtin_expect(a == __builtin_inf(), 0)) return a;
  if (__builtin_expect(a == 0.0, 0)) return -__builtin_inf();
  const int high = __wt_high(a);
  if (__builtin_expect_with_probability(static_cast<unsigned>(high) >= 0x00100000u, 1, 0.6)) return (high >> 20) - 1023;
  return -1011 - __builtin_clzll(static_cast<unsigned long long>(__nvvm_bitcast_d2ll(a)));
}
__WT_DEVICE double __wt_frexp(double x, int* e) {
  const double a = __builtin_fabs(x);
  const bool tiny = a < 2.2250738585072014e-308;
  x = tiny ? x * 18014398509481984.0 : x;
  const int high = __wt_high(x), exponent = high >> 20 & 2047;
  const bool special = a == 0.0 || exponent == 2047;
  *e = special ? 0 : exponent - (tiny ? 1022 + 54 : 1022);
  return special ? x + x : __wt_from_words((high & static_cast<int>(0x800fffffu)) | 0x3fe00000, __nvvm_d2i_lo(x));
}
__WT_DEVICE double __wt_modf(double x, double* whole) {
  const double n = __nvvm_trunc_d(x);
  *whole = n;
  return n == x ? __wt_copysign(0.0, x) : x - n;
}
__WT_DEVICE double __wt_nextafter(double x, double y) {
  if (__builtin_expect(!(__builtin_fabs(x) <= __builtin_inf()), 0)) return x + y;
  if (__builtin_expect(!(__builtin_fabs(y) <= __builtin_inf()), 0)) return x + y;
  long long bits = __nvvm_bitcast_d2ll(x);
  if (__builtin_expect(((bits | __nvvm_bitcast_d2ll(y)) & 0x7fffffffffffffffll) == 0, 0)) return y;
  if (__builtin_expect((bits & 0x7fffffffffffffffll) == 0, 0)) return __wt_copysign(4.9406564584124654e-324, y);
  const bool up = x < y, down = x > y, positive = x > 0.0, negative = x < 0.0;
  bits += negative & up ? -1 : 0;
  bits += positive & up ? 1 : 0;
  bits += negative & down ? 1 : 0;
  bits += positive & down ? -1 : 0;
  return __nvvm_bitcast_ll2d(bits);
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
__WT_DOUBLE_1(__WT_MATH, rcbrt, __wt_rcbrt(x))
__WT_DOUBLE_1(__WT_MATH, normcdf, __wt_normcdf(x))
__WT_DOUBLE_1(__WT_MATH, erfcx, __wt_erfcx(x))
__WT_DOUBLE_1(__WT_MATH, erfcinv, __wt_erfcinv(x))
__WT_DOUBLE_1(__WT_MATH, erfinv, __wt_erfinv(x))
__WT_DOUBLE_1(__WT_MATH, normcdfinv, __wt_erfcinv(x + x) * -1.4142135623730951)
__WT_DOUBLE_2(__WT_MATH, pow, __wt_pow(x, y))
__WT_DOUBLE_2(__WT_MATH, atan2, __wt_atan2(x, y))
__WT_DOUBLE_2(__WT_MATH, fmod, __wt_fmod(x, y))
__WT_DOUBLE_2(__WT_MATH, remainder, __wt_remainder(x, y))
__WT_DOUBLE_2(__WT_MATH, hypot, __wt_hypot(x, y))
__WT_DOUBLE_2(__WT_MATH, nextafter, __wt_nextafter(x, y))
__WT_DOUBLE_2(__WT_MATH, rhypot, __wt_rhypot(x, y))
__WT_MATH double pow(double x, int n) { return __wt_pow(x, static_cast<double>(n)); }
__WT_MATH double pow(int x, int n) { return __wt_pow(static_cast<double>(x), static_cast<double>(n)); }
__WT_MATH double pow(int x, double y) { return __wt_pow(static_cast<double>(x), y); }
__WT_MATH void sincos(double x, double* s, double* c) {
  __wt_sincos(x, s, c);
}
__WT_MATH void sincospi(double x, double* s, double* c) {
  *s = __wt_sinpi(x);
  *c = __wt_cospi(x);
}
__WT_MATH double norm3d(double x, double y, double z) { return __wt_norm(x, y, z); }
__WT_MATH double norm4d(double x, double y, double z, double w) {
  return __wt_norm(x, y, z, w);
}
__WT_MATH double rnorm3d(double x, double y, double z) { return __wt_rnorm(x, y, z); }
__WT_MATH double remquo(double x, double y, int* q) { return __wt_remquo(x, y, q); }
__WT_MATH double rnorm4d(double x, double y, double z, double w) { return __wt_rnorm(x, y, z, w); }
__WT_MATH double frexp(double x, int* e) { return __wt_frexp(x, e); }
__WT_MATH double ldexp(double x, int n) { return __wt_scale(x, n); }
__WT_MATH double scalbn(double x, int n) { return __wt_scale(x, n); }
__WT_MATH double modf(double x, double* whole) { return __wt_modf(x, whole); }
__WT_MATH int ilogb(double x) { return __wt_ilogb(x); }
__WT_MATH double logb(double x) { return __wt_logb(x); }
__WT_MATH double scalbln(double x, long n) { return __wt_scale(x, n > 2400 ? 2400 : n < -2400 ? -2400 : static_cast<int>(n)); }
__WT_MATH double norm(int count, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum = __wt_hypot(sum, v[i]);
  return sum;
}
__WT_MATH double rnorm(int count, const double* v) { return 1.0 / norm(count, v); }
__WT_MATH double cyl_bessel_i0(double x) { return __wt_bessel_i0(x); }
__WT_MATH double cyl_bessel_i1(double x) { return __wt_bessel_i1(x); }
