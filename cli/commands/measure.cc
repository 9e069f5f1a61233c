// warptime measure: a plan's kernels on the GPU of this machine → a measurements CSV.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/kernel_plan.h"
#include "cli/commands/measure_device.h"
#include "cli/commands/measure_rows.h"
#include "cli/commands/measure_run.h"
#include "cli/io/interrupt.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "measure/arrays.h"
#include "simulator/gpu/device.h"

namespace warptime::cli {
namespace {

using measuring::What;

constexpr int kMostRepetitions = 1'000'000;

OptionGroup compiling() {
  auto group = compiler_options();
  std::erase_if(group.options, [](const Option& option) { return option.names == "skip-unsupported"; });
  for (auto& option : group.options)
    if (option.names == "compiler")
      option.help =
          "nvcc, as your own build uses, or clang (built in); default: nvcc if it is installed, else clang";
  return group;
}

CommandSyntax measure_syntax() {
  return {
      "measure",
      "time a plan's kernels, or the CUDA GPU of this machine itself, and write the figures",
      "[OPTION...] PLAN|KERNEL [-- COMPILER-FLAG...]\n"
      "  warptime measure --device [OPTION...]",
      "Compiles the plan's kernels for this machine's GPU, checks once that the GPU and the CPU compute "
      "the same arrays, and times each combination of parameters after a warm-up: medians and "
      "interquartile ranges. PLAN is a plan with an `arrays` section, or the name of a bundled one; KERNEL "
      "is a .cu or .ptx with its launch and arguments on the command line. docs/measuring.md describes the "
      "columns. With --device, runs micro-benchmarks instead and writes a GPU file.",
      "  warptime measure mtx --param K=8 --param N=2^6..2^20 --dry-run --gpu h200 -o launches.txt\n"
      "  warptime measure dwt_kernels/mtx.cu --grid N/128 --block 128 --param K=8,N=2^20 --arg "
      "idata=random:f32:N "
      "--arg odata=zeros:f32:N --arg coefs=random:f32:2*K --dry-run --gpu h200\n"
      "  warptime measure --device -o my-gpu.yaml\n",
      {{"What to measure",
        {param_option(),
         {"what", "WHAT",
          "measure kernels, the sum of the kernels' own durations (from CUPTI, as profilers report them); "
          "or plan, the time between CUDA events around all launches; or both (default: kernels,plan)"},
         {"repetitions", "COUNT",
          "time this many runs of each combination, or of each micro-benchmark (default: 10)"},
         {"threads-per-block", "VALUES",
          "use these block sizes instead of Algorithm 3's, for launches that give only their number of "
          "threads; VALUES as for --param. Shows the effect of the block size"}}},
       kernel_plan_options(),
       {"The GPU itself",
        {{"device", "",
          "measure the GPU instead of a plan: latencies, instructions, bandwidths, barriers, atomics, block "
          "starts and launches. Write its GPU file, each figure with its spread and date, in less than two "
          "minutes. Use it once per GPU, with nothing else running on it. With --dry-run: write the "
          "micro-benchmarks' PTX"}}},
       {"Which GPU",
        {{"gpu", "NAME",
          "the catalogue's name for this machine's GPU (default: found from what the device reports; a GPU "
          "that is not in the catalogue gets a file of its own, in ./gpus or the folder of --gpu-dir)"},
         gpu_dir_option()}},
       {"Checking",
        {{"no-check", "", "do not compare with the CPU, if that takes too long"},
         {"dry-run", "",
          "run nothing; write the arrays and every launch with its arguments. Needs --gpu NAME, but no "
          "GPU"}}},
       compiling(),
       with_sarif(general_options({"csv", "json"}))},
      0,
      1,
      true,
      nullptr,
      Inputs::files_or_plans};
}

struct Request {
  std::vector<NamedValues> parameters;
  std::optional<ParameterValues> threads_per_block;
  KernelPlanOptions kernel;
  std::vector<What> what;
  int repetitions = 10;
  bool check = true, dry_run = false, json = false;
  CompileOptions compile;
};

Result<std::vector<What>> read_what(const Arguments& arguments) {
  std::vector<What> all;
  const auto text = arguments.value_or("what", "kernels,plan");
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto comma = std::min(text.find(',', begin), text.size());
    const auto word = text.substr(begin, comma - begin);
    begin = comma + 1;
    if (word != "kernels" && word != "plan")
      return error_at("--what", 0, 0, fmt::format("`{}` is not one of kernels and plan", word));
    const auto what = word == "kernels" ? What::kernels : What::plan;
    if (std::find(all.begin(), all.end(), what) == all.end()) all.push_back(what);
  }
  return all;
}

Result<int> read_repetitions(const Arguments& arguments) {
  const auto text = arguments.value_or("repetitions", "10");
  int count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end != text.data() + text.size() || count < 1 || count > kMostRepetitions)
    return error_at("--repetitions", 0, 0,
                    fmt::format("`{}` is not a number from 1 to {}", text, kMostRepetitions));
  return count;
}

