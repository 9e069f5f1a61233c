#pragma once
#pragma clang system_header

// Arithmetic on two halves or four bytes of a word: on all lanes at once, in integer instructions, but for the absolute difference
// of bytes, which is one, and pairs for sm_90a.
// Sums and differences of all lanes at once: the top bits apart, so that nothing carries over.
#define __WT_SUMS(lanes, top)                                                                             \
  __WT_DEVICE unsigned __vsub##lanes(unsigned a, unsigned b) { return ((a | top) - (b & ~top)) ^ ((a ^ ~b) & top); } \
  __WT_DEVICE unsigned __vneg##lanes(unsigned a) { return __vsub##lanes(0, a); }
__WT_DEVICE unsigned __vadd4(unsigned a, unsigned b) { return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u); }
__WT_SUMS(2, 0x80008000u)
__WT_SUMS(4, 0x80808080u)
#undef __WT_SUMS
// The sign of each lane, in all of its bits.
__WT_DEVICE unsigned __wt_signs4(unsigned v) { return __nvvm_prmt(v, 0, 0xba98); }
__WT_DEVICE unsigned __wt_signs2(unsigned v) { return __nvvm_prmt(v, 0, 0xbb99); }
// Each bit that two of three have at least.
__WT_TARGET unsigned __wt_majority(unsigned a, unsigned b, unsigned c) {
#if __CUDA_ARCH__ >= 500
  unsigned r;
  __asm__("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
#else
  return (a & b) | (c & (a ^ b));
#endif
}
__WT_DEVICE unsigned __wt_choose(unsigned mask, unsigned yes, unsigned no) { return (yes & mask) | (no & ~mask); }
// In the top bit of each lane: whether a > b, as the carry of a + ~b; and whether they are equal.
#define __WT_TESTS(lanes, top)                                                                          \
  __WT_DEVICE unsigned __wt_above##lanes(unsigned a, unsigned b) {                                      \
    return __wt_majority(a, ~b, (a & ~top) + (~b & ~top));                                              \
  }                                                                                                     \
  __WT_DEVICE unsigned __wt_above_signed##lanes(unsigned a, unsigned b) {                               \
    return __wt_majority(~a, b, (a & ~top) + (~b & ~top));                                              \
  }                                                                                                     \
  __WT_DEVICE unsigned __wt_equal##lanes(unsigned a, unsigned b) {                                      \
    const unsigned d = a ^ b;                                                                           \
    return ~(((d & ~top) + ~top) | d);                                                                  \
  }
__WT_TESTS(2, 0x80008000u)
__WT_TESTS(4, 0x80808080u)
#undef __WT_TESTS
#define __WT_DIFFERENCES(lanes)                                                                         \
  __WT_DEVICE unsigned __vabsdiffu##lanes(unsigned a, unsigned b) {                                     \
    unsigned r;                                                                                         \
    __asm__("vabsdiff" #lanes ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));       \
    return r;                                                                                           \
  }                                                                                                     \
  __WT_DEVICE unsigned __vsadu##lanes(unsigned a, unsigned b) {                                         \
    unsigned r;                                                                                         \
    __asm__("vabsdiff" #lanes ".u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));   \
    return r;                                                                                           \
  }
__WT_DIFFERENCES(4)
#undef __WT_DIFFERENCES
// A comparison by the top bits of `test`: all bits of the lane, or its lowest.
#define __WT_COMPARE(name, lanes, top, down, test)                                                      \
  __WT_DEVICE unsigned __vcmp##name##lanes(unsigned a, unsigned b) { return __wt_signs##lanes(test); }  \
  __WT_DEVICE unsigned __vset##name##lanes(unsigned a, unsigned b) { return (test & top) >> down; }
