// The items of straight-line code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/periods/arrays.h"
#include "analyzer/periods/conditions.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/notes.h"
#include "analyzer/periods/on_chip.h"
#include "analyzer/periods/parameters.h"
#include "analyzer/periods/register_uses.h"

namespace warptime::periods {

// Converts the instructions of a basic block into items: runs of calculation, memory accesses, and calls that
// are not inlined.
class BlockItems {
 public:
  // `out` receives the roles and the accesses. All arguments must outlive it.
  BlockItems(analysis::KernelFlow& flow, const LowerOptions& options, Lowered& out, Parameters& parameters,
             Arrays& arrays, Conditions& conditions, const LoopCounters& counters, Notes& notes)
      : flow_(flow),
        exprs_(flow.evaluator.exprs()),
        function_(flow.code.function()),
        options_(options),
        out_(out),
        parameters_(parameters),
        arrays_(arrays),
        on_chip_(flow, conditions),
        conditions_(conditions),
        counters_(counters),
        notes_(notes) {}

  // Finds the role of every instruction. Call it once, before anything else. Errors: unknown instructions, at
  // most 20.
  Diagnostics find_roles();

  // Appends the items of block `b`, its branch included, as it runs in `loop`.
  void append_block(std::uint32_t b, std::uint32_t loop, const analysis::Facts& facts, Items& items);

 private:
  void unknown_instruction(std::uint32_t i, Diagnostics& errors);
  void append_opaque_call(std::uint32_t i, const analysis::OpaqueCall& call, Items& items);
  Items requests_of(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts,
                    const MemoryAccess& whole, const std::vector<std::uint32_t>& made_of);
  void append_memory_access(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts,
                            std::vector<std::uint32_t> made_of, Items& items);
  // The block's instructions in the order in which they become items.
  std::vector<std::uint32_t> order_of(std::uint32_t b);
  void add_class(std::uint32_t i, std::shared_ptr<InstructionClasses>& classes) const;
  bool computed_address(std::uint32_t i);
  bool scrambled_address(std::uint32_t i);
  std::int64_t matches_of(std::uint32_t i, analysis::ExprId& named);
  // Where data choose a row that the access goes to.
  std::optional<RowOfData> row_of(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts);
  bool is_floating_atomic(std::uint32_t i) const;
  std::shared_ptr<ItemDetail> detail_of(std::vector<std::uint32_t> made_of,
                                        std::vector<ChipAccess> on_chip = {}, bool barrier = false) const;
  void find_footprint(std::uint32_t i, std::uint32_t loop, const analysis::Facts& facts);

  analysis::KernelFlow& flow_;
  analysis::SymbolicExprs& exprs_;
  const ptx::Function& function_;
  const LowerOptions& options_;
  Lowered& out_;
  Parameters& parameters_;
  Arrays& arrays_;
  OnChip on_chip_;
  Conditions& conditions_;
  const LoopCounters& counters_;
  Notes& notes_;
  std::set<std::uint32_t> footprints_;  // instructions whose footprint was looked for
  std::set<std::string> warned_calls_;  // by the parameter that stands for the call
  std::optional<RegisterUses> uses_;    // if instructions are rearranged
};

}  // namespace warptime::periods
