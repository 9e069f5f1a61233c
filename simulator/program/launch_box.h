// Warps of a launch as ranges: those of some blocks that are evenly spaced, and how to cut them into smaller ranges.
// External interface: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/program/expression/range_expression.h"
#include "simulator/program/warps.h"

namespace warptime::warps {

struct Progression {
  std::int64_t first = 0, step = 1, count = 1;
  std::int64_t at(std::int64_t k) const { return first + step * k; }
  friend bool operator==(const Progression&, const Progression&) = default;
};

// How to cut a dimension so that more is decided: before the k-th values `begin` and `end`; else at multiples of
// `period`, shifted by `phase`, or into those of each remainder by it; else in halves.
struct Cut {
  std::size_t dimension = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t period = 1, phase = 0;
  bool residues = false;
};

// Two parts or more, if it has two values or more.
std::vector<Progression> parts_of(const Progression& range, const Cut& cut);

// The cut that decides most of `value`, which depends on one of `dimensions` at least.
Cut cut_for(const ValueRange& value, const RangeObstacles& obstacles, DimensionSet dimensions,
            const DimensionCounts& counts);

// How the warps of a block lie in it: `threads` of a warp along x, y and z, and `warps` along each. A warp whose
// threads are no box (24 x 5, say) is looked at alone.
struct WarpShape {
  explicit WarpShape(const std::array<std::int64_t, 3>& block);
  bool regular = false;
  std::array<std::int64_t, 3> threads{1, 1, 1}, warps{1, 1, 1};
  // The last warp, if it has fewer threads: where it is, and its threads.
  bool has_partial = false;
  std::array<std::int64_t, 3> partial_warp{}, partial_threads{1, 1, 1};
};

struct LaunchBox {
  struct Axis {
    Progression strides, inner;  // a block's index: the sum of both
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::array<Axis, 3> blocks;
  std::array<Progression, 3> warps;              // of WarpShape::warps; in x if it is not regular
  std::array<std::int64_t, 3> threads{1, 1, 1};  // of each warp; regular only

  friend bool operator==(const LaunchBox&, const LaunchBox&) = default;
  double count() const;
  // Those that a cut of one of its dimensions leaves.
  std::vector<LaunchBox> parts(const Cut& cut) const;
  // One warp in the middle.
  LaunchBox sample() const;
  std::array<std::int64_t, 3> first_block() const;
  std::int64_t first_warp(const WarpShape& shape) const;
};

// All warps of a launch.
std::vector<LaunchBox> boxes_of(const LaunchSize& size, const WarpShape& shape);

}  // namespace warptime::warps
