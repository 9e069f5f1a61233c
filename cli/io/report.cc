#include "cli/io/report.h"

#include <cstdio>

#include "cli/io/capture.h"

namespace warptime::cli {

void say(const Diagnostic& diagnostic) {
  if (Capture* capture = current_capture()) return capture->say(diagnostic);
  Diagnostic named = diagnostic;
  if (named.file.empty()) named.file = "warptime";
  const std::string text = to_text(named);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void say(const Diagnostics& diagnostics) {
  for (const auto& diagnostic : diagnostics) say(diagnostic);
}

void say_note(std::string message, std::string hint) {
  Diagnostic note = error(std::move(message), std::move(hint));
  note.severity = Severity::note;
  say(note);
}

int fail(ExitStatus status, const Diagnostics& diagnostics) {
  say(diagnostics);
  return status;
}

}  // namespace warptime::cli
