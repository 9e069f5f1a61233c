// Integer arithmetic.
#include <algorithm>
#include <limits>

#include "analyzer/execute/integer.h"

namespace warptime::execute {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// Twice as wide, of the same sign.
template <class T>
using Double = std::conditional_t<
    sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>,
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

template <class T>
T high_product(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>((Wide{a} * b) >> width_in_bits<T>);
  else
    return static_cast<T>((UnsignedWide{a} * b) >> width_in_bits<T>);
}

template <class T>
T clamp_to(std::int64_t value) {
  if (value > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  if (value < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

struct Add {
  template <class T>
  static T of(T a, T b) {
    return wrap<T>(whole(a) + whole(b));
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return wrap<T>(whole(a) - whole(b));
  }
};
struct AddSaturated {
  static std::int32_t of(std::int32_t a, std::int32_t b) {
    return clamp_to<std::int32_t>(std::int64_t{a} + b);
  }
};
struct SubtractSaturated {
  static std::int32_t of(std::int32_t a, std::int32_t b) {
    return clamp_to<std::int32_t>(std::int64_t{a} - b);
  }
};
struct MultiplyLow {
  template <class T>
  static T of(T a, T b) {
    return wrap<T>(whole(a) * whole(b));
  }
};
struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    return high_product(a, b);
  }
};
struct MultiplyWide {
  template <class T>
  static Double<T> of(T a, T b) {
    return wrap<Double<T>>(whole(a) * whole(b));
  }
};
struct MadLow {
  template <class T>
  static T of(T a, T b, T c) {
    return wrap<T>(whole(a) * whole(b) + whole(c));
  }
};
struct MadHigh {
  template <class T>
  static T of(T a, T b, T c) {
    return wrap<T>(whole(high_product(a, b)) + whole(c));
  }
};
struct MadHighSaturated {
  static std::int32_t of(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamp_to<std::int32_t>(std::int64_t{high_product(a, b)} + c);
  }
};
struct MadWide {
  template <class T>
  static Double<T> of(T a, T b, Double<T> c) {
    return wrap<Double<T>>(whole(a) * whole(b) + whole(c));
  }
};

// The low 24 bits, with their sign.
template <class T>
std::int64_t low24(T a) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8;
  else
    return a & 0xffffff;
}
struct Multiply24Low {
  template <class T>
  static T of(T a, T b) {
    return wrap<T>(static_cast<std::uint64_t>(low24(a) * low24(b)));
  }
};
struct Multiply24High {
  template <class T>
  static T of(T a, T b) {
    return wrap<T>(static_cast<std::uint64_t>((low24(a) * low24(b)) >> 16));
  }
};
template <class Product>
struct Mad24 {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(Product::of(a, b), c);
  }
};
struct Mad24HighSaturated {
  static std::int32_t of(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamp_to<std::int32_t>(std::int64_t{Multiply24High::of(a, b)} + c);
  }
};

