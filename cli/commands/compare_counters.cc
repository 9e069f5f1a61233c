#include "cli/commands/compare_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/commands/predict_input.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "cli/views/counters_comparison.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/kernel_base_name.h"
#include "simulator/fit/counter_csv.h"
#include "simulator/gpu/device.h"

namespace warptime::cli {
namespace {

constexpr std::size_t kMostNames = 8;  // in a note

// `copy<float>` of `void copy<float>(const float *, int)`: up to the arguments, without blanks, `void` and the types of
// template arguments, which compilers write differently.
std::string name_with_template(std::string_view name) {
  for (const std::string_view start : {"void ", "(anonymous namespace)::"})
    if (name.starts_with(start)) name.remove_prefix(start.size());
  std::string plain;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(' && depth == 0) break;
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    const std::size_t close = name[i] == '(' ? name.find(')', i) : std::string_view::npos;
    if (close != std::string_view::npos)
      i = close;  // (int)4
    else if (name[i] != ' ')
      plain += name[i];
  }
  return plain;
}

// "a, b and 3 others"
std::string some_of(const std::set<std::string>& names) {
  std::vector<std::string> first;
  for (const std::string& name : names)
    if (first.size() < kMostNames) first.push_back(name);
  if (names.size() > kMostNames) first.push_back(fmt::format("{} others", names.size() - kMostNames));
  return enumerate(first);
}

// The GPU of the file: --gpu, else the device that it names.
Result<std::string> gpu_of(const Arguments& arguments, const std::vector<CountedKernel>& counted,
                           const std::string& file, const GpuCatalogue& catalogue) {
  if (const auto given = arguments.value("gpu")) return *given;
  const std::string& device = counted.front().device;
  for (const CountedKernel& kernel : counted)
    if (kernel.device != device)
      return error_at(file, kernel.line, 0,
                      fmt::format("is of several GPUs, `{}` and `{}`", device, kernel.device),
                      "choose the one to compare with --gpu NAME");
  if (device.empty()) return error_at(file, 0, 0, "does not name its GPU", "give it with --gpu NAME");
  const Gpu* gpu = find_device(catalogue, {device});
  if (gpu != nullptr) return gpu->name;
  return error_at(file, 0, 0, fmt::format("`{}` is not in the catalogue", device),
                  "give its catalogue name with --gpu NAME, or add its file with --gpu-dir");
}

class CountersMatcher {
 public:
  CountersMatcher(const std::vector<CountedKernel>& counted, const GpuCatalogue& catalogue)
      : counted_(counted), catalogue_(catalogue), used_(counted.size(), false) {}

  void add(const CounterRow& row) {
    for (const LaunchCounters& launch : row.launches) {
      const auto found = find(launch, row.row.gpu);
      if (!found) {
        missing_.insert(fmt::format("{} {} {}", launch.kernel, to_string(launch.size.grid),
                                    to_string(launch.size.block)));
        continue;
      }
      const CountedKernel& measured = counted_[*found];
      if (used_[*found]) shared_.insert(measured.name);
      used_[*found] = true;
      ComparedLaunch compared{&row, &launch, measured.launches, {}};
      for (const Metric& metric : counter_metrics()) {
        const auto value = measured.values.find(std::string(metric.name));
        compared.measured.push_back(value != measured.values.end() ? std::optional(value->second)
                                                                   : std::nullopt);
      }
      comparison_.launches.push_back(std::move(compared));
    }
  }

  CountersComparison take() {
    note_metrics();
    std::set<std::string> others;
    for (std::size_t k = 0; k < counted_.size(); ++k)
      if (!used_[k])
        others.insert(fmt::format("{} {} {}", name_with_template(counted_[k].name),
                                  to_string(counted_[k].size.grid), to_string(counted_[k].size.block)));
    note(others, "{} of the file that the plan does not launch: {}", "kernel and size", "kernels and sizes");
    note(missing_, "{} of the plan that the file does not have: {}", "launch", "launches");
    note(shared_,
         "{} launched with other parameters, but the same grid and block, more than once: the measured means "
         "are over all of them: {}",
         "kernel", "kernels");
    return std::move(comparison_);
  }

 private:
  // Of those with the same grid and block: the one with the same template arguments, if names alone do not decide.
  std::optional<std::size_t> find(const LaunchCounters& launch, const std::string& gpu) const {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < counted_.size(); ++k) {
      const CountedKernel& one = counted_[k];
      if (!(one.size == launch.size) || kernel_base_name(one.name) != kernel_base_name(launch.kernel))
        continue;
      if (!one.device.empty() && !is_on(one.device, gpu)) continue;
      const bool same = name_with_template(one.name) == name_with_template(launch.kernel);
      if (!best || same) best = k;
      if (same) break;
    }
    return best;
  }
  // A device that the catalogue does not know is what --gpu says.
  bool is_on(const std::string& device, const std::string& gpu) const {
    const Gpu* known = find_device(catalogue_, {device});
    return known == nullptr || known->name == gpu;
  }

