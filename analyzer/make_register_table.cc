// warptime_make_register_table TARGET FILES.ptx… > machine/registers/TARGET.csv
//
// Fits the trees of registers.h to what ptxas gives the kernels of the files: gradient boosting, where large errors weigh no
// more than those of kLargeError registers. Each tree is of a part of the kernels that is chosen by chance, always the same.
// For the check, consecutive files are left out together: give those of one source, by several compilers, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/registers.h"
#include "analyzer/periods/resources.h"

namespace warptime::machine {
namespace {

using Terms = std::array<double, kRegisterTerms>;

constexpr std::size_t kMostInstructionsWithCallees = 300'000;
constexpr std::size_t kParts = 6;  // of the files, for the check
constexpr int kTrees = 200;
constexpr int kDepth = 3;
constexpr double kShare = 0.6;          // of the kernels, for a tree
constexpr std::size_t kLeastLeaf = 10;  // kernels
constexpr double kRate = 0.1;           // of what a tree finds
constexpr double kLargeError = 4;       // registers
constexpr int kWithin = 4;              // registers: what the check counts as right

struct Sample {
  Pressure pressure;
  KernelResources resources;
  Terms terms{};
  int registers = 0;
  std::size_t part = 0;
  double guess = 0, error = 0;  // while trees are made: what they give, and what is left of it
};

std::vector<RegisterTable::Step> steps() {
  return {{32, 30.5, 35.5}, {40, 38, 42.5}, {48, 46, 50}};
}

class TreeMaker {
 public:
  explicit TreeMaker(RegisterTable& table) : table_(table) {}

  void add(std::vector<Sample*> samples) {
    table_.trees.push_back(table_.nodes.size());
    grow(samples, kDepth);
  }

 private:
  struct Split {
    double gain = 0;
    std::size_t term = kRegisterTerms;
    double number = 0;
  };

  void grow(std::vector<Sample*>& samples, int depth) {
    const Split split = depth == 0 ? Split() : best_split(samples);
    const std::size_t own = table_.nodes.size();
    table_.nodes.push_back({split.term, split.number, 0});
    if (split.term == kRegisterTerms) {
      table_.nodes[own].number = std::round(1000 * kRate * median(samples)) / 1000;
      return;
    }
    const auto beyond = std::stable_partition(samples.begin(), samples.end(), [&](const Sample* one) {
      return one->terms[split.term] <= split.number;
    });
    std::vector<Sample*> low(samples.begin(), beyond), high(beyond, samples.end());
    grow(low, depth - 1);
    table_.nodes[own].beyond = table_.nodes.size();
    grow(high, depth - 1);
  }

  static double median(const std::vector<Sample*>& samples) {
    std::vector<double> errors;
    for (const Sample* one : samples) errors.push_back(one->error);
    std::sort(errors.begin(), errors.end());
    const std::size_t half = errors.size() / 2;
    return errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  }

  // That leaves the smallest squares of errors.
  static Split best_split(const std::vector<Sample*>& samples) {
    Split best;
    double all = 0;
    for (const Sample* one : samples) all += one->error;
    const auto count = static_cast<double>(samples.size());
    std::vector<Sample*> sorted = samples;
    for (std::size_t term = 0; term < kRegisterTerms; ++term) {
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](const Sample* a, const Sample* b) { return a->terms[term] < b->terms[term]; });
      double low = 0;
      for (std::size_t i = 1; i < sorted.size(); ++i) {
        low += sorted[i - 1]->error;
        const double before = sorted[i - 1]->terms[term], behind = sorted[i]->terms[term];
        if (before == behind || i < kLeastLeaf || sorted.size() - i < kLeastLeaf) continue;
        const auto of_low = static_cast<double>(i);
        const double gain =
            low * low / of_low + (all - low) * (all - low) / (count - of_low) - all * all / count;
        if (gain > best.gain) best = {gain, term, (before + behind) / 2};
      }
    }
    return best;
  }

  RegisterTable& table_;
};

