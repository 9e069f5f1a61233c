#include "load/host_plan.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "load/kernel_file.h"

namespace warptime {
namespace {

// As many dimensions as are not 1.
Dim3Expressions sizes_of(const Dimensions& dimensions) {
  Dim3Expressions sizes(dimensions.begin(), dimensions.end());
  while (sizes.size() > 1 && sizes.back() == Expression(1)) sizes.pop_back();
  return sizes;
}

// A number that only data are: read_plan() draws the same line.
bool is_fraction(const Expression& value) {
  return value.op() == Expression::Operator::decimal &&
         value.decimal_value() != std::floor(value.decimal_value());
}

ElementType element_type(const std::string& name) {
  for (const auto type : {ElementType::f32, ElementType::f64, ElementType::i8, ElementType::i16,
                          ElementType::i32, ElementType::i64})
    if (to_string(type) == name) return type;
  return ElementType::f32;
}

class PlanMaker {
 public:
  explicit PlanMaker(const std::string& folder) : folder_(folder) {}

  // Nothing where no launch is inside.
  std::optional<PlanStep> step(const HostStep& from) const {
    PlanStep to;
    to.repeat = from.repeat;
    to.counter = from.counter;
    to.origin = origin(from);
    if (from.launch) {
      to.launch = launch(*from.launch);
      return to;
    }
    for (const HostStep& inner : from.steps)
      if (auto made = step(inner)) to.steps.push_back(std::move(*made));
    if (to.steps.empty()) return std::nullopt;
    return to;
  }

  std::optional<PlanTransfer> transfer(const HostStep& from) const {
    PlanTransfer to;
    to.repeat = from.repeat;
    to.counter = from.counter;
    to.origin = origin(from);
    if (from.transfer) {
      to.direction = static_cast<PlanTransferDirection>(from.transfer->direction);
      to.bytes = from.transfer->bytes;
      return to;
    }
    for (const HostStep& inner : from.steps)
      if (auto made = transfer(inner)) to.transfers.push_back(std::move(*made));
    if (to.transfers.empty()) return std::nullopt;
    return to;
  }

 private:
  static std::string origin(const HostStep& step) { return fmt::format("{}:{}", step.file, step.line); }

  PlanLaunch launch(const HostLaunch& from) const {
    PlanLaunch to;
    to.kernel = path_in_plan(from.kernel_file, folder_);
    to.entry = from.entry;
    for (const auto& argument : from.arguments)
      (is_fraction(argument.second) ? to.data : to.arguments).push_back(argument);
    to.data.insert(to.data.end(), from.arrays.begin(), from.arrays.end());
    to.grid = sizes_of(from.grid);
    to.block = sizes_of(from.block);
    if (!(from.shared_bytes == Expression(0))) to.shared = from.shared_bytes;
    return to;
  }

  const std::string& folder_;
};

// A group of one, whose own steps are of the other kind, is that one.
void unwrap(std::vector<PlanStep>& steps) {
  for (PlanStep& step : steps) {
    unwrap(step.steps);
    if (step.launch || step.steps.size() != 1) continue;
    PlanStep& inner = step.steps.front();
    const bool inner_once = inner.repeat == Expression(1) && inner.counter.empty();
    if (!inner_once || !inner.launch) continue;
    inner.repeat = step.repeat;
    inner.counter = step.counter;
    PlanStep only = std::move(inner);
    step = std::move(only);
  }
}

void unwrap(std::vector<PlanTransfer>& transfers) {
  for (PlanTransfer& transfer : transfers) {
    unwrap(transfer.transfers);
    if (transfer.transfers.size() != 1) continue;
    PlanTransfer& inner = transfer.transfers.front();
    if (!(inner.repeat == Expression(1)) || !inner.counter.empty() || !inner.transfers.empty()) continue;
    inner.repeat = transfer.repeat;
    inner.counter = transfer.counter;
    PlanTransfer only = std::move(inner);
    transfer = std::move(only);
  }
}

}  // namespace

std::vector<std::string> comments_of(const FoundPlan& found) {
  std::vector<std::string> comments;
  for (const Diagnostic& missing : found.unread)
    comments.push_back(fmt::format("{}:{}: {}", missing.file, missing.line, missing.message));
  return comments;
}

Result<FoundPlan> find_plan(const std::vector<HostSource>& sources, const CompileOptions& options,
                            const std::string& folder) {
  auto program = find_host_launches(sources, options);
  if (!program) return program.diagnostics();
  FoundPlan found;
  found.notes = std::move(program->notes);
  found.unread = std::move(program->unread);
  Plan& plan = found.plan;
  const PlanMaker maker(folder);
  for (const HostStep& step : program->steps) {
    if (auto made = maker.step(step)) plan.steps.push_back(std::move(*made));
    if (auto made = maker.transfer(step)) plan.transfers.push_back(std::move(*made));
  }
  if (plan.steps.empty()) {
    Diagnostics none = std::move(found.unread);
    const std::string hint =
        none.empty() ? "a launch is `kernel<<<grid, block>>>(…)` or cudaLaunchKernel(…), in host code that "
                       "main() calls, or that "
                       "nobody calls"
                     : "--grid and --block describe one launch; a plan describes several, see docs/plan.md";
    none.push_back(error_at(sources.front().file, 0, 0, "no launch found in the host code", hint));
    return none;
  }
  unwrap(plan.steps);
  unwrap(plan.transfers);
  plan.name = std::filesystem::path(sources.front().file).stem().string();
  for (const HostParameter& parameter : program->parameters) {
    plan.parameters.push_back({parameter.name, parameter.description});
    // A negative one is what a function gives where it fails.
    if (parameter.typical && *parameter.typical >= 0)
      plan.typical.emplace_back(parameter.name, *parameter.typical);
  }
  for (const HostArray& array : program->arrays) {
    PlanArray made;
    made.name = array.name;
    made.elements = array.elements;
    made.type = element_type(array.type);
    plan.arrays.push_back(std::move(made));
  }
  return found;
}

}  // namespace warptime
