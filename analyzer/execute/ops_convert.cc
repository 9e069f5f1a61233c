// cvt: between all types, with every rounding and saturation.
#include <cfenv>
#include <cmath>
#include <limits>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/half.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/execute/rounding.h"

namespace warptime::execute {
namespace {

// ---- between integers

template <class From, class To>
void integers(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = widen(static_cast<To>(narrow<From>(a[i]))); });
}

template <class From, class To>
void integers_saturated(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    const auto value = narrow<From>(a[i]);
    To result = static_cast<To>(value);
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) result = std::numeric_limits<To>::max();
    if (std::cmp_less(value, std::numeric_limits<To>::min())) result = std::numeric_limits<To>::min();
    d[i] = widen(result);
  });
}

Handler integer_conversion(Type from, Type to, bool sat) {
  return for_integer(from, [&](auto f) -> Handler {
    return for_integer(to, [&](auto t) -> Handler {
      using From = typename decltype(f)::type;
      using To = typename decltype(t)::type;
      return sat ? &integers_saturated<From, To> : &integers<From, To>;
    });
  });
}

// ---- with floating point; general, and fast ones for what compilers emit most

// What `detail` says: a rounding, and flags.
constexpr std::uint8_t rounding_bits = 7, to_integral = 8, flush = 16, saturate = 32, rectify = 64,
                       finite = 128;

Rounding rounding(const DecodedInstruction& op) {
  return static_cast<Rounding>(op.detail & rounding_bits);
}

double integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return std::nearbyint(value);
    case Rounding::to_zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    case Rounding::nearest_away:
      return std::round(value);
  }
  return value;
}

// Subnormals of f32 to zero of the same sign; a double has the value of one.
template <class T>
T flushed_single(T value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(T{0}, value) : value;
}

template <Type type>
double read(std::uint64_t slot) {
  if constexpr (type == Type::f16)
    return from_half(static_cast<std::uint16_t>(slot));
  else if constexpr (type == Type::bf16)
    return from_bfloat(static_cast<std::uint16_t>(slot));
  else if constexpr (type == Type::f32 || type == Type::tf32)
    return narrow<float>(slot);
  else
    return narrow<double>(slot);
}

// float → integer: what does not fit is clamped, a NaN is 0, or the highest bit where 64 bits take part.
template <class To>
To to_integer(double value, bool wide_source) {
  if (std::isnan(value)) {
    if (!wide_source && sizeof(To) < 8) return 0;
    return static_cast<To>(std::uint64_t{1} << (sizeof(To) * 8 - 1));
  }
  // 2^bits as a double is exact, the greatest value need not be.
  const double above = std::ldexp(1.0, static_cast<int>(sizeof(To)) * 8 - (std::is_signed_v<To> ? 1 : 0));
  const double below = std::is_signed_v<To> ? -above : 0;
  if (value >= above) return std::numeric_limits<To>::max();
  if (value <= below) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <Type from, class To>
void float_to_integer(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    double value = read<from>(a[i]);
    if ((op.detail & flush) != 0) value = flushed_single(value);
    d[i] = widen(to_integer<To>(integral(value, rounding(op)), from == Type::f64));
  });
}

// integer → float. The host's own conversions round as it is told.
template <class From, class To>
void integer_to_float(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  const auto mode = rounding(op);
  if (mode != Rounding::nearest_even) std::fesetround(host_roundings[op.detail & 3]);
  each(mask, [&](std::uint32_t i) {
    auto value = static_cast<To>(narrow<From>(a[i]));
    if ((op.detail & saturate) != 0) value = value < 0 ? To{0} : value > 1 ? To{1} : value;
    d[i] = widen(value);
  });
  if (mode != Rounding::nearest_even) std::fesetround(FE_TONEAREST);
}

// A 64-bit integer as a double whose last bit says whether there was more.
template <class From>
double to_odd(From value) {
  constexpr double limit = 9007199254740992.0;  // 2^53
  const auto nearest = static_cast<double>(value);
  if (std::fabs(nearest) <= limit) return nearest;
  const bool negative = value < 0;
  auto magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int shift = 0;
  bool sticky = false;
  while (magnitude >> 53 != 0) sticky = sticky || (magnitude & 1) != 0, magnitude >>= 1, ++shift;
  if (sticky) magnitude |= 1;
  const double result = std::ldexp(static_cast<double>(magnitude), shift);
  return negative ? -result : result;
}

