// Matching what a profiler saw to a plan's launches: see profiler_csv.h.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "simulator/base/kernel_base_name.h"
#include "simulator/fit/profiler_csv.h"
#include "simulator/predict/row_model.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

constexpr std::int64_t kMostLaunches = std::int64_t{1} << 40;  // of all runs together

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string parameters_text(const Plan& plan, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", plan.parameters[i].name, values[i]);
  return text;
}

class Matching {
 public:
  Matching(const ProfilerCsv& csv, const std::string& device, const Plan& plan,
           const std::vector<RunShape>& shapes)
      : csv_(csv), plan_(plan), shapes_(shapes) {
    for (const RunShape& shape : shapes) {
      for (const auto& kernel : shape.kernels) {
        for (const auto& name : kernel.names) canonical_.emplace(name, kernel.names.front());
      }
    }
    for (const ProfiledKernel& kernel : csv.kernels) {
      if (kernel.device != device) continue;
      const std::string name = kernel_base_name(kernel.name);
      if (const auto found = canonical_.find(name); found != canonical_.end()) {
        kernels_.push_back({&kernel, found->second});
      } else {
        ++others_[name];
      }
    }
  }

  Result<MatchedRuns> match() {
    if (kernels_.empty()) return none_of_the_plan();
    auto wrong = csv_.summary ? match_summary() : match_trace();
    if (!wrong.empty()) return wrong;
    name_others();
    return std::move(matched_);
  }

 private:
  struct Seen {
    const ProfiledKernel* kernel;
    std::string name;  // canonical
  };

  Diagnostic none_of_the_plan() const {
    std::set<std::string> wanted, there;
    for (const auto& [name, first] : canonical_) wanted.insert(name);
    for (const auto& [name, count] : others_) there.insert(name);
    return error_at(csv_.file, 0, 0,
                    fmt::format("has none of the kernels of {}, {}; it has {}", plan_.name,
                                yaml::list_of({wanted.begin(), wanted.end()}),
                                yaml::list_of({there.begin(), there.end()})));
  }

  Diagnostics match_summary() {
    if (shapes_.size() != 1) {
      return {error_at(csv_.file, 0, 0,
                       "is a summary, which mixes the launches of all sizes: it can be used for one size "
                       "only",
                       "write each launch: `nsys stats --report cuda_gpu_trace --format csv`")};
    }
    const RunShape& shape = shapes_.front();
    double time = 0;
    std::optional<std::int64_t> runs;
    for (const auto& kernel : shape.kernels) {
      std::int64_t instances = 0;
      double sum = 0;
      for (const Seen& seen : kernels_) {
        if (seen.name != kernel.names.front()) continue;
        if (__builtin_add_overflow(instances, seen.kernel->instances, &instances)) return {too_many()};
        sum += seen.kernel->duration_us * static_cast<double>(seen.kernel->instances);
      }
      if (instances % kernel.count != 0 || instances == 0)
        return {no_whole_number(kernel.names.front(), instances, kernel.count)};
      const std::int64_t of_this = instances / kernel.count;
      if (runs && *runs != of_this) {
        return {error_at(csv_.file, 0, 0,
                         fmt::format("{} was launched for {} runs of the plan, another of its kernels for {}",
                                     kernel.names.front(), of_this, *runs))};
      }
      runs = of_this;
      time += sum / static_cast<double>(of_this);
    }
    Measured row;
    row.values = shape.values;
    row.time_us = time;
    row.repetitions = runs;
    row.file = csv_.file;
    row.line = kernels_.front().kernel->line;
    matched_.rows.push_back(std::move(row));
    return {};
  }

  Diagnostic too_many() const {
    return error_at(csv_.file, 0, 0, "the number of launches does not fit 64 bits");
  }

  Diagnostic no_whole_number(const std::string& name, std::int64_t there, std::int64_t per_run) const {
    const std::string of =
        shapes_.size() == 1
            ? fmt::format("a run of {} with {} launches", plan_.name,
                          parameters_text(plan_, shapes_.front().values))
            : fmt::format("one run of {} for each of the {} combinations of parameters launches", plan_.name,
                          shapes_.size());
    return error_at(csv_.file, 0, 0,
                    fmt::format("{} was launched {} times, and {} it {} times, which is not a whole number "
                                "of runs",
                                name, there, of, per_run),
                    "give the parameters of the runs with --param");
  }

  Diagnostics match_trace() {
    std::int64_t of_all = 0;
    for (const RunShape& shape : shapes_) {
      if (__builtin_add_overflow(of_all, shape.launches, &of_all) || of_all > kMostLaunches)
        return {too_many()};
    }
    const auto there = static_cast<std::int64_t>(kernels_.size());
    if (there % of_all != 0) {
      return {no_whole_number(canonical_.size() == 1 ? kernels_.front().name : "the plan's kernels", there,
                              of_all)};
    }
    const std::int64_t runs = there / of_all;
    std::size_t at = 0;
    for (const RunShape& shape : shapes_) {
      std::vector<double> times;
      const ProfiledKernel& first = *kernels_[at].kernel;
      for (std::int64_t run = 0; run < runs; ++run) {
        double time = 0;
        if (auto wrong = one_run(shape, at, time); !wrong.empty()) return wrong;
        times.push_back(time);
      }
      add(shape, std::move(times), first);
    }
    return {};
  }

