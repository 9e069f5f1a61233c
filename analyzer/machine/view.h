// What ptxas is expected to make of a kernel, line by line: what `analyze --emit machine` shows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

// `kernel`: its name. `target`: for which the code is made, sm_90.
std::string machine_text(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                         const std::string& kernel, const std::string& target);
nlohmann::ordered_json machine_json(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                                    const std::string& kernel, const std::string& target);

}  // namespace warptime::machine
