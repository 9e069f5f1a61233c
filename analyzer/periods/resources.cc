#include "analyzer/periods/resources.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "analyzer/ptx/launch_bounds.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using ptx::Linkage;
using ptx::Operand;
using ptx::StateSpace;

constexpr std::uint64_t most_bytes = 1'000'000'000'000;  // as a kernel program can say

bool is_shared(const ptx::Variable& variable) {
  return variable.space == StateSpace::shared;
}

std::uint64_t element_bytes(const ptx::Variable& variable) {
  return static_cast<std::uint64_t>(std::max(1, ptx::type_bytes(variable.type))) *
         std::max<std::uint64_t>(1, variable.vector_width);
}

void add_bounds(KernelResources& resources, const ptx::Function& function) {
  const ptx::LaunchBounds bounds = ptx::launch_bounds(function);
  resources.max_threads = bounds.max_threads;
  resources.required_threads = bounds.required_threads;
  resources.min_blocks_per_sm = bounds.min_blocks;
}

void sort_out(std::vector<std::uint32_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

}  // namespace

bool is_dynamic_shared(const ptx::Variable& variable) {
  return is_shared(variable) && (variable.linkage == Linkage::external || variable.elements == 0);
}

Placement place_behind(std::uint64_t end, const ptx::Variable& variable) {
  const std::uint64_t alignment = variable.align > 0 ? variable.align : element_bytes(variable);
  const std::uint64_t begin = (end + alignment - 1) / alignment * alignment;
  const std::uint64_t room = begin < most_bytes ? most_bytes - begin : 0;
  if (variable.elements > room / element_bytes(variable)) return {std::min(begin, most_bytes), most_bytes};
  return {begin, begin + variable.elements * element_bytes(variable)};
}

ResourceFinder::ResourceFinder(const ptx::Module& module) : module_(module) {
  any_shared_ = std::any_of(module.variables.begin(), module.variables.end(), is_shared);
  for (const auto& function : module.functions)
    any_shared_ = any_shared_ || std::any_of(function.variables.begin(), function.variables.end(), is_shared);
  if (!any_shared_) return;
  uses_.reserve(module.functions.size());
  for (const auto& function : module.functions) uses_.push_back(uses_of(function));
}

ResourceFinder::Uses ResourceFinder::uses_of(const ptx::Function& function) const {
  Uses uses;
  if (function.alias_of != ptx::no_index) uses.functions.push_back(function.alias_of);
  const auto see = [&](const Operand& operand) {
    if (operand.kind != Operand::Kind::symbol) return;
    const auto index = static_cast<std::uint32_t>(operand.value);
    switch (operand.referent) {
      case Operand::Referent::function:
        uses.functions.push_back(index);
        break;
      case Operand::Referent::module_variable:
        if (index < module_.variables.size() && is_shared(module_.variables[index]))
          uses.module_variables.push_back(index);
        break;
      case Operand::Referent::function_variable:
        if (index < function.variables.size() && is_shared(function.variables[index]))
          uses.own_variables.push_back(index);
        break;
      case Operand::Referent::prototype:
        if (index < function.prototypes.size())
          uses.functions.insert(uses.functions.end(), function.prototypes[index].targets.begin(),
                                function.prototypes[index].targets.end());
        break;
      default:
        break;
    }
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;  // of Module::operands
  for (const auto& instruction : function.instructions) {
    ranges.assign(1, {instruction.first_operand, instruction.operand_count});
    while (!ranges.empty()) {
      const auto [first, count] = ranges.back();
      ranges.pop_back();
      for (std::uint32_t i = first; i < first + count && i < module_.operands.size(); ++i) {
        const Operand& operand = module_.operands[i];
        see(operand);
        if (operand.part_count > 0) ranges.emplace_back(operand.first_part, operand.part_count);
      }
    }
  }
  sort_out(uses.functions);
  sort_out(uses.module_variables);
  sort_out(uses.own_variables);
  return uses;
}

void ResourceFinder::add_shared(KernelResources& resources, std::uint32_t kernel) const {
  std::set<std::uint32_t> reached = {kernel}, of_module;
  std::vector<std::uint32_t> work = {kernel}, order;
  while (!work.empty()) {
    const std::uint32_t function = work.back();
    work.pop_back();
    if (function >= uses_.size()) continue;
    order.push_back(function);
    of_module.insert(uses_[function].module_variables.begin(), uses_[function].module_variables.end());
    for (const auto called : uses_[function].functions)
      if (reached.insert(called).second) work.push_back(called);
  }
  std::uint64_t end = 0;
  const auto add = [&](const ptx::Variable& variable) {
    if (is_dynamic_shared(variable))
      resources.dynamic_shared_unknown = true;
    else
      end = place_behind(end, variable).end;
  };
  for (const auto index : of_module) add(module_.variables[index]);
  std::sort(order.begin(), order.end());
  for (const auto function : order)
    for (const auto index : uses_[function].own_variables) add(module_.functions[function].variables[index]);
  resources.shared_bytes_static = static_cast<std::int64_t>(std::min(end, most_bytes));
}

std::optional<KernelResources> ResourceFinder::resources_of(std::uint32_t kernel) const {
  KernelResources resources;
  add_bounds(resources, module_.functions[kernel]);
  if (any_shared_) add_shared(resources, kernel);
  if (resources == KernelResources()) return std::nullopt;
  return resources;
}

}  // namespace warptime::periods
