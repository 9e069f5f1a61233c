#include "cli/commands/sarif_output.h"

#include <memory>
#include <mutex>
#include <string>

#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/views/sarif.h"

namespace warptime::cli {
namespace {

class SarifLog : public DiagnosticLog {
 public:
  explicit SarifLog(std::unique_ptr<Output> output) : output_(std::move(output)) { set_diagnostic_log(this); }
  ~SarifLog() override { set_diagnostic_log(nullptr); }

  void add(const Diagnostic& diagnostic, std::string_view rule) override {
    const std::lock_guard lock(mutex_);
    diagnostics_.emplace_back(diagnostic, rule);
  }

  int finish(int status) override {
    Diagnostics failures;
    {
      const std::lock_guard lock(mutex_);
      if (output_ == nullptr) return status;
      output_->write(sarif_log(diagnostics_, WARPTIME_VERSION, status));
      failures = output_->finish();
      output_.reset();
    }
    if (failures.empty()) return status;
    fail(wrong_input, failures);
    return status == done ? wrong_input : status;
  }

 private:
  std::mutex mutex_;
  std::vector<RuledDiagnostic> diagnostics_;
  std::unique_ptr<Output> output_;  // null: written
};

}  // namespace

int run_with_sarif(const Arguments& arguments, int (*run)(const Arguments& arguments)) {
  const auto file = arguments.value("sarif");
  if (!file) return run(arguments);
  if (*file == "-" && arguments.value_or("output", "-") == "-")
    return fail(wrong_command_line, {error_at("--sarif", 0, 0, "standard output has the result already",
                                              "name a file, or one for the result with -o")});
  auto output = Output::open(file);
  if (!output) return fail(wrong_input, output.diagnostics());
  SarifLog log(std::move(*output));
  return log.finish(run(arguments));
}

}  // namespace warptime::cli
