#include "simulator/base/visible.h"

#include <fmt/format.h>

namespace warptime {
namespace {

// How many bytes of a control character begin here; 0: it is none.
std::size_t control_length(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest[0]);
  if (first < 0x20 || first == 0x7F) return 1;
  // U+0080 to U+009F, which some terminals take as control sequences too.
  if (first != 0xC2 || rest.size() < 2) return 0;
  const auto second = static_cast<unsigned char>(rest[1]);
  return second >= 0x80 && second <= 0x9F ? 2 : 0;
}

}  // namespace

std::string visible(std::string_view text, LineBreaks breaks) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = control_length(text);
    const char first = text[0];
    const bool is_break = first == '\n' || first == '\t';
    if (length == 0 || (is_break && breaks == LineBreaks::keep)) {
      shown += first;
      text.remove_prefix(1);
      continue;
    }
    for (const char c : text.substr(0, length)) {
      if (c == '\n')
        shown += "\\n";
      else if (c == '\t')
        shown += "\\t";
      else
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(length);
  }
  return shown;
}

}  // namespace warptime
