// Memory that works like a register: the parameters of calls, and the stack slots of unoptimised code whose
// address does not escape the function. In an access to a promoted stack slot, a register replaces the
// address.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::analysis {

// Operand `which` of the load or store, an address with one base, becomes the register that
// `register_for(offset, bytes)` gives, or a vector of them for a vector access.
void make_slot_operand(
    std::vector<ptx::Operand>& operands, const ptx::Instruction& access, std::uint32_t which,
    const std::function<std::uint32_t(std::uint64_t offset, std::uint32_t bytes)>& register_for);

// Whether the function has a .local variable at all.
bool may_have_slots(const ptx::Function& function);

// Promotes every stack slot whose address is used only by loads and stores that all move the same bytes of
// it: the slot becomes a register. A variable whose address is computed or passed on at some offset keeps all
// its bytes from there on in memory. `operands` holds the function's.
void promote_slots(std::vector<ptx::Operand>& operands, ptx::Function& function);

// Whether the load or store moves a register: its address was a promoted stack slot.
bool moves_slot(const std::vector<ptx::Operand>& operands, const ptx::Instruction& instruction);

}  // namespace warptime::analysis
