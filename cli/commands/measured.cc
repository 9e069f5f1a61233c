#include "cli/commands/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/io/report.h"
#include "cli/options/options.h"
#include "load/input.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/fit/profiler_csv.h"
#include "simulator/gpu/device.h"

namespace warptime::cli {
namespace {

constexpr std::uint64_t kMostValues = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostCombinations = std::uint64_t{1} << 17;

class MeasuredReader {
 public:
  MeasuredReader(const Plan& plan, const MeasuredSettings& settings, const GpuCatalogue& catalogue,
                 const ProgramLoader& loader)
      : plan_(plan), settings_(settings), catalogue_(catalogue), loader_(loader) {}

  Diagnostics add(const std::string& file, const std::string& text) {
    std::string from = settings_.from;
    if (from.empty()) from = format_of(text);
    if (from.empty()) {
      return {error_at(file, 0, 0, "is neither a measurements CSV nor a profiler's CSV",
                       "measurements have the columns plan, gpu, the plan's parameters and time_us; a "
                       "profiler's format can be given with --from")};
    }
    if (from == "measurements") return add_measurements(text, file);
    return add_profile(text, file, from);
  }

  Result<std::vector<MeasuredRows>> take() {
    for (auto& on : measured_) {
      const auto chosen = rows_with(plan_, on.rows, settings_.parameters, "param");
      if (!chosen) return chosen.diagnostics();
      std::vector<Measured> kept;
      for (std::size_t i = 0; i < on.rows.size(); ++i)
        if ((*chosen)[i]) kept.push_back(std::move(on.rows[i]));
      on.rows = std::move(kept);
      std::stable_sort(on.rows.begin(), on.rows.end(),
                       [](const auto& a, const auto& b) { return a.values < b.values; });
    }
    std::erase_if(measured_, [](const auto& on) { return on.rows.empty(); });
    if (measured_.size() == 1)
      measured_.front().launch_calls_us.insert(measured_.front().launch_calls_us.end(),
                                               launch_calls_us_.begin(), launch_calls_us_.end());
    for (const Gpu* gpu : settings_.gpus) {
      const bool there =
          std::any_of(measured_.begin(), measured_.end(), [&](const auto& on) { return on.gpu == gpu; });
      if (!there) return error(fmt::format("there are no measurements of {} on {}", plan_.name, gpu->name));
    }
    if (measured_.empty())
      return error(fmt::format("there are no measurements of {} with these --param", plan_.name));
    return std::move(measured_);
  }

 private:
  static std::string format_of(const std::string& text) {
    const auto first = read_csv(std::string_view(text).substr(0, text.find('\n')), {});
    if (first && !first->empty()) {
      const auto& titles = first->front().fields;
      const auto has = [&](const char* title) {
        return std::find(titles.begin(), titles.end(), title) != titles.end();
      };
      if (has("plan") || has("time_us")) return "measurements";
    }
    const auto profiler = recognise_profiler(text);
    return profiler ? std::string(to_string(*profiler)) : "";
  }

  Diagnostics add_measurements(const std::string& text, const std::string& file) {
    const auto table = read_measurements(text, file);
    if (!table) return table.diagnostics();
    auto selected = select_measurements(*table, plan_, settings_.selection);
    if (!selected) return selected.diagnostics();
    for (auto& on : selected->gpus) {
      const Gpu* gpu = find_device(catalogue_, {on.gpu});
      if (gpu == nullptr && settings_.gpus.empty()) {
        auto wrong = catalogue_.find(on.gpu).diagnostics();
        wrong.front().file = file;
        wrong.front().line = on.rows.front().line;
        return wrong;
      }
      if (gpu != nullptr && wanted(gpu)) append(gpu, std::move(on.rows), selected->what);
    }
    return {};
  }

