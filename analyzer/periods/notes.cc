#include "analyzer/periods/notes.h"

#include <fmt/format.h>

#include <climits>
#include <utility>

namespace warptime::periods {

int Notes::source_line(std::uint32_t instruction) const {
  const auto& ins = function_.instructions[instruction];
  if (options_.main_file != 0 && ins.source_file != options_.main_file) return 0;
  // No source has so many lines: a broken .loc says nothing.
  return ins.source_line > static_cast<std::uint32_t>(INT_MAX) ? 0 : static_cast<int>(ins.source_line);
}

std::string Notes::place(std::uint32_t instruction) const {
  const auto line = source_line(instruction);
  return line != 0 ? fmt::format("line {}", line)
                   : fmt::format("PTX line {}", function_.instructions[instruction].line);
}

std::string Notes::place_for_name(std::uint32_t instruction) const {
  const auto line = source_line(instruction);
  return line != 0 ? fmt::format("line_{}", line)
                   : fmt::format("ptx_line_{}", function_.instructions[instruction].line);
}

LineSet Notes::source_lines(std::uint32_t instruction) const {
  LineSet lines;
  if (const auto line = source_line(instruction); line > 0) lines.add(line);
  return lines;
}

LineSet Notes::ptx_lines(std::uint32_t instruction) const {
  LineSet lines;
  lines.add(static_cast<int>(function_.instructions[instruction].line));
  return lines;
}

Diagnostic Notes::error_about(std::uint32_t instruction, std::string message, std::string hint) const {
  const auto& instructions = function_.instructions;
  const int line = instruction < instructions.size() ? static_cast<int>(instructions[instruction].line)
                                                     : static_cast<int>(function_.end_line);
  if (instruction < instructions.size() && source_line(instruction) != 0)
    message += fmt::format(" (source line {})", source_line(instruction));
  return error_at(options_.file, line, 0, std::move(message), std::move(hint));
}

void Notes::fail(Diagnostic diagnostic) {
  if (!failure_) failure_ = std::move(diagnostic);
}

void Notes::warn(Diagnostic diagnostic) {
  diagnostic.severity = Severity::warning;
  out_.diagnostics.push_back(std::move(diagnostic));
}

void Notes::assume(std::uint32_t instruction, std::string text) {
  const auto& ins = function_.instructions[instruction];
  for (const auto& a : out_.program.assumptions)
    if (a.ptx_line == static_cast<int>(ins.line) && a.text == text) return;
  out_.program.assumptions.push_back({source_line(instruction), static_cast<int>(ins.line), std::move(text)});
}

}  // namespace warptime::periods
