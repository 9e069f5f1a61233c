#include "analyzer/periods/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

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

// What tells which elements data are: a sum over the places of all that were loaded. Threads with the same sum have the same data,
// but for sums that happen to be the same.
struct Conditions::Choice {
  ExprId of = 0;
  int loads = 0;
  std::int64_t factor = 1;              // of the next place
  std::optional<ExprId> chosen_by;      // the address of the first load
  std::uint32_t loop = analysis::none;  // where that is
};

// Of an expression without threads, blocks and counters but for those in the addresses of loads.
bool Conditions::add_choice(ExprId data, std::uint32_t loop, const analysis::Facts& facts, int most_loads,
                            Choice& choice) {
  std::vector<ExprId> results;
  const bool other = exprs_.any_leaf(data, [&](ExprId leaf) {
    if (exprs_[leaf].op == analysis::SymbolicOp::result) {
      if (std::find(results.begin(), results.end(), leaf) == results.end()) results.push_back(leaf);
      return false;
    }
    constexpr auto varies =
        analysis::on_thread | analysis::on_block | analysis::on_counter | analysis::on_data;
    return (flow_.evaluator.dependence(leaf) & varies) != 0;
  });
  return !other && std::all_of(results.begin(), results.end(), [&](ExprId result) {
    return add_choosing_load(result, loop, facts, most_loads, choice);
  });
}

bool Conditions::add_choosing_load(ExprId result, std::uint32_t loop, const analysis::Facts& facts,
                                   int most_loads, Choice& choice) {
  constexpr std::int64_t next_factor = 1'000'003;  // a prime number: seldom are two sums the same
  const std::uint32_t instruction = exprs_[result].a, reg = exprs_[result].b;
  const ptx::Instruction& load = flow_.evaluator.function().instructions[instruction];
  constexpr int few = 3;  // an address seldom has more in it
  if (most_loads == 0 || choice.loads++ >= few || load.info == nullptr ||
      load.info->category != ptx::Category::load || load.operand_count != 2)
    return false;
  const ExprId raw = flow_.evaluator.address(instruction, 1);
  auto space = ptx::space_of(load);
  if (space == ptx::StateSpace::generic)
    space = flow_.evaluator.space_of_address(raw).value_or(ptx::StateSpace::global);
  if (space != ptx::StateSpace::global) return false;
  const std::uint32_t own_loop = flow_.cfg.blocks[flow_.evaluator.block_of(instruction)].loop;
  if (!flow_.cfg.encloses(own_loop, loop)) return false;
  if (!choice.chosen_by) {
    choice.chosen_by = raw;
    choice.loop = own_loop;
  }
  const ExprId address = resolve_address(raw, own_loop, facts);
  const auto array = pointer_term(exprs_, parameters_, address);
  if (!array) return false;
  // Of a vector, the part that it is.
  const auto& operands = flow_.evaluator.operands();
  const ptx::Operand& loaded = operands[load.first_operand];
  std::int64_t part = 0;
  for (std::uint32_t p = 0; p < loaded.part_count; ++p)
    if (operands[loaded.first_part + p].symbol == reg) part = p;
  const std::int64_t factor = std::exchange(choice.factor, choice.factor * next_factor);
  std::vector<analysis::Term> terms;
  const auto number = exprs_.linear_terms(exprs_.subtract(address, *array), terms);
  const ExprId place = exprs_.add(exprs_.constant(number), exprs_.constant(part));
  choice.of = exprs_.add(choice.of, exprs_.scale(place, factor));
  for (const auto& term : terms) {
    if ((flow_.evaluator.dependence(term.atom) & analysis::on_data) == 0)
      choice.of = exprs_.add(choice.of, exprs_.scale(exprs_.scale(term.atom, term.coefficient), factor));
    else if (!add_choice(term.atom, own_loop, facts, most_loads - 1, choice))
      return false;
  }
  return true;
}

std::optional<Conditions::ChosenRow> Conditions::row_of_data(ExprId raw, std::uint32_t loop,
                                                             const analysis::Facts& facts) {
  constexpr int most_loads = 3;  // one's element chooses that of the next
  const auto address = resolve_address(raw, loop, facts);
  const auto array = pointer_term(exprs_, parameters_, address);
  if (!array) return std::nullopt;
  std::vector<analysis::Term> terms;
  ExprId at = exprs_.constant(exprs_.linear_terms(exprs_.subtract(address, *array), terms));
  std::optional<ExprId> bytes;
  Choice choice;
  for (const auto& term : terms) {
    if ((flow_.evaluator.dependence(term.atom) & analysis::on_data) == 0) {
      at = exprs_.add(at, exprs_.scale(term.atom, term.coefficient));
      continue;
    }
    if (term.coefficient == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    ExprId every = exprs_.constant(std::abs(term.coefficient));
    std::optional<ExprId> data;
    for (const auto& part : exprs_.parts(term.atom)) {
      if (uniform(part.atom))
        every = exprs_.multiply(every, part.atom);
      else if (!data)
        data = part.atom;
      else
        return std::nullopt;
    }
    if (!data || !add_choice(*data, loop, facts, most_loads, choice)) return std::nullopt;
    // The rows of several indices begin where the least of them lets them.
    if (!bytes || (exprs_.is_constant(every) &&
                   (!exprs_.is_constant(*bytes) || exprs_[every].number < exprs_[*bytes].number)))
      bytes = every;
  }
  if (!bytes || !choice.chosen_by) return std::nullopt;
  for (const auto& term : exprs_.linear_terms(choice.of)) {
    const auto& node = exprs_[term.atom];
    if (node.op == analysis::SymbolicOp::special &&
        (node.a == static_cast<ExprId>(analysis::Special::tid_x) ||
         node.a == static_cast<ExprId>(analysis::Special::laneid)))
      return std::nullopt;
  }
  const auto of = of_threads(choice.of), place = of_threads(at), size = of_threads(*bytes);
  if (!of || !place || !size) return std::nullopt;
  return ChosenRow{{{}, *of, *size, *place}, *choice.chosen_by, choice.loop};
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
  constexpr std::size_t most = 100, most_of_side = 40;
  auto text = short_text(expr, most);
  if (text != elided) return text;
  // What is compared may be long: then how, and with what, which tells such branches of one line apart.
  const auto& node = exprs_[expr];
  const auto sides = [&](std::string_view op) {
    return fmt::format("{} {} {}", short_text(node.a, most_of_side), op, short_text(node.b, most_of_side));
  };
  using Op = analysis::SymbolicOp;
  switch (node.op) {
    case Op::less:
    case Op::less_unsigned:
      return sides("<");
    case Op::less_equal:
    case Op::less_equal_unsigned:
      return sides("<=");
    case Op::equal:
      return sides("==");
    case Op::not_equal:
      return sides("!=");
    case Op::logical_not:
      return fmt::format("!({})", readable(node.a));
    default:
      return text;
  }
}

std::string Conditions::short_text(ExprId expr, std::size_t most) const {
  const auto expression = analysis::to_expression(exprs_, expr, reading_, nullptr, 40);
  auto text = expression ? to_string(*expression) : std::string(elided);
  return text.size() > most ? std::string(elided) : text;
}

ExprId Conditions::named(const Expression& count) {
  const auto expr = exprs_.opaque(analysis::on_argument);
  parameter_names_[expr] = to_string(count);
  return expr;
}

}  // namespace warptime::periods
