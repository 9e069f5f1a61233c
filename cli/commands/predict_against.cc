#include "cli/commands/predict_against.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/views/against_view.h"
#include "cli/views/prediction_view.h"
#include "load/kernel_loader.h"
#include "load/plan_flags.h"
#include "load/plan_input.h"

namespace warptime::cli {
namespace {

constexpr std::uint64_t most_against_rows = 1'000'000;

bool has_parameter(const Plan& plan, const std::string& name) {
  return std::any_of(plan.parameters.begin(), plan.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

// Those that the plan has.
std::vector<NamedValues> parameters_of(const Plan& plan, const std::vector<NamedValues>& all) {
  std::vector<NamedValues> own;
  for (const auto& one : all)
    if (has_parameter(plan, one.name)) own.push_back(one);
  return own;
}

Result<std::vector<PredictionRow>> rows_of(const Plan& plan, const PredictionJob& job,
                                           const ProgramLoader& loader) {
  std::vector<PredictionRow> rows;
  const auto count = predict(plan, job.gpus, parameters_of(plan, job.parameters), job.options, loader,
                             [&](const PredictionRow& row) {
                               rows.push_back(row);
                               return true;
                             });
  if (!count) return count.diagnostics();
  return rows;
}

// The values of `row` for the parameters that both plans have: what rows are matched by.
std::vector<std::int64_t> key_of(const PredictionRow& row, const std::vector<std::string>& shared) {
  std::vector<std::int64_t> key;
  for (const auto& name : shared) {
    const auto found = std::find_if(row.parameters.begin(), row.parameters.end(),
                                    [&](const auto& parameter) { return parameter.first == name; });
    key.push_back(found->second);
  }
  return key;
}

// Every row of one plan with every row of the other of the same GPU and shared parameters. Those of the plan
// with more parameters come in its order.
std::vector<PlanPair> pair_up(const std::vector<PredictionRow>& first,
                              const std::vector<PredictionRow>& second,
                              const std::vector<std::string>& shared) {
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::vector<const PredictionRow*>> by_key;
  for (const auto& row : second) by_key[{row.gpu, key_of(row, shared)}].push_back(&row);
  std::vector<PlanPair> pairs;
  for (const auto& row : first) {
    for (const auto* other : by_key[{row.gpu, key_of(row, shared)}]) {
      PlanPair pair{row.gpu, row.parameters, row.time.total_us, other->time.total_us};
      for (const auto& [name, value] : other->parameters)
        if (std::find(shared.begin(), shared.end(), name) == shared.end())
          pair.parameters.emplace_back(name, value);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

Diagnostics check_parameters(const Plan& first, const Plan& second, const std::vector<NamedValues>& given) {
  Diagnostics wrong;
  for (const auto& one : given)
    if (!has_parameter(first, one.name) && !has_parameter(second, one.name))
      wrong.push_back(
          error(fmt::format("neither {} nor {} has a parameter `{}`", first.name, second.name, one.name)));
  return wrong;
}

}  // namespace

int run_against(const Arguments& arguments, const PredictionJob& job, const std::string& other,
                const PredictSettings& settings) {
  if (arguments.has("explain"))
    return fail(wrong_command_line,
                {error("--explain cannot be used with --against", "explain one plan at a time")});
  const auto input = read_plan_input(other);
  if (!input) return fail(wrong_input, input.diagnostics());
  if (const auto wrong = check_parameters(job.plan, input->plan, job.parameters); !wrong.empty())
    return fail(wrong_input, wrong);
  const auto total = sweep_size(job.gpus, job.parameters);
  if (!total) return fail(wrong_input, total.diagnostics());
  if (*total > most_against_rows)
    return fail(
        wrong_input,
        {error(fmt::format("--against takes at most {} rows; these are {}", most_against_rows, *total))});

  KernelLoader loader(input->read, say_each, with_plan_flags(settings.compile, input->plan),
                      arguments.has("skip-unsupported"), arguments.has("registers"), settings.machine);
  loader.set_parameters(settings.parameters);
  loader.set_classes(reads_instruction_classes(settings.prediction));
  loader.set_rearrange(arguments.has("rearrange"));
  loader.prepare(input->plan, job.gpus);
  const auto first = rows_of(job.plan, job, job.loader);
  if (!first) return fail(wrong_input, first.diagnostics());
  const auto second = rows_of(input->plan, job, loader.as_function());
  if (!second) return fail(wrong_input, second.diagnostics());

  std::vector<std::string> shared;
  for (const auto& parameter : job.plan.parameters)
    if (has_parameter(input->plan, parameter.name)) shared.push_back(parameter.name);
  PlanComparison comparison{job.plan.name, input->plan.name, pair_up(*first, *second, shared)};
  comparison.calls_close = has_interval(*job.options.model);
  comparison.model = job.why_model.empty() ? "" : model_line(*job.options.model, job.why_model);
  return write_result(arguments.value("output"), against_text(comparison, job.format));
}

}  // namespace warptime::cli
