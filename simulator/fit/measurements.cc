#include "simulator/fit/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

constexpr std::size_t kMostErrors = 10;

std::optional<std::size_t> column(const CsvRecord& heading, std::string_view title) {
  const auto found = std::find(heading.fields.begin(), heading.fields.end(), title);
  if (found == heading.fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - heading.fields.begin());
}

class Selection {
 public:
  Selection(const MeasurementsFile& file, const Plan& plan, const MeasurementSelection& options)
      : file_(file),
        plan_(plan),
        heading_(file.records.front()),
        rows_of_(options.rows_of.empty() ? plan.name : options.rows_of),
        what_(options.what.empty() ? "kernels" : options.what) {}

  Result<SelectedMeasurements> select() {
    find_columns();
    if (!wrong_.empty()) return wrong_;
    for (std::size_t i = 1; i < file_.records.size(); ++i) add(file_.records[i]);
    if (too_many_ > 0) wrong_.push_back(error(fmt::format("and {} more wrong lines", too_many_)));
    if (!wrong_.empty()) return wrong_;
    if (selected_.gpus.empty()) return no_rows();
    selected_.what = what_;
    return std::move(selected_);
  }

 private:
  void find_columns() {
    plan_column_ = *column(heading_, "plan");
    gpu_column_ = *column(heading_, "gpu");
    time_column_ = *column(heading_, "time_us");
    what_column_ = column(heading_, "what");
    spread_column_ = column(heading_, "spread_us");
    repetitions_column_ = column(heading_, "repetitions");
    blocks_column_ = column(heading_, "blocks");
    threads_column_ = column(heading_, "threads_per_block");
    // A parameter of the plan may have the name of a column that came later.
    grid_column_ = is_parameter("grid") ? std::nullopt : column(heading_, "grid");
    block_column_ = is_parameter("block") ? std::nullopt : column(heading_, "block");
    for (const Parameter& parameter : plan_.parameters) {
      const auto found = column(heading_, parameter.name);
      if (!found) {
        wrong_.push_back(
            error_at(file_.file, heading_.line, 0,
                     fmt::format("there is no column `{}`, a parameter of {}", parameter.name, plan_.name),
                     "one column for each parameter of the plan, under its name"));
      }
      parameter_columns_.push_back(found.value_or(0));
    }
  }

  void add(const CsvRecord& record) {
    if (record.fields[plan_column_] != rows_of_) {
      ++selected_.other_plans;
      plans_.insert(record.fields[plan_column_]);
      return;
    }
    if (what_column_ && !record.fields[*what_column_].empty() && record.fields[*what_column_] != what_) {
      ++selected_.other_kinds;
      kinds_.insert(record.fields[*what_column_]);
      return;
    }
    Measured row;
    row.file = file_.file;
    row.line = record.line;
    for (std::size_t i = 0; i < parameter_columns_.size(); ++i) {
      std::int64_t value = 0;
      const std::string& text = record.fields[parameter_columns_[i]];
      if (!read_whole(text, value)) {
        return fail(record, fmt::format("`{}` is `{}`, which is not a whole number of 64 bits",
                                        plan_.parameters[i].name, text));
      }
      row.values.push_back(value);
    }
    const std::string& time = record.fields[time_column_];
    if (!read_decimal(time, row.time_us))
      return fail(record, fmt::format("`time_us` is `{}`, which is not a number", time));
    if (!(row.time_us > 0))
      return fail(record, fmt::format("`time_us` is {}: a time must be positive", time));
    row.spread_us = optional_number(record, spread_column_);
    row.repetitions = optional_whole(record, repetitions_column_);
    row.blocks = optional_whole(record, blocks_column_);
    row.threads_per_block = optional_whole(record, threads_column_);
    row.grid = optional_dim3(record, grid_column_);
    row.block = optional_dim3(record, block_column_);
    if (row.grid && !row.blocks) row.blocks = row.grid->product();
    if (row.block && !row.threads_per_block) row.threads_per_block = row.block->product();
    rows_on(record.fields[gpu_column_]).push_back(std::move(row));
  }

  std::optional<double> optional_number(const CsvRecord& record, std::optional<std::size_t> at) {
    double number = 0;
    if (!at || record.fields[*at].empty()) return std::nullopt;
    if (read_decimal(record.fields[*at], number)) return number;
    fail(record,
         fmt::format("`{}` is `{}`, which is not a number", heading_.fields[*at], record.fields[*at]));
    return std::nullopt;
  }

  std::optional<std::int64_t> optional_whole(const CsvRecord& record, std::optional<std::size_t> at) {
    std::int64_t number = 0;
    if (!at || record.fields[*at].empty()) return std::nullopt;
    if (read_whole(record.fields[*at], number)) return number;
    fail(record,
         fmt::format("`{}` is `{}`, which is not a whole number", heading_.fields[*at], record.fields[*at]));
    return std::nullopt;
  }

