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

#include "analyzer/compile/ptxas.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/ptx/parser.h"

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
  void add(const Context& context, const MachineWork& slots) {
    for (const std::array<std::string, 3>& key :
         {std::array<std::string, 3>{context.operation, context.use, context.operands},
          {context.operation, context.use, "*"},
          {context.operation, "*", "*"},
          {"*", "*", "*"}}) {
      Sum& sum = sums_[key];
      sum.samples += 1;
      sum.slots.add(slots);
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
    const Key parent = key[2] != "*"   ? Key{key[0], key[1], "*"}
                       : key[1] != "*" ? Key{key[0], "*", "*"}
                                       : Key{"*", "*", "*"};
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

std::vector<std::uint32_t> blocks_of(const ptx::Function& function) {
  std::vector<bool> begins(function.instructions.size() + 1, false);
  for (const ptx::Label& label : function.labels)
    if (label.instruction < begins.size()) begins[label.instruction] = true;
  std::vector<std::uint32_t> blocks;
  std::uint32_t block = 0;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    if (begins[i]) ++block;
    blocks.push_back(block);
    const auto* info = function.instructions[i].info;
    if (info != nullptr && info->is(ptx::ends_block)) ++block;
  }
  return blocks;
}

void add_kernel(const ptx::Module& module, const ptx::Function& function, const MachineKernel& kernel,
                Table& table) {
  std::map<std::uint32_t, MachineWork> by_line;
  for (const MachineInstruction& one : kernel.instructions)
    if (!one.in_subroutine) by_line[one.ptx_line][one.opcode != nullptr ? one.opcode->pipe : Pipe::none] += 1;
  const auto blocks = blocks_of(function);
  std::map<std::uint32_t, std::vector<double>> copies;  // by block
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (is_one(function.instructions[i]))
      copies[blocks[i]].push_back(by_line[function.instructions[i].line].total());
  const auto contexts = contexts_of(analysis::KernelCode(module, function));
  std::map<std::uint32_t, MachineWork> others = by_line;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ptx::Instruction& instruction = function.instructions[i];
    others.erase(instruction.line);
    MachineWork slots;
    if (instruction.info != nullptr && instruction.info->category == ptx::Category::exit) {
      slots[Pipe::control] = 1;
    } else {
      double count = 1;
      if (auto known = copies.find(blocks[i]); known != copies.end()) {
        auto& all = known->second;
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
        count = std::max(1.0, all[all.size() / 2]);
      }
      slots.add(by_line[instruction.line], 1 / count);
    }
    table.add(contexts[i], slots);
  }
  MachineWork entry;
  for (const auto& [line, slots] : others)
    if (line != 0) entry.add(slots);
  table.add({"entry", "", ""}, entry);
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
  int count = 0;
  for (const ptx::Function& function : module->functions) {
    const auto found = kernels->find(std::string(function.name));
    if (!function.entry || found == kernels->end() || calls(function) || count >= kMostKernels) continue;
    add_kernel(*module, function, found->second, table);
    ++count;
  }
  return count;
}

int make(const std::string& target, const std::vector<std::string>& files) {
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
