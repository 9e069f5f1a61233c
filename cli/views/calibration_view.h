// The output of calibrate: a calibration file whose comments are the report, or the figures as JSON and CSV.
//
//   # matrix on rtx-2080-ti: 48 measurements, mean error 2.13%, maximum 7.9% (K = 4, N = 2097152)
//   # t_p 4.98 µs (4.97 to 5 are as good), t_m 1.42 cycles (1.38 to 1.5 are as good)
//   warptime: 1
//   plan: matrix
//   calibrations:
//     rtx-2080-ti: {t_p: 4.98, t_m: 1.42, source: "fitted to 48 measurements, …"}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/fit/fit.h"
#include "simulator/plan/plan.h"

namespace warptime::cli {

struct HeldOut {
  Errors errors;
  std::string worst;  // the parameters of the row with the largest error
};

struct GpuFit {
  std::string gpu;
  Fit fit;
  std::string files;  // that the measurements are from
  std::string worst;  // the parameters of the row with the largest error
  std::optional<HeldOut> held_out;
  std::vector<std::string> notes;
};

// The input of predict --calibration; its comments report the quality of the fit.
std::string calibration_yaml(const Plan& plan, const std::vector<GpuFit>& fits, bool with_report);
std::string calibration_json(const Plan& plan, const std::vector<GpuFit>& fits);
std::string calibration_csv(const Plan& plan, const std::vector<GpuFit>& fits);

}  // namespace warptime::cli
