#include "analyzer/cfg/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/cfg/callees.h"
#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"
#include "llvm/Demangle/Demangle.h"

namespace warptime::analysis {
namespace {

using ptx::no_index;
using Kind = ptx::Operand::Kind;
using Referent = ptx::Operand::Referent;

constexpr std::uint32_t max_call_depth = 200;

// `ld.param`, `st.param`, also as ld.param::func.
bool moves_parameter(const ptx::Instruction& ins) {
  if (ins.info == nullptr || ins.operand_count != 2) return false;
  const auto category = ins.info->category;
  return (category == ptx::Category::load || category == ptx::Category::store) &&
         ptx::space_of(ins) == ptx::StateSpace::param;
}

std::string name_in_source(std::string_view symbol) {
  auto name = llvm::demangle(std::string(symbol));
  return name.substr(0, name.find('('));
}

}  // namespace

// Copies a kernel and, in the place of its calls, its callees.
class CodeBuilder {
 public:
  CodeBuilder(const ptx::Module& module, std::size_t budget)
      : module_(module), budget_(budget), callees_(module) {}

  KernelCode build(std::uint32_t index) {
    const auto& function = module_.functions[index];
    const bool calls = std::any_of(function.instructions.begin(), function.instructions.end(), is_call);
    if (!calls && !may_have_slots(function)) {
      return KernelCode(module_, function);
    }
    code_.own_function_ = std::make_unique<ptx::Function>();
    code_.own_operands_ = std::make_unique<std::vector<ptx::Operand>>();
    out_ = code_.own_operands_.get();
    auto& copy = *code_.own_function_;
    function_ = &copy;
    copy.name = function.name;
    copy.linkage = function.linkage;
    copy.entry = function.entry;
    copy.parameters = function.parameters;
    copy.results = function.results;
    copy.directives = function.directives;
    copy.line = function.line;
    copy.end_line = function.end_line;
    callees_.count_from(index);
    Frame frame;
    frame.function = index;
    copy_body(frame);
    promote_slots(*out_, copy);
    code_.register_arrays_ = find_register_arrays(*out_, copy);
    code_.arrays_in_registers_ = code_.register_arrays_.likely();
    code_.module_ = &module_;
    code_.function_ = &copy;
    code_.operands_ = out_;
    return std::move(code_);
  }

 private:
  // A function being copied, and the one that calls it.
  struct Frame {
    std::uint32_t function = 0;
    const Frame* caller = nullptr;
    std::uint32_t depth = 0;
    std::uint32_t first_register = 0, first_variable = 0, first_label = 0, first_targets = 0;
    std::map<std::uint64_t, std::uint32_t> storages;  // (referent, index of a .param variable) -> storage
    std::vector<std::uint32_t> returns;               // its `ret`s, in the copy
  };

  static std::uint64_t variable_key(Referent referent, std::uint64_t index) {
    return (static_cast<std::uint64_t>(referent) << 32) | index;
  }

  // Why the call is not followed; nothing where it is.
  std::optional<OpaqueCall> why_opaque(const ptx::Instruction& ins, const Frame& frame) {
    const auto callee = callees_.callee_of(ins);
    if (!callee) return OpaqueCall{"", "whose target is not known"};
    const auto& function = module_.functions[*callee];
    const auto name = name_in_source(function.name);
    if (function.declaration) return OpaqueCall{name, "which this file does not define"};
    for (const auto* f = &frame; f != nullptr; f = f->caller)
      if (f->function == *callee) return OpaqueCall{name, "which calls itself"};
    if (frame.depth >= max_call_depth) return OpaqueCall{name, "calls that are nested too deeply"};
    if (function_->instructions.size() + callees_.size_with_callees(*callee) > budget_)
      return OpaqueCall{name,
                        fmt::format("which is too large to follow: {} instructions with all that it calls",
                                    callees_.size_with_callees(*callee))};
    return std::nullopt;
  }

