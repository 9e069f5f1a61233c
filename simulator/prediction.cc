#include "simulator/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "simulator/yaml_reader.h"

namespace warptime {

std::string_view to_string(ParameterSource source) {
  static constexpr std::array<std::string_view, 4> kNames = {"option", "calibration file", "plan",
                                                             "gpu default"};
  return kNames[static_cast<std::size_t>(source)];
}

namespace {

constexpr std::uint64_t kMostTurns = std::uint64_t{1}
                                     << 22;  // of repeats whose launches differ from turn to turn, per row
constexpr std::size_t kMostTimes = 1 << 16;  // that are remembered

// A program as it is simulated on some GPU. Equal ones are one, whichever launches and GPUs they are of.
struct Program {
  LoadedProgram loaded;
  MemoryDurations durations;
  std::vector<std::string> names;  // that its expressions use
};

// What T_c depends on.
struct TimeKey {
  const Program* program = nullptr;
  std::vector<std::int64_t> values;  // of the program's names
  std::int64_t warps = 0;
  double t_m_cycles = 0;
  friend bool operator==(const TimeKey&, const TimeKey&) = default;
};

struct TimeKeyHash {
  std::size_t operator()(const TimeKey& key) const {
    std::uint64_t hash = std::hash<const void*>()(key.program);
    const auto mix = [&hash](std::uint64_t part) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u + (hash >> 29);
    };
    for (const std::int64_t value : key.values) mix(static_cast<std::uint64_t>(value));
    mix(static_cast<std::uint64_t>(key.warps));
    mix(std::bit_cast<std::uint64_t>(key.t_m_cycles));
    return hash;
  }
};

// T_c by (program, bindings, warps, t_m), remembered.
class CorePackageTimes {
 public:
  explicit CorePackageTimes(const CorePackageOptions& options) : options_(options) {}

  Result<CorePackageTime> time(const TimeKey& key) {
    if (const auto found = times_.find(key); found != times_.end()) return found->second;
    if (!schedule_ || scheduled_.program != key.program || scheduled_.values != key.values) {
      Bindings bindings;
      for (std::size_t i = 0; i < key.values.size(); ++i) bindings[key.program->names[i]] = key.values[i];
      schedule_.reset();
      auto made = make_schedule(key.program->loaded.program, bindings, key.program->durations);
      if (!made) return made.diagnostics();
      schedule_ = std::move(*made);
      scheduled_ = key;
    }
    const auto simulated = simulate_core_package(*schedule_, key.warps, key.t_m_cycles, options_);
    if (!simulated) return simulated.diagnostics();
    if (times_.size() >= kMostTimes) times_.clear();
    times_.emplace(key, *simulated);
    return *simulated;
  }

 private:
  CorePackageOptions options_;
  std::unordered_map<TimeKey, CorePackageTime, TimeKeyHash> times_;
  std::optional<Schedule>
      schedule_;  // of scheduled_'s program and values: sweeps ask for these again and again
  TimeKey scheduled_;
};

// One launch on one GPU as Algorithm 1 asks for its core packages.
class LaunchModel : public CorePackageModel {
 public:
  LaunchModel(CorePackageTimes& times, TimeKey key) : times_(times), key_(std::move(key)) {}
  Result<CorePackageTime> time(std::int64_t warps) override {
    key_.warps = warps;
    return times_.time(key_);
  }

 private:
  CorePackageTimes& times_;
  TimeKey key_;
};

void add_times(KernelTime& into, const KernelTime& time, double times) {
  into.total_us += times * time.total_us;
  into.preparation_us += times * time.preparation_us;
  into.calculation_us += times * time.calculation_us;
  into.issue_us += times * time.issue_us;
  into.waiting_us += times * time.waiting_us;
  into.tail_us += times * time.tail_us;
  into.full_runs_us += times * time.full_runs_us;
  into.remaining_run_us += times * time.remaining_run_us;
}

// What some steps of a plan take, launched once.
struct Sum {
  KernelTime time;
  std::int64_t launches = 0;
  std::optional<Launch> first_launch;
};

class Predictor {
 public:
  Predictor(const Plan& plan, const PredictionOptions& options, const ProgramLoader& loader)
      : plan_(plan), options_(options), loader_(loader), times_(options.core_package) {}

