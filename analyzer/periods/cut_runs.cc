#include "analyzer/periods/cut_runs.h"

#include <cassert>
#include <memory>
#include <utility>

namespace warptime::periods {

Items cut(const Item& run, const std::vector<std::size_t>& cuts, const std::vector<InstructionRole>& roles,
          const Notes& notes) {
  const ItemDetail& whole = *run.detail;
  Items parts;
  std::size_t from = 0, accesses = 0;
  std::int64_t executed_of_all = 0;
  for (std::size_t c = 0; c <= cuts.size(); ++c) {
    const auto end = c < cuts.size() ? cuts[c] : whole.made_of.size();
    ItemDetail detail;
    Item part;
    part.threads = run.threads;
    part.predicated = run.predicated;
    part.shares = run.shares;
    std::int64_t executed = 0;
    InstructionClasses classes;
    for (; from < end; ++from) {
      const auto i = whole.made_of[from];
      detail.made_of.push_back(i);
      if (roles[i].kind == InstructionRole::Kind::none) continue;
      ++executed;
      if (roles[i].instruction_class) classes.add(*roles[i].instruction_class);
      part.lines.add(notes.source_lines(i));
      part.ptx.add(notes.ptx_lines(i));
      detail.shuffles += roles[i].shuffle ? 1 : 0;
      detail.matches += roles[i].matches;
      if (roles[i].on_chip && accesses < whole.on_chip.size()) {
        detail.floating = detail.floating || whole.floating;
        detail.on_chip.push_back(whole.on_chip[accesses++]);
      }
    }
    assert(executed > 0);
    executed_of_all += executed;
    Instructions instructions{Expression(executed)};
    if (!classes.counts.empty())
      instructions.classes = std::make_shared<const InstructionClasses>(std::move(classes));
    part.what = std::move(instructions);
    if (c == cuts.size()) {
      detail.chain = whole.chain;
      detail.barrier = whole.barrier;
    }
    part.detail = std::make_shared<const ItemDetail>(std::move(detail));
    parts.push_back(std::move(part));
  }
  assert(executed_of_all == std::get<Instructions>(run.what).count.integer_value());
  (void)executed_of_all;
  return parts;
}

}  // namespace warptime::periods
