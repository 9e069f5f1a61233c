#include "analyzer/regions.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// What follows `marker` in a `//` comment of the line; nothing where the line has no such comment.
bool marked(std::string_view line, std::string_view marker, std::string_view& name) {
  const auto comment = line.find("//");
  if (comment == std::string_view::npos) return false;
  auto text = trimmed(line.substr(comment + 2));
  if (!text.starts_with(marker)) return false;
  text.remove_prefix(marker.size());
  if (!text.empty() && blanks.find(text.front()) == std::string_view::npos) return false;
  name = trimmed(text);
  return true;
}

struct OpenRegion {
  std::string name;
  int line;
  std::size_t region;  // index in the result
};

}  // namespace

Result<std::vector<Region>> find_regions(std::string_view source, const std::string& file) {
  std::vector<Region> regions;
  std::vector<OpenRegion> open;
  int number = 0;
  while (!source.empty()) {
    const auto end = source.find('\n');
    const auto line = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    ++number;
    std::string_view name;
    if (marked(line, "warptime-begin", name)) {
      auto at = std::find_if(regions.begin(), regions.end(), [&](const auto& r) { return r.name == name; });
      if (at == regions.end()) at = regions.insert(at, {std::string(name), {}});
      open.push_back({std::string(name), number, static_cast<std::size_t>(at - regions.begin())});
    } else if (marked(line, "warptime-end", name)) {
      // Without a name: what was opened last.
      const auto begin = std::find_if(open.rbegin(), open.rend(),
                                      [&](const auto& o) { return name.empty() || o.name == name; });
      if (begin == open.rend())
        return error_at(
            file, number, 0,
            fmt::format("`warptime-end{}{}` without its `warptime-begin`", name.empty() ? "" : " ", name));
      if (number - 1 > begin->line) regions[begin->region].lines.add(begin->line + 1, number - 1);
      open.erase(std::next(begin).base());
    }
  }
  if (!open.empty())
    return error_at(file, open.back().line, 0,
                    fmt::format("`warptime-begin{}{}` without its `warptime-end`",
                                open.back().name.empty() ? "" : " ", open.back().name));
  return regions;
}

}  // namespace warptime
