// Comparison, selection, logic.
#include <cmath>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/half.h"
#include "analyzer/execute/lanes.h"

namespace warptime::execute {
namespace {

enum class Relation : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan, none };

Relation relation_of(std::string_view word, bool is_unsigned) {
  constexpr std::string_view names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (word == names[i]) return static_cast<Relation>(i);
  if (!is_unsigned) return Relation::none;
  // Of unsigned numbers: lower, lower or same, higher, higher or same.
  if (word == "lo") return Relation::lt;
  if (word == "ls") return Relation::le;
  if (word == "hi") return Relation::gt;
  if (word == "hs") return Relation::ge;
  return Relation::none;
}

template <class T>
bool holds(Relation relation, T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  switch (relation) {
    case Relation::eq:
      return !unordered && a == b;
    case Relation::ne:
      return !unordered && a != b;
    case Relation::lt:
      return !unordered && a < b;
    case Relation::le:
      return !unordered && a <= b;
    case Relation::gt:
      return !unordered && a > b;
    case Relation::ge:
      return !unordered && a >= b;
    case Relation::equ:
      return unordered || a == b;
    case Relation::neu:
      return unordered || a != b;
    case Relation::ltu:
      return unordered || a < b;
    case Relation::leu:
      return unordered || a <= b;
    case Relation::gtu:
      return unordered || a > b;
    case Relation::geu:
      return unordered || a >= b;
    case Relation::num:
      return !unordered;
    case Relation::nan:
      return unordered;
    case Relation::none:
      break;
  }
  return false;
}

float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}

// How a slot is read for comparison.
template <class T>
struct Plain {
  using Value = T;
  static T read(std::uint64_t slot) { return narrow<T>(slot); }
};
struct Flushing {
  using Value = float;
  static float read(std::uint64_t slot) { return flushed(narrow<float>(slot)); }
};
template <bool brain>
struct Half {
  using Value = float;
  static float read(std::uint64_t slot) {
    return brain ? from_bfloat(static_cast<std::uint16_t>(slot))
                 : from_half(static_cast<std::uint16_t>(slot));
  }
};

template <class Reader, Relation relation>
std::uint32_t compare_as(const std::uint64_t* a, const std::uint64_t* b, std::uint32_t mask) {
  std::uint32_t result = 0;
  each(mask, [&](std::uint32_t i) {
    result |= std::uint32_t{holds(relation, Reader::read(a[i]), Reader::read(b[i]))} << i;
  });
  return result;
}

// The lanes of `mask` for which the relation holds.
template <class Reader>
std::uint32_t compare(Relation relation, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t mask) {
  switch (relation) {
    case Relation::eq:
      return compare_as<Reader, Relation::eq>(a, b, mask);
    case Relation::ne:
      return compare_as<Reader, Relation::ne>(a, b, mask);
    case Relation::lt:
      return compare_as<Reader, Relation::lt>(a, b, mask);
    case Relation::le:
      return compare_as<Reader, Relation::le>(a, b, mask);
    case Relation::gt:
      return compare_as<Reader, Relation::gt>(a, b, mask);
    case Relation::ge:
      return compare_as<Reader, Relation::ge>(a, b, mask);
    default:
      break;
  }
  std::uint32_t result = 0;
  each(mask, [&](std::uint32_t i) {
    result |= std::uint32_t{holds(relation, Reader::read(a[i]), Reader::read(b[i]))} << i;
  });
  return result;
}

// What setp and set keep in `detail`: the relation, and how it is combined with a predicate.
constexpr std::uint8_t combine_and = 16, combine_or = 32, combine_xor = 48, combine_mask = 48;

std::uint32_t combined(const Warp& warp, const DecodedInstruction& op, std::uint32_t value) {
  switch (op.detail & combine_mask) {
    case combine_and:
      return value & warp.predicate(op.p);
    case combine_or:
      return value | warp.predicate(op.p);
    case combine_xor:
      return value ^ warp.predicate(op.p);
    default:
      return value;
  }
}

Relation relation(const DecodedInstruction& op) {
  return static_cast<Relation>(op.detail & 15);
}

template <class Reader>
void set_predicates(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto value = compare<Reader>(relation(op), warp.at(op.a), warp.at(op.b), mask);
  const auto first = combined(warp, op, value);
  const auto second = combined(warp, op, ~value);
  warp.set_predicate(op.pd, mask, first);
  warp.set_predicate(op.pq, mask, second);
}

// setp.f16x2 p|q: one half each.
template <bool brain>
void set_halves(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  std::uint32_t low = 0, high = 0;
  each(mask, [&](std::uint32_t i) {
    low |= std::uint32_t{holds(relation(op), Half<brain>::read(a[i]), Half<brain>::read(b[i]))} << i;
    high |= std::uint32_t{holds(relation(op), Half<brain>::read(a[i] >> 16), Half<brain>::read(b[i] >> 16))}
            << i;
  });
  const auto first = combined(warp, op, low), second = combined(warp, op, high);
  warp.set_predicate(op.pd, mask, first);
  warp.set_predicate(op.pq, mask, second);
}

