#include "cli/commands/measure_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "cli/commands/commands.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "measure/device/bench_session.h"
#include "measure/device/kernels.h"
#include "measure/device/microbenchmarks.h"
#include "simulator/gpu/device.h"

namespace warptime::cli {
namespace {

// The options that mean something for a plan only.
Diagnostics check_device_options(const Arguments& arguments) {
  Diagnostics wrong;
  if (!arguments.positionals().empty())
    wrong.push_back(error(fmt::format("--device measures the GPU, not {}", arguments.positionals().front()),
                          "give only one of them"));
  for (const char* option : {"param", "what", "threads-per-block", "grid", "block", "threads", "arg",
                             "no-check", "compiler", "arch", "rolled", "format"})
    if (arguments.has(option))
      wrong.push_back(error(fmt::format("--{} has no effect with --device", option)));
  return wrong;
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// The GPU with the measured figures in place of those that its file has.
Gpu with_measured(Gpu gpu, const measuring::MeasuredTiming& measured, const measuring::DeviceInfo& device) {
  const std::string source =
      fmt::format("warptime measure --device on an {} (driver {}, {})", device.description.figures.name,
                  device.description.driver, device.versions);
  const std::string date = today();
  for (const TimingFigure& figure : timing_figures()) {
    const auto value = measured.figures.*figure.member;
    if (!value) continue;
    gpu.timing.*figure.member = value;
    gpu.timing_origins[std::string(figure.name)] = {
        source, date, measured.spreads.find(figure.name)->second, {}};
  }
  return gpu;
}

// What the GPU's file does not say and the device does: the size of L2, say.
Gpu completed(Gpu gpu, const Gpu& by_device) {
  for (const GpuFigure& figure : gpu_figures()) {
    const auto value = figure.get(by_device);
    if (figure.get(gpu) || !value) continue;
    figure.set(gpu, *value);
    gpu.sources[figure.name] = by_device.sources.at(figure.name);
  }
  return gpu;
}

Result<Gpu> gpu_to_measure(const Arguments& arguments, const DeviceDescription& device) {
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return catalogue.diagnostics();
  if (const auto name = arguments.value("gpu")) {
    const auto named = catalogue->find(*name);
    if (!named) return named.diagnostics();
    return completed(**named, gpu_of_device(*catalogue, device));
  }
  if (const Gpu* known = find_device(*catalogue, device.figures))
    return completed(*known, gpu_of_device(*catalogue, device));
  return gpu_of_device(*catalogue, device);
}

}  // namespace

int measure_device(const Arguments& arguments, int repetitions) {
  if (const auto wrong = check_device_options(arguments); !wrong.empty())
    return fail(wrong_command_line, wrong);
  if (arguments.has("dry-run"))
    return write_result(arguments.value("output"), measuring::microbenchmark_ptx());
  const auto session = measuring::BenchSession::open();
  if (!session) return fail(wrong_input, session.diagnostics());
  const auto& device = (*session)->device();
  const auto gpu = gpu_to_measure(arguments, device.description);
  if (!gpu) return fail(wrong_input, gpu.diagnostics());
  Progress progress(measuring::kMicrobenchmarkGroups, ::isatty(STDERR_FILENO) != 0);
  const auto measured = measuring::run_microbenchmarks(**session, repetitions, [&] { progress.step(); });
  progress.clear();
  if (!measured) return fail(wrong_input, measured.diagnostics());
  for (const auto& note : measured->notes) say_note(note);
  const Gpu result = with_measured(*gpu, *measured, device);
  return write_result(arguments.value("output"), to_yaml(result));
}

}  // namespace warptime::cli
