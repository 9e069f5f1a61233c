#include "analyzer/machine/view.h"

#include <fmt/format.h>

#include "analyzer/machine/cost_table.h"

namespace warptime::machine {
namespace {

using Json = nlohmann::ordered_json;

// "add.s64 %rd1, %rd2, 4" as the PTX has it, without the guard and what follows the instruction.
std::string_view text_of(const analysis::KernelCode& code, const ptx::Instruction& instruction) {
  const std::string_view rest = code.module().text.substr(instruction.offset);
  return rest.substr(0, std::min(rest.find(';'), rest.find('\n')));
}

struct Estimate {
  std::vector<MachineWork> slots;  // by instruction
  MachineWork entry, total;
  std::string table;  // the target that the table is of
};

Estimate estimate_of(const analysis::KernelCode& code, const std::string& target) {
  Estimate made;
  const CostTable& table = table_of(target, made.table);
  made.slots = estimate(code, table);
  made.entry = table.find({"entry", "", ""});
  made.total = made.entry;
  for (std::size_t i = 0; i < made.slots.size(); ++i)
    if (!code.silent(static_cast<std::uint32_t>(i))) made.total.add(made.slots[i]);
  return made;
}

std::string pipes_of(const MachineWork& slots) {
  std::string text;
  for (std::size_t i = 0; i < kPipes; ++i)
    if (slots.by_pipe[i] >= 0.05)
      text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", to_string(static_cast<Pipe>(i)),
                          slots.by_pipe[i]);
  return text;
}

Json pipes_json(const MachineWork& slots) {
  Json pipes = Json::object();
  for (std::size_t i = 0; i < kPipes; ++i)
    if (slots.by_pipe[i] > 0) pipes[std::string(to_string(static_cast<Pipe>(i)))] = slots.by_pipe[i];
  return pipes;
}

}  // namespace

std::string machine_text(const analysis::KernelCode& code, const std::string& kernel,
                         const std::string& target) {
  const Estimate made = estimate_of(code, target);
  std::string out =
      fmt::format("{}: machine instructions, as ptxas makes them for {} on average{}\n", kernel, made.table,
                  made.table == target ? "" : fmt::format(" (there is no table for {})", target));
  out += fmt::format("{:>5}  {:>4}  {:>8}  {:<28}  {}\n", "PTX", "line", "machine", "pipes", "instruction");
  out += fmt::format("{:>5}  {:>4}  {:>8.2f}  {:<28}  {}\n", "", "", made.entry.total(), pipes_of(made.entry),
                     "(entry)");
  const auto& instructions = code.function().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (code.silent(static_cast<std::uint32_t>(i))) continue;
    out +=
        fmt::format("{:>5}  {:>4}  {:>8.2f}  {:<28}  {}\n", instructions[i].line, instructions[i].source_line,
                    made.slots[i].total(), pipes_of(made.slots[i]), text_of(code, instructions[i]));
  }
  out += fmt::format("{:>5}  {:>4}  {:>8.2f}  {:<28}  {}\n", "", "", made.total.total(), pipes_of(made.total),
                     "(all)");
  return out;
}

Json machine_json(const analysis::KernelCode& code, const std::string& kernel, const std::string& target) {
  const Estimate made = estimate_of(code, target);
  Json lines = Json::array();
  const auto& instructions = code.function().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (code.silent(static_cast<std::uint32_t>(i))) continue;
    lines.push_back({{"ptx_line", instructions[i].line},
                     {"line", instructions[i].source_line},
                     {"instruction", std::string(text_of(code, instructions[i]))},
                     {"machine_instructions", made.slots[i].total()},
                     {"pipes", pipes_json(made.slots[i])}});
  }
  return {{"kernel", kernel},
          {"target", target},
          {"table", made.table},
          {"machine_instructions", made.total.total()},
          {"entry", pipes_json(made.entry)},
          {"instructions", std::move(lines)}};
}

}  // namespace warptime::machine
