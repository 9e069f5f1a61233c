// The functions that half and bfloat16 have in common, for the type that these macros describe: __WT_H and its pair
// __WT_H2, the name __WT_F of the type in PTX, __WT_HAS_FMA (fma in hardware) and __WT_HAS_ALL (add, sub, mul, comparisons
// in hardware), and __wt_widen and __wt_narrow, to float and back. Each function is the instructions that nvcc makes of it.
// Included twice: no #pragma once.
#pragma clang system_header

#define __WT_ASM(text, ...) __asm__("{" text "}" : __VA_ARGS__)
#define __WT_U2(v) __builtin_bit_cast(unsigned, v)
#define __WT_P2(v) __builtin_bit_cast(__WT_H2, v)

#if __WT_HAS_ALL
#define __WT_OPERATE(name, operation)                                                             \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b) {                                                               \
    __WT_H r;                                                                                                 \
    __WT_ASM(operation "." __WT_F " %0,%1,%2;", "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                        \
    return r;                                                                                                 \
  }                                                                                                           \
  __WT_TARGET __WT_H2 name##2(__WT_H2 a, __WT_H2 b) {                                                         \
    unsigned r;                                                                                               \
    __WT_ASM(operation "." __WT_F "x2 %0,%1,%2;", "=r"(r) : "r"(__WT_U2(a)), "r"(__WT_U2(b)));                \
    return __WT_P2(r);                                                                                        \
  }
#elif __WT_HAS_FMA  // a + b is a × 1 + b, a − b is b × −1 + a, and a × b is a × b − 0
#define __WT_FUSED_add(a, b) __hfma(a, __WT_CONSTANT(__WT_ONE), b)
#define __WT_FUSED_sub(a, b) __hfma(b, __WT_CONSTANT(__WT_ONE | 0x8000), a)
#define __WT_FUSED_mul(a, b) __hfma(a, b, __WT_CONSTANT(0x8000))
#define __WT_CONSTANT(bits) __wt_of_bits<__WT_H>(bits)
#define __WT_CONSTANT2(bits) __WT_P2((bits) << 16 | (bits))
#define __WT_FUSED_add2(a, b) __hfma2(a, __WT_CONSTANT2(unsigned(__WT_ONE)), b)
#define __WT_FUSED_sub2(a, b) __hfma2(b, __WT_CONSTANT2(unsigned(__WT_ONE | 0x8000)), a)
#define __WT_FUSED_mul2(a, b) __hfma2(a, b, __WT_CONSTANT2(0x8000u))
#endif

#if __WT_HAS_FMA
#define __WT_FMA(name, name2, modifiers)                                                                             \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b, __WT_H c) {                                                     \
    __WT_H r;                                                                                                 \
    __WT_ASM("fma.rn" modifiers "." __WT_F " %0,%1,%2,%3;", "=h"(r.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return r;                                                                                                 \
  }                                                                                                           \
  __WT_TARGET __WT_H2 name2(__WT_H2 a, __WT_H2 b, __WT_H2 c) {                                              \
    unsigned r;                                                                                               \
    __WT_ASM("fma.rn" modifiers "." __WT_F "x2 %0,%1,%2,%3;", "=r"(r)                                         \
             : "r"(__WT_U2(a)), "r"(__WT_U2(b)), "r"(__WT_U2(c)));                                            \
    return __WT_P2(r);                                                                                        \
  }
#else
#define __WT_FMA(name, name2, modifiers)                                                                     \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b, __WT_H c) {                                             \
    return __wt_narrow<__WT_H>(__builtin_fmaf(__wt_widen(a), __wt_widen(b), __wt_widen(c)));          \
  }                                                                                                   \
  __WT_TARGET __WT_H2 name2(__WT_H2 a, __WT_H2 b, __WT_H2 c) {                                      \
    return __WT_H2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                         \
  }
#endif
__WT_FMA(__hfma, __hfma2, "")
#if __WT_HAS_FMA && __CUDA_ARCH__ >= 800
__WT_FMA(__hfma_relu, __hfma2_relu, ".relu")
#else
__WT_TARGET __WT_H __hfma_relu(__WT_H a, __WT_H b, __WT_H c) {
  return __wt_narrow<__WT_H>(__builtin_fmaxf(__wt_widen(__hfma(a, b, c)), 0.0f));
}
__WT_TARGET __WT_H2 __hfma2_relu(__WT_H2 a, __WT_H2 b, __WT_H2 c) {
  return __WT_H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
#endif
__WT_TARGET __WT_H __hfma_sat(__WT_H a, __WT_H b, __WT_H c) {
  return __wt_narrow<__WT_H>(__nvvm_saturate_f(__wt_widen(__hfma(a, b, c))));
}
#undef __WT_FMA

#if __WT_HAS_ALL
__WT_OPERATE(__hadd, "add")
__WT_OPERATE(__hsub, "sub")
__WT_OPERATE(__hmul, "mul")
#elif __WT_HAS_FMA
#define __WT_OPERATE(name, operation)                                                                 \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b) { return __WT_FUSED_##operation(a, b); }                \
  __WT_TARGET __WT_H2 name##2(__WT_H2 a, __WT_H2 b) { return __WT_FUSED_##operation##2(a, b); }
__WT_OPERATE(__hadd, add)
__WT_OPERATE(__hsub, sub)
__WT_OPERATE(__hmul, mul)
#else
#define __WT_OPERATE(name, operation)                                                                 \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b) {                                                       \
    return __wt_narrow<__WT_H>(__wt_widen(a) operation __wt_widen(b));                                \
  }                                                                                                   \
  __WT_TARGET __WT_H2 name##2(__WT_H2 a, __WT_H2 b) { return __WT_H2(name(a.x, b.x), name(a.y, b.y)); }
__WT_OPERATE(__hadd, +)
__WT_OPERATE(__hsub, -)
__WT_OPERATE(__hmul, *)
#endif
#undef __WT_OPERATE
#undef __WT_FUSED_add
#undef __WT_FUSED_sub
#undef __WT_FUSED_mul
#undef __WT_FUSED_add2
#undef __WT_FUSED_sub2
#undef __WT_FUSED_mul2
#undef __WT_CONSTANT
#undef __WT_CONSTANT2

// The same without being fused into an fma, which asm never is; and clamped to [0, 1].
#define __WT_ALSO(name)                                                                               \
  __WT_TARGET __WT_H name##_rn(__WT_H a, __WT_H b) { return name(a, b); }                             \
  __WT_TARGET __WT_H2 name##2_rn(__WT_H2 a, __WT_H2 b) { return name##2(a, b); }                      \
  __WT_TARGET __WT_H name##_sat(__WT_H a, __WT_H b) {                                                 \
    return __wt_narrow<__WT_H>(__nvvm_saturate_f(__wt_widen(name(a, b))));                            \
  }
