// clang's diagnostics, kept as clang prints them.
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

#include "simulator/base/diagnostic.h"

namespace warptime::compiling {

// One block for each error or warning, with the notes that belong to it.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  explicit DiagnosticCollector(clang::DiagnosticOptions* options);

  void BeginSourceFile(const clang::LangOptions& options, const clang::Preprocessor* preprocessor) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  // Moves the blocks to the ends of `errors` and `warnings`.
  void drain(Diagnostics& errors, Diagnostics& warnings);

 private:
  std::string text_;
  llvm::raw_string_ostream stream_;
  clang::TextDiagnosticPrinter printer_;
  Diagnostics blocks_;
};

}  // namespace warptime::compiling
