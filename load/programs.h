// What the commands need to know about kernel programs: names, selection, parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/kernel_file.h"
#include "simulator/predict/prediction.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

// The kernel's name; for a program written by hand the file's, without folder and extensions.
std::string kernel_name(const KernelProgram& program, const std::string& file);

// Those that `kernel` means: matching_kernels() of kernel_names.h, for programs.
Result<std::vector<KernelProgram>> select_kernels(std::vector<KernelProgram> programs,
                                                  const std::string& kernel, const std::string& file);

// select_kernel() of kernel_file.h, for programs.
Result<KernelProgram> select_program(std::vector<KernelProgram> programs, const std::string& kernel,
                                     const std::string& file, ChosenBy by);

// The program of a file of kernel programs that `kernel` means. Reads only that one, where the file tells its documents apart
// (program_documents.h). Errors: those of read_kernel_programs and select_program.
Result<KernelProgram> read_kernel_program(std::string_view text, const std::string& kernel,
                                          const std::string& file, ChosenBy by);

// Whether a load or store leaves its duration to a GPU's file.
bool leaves_durations_open(const KernelProgram& program);

// "97 of 100 instructions are modelled", where not all are; otherwise nothing.
std::string modelled_share(const KernelProgram& program);

// The parameters to set: those that the program's expressions use, and those of the others that are given a
// value.
std::vector<std::string> parameters_to_bind(const KernelProgram& program,
                                            const std::vector<NamedValues>& given);

// The description of a parameter; may be empty.
std::string description_of(const KernelProgram& program, const std::string& parameter);

// Errors: a given parameter that no program has.
Diagnostics unknown_parameters(const std::vector<KernelProgram>& programs,
                               const std::vector<NamedValues>& given);

// Every combination of the values given to a program's parameters, the last one innermost.
class ParameterSweep {
 public:
  // Errors: more combinations than fit 64 bits.
  static Result<ParameterSweep> of(const KernelProgram& program, const std::vector<NamedValues>& given);
  std::uint64_t size() const { return size_; }
  std::vector<std::pair<std::string, std::int64_t>> at(std::uint64_t index) const;

 private:
  std::vector<NamedValues> axes_;
  std::uint64_t size_ = 1;
};

}  // namespace warptime
