// warptime_make_machine_table TARGET FILES.ptx… > tables/TARGET.csv
//
// Makes a table of cost_table.h: ptxas assembles each file with line information, and the machine instructions of each
// line of PTX are counted. A loop that ptxas unrolls, or code that it duplicates, has several copies of a line: those of
// instructions that become one machine instruction each (loads, stores, multiply-adds) tell how many copies their block
// has. What lies outside of the kernel's own code, such as the slow path of a division, is not counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr int kMostKernels = 40;  // of a file: instances of one template are much alike
constexpr double kPrior = 3;      // samples of the less particular line that weigh in

struct Sum {
  double samples = 0;
  MachineWork slots;
};

class Table {
 public:
  void add(const Context& context, std::string_view where, const MachineWork& work) {
    const std::string use = context.use + std::string(where), any = "*" + std::string(where);
    for (const Key& key : {Key{context.operation, use, context.operands}, Key{context.operation, use, "*"},
                           Key{context.operation, any, "*"}, Key{"*", any, "*"}}) {
      Sum& sum = sums_[key];
      sum.samples += 1;
      sum.slots.add(work);
    }
  }

  std::string text() const {
    std::string lines;
    for (const auto& [key, sum] : sums_) {
      if (sum.samples < 4 && key[2] != "*") continue;
      lines += fmt::format("{},{},{},{}", key[0], key[1], key[2], sum.samples);
      const MachineWork mean = mean_of(key);
      for (const double value : mean.by_pipe) lines += fmt::format(",{:.3g}", value < 0.0005 ? 0 : value);
      lines += '\n';
    }
    return lines;
  }

 private:
  using Key = std::array<std::string, 3>;

  MachineWork mean_of(const Key& key) const {
    const Sum& sum = sums_.at(key);
    MachineWork mean;
    if (key[0] == "*") {
      mean.add(sum.slots, 1 / sum.samples);
      return mean;
    }
    const std::size_t at = key[1].find('@');
    const std::string any = "*" + (at == std::string::npos ? "" : key[1].substr(at));
    Key parent{"*", any, "*"};
    if (key[2] != "*")
      parent = {key[0], key[1], "*"};
    else if (key[1] != any)
      parent[0] = key[0];
    mean.add(sum.slots, 1 / (sum.samples + kPrior));
    mean.add(mean_of(parent), kPrior / (sum.samples + kPrior));
    return mean;
  }

  std::map<Key, Sum> sums_;
};

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
  std::vector<int> depths(kernel.instructions.size(), 0);
  std::map<std::int64_t, std::int64_t> loops;  // first address -> last; branches to one place are one loop
  for (const MachineInstruction& one : kernel.instructions) {
    const auto to = branch_target(one, target);
    if (to && *to >= 0 && *to < static_cast<std::int64_t>(one.address) && !one.in_subroutine)
      loops[*to] = std::max(loops[*to], static_cast<std::int64_t>(one.address));
  }
  for (std::size_t i = 0; i < depths.size(); ++i)
    for (const auto& [first, last] : loops)
      if (kernel.instructions[i].address >= first && kernel.instructions[i].address <= last) ++depths[i];
  return depths;
}