#define __WT_ALL(lanes, top, low, down)                                                                 \
  __WT_COMPARE(eq, lanes, top, down, __wt_equal##lanes(a, b))                                           \
  __WT_COMPARE(ne, lanes, top, down, ~__wt_equal##lanes(a, b))                                          \
  __WT_COMPARE(gtu, lanes, top, down, __wt_above##lanes(a, b))                                          \
  __WT_COMPARE(ltu, lanes, top, down, __wt_above##lanes(b, a))                                          \
  __WT_COMPARE(geu, lanes, top, down, ~__wt_above##lanes(b, a))                                         \
  __WT_COMPARE(leu, lanes, top, down, ~__wt_above##lanes(a, b))                                         \
  __WT_COMPARE(gts, lanes, top, down, __wt_above_signed##lanes(a, b))                                   \
  __WT_COMPARE(lts, lanes, top, down, __wt_above_signed##lanes(b, a))                                   \
  __WT_COMPARE(ges, lanes, top, down, ~__wt_above_signed##lanes(b, a))                                  \
  __WT_COMPARE(les, lanes, top, down, ~__wt_above_signed##lanes(a, b))                                  \
  __WT_DEVICE unsigned __vavgu##lanes(unsigned a, unsigned b) { return (a | b) - (((a ^ b) & ~low) >> 1); } \
  __WT_DEVICE unsigned __vhaddu##lanes(unsigned a, unsigned b) { return (a & b) + (((a ^ b) & ~low) >> 1); } \
  __WT_DEVICE unsigned __vavgs##lanes(unsigned a, unsigned b) { return __vavgu##lanes(a ^ top, b ^ top) ^ top; } \
  __WT_DEVICE unsigned __vabsdiffs##lanes(unsigned a, unsigned b) { return __vabsdiffu##lanes(a ^ top, b ^ top); } \
  __WT_DEVICE unsigned __vsads##lanes(unsigned a, unsigned b) { return __vsadu##lanes(a ^ top, b ^ top); } \
  __WT_DEVICE unsigned __vabs##lanes(unsigned a) { return __vabsdiffu##lanes(a ^ top, top); }           \
  __WT_DEVICE unsigned __vabsss##lanes(unsigned a) {                                                    \
    const unsigned r = __vabs##lanes(a);                                                                \
    return r - ((r & top) >> down);                                                                     \
  }                                                                                                     \
  __WT_DEVICE unsigned __vaddus##lanes(unsigned a, unsigned b) {                                        \
    const unsigned t = (a & ~top) + (b & ~top);                                                         \
    return (t ^ ((a ^ b) & top)) | __wt_signs##lanes(__wt_majority(a, b, t));                           \
  }                                                                                                     \
  __WT_DEVICE unsigned __vsubus##lanes(unsigned a, unsigned b) {                                        \
    return __vsub##lanes(a, b) & ~__wt_signs##lanes(__wt_above##lanes(b, a));                           \
  }                                                                                                     \
  __WT_DEVICE unsigned __vaddss##lanes(unsigned a, unsigned b) {                                        \
    const unsigned r = __vadd##lanes(a, b);                                                             \
    return __wt_choose(__wt_signs##lanes(~(a ^ b) & (a ^ r)), __wt_signs##lanes(a) ^ ~top, r);          \
  }                                                                                                     \
  __WT_DEVICE unsigned __vsubss##lanes(unsigned a, unsigned b) {                                        \
    const unsigned r = __vsub##lanes(a, b);                                                             \
    return __wt_choose(__wt_signs##lanes((a ^ b) & (a ^ r)), __wt_signs##lanes(a) ^ ~top, r);           \
  }                                                                                                     \
  __WT_DEVICE unsigned __vnegss##lanes(unsigned a) { return __vsubss##lanes(0, a); }
#define __WT_EXTREMES(lanes)                                                                            \
  __WT_DEVICE unsigned __vmaxu##lanes(unsigned a, unsigned b) { return __wt_choose(__wt_signs##lanes(__wt_above##lanes(a, b)), a, b); } \
  __WT_DEVICE unsigned __vminu##lanes(unsigned a, unsigned b) { return __wt_choose(__wt_signs##lanes(__wt_above##lanes(b, a)), a, b); } \
  __WT_DEVICE unsigned __vmaxs##lanes(unsigned a, unsigned b) { return __wt_choose(__wt_signs##lanes(__wt_above_signed##lanes(a, b)), a, b); } \
  __WT_DEVICE unsigned __vmins##lanes(unsigned a, unsigned b) { return __wt_choose(__wt_signs##lanes(__wt_above_signed##lanes(b, a)), a, b); }
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)  // instructions for pairs; they need PTX 8.0, and sm_90 is compiled to 7.8
#define __WT_PAIRS(name, instruction)                                                                   \
  __WT_TARGET unsigned name(unsigned a, unsigned b) {                                                   \
    unsigned r;                                                                                         \
    __asm__(instruction "x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                   \
    return r;                                                                                           \
  }
__WT_PAIRS(__vadd2, "add.u16")
__WT_PAIRS(__vmaxu2, "max.u16")
__WT_PAIRS(__vminu2, "min.u16")
__WT_PAIRS(__vmaxs2, "max.s16")
__WT_PAIRS(__vmins2, "min.s16")
#undef __WT_PAIRS
#else
__WT_TARGET unsigned __vadd2(unsigned a, unsigned b) { return ((a & 0x7fff7fffu) + (b & 0x7fff7fffu)) ^ ((a ^ b) & 0x80008000u); }
__WT_EXTREMES(2)
#endif
__WT_EXTREMES(4)
__WT_DEVICE unsigned __vabsdiffu2(unsigned a, unsigned b) { return __vsub2(__vmaxu2(a, b), __vminu2(a, b)); }
__WT_DEVICE unsigned __vsadu2(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffu2(a, b);
  return (d & 65535u) + (d >> 16);
}
__WT_ALL(2, 0x80008000u, 0x00010001u, 15)
__WT_ALL(4, 0x80808080u, 0x01010101u, 7)
#undef __WT_ALL
#undef __WT_COMPARE
#undef __WT_EXTREMES

// The largest and smallest of sums and of three: what the DPX instructions do in one.
#define __WT_DPX(type, suffix)                                                                                                    \
  __WT_DEVICE type __viaddmax_##suffix(type a, type b, type c) { return a + b > c ? a + b : c; }                                  \
  __WT_DEVICE type __viaddmin_##suffix(type a, type b, type c) { return a + b < c ? a + b : c; }                                  \
  __WT_DEVICE type __vimax3_##suffix(type a, type b, type c) { const type m = a > b ? a : b; return m > c ? m : c; }              \
  __WT_DEVICE type __vimin3_##suffix(type a, type b, type c) { const type m = a < b ? a : b; return m < c ? m : c; }              \
  __WT_DEVICE type __vibmax_##suffix(type a, type b, bool* first) { *first = a >= b; return a >= b ? a : b; }                     \
  __WT_DEVICE type __vibmin_##suffix(type a, type b, bool* first) { *first = a <= b; return a <= b ? a : b; }
__WT_DPX(int, s32)
__WT_DPX(unsigned, u32)
#undef __WT_DPX
__WT_DEVICE int __vimax_s32_relu(int a, int b) { const int m = a > b ? a : b; return m > 0 ? m : 0; }
__WT_DEVICE int __vimin_s32_relu(int a, int b) { const int m = a < b ? a : b; return m > 0 ? m : 0; }
__WT_DEVICE int __vimax3_s32_relu(int a, int b, int c) { const int m = __vimax3_s32(a, b, c); return m > 0 ? m : 0; }
__WT_DEVICE int __vimin3_s32_relu(int a, int b, int c) { const int m = __vimin3_s32(a, b, c); return m > 0 ? m : 0; }
__WT_DEVICE int __viaddmax_s32_relu(int a, int b, int c) { const int m = __viaddmax_s32(a, b, c); return m > 0 ? m : 0; }
__WT_DEVICE int __viaddmin_s32_relu(int a, int b, int c) { const int m = __viaddmin_s32(a, b, c); return m > 0 ? m : 0; }
#define __WT_DPX(suffix, lane)                                                                                                             \
  __WT_DEVICE unsigned __viaddmax_##suffix(unsigned a, unsigned b, unsigned c) { return __vmax##lane##2(__vadd2(a, b), c); }              \
  __WT_DEVICE unsigned __viaddmin_##suffix(unsigned a, unsigned b, unsigned c) { return __vmin##lane##2(__vadd2(a, b), c); }              \
  __WT_DEVICE unsigned __vimax3_##suffix(unsigned a, unsigned b, unsigned c) { return __vmax##lane##2(__vmax##lane##2(a, b), c); }        \
  __WT_DEVICE unsigned __vimin3_##suffix(unsigned a, unsigned b, unsigned c) { return __vmin##lane##2(__vmin##lane##2(a, b), c); }
__WT_DPX(s16x2, s)
__WT_DPX(u16x2, u)
#undef __WT_DPX
__WT_DEVICE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmaxs2(a, b), 0); }
__WT_DEVICE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmins2(a, b), 0); }
__WT_DEVICE unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__viaddmax_s16x2(a, b, c), 0); }
__WT_DEVICE unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__viaddmin_s16x2(a, b, c), 0); }
__WT_DEVICE unsigned __vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__vimax3_s16x2(a, b, c), 0); }
__WT_DEVICE unsigned __vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__vimin3_s16x2(a, b, c), 0); }
