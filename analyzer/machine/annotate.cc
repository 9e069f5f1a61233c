#include "analyzer/machine/annotate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "simulator/program/walk.h"

namespace warptime::machine {
namespace {

struct Line {
  double instructions = 0;
  MachineWork work;
};

// What there is of some lines of the PTX.
template <typename Of>
class ByLine {
 public:
  // `lines`: all that there are, in any order.
  explicit ByLine(std::vector<int> lines) : lines_(std::move(lines)) {
    std::sort(lines_.begin(), lines_.end());
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    values_.resize(lines_.size());
  }
  Of& operator[](int line) { return values_[place_of(line)]; }
  std::vector<Of>& values() { return values_; }
  // Calls visit for what there is of the lines, in their order.
  template <typename Visit>
  void for_each(const LineSet& lines, const Visit& visit) const {
    for (const auto& [first, last] : lines.ranges())
      for (std::size_t at = place_of(first); at < lines_.size() && lines_[at] <= last; ++at)
        visit(values_[at]);
  }

 private:
  std::size_t place_of(int line) const {
    return static_cast<std::size_t>(std::lower_bound(lines_.begin(), lines_.end(), line) - lines_.begin());
  }
  std::vector<int> lines_;
  std::vector<Of> values_;  // by place in lines_
};
using Lines = ByLine<Line>;

// Of an average to be read by people.
void round_for_readers(MachineWork& work) {
  for (double& count : work.by_pipe) count = std::round(count * 1000) / 1000;
  work.cycles = std::round(work.cycles * 10) / 10;
  work.imad = std::round(work.imad * 100) / 100;
  work.matrix = std::round(work.matrix * 100) / 100;
  work.reads = std::round(work.reads * 100) / 100;
}

Line sum_of(const LineSet& ptx, const Lines& lines) {
  Line sum;
  lines.for_each(ptx, [&](const Line& line) {
    sum.instructions += line.instructions;
    sum.work.add(line.work);
  });
  return sum;
}

// The loops of the instructions by PTX line; of a line that has been inlined several times, the first's.
// none: in no loop.
struct LoopOfLine {
  std::uint32_t loop = analysis::none;
};
using LoopsOfLines = ByLine<LoopOfLine>;

void count_loops(const LineSet& ptx, const LoopsOfLines& loops,
                 std::unordered_map<std::uint32_t, int>& counts) {
  loops.for_each(ptx, [&](const LoopOfLine& of) {
    if (of.loop != analysis::none) ++counts[of.loop];
  });
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
    for (std::size_t at = 0; at < items.size(); ++at) {
      Item& item = items[at];
      annotate_item(item, requests_at(items, at));
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
    round_for_readers(entry);
    if (entry.total() > 0) item.machine = std::make_shared<const MachineWork>(entry);
    repeat.unrolled = work.pieces;
    if (work.whole && repeat.unrolled.empty() && repeat.count.is_integer() &&
        repeat.count.integer_value() > 1)
      repeat.unrolled = {{repeat.count.integer_value(), {}}};
    for (UnrolledPiece& piece : repeat.unrolled) round_for_readers(piece.machine);
  }

  // Of the instruction that items[at] is a request of.
  static std::size_t requests_at(const Items& items, std::size_t at) {
    const auto continues = [&](std::size_t i) {
      const auto* access = i < items.size() ? std::get_if<MemoryAccess>(&items[i].what) : nullptr;
      return access != nullptr && access->continues;
    };
    std::size_t first = at, end = at + 1;
    while (first > 0 && continues(first)) --first;
    while (continues(end)) ++end;
    return end - first;
  }

  void annotate_item(Item& item, std::size_t requests) const {
    const auto* run = std::get_if<Instructions>(&item.what);
    const bool is_access = std::holds_alternative<MemoryAccess>(item.what);
    if (!is_access && (run == nullptr || !run->count.is_integer())) return;
    const Line sum = sum_of(item.ptx, lines_);
    const double count =
        is_access ? 1.0 / static_cast<double>(requests) : static_cast<double>(run->count.integer_value());
    if (sum.instructions == 0) return;
    MachineWork work;
    work.add(sum.work, count / sum.instructions);
    round_for_readers(work);
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
  const auto& instructions = code.function().instructions;
  std::vector<int> named, in_loops;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (!code.silent(static_cast<std::uint32_t>(i))) named.push_back(static_cast<int>(instructions[i].line));
  Lines lines(std::move(named));
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (code.silent(static_cast<std::uint32_t>(i))) continue;
    Line& line = lines[static_cast<int>(instructions[i].line)];
    line.instructions += 1;
    line.work.add(made.each[i]);
  }
  for (Line& line : lines.values()) {
    MachineWork mean;
    mean.add(line.work, 1 / line.instructions);
    line = {1, mean};
  }
  const auto for_each_in_loop = [&](const auto& visit) {
    for (const analysis::Block& block : cfg.blocks)
      for (std::uint32_t i = block.first; i < block.end && i < instructions.size(); ++i)
        if (block.loop != analysis::none) visit(static_cast<int>(instructions[i].line), block.loop);
  };
  for_each_in_loop([&](int line, std::uint32_t) { in_loops.push_back(line); });
  LoopsOfLines loops(std::move(in_loops));
  for_each_in_loop([&](int line, std::uint32_t loop) {
    if (auto& of = loops[line]; of.loop == analysis::none) of.loop = loop;
  });
  Annotator annotator(lines, loops, cfg, made);
  annotator.annotate(program.program, analysis::none);
  // Of a kernel that does nothing, an item of no instructions has it.
  if (program.program.empty()) program.program.push_back({Instructions{Expression(0)}});
  Item& first = program.program.front();
  MachineWork once = first.machine ? *first.machine : MachineWork();
  once.add(made.once);
  once.add(annotator.not_placed());
  round_for_readers(once);
  first.machine = std::make_shared<const MachineWork>(once);
}

}  // namespace warptime::machine
