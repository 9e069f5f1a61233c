#include "analyzer/periods/rearrange.h"

#include <algorithm>
#include <span>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using Kind = InstructionRole::Kind;

bool have_common(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return std::any_of(a.begin(), a.end(),
                     [&](std::uint32_t one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

// A basic block's instructions as they are put into their new order: what is settled, then a group of adjacent loads or
// stores that may grow, then calculation behind it.
class Rearrangement {
 public:
  Rearrangement(const analysis::KernelFlow& flow, const RegisterUses& uses,
                const std::vector<InstructionRole>& roles)
      : flow_(flow), uses_(uses), roles_(roles) {}

  void add(std::uint32_t i) {
    if (is_fence(i)) {
      settle();
      settled_.push_back(i);
    } else if (roles_[i].kind != Kind::load && roles_[i].kind != Kind::store) {
      behind_.push_back(i);
    } else if (!join(i)) {
      settle();
      group_.push_back(i);
    }
  }

  std::vector<std::uint32_t> take() {
    settle();
    return std::move(settled_);
  }

 private:
  const ptx::Instruction& instruction(std::uint32_t i) const { return flow_.code.function().instructions[i]; }

  // Nothing moves across it.
  bool is_fence(std::uint32_t i) const {
    const ptx::Opcode* info = instruction(i).info;
    if (info == nullptr) return true;
    switch (info->category) {
      case ptx::Category::arithmetic:
      case ptx::Category::move:
        return info->is(ptx::of_other_threads);
      case ptx::Category::load:
      case ptx::Category::store:
        // An argument of a call is read back through memory that is no register.
        if (info->category == ptx::Category::store && ptx::space_of(instruction(i)) == ptx::StateSpace::param)
          return true;
        return ptx::has_part(instruction(i).opcode, "volatile") ||
               ptx::has_part(instruction(i).opcode, "acquire") ||
               ptx::has_part(instruction(i).opcode, "release");
      default:
        return true;
    }
  }

  // Of memory other than kernel arguments, which nobody writes.
  bool accesses(std::uint32_t i) const {
    const auto category = instruction(i).info->category;
    return (category == ptx::Category::load || category == ptx::Category::store) &&
           ptx::space_of(instruction(i)) != ptx::StateSpace::param;
  }

  // Whether `later` has to stay behind `earlier`, which stands before it.
  bool depends(std::uint32_t later, std::uint32_t earlier) const {
    const auto writes = uses_.writes(earlier);
    if (have_common(writes, uses_.reads(later)) || have_common(writes, uses_.writes(later)) ||
        have_common(uses_.reads(earlier), uses_.writes(later)))
      return true;
    if (!accesses(later) || !accesses(earlier)) return false;
    return instruction(later).info->category == ptx::Category::store ||
           instruction(earlier).info->category == ptx::Category::store;
  }

  // Puts the access at the end of the group, with what it needs of behind_ in front of the group. False: it cannot be.
  bool join(std::uint32_t i) {
    if (group_.empty() || roles_[group_.front()].kind != roles_[i].kind) return false;
    std::vector<std::uint32_t> needed = {i}, others;  // the last first
    for (auto at = behind_.rbegin(); at != behind_.rend(); ++at) {
      const bool needs =
          std::any_of(needed.begin(), needed.end(), [&](std::uint32_t one) { return depends(one, *at); });
      (needs ? needed : others).push_back(*at);
    }
    const auto fed_by_group = [&](std::uint32_t one) {
      return std::any_of(group_.begin(), group_.end(),
                         [&](std::uint32_t access) { return depends(one, access); });
    };
    if (std::any_of(needed.begin() + 1, needed.end(), fed_by_group)) return false;
    if (roles_[i].kind == Kind::load && fed_by_group(i)) return false;
    settled_.insert(settled_.end(), needed.rbegin(), needed.rend() - 1);
    group_.push_back(i);
    behind_.assign(others.rbegin(), others.rend());
    return true;
  }

  void settle() {
    settled_.insert(settled_.end(), group_.begin(), group_.end());
    settled_.insert(settled_.end(), behind_.begin(), behind_.end());
    group_.clear();
    behind_.clear();
  }

  const analysis::KernelFlow& flow_;
  const RegisterUses& uses_;
  const std::vector<InstructionRole>& roles_;
  std::vector<std::uint32_t> settled_, group_, behind_;
};

}  // namespace

std::vector<std::uint32_t> rearranged(const analysis::KernelFlow& flow, const RegisterUses& uses,
                                      std::uint32_t b, const std::vector<InstructionRole>& roles) {
  const auto& block = flow.cfg.blocks[b];
  std::vector<std::uint32_t> order;
  for (auto i = block.first; i < block.end; ++i) order.push_back(i);
  if (order.size() > most_rearranged) return order;
  Rearrangement made(flow, uses, roles);
  for (const auto i : order) made.add(i);
  return made.take();
}

}  // namespace warptime::periods