  void copy_body(Frame& frame) {
    const auto& from = module_.functions[frame.function];
    frame.first_register = static_cast<std::uint32_t>(function_->registers.size());
    function_->registers.insert(function_->registers.end(), from.registers.begin(), from.registers.end());
    frame.first_variable = static_cast<std::uint32_t>(function_->variables.size());
    function_->variables.insert(function_->variables.end(), from.variables.begin(), from.variables.end());
    frame.first_label = static_cast<std::uint32_t>(function_->labels.size());
    function_->labels.insert(function_->labels.end(), from.labels.begin(), from.labels.end());
    frame.first_targets = static_cast<std::uint32_t>(function_->branch_targets.size());
    for (const auto& targets : from.branch_targets) {
      auto& copy = function_->branch_targets.emplace_back(targets);
      for (auto& label : copy.labels) label += frame.first_label;
    }
    std::vector<std::uint32_t> place(from.instructions.size() + 1);  // in the copy
    for (std::uint32_t i = 0; i < from.instructions.size(); ++i) {
      place[i] = static_cast<std::uint32_t>(function_->instructions.size());
      if (is_call(from.instructions[i]))
        call(from.instructions[i], frame);
      else
        copy_instruction(from.instructions[i], frame);
    }
    place[from.instructions.size()] = static_cast<std::uint32_t>(function_->instructions.size());
    for (std::uint32_t l = 0; l < from.labels.size(); ++l) {
      const auto target = from.labels[l].instruction;
      if (target != no_index) function_->labels[frame.first_label + l].instruction = place[target];
    }
  }

  ptx::Instruction& emit(const ptx::Instruction& ins, bool silent = false) {
    function_->instructions.push_back(ins);
    code_.silent_.push_back(silent);
    return function_->instructions.back();
  }

  void copy_instruction(const ptx::Instruction& ins, Frame& frame) {
    auto& copy = emit(ins);
    copy.first_operand = static_cast<std::uint32_t>(out_->size());
    for (std::uint32_t i = 0; i < ins.operand_count; ++i) out_->emplace_back();
    for (std::uint32_t i = 0; i < ins.operand_count; ++i)
      set_operand(copy.first_operand + i, module_.operands[ins.first_operand + i], frame);
    if (ins.guard != no_index) copy.guard = add_operand(module_.operands[ins.guard], frame);
    if (moves_parameter(ins)) use_slots(ins, frame);
    if (frame.depth > 0 && ins.info != nullptr && ins.info->category == ptx::Category::exit &&
        ins.opcode.starts_with("ret"))
      frame.returns.push_back(static_cast<std::uint32_t>(function_->instructions.size() - 1));
  }

  std::uint32_t add_operand(const ptx::Operand& operand, const Frame& frame) {
    const auto at = static_cast<std::uint32_t>(out_->size());
    out_->emplace_back();
    set_operand(at, operand, frame);
    return at;
  }

  void set_operand(std::uint32_t at, const ptx::Operand& from, const Frame& frame) {
    auto operand = from;
    if (operand.kind == Kind::reg && operand.symbol != no_index) operand.symbol += frame.first_register;
    if (operand.kind == Kind::label && operand.symbol != no_index) operand.symbol += frame.first_label;
    if (operand.referent == Referent::function_variable) operand.value += frame.first_variable;
    if (operand.referent == Referent::branch_targets) operand.value += frame.first_targets;
    if (from.part_count != 0) {
      operand.first_part = static_cast<std::uint32_t>(out_->size());
      for (std::uint32_t p = 0; p < from.part_count; ++p) out_->emplace_back();
      for (std::uint32_t p = 0; p < from.part_count; ++p)
        set_operand(operand.first_part + p, module_.operands[from.first_part + p], frame);
    }
    (*out_)[at] = operand;
  }

  // --- parameters of calls ---