Result<std::optional<ParameterValues>> read_threads_per_block(const Arguments& arguments) {
  const auto text = arguments.value("threads-per-block");
  if (!text) return std::optional<ParameterValues>();
  auto values = ParameterValues::parse(*text);
  if (!values) {
    auto wrong = values.diagnostics();
    for (auto& one : wrong) one.file = "--threads-per-block";
    return wrong;
  }
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(values->size(), most_measured_cases); ++i)
    if (values->at(i) < 1 || values->at(i) > 1024)
      return error_at("--threads-per-block", 0, 0,
                      fmt::format("{} is not a number from 1 to 1024", values->at(i)));
  return std::optional(std::move(*values));
}

template <class T, class U>
void take(Diagnostics& errors, const Result<T>& result, U& to) {
  if (result)
    to = *result;
  else
    errors.insert(errors.end(), result.diagnostics().begin(), result.diagnostics().end());
}

Result<Request> read_request(const Arguments& arguments) {
  Request request;
  Diagnostics errors;
  take(errors, read_parameters(arguments), request.parameters);
  take(errors, read_threads_per_block(arguments), request.threads_per_block);
  take(errors, read_kernel_plan_options(arguments), request.kernel);
  take(errors, read_what(arguments), request.what);
  take(errors, read_repetitions(arguments), request.repetitions);
  take(errors, read_compile_options(arguments), request.compile);
  const auto format = read_choice(arguments, "format");
  if (format)
    request.json = *format == "json";
  else
    errors.insert(errors.end(), format.diagnostics().begin(), format.diagnostics().end());
  request.check = !arguments.has("no-check");
  request.dry_run = arguments.has("dry-run");
  if (request.dry_run && !arguments.has("gpu"))
    errors.push_back(
        error("--dry-run needs --gpu: it does not look at this machine's GPU", "for example --gpu h200"));
  if (!errors.empty()) return errors;
  return request;
}

// Writes the file of a GPU that the catalogue has not: to the folder of --gpu-dir, else to ./gpus. A file
// that is there stays as it is.
Diagnostics write_gpu_file(const Arguments& arguments, const Gpu& gpu) {
  namespace fs = std::filesystem;
  const fs::path folder = arguments.value_or("gpu-dir", "gpus");
  const fs::path file = folder / (gpu.name + ".yaml");
  const std::string what =
      fmt::format("{} is no GPU of the catalogue: it is measured as {}", gpu.title, gpu.name);
  std::error_code status;
  if (fs::exists(file, status)) {
    say_note(fmt::format("{}, whose file is {}", what, file.string()));
    return {};
  }
  fs::create_directories(folder, status);
  auto output = Output::open(file.string());
  if (!output) return output.diagnostics();
  (*output)->write(to_yaml(gpu));
  if (auto failures = (*output)->finish(); !failures.empty()) return failures;
  say_note(fmt::format("{}, and what the device says is in {}", what, file.string()),
           fmt::format("--gpu-dir {} makes the other commands know it", folder.string()));
  return {};
}

