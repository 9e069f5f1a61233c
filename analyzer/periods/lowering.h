// How one kernel is lowered: the class behind lower(). It walks the blocks from the entry on and writes down
// what each stands for; where ways part it lowers both and decides which items remain, and a loop becomes a
// repeat around the items of one turn. Its methods are in
//   lower.cc             the whole kernel, blocks and their instructions, memory accesses, errors and assumptions, what is not modelled
//   lower_branches.cc    regions, what a block's end decides, how two sides become one, where ways meet again
//   lower_loops.cc       loops, their turns and last turns, how often they repeat
//   lower_parameters.cc  names, conditions as values and as texts, parameters
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/memory/footprint.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/ptx/module.h"
#include "analyzer/symbolic/facts.h"
#include "analyzer/symbolic/naming.h"
#include "analyzer/symbolic/symbolic_exprs.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// What a kernel uses that the model does not tell apart: docs/not-modelled.md, a line each.
enum class NotModelled : std::uint8_t {
  shared_memory,
  local_memory,
  barrier,
  atomic,
  texture,
  async_copy,
  long_instruction,
  tensor_core
};
constexpr std::size_t kinds_not_modelled = 8;

class Lowering {
 public:
  Lowering(analysis::KernelFlow& flow, const LowerOptions& options);

  Result<Lowered> lower();

 private:
  // --- lower.cc ------------------------------------------------------------------------------------------------------

  int source_line(std::uint32_t instruction) const;
  std::string place(std::uint32_t instruction) const;
  std::string place_for_name(std::uint32_t instruction) const;
  Diagnostic fail_at(std::uint32_t instruction, std::string message, std::string hint = {}) const;
  void fail(Diagnostic diagnostic);
  void assume(std::uint32_t instruction, std::string text);
  void roles_of_instructions();
  void note_uses(std::uint32_t i);
  void unsupported(std::uint32_t i);
  LineSet source_lines(std::uint32_t i) const;
  LineSet ptx_lines(std::uint32_t i) const;
  void block_items(std::uint32_t b, std::uint32_t loop, const analysis::Facts& facts, Items& items);
  void opaque_call(std::uint32_t i, const analysis::OpaqueCall& call, Items& items);
  void note_footprint(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts);
  void memory_item(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts, Items& items);

  // --- lower_branches.cc ---------------------------------------------------------------------------------------------

  bool within_budget(std::uint32_t b, int depth);
  Items region(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, analysis::Facts facts, int depth);
  std::uint32_t after_block(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, analysis::Facts& facts,
                            int depth, Items& items);
  void join_sides(std::uint32_t last, analysis::ExprId guard, Items taken, Items other, Items& items,
                  bool at_end);
  bool when(std::uint32_t last, analysis::ExprId guard, Items& taken, Items& other, Items& items);
  void emit_when(Expression condition, Items then_items, Items else_items, std::uint32_t last, Items& items);
  std::uint32_t several_ways(std::uint32_t b, const std::vector<std::uint32_t>& ways, std::uint32_t join,
                             std::uint32_t loop, const analysis::Facts& facts, int depth, Items& items);
  bool only_jumps(std::uint32_t b, std::uint32_t end) const;
  bool only_returns(std::uint32_t b) const;
  std::uint32_t meeting_point(std::uint32_t b, std::uint32_t loop);
  std::map<std::uint32_t, std::uint32_t> post_dominators_in(std::uint32_t loop_index) const;

  // --- lower_loops.cc ------------------------------------------------------------------------------------------------

  std::uint32_t instruction_of_loop(const analysis::Loop& loop) const;
  std::uint32_t loop_items(std::uint32_t index, const analysis::Facts& facts, int depth, Items& items);
  Items turn_until_exit(std::uint32_t index, const analysis::Loop::Exit& exit, bool every_turn,
                        const analysis::Facts& facts, int depth);
  Items turn(std::uint32_t index, std::uint32_t from, std::uint32_t stop, const analysis::Facts& facts,
             int depth);
  analysis::ExprId named_count(const Expression& count);
  Items last_turn_items(std::uint32_t index, const analysis::Loop::Exit& exit,
                        const analysis::TripCount& trip, const Expression& count,
                        const analysis::Facts& facts, int depth);
  void emit_repeat(Expression count, const std::string& counter, Items body, LineSet lines, LineSet ptx,
                   Items& items);
  Expression trip_expression(std::uint32_t index, const analysis::TripCount& trip,
                             const analysis::Facts& facts);

  // --- lower_parameters.cc -------------------------------------------------------------------------------------------

  std::string argument_name(std::uint32_t index, std::uint32_t offset) const;
  bool is_argument_name(const std::string& name) const;
  std::string counter_name(std::uint32_t loop);
  void open_counter(std::uint32_t loop);
  analysis::ExprId condition(analysis::ExprId raw, std::uint32_t loop, const analysis::Facts& facts);
  analysis::ExprId with_last_turns(analysis::ExprId value);
  bool uniform(analysis::ExprId value);
  std::optional<Expression> expression_of(analysis::ExprId value, std::uint32_t instruction);
  std::string readable(analysis::ExprId value);
  std::string parameter_for(const std::string& wanted, std::string description);
  void declare_parameters();
  bool is_integer_argument(std::uint32_t i) const;
  std::string argument_description(std::uint32_t i) const;

  const ptx::Function& function_;
  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  const LowerOptions& options_;
  analysis::Naming naming_;   // for expressions
  analysis::Naming reading_;  // for texts
  Lowered out_;
  Diagnostics errors_;
  std::optional<Diagnostic> failure_;
  std::map<std::uint32_t, std::string> counters_;  // of the loops that are open
  std::set<std::uint32_t> counters_used_;
  std::map<std::uint32_t, analysis::ExprId>
      last_turn_;  // loop -> its counter's last value, while its last turn is lowered
  std::vector<Parameter> extra_parameters_;
  std::map<std::string, std::string> extra_names_;  // by description
  std::set<std::string> taken_names_;
  std::map<std::string, int> times_wanted_;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> local_post_dominators_;
  std::size_t lowered_blocks_ = 0;
  std::size_t copied_items_ = 0;                         // for last turns
  std::set<std::uint32_t> written_counts_;               // loops whose count is a form, not a parameter
  std::map<analysis::ExprId, std::string> value_names_;  // of those that stand for a parameter
  std::vector<analysis::PathCondition> path_;            // that the block being lowered stands under
  std::set<std::uint32_t> footprints_;                   // accesses that were looked at
  std::array<bool, kinds_not_modelled> uses_{};
  std::set<std::string> called_;  // parameters of calls that a warning names
};

}  // namespace warptime::periods
