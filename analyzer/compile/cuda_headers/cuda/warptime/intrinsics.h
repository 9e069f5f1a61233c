#pragma once
#pragma clang system_header

// Integer, conversion and rounding intrinsics: mostly one instruction each.

// There is no multiplier of 24 bits since Fermi.
__WT_DEVICE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__WT_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
__WT_DEVICE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
__WT_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
__WT_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
__WT_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
__WT_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
__WT_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__WT_DEVICE int __clz(int v) { return v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v)); }
__WT_DEVICE int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v)); }
__WT_DEVICE int __ffs(int v) {  // no bit: -1 and 1
  unsigned r;
  __asm__("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(__builtin_bitreverse32(static_cast<unsigned>(v))));
  return static_cast<int>(r + 1);
}
__WT_DEVICE int __ffsll(long long v) {
  unsigned zeros;
  __asm__("clz.b64 %0, %1;" : "=r"(zeros) : "l"(v & -v));
  return static_cast<int>(64u - zeros);
}
__WT_DEVICE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
__WT_DEVICE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
__WT_DEVICE unsigned __sad(int a, int b, unsigned c) {
  return static_cast<unsigned>(__nvvm_sad_i(a, b, static_cast<int>(c)));
}
__WT_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) { return __nvvm_sad_ui(a, b, c); }
__WT_DEVICE int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
__WT_DEVICE int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
__WT_DEVICE unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
__WT_DEVICE unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
__WT_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s); }
#if __CUDA_ARCH__ >= 320
#define __WT_FUNNEL(name, instruction)                                                            \
  __WT_DEVICE unsigned name(unsigned low, unsigned high, unsigned n) {                            \
    unsigned d;                                                                                   \
    __asm__("shf." instruction ".b32 %0, %1, %2, %3;" : "=r"(d) : "r"(low), "r"(high), "r"(n)); \
    return d;                                                                                     \
  }
__WT_FUNNEL(__funnelshift_l, "l.wrap")
__WT_FUNNEL(__funnelshift_r, "r.wrap")
__WT_FUNNEL(__funnelshift_lc, "l.clamp")
__WT_FUNNEL(__funnelshift_rc, "r.clamp")
#undef __WT_FUNNEL
#else  // no instruction of its own: a shift of 64 bits
__WT_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (n & 31)) >> 32);
}
__WT_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (n & 31));
}
__WT_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned n) {
  return n >= 32 ? low : __funnelshift_l(low, high, n);
}
__WT_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned n) {
  return n >= 32 ? high : __funnelshift_r(low, high, n);
}
#endif
__WT_DEVICE int __dp4a(int a, int b, int c) {
  int d;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__WT_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  __asm__("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__WT_DEVICE int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
__WT_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}
#define __WT_DP2A(half)                                                                                     \
  __WT_DEVICE int __dp2a_##half(int a, int b, int c) {                                                      \
    int d;                                                                                                  \
    __asm__("dp2a." #half ".s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                   \
    return d;                                                                                               \
  }                                                                                                         \
  __WT_DEVICE unsigned __dp2a_##half(unsigned a, unsigned b, unsigned c) {                                  \
    unsigned d;                                                                                             \
    __asm__("dp2a." #half ".u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                   \
    return d;                                                                                               \
  }                                                                                                         \
  __WT_DEVICE int __dp2a_##half(short2 a, char4 b, int c) {                                                 \
    return __dp2a_##half(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);                        \
  }                                                                                                         \
  __WT_DEVICE unsigned __dp2a_##half(ushort2 a, uchar4 b, unsigned c) {                                     \
    return __dp2a_##half(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);              \
  }
