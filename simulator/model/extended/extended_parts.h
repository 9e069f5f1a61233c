// The parts of the extended model's times. External interface: none.
#pragma once

#include <cstddef>

#include "simulator/sm/sm_simulation.h"

namespace warptime {

// Indices into ExtendedModel::parts().
struct ExtendedPart {
  enum Index : std::size_t { launch, issue, results, l2, memory, latency, blocks, kernel, low, high };
};

// The part that the cycles of a wait belong to.
ExtendedPart::Index part_of(SmWait wait);

}  // namespace warptime