  // The storage that a .param variable of the frame stands for; nothing where it is a kernel's own parameter.
  std::optional<std::uint32_t> storage_of(const ptx::Operand& symbol, Frame& frame) {
    if (symbol.kind != Kind::symbol) return std::nullopt;
    const auto& function = module_.functions[frame.function];
    switch (symbol.referent) {
      case Referent::parameter:
      case Referent::result:
        if (function.entry) return std::nullopt;
        break;
      case Referent::function_variable:
        if (symbol.value >= function.variables.size() ||
            function.variables[symbol.value].space != ptx::StateSpace::param)
          return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
    const auto [it, fresh] =
        frame.storages.emplace(variable_key(symbol.referent, symbol.value), storage_count_);
    if (fresh) ++storage_count_;
    return it->second;
  }

  // The register that stands for `bytes` bytes at `offset` of a storage.
  std::uint32_t slot_register(std::uint32_t storage, std::uint64_t offset, std::uint32_t bytes) {
    const auto [it, fresh] = slots_.emplace(std::tuple(storage, offset, bytes),
                                            static_cast<std::uint32_t>(function_->registers.size()));
    if (fresh) function_->registers.push_back({"b64"});
    return it->second;
  }

  // An ld.param or st.param of a call's parameter moves a register: its address becomes that, in the copy
  // just made.
  void use_slots(const ptx::Instruction& ins, Frame& frame) {
    const auto which = ins.info->category == ptx::Category::load ? 1u : 0u;
    const auto& address = module_.operands[ins.first_operand + which];
    if (address.kind != Kind::address || address.part_count != 1) return;
    const auto storage = storage_of(module_.operands[address.first_part], frame);
    if (!storage) return;
    make_slot_operand(
        *out_, function_->instructions.back(), which,
        [&](std::uint64_t offset, std::uint32_t bytes) { return slot_register(*storage, offset, bytes); });
  }

  // --- calls ---

  struct Parts {                                    // of a call
    std::vector<std::uint32_t> results, arguments;  // operand indices in module_
  };

  Parts parts_of(const ptx::Instruction& ins) const {
    Parts parts;
    bool named = false;  // the callee has been passed
    for (std::uint32_t i = 0; i < ins.operand_count; ++i) {
      const auto& operand = module_.operands[ins.first_operand + i];
      if (operand.kind != Kind::list) {
        named = true;
        continue;
      }
      auto& into = named ? parts.arguments : parts.results;
      for (std::uint32_t p = 0; p < operand.part_count; ++p) into.push_back(operand.first_part + p);
    }
    return parts;
  }

  void call(const ptx::Instruction& ins, Frame& frame) {
    if (auto opaque = why_opaque(ins, frame)) {
      code_.opaque_calls_.emplace(static_cast<std::uint32_t>(function_->instructions.size()),
                                  std::move(*opaque));
      copy_instruction(ins, frame);
      return;
    }
    auto& copy = emit(ins);
    copy.operand_count = 0;
    const auto at = static_cast<std::uint32_t>(function_->instructions.size() - 1);
    if (ins.guard != no_index) {
      const auto guard = add_operand(module_.operands[ins.guard], frame);
      function_->instructions[at].guard = guard;
    }
    Frame callee;
    callee.function = *callees_.callee_of(ins);
    callee.caller = &frame;
    callee.depth = frame.depth + 1;
    const auto parts = parts_of(ins);
    const auto& function = module_.functions[callee.function];
    for (std::size_t i = 0; i < function.parameters.size() && i < parts.arguments.size(); ++i)
      bind(ins, frame, callee, Referent::parameter, i, parts.arguments[i], true);
    for (std::size_t i = 0; i < function.results.size() && i < parts.results.size(); ++i)
      if (const auto& operand = module_.operands[parts.results[i]]; is_param_variable(operand, frame))
        callee.storages[variable_key(Referent::result, i)] = *storage_of(operand, frame);
    move_arguments(ins, frame);
    copy_body(callee);
    const auto after = static_cast<std::uint32_t>(function_->instructions.size());
    for (std::size_t i = 0; i < function.results.size() && i < parts.results.size(); ++i)
      if (const auto& operand = module_.operands[parts.results[i]]; !is_param_variable(operand, frame))
        bind(ins, frame, callee, Referent::result, i, parts.results[i], false);
    for (const auto ret : callee.returns) code_.jumps_[ret] = after;
    // A call that is not made goes on behind the moves of results.
    if (ins.guard != no_index) code_.jumps_[at] = static_cast<std::uint32_t>(function_->instructions.size());
  }

  bool is_param_variable(const ptx::Operand& operand, Frame& frame) {
    return storage_of(operand, frame).has_value();
  }

  // An argument that goes to a register of the callee.
  struct Move {
    std::uint32_t formal_register;
    ptx::Operand actual;
  };

  // A formal parameter stands for the variable that is passed; a value that is passed is moved.
  void bind(const ptx::Instruction& ins, Frame& frame, Frame& callee, Referent referent, std::size_t index,
            std::uint32_t actual, bool before) {
    const auto& operand = module_.operands[actual];
    const auto& function = module_.functions[callee.function];
    const auto& formal =
        referent == Referent::parameter ? function.parameters[index] : function.results[index];
    if (formal.space != ptx::StateSpace::reg && is_param_variable(operand, frame)) {
      callee.storages[variable_key(referent, index)] = *storage_of(operand, frame);
      return;
    }
    if (formal.space == ptx::StateSpace::reg) {
      const auto reg = register_named(function, formal.name);
      if (!reg) return;
      if (before)
        waiting_.push_back({*reg, operand});
      else
        emit_move(ins, frame, operand, callee.first_register + *reg, false);
      return;
    }
    const auto [it, fresh] = callee.storages.emplace(variable_key(referent, index), storage_count_);
    if (fresh) ++storage_count_;
    const auto bytes = static_cast<std::uint32_t>(std::max(1, ptx::type_bytes(formal.type)));
    emit_move(ins, frame, operand, slot_register(it->second, 0, bytes), before);
  }

  void move_arguments(const ptx::Instruction& ins, const Frame& frame) {
    // copy_body will place the callee's registers behind all that there are now.
    const auto first = static_cast<std::uint32_t>(function_->registers.size());
    for (const auto& move : waiting_) emit_move(ins, frame, move.actual, first + move.formal_register, true);
    waiting_.clear();
  }

  // A silent `mov`: into `reg` from the caller's operand, or back.
  void emit_move(const ptx::Instruction& ins, const Frame& frame, const ptx::Operand& actual,
                 std::uint32_t reg, bool into_register) {
    ptx::Instruction move = ins;
    move.opcode = "mov.b64";
    move.info = ptx::find_opcode(move.opcode);
    move.guard = no_index;
    move.operand_count = 2;
    move.first_operand = static_cast<std::uint32_t>(out_->size());
    out_->resize(out_->size() + 2);
    ptx::Operand moved;
    moved.kind = Kind::reg;
    moved.symbol = reg;
    (*out_)[move.first_operand + (into_register ? 0 : 1)] = moved;
    set_operand(move.first_operand + (into_register ? 1 : 0), actual, frame);
    emit(move, true);
  }

  std::optional<std::uint32_t> register_named(const ptx::Function& function, std::string_view name) const {
    for (std::uint32_t r = 0; r < function.registers.size(); ++r)
      if (function.registers[r].number == no_index && ptx::register_name(module_, function, r) == name)
        return r;
    return std::nullopt;
  }

  const ptx::Module& module_;
  std::size_t budget_;
  Callees callees_;
  KernelCode code_;
  std::vector<ptx::Operand>* out_ = nullptr;
  ptx::Function* function_ = nullptr;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> slots_;
  std::uint32_t storage_count_ = 0;
  std::vector<Move> waiting_;
};

std::uint32_t KernelCode::duplicate(std::uint32_t first, std::uint32_t end) {
  if (!own_function_) {
    own_function_ = std::make_unique<ptx::Function>(*function_);
    function_ = own_function_.get();
  }
  auto& instructions = own_function_->instructions;
  const auto at = static_cast<std::uint32_t>(instructions.size());
  silent_.resize(at);
  for (auto i = first; i < end; ++i) {
    const auto copy = instructions[i];
    instructions.push_back(copy);
    silent_.push_back(silent(i));
    if (const auto it = register_arrays_.accesses.find(i); it != register_arrays_.accesses.end()) {
      auto access = it->second;
      register_arrays_.accesses.emplace(static_cast<std::uint32_t>(instructions.size() - 1), access);
    }
    if (const auto it = opaque_calls_.find(i); it != opaque_calls_.end()) {
      auto call = it->second;
      opaque_calls_.emplace(static_cast<std::uint32_t>(instructions.size() - 1), std::move(call));
    }
  }
  return at;
}

KernelCode build_code(const ptx::Module& module, std::uint32_t function, std::size_t budget) {
  return CodeBuilder(module, budget).build(function);
}

}  // namespace warptime::analysis