  Result<PredictionRow> row(const Gpu& gpu,
                            const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
    PredictionRow row;
    row.plan = plan_.name;
    row.gpu = gpu.name;
    row.parameters = parameters;
    choose_t_p_and_t_m(gpu, row);
    gpu_ = &gpu;
    row_ = &row;
    turns_ = 0;
    noted_.clear();
    bindings_.clear();
    for (const auto& [name, value] : parameters) bindings_[name] = value;
    const auto sum = run(plan_.steps);
    if (!sum) return with_row(sum.diagnostics());
    row.time = sum->time;
    row.launches = sum->launches;
    row.first_launch = sum->first_launch.value_or(Launch{});
    if (!(row.time.total_us <= std::numeric_limits<double>::max())) {
      return with_row({error("the time is out of the range of numbers")});
    }
    return row;
  }

 private:
  void choose_t_p_and_t_m(const Gpu& gpu, PredictionRow& row) const {
    const auto calibration = [&gpu](const Calibrations& from) {
      const auto found = from.find(gpu.name);
      return found == from.end() ? Calibration{} : found->second;
    };
    const Calibration file = calibration(options_.calibration_file), plan = calibration(plan_.calibrations);
    const auto choose = [](std::optional<double> option, std::optional<double> of_file,
                           std::optional<double> of_plan, double of_gpu, double& value,
                           ParameterSource& source) {
      source = option    ? ParameterSource::option
               : of_file ? ParameterSource::calibration_file
               : of_plan ? ParameterSource::plan
                         : ParameterSource::gpu_default;
      value = option ? *option : of_file ? *of_file : of_plan ? *of_plan : of_gpu;
    };
    choose(options_.t_p_us, file.t_p_us, plan.t_p_us, gpu.t_p_us, row.t_p_us, row.t_p_source);
    choose(options_.t_m_cycles, file.t_m_cycles, plan.t_m_cycles, gpu.t_m_cycles, row.t_m_cycles,
           row.t_m_source);
  }

  // Says for which row it is, after the first message.
  Diagnostics with_row(Diagnostics wrong) const {
    if (row_independent_) return wrong;
    for (Diagnostic& diagnostic : wrong) {
      if (diagnostic.severity != Severity::error) continue;
      std::string parameters;
      for (const auto& [name, value] : row_->parameters) parameters += fmt::format(", {} = {}", name, value);
      diagnostic.message += fmt::format(" (on {}{})", row_->gpu, parameters);
      break;
    }
    return wrong;
  }

  Result<Sum> run(const std::vector<PlanStep>& steps) {
    Sum sum;
    for (const PlanStep& step : steps) {
      auto part = run(step);
      if (!part) return part.diagnostics();
      if (!sum.first_launch && part->first_launch) {
        sum.time.full_runs = part->time.full_runs;
        sum.time.warps_per_core_package = part->time.warps_per_core_package;
        sum.time.remaining_warps_per_core_package = part->time.remaining_warps_per_core_package;
        sum.first_launch = part->first_launch;
      }
      add_times(sum.time, part->time, 1);
      if (__builtin_add_overflow(sum.launches, part->launches, &sum.launches)) return too_many_launches(step);
    }
    return sum;
  }

  Result<Sum> run(const PlanStep& step) {
    const auto count = evaluate(step, "repeat", step.repeat);
    if (!count) return count.diagnostics();
    if (*count < 0) {
      return at(step, error(fmt::format("`repeat: {}` is negative: {}", to_string(step.repeat), *count)));
    }
    if (*count == 0) return Sum{};
    if (step.counter.empty()) return repeated(step, *count);

    bindings_[step.counter] = 0;
    const auto depends = depends_on_counter(step);
    if (!depends) return depends.diagnostics();
    const auto sum = *depends ? counted(step, *count) : repeated(step, *count);
    bindings_.erase(step.counter);
    return sum;
  }

  Result<Sum> once(const PlanStep& step) { return step.launch ? launch(step) : run(step.steps); }

  // Turns that are all the same are run once.
  Result<Sum> repeated(const PlanStep& step, std::int64_t count) {
    auto turn = once(step);
    if (!turn || count == 1) return turn;
    Sum sum = *turn;
    sum.time = KernelTime{};
    sum.time.full_runs = turn->time.full_runs;
    sum.time.warps_per_core_package = turn->time.warps_per_core_package;
    sum.time.remaining_warps_per_core_package = turn->time.remaining_warps_per_core_package;
    add_times(sum.time, turn->time, static_cast<double>(count));
    if (__builtin_mul_overflow(turn->launches, count, &sum.launches)) return too_many_launches(step);
    return sum;
  }

