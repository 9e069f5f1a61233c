// warptime_make_machine_table TARGET FILES.ptx… > tables/TARGET.csv
//
// Makes a table of cost_table.h: ptxas assembles each file with line information, and the machine instructions of each
// PTX instruction (kernel_work.h) are averaged by context.
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
#include "analyzer/machine/kernel_work.h"
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

void add_kernel(const ptx::Module& module, const ptx::Function& function, const MachineKernel& kernel,
                int target, Table& table) {
  analysis::KernelCode code(module, function);
  const auto cfg = analysis::build_cfg(code, "");
  if (!cfg || !cfg->irreducible.empty()) return;
  const KernelWork made = work_of(code, *cfg, kernel, target);
  const auto contexts = contexts_of(code, *cfg);
  for (const analysis::Block& block : cfg->blocks) {
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      table.add(contexts[i], contexts[i].in_loop ? "@loop" : "", made.each[i].inside);
      if (contexts[i].in_loop) table.add(contexts[i], "@hoisted", made.each[i].hoisted);
    }
  }
  table.add({"entry", "", "", false}, "", made.entry);
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
