#include "simulator/fit/profiler_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>

#include "simulator/fit/nvprof_text.h"

namespace warptime {
namespace {

using Titles = std::vector<std::string>;

std::optional<std::size_t> find_title(const Titles& titles, std::string_view title) {
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - titles.begin());
}

// `Duration` or `Duration (ns)`: the column, and what stands in its parentheses.
std::optional<std::pair<std::size_t, std::string>> find_with_unit(const Titles& titles,
                                                                  std::string_view title) {
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const std::string& text = titles[i];
    if (text == title) return std::pair(i, std::string());
    if (text.starts_with(std::string(title) + " (") && text.ends_with(')'))
      return std::pair(i, text.substr(title.size() + 2, text.size() - title.size() - 3));
  }
  return std::nullopt;
}

std::optional<double> microseconds_of(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double microseconds;
  };
  static constexpr std::array<Unit, 16> kUnits = {{{"ns", 1e-3},
                                                   {"nsecond", 1e-3},
                                                   {"nsec", 1e-3},
                                                   {"us", 1},
                                                   {"usecond", 1},
                                                   {"usec", 1},
                                                   {"\xC2\xB5s", 1},
                                                   {"\xCE\xBCs", 1},
                                                   {"ms", 1e3},
                                                   {"msecond", 1e3},
                                                   {"msec", 1e3},
                                                   {"s", 1e6},
                                                   {"second", 1e6},
                                                   {"sec", 1e6},
                                                   {"nanosecond", 1e-3},
                                                   {"microsecond", 1}}};
  for (const Unit& known : kUnits) {
    if (known.name == unit) return known.microseconds;
  }
  return std::nullopt;
}

bool is_heading(const Titles& titles, Profiler profiler) {
  const auto has = [&](std::string_view title) { return find_title(titles, title).has_value(); };
  const auto has_unit = [&](std::string_view title) {
    const auto found = find_with_unit(titles, title);
    return found && !found->second.empty();
  };
  switch (profiler) {
    case Profiler::nsys:
      return has("Name") && (has_unit("Duration") || (has_unit("Total Time") && has("Instances")));
    case Profiler::ncu:
      return has("Kernel Name") && (has("ID") || has("Metric Name"));
    case Profiler::nvprof:
      return has("Name") && ((has("Start") && has("Duration")) || (has("Time(%)") && has("Calls")));
  }
  return false;
}

std::optional<HeadingPlace> find_heading_of(std::string_view text, Profiler profiler) {
  return find_heading(text, [&](const Titles& titles) { return is_heading(titles, profiler); });
}

// "(132, 1, 1)" or "132": the product.
std::optional<std::int64_t> product_of(std::string_view text) {
  std::int64_t product = 1;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      ++at;
      continue;
    }
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    std::int64_t number = 0;
    if (!read_whole(text.substr(at, end - at), number) || __builtin_mul_overflow(product, number, &product))
      return std::nullopt;
    any = true;
    at = end;
  }
  return any ? std::optional(product) : std::nullopt;
}

// nsys names some calls with a version: cudaLaunchKernel_v7000.
bool is_launch(std::string_view call) {
  return call == "cudaLaunchKernel" || call.starts_with("cudaLaunchKernel_v");
}

class ProfilerCsvReader {
 public:
  ProfilerCsvReader(ProfilerCsv& into, std::vector<CsvRecord> records, int lines_before)
      : csv_(into), records_(std::move(records)), lines_before_(lines_before) {}

  Diagnostics read() {
    titles_ = records_.front().fields;
    switch (csv_.profiler) {
      case Profiler::nsys:
        read_nsys();
        break;
      case Profiler::ncu:
        read_ncu();
        break;
      case Profiler::nvprof:
        read_nvprof();
        break;
    }
    if (wrong_.empty() && !starts_.empty() && starts_.size() == csv_.kernels.size()) sort_by_start();
    return std::move(wrong_);
  }

 private:
  int line_of(const CsvRecord& record) const { return record.line + lines_before_; }

  void fail(const CsvRecord& record, std::string message, std::string hint = {}) {
    if (wrong_.size() < 10)
      wrong_.push_back(error_at(csv_.file, line_of(record), 0, std::move(message), std::move(hint)));
  }

  void other(const CsvRecord& record, std::string name) {
    for (auto& known : csv_.others) {
      if (known.name == name) {
        ++known.count;
        return;
      }
    }
    if (csv_.others.size() < 1000) csv_.others.push_back({std::move(name), 1, line_of(record)});
  }

