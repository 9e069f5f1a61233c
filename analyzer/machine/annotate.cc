#include "analyzer/machine/annotate.h"

#include <cmath>
#include <memory>
#include <unordered_map>

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

void annotate(Items& items, const Lines& lines) {
  for (Item& item : items) {
    const auto* run = std::get_if<Instructions>(&item.what);
    const bool is_access = std::holds_alternative<MemoryAccess>(item.what);
    if (is_access || (run != nullptr && run->count.is_integer())) {
      const Line sum = sum_of(item.ptx, lines);
      const double count = is_access ? 1 : static_cast<double>(run->count.integer_value());
      if (sum.instructions > 0) {
        MachineWork work;
        work.add(sum.work, count / sum.instructions);
        round_to_thousandths(work);
        item.machine = std::make_shared<const MachineWork>(work);
      }
    }
    for_each_inner(item, [&](Items& inner) { annotate(inner, lines); });
  }
}

}  // namespace

void annotate(KernelProgram& program, const analysis::KernelCode& code, const Estimate& made) {
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
  annotate(program.program, lines);
  if (program.program.empty()) return;
  Item& first = program.program.front();
  MachineWork once = first.machine ? *first.machine : MachineWork();
  once.add(made.once);
  round_to_thousandths(once);
  first.machine = std::make_shared<const MachineWork>(once);
}

}  // namespace warptime::machine
