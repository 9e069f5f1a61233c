#pragma once
#pragma clang system_header

// Barriers, fences, votes and shuffles. __syncthreads is one of clang's builtins.
__WT_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p != 0); }
__WT_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p != 0); }
__WT_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p != 0); }
__WT_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

__WT_DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
__WT_DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
__WT_DEVICE int __uni_sync(unsigned mask, int p) { return __nvvm_vote_uni_sync(mask, p != 0); }
__WT_DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }
__WT_DEVICE unsigned __activemask() { return __nvvm_activemask(); }

// The third operand of shfl packs the lanes of a segment: its width in bits 8 to 12 and where to clamp in bits 0 to 4.
#define __WT_SHUFFLE(name, instruction, offset_type, clamp)                                                    \
  __WT_DEVICE int name(unsigned mask, int v, offset_type offset, int width = warpSize) {                       \
    return __nvvm_shfl_sync_##instruction##_i32(mask, v, static_cast<int>(offset), ((32 - width) << 8) | clamp); \
  }                                                                                                            \
  __WT_DEVICE float name(unsigned mask, float v, offset_type offset, int width = warpSize) {                   \
    return __nvvm_shfl_sync_##instruction##_f32(mask, v, static_cast<int>(offset), ((32 - width) << 8) | clamp); \
  }                                                                                                            \
  __WT_DEVICE unsigned name(unsigned mask, unsigned v, offset_type offset, int width = warpSize) {             \
    return static_cast<unsigned>(name(mask, static_cast<int>(v), offset, width));                              \
  }                                                                                                            \
  __WT_DEVICE unsigned long long name(unsigned mask, unsigned long long v, offset_type offset, int width = warpSize) { \
    const unsigned low = name(mask, static_cast<unsigned>(v), offset, width);                                  \
    const unsigned high = name(mask, static_cast<unsigned>(v >> 32), offset, width);                           \
    return static_cast<unsigned long long>(high) << 32 | low;                                                  \
  }                                                                                                            \
  __WT_DEVICE long long name(unsigned mask, long long v, offset_type offset, int width = warpSize) {           \
    return static_cast<long long>(name(mask, static_cast<unsigned long long>(v), offset, width));              \
  }                                                                                                            \
  __WT_DEVICE long name(unsigned mask, long v, offset_type offset, int width = warpSize) {                     \
    return static_cast<long>(name(mask, static_cast<unsigned long long>(v), offset, width));                   \
  }                                                                                                            \
  __WT_DEVICE unsigned long name(unsigned mask, unsigned long v, offset_type offset, int width = warpSize) {   \
    return static_cast<unsigned long>(name(mask, static_cast<unsigned long long>(v), offset, width));          \
  }                                                                                                            \
  __WT_DEVICE double name(unsigned mask, double v, offset_type offset, int width = warpSize) {                 \
    return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, v), offset, width));   \
  }
__WT_SHUFFLE(__shfl_sync, idx, int, 0x1f)
__WT_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
__WT_SHUFFLE(__shfl_down_sync, down, unsigned, 0x1f)
__WT_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef __WT_SHUFFLE

#if __CUDA_ARCH__ >= 700
__WT_TARGET unsigned __match_any_sync(unsigned mask, unsigned v) { return __nvvm_match_any_sync_i32(mask, v); }
__WT_TARGET unsigned __match_any_sync(unsigned mask, int v) {
  return __nvvm_match_any_sync_i32(mask, static_cast<unsigned>(v));
}
__WT_TARGET unsigned __match_any_sync(unsigned mask, unsigned long long v) {
  return __nvvm_match_any_sync_i64(mask, static_cast<long long>(v));
}
__WT_TARGET unsigned __match_any_sync(unsigned mask, long long v) { return __nvvm_match_any_sync_i64(mask, v); }
__WT_TARGET unsigned __match_any_sync(unsigned mask, float v) {
  return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned, v));
}
__WT_TARGET unsigned __match_all_sync(unsigned mask, unsigned v, int* all) {
  return __nvvm_match_all_sync_i32p(mask, v, all);
}
__WT_TARGET unsigned __match_all_sync(unsigned mask, int v, int* all) {
  return __nvvm_match_all_sync_i32p(mask, static_cast<unsigned>(v), all);
}
__WT_TARGET unsigned __match_all_sync(unsigned mask, unsigned long long v, int* all) {
  return __nvvm_match_all_sync_i64p(mask, static_cast<long long>(v), all);
}
__WT_TARGET unsigned __match_all_sync(unsigned mask, long long v, int* all) {
  return __nvvm_match_all_sync_i64p(mask, v, all);
}
__WT_TARGET void __nanosleep(unsigned ns) { __nvvm_nanosleep(ns); }
#else
// Before Volta the lanes of a warp run in step, and the shuffles without a mask were the usual ones.
#define __WT_SHUFFLE(name)                                                                                                                        \
  template <class T, class Offset> __WT_TARGET T name(T v, Offset offset, int width = warpSize) { return name##_sync(0xffffffffu, v, offset, width); }
__WT_SHUFFLE(__shfl)
__WT_SHUFFLE(__shfl_up)
__WT_SHUFFLE(__shfl_down)
__WT_SHUFFLE(__shfl_xor)
#undef __WT_SHUFFLE
__WT_TARGET int __all(int p) { return __all_sync(0xffffffffu, p); }
__WT_TARGET int __any(int p) { return __any_sync(0xffffffffu, p); }
__WT_TARGET unsigned __ballot(int p) { return __ballot_sync(0xffffffffu, p); }
#endif

#if __CUDA_ARCH__ >= 800
__WT_TARGET unsigned __reduce_add_sync(unsigned mask, unsigned v) {
  return static_cast<unsigned>(__nvvm_redux_sync_add(static_cast<int>(v), static_cast<int>(mask)));
}
__WT_TARGET int __reduce_add_sync(unsigned mask, int v) { return __nvvm_redux_sync_add(v, static_cast<int>(mask)); }
__WT_TARGET int __reduce_min_sync(unsigned mask, int v) { return __nvvm_redux_sync_min(v, static_cast<int>(mask)); }
__WT_TARGET int __reduce_max_sync(unsigned mask, int v) { return __nvvm_redux_sync_max(v, static_cast<int>(mask)); }
__WT_TARGET unsigned __reduce_min_sync(unsigned mask, unsigned v) {
  return __nvvm_redux_sync_umin(v, static_cast<int>(mask));
}
__WT_TARGET unsigned __reduce_max_sync(unsigned mask, unsigned v) {
  return __nvvm_redux_sync_umax(v, static_cast<int>(mask));
}
__WT_TARGET unsigned __reduce_and_sync(unsigned mask, unsigned v) {
  return static_cast<unsigned>(__nvvm_redux_sync_and(static_cast<int>(v), static_cast<int>(mask)));
}
__WT_TARGET unsigned __reduce_or_sync(unsigned mask, unsigned v) {
  return static_cast<unsigned>(__nvvm_redux_sync_or(static_cast<int>(v), static_cast<int>(mask)));
}
__WT_TARGET unsigned __reduce_xor_sync(unsigned mask, unsigned v) {
  return static_cast<unsigned>(__nvvm_redux_sync_xor(static_cast<int>(v), static_cast<int>(mask)));
}
#endif

__WT_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
__WT_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__WT_DEVICE unsigned long long globaltimer() { return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_globaltimer()); }
__WT_DEVICE void __trap() { __builtin_trap(); }
__WT_DEVICE void __brkpt() { __asm__ __volatile__("brkpt;"); }
__WT_DEVICE void __prof_trigger(int) {}
