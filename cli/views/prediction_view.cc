#include "cli/views/prediction_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

struct Part {
  const char* name;   // in JSON and CSV
  const char* title;  // in text
  double KernelTime::*microseconds;
};

// In the order of every view; they sum to the total.
constexpr Part parts[] = {
    {"preparation_us", "prepare", &KernelTime::preparation_us},
    {"calculation_us", "calc", &KernelTime::calculation_us},
    {"issue_us", "issue", &KernelTime::issue_us},
    {"waiting_us", "wait", &KernelTime::waiting_us},
    {"tail_us", "tail", &KernelTime::tail_us},
};

constexpr char default_t_m_footnote[] =
    "* t_m is only the GPU's default, not fitted to this kernel: give --t-m CYCLES or --calibration FILE\n";

constexpr char legend[] =
    "Blocks and threads per block are those of the first launch. Shares of the time: preparing launches "
    "(t_p), calculation,\n"
    "issuing loads and stores (t_m), waiting for loads, waiting for the last transactions.\n";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

class CsvView : public PredictionView {
 public:
  explicit CsvView(const Plan& plan) : plan_(plan) {}

  std::string begin() override {
    std::vector<std::string> fields = {"plan", "gpu"};
    for (const auto& parameter : plan_.parameters) fields.push_back(parameter.name);
    for (const char* name : {"blocks", "threads_per_block", "launches", "time_us", "t_p_us", "t_p_source",
                             "t_m_cycles", "t_m_source"})
      fields.emplace_back(name);
    for (const auto& part : parts) fields.emplace_back(part.name);
    fields.emplace_back("notes");
    return csv_line(fields);
  }

  std::string row(const PredictionRow& row) override {
    std::vector<std::string> fields = {row.plan, row.gpu};
    for (const auto& [name, value] : row.parameters) fields.push_back(fmt::format("{}", value));
    for (const std::int64_t number :
         {row.first_launch.blocks, row.first_launch.threads_per_block, row.launches})
      fields.push_back(fmt::format("{}", number));
    fields.push_back(exact(row.time.total_us));
    fields.push_back(exact(row.t_p_us));
    fields.emplace_back(to_string(row.t_p_source));
    fields.push_back(exact(row.t_m_cycles));
    fields.emplace_back(to_string(row.t_m_source));
    for (const auto& part : parts) fields.push_back(exact(row.time.*part.microseconds));
    fields.push_back(joined(row.notes));
    return csv_line(fields);
  }

  std::string end() override { return {}; }

 private:
  const Plan& plan_;
};

class JsonView : public PredictionView {
 public:
  std::string begin() override { return "["; }

  std::string row(const PredictionRow& row) override {
    nlohmann::ordered_json json;
    json["plan"] = row.plan;
    json["gpu"] = row.gpu;
    json["parameters"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : row.parameters) json["parameters"][name] = value;
    json["blocks"] = row.first_launch.blocks;
    json["threads_per_block"] = row.first_launch.threads_per_block;
    json["launches"] = row.launches;
    json["time_us"] = exact_json(row.time.total_us);
    json["t_p_us"] = exact_json(row.t_p_us);
    json["t_p_source"] = to_string(row.t_p_source);
    json["t_m_cycles"] = exact_json(row.t_m_cycles);
    json["t_m_source"] = to_string(row.t_m_source);
    for (const auto& part : parts) json[part.name] = exact_json(row.time.*part.microseconds);
    json["notes"] = row.notes;
    return std::exchange(separator_, ",\n ") + json_text(json);
  }

  std::string end() override { return "]\n"; }

 private:
  std::string separator_;
};

class TextView : public PredictionView {
 public:
  explicit TextView(const Plan& plan) : plan_(plan), table_(columns(plan)) {}

  std::string begin() override {
    return plan_.name + (plan_.description.empty() ? "" : ": " + first_line(plan_.description)) + "\n\n";
  }

  std::string row(const PredictionRow& row) override {
    std::vector<std::string> cells = {row.gpu};
    for (const auto& [name, value] : row.parameters) cells.push_back(fmt::format("{}", value));
    cells.push_back(fmt::format("{} x {}", row.first_launch.blocks, row.first_launch.threads_per_block));
    cells.push_back(fmt::format("{}", row.launches));
    cells.push_back(sensible_time(row.time.total_us));
    std::vector<double> microseconds;
    for (const auto& part : parts) microseconds.push_back(row.time.*part.microseconds);
    for (auto& share : percentages(microseconds, row.time.total_us)) cells.push_back(std::move(share));
    cells.push_back(marks(row));
    table_.add(std::move(cells));
    return table_.rows() < rows_at_once ? "" : table_.take();
  }

  std::string end() override {
    std::string text = table_.take() + "\n";
    if (default_t_m_) text += default_t_m_footnote;
    for (std::size_t i = 0; i < notes_.size(); ++i) text += fmt::format("[{}] {}\n", i + 1, notes_[i]);
    return text + legend;
  }

 private:
  static constexpr std::size_t rows_at_once = 4096;

  static std::vector<Column> columns(const Plan& plan) {
    std::vector<Column> columns = {{"gpu", Align::left}};
    for (const auto& parameter : plan.parameters) columns.push_back({parameter.name});
    columns.push_back({"blocks x threads"});
    columns.push_back({"launches"});
    columns.push_back({"time"});
    for (const auto& part : parts) columns.push_back({part.title});
    columns.push_back({"", Align::left});
    return columns;
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::string marks(const PredictionRow& row) {
    std::string text;
    if (row.t_m_source == ParameterSource::gpu_default) {
      default_t_m_ = true;
      text += "*";
    }
    for (const auto& note : row.notes) {
      auto found = std::find(notes_.begin(), notes_.end(), note);
      if (found == notes_.end()) found = notes_.insert(notes_.end(), note);
      text += fmt::format("[{}]", found - notes_.begin() + 1);
    }
    return text;
  }

  const Plan& plan_;
  Table table_;
  std::vector<std::string> notes_;
  bool default_t_m_ = false;
};

}  // namespace

std::unique_ptr<PredictionView> make_prediction_view(std::string_view format, const Plan& plan) {
  if (format == "csv") return std::make_unique<CsvView>(plan);
  if (format == "json") return std::make_unique<JsonView>();
  return std::make_unique<TextView>(plan);
}

}  // namespace warptime::cli
