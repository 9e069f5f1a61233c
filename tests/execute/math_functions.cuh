#include <cuda_fp16.h>

// A kernel for each function whose accuracy math_accuracy_test.cc measures: o[i] = f(a[i], b[i]).
#define FUNCTION_OF_1(type, f)                                                        \
  extern "C" __global__ void f##_of_##type(const type* a, const type* b, type* o) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    o[i] = f(a[i]);                                                                   \
  }
#define FUNCTION_OF_2(type, f)                                                        \
  extern "C" __global__ void f##_of_##type(const type* a, const type* b, type* o) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    o[i] = f(a[i], b[i]);                                                             \
  }
FUNCTION_OF_1(float, expf)
FUNCTION_OF_1(float, exp2f)
FUNCTION_OF_1(float, exp10f)
FUNCTION_OF_1(float, expm1f)
FUNCTION_OF_1(float, logf)
FUNCTION_OF_1(float, log2f)
FUNCTION_OF_1(float, log10f)
FUNCTION_OF_1(float, log1pf)
FUNCTION_OF_1(float, sinf)
FUNCTION_OF_1(float, cosf)
FUNCTION_OF_1(float, tanf)
FUNCTION_OF_1(float, asinf)
FUNCTION_OF_1(float, acosf)
FUNCTION_OF_1(float, atanf)
FUNCTION_OF_1(float, sinhf)
FUNCTION_OF_1(float, coshf)
FUNCTION_OF_1(float, tanhf)
FUNCTION_OF_1(float, asinhf)
FUNCTION_OF_1(float, acoshf)
FUNCTION_OF_1(float, atanhf)
FUNCTION_OF_1(float, cbrtf)
FUNCTION_OF_1(float, rcbrtf)
FUNCTION_OF_1(float, erff)
FUNCTION_OF_1(float, erfcf)
FUNCTION_OF_1(float, erfcxf)
FUNCTION_OF_1(float, erfinvf)
FUNCTION_OF_1(float, erfcinvf)
FUNCTION_OF_1(float, normcdff)
FUNCTION_OF_1(float, normcdfinvf)
FUNCTION_OF_1(float, lgammaf)
FUNCTION_OF_1(float, tgammaf)
FUNCTION_OF_1(float, sinpif)
FUNCTION_OF_1(float, cospif)
FUNCTION_OF_1(float, cyl_bessel_i0f)
FUNCTION_OF_1(float, cyl_bessel_i1f)
FUNCTION_OF_1(float, roundf)
FUNCTION_OF_1(float, logbf)
FUNCTION_OF_1(float, __frsqrt_rn)
FUNCTION_OF_2(float, powf)
FUNCTION_OF_2(float, atan2f)
FUNCTION_OF_2(float, hypotf)
FUNCTION_OF_2(float, rhypotf)
FUNCTION_OF_2(float, fmodf)
FUNCTION_OF_2(float, remainderf)
FUNCTION_OF_2(float, nextafterf)
FUNCTION_OF_1(double, exp)
FUNCTION_OF_1(double, exp2)
FUNCTION_OF_1(double, exp10)
FUNCTION_OF_1(double, expm1)
FUNCTION_OF_1(double, log)
FUNCTION_OF_1(double, log2)
FUNCTION_OF_1(double, log10)
FUNCTION_OF_1(double, log1p)
FUNCTION_OF_1(double, sin)
FUNCTION_OF_1(double, cos)
FUNCTION_OF_1(double, tan)
FUNCTION_OF_1(double, asin)
FUNCTION_OF_1(double, acos)
FUNCTION_OF_1(double, atan)
FUNCTION_OF_1(double, sinh)
FUNCTION_OF_1(double, cosh)
FUNCTION_OF_1(double, tanh)
FUNCTION_OF_1(double, asinh)
FUNCTION_OF_1(double, acosh)
FUNCTION_OF_1(double, atanh)
FUNCTION_OF_1(double, cbrt)
FUNCTION_OF_1(double, rcbrt)
FUNCTION_OF_1(double, erf)
FUNCTION_OF_1(double, erfc)
FUNCTION_OF_1(double, erfcx)
FUNCTION_OF_1(double, erfinv)
FUNCTION_OF_1(double, erfcinv)
FUNCTION_OF_1(double, normcdf)
FUNCTION_OF_1(double, normcdfinv)
FUNCTION_OF_1(double, sinpi)
FUNCTION_OF_1(double, cospi)
FUNCTION_OF_1(double, round)
FUNCTION_OF_1(double, logb)
FUNCTION_OF_1(double, cyl_bessel_i0)
FUNCTION_OF_1(double, cyl_bessel_i1)
FUNCTION_OF_2(double, pow)
FUNCTION_OF_2(double, atan2)
FUNCTION_OF_2(double, hypot)
FUNCTION_OF_2(double, rhypot)
FUNCTION_OF_2(double, fmod)
FUNCTION_OF_2(double, remainder)
FUNCTION_OF_2(double, nextafter)

