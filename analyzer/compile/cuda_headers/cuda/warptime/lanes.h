#pragma once
#pragma clang system_header

// Arithmetic on two halves or four bytes of a word, in software as nvcc has it for targets since Maxwell.
template <int Bits, class Lane, class Operation> __WT_DEVICE unsigned __wt_lanes(unsigned a, unsigned b, Operation operation) {
  unsigned r = 0;
  constexpr unsigned mask = (1u << Bits) - 1;
#pragma unroll
  for (int at = 0; at < 32; at += Bits)
    r |= (static_cast<unsigned>(operation(static_cast<int>(static_cast<Lane>(a >> at)), static_cast<int>(static_cast<Lane>(b >> at)))) & mask) << at;
  return r;
}
__WT_DEVICE int __wt_clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
// Sums and differences of all lanes at once: the top bits apart, so that nothing carries over.
#define __WT_SUMS(lanes, top)                                                                             \
  __WT_DEVICE unsigned __vadd##lanes(unsigned a, unsigned b) { return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top); } \
  __WT_DEVICE unsigned __vsub##lanes(unsigned a, unsigned b) { return ((a | top) - (b & ~top)) ^ ((a ^ ~b) & top); } \
  __WT_DEVICE unsigned __vneg##lanes(unsigned a) { return __vsub##lanes(0, a); }
__WT_SUMS(2, 0x80008000u)
__WT_SUMS(4, 0x80808080u)
#undef __WT_SUMS
#define __WT_LANES(name, bits, lane, expression) \
  __WT_DEVICE unsigned name(unsigned u, unsigned v) { return __wt_lanes<bits, lane>(u, v, [](int a, int b) { return expression; }); }
#define __WT_ALL(lanes, bits, s, u, smin, smax, umax)                                \
  __WT_LANES(__vaddss##lanes, bits, s, __wt_clamp(a + b, smin, smax))                \
  __WT_LANES(__vaddus##lanes, bits, u, __wt_clamp(a + b, 0, umax))                   \
  __WT_LANES(__vsubss##lanes, bits, s, __wt_clamp(a - b, smin, smax))                \
  __WT_LANES(__vsubus##lanes, bits, u, __wt_clamp(a - b, 0, umax))                   \
  __WT_LANES(__vmaxs##lanes, bits, s, a > b ? a : b)                                 \
  __WT_LANES(__vmins##lanes, bits, s, a < b ? a : b)                                 \
  __WT_LANES(__vmaxu##lanes, bits, u, a > b ? a : b)                                 \
  __WT_LANES(__vminu##lanes, bits, u, a < b ? a : b)                                 \
  __WT_LANES(__vabsdiffu##lanes, bits, u, a > b ? a - b : b - a)                     \
  __WT_LANES(__vabsdiffs##lanes, bits, s, a > b ? a - b : b - a)                     \
  __WT_LANES(__vavgu##lanes, bits, u, (a + b + 1) >> 1)                              \
  __WT_LANES(__vhaddu##lanes, bits, u, (a + b) >> 1)                                 \
  __WT_COMPARE(eq, lanes, bits, u, ==)                                               \
  __WT_COMPARE(ne, lanes, bits, u, !=)                                               \
  __WT_COMPARE(ltu, lanes, bits, u, <)                                               \
  __WT_COMPARE(leu, lanes, bits, u, <=)                                              \
  __WT_COMPARE(gtu, lanes, bits, u, >)                                               \
  __WT_COMPARE(geu, lanes, bits, u, >=)                                              \
  __WT_COMPARE(lts, lanes, bits, s, <)                                               \
  __WT_COMPARE(les, lanes, bits, s, <=)                                              \
  __WT_COMPARE(gts, lanes, bits, s, >)                                               \
  __WT_COMPARE(ges, lanes, bits, s, >=)                                              \
  __WT_DEVICE unsigned __vabs##lanes(unsigned v) { return __wt_lanes<bits, s>(v, 0, [](int a, int) { return a < 0 ? -a : a; }); }
#define __WT_COMPARE(name, lanes, bits, type, relation)                    \
  __WT_LANES(__vcmp##name##lanes, bits, type, a relation b ? -1 : 0)       \
  __WT_LANES(__vset##name##lanes, bits, type, a relation b ? 1 : 0)
__WT_ALL(2, 16, short, unsigned short, -32768, 32767, 65535)
__WT_ALL(4, 8, signed char, unsigned char, -128, 127, 255)
#undef __WT_ALL
#undef __WT_LANES
#undef __WT_COMPARE
__WT_DEVICE unsigned __vsadu4(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffu4(a, b);
  return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
}
__WT_DEVICE unsigned __vsadu2(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffu2(a, b);
  return (d & 65535) + (d >> 16);
}
