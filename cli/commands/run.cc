// warptime run: a kernel's PTX executed on the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "analyzer/execute/execute.h"
#include "analyzer/execute/findings.h"
#include "analyzer/execute/profile.h"
#include "analyzer/pipeline.h"
#include "analyzer/selection.h"
#include "cli/commands/commands.h"
#include "cli/commands/run_arguments.h"
#include "cli/commands/run_plan.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/launch_options.h"
#include "cli/options/options.h"
#include "cli/views/table.h"
#include "load/kernel_file.h"
#include "load/plan_input.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/visible.h"

namespace warptime::cli {
namespace {

constexpr std::size_t numbers_shown = 8;

OptionGroup run_compiler_options() {
  auto group = compiler_options();
  std::erase_if(group.options, [](const Option& option) { return option.names == "skip-unsupported"; });
  return group;
}

CommandSyntax run_syntax() {
  return {
      "run",
      "execute a kernel's PTX on the CPU: its results, its errors, and the instructions of its warps",
      "[OPTION...] INPUT [-- COMPILER-FLAG...]",
      "Runs a kernel of a .cu or .ptx on arrays, without a GPU: threads as on GPUs since Volta, "
      "blocks one after another. Reports accesses that are out of bounds, misaligned or in another buffer, "
      "what depends on memory that nothing has written, races on shared memory, copies that are not waited "
      "for, and divergent barriers, with their source lines. Any of them makes the exit status 1, but for "
      "races of equal values.\n"
      "With --in, runs all launches of a plan on a signal or an image: a whole transform.\n"
      "An argument is a number (K=8), an array from a file (data=@in.npy, data=raw:f32:in.bin), or a "
      "buffer (out=zeros:f32:1024, out=uninit:f32:1024: reading it before it is written is then reported).",
      "  warptime run dwt_kernels/mtx.cu --grid 2 --block 32 --arg K=4 --arg N=64 --arg idata=zeros:f32:64 "
      "--arg odata=uninit:f32:64 --arg "
      "coefs=zeros:f32:8\n"
      "  warptime run dwt_kernels/mtx.cu --grid 2 --block 32 --arg K=4 --arg N=64 --arg idata=zeros:f32:64 "
      "--arg odata=zeros:f32:64 --arg "
      "coefs=zeros:f32:8 --stream 0:0\n"
      "  warptime run ltt_levels --wavelet db4 --param levels=3 --in signal.npy --out bands.npy\n",
      {{"What to run",
        {kernel_option(),
         {"grid", "X[,Y[,Z]]", "launch this many blocks (default: 1)"},
         {"block", "X[,Y[,Z]]", "with this many threads in each (default: 32)"},
         {"shared", "BYTES",
          "dynamic shared memory of each block, for kernels with extern __shared__ arrays (default: 0)"},
         {"arg", "NAME=VALUE",
          "set an argument, by its name in the source or its number (from 0). Repeatable",
          Names::input_in_value},
         {"constant", "NAME=VALUE",
          "fill a __constant__ variable: NAME=@FILE.npy, NAME=raw:f32:FILE, NAME=zeros:f32:1024. What the "
          "source gives "
          "no values and nothing fills must not be read. Repeatable",
          Names::input_in_value},
         {"out", "NAME=FILE",
          "write this argument's buffer to FILE after the kernel has completed: as .npy if FILE ends in "
          ".npy, else as raw bytes. Repeatable",
          Names::output_in_value}}},
       run_plan_options(),
       {"What to look at",
        {{"sample-blocks", "N",
          "execute only N of the blocks, in groups of 1024 neighbours that are spread over the launch, for a "
          "--profile of a "
          "large launch. Its blocks must not wait for each other"},
         {"stream", "BLOCK:WARP",
          "write the instructions that this warp executed as a kernel program, to compare it with that of "
          "`warptime analyze`"},
         {"profile", "FILE",
          "write what data decided, the shares of warps that took branches, the iterations of loops and the "
          "addresses of accesses, to "
          "FILE, for "
          "`warptime predict --profile FILE`",
          Names::output},
         {"check",
          "LEVEL|KIND,...",
          "memory (default): bounds, alignment, uninitialised memory, races, barriers; bounds: only accesses "
          "that "
          "cannot be executed; all: also registers without a value, for hand-written PTX. Kinds: what cannot "
          "be "
          "executed, and uninitialised_memory, uninitialised_register, shared_race, same_value_race, "
          "warp_race, "
          "unwaited_copy, other_buffer, each only where it is named. A race of equal values "
          "(same_value_race) makes the exit status 1 only where it is named",
          Names::no_file,
          {"memory", "bounds", "all", "uninitialised_memory", "uninitialised_register", "shared_race",
           "same_value_race", "warp_race", "unwaited_copy", "other_buffer"}},
         {"keep-going", "", "continue after a finding: what cannot be read is zero"},
         {"max-instructions", "N", "stop after this many warp instructions (default: 10000000000)"}}},
       run_compiler_options(),
       with_sarif(general_options({"text", "json", "yaml"},
                                  "text (default) or json; yaml (default) or json with --stream"))},
      1,
      1,
      true};
}

// The command line, read and checked.
struct RunRequest {
  execute::LaunchConfig launch{{1, 1, 1}, {32, 1, 1}, 0};
  std::vector<GivenArgument> arguments, constants, outputs;
  execute::Options options;
  std::optional<execute::WarpId> stream;
  std::optional<std::string> profile;  // its file
  bool json = false;
  bool minor_fails = false;  // a finding of a minor kind makes the status 1
  CompileOptions compile;
};

Result<std::uint64_t> whole(const Arguments& arguments, std::string_view name, std::uint64_t otherwise) {
  const auto text = arguments.value(name);
  if (!text) return otherwise;
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failure != std::errc() || end != text->data() + text->size())
    return error_at(fmt::format("--{}", name), 0, 0, fmt::format("`{}` is not a whole number", *text));
  return number;
}

Result<std::optional<execute::WarpId>> read_stream(const Arguments& arguments) {
  const auto text = arguments.value("stream");
  if (!text) return std::optional<execute::WarpId>();
  execute::WarpId warp;
  const char* const end = text->data() + text->size();
  auto read = std::from_chars(text->data(), end, warp.block);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':')
    read = std::from_chars(read.ptr + 1, end, warp.warp);
  else
    read.ec = std::errc::invalid_argument;
  if (read.ec != std::errc() || read.ptr != end)
    return error_at("--stream", 0, 0, fmt::format("`{}` is not BLOCK:WARP", *text),
                    "--stream 0:0 is the first warp of the first block");
  return std::optional(warp);
}

