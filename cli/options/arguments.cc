#include "cli/options/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cxxopts.hpp>

#include "cli/views/table.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

constexpr std::size_t help_width = 110;
constexpr std::size_t help_indent = 28;  // of the descriptions of options

// Every value is kept as text: the commands parse numbers themselves, with better messages than cxxopts.
cxxopts::Options to_cxxopts(const CommandSyntax& syntax) {
  cxxopts::Options options("warptime " + syntax.name);
  options.allow_unrecognised_options();
  auto add = options.add_options();
  for (const auto& group : syntax.groups) {
    for (const auto& option : group.options) {
      if (option.value.empty())
        add(option.names, option.help);
      else
        add(option.names, option.help, cxxopts::value<std::string>());
    }
  }
  return options;
}

bool is_flag(const CommandSyntax& syntax, std::string_view name) {
  const Option* option = find_option(syntax, name);
  return option != nullptr && option->value.empty();
}

std::string see_help(const CommandSyntax& syntax) {
  return fmt::format("see `warptime {} --help`", syntax.name);
}

Diagnostic unknown_option(const CommandSyntax& syntax, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const auto& group : syntax.groups)
    for (const auto& option : group.options) known.push_back("--" + long_name(option));
  const std::string near = nearest(name, known);
  return error(fmt::format("unknown option {}", name),
               near.empty() ? see_help(syntax) : fmt::format("did you mean {}?", near));
}

Diagnostics check_positionals(const CommandSyntax& syntax, const std::vector<std::string>& positionals) {
  const auto count = static_cast<int>(positionals.size());
  if (count < syntax.least_positionals)
    return {error("no input given", fmt::format("warptime {} {}", syntax.name, syntax.usage))};
  if (count > syntax.most_positionals)
    return {error(
        fmt::format("unexpected input: {}{}", positionals[static_cast<std::size_t>(syntax.most_positionals)],
                    syntax.most_positionals > 1
                        ? fmt::format("; {} takes at most {}", syntax.name, syntax.most_positionals)
                        : ""),
        see_help(syntax))};
  return {};
}

}  // namespace

std::string long_name(const Option& option) {
  const auto comma = option.names.find(',');
  return comma == std::string::npos ? option.names : option.names.substr(comma + 1);
}

const Option* find_option(const CommandSyntax& syntax, std::string_view name) {
  for (const auto& group : syntax.groups)
    for (const auto& option : group.options)
      if (long_name(option) == name ||
          (name.size() == 1 && option.names.starts_with(name) && option.names[1] == ','))
        return &option;
  return nullptr;
}

bool Arguments::has(std::string_view name) const {
  return value(name).has_value();
}

std::optional<std::string> Arguments::value(std::string_view name) const {
  const auto found =
      std::find_if(given_.rbegin(), given_.rend(), [&](const auto& pair) { return pair.first == name; });
  return found == given_.rend() ? std::nullopt : std::optional(found->second);
}

std::string Arguments::value_or(std::string_view name, std::string_view otherwise) const {
  return value(name).value_or(std::string(otherwise));
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, text] : given_)
    if (key == name) found.push_back(text);
  return found;
}

std::vector<std::string> Arguments::choices(std::string_view name) const {
  const auto found =
      std::find_if(choices_.begin(), choices_.end(), [&](const auto& pair) { return pair.first == name; });
  return found == choices_.end() ? std::vector<std::string>() : found->second;
}

Arguments Arguments::with(std::string_view name, std::string_view value) const {
  Arguments more = *this;
  more.given_.emplace_back(name, value);
  return more;
}

Result<Arguments> parse_arguments(const CommandSyntax& syntax, const std::vector<std::string>& words) {
  Arguments arguments;
  for (const auto& group : syntax.groups)
    for (const auto& option : group.options)
      if (!option.choices.empty()) arguments.choices_.emplace_back(long_name(option), option.choices);
  const auto separator = std::find(words.begin(), words.end(), "--");
  if (separator != words.end()) arguments.compiler_flags_.assign(separator + 1, words.end());

  std::vector<const char*> argv = {"warptime"};
  for (auto word = words.begin(); word != separator; ++word) argv.push_back(word->c_str());
  try {
    auto options = to_cxxopts(syntax);
    const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    for (const auto& pair : parsed.arguments())
      if (!is_flag(syntax, pair.key()) || pair.as<bool>())
        arguments.given_.emplace_back(pair.key(), pair.value());
    for (const auto& word : parsed.unmatched()) {
      if (word.size() > 1 && word[0] == '-') return unknown_option(syntax, word);
      arguments.positionals_.push_back(word);
    }
  } catch (const cxxopts::exceptions::exception& failure) {
    return error(failure.what(), see_help(syntax));
  }
  if (arguments.has("help")) return arguments;
  if (separator != words.end() && !syntax.takes_compiler_flags)
    return error("`--` is for commands that compile; this one does not", see_help(syntax));
  if (auto wrong = check_positionals(syntax, arguments.positionals_); !wrong.empty()) return wrong;
  return arguments;
}

std::string help_text(const CommandSyntax& syntax) {
  const std::string description = syntax.description + (syntax.addition ? syntax.addition() : "");
  std::string text = fmt::format("warptime {}: {}\n\nUsage:\n  warptime {} {}\n\n{}\n", syntax.name,
                                 syntax.summary, syntax.name, syntax.usage, wrapped(description, help_width));
  for (const auto& group : syntax.groups) {
    text += fmt::format("\n{}:\n", group.title);
    for (const auto& option : group.options) {
      const bool has_short = option.names.size() > 1 && option.names[1] == ',';
      const std::string name =
          fmt::format("  {}--{} {}", has_short ? fmt::format("-{}, ", option.names[0]) : "    ",
                      long_name(option), option.value);
      const bool too_long = name.size() + 2 > help_indent;
      text += fmt::format("{:<{}}", name, help_indent).substr(0, too_long ? name.size() : help_indent);
      if (too_long) text += "\n" + std::string(help_indent, ' ');
      text += wrapped(option.help, help_width, help_indent) + "\n";
    }
  }
  return fmt::format("{}\nExamples:\n{}", text, syntax.examples);
}

}  // namespace warptime::cli
