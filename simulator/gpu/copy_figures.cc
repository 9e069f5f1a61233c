#include "simulator/gpu/copy_figures.h"

#include <fmt/format.h>

#include <vector>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

constexpr double kFastestCopies = 1e6, kLongestLatency = 1e6;  // beyond them is a slip of the pen

constexpr std::array<CopyFigure, 4> kCopyFigures = {{
    {"to_device_gb_s", "GB/s", 0, kFastestCopies, false, true, &CopyFigures::to_device_gb_s},
    {"to_host_gb_s", "GB/s", 0, kFastestCopies, false, true, &CopyFigures::to_host_gb_s},
    {"latency_us", "µs", 0, kLongestLatency, true, true, &CopyFigures::latency_us},
    {"both_ways", "", 0, 1, false, false, &CopyFigures::both_ways},
}};

}  // namespace

std::span<const CopyFigure> copy_figures() {
  return kCopyFigures;
}

std::string out_of_range(const CopyFigure& figure, double value) {
  const bool enough = figure.may_be_least ? value >= figure.least : value > figure.least;
  if (enough && value <= figure.most) return {};
  return fmt::format("`{}` is {}: it must be {} {} and at most {}", figure.name, value,
                     figure.may_be_least ? "at least" : "greater than", figure.least, figure.most);
}

std::optional<CopyFigures> read_copy_figures(yaml::Reader& reader, const yaml::Node& section,
                                             std::map<std::string, std::string>& sources) {
  std::vector<std::string> known = {"source"};
  for (const CopyFigure& figure : kCopyFigures) known.emplace_back(figure.name);
  yaml::Fields fields(reader, section, known, "`copies`");
  CopyFigures figures;
  for (const CopyFigure& figure : kCopyFigures) {
    const std::string name(figure.name);
    const yaml::Node* node = figure.required ? fields.require(name) : fields.find(name);
    if (node == nullptr) continue;
    const auto value = reader.number(*node, fmt::format("`{}`", name));
    if (!value) continue;
    if (const std::string wrong = out_of_range(figure, *value); !wrong.empty()) reader.error(*node, wrong);
    figures.*figure.member = *value;
  }
  if (const yaml::Node* source = fields.require("source")) {
    sources["copies"] = reader.text(*source, "`source`");
    if (sources["copies"].empty()) reader.error(*source, "the source of `copies` is empty");
  }
  if (reader.failed()) return std::nullopt;
  return figures;
}

}  // namespace warptime
