// A part of libcu++, NVIDIA's C++ library for device code, where it is not installed: the system's C++ library, whose
// constexpr functions device code may call, under the name cuda::std, and our own functions where that has others.
#pragma once
#pragma clang system_header

#include <cuda_runtime.h>
#if __has_include(<tuple>)
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#endif

namespace std {}
namespace cuda {
namespace std {

using namespace ::std;

#define __WT_FUNCTOR(name, expression)                                                               \
  template <class T = void> struct name {                                                            \
    __WT_MEMBER constexpr auto operator()(const T& a, const T& b) const { return expression; }       \
  };                                                                                                 \
  template <> struct name<void> {                                                                    \
    template <class A, class B> __WT_MEMBER constexpr auto operator()(const A& a, const B& b) const { \
      return expression;                                                                             \
    }                                                                                                \
  };
__WT_FUNCTOR(plus, a + b)
__WT_FUNCTOR(minus, a - b)
__WT_FUNCTOR(multiplies, a * b)
__WT_FUNCTOR(divides, a / b)
__WT_FUNCTOR(modulus, a % b)
__WT_FUNCTOR(equal_to, a == b)
__WT_FUNCTOR(not_equal_to, a != b)
__WT_FUNCTOR(less, a < b)
__WT_FUNCTOR(greater, a > b)
__WT_FUNCTOR(less_equal, a <= b)
__WT_FUNCTOR(greater_equal, a >= b)
__WT_FUNCTOR(logical_and, a && b)
__WT_FUNCTOR(logical_or, a || b)
__WT_FUNCTOR(bit_and, a & b)
__WT_FUNCTOR(bit_or, a | b)
__WT_FUNCTOR(bit_xor, a ^ b)
#undef __WT_FUNCTOR
template <class T = void> struct negate {
  __WT_MEMBER constexpr auto operator()(const T& a) const { return -a; }
};
template <> struct negate<void> {
  template <class A> __WT_MEMBER constexpr auto operator()(const A& a) const { return -a; }
};
struct identity {
  template <class A> __WT_MEMBER constexpr A&& operator()(A&& a) const { return static_cast<A&&>(a); }
};

template <class T> __WT_MEMBER constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __WT_MEMBER constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class Less> __WT_MEMBER constexpr const T& min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T, class Less> __WT_MEMBER constexpr const T& max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T> __WT_MEMBER constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}
template <class T> __WT_MEMBER constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
template <class It, class T> __WT_MEMBER constexpr It lower_bound(It begin, It end, const T& value) {
  auto count = end - begin;
  while (count > 0) {
    const auto half = count / 2;
    if (begin[half] < value) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}
template <class It, class T> __WT_MEMBER constexpr It upper_bound(It begin, It end, const T& value) {
  auto count = end - begin;
  while (count > 0) {
    const auto half = count / 2;
    if (!(value < begin[half])) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

// The functions of one argument that <cmath> has, on the device's own.
#define __WT_ONE(name)                                                          \
  __WT_DEVICE float name(float v) { return ::name##f(v); }                      \
  __WT_DEVICE double name(double v) { return ::name(v); }
__WT_ONE(sqrt)
__WT_ONE(exp)
__WT_ONE(exp2)
__WT_ONE(log)
__WT_ONE(log2)
__WT_ONE(log10)
__WT_ONE(log1p)
__WT_ONE(expm1)
__WT_ONE(sin)
__WT_ONE(cos)
__WT_ONE(tan)
__WT_ONE(tanh)
__WT_ONE(floor)
__WT_ONE(ceil)
__WT_ONE(trunc)
__WT_ONE(round)
#undef __WT_ONE

}  // namespace std
}  // namespace cuda
