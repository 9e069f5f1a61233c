#include "analyzer/memory/access_pattern.h"

#include <algorithm>

#include "analyzer/memory/wrapping.h"

namespace warptime::analysis {
namespace {

constexpr std::int64_t sector_bytes = 32;

}  // namespace

// From a start that is aligned to 128 bytes.
std::int64_t AccessAnalysis::sectors_of(const LaneValue& place, std::int64_t bytes) {
  const auto start = lanes_.at(place, 0) & ~std::int64_t{127};
  sectors_.clear();
  bool ascending = true;
  for (int i = 0; i < lanes_.count(); ++i) {
    const auto offset = wrap_subtract(lanes_.at(place, i), start);
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

Access AccessAnalysis::access_of(const LaneValue& place, std::int64_t sectors, std::int64_t bytes) const {
  const bool one_distance = place.each == none;
  if (one_distance && place.stride == 0) return Access::uniform;
  if (sectors <= (lanes_.count() * bytes + sector_bytes - 1) / sector_bytes + 1) return Access::coalesced;
  return one_distance ? Access::strided : Access::scattered;
}

AddressPattern AccessAnalysis::pattern(ExprId address, std::int64_t bytes,
                                       const std::function<ExprId()>& resolved) {
  AddressPattern pattern;
  bytes = std::clamp<std::int64_t>(bytes, 1, 1024);
  if ((evaluator_.dependence(address) & on_thread) == 0) {
    pattern.access = Access::uniform;
    pattern.sectors = (bytes + sector_bytes - 1) / sector_bytes;
    return pattern;
  }
  auto place = lanes_.of(address, 0);
  if ((place.sampled || place.data_decides) && evaluator_.exprs()[address].has_phi) {
    address = resolved();
    place = lanes_.of(address, 0);
  }
  if (place.data_decides) return pattern;
  pattern.sectors = sectors_of(place, bytes);
  pattern.access = access_of(place, *pattern.sectors, bytes);
  if (place.each == none) pattern.distance = place.stride;
  if (!place.sampled) return pattern;
  const auto sectors = *pattern.sectors;
  for (int set = 1; set < LaneValues::sample_sets; ++set) {
    const auto other = lanes_.of(address, set);
    const auto other_sectors = sectors_of(other, bytes);
    if (other_sectors == sectors && access_of(other, other_sectors, bytes) == pattern.access) continue;
    // The arguments decide: one distance that they give, or anything.
    if (other_sectors != sectors) pattern.sectors.reset();
    if (pattern.distance && other.each == none)
      pattern.access = Access::strided;
    else
      pattern.access = Access::scattered;
    if (other.each != none) pattern.distance.reset();
  }
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