void add(Diagnostics& errors, const Diagnostics& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

template <class T, class U>
void take_into(Diagnostics& errors, const Result<T>& result, U& to) {
  if (result)
    to = *result;
  else
    add(errors, result.diagnostics());
}

void take_dimensions(Diagnostics& errors, const Arguments& arguments, std::string_view name,
                     const Dim3& largest, execute::Dimensions& to) {
  const auto found = read_dim3(arguments, name, largest);
  if (!found) return add(errors, found.diagnostics());
  const auto number = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
  if (*found) to = {number((*found)->x), number((*found)->y), number((*found)->z)};
}

// --check: a level, or kinds of findings.
Diagnostics read_checks(const Arguments& arguments, RunRequest& request) {
  const auto text = arguments.value("check");
  auto& checks = request.options.checks;
  if (!text || *text == "memory") return {};
  if (*text == "all") {
    checks.uninitialised_registers = true;
    return {};
  }
  checks = execute::Checks::none();
  if (*text == "bounds") return {};
  const std::pair<std::string_view, bool*> kinds[] = {
      {"uninitialised_memory", &checks.uninitialised_memory},
      {"uninitialised_register", &checks.uninitialised_registers},
      {"shared_race", &checks.shared_races},
      {"same_value_race", &checks.same_value_races},
      {"warp_race", &checks.warp_races},
      {"unwaited_copy", &checks.unwaited_copies},
      {"other_buffer", &checks.other_buffers}};
  const auto choices = arguments.choices("check");
  for (const auto& name : split_at_commas(*text)) {
    const auto found =
        std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.first == name; });
    if (found == std::end(kinds)) {
      const auto near = nearest(name, choices);
      return {error_at("--check", 0, 0, fmt::format("`{}` is not one of {}", name, fmt::join(choices, ", ")),
                       near.empty() ? "" : fmt::format("did you mean {}?", near))};
    }
    *found->second = true;
  }
  request.minor_fails = checks.same_value_races;
  return {};
}

