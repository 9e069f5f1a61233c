#include "cli/commands/predict_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/io/interrupt.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/io/report.h"
#include "cli/views/prediction_view.h"

namespace warptime::cli {
namespace {

std::unique_ptr<PredictionView> view_of(const PredictionJob& job) {
  PredictionColumns columns;
  columns.ranks = job.ranks;
  columns.best_launch = job.options.best_launch;
  columns.transfers = job.options.transfers;
  columns.model = job.options.model;
  columns.beside = job.options.beside;
  columns.disagreement = job.disagreement;
  columns.why_model = job.why_model;
  columns.sparklines = job.sparklines;
  auto view = make_prediction_view(job.format, job.plan, columns);
  return job.ranks ? make_ranking_view(std::move(view), job.gpus.size()) : std::move(view);
}

// What was written when the user had enough of it.
int stop_interrupted(Output& output, std::uint64_t rows, std::uint64_t total) {
  const auto kept = output.finish_with_part();
  if (!kept) return fail(wrong_input, kept.diagnostics());
  say_note(fmt::format("interrupted after {} of {} rows{}", rows, total,
                       kept->empty() ? "" : fmt::format(", which are in {}", *kept)));
  return interrupted_status;
}

}  // namespace

Result<std::optional<Shard>> read_shard(const Arguments& arguments) {
  const auto text = arguments.value("shard");
  if (!text) return std::optional<Shard>();
  constexpr const char* example = "such as --shard 3/16: the third of 16 parts";
  Shard shard;
  const char* const end = text->data() + text->size();
  const auto [slash, wrong_number] = std::from_chars(text->data(), end, shard.number);
  const bool has_count = wrong_number == std::errc() && slash != end && *slash == '/';
  const auto [stopped, wrong_count] = std::from_chars(has_count ? slash + 1 : end, end, shard.count);
  if (!has_count || wrong_count != std::errc() || stopped != end)
    return error_at("--shard", 0, 0, fmt::format("`{}` is not NUMBER/COUNT", *text), example);
  if (shard.number < 1 || shard.number > shard.count)
    return error_at("--shard", 0, 0,
                    shard.count == 0 ? "the number of parts must be at least 1"
                                     : fmt::format("there is no part {} of {}: parts are 1 to {}",
                                                   shard.number, shard.count, shard.count),
                    example);
  return std::optional(shard);
}

RowRange rows_of(const Shard& shard, std::uint64_t total, std::uint64_t together) {
  const std::uint64_t pieces = total / together;
  const auto begin = [&](std::uint64_t number) {
    return together * (pieces / shard.count * number + std::min(number, pieces % shard.count));
  };
  return {begin(shard.number - 1), begin(shard.number) - begin(shard.number - 1)};
}

int run_prediction(const Arguments& arguments, const PredictionJob& job) {
  const auto total = sweep_size(job.gpus, job.parameters);
  if (!total) return fail(wrong_input, total.diagnostics());
  auto output = Output::open(arguments.value("output"));
  if (!output) return fail(wrong_input, output.diagnostics());
  const Interrupt interrupt;

  const auto view = view_of(job);
  // Rows that go to a terminal one by one show how far it is.
  const bool rows_at_terminal =
      job.format != "text" && !arguments.has("output") && ::isatty(STDOUT_FILENO) != 0;
  const RowRange range =
      job.shard ? rows_of(*job.shard, *total, job.ranks ? std::max<std::uint64_t>(job.gpus.size(), 1) : 1)
                : RowRange{0, *total};
  Progress progress(range.rows, ::isatty(STDERR_FILENO) != 0 && !rows_at_terminal);
  bool begun = false;
  const auto write = [&](const std::string& text) {
    if (text.empty()) return true;
    if (rows_at_terminal || !arguments.has("output")) progress.clear();
    return (*output)->write(text);
  };
  SweepOptions how;
  how.threads = job.threads;
  how.gpus_innermost = job.ranks;
  how.stop = &interrupt.flag();
  how.first = range.first;
  how.rows = range.rows;
  // The heading waits for the first rows, so that an error stands alone.
  const auto rows = sweep(
      job.plan, job.gpus, job.parameters, job.options, job.loader, how, [&] { return view->make_batch(); },
      [&](RowBatch& batch, std::uint64_t count) {
        progress.step(count);
        return (std::exchange(begun, true) || write(view->begin())) && write(view->text(batch));
      });
  progress.clear();
  if (rows && range.rows == 0 && !begun) begun = write(view->begin());  // a part without rows has a heading
  if (begun) write(view->end());
  if (interrupt.happened() && rows) return stop_interrupted(**output, *rows, range.rows);
  if (!rows) {
    if (!arguments.has("output")) (*output)->finish();  // what was found before the error stays visible
    return fail(wrong_input, rows.diagnostics());
  }
  const auto failures = (*output)->finish();
  return failures.empty() ? done : fail(wrong_input, failures);
}

}  // namespace warptime::cli
