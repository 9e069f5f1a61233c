// The PTX beside its periods and source lines: what `analyze --emit listing` shows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/pipeline.h"

namespace warptime {

std::string listing_text(const Analysis& analysis, const KernelAnalysis& kernel);
nlohmann::ordered_json listing_json(const Analysis& analysis, const KernelAnalysis& kernel);

// `coalesced, 4 bytes a thread`: a short description of an access.
std::string access_text(const MemoryAccess& access);

// The number of modelled instructions, as a line of text.
std::string coverage(const KernelProgram& program);

}  // namespace warptime
