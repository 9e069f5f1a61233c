#pragma once
#pragma clang system_header

// What the C++ library calls to throw, for its constexpr functions in device code: they end the kernel there.
namespace std {
#define __WT_THROWS(name, ...) \
  [[noreturn]] __attribute__((device, always_inline, nodebug)) inline void name(__VA_ARGS__) { __builtin_trap(); }
__WT_THROWS(__throw_bad_variant_access, const char*)
__WT_THROWS(__throw_bad_variant_access, bool)
__WT_THROWS(__throw_bad_optional_access)
__WT_THROWS(__throw_logic_error, const char*)
__WT_THROWS(__throw_length_error, const char*)
__WT_THROWS(__throw_out_of_range, const char*)
__WT_THROWS(__throw_out_of_range_fmt, const char*, ...)
__WT_THROWS(__throw_invalid_argument, const char*)
#undef __WT_THROWS
}

// The headers of C and C++ that nvcc's cuda_runtime.h includes, where the system has them.
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<type_traits>)
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>
#endif
