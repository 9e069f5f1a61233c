// clang's diagnostics, kept as clang prints them.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <functional>
#include <string>
#include <utility>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// One block for each error or warning, with the notes that belong to it.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  explicit DiagnosticCollector(clang::DiagnosticOptions* options);

  void BeginSourceFile(const clang::LangOptions& options, const clang::Preprocessor* preprocessor) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  // Errors of which `is_host_error` says so are set aside, and `engine` forgets them: it goes on to make code.
  void set_aside(clang::DiagnosticsEngine& engine,
                 std::function<bool(const clang::Diagnostic&)> is_host_error);

  // Called for every diagnostic, notes too, before anything is done with it.
  void observe(std::function<void(const clang::Diagnostic&)> observer) { observer_ = std::move(observer); }

  // Moves the blocks to the ends of `errors` and `warnings`.
  void drain(Diagnostics& errors, Diagnostics& warnings);
  // Those that were set aside, each with its own line as `message`: "k.cu:3:4: error: …".
  Diagnostics drain_aside();

 private:
  bool is_set_aside(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) const;

  std::string text_;
  llvm::raw_string_ostream stream_;
  clang::TextDiagnosticPrinter printer_;
  Diagnostics blocks_;
  Diagnostics aside_;
  bool has_error_ = false;       // that was not set aside
  bool last_was_aside_ = false;  // the notes that follow belong to it
  clang::DiagnosticsEngine* engine_ = nullptr;
  std::function<bool(const clang::Diagnostic&)> is_host_error_;
  std::function<void(const clang::Diagnostic&)> observer_;
};

}  // namespace warptime::compiling
