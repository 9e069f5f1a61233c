// warptime gpus: the catalogue.
#include "cli/commands/commands.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "cli/views/gpu_view.h"

namespace warptime::cli {
namespace {

CommandSyntax gpus_syntax() {
  return {"gpus",
          "list the GPUs, or show one GPU with the source of each figure",
          "[OPTION...] [NAME]",
          "Lists the GPUs of the catalogue, by compute capability, with the figures of the model.",
          "  warptime gpus\n"
          "  warptime gpus rtx-2080\n"
          "  warptime gpus --format csv\n",
          {{"Which GPUs", {gpu_dir_option()}}, general_options({"text", "json", "csv"})},
          0,
          1,
          false,
          nullptr,
          Inputs::gpus};
}

int run_gpus(const Arguments& arguments) {
  const auto format = read_choice(arguments, "format");
  if (!format) return fail(wrong_command_line, format.diagnostics());
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto output = arguments.value("output");
  if (arguments.positionals().empty()) {
    const auto view = *format == "json" ? gpus_json : *format == "csv" ? gpus_csv : gpus_text;
    return write_result(output, view(catalogue->gpus()));
  }
  const auto gpu = catalogue->find(arguments.positionals().front());
  if (!gpu) return fail(wrong_command_line, gpu.diagnostics());
  const auto view = *format == "json" ? gpu_json : *format == "csv" ? gpu_csv : gpu_text;
  // A GPU that was never measured is predicted with the figures of another one: show those too.
  return write_result(output, view(with_nearest_timing(**gpu, *catalogue)));
}

}  // namespace

Command gpus_command() {
  return {gpus_syntax(), run_gpus};
}

}  // namespace warptime::cli
