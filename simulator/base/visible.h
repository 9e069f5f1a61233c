// Text of others, shown: names, cells and source lines may hold what moves a terminal's cursor or its colours.
#pragma once

#include <string>
#include <string_view>

namespace warptime {

enum class LineBreaks : bool { escape, keep };

// `text` with each control character as an escape sequence of C: `\x1b`, `\t`, `\x7f`, and U+0080 to U+009F by
// their bytes. With LineBreaks::keep, newlines and tabs stay.
std::string visible(std::string_view text, LineBreaks breaks = LineBreaks::escape);

}  // namespace warptime
