#include "cli/commands/models_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/pipeline.h"
#include "cli/io/output.h"
#include "cli/options/options.h"
#include "cli/views/table.h"
#include "models/git.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

namespace fs = std::filesystem;
using models::BuildSettings;
using models::BuiltModel;
using models::BuiltSource;
using models::FoundModel;
using models::GitRevision;
using models::KernelFolder;
using models::Programs;
using KernelKey = Programs::key_type;

KernelKey key_of(const BuiltSource& built, const BuiltModel& model) {
  return {built.source->file, model.file};
}

// The model of a kernel of another version of the source. (Its symbol changes with its arguments.)
const BuiltModel* model_of(const BuiltSource& built, const Provenance& kernel) {
  const BuiltModel* of_name = nullptr;
  bool several = false;
  for (const auto& model : built.models) {
    if (model.program && model.program->provenance.symbol == kernel.symbol) return &model;
    if (model.kernel != kernel.kernel) continue;
    several = of_name != nullptr;
    of_name = &model;
  }
  return several ? nullptr : of_name;
}

Diagnostic note_at(const std::string& file, std::string message, std::string hint = {}) {
  Diagnostic note = error_at(file, 0, 0, std::move(message), std::move(hint));
  note.severity = Severity::note;
  return note;
}

// Why a model is stale, apart from its program.
std::string reason(const BuiltModel& model) {
  const FoundModel now = models::read_model(model.text, model.file);
  const auto& before = model.found->heading.inputs;
  std::vector<std::string> changed;
  for (const auto& input : now.heading.inputs)
    if (std::find(before.begin(), before.end(), input) == before.end()) changed.push_back(input.file);
  for (const auto& input : before)
    if (std::none_of(now.heading.inputs.begin(), now.heading.inputs.end(),
                     [&](const auto& one) { return one.file == input.file; }))
      changed.push_back(input.file);
  if (!changed.empty()) return fmt::format("{} changed since it was made", enumerate(changed));
  if (model.found->program) {
    const auto changes =
        models::provenance_changes(model.found->program->provenance, model.program->provenance);
    if (!changes.empty()) return fmt::format("it was made with other settings: {}", to_text(changes.front()));
  }
  if (model.found->heading.tool != now.heading.tool)
    return fmt::format("it was made by {}, not by {}", model.found->heading.tool, now.heading.tool);
  return {};
}

class Run {
 public:
  Run(const ModelsSettings& settings, KernelFolder folder) : settings_(settings), folder_(std::move(folder)) {
    outcome_.report.folder = settings.folder;
    outcome_.report.against = committed_models;
    fail(folder_.errors);
  }

  ModelsOutcome update() {
    BuildSettings build = settings_.build;
    build.only_what_changed = !settings_.force;
    build_all(build);
    for (const auto& built : built_) {
      for (const auto& model : built.models) update(built, model);
      for (const auto& orphan : built.orphans)
        outcome_.said.push_back(note_at(orphan, "belongs to no kernel: its kernel was renamed or removed",
                                        fmt::format("rm {}", orphan)));
    }
    remark_on_defaults();
    return finish();
  }

  Result<ModelsOutcome> check() {
    build_all(settings_.build);
    const bool against_revision = !settings_.against.empty();
    if (against_revision) {
      outcome_.report.against = settings_.against;
      const auto revision = GitRevision::open(settings_.folder, settings_.against);
      if (!revision) return revision.diagnostics();
      if (auto read = read_revision(*revision); !read.empty()) return read;
    }
    for (const auto& built : built_) {
      for (const auto& model : built.models) check(built, model);
      for (const auto& orphan : built.orphans)
        fail({error_at(orphan, 0, 0, "is stale: its kernel was renamed or removed",
                       fmt::format("rm {}", orphan))});
    }
    if (settings_.max_regression) check_regressions();
    remark_on_defaults();
    return finish();
  }

 private:
  void fail(const Diagnostics& diagnostics) {
    outcome_.errors.insert(outcome_.errors.end(), diagnostics.begin(), diagnostics.end());
  }

  ModelsOutcome finish() {
    for (auto* list : {&outcome_.said, &outcome_.errors}) {
      std::set<std::string> seen;
      std::erase_if(*list, [&](const Diagnostic& one) { return !seen.insert(to_text(one)).second; });
    }
    return std::move(outcome_);
  }

  void build_all(const BuildSettings& build) {
    built_ = models::build_models(folder_, build);
    for (const auto& built : built_) {
      outcome_.said.insert(outcome_.said.end(), built.said.begin(), built.said.end());
      fail(built.errors);
      for (const auto& model : built.models) {
        const auto key = key_of(built, model);
        const bool found = model.found && model.found->program;
        if (found) before_[key] = *model.found->program;
        if (model.program)
          after_[key] = *model.program;
        else if (found)
          after_[key] = *model.found->program;  // nobody knows what it is now
      }
    }
  }

  ModelReport report_of(const BuiltSource& built, const BuiltModel& model, std::string status) const {
    return {model.kernel, built.source->file, model.file, std::move(status), {}, {}};
  }