__WT_ALSO(__hadd)
__WT_ALSO(__hsub)
__WT_ALSO(__hmul)
#define __WT_SATURATED(name)                                                                          \
  __WT_TARGET __WT_H2 name##2_sat(__WT_H2 a, __WT_H2 b) { return __WT_H2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
__WT_SATURATED(__hadd)
__WT_SATURATED(__hsub)
__WT_SATURATED(__hmul)
#undef __WT_SATURATED
__WT_TARGET __WT_H2 __hfma2_sat(__WT_H2 a, __WT_H2 b, __WT_H2 c) {
  return __WT_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
#undef __WT_ALSO

__WT_DEVICE __WT_H __hneg(__WT_H a) { return __wt_of_bits<__WT_H>(a.__x ^ 0x8000); }
__WT_DEVICE __WT_H __habs(__WT_H a) { return __wt_of_bits<__WT_H>(a.__x & 0x7fff); }
__WT_DEVICE __WT_H2 __hneg2(__WT_H2 a) { return __WT_P2(__WT_U2(a) ^ 0x80008000u); }
__WT_DEVICE __WT_H2 __habs2(__WT_H2 a) { return __WT_P2(__WT_U2(a) & 0x7fff7fffu); }

#if __WT_HAS_ALL
#define __WT_COMPARE(name, relation)                                                                          \
  __WT_TARGET bool __h##name(__WT_H a, __WT_H b) {                                                            \
    unsigned short r;                                                                                         \
    __WT_ASM(".reg .pred p; setp." #relation "." __WT_F " p,%1,%2; selp.u16 %0,1,0,p;", "=h"(r)               \
             : "h"(a.__x), "h"(b.__x));                                                                       \
    return r != 0;                                                                                            \
  }                                                                                                           \
  __WT_TARGET unsigned __h##name##2_mask(__WT_H2 a, __WT_H2 b) {                                              \
    unsigned r;                                                                                               \
    __WT_ASM("set." #relation ".u32." __WT_F "x2 %0,%1,%2;", "=r"(r) : "r"(__WT_U2(a)), "r"(__WT_U2(b)));     \
    return r;                                                                                                 \
  }                                                                                                           \
  __WT_TARGET __WT_H2 __h##name##2(__WT_H2 a, __WT_H2 b) {                                                    \
    unsigned r;                                                                                               \
    __WT_ASM("set." #relation "." __WT_F "x2." __WT_F "x2 %0,%1,%2;", "=r"(r)                                 \
             : "r"(__WT_U2(a)), "r"(__WT_U2(b)));                                                             \
    return __WT_P2(r);                                                                                        \
  }                                                                                                           \
  __WT_TARGET bool __hb##name##2(__WT_H2 a, __WT_H2 b) {                                                      \
    return __WT_U2(__h##name##2(a, b)) == (unsigned(__WT_ONE) << 16 | __WT_ONE);                              \
  }
