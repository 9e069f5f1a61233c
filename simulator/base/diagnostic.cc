#include "simulator/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "simulator/base/visible.h"

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
    const std::string text = visible(diagnostic.verbatim, LineBreaks::keep);
    return text.back() == '\n' ? text : text + "\n";
  }
  std::string text;
  if (!diagnostic.file.empty()) {
    text += visible(diagnostic.file) + ":";
    if (diagnostic.line > 0) text += fmt::format("{}:", diagnostic.line);
    if (diagnostic.line > 0 && diagnostic.column > 0) text += fmt::format("{}:", diagnostic.column);
    text += " ";
  }
  text +=
      fmt::format("{}: {}\n", name_of(diagnostic.severity), visible(diagnostic.message, LineBreaks::keep));
  if (!diagnostic.source_line.empty()) text += with_caret(diagnostic.source_line, diagnostic.column);
  if (!diagnostic.hint.empty()) text += fmt::format("hint: {}\n", visible(diagnostic.hint, LineBreaks::keep));
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

Failure::Failure(Diagnostics diagnostics) : diagnostics_(new Diagnostics(std::move(diagnostics))) {}

Failure::Failure(Diagnostic diagnostic) : diagnostics_(new Diagnostics) {
  diagnostics_->push_back(std::move(diagnostic));
}

const Diagnostics& Failure::diagnostics() const {
  static const Diagnostics none;
  return diagnostics_ != nullptr ? *diagnostics_ : none;
}

Failure::Failure(const Failure& other)
    : diagnostics_(other.diagnostics_ ? new Diagnostics(*other.diagnostics_) : nullptr) {}

void Failure::destroy(Diagnostics* diagnostics) {
  delete diagnostics;
}

void no_value() {
  throw std::logic_error("a result without a value was read");
}

}  // namespace warptime
