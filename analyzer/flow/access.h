// How the 32 threads of a warp spread over memory in one access, from its address as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/flow/evaluate.h"
#include "simulator/kernel_program.h"

namespace warptime::flow {

struct AccessPattern {
  Access access = Access::scattered;
  std::int64_t sectors = 32;  // 32-byte sectors that one warp's request touches, from a start that is aligned to 128 bytes
  std::optional<ValueId> stride;  // bytes between neighbouring threads, where there is one distance
};

// `bytes` is what one thread moves. The pattern is that of the first turn of every loop, in the first warp of a block whose x dimension
// holds the warp; kernel arguments and launch dimensions that decide nothing take large sample values.
//   uniform:   all threads at one address
//   coalesced: no more sectors than 32 neighbouring elements of that size would touch, wherever they begin
//   strided:   one distance between neighbouring threads, and more sectors than that
//   scattered: anything else, and every address that loaded data decide
// `resolved` is the address with its loops' closed forms, where the stride stands.
AccessPattern access_pattern(Evaluator& evaluator, ValueId address, ValueId resolved, std::int64_t bytes);

}  // namespace warptime::flow
