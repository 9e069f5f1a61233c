#include "analyzer/periods/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

#include "analyzer/periods/classify.h"
#include "analyzer/periods/items.h"
#include "analyzer/periods/lowering.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

// Gives back the room that lists were made with.
void compact(Items& items) {
  items.shrink_to_fit();
  for (auto& item : items) {
    if (auto* repeat = std::get_if<Repeat>(&item.what))
      compact(repeat->body);
    else if (auto* when = std::get_if<When>(&item.what))
      compact(when->then_items), compact(when->else_items);
  }
}

constexpr std::array<const char*, kinds_not_modelled> not_modelled_texts{
    "shared memory counts as calculation: conflicts between its banks are not modelled",
    "local memory counts as calculation: its traffic is not modelled",
    "barriers count as calculation: the waiting at them is not modelled",
    "an atomic counts as one access: threads that meet at one address are not modelled",
    "a texture or surface access counts as coalesced: its cache and its filtering are not modelled",
    "an asynchronous copy counts as a store where it is begun: that it runs beside the calculation is not "
    "modelled",
    "divisions, roots and other long instructions count as one instruction each",
    "a tensor core instruction counts as one instruction",
};

}  // namespace

Lowering::Lowering(analysis::KernelFlow& flow, const LowerOptions& options)
    : function_(flow.code.function()), flow_(flow), exprs_(flow.evaluator.values()), options_(options) {
  naming_.argument = [this](auto index, auto offset) { return argument_name(index, offset); };
  naming_.counter = [this](auto loop) { return counter_name(loop); };
  naming_.other = [this](auto value) {
    const auto it = value_names_.find(value);
    return it == value_names_.end() ? std::string() : it->second;
  };
  reading_ = naming_;
  reading_.threads_too = true;
  reading_.counter = [](auto) { return std::string("counter"); };
}

Result<Lowered> Lowering::lower() {
  roles_of_instructions();
  if (!errors_.empty()) return std::move(errors_);
  if (!flow_.cfg.irreducible.empty()) {
    const auto& edge = flow_.cfg.irreducible.front();
    return fail_at(flow_.cfg.blocks[edge.to].first,
                   "irreducible control flow: a loop with several entries, too large to be copied for each");
  }
  out_.repeats_of_loop.assign(flow_.cfg.loops.size(), "");
  auto items = region(0, flow_.cfg.exit(), none, Facts(exprs_), 0);
  if (failure_) return std::move(*failure_);
  compact(items);
  out_.program.program = std::move(items);
  declare_parameters();
  for (std::size_t what = 0; what < uses_.size(); ++what)
    if (uses_[what]) out_.program.not_modelled.push_back(not_modelled_texts[what]);
  return std::move(out_);
}

// --- diagnostics -----------------------------------------------------------------------------------------------------

int Lowering::source_line(std::uint32_t instruction) const {
  const auto& ins = function_.instructions[instruction];
  if (options_.main_file != 0 && ins.source_file != options_.main_file) return 0;
  // No source has so many: what a broken .loc says is not known.
  return ins.source_line > static_cast<std::uint32_t>(INT_MAX) ? 0 : static_cast<int>(ins.source_line);
}

std::string Lowering::place(std::uint32_t instruction) const {
  const auto line = source_line(instruction);
  return line != 0 ? fmt::format("line {}", line)
                   : fmt::format("PTX line {}", function_.instructions[instruction].line);
}

std::string Lowering::place_for_name(std::uint32_t instruction) const {
  const auto line = source_line(instruction);
  return line != 0 ? fmt::format("line_{}", line)
                   : fmt::format("ptx_line_{}", function_.instructions[instruction].line);
}

Diagnostic Lowering::fail_at(std::uint32_t instruction, std::string message, std::string hint) const {
  const auto& instructions = function_.instructions;
  const int line = instruction < instructions.size() ? static_cast<int>(instructions[instruction].line)
                                                     : static_cast<int>(function_.end_line);
  if (instruction < instructions.size() && source_line(instruction) != 0)
    message += fmt::format(" (source line {})", source_line(instruction));
  return error_at(options_.file, line, 0, std::move(message), std::move(hint));
}

void Lowering::fail(Diagnostic diagnostic) {
  if (!failure_) failure_ = std::move(diagnostic);
}

