#include "analyzer/execute/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/execute/warp.h"

namespace warptime::execute {

bool fatal(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::uninitialised_memory:
    case Finding::Kind::uninitialised_register:
    case Finding::Kind::shared_race:
    case Finding::Kind::same_value_race:
    case Finding::Kind::warp_race:
    case Finding::Kind::unwaited_copy:
    case Finding::Kind::other_buffer:
    case Finding::Kind::divergent_barrier:
    case Finding::Kind::divergent_warp:
      return false;
    default:
      return true;
  }
}

bool minor(Finding::Kind kind) {
  return kind == Finding::Kind::same_value_race;
}

std::string_view name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::out_of_bounds:
      return "out_of_bounds";
    case Finding::Kind::misaligned:
      return "misaligned";
    case Finding::Kind::read_only:
      return "read_only";
    case Finding::Kind::uninitialised_memory:
      return "uninitialised_memory";
    case Finding::Kind::uninitialised_register:
      return "uninitialised_register";
    case Finding::Kind::shared_race:
      return "shared_race";
    case Finding::Kind::same_value_race:
      return "same_value_race";
    case Finding::Kind::warp_race:
      return "warp_race";
    case Finding::Kind::unwaited_copy:
      return "unwaited_copy";
    case Finding::Kind::other_buffer:
      return "other_buffer";
    case Finding::Kind::divergent_barrier:
      return "divergent_barrier";
    case Finding::Kind::divergent_warp:
      return "divergent_warp";
    case Finding::Kind::deadlock:
      return "deadlock";
    case Finding::Kind::assertion:
      return "assertion";
    case Finding::Kind::bad_operand:
      return "bad_operand";
    case Finding::Kind::budget:
      return "budget";
  }
  return "";
}

bool Warp::found_before(Finding::Kind kind) {
  const auto function = code().index;
  for (auto& finding : machine->result.findings)
    if (finding.kind == kind && finding.function == function && finding.instruction == pc) {
      ++finding.count;
      return true;
    }
  return false;
}

bool Warp::fault(Finding::Kind kind, std::uint32_t lane, const std::string& message) {
  auto& result = machine->result;
  if (fatal(kind) && machine->options->stop) machine->stopped = true;
  if (found_before(kind)) return !machine->stopped;
  const auto function = code().index;
  if (result.findings.size() >= machine->options->most_findings) {
    ++result.findings_left_out;
    return !machine->stopped;
  }
  const auto& instruction = machine->program->module->functions[function].instructions[pc];
  const auto thread = index * lanes_of_warp + lane;
  const auto& size = machine->launch.block;
  Finding finding;
  finding.kind = kind;
  finding.message = message;
  finding.function = function;
  finding.instruction = pc;
  finding.ptx_line = instruction.line;
  finding.source_file = instruction.source_file;
  finding.source_line = instruction.source_line;
  finding.block = {block->index.x, block->index.y, block->index.z};
  finding.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
  result.findings.push_back(std::move(finding));
  return !machine->stopped;
}

Diagnostic to_diagnostic(const Finding& finding, const ptx::Module& module, const std::string& file) {
  const auto& instruction = module.functions[finding.function].instructions[finding.instruction];
  std::string message = fmt::format("{}; block ({}, {}, {}), thread ({}, {}, {})", finding.message,
                                    finding.block[0], finding.block[1], finding.block[2], finding.thread[0],
                                    finding.thread[1], finding.thread[2]);
  if (finding.count > 1) message += fmt::format("; {} times", finding.count);
  if (finding.source_line != 0) {
    std::string path;
    for (const auto& source : module.files)
      if (source.number == finding.source_file) path = source.path;
    message += path.empty() ? fmt::format(" (source line {})", finding.source_line)
                            : fmt::format(" ({}:{})", path, finding.source_line);
  }
  auto diagnostic = error_at(file, static_cast<int>(finding.ptx_line), 0, std::move(message));
  const auto begin = module.text.rfind('\n', instruction.offset);
  const auto first = begin == std::string_view::npos ? 0 : begin + 1;
  diagnostic.source_line = std::string(module.text.substr(
      first, std::min(module.text.find('\n', instruction.offset), module.text.size()) - first));
  diagnostic.column = static_cast<int>(instruction.offset - first) + 1;
  if (!fatal(finding.kind)) diagnostic.severity = Severity::warning;
  return diagnostic;
}

}  // namespace warptime::execute
