#include "simulator/gpu/luo_suda_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Fields;
using yaml::Node;
using yaml::Reader;

constexpr std::array<std::string_view, kLuoSudaOperations> kOperations = {
    "add", "sub", "mul", "div", "neg", "min", "max", "and", "or", "xor", "not"};
constexpr std::array<std::string_view, kLuoSudaOperands> kOperands = {"int_const", "int_reg", "float_const",
                                                                      "float_reg"};
constexpr double kLargest = 1e9;  // beyond it is a slip of the pen

constexpr std::array<LuoSudaFigure, 8> kFigures = {{
    {"memory_latency_cycles", "cycles", 0, kLargest, &LuoSudaFigures::memory_latency_cycles},
    {"cpd_a", "", 0, kLargest, &LuoSudaFigures::cpd_a},
    {"cpd_b", "warps", 0, kLargest, &LuoSudaFigures::cpd_b},
    {"cpd_c", "", 0, 1, &LuoSudaFigures::cpd_c},
    {"cpd_d", "", 0, kLargest, &LuoSudaFigures::cpd_d},
    {"request_threads", "", 1, 32, &LuoSudaFigures::request_threads},
    {"transaction_bytes", "bytes", 1, kLargest, &LuoSudaFigures::transaction_bytes},
    {"instruction_cycles", "cycles", 0, kLargest, &LuoSudaFigures::instruction_cycles},
}};

std::vector<std::string> known_luo_suda_fields() {
  std::vector<std::string> fields = {"class_cycles"};
  for (const LuoSudaFigure& figure : kFigures) fields.emplace_back(figure.name);
  return fields;
}

class FiguresReader {
 public:
  FiguresReader(Reader& reader, const Node& section, std::map<std::string, std::string>& sources)
      : reader_(reader), fields_(reader, section, known_luo_suda_fields(), "`luo_suda`"), sources_(sources) {}

  std::optional<LuoSudaFigures> read() {
    LuoSudaFigures figures;
    for (const LuoSudaFigure& each : kFigures)
      figures.*each.member = figure(std::string(each.name), each.least, each.most);
    for (auto& line : figures.class_cycles.values) line.fill(figures.instruction_cycles);
    if (const Node* table = fields_.find("class_cycles")) read_table(*table, figures.class_cycles);
    if (reader_.failed()) return std::nullopt;
    return figures;
  }

 private:
  void read_source(Fields& parts, const std::string& field) {
    const Node* source = parts.require("source");
    if (source == nullptr) return;
    const std::string text = reader_.text(*source, "`source`");
    if (text.empty()) reader_.error(*source, fmt::format("the source of `{}` is empty", field));
    sources_["luo_suda." + field] = text;
  }

  double in_range(const Node& node, std::string_view name, double least, double most) {
    const auto value = reader_.number(node, fmt::format("`{}`", name));
    if (!value) return least;
    const std::string wrong = out_of_range(LuoSudaFigure{name, "", least, most, nullptr}, *value);
    if (wrong.empty()) return *value;
    reader_.error(node, wrong);
    return least;
  }

  // The value of `field: {value: …, source: …}`.
  double figure(const std::string& field, double least, double most) {
    const Node* node = fields_.require(field);
    if (node == nullptr) return least;
    if (node->kind == Node::Kind::scalar) {
      reader_.error(
          *node, fmt::format("`{}` has no source", field),
          fmt::format("{}: {{value: {}, source: \"where the figure comes from\"}}", field, node->text));
      return least;
    }
    Fields parts(reader_, *node, {"value", "source"}, fmt::format("`{}`", field));
    read_source(parts, field);
    const Node* value = parts.require("value");
    return value == nullptr ? least : in_range(*value, field, least, most);
  }

  void read_table(const Node& table, LuoSudaClasses& into) {
    std::vector<std::string> known = {"source"};
    known.insert(known.end(), kOperations.begin(), kOperations.end());
    Fields lines(reader_, table, known, "`class_cycles`");
    read_source(lines, "class_cycles");
    for (std::size_t operation = 0; operation < kLuoSudaOperations; ++operation) {
      const Node* line = lines.find(kOperations[operation]);
      if (line == nullptr) continue;
      Fields columns(reader_, *line, {kOperands.begin(), kOperands.end()},
                     fmt::format("`{}`", kOperations[operation]));
      for (std::size_t operands = 0; operands < kLuoSudaOperands; ++operands) {
        if (const Node* cycles = columns.require(kOperands[operands]))
          into.values[operation][operands] = in_range(*cycles, kOperands[operands], 0, kLargest);
      }
    }
  }

  Reader& reader_;
  Fields fields_;
  std::map<std::string, std::string>& sources_;
};

}  // namespace

std::string_view to_string(LuoSudaOperation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::string_view to_string(LuoSudaOperands operands) {
  return kOperands[static_cast<std::size_t>(operands)];
}

std::span<const LuoSudaFigure> luo_suda_figures() {
  return kFigures;
}

std::string out_of_range(const LuoSudaFigure& figure, double value) {
  if (!(value >= figure.least && value <= figure.most))
    return fmt::format("`{}` is {}: it must be {} to {}", figure.name, value, figure.least, figure.most);
  if (figure.name == "request_threads" && (value != std::floor(value) || 32 % static_cast<int>(value) != 0))
    return fmt::format("`request_threads` is {}: it must divide the 32 threads of a warp", value);
  return {};
}

std::optional<LuoSudaFigures> read_luo_suda_figures(Reader& reader, const Node& section,
                                                    std::map<std::string, std::string>& sources) {
  return FiguresReader(reader, section, sources).read();
}

double luo_suda_cycles(const LuoSudaFigures& figures, const LuoSudaClasses& counts) {
  double cycles = 0;
  for (std::size_t operation = 0; operation < kLuoSudaOperations; ++operation) {
    for (std::size_t operands = 0; operands < kLuoSudaOperands; ++operands)
      cycles += counts.values[operation][operands] * figures.class_cycles.values[operation][operands];
  }
  return cycles;
}

}  // namespace warptime
