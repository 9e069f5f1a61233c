#include "cli/views/prediction_view.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "cli/views/sparkline.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

// A model's parts that sum to the time, and those that show it from another side: CSV and JSON have these too.
bool sums(const TimePart& part) {
  return part.kind != TimePart::Kind::further;
}

constexpr char default_t_m_footnote[] =
    "* t_m is only the GPU's default, not fitted to this kernel: give --t-m CYCLES or --calibration FILE\n";

std::string legend(const Model& model) {
  std::string meanings;
  for (const TimePart& part : model.parts()) {
    if (sums(part))
      meanings += fmt::format("{}{} = {}", meanings.empty() ? "" : ", ", part.title, part.meaning);
  }
  return wrapped("Blocks and threads per block are those of the first launch. Shares of the time: " +
                     meanings + ".",
                 110, 0) +
         "\n";
}

// "7.9–13 µs": where eight of ten measured times are expected. What is not in kernel_us counts as it is.
std::string interval_text(const PredictionRow& row) {
  const auto of = [&](std::string_view key) { return row.time.us[*find_part(*row.model, key)]; };
  const double beside_us = row.time.total_us - of("kernel_us");
  const std::string low = short_time(beside_us + of("low_us")), high = short_time(beside_us + of("high_us"));
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ')); };
  return (unit(low) == unit(high) ? low.substr(0, low.find(' ')) : low) + "–" + high;
}

// "256 x 128"; in several dimensions "(16, 512) x (32, 8)"
std::string shape_text(const GridAndBlock& shape) {
  const auto& [grid, block] = shape;
  if (shape == one_dimensional({grid.x, block.x})) return fmt::format("{} x {}", grid.x, block.x);
  if (grid.z == 1 && block.z == 1)
    return fmt::format("({}, {}) x ({}, {})", grid.x, grid.y, block.x, block.y);
  return fmt::format("({}, {}, {}) x ({}, {}, {})", grid.x, grid.y, grid.z, block.x, block.y, block.z);
}

// Lines of text, added to by the thread that computed the rows.
class CsvBatch : public RowBatch {
 public:
  explicit CsvBatch(const PredictionColumns& columns)
      : columns_(columns), parts_(columns.model->parts().size()) {}

  void add(const PredictionRow& row) override {
    if (row.gpu != gpu_ || row.notes != notes_ || row.plan != plan_) prepare(row);
    lines += begin_;
    for (const auto& [name, value] : row.parameters) add(value, ',');
    if (!is_like_last(row)) {
      rest_.clear();
      std::swap(lines, rest_);
      add_rest(row);
      std::swap(lines, rest_);
    }
    lines += rest_;
  }

  std::string lines;

 private:
  // What rows of one GPU have in common is made once.
  void prepare(const PredictionRow& row) {
    plan_ = row.plan;
    gpu_ = row.gpu;
    notes_ = row.notes;
    begin_ = csv_field(row.plan) + "," + csv_field(row.gpu) + ",";
    constants_ = fmt::format("{},{},{},{},", exact(row.t_p_us), to_string(row.t_p_source),
                             exact(row.t_m_cycles), to_string(row.t_m_source));
    end_ = csv_field(notes_text(row)) + ",";
    last_.reset();
  }

  // Whether the row has the columns after its parameters from the row before: a sweep in small steps has many such
  // rows.
  bool is_like_last(const PredictionRow& row) {
    Last next{
        row.first_shape(), row.launches, row.time, row.rank, row.algorithm_3_us.value_or(row.time.total_us),
        row.beside_us};
    if (row.with_copies) next.with_copies = {row.with_copies->copies_us, row.with_copies->total_us};
    if (last_ == next) return true;
    last_ = std::move(next);
    return false;
  }

  void add_rest(const PredictionRow& row) {
    add(row.first_launch.blocks, ',');
    add(row.first_launch.threads_per_block, ',');
    add(row.launches, ',');
    add(row.time.total_us);
    lines += constants_;
    for (std::size_t i = 0; i < parts_; ++i) add(row.time.us[i]);
    if (columns_.best_launch) {
      add(row.algorithm_3_us.value_or(row.time.total_us));
      add(gain_percent(row));
    }
    if (!columns_.beside.empty()) {
      for (const double other : row.beside_us) add(other);
      lines += disagree(row, columns_) ? "true," : "false,";
    }
    if (columns_.ranks && row.rank > 0)
      add(static_cast<std::int64_t>(row.rank), ',');
    else if (columns_.ranks)
      lines += ',';
    lines += end_;
    const GridAndBlock shape = row.first_shape();
    add(shape.grid, ',');
    add(shape.block, ',');
    lines += row.model->name();
    if (columns_.transfers) {
      const CopyTimes times = row.with_copies.value_or(CopyTimes());
      lines += fmt::format(",{},{}", exact(times.copies_us), exact(times.total_us));
    }
    lines += '\n';
  }