Result<RunRequest> read_run_request(const Arguments& arguments) {
  RunRequest request;
  Diagnostics errors;
  take_dimensions(errors, arguments, "grid", kLargestGrid, request.launch.grid);
  take_dimensions(errors, arguments, "block", kLargestBlock, request.launch.block);
  take_into(errors, whole(arguments, "shared", 0), request.launch.dynamic_shared_bytes);
  take_into(errors, whole(arguments, "max-instructions", request.options.instruction_budget),
            request.options.instruction_budget);
  take_into(errors, whole(arguments, "sample-blocks", 0), request.options.sample_blocks);
  if (arguments.has("sample-blocks") && request.options.sample_blocks == 0)
    errors.push_back(error_at("--sample-blocks", 0, 0, "must be at least 1"));
  if (arguments.has("sample-blocks") && arguments.has("out"))
    errors.push_back(error_at("--out", 0, 0, "cannot be used with --sample-blocks",
                              "where some blocks are not executed, the buffers are no results"));
  take_into(errors, read_stream(arguments), request.stream);
  take_into(errors, read_compile_options(arguments), request.compile);
  for (const auto& [option, into] :
       {std::pair{"arg", &request.arguments}, std::pair{"constant", &request.constants},
        std::pair{"out", &request.outputs}})
    for (const auto& text : arguments.values(option)) {
      const auto given = split_argument(option, text);
      if (given)
        into->push_back(*given);
      else
        add(errors, given.diagnostics());
    }
  const auto format = request.stream ? read_choice(arguments, "format", {"yaml", "json", "text"})
                                     : read_choice(arguments, "format", {"text", "json"});
  if (format)
    request.json = *format == "json";
  else
    add(errors, format.diagnostics());
  request.profile = arguments.value("profile");
  if (request.profile && request.stream)
    errors.push_back(
        error_at("--profile", 0, 0, "cannot be used with --stream", "run the kernel once for each"));
  add(errors, read_checks(arguments, request));
  request.options.stop = !arguments.has("keep-going");
  if (!errors.empty()) return errors;
  return request;
}

// ---- the kernel

struct Loaded {
  Source source;
  ptx::Module module;
  std::string ptx_name;  // for diagnostics about it
  execute::Code code;
  std::string kernel, symbol;
  std::vector<ParameterNames> parameters;
};

const KernelSignature* signature_of(const Source& source, std::string_view symbol) {
  for (const auto& kernel : source.kernels)
    if (kernel.symbol == symbol) return &kernel;
  return nullptr;
}

// Its index in Module::functions.
Result<std::uint32_t> choose(const Loaded& loaded, const std::string& name) {
  const auto kernels = choose_kernels(loaded.source, loaded.module, {});
  if (!kernels) return kernels.diagnostics();
  std::vector<KernelName> names;
  for (const ChosenKernel& one : *kernels)
    names.push_back({one.name, std::string(loaded.module.functions[one.function].name)});
  const auto chosen = select_kernel(names, name, loaded.source.file, ChosenBy::option);
  if (!chosen) return chosen.diagnostics();
  return (*kernels)[*chosen].function;
}

