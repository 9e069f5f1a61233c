#pragma once
#pragma clang system_header

// `scope` is how an atomic is spelled in PTX and CUDA: nothing (the device), _block (cta) or _system (sys).
#define __WT_ATOMIC(attributes, name, builtin, type, as)                                           \
  attributes type name(type* p, type v) {                                                          \
    return static_cast<type>(builtin(reinterpret_cast<as*>(p), static_cast<as>(v)));               \
  }
#define __WT_ATOMICS(attributes, suffix, prefix)                                                                \
  __WT_ATOMIC(attributes, atomicAdd##suffix, prefix##add_gen_i, int, int)                                       \
  __WT_ATOMIC(attributes, atomicAdd##suffix, prefix##add_gen_i, unsigned, int)                                  \
  __WT_ATOMIC(attributes, atomicAdd##suffix, prefix##add_gen_ll, unsigned long long, long long)                 \
  __WT_ATOMIC(attributes, atomicAdd##suffix, prefix##add_gen_f, float, float)                                   \
  __WT_ATOMIC(attributes, atomicExch##suffix, prefix##xchg_gen_i, int, int)                                     \
  __WT_ATOMIC(attributes, atomicExch##suffix, prefix##xchg_gen_i, unsigned, int)                                \
  __WT_ATOMIC(attributes, atomicExch##suffix, prefix##xchg_gen_ll, unsigned long long, long long)               \
  __WT_ATOMIC(attributes, atomicMin##suffix, prefix##min_gen_i, int, int)                                       \
  __WT_ATOMIC(attributes, atomicMin##suffix, prefix##min_gen_ui, unsigned, unsigned)                            \
  __WT_ATOMIC(attributes, atomicMin##suffix, prefix##min_gen_ll, long long, long long)                          \
  __WT_ATOMIC(attributes, atomicMin##suffix, prefix##min_gen_ull, unsigned long long, unsigned long long)       \
  __WT_ATOMIC(attributes, atomicMax##suffix, prefix##max_gen_i, int, int)                                       \
  __WT_ATOMIC(attributes, atomicMax##suffix, prefix##max_gen_ui, unsigned, unsigned)                            \
  __WT_ATOMIC(attributes, atomicMax##suffix, prefix##max_gen_ll, long long, long long)                          \
  __WT_ATOMIC(attributes, atomicMax##suffix, prefix##max_gen_ull, unsigned long long, unsigned long long)       \
  __WT_ATOMIC(attributes, atomicInc##suffix, prefix##inc_gen_ui, unsigned, unsigned)                            \
  __WT_ATOMIC(attributes, atomicDec##suffix, prefix##dec_gen_ui, unsigned, unsigned)                            \
  __WT_ATOMIC_BITS(attributes, atomicAnd##suffix, prefix##and_gen)                                              \
  __WT_ATOMIC_BITS(attributes, atomicOr##suffix, prefix##or_gen)                                                \
  __WT_ATOMIC_BITS(attributes, atomicXor##suffix, prefix##xor_gen)                                              \
  attributes float atomicExch##suffix(float* p, float v) {                                                      \
    return __builtin_bit_cast(float, atomicExch##suffix(reinterpret_cast<int*>(p), __builtin_bit_cast(int, v))); \
  }                                                                                                             \
  attributes int atomicSub##suffix(int* p, int v) { return atomicAdd##suffix(p, static_cast<int>(0u - static_cast<unsigned>(v))); } \
  attributes unsigned atomicSub##suffix(unsigned* p, unsigned v) { return atomicAdd##suffix(p, 0u - v); }       \
  attributes int atomicCAS##suffix(int* p, int expected, int v) { return prefix##cas_gen_i(p, expected, v); }   \
  attributes unsigned atomicCAS##suffix(unsigned* p, unsigned expected, unsigned v) {                           \
    return static_cast<unsigned>(prefix##cas_gen_i(reinterpret_cast<int*>(p), static_cast<int>(expected), static_cast<int>(v))); \
  }                                                                                                             \
  attributes unsigned long long atomicCAS##suffix(unsigned long long* p, unsigned long long expected,           \
                                                  unsigned long long v) {                                       \
    return static_cast<unsigned long long>(prefix##cas_gen_ll(                                                  \
        reinterpret_cast<long long*>(p), static_cast<long long>(expected), static_cast<long long>(v)));         \
  }
#define __WT_ATOMIC_BITS(attributes, name, builtin)                                                \
  __WT_ATOMIC(attributes, name, builtin##_i, int, int)                                             \
  __WT_ATOMIC(attributes, name, builtin##_i, unsigned, int)                                        \
  __WT_ATOMIC(attributes, name, builtin##_ll, unsigned long long, long long)

__WT_ATOMICS(__WT_DEVICE, , __nvvm_atom_)
#if __CUDA_ARCH__ >= 600
__WT_ATOMICS(__WT_TARGET, _block, __nvvm_atom_cta_)
__WT_ATOMICS(__WT_TARGET, _system, __nvvm_atom_sys_)
__WT_ATOMIC(__WT_TARGET, atomicAdd, __nvvm_atom_add_gen_d, double, double)
__WT_ATOMIC(__WT_TARGET, atomicAdd_block, __nvvm_atom_cta_add_gen_d, double, double)
__WT_ATOMIC(__WT_TARGET, atomicAdd_system, __nvvm_atom_sys_add_gen_d, double, double)
#endif
#undef __WT_ATOMIC
#undef __WT_ATOMIC_BITS
#undef __WT_ATOMICS
