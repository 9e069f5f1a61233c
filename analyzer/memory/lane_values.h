// Numbers for the 32 threads of a warp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/symbolic/evaluate.h"
#include "simulator/program/kernel_program.h"

namespace warptime::analysis {

inline constexpr int warp_lanes = 32;

// A number for each thread of the warp: first + lane · stride, or a list.
struct LaneValue {
  std::int64_t first = 0, stride = 0;
  std::uint32_t each =
      none;  // index of a list of numbers in LaneValues; none: first and stride give all numbers
  bool data_decides = false;  // it contains a thread-dependent value without a closed form
  // The number depends on a sample argument; for a value that differs between threads, the differences do.
  bool sampled = false;
  bool start_sampled = false;  // for a value that differs between threads: the first thread's number does
  bool uniform() const { return each == none && stride == 0; }
};

// Evaluates symbolic expressions for the first warp of a block, with one of several sets of sample values for
// kernel arguments, launch dimensions and loop counters.
class LaneValues {
 public:
  static constexpr int sample_sets = 4;

  // `block`: nothing: one whose x dimension holds a warp; its size is a sample.
  explicit LaneValues(Evaluator& evaluator, const std::optional<std::array<std::int64_t, 3>>& block = {});

  // Threads of the first warp.
  int count() const { return count_; }
  // The expression's numbers with the samples of `set`, 0 to sample_sets - 1.
  LaneValue of(ExprId expr, int set) {
    set_ = set;
    return evaluate(expr, 0);
  }
  // The number of one lane, for a value from the last evaluated set.
  std::int64_t at(const LaneValue& value, int lane) const;

 private:
  using Lanes = std::array<std::int64_t, warp_lanes>;
  // What was found for one set.
  struct Samples {
    std::vector<std::uint32_t> places;  // by expression: index into known + 1; 0: not yet
    std::vector<LaneValue> known;
    std::vector<Lanes> arrays;
  };
  Samples& samples() { return samples_[static_cast<std::size_t>(set_)]; }
  const Samples& samples() const { return samples_[static_cast<std::size_t>(set_)]; }
  LaneValue evaluate(ExprId expr, int depth);
  LaneValue compute(ExprId expr, int depth);
  LaneValue from(const Lanes& each, bool data_decides, bool sampled);
  LaneValue argument(std::uint32_t index) const;
  LaneValue special(Special which);
  LaneValue coordinate(std::size_t dimension);
  LaneValue phi(std::uint32_t index, int depth);
  LaneValue sum(ExprId expr, int depth);
  LaneValue product(ExprId expr, int depth);
  LaneValue select(const SymbolicExprs::Node& node, int depth);
  template <class F>
  LaneValue combine(const SymbolicExprs::Node& node, int depth, F f);
  static std::optional<LaneValue> inside(const LaneValue& one, const LaneValue& other);
  template <class F>
  LaneValue clamp(const SymbolicExprs::Node& node, int depth, F f);

  Evaluator& evaluator_;
  std::optional<std::array<std::int64_t, 3>> block_;
  int count_ = warp_lanes;
  std::array<Samples, sample_sets> samples_;
  int set_ = 0;                      // that is being evaluated
  std::vector<std::uint32_t> open_;  // phis being evaluated
  std::vector<LaneValue> parts_;     // of the sums being evaluated
  bool met_open_ = false;            // an open phi was used again: values that depend on it are not cached
};

}  // namespace warptime::analysis
