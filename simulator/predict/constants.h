// Which t_p, t_m and memory durations apply to a plan on a GPU: an option overrides a calibration file, which
// overrides the plan, which overrides the GPU's default. Only this file knows the order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/gpu/gpu.h"
#include "simulator/model/model.h"
#include "simulator/plan/calibration.h"

namespace warptime {

enum class ConstantSource : std::uint8_t { option, calibration_file, plan, gpu_default, not_used };
// "option", "calibration file", "plan", "gpu default", "not used" (by the model)
std::string_view to_string(ConstantSource source);

// What the user gives, on the command line and in a file.
struct GivenConstants {
  std::optional<double> t_p_us;      // --t-p
  std::optional<double> t_m_cycles;  // --t-m
  Calibrations calibration_file;     // --calibration
};

struct ChosenConstants {
  ModelConstants values;
  ConstantSource t_p_source = ConstantSource::gpu_default;
  ConstantSource t_m_source = ConstantSource::gpu_default;
  MemoryDurations durations;  // the GPU's, with what the plan and the file say
};

// Constants that the model does not have are 0 and "not used".
ChosenConstants choose_constants(const Model& model, const Gpu& gpu, const Calibrations& of_plan,
                                 const GivenConstants& given);

}  // namespace warptime
