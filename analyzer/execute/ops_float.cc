// Floating point of f32 and f64. Compiled with -frounding-math: the rounding mode is the host's own, set
// around the lanes.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/execute/rounding.h"

namespace warptime::execute {
namespace {

// Subnormals to zero of the same sign.
template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
}

// Every f32 NaN that is computed is this one.
template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
  else
    return value;
}

template <class T>
T saturated(T value) {
  if (!(value > 0)) return 0;  // NaN too
  return value > 1 ? T{1} : value;
}

// What .ftz and .sat do to operands and results.
template <bool ftz, bool sat>
struct Style {
  template <class T>
  static T in(T value) {
    return ftz ? flushed(value) : value;
  }
  template <class T>
  static T out(T value) {
    if (sat)
      value = saturated(value);
    else
      value = canonical(value);
    return ftz ? flushed(value) : value;
  }
};

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Fma {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct SquareRoot {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return 1 / a;
  }
};

// The approximations: the double result, rounded.
template <class T, class F>
T by_double(T a, F&& f) {
  return static_cast<T>(f(static_cast<double>(a)));
}
struct ReciprocalSquareRoot {
  template <class T>
  static T of(T a) {
    if (a == 0) return std::copysign(std::numeric_limits<T>::infinity(), a);
    return by_double(a, [](double x) { return 1 / std::sqrt(x); });
  }
};
struct Sine {
  template <class T>
  static T of(T a) {
    return by_double(a, [](double x) { return std::sin(x); });
  }
};
struct Cosine {
  template <class T>
  static T of(T a) {
    return by_double(a, [](double x) { return std::cos(x); });
  }
};
struct Exp2 {
  template <class T>
  static T of(T a) {
    return by_double(a, [](double x) { return std::exp2(x); });
  }
};
struct Log2 {
  template <class T>
  static T of(T a) {
    return by_double(a, [](double x) { return std::log2(x); });
  }
};
struct Tanh {
  template <class T>
  static T of(T a) {
    return by_double(a, [](double x) { return std::tanh(x); });
  }
};

// The other operand where one is NaN; -0 is less than +0.
template <bool least>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == least ? a : b;
    return (a < b) == least ? a : b;
  }
};
template <bool least>
struct ExtremeNan {
  template <class T>
  static T of(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    return Extreme<least>::of(a, b);
  }
};
template <class F>
struct XorSign {
  template <class T>
  static T of(T a, T b) {
    const T result = F::of(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -result : result;
  }
};

template <class T, class F, class S>
void one(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = widen(S::out(F::of(S::in(narrow<T>(a[i]))))); });
}
template <class T, class F, class S>
void two(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  each(mask,
       [&](std::uint32_t i) { d[i] = widen(S::out(F::of(S::in(narrow<T>(a[i])), S::in(narrow<T>(b[i]))))); });
}
template <class T, class F, class S>
void three(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = widen(S::out(F::of(S::in(narrow<T>(a[i])), S::in(narrow<T>(b[i])), S::in(narrow<T>(c[i])))));
  });
}
// f32x2: two f32 in a register.
template <class F, class S, int sources>
void packed(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(sources > 2 ? op.c : op.b);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    const auto half = [&](int shift) -> std::uint64_t {
      const auto part = [&](std::uint64_t slot) { return S::in(narrow<float>(slot >> shift)); };
      if constexpr (sources == 3)
        return widen(S::out(F::of(part(a[i]), part(b[i]), part(c[i])))) << shift;
      else
        return widen(S::out(F::of(part(a[i]), part(b[i])))) << shift;
    };
    d[i] = half(0) | half(32);
  });
}

// ---- rounding

template <Handler inner>
void rounded(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  std::fesetround(host_roundings[op.detail]);
  inner(warp, op, mask);
  std::fesetround(FE_TONEAREST);
}

std::uint8_t rounding_of(const Words& words) {
  return words.has("rz") ? 1 : words.has("rm") ? 2 : words.has("rp") ? 3 : 0;
}

enum class Arity { unary, binary, ternary };

