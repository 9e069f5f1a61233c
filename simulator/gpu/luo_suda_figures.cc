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
  std::vector<std::string> fields = {"class_cycles", "further_class_cycles"};
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
    for (const bool further : {false, true}) {
      const std::string name = further ? "further_class_cycles" : "class_cycles";
      if (const Node* table = fields_.find(name)) read_table(*table, name, further, figures.class_cycles);
    }
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

  // further: the operations that Table 1 lacks, else those that it has.
  void read_table(const Node& table, const std::string& name, bool further, LuoSudaClasses& into) {
    const std::size_t first = further ? kTable1Operations : 0;
    const std::size_t end = further ? kLuoSudaOperations : kTable1Operations;
    const auto name_of = [](std::size_t i) { return to_string(static_cast<LuoSudaOperation>(i)); };
    std::vector<std::string> known = {"source"}, columns;
    for (std::size_t i = first; i < end; ++i) known.emplace_back(name_of(i));
    for (std::size_t i = 0; i < kLuoSudaOperands; ++i)
      columns.emplace_back(to_string(static_cast<LuoSudaOperands>(i)));
    Fields lines(reader_, table, known, fmt::format("`{}`", name));
    read_source(lines, name);
    for (std::size_t operation = first; operation < end; ++operation) {
      const Node* line = lines.find(name_of(operation));
      if (line == nullptr) continue;
      Fields cells(reader_, *line, columns, fmt::format("`{}`", name_of(operation)));
      for (std::size_t operands = 0; operands < kLuoSudaOperands; ++operands) {
        if (const Node* cycles = cells.require(columns[operands]))
          into.values[operation][operands] = in_range(*cycles, columns[operands], 0, kLargest);
      }
    }
  }

  Reader& reader_;
  Fields fields_;
  std::map<std::string, std::string>& sources_;
};

}  // namespace

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

double luo_suda_cycles(const LuoSudaFigures& figures, const InstructionClasses& counts) {
  double cycles = 0;
  for (const auto& [one, count] : counts.counts)
    cycles += static_cast<double>(count) * figures.class_cycles.at(one.operation, one.operands);
  return cycles;
}

}  // namespace warptime
