#include "analyzer/flow/footprint.h"

#include <algorithm>
#include <array>

#include "analyzer/flow/facts.h"

namespace warptime::flow {
namespace {

constexpr std::uint8_t varies = on_thread | on_block | on_counter | on_data;
constexpr std::size_t most_indices = 8;
constexpr int max_depth = 6;

struct Dimension {
  Special thread, threads, block, blocks;
};
constexpr std::array<Dimension, 3> dimensions{{{Special::tid_x, Special::ntid_x, Special::ctaid_x, Special::nctaid_x},
                                               {Special::tid_y, Special::ntid_y, Special::ctaid_y, Special::nctaid_y},
                                               {Special::tid_z, Special::ntid_z, Special::ctaid_z, Special::nctaid_z}}};

class Footprint {
 public:
  Footprint(Evaluator& evaluator, LoopAnalysis& loops, std::uint32_t block, const std::vector<PathCondition>& conditions)
      : evaluator_(evaluator), values_(evaluator.values()), facts_(values_), loops_(loops), cfg_(evaluator.cfg()), block_(block), conditions_(conditions) {}

  std::optional<ValueId> bytes(ValueId address, std::int64_t width) {
    if (++depth_ > max_depth) return std::nullopt;
    if (const auto periodic = remainder(address, width)) return periodic;
    if (!collect(address)) return std::nullopt;
    join_threads_and_blocks();
    std::vector<ValueId> seen;
    for (const auto& index : indices_)
      if (!add_variables(index.form, seen)) return std::nullopt;  // one that is there twice
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
    ValueId form;  // over the atoms that vary, e.g. threadIdx.x + blockDim.x · blockIdx.x
    ValueId step;
    ValueId range;
  };

  bool invariant(ValueId value) const { return !values_[value].indirect && (values_[value].dependence & varies) == 0; }

  // Adds the indices that a form is made of; false where one of them is there already.
  bool add_variables(ValueId form, std::vector<ValueId>& seen) const {
    std::vector<ValueId> own;
    values_.any_leaf(form, [&](ValueId leaf) {
      if (!invariant(leaf) && std::find(own.begin(), own.end(), leaf) == own.end()) own.push_back(leaf);
      return false;
    });
    const bool fresh = std::none_of(own.begin(), own.end(), [&](ValueId v) { return std::find(seen.begin(), seen.end(), v) != seen.end(); });
    seen.insert(seen.end(), own.begin(), own.end());
    return fresh;
  }

  // base + step · (x mod n): a run of x that is read round and round.
  std::optional<ValueId> remainder(ValueId address, std::int64_t width) {
    std::vector<Term> terms;
    values_.linear_form(address, terms);
    for (const auto& term : terms) {
      const auto parts = values_.parts(term.atom);
      for (const auto& part : parts) {
        const auto node = values_[part.atom];
        if (node.op != Op::floor_divide || term.coefficient == INT64_MIN || !invariant(node.b) || invariant(node.a)) continue;
        std::int64_t step = -term.coefficient;
        if (values_.is_constant(node.b)) {
          if (step % values_[node.b].number != 0 || parts.size() != 1) continue;
          step /= values_[node.b].number;
        }
        const auto rest = values_.subtract(address, values_.scale(values_.modulo(node.a, node.b), step));
        if (step < width || !invariant(rest)) continue;
        Footprint of_x(evaluator_, loops_, block_, conditions_);
        of_x.depth_ = depth_;
        const auto run = of_x.bytes(node.a, 1);
        if (!run || of_x.has_gaps()) return std::nullopt;
        return values_.scale(values_.minimum(*run, node.b), width);
      }
    }
    return std::nullopt;
  }

  bool collect(ValueId address) {
    std::vector<Term> terms;
    values_.linear_form(address, terms);
    for (const auto& term : terms) {
      if (invariant(term.atom)) continue;
      if (!add_term(term)) return false;
    }
    return indices_.size() <= most_indices;
  }

  bool add_term(const Term& term) {
    const auto node = values_[term.atom];
    ValueId variable = term.atom, step = values_.constant(term.coefficient);
    if (node.op == Op::product) {
      std::optional<ValueId> found;
      for (const auto& factor : values_.terms(term.atom)) {
        if (invariant(factor.atom)) step = values_.multiply(step, factor.atom);
        else if (found) return false;
        else found = factor.atom;
      }
      if (!found) return false;
      variable = *found;
    }
    const auto range = range_of(variable);
    if (!range) return false;
    for (auto& index : indices_)
      if (index.form == variable) {
        index.step = values_.add(index.step, step);
        return true;
      }
    indices_.push_back({variable, step, *range});
    return true;
  }

