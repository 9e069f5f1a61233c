#include "analyzer/cfg/slow_paths.h"

#include <algorithm>
#include <array>
#include <bit>

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

bool is_limit(const Operand& operand) {
  return operand.kind == Operand::Kind::floating &&
         std::find(kLimits.begin(), kLimits.end(), std::bit_cast<double>(operand.value)) != kLimits.end();
}

class SlowPaths {
 public:
  SlowPaths(const KernelCode& code, const Cfg& cfg)
      : function_(code.function()), operands_(code.operands()), cfg_(cfg), slow_(cfg.blocks.size(), false) {}

  std::vector<bool> find() {
    for (const Block& block : cfg_.blocks) look_at(block);
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
    for (std::uint32_t i = block.end - 1; i-- > block.first;) {
      const ptx::Instruction& one = function_.instructions[i];
      if (ptx::first_word(one) != "setp" || one.operand_count < 3 || operand(one, 0).symbol != guard.symbol)
        continue;
      const bool right = is_limit(operand(one, 2)), left = is_limit(operand(one, 1));
      if (left == right) return;
      const bool less = one.opcode.starts_with("setp.l"), greater = one.opcode.starts_with("setp.g");
      if (less == greater) return;
      const bool taken_is_slow = (greater == right) != guard.negated;
      mark(block.successors[taken_is_slow ? 0 : 1]);
      return;
    }
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
};

}  // namespace

std::vector<bool> slow_paths(const KernelCode& code, const Cfg& cfg) {
  return SlowPaths(code, cfg).find();
}

}  // namespace warptime::analysis
