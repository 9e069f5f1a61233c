// Integer arithmetic, shifts and bit fields.
#include <array>
#include <limits>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"

namespace warptime::execute {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
constexpr int bits = static_cast<int>(sizeof(T) * 8);

// Twice as wide, of the same sign.
template <class T>
using Double = std::conditional_t<
    sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>,
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

template <class T>
constexpr T wrap(std::uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
constexpr std::uint64_t whole(T value) {
  return widen(value);
}

template <class T>
T high_product(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>((Wide{a} * b) >> bits<T>);
  else
    return static_cast<T>((UnsignedWide{a} * b) >> bits<T>);
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

struct PopulationCount {
  template <class T>
  static std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  static std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    T result = 0;
    for (int i = 0; i < bits<T>; ++i) result = static_cast<T>(result << 1 | ((a >> i) & 1));
    return result;
  }
};
// The highest bit that is no sign bit; ~0 where there is none.
template <bool shift_amount>
struct FindBit {
  template <class T>
  static std::uint32_t of(T a) {
    Unsigned<T> value = static_cast<Unsigned<T>>(a);
    if constexpr (std::is_signed_v<T>)
      if (a < 0) value = static_cast<Unsigned<T>>(~value);
    if (value == 0) return 0xffffffff;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(value));
    return shift_amount ? zeros : static_cast<std::uint32_t>(bits<T>) - 1 - zeros;
  }
};
// The position of the n-th set bit from `base` on; n < 0: downwards.
struct FindNth {
  static std::uint32_t of(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
    if (base > 31) return 0xffffffff;
    if (n == 0) return (mask >> base) & 1 ? base : 0xffffffff;
    const int step = n > 0 ? 1 : -1;
    std::int64_t left = n > 0 ? n : -std::int64_t{n};
    for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
      if (((mask >> i) & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(i);
    return 0xffffffff;
  }
};
struct ExtractField {
  template <class T>
  static T of(T a, std::uint32_t position, std::uint32_t length) {
    position &= 0xff, length &= 0xff;
    if (length == 0) return 0;
    const auto value = static_cast<Unsigned<T>>(a);
    const auto last = std::min<std::uint32_t>(position + length - 1, bits<T> - 1);
    const bool sign = std::is_signed_v<T> && ((value >> last) & 1) != 0;
    Unsigned<T> result = position < static_cast<std::uint32_t>(bits<T>)
                             ? static_cast<Unsigned<T>>(value >> position)
                             : Unsigned<T>{0};
    if (length < static_cast<std::uint32_t>(bits<T>)) {
      const auto mask = static_cast<Unsigned<T>>((Unsigned<T>{1} << length) - 1);
      // Above the field, and above what `a` has of it: the sign.
      const auto have = position > last ? 0u : last - position + 1;
      const auto kept = have >= static_cast<std::uint32_t>(bits<T>)
                            ? static_cast<Unsigned<T>>(~Unsigned<T>{0})
                            : static_cast<Unsigned<T>>((Unsigned<T>{1} << have) - 1);
      result &= mask & kept;
      if (sign) result |= static_cast<Unsigned<T>>(~kept);
    } else if (sign && position > 0) {
      const auto have = static_cast<std::uint32_t>(bits<T>) > position
                            ? static_cast<std::uint32_t>(bits<T>) - position
                            : 0u;
      result |= have == 0 ? static_cast<Unsigned<T>>(~Unsigned<T>{0})
                          : static_cast<Unsigned<T>>(~((Unsigned<T>{1} << have) - 1));
    }
    return static_cast<T>(result);
  }
};
struct ByteMask {  // bmsk
  static std::uint32_t of(std::uint32_t from, std::uint32_t width, bool wraps) {
    if (wraps) from &= 31, width &= 31;
    if (width == 0 || from > 31) return 0;
    const std::uint64_t ones = width >= 32 ? 0xffffffffu : (std::uint64_t{1} << width) - 1;
    return static_cast<std::uint32_t>(ones << from);
  }
};

template <bool wraps>
struct MaskBits {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return ByteMask::of(a, b, wraps); }
};
template <bool wraps>
struct ExtendSign {  // szext
  template <class T>
  static T of(T a, std::uint32_t width) {
    if (wraps) width &= 31;
    if (width >= 32) return a;
    if (width == 0) return 0;
    const auto up = static_cast<std::uint32_t>(a) << (32 - width);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int32_t>(up) >> (32 - width));
    else
      return up >> (32 - width);
  }
};

struct ShiftLeft {
  template <class T>
  static T of(T a, std::uint32_t n) {
    return n >= static_cast<std::uint32_t>(bits<T>) ? T{0} : wrap<T>(whole(a) << n);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, std::uint32_t n) {
    const auto last = static_cast<std::uint32_t>(bits<T>) - 1;
    if (n > last) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
  }
};
template <bool left, bool wraps>
struct Funnel {
  static std::uint32_t of(std::uint32_t low, std::uint32_t high, std::uint32_t n) {
    const auto both = std::uint64_t{high} << 32 | low;
    n = wraps ? n & 31 : std::min(n, 32u);
    return left ? static_cast<std::uint32_t>((both << n) >> 32) : static_cast<std::uint32_t>(both >> n);
  }
};

// Its second source is 32 bits wide.
template <class T, class F>
void by_count(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  const auto* b = warp.at(op.b);
  auto* d = warp.out(op.d);
  each(mask,
       [&](std::uint32_t i) { d[i] = widen(F::of(narrow<T>(a[i]), static_cast<std::uint32_t>(b[i]))); });
}

template <class T>
void extract(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = widen(ExtractField::of(narrow<T>(a[i]), static_cast<std::uint32_t>(b[i]),
                                  static_cast<std::uint32_t>(c[i])));
  });
}

