#include "analyzer/machine/view.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "analyzer/compile/targets.h"
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

// "@!P0 BRA 0x1a0".
std::string opcode_of(const MachineInstruction& one, int target) {
  constexpr int always = 7;
  std::string text = one.guard_negated && one.guard == always ? "@!PT " : "";
  if (one.guard != always) text = fmt::format("@{}P{} ", one.guard_negated ? "!" : "", one.guard);
  text += one.opcode != nullptr ? std::string(one.opcode->name) : fmt::format("(opcode {:#x})", one.code);
  auto to = branch_target(one, target);
  if (!to) to = call_target(one, target);
  return to ? fmt::format("{} {:#x}", text, *to) : text;
}

// "wait 0,2": the barriers of a mask.
std::vector<int> barriers_of(unsigned mask) {
  std::vector<int> all;
  for (int b = 0; b < 6; ++b)
    if ((mask >> b & 1) != 0) all.push_back(b);
  return all;
}

// As maxas and its successors write control words: the barriers that are waited for, read barrier, write barrier, yield,
// stall count.
std::string control_text(const Control& control) {
  std::string waits(6, '-');
  for (const int b : barriers_of(control.waits))
    waits[static_cast<std::size_t>(b)] = static_cast<char>('0' + b);
  const auto barrier = [](int b) { return b < 6 ? static_cast<char>('0' + b) : '-'; };
  return fmt::format("{} R{} W{} {} {:>2}", waits, barrier(control.read_barrier),
                     barrier(control.write_barrier), control.yield ? '-' : 'Y', control.stall);
}

// The PTX instruction that has the line; null: none.
class Origins {
 public:
  explicit Origins(const analysis::KernelCode& code) : code_(code) {
    const auto& all = code.function().instructions;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!code.silent(static_cast<std::uint32_t>(i))) of_line_.try_emplace(all[i].line, i);
  }
  const ptx::Instruction* of(const MachineInstruction& one) const {
    const auto found = of_line_.find(one.ptx_line);
    return found == of_line_.end() ? nullptr : &code_.function().instructions[found->second];
  }

 private:
  const analysis::KernelCode& code_;
  std::map<std::uint32_t, std::size_t> of_line_;
};

}  // namespace

std::string assembled_text(const analysis::KernelCode& code, const MachineKernel& machine,
                           const std::string& kernel, const std::string& target) {
  std::string out = fmt::format("{}: {} machine instructions, as ptxas makes them for {}\n", kernel,
                                machine.instructions.size(), target);
  out += fmt::format("{:>6}  {:<17}  {:<7}  {:<16}  {:>5}  {:>4}  {}\n", "", "wait   R  W  Y st", "pipe",
                     "machine code", "PTX", "line", "made of");
  const Origins origins(code);
  const int number = compiling::target_number(target);
  for (const MachineInstruction& one : machine.instructions) {
    const ptx::Instruction* origin = origins.of(one);
    out +=
        fmt::format("{:>6x}  {:<17}  {:<7}  {:<16}", one.address, control_text(one.control),
                    to_string(one.opcode != nullptr ? one.opcode->pipe : Pipe::none), opcode_of(one, number));
    if (one.ptx_line != 0) out += fmt::format("  {:>5}", one.ptx_line);
    if (origin != nullptr) out += fmt::format("  {:>4}  {}", origin->source_line, text_of(code, *origin));
    out += "\n";
  }
  return out;
}

Json assembled_json(const analysis::KernelCode& code, const MachineKernel& machine, const std::string& kernel,
                    const std::string& target) {
  Json all = Json::array();
  const Origins origins(code);
  const int number = compiling::target_number(target);
  for (const MachineInstruction& one : machine.instructions) {
    const auto barrier = [](int b) { return b < 6 ? Json(b) : Json(); };
    Json j{{"address", one.address},
           {"machine_instruction", opcode_of(one, number)},
           {"pipe", std::string(to_string(one.opcode != nullptr ? one.opcode->pipe : Pipe::none))},
           {"stall", one.control.stall},
           {"yield", !one.control.yield},
           {"write_barrier", barrier(one.control.write_barrier)},
           {"read_barrier", barrier(one.control.read_barrier)},
           {"waits_for", barriers_of(one.control.waits)},
           {"reuse", one.control.reuse}};
    if (one.ptx_line != 0) j["ptx_line"] = one.ptx_line;
    if (const ptx::Instruction* origin = origins.of(one)) {
      j["line"] = origin->source_line;
      j["instruction"] = std::string(text_of(code, *origin));
    }
    all.push_back(std::move(j));
  }
  return {{"kernel", kernel},
          {"target", target},
          {"machine_instructions", machine.instructions.size()},
          {"instructions", std::move(all)}};
}

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
