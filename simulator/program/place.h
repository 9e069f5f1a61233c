// The name of an item of a kernel program (not a repeat or condition) in reports.
#pragma once

#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime {

// "line 11", "lines 5-7", "PTX lines 20-31"; "load: 120" in a program without lines.
std::string place_of(const Item& item);

}  // namespace warptime
