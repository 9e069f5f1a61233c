#include "simulator/program/typical_shares.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "simulator/program/expression/expression.h"
#include "simulator/program/walk.h"

namespace warptime {
namespace {

constexpr double kCollects = 0.4, kEqual = 0.3, kElse = 0.75, kAll = 1;
// Of a quarter, half and all, the one with which times of the open sets of data/development are nearest.
constexpr double kThreadsOfSide = 0.5;

using Operator = Expression::Operator;

bool names_data(const Expression& expression) {
  const auto names = expression.names();
  return std::find(names.begin(), names.end(), "data") != names.end();
}

// Of two operands of which one is a number: the other.
const Expression* compared_with_number(const Expression& comparison) {
  const auto operands = comparison.operands();
  if (operands[1].is_integer()) return operands.data();
  return operands[0].is_integer() ? operands.data() + 1 : nullptr;
}

// Whether a side that is executed where the condition holds, or where it does not, is executed by one thread of a warp.
bool of_one_thread(const Expression& condition, bool holds) {
  const auto any = [&](bool of) {
    const auto operands = condition.operands();
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Expression& one) { return of_one_thread(one, of); });
  };
  switch (condition.op()) {
    case Operator::logical_not:
      return any(!holds);
    case Operator::logical_and:
      return holds && any(true);
    case Operator::logical_or:
      return !holds && any(false);
    case Operator::equal:
    case Operator::not_equal: {
      const Expression* of = compared_with_number(condition);
      if (of == nullptr || holds != (condition.op() == Operator::equal)) return false;
      const auto names = of->names();
      return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("threadIdx.");
      });
    }
    default:
      return false;
  }
}

// Of the remainders of a division by so little each is some thread's.
bool is_small_remainder(const Expression& comparison) {
  constexpr std::int64_t warp = 32;
  const Expression* of = compared_with_number(comparison);
  return of != nullptr && of->op() == Operator::modulo && of->operands()[1].is_integer() &&
         of->operands()[1].integer_value() <= warp;
}

// Whether what is executed where the condition holds, or where it does not, is executed by a thread that data choose from a warp,
// to add for the others, say: some thread of the warp it is.
bool of_chosen_thread(const Expression& condition, bool holds) {
  const auto operands = condition.operands();
  if (condition.op() == Operator::logical_not) return of_chosen_thread(operands[0], !holds);
  if (condition.op() != (holds ? Operator::equal : Operator::not_equal)) return false;
  const auto is_thread = [](const Expression& one) {
    const auto names = one.names();
    const auto is = [](const std::string& name) { return name == "threadIdx.x"; };
    return std::any_of(names.begin(), names.end(), is) && !names_data(one);
  };
  return (is_thread(operands[0]) && names_data(operands[1])) ||
         (is_thread(operands[1]) && names_data(operands[0]));
}

// The share of the warps of which some thread executes what is executed where the condition holds, or where it does not.
double share_of(const Expression& condition, bool holds) {
  if (!names_data(condition)) return kAll;
  const auto operands = condition.operands();
  switch (condition.op()) {
    case Operator::logical_not:
      return share_of(operands[0], !holds);
    case Operator::logical_and:
    case Operator::logical_or: {
      const bool all = holds == (condition.op() == Operator::logical_and);
      double share = share_of(operands[0], holds);
      for (const Expression& one : operands.subspan(1))
        share = all ? std::min(share, share_of(one, holds)) : std::max(share, share_of(one, holds));
      return share;
    }
    case Operator::equal:
    case Operator::not_equal:
      if (holds != (condition.op() == Operator::equal) || is_small_remainder(condition) ||
          of_chosen_thread(condition, holds))
        return kAll;
      return kEqual;
    default:
      return kElse;
  }
}

struct Bounds {
  bool below = false, above = false;  // by a number, and by what is not known before the launch
};

// The bounds of data between which it is executed where the condition holds, or where it does not. Nothing: it asks for something
// else, too.
std::optional<Bounds> bounds_of(const Expression& condition, bool holds) {
  if (!names_data(condition)) return Bounds();
  const auto operands = condition.operands();
  switch (condition.op()) {
    case Operator::logical_not:
      return bounds_of(operands[0], !holds);
    case Operator::logical_and:
    case Operator::logical_or: {
      if (holds != (condition.op() == Operator::logical_and)) return std::nullopt;
      Bounds all;
      for (const Expression& one : operands) {
        const auto bounds = bounds_of(one, holds);
        if (!bounds) return std::nullopt;
        all.below = all.below || bounds->below;
        all.above = all.above || bounds->above;
      }
      return all;
    }
    case Operator::less:
    case Operator::less_equal:
    case Operator::greater:
    case Operator::greater_equal: {
      const bool left = names_data(operands[0]);
      if (left == names_data(operands[1])) return std::nullopt;
      const bool is_less = condition.op() == Operator::less || condition.op() == Operator::less_equal;
      const bool above = left == (is_less == holds);
      const bool number = operands[left ? 1 : 0].is_integer();
      return Bounds{!above && number, above && !number};
    }
    default:
      return std::nullopt;
  }
}