  // Changes against `before`, and what they cost.
  void add_changes(const BuiltSource& built, const BuiltModel& model, ModelReport& report) {
    if (!model.program) return;
    const auto key = key_of(built, model);
    const auto was = before_.find(key);
    if (was == before_.end()) return;
    report.changes = models::program_changes(was->second, *model.program);
    const bool costs = !report.changes.empty();
    for (auto& change : models::provenance_changes(was->second.provenance, model.program->provenance))
      report.changes.push_back(std::move(change));
    if (costs) add_costs(key, report);
  }

  // Each plan that launches the kernel, with nothing else changed.
  void add_costs(const KernelKey& key, ModelReport& report) {
    Programs without = before_;
    for (const auto& [other, program] : after_) without.try_emplace(other, program);
    Programs with = without;
    with[key] = after_.at(key);
    for (const auto& plan : folder_.plans) {
      if (!models::launches_kernel(plan, after_, key)) continue;
      auto costs = models::costs_of(plan, settings_.gpus, sizes(plan), &without, with);
      for (auto& problem : costs.problems) {
        problem.severity = Severity::note;
        outcome_.said.push_back(std::move(problem));
      }
      report.costs.insert(report.costs.end(), costs.costs.begin(), costs.costs.end());
    }
  }

  std::vector<NamedValues> sizes(const Plan& plan) {
    std::vector<std::string> defaulted;
    auto values = models::sizes_of(plan, settings_.sizes, &defaulted);
    if (!defaulted.empty()) defaulted_[plan.file] = std::move(defaulted);
    return values;
  }

  void remark_on_defaults() {
    for (const auto& [file, names] : defaulted_)
      outcome_.report.remarks.push_back(fmt::format(
          "{} gives no typical {}: {} is used; set it with `typical: {{{}: …}}` in the plan", file,
          enumerate(names),
          models::sizes_text({{names.front(), models::default_size}}).substr(names.front().size() + 1),
          names.front()));
  }

  void update(const BuiltSource& built, const BuiltModel& model) {
    auto& reports = outcome_.report.models;
    if (built.skipped) return reports.push_back(report_of(built, model, "skipped"));
    if (!model.program) return reports.push_back(report_of(built, model, "failed"));
    if (model.found && model.found->text == model.text) {
      std::error_code ignored;  // newer than this program: the next update skips it
      fs::last_write_time(model.file, fs::file_time_type::clock::now(), ignored);
      return reports.push_back(report_of(built, model, "unchanged"));
    }
    if (model.found && !model.found->as_made && !settings_.force) {
      fail({error_at(model.file, 0, 0, "was edited by hand: it is not replaced",
                     fmt::format("save your edits elsewhere, then {}", forced_command()))});
      return reports.push_back(report_of(built, model, "edited"));
    }
    auto report = report_of(built, model, model.found ? "changed" : "new");
    add_changes(built, model, report);
    if (model.found && model.found->program && report.changes.empty()) report.status = "same program";
    if (const auto failures = write(model); !failures.empty()) {
      fail(failures);
      report.status = "failed";
    }
    reports.push_back(std::move(report));
  }

  static Diagnostics write(const BuiltModel& model) {
    std::error_code failed;
    fs::create_directories(fs::path(model.file).parent_path(), failed);
    if (failed)
      return {error_at(model.file, 0, 0, fmt::format("its folder cannot be created: {}", failed.message()))};
    auto output = Output::open(model.file, OverInput::replace);
    if (!output) return output.diagnostics();
    (*output)->write(model.text);
    return (*output)->finish();
  }

  std::string forced_command() const {
    std::string command = settings_.update_command;
    constexpr std::string_view update = "models update";
    return command.insert(command.find(update) + update.size(), " --force");
  }

  void check(const BuiltSource& built, const BuiltModel& model) {
    const auto status = status_of(model);
    auto report = report_of(built, model, status);
    if (status != "up to date" || !settings_.against.empty()) add_changes(built, model, report);
    if (status == "missing") {
      fail({error_at(model.file, 0, 0,
                     fmt::format("is missing: the model of {} in {}", model.kernel, built.source->file),
                     settings_.update_command)});
    } else if (status == "edited") {
      fail({error_at(model.file, 0, 0, "is stale: it was edited by hand", forced_command())});
    } else if (status == "stale") {
      const auto why = reason(model);
      fail({error_at(
          model.file, 0, 0,
          fmt::format("is stale: {}",
                      why.empty() ? "this warptime makes a different model of the same sources" : why),
          why.empty() ? forced_command() : settings_.update_command)});
    }
    outcome_.report.models.push_back(std::move(report));
  }

  static std::string status_of(const BuiltModel& model) {
    if (!model.program) return "failed";
    if (!model.found) return "missing";
    if (model.found->text == model.text) return "up to date";
    return model.found->as_made ? "stale" : "edited";
  }

