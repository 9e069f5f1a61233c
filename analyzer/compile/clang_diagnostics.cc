#include "analyzer/compile/clang_diagnostics.h"

#include <clang/Basic/DiagnosticFrontend.h>
#include <clang/Basic/DiagnosticLex.h>

#include <utility>

namespace warptime::compiling {

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

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                           const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == clang::DiagnosticsEngine::Ignored) return;
  printer_.HandleDiagnostic(level, info);
  std::string text = std::exchange(text_, {});
  if (level <= clang::DiagnosticsEngine::Note && !blocks_.empty()) {
    blocks_.back().verbatim += text;
    return;
  }
  Diagnostic block;
  block.severity = level >= clang::DiagnosticsEngine::Error ? Severity::error : Severity::warning;
  block.verbatim = std::move(text);
  if (info.getID() == clang::diag::err_pp_file_not_found) {
    block.verbatim +=
        "hint: the CUDA headers come with warptime, those of C and C++ from the system (libc6-dev, "
        "libstdc++-12-dev); "
        "other folders are named by -I after `--`\n";
  }
  blocks_.push_back(std::move(block));
}

void DiagnosticCollector::drain(Diagnostics& errors, Diagnostics& warnings) {
  for (Diagnostic& block : std::exchange(blocks_, {})) {
    (block.severity == Severity::error ? errors : warnings).push_back(std::move(block));
  }
}

}  // namespace warptime::compiling