// The catalogue's GPU that this machine has, or one made of what the device says.
Result<Gpu> measured_gpu(const Arguments& arguments, const GpuCatalogue& catalogue,
                         const DeviceDescription& device) {
  if (const auto name = arguments.value("gpu")) {
    const auto named = catalogue.find(*name);
    if (!named) return named.diagnostics();
    return **named;
  }
  if (const Gpu* known = find_device(catalogue, device.figures)) return *known;
  Gpu made = gpu_of_device(catalogue, device);
  if (auto wrong = write_gpu_file(arguments, made); !wrong.empty()) return wrong;
  return made;
}

CompileOptions for_gpu(const Arguments& arguments, CompileOptions compile,
                       const ComputeCapability& capability) {
  if (!arguments.has("compiler") && nvcc_version()) compile.compiler = Compiler::nvcc;
  if (compile.arch.empty()) compile.arch = fmt::format("sm_{}{}", capability.major, capability.minor);
  return compile;
}

void say_of_compilers(const measuring::PlanKernels& kernels) {
  for (const auto& module : kernels.modules()) {
    say(module->source.warnings);
    for (const auto& note : module->source.notes) say_note(note);
  }
}

// A plan that the command line made is called as its kernel.
void name_after_kernel(Plan& plan, const measuring::PlanKernels& kernels) {
  if (plan.name.empty()) plan.name = kernels.kernel(kernels.of(*plan.steps.front().launch)).name;
}

int dry_run(const Arguments& arguments, PlanInput& found, const Request& request, const Gpu& gpu,
            const std::vector<MeasuredCase>& cases) {
  const auto kernels = measuring::PlanKernels::load(
      found.plan, found.read, for_gpu(arguments, request.compile, gpu.compute_capability));
  if (!kernels) return fail(wrong_input, kernels.diagnostics());
  say_of_compilers(*kernels);
  name_after_kernel(found.plan, *kernels);
  auto output = Output::open(arguments.value("output"));
  if (!output) return fail(wrong_input, output.diagnostics());
  for (const auto& one : cases) {
    const auto bound = measuring::bind_plan(found.plan, *kernels, one.bindings(), gpu, one.threads_per_block);
    if (!bound) return fail(wrong_input, with_case(bound.diagnostics(), one));
    for (const auto& array : bound->arrays)
      if (array.of->fill == ArrayFill::cycle_leaders)
        if (const auto contents = measuring::contents_of(array); !contents)
          return fail(wrong_input, with_case(contents.diagnostics(), one));
    const auto heading = case_text(one);
    if (!(*output)->write(fmt::format("{}{}{}: {} launches, {} bytes\n{}", found.plan.name,
                                      heading.empty() ? "" : ", ", heading, bound->launches.size(),
                                      bound->bytes(), measuring::to_text(*bound, *kernels))))
      break;
  }
  const auto failures = (*output)->finish();
  return failures.empty() ? done : fail(wrong_input, failures);
}

// Keeps the rows that were measured before something stopped the run.
int stopped(Output& output, std::uint64_t rows, const Diagnostics& why) {
  if (rows == 0) return why.empty() ? interrupted_status : fail(wrong_input, why);
  const auto kept = output.finish_with_part();
  if (!kept) return fail(wrong_input, kept.diagnostics());
  if (!kept->empty()) say_note(fmt::format("the {} rows before it are in {}", rows, *kept));
  return why.empty() ? interrupted_status : fail(wrong_input, why);
}

