// What `warptime models update` and `check` do, apart from their command lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/models_report.h"
#include "models/build.h"

namespace warptime::cli {

struct ModelsSettings {
  std::string folder;
  models::BuildSettings build;
  bool force = false;                    // update: also models that are up to date or were edited by hand
  std::vector<const Gpu*> gpus;          // whose times are reported
  std::vector<NamedValues> sizes;        // --param
  std::optional<double> max_regression;  // check: 0.05 for 5%
  std::string against;                   // check: a git revision; empty: the committed models
  std::string update_command;            // "warptime models update dwt_kernels"
};

struct ModelsOutcome {
  ModelsReport report;
  Diagnostics said;    // warnings and notes
  Diagnostics errors;  // reasons for the command to fail
};

// Writes every model that differs from what its kernel gives now. A model that cannot be made, or was edited
// by hand, stays as it is and is an error. Errors: read_kernel_folder's.
Result<ModelsOutcome> update_models(const ModelsSettings& settings);

// Writes nothing. A model that is missing or stale is an error, and so is a plan whose predicted time grew by
// more than max_regression. Errors: read_kernel_folder's, GitRevision::open's.
Result<ModelsOutcome> check_models(const ModelsSettings& settings);

}  // namespace warptime::cli