  Result<Sum> counted(const PlanStep& step, std::int64_t count) {
    turns_ += static_cast<std::uint64_t>(std::min<std::int64_t>(count, kMostTurns + 1));
    if (turns_ > kMostTurns) {
      return at(step, error(fmt::format(
                          "`repeat: {}` is {}: launches that differ with the counter `{}` can be {} at most",
                          to_string(step.repeat), *evaluate_count(step.repeat, bindings_), step.counter,
                          kMostTurns)));
    }
    Sum sum;
    for (std::int64_t turn = 0; turn < count; ++turn) {
      bindings_[step.counter] = turn;
      auto part = once(step);
      if (!part) return part.diagnostics();
      if (turn == 0) {
        sum = *part;
        continue;
      }
      if (!sum.first_launch) {
        const Sum so_far = sum;
        sum = *part;
        sum.launches += so_far.launches;  // of no launches: 0
        continue;
      }
      add_times(sum.time, part->time, 1);
      if (__builtin_add_overflow(sum.launches, part->launches, &sum.launches)) return too_many_launches(step);
    }
    return sum;
  }

  Diagnostics too_many_launches(const PlanStep& step) const {
    return at(step, error("the number of launches does not fit 64 bits"));
  }

  // Whether what the step launches, how, or with which program's parameters, uses its counter.
  Result<bool> depends_on_counter(const PlanStep& step) {
    std::vector<std::string> names;
    if (const Diagnostics wrong = collect_names(step, true, names); !wrong.empty()) return wrong;
    return std::find(names.begin(), names.end(), step.counter) != names.end();
  }

  Diagnostics collect_names(const PlanStep& step, bool outermost, std::vector<std::string>& names) {
    if (!outermost) step.repeat.collect_names(names);
    for (const PlanStep& inner : step.steps) {
      if (Diagnostics wrong = collect_names(inner, false, names); !wrong.empty()) return wrong;
    }
    if (!step.launch) return {};
    const auto program = load(step);
    if (!program) return program.diagnostics();
    for (const auto& size : {step.launch->threads, step.launch->blocks, step.launch->threads_per_block}) {
      if (size) size->collect_names(names);
    }
    for (const std::string& name : (*program)->names) {
      const Expression* argument = find_argument(*step.launch, name);
      (argument != nullptr ? *argument : Expression::name(name)).collect_names(names);
    }
    return {};
  }

  static const Expression* find_argument(const PlanLaunch& launch, std::string_view name) {
    for (const auto& [argument, value] : launch.arguments) {
      if (argument == name) return &value;
    }
    return nullptr;
  }

  Result<Sum> launch(const PlanStep& step) {
    const auto program = load(step);
    if (!program) return program.diagnostics();
    note_of(**program, *step.launch);
    const auto size = launch_size(step);
    if (!size) return size.diagnostics();
    TimeKey key;
    key.program = *program;
    key.t_m_cycles = row_->t_m_cycles;
    for (const std::string& name : key.program->names) {
      const auto value = value_of(step, name, *size);
      if (!value) return value.diagnostics();
      key.values.push_back(*value);
    }
    LaunchModel model(times_, std::move(key));
    const auto time = kernel_time(*gpu_, *size, row_->t_p_us, model);
    if (!time) return at(step, time.diagnostics());
    return Sum{*time, 1, *size};
  }

  Result<Launch> launch_size(const PlanStep& step) {
    const auto checked = [&](const Result<Launch>& size) -> Result<Launch> {
      if (!size) return at(step, size.diagnostics());
      return size;
    };
    const PlanLaunch& launch = *step.launch;
    if (launch.threads) {
      const auto threads = evaluate(step, "threads", *launch.threads);
      if (!threads) return threads.diagnostics();
      return checked(choose_launch(*gpu_, *threads));
    }
    if (!launch.blocks || !launch.threads_per_block) return at(step, error("the launch has no size"));
    const auto blocks = evaluate(step, "blocks", *launch.blocks);
    if (!blocks) return blocks.diagnostics();
    const auto threads_per_block = evaluate(step, "threads_per_block", *launch.threads_per_block);
    if (!threads_per_block) return threads_per_block.diagnostics();
    return checked(check_launch(*gpu_, *blocks, *threads_per_block));
  }