  // Those that reach to the last of the columns that are needed (some versions leave out what is empty at the
  // end); the rest is named.
  std::vector<const CsvRecord*> rows(std::size_t first, std::initializer_list<std::size_t> needed) {
    const std::size_t least = std::max(needed) + 1;
    std::vector<const CsvRecord*> rows;
    for (std::size_t i = first; i < records_.size(); ++i) {
      auto& fields = records_[i].fields;
      if (fields.size() < least || fields.size() > titles_.size()) {
        other(records_[i],
              fmt::format("a line of {} fields, but the heading has {}", fields.size(), titles_.size()));
        continue;
      }
      fields.resize(titles_.size());
      rows.push_back(&records_[i]);
    }
    return rows;
  }

  // In microseconds, of `name`; nothing where it is none.
  std::optional<double> read_duration(const CsvRecord& record, const std::string& name,
                                      const std::string& duration, std::string unit) {
    double number = 0;
    std::string digits = duration;
    // "872.94us": the unit may stand behind the number.
    const auto letters = digits.find_first_not_of("0123456789.,-+eE");
    if (letters != std::string::npos) {
      unit = digits.substr(letters);
      digits.resize(letters);
    }
    if (!read_decimal(digits, number, true)) {
      fail(record, fmt::format("the duration of {} is `{}`, which is not a number", name, duration));
      return std::nullopt;
    }
    const auto scale = microseconds_of(unit);
    if (!scale) {
      fail(record, fmt::format("the duration of {} is in `{}`, which is not a unit of time", name, unit));
      return std::nullopt;
    }
    if (!(number > 0)) {
      fail(record, fmt::format("the duration of {} is {}: a time must be positive", name, duration));
      return std::nullopt;
    }
    return number * *scale;
  }

  // Adds a kernel with its duration in `unit`; false where it is none.
  bool add(const CsvRecord& record, ProfiledKernel kernel, const std::string& duration, std::string unit) {
    const auto microseconds = read_duration(record, kernel.name, duration, std::move(unit));
    if (!microseconds) return false;
    kernel.duration_us = *microseconds;
    kernel.line = line_of(record);
    csv_.kernels.push_back(std::move(kernel));
    return true;
  }

  std::string text_at(const CsvRecord& record, std::optional<std::size_t> column) const {
    return column ? record.fields[*column] : std::string();
  }

  std::optional<std::int64_t> product_at(const CsvRecord& record,
                                         std::array<std::string_view, 3> titles) const {
    std::string dimensions;
    for (const std::string_view title : titles) {
      const auto column = find_title(titles_, title);
      if (!column || record.fields[*column].empty()) return std::nullopt;
      dimensions += record.fields[*column] + " ";
    }
    return product_of(dimensions);
  }

  // A trace's rows (nsys and nvprof): kernels have a grid.
  void read_trace(std::size_t first, std::size_t duration, const std::string& unit,
                  const std::array<std::string_view, 3>& grid, const std::array<std::string_view, 3>& block) {
    const auto name = *find_title(titles_, "Name"),
               device = find_title(titles_, "Device").value_or(titles_.size());
    const auto start = find_with_unit(titles_, "Start");
    const bool has_grid = find_title(titles_, grid.front()).has_value();
    const bool calls_only = is_api_trace();
    for (const CsvRecord* record : rows(first, {name, duration})) {
      ProfiledKernel kernel;
      kernel.name = record->fields[name];
      if (device < titles_.size()) kernel.device = without_number(record->fields[device]);
      kernel.blocks = product_at(*record, grid);
      kernel.threads_per_block = product_at(*record, block);
      // Copies and fills have names in brackets; calls of the API no grid and no device.
      const bool no_kernel = calls_only || kernel.name.starts_with('[') || (has_grid && !kernel.blocks) ||
                             (device < titles_.size() && (kernel.device.empty() || kernel.device == "-"));
      if (no_kernel) {
        // "cudaLaunchKernel (mtx(int, …) [12])": the call, whatever it launches.
        const bool call = !kernel.name.starts_with('[');
        const std::string called = call ? kernel.name.substr(0, kernel.name.find(" (")) : kernel.name;
        if (is_launch(called)) {
          const auto duration_us = read_duration(*record, called, record->fields[duration], unit);
          if (duration_us) csv_.launch_calls_us.push_back(*duration_us);
        }
        other(*record, called);
        continue;
      }
      if (!add(*record, std::move(kernel), record->fields[duration], unit)) continue;
      double at = 0;
      if (start && read_decimal(record->fields[start->first], at, true)) starts_.push_back(at);
    }
  }

