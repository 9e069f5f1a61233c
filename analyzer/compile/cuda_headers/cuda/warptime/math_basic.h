#pragma once
#pragma clang system_header

// Arithmetic that is one instruction or a few, the same as nvcc's; min and max for host code too.

// One instruction, of which the compiler makes three from its builtin function.
__WT_DEVICE float __wt_copysign(float magnitude, float sign) {
  float r;
  __asm__("copysign.f32 %0, %1, %2;" : "=f"(r) : "f"(sign), "f"(magnitude));
  return r;
}
__WT_DEVICE double __wt_copysign(double magnitude, double sign) {
  double r;
  __asm__("copysign.f64 %0, %1, %2;" : "=d"(r) : "d"(sign), "d"(magnitude));
  return r;
}
// To 20 bits.
__WT_DEVICE double __wt_rsqrt_approx(double x) {
  double r;
  __asm__("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
// To the nearest whole number, halves away from zero.
__WT_DEVICE float __wt_round(float x) { return __nvvm_trunc_f(__nvvm_add_rz_f(x, __wt_copysign(0.5f, x))); }
__WT_DEVICE double __wt_round(double x) { return __nvvm_trunc_d(__nvvm_add_rz_d(x, __wt_copysign(0.5, x))); }

// Whole numbers as arguments are converted to double, as <cmath> has it.
template <class T, bool = __is_integral(T)> struct __wt_if_integral {};
template <class T> struct __wt_if_integral<T, true> { typedef double type; };

#define __WT_FLOAT_1(attributes, name, value)        \
  attributes float name##f(float x) { return value; } \
  attributes float name(float x) { return value; }
#define __WT_DOUBLE_1(attributes, name, value)        \
  attributes double name(double x) { return value; }  \
  template <class T> attributes typename __wt_if_integral<T>::type name(T v) { return name(static_cast<double>(v)); }
#define __WT_FLOAT_2(attributes, name, value)                  \
  attributes float name##f(float x, float y) { return value; } \
  attributes float name(float x, float y) { return value; }
#define __WT_DOUBLE_2(attributes, name, value)                                          \
  attributes double name(double x, double y) { return value; }                          \
  attributes double name(double x, float y) { return name(x, static_cast<double>(y)); } \
  attributes double name(float x, double y) { return name(static_cast<double>(x), y); }
#define __WT_1(name, as_float, as_double)      \
  __WT_FLOAT_1(__WT_DEVICE, name, as_float)    \
  __WT_DOUBLE_1(__WT_DEVICE, name, as_double)
#define __WT_2(name, as_float, as_double)      \
  __WT_FLOAT_2(__WT_DEVICE, name, as_float)    \
  __WT_DOUBLE_2(__WT_DEVICE, name, as_double)

__WT_1(sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))
__WT_1(rsqrt, __nvvm_rsqrt_approx_f(x), __nvvm_rsqrt_approx_d(x))
__WT_1(fabs, __builtin_fabsf(x), __builtin_fabs(x))
__WT_1(floor, __builtin_floorf(x), __builtin_floor(x))
__WT_1(ceil, __builtin_ceilf(x), __builtin_ceil(x))
__WT_1(trunc, __builtin_truncf(x), __builtin_trunc(x))
__WT_1(round, __wt_round(x), __wt_round(x))
__WT_1(rint, __builtin_rintf(x), __builtin_rint(x))
__WT_1(nearbyint, __builtin_rintf(x), __builtin_rint(x))
__WT_2(fmin, __nvvm_fmin_f(x, y), __nvvm_fmin_d(x, y))
__WT_2(fmax, __nvvm_fmax_f(x, y), __nvvm_fmax_d(x, y))
__WT_2(fdim, x > y ? x - y : 0.0f, x > y ? x - y : 0.0)
__WT_2(copysign, __wt_copysign(x, y), __wt_copysign(x, y))
__WT_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__WT_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__WT_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__WT_DEVICE float fdividef(float x, float y) { return x / y; }

#define __WT_TO_WHOLE(name, type, as_float, as_double)                                 \
  __WT_DEVICE type name##f(float x) { return static_cast<type>(as_float(x)); }         \
  __WT_DEVICE type name(float x) { return static_cast<type>(as_float(x)); }            \
  __WT_DEVICE type name(double x) { return static_cast<type>(as_double(x)); }
__WT_TO_WHOLE(lrint, long, __builtin_rintf, __builtin_rint)
__WT_TO_WHOLE(llrint, long long, __builtin_rintf, __builtin_rint)
__WT_TO_WHOLE(lround, long, __wt_round, __wt_round)
__WT_TO_WHOLE(llround, long long, __wt_round, __wt_round)
#undef __WT_TO_WHOLE

__WT_DEVICE float __wt_magnitude(float x) { return __builtin_fabsf(x); }
__WT_DEVICE double __wt_magnitude(double x) {  // of its builtin function the compiler would compare 64 bits
  double r;
  __asm__("abs.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
#define __WT_CLASSIFY(name, expression)                     \
  __WT_DEVICE bool name(float x) { return expression; }     \
  __WT_DEVICE bool name(double x) { return expression; }
__WT_CLASSIFY(isnan, __builtin_isnan(x))
__WT_CLASSIFY(isinf, __builtin_isinf(x))
__WT_CLASSIFY(isfinite, __wt_magnitude(x) < __builtin_inff())
__WT_CLASSIFY(signbit, __builtin_signbit(x))
#undef __WT_CLASSIFY
__WT_DEVICE int __isnanf(float x) { return __builtin_isnan(x); }
__WT_DEVICE int __isinff(float x) { return __builtin_isinf(x); }
__WT_DEVICE int __finitef(float x) { return __builtin_isfinite(x); }
__WT_DEVICE int __isnan(double x) { return __builtin_isnan(x); }
__WT_DEVICE int __isinf(double x) { return __builtin_isinf(x); }
__WT_DEVICE int __finite(double x) { return __builtin_isfinite(x); }
__WT_DEVICE int __signbitf(float x) { return __builtin_signbit(x); }
__WT_DEVICE int __signbitd(double x) { return __builtin_signbit(x); }
__WT_DEVICE float nanf(const char*) { return __builtin_nanf(""); }
__WT_DEVICE double nan(const char*) { return __builtin_nan(""); }

// Whole numbers.
__WT_DEVICE int abs(int x) { return x < 0 ? -x : x; }
__WT_DEVICE long abs(long x) { return x < 0 ? -x : x; }
__WT_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
__WT_DEVICE float abs(float x) { return __builtin_fabsf(x); }
__WT_DEVICE double abs(double x) { return __builtin_fabs(x); }
__WT_DEVICE long labs(long x) { return x < 0 ? -x : x; }
__WT_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }

// min and max of two numbers are CUDA's own, for host code too.
#define __WT_MIN_MAX(result, a, b)                                                                        \
  __WT_BOTH result min(a x, b y) { return static_cast<result>(x) < static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y); } \
  __WT_BOTH result max(a x, b y) { return static_cast<result>(x) > static_cast<result>(y) ? static_cast<result>(x) : static_cast<result>(y); }
__WT_MIN_MAX(int, int, int)
__WT_MIN_MAX(unsigned, unsigned, unsigned)
__WT_MIN_MAX(unsigned, int, unsigned)
__WT_MIN_MAX(unsigned, unsigned, int)
__WT_MIN_MAX(long, long, long)
__WT_MIN_MAX(unsigned long, unsigned long, unsigned long)
__WT_MIN_MAX(unsigned long, long, unsigned long)
__WT_MIN_MAX(unsigned long, unsigned long, long)
__WT_MIN_MAX(long long, long long, long long)
__WT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
__WT_MIN_MAX(unsigned long long, long long, unsigned long long)
__WT_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef __WT_MIN_MAX
#define __WT_MIN_MAX(result, a, b, suffix)                                              \
  __WT_BOTH result min(a x, b y) { return __builtin_fmin##suffix(x, y); }               \
  __WT_BOTH result max(a x, b y) { return __builtin_fmax##suffix(x, y); }
__WT_MIN_MAX(float, float, float, f)
__WT_MIN_MAX(double, double, double, )
__WT_MIN_MAX(double, float, double, )
__WT_MIN_MAX(double, double, float, )
#undef __WT_MIN_MAX


__WT_BOTH unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
__WT_BOTH unsigned umax(unsigned x, unsigned y) { return x > y ? x : y; }
__WT_BOTH long long llmin(long long x, long long y) { return x < y ? x : y; }
__WT_BOTH long long llmax(long long x, long long y) { return x > y ? x : y; }
__WT_BOTH unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
__WT_BOTH unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }

#undef __WT_1
#undef __WT_2
