// The models that can predict. A new model is a line in models.cc, or registers itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/model/model.h"

namespace warptime {

// In the order in which --model lists them; the first one is the default.
const std::vector<const Model*>& all_models();
inline const Model& default_model() {
  return *all_models().front();
}
// The model for kernels that nothing was fitted to. It takes all GPUs.
const Model& uncalibrated_model();
const Model* find_model(std::string_view name);  // null: unknown name

// For a model that lives elsewhere; `model` must outlive all predictions. Call it before any.
void register_model(const Model& model);

}  // namespace warptime
