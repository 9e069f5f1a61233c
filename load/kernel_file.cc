#include "load/kernel_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/pipeline.h"

namespace warptime {

std::string path_in_plan(const std::string& path, const std::string& folder) {
  if (folder.empty() || std::filesystem::path(path).is_absolute()) return path;
  std::error_code failed;
  const auto relative = std::filesystem::proximate(path, folder, failed);
  return failed ? path : relative.string();
}

std::string path_from_plan(const std::string& path, const Plan& plan) {
  if (plan.file.empty()) return path;
  // An absolute path stays.
  return (std::filesystem::path(plan.file).parent_path() / path).lexically_normal().string();
}

std::string launched_file(const Plan& plan, const PlanLaunch& launch) {
  return path_from_plan(launch.kernel, plan);
}

std::set<std::string> launched_files(const Plan& plan) {
  std::set<std::string> files;
  for_each_launch(plan.steps, [&](const PlanStep& step) { files.insert(launched_file(plan, *step.launch)); });
  return files;
}

Result<Input> read_kernel_file(const std::string& file, const FileReader& read) {
  auto text = read(file);
  if (!text) return text.diagnostics();
  const InputKind kind = kind_of(file, *text);
  if (kind == InputKind::plan) return error_at(file, 0, 0, "is a plan, but a kernel is needed");
  return Input{file, std::move(*text), kind};
}

Result<Source> source_of(const Input& input, const CompileOptions& options) {
  if (input.kind == InputKind::cuda) return compile_cuda(input.file, input.text, options);
  if (input.kind == InputKind::ptx) return ptx_source(input.file, input.text);
  return error_at(input.file, 0, 0,
                  fmt::format("is a {}, not code", input.kind == InputKind::plan ? "plan" : "kernel program"),
                  "a .cu or a .ptx is needed");
}

Result<std::size_t> select_kernel(const std::vector<KernelName>& kernels, const std::string& wanted,
                                  const std::string& file, ChosenBy by) {
  if (by == ChosenBy::option) return matching_kernel(kernels, wanted, file, "choose one with --kernel NAME");
  const bool unique = kernels.empty() || distinct_names(kernels).front() == kernels.front().name;
  const std::string first = kernels.empty() ? "" : unique ? kernels.front().name : kernels.front().symbol;
  return matching_kernel(kernels, wanted, file, fmt::format("choose one in the plan: `entry: {}`", first));
}

}  // namespace warptime