  Diagnostics add_profile(const std::string& text, const std::string& file, const std::string& from) {
    const Profiler profiler = from == "nsys"  ? Profiler::nsys
                              : from == "ncu" ? Profiler::ncu
                                              : Profiler::nvprof;
    const auto csv = read_profiler_csv(text, file, profiler);
    if (!csv) return csv.diagnostics();
    if (csv->kernels.empty()) {
      launch_calls_us_.insert(launch_calls_us_.end(), csv->launch_calls_us.begin(),
                              csv->launch_calls_us.end());
      return {};
    }
    auto combinations = all_combinations(file);
    if (!combinations) return combinations.diagnostics();
    std::vector<std::string> devices;
    for (const auto& kernel : csv->kernels)
      if (std::find(devices.begin(), devices.end(), kernel.device) == devices.end())
        devices.push_back(kernel.device);
    for (const auto& device : devices) {
      const Gpu* gpu = devices.size() == 1 && settings_.gpus.size() == 1 ? settings_.gpus.front()
                                                                         : find_device(catalogue_, {device});
      if (gpu == nullptr) return {no_gpu(file, device)};
      if (!wanted(gpu)) continue;
      const auto shapes = run_shapes(plan_, *gpu, *combinations, loader_);
      if (!shapes) return shapes.diagnostics();
      auto runs = match_runs(*csv, device, plan_, *shapes);
      if (!runs) return runs.diagnostics();
      if (settings_.says_notes) say(runs->notes);
      append(gpu, std::move(runs->rows), "kernels");
      if (devices.size() == 1) append_calls(gpu, csv->launch_calls_us);
    }
    return {};
  }

  void append_calls(const Gpu* gpu, const std::vector<double>& calls_us) {
    for (auto& on : measured_)
      if (on.gpu == gpu)
        on.launch_calls_us.insert(on.launch_calls_us.end(), calls_us.begin(), calls_us.end());
  }

  static Diagnostic no_gpu(const std::string& file, const std::string& device) {
    if (device.empty()) return error_at(file, 0, 0, "does not name its GPU", "give it with --gpu NAME");
    return error_at(file, 0, 0, fmt::format("`{}` is not in the catalogue", device),
                    "give its catalogue name with --gpu NAME, or add its file with --gpu-dir");
  }

  // The values of --param, the plan's last parameter innermost.
  Result<std::vector<std::vector<std::int64_t>>> all_combinations(const std::string& file) const {
    std::vector<std::vector<std::int64_t>> rows{{}};
    for (const auto& parameter : plan_.parameters) {
      const auto found = std::find_if(settings_.parameters.begin(), settings_.parameters.end(),
                                      [&](const auto& named) { return named.name == parameter.name; });
      if (found == settings_.parameters.end()) {
        return error_at(
            file, 0, 0,
            fmt::format("a profiler's CSV does not have `{}`, a parameter of {}", parameter.name, plan_.name),
            fmt::format("give the values of the runs, in their order: --param {}=VALUES", parameter.name));
      }
      if (found->values.size() > kMostCombinations / rows.size())
        return error("--param gives more combinations than the most runs that a profiler's CSV can hold");
      std::vector<std::vector<std::int64_t>> longer;
      for (const auto& row : rows) {
        for (std::uint64_t i = 0; i < found->values.size(); ++i) {
          longer.push_back(row);
          longer.back().push_back(found->values.at(i));
        }
      }
      rows = std::move(longer);
    }
    return rows;
  }

  bool wanted(const Gpu* gpu) const {
    return settings_.gpus.empty() ||
           std::find(settings_.gpus.begin(), settings_.gpus.end(), gpu) != settings_.gpus.end();
  }

  void append(const Gpu* gpu, std::vector<Measured> rows, const std::string& what) {
    for (auto& on : measured_) {
      if (on.gpu != gpu) continue;
      std::move(rows.begin(), rows.end(), std::back_inserter(on.rows));
      return;
    }
    measured_.push_back({gpu, std::move(rows), what});
  }

