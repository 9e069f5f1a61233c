// The access pattern of the 32 threads of a warp, from the symbolic expression of the address.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/memory/lane_values.h"
#include "analyzer/symbolic/evaluate.h"
#include "simulator/program/kernel_program.h"

namespace warptime::analysis {

struct AddressPattern {
  Access access = Access::scattered;
  // 32-byte sectors of one warp's request, from a start that is aligned to 128 bytes; nothing if it depends
  // on the arguments.
  std::optional<std::int64_t> sectors = 32;
  // Bytes between neighbouring threads for the sample arguments, if all distances are equal.
  std::optional<std::int64_t> distance;
  // Access and sectors hold where the distances that arguments give are multiples of a sector: the pitch of
  // rows in memory, which is one almost always. Other pitches may need a sector more for each row.
  bool sector_pitch = false;
  friend bool operator==(const AddressPattern&, const AddressPattern&) = default;
};

// Finds the access pattern of an address from the addresses of a warp's threads, for several sets of sample
// arguments.
class AccessAnalysis {
 public:
  explicit AccessAnalysis(Evaluator& evaluator, const std::optional<std::array<std::int64_t, 3>>& block = {})
      : evaluator_(evaluator), lanes_(evaluator, block), one_dimensional_(evaluator) {
    has_block_ = block.has_value();
  }

  // Whether a pattern so far is another one than that of one-dimensional blocks of whole warps.
  bool block_matters() const { return block_matters_; }

  // `bytes` is what one thread moves. The pattern is that of the first warp of the block, or, without one, of a
  // block whose x dimension holds the warp, in every iteration of its loops; kernel arguments and launch dimensions
  // take large sample values, several sets of them. If the sectors differ between these sets or between iterations, there is no
  // number, unless they differ only for a pitch of rows that is no multiple of a sector.
  //   uniform:   all threads at one address
  //   coalesced: no more sectors than 32 neighbouring elements of that size have, wherever they begin
  //   strided:   one distance between neighbouring threads, and more sectors than that
  //   scattered: anything else, and every address that loaded data decide
  // `resolved` gives the address with its loops' closed forms: used if the pattern may depend on iterations.
  AddressPattern pattern(ExprId address, std::int64_t bytes, const std::function<ExprId()>& resolved);
  // The distance between neighbouring threads of a strided access as a symbolic expression, from `resolved`,
  // the address with its loops' closed forms; nothing if it does not match the pattern.
  std::optional<ExprId> stride_expr(const AddressPattern& pattern, ExprId resolved);

 private:
  AddressPattern pattern(LaneValues& lanes, ExprId address, std::int64_t bytes,
                         const std::function<ExprId()>& resolved);
  std::int64_t sectors_of(const LaneValues& lanes, const LaneValue& place, std::int64_t bytes);

  Evaluator& evaluator_;
  LaneValues lanes_;
  LaneValues one_dimensional_;  // the block that patterns hold for where the shape does not matter
  bool has_block_ = false, block_matters_ = false;
  std::vector<std::int64_t> sectors_;  // of the access being looked at
};

}  // namespace warptime::analysis
