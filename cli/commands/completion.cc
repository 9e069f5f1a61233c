// warptime completion: the script that a shell completes command lines with.
#include "cli/commands/commands.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile completion_scripts[];  // generated: see CMakeLists.txt
extern const std::size_t completion_scripts_count;
}  // namespace warptime

namespace warptime::cli {
namespace {

CommandSyntax completion_syntax() {
  return {
      "completion",
      "write the script that completes command lines in a shell",
      "[OPTION...] bash|zsh|fish",
      "Writes the script that completes commands, options, GPUs, plans, and a file's kernels and parameters "
      "with the Tab key. Debian's package installs the three. Otherwise, source it at the start of your "
      "shell, or copy it into the shell's folder of completions.",
      "  warptime completion bash\n"
      "  warptime completion zsh -o _warptime\n",
      {{"General",
        {{"o,output", "FILE", "write the script to FILE", Names::output},
         {"h,help", "", "print this help"}}}},
      1,
      1,
      false,
      nullptr,
      Inputs::shells};
}

int run_completion(const Arguments& arguments) {
  const std::string& shell = arguments.positionals().front();
  for (std::size_t i = 0; i < completion_scripts_count; ++i)
    if (completion_scripts[i].name == shell)
      return write_result(arguments.value("output"), std::string(completion_scripts[i].text));
  return fail(wrong_command_line, {error("unknown shell " + shell, "warptime completion bash, zsh or fish")});
}

}  // namespace

Command completion_command() {
  return {completion_syntax(), run_completion};
}

}  // namespace warptime::cli
