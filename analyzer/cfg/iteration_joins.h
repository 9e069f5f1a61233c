// Where the paths out of a branch join again within one iteration of a loop.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/cfg/cfg.h"

namespace warptime::analysis {

// Finds the join of a branch: its immediate post-dominator, within one iteration of a loop where it stands in
// one.
class IterationJoins {
 public:
  // `cfg` must outlive it.
  explicit IterationJoins(const Cfg& cfg) : cfg_(cfg) {}

  // The block where all paths out of `block` join, within `loop` (none: the kernel). none: they join only in
  // the loop's next iteration, or not at all.
  std::uint32_t join_of(std::uint32_t block, std::uint32_t loop);

 private:
  std::vector<std::uint32_t> post_dominators_in(std::uint32_t loop) const;

  const Cfg& cfg_;
  std::vector<std::vector<std::uint32_t>> by_loop_;  // by place in Loop::blocks; empty: not yet found
};

}  // namespace warptime::analysis
