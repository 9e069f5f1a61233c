// Words of an opcode, and the types among them.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warptime::execute {

enum class Type : std::uint8_t {
  none,
  pred,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  b8,
  b16,
  b32,
  b64,
  b128,
  f16,
  bf16,
  f32,
  f64,
  tf32,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  f32x2,
  e4m3x2,
  e5m2x2,
};

Type type_of(std::string_view word);  // none: no type
int bits_of(Type type);               // pred: 1
inline int bytes_of(Type type) {
  return bits_of(type) / 8;
}
bool is_float(Type type);  // f16 … f64, and the pairs of them
bool is_signed(Type type);

// add.rn.ftz.f32: the parts between the dots.
struct Words {
  explicit Words(std::string_view opcode);
  std::string_view operator[](std::size_t i) const {
    return i < parts.size() ? parts[i] : std::string_view();
  }
  bool has(std::string_view word) const;
  // The i-th type among the parts.
  Type type(std::size_t i = 0) const { return i < types.size() ? types[i] : Type::none; }
  Type last_type() const { return types.empty() ? Type::none : types.back(); }

  std::string_view opcode;
  std::vector<std::string_view> parts;
  std::vector<Type> types;
};

// Calls pick(std::type_identity<T>) with the C++ integer of `type`; b types are unsigned. Gives a
// default-made result for other types.
template <class Pick>
auto for_integer(Type type, Pick&& pick) -> decltype(pick(std::type_identity<std::uint32_t>{})) {
  switch (type) {
    case Type::u8:
    case Type::b8:
      return pick(std::type_identity<std::uint8_t>{});
    case Type::u16:
    case Type::b16:
      return pick(std::type_identity<std::uint16_t>{});
    case Type::u32:
    case Type::b32:
      return pick(std::type_identity<std::uint32_t>{});
    case Type::u64:
    case Type::b64:
      return pick(std::type_identity<std::uint64_t>{});
    case Type::s8:
      return pick(std::type_identity<std::int8_t>{});
    case Type::s16:
      return pick(std::type_identity<std::int16_t>{});
    case Type::s32:
      return pick(std::type_identity<std::int32_t>{});
    case Type::s64:
      return pick(std::type_identity<std::int64_t>{});
    default:
      return {};
  }
}

}  // namespace warptime::execute
