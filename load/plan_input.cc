#include "load/plan_input.h"

#include <fmt/format.h>

#include "load/bundled.h"
#include "load/input.h"

namespace warptime {

Result<PlanInput> read_plan_input(const std::string& input) {
  if (is_plan_name(input)) {
    auto plan = bundled_plan(input);
    if (!plan) return plan.diagnostics();
    return PlanInput{std::move(*plan), bundled_text};
  }
  const auto file = read_input(input);
  if (!file) return file.diagnostics();
  if (file->kind != InputKind::plan) {
    return error_at(input, 0, 0, "is not a plan",
                    "a plan lists the launches of kernels; see `warptime plans NAME` for an example");
  }
  auto plan = read_plan(file->text, input);
  if (!plan) return plan.diagnostics();
  return PlanInput{std::move(*plan), read_text};
}

}  // namespace warptime
