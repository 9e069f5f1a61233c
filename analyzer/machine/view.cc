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

struct Shown {
  std::vector<MachineWork> slots;  // by instruction
  MachineWork entry, total;        // once; all
  std::string table;               // the target that the table is of
};

Shown estimate_of(const analysis::KernelCode& code, const analysis::Cfg& cfg, const std::string& target) {
  Shown shown;
  Estimate made = estimate(code, cfg, table_of(target, shown.table));
  shown.slots = std::move(made.each);
  shown.entry = made.once;
  for (const LoopWork& loop : made.loops) shown.entry.add(loop.entry);
  shown.total = shown.entry;
  for (std::size_t i = 0; i < shown.slots.size(); ++i)
    if (!code.silent(static_cast<std::uint32_t>(i))) shown.total.add(shown.slots[i]);
  return shown;
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

std::string machine_text(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                         const std::string& kernel, const std::string& target) {
  const Shown made = estimate_of(code, cfg, target);
  std::string out =
      fmt::format("{}: machine instructions, as ptxas makes them for {} on average{}\n", kernel, made.table,
                  made.table == target ? "" : fmt::format(" (there is no table for {})", target));
  out += fmt::format("{:>5}  {:>4}  {:>8}  {:<28}  {}\n", "PTX", "line", "machine", "pipes", "instruction");
  out += fmt::format("{:>5}  {:>4}  {:>8.2f}  {:<28}  {}\n", "", "", made.entry.total(), pipes_of(made.entry),
                     "(once: entry, before loops, exit)");
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

Json machine_json(const analysis::KernelCode& code, const analysis::Cfg& cfg, const std::string& kernel,
                  const std::string& target) {
  const Shown made = estimate_of(code, cfg, target);
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
          {"once", pipes_json(made.entry)},
          {"instructions", std::move(lines)}};
}

}  // namespace warptime::machine
