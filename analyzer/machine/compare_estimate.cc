// warptime_compare_machine_estimate [--kernel NAME | --cycles | --loops] TARGET FILES.ptx…
//
// Compares the estimate of machine instructions with what ptxas makes of each kernel, to see which rules of
// lowering.h are wrong and what they cost. Every loop is taken to have 21 iterations.
//
//   (nothing)       a line for each kernel, then the operations whose estimates are furthest off
//   --kernel NAME   the kernel's PTX with the estimate, the truth, and the machine instructions of each line
//   --cycles        each chain of blocks that is one to ptxas: machine instructions and cycles of a warp on its own, estimated
//                   and true
//   --loops         each innermost loop: what it looks like, how many copies of the source's body it has, and in which pieces
//                   ptxas executes it (`whole`: as copies alone)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/slow_paths.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/source_loops.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr double kIterations = 21;
constexpr double kTolerance = 0.10;
constexpr int kMostKernels = 12;  // of a file: instances of one template are much alike

struct Options {
  std::string kernel;
  bool loops = false, cycles = false;
  std::string target;
};

struct Totals {
  int kernels = 0, right = 0;
  std::vector<double> errors;
  struct Operation {
    double samples = 0, truth = 0, estimate = 0, off = 0;
  };
  std::map<std::string, Operation> operations;
};

// What the iterations of a loop execute beside the work of its blocks.
double beside_iterations(const LoopWork& loop) {
  double sum = loop.entry.total(), left = kIterations;
  for (const UnrolledPiece& piece : loop.pieces) {
    const double times = std::floor(left / static_cast<double>(piece.iterations));
    sum += times * piece.machine.total();
    left -= times * static_cast<double>(piece.iterations);
  }
  return sum;
}

struct Subject {
  const analysis::KernelCode& code;
  const analysis::Cfg& cfg;
  const MachineKernel& kernel;
  const ptx::Function& function;
  KernelWork truth;
  Estimate made;

  double times(std::uint32_t block) const {
    double product = 1;
    for (std::uint32_t l = cfg.blocks[block].loop; l != analysis::none; l = cfg.loops[l].parent)
      product *= kIterations;
    return product;
  }

  bool is_end(std::uint32_t i) const {
    const ptx::Instruction& one = code.function().instructions[i];
    return one.info != nullptr && one.info->category == ptx::Category::exit && one.guard == ptx::no_index;
  }

  double total(const std::vector<MachineWork>& each, const std::vector<LoopWork>& loops,
               const MachineWork& once) const {
    double sum = once.total();
    for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
      for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i)
        sum += times(b) * (code.silent(i) || is_end(i) ? 0 : each[i].total());
    for (std::uint32_t l = 0; l < loops.size(); ++l) {
      double reached = 1;
      for (std::uint32_t p = cfg.loops[l].parent; p != analysis::none; p = cfg.loops[p].parent)
        reached *= kIterations;
      sum += reached * beside_iterations(loops[l]);
    }
    return sum;
  }
};

std::string_view text_of(const ptx::Module& module, const ptx::Instruction& one) {
  const std::size_t end = module.text.find(';', one.offset);
  return module.text.substr(one.offset, std::min<std::size_t>(end - one.offset, 70));
}

// What stands between the pieces that are estimated and the true ones.
std::string between_pieces(const Subject& of, std::uint32_t loop) {
  return fmt::format(", of the source {}, truly{}", copies_of_source(of.code, of.cfg, loop, 0),
                     of.truth.loops[loop].whole ? " whole" : "");
}

