#include "analyzer/memory/footprint.h"

#include <algorithm>
#include <array>

#include "analyzer/symbolic/facts.h"

namespace warptime::analysis {
namespace {

constexpr std::uint8_t varies = on_thread | on_block | on_counter | on_data;
constexpr std::size_t most_indices = 8;
constexpr int max_footprint_depth = 6;

struct Dimension {
  Special thread, threads, block, blocks;
};
constexpr std::array<Dimension, 3> dimensions{
    {{Special::tid_x, Special::ntid_x, Special::ctaid_x, Special::nctaid_x},
     {Special::tid_y, Special::ntid_y, Special::ctaid_y, Special::nctaid_y},
     {Special::tid_z, Special::ntid_z, Special::ctaid_z, Special::nctaid_z}}};

class Footprint {
 public:
  Footprint(Evaluator& evaluator, LoopAnalysis& loops, std::uint32_t block,
            const std::vector<PathCondition>& conditions)
      : evaluator_(evaluator),
        exprs_(evaluator.exprs()),
        facts_(exprs_),
        loops_(loops),
        cfg_(evaluator.cfg()),
        block_(block),
        conditions_(conditions) {}

  std::optional<ExprId> bytes(ExprId address, std::int64_t width) {
    if (++depth_ > max_footprint_depth) return std::nullopt;
    if (const auto periodic = remainder(address, width)) return periodic;
    if (!collect(address)) return std::nullopt;
    join_threads_and_blocks();
    std::vector<ExprId> seen;
    for (const auto& index : indices_)
      if (!add_variables(index.expr, seen)) return std::nullopt;  // one that is there twice
    for (const auto& c : conditions_) {
      if (bound(c)) continue;
      // What has nothing to do with the address only says that the access is made at all.
      if ((evaluator_.dependence(c.condition) & on_data) != 0) return std::nullopt;
      auto both = seen;
      if (!add_variables(c.condition, both)) return std::nullopt;
    }
    return unite(width);
  }

  bool has_gaps() const { return gaps_; }

 private:
  // From 0 to range - 1, each `step` bytes from the last.
  struct Index {
    ExprId expr;  // over the atoms that vary, e.g. threadIdx.x + blockDim.x · blockIdx.x
    ExprId step;
    ExprId range;
  };

  bool invariant(ExprId expr) const {
    return !exprs_[expr].indirect && (exprs_[expr].dependence & varies) == 0;
  }

  // Adds the indices that an expression is made of; false where one of them is there already.
  bool add_variables(ExprId expr, std::vector<ExprId>& seen) const {
    std::vector<ExprId> own;
    exprs_.any_leaf(expr, [&](ExprId leaf) {
      if (!invariant(leaf) && std::find(own.begin(), own.end(), leaf) == own.end()) own.push_back(leaf);
      return false;
    });
    const bool fresh = std::none_of(own.begin(), own.end(), [&](ExprId v) {
      return std::find(seen.begin(), seen.end(), v) != seen.end();
    });
    seen.insert(seen.end(), own.begin(), own.end());
    return fresh;
  }

  // base + step · (x mod n): a run of x that is read round and round.
  std::optional<ExprId> remainder(ExprId address, std::int64_t width) {
    std::vector<Term> terms;
    exprs_.linear_terms(address, terms);
    for (const auto& term : terms) {
      const auto parts = exprs_.parts(term.atom);
      for (const auto& part : parts) {
        const auto node = exprs_[part.atom];
        if (node.op != SymbolicOp::floor_divide || term.coefficient == INT64_MIN || !invariant(node.b) ||
            invariant(node.a))
          continue;
        std::int64_t step = -term.coefficient;
        if (exprs_.is_constant(node.b)) {
          if (step % exprs_[node.b].number != 0 || parts.size() != 1) continue;
          step /= exprs_[node.b].number;
        }
        const auto rest = exprs_.subtract(address, exprs_.scale(exprs_.modulo(node.a, node.b), step));
        if (step < width || !invariant(rest)) continue;
        Footprint of_x(evaluator_, loops_, block_, conditions_);
        of_x.depth_ = depth_;
        const auto run = of_x.bytes(node.a, 1);
        if (!run || of_x.has_gaps()) return std::nullopt;
        return exprs_.scale(exprs_.minimum(*run, node.b), width);
      }
    }
    return std::nullopt;
  }

  bool collect(ExprId address) {
    std::vector<Term> terms;
    exprs_.linear_terms(address, terms);
    for (const auto& term : terms) {
      if (invariant(term.atom)) continue;
      if (!add_term(term)) return false;
    }
    return indices_.size() <= most_indices;
  }

  bool add_term(const Term& term) {
    const auto node = exprs_[term.atom];
    ExprId variable = term.atom, step = exprs_.constant(term.coefficient);
    if (node.op == SymbolicOp::product) {
      std::optional<ExprId> found;
      for (const auto& factor : exprs_.terms(term.atom)) {
        if (invariant(factor.atom))
          step = exprs_.multiply(step, factor.atom);
        else if (found)
          return false;
        else
          found = factor.atom;
      }
      if (!found) return false;
      variable = *found;
    }
    const auto range = range_of(variable);
    if (!range) return false;
    for (auto& index : indices_)
      if (index.expr == variable) {
        index.step = exprs_.add(index.step, step);
        return true;
      }
    indices_.push_back({variable, step, *range});
    return true;
  }