// bfi d, a, b, position, length: the low bits of a into b.
template <class T>
void insert(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c), *e = warp.at(op.e);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    const auto position = static_cast<std::uint32_t>(c[i]) & 0xff,
               length = static_cast<std::uint32_t>(e[i]) & 0xff;
    const auto into = narrow<T>(b[i]);
    if (length == 0 || position >= static_cast<std::uint32_t>(bits<T>)) {
      d[i] = into;
      return;
    }
    const T ones = length >= static_cast<std::uint32_t>(bits<T>) ? static_cast<T>(~T{0})
                                                                 : static_cast<T>((T{1} << length) - 1);
    const T field = static_cast<T>(ones << position);
    d[i] = static_cast<T>((into & ~field) | (static_cast<T>(narrow<T>(a[i]) << position) & field));
  });
}

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
    if (out) carries = (carries & ~(1u << i)) | (static_cast<std::uint32_t>(sum >> bits<T>) & 1) << i;
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
    if (out) carries = (carries & ~(1u << i)) | (static_cast<std::uint32_t>(sum >> bits<T>) & 1) << i;
  });
  if (out) warp.carry = carries;
}

// ---- bytes

// prmt modes: detail 0 is the general one.
constexpr std::array<std::string_view, 7> permute_modes = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};

std::uint32_t permuted(std::uint64_t both, std::uint32_t selector, std::uint8_t mode) {
  std::uint32_t s[4];
  for (std::uint32_t k = 0; k < 4; ++k) {
    const auto n = selector & 3;
    switch (mode) {
      case 1:
        s[k] = n + k;
        break;
      case 2:
        s[k] = (n + 8 - k) & 7;
        break;
      case 3:
        s[k] = n;
        break;
      case 4:
        s[k] = std::max(n, k);
        break;
      case 5:
        s[k] = std::min(n, k);
        break;
      case 6:
        s[k] = (n & 1) * 2 + (k & 1);
        break;
      default:
        s[k] = (selector >> (4 * k)) & 15;
    }
  }
  std::uint32_t result = 0;
  for (std::uint32_t k = 0; k < 4; ++k) {
    auto byte = static_cast<std::uint32_t>(both >> (8 * (s[k] & 7))) & 0xff;
    if (mode == 0 && (s[k] & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}

void permute(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = permuted((b[i] << 32) | (a[i] & 0xffffffff), static_cast<std::uint32_t>(c[i]), op.detail);
  });
}

// dp4a, dp2a; detail: bit 0 a is signed, bit 1 b is signed, bit 2 the upper half of b (dp2a.hi), bit 3 dp2a.
std::int64_t element(std::uint64_t slot, std::uint32_t at, std::uint32_t width, bool is_signed) {
  const auto value = static_cast<std::uint32_t>(slot) >> at;
  if (width == 8) return is_signed ? static_cast<std::int8_t>(value) : static_cast<std::uint8_t>(value);
  return is_signed ? static_cast<std::int16_t>(value) : static_cast<std::uint16_t>(value);
}

void dot_product(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  const bool halves = (op.detail & 8) != 0;
  each(mask, [&](std::uint32_t i) {
    std::int64_t sum = static_cast<std::int32_t>(c[i]);
    for (std::uint32_t k = 0; k < (halves ? 2u : 4u); ++k) {
      const auto x = element(a[i], halves ? 16 * k : 8 * k, halves ? 16 : 8, (op.detail & 1) != 0);
      const auto y = element(b[i], 8 * k + ((op.detail & 4) != 0 ? 16 : 0), 8, (op.detail & 2) != 0);
      sum += x * y;
    }
    d[i] = static_cast<std::uint32_t>(sum);
  });
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
Handler unary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &unary<typename decltype(t)::type, F>; });
}
template <class F>
Handler unsigned_unary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &unary<Unsigned<typename decltype(t)::type>, F>; });
}
template <class F>
Handler binary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &binary<typename decltype(t)::type, F>; });
}
template <class F>
Handler ternary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &ternary<typename decltype(t)::type, F>; });
}
template <class F>
Handler count_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &by_count<typename decltype(t)::type, F>; });
}
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

