// --model: which of the registered models.
#pragma once

#include <vector>

#include "cli/options/arguments.h"
#include "simulator/base/diagnostic.h"
#include "simulator/predict/models.h"

namespace warptime::cli {

// with_all: `all` may be given too.
Option model_option(bool with_all);

// The model, or the default one.
Result<const Model*> read_model(const Arguments& arguments);

// The same where `all` is the default model with all the others beside it, and `otherwise` that without the
// option.
struct ChosenModels {
  const Model* model = nullptr;
  std::vector<const Model*> beside;

  std::vector<const Model*> all() const;
};
Result<ChosenModels> read_models(const Arguments& arguments, const Model& otherwise);

}  // namespace warptime::cli