  std::optional<ExprId> range_of(ExprId variable) {
    const auto node = exprs_[variable];
    if (node.op == SymbolicOp::special)
      for (const auto& d : dimensions) {
        if (static_cast<Special>(node.a) == d.thread) return exprs_.special(d.threads);
        if (static_cast<Special>(node.a) == d.block) return exprs_.special(d.blocks);
      }
    // Every d neighbours share one.
    if (node.op == SymbolicOp::floor_divide && exprs_.is_constant(node.b)) {
      Footprint inside(evaluator_, loops_, block_, conditions_);
      inside.depth_ = depth_;
      std::vector<Term> terms;
      if (exprs_.linear_terms(node.a, terms) != 0) return std::nullopt;
      const auto run = inside.bytes(node.a, 1);
      if (!run || inside.has_gaps()) return std::nullopt;
      return exprs_.floor_divide(exprs_.add(*run, exprs_.constant(exprs_[node.b].number - 1)), node.b);
    }
    if (node.op != SymbolicOp::counter) return std::nullopt;
    // Iterations of the loop in which the block runs.
    const auto loop = node.a;
    const auto& trip = loops_.trip_count(loop);
    if (!trip.count || trip.exit == none || trip.maximum_over_threads || trip.has_other_exits ||
        !invariant(*trip.count))
      return std::nullopt;
    const auto from = cfg_.loops[loop].exits[trip.exit].from;
    const bool before_the_exit = cfg_.dominates(block_, from);
    if (!before_the_exit && !cfg_.dominates(from, block_)) return std::nullopt;
    return before_the_exit ? *trip.count : exprs_.add(*trip.count, exprs_.constant(-1));
  }

  // threadIdx.x + blockDim.x · blockIdx.x is one index.
  void join_threads_and_blocks() {
    for (const auto& d : dimensions) {
      const auto thread = find(exprs_.special(d.thread)), block = find(exprs_.special(d.block));
      if (thread == indices_.end() || block == indices_.end()) continue;
      const auto extent = exprs_.special(d.threads);
      if (block->step != exprs_.multiply(thread->step, extent)) continue;
      thread->expr = exprs_.add(thread->expr, exprs_.multiply(block->expr, extent));
      thread->range = exprs_.multiply(thread->range, block->range);
      indices_.erase(block);
    }
  }

  std::vector<Index>::iterator find(ExprId expr) {
    return std::find_if(indices_.begin(), indices_.end(), [&](const Index& i) { return i.expr == expr; });
  }

  // An upper bound of one index, as it stands in the address.
  bool bound(const PathCondition& c) {
    const auto node = exprs_[c.condition];
    if (node.op == SymbolicOp::logical_not) return bound({node.a, !c.holds});
    if (node.op == SymbolicOp::logical_and && c.holds) return bound({node.a, true}) && bound({node.b, true});
    if (node.op == SymbolicOp::logical_or && !c.holds)
      return bound({node.a, false}) && bound({node.b, false});
    ExprId small = node.a, large = node.b;
    bool strict = false;
    switch (node.op) {
      case SymbolicOp::less:
      case SymbolicOp::less_unsigned:
        strict = true;
        break;
      case SymbolicOp::less_equal:
      case SymbolicOp::less_equal_unsigned:
        break;
      default:
        return false;
    }
    if (!c.holds) {
      std::swap(small, large);
      strict = !strict;
    }
    // small < large: an index i with i = small + (what does not vary) is below large + that.
    for (auto& index : indices_) {
      const auto rest = exprs_.subtract(index.expr, exprs_.subtract(small, large));
      if (!invariant(rest)) continue;
      const auto limit = strict ? rest : exprs_.add(rest, exprs_.constant(1));
      index.range = exprs_.minimum(index.range, limit);
      return true;
    }
    return false;
  }

  // Whether a <= b for all arguments and dimensions of a launch.
  bool at_most(ExprId a, ExprId b) const { return facts_.not_negative(exprs_.subtract(b, a)); }

  std::optional<ExprId> unite(std::int64_t width) {
    auto run = exprs_.constant(width);        // from the first byte to the last
    auto footprint = exprs_.constant(width);  // bytes of them
    for (auto& index : indices_) {
      if (exprs_.is_constant(index.step) && exprs_[index.step].number < 0)
        index.step = exprs_.scale(index.step, -1);
      if (index.step == 0) return std::nullopt;
    }
    // Ranges are at least 1 wherever the access is made.
    for (const auto& index : indices_)
      facts_.assume(exprs_.compare(SymbolicOp::less_equal, exprs_.constant(1), index.range), true);
    while (!indices_.empty()) {
      const auto next = std::find_if(indices_.begin(), indices_.end(), [&](const Index& i) {
        return std::all_of(indices_.begin(), indices_.end(),
                           [&](const Index& other) { return at_most(i.step, other.step); });
      });
      if (next == indices_.end()) return std::nullopt;
      const auto grown =
          exprs_.add(run, exprs_.multiply(next->step, exprs_.add(next->range, exprs_.constant(-1))));
      if (!gaps_ && at_most(next->step, run)) {
        footprint = grown;
      } else if (at_most(run, next->step)) {
        footprint = exprs_.multiply(footprint, next->range);
        gaps_ = gaps_ || next->step != run;
      } else {
        return std::nullopt;
      }
      run = grown;
      indices_.erase(next);
    }
    return footprint;
  }

  Evaluator& evaluator_;
  SymbolicExprs& exprs_;
  Facts facts_;
  LoopAnalysis& loops_;
  const Cfg& cfg_;
  std::uint32_t block_;
  const std::vector<PathCondition>& conditions_;
  std::vector<Index> indices_;
  bool gaps_ = false;  // between the bytes of the footprint
  int depth_ = 0;
};

}  // namespace

std::optional<ExprId> footprint_bytes(Evaluator& evaluator, LoopAnalysis& loops, ExprId address,
                                      std::uint32_t block, std::int64_t bytes,
                                      const std::vector<PathCondition>& conditions) {
  return Footprint(evaluator, loops, block, conditions).bytes(address, bytes);
}

}  // namespace warptime::analysis
