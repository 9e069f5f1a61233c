// Symbolic expressions as conditions, counts and texts of a kernel program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/memory/footprint.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/loop_counters.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/parameters.h"
#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/naming.h"

namespace warptime::periods {

// Writes symbolic expressions in the user's names, and remembers the conditions under which the code being
// lowered runs.
class Conditions {
 public:
  // All must outlive it.
  Conditions(analysis::KernelFlow& flow, const Parameters& parameters, LoopCounters& counters, Notes& notes);
  Conditions(const Conditions&) = delete;
  Conditions& operator=(const Conditions&) = delete;

  // `raw` as it holds in `loop`: closed forms for what loops change, simplified by the facts.
  analysis::ExprId resolve(analysis::ExprId raw, std::uint32_t loop, const analysis::Facts& facts);
  // Whether all threads of the launch have the same value.
  bool uniform(analysis::ExprId expr) const;
  // In the program's names; nothing if a part of it has no name. Assumptions are recorded at `instruction`.
  std::optional<Expression> expression_of(analysis::ExprId expr, std::uint32_t instruction);
  // Over threads too: a condition that tells which threads execute something, or how often. Nothing where data or
  // what has no closed form decides.
  std::optional<Expression> of_threads(analysis::ExprId expr);
  // A thread's address in `loop` as bytes from the beginning of its array, over threads; nothing where there is no such
  // form.
  std::optional<Expression> place_in_array(analysis::ExprId address, std::uint32_t loop,
                                           const analysis::Facts& facts);
  // The row that loaded data choose in an address without such a form, where it is known which element of which array they
  // are: `by` stays empty, and `chosen_by` is that element's address. Nothing: data decide more, each thread has loaded an
  // element of its own, or what has no closed form decides.
  struct ChosenRow {
    RowOfData row;
    analysis::ExprId chosen_by = 0;
    std::uint32_t loop = 0;  // where `chosen_by` is loaded
  };
  std::optional<ChosenRow> row_of_data(analysis::ExprId address, std::uint32_t loop,
                                       const analysis::Facts& facts);
  // The same of an address on the chip, from the beginning of its memory: `begin_of` gives the places of the
  // variables whose addresses are in it. Nothing where one has none, or where there is no variable.
  std::optional<Expression> place_on_chip(
      analysis::ExprId address, std::uint32_t loop, const analysis::Facts& facts,
      const std::function<std::optional<std::int64_t>(analysis::ExprId symbol)>& begin_of);
  // For texts; shortened with an ellipsis if too long.
  std::string readable(analysis::ExprId expr) const;
  // A new symbolic expression that is written as the parameter `count`: the count of a loop that has no
  // closed form.
  analysis::ExprId named(const Expression& count);
  const analysis::Naming& naming() const { return naming_; }

  // The conditions of the branches around the code being lowered, outermost first.
  const std::vector<analysis::PathCondition>& path() const { return path_; }
  void enter_taken_side(analysis::ExprId guard) { path_.push_back({guard, true}); }
  void enter_other_side() { path_.back().holds = false; }
  void leave_branch() { path_.pop_back(); }

 private:
  analysis::ExprId resolve_address(analysis::ExprId raw, std::uint32_t loop, const analysis::Facts& facts);
  // The whole of it, or `elided`.
  std::string short_text(analysis::ExprId expr, std::size_t most) const;
  static constexpr std::string_view elided = "…";
  struct Choice;
  bool add_choice(analysis::ExprId data, std::uint32_t loop, const analysis::Facts& facts, int most_loads,
                  Choice& choice);
  bool add_choosing_load(analysis::ExprId result, std::uint32_t loop, const analysis::Facts& facts,
                         int most_loads, Choice& choice);

  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  const Parameters& parameters_;
  LoopCounters& counters_;
  Notes& notes_;
  analysis::Naming naming_;   // for expressions
  analysis::Naming reading_;  // for texts
  analysis::Naming threads_;  // for conditions over threads
  analysis::WrittenExprs written_, written_of_threads_;
  std::map<analysis::ExprId, std::string> parameter_names_;
  std::vector<analysis::PathCondition> path_;
};

}  // namespace warptime::periods