// Of halves: o[i] = f(the number whose bits are i).
#define FUNCTION_OF_HALF(f)                                                                                      \
  extern "C" __global__ void f##_of_half(unsigned short* o) {                                                    \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                    \
    const __half x = __ushort_as_half(static_cast<unsigned short>(i));                                           \
    o[i] = __half_as_ushort(f(x));                                                                               \
  }                                                                                                              \
  extern "C" __global__ void f##_of_half2(unsigned short* o) {                                                   \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                    \
    const __half x = __ushort_as_half(static_cast<unsigned short>(i));                                           \
    const __half2 y = h2##f(__half2(x, x));                                                                      \
    o[i] = __half_as_ushort(i % 2 ? __high2half(y) : __low2half(y));                                             \
  }
#define h2hexp h2exp
FUNCTION_OF_HALF(hexp)
#define h2hexp2 h2exp2
FUNCTION_OF_HALF(hexp2)
#define h2hexp10 h2exp10
FUNCTION_OF_HALF(hexp10)
#define h2hlog h2log
FUNCTION_OF_HALF(hlog)
#define h2hlog2 h2log2
FUNCTION_OF_HALF(hlog2)
#define h2hlog10 h2log10
FUNCTION_OF_HALF(hlog10)
#define h2hsin h2sin
FUNCTION_OF_HALF(hsin)
#define h2hcos h2cos
FUNCTION_OF_HALF(hcos)
#define h2htanh h2tanh
FUNCTION_OF_HALF(htanh)
#define h2hsqrt h2sqrt
FUNCTION_OF_HALF(hsqrt)
#define h2hrsqrt h2rsqrt
FUNCTION_OF_HALF(hrsqrt)
#define h2hrcp h2rcp
FUNCTION_OF_HALF(hrcp)

// On lanes of words.
#define FUNCTION_OF_LANES(f)                                                                                \
  extern "C" __global__ void f##_of_words(const unsigned* a, const unsigned* b, unsigned* o) {              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                    \
    o[i] = f(a[i], b[i]);                                                                                   \
  }
#define FUNCTIONS_OF_LANES(f) FUNCTION_OF_LANES(f##2) FUNCTION_OF_LANES(f##4)
FUNCTIONS_OF_LANES(__vadd)
FUNCTIONS_OF_LANES(__vsub)
FUNCTIONS_OF_LANES(__vaddss)
FUNCTIONS_OF_LANES(__vaddus)
FUNCTIONS_OF_LANES(__vsubss)
FUNCTIONS_OF_LANES(__vsubus)
FUNCTIONS_OF_LANES(__vmaxs)
FUNCTIONS_OF_LANES(__vmaxu)
FUNCTIONS_OF_LANES(__vmins)
FUNCTIONS_OF_LANES(__vminu)
FUNCTIONS_OF_LANES(__vabsdiffs)
FUNCTIONS_OF_LANES(__vabsdiffu)
FUNCTIONS_OF_LANES(__vavgs)
FUNCTIONS_OF_LANES(__vavgu)
FUNCTIONS_OF_LANES(__vhaddu)
FUNCTIONS_OF_LANES(__vcmpeq)
FUNCTIONS_OF_LANES(__vcmpne)
FUNCTIONS_OF_LANES(__vcmpgts)
FUNCTIONS_OF_LANES(__vcmpgtu)
FUNCTIONS_OF_LANES(__vcmpges)
FUNCTIONS_OF_LANES(__vcmpgeu)
FUNCTIONS_OF_LANES(__vcmplts)
FUNCTIONS_OF_LANES(__vcmpltu)
FUNCTIONS_OF_LANES(__vcmples)
FUNCTIONS_OF_LANES(__vcmpleu)
FUNCTIONS_OF_LANES(__vseteq)
FUNCTIONS_OF_LANES(__vsetgtu)
FUNCTIONS_OF_LANES(__vsetges)
FUNCTIONS_OF_LANES(__vsetlts)
FUNCTIONS_OF_LANES(__vsads)
FUNCTIONS_OF_LANES(__vsadu)
