// Loops as the source has them: how many iterations of the source one of the PTX executes, and how many nvcc's
// PTX would. clang and nvcc unroll differently.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

// How often clang copied the body of a loop, told from the places in the source that instructions have in
// common. step: of the counter that ends the loop. 1: it did not, or the PTX does not name the source.
std::int64_t copies_of_source(const analysis::KernelCode& code, const analysis::Cfg& cfg, std::uint32_t loop,
                              std::int64_t step);

// Iterations of the source in one iteration of nvcc's PTX, as nvcc 13 was seen to unroll loops with one exit
// and a constant step. size: of an iteration, as LLVM counts instructions: a fused multiply-add is two, an
// access whose index varies another. iterations: of the loop, where that is a constant.
struct SourceUnrolling {
  std::int64_t times = 1;
  bool whole = false;  // no loop is left
};
SourceUnrolling unrolled_by_nvcc(double size, std::optional<std::int64_t> iterations);

}  // namespace warptime::machine