void list(const ptx::Module& module, const Subject& of) {
  std::map<std::uint32_t, std::string> names;
  for (const MachineInstruction& one : of.kernel.instructions)
    names[one.ptx_line] +=
        fmt::format(" {}{}", is_conditional(one) ? "@" : "", one.opcode != nullptr ? one.opcode->name : "?");
  fmt::print("{}\n once: {:.2f}, truly {:.2f}; of no line:{}\n", of.function.name, of.made.once.total(),
             of.truth.once.total(), names[0]);
  for (std::uint32_t b = 0; b < of.cfg.blocks.size(); ++b) {
    const analysis::Block& block = of.cfg.blocks[b];
    double estimated = 0, truly = 0;
    for (std::uint32_t i = block.first; i < block.end; ++i)
      estimated += of.made.each[i].total(), truly += of.truth.each[i].total();
    fmt::print("block {} loop {}: {:.2f}, truly {:.2f}\n", b, static_cast<int>(block.loop), estimated, truly);
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const ptx::Instruction& one = of.code.function().instructions[i];
      const LineWork& line = of.truth.lines[i];
      fmt::print("{:5} {:5.2f} {:5.2f} {:5.2f} {:70}{}\n", one.line, of.made.each[i].total(),
                 line.inside.total(), line.hoisted.total(), text_of(module, one), names[one.line]);
    }
  }
  for (std::uint32_t l = 0; l < of.cfg.loops.size(); ++l) {
    fmt::print("loop {}: entry {:.2f}, truly {:.2f}; pieces", l, of.made.loops[l].entry.total(),
               of.truth.loops[l].entry.total());
    for (const UnrolledPiece& piece : of.made.loops[l].pieces)
      fmt::print(" {}+{:.1f}", piece.iterations, piece.machine.total());
    fmt::print("{}", between_pieces(of, l));
    for (const UnrolledPiece& piece : of.truth.loops[l].pieces)
      fmt::print(" {}+{:.1f}", piece.iterations, piece.machine.total());
    fmt::print("\n");
  }
}

void list_loops(const std::string& file, const Subject& of) {
  const auto kinds = loop_kinds(of.code, of.cfg);
  for (std::uint32_t l = 0; l < of.cfg.loops.size(); ++l) {
    const analysis::Loop& loop = of.cfg.loops[l];
    const bool innermost = std::none_of(of.cfg.loops.begin(), of.cfg.loops.end(),
                                        [&](const analysis::Loop& other) { return other.parent == l; });
    if (!innermost) continue;
    std::uint32_t size = 0;
    double machine = 0;
    for (const std::uint32_t b : loop.blocks) {
      size += of.cfg.blocks[b].end - of.cfg.blocks[b].first;
      for (std::uint32_t i = of.cfg.blocks[b].first; i < of.cfg.blocks[b].end; ++i)
        machine += of.truth.each[i].total();
    }
    fmt::print("{} {} line {} instructions {} machine {:.0f} blocks {} exits {} kind {} estimated", file,
               of.function.name, of.code.function().instructions[of.cfg.blocks[loop.header].first].line, size,
               machine, loop.blocks.size(), loop.exits.size(), suffix_of(kinds[l]));
    for (const UnrolledPiece& piece : of.made.loops[l].pieces) fmt::print(" {}", piece.iterations);
    fmt::print("{}", between_pieces(of, l));
    for (const UnrolledPiece& piece : of.truth.loops[l].pieces) fmt::print(" {}", piece.iterations);
    fmt::print("\n");
  }
}

// By chain of blocks: machine instructions and cycles, estimated and true.
void list_cycles(const std::string& file, const Subject& of) {
  struct Both {
    MachineWork estimated, truly;
  };
  std::map<std::uint32_t, Both> chains;
  for (std::uint32_t b = 0; b < of.cfg.blocks.size(); ++b)
    for (std::uint32_t i = of.cfg.blocks[b].first; i < of.cfg.blocks[b].end; ++i) {
      Both& chain = chains[of.made.chains[b]];
      chain.estimated.add(of.made.each[i]);
      chain.truly.add(of.truth.each[i]);
    }
  for (const auto& [first, both] : chains)
    fmt::print("{} {} {} {} {:.2f} {:.2f} {:.2f} {:.2f}\n", file, of.function.name, first,
               static_cast<int>(of.cfg.blocks[first].loop), both.estimated.total(), both.truly.total(),
               both.estimated.cycles, both.truly.cycles);
}

