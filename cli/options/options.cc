#include "cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "analyzer/compile/limits.h"
#include "analyzer/kernel_names.h"
#include "cli/io/capture.h"
#include "cli/io/interrupt.h"
#include "cli/io/report.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

std::string named(std::string_view option) {
  return fmt::format("--{}", option);
}

Diagnostic wrong_value(std::string_view option, std::string message, std::string hint = {}) {
  return error_at(named(option), 0, 0, std::move(message), std::move(hint));
}

// Diagnostics about an option's text, made to point into it.
Diagnostics about_option(Diagnostics diagnostics, std::string_view option, const std::string& text) {
  for (auto& diagnostic : diagnostics) {
    diagnostic.file = named(option);
    if (diagnostic.column > 0) diagnostic.source_line = text;
    diagnostic.line = diagnostic.column > 0 ? 1 : 0;
  }
  return diagnostics;
}

}  // namespace

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto comma = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

OptionGroup compiler_options() {
  return {
      "Compiling a .cu",
      {{"compiler",
        "NAME",
        "auto (default): clang, which is built in, and nvcc where clang fails and a CUDA Toolkit is "
        "installed; clang; or nvcc to analyse the code of your own build",
        Names::no_file,
        {"auto", "clang", "nvcc"}},
       {"p,build", "DIR", "take the flags of each source from DIR/compile_commands.json, as clang-tidy does"},
       {"arch", "sm_XX", "compile for this target (default: each GPU's own; analyze: sm_75)"},
       {"rolled", "",
        "do not unroll loops; gives a program that is easy to read and to check against the source"},
       {"skip-unsupported", "",
        "continue at instructions that the analyzer does not know, and report the share that was modelled"},
       limit_options()[0],
       limit_options()[1]}};
}

std::vector<Option> limit_options() {
  return {{"max-time", "SECONDS", "stop a compilation that takes longer (default: 60)"},
          {"max-memory", "MIB", "stop a compilation that takes more memory (default: 4096)"}};
}

OptionGroup program_options() {
  OptionGroup group = compiler_options();
  group.options.push_back(
      {"rearrange", "",
       "move calculation across loads and stores that it does not depend on, so that they become adjacent, "
       "as in the "
       "listings of Puchala et al.; the extended model does so in its own way, with and without"});
  return group;
}

Option param_option() {
  return {"param", "NAME=VALUES",
          "set a parameter: 64; a list 8,10,12; powers of two 2^6..2^20; a range with a step 64..1024:64. "
          "Repeatable, or several parameters separated by commas"};
}

Option kernel_option() {
  return {
      "kernel", "NAME",
      "use this kernel, if the input has several: its name, its symbol, or a regular expression (as grep -E "
      "takes it) for the whole name; regex:EXPR matches any part of the name"};
}

Option gpu_dir_option() {
  return {
      "gpu-dir", "DIR",
      "also read the GPU files (*.yaml) of this folder, for a GPU that is not bundled or for other figures",
      Names::input_folder};
}

Option t_m_option() {
  return {"t-m", "CYCLES",
          "cycles for which one memory access holds the core package, if you have measured or fitted them"};
}

Option color_option() {
  return {"color",
          "WHEN",
          "auto (default): colours on a terminal, unless NO_COLOR is set or TERM is dumb; always; or never",
          Names::no_file,
          {"auto", "always", "never"}};
}

OptionGroup general_options(std::vector<std::string> formats, std::string help) {
  if (help.empty()) {
    for (std::size_t i = 0; i < formats.size(); ++i)
      help += (i == 0                   ? ""
               : i + 1 < formats.size() ? ", "
                                        : " or ") +
              formats[i] + (i == 0 && formats.size() > 1 ? " (default)" : "");
  }
  return {"General",
          {{"format", "FORMAT", std::move(help), Names::no_file, std::move(formats)},
           {"o,output", "FILE", "write the result to FILE, which is replaced only if the command succeeds",
            Names::output},
           color_option(),
           {"h,help", "", "print this help"}}};
}

OptionGroup with_sarif(OptionGroup general) {
  general.options.insert(general.options.end() - 1, {"sarif", "FILE",
                                                     "also write the errors, warnings and notes to FILE, as "
                                                     "a SARIF 2.1.0 log, which code reviews show at the "
                                                     "lines; also if the command fails",
                                                     Names::output});
  return general;
}

Diagnostics limit_compilers_by(const Arguments& arguments) {
  constexpr double most_seconds = 1e6, most_mebibytes = 1 << 24;
  compiling::CompilerLimits limits;
  const auto take = [&](std::string_view name, double most, double unit, auto& to) -> Diagnostics {
    const auto given = read_number(arguments, name);
    if (!given) return given.diagnostics();
    if (!*given) return {};
    if (**given <= 0 || **given > most)
      return {wrong_value(name, fmt::format("{:g} is not a number above 0 and up to {:g}", **given, most))};
    to = static_cast<std::decay_t<decltype(to)>>(**given * unit);
    return {};
  };
  if (auto wrong = take("max-time", most_seconds, 1, limits.seconds); !wrong.empty()) return wrong;
  if (auto wrong = take("max-memory", most_mebibytes, 1 << 20, limits.memory_bytes); !wrong.empty())
    return wrong;
  compiling::limit_compilers(limits, [](const Diagnostic& why) {
    if (Capture* capture = current_capture()) return capture->exceed(why);
    say(why);
    if (DiagnosticLog* log = current_diagnostic_log()) log->finish(wrong_input);
    end_now(wrong_input);
  });
  return {};
}

