#include "simulator/plan/calibration.h"

#include <fmt/format.h>

#include "simulator/program/schedule.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Entry;
using yaml::Fields;
using yaml::Node;
using yaml::Reader;

std::optional<double> read_time(Reader& reader, const Fields& fields, std::string_view key) {
  const Node* node = fields.find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = reader.number(*node, fmt::format("`{}`", key));
  if (value && *value < 0) reader.error(*node, fmt::format("`{}` is negative: {}", key, *value));
  return value;
}

std::map<std::string, double> read_durations(Reader& reader, const Node& node) {
  std::map<std::string, double> durations;
  if (node.kind != Node::Kind::mapping) {
    reader.error(node, "`memory_cycles` must be a mapping", "memory_cycles: {load.coalesced: 310}");
    return durations;
  }
  for (const Entry& entry : node.entries) {
    const std::string name = reader.text(entry.key, "the name of a duration");
    const auto value = reader.number(entry.value, fmt::format("`{}`", name));
    if (!find_duration_name(name)) {
      reader.error(
          entry.key, fmt::format("`{}` is not a memory duration", name),
          "write load. or store., followed by uniform, coalesced, strided, scattered or the number of one "
          "access");
    } else if (value && *value < 0) {
      reader.error(entry.value, fmt::format("`{}` is negative: {}", name, *value));
    } else if (value) {
      durations[name] = *value;
    }
  }
  return durations;
}

}  // namespace

Calibrations read_calibrations(Reader& reader, const Node& node) {
  Calibrations calibrations;
  if (node.kind != Node::Kind::mapping) {
    reader.error(node, "`calibrations` must be a mapping from GPU names",
                 "gtx-1070: {t_p: 5.8, t_m: 19, source: \"…\"}");
    return calibrations;
  }
  for (const Entry& entry : node.entries) {
    const std::string gpu = reader.text(entry.key, "a GPU's name");
    Fields fields(reader, entry.value, {"t_p", "t_m", "scale", "memory_cycles", "source"},
                  fmt::format("the calibration of `{}`", gpu));
    Calibration calibration;
    calibration.t_p_us = read_time(reader, fields, "t_p");
    calibration.t_m_cycles = read_time(reader, fields, "t_m");
    calibration.scale = read_time(reader, fields, "scale");
    if (const Node* cycles = fields.find("memory_cycles"))
      calibration.memory_cycles = read_durations(reader, *cycles);
    if (const Node* source = fields.find("source")) calibration.source = reader.text(*source, "`source`");
    if (entry.value.kind == Node::Kind::mapping && fields.find("t_p") == nullptr &&
        fields.find("t_m") == nullptr && fields.find("scale") == nullptr) {
      reader.error(entry.value, fmt::format("the calibration of `{}` has neither `t_p` nor `t_m`", gpu));
    }
    if (fields.find("scale") != nullptr &&
        (fields.find("t_m") != nullptr || fields.find("memory_cycles") != nullptr)) {
      reader.error(entry.value, fmt::format("the calibration of `{}` is of two models", gpu),
                   "`scale` is of the extended model, which has no `t_m` and no `memory_cycles`");
    }
    if (!calibrations.emplace(gpu, std::move(calibration)).second) {
      reader.error(entry.key, fmt::format("`{}` occurs twice", gpu));
    }
  }
  return calibrations;
}

Result<CalibrationFile> read_calibration_file(std::string_view text, const std::string& file) {
  const auto documents = yaml::parse(text, file);
  if (!documents) return documents.diagnostics();
  if (documents->size() != 1 || documents->front().kind == Node::Kind::null) {
    return error_at(file, 0, 0,
                    fmt::format("a calibration file must be one YAML document, not {}", documents->size()));
  }
  Reader reader(text, file);
  Fields fields(reader, documents->front(), {"warptime", "plan", "calibrations"}, "a calibration file");
  yaml::check_version(reader, fields, CalibrationFile::format_version);
  CalibrationFile result;
  if (const Node* plan = fields.find("plan")) result.plan = reader.text(*plan, "`plan`");
  if (const Node* node = fields.require("calibrations"))
    result.calibrations = read_calibrations(reader, *node);
  if (reader.failed()) return reader.take();
  return result;
}

}  // namespace warptime
