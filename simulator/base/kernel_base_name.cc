#include "simulator/base/kernel_base_name.h"

#include <algorithm>
#include <cstdint>

#include "simulator/base/csv.h"
#include "simulator/base/text.h"

namespace warptime {
namespace {

// The last of the <length><name> that follow each other at `at`.
std::string last_source_name(std::string_view mangled, std::size_t at) {
  std::string name;
  while (at < mangled.size() && is_digit(mangled[at])) {
    const auto end = std::min(mangled.find_first_not_of("0123456789", at), mangled.size());
    std::int64_t length = 0;
    if (!read_whole(mangled.substr(at, end - at), length) || length < 1 ||
        static_cast<std::size_t>(length) > mangled.size() - end)
      break;
    name = mangled.substr(end, static_cast<std::size_t>(length));
    at = end + static_cast<std::size_t>(length);
  }
  return name;
}

std::string of_mangled(std::string_view mangled) {
  const std::size_t at = mangled.starts_with("_ZN") ? 3 : mangled.starts_with("_ZL") ? 3 : 2;
  const std::string name = last_source_name(mangled, at);
  return name.empty() ? std::string(mangled) : name;
}

}  // namespace

std::string kernel_base_name(std::string_view name) {
  if (name.starts_with("_Z")) return of_mangled(name);
  // Up to the arguments: the first `(` outside of `<…>` that begins no `(anonymous namespace)`.
  int depth = 0;
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    if (depth == 0) {
      if (c == '(') {
        if (name.substr(i).starts_with("(anonymous namespace)")) {
          i += std::string_view("(anonymous namespace)").size() - 1;
          continue;
        }
        break;
      }
      plain += c;
    }
    if (c == '>' && depth > 0) --depth;
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  if (const auto bracket = plain.rfind(" ["); bracket != std::string::npos && plain.back() == ']')
    plain.resize(bracket);
  if (const auto space = plain.rfind(' '); space != std::string::npos) plain.erase(0, space + 1);
  if (const auto colons = plain.rfind("::"); colons != std::string::npos) plain.erase(0, colons + 2);
  return plain;
}

}  // namespace warptime