struct Made {  // of a line of PTX
  std::map<int, MachineWork> by_depth;
  int deepest() const { return by_depth.empty() ? 0 : by_depth.rbegin()->first; }
  // What is in at least `depth` loops, or in fewer.
  MachineWork sum(int depth, bool inside) const {
    MachineWork work;
    for (const auto& [at, one] : by_depth)
      if ((at >= depth) == inside) work.add(one);
    return work;
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void add_kernel(const ptx::Module& module, const ptx::Function& function, const MachineKernel& kernel,
                int target, Table& table) {
  analysis::KernelCode code(module, function);
  const auto cfg = analysis::build_cfg(code, "");
  if (!cfg || !cfg->irreducible.empty()) return;
  std::map<std::uint32_t, Made> by_line;
  const std::vector<int> depths = depths_of(kernel, target);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const MachineInstruction& one = kernel.instructions[i];
    if (one.in_subroutine) continue;
    by_line[one.ptx_line].by_depth[depths[i]][one.opcode != nullptr ? one.opcode->pipe : Pipe::none] += 1;
  }
  const auto contexts = contexts_of(code, *cfg);
  std::map<std::uint32_t, Made> others = by_line;
  for (const analysis::Block& block : cfg->blocks) {
    // The loops that the block is in, and how many copies of it there are.
    int depth = 0;
    std::vector<double> copies, depth_of_one;
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const Made& made = by_line[function.instructions[i].line];
      depth = std::max(depth, made.deepest());
      if (is_one(function.instructions[i])) depth_of_one.push_back(made.deepest());
    }
    if (!depth_of_one.empty()) depth = static_cast<int>(median(depth_of_one));
    for (std::uint32_t i = block.first; i < block.end; ++i)
      if (is_one(function.instructions[i]))
        copies.push_back(by_line[function.instructions[i].line].sum(depth, true).total());
    const double count = copies.empty() ? 1 : std::max(1.0, median(copies));
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const ptx::Instruction& instruction = function.instructions[i];
      others.erase(instruction.line);
      MachineWork inside, hoisted;
      if (instruction.info != nullptr && instruction.info->category == ptx::Category::exit) {
        inside[Pipe::control] = 1;
      } else if (contexts[i].in_loop) {
        inside.add(by_line[instruction.line].sum(depth, true), 1 / count);
        hoisted = by_line[instruction.line].sum(depth, false);
      } else {
        inside.add(by_line[instruction.line].sum(0, true), 1 / count);
      }
      table.add(contexts[i], contexts[i].in_loop ? "@loop" : "", inside);
      if (contexts[i].in_loop) table.add(contexts[i], "@hoisted", hoisted);
    }
  }
  MachineWork entry;
  for (const auto& [line, made] : others)
    if (line != 0) entry.add(made.sum(0, true));
  table.add({"entry", "", "", false}, "", entry);
}

bool calls(const ptx::Function& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [](const ptx::Instruction& one) {
                       return one.info != nullptr && one.info->category == ptx::Category::call;
                     });
}

int add_file(const std::string& file, const std::string& target, Table& table) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto module = ptx::parse(text, file);
  if (!module) return 0;
  const auto cubin = assemble(text, target, {"-lineinfo"});
  if (!cubin) {
    std::cerr << file << ": " << to_text(cubin.diagnostics()) << '\n';
    return 0;
  }
  const auto kernels = read_machine_code(*cubin, file);
  if (!kernels) return 0;
  const int number = compiling::parse_target(target)->number;
  int count = 0;
  for (const ptx::Function& function : module->functions) {
    const auto found = kernels->find(std::string(function.name));
    if (!function.entry || found == kernels->end() || calls(function) || count >= kMostKernels) continue;
    add_kernel(*module, function, found->second, number, table);
    ++count;
  }
  return count;
}

int make(const std::string& target, const std::vector<std::string>& files) {
  if (!compiling::parse_target(target)) return 2;
  Table table;
  int kernels = 0;
  for (const std::string& file : files) kernels += add_file(file, target, table);
  std::cout << fmt::format(
      "# Machine instructions that ptxas makes of PTX for {}, by context: see "
      "analyzer/machine/cost_table.h.\n"
      "# Made by warptime_make_machine_table of {} kernels in {} files.\n"
      "# operation,use,operands,samples",
      target, kernels, files.size());
  for (std::size_t i = 0; i < kPipes; ++i) std::cout << ',' << to_string(static_cast<Pipe>(i));
  std::cout << '\n' << table.text();
  return kernels > 0 ? 0 : 1;
}

}  // namespace
}  // namespace warptime::machine

int main(int count, char** arguments) {
  if (count < 3) return 2;
  return warptime::machine::make(arguments[1], {arguments + 2, arguments + count});
}
