// The warps of a launch in one dimension as pieces of a line: its threads have the numbers blockIdx.x * blockDim.x +
// threadIdx.x, and what guards ask of them changes at few numbers. External interface: none.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/program/launch_box.h"

namespace warptime::warps {

// Warps whose threads all lie between two changes, or one with a change inside.
struct LinePiece {
  LaunchBox one;  // of its warps
  double warps = 0;
};

class LaunchLine {
 public:
  // Of grid and block only x may be more than 1.
  explicit LaunchLine(const LaunchSize& size) : blocks_(size.grid[0]), threads_(size.block[0]) {}

  // Adds the numbers of threads before which a difference changes its sign, over a box that boxes_of() gave. False: the
  // difference does not depend on the thread's number alone, or not linearly.
  bool add_changes(const ValueRange& difference, const LaunchBox& box);
  std::size_t changes() const { return changes_.size(); }
  // Those between changes first, each in the order of threads.
  std::vector<LinePiece> pieces();

 private:
  LaunchBox warp(std::int64_t block, std::int64_t warp) const;
  std::int64_t whole_warps() const { return threads_ / 32; }  // of a block
  std::int64_t whole_begun(std::int64_t thread) const;
  std::int64_t whole_ended(std::int64_t thread) const;
  std::int64_t partial_begun(std::int64_t thread) const;
  void add_between(std::int64_t from, std::int64_t to, bool partial, std::vector<LinePiece>& pieces) const;

  std::int64_t blocks_, threads_;
  std::vector<std::int64_t> changes_;
};

}  // namespace warptime::warps