template <class From, bool is_brain>
void integer_to_half(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = round_to(is_brain ? brain_format : half_format, to_odd(narrow<From>(a[i])), rounding(op));
  });
}

const Format& format_of(Type type) {
  return type == Type::f16 ? half_format : type == Type::bf16 ? brain_format : tensor_format;
}

// float → float
template <Type to>
std::uint64_t rounded(double value, const DecodedInstruction& op) {
  const auto mode = rounding(op);
  if ((op.detail & to_integral) != 0) value = integral(value, mode);
  if ((op.detail & flush) != 0) value = flushed_single(value);
  if ((op.detail & saturate) != 0) value = !(value > 0) ? 0 : std::fmin(value, 1);
  if ((op.detail & rectify) != 0 && value < 0) value = 0;
  if constexpr (to == Type::f64) {
    return widen(value);
  } else if constexpr (to == Type::f32) {
    if (std::isnan(value)) return 0x7fffffff;
    float result = static_cast<float>(value);
    if (mode != Rounding::nearest_even && (op.detail & to_integral) == 0 &&
        static_cast<double>(result) != value) {
      std::fesetround(host_roundings[op.detail & 3]);
      volatile double kept = value;
      result = static_cast<float>(kept);
      std::fesetround(FE_TONEAREST);
    }
    if ((op.detail & flush) != 0) result = flushed_single(result);
    return widen(result);
  } else if constexpr (to == Type::tf32) {
    if (std::isnan(value)) return 0x7fffffff;
    return std::uint64_t{round_to(tensor_format, value, mode, (op.detail & finite) != 0)} << 13;
  } else {
    return round_to(format_of(to), value, mode, (op.detail & finite) != 0);
  }
}

template <Type from, Type to>
void floats(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    double value = read<from>(a[i]);
    if ((op.detail & flush) != 0 && (from == Type::f32)) value = flushed_single(value);
    d[i] = rounded<to>(value, op);
  });
}

// cvt.rn.f16x2.f32 d, a, b: a is the upper half. immediate: the format.
const Format& format_of_pair(Type type) {
  switch (type) {
    case Type::f16x2:
      return half_format;
    case Type::bf16x2:
      return brain_format;
    case Type::e4m3x2:
      return e4m3_format;
    default:
      return e5m2_format;
  }
}

template <Type to>
void pair_from_floats(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  const auto& format = format_of_pair(to);
  constexpr int width = to == Type::f16x2 || to == Type::bf16x2 ? 16 : 8;
  const auto half = [&](std::uint64_t slot) -> std::uint64_t {
    double value = narrow<float>(slot);
    if ((op.detail & rectify) != 0 && value < 0) value = 0;
    return round_to(format, value, rounding(op), (op.detail & finite) != 0);
  };
  each(mask, [&](std::uint32_t i) { d[i] = half(a[i]) << width | half(b[i]); });
}

// cvt.rn.f16x2.e4m3x2 and back: detail as ever.
template <Type from, Type to>
void pair_from_pair(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  constexpr int from_width = from == Type::f16x2 ? 16 : 8, to_width = to == Type::f16x2 ? 16 : 8;
  each(mask, [&](std::uint32_t i) {
    const auto half = [&](int k) -> std::uint64_t {
      double value = value_of(format_of_pair(from), static_cast<std::uint32_t>(a[i] >> (k * from_width)) &
                                                        ((1u << from_width) - 1));
      if ((op.detail & rectify) != 0 && value < 0) value = 0;
      return round_to(format_of_pair(to), value, rounding(op), (op.detail & finite) != 0);
    };
    d[i] = half(1) << to_width | half(0);
  });
}

// ---- choice

