// What the SVG figures share.
#pragma once

#include <string>
#include <string_view>

namespace warptime::cli {

// The text as XML holds it, in content and in attributes, whatever bytes it has: what is no character in UTF-8 becomes
// the replacement character.
std::string xml_escaped(std::string_view text);

}  // namespace warptime::cli
