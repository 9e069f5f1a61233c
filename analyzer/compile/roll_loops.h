// Asks nvcc to keep loops as written, in sources that are not ours to edit: a copy of the text in which every
// loop carries
// `_Pragma("unroll 1")`. nvcc has no flag for it, and a macro `for` breaks headers and says nothing about
// `while`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace warptime::compiling {

// What to include instead of `name`; nothing: leave it. `quoted` tells "name" from <name>.
using IncludeReplacement = std::function<std::optional<std::string>(const std::string& name, bool quoted)>;

// The text with the pragma before every `for`, `while` and `do`, in macros too, on the same lines as before.
// A `#pragma unroll 4` of the source stays: of two, the compiler takes the last.
std::string roll_loops(std::string_view text, const IncludeReplacement& include);

}  // namespace warptime::compiling
