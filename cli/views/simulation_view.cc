#include "cli/views/simulation_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

struct CyclesPart {
  const char* name;   // in JSON and CSV
  const char* title;  // in text
  double CorePackageTime::*cycles;
};

// In the order of every view; they sum to the total.
constexpr CyclesPart cycles_parts[] = {
    {"calculation", "calculation", &CorePackageTime::calculation},
    {"issue", "issuing loads and stores (t_m)", &CorePackageTime::issue},
    {"waiting", "waiting for loads", &CorePackageTime::waiting},
    {"tail", "waiting for the last transaction", &CorePackageTime::tail},
};

std::vector<double> cycles_of(const CorePackageTime& time) {
  std::vector<double> cycles;
  for (const auto& part : cycles_parts) cycles.push_back(time.*part.cycles);
  return cycles;
}

// The parameters of all rows, in order of appearance.
std::vector<std::string> parameter_columns(const std::vector<SimulationRow>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    for (const auto& [name, value] : row.parameters)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string value_of(const SimulationRow& row, const std::string& parameter) {
  for (const auto& [name, value] : row.parameters)
    if (name == parameter) return fmt::format("{}", value);
  return {};
}

std::string block(const SimulationRow& row) {
  std::string text =
      fmt::format("{} cycles: {}, {} {}, t_m = {} cycles", sensible(row.time.total), row.kernel, row.warps,
                  row.warps == 1 ? "warp" : "warps", sensible(row.t_m_cycles));
  text += with_values(row.parameters);
  Table table({{"  where they went", Align::left}, {"cycles"}, {"share"}});
  const auto shares = percentages(cycles_of(row.time), row.time.total);
  for (std::size_t i = 0; i < std::size(cycles_parts); ++i)
    table.add(
        {fmt::format("  {}", cycles_parts[i].title), sensible(row.time.*cycles_parts[i].cycles), shares[i]});
  return text + "\n\n" + table.take();
}

std::string table_of(const std::vector<SimulationRow>& rows) {
  const auto names = parameter_columns(rows);
  std::vector<Column> columns = {{"kernel", Align::left}};
  for (const auto& name : names) columns.push_back({name});
  for (const char* title : {"warps", "cycles", "calculation", "issue", "waiting", "tail"})
    columns.push_back({title});
  Table table(columns);
  for (const auto& row : rows) {
    std::vector<std::string> cells = {row.kernel};
    for (const auto& name : names) cells.push_back(value_of(row, name));
    cells.push_back(fmt::format("{}", row.warps));
    cells.push_back(sensible(row.time.total));
    for (auto& share : percentages(cycles_of(row.time), row.time.total)) cells.push_back(std::move(share));
    table.add(std::move(cells));
  }
  return table.take() + fmt::format("t_m = {} cycles\n", sensible(rows.front().t_m_cycles));
}

// One result for each kernel is read as blocks, a sweep as a table.
bool is_sweep(const std::vector<SimulationRow>& rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].kernel == rows[i - 1].kernel) return true;
  return false;
}

nlohmann::ordered_json to_json(const SimulationRow& row) {
  nlohmann::ordered_json json;
  json["kernel"] = row.kernel;
  json["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row.parameters) json["parameters"][name] = value;
  json["warps"] = row.warps;
  json["t_m_cycles"] = exact_json(row.t_m_cycles);
  json["periods"] = row.periods;
  json["cycles"] = exact_json(row.time.total);
  for (const auto& part : cycles_parts) json["breakdown"][part.name] = exact_json(row.time.*part.cycles);
  return json;
}

}  // namespace

std::string simulation_text(const std::vector<SimulationRow>& rows) {
  if (is_sweep(rows)) return table_of(rows);
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += '\n';
    text += block(row);
  }
  return text;
}

std::string simulation_json(const std::vector<SimulationRow>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& row : rows) json.push_back(to_json(row));
  return json_text(rows.size() == 1 ? json.front() : json, 2) + "\n";
}

std::string simulation_csv(const std::vector<SimulationRow>& rows) {
  const auto names = parameter_columns(rows);
  std::vector<std::string> fields = {"kernel"};
  fields.insert(fields.end(), names.begin(), names.end());
  for (const char* title : {"warps", "t_m_cycles", "periods", "cycles"}) fields.emplace_back(title);
  for (const auto& part : cycles_parts) fields.push_back(fmt::format("{}_cycles", part.name));
  std::string text = csv_line(fields);
  for (const auto& row : rows) {
    fields = {row.kernel};
    for (const auto& name : names) fields.push_back(value_of(row, name));
    fields.push_back(fmt::format("{}", row.warps));
    fields.push_back(exact(row.t_m_cycles));
    fields.push_back(fmt::format("{}", row.periods));
    fields.push_back(exact(row.time.total));
    for (const auto& part : cycles_parts) fields.push_back(exact(row.time.*part.cycles));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace warptime::cli
