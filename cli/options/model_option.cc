#include "cli/options/model_option.h"

#include <fmt/format.h>

#include <string>

#include "cli/options/options.h"

namespace warptime::cli {
namespace {

std::vector<std::string> model_names(bool with_all) {
  std::vector<std::string> names;
  for (const Model* model : all_models()) names.emplace_back(model->name());
  if (with_all) names.emplace_back("all");
  return names;
}

}  // namespace

Option model_option(bool with_all) {
  std::string names;
  for (const Model* model : all_models())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", model->name());
  if (!with_all)
    return {"model", "NAME", fmt::format("{} (default: {})", names, default_model().name()), Names::no_file,
            model_names(false)};
  return {"model", "NAME",
          fmt::format(
              "{}, or all: {}, with the times of the others beside it (default: {} with constants that were "
              "fitted to the kernel, and for programs without machine instructions; else {})",
              names, default_model().name(), default_model().name(), uncalibrated_model().name()),
          Names::no_file, model_names(true)};
}

Result<const Model*> read_model(const Arguments& arguments) {
  const auto name = read_choice(arguments, "model");
  if (!name) return name.diagnostics();
  return find_model(*name);
}

Result<ChosenModels> read_models(const Arguments& arguments, const Model& otherwise) {
  if (!arguments.has("model")) return ChosenModels{&otherwise, {}};
  const auto name = read_choice(arguments, "model");
  if (!name) return name.diagnostics();
  if (*name != "all") return ChosenModels{find_model(*name), {}};
  return ChosenModels{&default_model(), {all_models().begin() + 1, all_models().end()}};
}

std::vector<const Model*> ChosenModels::all() const {
  std::vector<const Model*> all = {model};
  all.insert(all.end(), beside.begin(), beside.end());
  return all;
}

}  // namespace warptime::cli