__WT_DP2A(lo)
__WT_DP2A(hi)
#undef __WT_DP2A
__WT_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) {
  unsigned r;
  __asm__("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
  return r;
}
__WT_DEVICE unsigned short __nv_bswap16(unsigned short v) { return __builtin_bswap16(v); }
__WT_DEVICE unsigned __nv_bswap32(unsigned v) { return __nvvm_prmt(v, 0, 0x0123); }
__WT_DEVICE unsigned long long __nv_bswap64(unsigned long long v) {
  return static_cast<unsigned long long>(__nv_bswap32(static_cast<unsigned>(v))) << 32 | __nv_bswap32(static_cast<unsigned>(v >> 32));
}

// Loads through the read-only data cache, and with cache hints.
#define __WT_LOAD_VECTOR2(name, type, instruction)                                      \
  __WT_LDG type __ldg(const type* p) {                                                  \
    typedef decltype(type::x) vector __attribute__((ext_vector_type(2)));               \
    const vector v = __nvvm_ldg_##instruction(reinterpret_cast<const vector*>(p));      \
    return {v.x, v.y};                                                                  \
  }
#define __WT_LOAD_VECTOR4(name, type, instruction)                                      \
  __WT_LDG type __ldg(const type* p) {                                                  \
    typedef decltype(type::x) vector __attribute__((ext_vector_type(4)));               \
    const vector v = __nvvm_ldg_##instruction(reinterpret_cast<const vector*>(p));      \
    return {v.x, v.y, v.z, v.w};                                                        \
  }
#define __WT_LOAD(type, instruction) \
  __WT_LDG type __ldg(const type* p) { return __nvvm_ldg_##instruction(p); }
#define __WT_LDG __WT_TARGET
#if __CUDA_ARCH__ >= 320
__WT_LOAD(char, c)
__WT_LOAD(signed char, sc)
__WT_LOAD(unsigned char, uc)
__WT_LOAD(short, s)
__WT_LOAD(unsigned short, us)
__WT_LOAD(int, i)
__WT_LOAD(unsigned, ui)
__WT_LOAD(long, l)
__WT_LOAD(unsigned long, ul)
__WT_LOAD(long long, ll)
__WT_LOAD(unsigned long long, ull)
__WT_LOAD(float, f)
__WT_LOAD(double, d)
__WT_LOAD_VECTOR2(__ldg, char2, sc2)
__WT_LOAD_VECTOR4(__ldg, char4, sc4)
__WT_LOAD_VECTOR2(__ldg, uchar2, uc2)
__WT_LOAD_VECTOR4(__ldg, uchar4, uc4)
__WT_LOAD_VECTOR2(__ldg, short2, s2)
__WT_LOAD_VECTOR4(__ldg, short4, s4)
__WT_LOAD_VECTOR2(__ldg, ushort2, us2)
__WT_LOAD_VECTOR4(__ldg, ushort4, us4)
__WT_LOAD_VECTOR2(__ldg, int2, i2)
__WT_LOAD_VECTOR4(__ldg, int4, i4)
__WT_LOAD_VECTOR2(__ldg, uint2, ui2)
__WT_LOAD_VECTOR4(__ldg, uint4, ui4)
__WT_LOAD_VECTOR2(__ldg, longlong2, ll2)
__WT_LOAD_VECTOR2(__ldg, ulonglong2, ull2)
__WT_LOAD_VECTOR2(__ldg, float2, f2)
__WT_LOAD_VECTOR4(__ldg, float4, f4)
__WT_LOAD_VECTOR2(__ldg, double2, d2)
#else  // a plain load, as nvcc makes of it
template <class T> __WT_TARGET T __ldg(const T* p) { return *p; }
#endif
#undef __WT_LOAD
#undef __WT_LOAD_VECTOR2
#undef __WT_LOAD_VECTOR4
#undef __WT_LDG

#define __WT_HINTED(operation, type, instruction, constraint)                                                        \
  __WT_DEVICE type __ld##operation(const type* p) {                                                                  \
    type v;                                                                                                          \
    __asm__ __volatile__("ld.global." #operation "." instruction " %0, [%1];" : "=" constraint(v) : "l"(p) : "memory"); \
    return v;                                                                                                        \
  }
#define __WT_HINTED_STORE(operation, type, instruction, constraint)                                               \
  __WT_DEVICE void __st##operation(type* p, type v) {                                                             \
    __asm__ __volatile__("st.global." #operation "." instruction " [%0], %1;" ::"l"(p), constraint(v) : "memory"); \
  }
#define __WT_HINTS(type, instruction, constraint)      \
  __WT_HINTED(ca, type, instruction, constraint)       \
  __WT_HINTED(cg, type, instruction, constraint)       \
  __WT_HINTED(cs, type, instruction, constraint)       \
  __WT_HINTED(cv, type, instruction, constraint)       \
  __WT_HINTED_STORE(wb, type, instruction, constraint) \
  __WT_HINTED_STORE(cg, type, instruction, constraint) \
  __WT_HINTED_STORE(cs, type, instruction, constraint) \
  __WT_HINTED_STORE(wt, type, instruction, constraint)
__WT_HINTS(int, "s32", "r")
__WT_HINTS(unsigned, "u32", "r")
__WT_HINTS(long long, "s64", "l")
__WT_HINTS(unsigned long long, "u64", "l")
__WT_HINTS(float, "f32", "f")
__WT_HINTS(double, "f64", "d")
// Other types by their size: bytes, pairs, vectors.
#define __WT_RESULTS_1(constraint, v) "=" constraint(v[0])
#define __WT_RESULTS_2(constraint, v) "=" constraint(v[0]), "=" constraint(v[1])
#define __WT_RESULTS_4(constraint, v) "=" constraint(v[0]), "=" constraint(v[1]), "=" constraint(v[2]), "=" constraint(v[3])
#define __WT_VALUES_1(constraint, v) constraint(v[0])
#define __WT_VALUES_2(constraint, v) constraint(v[0]), constraint(v[1])
#define __WT_VALUES_4(constraint, v) constraint(v[0]), constraint(v[1]), constraint(v[2]), constraint(v[3])
#define __WT_LOAD_SIZE(bytes, operation, type, word, constraint, count, places)                            \
  if constexpr (sizeof(T) == bytes) {                                                                      \
    word v[count];                                                                                         \
    __asm__ __volatile__("ld.global." #operation "." type " " places ", [%" #count "];"                    \
                         : __WT_RESULTS_##count(constraint, v) : "l"(p) : "memory");                       \
    __builtin_memcpy(&r, v, sizeof(T));                                                                    \
  }
#define __WT_STORE_SIZE(bytes, operation, type, word, constraint, count, places)                           \
  if constexpr (sizeof(T) == bytes) {                                                                      \
    word v[count];                                                                                         \
    __builtin_memcpy(v, &r, sizeof(T));                                                                    \
    __asm__ __volatile__("st.global." #operation "." type " [%" #count "], " places ";"                    \
                         ::__WT_VALUES_##count(constraint, v), "l"(p) : "memory");                         \
  }
#define __WT_SIZES(step, operation)                                                \
  step(1, operation, "u8", unsigned short, "h", 1, "%0")                           \
  step(2, operation, "u16", unsigned short, "h", 1, "%0")                          \
  step(4, operation, "u32", unsigned, "r", 1, "%0")                                \
  step(8, operation, "v2.u32", unsigned, "r", 2, "{%0, %1}")                       \
  step(16, operation, "v4.u32", unsigned, "r", 4, "{%0, %1, %2, %3}")
#define __WT_LOAD(operation)                                          \
  template <class T> __WT_DEVICE T __ld##operation(const T* p) {      \
    T r;                                                              \
    __WT_SIZES(__WT_LOAD_SIZE, operation)                             \
    return r;                                                         \
  }
#define __WT_STORE(operation)                                                                     \
  template <class T> __WT_DEVICE void __st##operation(T* p, __wt_plain<T> r) {                    \
    __WT_SIZES(__WT_STORE_SIZE, operation)                                                        \
  }
template <class T> struct __wt_same { typedef T type; };
template <class T> using __wt_plain = typename __wt_same<T>::type;
__WT_LOAD(ca)
__WT_LOAD(cg)
__WT_LOAD(cs)
__WT_LOAD(cv)
__WT_LOAD(lu)
__WT_STORE(wb)
__WT_STORE(cg)
__WT_STORE(cs)
__WT_STORE(wt)
#undef __WT_LOAD
#undef __WT_STORE
#undef __WT_SIZES
#undef __WT_LOAD_SIZE
#undef __WT_STORE_SIZE
#undef __WT_RESULTS_1
#undef __WT_RESULTS_2
#undef __WT_RESULTS_4
#undef __WT_VALUES_1
#undef __WT_VALUES_2
#undef __WT_VALUES_4
#undef __WT_HINTS
#undef __WT_HINTED
#undef __WT_HINTED_STORE

// The shared-memory address behind a generic pointer, and which space a pointer points into.
__WT_DEVICE size_t __cvta_generic_to_shared(const void* p) {
  return reinterpret_cast<size_t>((const __attribute__((address_space(3))) void*)p);
}
__WT_DEVICE size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<size_t>((const __attribute__((address_space(1))) void*)p);
}
__WT_DEVICE unsigned __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
__WT_DEVICE unsigned __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
__WT_DEVICE unsigned __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
__WT_DEVICE unsigned __isConstant(const void* p) { return __nvvm_isspacep_const(p); }

// The same bits as another type.
#define __WT_BITS(name, from, to) \
  __WT_DEVICE to name(from v) { return __builtin_bit_cast(to, v); }
__WT_BITS(__float_as_int, float, int)
__WT_BITS(__float_as_uint, float, unsigned)
__WT_BITS(__int_as_float, int, float)
__WT_BITS(__uint_as_float, unsigned, float)
__WT_BITS(__double_as_longlong, double, long long)
__WT_BITS(__longlong_as_double, long long, double)
#undef __WT_BITS
__WT_DEVICE int __double2hiint(double v) { return __nvvm_d2i_hi(v); }
__WT_DEVICE int __double2loint(double v) { return __nvvm_d2i_lo(v); }
__WT_DEVICE double __hiloint2double(int high, int low) { return __nvvm_lohi_i2d(low, high); }

// Conversions and arithmetic with a rounding mode: to the nearest, towards zero, down, up.
#define __WT_CONVERT(name, builtin, from, to)                                   \
  __WT_DEVICE to name##_rn(from v) { return static_cast<to>(builtin##_rn(v)); } \
  __WT_DEVICE to name##_rz(from v) { return static_cast<to>(builtin##_rz(v)); } \
  __WT_DEVICE to name##_rd(from v) { return static_cast<to>(builtin##_rm(v)); } \
  __WT_DEVICE to name##_ru(from v) { return static_cast<to>(builtin##_rp(v)); }
__WT_CONVERT(__float2int, __nvvm_f2i, float, int)
__WT_CONVERT(__float2uint, __nvvm_f2ui, float, unsigned)
__WT_CONVERT(__float2ll, __nvvm_f2ll, float, long long)
__WT_CONVERT(__float2ull, __nvvm_f2ull, float, unsigned long long)
__WT_CONVERT(__double2int, __nvvm_d2i, double, int)
__WT_CONVERT(__double2uint, __nvvm_d2ui, double, unsigned)
__WT_CONVERT(__double2ll, __nvvm_d2ll, double, long long)
__WT_CONVERT(__double2ull, __nvvm_d2ull, double, unsigned long long)
__WT_CONVERT(__double2float, __nvvm_d2f, double, float)
__WT_CONVERT(__int2float, __nvvm_i2f, int, float)
__WT_CONVERT(__uint2float, __nvvm_ui2f, unsigned, float)
__WT_CONVERT(__ll2float, __nvvm_ll2f, long long, float)
__WT_CONVERT(__ull2float, __nvvm_ull2f, unsigned long long, float)
__WT_CONVERT(__ll2double, __nvvm_ll2d, long long, double)
__WT_CONVERT(__ull2double, __nvvm_ull2d, unsigned long long, double)
#undef __WT_CONVERT
__WT_DEVICE double __int2double_rn(int v) { return v; }
__WT_DEVICE double __uint2double_rn(unsigned v) { return v; }

#define __WT_ROUNDED(suffix, mode)                                                                       \
  __WT_DEVICE float __fadd_##suffix(float a, float b) { return __nvvm_add_##mode##_f(a, b); }            \
  __WT_DEVICE float __fsub_##suffix(float a, float b) { return __nvvm_add_##mode##_f(a, -b); }           \
  __WT_DEVICE float __fmul_##suffix(float a, float b) { return __nvvm_mul_##mode##_f(a, b); }            \
  __WT_DEVICE float __fmaf_##suffix(float a, float b, float c) { return __nvvm_fma_##mode##_f(a, b, c); } \
  __WT_DEVICE float __fdiv_##suffix(float a, float b) { return __nvvm_div_##mode##_f(a, b); }            \
  __WT_DEVICE float __frcp_##suffix(float a) { return __nvvm_rcp_##mode##_f(a); }                        \
  __WT_DEVICE float __fsqrt_##suffix(float a) { return __nvvm_sqrt_##mode##_f(a); }                      \
  __WT_DEVICE double __dadd_##suffix(double a, double b) { return __nvvm_add_##mode##_d(a, b); }         \
  __WT_DEVICE double __dsub_##suffix(double a, double b) { return __nvvm_add_##mode##_d(a, -b); }        \
  __WT_DEVICE double __dmul_##suffix(double a, double b) { return __nvvm_mul_##mode##_d(a, b); }         \
  __WT_DEVICE double __fma_##suffix(double a, double b, double c) { return __nvvm_fma_##mode##_d(a, b, c); } \
  __WT_DEVICE double __ddiv_##suffix(double a, double b) { return __nvvm_div_##mode##_d(a, b); }         \
  __WT_DEVICE double __drcp_##suffix(double a) { return __nvvm_rcp_##mode##_d(a); }                      \
  __WT_DEVICE double __dsqrt_##suffix(double a) { return __nvvm_sqrt_##mode##_d(a); }
__WT_ROUNDED(rn, rn)
__WT_ROUNDED(rz, rz)
__WT_ROUNDED(rd, rm)
__WT_ROUNDED(ru, rp)
#undef __WT_ROUNDED

// The hardware's fast approximations.
__WT_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
// Rounded to nearest: the approximation of an argument between 1/2 and 2, and a step of Halley's method with its error.
__WT_DEVICE float __frsqrt_rn(float a) {
  const bool tiny = __builtin_fabsf(a) < 1.17549435e-38f;
  const float scaled = tiny ? a * 16777216.0f : a;
  const int bits = __nvvm_bitcast_f2i(scaled);
  if (static_cast<unsigned>(bits - 0x00800000) >= 0x7f000000u) return __nvvm_rsqrt_approx_ftz_f(scaled);
  const int mantissa = (bits & 0x00ffffff) | 0x3f000000;
  int exponents = mantissa - bits;  // twice those of the result
  exponents = tiny ? exponents + (24 << 23) : exponents;
  const float m = __nvvm_bitcast_i2f(mantissa);
  const float r = __nvvm_rsqrt_approx_ftz_f(m);
  const float square = __nvvm_mul_rn_f(r, r);
  const float square_low = __builtin_fmaf(r, r, -square);
  const float error = __builtin_fmaf(square_low, -m, __builtin_fmaf(square, -m, 1.0f));
  const float y = __builtin_fmaf(__builtin_fmaf(0.375f, error, 0.5f), r * error, r);
  return __nvvm_bitcast_i2f((exponents >> 1) + __nvvm_bitcast_f2i(y));
}
__WT_DEVICE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
__WT_DEVICE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
__WT_DEVICE float __tanf(float a) { return __fdividef(__sinf(a), __cosf(a)); }
__WT_DEVICE void __sincosf(float a, float* s, float* c) {
  *s = __sinf(a);
  *c = __cosf(a);
}
__WT_DEVICE float __expf(float a) { return __nvvm_ex2_approx_f(a * 1.4426950408889634f); }
__WT_DEVICE float __exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.3219280948873623f); }
__WT_DEVICE float __log2f(float a) { return __nvvm_lg2_approx_f(a); }
__WT_DEVICE float __logf(float a) { return __nvvm_lg2_approx_f(a) * 0.6931471805599453f; }
__WT_DEVICE float __log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.3010299956639812f; }
__WT_DEVICE float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
__WT_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