struct AbsoluteDifference {
  template <class T>
  static T of(T a, T b, T c) {
    return wrap<T>(whole(c) + (a < b ? whole(b) - whole(a) : whole(a) - whole(b)));
  }
};
// Division by zero and of the least by -1 have no stated result: all ones, and what wraps.
struct Divide {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~std::uint64_t{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return wrap<T>(0 - whole(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Absolute {
  template <class T>
  static T of(T a) {
    return a < 0 ? wrap<T>(0 - whole(a)) : a;
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return wrap<T>(0 - whole(a));
  }
};
struct Minimum {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
template <class F>
struct Relu {
  template <class T>
  static T of(T a, T b) {
    return std::max<T>(F::of(a, b), 0);
  }
};

// ---- carries: CC.CF is a mask of lanes

template <class T, bool in, bool out, bool subtract>
void with_carry(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  std::uint32_t carries = warp.carry;
  each(mask, [&](std::uint32_t i) {
    using U = Unsigned<T>;
    const UnsignedWide x = narrow<U>(a[i]), y = narrow<U>(b[i]);
    const UnsignedWide borrowed = in ? (carries >> i) & 1 : 0;
    const UnsignedWide sum = subtract ? x - y - borrowed : x + y + borrowed;
    d[i] = widen(static_cast<T>(static_cast<U>(sum)));
    if (out)
      carries = (carries & ~(1u << i)) | (static_cast<std::uint32_t>(sum >> width_in_bits<T>) & 1) << i;
  });
  if (out) warp.carry = carries;
}

template <class T, bool high, bool in, bool out>
void mad_with_carry(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  std::uint32_t carries = warp.carry;
  each(mask, [&](std::uint32_t i) {
    using U = Unsigned<T>;
    const T product = high ? MultiplyHigh::of(narrow<T>(a[i]), narrow<T>(b[i]))
                           : MultiplyLow::of(narrow<T>(a[i]), narrow<T>(b[i]));
    const UnsignedWide sum =
        UnsignedWide{static_cast<U>(product)} + narrow<U>(c[i]) + (in ? (carries >> i) & 1 : 0);
    d[i] = widen(static_cast<T>(static_cast<U>(sum)));
    if (out)
      carries = (carries & ~(1u << i)) | (static_cast<std::uint32_t>(sum >> width_in_bits<T>) & 1) << i;
  });
  if (out) warp.carry = carries;
}

template <class F, bool is_signed>
void by_halves(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  using T = std::conditional_t<is_signed, std::int16_t, std::uint16_t>;
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    const auto low = static_cast<std::uint16_t>(F::of(narrow<T>(a[i]), narrow<T>(b[i])));
    const auto high = static_cast<std::uint16_t>(F::of(narrow<T>(a[i] >> 16), narrow<T>(b[i] >> 16)));
    d[i] = static_cast<std::uint32_t>(high) << 16 | low;
  });
}

// ---- choice of the handler

template <class F>
Handler halves_of(Type type) {
  return type == Type::s16x2 ? &by_halves<F, true> : type == Type::u16x2 ? &by_halves<F, false> : nullptr;
}

Handler wide_product(Type type, bool add) {
  return for_integer(type, [add](auto t) -> Handler {
    using T = typename decltype(t)::type;
    if constexpr (sizeof(T) == 8)
      return nullptr;
    else
      return add ? Handler{&ternary<T, MadWide, Double<T>>} : Handler{&binary<T, MultiplyWide>};
  });
}

template <bool subtract>
Handler carry_of(Type type, bool in, bool out) {
  return for_integer(type, [in, out](auto t) -> Handler {
    using T = typename decltype(t)::type;
    if constexpr (sizeof(T) < 4)
      return nullptr;
    else if (in)
      return out ? &with_carry<T, true, true, subtract> : &with_carry<T, true, false, subtract>;
    else
      return &with_carry<T, false, true, subtract>;
  });
}

Handler mad_carry_of(Type type, bool high, bool in, bool out) {
  return for_integer(type, [=](auto t) -> Handler {
    using T = typename decltype(t)::type;
    if constexpr (sizeof(T) < 4)
      return nullptr;
    else if (high && in)
      return out ? &mad_with_carry<T, true, true, true> : &mad_with_carry<T, true, true, false>;
    else if (high)
      return &mad_with_carry<T, true, false, true>;
    else if (in)
      return out ? &mad_with_carry<T, false, true, true> : &mad_with_carry<T, false, true, false>;
    else
      return &mad_with_carry<T, false, false, true>;
  });
}

template <class F, class Saturated, bool subtract>
Handler sum_of(const Words& words, Type type) {
  const bool in = words[0] == "addc" || words[0] == "subc";
  if (in || words.has("cc")) return carry_of<subtract>(type, in, words.has("cc"));
  if (words.has("sat")) return type == Type::s32 ? Handler{&binary<std::int32_t, Saturated>} : nullptr;
  if (auto* handler = halves_of<F>(type)) return handler;
  return binary_of<F>(type);
}

Handler product_of(const Words& words, Type type) {
  if (words.has("wide")) return wide_product(type, false);
  return words.has("hi") ? binary_of<MultiplyHigh>(type) : binary_of<MultiplyLow>(type);
}

Handler mad_of(const Words& words, Type type) {
  const bool in = words[0] == "madc";
  if (in || words.has("cc")) return mad_carry_of(type, words.has("hi"), in, words.has("cc"));
  if (words.has("wide")) return wide_product(type, true);
  if (words.has("sat"))
    return type == Type::s32 && words.has("hi") ? Handler{&ternary<std::int32_t, MadHighSaturated>} : nullptr;
  return words.has("hi") ? ternary_of<MadHigh>(type) : ternary_of<MadLow>(type);
}

Handler of_24_bits(const Words& words, Type type) {
  if (type != Type::s32 && type != Type::u32) return nullptr;
  const bool high = words.has("hi");
  if (words[0] == "mul24") return high ? binary_of<Multiply24High>(type) : binary_of<Multiply24Low>(type);
  if (words.has("sat"))
    return type == Type::s32 && high ? Handler{&ternary<std::int32_t, Mad24HighSaturated>} : nullptr;
  return high ? ternary_of<Mad24<Multiply24High>>(type) : ternary_of<Mad24<Multiply24Low>>(type);
}

template <class F>
Handler extreme_of(const Words& words, Type type) {
  if (words.has("relu")) {
    if (type == Type::s16x2) return &by_halves<Relu<F>, true>;
    return type == Type::s32 ? Handler{&binary<std::int32_t, Relu<F>>} : nullptr;
  }
  if (auto* handler = halves_of<F>(type)) return handler;
  return binary_of<F>(type);
}

constexpr IntegerOp arithmetic_ops[] = {
    {"abs", 1, by_type<unary_of<Absolute>>},
    {"add", 2, by_words<sum_of<Add, AddSaturated, false>>},
    {"addc", 2, by_words<sum_of<Add, AddSaturated, false>>},
    {"div", 2, by_type<binary_of<Divide>>},
    {"mad", 3, by_words<mad_of>},
    {"mad24", 3, by_words<of_24_bits>},
    {"madc", 3, by_words<mad_of>},
    {"max", 2, by_words<extreme_of<Maximum>>},
    {"min", 2, by_words<extreme_of<Minimum>>},
    {"mul", 2, by_words<product_of>},
    {"mul24", 2, by_words<of_24_bits>},
    {"neg", 1, by_type<unary_of<Negate>>},
    {"rem", 2, by_type<binary_of<Remainder>>},
    {"sad", 3, by_type<ternary_of<AbsoluteDifference>>},
    {"sub", 2, by_words<sum_of<Subtract, SubtractSaturated, true>>},
    {"subc", 2, by_words<sum_of<Subtract, SubtractSaturated, true>>},
};

}  // namespace

bool decode_integer(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (is_float(words.last_type())) return decode_float(decoder, words, op);
  return decode_by(arithmetic_ops, decoder, words, op);
}

// ---- what arithmetic and bits share

bool decode_by(std::span<const IntegerOp> ops, Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto type = words.last_type();
  const auto known = std::find_if(ops.begin(), ops.end(), [&](const auto& o) { return o.name == words[0]; });
  if (known != ops.end()) op.run = known->choose(words, type, op);
  if (op.run == nullptr) return decoder.unsupported();
  if (decoder.count() != known->sources + std::size_t{1}) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  if (known->sources > 1) op.b = decoder.source(2, type);
  if (known->sources > 2) op.c = decoder.source(3, type);
  if (known->sources > 3) op.e = decoder.source(4, type);
  return true;
}

}  // namespace warptime::execute
