// What one instruction is: calculation, or a memory access period with its pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/naming.h"

namespace warptime::periods {

// The operand that is the address of a load, store, atomic or copy: of those that have a result, behind it.
std::uint32_t address_operand(const std::vector<ptx::Operand>& operands, const ptx::Instruction& ins,
                              ptx::Category category);

// Section 5.3 of Puchala et al. (2022): global loads and stores are memory access periods; everything else
// that is executed, ld.param and shared, local and constant memory included, is calculation, calls and
// returns of device functions too; the kernel's own ret is nothing. Beyond the paper: atomics that return a
// value count as loads, reductions and bulk copies that do not as stores, and a generic address as global
// unless the code shows another space. Textures and surfaces lie in device memory: tex, tld4 and suld are
// loads, sust and sured stores; txq and suq, which ask for a size or a format, are calculation. `block` is
// the instruction's. A memory access goes to the end of `accesses`.
InstructionRole classify(analysis::KernelFlow& flow, std::uint32_t block, std::uint32_t instruction,
                         const analysis::Naming& naming, std::vector<MemoryAccess>& accesses);

}  // namespace warptime::periods
