// What people call an item of a kernel program that is no repeat or condition.
#pragma once

#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime {

// "line 11", "lines 5-7", "PTX lines 20-31"; "load: 120" where a program has no lines.
std::string place_of(const Item& item);

}  // namespace warptime
