// Symbolic expressions as the expressions of kernel programs, in the user's names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/symbolic/symbolic_exprs.h"
#include "simulator/program/expression/expression.h"

namespace warptime::analysis {

// Assumptions of an expression that no fact shows.
struct Assumptions {
  bool unsigned_as_signed = false;        // unsigned comparisons are written as signed ones
  bool division_of_not_negative = false;  // signed divisions round down here, to zero there
  void add(const Assumptions& other) {
    unsigned_as_signed = unsigned_as_signed || other.unsigned_as_signed;
    division_of_not_negative = division_of_not_negative || other.division_of_not_negative;
  }
};

// What was written before with the same names. Accesses of one kernel have most parts of their addresses in common,
// and programs then share these.
class WrittenExprs {
 public:
  struct Written {
    Expression expression;
    int parts = 0;   // that were written
    int height = 0;  // of the tree of parts
    Assumptions assumed;
  };
  const Written* find(ExprId id) const {
    const auto* place = places_.find(id);
    return place == nullptr ? nullptr : &known_[*place];
  }
  void set(ExprId id, Written written) {
    places_.set(id, static_cast<ExprId>(known_.size()));
    known_.push_back(std::move(written));
  }

 private:
  ExprMemo places_;  // by expression: index into known_
  std::vector<Written> known_;
};

// Names for the leaves of symbolic expressions. An empty name: the leaf has none, and an expression that
// contains it cannot be written.
struct Naming {
  std::function<std::string(std::uint32_t index, std::uint32_t offset)> argument;
  std::function<std::string(std::uint32_t loop)> counter;
  std::function<std::string(ExprId)> other;  // of opaque leaves that stand for a parameter
  // For texts: threadIdx.x, blockIdx.x, and `data` for what has no closed form.
  bool threads_too = false;
  // For conditions over threads: threadIdx.x, blockIdx.x, laneid, … have their names, and unsigned comparisons are
  // written modulo 2^32 where their smaller side may be negative.
  bool of_threads = false;
  // Not null: expressions without counters are kept there, as long as the names stay the same.
  WrittenExprs* written = nullptr;
};

// The dimension's name in CUDA C++: blockDim.x, gridDim.y, threadIdx.x, …; empty for others.
std::string special_name(Special which);

// `id` as an expression. Nothing if a part of it has no name, or if it has more than `most_parts` parts,
// which is too long to read. Sets `assumed` to its assumptions.
std::optional<Expression> to_expression(SymbolicExprs& exprs, ExprId id, const Naming& naming,
                                        Assumptions* assumed = nullptr, int most_parts = 400);

}  // namespace warptime::analysis