// set: `immediate` is what true is.
template <class Reader>
void set_register(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto value = combined(warp, op, compare<Reader>(relation(op), warp.at(op.a), warp.at(op.b), mask));
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = (value >> i) & 1 ? op.immediate : 0; });
}

// set.f16x2.f16x2: each half 1.0 or 0.
template <bool brain>
void set_register_halves(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  std::uint32_t low = 0, high = 0;
  each(mask, [&](std::uint32_t i) {
    low |= std::uint32_t{holds(relation(op), Half<brain>::read(a[i]), Half<brain>::read(b[i]))} << i;
    high |= std::uint32_t{holds(relation(op), Half<brain>::read(a[i] >> 16), Half<brain>::read(b[i] >> 16))}
            << i;
  });
  low = combined(warp, op, low), high = combined(warp, op, high);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = ((low >> i) & 1 ? op.immediate : 0) | ((high >> i) & 1 ? op.immediate << 16 : 0);
  });
}

template <template <class> class Make>
Handler reader_of(Type type, bool ftz) {
  switch (type) {
    case Type::f32:
      return ftz ? Make<Flushing>::handler() : Make<Plain<float>>::handler();
    case Type::f64:
      return Make<Plain<double>>::handler();
    case Type::f16:
      return Make<Half<false>>::handler();
    case Type::bf16:
      return Make<Half<true>>::handler();
    default:
      break;
  }
  return for_integer(type,
                     [](auto t) -> Handler { return Make<Plain<typename decltype(t)::type>>::handler(); });
}
template <class Reader>
struct SetPredicates {
  static Handler handler() { return &set_predicates<Reader>; }
};
template <class Reader>
struct SetRegister {
  static Handler handler() { return &set_register<Reader>; }
};

bool relation_and_combination(Decoder& decoder, const Words& words, DecodedInstruction& op, Type type,
                              std::size_t i) {
  const bool is_unsigned = !is_float(type) && !is_signed(type);
  const auto relation = relation_of(words[1], is_unsigned);
  if (relation == Relation::none) return decoder.unsupported();
  op.detail = static_cast<std::uint8_t>(relation);
  if (i >= decoder.count()) return true;
  op.p = decoder.predicate(i);
  op.detail = static_cast<std::uint8_t>(op.detail | (words[2] == "or"    ? combine_or
                                                     : words[2] == "xor" ? combine_xor
                                                                         : combine_and));
  return true;
}

bool decode_setp(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto type = words.last_type();
  if (decoder.count() < 3 || decoder.count() > 4) return decoder.fail("wrong number of operands");
  const auto& to = decoder.operand(0);
  if (to.kind == ptx::Operand::Kind::pair) {
    op.pd = decoder.predicate_destination(decoder.part(to, 0));
    op.pq = decoder.predicate_destination(decoder.part(to, 1));
  } else {
    op.pd = decoder.predicate_destination(to);
  }
  op.a = decoder.source(1, type);
  op.b = decoder.source(2, type);
  op.run = type == Type::f16x2    ? &set_halves<false>
           : type == Type::bf16x2 ? &set_halves<true>
                                  : reader_of<SetPredicates>(type, words.has("ftz"));
  if (op.run == nullptr) return decoder.unsupported();
  return relation_and_combination(decoder, words, op, type, 3);
}

bool decode_set(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto result = words.type(0), type = words.type(1);
  if (decoder.count() < 3 || decoder.count() > 4) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  op.b = decoder.source(2, type);
  switch (result) {
    case Type::f32:
      op.immediate = std::bit_cast<std::uint32_t>(1.0f);
      break;
    case Type::f16:
    case Type::f16x2:
      op.immediate = 0x3c00;
      break;
    case Type::bf16:
    case Type::bf16x2:
      op.immediate = 0x3f80;
      break;
    case Type::u16:
    case Type::s16:
      op.immediate = 0xffff;
      break;
    default:
      op.immediate = 0xffffffff;
  }
  op.run = type == Type::f16x2    ? &set_register_halves<false>
           : type == Type::bf16x2 ? &set_register_halves<true>
                                  : reader_of<SetRegister>(type, words.has("ftz"));
  if (op.run == nullptr) return decoder.unsupported();
  return relation_and_combination(decoder, words, op, type, 3);
}

void select(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  const auto p = warp.predicate(op.p);
  const auto keep = op.immediate;
  each(mask, [&](std::uint32_t i) { d[i] = ((p >> i) & 1 ? a[i] : b[i]) & keep; });
}

std::uint64_t bits_kept(Type type) {
  return bits_of(type) >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(type)) - 1;
}

// slct d, a, b, c: a where c >= 0; a NaN is not.
template <bool integer, bool ftz>
void select_by_sign(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    bool first = integer ? narrow<std::int32_t>(c[i]) >= 0 : narrow<float>(c[i]) >= 0;
    if (ftz) first = flushed(narrow<float>(c[i])) >= 0;
    d[i] = (first ? a[i] : b[i]) & op.immediate;
  });
}