#else
#define __WT_FLOAT_eq(a, b) ((a) == (b))
#define __WT_FLOAT_neu(a, b) ((a) != (b))
#define __WT_FLOAT_ne(a, b) ((a) < (b) || (a) > (b))
#define __WT_FLOAT_equ(a, b) (!((a) < (b) || (a) > (b)))
#define __WT_FLOAT_ltu(a, b) (!((a) >= (b)))
#define __WT_FLOAT_leu(a, b) (!((a) > (b)))
#define __WT_FLOAT_gtu(a, b) (!((a) <= (b)))
#define __WT_FLOAT_geu(a, b) (!((a) < (b)))
#define __WT_FLOAT_lt(a, b) ((a) < (b))
#define __WT_FLOAT_le(a, b) ((a) <= (b))
#define __WT_FLOAT_gt(a, b) ((a) > (b))
#define __WT_FLOAT_ge(a, b) ((a) >= (b))
#define __WT_COMPARE(name, relation)                                                                  \
  __WT_TARGET bool __h##name(__WT_H a, __WT_H b) {                                                    \
    return __WT_FLOAT_##relation(__wt_widen(a), __wt_widen(b));                                       \
  }                                                                                                   \
  __WT_TARGET unsigned __h##name##2_mask(__WT_H2 a, __WT_H2 b) {                                      \
    return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);             \
  }                                                                                                   \
  __WT_TARGET __WT_H2 __h##name##2(__WT_H2 a, __WT_H2 b) {                                            \
    return __WT_P2(__h##name##2_mask(a, b) & (unsigned(__WT_ONE) << 16 | __WT_ONE));                  \
  }                                                                                                   \
  __WT_TARGET bool __hb##name##2(__WT_H2 a, __WT_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#endif
__WT_COMPARE(eq, eq)
__WT_COMPARE(equ, equ)
__WT_COMPARE(ltu, ltu)
__WT_COMPARE(leu, leu)
__WT_COMPARE(gtu, gtu)
__WT_COMPARE(geu, geu)
__WT_COMPARE(ne, ne)
__WT_COMPARE(neu, neu)
__WT_COMPARE(lt, lt)
__WT_COMPARE(le, le)
__WT_COMPARE(gt, gt)
__WT_COMPARE(ge, ge)
#undef __WT_COMPARE
#undef __WT_FLOAT_eq
#undef __WT_FLOAT_neu
#undef __WT_FLOAT_ne
#undef __WT_FLOAT_lt
#undef __WT_FLOAT_le
#undef __WT_FLOAT_gt
#undef __WT_FLOAT_ge
#undef __WT_FLOAT_equ
#undef __WT_FLOAT_ltu
#undef __WT_FLOAT_leu
#undef __WT_FLOAT_gtu
#undef __WT_FLOAT_geu
__WT_DEVICE bool __hisnan(__WT_H a) { return (a.__x & 0x7fff) > __WT_INFINITY; }
__WT_DEVICE int __hisinf(__WT_H a) { return a.__x == __WT_INFINITY ? 1 : a.__x == (__WT_INFINITY | 0x8000) ? -1 : 0; }
__WT_DEVICE __WT_H2 __hisnan2(__WT_H2 a) {
  return __WT_H2(__wt_of_bits<__WT_H>(__hisnan(a.x) ? __WT_ONE : 0), __wt_of_bits<__WT_H>(__hisnan(a.y) ? __WT_ONE : 0));
}