  const Plan& plan_;
  const MeasuredSettings& settings_;
  const GpuCatalogue& catalogue_;
  const ProgramLoader& loader_;
  std::vector<MeasuredRows> measured_;
  std::vector<double> launch_calls_us_;  // of files that name no GPU
};

}  // namespace

OptionGroup measurement_options() {
  return {
      "Which measurements",
      {{"gpu", "NAME",
        "use only rows of this GPU; repeatable, or several with commas. For a profiler's CSV that does not "
        "name its GPU: the GPU it was made on"},
       gpu_dir_option(),
       {"param", "NAME=VALUES",
        "use only rows with these values: K=8,10,12,14 or N=2^6..2^20. For a profiler's CSV, which does "
        "not have them: the values of the runs, in their order"},
       {"rows-of", "PLAN",
        "use the rows of this plan, if the same transform was measured under another name (default: the "
        "plan's own)"},
       {"what",
        "KIND",
        "use times of kernels (the sum of their durations) or of the plan (from first to last), if the "
        "file has both (default: kernels)",
        Names::no_file,
        {"kernels", "plan"}},
       {"from",
        "FORMAT",
        "the format of the files: measurements, nsys, ncu or nvprof (default: detected from their "
        "headings)",
        Names::no_file,
        {"measurements", "nsys", "ncu", "nvprof"}}}};
}

Result<MeasuredSettings> read_measured_settings(const Arguments& arguments, const GpuCatalogue& catalogue) {
  MeasuredSettings settings;
  auto gpus = read_gpus(arguments, catalogue);
  if (!gpus) return gpus.diagnostics();
  settings.gpus = std::move(*gpus);
  auto parameters = read_parameters(arguments);
  if (!parameters) return parameters.diagnostics();
  settings.parameters = std::move(*parameters);
  settings.selection.rows_of = arguments.value_or("rows-of", "");
  if (arguments.has("what")) {
    const auto what = read_choice(arguments, "what");
    if (!what) return what.diagnostics();
    settings.selection.what = *what;
  }
  if (arguments.has("from")) {
    const auto from = read_choice(arguments, "from");
    if (!from) return from.diagnostics();
    settings.from = *from;
  }
  return settings;
}

Result<std::vector<MeasuredFile>> read_measured_files(const std::vector<std::string>& files) {
  std::vector<MeasuredFile> all;
  for (const auto& file : files) {
    auto text = read_text(file);
    if (!text) return text.diagnostics();
    all.push_back({file, std::move(*text)});
  }
  return all;
}

Result<std::vector<MeasuredRows>> read_measured(const std::vector<MeasuredFile>& files, const Plan& plan,
                                                const MeasuredSettings& settings,
                                                const GpuCatalogue& catalogue, const ProgramLoader& loader) {
  MeasuredReader reader(plan, settings, catalogue, loader);
  for (const auto& [file, text] : files)
    if (auto wrong = reader.add(file, text); !wrong.empty()) return wrong;
  return reader.take();
}

std::string values_text(const Plan& plan, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", plan.parameters[i].name, values[i]);
  return text;
}

Result<std::vector<bool>> rows_with(const Plan& plan, const std::vector<Measured>& rows,
                                    const std::vector<NamedValues>& chosen, std::string_view option) {
  std::vector<bool> with(rows.size(), true);
  std::vector<std::string> known;
  for (const auto& parameter : plan.parameters) known.push_back(parameter.name);
  for (const auto& named : chosen) {
    const auto found = std::find(known.begin(), known.end(), named.name);
    if (found == known.end()) {
      const auto near = nearest(named.name, known);
      return error_at(fmt::format("--{}", option), 0, 0,
                      fmt::format("{} has no parameter `{}`", plan.name, named.name),
                      near.empty() ? fmt::format("it has {}", enumerate(known))
                                   : fmt::format("did you mean `{}`?", near));
    }
    if (named.values.size() > kMostValues)
      return error_at(fmt::format("--{}", option), 0, 0,
                      fmt::format("`{}` has more than 2^20 values", named.name));
    std::set<std::int64_t> values;
    for (std::uint64_t i = 0; i < named.values.size(); ++i) values.insert(named.values.at(i));
    const auto at = static_cast<std::size_t>(found - known.begin());
    for (std::size_t i = 0; i < rows.size(); ++i) with[i] = with[i] && values.contains(rows[i].values[at]);
  }
  return with;
}

}  // namespace warptime::cli
