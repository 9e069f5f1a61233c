// warptime plan: a program's host code → the plan of its launches.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "load/host_plan.h"
#include "load/input.h"
#include "load/plan_flags.h"
#include "simulator/plan/plan_write.h"

namespace warptime::cli {
namespace {

CommandSyntax plan_syntax() {
  return {
      "plan",
      "write the launches that a program's host code makes as a plan",
      "[OPTION...] FILE.cu... [-- COMPILER-FLAG...]",
      "Reads the host code of a CUDA program and writes its launches as a plan: grid, block, arguments, "
      "loops, copies. "
      "What is known is a number; what a run alone would tell (a command line, a file, a function's "
      "argument) is a "
      "parameter of the plan, under its name in the source. Nothing is run. What could not be read is a "
      "warning "
      "with its line.\n"
      "Several files are one program. It starts at main(); without one, at each function that nobody calls.",
      "  warptime plan dwt_kernels/host/lifting_tiles.cu\n"
      "  warptime plan main.cu kernels.cu -o program.plan.yaml -- -I include -DSIZE=4096\n",
      {{"Limits", limit_options()}, with_sarif(general_options({"yaml"}))},
      1,
      100,
      true};
}

std::string command_line(const std::vector<std::string>& files, const std::vector<std::string>& flags) {
  std::string text = fmt::format("warptime plan {}", fmt::join(files, " "));
  if (!flags.empty()) text += fmt::format(" -- {}", fmt::join(flags, " "));
  return text;
}

int run_plan_command(const Arguments& arguments) {
  const auto format = read_choice(arguments, "format");
  if (!format) return fail(wrong_command_line, format.diagnostics());
  if (auto wrong = limit_compilers_by(arguments); !wrong.empty()) return fail(wrong_command_line, wrong);
  CompileOptions options;
  options.flags = arguments.compiler_flags();
  std::vector<HostSource> sources;
  for (const std::string& file : arguments.positionals()) {
    auto input = read_input(file);
    if (!input) return fail(wrong_input, input.diagnostics());
    if (input->kind != InputKind::cuda)
      return fail(wrong_input,
                  {error_at(file, 0, 0, "is not a CUDA source", "host code is in a .cu, .cpp or .c file")});
    sources.push_back({file, std::move(input->text)});
  }
  const auto output = arguments.value("output");
  const std::string folder =
      output && *output != "-" ? std::filesystem::path(*output).parent_path().string() : "";
  auto found = find_plan(sources, options, folder.empty() && output && *output != "-" ? "." : folder);
  if (!found) return fail(wrong_input, found.diagnostics());
  found->plan.flags = plan_flags(options.flags, folder);
  say(found->notes);
  say(found->unread);
  std::vector<std::string> comments{
      fmt::format("Written by `{}`: correct what is wrong.",
                  command_line(arguments.positionals(), arguments.compiler_flags()))};
  for (std::string& comment : comments_of(*found)) comments.push_back(std::move(comment));
  return write_result(output, write_plan(found->plan, comments));
}

}  // namespace

Command plan_command() {
  return {plan_syntax(), run_plan_command};
}

}  // namespace warptime::cli
