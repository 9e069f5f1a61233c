// What `warptime models` found and did, as text, JSON and CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/changes.h"
#include "models/costs.h"

namespace warptime::cli {

inline constexpr char committed_models[] = "the committed models";

struct ModelReport {
  std::string kernel;
  std::string source;
  std::string model;   // its file
  std::string status;  // update: changed, new, same program, unchanged, skipped, edited, failed
                       // check: up to date, stale, missing, edited, failed
  std::vector<models::ProgramChange> changes;
  std::vector<models::Cost> costs;  // of the change
};

struct ModelsReport {
  std::string folder;
  std::string against;  // what the models are compared with: committed_models, or a git revision
  std::vector<ModelReport> models;
  std::vector<std::string> remarks;  // such as which sizes are defaults
};

// What changed in a kernel, and what it costs, in lines: as the text of models_view() has them.
std::string changes_text(const ModelReport& report, bool each_time = false);
// The costs alone.
std::string costs_text(const std::vector<models::Cost>& costs, bool each_time = false);

// format: "text", "json" or "csv". each_time: the text has a line for each plan on each GPU with each size,
// not a line for each plan with the range over these. JSON and CSV hold all times either way.
std::string models_view(const ModelsReport& report, std::string_view format, bool each_time);

}  // namespace warptime::cli
