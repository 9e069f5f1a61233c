// warptime_make_machine_table TARGET FILES.ptx… > tables/TARGET.csv
// warptime_make_machine_table --alone TARGET    prints the lines of alone_costs.h alone
//
// Makes a table of cost_table.h: ptxas assembles each file with line information, and the machine
// instructions of each PTX instruction (kernel_work.h) are averaged by context.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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
#include "analyzer/machine/alone_costs.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr int kMostKernels = 40;  // of a file: instances of one template are much alike
constexpr double kPrior = 1;      // samples of the less particular line that weigh in
constexpr double kFewSamples = 4;
constexpr double kNoDifference =
    0.05;  // machine instructions on a pipe: the less particular line says as much

struct Sum {
  int samples = 0;
  double weight = 0;
  MachineWork slots;
};

class Table {
 public:
  // weight: less for an instruction of a long kernel, so that a few such kernels do not decide alone.
  void add(const Context& context, std::string_view where, const MachineWork& work, double weight) {
    const std::string use = context.use + std::string(where), any = "*" + std::string(where);
    for (const Key& key :
         {Key{context.operation, use, context.operands}, Key{context.operation, any, context.operands},
          Key{context.operation, any, "*"}, Key{"*", any, "*"}}) {
      Sum& sum = sums_[key];
      sum.samples += 1;
      sum.weight += weight;
      sum.slots.add(work, weight);
    }
  }

  std::string text() const {
    std::string lines;
    for (const auto& [key, sum] : sums_) {
      if (!is_needed(key, sum)) continue;
      lines += fmt::format("{},{},{},{}", key[0], key[1], key[2], sum.samples);
      const MachineWork mean = mean_of(key);
      for (const double value : mean.by_pipe) lines += fmt::format(",{:.3g}", value < 0.005 ? 0 : value);
      lines += '\n';
    }
    return lines;
  }

 private:
  using Key = std::array<std::string, 3>;

  // The line that stands for this one where there is none.
  static Key parent_of(const Key& key) {
    const std::size_t at = key[1].find('@');
    const std::string any = "*" + (at == std::string::npos ? "" : key[1].substr(at));
    if (key[2] == "*") return {"*", any, "*"};
    return {key[0], any, key[1] == any ? "*" : key[2]};
  }

  bool is_needed(const Key& key, const Sum& sum) const {
    if (key[0] == "*") return true;
    if (sum.samples < kFewSamples && key[2] != "*") return false;
    Key found = parent_of(key);
    while (!is_needed(found, sums_.at(found))) found = parent_of(found);
    const MachineWork own = mean_of(key), parent = mean_of(found);
    for (std::size_t i = 0; i < kPipes; ++i)
      if (std::abs(own.by_pipe[i] - parent.by_pipe[i]) > kNoDifference) return true;
    return false;
  }

  MachineWork mean_of(const Key& key) const {
    const Sum& sum = sums_.at(key);
    MachineWork mean;
    if (key[0] == "*") {
      mean.add(sum.slots, 1 / sum.weight);
      return mean;
    }
    const double weight = sum.weight / sum.samples;  // of a sample
    mean.add(sum.slots, 1 / (sum.weight + kPrior * weight));
    mean.add(mean_of(parent_of(key)), kPrior * weight / (sum.weight + kPrior * weight));
    return mean;
  }

  std::map<Key, Sum> sums_;
};

// A loop that ptxas was likely to unroll and did not is as the others that it does not.
void note_unrolling(const analysis::Cfg& cfg, const KernelWork& made, std::vector<Context>& contexts) {
  for (const analysis::Block& block : cfg.blocks) {
    if (block.loop == analysis::none) continue;
    const auto& pieces = made.loops[block.loop].pieces;
    const bool unrolled = !pieces.empty() && pieces.front().iterations > 1;
    for (std::uint32_t i = block.first; i < block.end; ++i)
      if (contexts[i].loop == LoopKind::unrolled && !unrolled) contexts[i].loop = LoopKind::rolled;
  }
}

void add_kernel(const ptx::Module& module, const ptx::Function& function, const MachineKernel& kernel,
                int target, Table& table) {
  analysis::KernelCode code(module, function);
  const auto cfg = analysis::build_cfg(code, "");
  if (!cfg || !cfg->irreducible.empty()) return;
  const KernelWork made = work_of(code, *cfg, kernel, target);
  auto contexts = contexts_of(code, *cfg);
  note_unrolling(*cfg, made, contexts);
  const auto slow = slow_paths(code, *cfg);
  const double weight = 1 / std::sqrt(static_cast<double>(contexts.size() + 1));
  for (std::uint32_t b = 0; b < cfg->blocks.size(); ++b) {
    const analysis::Block& block = cfg->blocks[b];
    if (slow[b]) continue;
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      table.add(contexts[i], suffix_of(contexts[i].loop), made.lines[i].inside, weight);
    }
  }
  table.add(entry_context(*cfg), "", made.unknown, weight);
}

bool calls(const ptx::Function& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [](const ptx::Instruction& one) {
                       return one.info != nullptr && one.info->category == ptx::Category::call;
                     });
}

// PTX for sm_90 is assembled for older targets, too, unless it has what they do not.
void set_target(std::string& text, const std::string& target) {
  const std::size_t at = text.find("\n.target ");
  if (at != std::string::npos) text.replace(at + 1, text.find('\n', at + 1) - at - 1, ".target " + target);
}

// Codes that machine_opcodes.def lacks: how often each is met.
std::map<int, int>& unknown_codes() {
  static std::map<int, int> codes;
  return codes;
}

int add_file(const std::string& file, const std::string& target, Table& table) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  set_target(text, target);
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
    for (const MachineInstruction& one : found->second.instructions)
      if (one.opcode == nullptr) ++unknown_codes()[one.code];
    add_kernel(*module, function, found->second, number, table);
    ++count;
  }
  return count;
}

int print_alone(const std::string& target) {
  const auto lines = alone_lines(target);
  if (!lines)
    std::cerr << to_text(lines.diagnostics()) << '\n';
  else
    std::cout << *lines;
  return lines ? 0 : 1;
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
  if (print_alone(target) != 0) return 1;
  for (const auto& [code, count] : unknown_codes())
    std::cerr << fmt::format("unknown machine instruction {:#05x}: {} times\n", code, count);
  return kernels > 0 ? 0 : 1;
}

}  // namespace
}  // namespace warptime::machine

int main(int count, char** arguments) {
  if (count < 3) return 2;
  if (std::string_view(arguments[1]) == "--alone") return warptime::machine::print_alone(arguments[2]);
  return warptime::machine::make(arguments[1], {arguments + 2, arguments + count});
}
