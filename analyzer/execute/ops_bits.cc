// Bits, bit fields, shifts and bytes of integers.
#include <algorithm>
#include <array>

#include "analyzer/execute/integer.h"

namespace warptime::execute {
namespace {

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
    for (int i = 0; i < width_in_bits<T>; ++i) result = static_cast<T>(result << 1 | ((a >> i) & 1));
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
    return shift_amount ? zeros : static_cast<std::uint32_t>(width_in_bits<T>) - 1 - zeros;
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
    const auto last = std::min<std::uint32_t>(position + length - 1, width_in_bits<T> - 1);
    const bool sign = std::is_signed_v<T> && ((value >> last) & 1) != 0;
    Unsigned<T> result = position < static_cast<std::uint32_t>(width_in_bits<T>)
                             ? static_cast<Unsigned<T>>(value >> position)
                             : Unsigned<T>{0};
    if (length < static_cast<std::uint32_t>(width_in_bits<T>)) {
      const auto mask = static_cast<Unsigned<T>>((Unsigned<T>{1} << length) - 1);
      // Above the field, and above what `a` has of it: the sign.
      const auto have = position > last ? 0u : last - position + 1;
      const auto kept = have >= static_cast<std::uint32_t>(width_in_bits<T>)
                            ? static_cast<Unsigned<T>>(~Unsigned<T>{0})
                            : static_cast<Unsigned<T>>((Unsigned<T>{1} << have) - 1);
      result &= mask & kept;
      if (sign) result |= static_cast<Unsigned<T>>(~kept);
    } else if (sign && position > 0) {
      const auto have = static_cast<std::uint32_t>(width_in_bits<T>) > position
                            ? static_cast<std::uint32_t>(width_in_bits<T>) - position
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
    return n >= static_cast<std::uint32_t>(width_in_bits<T>) ? T{0} : wrap<T>(whole(a) << n);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, std::uint32_t n) {
    const auto last = static_cast<std::uint32_t>(width_in_bits<T>) - 1;
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
    if (length == 0 || position >= static_cast<std::uint32_t>(width_in_bits<T>)) {
      d[i] = into;
      return;
    }
    const T ones = length >= static_cast<std::uint32_t>(width_in_bits<T>)
                       ? static_cast<T>(~T{0})
                       : static_cast<T>((T{1} << length) - 1);
    const T field = static_cast<T>(ones << position);
    d[i] = static_cast<T>((into & ~field) | (static_cast<T>(narrow<T>(a[i]) << position) & field));
  });
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

// vabsdiff4, vabsdiff2 of all lanes; detail: bit 0 signed, bit 1 the sum of the differences and c (.add), bit 2 halves.
void lane_differences(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  const std::uint32_t width = (op.detail & 4) != 0 ? 16 : 8;
  const bool is_signed = (op.detail & 1) != 0, is_sum = (op.detail & 2) != 0;
  each(mask, [&](std::uint32_t i) {
    std::uint32_t result = is_sum ? static_cast<std::uint32_t>(c[i]) : 0;
    for (std::uint32_t at = 0; at < 32; at += width) {
      const auto x = element(a[i], at, width, is_signed), y = element(b[i], at, width, is_signed);
      const auto difference = static_cast<std::uint32_t>(x > y ? x - y : y - x);
      result += is_sum ? difference : difference << at;
    }
    d[i] = result;
  });
}

// ---- choice of the handler

template <class F>
Handler unsigned_unary_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &unary<Unsigned<typename decltype(t)::type>, F>; });
}
template <class F>
Handler count_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &by_count<typename decltype(t)::type, F>; });
}
Handler find_bit(const Words& words, Type type) {
  return words.has("shiftamt") ? unary_of<FindBit<true>>(type) : unary_of<FindBit<false>>(type);
}

Handler funnel(const Words& words, Type) {
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

Handler mask_of(const Words& words, Type) {
  return words.has("wrap") ? &binary<std::uint32_t, MaskBits<true>> : &binary<std::uint32_t, MaskBits<false>>;
}

Handler extend_of(const Words& words, Type type) {
  return words.has("wrap") ? count_of<ExtendSign<true>>(type) : count_of<ExtendSign<false>>(type);
}

Handler extract_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &extract<typename decltype(t)::type>; });
}

Handler insert_of(Type type) {
  return for_integer(type, [](auto t) -> Handler { return &insert<Unsigned<typename decltype(t)::type>>; });
}

Handler permute_of(const Words& words, Type, DecodedInstruction& op) {
  const auto mode = std::find(permute_modes.begin() + 1, permute_modes.end(), words.parts.back());
  op.detail = mode == permute_modes.end() ? 0 : static_cast<std::uint8_t>(mode - permute_modes.begin());
  return &permute;
}

Handler dot_product_of(const Words& words, Type, DecodedInstruction& op) {
  op.detail =
      static_cast<std::uint8_t>((is_signed(words.type(0)) ? 1 : 0) | (is_signed(words.type(1)) ? 2 : 0) |
                                (words.has("hi") ? 4 : 0) | (words[0] == "dp2a" ? 8 : 0));
  return &dot_product;
}

// Neither a mask of lanes nor a selection of bytes, nor saturation.
Handler lane_differences_of(const Words& words, Type, DecodedInstruction& op) {
  const bool is_sum = words.has("add");
  if (words.parts.size() != (is_sum ? 5u : 4u)) return nullptr;
  op.detail = static_cast<std::uint8_t>((is_signed(words.type(1)) ? 1 : 0) | (is_sum ? 2 : 0) |
                                        (words[0] == "vabsdiff2" ? 4 : 0));
  return &lane_differences;
}

constexpr IntegerOp bit_ops[] = {
    {"bfe", 3, by_type<extract_of>},
    {"bfi", 4, by_type<insert_of>},
    {"bfind", 1, by_words<find_bit>},
    {"bmsk", 2, by_words<mask_of>},
    {"brev", 1, by_type<unsigned_unary_of<Reverse>>},
    {"clz", 1, by_type<unsigned_unary_of<LeadingZeros>>},
    {"dp2a", 3, dot_product_of},
    {"dp4a", 3, dot_product_of},
    {"fns", 3, by_type<find_nth>},
    {"popc", 1, by_type<unsigned_unary_of<PopulationCount>>},
    {"prmt", 3, permute_of},
    {"shf", 3, by_words<funnel>},
    {"shl", 2, by_type<count_of<ShiftLeft>>},
    {"shr", 2, by_type<count_of<ShiftRight>>},
    {"szext", 2, by_words<extend_of>},
    {"vabsdiff2", 3, lane_differences_of},
    {"vabsdiff4", 3, lane_differences_of},
};

}  // namespace

bool decode_bits(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  return decode_by(bit_ops, decoder, words, op);
}

}  // namespace warptime::execute
