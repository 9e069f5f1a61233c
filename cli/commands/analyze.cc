// warptime analyze: .cu or PTX → the kernel program, or any step on the way to it.
#include <fmt/format.h>

#include "analyzer/pipeline.h"
#include "cli/commands/commands.h"
#include "cli/commands/watch.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/launch_options.h"
#include "cli/options/options.h"
#include "load/kernel_file.h"

namespace warptime::cli {
namespace {

CommandSyntax analyze_syntax() {
  return {"analyze",
          "write the kernel program of each kernel in a .cu or .ptx, or any intermediate step",
          "[OPTION...] INPUT [-- COMPILER-FLAG...]",
          "Compiles a .cu to PTX (or reads PTX), and writes each kernel as calculation and memory access "
          "periods: a kernel program, "
          "for `warptime simulate` and `warptime predict`.\nINPUT is a .cu, a .ptx, or - for standard input "
          "(either, detected from its content).",
          "  warptime analyze dwt_kernels/mtx.cu\n"
          "  warptime analyze dwt_kernels/mtx.cu --emit listing --rolled\n"
          "  warptime analyze dwt_kernels/mtx.cu --arch sm_75 -o mtx.yaml -- -DNDEBUG -I include\n"
          "  warptime analyze dwt_kernels/mtx.cu | warptime simulate - --warps 8 --t-m 10 --param K=8\n",
          {{"What to show",
            {{"emit",
              "STEP",
              "program (default); ptx; cfg, the basic blocks; loops, with their trip counts; periods, the "
              "instructions of each; listing, the PTX beside its periods and source lines, to see where each "
              "period comes from; machine, the machine instructions that ptxas makes of each PTX instruction "
              "on average, or with --machine its machine code with the control words",
              Names::no_file,
              {"program", "ptx", "cfg", "loops", "periods", "listing", "machine"}},
             kernel_option(),
             {"lines", "LINES", "show only what comes from these source lines: 3,8-18"},
             {"region", "NAME",
              "show only the region between // warptime-begin NAME and // warptime-end NAME; a listing of a "
              "source with such comments shows only its regions"},
             {"registers", "",
              "ask ptxas for the registers per thread of each kernel on the target, which PTX does not have; "
              "needs a CUDA Toolkit"},
             {"machine", "",
              "write the machine instructions of each item of the program, by execution pipe, as ptxas makes "
              "them; without a CUDA Toolkit, an estimate with a warning"},
             {"estimate-machine", "", "write the estimate, without asking ptxas"},
             {"classes", "",
              "write the classes of the instructions of calculation, by operation and operands, which the "
              "model of Luo "
              "and Suda gives different costs"},
             {"block", "X[,Y[,Z]]",
              "analyse for blocks of this shape, which decides which threads make a warp; give it if the "
              "kernel is "
              "launched with more than one dimension"}}},
           program_options(),
           with_watch(with_sarif(
               general_options({"yaml", "json", "text"},
                               "yaml or json for a program; text (default) or json for the other steps")))},
          1,
          1,
          true};
}

Result<Emit> read_emit(const Arguments& arguments) {
  const std::vector<Emit> steps = {Emit::program, Emit::ptx,     Emit::cfg,    Emit::loops,
                                   Emit::periods, Emit::listing, Emit::machine};
  const auto chosen = read_choice(arguments, "emit");
  if (!chosen) return chosen.diagnostics();
  const auto names = arguments.choices("emit");
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (names[i] == *chosen) return steps[i];
  return Emit::program;
}

// Text is YAML where the step is a program.
Result<bool> read_as_json(const Arguments& arguments, Emit emit) {
  const auto format = emit == Emit::program ? read_choice(arguments, "format")
                                            : read_choice(arguments, "format", {"text", "json"});
  if (!format) return format.diagnostics();
  return *format == "json";
}

Diagnostic no_code(const Input& input) {
  return error_at(input.file, 0, 0,
                  input.kind == InputKind::plan ? "is a plan, not a kernel" : "is a kernel program already",
                  input.kind == InputKind::plan
                      ? fmt::format("warptime predict {}", input.file)
                      : fmt::format("warptime simulate {} --warps 8 --t-m 10", input.file));
}

int analyze_once(const Arguments& arguments, const WatchedRun& run) {
  const auto emit = read_emit(arguments);
  if (!emit) return fail(wrong_command_line, emit.diagnostics());
  const auto as_json = read_as_json(arguments, *emit);
  if (!as_json) return fail(wrong_command_line, as_json.diagnostics());
  const auto block = read_dim3(arguments, "block", kLargestBlock);
  if (!block) return fail(wrong_command_line, block.diagnostics());
  if (*block && (*block)->product() > kLargestBlock.x)
    return fail(wrong_command_line, {error_at("--block", 0, 0,
                                              fmt::format("a block has at most {} threads, not {}",
                                                          kLargestBlock.x, (*block)->product()))});
  const auto kernel = read_kernel(arguments);
  if (!kernel) return fail(wrong_command_line, kernel.diagnostics());
  const auto compile_options = read_compile_options(arguments);
  if (!compile_options) return fail(wrong_command_line, compile_options.diagnostics());

  LineSet lines;
  if (const auto text = arguments.value("lines")) {
    auto parsed = parse_line_set(*text);
    if (!parsed || parsed->empty())
      return fail(wrong_command_line,
                  {error_at("--lines", 0, 0, fmt::format("`{}` is not a list of lines", *text),
                            "such as --lines 3,8-18")});
    lines = std::move(*parsed);
  }

  auto input = read_input(arguments.positionals().front());
  if (!input) return fail(wrong_input, input.diagnostics());
  if (input->kind != InputKind::cuda && input->kind != InputKind::ptx)
    return fail(wrong_input, {no_code(*input)});
  auto source = source_of(*input, *compile_options);
  if (!source) return fail(wrong_input, source.diagnostics());
  if (run.answer != nullptr) run.answer->headers = source->files;
  say(source->warnings);
  for (const auto& note : source->notes) say_note(note);

  // The PTX needs no analysis: it is what helps where the analysis fails.
  if (*emit == Emit::ptx && !arguments.has("kernel") && !source->text.empty() && run.answer == nullptr)
    return write_result(arguments.value("output"), source->ptx);

  AnalyzeOptions options{*kernel,
                         arguments.has("skip-unsupported"),
                         lines,
                         arguments.value_or("region", ""),
                         *emit != Emit::program,
                         arguments.has("registers"),
                         arguments.has("machine")            ? AnalyzeOptions::Machine::assembled
                         : arguments.has("estimate-machine") ? AnalyzeOptions::Machine::estimated
                                                             : AnalyzeOptions::Machine::none};
  options.classes = arguments.has("classes");
  options.rearrange = arguments.has("rearrange");
  if (*block) options.block = {(*block)->x, (*block)->y, (*block)->z};
  const auto analysis = analyze(std::move(*source), options);
  if (!analysis) return fail(wrong_input, analysis.diagnostics());
  say(analysis->diagnostics);
  // Where some kernels fail, the programs of the others go to standard output, but replace no file.
  if (!analysis->errors.empty() && arguments.value_or("output", "-") != "-")
    return fail(wrong_input, analysis->errors);
  if (run.answer != nullptr)
    for (const KernelAnalysis& one : analysis->kernels) run.answer->programs.push_back(one.program);
  if (!run.whole) return analysis->errors.empty() ? done : fail(wrong_input, analysis->errors);
  const int status = write_result(arguments.value("output"),
                                  *as_json ? emit_json(*analysis, *emit) : emit_text(*analysis, *emit));
  return analysis->errors.empty() ? status : fail(wrong_input, analysis->errors);
}

int run_analyze(const Arguments& arguments) {
  return arguments.has("watch") ? watch(arguments, analyze_once) : analyze_once(arguments, {});
}

}  // namespace

Command analyze_command() {
  return {analyze_syntax(), run_analyze};
}

}  // namespace warptime::cli