  Result<std::int64_t> value_of(const PlanStep& step, const std::string& name, const Launch& size) {
    const auto of_launch = [&size](std::string_view dimension) {
      if (dimension == "blockDim.x") return size.threads_per_block;
      return dimension == "gridDim.x" ? size.blocks : std::int64_t{1};
    };
    if (const Expression* argument = find_argument(*step.launch, name)) {
      Bindings with_dimensions = bindings_;
      for (const std::string& used : argument->names()) {
        if (is_launch_dimension(used)) with_dimensions.emplace(used, of_launch(used));
      }
      const auto value = evaluate_count(*argument, with_dimensions);
      if (!value) return at(step, prefixed(fmt::format("the argument `{}`", name), value.diagnostics()));
      return *value;
    }
    if (const auto bound = bindings_.find(name); bound != bindings_.end()) return bound->second;
    return of_launch(name);  // load() has made sure of it
  }

  Result<std::int64_t> evaluate(const PlanStep& step, std::string_view what, const Expression& expression) {
    auto value = evaluate_count(expression, bindings_);
    if (!value) return at(step, prefixed(fmt::format("`{}`", what), value.diagnostics()));
    return value;
  }

  static Diagnostics prefixed(const std::string& what, Diagnostics wrong) {
    wrong.front().message = fmt::format("{}: {}", what, wrong.front().message);
    return wrong;
  }

  // Puts the place in the plan's file to diagnostics that have none.
  Diagnostics at(const PlanStep& step, Diagnostics wrong) const {
    for (Diagnostic& diagnostic : wrong) {
      if (!diagnostic.file.empty() || plan_.file.empty()) continue;
      diagnostic.file = plan_.file;
      diagnostic.line = step.line;
      diagnostic.column = 0;
      diagnostic.source_line.clear();
    }
    return wrong;
  }
  Diagnostics at(const PlanStep& step, Diagnostic wrong) const {
    return at(step, Diagnostics{std::move(wrong)});
  }

  // Once per kernel and GPU.
  Result<const Program*> load(const PlanStep& step) {
    const auto [known, fresh] =
        programs_by_kernel_.try_emplace({step.launch->kernel, step.launch->entry, gpu_->name}, nullptr);
    if (fresh) {
      auto loaded = loader_(plan_, *step.launch, *gpu_);
      if (!loaded) {
        row_independent_ = true;
        return loaded.diagnostics();
      }
      known->second = intern(std::move(*loaded));
    }
    const Program* program = known->second;
    if (checked_.insert({&step, program}).second) {
      if (Diagnostics wrong = check_names(step, *program); !wrong.empty()) {
        row_independent_ = true;
        return wrong;
      }
    }
    return program;
  }

  const Program* intern(LoadedProgram loaded) {
    for (const auto& known : programs_) {
      if (known->loaded.program == loaded.program && known->loaded.notes == loaded.notes &&
          known->durations.load == gpu_->durations.load && known->durations.store == gpu_->durations.store) {
        return known.get();
      }
    }
    auto names = used_names(loaded.program);
    programs_.push_back(
        std::make_unique<Program>(Program{std::move(loaded), gpu_->durations, std::move(names)}));
    return programs_.back().get();
  }

  Diagnostics check_names(const PlanStep& step, const Program& program) const {
    Diagnostics wrong;
    for (const std::string& name : program.names) {
      if (find_argument(*step.launch, name) != nullptr || bindings_.count(name) > 0 ||
          is_launch_dimension(name))
        continue;
      std::string description;
      for (const Parameter& parameter : program.loaded.program.parameters) {
        if (parameter.name == name && !parameter.description.empty())
          description = fmt::format(" ({})", parameter.description);
      }
      std::vector<std::string> given;
      for (const auto& [argument, value] : step.launch->arguments) given.push_back(argument);
      for (const auto& [bound, value] : bindings_) given.push_back(bound);
      const std::string near = nearest(name, given);
      wrong.push_back(error(
          fmt::format("nothing gives a value to `{}`{}, which {} uses", name, description, kernel_of(step)),
          near.empty() ? "" : fmt::format("did you mean `{}` by `{}`?", name, near)));
    }
    return at(step, std::move(wrong));
  }

  static std::string kernel_of(const PlanStep& step) {
    return step.launch->entry.empty() ? step.launch->kernel
                                      : fmt::format("{} of {}", step.launch->entry, step.launch->kernel);
  }

  void note_of(const Program& program, const PlanLaunch& launch) {
    if (!noted_.insert({&program, &launch}).second) return;
    std::vector<std::string> notes = program.loaded.notes;
    // The arguments of a kernel that was compiled need not have survived; in a program written by hand it is
    // a slip.
    if (program.loaded.program.provenance.symbol.empty()) {
      const auto names = parameter_names(program.loaded.program);
      for (const auto& [argument, value] : launch.arguments) {
        if (std::find(names.begin(), names.end(), argument) != names.end()) continue;
        notes.push_back(fmt::format("{} does not use the argument `{}`", launch.kernel, argument));
      }
    }
    for (std::string& note : notes) {
      if (std::find(row_->notes.begin(), row_->notes.end(), note) == row_->notes.end())
        row_->notes.push_back(std::move(note));
    }
  }