  // Replaces `before_` by what the revision has: its models, or what its sources make where it has none.
  Diagnostics read_revision(const GitRevision& revision) {
    before_.clear();
    for (const auto& built : built_) {
      bool missing = false;
      for (const auto& model : built.models) {
        auto text = revision.text(model.file);
        if (!text) return text.diagnostics();
        if (!*text) {
          missing = true;
          continue;
        }
        auto found = models::read_model(std::move(**text), model.file);
        if (!found.program)
          return {error_at(model.file, 0, 0, fmt::format("cannot be read as {} has it", revision.name()))};
        before_[key_of(built, model)] = std::move(*found.program);
      }
      if (!missing) continue;
      if (auto errors = analyse_source(built, revision); !errors.empty()) return errors;
    }
    return {};
  }

  Diagnostics analyse_source(const BuiltSource& built, const GitRevision& revision) {
    const auto& file = built.source->file;
    auto text = revision.text(file);
    if (!text) return text.diagnostics();
    if (!*text) {
      outcome_.said.push_back(
          note_at(file, fmt::format("is not in {}: nothing to compare with", revision.name())));
      return {};
    }
    outcome_.said.push_back(note_at(
        file,
        fmt::format("{} does not have all models of it: its source is analysed, with the current headers",
                    revision.name())));
    auto source = source_of({file, std::move(**text), built.source->kind}, settings_.build.compile);
    if (!source) return about_revision(source.diagnostics(), revision);
    const auto analysis = analyze(std::move(*source), {"", settings_.build.skip_unsupported, {}, {}, false});
    if (!analysis) return about_revision(analysis.diagnostics(), revision);
    for (const auto& kernel : analysis->kernels)
      if (const auto* model = model_of(built, kernel.program.provenance))
        before_.try_emplace(key_of(built, *model), kernel.program);
    return about_revision(analysis->errors, revision);
  }

  static Diagnostics about_revision(Diagnostics diagnostics, const GitRevision& revision) {
    for (auto& diagnostic : diagnostics)
      (diagnostic.verbatim.empty() ? diagnostic.message : diagnostic.verbatim)
          .insert(0, fmt::format("as {} has it: ", revision.name()));
    return diagnostics;
  }

  void check_regressions() {
    for (const auto& plan : folder_.plans) {
      bool changed = false, complete = true;
      for (const auto& [key, program] : after_) {
        if (!models::launches_kernel(plan, after_, key)) continue;
        const auto was = before_.find(key);
        if (was == before_.end())
          complete = false;
        else if (!(was->second == program))
          changed = true;
      }
      if (!complete)
        outcome_.said.push_back(
            note_at(plan.file, fmt::format("{} is not compared: {} lacks a model that it needs", plan.name,
                                           settings_.against.empty() ? "the folder" : settings_.against)));
      if (complete && changed) check_regression(plan);
    }
  }

  void check_regression(const Plan& plan) {
    const auto costs = models::costs_of(plan, settings_.gpus, sizes(plan), &before_, after_);
    fail(costs.problems);
    for (const auto& cost : costs.costs) {
      const auto grown = models::growth(cost);
      if (!grown || *grown <= *settings_.max_regression) continue;
      fail({error_at(plan.file, 0, 0,
                     fmt::format("{} is slower by {} on {} at {} ({} → {}), and {}% are allowed", plan.name,
                                 models::growth_text(*grown).substr(1), cost.gpu,
                                 models::sizes_text(cost.parameters), sensible_time(*cost.before_us),
                                 sensible_time(cost.after_us), sensible(100 * *settings_.max_regression)))});
    }
  }

  const ModelsSettings& settings_;
  KernelFolder folder_;
  std::vector<BuiltSource> built_;
  Programs before_, after_;
  std::map<std::string, std::vector<std::string>> defaulted_;  // by plan's file
  ModelsOutcome outcome_;
};

// Sizes that no plan has are mistakes.
Diagnostics unknown_sizes(const ModelsSettings& settings, const KernelFolder& folder) {
  Diagnostics wrong;
  for (const auto& given : settings.sizes) {
    const bool known = std::any_of(folder.plans.begin(), folder.plans.end(), [&](const Plan& plan) {
      return std::any_of(plan.parameters.begin(), plan.parameters.end(),
                         [&](const Parameter& one) { return one.name == given.name; });
    });
    if (!known)
      wrong.push_back(error_at(
          "--param", 0, 0, fmt::format("no plan in {} has a parameter `{}`", settings.folder, given.name)));
  }
  return wrong;
}

template <class Do>
Result<ModelsOutcome> with_folder(const ModelsSettings& settings, Do what) {
  auto folder = models::read_kernel_folder(settings.folder);
  if (!folder) return folder.diagnostics();
  if (auto wrong = unknown_sizes(settings, *folder); !wrong.empty()) return wrong;
  return what(Run(settings, std::move(*folder)));
}

}  // namespace

Result<ModelsOutcome> update_models(const ModelsSettings& settings) {
  return with_folder(settings, [](Run run) -> Result<ModelsOutcome> { return run.update(); });
}

Result<ModelsOutcome> check_models(const ModelsSettings& settings) {
  return with_folder(settings, [](Run run) { return run.check(); });
}

}  // namespace warptime::cli
