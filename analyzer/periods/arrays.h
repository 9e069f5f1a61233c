// The arrays in device memory that a kernel accesses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/parameters.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// The only term of the address with coefficient 1 that can be where an array begins: a variable's address, or
// an argument that may be a pointer. Nothing where there is none, or more than one.
std::optional<analysis::ExprId> pointer_term(const analysis::SymbolicExprs& exprs,
                                             const Parameters& parameters, analysis::ExprId address);

// Finds which array an address lies in, also where its offset has no closed form, and describes the arrays.
class Arrays {
 public:
  // Both must outlive it.
  Arrays(analysis::KernelFlow& flow, const Parameters& parameters) : flow_(flow), parameters_(parameters) {}

  // The name of the array that `address` lies in, read in `loop`: that of the argument or module variable
  // that it is counted from on all paths. Empty where paths differ, or where the pointer is loaded.
  std::string name_of(analysis::ExprId address, std::uint32_t loop);

  // Declares the arrays that the program's accesses name: arguments in their order, then module variables.
  void declare_in(KernelProgram& program) const;

 private:
  std::optional<analysis::ExprId> base_of(analysis::ExprId address);

  analysis::KernelFlow& flow_;
  const Parameters& parameters_;
  // Whether it is a variable; the argument's index or the variable's line, and the offset in the argument;
  // its name.
  using Order = std::tuple<bool, std::uint32_t, std::uint32_t, std::string>;
  std::map<Order, Array> arrays_;
};

}  // namespace warptime::periods
