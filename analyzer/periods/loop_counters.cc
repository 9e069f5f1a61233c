#include "analyzer/periods/loop_counters.h"

#include <fmt/format.h>

namespace warptime::periods {

void LoopCounters::open(std::uint32_t loop) {
  static const char* const candidates[] = {"i", "j", "m", "n", "p", "q"};
  const auto in_use = [&](const std::string& name) {
    for (const auto& [l, other] : names_)
      if (other == name) return true;
    return parameters_.is_argument_name(name);
  };
  for (const std::string name : candidates)
    if (!in_use(name)) {
      names_[loop] = name;
      return;
    }
  names_[loop] = fmt::format("iteration_{}", loop);
}

void LoopCounters::close(std::uint32_t loop) {
  names_.erase(loop);
  used_.erase(loop);
  mentioned_.erase(loop);
}

std::string LoopCounters::mention(std::uint32_t loop) {
  const auto it = names_.find(loop);
  if (it == names_.end()) return {};
  mentioned_.insert(loop);
  return it->second;
}

std::string LoopCounters::name_if_mentioned(std::uint32_t loop) const {
  return mentioned_.contains(loop) ? names_.at(loop) : std::string();
}

std::string LoopCounters::use(std::uint32_t loop) {
  const auto it = names_.find(loop);
  if (it == names_.end()) return {};
  used_.insert(loop);
  return it->second;
}

std::string LoopCounters::name_if_used(std::uint32_t loop) const {
  return used_.contains(loop) ? names_.at(loop) : std::string();
}

analysis::ExprId LoopCounters::with_last_values(analysis::ExprId expr) {
  return exprs_.rewrite(
      expr,
      [](const analysis::SymbolicExprs::Node& node) { return (node.dependence & analysis::on_counter) != 0; },
      [&](analysis::ExprId leaf) {
        const auto node = exprs_[leaf];
        if (node.op != analysis::SymbolicOp::counter) return leaf;
        const auto it = last_.find(node.a);
        return it == last_.end() ? leaf : it->second;
      });
}

}  // namespace warptime::periods