  std::optional<ValueId> range_of(ValueId variable) {
    const auto node = values_[variable];
    if (node.op == Op::special)
      for (const auto& d : dimensions) {
        if (static_cast<Special>(node.a) == d.thread) return values_.special(d.threads);
        if (static_cast<Special>(node.a) == d.block) return values_.special(d.blocks);
      }
    // Every d neighbours share one.
    if (node.op == Op::floor_divide && values_.is_constant(node.b)) {
      Footprint inside(evaluator_, loops_, block_, conditions_);
      inside.depth_ = depth_;
      std::vector<Term> terms;
      if (values_.linear_form(node.a, terms) != 0) return std::nullopt;
      const auto run = inside.bytes(node.a, 1);
      if (!run || inside.has_gaps()) return std::nullopt;
      return values_.floor_divide(values_.add(*run, values_.constant(values_[node.b].number - 1)), node.b);
    }
    if (node.op != Op::counter) return std::nullopt;
    // Turns of the loop in which the block runs.
    const auto loop = node.a;
    const auto& trip = loops_.trip_count(loop);
    if (!trip.count || trip.exit == none || trip.busiest_thread || trip.has_other_exits || !invariant(*trip.count)) return std::nullopt;
    const auto from = cfg_.loops[loop].exits[trip.exit].from;
    const bool before_the_exit = cfg_.dominates(block_, from);
    if (!before_the_exit && !cfg_.dominates(from, block_)) return std::nullopt;
    return before_the_exit ? *trip.count : values_.add(*trip.count, values_.constant(-1));
  }

  // threadIdx.x + blockDim.x · blockIdx.x is one index.
  void join_threads_and_blocks() {
    for (const auto& d : dimensions) {
      const auto thread = find(values_.special(d.thread)), block = find(values_.special(d.block));
      if (thread == indices_.end() || block == indices_.end()) continue;
      const auto extent = values_.special(d.threads);
      if (block->step != values_.multiply(thread->step, extent)) continue;
      thread->form = values_.add(thread->form, values_.multiply(block->form, extent));
      thread->range = values_.multiply(thread->range, block->range);
      indices_.erase(block);
    }
  }

  std::vector<Index>::iterator find(ValueId form) {
    return std::find_if(indices_.begin(), indices_.end(), [&](const Index& i) { return i.form == form; });
  }

  // An upper bound of one index, as it stands in the address.
  bool bound(const PathCondition& c) {
    const auto node = values_[c.condition];
    if (node.op == Op::logical_not) return bound({node.a, !c.holds});
    if (node.op == Op::logical_and && c.holds) return bound({node.a, true}) && bound({node.b, true});
    if (node.op == Op::logical_or && !c.holds) return bound({node.a, false}) && bound({node.b, false});
    ValueId small = node.a, large = node.b;
    bool strict = false;
    switch (node.op) {
      case Op::less: case Op::less_unsigned: strict = true; break;
      case Op::less_equal: case Op::less_equal_unsigned: break;
      default: return false;
    }
    if (!c.holds) {
      std::swap(small, large);
      strict = !strict;
    }
    // small < large: an index i with i = small + (what does not vary) is below large + that.
    for (auto& index : indices_) {
      const auto rest = values_.subtract(index.form, values_.subtract(small, large));
      if (!invariant(rest)) continue;
      const auto limit = strict ? rest : values_.add(rest, values_.constant(1));
      index.range = values_.minimum(index.range, limit);
      return true;
    }
    return false;
  }

  // Whether a <= b for all arguments and dimensions of a launch.
  bool at_most(ValueId a, ValueId b) const { return facts_.not_negative(values_.subtract(b, a)); }

  std::optional<ValueId> unite(std::int64_t width) {
    auto run = values_.constant(width);        // from the first byte to the last
    auto touched = values_.constant(width);    // of them
    for (auto& index : indices_) {
      if (values_.is_constant(index.step) && values_[index.step].number < 0) index.step = values_.scale(index.step, -1);
      if (index.step == 0) return std::nullopt;
    }
    // Ranges are at least 1 wherever the access is made.
    for (const auto& index : indices_) facts_.assume(values_.compare(Op::less_equal, values_.constant(1), index.range), true);
    while (!indices_.empty()) {
      const auto next = std::find_if(indices_.begin(), indices_.end(), [&](const Index& i) {
        return std::all_of(indices_.begin(), indices_.end(), [&](const Index& other) { return at_most(i.step, other.step); });
      });
      if (next == indices_.end()) return std::nullopt;
      const auto grown = values_.add(run, values_.multiply(next->step, values_.add(next->range, values_.constant(-1))));
      if (!gaps_ && at_most(next->step, run)) {
        touched = grown;
      } else if (at_most(run, next->step)) {
        touched = values_.multiply(touched, next->range);
        gaps_ = gaps_ || next->step != run;
      } else {
        return std::nullopt;
      }
      run = grown;
      indices_.erase(next);
    }
    return touched;
  }

  Evaluator& evaluator_;
  Values& values_;
  Facts facts_;
  LoopAnalysis& loops_;
  const Cfg& cfg_;
  std::uint32_t block_;
  const std::vector<PathCondition>& conditions_;
  std::vector<Index> indices_;
  bool gaps_ = false;  // between the bytes touched
  int depth_ = 0;
};

}  // namespace

std::optional<ValueId> touched_bytes(Evaluator& evaluator, LoopAnalysis& loops, ValueId address, std::uint32_t block, std::int64_t bytes,
                                     const std::vector<PathCondition>& conditions) {
  return Footprint(evaluator, loops, block, conditions).bytes(address, bytes);
}

}  // namespace warptime::flow