// Whether it is executed for what lies within something, such as an image, and not for a few values that are picked.
bool is_within(const Expression& condition, bool holds) {
  const auto bounds = bounds_of(condition, holds);
  return bounds && bounds->below && bounds->above;
}

// The shares of which some side of a branch has atomics: of the innermost branch around them, and whether all of them are
// executed by one thread of each warp.
void find_atomics(const Items& items, const std::string* around, bool one_thread,
                  std::map<std::string, bool>& for_others) {
  for (const Item& item : items) {
    const std::string* share = item.shares.empty() ? around : &item.shares.back();
    const bool one = one_thread || (item.threads && of_one_thread(*item.threads, true));
    for_each_inner(item, [&](const Items& inner) { find_atomics(inner, share, one, for_others); });
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    if (share == nullptr || access == nullptr || !is_atomic(*access)) continue;
    bool& all = for_others.try_emplace(*share, true).first->second;
    all = all && one;
  }
}

// Where branches are in each other, threads that take one mostly take the other: together they have the least share. `around`:
// that of those around the items. Into `parts`: of what is around a branch where it is first met.
void share_out(const Items& items, const std::map<std::string, double>& typical, double around,
               std::map<std::string, double>& parts) {
  for (const Item& item : items) {
    double least = around;
    for (const std::string& share : item.shares) {
      const auto found = typical.find(share);
      if (found == typical.end()) continue;
      const double together = std::min(found->second, least);
      parts.try_emplace(share, together / least);
      least = together;
    }
    for_each_inner(item, [&](const Items& inner) { share_out(inner, typical, least, parts); });
  }
}

// The condition that a description quotes. Nothing: it is too long to be written out.
std::optional<Expression> condition_of(std::string_view description) {
  const auto begin = description.find(kDataDecide);
  if (begin == std::string_view::npos) return std::nullopt;
  description.remove_prefix(begin + kDataDecide.size());
  auto parsed = Expression::parse(description.substr(0, description.rfind('`')));
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

// The share of the other side of the same branch.
std::string other_side(std::string_view share) {
  const bool taken = share.starts_with(kTakenAt);
  const std::string_view of = taken ? kTakenAt : kNotTakenAt;
  return std::string(taken ? kNotTakenAt : kTakenAt).append(share.substr(of.size()));
}

}  // namespace

bool is_side_of_branch(const Parameter& parameter) {
  return parameter.share && (parameter.name.starts_with(kTakenAt) || parameter.name.starts_with(kNotTakenAt));
}

double typical_threads(const Parameter& parameter) {
  const auto condition = condition_of(parameter.description);
  return condition && is_within(*condition, parameter.name.starts_with(kTakenAt)) ? kAll : kThreadsOfSide;
}

std::map<std::string, double> typical_shares(const KernelProgram& program) {
  std::map<std::string, double> typical;
  std::optional<std::map<std::string, bool>> atomics;
  for (const Parameter& parameter : program.parameters) {
    if (parameter.share != kAll || !is_side_of_branch(parameter)) continue;
    const bool taken = parameter.name.starts_with(kTakenAt);
    if (!atomics) find_atomics(program.program, nullptr, false, atomics.emplace());
    const auto condition = condition_of(parameter.description);
    const bool within = condition && is_within(*condition, taken);
    double share = within ? kAll : condition ? share_of(*condition, taken) : kElse;
    if (const auto found = atomics->find(parameter.name); found != atomics->end()) {
      const bool for_others =
          found->second ||
          (condition && (of_one_thread(*condition, taken) || of_chosen_thread(*condition, taken)));
      share = for_others || within || atomics->contains(other_side(parameter.name))
                  ? kAll
                  : std::min(share, kCollects);
    }
    typical.emplace(parameter.name, share);
  }
  std::map<std::string, double> parts;
  share_out(program.program, typical, kAll, parts);
  parts.insert(typical.begin(), typical.end());  // of branches with nothing behind them
  std::erase_if(parts, [](const auto& part) { return part.second == kAll; });
  return parts;
}

}  // namespace warptime
