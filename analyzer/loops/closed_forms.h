// The values of registers in an iteration of a loop, in terms of its counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/symbolic/evaluate.h"
#include "analyzer/symbolic/facts.h"

namespace warptime::analysis {

// Whether an expression has the same value in every iteration of `loop`.
bool is_invariant(const Evaluator& evaluator, ExprId expr, std::uint32_t loop);

// ((x mod m) + c) mod m as (x + c) mod m, wherever it is in an expression. Divisions are read as rounding down.
ExprId without_nested_remainders(SymbolicExprs& exprs, ExprId expr);

// Finds closed forms of phis. A register that a loop changes by the same amount in each iteration is start +
// step · counter; one that it doubles, start · 2^counter; one that depends on branches, a selection by their
// conditions.
class ClosedForms {
 public:
  // The value that a loop's counter has in its last iteration; the counter itself while that is being found.
  using LastIteration = std::function<ExprId(std::uint32_t loop)>;

  // `evaluator` must outlive it, and so must `facts`, which hold where the values are read. With facts, a register that
  // is moved periodically has a closed form, too: (start + step · counter) mod m.
  ClosedForms(Evaluator& evaluator, LastIteration last_iteration, const Facts* facts = nullptr)
      : evaluator_(evaluator),
        exprs_(evaluator.exprs()),
        last_iteration_(std::move(last_iteration)),
        facts_(facts) {}

  // `expr` as seen in loop `context` (none: outside all loops): phis are replaced by their closed forms,
  // counters of loops that do not enclose `context` by their last value. A value without a closed form stays
  // a phi.
  ExprId resolve(ExprId expr, std::uint32_t context);

  // A register of a loop's header: before the first iteration, and as an iteration leaves it (nothing: none does).
  struct Around {
    ExprId start = 0;
    std::optional<ExprId> next;
  };
  // Nothing where it depends on the way into the loop or through it.
  std::optional<Around> around(std::uint32_t phi, std::uint32_t loop);

  // During its lifetime, the phis whose closed forms are being found do not count as open: for an independent
  // query.
  class Separate {
   public:
    explicit Separate(ClosedForms& forms)
        : forms_(forms),
          open_(std::exchange(forms.open_, {})),
          lowest_(std::exchange(forms.lowest_met_, none_met)) {}
    ~Separate() {
      forms_.open_ = std::move(open_);
      forms_.lowest_met_ = lowest_;
    }
    Separate(const Separate&) = delete;
    Separate& operator=(const Separate&) = delete;

   private:
    ClosedForms& forms_;
    std::vector<std::uint32_t> open_;
    std::size_t lowest_;
  };

 private:
  // An incoming edge of a block, and its value.
  struct IncomingEdge {
    std::uint32_t from;
    ExprId value;
  };
  ExprId closed_form(std::uint32_t phi, std::uint32_t context);
  void resolve_start(std::uint32_t phi, std::uint32_t loop);
  ExprId recurrence(std::uint32_t phi, std::uint32_t loop);
  std::optional<ExprId> follower_of_counter(ExprId start, ExprId next, std::uint32_t loop);
  std::optional<ExprId> periodic_index(ExprId start, ExprId next, ExprId self, std::uint32_t loop);
  std::optional<ExprId> remainder_in(ExprId expr, std::uint32_t loop);
  bool is_step(ExprId added, ExprId modulus);
  bool is_index(ExprId expr, ExprId modulus);
  ExprId merge(std::uint32_t phi, std::uint32_t context);
  std::optional<ExprId> selected(std::uint32_t block, const std::vector<IncomingEdge>& edges, int depth);
  ExprId leave_loops(ExprId expr, std::uint32_t context);

  Evaluator& evaluator_;
  SymbolicExprs& exprs_;
  LastIteration last_iteration_;
  const Facts* facts_;
  std::unordered_map<std::uint64_t, ExprId> found_;  // by (phi, context)
  static constexpr std::size_t none_met = ~std::size_t{0};
  std::vector<std::uint32_t> open_;    // phis whose closed form is being found, outermost first
  std::size_t lowest_met_ = none_met;  // the outermost of them that was used since
  std::size_t depth_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace warptime::analysis
