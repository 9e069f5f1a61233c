#include "analyzer/memory/access_pattern.h"

#include <algorithm>
#include <array>

#include "analyzer/memory/wrapping.h"

namespace warptime::analysis {
namespace {

constexpr std::int64_t sector_bytes = 32;
// The set of samples whose arguments are odd; those of the others are multiples of every alignment.
constexpr int odd_set = 1;

Access access_of(const LaneValues& lanes, const LaneValue& place, std::int64_t sectors, std::int64_t bytes) {
  const bool one_distance = place.each == none;
  if (one_distance && place.stride == 0) return Access::uniform;
  if (sectors <= (lanes.count() * bytes + sector_bytes - 1) / sector_bytes + 1) return Access::coalesced;
  return one_distance ? Access::strided : Access::scattered;
}

// Where the threads' addresses leave a row: the distances between neighbours, but for long ones, which are
// from row to row. Equal for two sets of samples: they differ in where rows begin, and in nothing else.
using Rows = std::array<std::int64_t, warp_lanes>;
Rows rows_of(const LaneValues& lanes, const LaneValue& place) {
  constexpr std::int64_t long_distance = 128;
  Rows rows{};
  for (int i = 1; i < lanes.count(); ++i) {
    const auto distance = wrap_subtract(lanes.at(place, i), lanes.at(place, i - 1));
    const bool is_long = distance < -long_distance || distance > long_distance;
    rows[static_cast<std::size_t>(i)] = is_long ? long_distance + 1 : distance;
  }
  return rows;
}

}  // namespace

// From a start that is aligned to 128 bytes.
std::int64_t AccessAnalysis::sectors_of(const LaneValues& lanes, const LaneValue& place, std::int64_t bytes) {
  const auto start = lanes.at(place, 0) & ~std::int64_t{127};
  sectors_.clear();
  bool ascending = true;
  for (int i = 0; i < lanes.count(); ++i) {
    const auto offset = wrap_subtract(lanes.at(place, i), start);
    for (auto s = offset >> 5; s <= wrap_add(offset, bytes - 1) >> 5; ++s) {
      if (!sectors_.empty() && sectors_.back() == s) continue;
      ascending = ascending && (sectors_.empty() || sectors_.back() < s);
      sectors_.push_back(s);
    }
  }
  if (ascending) return static_cast<std::int64_t>(sectors_.size());
  std::sort(sectors_.begin(), sectors_.end());
  return std::unique(sectors_.begin(), sectors_.end()) - sectors_.begin();
}

AddressPattern AccessAnalysis::pattern(ExprId address, std::int64_t bytes,
                                       const std::function<ExprId()>& resolved) {
  const auto found = pattern(lanes_, address, bytes, resolved);
  if (has_block_ && !block_matters_)
    block_matters_ = !(found == pattern(one_dimensional_, address, bytes, resolved));
  return found;
}

AddressPattern AccessAnalysis::pattern(LaneValues& lanes, ExprId address, std::int64_t bytes,
                                       const std::function<ExprId()>& resolved) {
  AddressPattern pattern;
  bytes = std::clamp<std::int64_t>(bytes, 1, 1024);
  if ((evaluator_.dependence(address) & on_thread) == 0) {
    pattern.access = Access::uniform;
    pattern.sectors = (bytes + sector_bytes - 1) / sector_bytes;
    return pattern;
  }
  auto place = lanes.of(address, 0);
  if ((place.sampled || place.data_decides) && evaluator_.exprs()[address].has_phi) {
    address = resolved();
    place = lanes.of(address, 0);
  }
  if (place.data_decides) return pattern;
  pattern.sectors = sectors_of(lanes, place, bytes);
  pattern.access = access_of(lanes, place, *pattern.sectors, bytes);
  if (place.each == none) pattern.distance = place.stride;
  if (!place.sampled) return pattern;
  const auto first = pattern;
  const auto rows = rows_of(lanes, place);
  bool same_rows = place.each != none, only_odd_differs = true;
  for (int set = 1; set < LaneValues::sample_sets; ++set) {
    const auto other = lanes.of(address, set);
    const auto other_sectors = sectors_of(lanes, other, bytes);
    const auto other_access = access_of(lanes, other, other_sectors, bytes);
    same_rows = same_rows && rows_of(lanes, other) == rows;
    if (other_sectors != *first.sectors || other_access != first.access)
      only_odd_differs = only_odd_differs && set == odd_set;
    if (other_sectors == *first.sectors && other_access == pattern.access) continue;
    // The arguments decide: one distance that they give, or anything.
    if (other_sectors != *first.sectors) pattern.sectors.reset();
    if (pattern.distance && other.each == none)
      pattern.access = Access::strided;
    else
      pattern.access = Access::scattered;
    if (other.each != none) pattern.distance.reset();
  }
  if (pattern == first || !same_rows || !only_odd_differs) return pattern;
  pattern = first;
  pattern.sector_pitch = true;
  return pattern;
}

std::optional<ExprId> AccessAnalysis::stride_expr(const AddressPattern& pattern, ExprId resolved) {
  auto& exprs = evaluator_.exprs();
  ExprId coefficient = 0, rest = 0;
  // The measured distance stands on sample arguments: it serves only where the closed form has the same
  // number.
  if (!pattern.distance || !exprs.split_linear(resolved, exprs.special(Special::tid_x), coefficient, rest))
    return std::nullopt;
  if (exprs.is_constant(coefficient) && !exprs.is_constant(coefficient, *pattern.distance))
    return std::nullopt;
  return coefficient;
}

}  // namespace warptime::analysis