  Diagnostics one_run(const RunShape& shape, std::size_t& at, double& time) const {
    std::map<std::string, std::int64_t> left;
    for (const auto& kernel : shape.kernels) left[kernel.names.front()] += kernel.count;
    for (std::int64_t i = 0; i < shape.launches; ++i, ++at) {
      const Seen& seen = kernels_[at];
      if (--left[seen.name] < 0) {
        return {
            error_at(csv_.file, seen.kernel->line, 0,
                     fmt::format("{} is launched here, but a run of {} with {} has no further launch of it",
                                 seen.name, plan_.name, parameters_text(plan_, shape.values)),
                     "are the parameters those of this run, in the order of the file?")};
      }
      time += seen.kernel->duration_us;
    }
    return {};
  }

  void add(const RunShape& shape, std::vector<double> times, const ProfiledKernel& first) {
    std::sort(times.begin(), times.end());
    Measured row;
    row.values = shape.values;
    row.time_us = quantile(times, 0.5);
    row.spread_us = quantile(times, 0.75) - quantile(times, 0.25);
    row.repetitions = static_cast<std::int64_t>(times.size());
    row.blocks = first.blocks;
    row.threads_per_block = first.threads_per_block;
    row.file = csv_.file;
    row.line = first.line;
    check_launch(shape, first);
    matched_.rows.push_back(std::move(row));
  }

  // Other blocks than the plan's are compared with the plan's; other numbers of threads smell of wrong
  // parameters.
  void check_launch(const RunShape& shape, const ProfiledKernel& seen) {
    if (!seen.blocks || !seen.threads_per_block || *seen.threads_per_block < 1) return;
    const double there = static_cast<double>(*seen.blocks) * static_cast<double>(*seen.threads_per_block);
    const double planned =
        static_cast<double>(shape.first.blocks) * static_cast<double>(shape.first.threads_per_block);
    const double block =
        static_cast<double>(std::max(*seen.threads_per_block, shape.first.threads_per_block));
    if (std::abs(there - planned) < block) return;
    Diagnostic note = error_at(
        csv_.file, seen.line, 0,
        fmt::format("{} is launched with {} blocks of {} threads here, but {} launches {} of {} with {}",
                    kernel_base_name(seen.name), *seen.blocks, *seen.threads_per_block, plan_.name,
                    shape.first.blocks, shape.first.threads_per_block, parameters_text(plan_, shape.values)),
        "are the parameters those of this run, in the order of the file?");
    note.severity = Severity::warning;
    matched_.notes.push_back(std::move(note));
  }

  void name_others() {
    std::string text;
    for (const auto& [name, count] : others_)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, count);
    for (const auto& other : csv_.others)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", other.name, other.count);
    if (text.empty()) return;
    Diagnostic note =
        error_at(csv_.file, 0, 0, fmt::format("lines that are not of a kernel of {}: {}", plan_.name, text));
    note.severity = Severity::note;
    matched_.notes.push_back(std::move(note));
  }

  const ProfilerCsv& csv_;
  const Plan& plan_;
  const std::vector<RunShape>& shapes_;
  std::map<std::string, std::string> canonical_;  // base name -> the first name of its kernel
  std::vector<Seen> kernels_;
  std::map<std::string, std::size_t> others_;
  MatchedRuns matched_;
};

// Base names under which a launch's kernel can be seen, the plan's own first.
std::vector<std::string> names_of(const PlanLaunch& launch, const KernelProgram& program) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    const std::string base = kernel_base_name(name);
    if (!base.empty() && std::find(names.begin(), names.end(), base) == names.end()) names.push_back(base);
  };
  add(launch.entry);
  add(program.provenance.kernel);
  add(program.provenance.symbol);
  if (names.empty()) add(std::filesystem::path(launch.kernel).stem().string());
  return names;
}

}  // namespace

Result<std::vector<RunShape>> run_shapes(const Plan& plan, const Gpu& gpu,
                                         const std::vector<std::vector<std::int64_t>>& rows,
                                         const ProgramLoader& loader) {
  const PredictionOptions options;
  const auto prepared = PreparedPlan::make(plan, {&gpu}, options, loader);
  if (!prepared) return prepared.diagnostics();
  RowModel model(*prepared, options);
  std::vector<RunShape> shapes;
  PredictionRow row;
  for (const auto& values : rows) {
    const auto terms = model.terms(0, values, false, row);
    if (!terms) return terms.diagnostics();
    RunShape shape;
    shape.values = values;
    for (const LaunchTerm& term : *terms) {
      const auto names = names_of(*term.launch->step->launch, *term.launch->program->program);
      if (!(term.times >= 1 && term.times < static_cast<double>(kMostLaunches)))
        return error(fmt::format("a run of {} with {} has too many launches to be matched", plan.name,
                                 parameters_text(plan, values)));
      const auto count = static_cast<std::int64_t>(term.times);
      if (shape.kernels.empty()) shape.first = term.shape;
      shape.launches += count;
      const auto same = std::find_if(shape.kernels.begin(), shape.kernels.end(), [&](const auto& kernel) {
        return kernel.names.front() == names.front();
      });
      if (same != shape.kernels.end()) {
        same->count += count;
      } else {
        shape.kernels.push_back({names, count});
      }
    }
    if (shape.launches == 0)
      return error(fmt::format("{} launches nothing with {}", plan.name, parameters_text(plan, values)));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<MatchedRuns> match_runs(const ProfilerCsv& csv, const std::string& device, const Plan& plan,
                               const std::vector<RunShape>& shapes) {
  return Matching(csv, device, plan, shapes).match();
}

}  // namespace warptime
