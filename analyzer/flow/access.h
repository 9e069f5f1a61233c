// How the 32 threads of a warp spread over memory in one access, from its address as a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/flow/evaluate.h"
#include "simulator/kernel_program.h"

namespace warptime::flow {

struct AccessPattern {
  Access access = Access::scattered;
  std::int64_t sectors = 32;  // 32-byte sectors that one warp's request touches, from a start that is aligned to 128 bytes
  std::optional<std::int64_t> distance;  // bytes between neighbouring threads for the sample arguments, where there is one distance
};

class AccessAnalysis {
 public:
  explicit AccessAnalysis(Evaluator& evaluator) : evaluator_(evaluator) {}

  // `bytes` is what one thread moves. The pattern is that of the first turn of every loop, in the first warp of a block whose x dimension
  // holds the warp; kernel arguments and launch dimensions that decide nothing take large sample values.
  //   uniform:   all threads at one address
  //   coalesced: no more sectors than 32 neighbouring elements of that size would touch, wherever they begin
  //   strided:   one distance between neighbouring threads, and more sectors than that
  //   scattered: anything else, and every address that loaded data decide
  AccessPattern pattern(ValueId address, std::int64_t bytes);
  // The distance between neighbouring threads of a strided access as a form, from `resolved`, the address with its loops' closed
  // forms; nothing where that is not what the pattern has.
  std::optional<ValueId> stride_form(const AccessPattern& pattern, ValueId resolved);

 private:
  static constexpr int lanes = 32;
  using Lanes = std::array<std::int64_t, lanes>;
  // A value for each thread of the warp: first + lane · stride, or one by one.
  struct LaneValue {
    std::int64_t first = 0, stride = 0;
    std::uint32_t each = none;  // index into arrays_
    bool data_decides = false;  // a thread-dependent value without a closed form is in it
    bool uniform() const { return each == none && stride == 0; }
  };
  std::int64_t at(const LaneValue& value, int lane) const;
  LaneValue from(const Lanes& each, bool data_decides);
  LaneValue evaluate(ValueId value, int depth);
  LaneValue compute(ValueId value, int depth);
  LaneValue special(Special which) const;
  LaneValue phi(std::uint32_t index, int depth);
  template <class F>
  LaneValue combine(const Values::Node& node, int depth, F f);

  Evaluator& evaluator_;
  std::vector<std::uint32_t> places_;  // by value: index into known_ + 1; 0: not yet
  std::vector<LaneValue> known_;
  std::vector<Lanes> arrays_;
  std::vector<std::uint32_t> open_;  // phis on the way
  bool met_open_ = false;            // one of them again: what stands on it is not kept
};

}  // namespace warptime::flow
