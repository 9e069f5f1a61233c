// Which parts of cuda_headers/cuda/cuda_runtime.h a source may need. Parsing them all takes longer than
// compiling a small kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warptime::compiling {

// The bits of __WARPTIME_PARTS in cuda_runtime.h.
namespace header_parts {
inline constexpr int vector_types = 1;
inline constexpr int host_runtime = 2;
inline constexpr int synchronisation = 4;
inline constexpr int atomics = 8;
inline constexpr int intrinsics = 16;
inline constexpr int math_basic = 32;
inline constexpr int math_float = 64;
inline constexpr int math_double = 128;
inline constexpr int math_std = 256;  // never guessed: <cmath> brings it with `all`
inline constexpr int textures = 512;
inline constexpr int all = 1023;
// And what nvcc's own headers bring along of the C and C++ libraries.
inline constexpr int all_and_libraries = 2047;
}  // namespace header_parts

// A guess from the words of the source, and `all` where other headers than a few well-known ones come in. A
// source that does not compile with what was guessed is compiled again with all and the libraries; one that
// does means the same with them.
int needed_header_parts(std::string_view text, const std::vector<std::string>& flags);

// Whether `name`, texture or surface, is a reference to one in this source, as before CUDA 12, and not a name of its own: it is not if it
// stands there, and nowhere as a template. A source that does not mention it may include what does.
bool may_be_reference(std::string_view text, std::string_view name);

}  // namespace warptime::compiling