template <Type from>
Handler from_float(Type to) {
  switch (to) {
    case Type::f16:
      return &floats<from, Type::f16>;
    case Type::bf16:
      return &floats<from, Type::bf16>;
    case Type::f32:
      return &floats<from, Type::f32>;
    case Type::f64:
      return &floats<from, Type::f64>;
    case Type::tf32:
      return &floats<from, Type::tf32>;
    default:
      return for_integer(
          to, [](auto t) -> Handler { return &float_to_integer<from, typename decltype(t)::type>; });
  }
}

Handler from_integer(Type from, Type to) {
  return for_integer(from, [&](auto f) -> Handler {
    using From = typename decltype(f)::type;
    switch (to) {
      case Type::f32:
        return &integer_to_float<From, float>;
      case Type::f64:
        return &integer_to_float<From, double>;
      case Type::f16:
        return &integer_to_half<From, false>;
      case Type::bf16:
        return &integer_to_half<From, true>;
      default:
        return nullptr;
    }
  });
}

Handler choose(Type from, Type to, bool sat) {
  if (from == Type::f16x2 && to == Type::e4m3x2) return &pair_from_pair<Type::f16x2, Type::e4m3x2>;
  if (from == Type::f16x2 && to == Type::e5m2x2) return &pair_from_pair<Type::f16x2, Type::e5m2x2>;
  if (from == Type::e4m3x2 && to == Type::f16x2) return &pair_from_pair<Type::e4m3x2, Type::f16x2>;
  if (from == Type::e5m2x2 && to == Type::f16x2) return &pair_from_pair<Type::e5m2x2, Type::f16x2>;
  switch (from) {
    case Type::f16:
      return from_float<Type::f16>(to);
    case Type::bf16:
      return from_float<Type::bf16>(to);
    case Type::f32:
    case Type::tf32:
      return from_float<Type::f32>(to);
    case Type::f64:
      return from_float<Type::f64>(to);
    default:
      break;
  }
  return is_float(to) ? from_integer(from, to) : integer_conversion(from, to, sat);
}

Handler pair_of(Type to) {
  switch (to) {
    case Type::f16x2:
      return &pair_from_floats<Type::f16x2>;
    case Type::bf16x2:
      return &pair_from_floats<Type::bf16x2>;
    case Type::e4m3x2:
      return &pair_from_floats<Type::e4m3x2>;
    case Type::e5m2x2:
      return &pair_from_floats<Type::e5m2x2>;
    default:
      return nullptr;
  }
}

std::uint8_t detail_of(const Words& words, Type from, Type to) {
  std::uint8_t detail = 0;
  const auto round = [&](std::string_view nearest, std::string_view zero, std::string_view down,
                         std::string_view up) {
    if (words.has(zero))
      detail = static_cast<std::uint8_t>(Rounding::to_zero);
    else if (words.has(down))
      detail = static_cast<std::uint8_t>(Rounding::down);
    else if (words.has(up))
      detail = static_cast<std::uint8_t>(Rounding::up);
    else
      return words.has(nearest);
    return true;
  };
  const bool to_whole = round("rni", "rzi", "rmi", "rpi");
  if (!to_whole && !round("rn", "rz", "rm", "rp") && words.has("rna"))
    detail = static_cast<std::uint8_t>(Rounding::nearest_away);
  // Without a rounding, a float becomes an integer towards zero.
  if (!to_whole && is_float(from) && !is_float(to)) detail = static_cast<std::uint8_t>(Rounding::to_zero);
  if (to_whole) detail |= to_integral;
  if (words.has("ftz")) detail |= flush;
  if (words.has("sat")) detail |= saturate;
  if (words.has("relu")) detail |= rectify;
  if (words.has("satfinite")) detail |= finite;
  return detail;
}

}  // namespace

bool decode_convert(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words.has("pack") || words.has("rs")) return decoder.unsupported();
  const auto to = words.type(0), from = words.type(1);
  if (decoder.count() < 2) return decoder.fail("wrong number of operands");
  op.detail = detail_of(words, from, to);
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, from);
  if (decoder.count() == 3) {
    op.b = decoder.source(2, from);
    op.run = from == Type::f32 ? pair_of(to) : nullptr;
  } else if (decoder.count() == 2) {
    op.run = choose(from, to, words.has("sat"));
  }
  return op.run != nullptr || decoder.unsupported();
}

}  // namespace warptime::execute