  void note_metrics() {
    std::set<std::string> ours, unknown;
    for (const Metric& metric : counter_metrics()) ours.insert(std::string(metric.name));
    for (std::size_t k = 0; k < counted_.size(); ++k)
      if (used_[k])
        for (const auto& [name, value] : counted_[k].values)
          if (!ours.contains(name)) unknown.insert(name);
    note(unknown, "{} of the file not computed: {}", "metric", "metrics");
  }

  void note(const std::set<std::string>& names, fmt::format_string<std::string, std::string> text,
            std::string_view one, std::string_view several) {
    if (names.empty()) return;
    comparison_.notes.push_back(fmt::format(
        text, fmt::format("{} {}", names.size(), names.size() == 1 ? one : several), some_of(names)));
  }

  const std::vector<CountedKernel>& counted_;
  const GpuCatalogue& catalogue_;
  std::vector<bool> used_;  // by place in counted_
  std::set<std::string> missing_, shared_;
  CountersComparison comparison_;
};

// What means nothing for counters.
Diagnostics check_options(const Arguments& arguments) {
  if (arguments.positionals().size() > 1)
    return {error(fmt::format("unexpected input: {}", arguments.positionals()[1]),
                  "with --counters, the file that it names takes the place of MEASUREMENTS")};
  static constexpr std::array<std::string_view, 11> kOfTimes = {
      "calibration", "t-p", "t-m", "against", "model", "over", "svg", "rows-of", "what", "from", "arg"};
  for (const std::string_view name : kOfTimes)
    if (arguments.has(name))
      return {
          error_at(fmt::format("--{}", name), 0, 0, "is for times, and cannot be combined with --counters")};
  return {};
}

}  // namespace

OptionGroup compare_counters_options() {
  return {
      "What the hardware counted",
      {{"counters", "FILE",
        "compare counters in place of times: what `ncu --csv --page raw` or `ncu --csv` wrote, or a CSV "
        "with the "
        "columns kernel, grid, block and metrics. Launches match by kernel, grid and block; the measured "
        "values "
        "are means over equal launches",
        Names::input},
       {"caches",
        "warm|cold",
        "with --counters: what the caches held when a launch began (default: cold, as ncu measures without "
        "--cache-control none)",
        Names::no_file,
        {"cold", "warm"}},
       {"machine", "",
        "with --counters: count the machine instructions that ptxas makes in place of an estimate; needs "
        "a CUDA "
        "Toolkit"},
       {"registers", "",
        "with --counters: ask ptxas for the registers of each kernel; needs a CUDA Toolkit"}}};
}

int compare_counters(const Arguments& arguments) {
  if (const auto wrong = check_options(arguments); !wrong.empty()) return fail(wrong_command_line, wrong);
  const std::string file = *arguments.value("counters");
  const auto csv = read_text(file);
  if (!csv) return fail(wrong_input, csv.diagnostics());
  const auto counted = read_counter_csv(*csv, file);
  if (!counted) return fail(wrong_input, counted.diagnostics());
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto gpu = gpu_of(arguments, *counted, file, *catalogue);
  if (!gpu) return fail(wrong_input, gpu.diagnostics());

  // ncu empties the caches before each pass, unless told otherwise.
  const auto caches = read_caches(arguments, CacheState::cold);
  if (!caches) return fail(wrong_command_line, caches.diagnostics());
  int status = done;
  const auto input = read_predict_input(arguments.with("gpu", *gpu), WithoutMachine::estimated, status,
                                        WithoutModel::puchala, WithoutValue::left_out);
  if (!input) return status;
  const auto rows = count_launches(*input, *caches);
  if (!rows) return fail(wrong_input, rows.diagnostics());
  CountersMatcher matcher(*counted, *catalogue);
  for (const CounterRow& row : *rows) matcher.add(row);
  const CountersComparison comparison = matcher.take();
  if (comparison.launches.empty()) {
    Diagnostics wrong = {error_at(file, 0, 0, fmt::format("has no launch of {}", input->plan.name))};
    for (const std::string& text : comparison.notes) {
      Diagnostic note = error(text);
      note.severity = Severity::note;
      wrong.push_back(std::move(note));
    }
    return fail(wrong_input, wrong);
  }
  return write_result(arguments.value("output"),
                      input->settings.format == "json"  ? counters_comparison_json(comparison)
                      : input->settings.format == "csv" ? counters_comparison_csv(input->plan, comparison)
                                                        : counters_comparison_text(comparison));
}

}  // namespace warptime::cli
