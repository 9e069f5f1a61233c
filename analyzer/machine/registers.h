// How many registers ptxas gives a thread, estimated without it: what is alive at the same time (pressure.h), and what decision
// trees add to that. The trees are a file in registers/ for each target, which warptime_make_register_table writes. Each is
// written from its root on, what is at most the number before what is more:
//
//   tree
//   split,least,12.5            the term, the number
//   leaf,-0.25                  registers
//   leaf,0.5
//   step,32,30.5,35.5           ptxas makes 32 of what is between 30.5 and 35.5
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/machine/pressure.h"
#include "simulator/base/diagnostic.h"
#include "simulator/program/kernel_program.h"

namespace warptime::machine {

struct RegisterTerm {
  std::string_view name;
  double (*value)(const Pressure& pressure, const KernelResources& resources);
};
inline constexpr std::size_t kRegisterTerms = 30;
extern const std::array<RegisterTerm, kRegisterTerms> register_terms;

// What the trees add to.
double first_guess(const Pressure& pressure);

class RegisterTable {
 public:
  // With so many registers one more warp fits on an SM: ptxas uses them all, or does with them.
  struct Step {
    int registers = 0;
    double from = 0, to = 0;
  };

  // A place in a tree.
  struct Node {
    std::size_t term = kRegisterTerms;  // as many: a leaf
    double number = 0;                  // of a leaf: registers
    std::size_t beyond = 0;  // where it goes on if the term is more than the number; else with the next
  };

  // Errors (with line): what is no number, an unknown term, a tree without an end.
  static Result<RegisterTable> read(std::string_view csv, const std::string& file);

  // `resources`: launch bounds limit registers, and the limit is never exceeded: what does not fit is spilled.
  int estimate(const Pressure& pressure, const KernelResources& resources) const;

  // Before steps and limits.
  double sum(const Pressure& pressure, const KernelResources& resources) const;

  std::vector<Node> nodes;
  std::vector<std::size_t> trees;  // places in nodes
  std::vector<Step> steps;
};

// The table of the newest target there is; ptxas has allocated registers in the same way since Volta.
const RegisterTable& register_table();

// How many registers are left for values; nothing where all of them fit.
std::optional<int> registers_for_values(const Pressure& pressure, const KernelResources& resources);

}  // namespace warptime::machine