void Lowering::assume(std::uint32_t instruction, std::string text) {
  const auto& ins = function_.instructions[instruction];
  for (const auto& a : out_.program.assumptions)
    if (a.ptx_line == static_cast<int>(ins.line) && a.text == text) return;
  out_.program.assumptions.push_back({source_line(instruction), static_cast<int>(ins.line), std::move(text)});
}

// --- instructions ----------------------------------------------------------------------------------------------------

void Lowering::roles_of_instructions() {
  std::int64_t total = 0, modelled = 0;
  out_.roles.resize(function_.instructions.size());
  for (std::uint32_t b = 0; b + 1 < flow_.cfg.blocks.size(); ++b) {
    const auto& block = flow_.cfg.blocks[b];
    if (!block.reachable) continue;
    for (auto i = block.first; i < block.end; ++i) {
      auto& role = out_.roles[i];
      if (!options_.lines.empty() &&
          !options_.lines.contains(options_.ptx_lines ? static_cast<int>(function_.instructions[i].line)
                                                      : source_line(i)))
        continue;
      role = classify(flow_, b, i, naming_, out_.accesses);
      if (role.kind == InstructionRole::Kind::none) continue;
      ++total;
      note_uses(i);
      if (role.modelled)
        ++modelled;
      else
        unsupported(i);
    }
  }
  out_.program.instructions_total = total;
  out_.program.instructions_modelled = modelled;
}

void Lowering::note_uses(std::uint32_t i) {
  const auto& ins = function_.instructions[i];
  if (ins.info == nullptr) return;
  const auto uses = [&](NotModelled what) { uses_[static_cast<std::size_t>(what)] = true; };
  if (ptx::space_of(ins.opcode) == ptx::StateSpace::texture) uses(NotModelled::texture);
  switch (ins.info->category) {
    case ptx::Category::barrier:
      uses(NotModelled::barrier);
      break;
    case ptx::Category::async_copy:
      uses(NotModelled::async_copy);
      break;
    case ptx::Category::atomic:
    case ptx::Category::reduction:
      uses(NotModelled::atomic);
      break;
    case ptx::Category::load:
    case ptx::Category::store: {
      const auto space = ptx::space_of(ins.opcode);
      if (space == ptx::StateSpace::shared) uses(NotModelled::shared_memory);
      if (space == ptx::StateSpace::local) uses(NotModelled::local_memory);
      break;
    }
    default:
      if (ins.info->is(ptx::slow)) uses(NotModelled::long_instruction);
      if (ins.info->is(ptx::tensor_core)) uses(NotModelled::tensor_core);
  }
}

void Lowering::unsupported(std::uint32_t i) {
  const auto& ins = function_.instructions[i];
  auto diagnostic = fail_at(i, fmt::format("unknown instruction `{}`", ins.opcode),
                            "--skip-unsupported counts it as one instruction of calculation");
  if (options_.skip_unsupported) {
    diagnostic.severity = Severity::warning;
    diagnostic.hint.clear();
    out_.diagnostics.push_back(std::move(diagnostic));
  } else if (errors_.size() < 20) {
    errors_.push_back(std::move(diagnostic));
  }
}

LineSet Lowering::source_lines(std::uint32_t i) const {
  LineSet lines;
  if (const auto line = source_line(i); line > 0) lines.add(line);
  return lines;
}

LineSet Lowering::ptx_lines(std::uint32_t i) const {
  LineSet lines;
  lines.add(static_cast<int>(function_.instructions[i].line));
  return lines;
}

// The items of one block, its branch included.
void Lowering::block_items(std::uint32_t b, std::uint32_t loop, const Facts& facts, Items& items) {
  const auto& block = flow_.cfg.blocks[b];
  std::int64_t run = 0;
  LineSet lines, ptx;
  const auto end_run = [&] {
    add_instructions(items, run, lines, ptx);
    if (run != 0) lines = ptx = {};
    run = 0;
  };
  for (auto i = block.first; i < block.end; ++i) {
    const auto& role = out_.roles[i];
    if (role.kind == InstructionRole::Kind::none) continue;
    if (role.kind != InstructionRole::Kind::calculation) {
      end_run();
      memory_item(i, loop, facts, items);
      continue;
    }
    ++run;
    if (const auto line = source_line(i); line > 0) lines.add(line);
    ptx.add(static_cast<int>(function_.instructions[i].line));
    if (const auto* call = flow_.code.opaque_call(i)) {
      end_run();
      opaque_call(i, *call, items);
    }
  }
  end_run();
}

