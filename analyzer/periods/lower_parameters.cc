#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "analyzer/periods/lowering.h"

namespace warptime::periods {
namespace {

using analysis::ExprId;
using analysis::Facts;

}  // namespace

// --- names -----------------------------------------------------------------------------------------------------------

std::string Lowering::argument_name(std::uint32_t index, std::uint32_t offset) const {
  std::string name;
  if (options_.signature != nullptr && index < options_.signature->arguments.size()) {
    name = options_.signature->arguments[index].name;
  } else if (index < function_.parameters.size()) {
    name = std::string(function_.parameters[index].name);
    const auto prefix = std::string(function_.name) + "_";
    if (name.starts_with(prefix)) name = name.substr(prefix.size());
  }
  for (auto& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  return offset == 0 ? name : fmt::format("{}_{}", name, offset);
}

bool Lowering::is_argument_name(const std::string& name) const {
  for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
    if (argument_name(i, 0) == name) return true;
  return false;
}

std::string Lowering::counter_name(std::uint32_t loop) {
  if (const auto it = counters_.find(loop); it != counters_.end()) {
    counters_used_.insert(loop);
    return it->second;
  }
  return {};
}

void Lowering::open_counter(std::uint32_t loop) {
  static const char* const candidates[] = {"i", "j", "m", "n", "p", "q"};
  const auto taken = [&](const std::string& name) {
    for (const auto& [l, other] : counters_)
      if (other == name) return true;
    return is_argument_name(name);
  };
  for (const std::string name : candidates)
    if (!taken(name)) {
      counters_[loop] = name;
      return;
    }
  counters_[loop] = fmt::format("turn_{}", loop);
}

// --- conditions and expressions --------------------------------------------------------------------------------------

ExprId Lowering::condition(ExprId raw, std::uint32_t loop, const Facts& facts) {
  auto value = facts.simplify(flow_.loops.resolve(raw, loop));
  if (!last_turn_.empty()) value = facts.simplify(with_last_turns(value));
  if (const auto number = flow_.loops.same_for_all_threads(value)) return exprs_.constant(*number);
  return value;
}

ExprId Lowering::with_last_turns(ExprId value) {
  return exprs_.rewrite(
      value,
      [](const analysis::SymbolicExprs::Node& node) { return (node.dependence & analysis::on_counter) != 0; },
      [&](ExprId leaf) {
        const auto node = exprs_[leaf];
        if (node.op != analysis::SymbolicOp::counter) return leaf;
        const auto it = last_turn_.find(node.a);
        return it == last_turn_.end() ? leaf : it->second;
      });
}

// Whether all threads of the launch decide alike.
bool Lowering::uniform(ExprId value) {
  return (flow_.evaluator.dependence(value) &
          (analysis::on_thread | analysis::on_block | analysis::on_data)) == 0;
}

std::optional<Expression> Lowering::expression_of(ExprId value, std::uint32_t instruction) {
  analysis::Assumptions taken;
  auto expression = analysis::to_expression(exprs_, value, naming_, &taken);
  if (expression && taken.unsigned_as_signed)
    assume(instruction, fmt::format("the numbers compared in `{}` are not negative", to_string(*expression)));
  if (expression && taken.division_of_not_negative)
    assume(instruction, fmt::format("the numbers divided in `{}` are not negative", to_string(*expression)));
  return expression;
}

std::string Lowering::readable(ExprId value) {
  const auto expression = analysis::to_expression(exprs_, value, reading_, nullptr, 40);
  auto text = expression ? to_string(*expression) : "…";
  return text.size() > 100 ? "…" : text;
}

// --- parameters ------------------------------------------------------------------------------------------------------

std::string Lowering::parameter_for(const std::string& wanted, std::string description) {
  const auto [known, fresh] = extra_names_.emplace(description, "");
  if (!fresh) return known->second;
  // turns_at_line_7, turns_at_line_7_2, …
  std::string name = wanted;
  for (auto& n = times_wanted_[wanted]; !taken_names_.insert(name).second;)
    name = fmt::format("{}_{}", wanted, ++n + 1);
  known->second = name;
  extra_parameters_.push_back({name, std::move(description)});
  return name;
}

void Lowering::declare_parameters() {
  auto& parameters = out_.program.parameters;
  for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
    if (!is_integer_argument(i)) continue;
    parameters.push_back({argument_name(i, 0), argument_description(i)});
  }
  KernelProgram used;
  used.program = out_.program.program;
  const auto declared = [&](const std::string& name) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  };
  for (auto& extra : extra_parameters_) parameters.push_back(std::move(extra));
  for (const auto& name : parameter_names(used)) {
    if (declared(name)) continue;
    parameters.push_back(
        {name, name.find('.') != std::string::npos ? "launch dimension" : "a part of a kernel argument"});
  }
}

bool Lowering::is_integer_argument(std::uint32_t i) const {
  if (options_.signature != nullptr && i < options_.signature->arguments.size()) {
    const auto& type = options_.signature->arguments[i].type;
    static const std::set<std::string, std::less<>> other{"float", "double", "__half", "half"};
    if (type.find_first_of("*&[<") != std::string::npos || other.contains(type)) return false;
  }
  const auto& parameter = function_.parameters[i];
  if (parameter.is_array || parameter.type.empty() || parameter.type[0] == 'f') return false;
  // PTX alone does not tell a pointer from a 64-bit number.
  return options_.signature != nullptr || (parameter.type != "u64" && parameter.type != "b64");
}

std::string Lowering::argument_description(std::uint32_t i) const {
  if (options_.signature != nullptr && i < options_.signature->arguments.size())
    return fmt::format("argument {} ({} {})", i, options_.signature->arguments[i].type,
                       options_.signature->arguments[i].name);
  return fmt::format("argument {} (.{} {})", i, function_.parameters[i].type, function_.parameters[i].name);
}

}  // namespace warptime::periods
