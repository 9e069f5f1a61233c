// The control flow of one kernel and the values of its registers: all passes between parsing and periods.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/cfg/slow_paths.h"
#include "analyzer/loops/trip_count.h"
#include "analyzer/memory/access_pattern.h"
#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

struct KernelFlow {
  // `from`: what `graph` was built from. `block`: for which access patterns are found; nothing: one whose rows hold
  // whole warps.
  KernelFlow(KernelCode from, Cfg graph, const std::optional<std::array<std::int64_t, 3>>& block = {})
      : code(std::move(from)),
        cfg(std::move(graph)),
        evaluator(code, cfg),
        loops(evaluator),
        accesses(evaluator, block) {}
  KernelFlow(const KernelFlow&) = delete;
  KernelFlow& operator=(const KernelFlow&) = delete;

  // Whether CUDA's mathematical functions get to the block for extraordinary arguments only.
  bool is_slow(std::uint32_t block) {
    if (slow_.empty()) slow_ = slow_paths(code, cfg);
    return slow_[block];
  }

  KernelCode code;
  Cfg cfg;
  Evaluator evaluator;
  LoopAnalysis loops;
  AccessAnalysis accesses;

 private:
  std::vector<bool> slow_;  // by block; empty: not asked for yet
};

}  // namespace warptime::analysis
