#include "analyzer/cfg/slow_paths.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "analyzer/ptx/opcodes.h"

namespace warptime::analysis {
namespace {

using ptx::Operand;

// From here on CUDA's mathematical functions have another path:
constexpr std::array<double, 3> kLimits = {
    105615,                 // sinf, cosf, tanf: an angle is reduced with integers (Payne and Hanek)
    2147483648.0,           // sin, cos, tan
    4.1917929649353027344,  // exp, pow: the upper half of 708.4 as a single-precision number
};

// fmodf, remainderf: a quotient that takes more than one digit of 23 bits.
constexpr double kDigit = 8388608;

bool is_constant(const Operand& operand, double value) {
  return operand.kind == Operand::Kind::floating && std::bit_cast<double>(operand.value) == value;
}

bool is_limit(const Operand& operand) {
  return operand.kind == Operand::Kind::floating &&
         std::find(kLimits.begin(), kLimits.end(), std::bit_cast<double>(operand.value)) != kLimits.end();
}

// The subtractions of a loop of shifts and subtractions of 64 bits, or 0 for another loop.
int division_steps(const ptx::Function& function, const Cfg& cfg, std::uint32_t loop) {
  int subtractions = 0, selections = 0, doublings = 0;
  for (const std::uint32_t b : cfg.loops[loop].blocks)
    for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) {
      const auto& opcode = function.instructions[i].opcode;
      const auto word = ptx::first_word(function.instructions[i]);
      subtractions += opcode == "sub.s64";
      selections += opcode == "selp.b64";
      doublings += opcode == "shl.b64";
      const bool expected = word == "sub" || word == "selp" || word == "shl" || word == "add" ||
                            word == "setp" || word == "mov" || word == "bra" || word == "and" ||
                            word == "cvt";
      if (!expected) return 0;
    }
  return subtractions == selections && subtractions == doublings ? subtractions : 0;
}

class SlowPaths {
 public:
  SlowPaths(const KernelCode& code, const Cfg& cfg)
      : function_(code.function()), operands_(code.operands()), cfg_(cfg), slow_(cfg.blocks.size(), false) {}

  std::vector<bool> find() {
    for (const Block& block : cfg_.blocks) look_at(block);
    look_for_unrolled_divisions();
    look_for_digits();
    return std::move(slow_);
  }

 private:
  const Operand& operand(const ptx::Instruction& instruction, std::uint32_t which) const {
    return operands_[instruction.first_operand + which];
  }

  // `setp.ltu.f32 p, |x|, 105615; @p bra fast`: the other side, or the first with `ge`.
  void look_at(const Block& block) {
    if (block.end == block.first || block.successors.size() != 2) return;
    const ptx::Instruction& branch = function_.instructions[block.end - 1];
    if (branch.guard == ptx::no_index) return;
    const Operand& guard = operands_[branch.guard];
    const Comparison found = comparison_for(guard, block);
    if (found.where == nullptr) return;
    const ptx::Instruction& one = function_.instructions[found.at];
    const auto is_limit_here = [&](const Operand& side) {
      return is_limit(side) || is_multiple_of_digit(side, *found.where, found.at);
    };
    const bool right = is_limit_here(operand(one, 2)), left = is_limit_here(operand(one, 1));
    if (left == right) return;
    const bool less = one.opcode.starts_with("setp.l"), greater = one.opcode.starts_with("setp.g");
    if (less == greater) return;
    const bool taken_is_slow = (greater == right) != guard.negated;
    mark(block.successors[taken_is_slow ? 0 : 1]);
  }

  struct Comparison {
    std::uint32_t at = 0;
    const Block* where = nullptr;  // null: there is none, or more than one
  };

  bool sets(std::uint32_t at, const Operand& predicate) const {
    const ptx::Instruction& one = function_.instructions[at];
    return ptx::first_word(one) == "setp" && one.operand_count >= 3 &&
           operand(one, 0).symbol == predicate.symbol;
  }

  // What a branch at the end of a block depends on: a comparison in the block, or the only one that sets its predicate (that of
  // `sinf(x)` for a `cosf(x)` behind it).
  Comparison comparison_for(const Operand& predicate, const Block& block) {
    for (std::uint32_t i = block.end - 1; i-- > block.first;)
      if (sets(i, predicate)) return {i, &block};
    if (only_.empty()) find_only_comparisons();
    const auto only = only_.find(predicate.symbol);
    return only == only_.end() ? Comparison() : only->second;
  }