  // And a comma.
  void add(double number) {
    append_exact(number, lines);
    lines += ',';
  }

  void add(std::int64_t number, char end) {
    const fmt::format_int text(number);
    lines.append(text.data(), text.size());
    lines += end;
  }

  // "128x512x1", and what follows it.
  void add(const Dim3& size, char end) {
    add(size.x, 'x');
    add(size.y, 'x');
    add(size.z, end);
  }

  struct Last {
    GridAndBlock shape;
    std::int64_t launches = 0;
    TimeBreakdown time;
    std::uint64_t rank = 0;
    double algorithm_3_us = 0;
    std::vector<double> beside_us;
    std::array<double, 2> with_copies{};
    friend bool operator==(const Last&, const Last&) = default;
  };

  const PredictionColumns& columns_;
  std::size_t parts_;
  std::string plan_, gpu_;
  std::vector<std::string> notes_;
  std::string begin_, constants_, end_;
  std::optional<Last> last_;
  std::string rest_;  // the columns after the parameters, of the last row
};

class CsvView : public PredictionView {
 public:
  CsvView(const Plan& plan, const PredictionColumns& columns) : plan_(plan), columns_(columns) {}

  std::string begin() override {
    std::vector<std::string> fields = {"plan", "gpu"};
    for (const auto& parameter : plan_.parameters) fields.push_back(parameter.name);
    for (const char* name : {"blocks", "threads_per_block", "launches", "time_us", "t_p_us", "t_p_source",
                             "t_m_cycles", "t_m_source"})
      fields.emplace_back(name);
    for (const TimePart& part : columns_.model->parts()) fields.emplace_back(part.key);
    if (columns_.best_launch) fields.insert(fields.end(), {"algorithm_3_us", "gain_percent"});
    for (const Model* model : columns_.beside) fields.push_back(time_key(*model));
    if (!columns_.beside.empty()) fields.emplace_back("models_disagree");
    if (columns_.ranks) fields.emplace_back("rank");
    fields.insert(fields.end(), {"notes", "grid", "block", "model"});
    if (columns_.transfers) fields.insert(fields.end(), {"copies_us", "total_us"});
    return csv_line(fields);
  }

  std::unique_ptr<RowBatch> make_batch() const override { return std::make_unique<CsvBatch>(columns_); }
  std::string text(RowBatch& batch) override { return std::move(static_cast<CsvBatch&>(batch).lines); }
  std::string end() override { return {}; }

 private:
  const Plan& plan_;
  PredictionColumns columns_;
};

class JsonBatch : public RowBatch {
 public:
  explicit JsonBatch(const PredictionColumns& columns) : columns_(columns) {}

  void add(const PredictionRow& row) override {
    nlohmann::ordered_json json = row_json(row);
    json["t_p_us"] = exact_json(row.t_p_us);
    json["t_p_source"] = to_string(row.t_p_source);
    json["t_m_cycles"] = exact_json(row.t_m_cycles);
    json["t_m_source"] = to_string(row.t_m_source);
    add_parts(row, json);
    if (columns_.best_launch) {
      json["algorithm_3_us"] = exact_json(row.algorithm_3_us.value_or(row.time.total_us));
      json["gain_percent"] = exact_json(gain_percent(row));
    }
    for (std::size_t i = 0; i < columns_.beside.size(); ++i)
      json[time_key(*columns_.beside[i])] = exact_json(row.beside_us[i]);
    if (!columns_.beside.empty()) json["models_disagree"] = disagree(row, columns_);
    if (columns_.ranks)
      json["rank"] = row.rank > 0 ? nlohmann::ordered_json(row.rank) : nlohmann::ordered_json();
    json["notes"] = row.notes;
    json["model"] = row.model->name();
    if (row.with_copies) {
      json["copies_us"] = exact_json(row.with_copies->copies_us);
      json["total_us"] = exact_json(row.with_copies->total_us);
    }
    rows += ",\n " + json_text(json);
  }

  std::string rows;  // each after its comma

 private:
  const PredictionColumns& columns_;
};

class JsonView : public PredictionView {
 public:
  explicit JsonView(const PredictionColumns& columns) : columns_(columns) {}

  std::string begin() override { return "["; }
  std::unique_ptr<RowBatch> make_batch() const override { return std::make_unique<JsonBatch>(columns_); }

  std::string text(RowBatch& batch) override {
    std::string rows = std::move(static_cast<JsonBatch&>(batch).rows);
    if (first_ && !rows.empty()) rows.erase(0, 3);
    first_ = first_ && rows.empty();
    return rows;
  }

  std::string end() override { return "]\n"; }

 private:
  PredictionColumns columns_;
  bool first_ = true;
};

