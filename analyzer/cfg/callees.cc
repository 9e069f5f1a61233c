#include "analyzer/cfg/callees.h"

#include <algorithm>
#include <vector>

#include "analyzer/ptx/opcodes.h"

namespace warptime::analysis {

bool is_call(const ptx::Instruction& ins) {
  return ins.info != nullptr && ins.info->category == ptx::Category::call;
}

std::optional<std::uint32_t> Callees::callee_of(const ptx::Instruction& call) const {
  for (std::uint32_t i = 0; i < call.operand_count && i < 2; ++i) {
    const auto& operand = module_.operands[call.first_operand + i];
    if (operand.kind == ptx::Operand::Kind::symbol && operand.referent == ptx::Operand::Referent::function &&
        operand.value < module_.functions.size())
      return ptx::function_run_by(module_, static_cast<std::uint32_t>(operand.value));
  }
  return std::nullopt;
}

void Callees::count_from(std::uint32_t function) {
  struct Visit {
    std::uint32_t function;
    std::size_t next = 0;
    std::size_t sum = 0;
  };
  constexpr std::size_t most = std::size_t{1} << 40;
  std::vector<Visit> stack{{function}};
  sizes_[function] = 0;
  while (!stack.empty()) {
    auto& top = stack.back();
    const auto& instructions = module_.functions[top.function].instructions;
    bool pushed = false;
    while (top.next < instructions.size()) {
      const auto& ins = instructions[top.next++];
      if (!is_call(ins)) continue;
      const auto callee = callee_of(ins);
      if (!callee) continue;
      if (const auto it = sizes_.find(*callee); it != sizes_.end()) {
        top.sum = std::min(top.sum + it->second, most);
        continue;
      }
      sizes_[*callee] = 0;  // while it is open
      stack.push_back({*callee});
      pushed = true;
      break;
    }
    if (pushed) continue;
    const auto size = std::min(top.sum + instructions.size(), most);
    sizes_[top.function] = size;
    stack.pop_back();
    if (!stack.empty()) stack.back().sum = std::min(stack.back().sum + size, most);
  }
}

std::size_t Callees::size_with_callees(std::uint32_t function) const {
  const auto it = sizes_.find(function);
  return it == sizes_.end() ? 0 : it->second;
}

}  // namespace warptime::analysis