// What a call costs that is not followed: a parameter, which the user gives.
void Lowering::opaque_call(std::uint32_t i, const analysis::OpaqueCall& call, Items& items) {
  std::string wanted = "instructions_of_";
  if (call.callee.empty()) wanted += fmt::format("call_at_{}", place_for_name(i));
  for (const char c : call.callee) wanted += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  const auto what = call.callee.empty() ? fmt::format("the call through a pointer at {}", place(i))
                                        : fmt::format("`{}`", call.callee);
  const auto name =
      parameter_for(wanted, fmt::format("instructions that one call of {}, {}, executes", what, call.why));
  if (called_.insert(name).second) {
    auto warning =
        fail_at(i, fmt::format("{} {} is not followed: give what one call executes as the parameter {}",
                               call.callee.empty() ? "a call" : fmt::format("a call of `{}`,", call.callee),
                               call.why + (call.callee.empty() ? "" : ","), name));
    warning.severity = Severity::warning;
    out_.diagnostics.push_back(std::move(warning));
  }
  const auto guard =
      function_.instructions[i].guard == ptx::no_index ? exprs_.constant(1) : flow_.evaluator.guard(i);
  if (!exprs_.is_constant(guard))
    assume(i, fmt::format("the call is made where `{}`: taken to hold for some thread of each warp",
                          readable(guard)));
  items.push_back({Instructions{Expression::name(name)}, source_lines(i), ptx_lines(i)});
}

// The bytes that the launch touches here, once for each access: where it is first met, which is not in a
// loop's last turn.
void Lowering::note_footprint(std::uint32_t i, std::uint32_t loop, const Facts& facts) {
  const auto& role = out_.roles[i];
  if (role.operand == none || !last_turn_.empty() || !footprints_.insert(i).second) return;
  const auto on_data = [&](ExprId value) {
    return (flow_.evaluator.dependence(value) & analysis::on_data) != 0;
  };
  if (std::any_of(path_.begin(), path_.end(), [&](const auto& c) { return on_data(c.condition); })) return;
  auto conditions = path_;
  if (function_.instructions[i].guard != ptx::no_index)
    conditions.push_back({condition(flow_.evaluator.guard(i), loop, facts), true});
  auto& access = out_.accesses[role.access];
  const auto address = flow_.loops.resolve(flow_.evaluator.address(i, role.operand), loop);
  const auto bytes =
      analysis::footprint_bytes(flow_.evaluator, flow_.loops, address, flow_.evaluator.block_of(i),
                                access.bytes.value_or(0), conditions);
  if (!bytes) return;
  analysis::Assumptions taken;
  const auto expression = analysis::to_expression(exprs_, facts.simplify(*bytes), naming_, &taken);
  if (expression && !taken.unsigned_as_signed && !taken.division_of_not_negative)
    access.footprint = *expression;
}

// A guarded access whose guard depends on arguments alone is a condition: where it does not hold, one
// instruction is issued.
void Lowering::memory_item(std::uint32_t i, std::uint32_t loop, const Facts& facts, Items& items) {
  note_footprint(i, loop, facts);
  Item item{out_.accesses[out_.roles[i].access], source_lines(i), ptx_lines(i)};
  if (function_.instructions[i].guard == ptx::no_index) {
    items.push_back(std::move(item));
    return;
  }
  const auto guard = condition(flow_.evaluator.guard(i), loop, facts);
  Items skipped;
  add_instructions(skipped, 1, source_lines(i), ptx_lines(i));
  if (exprs_.is_constant(guard)) {
    if (exprs_[guard].number != 0)
      items.push_back(std::move(item));
    else
      append(items, std::move(skipped));
    return;
  }
  if (uniform(guard))
    if (auto expression = expression_of(guard, i)) {
      items.push_back(
          {When{*expression, {std::move(item)}, std::move(skipped)}, source_lines(i), ptx_lines(i)});
      return;
    }
  assume(i, fmt::format("the access is made where `{}`: taken to hold for some thread of each warp",
                        readable(guard)));
  items.push_back(std::move(item));
}

Result<Lowered> lower(analysis::KernelFlow& flow, const LowerOptions& options) {
  return Lowering(flow, options).lower();
}

}  // namespace warptime::periods