class KeptRows : public RowBatch {
 public:
  void add(const PredictionRow& row) override { rows.push_back(row); }
  std::vector<PredictionRow> rows;
};

class TextView : public PredictionView {
 public:
  TextView(const Plan& plan, const PredictionColumns& columns)
      : plan_(plan),
        columns_(columns),
        table_(table_columns(), (columns.ranks ? 2 : 1) + plan.parameters.size()) {}

  std::string begin() override {
    return plan_.name + (plan_.description.empty() ? "" : ": " + first_line(plan_.description)) + "\n\n";
  }

  std::unique_ptr<RowBatch> make_batch() const override { return std::make_unique<KeptRows>(); }

  std::string text(RowBatch& batch) override {
    for (const PredictionRow& row : static_cast<KeptRows&>(batch).rows) {
      add(row);
      if (columns_.sparklines) sparklines_.add(row);
    }
    return table_.rows() < rows_at_once ? "" : table_.take();
  }

  std::string end() override {
    std::string text = table_.take() + "\n";
    if (const std::string lines = sparklines_.text(); !lines.empty()) text += lines + "\n";
    if (default_t_m_) text += default_t_m_footnote;
    if (disagree_)
      text += fmt::format("! the models differ by more than a factor of {}\n", exact(columns_.disagreement));
    if (close_)
      text += fmt::format("~ too close to call: within {:.0f}% of the GPU above\n", 100 * (kTooClose - 1));
    for (std::size_t i = 0; i < notes_.size(); ++i) text += fmt::format("[{}] {}\n", i + 1, notes_[i]);
    if (!columns_.why_model.empty()) text += model_line(*columns_.model, columns_.why_model);
    return text + legend(*columns_.model);
  }

 private:
  static constexpr std::size_t rows_at_once = 4096;

  std::vector<Column> table_columns() const {
    std::vector<Column> columns;
    if (columns_.ranks) columns.push_back({"rank"});
    columns.push_back({"gpu", Align::left});
    for (const auto& parameter : plan_.parameters) columns.push_back({parameter.name});
    columns.push_back({"blocks x threads"});
    columns.push_back({"launches"});
    columns.push_back({"time"});
    if (has_interval(*columns_.model)) columns.push_back({"80% of times"});
    if (columns_.transfers) columns.push_back({"with copies"});
    if (columns_.ranks) columns.push_back({"of fastest"});
    if (columns_.best_launch) {
      columns.push_back({leaves_blocks(plan_) ? "Algorithm 3" : "as given"});
      columns.push_back({"gain"});
    }
    for (const Model* model : columns_.beside) columns.push_back({std::string(model->title())});
    for (const TimePart& part : columns_.model->parts()) {
      if (sums(part)) columns.push_back({std::string(part.title)});
    }
    columns.push_back({"", Align::left});
    return columns;
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void add(const PredictionRow& row) {
    std::vector<std::string> cells;
    if (columns_.ranks) cells.push_back(row.rank > 0 ? fmt::format("{}", row.rank) : "-");
    cells.push_back(row.gpu);
    for (const auto& [name, value] : row.parameters) cells.push_back(fmt::format("{}", value));
    cells.push_back(shape_text(row.first_shape()));
    cells.push_back(fmt::format("{}", row.launches));
    cells.push_back(sensible_time(row.time.total_us));
    if (has_interval(*columns_.model)) cells.push_back(interval_text(row));
    if (columns_.transfers) cells.push_back(sensible_time(ranked_us(row)));
    if (columns_.ranks) {
      if (row.rank == 1) fastest_us_ = ranked_us(row);
      cells.push_back(row.rank > 0 && fastest_us_ > 0 ? fmt::format("{:.2f}x", ranked_us(row) / fastest_us_)
                                                      : "-");
    }
    if (columns_.best_launch) {
      cells.push_back(sensible_time(row.algorithm_3_us.value_or(row.time.total_us)));
      cells.push_back(fmt::format("{:.1f}%", gain_percent(row)));
    }
    for (const double other : row.beside_us) cells.push_back(sensible_time(other));
    std::vector<double> microseconds;
    const auto parts = columns_.model->parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (sums(parts[i])) microseconds.push_back(row.time.us[i]);
    }
    for (auto& share : percentages(microseconds, row.time.total_us)) cells.push_back(std::move(share));
    cells.push_back(marks(row));
    table_.add(std::move(cells));
  }

  std::string marks(const PredictionRow& row) {
    std::string text;
    if (row.t_m_source == ConstantSource::gpu_default) {
      default_t_m_ = true;
      text += "*";
    }
    if (disagree(row, columns_)) {
      disagree_ = true;
      text += "!";
    }
    if (row.rank > 1 && has_interval(*columns_.model) && ranked_us(row) < kTooClose * above_us_) {
      close_ = true;
      text += "~";
    }
    above_us_ = ranked_us(row);
    for (const auto& note : row.notes) {
      auto found = std::find(notes_.begin(), notes_.end(), note);
      if (found == notes_.end()) found = notes_.insert(notes_.end(), note);
      text += fmt::format("[{}]", found - notes_.begin() + 1);
    }
    return text;
  }

