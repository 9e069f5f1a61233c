#include "cli/commands/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/compile/compile.h"
#include "cli/commands/complete_input.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "load/bundled.h"
#include "simulator/gpu/gpu.h"

namespace warptime::cli {
namespace {

struct Completion {
  std::vector<Candidate> candidates;
  bool files = false, folders = false;
  bool no_space = false;  // a candidate is the beginning of a word
};

std::vector<Candidate> without_meanings(const std::vector<std::string>& names) {
  std::vector<Candidate> candidates;
  for (const auto& name : names) candidates.push_back({name, ""});
  return candidates;
}

std::vector<Candidate> command_names(const std::vector<Command>& commands) {
  std::vector<Candidate> names;
  for (const auto& command : commands) names.push_back({command.syntax.name, command.syntax.summary});
  names.push_back({"help", "show the options of a command"});
  return names;
}

std::vector<Candidate> plan_names() {
  std::vector<Candidate> names;
  for (const auto& name : bundled_plan_names())
    if (const auto plan = bundled_plan(name)) names.push_back({name, plan->description});
  return names;
}

// The command line that is being written.
struct Line {
  const CommandSyntax* syntax = nullptr;
  Arguments given;                  // those that are complete
  const Option* pending = nullptr;  // whose value is the current word
  std::string current;
  bool compiler_flags = false;  // behind `--`
};

// Words that do not parse yet are as if nothing were given.
Line read_line(const CommandSyntax& syntax, const std::vector<std::string>& words) {
  Line line;
  line.syntax = &syntax;
  line.current = words.back();
  std::vector<std::string> before(words.begin() + 1, words.end() - 1);
  line.compiler_flags = std::find(before.begin(), before.end(), "--") != before.end();
  if (!line.compiler_flags && !before.empty()) {
    const std::string& last = before.back();
    const bool is_long = last.starts_with("--") && last.find('=') == std::string::npos;
    const bool is_short = last.size() == 2 && last[0] == '-' && last[1] != '-';
    const Option* option = is_long || is_short ? find_option(syntax, last.substr(is_long ? 2 : 1)) : nullptr;
    if (option != nullptr && !option->value.empty()) {
      line.pending = option;
      before.pop_back();
    }
  }
  CommandSyntax lenient = syntax;
  lenient.least_positionals = 0;
  if (auto given = parse_arguments(lenient, before)) line.given = std::move(*given);
  return line;
}

std::vector<Candidate> gpu_names(const Arguments& given, bool with_all) {
  std::vector<Candidate> names;
  if (with_all) names.push_back({"all", "the whole catalogue"});
  if (const auto catalogue = read_catalogue(given))
    for (const auto& gpu : catalogue->gpus()) names.push_back({gpu.name, gpu.title});
  return names;
}

// Candidates for what follows the last comma of `current`.
std::vector<Candidate> after_comma(const std::string& current, std::vector<Candidate> candidates) {
  const auto comma = current.rfind(',');
  if (comma != std::string::npos)
    for (auto& one : candidates) one.word = current.substr(0, comma + 1) + one.word;
  return candidates;
}

// NAME=, for each parameter; behind the `=` there is nothing to say but the typical value.
Completion parameter_values(const Line& line, const std::vector<NamedParameter>& parameters) {
  Completion completion;
  const auto comma = line.current.rfind(',');
  const std::string begun = comma == std::string::npos ? line.current : line.current.substr(comma + 1);
  const bool named = begun.find('=') != std::string::npos;
  std::vector<Candidate> candidates;
  for (const auto& one : parameters) {
    const std::string prefix = one.name + "=";
    if (!named)
      candidates.push_back({prefix, one.meaning});
    else if (begun == prefix && one.typical)
      candidates.push_back({fmt::format("{}{}", prefix, *one.typical), "typical"});
  }
  completion.candidates = after_comma(line.current, std::move(candidates));
  completion.no_space = !named;
  return completion;
}

// The figures of a GPU, for --set.
std::vector<NamedParameter> figures() {
  std::vector<NamedParameter> all;
  for (const auto& figure : gpu_figures())
    all.push_back({figure.short_name.empty() ? figure.name : figure.short_name, figure.unit});
  for (const auto& figure : copy_figures())
    all.push_back({"copies." + std::string(figure.name), std::string(figure.unit)});
  for (const auto& figure : luo_suda_figures())
    all.push_back({"luo_suda." + std::string(figure.name), std::string(figure.unit)});
  for (const auto& figure : timing_figures()) all.push_back({"timing." + std::string(figure.name), ""});
  return all;
}

Completion value_of(const Option& option, const Line& line) {
  const std::string name = long_name(option);
  Completion completion;
  if (!option.choices.empty()) {
    completion.candidates = without_meanings(option.choices);
  } else if (name == "gpu") {
    completion.candidates = after_comma(line.current, gpu_names(line.given, true));
  } else if (name == "param") {
    return parameter_values(line, parameters_of_input(line.given));
  } else if (name == "set") {
    return parameter_values(line, figures());
  } else if (name == "assume") {
    return parameter_values(line, shares_of_input(line.given));
  } else if (name == "arg" && line.current.find('=') == std::string::npos) {
    return parameter_values(line, arguments_of_input(line.given));
  } else if (name == "kernel") {
    completion.candidates = kernels_of_input(line.given);
  } else if (name == "against" || name == "rows-of") {
    completion.candidates = plan_names();
    completion.files = option.file == Names::input;
  } else if (name == "build" || option.file == Names::input_folder || option.file == Names::output_folder) {
    completion.folders = true;
  } else if (option.file == Names::input || option.file == Names::output) {
    completion.files = true;
  }
  return completion;
}

Completion input_of(const Line& line) {
  Completion completion;
  switch (line.syntax->inputs) {
    case Inputs::files:
      completion.files = true;
      break;
    case Inputs::files_or_plans:
      if (line.given.positionals().empty()) completion.candidates = plan_names();
      completion.files = true;
      break;
    case Inputs::gpus:
      completion.candidates = gpu_names(line.given, false);
      break;
    case Inputs::plans:
      completion.candidates = plan_names();
      break;
    case Inputs::models:
      if (line.given.positionals().empty())
        completion.candidates = without_meanings({"update", "check"});
      else
        completion.folders = true;
      break;
    case Inputs::shells:
      completion.candidates = without_meanings({"bash", "zsh", "fish"});
      break;
  }
  return completion;
}

Completion option_names(const CommandSyntax& syntax) {
  Completion completion;
  for (const auto& group : syntax.groups)
    for (const auto& option : group.options)
      completion.candidates.push_back({"--" + long_name(option), option.help});
  return completion;
}

Completion complete_line(Line line) {
  if (line.compiler_flags) return Completion{{}, true, false, false};
  if (line.pending != nullptr) return value_of(*line.pending, line);
  if (!line.current.starts_with('-') || line.current == "-") {
    auto completion = input_of(line);
    if (line.current == "-")
      for (auto& one : option_names(*line.syntax).candidates) completion.candidates.push_back(std::move(one));
    return completion;
  }
  const auto equals = line.current.find('=');
  if (equals == std::string::npos) return option_names(*line.syntax);
  const std::string prefix = line.current.substr(0, equals + 1);
  const Option* option = find_option(*line.syntax, std::string_view(prefix).substr(2, equals - 2));
  if (!line.current.starts_with("--") || option == nullptr || option->value.empty()) return {};
  line.current = line.current.substr(equals + 1);
  auto completion = value_of(*option, line);
  for (auto& one : completion.candidates) one.word = prefix + one.word;
  return completion;
}

// One line, and short enough for a terminal: what follows a clause's end goes first.
std::string shortened(std::string text) {
  constexpr std::size_t longest = 70;
  for (char& c : text)
    if (c == '\t' || c == '\n') c = ' ';
  if (text.size() <= longest) return text;
  auto end = text.find_last_of(";:,.", longest);
  if (end == std::string::npos || end < longest / 2) end = text.rfind(' ', longest);
  return text.substr(0, std::min(end, longest)) + "…";
}

}  // namespace

int complete(const std::vector<std::string>& words, const std::vector<Command>& commands) {
  Completion completion;
  if (words.size() <= 1) {
    completion.candidates = command_names(commands);
    if (!words.empty() && words.front().starts_with('-'))
      completion.candidates = without_meanings({"--help", "--version"});
  } else if (words.front() == "help") {
    completion.candidates = command_names(commands);
  } else {
    for (const auto& command : commands)
      if (command.syntax.name == words.front()) completion = complete_line(read_line(command.syntax, words));
  }
  std::string text;
  const std::string& current = words.empty() ? std::string() : words.back();
  for (const auto& one : completion.candidates) {
    if (!one.word.starts_with(current)) continue;
    text += one.meaning.empty() ? one.word + "\n" : fmt::format("{}\t{}\n", one.word, shortened(one.meaning));
  }
  for (const auto& [is, directive] : {std::pair(completion.files, ":files\n"),
                                      {completion.folders, ":folders\n"},
                                      {completion.no_space, ":nospace\n"}})
    if (is) text += directive;
  return write_result(std::nullopt, text);
}

}  // namespace warptime::cli
