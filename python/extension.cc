// The module warptime._warptime: what warptime/_run.py calls.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/predict_input.h"
#include "cli/commands/predict_plan.h"
#include "cli/io/report.h"
#include "python/call.h"
#include "python/columns.h"
#include "simulator/plan/calibration.h"
#include "simulator/program/kernel_program.h"

namespace warptime::python {
namespace {

namespace py = pybind11;
using Words = std::vector<std::string>;

std::optional<cli::Command> find_command(const std::string& name) {
  for (const auto make : {cli::analyze_command, cli::simulate_command, cli::predict_command,
                          cli::counters_command, cli::measure_command, cli::calibrate_command,
                          cli::compare_command, cli::plan_command, cli::plans_command, cli::gpus_command}) {
    cli::Command command = make();
    if (command.syntax.name == name) return command;
  }
  return std::nullopt;
}

// run(command, words, texts, on_progress) -> (status, output, diagnostics)
py::tuple run_command(const std::string& name, const Words& words, Call::Texts texts,
                      const py::object& on_progress) {
  const auto command = find_command(name);
  if (!command) throw py::value_error("no such command: " + name);
  const auto call = std::make_shared<Call>(
      [command = *command, words](Call&) -> int {
        const auto arguments = cli::parse_arguments(command.syntax, words);
        if (!arguments) return cli::fail(cli::wrong_command_line, arguments.diagnostics());
        if (auto wrong = cli::check_outputs(command.syntax, *arguments); !wrong.empty())
          return cli::fail(cli::wrong_command_line, wrong);
        return command.run(*arguments);
      },
      std::move(texts));
  Call::run(call, on_progress);
  return py::make_tuple(call->status, text_of(call->output), to_python(call->diagnostics));
}

// What a prediction gives, beside its diagnostics.
struct Predicted {
  std::unique_ptr<ResultColumns> columns;
  cli::PredictionColumns of;
  std::uint64_t gpus = 0;
  std::uint64_t total_rows = 0, first_row = 0;  // of the whole sweep, and where a shard begins in it
  std::string why_model;
  std::vector<std::string> excluded;
  std::vector<std::pair<std::string, std::string>> parts;  // that sum to the time: key, title
};

int sweep_into(const cli::PredictInput& input, const Calibrations& calibration,
               const std::optional<cli::Shard>& shard, Call& call, Predicted& into) {
  const cli::PredictSettings& settings = input.settings;
  PredictionOptions options = settings.prediction;
  options.constants.calibration_file = calibration;
  const auto total = sweep_size(settings.gpus, settings.parameters);
  if (!total) return cli::fail(cli::wrong_input, total.diagnostics());
  into.of.best_launch = options.best_launch;
  into.of.model = options.model;
  into.of.beside = options.beside;
  into.of.disagreement = settings.disagreement;
  into.of.ranks = settings.ranks;
  into.gpus = settings.gpus.size();
  into.total_rows = *total;
  into.why_model = input.why_model;
  into.excluded = settings.excluded;
  for (const TimePart& part : options.model->parts()) {
    if (part.kind != TimePart::Kind::further) into.parts.emplace_back(part.key, part.title);
  }
  into.columns = std::make_unique<ResultColumns>(input.plan, into.of);
  SweepOptions how;
  how.threads = settings.threads;
  how.gpus_innermost = settings.ranks;
  how.stop = &call.stop();
  cli::RowRange range = {0, *total};
  if (shard) range = rows_of(*shard, *total, settings.ranks ? std::max<std::uint64_t>(into.gpus, 1) : 1);
  into.first_row = how.first = range.first;
  how.rows = range.rows;
  std::uint64_t done = 0;
  const auto rows = sweep(
      input.plan, settings.gpus, settings.parameters, options, input.loader->as_function(), how,
      [&] { return std::make_unique<ColumnsBatch>(input.plan, into.of); },
      [&](RowBatch& batch, std::uint64_t count) {
        into.columns->append(static_cast<ColumnsBatch&>(batch).columns);
        call.progress(done += count, range.rows);
        return !call.stop().load();
      });
  return rows ? cli::done : cli::fail(cli::wrong_input, rows.diagnostics());
}

int predict_into(const Words& words, Call& call, Predicted& into) {
  const auto arguments = cli::parse_arguments(cli::predict_command().syntax, words);
  if (!arguments) return cli::fail(cli::wrong_command_line, arguments.diagnostics());
  int status = cli::done;
  const auto input =
      cli::read_predict_input(*arguments, cli::WithoutMachine::by_model, status, cli::WithoutModel::by_input);
  if (!input) return status;
  const auto calibration = cli::read_calibration_option(*arguments, input->plan);
  if (!calibration) return cli::fail(cli::wrong_input, calibration.diagnostics());
  const auto shard = cli::read_shard(*arguments);
  if (!shard) return cli::fail(cli::wrong_command_line, shard.diagnostics());
  return sweep_into(*input, *calibration, *shard, call, into);
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple column_to_python(const ResultColumn& column) {
  switch (column.kind) {
    case ResultColumn::Kind::integer:
      return py::make_tuple(column.name, array_of(column.integers), py::none());
    case ResultColumn::Kind::real:
      return py::make_tuple(column.name, array_of(column.reals), py::none());
    case ResultColumn::Kind::text:
      break;
  }
  py::list texts;
  for (const std::string& text : column.text.texts) texts.append(text_of(text));
  return py::make_tuple(column.name, array_of(column.text.codes), texts);
}

// predict(words, texts, on_progress) -> (status, columns, facts, diagnostics); columns: (name, values, texts or None)
py::tuple predict_columns(const Words& words, Call::Texts texts, const py::object& on_progress) {
  const auto result = std::make_shared<Predicted>();
  const auto call = std::make_shared<Call>(
      [words, result](Call& of) { return predict_into(words, of, *result); }, std::move(texts));
  Call::run(call, on_progress);
  py::list columns;
  py::dict facts;
  if (call->status == cli::done && result->columns) {
    for (const ResultColumn& column : result->columns->all()) columns.append(column_to_python(column));
    facts["ranked"] = result->of.ranks;
    facts["gpus"] = result->gpus;
    facts["total_rows"] = result->total_rows;
    facts["first_row"] = result->first_row;
    facts["why_model"] = result->why_model;
    facts["excluded"] = result->excluded;
    facts["parts"] = result->parts;
  }
  return py::make_tuple(call->status, columns, facts, to_python(call->diagnostics));
}

// programs(text, name) -> (JSON of the kernel programs, diagnostics); the JSON is empty where the text is none.
py::tuple programs_json(const std::string& text, const std::string& name) {
  const auto programs = read_kernel_programs(text, name);
  if (!programs) return py::make_tuple("", to_python(programs.diagnostics()));
  return py::make_tuple(text_of(to_json(*programs)), py::list());
}

}  // namespace
}  // namespace warptime::python

PYBIND11_MODULE(_warptime, module) {
  using namespace warptime::python;
  module.attr("version") = WARPTIME_VERSION;
  module.def("run", &run_command);
  module.def("predict", &predict_columns);
  module.def("programs", &programs_json);
  module.def("wait_for_background", [](double seconds) {
    return wait_for_background(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
  });
}
