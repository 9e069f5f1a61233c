// The kinds of findings, for JSON and the command line.
#pragma once

#include <string_view>

#include "analyzer/execute/execute.h"

namespace warptime::execute {

// out_of_bounds, shared_race, …: the enumerator's name.
std::string_view name_of(Finding::Kind kind);

}  // namespace warptime::execute
