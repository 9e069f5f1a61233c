#include "simulator/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime {
namespace {

constexpr std::size_t kShownWidth =
    160;  // of a source line, in bytes: machine-written files have lines of megabytes

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// The source line and the caret under `column`; tabs stay tabs in both, so that they line up in any terminal.
std::string with_caret(std::string_view line, int column) {
  std::size_t caret = column > 0 ? std::min(static_cast<std::size_t>(column) - 1, line.size()) : 0;
  std::string before, after;
  if (caret > kShownWidth / 2 && line.size() > kShownWidth) {
    std::size_t cut = std::min(caret - kShownWidth / 2, line.size() - kShownWidth);
    while (cut < caret && continues_character(line[cut])) ++cut;
    line.remove_prefix(cut);
    caret -= cut;
    before = "…";
  }
  if (line.size() > kShownWidth) {
    std::size_t end = kShownWidth;
    while (end > caret && continues_character(line[end])) --end;
    line = line.substr(0, end);
    after = "…";
  }
  std::string shown = before, pad = before.empty() ? "" : " ";
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool control = static_cast<unsigned char>(line[i]) < 0x20 && line[i] != '\t';
    shown += control || line[i] == 0x7F ? '?' : line[i];
    if (i < caret && !continues_character(line[i])) pad += line[i] == '\t' ? '\t' : ' ';
  }
  std::string text = shown + after + "\n";
  if (column > 0) text += pad + "^\n";
  return text;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  if (!diagnostic.verbatim.empty()) {
    return diagnostic.verbatim.back() == '\n' ? diagnostic.verbatim : diagnostic.verbatim + "\n";
  }
  std::string text;
  if (!diagnostic.file.empty()) {
    text += diagnostic.file + ":";
    if (diagnostic.line > 0) text += fmt::format("{}:", diagnostic.line);
    if (diagnostic.line > 0 && diagnostic.column > 0) text += fmt::format("{}:", diagnostic.column);
    text += " ";
  }
  text += fmt::format("{}: {}\n", name_of(diagnostic.severity), diagnostic.message);
  if (!diagnostic.source_line.empty()) text += with_caret(diagnostic.source_line, diagnostic.column);
  if (!diagnostic.hint.empty()) text += fmt::format("hint: {}\n", diagnostic.hint);
  return text;
}

std::string to_text(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += to_text(diagnostic);
  return text;
}

Diagnostic error(std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

Diagnostic error_at(std::string file, int line, int column, std::string message, std::string hint) {
  Diagnostic diagnostic = error(std::move(message), std::move(hint));
  diagnostic.file = std::move(file);
  diagnostic.line = line;
  diagnostic.column = column;
  return diagnostic;
}

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours; upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 100;  // longer ones are no slip of the finger
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, (wanted.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const bool begins = wanted.size() >= 3 && candidate.starts_with(wanted);  // `clock` for `clock_mhz`
    const std::size_t distance = begins ? 1 : edit_distance(wanted, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace warptime
