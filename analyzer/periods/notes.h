// The places of a kernel's instructions in its source, and the messages about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/periods/lower.h"
#include "analyzer/ptx/module.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// Names places in the source, and collects the error, the warnings and the assumptions of one kernel's
// lowering.
class Notes {
 public:
  // Warnings and assumptions go to `out`. All three must outlive it.
  Notes(const ptx::Function& function, const LowerOptions& options, Lowered& out)
      : function_(function), options_(options), out_(out) {}

  int source_line(std::uint32_t instruction) const;             // 0: not known
  std::string place(std::uint32_t instruction) const;           // `line 12`, `PTX line 40`
  std::string place_for_name(std::uint32_t instruction) const;  // `line_12`, `ptx_line_40`
  LineSet source_lines(std::uint32_t instruction) const;        // empty: not known
  LineSet ptx_lines(std::uint32_t instruction) const;

  // The error at an instruction's PTX line, or at the function's end for none.
  Diagnostic error_about(std::uint32_t instruction, std::string message, std::string hint = {}) const;
  // Only the first failure is kept.
  void fail(Diagnostic diagnostic);
  const std::optional<Diagnostic>& failure() const { return failure_; }
  void warn(Diagnostic diagnostic);
  // An assumption of the kernel program at an instruction. Recorded once for each place.
  void assume(std::uint32_t instruction, std::string text);

 private:
  const ptx::Function& function_;
  const LowerOptions& options_;
  Lowered& out_;
  std::optional<Diagnostic> failure_;
};

}  // namespace warptime::periods