  // Of calls alone, as nsys (`cuda_api_trace`) and nvprof (`--print-api-trace`) write it.
  bool is_api_trace() const {
    const auto has = [this](const char* title) { return find_title(titles_, title).has_value(); };
    return !has("GrdX") && !has("Grid X") && !has("Device") && (has("Tid") || has("Correlation_ID"));
  }

  // "NVIDIA H200 (0)" is device 0 of that name.
  static std::string without_number(std::string_view device) {
    const auto open = device.rfind(" (");
    if (open != std::string_view::npos && device.ends_with(')') &&
        device.substr(open + 2).find_first_not_of("0123456789)") == std::string_view::npos)
      device = device.substr(0, open);
    return std::string(device);
  }

  void sort_by_start() {
    std::vector<std::size_t> order(csv_.kernels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return starts_[a] < starts_[b]; });
    std::vector<ProfiledKernel> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(csv_.kernels[i]));
    csv_.kernels = std::move(sorted);
  }

  void read_nsys() {
    if (const auto duration = find_with_unit(titles_, "Duration")) {
      read_trace(1, duration->first, duration->second, {"GrdX", "GrdY", "GrdZ"}, {"BlkX", "BlkY", "BlkZ"});
      return;
    }
    const auto time = *find_with_unit(titles_, "Total Time");
    read_summary(1, time.first, time.second, *find_title(titles_, "Instances"));
  }

  void read_summary(std::size_t first, std::size_t time, const std::string& unit, std::size_t instances) {
    csv_.summary = true;
    const auto name = *find_title(titles_, "Name");
    const auto type = find_title(titles_, "Type");
    for (const CsvRecord* record : rows(first, {name, time, instances})) {
      ProfiledKernel kernel;
      kernel.name = record->fields[name];
      if (kernel.name.starts_with('[') || (type && record->fields[*type] != "GPU activities")) {
        other(*record, kernel.name);
        continue;
      }
      if (!read_whole(record->fields[instances], kernel.instances) || kernel.instances < 1) {
        fail(*record, fmt::format("`{}` is `{}`: not a number of launches", titles_[instances],
                                  record->fields[instances]));
        continue;
      }
      const auto count = static_cast<double>(kernel.instances);
      if (add(*record, std::move(kernel), record->fields[time], unit))
        csv_.kernels.back().duration_us /= count;
    }
  }

  void read_nvprof() {
    // The line below the heading holds the units.
    Titles units(titles_.size());
    std::size_t first = 1;
    const auto name = *find_title(titles_, "Name");
    if (records_.size() > 1 && records_[1].fields.size() == titles_.size() &&
        records_[1].fields[name].empty()) {
      units = records_[1].fields;
      first = 2;
    }
    if (const auto calls = find_title(titles_, "Calls")) {
      const auto time = find_title(titles_, "Time");
      if (!time) return fail(records_.front(), "there is no column `Time`");
      return read_summary(first, *time, units[*time], *calls);
    }
    const auto duration = *find_title(titles_, "Duration");
    read_trace(first, duration, units[duration], {"Grid X", "Grid Y", "Grid Z"},
               {"Block X", "Block Y", "Block Z"});
  }

  void read_ncu() {
    if (const auto metric = find_title(titles_, "Metric Name")) return read_ncu_details(*metric);
    read_ncu_raw();
  }

  ProfiledKernel ncu_kernel(const CsvRecord& record) const {
    ProfiledKernel kernel;
    kernel.name = record.fields[*find_title(titles_, "Kernel Name")];
    kernel.device = text_at(record, find_title(titles_, "device__attribute_display_name"));
    kernel.blocks = product_of(text_at(record, find_title(titles_, "Grid Size")));
    kernel.threads_per_block = product_of(text_at(record, find_title(titles_, "Block Size")));
    return kernel;
  }

  // A line for each metric: the duration is one of them.
  void read_ncu_details(std::size_t metric) {
    const auto unit = find_title(titles_, "Metric Unit"), value = find_title(titles_, "Metric Value");
    if (!unit || !value) return fail(records_.front(), "there is no column `Metric Unit` or `Metric Value`");
    const auto id = find_title(titles_, "ID");
    std::map<std::string, bool> launches;  // by ID; whether the duration was seen
    std::map<std::string, const CsvRecord*> first_lines;
    for (const CsvRecord* record : rows(1, {metric, *unit, *value, *find_title(titles_, "Kernel Name")})) {
      const std::string key = text_at(*record, id);
      first_lines.emplace(key, record);
      bool& seen = launches[key];
      const std::string& name = record->fields[metric];
      if ((name != "Duration" && name != "gpu__time_duration.sum") || seen) continue;
      seen = true;
      add(*record, ncu_kernel(*record), record->fields[*value], record->fields[*unit]);
    }
    for (const auto& [key, seen] : launches) {
      if (seen) continue;
      fail(*first_lines[key], fmt::format("the kernel with ID {} has no Duration", key),
           "profile with `ncu --csv --metrics gpu__time_duration.sum`, or with the section SpeedOfLight");
    }
  }

  // A line for each kernel, units in the line below the heading.
  void read_ncu_raw() {
    const auto duration = find_title(titles_, "gpu__time_duration.sum");
    if (!duration) {
      return fail(records_.front(), "there is no column `gpu__time_duration.sum`",
                  "profile with `ncu --csv --metrics gpu__time_duration.sum`");
    }
    const bool has_units = records_.size() > 1 && records_[1].fields.size() == titles_.size() &&
                           microseconds_of(records_[1].fields[*duration]).has_value();
    const std::string unit = has_units ? records_[1].fields[*duration] : "ns";
    for (const CsvRecord* record : rows(has_units ? 2 : 1, {*duration, *find_title(titles_, "Kernel Name")}))
      add(*record, ncu_kernel(*record), record->fields[*duration], unit);
  }

  ProfilerCsv& csv_;
  std::vector<CsvRecord> records_;
  int lines_before_;
  Titles titles_;
  std::vector<double> starts_;
  Diagnostics wrong_;
};

}  // namespace

