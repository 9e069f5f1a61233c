#include "analyzer/symbolic/float_constants.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/evaluate.h"
#include "analyzer/symbolic/ptx_types.h"

namespace warptime::analysis {
namespace {

class FloatConstants {
 public:
  explicit FloatConstants(const Evaluator& evaluator) : evaluator_(evaluator) {}

  std::optional<double> of(const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::floating) {
      const auto number = std::bit_cast<double>(operand.value);
      return operand.negated ? -number : number;
    }
    if (operand.kind != ptx::Operand::Kind::reg || --steps_ < 0) return std::nullopt;
    const auto definition = evaluator_.only_definition(operand.symbol);
    if (!definition) return std::nullopt;
    const auto number = result(evaluator_.function().instructions[*definition]);
    return number && operand.negated ? -*number : number;
  }

 private:
  static double rounded(double value, bool narrow) {
    return narrow ? static_cast<double>(static_cast<float>(value)) : value;
  }

  std::optional<double> result(const ptx::Instruction& instruction) {
    const std::string_view opcode = instruction.opcode, type = last_word(opcode);
    const ptx::FirstWord word = ptx::first_word(instruction);
    const bool narrow = type == "f32";
    if ((!narrow && type != "f64") || instruction.guard != ptx::no_index) return std::nullopt;
    if (instruction.operand_count < 2) return std::nullopt;
    for (const std::string_view other : {"rz", "rm", "rp", "sat", "cc", "ftz"})
      if (ptx::has_part(opcode, other)) return std::nullopt;
    std::optional<double> in[3];
    const std::size_t count = std::min<std::size_t>(instruction.operand_count - 1, 3);
    for (std::size_t i = 0; i < count; ++i) {
      in[i] = of(evaluator_.operands()[instruction.first_operand + 1 + i]);
      if (!in[i]) return std::nullopt;
    }
    if (count == 1) return of_one(word, opcode, *in[0], narrow);
    if (count == 2) return of_two(word, *in[0], *in[1], narrow);
    if (!(word == "fma") || count != 3) return std::nullopt;
    if (!narrow) return std::fma(*in[0], *in[1], *in[2]);
    return std::fmaf(static_cast<float>(*in[0]), static_cast<float>(*in[1]), static_cast<float>(*in[2]));
  }

  static std::optional<double> of_one(ptx::FirstWord word, std::string_view opcode, double x, bool narrow) {
    if (word == "mov") return x;
    if (word == "abs") return std::fabs(x);
    if (word == "neg") return -x;
    if (!(word == "cvt") || !(opcode.ends_with(".f32.f32") || opcode.ends_with(".f64.f64") ||
                              opcode.ends_with(".f32.f64") || opcode.ends_with(".f64.f32")))
      return std::nullopt;
    if (ptx::has_part(opcode, "rzi")) x = std::trunc(x);
    if (ptx::has_part(opcode, "rni")) x = std::nearbyint(x);
    if (ptx::has_part(opcode, "rmi")) x = std::floor(x);
    if (ptx::has_part(opcode, "rpi")) x = std::ceil(x);
    return rounded(x, narrow);
  }

  static std::optional<double> of_two(ptx::FirstWord word, double a, double b, bool narrow) {
    if (word == "add") return rounded(a + b, narrow);
    if (word == "sub") return rounded(a - b, narrow);
    if (word == "mul") return rounded(a * b, narrow);
    if (word == "min") return std::fmin(a, b);
    if (word == "max") return std::fmax(a, b);
    return std::nullopt;
  }

  const Evaluator& evaluator_;
  int steps_ = 16;
};

}  // namespace

std::optional<double> float_constant(const Evaluator& evaluator, const ptx::Operand& operand) {
  return FloatConstants(evaluator).of(operand);
}

std::optional<bool> compare_floats(std::string_view comparison, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  const bool or_unordered = comparison.size() == 3 && comparison[2] == 'u';  // equ, neu, ltu, …
  const auto name = or_unordered ? comparison.substr(0, 2) : comparison;
  std::optional<bool> holds;
  if (name == "eq") holds = a == b;
  if (name == "ne") holds = a != b;
  if (name == "lt") holds = a < b;
  if (name == "le") holds = a <= b;
  if (name == "gt") holds = a > b;
  if (name == "ge") holds = a >= b;
  return holds && unordered ? or_unordered : holds;
}

}  // namespace warptime::analysis
