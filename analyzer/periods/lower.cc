#include "analyzer/periods/lower.h"

#include <utility>

#include "analyzer/periods/dependences.h"
#include "analyzer/periods/items.h"
#include "analyzer/periods/lowering.h"

namespace warptime::periods {

using analysis::none;

Lowering::Lowering(analysis::KernelFlow& flow, const LowerOptions& options)
    : flow_(flow),
      options_(options),
      notes_(flow.code.function(), options, out_),
      parameters_(flow.code.function(), options),
      counters_(flow.evaluator.exprs(), parameters_),
      conditions_(flow, parameters_, counters_, notes_),
      arrays_(flow, parameters_),
      blocks_(flow, options, out_, parameters_, arrays_, conditions_, counters_, notes_),
      sides_(flow, parameters_, conditions_, notes_),
      regions_(flow, out_, blocks_, sides_, conditions_, notes_, loops_),
      loops_(flow, out_, blocks_, regions_, parameters_, conditions_, counters_, notes_) {}

Result<Lowered> Lowering::lower() {
  if (auto errors = blocks_.find_roles(); !errors.empty()) return errors;
  const auto& cfg = flow_.cfg;
  if (!cfg.irreducible.empty()) {
    return notes_.error_about(
        cfg.blocks[cfg.irreducible.front().to].first,
        "irreducible control flow: a loop with several entries, too large to be copied for each");
  }
  out_.repeats_of_loop.assign(cfg.loops.size(), "");
  auto items = regions_.region(0, cfg.exit(), none, analysis::Facts(flow_.evaluator.exprs()), 0);
  if (notes_.failure()) return *notes_.failure();
  if (options_.detail) write_dependences(flow_, out_.roles, options_.machine_places, notes_, items);
  compact(items);
  out_.block_matters = flow_.accesses.block_matters();
  out_.program.program = std::move(items);
  parameters_.declare_in(out_.program);
  arrays_.declare_in(out_.program);
  return std::move(out_);
}

Result<Lowered> lower(analysis::KernelFlow& flow, const LowerOptions& options) {
  return Lowering(flow, options).lower();
}

}  // namespace warptime::periods
