// How many operands machine instructions read from the register file.
#pragma once

#include <span>

#include "analyzer/machine/machine_code.h"

namespace warptime::machine {

// Words of 32 bits, as the two banks of the register file, even and odd registers, let them be read: twice the words of the
// bank that has more of them, since each reads one word of a warp in a cycle. An operand that the instruction before left in
// the reuse cache of its place is not read, and a register that it names twice is read once. IMAD.WIDE and IMAD.HI read their
// factors in each of two steps. Operands of matrix products and of textures are not counted. (Huerta et al. 2025,
// arXiv 2503.20481, section 5.3; data/hardware/h100_pipe_mixes.csv, h200_wide_products.csv.)
double register_reads(std::span<const MachineInstruction> block);

}  // namespace warptime::machine
