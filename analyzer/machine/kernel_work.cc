#include "analyzer/machine/kernel_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

// Whether the instruction becomes one machine instruction in each copy of its block.
bool is_one(const ptx::Instruction& instruction) {
  constexpr std::array<std::string_view, 9> begins = {"ld.global", "st.global",   "ld.shared",
                                                      "st.shared", "atom.global", "red.",
                                                      "bar.",      "fma.rn.f32",  "fma.rn.f64"};
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return instruction.opcode.starts_with(begin); });
}

// How many loops of the machine code each instruction is in: backward branches.
std::vector<int> depths_of(const MachineKernel& kernel, int target) {
  std::map<std::int64_t, std::int64_t> loops;  // first address -> last; branches to one place are one loop
  for (const MachineInstruction& one : kernel.instructions) {
    const auto to = branch_target(one, target);
    if (to && *to >= 0 && *to < static_cast<std::int64_t>(one.address) && !one.in_subroutine)
      loops[*to] = std::max(loops[*to], static_cast<std::int64_t>(one.address));
  }
  // +1 where a loop begins, -1 behind its end.
  std::map<std::int64_t, int> changes;
  for (const auto& [first, last] : loops) {
    ++changes[first];
    --changes[last + 1];
  }
  std::vector<int> depths;
  auto next = changes.begin();
  int depth = 0;
  for (const MachineInstruction& one : kernel.instructions) {
    for (; next != changes.end() && next->first <= static_cast<std::int64_t>(one.address); ++next)
      depth += next->second;
    depths.push_back(depth);
  }
  return depths;
}

struct Made {  // of a line of PTX
  std::map<int, MachineWork> by_depth;
  double instructions = 0;  // of the PTX that have this line: more than one where functions are inlined

  int deepest() const { return by_depth.empty() ? 0 : by_depth.rbegin()->first; }
  // What is in at least `depth` loops, or in fewer; of one instruction.
  MachineWork sum(int depth, bool inside) const {
    MachineWork work;
    for (const auto& [at, one] : by_depth)
      if ((at >= depth) == inside) work.add(one, 1 / std::max(1.0, instructions));
    return work;
  }
};
using MachineLines = std::map<std::uint32_t, Made>;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// The loops of the machine code that a block is in, and how many copies of it there are.
struct Placed {
  int depth = 0;
  double copies = 1;
};

Placed place_of(const ptx::Function& function, const analysis::Block& block, MachineLines& lines) {
  Placed placed;
  std::vector<double> copies, depths;
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    const int deepest = lines[function.instructions[i].line].deepest();
    placed.depth = std::max(placed.depth, deepest);
    if (is_one(function.instructions[i])) depths.push_back(deepest);
  }
  if (depths.empty()) return placed;
  placed.depth = static_cast<int>(median(depths));
  for (std::uint32_t i = block.first; i < block.end; ++i)
    if (is_one(function.instructions[i]))
      copies.push_back(lines[function.instructions[i].line].sum(placed.depth, true).total());
  placed.copies = std::max(1.0, median(copies));
  return placed;
}

bool is_exit(const ptx::Instruction& instruction) {
  return instruction.info != nullptr && instruction.info->category == ptx::Category::exit;
}

}  // namespace

KernelWork work_of(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                   int target) {
  const ptx::Function& function = code.function();
  MachineLines lines;
  const std::vector<int> depths = depths_of(kernel, target);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const MachineInstruction& one = kernel.instructions[i];
    if (one.in_subroutine) continue;
    lines[one.ptx_line].by_depth[depths[i]][one.opcode != nullptr ? one.opcode->pipe : Pipe::none] += 1;
  }
  for (const ptx::Instruction& instruction : function.instructions) ++lines[instruction.line].instructions;
  KernelWork work;
  work.each.resize(function.instructions.size());
  for (const analysis::Block& block : cfg.blocks) {
    const Placed placed = place_of(function, block, lines);
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const Made& made = lines[function.instructions[i].line];
      InstructionWork& one = work.each[i];
      if (is_exit(function.instructions[i])) {
        one.inside[Pipe::cbu] = 1;
      } else if (block.loop != analysis::none) {
        one.inside.add(made.sum(placed.depth, true), 1 / placed.copies);
        one.hoisted = made.sum(placed.depth, false);
      } else {
        one.inside.add(made.sum(0, true), 1 / placed.copies);
      }
    }
  }
  for (const auto& [line, made] : lines)
    if (line != 0 && made.instructions == 0) work.entry.add(made.sum(0, true));
  return work;
}

}  // namespace warptime::machine