#if __CUDA_ARCH__ >= 800
#define __WT_EXTREME(name, operation)                                                                         \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b) {                                                               \
    __WT_H r;                                                                                                 \
    __WT_ASM(operation "." __WT_F " %0,%1,%2;", "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                        \
    return r;                                                                                                 \
  }                                                                                                           \
  __WT_TARGET __WT_H2 name##2(__WT_H2 a, __WT_H2 b) {                                                         \
    unsigned r;                                                                                               \
    __WT_ASM(operation "." __WT_F "x2 %0,%1,%2;", "=r"(r) : "r"(__WT_U2(a)), "r"(__WT_U2(b)));                \
    return __WT_P2(r);                                                                                        \
  }
__WT_EXTREME(__hmin, "min")
__WT_EXTREME(__hmax, "max")
__WT_EXTREME(__hmin_nan, "min.NaN")
__WT_EXTREME(__hmax_nan, "max.NaN")
#else
#define __WT_EXTREME(name, function)                                                                  \
  __WT_TARGET __WT_H name(__WT_H a, __WT_H b) {                                                       \
    return __wt_narrow<__WT_H>(function(__wt_widen(a), __wt_widen(b)));                               \
  }                                                                                                   \
  __WT_TARGET __WT_H2 name##2(__WT_H2 a, __WT_H2 b) { return __WT_H2(name(a.x, b.x), name(a.y, b.y)); }
__WT_EXTREME(__hmin, __builtin_fminf)
__WT_EXTREME(__hmax, __builtin_fmaxf)
__WT_EXTREME(__hmin_nan, __builtin_fminf)
__WT_EXTREME(__hmax_nan, __builtin_fmaxf)
#endif
#undef __WT_EXTREME

#ifdef __WT_IS_BF16  // the hardware's quotient is zero for divisors from 2^126 on
__WT_DEVICE __WT_H __hdiv(__WT_H a, __WT_H b) {
  const float divisor = __wt_widen(b);
  const bool large = __builtin_fabsf(divisor) >= 8.50705917e37f;
  const float quotient = __nvvm_div_approx_f(__wt_widen(a), large ? divisor * 0.25f : divisor);
  return __wt_narrow<__WT_H>(large ? __builtin_fmaf(quotient, 0.25f, -0.0f) : quotient);
}
#else  // by the reciprocal, with one step of correction where it is subnormal: there the rounding would show
__WT_DEVICE __WT_H __hdiv(__WT_H a, __WT_H b) {
  const float dividend = __wt_widen(a), divisor = __wt_widen(b);
  const float reciprocal = __nvvm_rcp_approx_ftz_f(divisor);
  const float quotient = dividend * reciprocal;
  __WT_H r = __wt_narrow<__WT_H>(quotient);
  const __WT_H magnitude = __wt_of_bits<__WT_H>(r.__x & 0x7fff);
  if (__hlt(magnitude, __wt_of_bits<__WT_H>(0x008f)) && __hlt(__wt_narrow<__WT_H>(0.0f), magnitude)) {
    const float error = __builtin_fmaf(-divisor, quotient, dividend);
    r = __wt_narrow<__WT_H>(__builtin_fmaf(reciprocal, error, quotient));
  }
  return r;
}
#endif
__WT_DEVICE __WT_H2 __h2div(__WT_H2 a, __WT_H2 b) { return __WT_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
// Elementary functions: of floats, by the hardware's approximations.
#define __WT_ELEMENTARY(name, expression)                                                             \
  __WT_DEVICE __WT_H h##name(__WT_H a) {                                                              \
    const float v = __wt_widen(a);                                                                    \
    return __wt_narrow<__WT_H>(expression);                                                           \
  }                                                                                                   \
  __WT_DEVICE __WT_H2 h2##name(__WT_H2 a) { return __WT_H2(h##name(a.x), h##name(a.y)); }
#ifdef __WT_IS_BF16  // of the exponents of a float: subnormal numbers count
__WT_ELEMENTARY(exp, __nvvm_ex2_approx_f(v * 1.44269514f))
__WT_ELEMENTARY(exp2, __nvvm_ex2_approx_f(v))
__WT_ELEMENTARY(exp10, __nvvm_ex2_approx_f(v * 3.32192802f))
__WT_ELEMENTARY(log, __nvvm_lg2_approx_f(v) * 0.693147182f)
__WT_ELEMENTARY(log2, __nvvm_lg2_approx_f(v))
__WT_ELEMENTARY(log10, __nvvm_lg2_approx_f(v) * 0.301030010f)
__WT_ELEMENTARY(sqrt, __nvvm_sqrt_approx_f(v))
__WT_ELEMENTARY(rsqrt, __nvvm_rsqrt_approx_f(v))
__WT_ELEMENTARY(rcp, ([v] { float r; __asm__("rcp.approx.f32 %0,%1;" : "=f"(r) : "f"(v)); return r; }()))
__WT_ELEMENTARY(sin, __wt_sin(v))
__WT_ELEMENTARY(cos, __wt_cos(v))
#if __CUDA_ARCH__ >= 750
__WT_ELEMENTARY(tanh, ([v] { float r; __asm__("tanh.approx.f32 %0,%1;" : "=f"(r) : "f"(v)); return r; }()))
#else
__WT_ELEMENTARY(tanh, __wt_tanh(v))
#endif
#else
// The arguments whose results lie nearest to the middle between two numbers are where the approximations can round wrongly: these
// results are written out, in the order of their distance.
#define __WT_AT(argument, value) bits = argument_bits == argument ? value : bits;
#define __WT_AT2(argument, value)                                                                     \
  {                                                                                                   \
    const unsigned mask = __heq2_mask(a, __WT_P2(argument * 0x10001u));                               \
    words = (words & ~mask) | (value * 0x10001u & mask);                                              \
  }
#define __WT_CORRECTED(name, expression, corrections)                                                 \
  __WT_DEVICE __WT_H h##name(__WT_H a) {                                                              \
    const float v = __wt_widen(a);                                                                    \
    const unsigned short argument_bits = a.__x;                                                       \
    unsigned short bits = __wt_narrow<__WT_H>(expression).__x;                                        \
    corrections(__WT_AT)                                                                              \
    return __wt_of_bits<__WT_H>(bits);                                                                \
  }                                                                                                   \
  __WT_DEVICE __WT_H h2##name##_lane(__WT_H a) {                                                      \
    const float v = __wt_widen(a);                                                                    \
    return __wt_narrow<__WT_H>(expression);                                                           \
  }                                                                                                   \
  __WT_DEVICE __WT_H2 h2##name(__WT_H2 a) {                                                           \
    unsigned words = __WT_U2(__WT_H2(h2##name##_lane(a.x), h2##name##_lane(a.y)));                    \
    corrections(__WT_AT2)                                                                             \
    return __WT_P2(words);                                                                            \
  }
#define __WT_EXP(at) at(0x1f79, 0x3c07) at(0x25cf, 0x3c17) at(0xa954, 0x3bac) at(0xc13b, 0x2caf)
#define __WT_EXP10(at) at(0x9ba2, 0x3bee) at(0x9972, 0x3bf4) at(0x2450, 0x3c28) at(0x2394, 0x3c24) at(0x2bf4, 0x3c9e)
#define __WT_LOG(at) at(0x305f, 0xbff6) at(0x4131, 0x3ba2) at(0x1d78, 0xc53b) at(0x1935, 0xc5f9)
#define __WT_LOG10(at) at(0x57e1, 0x4033) at(0x338f, 0xb903) at(0x33f8, 0xb8d5) at(0x719d, 0x440f)
#define __WT_LOG2(at) at(0x3489, 0xbf47) at(0x4089, 0x3cb9)
__WT_CORRECTED(exp, __nvvm_ex2_approx_ftz_f(__builtin_fmaf(v, 1.44269502f, -0.0f)), __WT_EXP)
__WT_CORRECTED(exp10, __nvvm_ex2_approx_ftz_f(__builtin_fmaf(v, 3.32192802f, -0.0f)), __WT_EXP10)
__WT_CORRECTED(log, __nvvm_lg2_approx_ftz_f(v) * 0.693147182f, __WT_LOG)
__WT_CORRECTED(log10, __nvvm_lg2_approx_ftz_f(v) * 0.301030010f, __WT_LOG10)
__WT_CORRECTED(log2, __nvvm_lg2_approx_ftz_f(v), __WT_LOG2)
__WT_ELEMENTARY(exp2, ([v] { const float r = __nvvm_ex2_approx_ftz_f(v); return __builtin_fmaf(r, 5.96046448e-8f, r); }()))
__WT_ELEMENTARY(sqrt, __nvvm_sqrt_approx_ftz_f(v))
__WT_ELEMENTARY(rsqrt, __nvvm_rsqrt_approx_ftz_f(v))
__WT_ELEMENTARY(rcp, __nvvm_rcp_approx_ftz_f(v))
__WT_ELEMENTARY(tanh, __wt_tanh(v))
// The multiple of pi/2 by the rounding of a sum with 1.5 * 2^23; then sine or cosine, by selected coefficients.
__WT_DEVICE float __wt_half_sin(float x, int more) {
  const float shifted = __builtin_fmaf(x, 0.636619747f, 12582912.0f);
  const float n = __wt_sum(shifted, -12582912.0f);
  const float r = __builtin_fmaf(n, -7.54978942e-8f, __builtin_fmaf(n, -1.57079625f, x));
  const int quadrant = more == 0 ? __wt_bits(shifted) : (__wt_bits(shifted) & 3) + more;
  const bool odd = quadrant & 1;
  const float z = r * r;
  float c = __builtin_fmaf(odd ? 2.44331695e-5f : -0.000195187851f, z, odd ? -0.00138873141f : 0.00833219197f);
  c = __builtin_fmaf(c, z, odd ? 0.0416666456f : -0.166666552f);
  c = __builtin_fmaf(c, z, odd ? -0.5f : 0.0f);
  const float y = __builtin_fmaf(c, odd ? z : r, odd ? 1.0f : r);
  return (quadrant & 2) ? -y : y;
}
__WT_DEVICE __WT_H hsin(__WT_H a) {
  unsigned short bits = __wt_narrow<__WT_H>(__wt_half_sin(__wt_widen(a), 0)).__x;
  const unsigned short sign = bits & 0x8000u;
  const unsigned short argument_bits = a.__x & 0x7fffu;
  bits &= 0x7fffu;
  __WT_AT(0x32b3, 0x32a7)
  __WT_AT(0x5cb0, 0x3bff)
  return __wt_of_bits<__WT_H>(bits | sign);
}
__WT_DEVICE __WT_H hcos(__WT_H a) {
  unsigned short bits = __wt_narrow<__WT_H>(__wt_half_sin(__wt_widen(a), 1)).__x;
  const unsigned short argument_bits = a.__x & 0x7fffu;
  __WT_AT(0x2b7c, 0x3bfd)
  return __wt_of_bits<__WT_H>(bits);
}
__WT_DEVICE __WT_H2 h2sin(__WT_H2 a) { return __WT_H2(hsin(a.x), hsin(a.y)); }
__WT_DEVICE __WT_H2 h2cos(__WT_H2 a) { return __WT_H2(hcos(a.x), hcos(a.y)); }
#undef __WT_AT
#undef __WT_AT2
#undef __WT_CORRECTED
#undef __WT_EXP
#undef __WT_EXP10
#undef __WT_LOG
#undef __WT_LOG10
#undef __WT_LOG2
#endif
__WT_ELEMENTARY(floor, __builtin_floorf(v))
__WT_ELEMENTARY(ceil, __builtin_ceilf(v))
__WT_ELEMENTARY(trunc, __builtin_truncf(v))
__WT_ELEMENTARY(rint, __builtin_rintf(v))
#undef __WT_ELEMENTARY
#if __CUDA_ARCH__ >= 750
#ifdef __WT_IS_BF16
__WT_DEVICE __WT_H htanh_approx(__WT_H a) { return htanh(a); }
__WT_DEVICE __WT_H2 h2tanh_approx(__WT_H2 a) { return h2tanh(a); }
#else
__WT_DEVICE __WT_H htanh_approx(__WT_H a) {
  __WT_H r;
  __WT_ASM("tanh.approx.f16 %0,%1;", "=h"(r.__x) : "h"(a.__x));
  return r;
}
__WT_DEVICE __WT_H2 h2tanh_approx(__WT_H2 a) {
  unsigned r;
  __WT_ASM("tanh.approx.f16x2 %0,%1;", "=r"(r) : "r"(__WT_U2(a)));
  return __WT_P2(r);
}
#endif
#endif

// Shuffles move 32 bits.
#define __WT_SHUFFLE(name, offset_type)                                                               \
  __WT_DEVICE __WT_H2 name(unsigned mask, __WT_H2 v, offset_type offset, int width = warpSize) {      \
    return __WT_P2(name(mask, __WT_U2(v), offset, width));                                            \
  }                                                                                                   \
  __WT_DEVICE __WT_H name(unsigned mask, __WT_H v, offset_type offset, int width = warpSize) {        \
    return __wt_of_bits<__WT_H>(static_cast<unsigned short>(name(mask, unsigned(v.__x), offset, width))); \
  }
__WT_SHUFFLE(__shfl_sync, int)
__WT_SHUFFLE(__shfl_up_sync, unsigned)
__WT_SHUFFLE(__shfl_down_sync, unsigned)
__WT_SHUFFLE(__shfl_xor_sync, int)
#undef __WT_SHUFFLE

// Loads and stores with cache hints: those of the 16 and 32 bits.
#define __WT_HINTED(name)                                                                                  \
  __WT_DEVICE __WT_H name(const __WT_H* p) {                                                               \
    return __wt_of_bits<__WT_H>(name(reinterpret_cast<const unsigned short*>(p)));                         \
  }                                                                                                        \
  __WT_DEVICE __WT_H2 name(const __WT_H2* p) { return __WT_P2(name(reinterpret_cast<const unsigned*>(p))); }
__WT_HINTED(__ldg)
__WT_HINTED(__ldca)
__WT_HINTED(__ldcg)
__WT_HINTED(__ldcs)
__WT_HINTED(__ldcv)
#undef __WT_HINTED
#define __WT_HINTED(name)                                                                                  \
  __WT_DEVICE void name(__WT_H* p, __WT_H v) { name(reinterpret_cast<unsigned short*>(p), v.__x); }        \
  __WT_DEVICE void name(__WT_H2* p, __WT_H2 v) { name(reinterpret_cast<unsigned*>(p), __WT_U2(v)); }
__WT_HINTED(__stwb)
__WT_HINTED(__stcg)
__WT_HINTED(__stcs)
__WT_HINTED(__stwt)
#undef __WT_HINTED

// Atomic additions; a loop of compare-and-swap where the hardware has none.
#if __WT_HAS_ATOMIC
__WT_TARGET __WT_H atomicAdd(__WT_H* p, __WT_H v) {
  __WT_H r;
  __asm__ __volatile__("{ atom.add.noftz." __WT_F " %0,[%1],%2; }" : "=h"(r.__x) : "l"(p), "h"(v.__x) : "memory");
  return r;
}
#else
__WT_TARGET __WT_H atomicAdd(__WT_H* p, __WT_H v) {
  unsigned short old = *reinterpret_cast<volatile unsigned short*>(p), assumed;
  do {
    assumed = old;
    const unsigned short sum = __hadd(__wt_of_bits<__WT_H>(assumed), v).__x;
    unsigned r;
    __asm__ __volatile__("{ .reg .b16 t; atom.cas.b16 t,[%1],%2,%3; cvt.u32.u16 %0,t; }"
                         : "=r"(r) : "l"(p), "h"(assumed), "h"(sum) : "memory");
    old = static_cast<unsigned short>(r);
  } while (old != assumed);
  return __wt_of_bits<__WT_H>(old);
}
#endif
#if __WT_HAS_ATOMIC2
__WT_TARGET __WT_H2 atomicAdd(__WT_H2* p, __WT_H2 v) {
  unsigned r;
  __asm__ __volatile__("{ atom.add.noftz." __WT_F "x2 %0,[%1],%2; }" : "=r"(r) : "l"(p), "r"(__WT_U2(v)) : "memory");
  return __WT_P2(r);
}
#else
__WT_TARGET __WT_H2 atomicAdd(__WT_H2* p, __WT_H2 v) {
  unsigned* word = reinterpret_cast<unsigned*>(p);
  unsigned old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __WT_U2(__hadd2(__WT_P2(assumed), v)));
  } while (old != assumed);
  return __WT_P2(old);
}
#endif

