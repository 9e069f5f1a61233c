// The rounding modes of PTX on the host.
#pragma once

#include <cfenv>

namespace warptime::execute {

// For std::fesetround, by the number that an instruction's `detail` has for .rn, .rz, .rm and .rp.
inline constexpr int host_roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

}  // namespace warptime::execute
