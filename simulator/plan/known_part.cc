#include "simulator/plan/known_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace warptime {

namespace {

using Names = std::vector<std::string>;

// The names that a step itself cannot do without.
Names needed_by(const PlanStep& step, bool copies) {
  Names names;
  step.repeat.collect_names(names);
  if (step.streams) step.streams->collect_names(names);
  if (step.copy && copies) step.copy->bytes.collect_names(names);
  if (step.launch) {
    step.launch->for_each_size([&](const Expression& size) { size.collect_names(names); });
    if (step.launch->shared) step.launch->shared->collect_names(names);
  }
  return names;
}

void collect_needed(const std::vector<PlanStep>& steps, bool copies, std::set<std::string>& names) {
  for (const PlanStep& step : steps) {
    for (std::string& name : needed_by(step, copies)) names.insert(std::move(name));
    collect_needed(step.steps, copies, names);
  }
}

void collect_needed(const std::vector<PlanTransfer>& transfers, std::set<std::string>& names) {
  for (const PlanTransfer& transfer : transfers) {
    Names own;
    transfer.repeat.collect_names(own);
    transfer.bytes.collect_names(own);
    names.insert(own.begin(), own.end());
    collect_needed(transfer.transfers, names);
  }
}

class Reduction {
 public:
  Reduction(const Plan& plan, std::map<std::string, std::string> unknown, bool copies)
      : plan_(plan), unknown_(std::move(unknown)), copies_(copies) {}

  std::vector<PlanStep> steps(const std::vector<PlanStep>& steps) {
    std::vector<PlanStep> kept;
    for (const PlanStep& step : steps) {
      if (const std::string name = first_unknown(needed_by(step, copies_)); !name.empty()) {
        leave_out(step, name);
        continue;
      }
      PlanStep one = step;
      if (one.launch) arguments(*one.launch);
      one.steps = this->steps(step.steps);
      if (one.launch || one.copy || !one.steps.empty()) kept.push_back(std::move(one));
    }
    return kept;
  }

  Diagnostics left_out;

 private:
  std::string first_unknown(const Names& names) const {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return unknown_.count(name) > 0; });
    return found == names.end() ? "" : *found;
  }

  void arguments(PlanLaunch& launch) const {
    std::vector<std::pair<std::string, Expression>> known;
    for (auto& [argument, value] : launch.arguments) {
      if (const std::string name = first_unknown(value.names()); !name.empty()) {
        launch.unknown.push_back({argument, name, unknown_.at(name)});
      } else {
        known.emplace_back(argument, std::move(value));
      }
    }
    launch.arguments = std::move(known);
    // Arguments that the launch does not name have the value of the parameter that is called like them.
    for (const auto& [name, description] : unknown_) {
      const auto is_given = [&name = name](const auto& argument) { return argument.first == name; };
      const auto is_unknown = [&name = name](const UnknownArgument& argument) {
        return argument.name == name;
      };
      if (std::none_of(launch.arguments.begin(), launch.arguments.end(), is_given) &&
          std::none_of(launch.unknown.begin(), launch.unknown.end(), is_unknown))
        launch.unknown.push_back({name, name, description});
    }
  }

  void leave_out(const PlanStep& step, const std::string& name) {
    std::vector<std::string> kernels;
    const auto add = [&](const PlanStep& one) {
      const std::string& kernel = one.launch->entry.empty() ? one.launch->kernel : one.launch->entry;
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
    };
    for_each_launch(std::vector<PlanStep>{step}, add);
    if (kernels.empty()) return;
    const std::string of = unknown_.at(name).empty() ? "" : fmt::format(" ({})", unknown_.at(name));
    Diagnostic why =
        error_at(plan_.file, step.line, 0,
                 fmt::format("the parameter `{}`{}, on which the launches of {} depend, has no value", name,
                             of, fmt::join(kernels, ", ")),
                 fmt::format("`--param {}=VALUES`", name));
    if (std::find(left_out.begin(), left_out.end(), why) == left_out.end())
      left_out.push_back(std::move(why));
  }

  const Plan& plan_;
  const std::map<std::string, std::string> unknown_;  // parameters without values, and their descriptions
  const bool copies_;
};

}  // namespace

std::vector<std::string> needed_parameters(const Plan& plan, bool copies) {
  std::set<std::string> names;
  collect_needed(plan.steps, copies, names);
  if (copies && !has_copies(plan.steps)) collect_needed(plan.transfers, names);
  std::vector<std::string> needed;
  for (const Parameter& parameter : plan.parameters)
    if (names.count(parameter.name) > 0) needed.push_back(parameter.name);
  return needed;
}

KnownPart known_part(const Plan& plan, const std::vector<NamedValues>& given, bool copies,
                     bool leave_out_steps) {
  std::set<std::string> kept;
  for (const NamedValues& one : given) kept.insert(one.name);
  if (!leave_out_steps)
    for (std::string& name : needed_parameters(plan, copies)) kept.insert(std::move(name));
  std::map<std::string, std::string> unknown;
  KnownPart part{plan, {}, {}};
  std::erase_if(part.plan.parameters, [&](const Parameter& parameter) {
    if (kept.count(parameter.name) > 0) return false;
    unknown.emplace(parameter.name, parameter.description);
    return true;
  });
  if (unknown.empty()) return part;
  for (const PlanArray& array : plan.arrays)
    for (const std::string& name : array.elements.names())
      if (unknown.count(name) > 0) {
        part.notes.push_back(
            fmt::format("how large the array `{}` is, is not known: `{}` has no value", array.name, name));
        break;
      }
  Reduction reduction(plan, std::move(unknown), copies);
  part.plan.steps = reduction.steps(plan.steps);
  part.left_out = std::move(reduction.left_out);
  return part;
}

}  // namespace warptime
