#include "analyzer/compile/clang_diagnostics.h"

#include <algorithm>
#include <utility>

namespace warptime::compiling {

namespace {

// Behind the lines that say which file includes which.
std::string line_of_error(const std::string& text) {
  const std::size_t error = std::min(text.find("error: "), text.find("warning: "));
  const std::size_t before = error == std::string::npos ? std::string::npos : text.rfind('\n', error);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

DiagnosticCollector::DiagnosticCollector(clang::DiagnosticOptions* options)
    : stream_(text_), printer_(stream_, options) {
  stream_.enable_colors(true);  // whether there are any is one of clang's options
}

void DiagnosticCollector::BeginSourceFile(const clang::LangOptions& options,
                                          const clang::Preprocessor* preprocessor) {
  printer_.BeginSourceFile(options, preprocessor);
}

void DiagnosticCollector::EndSourceFile() {
  printer_.EndSourceFile();
}

void DiagnosticCollector::set_aside(clang::DiagnosticsEngine& engine,
                                    std::function<bool(const clang::Diagnostic&)> is_host_error) {
  engine_ = &engine;
  is_host_error_ = std::move(is_host_error);
}

bool DiagnosticCollector::is_set_aside(clang::DiagnosticsEngine::Level level,
                                       const clang::Diagnostic& info) const {
  if (level <= clang::DiagnosticsEngine::Note) return last_was_aside_;
  return level == clang::DiagnosticsEngine::Error && is_host_error_ && is_host_error_(info);
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                           const clang::Diagnostic& info) {
  if (level == clang::DiagnosticsEngine::Ignored) return;
  if (observer_) observer_(info);
  last_was_aside_ = is_set_aside(level, info);
  if (!last_was_aside_) DiagnosticConsumer::HandleDiagnostic(level, info);
  printer_.HandleDiagnostic(level, info);
  std::string text = std::exchange(text_, {});
  Diagnostics& blocks = last_was_aside_ ? aside_ : blocks_;
  if (level <= clang::DiagnosticsEngine::Note && !blocks.empty()) {
    blocks.back().verbatim += text;
    return;
  }
  Diagnostic block;
  block.severity = level >= clang::DiagnosticsEngine::Error ? Severity::error : Severity::warning;
  block.message = line_of_error(text);
  block.verbatim = std::move(text);
  blocks.push_back(std::move(block));
  // After an error of another kind clang is to make no more code.
  if (level >= clang::DiagnosticsEngine::Error && !last_was_aside_) has_error_ = true;
  if (last_was_aside_ && !has_error_) engine_->Reset(/*soft=*/true);
}

void DiagnosticCollector::drain(Diagnostics& errors, Diagnostics& warnings) {
  for (Diagnostic& block : std::exchange(blocks_, {})) {
    (block.severity == Severity::error ? errors : warnings).push_back(std::move(block));
  }
}

Diagnostics DiagnosticCollector::drain_aside() {
  return std::exchange(aside_, {});
}

}  // namespace warptime::compiling