Handler find_bit(const Words& words, Type type) {
  return words.has("shiftamt") ? unary_of<FindBit<true>>(type) : unary_of<FindBit<false>>(type);
}

Handler funnel(const Words& words) {
  if (words.has("l"))
    return words.has("wrap") ? &ternary<std::uint32_t, Funnel<true, true>>
                             : &ternary<std::uint32_t, Funnel<true, false>>;
  return words.has("wrap") ? &ternary<std::uint32_t, Funnel<false, true>>
                           : &ternary<std::uint32_t, Funnel<false, false>>;
}

Handler find_nth(Type type) {
  return type == Type::b32 || type == Type::u32 || type == Type::s32
             ? Handler{&ternary<std::uint32_t, FindNth, std::int32_t>}
             : nullptr;
}

Handler choose(const Words& words, Type type, DecodedInstruction& op) {
  const auto name = words[0];
  if (name == "add" || name == "addc") return sum_of<Add, AddSaturated, false>(words, type);
  if (name == "sub" || name == "subc") return sum_of<Subtract, SubtractSaturated, true>(words, type);
  if (name == "mul") return product_of(words, type);
  if (name == "mad" || name == "madc") return mad_of(words, type);
  if (name == "mul24" || name == "mad24") return of_24_bits(words, type);
  if (name == "sad") return ternary_of<AbsoluteDifference>(type);
  if (name == "div") return binary_of<Divide>(type);
  if (name == "rem") return binary_of<Remainder>(type);
  if (name == "abs") return unary_of<Absolute>(type);
  if (name == "neg") return unary_of<Negate>(type);
  if (name == "min") return extreme_of<Minimum>(words, type);
  if (name == "max") return extreme_of<Maximum>(words, type);
  if (name == "popc") return unsigned_unary_of<PopulationCount>(type);
  if (name == "clz") return unsigned_unary_of<LeadingZeros>(type);
  if (name == "brev") return unsigned_unary_of<Reverse>(type);
  if (name == "bfind") return find_bit(words, type);
  if (name == "fns") return find_nth(type);
  if (name == "bmsk")
    return words.has("wrap") ? &binary<std::uint32_t, MaskBits<true>>
                             : &binary<std::uint32_t, MaskBits<false>>;
  if (name == "szext")
    return words.has("wrap") ? count_of<ExtendSign<true>>(type) : count_of<ExtendSign<false>>(type);
  if (name == "shl") return count_of<ShiftLeft>(type);
  if (name == "shr") return count_of<ShiftRight>(type);
  if (name == "shf") return funnel(words);
  if (name == "bfe")
    return for_integer(type, [](auto t) -> Handler { return &extract<typename decltype(t)::type>; });
  if (name == "bfi")
    return for_integer(type, [](auto t) -> Handler { return &insert<Unsigned<typename decltype(t)::type>>; });
  if (name == "prmt") {
    const auto mode = std::find(permute_modes.begin() + 1, permute_modes.end(), words.parts.back());
    op.detail = mode == permute_modes.end() ? 0 : static_cast<std::uint8_t>(mode - permute_modes.begin());
    return &permute;
  }
  if (name == "dp4a" || name == "dp2a") {
    op.detail =
        static_cast<std::uint8_t>((is_signed(words.type(0)) ? 1 : 0) | (is_signed(words.type(1)) ? 2 : 0) |
                                  (words.has("hi") ? 4 : 0) | (name == "dp2a" ? 8 : 0));
    return &dot_product;
  }
  return nullptr;
}

std::size_t sources_of(std::string_view name) {
  for (const std::string_view one : {"abs", "neg", "popc", "clz", "brev", "bfind"})
    if (name == one) return 1;
  if (name == "bfi") return 4;
  for (const std::string_view three :
       {"mad", "madc", "mad24", "sad", "fns", "shf", "bfe", "prmt", "dp4a", "dp2a"})
    if (name == three) return 3;
  return 2;
}

}  // namespace

bool decode_integer(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto type = words.last_type();
  if (is_float(type)) return decode_float(decoder, words, op);
  op.run = choose(words, type, op);
  if (op.run == nullptr) return decoder.unsupported();
  const auto sources = sources_of(words[0]);
  if (decoder.count() != sources + 1) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  if (sources > 1) op.b = decoder.source(2, type);
  if (sources > 2) op.c = decoder.source(3, type);
  if (sources > 3) op.e = decoder.source(4, type);
  return true;
}

}  // namespace warptime::execute