template <class T, class F, Arity arity, bool ftz, bool sat>
Handler styled(bool directed) {
  using S = Style<ftz, sat>;
  if constexpr (arity == Arity::unary)
    return directed ? &rounded<&one<T, F, S>> : &one<T, F, S>;
  else if constexpr (arity == Arity::binary)
    return directed ? &rounded<&two<T, F, S>> : &two<T, F, S>;
  else
    return directed ? &rounded<&three<T, F, S>> : &three<T, F, S>;
}

template <class F, Arity arity>
Handler handler_of(const Words& words, Type type, DecodedInstruction& op) {
  op.detail = rounding_of(words);
  const bool directed = op.detail != 0;
  const bool sat = words.has("sat"), ftz = words.has("ftz");
  if (type == Type::f64) return sat || ftz ? nullptr : styled<double, F, arity, false, false>(directed);
  if (type != Type::f32) return nullptr;
  if (ftz)
    return sat ? styled<float, F, arity, true, true>(directed)
               : styled<float, F, arity, true, false>(directed);
  return sat ? styled<float, F, arity, false, true>(directed)
             : styled<float, F, arity, false, false>(directed);
}

template <class F, int sources>
Handler packed_of(const Words& words, DecodedInstruction& op) {
  op.detail = rounding_of(words);
  using Plain = Style<false, false>;
  using Flushing = Style<true, false>;
  if (words.has("sat")) return nullptr;
  if (words.has("ftz"))
    return op.detail != 0 ? &rounded<&packed<F, Flushing, sources>> : &packed<F, Flushing, sources>;
  return op.detail != 0 ? &rounded<&packed<F, Plain, sources>> : &packed<F, Plain, sources>;
}

template <bool least>
Handler extreme_of(const Words& words, Type type, DecodedInstruction& op) {
  if (words.has("xorsign"))
    return words.has("NaN") ? handler_of<XorSign<ExtremeNan<least>>, Arity::binary>(words, type, op)
                            : handler_of<XorSign<Extreme<least>>, Arity::binary>(words, type, op);
  return words.has("NaN") ? handler_of<ExtremeNan<least>, Arity::binary>(words, type, op)
                          : handler_of<Extreme<least>, Arity::binary>(words, type, op);
}

// ---- signs: they change no NaN, and are no arithmetic but for .ftz

template <class T, bool negates, bool ftz>
void sign(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits top = Bits{1} << (sizeof(T) * 8 - 1);
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    auto bits = static_cast<Bits>(a[i]);
    if (ftz) bits = std::bit_cast<Bits>(flushed(std::bit_cast<T>(bits)));
    d[i] = negates ? bits ^ top : bits & static_cast<Bits>(~top);
  });
}

template <bool negates>
Handler sign_of(const Words& words, Type type) {
  if (type == Type::f64) return &sign<double, negates, false>;
  if (type != Type::f32) return nullptr;
  return words.has("ftz") ? &sign<float, negates, true> : &sign<float, negates, false>;
}

// copysign d, a, b: the sign of a, the rest of b.
template <class Bits>
void copy_sign(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  constexpr Bits top = Bits{1} << (sizeof(Bits) * 8 - 1);
  const auto *a = warp.at(op.a), *b = warp.at(op.b);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    d[i] = (static_cast<Bits>(a[i]) & top) | (static_cast<Bits>(b[i]) & static_cast<Bits>(~top));
  });
}

// ---- testp; detail: which property

constexpr std::string_view properties[] = {"finite",     "infinite", "number",
                                           "notanumber", "normal",   "subnormal"};

