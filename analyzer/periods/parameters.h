// The parameters of a kernel program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/periods/lower.h"
#include "analyzer/ptx/module.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// Names the parameters of a kernel program: the kernel's arguments, and values that the code does not
// determine, so that the user must give them.
class Parameters {
 public:
  // Both must outlive it.
  Parameters(const ptx::Function& function, const LowerOptions& options)
      : function_(function), options_(options) {}

  // The argument's name in the source, or in the PTX without a source. `offset` in bytes is that of a part of
  // the argument: `size`, `size_4`.
  std::string argument_name(std::uint32_t index, std::uint32_t offset) const;
  bool is_argument_name(const std::string& name) const;
  // "argument 0 (float* in)"; with an offset in bytes, of the part that begins there.
  std::string description_of_part(std::uint32_t index, std::uint32_t offset) const;
  // Whether the argument, or a part of it, can be the address of an array.
  bool may_be_pointer(std::uint32_t index) const;

  // The parameter that the user gives for what `description` says: `wanted`, or `wanted_2` if that name is
  // taken.
  std::string ask_for(const std::string& wanted, std::string description);

  // The same for the share of the warps that take a branch; `share` is the default, `ptx_line` the branch's.
  std::string ask_for_share(const std::string& wanted, std::string description, double share, int ptx_line);

  // Declares all parameters that the program's items use, and every whole-number argument.
  void declare_in(KernelProgram& program);

 private:
  std::string ask_for(const std::string& wanted, std::string description, std::optional<double> share);
  bool is_integer_argument(std::uint32_t index) const;
  std::string argument_description(std::uint32_t index) const;

  const ptx::Function& function_;
  const LowerOptions& options_;
  std::vector<Parameter> asked_for_;  // in the order of the questions
  // By description, and by the share of a branch: one for extraordinary arguments reads like others.
  std::map<std::pair<std::string, std::optional<double>>, std::string> name_of_;
  std::set<std::string> names_in_use_;
  std::map<std::string, int> times_wanted_;
};

}  // namespace warptime::periods
