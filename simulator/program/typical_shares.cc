#include "simulator/program/typical_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/program/expression/expression.h"
#include "simulator/program/walk.h"

namespace warptime {
namespace {

constexpr double kCollects = 0.25, kEqual = 0.3, kElse = 0.75, kAll = 1;

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
      if (holds != (condition.op() == Operator::equal) || is_small_remainder(condition)) return kAll;
      return kEqual;
    default:
      return kElse;
  }
}

struct Side {
  bool for_others = true;  // all of them are executed by one thread of each warp
};

// The branches on data of a program: which of them have atomics, by the share of the innermost one around these, and which are
// around others.
class Branches {
 public:
  explicit Branches(const Items& items) { look(items, {}, false); }

  const Side* with_atomics(const std::string& share) const {
    const auto found = sides_.find(share);
    return found == sides_.end() ? nullptr : &found->second;
  }

  // Of the branches around it, outermost first.
  const std::vector<std::string>& around(const std::string& share) const {
    static const std::vector<std::string> none;
    const auto found = around_.find(share);
    return found == around_.end() ? none : found->second;
  }

 private:
  void look(const Items& items, const std::vector<std::string>& outer, bool one_thread) {
    for (const Item& item : items) {
      std::vector<std::string> shares = outer;
      for (const std::string& share : item.shares) {
        around_.emplace(share, shares);
        shares.push_back(share);
      }
      const bool one = one_thread || (item.threads && of_one_thread(*item.threads, true));
      for_each_inner(item, [&](const Items& inner) { look(inner, shares, one); });
      const auto* access = std::get_if<MemoryAccess>(&item.what);
      if (shares.empty() || access == nullptr || !is_atomic(*access)) continue;
      Side& side = sides_[shares.back()];
      side.for_others = side.for_others && one;
    }
  }

  std::map<std::string, Side> sides_;
  std::map<std::string, std::vector<std::string>> around_;
};

// The other side of the branch: `taken_at_line_4` of `not_taken_at_line_4`.
std::string other_side(std::string_view share) {
  constexpr std::string_view prefix = "not_";
  return share.starts_with(prefix) ? std::string(share.substr(prefix.size()))
                                   : fmt::format("{}{}", prefix, share);
}

// The condition that a description quotes: "… data decide `data < 1`". Nothing: it is too long to be written out.
std::optional<Expression> condition_of(std::string_view description) {
  constexpr std::string_view before = "data decide `";
  const auto begin = description.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  description.remove_prefix(begin + before.size());
  auto parsed = Expression::parse(description.substr(0, description.rfind('`')));
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

}  // namespace

std::map<std::string, double> typical_shares(const KernelProgram& program) {
  std::map<std::string, double> typical;
  std::optional<Branches> branches;
  for (const Parameter& parameter : program.parameters) {
    const bool taken = parameter.name.starts_with("taken_at_");
    if (parameter.share != kAll || (!taken && !parameter.name.starts_with("not_taken_at_"))) continue;
    if (!branches) branches.emplace(program.program);
    const auto condition = condition_of(parameter.description);
    const Side* side = branches->with_atomics(parameter.name);
    double share = condition ? share_of(*condition, taken) : kElse;
    if (side != nullptr) {
      const bool for_others = side->for_others || (condition && of_one_thread(*condition, taken));
      const bool both = branches->with_atomics(other_side(parameter.name)) != nullptr;
      share = for_others || both ? kAll : kCollects;
    }
    typical.emplace(parameter.name, share);
  }
  if (!branches) return {};
  // Where branches are in each other, threads that take one mostly take the other: together they have the least share.
  std::map<std::string, double> less;
  for (const auto& [name, share] : typical) {
    double around = kAll;
    for (const std::string& outer : branches->around(name))
      if (const auto found = typical.find(outer); found != typical.end())
        around = std::min(around, found->second);
    if (share < around) less.emplace(name, share / around);
  }
  return less;
}

}  // namespace warptime
