#include "cli/commands/predict_explain.h"

#include <fmt/format.h>

#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/views/explanation_view.h"
#include "simulator/predict/explanation.h"

namespace warptime::cli {
namespace {

constexpr std::uint64_t most_explained_rows = 200;

}  // namespace

int run_explanation(const Arguments& arguments, const PredictionJob& job) {
  if (job.format == "csv")
    return fail(wrong_command_line, {error("--explain has no CSV format", "use --format text or json")});
  const auto total = sweep_size(job.gpus, job.parameters);
  if (!total) return fail(wrong_input, total.diagnostics());
  if (*total > most_explained_rows)
    return fail(
        wrong_input,
        {error(fmt::format("--explain takes at most {} rows; these are {}", most_explained_rows, *total),
               "choose fewer with --gpu and --param")});
  const auto explanations = explain_all(job.plan, job.gpus, job.parameters, job.options, job.loader);
  if (!explanations) return fail(wrong_input, explanations.diagnostics());
  return write_result(arguments.value("output"), job.format == "json" ? explanations_json(*explanations)
                                                                      : explanations_text(*explanations));
}

}  // namespace warptime::cli
