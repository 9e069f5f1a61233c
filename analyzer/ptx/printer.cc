#include "analyzer/ptx/printer.h"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace warptime::ptx {
namespace {

std::string_view space_word(StateSpace space) {
  switch (space) {
    case StateSpace::reg:
      return ".reg";
    case StateSpace::sreg:
      return ".sreg";
    case StateSpace::constant:
      return ".const";
    case StateSpace::global:
      return ".global";
    case StateSpace::local:
      return ".local";
    case StateSpace::param:
      return ".param";
    case StateSpace::shared:
      return ".shared";
    case StateSpace::texture:
      return ".tex";
    case StateSpace::generic:
    case StateSpace::none:
      break;
  }
  return "";
}

std::string_view linkage_word(Linkage linkage) {
  switch (linkage) {
    case Linkage::visible:
      return ".visible ";
    case Linkage::external:
      return ".extern ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
    case Linkage::none:
      break;
  }
  return "";
}

// The `.x` of `%tid.x`, also of `%tid .x`.
std::string_view selector_of(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : text.substr(dot);
}

// The name that a word which nothing declares begins with: `x` of `-x.y`.
std::string_view name_in(std::string_view text) {
  const auto begin = text.find_first_not_of("-!~+");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  return text.substr(0, text.find('.'));
}

// Makes names unique by a suffix that no other name has.
class UniqueNames {
 public:
  void take(std::string_view name) { taken_.insert(std::string(name)); }

  std::string unique(std::string name) {
    if (taken_.insert(name).second) return name;
    for (std::uint32_t& next = next_[name];;) {
      std::string candidate = fmt::format("{}${}_", name, ++next);
      if (taken_.insert(candidate).second) return candidate;
    }
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::uint32_t> next_;
};

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string run() {
    put(".version {}\n.target {}\n", module_.version, module_.target);
    if (module_.address_size != 32) put(".address_size {}\n", module_.address_size);
    const std::vector<char> used = used_functions();
    for (std::size_t i = 0; i < module_.functions.size(); ++i)
      if (!module_.functions[i].entry || used[i]) header(module_.functions[i]), out_ += ";\n";
    for (const Variable& entry : module_.variables) variable(entry, entry.name), out_ += ";\n";
    for (const bool entry : {false, true})  // the prototypes above have made functions come first
      for (const Function& function : module_.functions)
        if (!function.declaration && function.entry == entry) definition(function);
    for (const Function& function : module_.functions)
      if (function.alias_of != no_index)
        put(".alias {}, {};\n", function.name, module_.functions[function.alias_of].name);
    return std::move(out_);
  }

  std::string run_operand(const Function& function, std::uint32_t index) {
    name_plainly(function);
    operand(index);
    return std::move(out_);
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  // 1 for each function whose name the module uses: it must be declared before.
  std::vector<char> used_functions() const {
    std::vector<char> used(module_.functions.size(), 0);
    for (const Operand& operand : module_.operands)
      if (operand.kind == Operand::Kind::symbol && operand.referent == Operand::Referent::function)
        used[static_cast<std::size_t>(operand.value)] = 1;
    for (const Function& function : module_.functions) {
      if (function.alias_of != no_index) used[function.alias_of] = 1;
      for (const Prototype& prototype : function.prototypes)
        for (const std::uint32_t target : prototype.targets) used[target] = 1;
    }
    for (const Variable& variable : module_.variables)
      for (std::size_t i = 0; i < used.size() && !variable.initializer.empty(); ++i)
        if (variable.initializer.find(module_.functions[i].name) != std::string_view::npos) used[i] = 1;
    return used;
  }

  void variable(const Variable& entry, std::string_view name) {
    out_ += linkage_word(entry.linkage);
    out_ += space_word(entry.space);
    if (entry.align != 0 && entry.pointee == StateSpace::none) put(" .align {}", entry.align);
    if (entry.vector_width != 1) put(" .v{}", entry.vector_width);
    if (!entry.type.empty()) put(" .{}", entry.type);
    if (entry.pointee != StateSpace::none) out_ += " .ptr";
    if (entry.pointee != StateSpace::none && entry.pointee != StateSpace::generic)
      put(" {}", space_word(entry.pointee));
    out_ += " ";
    out_ += name;
    const bool nested = entry.initializer.find('{', 1) != std::string_view::npos;
    if (entry.is_array && nested && !entry.dimensions.empty()) {
      out_ += entry.dimensions;
    } else if (entry.is_array && entry.elements == 0) {
      out_ += "[]";
    } else if (entry.is_array) {
      put("[{}]", entry.elements);
    }
    if (!entry.initializer.empty()) put(" = {}", entry.initializer);
  }

  void list(const std::vector<Variable>& entries) {
    out_ += "(";
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i != 0) out_ += ", ";
      variable(entries[i], entries[i].name.empty() ? "_" : entries[i].name);
    }
    out_ += ")";
  }

