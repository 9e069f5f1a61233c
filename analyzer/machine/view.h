// What ptxas is expected to make of a kernel, line by line, or what it made, instruction by instruction: what
// `analyze --emit machine` shows, without and with `--machine`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/machine_code.h"

namespace warptime::machine {

// `kernel`: its name. `target`: for which the code is made, sm_90.
std::string machine_text(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                         const std::string& kernel, const std::string& target);
nlohmann::ordered_json machine_json(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                                    const std::string& kernel, const std::string& target);

// Each machine instruction with its control word (Control), and the PTX instruction that it was made of. Operands are not
// decoded; of branches the target is.
std::string assembled_text(const analysis::KernelCode& code, const MachineKernel& machine,
                           const std::string& kernel, const std::string& target);
nlohmann::ordered_json assembled_json(const analysis::KernelCode& code, const MachineKernel& machine,
                                      const std::string& kernel, const std::string& target);

}  // namespace warptime::machine
