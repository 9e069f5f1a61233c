// How far ptxas moves loads up.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// Straight-line code: blocks that follow each other without another way in or out.
class Stretches {
 public:
  // `flow` must outlive it. chains: MachinePlaces::chains, whose blocks are one stretch, too.
  explicit Stretches(const analysis::KernelFlow& flow, const std::vector<std::uint32_t>& chains = {});
  // The number of the stretch of an instruction; analysis::none: of no block.
  std::uint32_t of(std::uint32_t instruction) const;

 private:
  const analysis::KernelFlow& flow_;
  std::vector<std::uint32_t> first_;  // by block: the first block of its stretch
};

// Writes ItemDetail::rises of loads, of items that have their instructions (ItemDetail::made_of) and needs. ptxas moves a
// load up within straight-line code, with what computes its address: behind the last load before it that waits for no
// more loads than it does, and not past a store, unless nothing writes what it loads (ld.global.nc) or their addresses
// differ by a constant, nor past an atomic or a barrier; past no more than one store where something waits for loads that
// cannot pass the stores. The load needs what its address needs. Where the machine code is known (`places`), its
// order decides, also past branches that ptxas makes predicates of; where its order is expected, it says which calculation the
// load passes, and which short branches. What computes a load's address rises with it. Runs of calculation are
// cut where the straight-line code of a load begins.
void write_rises(const analysis::KernelFlow& flow, const RegisterUses& uses,
                 const std::vector<InstructionRole>& roles, const MachinePlaces& places, const Notes& notes,
                 Items& items);

// The order of a list's items behind what rises: indices into it.
std::vector<std::uint32_t> risen_order(const Items& items);

}  // namespace warptime::periods
