// How many registers ptxas gives a thread, estimated without it: a linear function of what is alive at the same time
// (pressure.h), then the nearest number that ptxas prefers. The coefficients are a file in registers/ for each target, which
// warptime_make_register_table writes.
//
//   # name,value
//   base,0.742                  a coefficient of a term
//   step,32,28,38               ptxas makes 32 of what is between 28 and 38
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
  double (*value)(const Pressure& pressure, bool bounded);  // bounded: the kernel has launch bounds
};
inline constexpr std::size_t kRegisterTerms = 11;
extern const std::array<RegisterTerm, kRegisterTerms> register_terms;

class RegisterTable {
 public:
  // With so many registers one more warp fits on an SM: ptxas uses them all, or does with them.
  struct Step {
    int registers = 0;
    double from = 0, to = 0;
  };

  // Errors (with line): what is no number, an unknown term.
  static Result<RegisterTable> read(std::string_view csv, const std::string& file);

  // `resources`: launch bounds limit registers, and the limit is never exceeded: what does not fit is spilled.
  int estimate(const Pressure& pressure, const KernelResources& resources) const;

  std::array<double, kRegisterTerms> coefficients{};
  std::vector<Step> steps;
};

// The table of the newest target there is; ptxas has allocated registers in the same way since Volta.
const RegisterTable& register_table();

// How many registers are left for values; nothing where all of them fit.
std::optional<int> registers_for_values(const Pressure& pressure, const KernelResources& resources);

}  // namespace warptime::machine
