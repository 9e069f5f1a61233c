// f16, bf16, and two of them in a register. Each operation is done in double, of which the last bit says
// whether there was more, and rounded once.
#include <cmath>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/half.h"
#include "analyzer/execute/lanes.h"

namespace warptime::execute {
namespace {

enum class Operation : std::uint8_t { add, sub, mul, fma, min, max, neg, abs, ex2, tanh };

// What `detail` says.
constexpr std::uint8_t brain = 1, pairs = 2, ftz = 4, sat = 8, relu = 16, nan_wins = 32, xor_sign = 64;

struct Number {
  std::uint16_t bits;
  double value;
};

double extreme(double a, double b, bool least, std::uint8_t detail) {
  const bool minus = (detail & xor_sign) != 0 && std::signbit(a) != std::signbit(b);
  if ((detail & xor_sign) != 0) a = std::fabs(a), b = std::fabs(b);
  double result = 0;
  if (std::isnan(a) || std::isnan(b))
    result = (detail & nan_wins) != 0 || (std::isnan(a) && std::isnan(b)) ? NAN : std::isnan(a) ? b : a;
  else if (a == b)
    result = std::signbit(a) == least ? a : b;
  else
    result = (a < b) == least ? a : b;
  return minus ? -result : result;
}

double computed(Operation operation, double a, double b, double c, std::uint8_t detail) {
  switch (operation) {
    case Operation::add:
      return sum_to_odd(a, b);
    case Operation::sub:
      return sum_to_odd(a, -b);
    case Operation::mul:
      return a * b;
    case Operation::fma:
      return sum_to_odd(a * b, c);
    case Operation::min:
      return extreme(a, b, true, detail);
    case Operation::max:
      return extreme(a, b, false, detail);
    case Operation::ex2:
      return std::exp2(a);
    case Operation::tanh:
      return std::tanh(a);
    case Operation::neg:
    case Operation::abs:
      break;
  }
  return a;
}

std::uint16_t flushed(std::uint16_t bits, std::uint8_t detail) {
  const std::uint16_t exponent = (detail & brain) != 0 ? 0x7f80 : 0x7c00;
  return (detail & ftz) != 0 && (bits & exponent) == 0 ? bits & 0x8000 : bits;
}

std::uint16_t one(Operation operation, std::uint16_t a, std::uint16_t b, std::uint16_t c,
                  std::uint8_t detail) {
  a = flushed(a, detail), b = flushed(b, detail), c = flushed(c, detail);
  if (operation == Operation::neg) return a ^ 0x8000;
  if (operation == Operation::abs) return a & 0x7fff;
  const auto& format = (detail & brain) != 0 ? brain_format : half_format;
  double result = computed(operation, value_of(format, a), value_of(format, b), value_of(format, c), detail);
  if ((detail & sat) != 0) result = !(result > 0) ? 0 : std::fmin(result, 1);
  if ((detail & relu) != 0 && result < 0) result = 0;
  return flushed(static_cast<std::uint16_t>(round_to(format, result, Rounding::nearest_even)), detail);
}

template <Operation operation>
void halves(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  auto* d = warp.out(op.d);
  const auto part = [](std::uint64_t slot, int shift) { return static_cast<std::uint16_t>(slot >> shift); };
  each(mask, [&](std::uint32_t i) {
    std::uint64_t result = one(operation, part(a[i], 0), part(b[i], 0), part(c[i], 0), op.detail);
    if ((op.detail & pairs) != 0)
      result |= std::uint64_t{one(operation, part(a[i], 16), part(b[i], 16), part(c[i], 16), op.detail)}
                << 16;
    d[i] = result;
  });
}

struct Named {
  std::string_view name;
  Handler handler;
  std::size_t sources;
};
constexpr Named operations[] = {
    {"add", &halves<Operation::add>, 2}, {"sub", &halves<Operation::sub>, 2},
    {"mul", &halves<Operation::mul>, 2}, {"fma", &halves<Operation::fma>, 3},
    {"min", &halves<Operation::min>, 2}, {"max", &halves<Operation::max>, 2},
    {"neg", &halves<Operation::neg>, 1}, {"abs", &halves<Operation::abs>, 1},
    {"ex2", &halves<Operation::ex2>, 1}, {"tanh", &halves<Operation::tanh>, 1},
};

}  // namespace

bool decode_half(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto type = words.last_type();
  std::uint8_t detail = 0;
  if (type == Type::bf16 || type == Type::bf16x2) detail |= brain;
  if (type == Type::f16x2 || type == Type::bf16x2) detail |= pairs;
  if (detail == 0 && type != Type::f16) return decoder.unsupported();
  if (words.has("ftz")) detail |= ftz;
  if (words.has("sat")) detail |= sat;
  if (words.has("relu")) detail |= relu;
  if (words.has("NaN")) detail |= nan_wins;
  if (words.has("xorsign")) detail |= xor_sign;
  op.detail = detail;
  for (const auto& operation : operations) {
    if (operation.name != words[0]) continue;
    if (words.type(0) != type) return decoder.unsupported();  // mixed precision
    if (decoder.count() != operation.sources + 1) return decoder.fail("wrong number of operands");
    op.run = operation.handler;
    op.d = decoder.destination(std::size_t{0});
    op.a = decoder.source(1, type);
    op.b = operation.sources > 1 ? decoder.source(2, type) : op.a;
    op.c = operation.sources > 2 ? decoder.source(3, type) : op.a;
    return true;
  }
  return decoder.unsupported();
}

}  // namespace warptime::execute
