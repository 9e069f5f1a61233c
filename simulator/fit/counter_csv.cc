#include "simulator/fit/counter_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "simulator/base/csv.h"
#include "simulator/fit/profiler_csv.h"

namespace warptime {
namespace {

std::optional<std::size_t> column_of(const std::vector<std::string>& titles, std::string_view title) {
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - titles.begin());
}

bool is_counter_heading(const std::vector<std::string>& titles) {
  const auto has = [&](std::string_view title) { return column_of(titles, title).has_value(); };
  return (has("Kernel Name") && has("Grid Size") && has("Block Size")) ||
         (has("kernel") && has("grid") && has("block"));
}

// What the sections of a details page call the metrics of the raw page.
std::string metric_named(const std::string& title) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTitles = {{
      {"Registers Per Thread", "launch__registers_per_thread"},
      {"Grid Size", "launch__grid_size"},
      {"Block Size", "launch__block_size"},
      {"Waves Per SM", "launch__waves_per_multiprocessor"},
      {"Block Limit SM", "launch__occupancy_limit_blocks"},
      {"Block Limit Registers", "launch__occupancy_limit_registers"},
      {"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
      {"Block Limit Warps", "launch__occupancy_limit_warps"},
      {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
      {"Executed Instructions", "smsp__inst_executed.sum"},
      {"Issued Instructions", "smsp__inst_issued.sum"},
      {"Duration", "gpu__time_duration.sum"},
  }};
  for (const auto& [known, metric] : kTitles)
    if (known == title) return std::string(metric);
  return title;
}

// ncu writes 12,582,912 bytes as 12.58 in Mbyte, and times in ns, us, ms or s; here they are ns.
double scale_of(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 12> kUnits = {{{"ns", 1},
                                                                                  {"nsecond", 1},
                                                                                  {"us", 1e3},
                                                                                  {"usecond", 1e3},
                                                                                  {"ms", 1e6},
                                                                                  {"msecond", 1e6},
                                                                                  {"s", 1e9},
                                                                                  {"second", 1e9},
                                                                                  {"Kbyte", 1e3},
                                                                                  {"Mbyte", 1e6},
                                                                                  {"Gbyte", 1e9},
                                                                                  {"Tbyte", 1e12}}};
  for (const auto& [known, scale] : kUnits)
    if (unit == known || unit.starts_with(std::string(known) + "/block")) return scale;
  return 1;
}

// "(128, 1, 1)" and "128x1x1".
std::optional<Dim3> size_in(std::string text) {
  std::erase_if(text, [](char c) { return c == '(' || c == ')' || c == ' '; });
  std::replace(text.begin(), text.end(), ',', 'x');
  return parse_dim3(text);
}

class CounterCsvReader {
 public:
  CounterCsvReader(std::vector<CsvRecord> records, std::string file, int lines_before)
      : records_(std::move(records)), file_(std::move(file)), lines_before_(lines_before) {}

  Result<std::vector<CountedKernel>> read() {
    titles_ = records_.front().fields;
    const bool by_ncu = column_of(titles_, "Kernel Name").has_value();
    name_ = *column_of(titles_, by_ncu ? "Kernel Name" : "kernel");
    grid_ = *column_of(titles_, by_ncu ? "Grid Size" : "grid");
    block_ = *column_of(titles_, by_ncu ? "Block Size" : "block");
    device_ = column_of(titles_, by_ncu ? "device__attribute_display_name" : "gpu");
    const auto metric = column_of(titles_, "Metric Name"), value = column_of(titles_, "Metric Value");
    if (metric && value)
      read_details(*metric, *value);
    else
      read_raw();
    if (!wrong_.empty()) return std::move(wrong_);
    if (kernels_.empty()) return error_at(file_, 0, 0, "has no kernels");
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (auto& [name, sum] : kernels_[k].values) sum /= static_cast<double>(counts_[k][name]);
    return std::move(kernels_);
  }

 private:
  // The kernel that a line is of; null where that says no grid or block.
  CountedKernel* kernel_of(const CsvRecord& record, bool new_launch) {
    const auto grid = size_in(record.fields[grid_]), block = size_in(record.fields[block_]);
    if (!grid || !block) {
      if (wrong_.size() < 10)
        wrong_.push_back(error_at(
            file_, record.line + lines_before_, 0,
            fmt::format("`{}` and `{}` are no grid and block", record.fields[grid_], record.fields[block_])));
      return nullptr;
    }
    CountedKernel kernel{
        record.fields[name_],       device_ ? record.fields[*device_] : "", {*grid, *block}, 0, {},
        record.line + lines_before_};
    const auto [found, fresh] = places_.try_emplace(
        {kernel.name, kernel.device, to_string(*grid) + " " + to_string(*block)}, kernels_.size());
    if (fresh) {
      kernels_.push_back(std::move(kernel));
      counts_.emplace_back();
    }
    if (new_launch) ++kernels_[found->second].launches;
    return &kernels_[found->second];
  }

  void add(CountedKernel& kernel, const std::string& metric, const std::string& text, std::string_view unit) {
    double number = 0;
    if (!read_decimal(text, number, true)) return;
    kernel.values[metric] += number * scale_of(unit);
    ++counts_[static_cast<std::size_t>(&kernel - kernels_.data())][metric];
  }

  // A line that ends early lacks only what is empty.
  bool reaches(CsvRecord& record) const {
    if (record.fields.size() > titles_.size() || record.fields.size() <= std::max({name_, grid_, block_}))
      return false;
    record.fields.resize(titles_.size());
    return true;
  }

  void read_details(std::size_t metric, std::size_t value) {
    const auto id = column_of(titles_, "ID"), unit = column_of(titles_, "Metric Unit");
    std::optional<std::string> last;
    for (std::size_t i = 1; i < records_.size(); ++i) {
      CsvRecord& record = records_[i];
      if (!reaches(record)) continue;
      const std::string launch = id ? record.fields[*id] : "";
      if (CountedKernel* kernel = kernel_of(record, launch != last))
        add(*kernel, metric_named(record.fields[metric]), record.fields[value],
            unit ? record.fields[*unit] : "");
      last = launch;
    }
  }

  void read_raw() {
    std::vector<std::string> units(titles_.size());
    std::size_t first = 1;
    // The line below ncu's heading has no kernel.
    if (records_.size() > 1 && reaches(records_[1]) && records_[1].fields[name_].empty()) {
      units = records_[1].fields;
      first = 2;
    }
    for (std::size_t i = first; i < records_.size(); ++i) {
      CsvRecord& record = records_[i];
      CountedKernel* kernel = reaches(record) ? kernel_of(record, true) : nullptr;
      if (kernel == nullptr) continue;
      for (std::size_t c = 0; c < titles_.size(); ++c)
        if (titles_[c].find("__") != std::string::npos && !titles_[c].starts_with("device__"))
          add(*kernel, titles_[c], record.fields[c], units[c]);
    }
  }

  std::vector<CsvRecord> records_;
  std::string file_;
  int lines_before_;
  std::vector<std::string> titles_;
  std::size_t name_ = 0, grid_ = 0, block_ = 0;
  std::optional<std::size_t> device_;
  std::vector<CountedKernel> kernels_;
  std::vector<std::map<std::string, std::int64_t>> counts_;  // by place in kernels_: launches with the metric
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places_;
  Diagnostics wrong_;
};

}  // namespace

Result<std::vector<CountedKernel>> read_counter_csv(std::string_view text, const std::string& file) {
  const auto heading = find_heading(text, is_counter_heading);
  if (!heading)
    return error_at(file, 0, 0, "has no counters of kernels",
                    "write them with `ncu --csv --page raw`, or with `ncu --csv`");
  auto records = read_csv(text.substr(heading->offset), file);
  if (!records) {
    Diagnostics wrong = records.diagnostics();
    for (Diagnostic& diagnostic : wrong) diagnostic.line += heading->lines;
    return wrong;
  }
  return CounterCsvReader(std::move(*records), file, heading->lines).read();
}

}  // namespace warptime
