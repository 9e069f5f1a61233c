#include "cli/views/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/views/table.h"
#include "simulator/base/visible.h"

namespace warptime::cli {
namespace {

using SarifJson = nlohmann::ordered_json;

const char* level_of(Severity severity) {
  return severity == Severity::note ? "note" : severity == Severity::warning ? "warning" : "error";
}

// A file's name as a URI: relative to the working directory where it lies in it.
std::string uri_of(std::string file) {
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string() + "/";
  if (!failed && file.starts_with(here)) file.erase(0, here.size());
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@";
  std::string uri = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    if (plain.find(c) != std::string_view::npos)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// A byte's column as one of code points.
int character_column(const Diagnostic& of) {
  if (of.column <= 0 || of.source_line.empty()) return of.column;
  int column = 1;
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(of.column); ++i)
    column += i >= of.source_line.size() || (static_cast<unsigned char>(of.source_line[i]) & 0xC0) != 0x80;
  return column;
}

int number_at(std::string_view text, std::size_t& at) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (failure != std::errc()) return 0;
  at = static_cast<std::size_t>(end - text.data());
  return value;
}

// `FILE:12:7: error: MESSAGE` of clang, `FILE(12): error: MESSAGE` of nvcc; nothing: another line.
bool read_message(std::string_view line, Diagnostic& into) {
  constexpr std::pair<std::string_view, Severity> kinds[] = {
      {": fatal error: ", Severity::error}, {": error: ", Severity::error},
      {": warning: ", Severity::warning},   {": note: ", Severity::note},
      {": error #", Severity::error},       {": warning #", Severity::warning}};
  std::size_t first = std::string_view::npos;
  for (const auto& [text, severity] : kinds) {
    const auto at = line.find(text);
    if (at >= first) continue;
    first = at;
    into.severity = severity;
    into.message = std::string(line.substr(at + text.size()));
  }
  if (first == std::string_view::npos) return false;
  const std::string_view place = line.substr(0, first);
  into.line = into.column = 0;
  std::size_t end = place.size();
  if (place.ends_with(')')) {
    end = place.rfind('(');
    if (end == std::string_view::npos) return false;
    std::size_t at = end + 1;
    into.line = number_at(place, at);
  } else {
    int numbers[2] = {0, 0}, count = 0;
    while (count < 2) {
      const auto colon = place.substr(0, end).rfind(':');
      if (colon == std::string_view::npos) break;
      std::size_t at = colon + 1;
      const int number = number_at(place.substr(0, end), at);
      if (number <= 0 || at != end) break;
      numbers[count++] = number;
      end = colon;
    }
    into.line = numbers[count == 2 ? 1 : 0];
    into.column = count == 2 ? numbers[0] : 0;
  }
  into.file = std::string(place.substr(0, end));
  return true;
}

}  // namespace

std::vector<Diagnostic> messages_of(const Diagnostic& formatted) {
  std::vector<Diagnostic> messages;
  std::string_view rest = formatted.verbatim;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    Diagnostic one;
    if (read_message(line, one)) {
      messages.push_back(std::move(one));
    } else if (!messages.empty() && line.starts_with("hint: ")) {
      messages.back().hint = std::string(line.substr(std::string_view("hint: ").size()));
    }
  }
  if (messages.empty()) {
    Diagnostic whole = formatted;
    whole.message = formatted.verbatim.substr(0, formatted.verbatim.find_last_not_of('\n') + 1);
    messages.push_back(std::move(whole));
  }
  return messages;
}

namespace {

SarifJson place_of(const Diagnostic& of) {
  SarifJson physical = {{"artifactLocation", {{"uri", uri_of(of.file)}}}};
  if (of.line > 0) {
    physical["region"]["startLine"] = of.line;
    if (const int column = character_column(of); column > 0) physical["region"]["startColumn"] = column;
    if (!of.source_line.empty()) physical["region"]["snippet"] = {{"text", of.source_line}};
  }
  return {{"physicalLocation", std::move(physical)}};
}

SarifJson result_of(Diagnostic of, const std::string& rule, std::size_t rule_index) {
  // Not files: an option, standard input, and the PTX of a source.
  constexpr std::string_view ptx = " (PTX)";
  std::string before;
  if (of.file.starts_with("--") || of.file == "-") {
    before = of.file == "-" ? "standard input" : of.file;
    if (of.line > 0 && of.file == "-") before += fmt::format(", line {}", of.line);
    of.file.clear();
  } else if (of.file.ends_with(ptx)) {
    if (of.line > 0) before = fmt::format("line {} of its PTX", of.line);
    of.file.resize(of.file.size() - ptx.size());
    of.line = of.column = 0;
  }
  std::string text = visible(of.message, LineBreaks::keep);
  if (!before.empty()) text = fmt::format("{}: {}", before, text);
  if (!of.hint.empty()) text += fmt::format("\nhint: {}", visible(of.hint, LineBreaks::keep));
  SarifJson result = {{"ruleId", rule},
                      {"ruleIndex", rule_index},
                      {"level", level_of(of.severity)},
                      {"message", {{"text", std::move(text)}}}};
  result["locations"] = SarifJson::array();
  if (!of.file.empty() && of.file != "warptime") result["locations"].push_back(place_of(of));
  return result;
}

std::string description_of(const std::string& rule) {
  if (rule == "input") return "What is wrong with an input, or what to know about the result.";
  if (rule == "compiler") return "What the compiler of a source says.";
  if (rule == "models/changed") return "A kernel's program differs from its committed model.";
  if (rule == "models/regression") return "A plan's predicted time grew by more than is allowed.";
  const auto slash = rule.find('/');
  std::string words = rule.substr(slash == std::string::npos ? 0 : slash + 1);
  std::replace(words.begin(), words.end(), '_', ' ');
  return rule.starts_with("models/") ? fmt::format("A committed model is {}.", words)
                                     : fmt::format("Found in an execution of the kernel: {}.", words);
}

}  // namespace

std::string sarif_log(const std::vector<RuledDiagnostic>& diagnostics, const std::string& version,
                      int exit_status) {
  std::vector<std::string> rules;
  SarifJson results = SarifJson::array();
  for (const auto& [diagnostic, rule] : diagnostics) {
    auto known = std::find(rules.begin(), rules.end(), rule);
    if (known == rules.end()) known = rules.insert(rules.end(), rule);
    const auto index = static_cast<std::size_t>(known - rules.begin());
    if (diagnostic.verbatim.empty()) {
      results.push_back(result_of(diagnostic, rule, index));
    } else {
      for (Diagnostic& one : messages_of(diagnostic))
        results.push_back(result_of(std::move(one), rule, index));
    }
  }
  SarifJson driver = {{"name", "warptime"}, {"version", version}, {"rules", SarifJson::array()}};
  for (const std::string& rule : rules)
    driver["rules"].push_back({{"id", rule}, {"shortDescription", {{"text", description_of(rule)}}}});
  SarifJson run = {{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] =
      SarifJson::array({{{"executionSuccessful", exit_status == 0}, {"exitCode", exit_status}}});
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = std::move(results);
  SarifJson log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
  log["runs"] = SarifJson::array({std::move(run)});
  return json_text(log, 2) + "\n";
}

}  // namespace warptime::cli