  const Plan& plan_;
  const PredictionOptions& options_;
  const ProgramLoader& loader_;
  CorePackageTimes times_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<std::tuple<std::string, std::string, std::string>, const Program*>
      programs_by_kernel_;  // file, entry, GPU
  std::set<std::pair<const PlanStep*, const Program*>> checked_;
  // Of the row that is being computed:
  const Gpu* gpu_ = nullptr;
  PredictionRow* row_ = nullptr;
  Bindings bindings_;
  std::uint64_t turns_ = 0;
  std::set<std::pair<const Program*, const PlanLaunch*>> noted_;
  bool row_independent_ = false;  // what is wrong has nothing to do with the row's parameters
};

// The values in the plan's order. Errors: see predict.
Result<std::vector<const ParameterValues*>> in_plan_order(const Plan& plan,
                                                          const std::vector<NamedValues>& parameters) {
  std::vector<std::string> known;
  for (const Parameter& parameter : plan.parameters) known.push_back(parameter.name);
  Diagnostics wrong;
  std::map<std::string, const ParameterValues*> by_name;
  for (const NamedValues& named : parameters) {
    if (std::find(known.begin(), known.end(), named.name) == known.end()) {
      const std::string near = nearest(named.name, known);
      std::string hint = near.empty() ? fmt::format("it has {}", yaml::list_of(known))
                                      : fmt::format("did you mean `{}`?", near);
      if (known.empty()) hint = "it has none";
      wrong.push_back(error(fmt::format("{} has no parameter `{}`", plan.name, named.name), hint));
    } else if (!by_name.emplace(named.name, &named.values).second) {
      wrong.push_back(error(fmt::format("the parameter `{}` is given twice", named.name),
                            fmt::format("several values: `{}=8,10`", named.name)));
    }
  }
  std::vector<const ParameterValues*> values;
  for (const Parameter& parameter : plan.parameters) {
    const auto found = by_name.find(parameter.name);
    if (found == by_name.end()) {
      const std::string description =
          parameter.description.empty() ? "" : fmt::format(" ({})", parameter.description);
      wrong.push_back(error(fmt::format("the parameter `{}`{} has no value", parameter.name, description),
                            fmt::format("`--param {}=VALUES`", parameter.name)));
    } else {
      values.push_back(found->second);
    }
  }
  if (!wrong.empty()) return wrong;
  return values;
}

}  // namespace

Result<std::uint64_t> sweep_size(const std::vector<const Gpu*>& gpus,
                                 const std::vector<NamedValues>& parameters) {
  std::uint64_t size = gpus.size();
  for (const NamedValues& named : parameters) {
    if (__builtin_mul_overflow(size, named.values.size(), &size)) {
      return error("the sweep has more rows than fit 64 bits");
    }
  }
  return size;
}

Result<std::uint64_t> predict(const Plan& plan, const std::vector<const Gpu*>& gpus,
                              const std::vector<NamedValues>& parameters, const PredictionOptions& options,
                              const ProgramLoader& loader,
                              const std::function<bool(const PredictionRow&)>& on_row) {
  const auto values = in_plan_order(plan, parameters);
  if (!values) return values.diagnostics();
  if (const auto size = sweep_size(gpus, parameters); !size) return size.diagnostics();
  Predictor predictor(plan, options, loader);
  std::uint64_t rows = 0;
  for (const Gpu* gpu : gpus) {
    std::vector<std::uint64_t> indices(values->size(), 0);
    for (bool more = true; more;) {
      std::vector<std::pair<std::string, std::int64_t>> row_parameters;
      for (std::size_t i = 0; i < indices.size(); ++i) {
        row_parameters.emplace_back(plan.parameters[i].name, (*values)[i]->at(indices[i]));
      }
      const auto row = predictor.row(*gpu, row_parameters);
      if (!row) return row.diagnostics();
      ++rows;
      if (!on_row(*row)) return rows;
      more = false;
      for (std::size_t i = indices.size(); i-- > 0 && !more;) {
        more = ++indices[i] < (*values)[i]->size();
        if (!more) indices[i] = 0;
      }
    }
  }
  return rows;
}

}  // namespace warptime
