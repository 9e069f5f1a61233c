#include "analyzer/ptx/launch_bounds.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

namespace warptime::ptx {
namespace {

// The numbers behind a directive's word: `.maxntid 256, 1, 1` gives their product. Nothing where it is
// another directive, or has no number, or more than an int holds.
std::optional<int> product_in(std::string_view directive, std::string_view word) {
  if (!directive.starts_with(word)) return std::nullopt;
  directive.remove_prefix(word.size());
  if (directive.empty() ||
      (directive.front() != ' ' && directive.front() != '\t' && directive.front() != '\n'))
    return std::nullopt;
  std::int64_t product = 1;
  bool any = false;
  while (true) {
    const auto digit = directive.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    directive.remove_prefix(digit);
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(directive.data(), directive.data() + directive.size(), number);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (status != std::errc() || number > most || (number != 0 && product > most / number))
      return std::nullopt;
    product *= number;
    any = true;
    directive.remove_prefix(static_cast<std::size_t>(end - directive.data()));
  }
  return any ? std::optional(static_cast<int>(product)) : std::nullopt;
}

}  // namespace

LaunchBounds launch_bounds(const Function& function) {
  LaunchBounds bounds;
  for (const std::string_view directive : function.directives) {
    const auto take = [&](std::string_view word, std::optional<int>& into) {
      if (const auto number = product_in(directive, word); number && *number > 0) into = number;
    };
    take(".maxntid", bounds.max_threads);
    take(".reqntid", bounds.required_threads);
    take(".minnctapersm", bounds.min_blocks);
    take(".maxnreg", bounds.max_registers);
  }
  return bounds;
}

}  // namespace warptime::ptx
