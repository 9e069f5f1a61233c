#include "simulator/predict/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "simulator/base/did_you_mean.h"
#include "simulator/predict/array_places.h"
#include "simulator/program/profiled_program.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

// The name that plans of earlier versions have for the iteration count of a loop; empty for other parameters.
std::string old_name(std::string_view name) {
  constexpr std::string_view iterations = "iterations_at_";
  return name.starts_with(iterations) ? fmt::format("turns_at_{}", name.substr(iterations.size())) : "";
}

const Expression* find_argument(const PlanLaunch& launch, std::string_view name) {
  const auto given = [&](std::string_view wanted) -> const Expression* {
    for (const auto& [argument, value] : launch.arguments) {
      if (argument == wanted) return &value;
    }
    return nullptr;
  };
  const Expression* argument = given(name);
  return argument != nullptr ? argument : given(old_name(name));
}

// Thrown only here and caught in PreparedPlan::make.
struct Failed {
  Diagnostics diagnostics;
};

class Preparation {
 public:
  Preparation(const Plan& plan, const PredictionOptions& options, const ProgramLoader& loader,
              PreparedPlan& prepared)
      : plan_(plan), options_(options), loader_(loader), prepared_(prepared) {
    for (const Parameter& parameter : plan.parameters) add_slot(parameter.name);
    number_counters(plan.steps);
    prepared_.block_slot = prepared_.slots.size();
    prepared_.grid_slot = prepared_.block_slot + 3;
    for (const std::string_view name : launch_dimensions()) prepared_.slots.emplace_back(name);
    for (std::size_t k = 0; k < plan.arrays.size(); ++k)
      array_begins_.emplace(plan.arrays[k].name, Expression(array_begin(k)));
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) scope_.emplace_back(plan.parameters[i].name, i);
  }

  PreparedGpu prepare(const Gpu& gpu) {
    PreparedGpu prepared(gpu);
    gpu_ = &gpu;
    into_ = &prepared;
    if (const auto notes = options_.gpu_notes.find(gpu.name); notes != options_.gpu_notes.end())
      prepared.notes = notes->second;
    const ChosenConstants chosen =
        choose_constants(*options_.model, gpu, plan_.calibrations, options_.constants);
    prepared.constants = chosen.values;
    prepared.t_p_source = chosen.t_p_source;
    prepared.t_m_source = chosen.t_m_source;
    prepared.durations = durations_ = chosen.durations;
    if (options_.transfers) check_copies();
    prepared.steps = prepare(plan_.steps);
    if (!prepared_.left_out.empty() && (!options_.leave_out_launches || prepared.launches.empty()))
      throw Failed{prepared_.left_out};
    check_single_durations(prepared);
    return prepared;
  }

  // That each name assumed is one that a program has.
  void check_assumed() const {
    for (const auto& [name, value] : options_.assumed) {
      std::vector<std::string> known;
      for (const auto& program : prepared_.programs)
        for (const Parameter& parameter : program->program->parameters) known.push_back(parameter.name);
      known.insert(known.end(), early_names_.begin(), early_names_.end());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = nearest(name, known);
      throw Failed{{error(fmt::format("no kernel has a parameter `{}` to assume", name),
                          near.empty() ? "`warptime analyze` lists a kernel's parameters"
                                       : fmt::format("did you mean `{}`?", near))}};
    }
  }

 private:
  // That each access with a duration of its own is one that a kernel has.
  void check_single_durations(const PreparedGpu& gpu) const {
    for (const auto& duration : durations_.single) {
      const auto& name = duration.first;
      const bool known = std::any_of(
          gpu.launches.begin(), gpu.launches.end(),
          [&](const PreparedLaunch& launch) { return has_access(*launch.program->program, name); });
      if (known) continue;
      throw Failed{
          {error(fmt::format("the calibration of {} has a duration of {}, an access that no kernel of {} has",
                             gpu_->name, to_string(name), plan_.name),
                 "it was fitted to another version of the kernel: calibrate again")}};
    }
  }

  // That the GPU has the figures of the plan's copies.
  void check_copies() const {
    const bool steps = has_copies(plan_.steps);
    bool host = steps, device = false;
    const auto look = [&](const auto& self, const std::vector<PlanTransfer>& transfers) -> void {
      for (const PlanTransfer& transfer : transfers) {
        const bool on_device = transfer.direction == PlanTransferDirection::device_to_device ||
                               transfer.direction == PlanTransferDirection::set;
        if (transfer.transfers.empty()) (on_device ? device : host) = true;
        self(self, transfer.transfers);
      }
    };
    if (!steps) look(look, plan_.transfers);
    if (host && !gpu_->copies)
      throw Failed{
          {error(fmt::format("nobody knows how fast copies to {} are: its file has no `copies`", gpu_->name),
                 "add `copies: {to_device_gb_s: …, to_host_gb_s: …, latency_us: …, source: …}` to its "
                 "file in a folder that --gpu-dir names")}};
    if (device && !gpu_->memory_bandwidth_gb_s)
      throw Failed{
          {error(fmt::format("{} has no memory_bandwidth_gb_s, which the plan's transfers within the "
                             "device need",
                             gpu_->name))}};
  }

  std::size_t add_slot(const std::string& name) {
    prepared_.slots.push_back(name);
    return prepared_.slots.size() - 1;
  }

  void number_counters(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
      if (!step.counter.empty()) counter_slots_[&step] = add_slot(step.counter);
      number_counters(step.steps);
    }
  }

  std::vector<PreparedStep> prepare(const std::vector<PlanStep>& steps) {
    std::vector<PreparedStep> prepared;
    prepared.reserve(steps.size());
    for (const PlanStep& step : steps) prepared.push_back(prepare(step));
    return prepared;
  }

  PreparedStep prepare(const PlanStep& step) {
    const bool once = step.repeat.is_integer() && step.repeat.integer_value() == 1;
    PreparedStep prepared{&step, compile(step.repeat, false), once && step.counter.empty(), -1, false, -1,
                          {}};
    if (!step.counter.empty()) {
      const std::size_t slot = counter_slots_.at(&step);
      prepared.counter_slot = static_cast<int>(slot);
      scope_.emplace_back(step.counter, slot);
    }
    if (step.launch) {
      if (auto launch = prepare_launch(step)) {
        prepared.launch = static_cast<int>(into_->launches.size());
        into_->launches.push_back(std::move(*launch));
      }
    } else {
      prepared.steps = prepare(step.steps);
    }
    if (!step.counter.empty()) {
      scope_.pop_back();
      std::vector<std::string> names;
      collect_names(prepared, true, names);
      prepared.counted = std::find(names.begin(), names.end(), step.counter) != names.end();
    }
    return prepared;
  }

  // The kernel and the shape of the step's launch, and the values of its program's names.
  void collect_names(const PreparedStep& prepared, bool outermost, std::vector<std::string>& names) const {
    if (!outermost) prepared.step->repeat.collect_names(names);
    for (const PreparedStep& inner : prepared.steps) collect_names(inner, false, names);
    if (prepared.launch < 0) return;
    const PlanLaunch& launch = *prepared.step->launch;
    launch.for_each_size([&](const Expression& size) { size.collect_names(names); });
    if (launch.shared) launch.shared->collect_names(names);
    for (const std::string& name :
         into_->launches[static_cast<std::size_t>(prepared.launch)].program->names) {
      const Expression* argument = find_argument(launch, name);
      (argument != nullptr ? *argument : Expression::name(name)).collect_names(names);
    }
  }

  // Nothing: a name of its program has no value, which left_out says.
  std::optional<PreparedLaunch> prepare_launch(const PlanStep& step) {
    const PlanLaunch& launch = *step.launch;
    auto loaded = loader_(plan_, launch, *gpu_);
    if (!loaded) throw Failed{loaded.diagnostics()};
    PreparedLaunch prepared;
    prepared.step = &step;
    const KernelProfile* const profile = options_.profile.of_kernel(launch.entry);
    if (profile != nullptr) note_unknown_names(*loaded->program, *profile);
    const bool whole = options_.all_warps || takes_whole_launches(options_);
    for (const auto& [at, loop] : early_loops(*loaded->program)) early_names_.insert(loop.name);
    ProfiledProgram profiled = with_profile(loaded->program, profile != nullptr ? *profile : KernelProfile(),
                                            options_.assumed, whole ? Unsaid::typical : Unsaid::most);
    loaded->program = std::move(profiled.program);
    prepared.shares = std::move(profiled.shares);
    prepared.program = intern(loaded->program);
    for (std::string& note : profiled.notes)
      add_note(fmt::format("{}: {}", warptime::kernel_of(prepared), note));
    if (auto wrong = check_names(step, *prepared.program); !wrong.empty()) {
      leave_out(at_step(plan_, step, std::move(wrong)));
      return std::nullopt;
    }
    add_notes(*loaded, launch);
    if (launch.threads) prepared.threads = compile(*launch.threads, false);
    for (const Expression& size : launch.grid) prepared.grid.push_back(compile(size, false));
    for (const Expression& size : launch.block) prepared.block.push_back(compile(size, false));
    if (launch.shared) prepared.shared = compile(*launch.shared, true);
    into_->block_shapes = into_->block_shapes || loaded->program->block_shape;
    into_->several_dimensions = into_->several_dimensions || prepared.several_dimensions();
    for (const std::string& name : prepared.program->names)
      prepared.values.push_back(compile(value_of(launch, name), true));
    if (const auto warps = prepared_.warps.find(prepared.program); warps != prepared_.warps.end())
      prepare_warps(warps->second, launch, prepared);
    return prepared;
  }

  void leave_out(Diagnostics why) {
    auto& left_out = prepared_.left_out;
    for (Diagnostic& one : why)
      if (std::find(left_out.begin(), left_out.end(), one) == left_out.end())
        left_out.push_back(std::move(one));
  }

  // What was said of what data decide.
  std::optional<double> assumed_value(const PlanLaunch& launch, const std::string& name) const {
    if (const auto assumed = options_.assumed.find(name); assumed != options_.assumed.end())
      return assumed->second;
    return options_.profile.find(launch.entry, name);
  }

  Expression value_of(const PlanLaunch& launch, const std::string& name) const {
    if (const Expression* argument = find_argument(launch, name)) return *argument;
    if (auto pointer = pointer_value(launch, name)) return std::move(*pointer);
    if (slot_of(name, true) < 0 || find_unknown(launch, name) != nullptr) {
      // Shares that nobody gives decide which warps there are, not what one executes.
      const auto assumed = assumed_value(launch, name);
      return Expression(assumed ? static_cast<std::int64_t>(std::llround(*assumed)) : std::int64_t{1});
    }
    return Expression::name(name);
  }

  // What a pointer argument is as a number, where the launch says to which array it points: kernels compare it with null, or
  // ask how it is aligned.
  std::optional<Expression> pointer_value(const PlanLaunch& launch, const std::string& name) const {
    const auto given = std::find_if(launch.data.begin(), launch.data.end(),
                                    [&](const auto& one) { return one.first == name; });
    const Expression of = given != launch.data.end() ? given->second : Expression::name(name);
    const Expression pointer = of.substitute(array_begins_);
    if (pointer == of) return std::nullopt;  // over no array
    const std::vector<std::string> names = pointer.names();
    const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& one) {
      return slot_of(one, true) >= 0 && find_unknown(launch, one) == nullptr;
    });
    return known ? std::optional(pointer) : std::nullopt;
  }

  void prepare_warps(const WarpProgram& warps, const PlanLaunch& launch, PreparedLaunch& prepared) {
    prepared.warps = &warps;
    into_->differing_warps = true;
    for (const std::string& name : warps.thread_names()) {
      const Expression* argument = find_argument(launch, name);
      const auto pointer = pointer_value(launch, name);
      if (argument == nullptr && pointer) argument = &*pointer;
      if (argument == nullptr && (slot_of(name, true) < 0 || find_unknown(launch, name) != nullptr)) continue;
      prepared.thread_values.emplace_back(
          name, compile(argument != nullptr ? *argument : Expression::name(name), true));
    }
    for (const Parameter& parameter : prepared.program->program->parameters) {
      if (!parameter.share) continue;
      if (const Expression* argument = find_argument(launch, parameter.name)) {
        if (const auto number = evaluate_number(*argument, {})) {
          prepared.shares[parameter.name] = *number;
          continue;
        }
      }
      if (const auto assumed = assumed_value(launch, parameter.name))
        prepared.shares[parameter.name] = *assumed;
    }
  }

  CompiledExpression compile(const Expression& expression, bool with_dimensions) const {
    return {expression, [&](const std::string& name) { return slot_of(name, with_dimensions); }};
  }

  int slot_of(const std::string& name, bool with_dimensions) const {
    for (auto at = scope_.rbegin(); at != scope_.rend(); ++at) {
      if (at->first == name) return static_cast<int>(at->second);
    }
    return with_dimensions ? prepared_.dimension_slot(name) : -1;
  }

  const TimedProgram* intern(std::shared_ptr<const KernelProgram> program) {
    const MemoryDurations durations = durations_of(*program, durations_);
    if (options_.places || !durations.single.empty()) program = with_places(*program);
    for (const auto& known : prepared_.programs) {
      if ((known->program == program || *known->program == *program) && known->durations == durations) {
        return known.get();
      }
    }
    prepared_.programs.push_back(
        std::make_unique<TimedProgram>(TimedProgram{program, durations, used_names(*program)}));
    const TimedProgram* fresh = prepared_.programs.back().get();
    prepared_.remembered->keep(program);
    if (WarpProgram warps(*fresh->program);
        options_.all_warps || takes_whole_launches(options_) || warps.varies())
      prepared_.warps.emplace(fresh, std::move(warps));
    return fresh;
  }

  Diagnostics check_names(const PlanStep& step, const TimedProgram& program) const {
    Diagnostics wrong;
    for (const std::string& name : program.names) {
      const UnknownArgument* unknown = find_unknown(*step.launch, name);
      if (unknown == nullptr && (find_argument(*step.launch, name) != nullptr || slot_of(name, true) >= 0 ||
                                 pointer_value(*step.launch, name)))
        continue;
      std::string description;
      bool share = assumed_value(*step.launch, name).has_value();
      for (const Parameter& parameter : program.program->parameters) {
        if (parameter.name != name) continue;
        share = share || parameter.share;
        if (!parameter.description.empty()) description = fmt::format(" ({})", parameter.description);
      }
      if (share) continue;
      if (unknown != nullptr) {
        const std::string of = unknown->description.empty() ? "" : fmt::format(" ({})", unknown->description);
        const std::string argument =
            unknown->name == unknown->parameter ? "" : fmt::format(" for its argument `{}`", unknown->name);
        wrong.push_back(error(fmt::format("the parameter `{}`{}, which {} uses{}, has no value",
                                          unknown->parameter, of, kernel_of(step), argument),
                              fmt::format("`--param {}=VALUES`", unknown->parameter)));
        continue;
      }
      std::vector<std::string> given;
      for (const auto& [argument, value] : step.launch->arguments) given.push_back(argument);
      for (const auto& [bound, slot] : scope_) given.push_back(bound);
      const std::string near = nearest(name, given);
      wrong.push_back(
          error(fmt::format("`{}`{}, which {} uses, has no value", name, description, kernel_of(step)),
                near.empty() ? fmt::format("`--assume {}=VALUE`", name)
                             : fmt::format("did you mean `{}` by `{}`?", name, near)));
    }
    return wrong;
  }

  static const UnknownArgument* find_unknown(const PlanLaunch& launch, const std::string& name) {
    const auto found = std::find_if(launch.unknown.begin(), launch.unknown.end(),
                                    [&](const UnknownArgument& one) { return one.name == name; });
    return found == launch.unknown.end() ? nullptr : &*found;
  }

  static std::string kernel_of(const PlanStep& step) {
    return step.launch->entry.empty() ? step.launch->kernel
                                      : fmt::format("{} of {}", step.launch->entry, step.launch->kernel);
  }

  void add_notes(const LoadedProgram& loaded, const PlanLaunch& launch) {
    for (const std::string& note : loaded.notes) add_note(note);
    // The compiler may have removed arguments of a compiled kernel; in a hand-written program, it is a
    // mistake.
    if (!loaded.program->provenance.symbol.empty()) return;
    const auto names = parameter_names(*loaded.program);
    for (const auto& [argument, value] : launch.arguments) {
      const auto is_argument = [&argument = argument](const std::string& name) {
        return name == argument || old_name(name) == argument;
      };
      if (std::none_of(names.begin(), names.end(), is_argument))
        add_note(fmt::format("{} does not use the argument `{}`", launch.kernel, argument));
    }
  }

  void note_unknown_names(const KernelProgram& program, const KernelProfile& profile) {
    const auto unknown = unknown_names(program, profile);
    if (unknown.empty()) return;
    const std::string others = unknown.size() > 1 ? fmt::format(" and {} more", unknown.size() - 1) : "";
    add_note(
        fmt::format("the profile has {}{}, which {} does not have: of another version of the source, or "
                    "another compiler?",
                    unknown.front(), others, program.provenance.kernel));
  }

  void add_note(const std::string& note) {
    auto& notes = into_->notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }

  const Plan& plan_;
  const PredictionOptions& options_;
  const ProgramLoader& loader_;
  PreparedPlan& prepared_;
  std::map<std::string, Expression, std::less<>> array_begins_;
  std::map<const PlanStep*, std::size_t> counter_slots_;
  std::set<std::string> early_names_;  // EarlyLoop::name
  std::vector<std::pair<std::string, std::size_t>>
      scope_;  // names with a value at this place, outermost first
  const Gpu* gpu_ = nullptr;
  MemoryDurations durations_;  // the GPU's, with those of calibrations
  PreparedGpu* into_ = nullptr;
};

}  // namespace

