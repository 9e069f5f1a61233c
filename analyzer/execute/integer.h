// What the handlers of integer instructions share: types, and the choice of a handler by name and type.
#pragma once

#include <span>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"

namespace warptime::execute {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
constexpr int width_in_bits = static_cast<int>(sizeof(T) * 8);

// What of a number fits the type.
template <class T>
constexpr T wrap(std::uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
constexpr std::uint64_t whole(T value) {
  return widen(value);
}

template <class F>
Handler unary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &unary<typename decltype(t)::type, F>; });
}
template <class F>
Handler binary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &binary<typename decltype(t)::type, F>; });
}
template <class F>
Handler ternary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &ternary<typename decltype(t)::type, F>; });
}

// One opcode: its name, how many operands it reads, and the choice of its handler; null: not executed with
// this type and these modifiers.
struct IntegerOp {
  std::string_view name;
  std::uint8_t sources;
  Handler (*choose)(const Words& words, Type type, DecodedInstruction& op);
};

// Chosen by the type alone, or by the type and the modifiers.
template <Handler (*choose)(Type)>
Handler by_type(const Words&, Type type, DecodedInstruction&) {
  return choose(type);
}
template <Handler (*choose)(const Words&, Type)>
Handler by_words(const Words& words, Type type, DecodedInstruction&) {
  return choose(words, type);
}

// By the line of `ops` that has the instruction's name. ops_integer.cc.
bool decode_by(std::span<const IntegerOp> ops, Decoder& decoder, const Words& words, DecodedInstruction& op);

}  // namespace warptime::execute