  void find_only_comparisons() {
    for (const Block& block : cfg_.blocks)
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        const ptx::Instruction& one = function_.instructions[i];
        if (ptx::first_word(one) != "setp" || one.operand_count < 3) continue;
        const auto [known, fresh] = only_.try_emplace(operand(one, 0).symbol, Comparison{i, &block});
        if (!fresh) known->second = {};
      }
  }

  // `mul.f32 r, |y|, 8388608` before instruction `before` of the block.
  bool is_multiple_of_digit(const Operand& side, const Block& block, std::uint32_t before) const {
    for (std::uint32_t i = before; i-- > block.first;) {
      const ptx::Instruction& one = function_.instructions[i];
      if (one.opcode == "mul.f32" && one.operand_count == 3 && operand(one, 0).symbol == side.symbol)
        return is_constant(operand(one, 1), kDigit) || is_constant(operand(one, 2), kDigit);
    }
    return false;
  }

  // The long division of fmod for doubles: its loops of one step are for every argument, those of several for
  // quotients of many bits. A branch that leads to the latter alone leads to a slow path.
  void look_for_unrolled_divisions() {
    std::vector<std::uint32_t> single, several;
    for (std::uint32_t l = 0; l < cfg_.loops.size(); ++l) {
      const int steps = division_steps(function_, cfg_, l);
      if (steps != 0) (steps == 1 ? single : several).push_back(cfg_.loops[l].header);
    }
    if (several.empty()) return;
    const auto dominates_one_of = [&](std::uint32_t block, const std::vector<std::uint32_t>& headers) {
      return std::any_of(headers.begin(), headers.end(),
                         [&](std::uint32_t header) { return cfg_.dominates(block, header); });
    };
    for (const Block& block : cfg_.blocks)
      if (block.reachable && block.successors.size() == 2)
        for (const std::uint32_t side : block.successors)
          if (dominates_one_of(side, several) && !dominates_one_of(side, single)) mark(side);
  }

  // The loop over digits of fmodf where the divisor is a constant, and the limit one, too: `min.u32 r, left, 23 << 23`.
  // The innermost branch around it on a comparison of floats leads there.
  void look_for_digits() {
    for (const Loop& loop : cfg_.loops) {
      if (!takes_digits(loop)) continue;
      std::uint32_t innermost = none;
      for (const Block& block : cfg_.blocks) {
        if (!block.reachable || block.successors.size() != 2 || !compares_floats(block)) continue;
        for (const std::uint32_t side : block.successors)
          if (cfg_.blocks[side].predecessors.size() == 1 && cfg_.dominates(side, loop.header) &&
              (innermost == none || cfg_.dominates(innermost, side)))
            innermost = side;
      }
      if (innermost != none) mark(innermost);
    }
  }

  bool takes_digits(const Loop& loop) const {
    for (const std::uint32_t b : loop.blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        const ptx::Instruction& one = function_.instructions[i];
        if (one.opcode == "min.u32" && one.operand_count == 3 &&
            operand(one, 2).kind == Operand::Kind::integer && operand(one, 2).value == 23u << 23)
          return true;
      }
    return false;
  }

  bool compares_floats(const Block& block) const {
    if (block.end == block.first) return false;
    const ptx::Instruction& branch = function_.instructions[block.end - 1];
    if (branch.guard == ptx::no_index) return false;
    for (std::uint32_t i = block.end - 1; i-- > block.first;) {
      const ptx::Instruction& one = function_.instructions[i];
      if (ptx::first_word(one) == "setp" && operand(one, 0).symbol == operands_[branch.guard].symbol)
        return one.opcode.ends_with(".f32");
    }
    return false;
  }

  void mark(std::uint32_t first) {
    if (cfg_.blocks[first].predecessors.size() != 1) return;
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      if (cfg_.blocks[b].reachable && cfg_.dominates(first, b)) slow_[b] = true;
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  const Cfg& cfg_;
  std::vector<bool> slow_;
  std::unordered_map<std::uint32_t, Comparison> only_;  // by predicate; made when it is needed
};

}  // namespace

std::vector<bool> slow_paths(const KernelCode& code, const Cfg& cfg) {
  return SlowPaths(code, cfg).find();
}

bool has_subroutine(const ptx::Instruction& one) {
  if (one.info == nullptr || !one.info->is(ptx::slow)) return false;
  if (ptx::has_part(one.opcode, "approx") || ptx::has_part(one.opcode, "full")) return false;
  return ptx::has_part(one.opcode, "rn") || ptx::has_part(one.opcode, "f64");
}

bool is_long_division(const KernelCode& code, const Cfg& cfg, std::uint32_t loop) {
  return division_steps(code.function(), cfg, loop) != 0;
}

}  // namespace warptime::analysis
