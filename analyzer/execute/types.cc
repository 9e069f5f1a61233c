#include "analyzer/execute/types.h"

#include <algorithm>
#include <array>
#include <utility>

namespace warptime::execute {
namespace {

struct Known {
  std::string_view word;
  Type type;
  int bits;
};

constexpr std::array<Known, 26> known = {{
    {"pred", Type::pred, 1},      {"u8", Type::u8, 8},          {"u16", Type::u16, 16},
    {"u32", Type::u32, 32},       {"u64", Type::u64, 64},       {"s8", Type::s8, 8},
    {"s16", Type::s16, 16},       {"s32", Type::s32, 32},       {"s64", Type::s64, 64},
    {"b8", Type::b8, 8},          {"b16", Type::b16, 16},       {"b32", Type::b32, 32},
    {"b64", Type::b64, 64},       {"b128", Type::b128, 128},    {"f16", Type::f16, 16},
    {"bf16", Type::bf16, 16},     {"f32", Type::f32, 32},       {"f64", Type::f64, 64},
    {"tf32", Type::tf32, 32},     {"f16x2", Type::f16x2, 32},   {"bf16x2", Type::bf16x2, 32},
    {"u16x2", Type::u16x2, 32},   {"s16x2", Type::s16x2, 32},   {"f32x2", Type::f32x2, 64},
    {"e4m3x2", Type::e4m3x2, 16}, {"e5m2x2", Type::e5m2x2, 16},
}};

}  // namespace

Type type_of(std::string_view word) {
  for (const auto& k : known)
    if (k.word == word) return k.type;
  return Type::none;
}

int bits_of(Type type) {
  for (const auto& k : known)
    if (k.type == type) return k.bits;
  return 0;
}

bool is_float(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f64:
    case Type::tf32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::f32x2:
      return true;
    default:
      return false;
  }
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 ||
         type == Type::s16x2;
}

Words::Words(std::string_view text) : opcode(text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto dot = std::min(text.find('.', begin), text.size());
    parts.push_back(text.substr(begin, dot - begin));
    if (begin != 0)
      if (const auto type = type_of(parts.back()); type != Type::none) types.push_back(type);
    begin = dot + 1;
  }
}

bool Words::has(std::string_view word) const {
  return std::find(parts.begin() + 1, parts.end(), word) != parts.end();
}

}  // namespace warptime::execute
