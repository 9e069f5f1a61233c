// Diagnostics as a SARIF 2.1.0 log (OASIS, 2020), the format in which services for code review take them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::cli {

// A diagnostic, and the id of its rule: "input", "compiler", "run/out_of_bounds", …
using RuledDiagnostic = std::pair<Diagnostic, std::string>;

// The log of one run of the command. Lines are 1-based, columns count code points from 1. What has no file (an option, or
// nothing) is a result without a place; what a compiler formatted itself is cut into its messages. `version`: warptime's.
std::string sarif_log(const std::vector<RuledDiagnostic>& diagnostics, const std::string& version,
                      int exit_status);

// The messages of a compiler's text (Diagnostic::verbatim), one for each place; the lines behind one (the source, a caret)
// belong to it. Text without a message that can be read is one message.
std::vector<Diagnostic> messages_of(const Diagnostic& formatted);

}  // namespace warptime::cli
