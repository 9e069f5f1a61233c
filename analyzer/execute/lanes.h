// Handlers of instructions that do the same in every lane. F::of is the operation; T the type of the sources,
// R that of the result.
#pragma once

#include "analyzer/execute/warp.h"

namespace warptime::execute {

template <class T, class F>
void unary(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = widen(F::of(narrow<T>(a[i]))); });
}

template <class T, class F>
void binary(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  const auto* b = warp.at(op.b);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = widen(F::of(narrow<T>(a[i]), narrow<T>(b[i]))); });
}

// The last source is of type U: the sum of mul.wide, the count of a shift.
template <class T, class F, class U = T>
void ternary(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  const auto* b = warp.at(op.b);
  const auto* c = warp.at(op.c);
  auto* d = warp.out(op.d);
  each(mask,
       [&](std::uint32_t i) { d[i] = widen(F::of(narrow<T>(a[i]), narrow<T>(b[i]), narrow<U>(c[i]))); });
}

}  // namespace warptime::execute