  std::optional<Dim3> optional_dim3(const CsvRecord& record, std::optional<std::size_t> at) {
    if (!at || record.fields[*at].empty()) return std::nullopt;
    const auto size = parse_dim3(record.fields[*at]);
    if (!size)
      fail(record, fmt::format("`{}` is `{}`, which is not XxYxZ, such as 128x2x1", heading_.fields[*at],
                               record.fields[*at]));
    return size;
  }

  bool is_parameter(std::string_view name) const {
    return std::any_of(plan_.parameters.begin(), plan_.parameters.end(),
                       [&](const Parameter& one) { return one.name == name; });
  }

  std::vector<Measured>& rows_on(const std::string& gpu) {
    for (MeasuredOnGpu& known : selected_.gpus) {
      if (known.gpu == gpu) return known.rows;
    }
    selected_.gpus.push_back({gpu, {}});
    return selected_.gpus.back().rows;
  }

  void fail(const CsvRecord& record, std::string message) {
    if (wrong_.size() >= kMostErrors) {
      ++too_many_;
      return;
    }
    wrong_.push_back(error_at(file_.file, record.line, 0, std::move(message)));
  }

  Diagnostic no_rows() const {
    if (!kinds_.empty()) {
      return error_at(file_.file, 0, 0,
                      fmt::format("no rows of {} with what = {}, only {}", rows_of_, what_,
                                  yaml::list_of({kinds_.begin(), kinds_.end()})),
                      fmt::format("--what {}", *kinds_.begin()));
    }
    if (plans_.empty()) return error_at(file_.file, 0, 0, "has a heading but no rows");
    const std::vector<std::string> plans(plans_.begin(), plans_.end());
    return error_at(
        file_.file, 0, 0,
        fmt::format("no rows of the plan {}: it has rows of {}", rows_of_, yaml::list_of(plans)),
        fmt::format("if the same transform was measured under another name: --rows-of {}", plans.front()));
  }

  const MeasurementsFile& file_;
  const Plan& plan_;
  const CsvRecord& heading_;
  std::string rows_of_, what_;
  std::size_t plan_column_ = 0, gpu_column_ = 0, time_column_ = 0;
  std::optional<std::size_t> what_column_, spread_column_, repetitions_column_, blocks_column_,
      threads_column_, grid_column_, block_column_;
  std::vector<std::size_t> parameter_columns_;
  SelectedMeasurements selected_;
  std::set<std::string> plans_, kinds_;
  std::size_t too_many_ = 0;
  Diagnostics wrong_;
};

}  // namespace

Result<MeasurementsFile> read_measurements(std::string_view text, const std::string& file) {
  auto records = read_csv(text, file);
  if (!records) return records.diagnostics();
  if (records->empty()) return error_at(file, 0, 0, "is empty");
  const CsvRecord& heading = records->front();
  Diagnostics wrong;
  for (const char* title : {"plan", "gpu", "time_us"}) {
    if (!column(heading, title)) {
      wrong.push_back(error_at(file, heading.line, 0, fmt::format("there is no column `{}`", title),
                               "the heading of a measurements CSV is plan,gpu, the parameters, time_us"));
    }
  }
  std::set<std::string> titles;
  for (const std::string& title : heading.fields) {
    if (!title.empty() && !titles.insert(title).second)
      wrong.push_back(error_at(file, heading.line, 0, fmt::format("the column `{}` occurs twice", title)));
  }
  for (const CsvRecord& record : *records) {
    if (record.fields.size() == heading.fields.size()) continue;
    wrong.push_back(error_at(
        file, record.line, 0,
        fmt::format("{} fields, but the heading has {}", record.fields.size(), heading.fields.size())));
    if (wrong.size() >= kMostErrors) break;
  }
  if (!wrong.empty()) return wrong;
  return MeasurementsFile{file, std::move(*records)};
}

Result<SelectedMeasurements> select_measurements(const MeasurementsFile& file, const Plan& plan,
                                                 const MeasurementSelection& selection) {
  auto selected = Selection(file, plan, selection).select();
  if (selected || !selection.what.empty()) return selected;
  auto other = Selection(file, plan, {selection.rows_of, "plan"}).select();
  return other ? std::move(other) : std::move(selected);
}

std::string to_csv(const Plan& plan, const std::vector<MeasuredOnGpu>& measured) {
  std::string text = "plan,gpu";
  for (const Parameter& parameter : plan.parameters) text += "," + csv_quoted(parameter.name);
  text += ",time_us,spread_us,repetitions,what,blocks,threads_per_block,grid,block\n";
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  const auto size = [](const auto& value) { return value ? to_string(*value) : std::string(); };
  for (const MeasuredOnGpu& on : measured) {
    for (const Measured& row : on.rows) {
      text += csv_quoted(plan.name) + "," + csv_quoted(on.gpu);
      for (const std::int64_t value : row.values) text += fmt::format(",{}", value);
      text += fmt::format(",{},{},{},kernels,{},{},{},{}\n", row.time_us, number(row.spread_us),
                          number(row.repetitions), number(row.blocks), number(row.threads_per_block),
                          size(row.grid), size(row.block));
    }
  }
  return text;
}

}  // namespace warptime