  void header(const Function& function) {
    out_ += linkage_word(function.linkage);
    out_ += function.entry ? ".entry " : ".func ";
    if (!function.results.empty()) list(function.results), out_ += " ";
    out_ += function.name;
    if (!function.parameters.empty()) out_ += " ", list(function.parameters);
    for (std::string_view directive : function.directives) put("\n{}", directive);
  }

  void name_plainly(const Function& function) {
    for (std::uint32_t i = 0; i < function.registers.size(); ++i)
      registers_.push_back(register_name(module_, function, i));
    for (const Variable& entry : function.variables) variables_.emplace_back(entry.name);
    for (const Label& label : function.labels) labels_.emplace_back(label.name);
    for (const BranchTargets& targets : function.branch_targets) targets_.emplace_back(targets.name);
    for (const Prototype& prototype : function.prototypes) prototypes_.emplace_back(prototype.name);
    function_ = &function;
  }

  void name_uniquely(const Function& function) {
    registers_.clear(), variables_.clear(), labels_.clear(), targets_.clear(), prototypes_.clear();
    name_plainly(function);
    UniqueNames names;
    for (const Variable& entry : function.parameters) names.take(entry.name);
    for (const Variable& entry : function.results) names.take(entry.name);
    // A module's name that is used here must not be hidden.
    for (const Instruction& instruction : function.instructions) take_symbols(instruction, names);
    for (std::uint32_t i = 0; i < function.registers.size(); ++i)
      if (!is_parameter(function, i)) registers_[i] = names.unique(std::move(registers_[i]));
    for (auto* list_of_names : {&variables_, &labels_, &targets_, &prototypes_})
      for (std::string& name : *list_of_names) name = names.unique(std::move(name));
  }

  // Registers that are parameters or results, which the header declares.
  bool is_parameter(const Function& function, std::uint32_t index) const {
    const char* name = module_.text.data() + function.registers[index].name;
    for (const auto* list_of_variables : {&function.parameters, &function.results})
      for (const Variable& entry : *list_of_variables)
        if (entry.space == StateSpace::reg && entry.name.data() == name) return true;
    return false;
  }

  void take_symbols(const Instruction& instruction, UniqueNames& names) const {
    for (std::uint32_t i = 0; i < instruction.operand_count; ++i)
      take_symbol(instruction.first_operand + i, names, 0);
    if (instruction.guard != no_index) take_symbol(instruction.guard, names, 0);
  }

  void take_symbol(std::uint32_t index, UniqueNames& names, int depth) const {
    const Operand& entry = module_.operands[index];
    if (entry.referent == Operand::Referent::module_variable) names.take(module_.variables[entry.value].name);
    if (entry.referent == Operand::Referent::function) names.take(module_.functions[entry.value].name);
    // Nor must a word that nothing declares where it stands mean what is declared in some scope.
    const bool word = entry.kind == Operand::Kind::text ||
                      (entry.kind == Operand::Kind::symbol && entry.referent == Operand::Referent::none);
    if (word) names.take(name_in(entry.text));
    for (std::uint32_t i = 0; i < entry.part_count; ++i) take_symbol(entry.first_part + i, names, depth + 1);
  }

  void definition(const Function& function) {
    name_uniquely(function);
    header(function);
    out_ += "\n{\n";
    for (std::uint32_t i = 0; i < function.registers.size(); ++i)
      if (!is_parameter(function, i)) put("  .reg .{} {};\n", function.registers[i].type, registers_[i]);
    for (std::size_t i = 0; i < function.variables.size(); ++i)
      out_ += "  ", variable(function.variables[i], variables_[i]), out_ += ";\n";
    for (std::size_t i = 0; i < function.branch_targets.size(); ++i) {
      out_ += targets_[i] + ": .branchtargets ";
      const auto& labels = function.branch_targets[i].labels;
      for (std::size_t k = 0; k < labels.size(); ++k) out_ += (k == 0 ? "" : ", ") + labels_[labels[k]];
      out_ += ";\n";
    }
    for (std::size_t i = 0; i < function.prototypes.size(); ++i)
      put("{}: {};\n", prototypes_[i], function.prototypes[i].text);
    std::size_t label = 0;
    for (std::size_t i = 0; i <= function.instructions.size(); ++i) {
      for (; label < function.labels.size() && function.labels[label].instruction == i; ++label)
        out_ += labels_[label] + ":\n";
      if (i < function.instructions.size()) instruction(function.instructions[i]);
    }
    out_ += "}\n";
  }

