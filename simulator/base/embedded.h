// Data files that are compiled in: see cmake/embed.cmake.
#pragma once

#include <cstddef>
#include <string_view>

namespace warptime {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace warptime
