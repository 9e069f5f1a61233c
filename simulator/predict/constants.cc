#include "simulator/predict/constants.h"

#include <array>

namespace warptime {
namespace {

struct Choice {
  std::optional<double> option, of_file, of_plan;
  double of_gpu = 0;

  double value() const { return option ? *option : of_file ? *of_file : of_plan ? *of_plan : of_gpu; }
  ConstantSource source() const {
    return option    ? ConstantSource::option
           : of_file ? ConstantSource::calibration_file
           : of_plan ? ConstantSource::plan
                     : ConstantSource::gpu_default;
  }
};

// What was fitted to this model: an empty one where there is none.
Calibration calibration_of(const Model& model, const Gpu& gpu, const Calibrations& from) {
  const auto found = from.find(gpu.name);
  if (found == from.end()) return {};
  return found->second.scale.has_value() == model.has_scale() ? found->second : Calibration{};
}

// t_p takes the place of the GPU's own figures, so it counts only where somebody gave it.
ChosenConstants choose_scaled(const Gpu& gpu, const Calibration& of_plan, const GivenConstants& given,
                              const Calibration& of_file) {
  ChosenConstants chosen;
  chosen.durations = gpu.durations;
  chosen.t_p_source = chosen.t_m_source = ConstantSource::not_used;
  const Calibration& from = of_file.scale ? of_file : of_plan;
  if (!from.scale && !given.t_p_us) return chosen;
  const Choice t_p{given.t_p_us, of_file.t_p_us, of_plan.t_p_us, 0};
  chosen.values = {t_p.value(), 0, from.scale.value_or(1)};
  chosen.t_p_source = t_p.source();
  return chosen;
}

}  // namespace

std::string_view to_string(ConstantSource source) {
  static constexpr std::array<std::string_view, 5> kNames = {"option", "calibration file", "plan",
                                                             "gpu default", "not used"};
  return kNames[static_cast<std::size_t>(source)];
}

ChosenConstants choose_constants(const Model& model, const Gpu& gpu, const Calibrations& of_plan,
                                 const GivenConstants& given) {
  const Calibration plan = calibration_of(model, gpu, of_plan);
  const Calibration file = calibration_of(model, gpu, given.calibration_file);
  if (model.has_scale()) return choose_scaled(gpu, plan, given, file);
  ChosenConstants chosen;
  chosen.durations = gpu.durations;
  if (!model.has_constants()) {
    chosen.t_p_source = chosen.t_m_source = ConstantSource::not_used;
    return chosen;
  }
  for (const Calibration* from : {&plan, &file}) {
    for (const auto& [name, cycles] : from->memory_cycles) {
      if (const auto known = find_duration_name(name)) duration(chosen.durations, *known) = cycles;
    }
  }
  const Choice t_p{given.t_p_us, file.t_p_us, plan.t_p_us, gpu.t_p_us};
  const Choice t_m{given.t_m_cycles, file.t_m_cycles, plan.t_m_cycles, gpu.t_m_cycles};
  chosen.values = {t_p.value(), t_m.value(), {}};
  chosen.t_p_source = t_p.source();
  chosen.t_m_source = t_m.source();
  return chosen;
}

}  // namespace warptime
