#include "analyzer/periods/conditions.h"

#include <fmt/format.h>

#include "analyzer/periods/arrays.h"

namespace warptime::periods {

using analysis::ExprId;

Conditions::Conditions(analysis::KernelFlow& flow, const Parameters& parameters, LoopCounters& counters,
                       Notes& notes)
    : flow_(flow),
      exprs_(flow.evaluator.exprs()),
      parameters_(parameters),
      counters_(counters),
      notes_(notes) {
  naming_.argument = [&parameters](auto index, auto offset) {
    return parameters.argument_name(index, offset);
  };
  naming_.counter = [this](auto loop) { return counters_.use(loop); };
  naming_.other = [this](auto expr) {
    const auto it = parameter_names_.find(expr);
    return it == parameter_names_.end() ? std::string() : it->second;
  };
  threads_ = naming_;
  threads_.written = &written_of_threads_;
  threads_.of_threads = true;
  threads_.counter = [this](auto loop) { return counters_.mention(loop); };
  reading_ = naming_;
  naming_.written = &written_;
  reading_.threads_too = true;
  reading_.counter = [](auto) { return std::string("counter"); };
}

ExprId Conditions::resolve(ExprId raw, std::uint32_t loop, const analysis::Facts& facts) {
  auto expr = facts.simplify(flow_.loops.resolve(raw, loop));
  if (counters_.in_last_iteration()) expr = facts.simplify(counters_.with_last_values(expr));
  if (const auto number = flow_.loops.same_for_all_threads(expr)) return exprs_.constant(*number);
  return expr;
}

bool Conditions::uniform(ExprId expr) const {
  return (flow_.evaluator.dependence(expr) &
          (analysis::on_thread | analysis::on_block | analysis::on_data)) == 0;
}

std::optional<Expression> Conditions::expression_of(ExprId expr, std::uint32_t instruction) {
  analysis::Assumptions assumed;
  auto expression = analysis::to_expression(exprs_, expr, naming_, &assumed);
  if (expression && assumed.unsigned_as_signed)
    notes_.assume(instruction,
                  fmt::format("the numbers compared in `{}` are not negative", to_string(*expression)));
  if (expression && assumed.division_of_not_negative)
    notes_.assume(instruction,
                  fmt::format("the numbers divided in `{}` are not negative", to_string(*expression)));
  return expression;
}

std::optional<Expression> Conditions::of_threads(ExprId expr) {
  constexpr int most_parts = 300;
  if ((flow_.evaluator.dependence(expr) & analysis::on_data) != 0) return std::nullopt;
  return analysis::to_expression(exprs_, expr, threads_, nullptr, most_parts);
}

ExprId Conditions::resolve_address(ExprId raw, std::uint32_t loop, const analysis::Facts& facts) {
  auto address = resolve(raw, loop, facts);
  if (exprs_[address].has_phi) {
    address = facts.simplify(flow_.loops.resolve_index(raw, loop, facts));
    if (counters_.in_last_iteration()) address = facts.simplify(counters_.with_last_values(address));
  }
  return address;
}

std::optional<Expression> Conditions::place_in_array(ExprId raw, std::uint32_t loop,
                                                     const analysis::Facts& facts) {
  const auto address = resolve_address(raw, loop, facts);
  const auto array = pointer_term(exprs_, parameters_, address);
  if (!array) return std::nullopt;
  return of_threads(exprs_.subtract(address, *array));
}

std::optional<Expression> Conditions::place_on_chip(
    ExprId raw, std::uint32_t loop, const analysis::Facts& facts,
    const std::function<std::optional<std::int64_t>(ExprId symbol)>& begin_of) {
  bool known = true, any = false;
  const auto place = exprs_.rewrite(
      resolve_address(raw, loop, facts), [](const analysis::SymbolicExprs::Node&) { return true; },
      [&](ExprId leaf) {
        if (exprs_[leaf].op != analysis::SymbolicOp::symbol) return leaf;
        const auto begin = begin_of(leaf);
        known = known && begin;
        any = true;
        return exprs_.constant(begin.value_or(0));
      });
  if (!known || !any) return std::nullopt;
  return of_threads(place);
}

std::string Conditions::readable(ExprId expr) const {
  const auto expression = analysis::to_expression(exprs_, expr, reading_, nullptr, 40);
  auto text = expression ? to_string(*expression) : "…";
  return text.size() > 100 ? "…" : text;
}

ExprId Conditions::named(const Expression& count) {
  const auto expr = exprs_.opaque(analysis::on_argument);
  parameter_names_[expr] = to_string(count);
  return expr;
}

}  // namespace warptime::periods