void add(const std::string& file, const Subject& of, Totals& totals) {
  const double truth = of.total(of.truth.each, of.truth.loops, of.truth.once);
  const double estimate = of.total(of.made.each, of.made.loops, of.made.once);
  const double error = estimate / truth - 1;
  fmt::print("{:+7.1f}% {:9.0f} {:9.0f} {:5} loops {} {} {}\n", 100 * error, estimate, truth,
             of.function.instructions.size(), of.cfg.loops.size(), file, of.function.name);
  totals.kernels += 1;
  totals.right += std::abs(error) <= kTolerance ? 1 : 0;
  totals.errors.push_back(std::abs(error));
  const auto contexts = contexts_of(of.code, of.cfg);
  for (std::uint32_t b = 0; b < of.cfg.blocks.size(); ++b) {
    for (std::uint32_t i = of.cfg.blocks[b].first; i < of.cfg.blocks[b].end; ++i) {
      if (of.is_end(i)) continue;
      Totals::Operation& operation = totals.operations[contexts[i].operation];
      const double weight = of.times(b) / truth;
      operation.samples += 1;
      operation.truth += weight * of.truth.lines[i].inside.total();
      operation.estimate += weight * of.made.each[i].total();
      operation.off += weight * std::abs(of.truth.lines[i].inside.total() - of.made.each[i].total());
    }
  }
}

void compare_file(const std::string& file, const Options& options, Totals& totals) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto module = ptx::parse(text, file);
  if (!module) return;
  const auto cubin = assemble(text, options.target, {"-lineinfo"});
  if (!cubin) return;
  const auto kernels = read_machine_code(*cubin, file);
  if (!kernels) return;
  const int number = compiling::parse_target(options.target)->number;
  std::string used;
  const CostTable& table = table_of(options.target, used);
  int count = 0;
  for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
    const ptx::Function& function = module->functions[f];
    const auto found = kernels->find(std::string(function.name));
    if (!function.entry || found == kernels->end()) continue;
    if (!options.kernel.empty() && function.name.find(options.kernel) == std::string_view::npos) continue;
    if (options.kernel.empty() && ++count > kMostKernels) break;
    auto code = analysis::build_code(*module, f, 20'000);
    const auto cfg = analysis::build_cfg(code, "");
    if (!cfg || !cfg->irreducible.empty()) continue;
    const Subject subject{code,
                          *cfg,
                          found->second,
                          function,
                          work_of(code, *cfg, found->second, number),
                          estimate(code, *cfg, table)};
    if (options.cycles)
      list_cycles(file, subject);
    else if (options.loops)
      list_loops(file, subject);
    else if (!options.kernel.empty())
      list(*module, subject);
    else
      add(file, subject, totals);
  }
}

void print(Totals& totals) {
  std::vector<std::pair<std::string, Totals::Operation>> operations(totals.operations.begin(),
                                                                    totals.operations.end());
  std::sort(operations.begin(), operations.end(),
            [](const auto& a, const auto& b) { return a.second.off > b.second.off; });
  fmt::print("\n{:30} {:>8} {:>8} {:>8} {:>8}\n", "operation", "samples", "estimate", "truth", "off");
  for (std::size_t i = 0; i < std::min<std::size_t>(operations.size(), 40); ++i) {
    const auto& [name, of] = operations[i];
    fmt::print("{:30} {:8} {:8.3f} {:8.3f} {:8.3f}\n", name, of.samples, 100 * of.estimate / totals.kernels,
               100 * of.truth / totals.kernels, 100 * of.off / totals.kernels);
  }
  std::sort(totals.errors.begin(), totals.errors.end());
  if (totals.kernels > 0)
    fmt::print("{} kernels, {:.1f}% of them within {}%; median error {:.1f}%\n", totals.kernels,
               100.0 * totals.right / totals.kernels, 100 * kTolerance,
               100 * totals.errors[totals.errors.size() / 2]);
}

int compare(std::vector<std::string> arguments) {
  Options options;
  if (arguments.size() > 1 && arguments[0] == "--kernel") {
    options.kernel = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (!arguments.empty() && arguments[0] == "--loops") {
    options.loops = true;
    arguments.erase(arguments.begin());
  }
  if (!arguments.empty() && arguments[0] == "--cycles") {
    options.cycles = true;
    arguments.erase(arguments.begin());
  }
  if (arguments.size() < 2 || !compiling::parse_target(arguments[0])) return 2;
  options.target = arguments[0];
  Totals totals;
  for (std::size_t i = 1; i < arguments.size(); ++i) compare_file(arguments[i], options, totals);
  if (totals.kernels > 0) print(totals);
  return 0;
}

}  // namespace
}  // namespace warptime::machine

int main(int count, char** arguments) {
  return warptime::machine::compare({arguments + 1, arguments + count});
}