const std::string& kernel_of(const PreparedLaunch& launch) {
  const std::string& kernel = launch.program->program->provenance.kernel;
  if (!kernel.empty()) return kernel;
  const PlanLaunch& of = *launch.step->launch;
  return of.entry.empty() ? of.kernel : of.entry;
}

Diagnostics at_step(const Plan& plan, const PlanStep& step, Diagnostics wrong) {
  for (Diagnostic& diagnostic : wrong) {
    if (!diagnostic.file.empty() || plan.file.empty()) continue;
    diagnostic.file = plan.file;
    diagnostic.line = step.line;
    diagnostic.column = 0;
    diagnostic.source_line.clear();
  }
  return wrong;
}

int PreparedPlan::dimension_slot(std::string_view name) const {
  const auto names = launch_dimensions();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(block_slot) + static_cast<int>(found - names.begin());
}

Result<PreparedPlan> PreparedPlan::make(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                        const PredictionOptions& options, const ProgramLoader& loader,
                                        Diagnostics left_out) {
  PreparedPlan prepared;
  prepared.plan = &plan;
  prepared.left_out = std::move(left_out);
  prepared.remembered =
      options.remembered != nullptr ? options.remembered : std::make_shared<RememberedWork>();
  try {
    Preparation preparation(plan, options, loader, prepared);
    prepared.gpus.reserve(gpus.size());
    for (const Gpu* gpu : gpus) prepared.gpus.push_back(preparation.prepare(*gpu));
    preparation.check_assumed();
  } catch (Failed& failed) {
    return std::move(failed.diagnostics);
  }
  return prepared;
}

}  // namespace warptime
