// Where the paths out of a branch join again within one iteration of a loop.
#pragma once

#include <cstdint>
#include <map>

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
  using ByBlock = std::map<std::uint32_t, std::uint32_t>;
  ByBlock post_dominators_in(std::uint32_t loop) const;

  const Cfg& cfg_;
  std::map<std::uint32_t, ByBlock> by_loop_;
};

}  // namespace warptime::analysis
