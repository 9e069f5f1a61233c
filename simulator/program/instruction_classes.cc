#include "simulator/program/instruction_classes.h"

#include <algorithm>

namespace warptime {
namespace {

constexpr std::array<std::string_view, kInstructionOperations> kOperationNames = {
    "add", "sub", "mul",   "div",     "neg",    "min",  "max",     "and",     "or",    "xor",
    "not", "mad", "shift", "compare", "select", "move", "convert", "special", "branch"};
constexpr std::array<std::string_view, kInstructionOperands> kOperandsNames = {"int_const", "int_reg",
                                                                               "float_const", "float_reg"};

}  // namespace

std::string_view to_string(InstructionOperation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

std::string_view to_string(InstructionOperands operands) {
  return kOperandsNames[static_cast<std::size_t>(operands)];
}

std::string to_string(const InstructionClass& one) {
  return std::string(to_string(one.operation)) + '.' + std::string(to_string(one.operands));
}

std::optional<InstructionClass> find_instruction_class(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto operation = std::find(kOperationNames.begin(), kOperationNames.end(), name.substr(0, dot));
  const auto operands = std::find(kOperandsNames.begin(), kOperandsNames.end(), name.substr(dot + 1));
  if (operation == kOperationNames.end() || operands == kOperandsNames.end()) return std::nullopt;
  return InstructionClass{static_cast<InstructionOperation>(operation - kOperationNames.begin()),
                          static_cast<InstructionOperands>(operands - kOperandsNames.begin())};
}

void InstructionClasses::add(const InstructionClass& one, std::int64_t count) {
  if (count == 0) return;
  const auto at =
      std::lower_bound(counts.begin(), counts.end(), one,
                       [](const auto& known, const auto& wanted) { return known.first < wanted; });
  if (at != counts.end() && at->first == one)
    at->second += count;
  else
    counts.insert(at, {one, count});
}

void InstructionClasses::add(const InstructionClasses& more) {
  for (const auto& [one, count] : more.counts) add(one, count);
}

std::int64_t InstructionClasses::total() const {
  std::int64_t sum = 0;
  for (const auto& [one, count] : counts) sum += count;
  return sum;
}

}  // namespace warptime