// ---- logic

struct And {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a & b; }
};
struct Or {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a | b; }
};
struct Xor {
  static std::uint64_t of(std::uint64_t a, std::uint64_t b) { return a ^ b; }
};

template <class F>
void logic(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  const auto keep = op.immediate;
  each(mask, [&](std::uint32_t i) { d[i] = F::of(a[i], b[i]) & keep; });
}
template <class F>
void predicate_logic(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto result = F::of(warp.predicate(op.p), warp.predicate(op.q));
  warp.set_predicate(op.pd, mask, static_cast<std::uint32_t>(result));
}
void complement(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = ~a[i] & op.immediate; });
}
void predicate_complement(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  warp.set_predicate(op.pd, mask, ~warp.predicate(op.p));
}
void is_zero(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = (a[i] & op.immediate) == 0; });
}

// lop3: bit (a, b, c) of the table. With a predicate: whether the result is not zero, combined with another.
void lookup(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  std::uint32_t not_zero = 0;
  each(mask, [&](std::uint32_t i) {
    const auto x = static_cast<std::uint32_t>(a[i]), y = static_cast<std::uint32_t>(b[i]),
               z = static_cast<std::uint32_t>(c[i]);
    std::uint32_t result = 0;
    for (std::uint32_t k = 0; k < 8; ++k)
      if ((op.detail >> k) & 1) result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    d[i] = result;
    not_zero |= std::uint32_t{result != 0} << i;
  });
  if (op.pd == 0) return;
  const auto other = warp.predicate(op.p);
  warp.set_predicate(op.pd, mask, op.immediate != 0 ? not_zero | other : not_zero & other);
}

bool decode_lop3(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() < 5) return decoder.fail("wrong number of operands");
  const auto& to = decoder.operand(0);
  if (to.kind == ptx::Operand::Kind::pair) {
    if (decoder.count() < 6) return decoder.fail("wrong number of operands");
    op.d = decoder.destination(decoder.part(to, 0));
    op.pd = decoder.predicate_destination(decoder.part(to, 1));
    op.p = decoder.predicate(5);
    op.immediate = words.has("or");
  } else {
    op.d = decoder.destination(to);
  }
  op.a = decoder.source(1, Type::b32);
  op.b = decoder.source(2, Type::b32);
  op.c = decoder.source(3, Type::b32);
  if (decoder.operand(4).kind != ptx::Operand::Kind::integer)
    return decoder.fail("the table of lop3 is not a constant");
  op.detail = static_cast<std::uint8_t>(decoder.operand(4).value);
  op.run = &lookup;
  return true;
}

bool decode_predicate_logic(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const bool one = words[0] == "not";
  if (decoder.count() != (one ? 2u : 3u)) return decoder.fail("wrong number of operands");
  op.pd = decoder.predicate_destination(decoder.operand(0));
  op.p = decoder.predicate(1);
  if (!one) op.q = decoder.predicate(2);
  op.run = words[0] == "and"   ? &predicate_logic<And>
           : words[0] == "or"  ? &predicate_logic<Or>
           : words[0] == "xor" ? &predicate_logic<Xor>
           : one               ? &predicate_complement
                               : nullptr;
  return op.run != nullptr || decoder.unsupported();
}

}  // namespace

bool decode_compare(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[0] == "setp") return decode_setp(decoder, words, op);
  if (words[0] == "set") return decode_set(decoder, words, op);
  if (decoder.count() != 4) return decoder.fail("wrong number of operands");
  const bool by_sign = words[0] == "slct";
  const auto type = by_sign ? words.type(0) : words.last_type();
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  op.b = decoder.source(2, type);
  op.immediate = bits_kept(type);
  if (!by_sign) {
    op.p = decoder.predicate(3);
    op.run = &select;
    return true;
  }
  const bool integer = words.type(1) == Type::s32;
  op.c = decoder.source(3, words.type(1));
  op.run = integer            ? &select_by_sign<true, false>
           : words.has("ftz") ? &select_by_sign<false, true>
                              : &select_by_sign<false, false>;
  return true;
}

bool decode_logic(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[0] == "lop3") return decode_lop3(decoder, words, op);
  const auto type = words.last_type();
  if (type == Type::pred) return decode_predicate_logic(decoder, words, op);
  const bool one = words[0] == "not" || words[0] == "cnot";
  if (decoder.count() != (one ? 2u : 3u)) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  if (!one) op.b = decoder.source(2, type);
  op.immediate = bits_kept(type);
  op.run = words[0] == "and"   ? &logic<And>
           : words[0] == "or"  ? &logic<Or>
           : words[0] == "xor" ? &logic<Xor>
           : words[0] == "not" ? &complement
                               : &is_zero;
  return true;
}

}  // namespace warptime::execute
