#include "simulator/predict/models.h"

#include "simulator/model/extended/extended_model.h"
#include "simulator/model/luo_suda/luo_suda_model.h"
#include "simulator/model/puchala/puchala.h"

namespace warptime {
namespace {

std::vector<const Model*>& registered() {
  static const PuchalaModel puchala;
  static const LuoSudaModel luo_suda;
  static std::vector<const Model*> all = {&puchala, &luo_suda, &uncalibrated_model()};
  return all;
}

}  // namespace

const std::vector<const Model*>& all_models() {
  return registered();
}

const Model& uncalibrated_model() {
  static const ExtendedModel extended;
  return extended;
}

const Model* find_model(std::string_view name) {
  for (const Model* model : registered()) {
    if (model->name() == name) return model;
  }
  return nullptr;
}

void register_model(const Model& model) {
  registered().push_back(&model);
}

}  // namespace warptime