Result<CompileOptions> read_compile_options(const Arguments& arguments) {
  if (auto wrong = limit_compilers_by(arguments); !wrong.empty()) return wrong;
  const auto compiler = read_choice(arguments, "compiler");
  if (!compiler) return compiler.diagnostics();
  CompileOptions options;
  options.compiler = *compiler == "nvcc"    ? Compiler::nvcc
                     : *compiler == "clang" ? Compiler::clang
                                            : Compiler::automatic;
  options.build_folder = arguments.value_or("build", "");
  options.arch = arguments.value_or("arch", "");
  options.rolled = arguments.has("rolled");
  options.flags = arguments.compiler_flags();
  return options;
}

Result<std::string> read_kernel(const Arguments& arguments) {
  auto text = arguments.value_or("kernel", "");
  if (auto wrong = check_kernel_pattern(text); !wrong.empty()) return wrong;
  return text;
}

Result<std::vector<NamedValues>> read_parameters(const Arguments& arguments) {
  std::vector<NamedValues> all;
  for (const auto& text : arguments.values("param")) {
    auto parsed = parse_parameters(text);
    if (!parsed) return about_option(parsed.diagnostics(), "param", text);
    for (auto& one : *parsed) {
      const bool again =
          std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == one.name; });
      if (again)
        return wrong_value("param", fmt::format("`{}` is given twice", one.name),
                           fmt::format("give several values as a list: --param {}=8,10,12", one.name));
      all.push_back(std::move(one));
    }
  }
  return all;
}

Result<std::optional<double>> read_number(const Arguments& arguments, std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::optional<double>();
  double number = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failure != std::errc() || end != text->data() + text->size() || !std::isfinite(number))
    return wrong_value(name, fmt::format("`{}` is not a number", *text));
  if (number < 0) return wrong_value(name, fmt::format("{} is negative", *text));
  return std::optional(number);
}

Result<std::optional<Expression>> read_expression(const Arguments& arguments, std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::optional<Expression>();
  auto parsed = parse_expression(*text, name);
  if (!parsed) return parsed.diagnostics();
  return std::optional(std::move(*parsed));
}

Result<Expression> parse_expression(const std::string& text, std::string_view option) {
  auto parsed = Expression::parse(text);
  if (!parsed) return about_option(parsed.diagnostics(), option, text);
  return parsed;
}

Result<std::string> read_choice(const Arguments& arguments, std::string_view name) {
  return read_choice(arguments, name, arguments.choices(name));
}

Result<std::string> read_choice(const Arguments& arguments, std::string_view name,
                                const std::vector<std::string>& allowed) {
  const auto given = arguments.value(name);
  if (!given) return allowed.front();
  if (std::find(allowed.begin(), allowed.end(), *given) != allowed.end()) return *given;
  const std::string near = nearest(*given, allowed);
  return wrong_value(name, fmt::format("`{}` is not one of {}", *given, enumerate(allowed)),
                     near.empty() ? "" : fmt::format("did you mean {}?", near));
}

Result<GpuCatalogue> read_catalogue(const Arguments& arguments) {
  if (const auto folder = arguments.value("gpu-dir")) return GpuCatalogue::with_folder(*folder);
  return GpuCatalogue::bundled();
}

Result<std::vector<const Gpu*>> read_gpus(const Arguments& arguments, const GpuCatalogue& catalogue) {
  std::vector<const Gpu*> gpus;
  const auto add = [&](const Gpu* gpu) {
    if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
  };
  for (const auto& text : arguments.values("gpu")) {
    for (const auto& name : split_at_commas(text)) {
      if (name == "all") {
        for (const auto* gpu : catalogue.with_core_packages()) add(gpu);
        continue;
      }
      const auto found = catalogue.find(name);
      if (!found) return found.diagnostics();
      add(*found);
    }
  }
  return gpus;
}

bool asks_for_all_gpus(const Arguments& arguments) {
  const auto given = arguments.values("gpu");
  return given.empty() || std::any_of(given.begin(), given.end(), [](const std::string& text) {
           const auto names = split_at_commas(text);
           return std::find(names.begin(), names.end(), "all") != names.end();
         });
}

void say_excluded_gpus(const std::vector<std::string>& names) {
  if (!names.empty())
    say_note(fmt::format("GPUs omitted because the model does not hold for them: {}", enumerate(names)),
             "`--gpu NAME` shows why");
}

}  // namespace warptime::cli
