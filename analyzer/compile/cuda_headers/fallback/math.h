// Enough of <math.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#define M_E 2.7182818284590452
#define M_LOG2E 1.4426950408889634
#define M_LOG10E 0.43429448190325183
#define M_LN2 0.69314718055994531
#define M_LN10 2.3025850929940457
#define M_PI 3.1415926535897932
#define M_PI_2 1.5707963267948966
#define M_PI_4 0.78539816339744831
#define M_1_PI 0.31830988618379067
#define M_2_PI 0.63661977236758134
#define M_2_SQRTPI 1.1283791670955126
#define M_SQRT2 1.4142135623730950
#define M_SQRT1_2 0.70710678118654752
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
typedef float float_t;
typedef double double_t;

// The host's functions: the device's come with the CUDA headers. A whole number is taken as a double, on both sides.
template <class T, bool = __is_integral(T)> struct __wt_whole {};
template <class T> struct __wt_whole<T, true> { typedef double type; };
template <class A, class B, bool = __is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B)> struct __wt_mixed {};
template <class A, class B> struct __wt_mixed<A, B, true> { typedef decltype(A() + B() + double()) type; };
template <> struct __wt_mixed<int, int, false> { typedef double type; };
template <> struct __wt_mixed<unsigned, unsigned, false> { typedef double type; };
template <> struct __wt_mixed<long, long, false> { typedef double type; };
template <> struct __wt_mixed<unsigned long, unsigned long, false> { typedef double type; };
template <> struct __wt_mixed<long long, long long, false> { typedef double type; };
#define __WT_HOST_1(name)                                                                     \
  extern "C" double name(double x) noexcept;                                                  \
  extern "C" float name##f(float x) noexcept;                                                 \
  extern "C" long double name##l(long double x) noexcept;                                     \
  inline float name(float x) noexcept { return name##f(x); }                                  \
  inline long double name(long double x) noexcept { return name##l(x); }                      \
  template <class T> constexpr typename __wt_whole<T>::type name(T x) noexcept { return name(static_cast<double>(x)); }
#define __WT_HOST_2(name)                                                                     \
  extern "C" double name(double x, double y) noexcept;                                        \
  extern "C" float name##f(float x, float y) noexcept;                                        \
  extern "C" long double name##l(long double x, long double y) noexcept;                      \
  inline float name(float x, float y) noexcept { return name##f(x, y); }                      \
  inline long double name(long double x, long double y) noexcept { return name##l(x, y); }    \
  template <class A, class B> constexpr typename __wt_mixed<A, B>::type name(A x, B y) noexcept {  \
    typedef typename __wt_mixed<A, B>::type type;                                             \
    return name(static_cast<type>(x), static_cast<type>(y));                                  \
  }
__WT_HOST_1(sin)
__WT_HOST_1(cos)
__WT_HOST_1(tan)
__WT_HOST_1(asin)
__WT_HOST_1(acos)
__WT_HOST_1(atan)
__WT_HOST_1(sinh)
__WT_HOST_1(cosh)
__WT_HOST_1(tanh)
__WT_HOST_1(asinh)
__WT_HOST_1(acosh)
__WT_HOST_1(atanh)
__WT_HOST_1(exp)
__WT_HOST_1(exp2)
__WT_HOST_1(expm1)
__WT_HOST_1(log)
__WT_HOST_1(log2)
__WT_HOST_1(log10)
__WT_HOST_1(log1p)
__WT_HOST_1(logb)
__WT_HOST_1(sqrt)
__WT_HOST_1(cbrt)
__WT_HOST_1(erf)
__WT_HOST_1(erfc)
__WT_HOST_1(tgamma)
__WT_HOST_1(lgamma)
__WT_HOST_1(ceil)
__WT_HOST_1(floor)
__WT_HOST_1(trunc)
__WT_HOST_1(round)
__WT_HOST_1(rint)
__WT_HOST_1(nearbyint)
__WT_HOST_1(fabs)
__WT_HOST_2(pow)
__WT_HOST_2(atan2)
__WT_HOST_2(fmod)
__WT_HOST_2(remainder)
__WT_HOST_2(hypot)
__WT_HOST_2(fmin)
__WT_HOST_2(fmax)
__WT_HOST_2(fdim)
__WT_HOST_2(copysign)
__WT_HOST_2(nextafter)
#undef __WT_HOST_1
#undef __WT_HOST_2
#define __WT_HOST(suffix, type)                                                               \
  extern "C" type fma##suffix(type x, type y, type z) noexcept;                               \
  extern "C" type frexp##suffix(type x, int* exponent) noexcept;                              \
  extern "C" type ldexp##suffix(type x, int exponent) noexcept;                               \
  extern "C" type scalbn##suffix(type x, int exponent) noexcept;                              \
  extern "C" type modf##suffix(type x, type* whole) noexcept;                                 \
  extern "C" type nan##suffix(const char* tag) noexcept;                                      \
  extern "C" int ilogb##suffix(type x) noexcept;                                              \
  extern "C" long lrint##suffix(type x) noexcept;                                             \
  extern "C" long lround##suffix(type x) noexcept;                                            \
  extern "C" long long llrint##suffix(type x) noexcept;                                       \
  extern "C" long long llround##suffix(type x) noexcept;                                      \
  inline type abs(type x) noexcept { return fabs(x); }                                        \
  inline bool isnan(type x) noexcept { return __builtin_isnan(x); }                           \
  inline bool isinf(type x) noexcept { return __builtin_isinf(x); }                           \
  inline bool isfinite(type x) noexcept { return __builtin_isfinite(x); }                     \
  inline bool isnormal(type x) noexcept { return __builtin_isnormal(x); }                     \
  inline bool signbit(type x) noexcept { return __builtin_signbit(x); }
__WT_HOST(, double)
__WT_HOST(f, float)
__WT_HOST(l, long double)
#undef __WT_HOST
#define __WT_HOST(type)                                                                       \
  inline type fma(type x, type y, type z) noexcept;                                           \
  inline type frexp(type x, int* exponent) noexcept;                                          \
  inline type ldexp(type x, int exponent) noexcept;                                           \
  inline type scalbn(type x, int exponent) noexcept;                                          \
  inline type modf(type x, type* whole) noexcept;                                             \
  inline int ilogb(type x) noexcept;                                                          \
  inline long lrint(type x) noexcept;                                                         \
  inline long lround(type x) noexcept;                                                        \
  inline long long llrint(type x) noexcept;                                                   \
  inline long long llround(type x) noexcept;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-inline"
__WT_HOST(float)
__WT_HOST(long double)
#pragma clang diagnostic pop
#undef __WT_HOST
extern "C" int abs(int x) noexcept;
extern "C" long labs(long x) noexcept;
extern "C" long long llabs(long long x) noexcept;
inline long abs(long x) noexcept { return labs(x); }
inline long long abs(long long x) noexcept { return llabs(x); }
