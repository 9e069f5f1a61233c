#include "simulator/base/did_you_mean.h"

#include <algorithm>
#include <utility>

namespace warptime {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Insertions, deletions, replacements and swaps of neighbours; upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 100;  // longer ones are no slip of the finger
  constexpr std::size_t kShortestPart = 3;   // of a name, to be found in it
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, (wanted.size() + 1) / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const bool begins = wanted.size() >= 3 && candidate.starts_with(wanted);  // `clock` for `clock_mhz`
    const std::size_t distance = begins ? 1 : edit_distance(wanted, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || wanted.size() < kShortestPart) return best;
  // A candidate that contains the word: `rtx-4090` for `4090`. The shortest one says the least that was not
  // meant.
  for (const std::string& candidate : candidates)
    if (candidate.find(wanted) != std::string::npos && (best.empty() || candidate.size() < best.size()))
      best = candidate;
  return best;
}

std::string enumerate(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace warptime
