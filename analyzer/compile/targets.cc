#include "analyzer/compile/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace warptime::compiling {

std::string to_string(const Target& target) {
  return fmt::format("sm_{}{}", target.number, target.suffix);
}

std::optional<Target> parse_target(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  Target target;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9') {
    target.number = target.number * 10 + (text[digits++] - '0');
  }
  target.suffix = text.substr(digits);
  const bool known_suffix = target.suffix.empty() || target.suffix == "a" || target.suffix == "f";
  if (digits < 2 || text[0] == '0' || !known_suffix) return std::nullopt;
  return target;
}

int target_number(std::string_view text) {
  const auto target = parse_target(text);
  return target ? target->number : 0;
}

namespace {

std::string_view relation(int wanted, int oldest, int newest) {
  if (wanted < oldest) return "the oldest target of";
  if (wanted > newest) return "the newest target of";
  return "the nearest older target of";
}

}  // namespace

Result<TargetChoice> choose_target(std::string_view wanted, const std::vector<std::string>& available,
                                   const std::string& compiler) {
  assert(!available.empty());
  const std::optional<Target> target = parse_target(wanted);
  if (!target) {
    return error(fmt::format("`{}` is not a compute target", wanted),
                 fmt::format("targets are named sm_XX, such as sm_75; {} has {}", compiler,
                             fmt::join(available, ", ")));
  }
  if (std::find(available.begin(), available.end(), wanted) != available.end())
    return TargetChoice{std::string(wanted), ""};
  std::vector<int> numbers;
  for (const std::string& name : available) numbers.push_back(parse_target(name).value().number);
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), target->number);
  const int chosen = above == numbers.begin() ? numbers.front() : *std::prev(above);
  const std::string name = to_string(Target{chosen, ""});
  return TargetChoice{
      name, fmt::format("analysed for {}, {} {}; {} was asked for", name,
                        relation(target->number, numbers.front(), numbers.back()), compiler, wanted)};
}

}  // namespace warptime::compiling
