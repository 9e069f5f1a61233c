// How the 32 threads of a warp spread over memory in one access, from its address as a value.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/symbolic/evaluate.h"
#include "simulator/program/kernel_program.h"

namespace warptime::analysis {

struct AddressPattern {
  Access access = Access::scattered;
  // 32-byte sectors that one warp's request touches, from a start that is aligned to 128 bytes; nothing where
  // the arguments decide.
  std::optional<std::int64_t> sectors = 32;
  std::optional<std::int64_t>
      distance;  // bytes between neighbouring threads for the sample arguments, where there is one distance
};

class AccessAnalysis {
 public:
  explicit AccessAnalysis(Evaluator& evaluator) : evaluator_(evaluator) {}

  // `bytes` is what one thread moves. The pattern is that of the first warp of a block whose x dimension
  // holds the warp, in every turn of its loops; kernel arguments and launch dimensions take large sample
  // values, several sets of them: where these, or turns, do not agree on the sectors, there is no one number.
  //   uniform:   all threads at one address
  //   coalesced: no more sectors than 32 neighbouring elements of that size would touch, wherever they begin
  //   strided:   one distance between neighbouring threads, and more sectors than that
  //   scattered: anything else, and every address that loaded data decide
  // `resolved` gives the address with its loops' closed forms: asked for where turns may decide.
  AddressPattern pattern(ExprId address, std::int64_t bytes, const std::function<ExprId()>& resolved);
  // The distance between neighbouring threads of a strided access as a form, from `resolved`, the address
  // with its loops' closed forms; nothing where that is not what the pattern has.
  std::optional<ExprId> stride_form(const AddressPattern& pattern, ExprId resolved);

 private:
  static constexpr int lanes = 32;
  using Lanes = std::array<std::int64_t, lanes>;
  // A value for each thread of the warp: first + lane · stride, or one by one.
  struct LaneValue {
    std::int64_t first = 0, stride = 0;
    std::uint32_t each = none;  // index into arrays_
    bool data_decides = false;  // a thread-dependent value without a closed form is in it
    bool sampled =
        false;  // the number stands on a sample argument; of what differs between threads: the differences do
    bool start_sampled = false;  // of what differs between threads: the first thread's number does
    bool uniform() const { return each == none && stride == 0; }
  };
  // What was found for one set of sample arguments.
  struct Samples {
    std::vector<std::uint32_t> places;  // by value: index into known + 1; 0: not yet
    std::vector<LaneValue> known;
    std::vector<Lanes> arrays;
  };
  static constexpr int sample_sets = 4;
  std::int64_t at(const LaneValue& value, int lane) const;
  LaneValue from(const Lanes& each, bool data_decides, bool sampled);
  LaneValue argument(std::uint32_t index) const;
  std::int64_t sectors_of(const LaneValue& place, std::int64_t bytes);
  Access access_of(const LaneValue& place, std::int64_t sectors, std::int64_t bytes) const;
  LaneValue evaluate(ExprId value, int depth);
  LaneValue compute(ExprId value, int depth);
  LaneValue special(Special which) const;
  LaneValue phi(std::uint32_t index, int depth);
  template <class F>
  LaneValue combine(const SymbolicExprs::Node& node, int depth, F f);

  Evaluator& evaluator_;
  std::array<Samples, sample_sets> samples_;
  int set_ = 0;                      // that is being evaluated
  std::vector<std::uint32_t> open_;  // phis on the way
  std::vector<LaneValue> parts_;     // of the sums on the way
  std::vector<std::int64_t> sectors_;
  bool met_open_ = false;  // one of them again: what stands on it is not kept
};

}  // namespace warptime::analysis
