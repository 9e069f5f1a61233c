// Matrix multiplication by a warp: the fragments and functions of CUDA's mma.h, by the wmma instructions.
#pragma once
#pragma clang system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}  // namespace precision

namespace experimental {
namespace precision {
using wmma::precision::b1;
using wmma::precision::s4;
using wmma::precision::u4;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment;

#if __CUDA_ARCH__ >= 700

namespace details {
template <class Layout> inline constexpr int layout_of = 0;
template <> inline constexpr int layout_of<col_major> = 1;
template <class T, int Count> struct elements {
  typedef T element_type;
  typedef T storage_element_type;
  static constexpr int num_elements = Count;
  static constexpr int num_storage_elements = Count;
  alignas(alignof(T) < 4 ? 4 : alignof(T)) T x[Count];
};
}  // namespace details

#define __WT_FRAGMENT(use, m, n, k, type, storage, count)                                              \
  template <class Layout> class fragment<use, m, n, k, type, Layout>                                   \
      : public details::elements<storage, count> {};
#define __WT_ACCUMULATOR(m, n, k, type, count) \
  template <> class fragment<accumulator, m, n, k, type, void> : public details::elements<type, count> {};
#define __WT_LOAD(use, side, m, n, k, type, pointee, builtin, raw)                                              \
  template <class Layout>                                                                                       \
  __WT_TARGET void load_matrix_sync(fragment<use, m, n, k, type, Layout>& a, const pointee* p, unsigned ldm) {  \
    builtin##_ld_##side(reinterpret_cast<raw*>(a.x), reinterpret_cast<const raw*>(p), ldm,                      \
                        details::layout_of<Layout>);                                                            \
  }
#define __WT_ACCUMULATE(m, n, k, type, load, store, raw)                                                        \
  __WT_TARGET void load_matrix_sync(fragment<accumulator, m, n, k, type>& c, const type* p, unsigned ldm,       \
                                    layout_t layout) {                                                          \
    if (layout == mem_row_major) load(reinterpret_cast<raw*>(c.x), reinterpret_cast<const raw*>(p), ldm, 0);    \
    else load(reinterpret_cast<raw*>(c.x), reinterpret_cast<const raw*>(p), ldm, 1);                            \
  }                                                                                                             \
  __WT_TARGET void store_matrix_sync(type* p, const fragment<accumulator, m, n, k, type>& c, unsigned ldm,      \
                                     layout_t layout) {                                                         \
    if (layout == mem_row_major) store(reinterpret_cast<raw*>(p), reinterpret_cast<const raw*>(c.x), ldm, 0);   \
    else store(reinterpret_cast<raw*>(p), reinterpret_cast<const raw*>(c.x), ldm, 1);                           \
  }
#define __WT_MULTIPLY(m, n, k, type, dtype, ctype, builtin, rawd, rawc)                                         \
  template <class A, class B>                                                                                   \
  __WT_TARGET void mma_sync(fragment<accumulator, m, n, k, dtype>& d, const fragment<matrix_a, m, n, k, type, A>& a, \
                            const fragment<matrix_b, m, n, k, type, B>& b,                                      \
                            const fragment<accumulator, m, n, k, ctype>& c, bool = false) {                     \
    builtin(reinterpret_cast<rawd*>(d.x), reinterpret_cast<const __WT_RAW*>(a.x),                               \
            reinterpret_cast<const __WT_RAW*>(b.x), reinterpret_cast<const rawc*>(c.x),                         \
            details::layout_of<A> * 2 + details::layout_of<B> __WT_SATURATE);                                   \
  }
#define __WT_RAW int
#define __WT_SATURATE , 0
#define __WT_SHAPE(m, n, k, shape)                                                                         \
  __WT_FRAGMENT(matrix_a, m, n, k, __half, __half, 16)                                                     \
  __WT_FRAGMENT(matrix_b, m, n, k, __half, __half, 16)                                                     \
  __WT_ACCUMULATOR(m, n, k, __half, 8)                                                                     \
  __WT_ACCUMULATOR(m, n, k, float, 8)                                                                      \
  __WT_LOAD(matrix_a, a, m, n, k, __half, __half, __hmma_##shape, int)                                     \
  __WT_LOAD(matrix_b, b, m, n, k, __half, __half, __hmma_##shape, int)                                     \
  __WT_ACCUMULATE(m, n, k, __half, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16, int)              \
  __WT_ACCUMULATE(m, n, k, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32, float)             \
  __WT_MULTIPLY(m, n, k, __half, float, float, __hmma_##shape##_mma_f32f32, float, float)                  \
  __WT_MULTIPLY(m, n, k, __half, __half, __half, __hmma_##shape##_mma_f16f16, int, int)                    \
  __WT_MULTIPLY(m, n, k, __half, float, __half, __hmma_##shape##_mma_f32f16, float, int)                   \
  __WT_MULTIPLY(m, n, k, __half, __half, float, __hmma_##shape##_mma_f16f32, int, float)
__WT_SHAPE(16, 16, 16, m16n16k16)
__WT_SHAPE(32, 8, 16, m32n8k16)
__WT_SHAPE(8, 32, 16, m8n32k16)
#undef __WT_SHAPE

#if __CUDA_ARCH__ >= 720
#define __WT_INTEGERS(m, n, k, shape, type, name, a_count, b_count)                                        \
  __WT_FRAGMENT(matrix_a, m, n, k, type, type, a_count)                                                    \
  __WT_FRAGMENT(matrix_b, m, n, k, type, type, b_count)                                                    \
  template <class Layout>                                                                                  \
  __WT_TARGET void load_matrix_sync(fragment<matrix_a, m, n, k, type, Layout>& a, const type* p, unsigned ldm) { \
    __imma_##shape##_ld_a_##name(reinterpret_cast<int*>(a.x), reinterpret_cast<const int*>(p), ldm,        \
                                 details::layout_of<Layout>);                                              \
  }                                                                                                        \
  template <class Layout>                                                                                  \
  __WT_TARGET void load_matrix_sync(fragment<matrix_b, m, n, k, type, Layout>& a, const type* p, unsigned ldm) { \
    __imma_##shape##_ld_b_##name(reinterpret_cast<int*>(a.x), reinterpret_cast<const int*>(p), ldm,        \
                                 details::layout_of<Layout>);                                              \
  }                                                                                                        \
  __WT_MULTIPLY(m, n, k, type, int, int, __imma_##shape##_mma_##name, int, int)
#define __WT_SHAPE(m, n, k, shape, a_count, b_count)                                                       \
  __WT_ACCUMULATOR(m, n, k, int, 8)                                                                        \
  __WT_ACCUMULATE(m, n, k, int, __imma_##shape##_ld_c, __imma_##shape##_st_c_i32, int)                     \
  __WT_INTEGERS(m, n, k, shape, signed char, s8, a_count, b_count)                                         \
  __WT_INTEGERS(m, n, k, shape, unsigned char, u8, a_count, b_count)
__WT_SHAPE(16, 16, 16, m16n16k16, 8, 8)
__WT_SHAPE(32, 8, 16, m32n8k16, 16, 4)
__WT_SHAPE(8, 32, 16, m8n32k16, 4, 16)
#undef __WT_SHAPE
#undef __WT_INTEGERS
#endif

#if __CUDA_ARCH__ >= 750
// Words of 4-bit numbers and of bits. `a` is always by rows and `b` by columns.
#define __WT_WORDS(k, type, builtin, shape, name)                                                               \
  template <> class fragment<matrix_a, 8, 8, k, type, row_major> : public details::elements<int, 1> {};         \
  template <> class fragment<matrix_b, 8, 8, k, type, col_major> : public details::elements<int, 1> {};         \
  __WT_TARGET void load_matrix_sync(fragment<matrix_a, 8, 8, k, type, row_major>& a, const void* p, unsigned ldm) { \
    builtin##_##shape##_ld_a_##name(a.x, static_cast<const int*>(p), ldm, 0);                                   \
  }                                                                                                             \
  __WT_TARGET void load_matrix_sync(fragment<matrix_b, 8, 8, k, type, col_major>& b, const void* p, unsigned ldm) { \
    builtin##_##shape##_ld_b_##name(b.x, static_cast<const int*>(p), ldm, 1);                                   \
  }                                                                                                             \
  template <> class fragment<accumulator, 8, 8, k, int, void> : public details::elements<int, 2> {};            \
  __WT_TARGET void load_matrix_sync(fragment<accumulator, 8, 8, k, int>& c, const int* p, unsigned ldm,         \
                                    layout_t layout) {                                                          \
    if (layout == mem_row_major) builtin##_##shape##_ld_c(c.x, p, ldm, 0);                                      \
    else builtin##_##shape##_ld_c(c.x, p, ldm, 1);                                                              \
  }                                                                                                             \
  __WT_TARGET void store_matrix_sync(int* p, const fragment<accumulator, 8, 8, k, int>& c, unsigned ldm,        \
                                     layout_t layout) {                                                         \
    if (layout == mem_row_major) builtin##_##shape##_st_c_i32(p, c.x, ldm, 0);                                  \
    else builtin##_##shape##_st_c_i32(p, c.x, ldm, 1);                                                          \
  }
#define __WT_WORDS_MULTIPLY(type, name)                                                                         \
  __WT_TARGET void mma_sync(fragment<accumulator, 8, 8, 32, int>& d,                                            \
                            const fragment<matrix_a, 8, 8, 32, type, row_major>& a,                             \
                            const fragment<matrix_b, 8, 8, 32, type, col_major>& b,                             \
                            const fragment<accumulator, 8, 8, 32, int>& c, bool = false) {                      \
    __imma_m8n8k32_mma_##name(d.x, a.x, b.x, c.x, 1, 0);                                                        \
  }
__WT_WORDS(32, precision::s4, __imma, m8n8k32, s4)
__WT_WORDS_MULTIPLY(precision::s4, s4)
#define __WT_UNSIGNED_WORDS                                                                                      \
  template <> class fragment<matrix_a, 8, 8, 32, precision::u4, row_major> : public details::elements<int, 1> {}; \
  template <> class fragment<matrix_b, 8, 8, 32, precision::u4, col_major> : public details::elements<int, 1> {}; \
  __WT_TARGET void load_matrix_sync(fragment<matrix_a, 8, 8, 32, precision::u4, row_major>& a, const void* p,    \
                                    unsigned ldm) {                                                              \
    __imma_m8n8k32_ld_a_u4(a.x, static_cast<const int*>(p), ldm, 0);                                             \
  }                                                                                                              \
  __WT_TARGET void load_matrix_sync(fragment<matrix_b, 8, 8, 32, precision::u4, col_major>& b, const void* p,    \
                                    unsigned ldm) {                                                              \
    __imma_m8n8k32_ld_b_u4(b.x, static_cast<const int*>(p), ldm, 1);                                             \
  }
__WT_UNSIGNED_WORDS
__WT_WORDS_MULTIPLY(precision::u4, u4)
#undef __WT_UNSIGNED_WORDS
__WT_WORDS(128, precision::b1, __bmma, m8n8k128, b1)
__WT_TARGET void bmma_sync(fragment<accumulator, 8, 8, 128, int>& d,
                           const fragment<matrix_a, 8, 8, 128, precision::b1, row_major>& a,
                           const fragment<matrix_b, 8, 8, 128, precision::b1, col_major>& b,
                           const fragment<accumulator, 8, 8, 128, int>& c,
                           experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                           experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if __CUDA_ARCH__ >= 800
  if (operation == experimental::bmmaBitOpAND) {
    __bmma_m8n8k128_mma_and_popc_b1(d.x, a.x, b.x, c.x, 1);
    return;
  }
#endif
  __bmma_m8n8k128_mma_xor_popc_b1(d.x, a.x, b.x, c.x, 1);
}
#undef __WT_WORDS
#undef __WT_WORDS_MULTIPLY
#endif

#if __CUDA_ARCH__ >= 800
#undef __WT_SATURATE
#define __WT_SATURATE , 0
#define __WT_SHAPE(m, n, k, shape, a_count, b_count)                                                       \
  __WT_FRAGMENT(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, a_count)                                  \
  __WT_FRAGMENT(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, b_count)                                  \
  __WT_LOAD(matrix_a, a, m, n, k, __nv_bfloat16, __nv_bfloat16, __mma_bf16_##shape, int)                   \
  __WT_LOAD(matrix_b, b, m, n, k, __nv_bfloat16, __nv_bfloat16, __mma_bf16_##shape, int)                   \
  __WT_MULTIPLY(m, n, k, __nv_bfloat16, float, float, __mma_bf16_##shape##_mma_f32, float, float)
__WT_SHAPE(16, 16, 16, m16n16k16, 8, 8)
__WT_SHAPE(32, 8, 16, m32n8k16, 16, 4)
__WT_SHAPE(8, 32, 16, m8n32k16, 4, 16)
#undef __WT_SHAPE
__WT_FRAGMENT(matrix_a, 16, 16, 8, precision::tf32, float, 4)
__WT_FRAGMENT(matrix_b, 16, 16, 8, precision::tf32, float, 4)
__WT_ACCUMULATOR(16, 16, 8, float, 8)
__WT_LOAD(matrix_a, a, 16, 16, 8, precision::tf32, float, __mma_tf32_m16n16k8, int)
__WT_LOAD(matrix_b, b, 16, 16, 8, precision::tf32, float, __mma_tf32_m16n16k8, int)
__WT_ACCUMULATE(16, 16, 8, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32, float)
__WT_MULTIPLY(16, 16, 8, precision::tf32, float, float, __mma_tf32_m16n16k8_mma_f32, float, float)
__WT_FRAGMENT(matrix_a, 8, 8, 4, double, double, 1)
__WT_FRAGMENT(matrix_b, 8, 8, 4, double, double, 1)
__WT_ACCUMULATOR(8, 8, 4, double, 2)
__WT_LOAD(matrix_a, a, 8, 8, 4, double, double, __dmma_m8n8k4, double)
__WT_LOAD(matrix_b, b, 8, 8, 4, double, double, __dmma_m8n8k4, double)
__WT_ACCUMULATE(8, 8, 4, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64, double)
#undef __WT_RAW
#define __WT_RAW double
__WT_MULTIPLY(8, 8, 4, double, double, double, __dmma_m8n8k4_mma_f64, double, double)
#endif

__WT_DEVICE float __float_to_tf32(float v) {
  float r;
  __asm__("{ .reg .b32 t; cvt.rna.tf32.f32 t, %1; mov.b32 %0, t; }" : "=f"(r) : "f"(v));
  return r;
}
template <class Use, int M, int N, int K, class T, class Layout, class V>
__WT_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& v) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = v;
}
#undef __WT_FRAGMENT
#undef __WT_ACCUMULATOR
#undef __WT_LOAD
#undef __WT_ACCUMULATE
#undef __WT_MULTIPLY
#undef __WT_RAW
#undef __WT_SATURATE

#endif

}  // namespace wmma
}  // namespace nvcuda