template <class T>
bool has_property(T value, std::uint8_t property) {
  switch (property) {
    case 0:
      return std::isfinite(value);
    case 1:
      return std::isinf(value);
    case 2:
      return !std::isnan(value);
    case 3:
      return std::isnan(value);
    case 4:
      return std::isnormal(value);
    default:
      return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <class T>
void test_property(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  std::uint32_t result = 0;
  each(mask,
       [&](std::uint32_t i) { result |= std::uint32_t{has_property(narrow<T>(a[i]), op.detail)} << i; });
  warp.set_predicate(op.pd, mask, result);
}

bool decode_test(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto type = words.last_type();
  if (decoder.count() != 2 || (type != Type::f32 && type != Type::f64)) return decoder.unsupported();
  bool found = false;
  for (std::uint8_t i = 0; i < std::size(properties); ++i)
    if (words.has(properties[i])) op.detail = i, found = true;
  if (!found) return decoder.unsupported();
  op.pd = decoder.predicate_destination(decoder.operand(0));
  op.a = decoder.source(1, type);
  op.run = type == Type::f32 ? &test_property<float> : &test_property<double>;
  return true;
}

template <class F, int sources>
Handler packed_or_one(const Words& words, Type type, DecodedInstruction& op) {
  if (type == Type::f32x2) return packed_of<F, sources>(words, op);
  return handler_of < F, sources == 3 ? Arity::ternary : Arity::binary > (words, type, op);
}

template <bool keep>
Handler sign_only(const Words& words, Type type, DecodedInstruction&) {
  return sign_of<keep>(words, type);
}

Handler copy_sign_of(const Words&, Type type, DecodedInstruction&) {
  return type == Type::f64   ? &copy_sign<std::uint64_t>
         : type == Type::f32 ? &copy_sign<std::uint32_t>
                             : nullptr;
}

struct FloatOp {
  std::string_view name;
  std::uint8_t sources;
  Handler (*choose)(const Words& words, Type type, DecodedInstruction& op);
};

constexpr FloatOp float_ops[] = {
    {"abs", 1, sign_only<false>},
    {"add", 2, packed_or_one<Add, 2>},
    {"copysign", 2, copy_sign_of},
    {"cos", 1, handler_of<Cosine, Arity::unary>},
    {"div", 2, handler_of<Divide, Arity::binary>},
    {"ex2", 1, handler_of<Exp2, Arity::unary>},
    {"fma", 3, packed_or_one<Fma, 3>},
    {"lg2", 1, handler_of<Log2, Arity::unary>},
    {"mad", 3, packed_or_one<Fma, 3>},
    {"max", 2, extreme_of<false>},
    {"min", 2, extreme_of<true>},
    {"mul", 2, packed_or_one<Multiply, 2>},
    {"neg", 1, sign_only<true>},
    {"rcp", 1, handler_of<Reciprocal, Arity::unary>},
    {"rsqrt", 1, handler_of<ReciprocalSquareRoot, Arity::unary>},
    {"sin", 1, handler_of<Sine, Arity::unary>},
    {"sqrt", 1, handler_of<SquareRoot, Arity::unary>},
    {"sub", 2, packed_or_one<Subtract, 2>},
    {"tanh", 1, handler_of<Tanh, Arity::unary>},
};

Handler choose(const Words& words, Type type, DecodedInstruction& op, std::size_t& sources) {
  const auto* known = std::find_if(std::begin(float_ops), std::end(float_ops),
                                   [&](const FloatOp& o) { return o.name == words[0]; });
  if (known == std::end(float_ops)) return nullptr;
  sources = known->sources;
  return known->choose(words, type, op);
}

}  // namespace

bool decode_float(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[0] == "testp") return decode_test(decoder, words, op);
  auto type = words.last_type();
  if (type != Type::f32 && type != Type::f64 && type != Type::f32x2) return decode_half(decoder, words, op);
  // rcp.approx.ftz.f64 and its kin.
  std::size_t sources = 0;
  const bool approximate_f64 =
      type == Type::f64 && words.has("ftz") && (words[0] == "rcp" || words[0] == "rsqrt");
  op.run = approximate_f64
               ? (words[0] == "rcp" ? Handler{&one<double, Reciprocal, Style<true, false>>}
                                    : Handler{&one<double, ReciprocalSquareRoot, Style<true, false>>})
               : choose(words, type, op, sources);
  if (approximate_f64) sources = 1;
  if (op.run == nullptr) return decoder.unsupported();
  // min and max of three.
  if ((words[0] == "min" || words[0] == "max") && decoder.count() == 4) return decoder.unsupported();
  if (decoder.count() != sources + 1) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, type);
  if (sources > 1) op.b = decoder.source(2, type);
  if (sources > 2) op.c = decoder.source(3, type);
  return true;
}

}  // namespace warptime::execute
