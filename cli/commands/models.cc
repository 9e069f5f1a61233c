// warptime models: the committed kernel programs of a folder of kernels, kept in step with the code.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/commands/commands.h"
#include "cli/commands/models_run.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/visible.h"

namespace warptime::cli {
namespace {

CommandSyntax models_syntax() {
  OptionGroup compiling = compiler_options();
  for (auto& option : compiling.options)
    if (option.names == "arch") option.help = "the target to compile for (default: sm_75)";
  return {
      "models",
      "keep the committed models (kernel programs) of a folder of kernels in step with its code",
      "[OPTION...] update|check [FOLDER] [-- COMPILER-FLAG...]",
      "FOLDER (default: this one) holds plans (*.plan.yaml) and the kernels that they launch. Each "
      "kernel's model is a file in models/ beside its source, to be committed with it: the kernel program, "
      "and the hash of every text that it was made from.\n"
      "update makes the models of sources that changed, and reports what changed in each kernel and what "
      "that costs: the times of the plans that launch it, for their `typical` sizes.\n"
      "check changes nothing. It fails if a model is missing or differs from what the code gives now, and "
      "names the command that updates it; with --max-regression it also fails if a plan became slower.",
      "  warptime models update dwt_kernels\n"
      "  warptime models check dwt_kernels\n"
      "  warptime models check dwt_kernels --gpu rtx-2080,h200 --param K=8,12 --max-regression 5%\n"
      "  warptime models check dwt_kernels --max-regression 5% --against HEAD\n"
      "  warptime models check samples/fft --format json\n",
      {{"What a change costs",
        {{"gpu", "NAME", "on this GPU; repeatable, or several with commas (default: all)"},
         {"all-gpus", "",
          "print the times on each GPU (default, without --gpu: one line for each plan, with their range "
          "and the worst one)"},
         gpu_dir_option(),
         {"param", "NAME=VALUES", "use these sizes in place of the plans' typical ones: K=8,12"}}},
       {"update", {{"force", "", "make every model again, and replace those that were edited by hand"}}},
       {"check",
        {{"max-regression", "PERCENT", "fail if a plan's predicted time grew by more than this: 5%"},
         {"against", "REVISION",
          "compare with the models of this git revision (or with its sources, if it has no models) in "
          "place of the committed ones: in CI, the branch that a change is for"}}},
       std::move(compiling),
       with_sarif(general_options({"text", "json", "csv"}))},
      1,
      2,
      true,
      nullptr,
      Inputs::models};
}

std::vector<std::string> gpus_without_core_packages(const GpuCatalogue& catalogue) {
  const auto with = catalogue.with_core_packages();
  std::vector<std::string> names;
  for (const auto& gpu : catalogue.gpus())
    if (std::find(with.begin(), with.end(), &gpu) == with.end()) names.push_back(gpu.name);
  return names;
}

Result<std::optional<double>> read_percentage(const Arguments& arguments, std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::optional<double>();
  std::string_view digits = *text;
  if (digits.ends_with('%')) digits.remove_suffix(1);
  double number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = failure == std::errc() && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(number) || number < 0)
    return error_at(fmt::format("--{}", name), 0, 0, fmt::format("`{}` is not a percentage", *text),
                    "for example 5%");
  return std::optional(number / 100);
}

// Quoted for a shell.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The command that makes the same models again.
std::string update_command(const Arguments& arguments, const std::string& folder) {
  std::string command = "warptime models update";
  for (const char* name : {"compiler", "arch"})
    if (const auto value = arguments.value(name))
      command += fmt::format(" --{} {}", name, shell_quoted(*value));
  for (const char* name : {"rolled", "skip-unsupported"})
    if (arguments.has(name)) command += fmt::format(" --{}", name);
  command += " " + shell_quoted(folder);
  if (!arguments.compiler_flags().empty()) command += " --";
  for (const auto& flag : arguments.compiler_flags()) command += " " + shell_quoted(flag);
  return command;
}

Result<ModelsSettings> read_models_settings(const Arguments& arguments, const GpuCatalogue& catalogue,
                                            bool update) {
  for (const char* name : {"max-regression", "against"})
    if (update && arguments.has(name)) return error(fmt::format("--{} is for `warptime models check`", name));
  if (!update && arguments.has("force")) return error("--force is for `warptime models update`");
  ModelsSettings settings;
  const auto& positionals = arguments.positionals();
  settings.folder = positionals.size() > 1 ? positionals[1] : ".";
  auto compile = read_compile_options(arguments);
  if (!compile) return compile.diagnostics();
  settings.build = {std::move(*compile), arguments.has("skip-unsupported"), false};
  settings.force = arguments.has("force");
  auto gpus = read_gpus(arguments, catalogue);
  if (!gpus) return gpus.diagnostics();
  settings.gpus = std::move(*gpus);
  if (settings.gpus.empty()) settings.gpus = catalogue.with_core_packages();
  auto sizes = read_parameters(arguments);
  if (!sizes) return sizes.diagnostics();
  settings.sizes = std::move(*sizes);
  const auto allowed = read_percentage(arguments, "max-regression");
  if (!allowed) return allowed.diagnostics();
  settings.max_regression = *allowed;
  settings.against = arguments.value_or("against", "");
  if (arguments.has("against") && settings.against.empty())
    return error_at("--against", 0, 0, "no revision is given", "for example --against main");
  settings.update_command = update_command(arguments, settings.folder);
  return settings;
}

// The line in "loop body (line 14)"; 0: it names none.
int line_of(const std::string& where) {
  constexpr std::string_view word = "(line ";
  const auto at = where.find(word);
  int line = 0;
  if (at != std::string::npos)
    std::from_chars(where.data() + at + word.size(), where.data() + where.size(), line);
  return line;
}

// Into the log: what changed in each kernel, at its line.
void log_changes(const ModelsReport& report, bool failed) {
  for (const auto& model : report.models) {
    for (const auto& change : model.changes) {
      auto said =
          error_at(model.source, line_of(change.where), 0,
                   fmt::format("{} differs from {}: {}", model.kernel, report.against, to_text(change)));
      const bool is_wrong = failed && (model.status == "stale" || model.status == "edited");
      said.severity = is_wrong ? Severity::error : Severity::note;
      log_only(said, "models/changed");
    }
  }
}

// Reasons for the command to fail; the log has a rule for each kind.
int fail_models(const ModelsOutcome& outcome) {
  for (const auto& said : outcome.errors) {
    say_only(said);
    std::string rule = said.verbatim.empty() ? input_rule : compiler_rule;
    Diagnostic logged = said;
    for (const auto& model : outcome.report.models) {
      if (!said.verbatim.empty() || said.file != model.model) continue;
      rule = "models/" + model.status;
      if (model.status != "missing") continue;
      logged.message = fmt::format("{} {}", said.file, said.message);
      logged.file = model.source;
    }
    if (said.verbatim.empty() && said.file.ends_with(".plan.yaml") &&
        said.message.find(" is slower by ") != std::string::npos)
      rule = "models/regression";
    log_only(logged, rule);
  }
  return wrong_input;
}

int run_models(const Arguments& arguments) {
  const std::string& action = arguments.positionals().front();
  if (action != "update" && action != "check") {
    const auto near = nearest(action, {"update", "check"});
    return fail(wrong_command_line,
                {error(fmt::format("`{}` is neither update nor check", action),
                       near.empty() ? "warptime models update FOLDER"
                                    : fmt::format("did you mean `warptime models {}`?", near))});
  }
  const auto format = read_choice(arguments, "format");
  if (!format) return fail(wrong_command_line, format.diagnostics());
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto settings = read_models_settings(arguments, *catalogue, action == "update");
  if (!settings) return fail(wrong_command_line, settings.diagnostics());

  const auto outcome = action == "update" ? update_models(*settings) : check_models(*settings);
  if (!outcome) return fail(wrong_input, outcome.diagnostics());
  say(outcome->said);
  const bool costs = std::any_of(outcome->report.models.begin(), outcome->report.models.end(),
                                 [](const ModelReport& model) { return !model.costs.empty(); });
  if (costs && asks_for_all_gpus(arguments)) say_excluded_gpus(gpus_without_core_packages(*catalogue));
  const bool each_time = arguments.has("all-gpus") || !asks_for_all_gpus(arguments);
  std::string text = models_view(outcome->report, *format, each_time);
  if (*format == "text") text = visible(text, LineBreaks::keep);
  log_changes(outcome->report, action == "check");
  const int status = write_result(arguments.value("output"), text);
  return outcome->errors.empty() ? status : fail_models(*outcome);
}

}  // namespace

Command models_command() {
  return {models_syntax(), run_models};
}

}  // namespace warptime::cli
