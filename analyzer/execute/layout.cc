#include "analyzer/execute/layout.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <set>

#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

using Referent = ptx::Operand::Referent;
using ptx::StateSpace;

constexpr std::array<std::string_view, 4> externals = {"vprintf", "__assertfail", "malloc", "free"};
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;
constexpr std::uint64_t gap_bytes = 256;  // between buffers, so that an address past one is in none

bool is_dynamic(const ptx::Variable& variable) {
  return variable.space == StateSpace::shared && variable.elements == 0;
}

class Layout {
 public:
  Layout(Program& program, Diagnostics& errors)
      : program_(program), module_(*program.module), errors_(errors) {}

  void run() {
    program_.module_variables.resize(module_.variables.size());
    for (std::uint32_t i = 0; i < module_.variables.size(); ++i) module_global(i);
    reach(program_.kernel);
    while (!work_.empty()) {
      const auto function = work_.back();
      work_.pop_back();
      visit(function);
    }
    place_shared();
    name_symbols();
  }

 private:
  void module_global(std::uint32_t index) {
    const auto& variable = module_.variables[index];
    if (variable.space != StateSpace::global && variable.space != StateSpace::constant) return;
    program_.module_variables[index] = global(variable);
  }

  Placed global(const ptx::Variable& variable) {
    GlobalVariable placed;
    placed.variable = &variable;
    placed.name = std::string(variable.name);
    placed.bytes = bytes_of_variable(variable);
    placed.constant = variable.space == StateSpace::constant;
    placed.offset = align_up(program_.globals_bytes, std::max<std::uint64_t>(256, alignment_of(variable)));
    program_.globals_bytes = placed.offset + placed.bytes + gap_bytes;
    program_.globals.push_back(placed);
    const auto space = placed.constant ? Space::constant : Space::global;
    return {space, address_map(program_.wide).global + placed.offset, placed.bytes};
  }

  void reach(std::uint32_t function) {
    if (function < module_.functions.size() && reached_.insert(function).second) work_.push_back(function);
  }

  void visit(std::uint32_t index) {
    const auto& function = module_.functions[index];
    if (function.declaration) {
      if (!is_external(function.name)) missing_.insert(index);
      return;
    }
    auto& code = program_.functions[index];
    code.index = index;
    code.entry = function.entry;
    place_frame(function, code);
    for (const auto& instruction : function.instructions) {
      for (std::uint32_t i = 0; i < instruction.operand_count; ++i)
        scan(function, code, module_.operands[instruction.first_operand + i], instruction);
    }
    for (const auto& prototype : function.prototypes)
      for (const auto target : prototype.targets) reach(ptx::function_run_by(module_, target));
  }

  void scan(const ptx::Function& function, FunctionCode& code, const ptx::Operand& operand,
            const ptx::Instruction& instruction) {
    for (std::uint32_t i = 0; i < operand.part_count; ++i)
      scan(function, code, module_.operands[operand.first_part + i], instruction);
    if (operand.kind != ptx::Operand::Kind::symbol) return;
    if (operand.referent == Referent::function) {
      const auto callee = ptx::function_run_by(module_, static_cast<std::uint32_t>(operand.value));
      reach(callee);
      if (module_.functions[callee].declaration && !is_external(module_.functions[callee].name))
        errors_.push_back(error_at(program_.file, static_cast<int>(instruction.line), 0,
                                   fmt::format("`{}` has no body in this module and is not built in",
                                               module_.functions[callee].name)));
    }
    if (operand.referent == Referent::module_variable &&
        module_.variables[operand.value].space == StateSpace::shared)
      use_shared(module_.variables[operand.value], program_.module_variables[operand.value]);
    if (operand.referent == Referent::function_variable &&
        function.variables[operand.value].space == StateSpace::shared)
      use_shared(function.variables[operand.value], code.variables[operand.value]);
    if (operand.referent == Referent::module_variable)
      initialiser_functions(static_cast<std::uint32_t>(operand.value));
  }

  // Tables of functions: what their initialisers name may be called.
  void initialiser_functions(std::uint32_t index) {
    if (!scanned_initialisers_.insert(index).second) return;
    const auto text = module_.variables[index].initializer;
    if (text.empty()) return;
    for (std::uint32_t f = 0; f < module_.functions.size(); ++f) {
      const auto runs = ptx::function_run_by(module_, f);
      if (!module_.functions[runs].declaration &&
          text.find(module_.functions[f].name) != std::string_view::npos)
        reach(runs);
    }
  }

