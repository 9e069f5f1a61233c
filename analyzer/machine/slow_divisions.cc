#include "analyzer/machine/slow_divisions.h"

#include <bit>
#include <vector>

#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr double kShareOfWarps = 0.75;
constexpr int kMostSteps = 6;

// What a warp executes on the slow way, and how much longer it takes (data/hardware/h200_slow_divisions.csv: 213 cycles
// with a numerator of 0 in all threads and 230 in one, 305 and 323 with 8 bytes; 42 and 74 of a partition for each of many warps).
MachineWork slow_way(bool wide) {
  MachineWork work;
  work[Pipe::alu] = wide ? 36 : 19;
  work[Pipe::fma] = wide ? 14 : 9;
  work[Pipe::fp64] = wide ? 8 : 0;
  work[Pipe::cbu] = wide ? 16 : 14;
  work.cycles = wide ? 314 : 222;
  return work;
}

class ZeroNumerators {
 public:
  explicit ZeroNumerators(const analysis::KernelCode& code) : code_(code) {
    const auto& function = code.function();
    definitions_.assign(function.registers.size(), kNone);
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
      const auto& one = function.instructions[i];
      if (one.operand_count == 0) continue;
      const auto& target = code.operands()[one.first_operand];
      if (target.kind != ptx::Operand::Kind::reg || target.symbol >= definitions_.size()) continue;
      auto& known = definitions_[target.symbol];
      known = known == kNone ? i : kSeveral;
    }
  }

  // Whether it is 0 where a predicate, or a sign, says so.
  bool may_be_zero(const ptx::Operand& operand, int steps = kMostSteps) const {
    if (operand.kind != ptx::Operand::Kind::reg || operand.symbol >= definitions_.size() || steps == 0)
      return false;
    const std::uint32_t at = definitions_[operand.symbol];
    if (at >= kSeveral) return false;
    const auto& one = code_.function().instructions[at];
    const auto word = ptx::first_word(one);
    const auto in = [&](std::uint32_t i) -> const ptx::Operand& {
      return code_.operands()[one.first_operand + i];
    };
    if ((word == "selp" || word == "max" || word == "min") && one.operand_count >= 3)
      return is_zero(in(1)) || is_zero(in(2));
    if (word == "mul" && one.operand_count == 3)
      return may_be_zero(in(1), steps - 1) || may_be_zero(in(2), steps - 1);
    if ((word == "neg" || word == "abs" || word == "mov") && one.operand_count == 2)
      return may_be_zero(in(1), steps - 1);
    return false;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0}, kSeveral = kNone - 1;

  static bool is_zero(const ptx::Operand& operand) {
    return operand.kind == ptx::Operand::Kind::floating && std::bit_cast<double>(operand.value) == 0;
  }

  const analysis::KernelCode& code_;
  std::vector<std::uint32_t> definitions_;  // by register
};

}  // namespace

void add_slow_divisions(Estimate& work, const analysis::KernelCode& code) {
  const auto& instructions = code.function().instructions;
  std::vector<std::uint32_t> divisions;
  for (std::uint32_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].opcode.starts_with("div.rn.f") && instructions[i].operand_count == 3)
      divisions.push_back(i);
  if (divisions.empty() || work.each.size() != instructions.size()) return;
  const ZeroNumerators zeros(code);
  for (const std::uint32_t i : divisions)
    if (zeros.may_be_zero(code.operands()[instructions[i].first_operand + 1]))
      work.each[i].add(slow_way(instructions[i].opcode.ends_with("f64")), kShareOfWarps);
}

}  // namespace warptime::machine
