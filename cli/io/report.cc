#include "cli/io/report.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "cli/io/capture.h"
#include "cli/io/terminal.h"
#include "cli/views/style.h"

namespace warptime::cli {
namespace {

std::atomic<DiagnosticLog*> log_in_use = nullptr;
thread_local Diagnostics* held = nullptr;  // HeldMessages of this thread

}  // namespace

void set_diagnostic_log(DiagnosticLog* log) {
  log_in_use.store(log);
}

DiagnosticLog* current_diagnostic_log() {
  return log_in_use.load();
}

void log_only(const Diagnostic& diagnostic, std::string_view rule) {
  if (DiagnosticLog* log = current_diagnostic_log()) log->add(diagnostic, rule);
}

HeldMessages::HeldMessages() : before_(held) {
  held = &messages_;
}

HeldMessages::~HeldMessages() {
  if (held == &messages_) held = before_;
}

Diagnostics HeldMessages::end() {
  held = before_;
  return std::move(messages_);
}

void say(const Diagnostic& diagnostic) {
  if (held != nullptr) return held->push_back(diagnostic);
  log_only(diagnostic, diagnostic.verbatim.empty() ? input_rule : compiler_rule);
  say_only(diagnostic);
}

void say_only(const Diagnostic& diagnostic) {
  if (Capture* capture = current_capture()) return capture->say(diagnostic);
  Diagnostic named = diagnostic;
  if (named.file.empty()) named.file = "warptime";
  say_text(to_text(named));
}

void say_text(std::string_view text) {
  clear_activity_line();
  const std::string shown = colours_diagnostics() ? in_colours_of_messages(text) : std::string(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
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