  void use_shared(const ptx::Variable& variable, Placed& placed) {
    if (!shared_.insert(&variable).second) return;
    placed.space = Space::shared;
    placed.bytes = bytes_of_variable(variable);
    if (is_dynamic(variable)) {
      dynamic_.push_back(&placed);
      dynamic_alignment_ = std::max(dynamic_alignment_, alignment_of(variable));
      return;
    }
    placed.address = align_up(program_.shared_bytes, alignment_of(variable));
    program_.shared_bytes = placed.address + placed.bytes;
  }

  // Dynamic shared memory begins where the static ends, for all of its names alike.
  void place_shared() {
    if (!dynamic_.empty()) program_.shared_bytes = align_up(program_.shared_bytes, dynamic_alignment_);
    for (auto* placed : dynamic_) placed->address = program_.shared_bytes;
  }

  static std::uint64_t place(std::uint64_t& size, const ptx::Variable& variable) {
    const auto offset = align_up(size, alignment_of(variable));
    size = offset + bytes_of_variable(variable);
    return offset;
  }

  void place_frame(const ptx::Function& function, FunctionCode& code) {
    for (const auto& variable : function.variables) {
      Placed placed;
      placed.bytes = bytes_of_variable(variable);
      switch (variable.space) {
        case StateSpace::local:
          placed.space = Space::local;
          placed.address = place(code.local_bytes, variable);
          break;
        case StateSpace::param:
          placed.space = Space::param;
          placed.address = place(code.param_bytes, variable);
          break;
        case StateSpace::global:
        case StateSpace::constant:
          placed = global(variable);
          break;
        default:
          break;
      }
      code.variables.push_back(placed);
    }
    place_parameters(function, code);
  }

  void place_parameters(const ptx::Function& function, FunctionCode& code) {
    const auto add = [](std::vector<CallSite::Passed>& list, std::uint64_t& size,
                        const ptx::Variable& variable) {
      CallSite::Passed passed;
      passed.is_register = variable.space == StateSpace::reg;
      passed.predicate = variable.type == "pred";
      passed.bytes = bytes_of_variable(variable);
      if (!passed.is_register) passed.offset = place(size, variable);
      list.push_back(passed);
    };
    if (function.entry) {
      for (const auto& variable : function.parameters) {
        Placed placed{Space::param, place(program_.parameter_bytes, variable), bytes_of_variable(variable)};
        program_.parameters.push_back(placed);
      }
      return;
    }
    for (const auto& variable : function.parameters) add(code.parameters, code.param_bytes, variable);
    for (const auto& variable : function.results) add(code.results, code.param_bytes, variable);
  }

  void name_symbols() {
    const auto generic_shared = address_map(program_.wide).shared;
    for (std::uint32_t i = 0; i < module_.variables.size(); ++i) {
      const auto& placed = program_.module_variables[i];
      program_.symbols[module_.variables[i].name] =
          placed.space == Space::shared ? generic_shared + placed.address : placed.address;
    }
    for (std::uint32_t f = 0; f < module_.functions.size(); ++f)
      program_.symbols[module_.functions[f].name] =
          function_address(program_, ptx::function_run_by(module_, f));
  }

  Program& program_;
  const ptx::Module& module_;
  Diagnostics& errors_;
  std::set<std::uint32_t> reached_, missing_, scanned_initialisers_;
  std::set<const ptx::Variable*> shared_;
  std::vector<Placed*> dynamic_;
  std::uint64_t dynamic_alignment_ = 16;
  std::vector<std::uint32_t> work_;
};

}  // namespace

std::uint64_t bytes_of_variable(const ptx::Variable& variable) {
  const auto element = static_cast<std::uint64_t>(std::max(1, ptx::type_bytes(variable.type)));
  // More than any memory has, and little enough to be added up without overflow.
  return element * std::max<std::uint64_t>(1, variable.vector_width) *
         std::min(variable.elements, most_elements);
}

std::uint64_t alignment_of(const ptx::Variable& variable) {
  const auto natural = static_cast<std::uint64_t>(std::max(1, ptx::type_bytes(variable.type))) *
                       std::max<std::uint64_t>(1, variable.vector_width);
  return std::bit_ceil(std::max<std::uint64_t>(1, variable.align != 0 ? variable.align : natural));
}

bool is_external(std::string_view name) {
  return std::find(externals.begin(), externals.end(), name) != externals.end();
}

std::uint64_t function_address(const Program& program, std::uint32_t function) {
  return address_map(program.wide).functions + std::uint64_t{16} * (function + 1);
}

void lay_out(Program& program, Diagnostics& errors) {
  Layout(program, errors).run();
}

}  // namespace warptime::execute