  void instruction(const Instruction& entry) {
    out_ += "  ";
    if (entry.guard != no_index) guard(entry.guard);
    out_ += entry.opcode;
    operands(entry.first_operand, entry.operand_count, " ");
    out_ += ";\n";
  }

  // Whatever the register is declared as: a guard is negated by `!`.
  void guard(std::uint32_t index) {
    const Operand& entry = module_.operands[index];
    out_ += '@';
    if (entry.kind == Operand::Kind::reg) {
      if (entry.negated) out_ += '!';
      out_ += registers_[entry.symbol];
      out_ += selector_of(entry.text);
    } else {
      operand(index);
    }
    out_ += ' ';
  }

  void operands(std::uint32_t first, std::uint32_t count, const char* before) {
    for (std::uint32_t i = 0; i < count; ++i) {
      out_ += i == 0 ? before : ", ";
      operand(first + i);
    }
  }

  void operand(std::uint32_t index) {
    const Operand& entry = module_.operands[index];
    switch (entry.kind) {
      case Operand::Kind::reg:
        if (entry.negated) out_ += function_->registers[entry.symbol].type == "pred" ? "!" : "-";
        out_ += registers_[entry.symbol];
        out_ += selector_of(entry.text);
        break;
      case Operand::Kind::symbol:
        symbol(entry);
        break;
      case Operand::Kind::label:
        out_ += labels_[entry.symbol];
        break;
      case Operand::Kind::integer:
        out_ += std::to_string(static_cast<std::int64_t>(entry.value));
        break;
      case Operand::Kind::floating:
        floating(entry.value);
        break;
      case Operand::Kind::address:
        address(entry);
        break;
      case Operand::Kind::sum:
        address(entry);
        break;
      case Operand::Kind::vector:
        enclosed(entry, "{", "}");
        break;
      case Operand::Kind::list:
        enclosed(entry, "(", ")");
        break;
      case Operand::Kind::pair:
        operand(entry.first_part);
        out_ += "|";
        operand(entry.first_part + 1);
        break;
      case Operand::Kind::sink:
        out_ += "_";
        break;
      case Operand::Kind::special: {
        if (entry.negated) out_ += entry.text.front();
        const std::string_view name = entry.text.substr(entry.text.find('%'));
        out_ += name.substr(0, name.find_first_of(". \t\r\n\f\v/"));
        out_ += selector_of(entry.text);
        break;
      }
      case Operand::Kind::text:
        out_ += entry.text;
        break;
    }
  }

  void symbol(const Operand& entry) {
    if (entry.negated && entry.referent != Operand::Referent::none) out_ += entry.text.front();
    switch (entry.referent) {
      case Operand::Referent::function_variable:
        out_ += variables_[entry.value];
        break;
      case Operand::Referent::branch_targets:
        out_ += targets_[entry.value];
        break;
      case Operand::Referent::prototype:
        out_ += prototypes_[entry.value];
        break;
      case Operand::Referent::parameter:
        out_ += function_->parameters[entry.value].name;
        break;
      case Operand::Referent::result:
        out_ += function_->results[entry.value].name;
        break;
      case Operand::Referent::module_variable:
        out_ += module_.variables[entry.value].name;
        break;
      case Operand::Referent::function:
        out_ += module_.functions[entry.value].name;
        break;
      case Operand::Referent::none:
        out_ += entry.text;
        return;
    }
    out_ += selector_of(entry.text);
  }

  void floating(std::uint64_t bits) { put("0d{:016X}", bits); }

  void enclosed(const Operand& entry, const char* open, const char* close) {
    out_ += open;
    operands(entry.first_part, entry.part_count, "");
    out_ += close;
  }

  void address(const Operand& entry) {
    const bool array = entry.text.front() != '[' && entry.part_count == 2;  // array[%r]
    const bool brackets = entry.kind == Operand::Kind::address && !array;
    if (brackets) out_ += "[";
    operand(entry.first_part);
    if (entry.value != 0) put("+{}", static_cast<std::int64_t>(entry.value));
    if (array) out_ += "[", operand(entry.first_part + 1), out_ += "]";
    if (!array && entry.part_count > 1) operands(entry.first_part + 1, entry.part_count - 1, ", ");
    if (brackets) out_ += "]";
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::string out_;
  std::vector<std::string> registers_, variables_, labels_, targets_, prototypes_;
};

}  // namespace

std::string print(const Module& module) {
  return Printer(module).run();
}

std::string print_operand(const Module& module, const Function& function, std::uint32_t operand) {
  return Printer(module).run_operand(function, operand);
}

}  // namespace warptime::ptx
