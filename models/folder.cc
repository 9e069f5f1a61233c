#include "models/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "load/kernel_loader.h"

namespace warptime::models {
namespace {

namespace fs = std::filesystem;

bool is_plan(const fs::path& file) {
  return file.string().ends_with(".plan.yaml");
}

struct Files {
  std::vector<fs::path> plans, kernels;
};

void sort_and_append(std::vector<fs::path> from, std::vector<fs::path>& to) {
  std::sort(from.begin(), from.end());
  to.insert(to.end(), from.begin(), from.end());
}

// Kernels of a folder without a plan count in the outermost folder alone: below, they are parts of something
// else.
void collect_files(const fs::path& folder, bool outermost, Files& into, Diagnostics& errors) {
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  if (failed) {
    errors.push_back(error_at(folder.string(), 0, 0, fmt::format("cannot be read: {}", failed.message())));
    return;
  }
  std::vector<fs::path> plans, kernels, folders;
  for (const auto end = fs::directory_iterator(); entries != end; entries.increment(failed)) {
    if (failed) break;
    const auto& path = entries->path();
    const std::string name = path.filename().string();
    if (name.starts_with('.')) continue;
    std::error_code ignored;
    if (entries->is_directory(ignored)) {
      if (name != "models" && !entries->is_symlink(ignored)) folders.push_back(path);
    } else if (is_plan(path)) {
      plans.push_back(path);
    } else if (path.extension() == ".cu") {
      kernels.push_back(path);
    }
  }
  if (outermost || !plans.empty()) sort_and_append(std::move(kernels), into.kernels);
  sort_and_append(std::move(plans), into.plans);
  std::sort(folders.begin(), folders.end());
  for (const auto& below : folders) collect_files(below, false, into, errors);
}

std::string normal(const fs::path& path) {
  return path.lexically_normal().string();
}

std::string models_beside(const std::string& source, const std::string& folder) {
  const auto relative = fs::path(source).lexically_relative(folder);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return normal((outside ? fs::path(folder) : fs::path(source).parent_path()) / "models");
}

class Collection {
 public:
  explicit Collection(KernelFolder& result) : result_(result) {}

  void add_kernel(const std::string& file, InputKind kind, bool launched) {
    auto [place, added] = sources_.try_emplace(
        file, KernelSource{file, models_beside(file, result_.folder), kind, launched, {}});
    if (!added) place->second.launched |= launched;
  }

  void add_plan(const fs::path& path) {
    const std::string file = normal(path);
    const auto text = read_text(file);
    if (!text) return complain(text.diagnostics());
    auto plan = read_plan(*text, file);
    if (!plan) return complain(plan.diagnostics());
    for (const auto& other : result_.plans)
      if (other.name == plan->name)
        complain(
            {error_at(file, 0, 0, fmt::format("its name, {}, is also the name of {}", plan->name, other.file),
                      "give each plan a name of its own")});
    for (const auto& launched : launched_files(*plan)) add_launched(file, launched);
    for_each_launch(plan->steps, [&](const PlanStep& step) { add_shape(*plan, *step.launch); });
    result_.plans.push_back(std::move(*plan));
  }

  void finish() {
    std::map<std::string, std::string> by_models;  // sources by the beginning of their models' files
    for (auto& [file, source] : sources_) {
      const auto models = (fs::path(source.models) / fs::path(file).filename()).string();
      const auto [other, alone] = by_models.try_emplace(models, file);
      if (alone)
        result_.sources.push_back(std::move(source));
      else
        complain(
            {error_at(file, 0, 0,
                      fmt::format("its models would have the same file names as those of {}", other->second),
                      "give one of the two another name")});
    }
  }

 private:
  void complain(const Diagnostics& diagnostics) {
    result_.errors.insert(result_.errors.end(), diagnostics.begin(), diagnostics.end());
  }

  void add_launched(const std::string& plan, const std::string& file) {
    if (const auto known = sources_.find(file); known != sources_.end()) {
      known->second.launched = true;
      return;
    }
    const auto input = read_kernel_file(file, read_text);
    if (!input) {
      Diagnostic why = input.diagnostics().front();
      why.hint = fmt::format("{} launches it", plan);
      return complain({why});
    }
    if (input->kind != InputKind::kernel_program) add_kernel(file, input->kind, true);
  }

  void add_shape(const Plan& plan, const PlanLaunch& launch) {
    const auto source = sources_.find(launched_file(plan, launch));
    if (source == sources_.end()) return;
    if (const auto block = analysed_block(plan, launch, {}); block.shape)
      source->second.shapes.push_back({launch.entry, *block.shape, plan.file});
  }

  KernelFolder& result_;
  std::map<std::string, KernelSource> sources_;
};

}  // namespace

Result<KernelFolder> read_kernel_folder(const std::string& folder) {
  std::error_code failed;
  const auto status = fs::status(folder, failed);
  if (!fs::exists(status)) return error_at(folder, 0, 0, "no such folder");
  if (!fs::is_directory(status)) return error_at(folder, 0, 0, "is a file, not a folder", "give its folder");
  KernelFolder result;
  result.folder = normal(fs::path(folder));
  if (result.folder.size() > 1 && result.folder.ends_with('/')) result.folder.pop_back();
  Files files;
  collect_files(result.folder, true, files, result.errors);
  if (files.plans.empty() && files.kernels.empty() && result.errors.empty())
    return error_at(folder, 0, 0, "holds neither plans (*.plan.yaml) nor kernels (*.cu)",
                    "three lines make a plan: `name: mtx`, `parameters: [N]`, and `launches: [{kernel: "
                    "mtx.cu, threads: N}]`");
  Collection collection(result);
  for (const auto& kernel : files.kernels) collection.add_kernel(normal(kernel), InputKind::cuda, false);
  for (const auto& plan : files.plans) collection.add_plan(plan);
  collection.finish();
  return result;
}

}  // namespace warptime::models
