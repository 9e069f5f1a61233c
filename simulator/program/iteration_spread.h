// How often a warp makes the iterations of a loop that data decide: a profile says the mean, the deviation and the most.
#pragma once

#include <cstdint>
#include <vector>

namespace warptime {

struct IterationSpread {
  double mean = 0, deviation = 0;  // over the times that warps come to the loop
  double most = 0;
  friend bool operator==(const IterationSpread&, const IterationSpread&) = default;
};

// The spread of a loop's pieces of `times` iterations, and of what is left behind them, each number of it as likely.
IterationSpread of_pieces(const IterationSpread& whole, std::int64_t times);
IterationSpread left_of_pieces(std::int64_t times);

// Numbers of iterations by the share of warps that make no more: a beta distribution from 0 to the most, with the
// mean and the deviation. Where the deviation is too large for one, warps make none or the most.
class IterationQuantiles {
 public:
  IterationQuantiles() = default;
  explicit IterationQuantiles(const IterationSpread& spread);
  bool known() const { return !at_.empty(); }
  // share: 0 to 1.
  std::int64_t iterations(double share) const;

 private:
  std::vector<double> at_;  // evenly spaced shares, from 0 to 1
};

}  // namespace warptime