  const Plan& plan_;
  PredictionColumns columns_;
  Table table_;
  Sparklines sparklines_;
  std::vector<std::string> notes_;
  double fastest_us_ = 0, above_us_ = 0;  // of the row before
  bool default_t_m_ = false, disagree_ = false, close_ = false;
};

class RankingView : public PredictionView {
 public:
  RankingView(std::unique_ptr<PredictionView> view, std::size_t gpus) : view_(std::move(view)), gpus_(gpus) {}

  std::string begin() override { return view_->begin(); }
  std::unique_ptr<RowBatch> make_batch() const override { return std::make_unique<KeptRows>(); }

  std::string text(RowBatch& batch) override {
    const auto ranked = view_->make_batch();
    for (PredictionRow& row : static_cast<KeptRows&>(batch).rows) {
      waiting_.push_back(std::move(row));
      if (waiting_.size() == gpus_) rank_into(*ranked);
    }
    return view_->text(*ranked);
  }

  std::string end() override {
    // The sweep ended before it had all GPUs for these parameters: nobody knows their ranks.
    const auto rest = view_->make_batch();
    for (const PredictionRow& row : waiting_) rest->add(row);
    return view_->text(*rest) + view_->end();
  }

 private:
  void rank_into(RowBatch& into) {
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const PredictionRow& a, const PredictionRow& b) {
      return ranked_us(a) < ranked_us(b);
    });
    std::uint64_t rank = 0;
    for (PredictionRow& row : waiting_) {
      row.rank = ++rank;
      into.add(row);
    }
    waiting_.clear();
  }

  std::unique_ptr<PredictionView> view_;
  std::size_t gpus_;
  std::vector<PredictionRow> waiting_;  // of equal parameters
};

}  // namespace

bool disagree(const PredictionRow& row, const PredictionColumns& columns) {
  return std::any_of(row.beside_us.begin(), row.beside_us.end(), [&](double other) {
    const double own = row.time.total_us;
    return std::max(own, other) > columns.disagreement * std::min(own, other);
  });
}

double ranked_us(const PredictionRow& row) {
  return row.with_copies ? row.with_copies->total_us : row.time.total_us;
}

std::string notes_text(const PredictionRow& row) {
  std::string text;
  for (const auto& note : row.notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

double gain_percent(const PredictionRow& row) {
  if (!row.algorithm_3_us || *row.algorithm_3_us <= 0) return 0;
  return 100 * (1 - row.time.total_us / *row.algorithm_3_us);
}

std::string time_key(const Model& model) {
  std::string key(model.name());
  std::replace(key.begin(), key.end(), '-', '_');
  return key + "_us";
}

bool has_interval(const Model& model) {
  return find_part(model, "low_us") && find_part(model, "high_us") && find_part(model, "kernel_us");
}

std::string model_line(const Model& model, const std::string& why) {
  return wrapped(fmt::format("Model: {}, because {} (--model names another).", model.name(), why), 110, 0) +
         "\n";
}

void add_parts(const PredictionRow& row, nlohmann::ordered_json& json) {
  const auto parts = row.model->parts();
  for (std::size_t i = 0; i < parts.size(); ++i) json[std::string(parts[i].key)] = exact_json(row.time.us[i]);
}

nlohmann::ordered_json row_json(const PredictionRow& row) {
  nlohmann::ordered_json json;
  json["plan"] = row.plan;
  json["gpu"] = row.gpu;
  json["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row.parameters) json["parameters"][name] = value;
  json["blocks"] = row.first_launch.blocks;
  json["threads_per_block"] = row.first_launch.threads_per_block;
  json["launches"] = row.launches;
  json["time_us"] = exact_json(row.time.total_us);
  const GridAndBlock shape = row.first_shape();
  json["grid"] = to_string(shape.grid);
  json["block"] = to_string(shape.block);
  return json;
}

std::unique_ptr<PredictionView> make_prediction_view(std::string_view format, const Plan& plan,
                                                     const PredictionColumns& columns) {
  if (format == "csv") return std::make_unique<CsvView>(plan, columns);
  if (format == "json") return std::make_unique<JsonView>(columns);
  return std::make_unique<TextView>(plan, columns);
}

std::unique_ptr<PredictionView> make_ranking_view(std::unique_ptr<PredictionView> view, std::size_t gpus) {
  return std::make_unique<RankingView>(std::move(view), gpus);
}

}  // namespace warptime::cli