std::vector<ParameterNames> names_of(const Loaded& loaded, const ptx::Function& kernel) {
  std::vector<ParameterNames> all;
  const auto* signature = signature_of(loaded.source, kernel.name);
  const auto prefix = std::string(kernel.name) + "_";
  for (auto& info : execute::parameters(*loaded.code)) {
    ParameterNames one;
    if (signature != nullptr && all.size() < signature->arguments.size())
      one.names.push_back(signature->arguments[all.size()].name);
    if (info.name.starts_with(prefix)) one.names.push_back(info.name.substr(prefix.size()));
    one.names.push_back(info.name);
    one.names.push_back(std::to_string(all.size()));
    one.info = std::move(info);
    all.push_back(std::move(one));
  }
  return all;
}

Result<std::unique_ptr<Loaded>> load_kernel(const Input& input, const CompileOptions& options,
                                            const std::string& name) {
  auto source = source_of(input, options);
  if (!source) return source.diagnostics();
  auto loaded = std::make_unique<Loaded>();
  loaded->source = std::move(*source);
  loaded->ptx_name = loaded->source.text.empty() ? loaded->source.file : loaded->source.file + " (PTX)";
  say(loaded->source.warnings);
  for (const auto& note : loaded->source.notes) say_note(note);
  auto module = ptx::parse(loaded->source.ptx, loaded->ptx_name);
  if (!module) return module.diagnostics();
  loaded->module = std::move(*module);
  const auto kernel = choose(*loaded, name);
  if (!kernel) return kernel.diagnostics();
  auto code = execute::load(loaded->module, *kernel, loaded->ptx_name);
  if (!code) return code.diagnostics();
  loaded->code = *code;
  const auto& function = loaded->module.functions[*kernel];
  const auto* signature = signature_of(loaded->source, function.name);
  loaded->symbol = std::string(function.name);
  loaded->kernel = signature != nullptr ? signature->name : std::string(function.name);
  loaded->parameters = names_of(*loaded, function);
  return loaded;
}

// ---- what comes out

