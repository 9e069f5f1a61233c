// What a kernel is called without what makes the name unique.
#pragma once

#include <string>
#include <string_view>

namespace warptime {

// The name alone: `mtx` of `_Z3mtxiiPf`, `void dwt::mtx<float>(int, float*)`, `mtx(int, float*) [109]`.
std::string kernel_base_name(std::string_view name);

}  // namespace warptime
