#include "load/plan_input.h"

#include <fmt/format.h>

#include "load/bundled.h"

namespace warptime {

Result<PlanOrKernel> read_plan_or_kernel(const std::string& input) {
  if (is_plan_name(input)) {
    auto plan = bundled_plan(input);
    if (!plan) return plan.diagnostics();
    return PlanOrKernel{PlanInput{std::move(*plan), bundled_text}, {}};
  }
  auto read = read_input(input);
  if (!read) return read.diagnostics();
  if (read->kind != InputKind::plan) return PlanOrKernel{std::nullopt, std::move(*read)};
  auto plan = read_plan(read->text, input);
  if (!plan) return plan.diagnostics();
  return PlanOrKernel{PlanInput{std::move(*plan), read_text}, {}};
}

Result<PlanInput> read_plan_input(const std::string& input) {
  auto read = read_plan_or_kernel(input);
  if (!read) return read.diagnostics();
  if (read->plan) return std::move(*read->plan);
  return error_at(input, 0, 0, "is not a plan",
                  "a plan lists the launches of kernels; see `warptime plans NAME` for an example");
}

}  // namespace warptime
