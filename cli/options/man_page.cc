#include "cli/options/man_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

#include "cli/io/report.h"

namespace warptime::cli {
namespace {

// In text, `warptime plans` is bold, and no character is one of roff's.
std::string roff(std::string_view text) {
  std::string escaped;
  bool bold = false;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        bold = !bold;
        escaped += bold ? "\\fB" : "\\fR";
        break;
      default:
        escaped += c;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string paragraphs(std::string_view text) {
  std::string page;
  for (const auto line : lines_of(text))
    page += fmt::format("{}{}\n", page.empty() ? "" : ".PP\n", roff(line));
  return page;
}

// Lines as they stand, without the indentation that they have in --help.
std::string example_section(std::string_view lines) {
  std::string page = ".SH EXAMPLES\n.EX\n";
  for (auto line : lines_of(lines)) {
    if (line.starts_with("Examples:")) continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    page += roff(line) + "\n";
  }
  return page + ".EE\n";
}

// exit_status_help: a number, what it means, and lines that go on.
std::string exit_status_section() {
  std::string page = ".SH \"EXIT STATUS\"\n";
  for (auto line : lines_of(exit_status_help)) {
    const auto text = line.find_first_not_of(' ');
    if (text == 0) continue;  // its heading
    const auto number = line.find_first_not_of("0123456789", text);
    line.remove_prefix(text);
    if (number > text) {
      page += fmt::format(".TP\n{}\n", line.substr(0, number - text));
      line.remove_prefix(number - text);
      line.remove_prefix(line.find_first_not_of(' '));
    }
    page += roff(line) + "\n";
  }
  return page;
}

// The day of SOURCE_DATE_EPOCH, for packages that are the same each time they are made; else today.
std::string date() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t seconds = epoch != nullptr ? std::strtoll(epoch, nullptr, 10) : std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(seconds));
}

std::string heading(const std::string& name, const std::string& summary) {
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(
      ".TH {} 1 {} \"warptime {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n", roff(title),
      date(), WARPTIME_VERSION, roff(name), roff(summary));
}

std::string option_entry(const Option& option) {
  const bool has_short = option.names.size() > 1 && option.names[1] == ',';
  const std::string value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n{}\\fB\\-\\-{}\\fR{}\n{}\n",
                     has_short ? fmt::format("\\fB\\-{}\\fR, ", option.names[0]) : "",
                     roff(long_name(option)), value, roff(option.help));
}

}  // namespace

std::string man_page(const CommandSyntax& syntax) {
  std::string page = heading("warptime-" + syntax.name, syntax.summary);
  const std::string usage = "warptime " + syntax.name + " " + syntax.usage;
  for (const auto line : lines_of(usage))
    page += roff(line.substr(std::min(line.find_first_not_of(' '), line.size()))) + "\n";
  page += ".fi\n.SH DESCRIPTION\n" +
          paragraphs(syntax.description + (syntax.addition ? syntax.addition() : "")) + ".SH OPTIONS\n";
  for (const auto& group : syntax.groups) {
    page += fmt::format(".SS \"{}\"\n", roff(group.title));
    for (const auto& option : group.options) page += option_entry(option);
  }
  return page + exit_status_section() + example_section(syntax.examples) +
         ".SH \"SEE ALSO\"\n.BR warptime (1)\n";
}

std::string man_page_of_program(const std::string& summary, const std::vector<CommandSyntax>& commands,
                                const std::string& examples) {
  std::string page = heading("warptime", summary) +
                     "warptime COMMAND [OPTION...] INPUT\n.fi\n.SH DESCRIPTION\n" +
                     "Each command has a page of its own, and `\\-\\-help` shows the same.\n.SH COMMANDS\n";
  std::string see;
  for (const auto& command : commands) {
    page += fmt::format(".TP\n\\fBwarptime\\-{}\\fR(1)\n{}\n", roff(command.name), roff(command.summary));
    see += fmt::format("{}.BR warptime\\-{} (1)", see.empty() ? "" : ",\n", roff(command.name));
  }
  return page + exit_status_section() + example_section(examples) + ".SH \"SEE ALSO\"\n" + see + "\n";
}

}  // namespace warptime::cli
