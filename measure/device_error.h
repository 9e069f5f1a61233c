// What fails on the GPU: thrown within this room, and made a Diagnostic where it is left.
#pragma once

#include <stdexcept>

namespace warptime::measuring {

struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace warptime::measuring