int measure_all(const Arguments& arguments, const Request& request, PlanMeasurement& measurement,
                const Plan& plan, const std::vector<MeasuredCase>& cases) {
  auto output = Output::open(arguments.value("output"));
  if (!output) return fail(wrong_input, output.diagnostics());
  const Interrupt interrupt;
  const bool rows_at_terminal = !arguments.has("output") && ::isatty(STDOUT_FILENO) != 0;
  Progress progress(cases.size(), ::isatty(STDERR_FILENO) != 0 && !rows_at_terminal);
  std::uint64_t rows = 0;
  for (const auto& one : cases) {
    if (interrupt.happened()) return progress.clear(), stopped(**output, rows, {});
    const auto measured = measurement.run(one);
    if (!measured) return progress.clear(), stopped(**output, rows, with_case(measured.diagnostics(), one));
    for (const auto& row : *measured) {
      std::string text;
      if (request.json) {
        text = (rows == 0 ? "[\n" : ",\n") + measured_row_json(row, measurement.setting());
      } else {
        text = (rows == 0 ? measured_heading_csv(plan) : "") + measured_row_csv(row, measurement.setting());
      }
      ++rows;
      if (!(*output)->write(text)) break;
    }
    progress.step();
  }
  progress.clear();
  if (request.json) (*output)->write("\n]\n");
  const auto failures = (*output)->finish();
  return failures.empty() ? done : fail(wrong_input, failures);
}

int run_measure(const Arguments& arguments) {
  if (arguments.has("device")) {
    const auto repetitions = read_repetitions(arguments);
    return repetitions ? measure_device(arguments, *repetitions)
                       : fail(wrong_command_line, repetitions.diagnostics());
  }
  if (arguments.positionals().empty())
    return fail(wrong_command_line,
                {error("no input given", "a plan, a kernel, or --device: the GPU itself")});
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto request = read_request(arguments);
  if (!request) return fail(wrong_command_line, request.diagnostics());
  if (const auto name = arguments.value("gpu"))
    if (const auto known = catalogue->find(*name); !known)
      return fail(wrong_command_line, known.diagnostics());
  auto launched = read_launched_input(arguments.positionals().front(), request->kernel, request->compile);
  if (!launched) return fail(wrong_input, launched.diagnostics());
  if (const auto wrong = check_launch(*launched, request->kernel); !wrong.empty())
    return fail(wrong_command_line, wrong);
  auto found = plan_to_measure(std::move(*launched), request->kernel, request->parameters);
  if (!found) return fail(wrong_input, found.diagnostics());
  if (request->threads_per_block && !leaves_blocks(found->plan))
    return fail(wrong_input,
                {error_at(found->plan.file, 0, 0,
                          "every launch gives its grid and block: --threads-per-block has no effect")});
  const auto cases = measured_cases(found->plan, request->parameters, request->threads_per_block);
  if (!cases) return fail(wrong_input, cases.diagnostics());
  if (request->dry_run)
    return dry_run(arguments, *found, *request, **catalogue->find(*arguments.value("gpu")), *cases);

  const auto session = measuring::Session::open();
  if (!session) return fail(wrong_input, session.diagnostics());
  const auto& device = (*session)->device().description;
  const auto gpu = measured_gpu(arguments, *catalogue, device);
  if (!gpu) return fail(wrong_input, gpu.diagnostics());
  const auto kernels = measuring::PlanKernels::load(
      found->plan, found->read, for_gpu(arguments, request->compile, device.compute_capability));
  if (!kernels) return fail(wrong_input, kernels.diagnostics());
  say_of_compilers(*kernels);
  name_after_kernel(found->plan, *kernels);
  if (auto wrong = (*session)->load(*kernels); !wrong.empty()) return fail(wrong_input, wrong);
  PlanMeasurement measurement(found->plan, {request->what, request->repetitions}, *gpu, **session, *kernels);
  if (request->check)
    if (auto wrong = measurement.check(*cases); !wrong.empty()) return fail(wrong_input, wrong);
  return measure_all(arguments, *request, measurement, found->plan, *cases);
}

}  // namespace

Command measure_command() {
  return {measure_syntax(), run_measure};
}

}  // namespace warptime::cli
