#include "analyzer/periods/arrays.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "analyzer/periods/resources.h"
#include "simulator/program/walk.h"

namespace warptime::periods {

using analysis::ExprId;
using analysis::SymbolicOp;
using analysis::Term;

namespace {

// `ns::table` of `_ZN2ns5tableE`; the symbol itself where its name in the source is no plain one.
std::string variable_name(std::string_view symbol) {
  auto name = llvm::demangle(std::string(symbol));
  const bool plain = std::all_of(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == ':'; });
  return plain ? name : std::string(symbol);
}

}  // namespace

std::optional<ExprId> pointer_term(const analysis::SymbolicExprs& exprs, const Parameters& parameters,
                                   ExprId address) {
  std::vector<Term> terms;
  exprs.linear_terms(address, terms);
  std::optional<ExprId> found;
  for (const auto& term : terms) {
    const auto& node = exprs[term.atom];
    const bool begins = node.op == SymbolicOp::symbol ||
                        (node.op == SymbolicOp::argument && parameters.may_be_pointer(node.a));
    if (!begins || term.coefficient != 1) continue;
    if (found) return std::nullopt;
    found = term.atom;
  }
  return found;
}

// Through registers where paths join, and through selections: all values that the address may have must lie
// in one array.
std::optional<ExprId> Arrays::base_of(ExprId address) {
  constexpr std::size_t most_values = 64;
  auto& exprs = flow_.evaluator.exprs();
  std::vector<ExprId> work{address};
  std::optional<ExprId> base;
  const auto add = [&](ExprId value) {
    if (std::find(work.begin(), work.end(), value) == work.end()) work.push_back(value);
  };
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.size() > most_values) return std::nullopt;
    if (const auto found = pointer_term(exprs, parameters_, work[i])) {
      if (base && *base != *found) return std::nullopt;
      base = found;
      continue;
    }
    std::vector<Term> terms;
    exprs.linear_terms(work[i], terms);
    std::optional<ExprId> joined;
    for (const auto& term : terms) {
      const auto op = exprs[term.atom].op;
      if (term.coefficient != 1 || (op != SymbolicOp::phi && op != SymbolicOp::select)) continue;
      if (joined) return std::nullopt;
      joined = term.atom;
    }
    if (!joined) return std::nullopt;
    const auto node = exprs[*joined];
    if (node.op == SymbolicOp::select) {
      add(node.b);
      add(node.c);
    } else {
      const auto incoming = flow_.evaluator.incoming(node.a);  // a copy: more phis may be made
      for (const auto value : incoming) add(value);
    }
  }
  return base;
}

std::string Arrays::name_of(ExprId address, std::uint32_t loop) {
  auto base = base_of(address);
  // Closed forms may tell more, as of a pointer that a loop advances by an argument.
  if (!base) base = base_of(flow_.loops.resolve(address, loop));
  if (!base) return {};
  const auto node = flow_.evaluator.exprs()[*base];
  if (node.op == SymbolicOp::argument) {
    auto name = parameters_.argument_name(node.a, node.b);
    arrays_.try_emplace({false, node.a, node.b, name},
                        Array{name, parameters_.description_of_part(node.a, node.b)});
    return name;
  }
  const auto* variable = flow_.evaluator.variable_of(*base);
  if (variable == nullptr || variable->space != ptx::StateSpace::global) return {};
  auto name = variable_name(variable->name);
  const auto bytes = static_cast<std::int64_t>(place_behind(0, *variable).end);
  arrays_.try_emplace({true, variable->line, 0, name},
                      Array{name, "module variable", bytes > 0 ? std::optional(bytes) : std::nullopt});
  return name;
}

void Arrays::declare_in(KernelProgram& program) const {
  std::set<std::string> used;
  for_each_access(program.program, [&](const MemoryAccess& access) { used.insert(access.array); });
  for (const auto& [order, array] : arrays_)
    if (used.erase(array.name) != 0) program.arrays.push_back(array);
}

}  // namespace warptime::periods
