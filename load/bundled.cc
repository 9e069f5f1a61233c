#include "load/bundled.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "load/input.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile bundled_files[];  // generated: see CMakeLists.txt
extern const std::size_t bundled_files_count;
}  // namespace warptime

namespace warptime {
namespace {

constexpr std::string_view kPlanExtension = ".plan.yaml";

std::vector<Plan> read_bundled_plans() {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < bundled_files_count; ++i) {
    const auto& file = bundled_files[i];
    if (!file.name.ends_with(kPlanExtension)) continue;
    if (auto plan = read_plan(file.text, std::string(file.name))) plans.push_back(std::move(*plan));
  }
  return plans;
}

}  // namespace

bool is_plan_name(const std::string& input) {
  std::error_code ignored;
  return input != "-" && !input.empty() && input.find_first_of("/.") == std::string::npos &&
         !is_named_text(input) && !std::filesystem::exists(input, ignored);
}

std::vector<std::string> bundled_plan_names() {
  std::vector<std::string> names;
  for (const auto& plan : read_bundled_plans()) names.push_back(plan.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<Plan> bundled_plan(const std::string& name) {
  for (std::size_t i = 0; i < bundled_files_count; ++i) {
    const auto& file = bundled_files[i];
    if (std::filesystem::path(file.name).filename() != name + std::string(kPlanExtension)) continue;
    if (auto plan = read_plan(file.text, std::string(file.name)); plan && plan->name == name) return plan;
  }
  // A file may have another name than its plan.
  for (auto& plan : read_bundled_plans())
    if (plan.name == name) return std::move(plan);
  const auto names = bundled_plan_names();
  const auto near = nearest(name, names);
  return error_at(name, 0, 0,
                  fmt::format("no such file or bundled plan; the bundled plans are {}", enumerate(names)),
                  near.empty() ? "" : fmt::format("did you mean {}?", near));
}

Result<std::string> bundled_text(const std::string& file) {
  const auto wanted = std::filesystem::path(file).lexically_normal().generic_string();
  for (std::size_t i = 0; i < bundled_files_count; ++i)
    if (bundled_files[i].name == wanted) return std::string(bundled_files[i].text);
  return error_at(file, 0, 0, "is not among the bundled files");
}

}  // namespace warptime
