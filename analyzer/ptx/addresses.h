// What operands that are addresses tell of each other.
#pragma once

#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

// Whether both are addresses at different distances from one register or symbol, so that ptxas can tell them apart; how
// many bytes are accessed is not looked at. `operands` are all of the function.
inline bool have_different_offsets(const std::vector<Operand>& operands, const Operand& a, const Operand& b) {
  if (a.kind != Operand::Kind::address || b.kind != a.kind || a.part_count != 1 || b.part_count != 1)
    return false;
  const Operand &from = operands[a.first_part], &to = operands[b.first_part];
  return from.kind == to.kind && from.symbol == to.symbol && a.value != b.value;
}

}  // namespace warptime::ptx