#if !defined(__CUDA_NO_HALF_OPERATORS__) || defined(__WT_IS_BF16)
#define __WT_OPERATOR(symbol, function)                                                                   \
  __WT_DEVICE __WT_H operator symbol(const __WT_H& a, const __WT_H& b) { return function(a, b); }         \
  __WT_DEVICE __WT_H& operator symbol##=(__WT_H& a, const __WT_H& b) { return a = function(a, b); }
__WT_OPERATOR(+, __hadd)
__WT_OPERATOR(-, __hsub)
__WT_OPERATOR(*, __hmul)
__WT_OPERATOR(/, __hdiv)
#undef __WT_OPERATOR
#define __WT_OPERATOR(symbol, function) \
  __WT_DEVICE bool operator symbol(const __WT_H& a, const __WT_H& b) { return function(a, b); }
__WT_OPERATOR(==, __heq)
__WT_OPERATOR(!=, __hneu)
__WT_OPERATOR(<, __hlt)
__WT_OPERATOR(<=, __hle)
__WT_OPERATOR(>, __hgt)
__WT_OPERATOR(>=, __hge)
#undef __WT_OPERATOR
__WT_DEVICE __WT_H operator+(const __WT_H& a) { return a; }
__WT_DEVICE __WT_H operator-(const __WT_H& a) { return __hneg(a); }
__WT_DEVICE __WT_H& operator++(__WT_H& a) { return a = __hadd(a, __wt_of_bits<__WT_H>(__WT_ONE)); }
__WT_DEVICE __WT_H& operator--(__WT_H& a) { return a = __hsub(a, __wt_of_bits<__WT_H>(__WT_ONE)); }
#endif
#if !defined(__CUDA_NO_HALF2_OPERATORS__) || defined(__WT_IS_BF16)
#define __WT_OPERATOR(symbol, function)                                                                   \
  __WT_DEVICE __WT_H2 operator symbol(const __WT_H2& a, const __WT_H2& b) { return function(a, b); }      \
  __WT_DEVICE __WT_H2& operator symbol##=(__WT_H2& a, const __WT_H2& b) { return a = function(a, b); }
__WT_OPERATOR(+, __hadd2)
__WT_OPERATOR(-, __hsub2)
__WT_OPERATOR(*, __hmul2)
__WT_OPERATOR(/, __h2div)
#undef __WT_OPERATOR
#define __WT_OPERATOR(symbol, function) \
  __WT_DEVICE bool operator symbol(const __WT_H2& a, const __WT_H2& b) { return function(a, b); }
__WT_OPERATOR(==, __hbeq2)
__WT_OPERATOR(!=, __hbneu2)
__WT_OPERATOR(<, __hblt2)
__WT_OPERATOR(<=, __hble2)
__WT_OPERATOR(>, __hbgt2)
__WT_OPERATOR(>=, __hbge2)
#undef __WT_OPERATOR
__WT_DEVICE __WT_H2 operator-(const __WT_H2& a) { return __hneg2(a); }
#endif
#undef __WT_ASM
#undef __WT_U2
#undef __WT_P2
#undef __WT_H
#undef __WT_H2
#undef __WT_F
#undef __WT_ONE
#undef __WT_INFINITY
#undef __WT_HAS_FMA
#undef __WT_HAS_ALL
#undef __WT_HAS_ATOMIC
#undef __WT_HAS_ATOMIC2
