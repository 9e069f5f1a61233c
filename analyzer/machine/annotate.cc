#include "analyzer/machine/annotate.h"

#include <cmath>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "simulator/program/walk.h"

namespace warptime::machine {
namespace {

struct Line {
  double instructions = 0;
  MachineWork work;
};
using Lines = std::unordered_map<int, Line>;

// Of an average to be read by people.
void round_to_thousandths(MachineWork& work) {
  for (double& count : work.by_pipe) count = std::round(count * 1000) / 1000;
}

Line sum_of(const LineSet& ptx, const Lines& lines) {
  Line sum;
  for (const auto& [first, last] : ptx.ranges()) {
    for (int line = first; line <= last; ++line) {
      const auto found = lines.find(line);
      if (found == lines.end()) continue;
      sum.instructions += found->second.instructions;
      sum.work.add(found->second.work);
    }
  }
  return sum;
}

// The loops of the instructions by PTX line; of a line that has been inlined several times, the first's.
using LoopsOfLines = std::unordered_map<int, std::uint32_t>;

void count_loops(const LineSet& ptx, const LoopsOfLines& loops,
                 std::unordered_map<std::uint32_t, int>& counts) {
  for (const auto& [first, last] : ptx.ranges())
    for (int line = first; line <= last; ++line)
      if (const auto found = loops.find(line); found != loops.end()) ++counts[found->second];
}

// The loop that a repeat stands for: the outermost one inside of `around` that its items' lines are in.
std::uint32_t loop_of(Items& body, const LoopsOfLines& lines, const analysis::Cfg& cfg,
                      std::uint32_t around) {
  std::unordered_map<std::uint32_t, int> counts;
  const auto visit = [&](const auto& self, Items& items) -> void {
    for (Item& item : items) {
      count_loops(item.ptx, lines, counts);
      for_each_inner(item, [&](Items& inner) { self(self, inner); });
    }
  };
  visit(visit, body);
  std::unordered_map<std::uint32_t, int> outermost;
  for (const auto& [innermost, count] : counts) {
    std::uint32_t loop = innermost;
    while (loop != analysis::none && cfg.loops[loop].parent != around) loop = cfg.loops[loop].parent;
    if (loop != analysis::none) outermost[loop] += count;
  }
  std::uint32_t best = analysis::none;
  int most = 0;
  for (const auto& [loop, count] : outermost)
    if (count > most || (count == most && loop < best)) best = loop, most = count;
  return best;
}

class Annotator {
 public:
  Annotator(const Lines& lines, const LoopsOfLines& loops, const analysis::Cfg& cfg, const Estimate& made)
      : lines_(lines), loops_(loops), cfg_(cfg), made_(made) {}

  void annotate(Items& items, std::uint32_t around) {
    for (Item& item : items) {
      annotate_item(item);
      std::uint32_t loop = around;
      if (auto* repeat = std::get_if<Repeat>(&item.what)) {
        loop = loop_of(repeat->body, loops_, cfg_, around);
        if (loop < made_.loops.size()) annotate_loop(item, *repeat, made_.loops[loop]);
        if (loop < made_.loops.size()) placed_.insert(loop);
        if (loop == analysis::none) loop = around;
      }
      for_each_inner(item, [&](Items& inner) { annotate(inner, loop); });
    }
  }

  // Of the loops that no repeat stands for.
  MachineWork not_placed() const {
    MachineWork work;
    for (std::uint32_t loop = 0; loop < made_.loops.size(); ++loop)
      if (!placed_.contains(loop)) work.add(made_.loops[loop].entry);
    return work;
  }

 private:
  static void annotate_loop(Item& item, Repeat& repeat, const LoopWork& work) {
    MachineWork entry = work.entry;
    round_to_thousandths(entry);
    if (entry.total() > 0) item.machine = std::make_shared<const MachineWork>(entry);
    repeat.unrolled = work.pieces;
    for (UnrolledPiece& piece : repeat.unrolled) round_to_thousandths(piece.machine);
  }

  void annotate_item(Item& item) const {
    const auto* run = std::get_if<Instructions>(&item.what);
    const bool is_access = std::holds_alternative<MemoryAccess>(item.what);
    if (!is_access && (run == nullptr || !run->count.is_integer())) return;
    const Line sum = sum_of(item.ptx, lines_);
    const double count = is_access ? 1 : static_cast<double>(run->count.integer_value());
    if (sum.instructions == 0) return;
    MachineWork work;
    work.add(sum.work, count / sum.instructions);
    round_to_thousandths(work);
    item.machine = std::make_shared<const MachineWork>(work);
  }

  const Lines& lines_;
  const LoopsOfLines& loops_;
  const analysis::Cfg& cfg_;
  const Estimate& made_;
  std::unordered_set<std::uint32_t> placed_;  // loops
};

}  // namespace

void annotate(KernelProgram& program, const analysis::KernelCode& code, const analysis::Cfg& cfg,
              const Estimate& made) {
  // A line of a device function that is inlined several times has as many instructions: their mean counts.
  Lines lines;
  const auto& instructions = code.function().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (code.silent(static_cast<std::uint32_t>(i))) continue;
    Line& line = lines[static_cast<int>(instructions[i].line)];
    line.instructions += 1;
    line.work.add(made.each[i]);
  }
  for (auto& [number, line] : lines) {
    MachineWork mean;
    mean.add(line.work, 1 / line.instructions);
    line = {1, mean};
  }
  LoopsOfLines loops;
  for (const analysis::Block& block : cfg.blocks)
    for (std::uint32_t i = block.first; i < block.end && i < instructions.size(); ++i)
      if (block.loop != analysis::none) loops.try_emplace(static_cast<int>(instructions[i].line), block.loop);
  Annotator annotator(lines, loops, cfg, made);
  annotator.annotate(program.program, analysis::none);
  // Of a kernel that does nothing, an item of no instructions has it.
  if (program.program.empty()) program.program.push_back({Instructions{Expression(0)}});
  Item& first = program.program.front();
  MachineWork once = first.machine ? *first.machine : MachineWork();
  once.add(made.once);
  once.add(annotator.not_placed());
  round_to_thousandths(once);
  first.machine = std::make_shared<const MachineWork>(once);
}

}  // namespace warptime::machine