std::string text_of(const execute::Dimensions& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{}", d.x);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

std::string summary(const Loaded& loaded, const RunRequest& request, const execute::Execution& execution,
                    const execute::Memory& memory, const BoundArguments& bound) {
  const auto& counts = execution.counts;
  std::string text = fmt::format(
      "{}: {} blocks of {} threads{}{}\n", loaded.kernel, text_of(request.launch.grid),
      text_of(request.launch.block),
      request.options.sample_blocks == 0 ? "" : fmt::format(", {} of them executed", counts.blocks),
      execution.completed ? "" : ", not completed");
  text += fmt::format("  {} instructions by {} warps, among them {} loads and {} stores of global memory\n",
                      counts.instructions, counts.warps, counts.loads, counts.stores);
  for (const auto& buffer : bound.buffers)
    text += fmt::format("  {} ({} of {}): {}\n", buffer.name, shape_text(buffer.shape), buffer.type,
                        first_numbers(memory, buffer, numbers_shown));
  return text;
}

nlohmann::ordered_json to_json(const Loaded& loaded, const RunRequest& request,
                               const execute::Execution& execution) {
  const auto triple = [](const execute::Dimensions& d) {
    return nlohmann::ordered_json::array({d.x, d.y, d.z});
  };
  nlohmann::ordered_json json;
  json["kernel"] = loaded.kernel;
  json["grid"] = triple(request.launch.grid);
  json["block"] = triple(request.launch.block);
  if (request.options.sample_blocks != 0) json["executed_blocks"] = execution.counts.blocks;
  json["completed"] = execution.completed;
  json["instructions"] = execution.counts.instructions;
  json["thread_instructions"] = execution.counts.lane_instructions;
  json["warps"] = execution.counts.warps;
  json["loads"] = execution.counts.loads;
  json["stores"] = execution.counts.stores;
  json["findings"] = nlohmann::ordered_json::array();
  for (const auto& finding : execution.findings)
    json["findings"].push_back({{"kind", execute::name_of(finding.kind)},
                                {"message", finding.message},
                                {"ptx_line", finding.ptx_line},
                                {"line", finding.source_line},
                                {"block", finding.block},
                                {"thread", finding.thread},
                                {"count", finding.count}});
  return json;
}

std::string stream_text(const Loaded& loaded, const RunRequest& request, const execute::Stream& stream) {
  auto program = execute::to_program(stream, loaded.module);
  program.description =
      fmt::format("what warp {} of block {} executed", request.stream->warp, request.stream->block);
  program.provenance.kernel = loaded.kernel;
  program.provenance.symbol =
      std::string(loaded.module.functions[stream.entries.empty() ? 0 : stream.entries[0].function].name);
  program.provenance.source = loaded.source.file;
  program.provenance.compiler = loaded.source.compiler;
  program.provenance.target = loaded.source.target;
  program.provenance.flags = loaded.source.flags;
  return request.json ? warptime::to_json({program}) : to_yaml(program);
}

// The buffers that --out names, as they are written. Errors: no such buffer.
Result<std::vector<ResultFile>> buffer_files(const RunRequest& request, const execute::Memory& memory,
                                             const BoundArguments& bound,
                                             const std::vector<ParameterNames>& parameters) {
  std::vector<ResultFile> files;
  for (const auto& [name, file] : request.outputs) {
    const auto wanted = std::find_if(
        bound.buffers.begin(), bound.buffers.end(), [&, &wanted_name = name](const BufferArgument& buffer) {
          const auto& names = parameters[buffer.parameter].names;
          return std::find(names.begin(), names.end(), wanted_name) != names.end();
        });
    if (wanted == bound.buffers.end())
      return error_at("--out", 0, 0, fmt::format("{}: no buffer argument has this name", name));
    const auto bytes = memory.bytes(wanted->buffer);
    const bool npy = file.ends_with(".npy");
    files.push_back({file, npy ? execute::write_npy(array_of(memory, *wanted))
                               : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }
  return files;
}

// Into the log: at the line of the source, if it is known.
void log_finding(Diagnostic said, const execute::Finding& finding, const Loaded& loaded) {
  for (const auto& file : loaded.module.files) {
    if (finding.source_line == 0 || file.number != finding.source_file) continue;
    said.file = std::string(file.path);
    said.line = static_cast<int>(finding.source_line);
    said.column = 0;
    said.source_line.clear();
  }
  log_only(said, fmt::format("run/{}", execute::name_of(finding.kind)));
}

// unfilled: `__constant__` variables that nothing filled.
void say_findings(const Loaded& loaded, const execute::Execution& execution,
                  const std::vector<std::string>& unfilled) {
  for (const auto& finding : execution.findings) {
    Diagnostic said = execute::to_diagnostic(finding, loaded.module, loaded.ptx_name);
    for (const std::string& name : unfilled)
      if (finding.kind == execute::Finding::Kind::uninitialised_memory && said.hint.empty() &&
          finding.message.find(fmt::format("`{}`", name)) != std::string::npos)
        said.hint = fmt::format("fill the __constant__ variable: --constant {}=@FILE.npy", name);
    say_only(said);
    log_finding(std::move(said), finding, loaded);
  }
  if (execution.findings_left_out > 0) say_note(fmt::format("{} more findings", execution.findings_left_out));
}

// The kernel's program, whose shares and loops are counted.
struct Profiled {
  Profiled(KernelProgram of, const ptx::Module& module, const RunRequest& request)
      : program(std::move(of)),
        recorder(program, module, request.launch,
                 {request.launch.grid.count(), request.options.sample_blocks}) {}
  KernelProgram program;
  execute::ProfileRecorder recorder;
};

Result<KernelProgram> analyse_for_profile(const Loaded& loaded, const RunRequest& request) {
  AnalyzeOptions options;
  options.kernel = loaded.symbol;
  options.skip_unsupported = true;
  options.keep_steps = false;
  options.machine = AnalyzeOptions::Machine::estimated;  // with ItemDetail
  const auto& block = request.launch.block;
  options.block = {block.x, block.y, block.z};
  auto analysis = analyze(loaded.source, options);
  if (!analysis) return analysis.diagnostics();
  return std::move(analysis->kernels.front().program);
}

int run_kernel(const Arguments& arguments, RunRequest request, const Loaded& loaded) {
  auto memory = execute::Memory::create(*loaded.code);
  if (!memory) return fail(wrong_input, memory.diagnostics());
  const auto bound = bind_arguments(*loaded.code, *memory, loaded.parameters, request.arguments);
  if (!bound) return fail(wrong_input, bound.diagnostics());
  const Constants constants = fill_constants(*loaded.code, *memory, request.constants);
  if (!constants.errors.empty()) return fail(wrong_input, constants.errors);
  request.options.print = [](std::string_view text) {
    const std::string shown = visible(text, LineBreaks::keep);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
  };
  std::optional<execute::StreamRecorder> recorder;
  if (request.stream) recorder.emplace(std::vector{*request.stream});
  std::optional<Profiled> profiled;
  if (request.profile) {
    auto analysed = analyse_for_profile(loaded, request);
    if (!analysed) return fail(wrong_input, analysed.diagnostics());
    profiled.emplace(std::move(*analysed), loaded.module, request);
  }
  execute::ExecutionListener* listener = nullptr;
  if (recorder) listener = &*recorder;
  if (profiled) listener = &profiled->recorder;
  const auto execution =
      execute::run(*loaded.code, *memory, request.launch, bound->arguments, request.options, listener);
  if (!execution) return fail(wrong_input, execution.diagnostics());
  say_findings(loaded, *execution, constants.unfilled);
  auto results = buffer_files(request, *memory, *bound, loaded.parameters);
  if (!results) return fail(wrong_input, results.diagnostics());
  if (!execution->completed) results->clear();  // the kernel stopped half way: its buffers are not results
  std::string text;
  if (recorder) {
    const auto& stream = recorder->stream();
    if (stream.entries.empty())
      return fail(
          wrong_input,
          {error_at("--stream", 0, 0,
                    fmt::format("no warp {} of block {} ran", request.stream->warp, request.stream->block))});
    if (stream.truncated) say_note("the warp executed more instructions: its stream is truncated");
    text = stream_text(loaded, request, stream);
  } else if (request.json) {
    text = json_text(to_json(loaded, request, *execution), 2) + "\n";
  } else {
    text = summary(loaded, request, *execution, *memory, *bound);
  }
  if (profiled && execution->completed)
    results->push_back({*request.profile, warptime::to_yaml(Profile{{profiled->recorder.profile()}})});
  results->push_back({arguments.value("output"), std::move(text)});
  const int status = write_results(*results);
  const bool failed = std::any_of(
      execution->findings.begin(), execution->findings.end(),
      [&](const execute::Finding& finding) { return request.minor_fails || !execute::minor(finding.kind); });
  return status == done && failed ? wrong_input : status;
}

int run_command(const Arguments& arguments) {
  for (const char* const option : {"wavelet", "on", "param"})
    if (arguments.has(option) && !arguments.has("in"))
      return fail(wrong_command_line, {error_at(fmt::format("--{}", option), 0, 0, "is of a whole plan",
                                                "give its signal or image with --in")});
  if (arguments.has("in")) {
    const auto plan = read_plan_input(arguments.positionals().front());
    return plan ? run_plan(arguments, *plan) : fail(wrong_input, plan.diagnostics());
  }
  auto request = read_run_request(arguments);
  if (!request) return fail(wrong_command_line, request.diagnostics());
  const auto kernel = read_kernel(arguments);
  if (!kernel) return fail(wrong_command_line, kernel.diagnostics());
  auto input = read_input(arguments.positionals().front());
  if (!input) return fail(wrong_input, input.diagnostics());
  const auto loaded = load_kernel(*input, request->compile, *kernel);
  if (!loaded) return fail(wrong_input, loaded.diagnostics());
  return run_kernel(arguments, std::move(*request), **loaded);
}

}  // namespace

Command run_command() {
  return {run_syntax(), run_command};
}

}  // namespace warptime::cli
