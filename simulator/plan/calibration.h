// Calibrations: t_p and t_m for a plan on a GPU, with what they were fitted to and how well. A file of them:
//
//   warptime: 1          # optional: the version of the format
//   plan: lattice        # optional: which plan they were fitted with
//   calibrations:
//     gtx-1070: {t_p: 5.8, t_m: 19, source: "fitted to 60 measurements, mean error 4.1 %"}
//               # microseconds, cycles; optional: memory_cycles: {load.coalesced: 310, …}
//     h200: {t_p: 0.9, scale: 1.31}  # of the extended model
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime {

struct Calibration {
  std::optional<double> t_p_us;
  std::optional<double> t_m_cycles;
  std::string source;  // what they were fitted to, and how well
  // Of the extended model, which has it in place of t_m: its time without launch overhead is multiplied by
  // it.
  std::optional<double> scale = {};
  // Durations that replace the GPU's, by their names (find_duration).
  std::map<std::string, double> memory_cycles = {};
  friend bool operator==(const Calibration&, const Calibration&) = default;
};
using Calibrations = std::map<std::string, Calibration>;  // by GPU name

struct CalibrationFile {
  static constexpr int format_version = 1;
  std::string plan;  // may be empty
  Calibrations calibrations;
};

// Errors, with line and column: not YAML, unknown keys, no `calibrations`, neither t_p nor t_m nor scale,
// both t_m (or memory_cycles) and scale, a negative value.
Result<CalibrationFile> read_calibration_file(std::string_view text, const std::string& file);

namespace yaml {
struct Node;
class Reader;
}  // namespace yaml
// The value of a `calibrations` key, which plans have too.
Calibrations read_calibrations(yaml::Reader& reader, const yaml::Node& node);

}  // namespace warptime