RegisterTable fit(std::vector<Sample>& samples, std::size_t without_part) {
  RegisterTable table;
  table.steps = steps();
  std::mt19937 chance;
  std::vector<Sample*> all;
  for (Sample& one : samples) {
    if (one.part == without_part) continue;
    one.guess = first_guess(one.pressure);
    all.push_back(&one);
  }
  TreeMaker trees(table);
  for (int tree = 0; tree < kTrees; ++tree) {
    std::vector<Sample*> chosen;
    for (Sample* one : all) {
      one->error = std::clamp(one->registers - one->guess, -kLargeError, kLargeError);
      if (chance() < kShare * static_cast<double>(std::mt19937::max())) chosen.push_back(one);
    }
    trees.add(chosen);
    RegisterTable last;
    last.nodes = table.nodes;
    last.trees = {table.trees.back()};
    for (Sample* one : all)
      one->guess += last.sum(one->pressure, one->resources) - first_guess(one->pressure);
  }
  return table;
}

void add_file(const std::string& file, const std::string& target, std::size_t part,
              std::vector<Sample>& samples) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto module = ptx::parse(text, file);
  const auto truth = registers_of(text, target);
  if (!module || !truth) {
    std::cerr << file << ": left out\n";
    return;
  }
  const periods::ResourceFinder resources(*module);
  for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
    const auto found = truth->find(std::string(module->functions[f].name));
    if (!module->functions[f].entry || found == truth->end()) continue;
    auto code = analysis::build_code(*module, f, kMostInstructionsWithCallees);
    const auto cfg = analysis::build_cfg(code, file);
    if (!cfg) continue;
    std::string used;
    const Estimate made = estimate(code, *cfg, table_of(target, used));
    const auto pressure = pressure_of(code, *cfg, &made);
    if (!pressure) continue;
    Sample one{
        *pressure, resources.resources_of(f).value_or(KernelResources()), {}, found->second.registers, part};
    for (std::size_t t = 0; t < kRegisterTerms; ++t)
      one.terms[t] = register_terms[t].value(one.pressure, one.resources);
    samples.push_back(one);
  }
}

// The share of kernels within kWithin registers when the part of the files that they are in was left out.
double checked(std::vector<Sample>& samples) {
  double good = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const RegisterTable table = fit(samples, part);
    for (const Sample& one : samples)
      if (one.part == part &&
          std::abs(table.estimate(one.pressure, one.resources) - one.registers) <= kWithin)
        good += 1;
  }
  return good / static_cast<double>(samples.size());
}

int make(const std::string& target, const std::vector<std::string>& files) {
  if (!compiling::parse_target(target)) return 2;
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < files.size(); ++i)
    add_file(files[i], target, i * kParts / files.size(), samples);
  if (samples.empty()) return 1;
  const RegisterTable table = fit(samples, kParts);
  std::cout << fmt::format(
      "# Registers of a thread as ptxas allocates them for {}: see analyzer/machine/registers.h.\n"
      "# Made by warptime_make_register_table of {} kernels in {} files. Fitted without the file that a "
      "kernel is in,\n"
      "# {:.0f}% of the kernels are within {} registers.\n"
      "# tree, then from its root on split,term,number and leaf,registers; step,registers,from,to\n",
      target, samples.size(), files.size(), 100 * checked(samples), kWithin);
  for (std::size_t place = 0; place < table.nodes.size(); ++place) {
    if (std::find(table.trees.begin(), table.trees.end(), place) != table.trees.end()) std::cout << "tree\n";
    const RegisterTable::Node& node = table.nodes[place];
    if (node.term == kRegisterTerms)
      std::cout << fmt::format("leaf,{}\n", node.number);
    else
      std::cout << fmt::format("split,{},{}\n", register_terms[node.term].name, node.number);
  }
  for (const RegisterTable::Step& step : table.steps)
    std::cout << fmt::format("step,{},{},{}\n", step.registers, step.from, step.to);
  return 0;
}

}  // namespace
}  // namespace warptime::machine

int main(int count, char** arguments) {
  if (count < 3) return 2;
  return warptime::machine::make(arguments[1], {arguments + 2, arguments + count});
}