std::optional<HeadingPlace> find_heading(std::string_view text,
                                         const std::function<bool(const std::vector<std::string>&)>& is_one) {
  HeadingPlace place;
  while (place.offset < text.size()) {
    const auto end = std::min(text.find('\n', place.offset), text.size());
    const std::string_view line = text.substr(place.offset, end - place.offset);
    // Cheap first: a heading has commas and no more than a few thousand characters.
    if (line.size() < (1u << 16) && line.find(',') != std::string_view::npos) {
      const auto records = read_csv(line, {});
      if (records && records->size() == 1 && is_one(records->front().fields)) return place;
    }
    place.offset = end + 1;
    ++place.lines;
  }
  return std::nullopt;
}

std::string_view to_string(Profiler profiler) {
  static constexpr std::array<std::string_view, 3> kNames = {"nsys", "ncu", "nvprof"};
  return kNames.at(static_cast<std::size_t>(profiler));
}

std::optional<Profiler> recognise_profiler(std::string_view text) {
  for (const Profiler profiler : {Profiler::nvprof, Profiler::nsys, Profiler::ncu}) {
    if (find_heading_of(text, profiler)) return profiler;
  }
  if (csv_of_nvprof_text(text)) return Profiler::nvprof;
  return std::nullopt;
}

Result<ProfilerCsv> read_profiler_csv(std::string_view text, const std::string& file, Profiler profiler) {
  const auto place = find_heading_of(text, profiler);
  if (const auto csv = !place && profiler == Profiler::nvprof ? csv_of_nvprof_text(text) : std::nullopt)
    return read_profiler_csv(*csv, file, profiler);
  if (!place) return error_at(file, 0, 0, fmt::format("has no heading of {}", to_string(profiler)));
  auto records = read_csv(text.substr(place->offset), file);
  if (!records) {
    Diagnostics wrong = records.diagnostics();
    for (Diagnostic& diagnostic : wrong) diagnostic.line += place->lines;
    return wrong;
  }
  ProfilerCsv csv;
  csv.profiler = profiler;
  csv.file = file;
  if (auto wrong = ProfilerCsvReader(csv, std::move(*records), place->lines).read(); !wrong.empty())
    return wrong;
  if (csv.kernels.empty() && csv.launch_calls_us.empty()) return error_at(file, 0, 0, "has no kernels");
  return csv;
}

}  // namespace warptime
