// The registers that an instruction's operands name, those inside addresses and vectors too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {

// How many of its operands the instruction writes: the first ones.
inline std::uint32_t destinations(const ptx::Instruction& one) {
  return std::min<std::uint32_t>(one.info != nullptr ? one.info->destinations : 1, one.operand_count);
}

// Calls visit(register, in_address) for each register of an operand whose number is below `registers`. `operands` are
// all of the function.
template <typename Visit>
void visit_registers(const std::vector<ptx::Operand>& operands, std::size_t registers,
                     const ptx::Operand& operand, bool in_address, const Visit& visit) {
  if (operand.kind == ptx::Operand::Kind::reg && operand.symbol < registers)
    visit(operand.symbol, in_address);
  const bool address = in_address || operand.kind == ptx::Operand::Kind::address;
  for (std::uint32_t p = 0; p < operand.part_count; ++p)
    visit_registers(operands, registers, operands[operand.first_part + p], address, visit);
}

}  // namespace warptime::machine
