// The class of a calculation instruction: its operation and its operands.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/ptx/module.h"
#include "simulator/program/instruction_classes.h"

namespace warptime::periods {

// Its operands are floating-point numbers if one of its types is, and constants if a source operand is a literal.
// Remainders are divisions, abs is neg. Nothing for instructions that no class stands for: accesses to shared and local
// memory, barriers, calls, shuffles, matrix products.
std::optional<InstructionClass> class_of(const std::vector<ptx::Operand>& operands,
                                         const ptx::Instruction& ins);

}  // namespace warptime::periods
