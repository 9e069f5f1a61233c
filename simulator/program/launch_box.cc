#include "simulator/program/launch_box.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "simulator/program/expression/arithmetic.h"

namespace warptime::warps {
namespace {

using arithmetic::floor_divide;
using arithmetic::Wide;

constexpr std::int64_t kMostResidues = 64;

bool has(DimensionSet set, std::size_t dimension) {
  return (set >> dimension & 1) != 0;
}

std::int64_t clamped(Wide value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : static_cast<std::int64_t>(value);
}

// |step| · (count − 1), as far as it matters which is the largest.
double reach_of(const ValueRange& value, std::size_t dimension, const DimensionCounts& counts) {
  const double reach =
      static_cast<double>(value.step(dimension)) * static_cast<double>(counts[dimension] - 1);
  return reach < 0 ? -reach : reach;
}

// Of the dimensions that a value is linear in, the one that moves it most; kRangeDimensions if there is none.
std::size_t farthest(const ValueRange& value, DimensionSet dimensions, const DimensionCounts& counts) {
  std::size_t best = kRangeDimensions;
  for (std::size_t d = 0; d < kRangeDimensions; ++d) {
    if (!has(value.stepping & dimensions, d)) continue;
    if (best == kRangeDimensions || reach_of(value, d, counts) > reach_of(value, best, counts)) best = d;
  }
  return best;
}

// Before and behind the values of a dimension where a difference may change its sign.
Cut at_change(const ValueRange& difference, std::size_t dimension, const DimensionCounts& counts) {
  // difference = step · k + [low, high]
  const Wide step = difference.step(dimension), count = counts[dimension], reach = step * (count - 1);
  const Wide low = difference.low - (reach < 0 ? reach : 0), high = difference.high - (reach > 0 ? reach : 0);
  Cut cut;
  cut.dimension = dimension;
  // The first k that may be at least 0, and the first that is surely above; downwards, the other way round.
  const Wide begin = step > 0 ? floor_divide(-high - 1, step) + 1 : floor_divide(low - 1, -step) + 1;
  const Wide end = step > 0 ? floor_divide(-low, step) + 1 : floor_divide(high, -step) + 1;
  cut.begin = clamped(begin, 0, counts[dimension]);
  cut.end = clamped(end, cut.begin, counts[dimension]);
  return cut;
}

// Where a dividend passes multiples of the divisor.
Cut at_multiples(const RangeObstacles::Division& division, std::size_t dimension) {
  Cut cut;
  cut.dimension = dimension;
  const Wide by = division.divisor, step = division.dividend.step(dimension), size = step < 0 ? -step : step;
  const std::int64_t smaller = static_cast<std::int64_t>(size % by);
  cut.period = division.divisor / std::gcd(division.divisor, smaller);
  if (size == 0 || by % size != 0) return cut;
  const Wide base = division.dividend.base - floor_divide(division.dividend.base, by) * by;
  cut.phase =
      static_cast<std::int64_t>((step > 0 ? (by - base + size - 1) / size : base / size + 1) % cut.period);
  return cut;
}

std::int64_t cut_place(std::int64_t count, const Cut& cut) {
  const std::int64_t half = count / 2;
  if (cut.period <= 1) return half;
  const Wide place =
      cut.phase + floor_divide(Wide{half} - cut.phase + cut.period / 2, cut.period) * cut.period;
  return place > 0 && place < count ? static_cast<std::int64_t>(place) : half;
}

Progression part(const Progression& range, std::int64_t begin, std::int64_t end) {
  return {range.at(begin), range.step, end - begin};
}

}  // namespace

std::vector<Progression> parts_of(const Progression& range, const Cut& cut) {
  std::vector<Progression> parts;
  if (cut.residues && cut.period > 1 && cut.period <= kMostResidues && range.count > cut.period) {
    for (std::int64_t i = 0; i < cut.period; ++i)
      parts.push_back(
          {range.at(i), range.step * cut.period, (range.count - i + cut.period - 1) / cut.period});
    return parts;
  }
  std::int64_t begin = cut.begin, end = cut.end;
  const bool cuts = (begin > 0 && begin < range.count) || (end > 0 && end < range.count);
  if (!cuts) begin = end = cut_place(range.count, cut);
  begin = std::clamp<std::int64_t>(begin, 0, range.count);
  end = std::clamp<std::int64_t>(end, begin, range.count);
  if (begin > 0) parts.push_back(part(range, 0, begin));
  if (end > begin) parts.push_back(part(range, begin, end));
  if (end < range.count) parts.push_back(part(range, end, range.count));
  return parts;
}

Cut cut_for(const ValueRange& value, const RangeObstacles& obstacles, DimensionSet dimensions,
            const DimensionCounts& counts) {
  for (const ValueRange& difference : obstacles.differences) {
    const std::size_t d = farthest(difference, dimensions, counts);
    if (d == kRangeDimensions) continue;
    // Where much is not linear, quotients come first: with them the rest of it may cancel.
    const double rest = static_cast<double>(difference.rest_high) - static_cast<double>(difference.rest_low);
    if ((difference.rest_dimensions & dimensions) != 0 && rest > reach_of(difference, d, counts) / 8)
      continue;
    return at_change(difference, d, counts);
  }
  for (const RangeObstacles::Division& division : obstacles.divisions) {
    DimensionSet others = 0;
    for (std::size_t d = 0; d < kRangeDimensions; ++d)
      if (division.dividend.step(d) % division.divisor != 0) others |= DimensionSet{1} << d;
    const std::size_t best = farthest(division.dividend, dimensions & others, counts);
    if (best != kRangeDimensions) return at_multiples(division, best);
  }
  Cut cut;
  cut.dimension = farthest(value, dimensions, counts);
  if (cut.dimension == kRangeDimensions) {
    cut.dimension = static_cast<std::size_t>(std::countr_zero(value.dimensions() & dimensions));
    for (std::size_t d = 0; d < kRangeDimensions; ++d)
      if (has(value.dimensions() & dimensions, d) && counts[d] > counts[cut.dimension]) cut.dimension = d;
  }
  return cut;
}

WarpShape::WarpShape(const std::array<std::int64_t, 3>& block) {
  const std::int64_t row = block[0], plane = block[0] * block[1];
  const auto along = [&](std::size_t axis, std::int64_t threads_along) {
    warps[axis] = block[axis] / threads_along;
    const std::int64_t left = block[axis] % threads_along;
    if (left == 0) return;
    has_partial = true;
    partial_warp[axis] = warps[axis];
    partial_threads = threads;
    partial_threads[axis] = left;
  };
  regular = true;
  if (row % 32 == 0 || (block[1] == 1 && block[2] == 1)) {
    threads = {32, 1, 1};
    warps = {1, block[1], block[2]};
    along(0, 32);
  } else if (32 % row == 0 && (block[1] % (32 / row) == 0 || block[2] == 1)) {
    threads = {row, 32 / row, 1};
    warps = {1, 1, block[2]};
    along(1, threads[1]);
  } else if (plane < 32 && 32 % plane == 0) {
    threads = {row, block[1], 32 / plane};
    along(2, threads[2]);
  } else {
    regular = false;
    warps = {(plane * block[2] + 31) / 32, 1, 1};
  }
}

double LaunchBox::count() const {
  double count = 1;
  for (std::size_t d = 0; d < 3; ++d)
    count *= static_cast<double>(blocks[d].strides.count) * static_cast<double>(blocks[d].inner.count) *
             static_cast<double>(warps[d].count);
  return count;
}

std::vector<LaunchBox> LaunchBox::parts(const Cut& cut) const {
  std::vector<LaunchBox> parts;
  constexpr std::size_t most = 3;  // unless it is cut into remainders
  parts.reserve(most);
  const std::size_t axis = cut.dimension % 3;
  const auto with = [&](const Axis& blocks_of_axis) {
    parts.push_back(*this);
    parts.back().blocks[axis] = blocks_of_axis;
  };
  const Axis& whole = blocks[axis];
  if (cut.dimension >= kFirstWarpDimension) {
    for (const Progression& some : parts_of(warps[axis], cut)) {
      parts.push_back(*this);
      parts.back().warps[axis] = some;
    }
  } else if (cut.dimension >= kFirstStrideDimension) {
    for (const Progression& some : parts_of(whole.inner, cut)) with({whole.strides, some});
  } else if (const std::int64_t strides = cut.period > 1 ? (whole.strides.count - cut.phase) / cut.period : 0;
             !cut.residues && whole.inner.count == 1 && strides >= 2) {
    const std::int64_t end = cut.phase + strides * cut.period;
    if (cut.phase > 0) with({part(whole.strides, 0, cut.phase), whole.inner});
    with({{whole.strides.at(cut.phase), whole.strides.step * cut.period, strides},
          {whole.inner.first, whole.strides.step, cut.period}});
    if (end < whole.strides.count) with({part(whole.strides, end, whole.strides.count), whole.inner});
  } else {
    for (const Progression& some : parts_of(whole.strides, cut)) with({some, whole.inner});
  }
  return parts;
}

LaunchBox LaunchBox::sample() const {
  const auto middle = [](const Progression& range) { return Progression{range.at(range.count / 2), 1, 1}; };
  LaunchBox box = *this;
  for (std::size_t d = 0; d < 3; ++d) {
    box.blocks[d] = {middle(blocks[d].strides), middle(blocks[d].inner)};
    box.warps[d] = middle(warps[d]);
  }
  return box;
}

std::array<std::int64_t, 3> LaunchBox::first_block() const {
  std::array<std::int64_t, 3> block{};
  for (std::size_t d = 0; d < 3; ++d) block[d] = blocks[d].strides.first + blocks[d].inner.first;
  return block;
}

std::int64_t LaunchBox::first_warp(const WarpShape& shape) const {
  return warps[0].first + shape.warps[0] * (warps[1].first + shape.warps[1] * warps[2].first);
}

std::vector<LaunchBox> boxes_of(const LaunchSize& size, const WarpShape& shape) {
  LaunchBox all;
  for (std::size_t d = 0; d < 3; ++d) {
    all.blocks[d] = {{0, 1, size.grid[d]}, {0, 1, 1}};
    all.warps[d] = {0, 1, shape.warps[d]};
  }
  all.threads = shape.threads;
  std::vector<LaunchBox> boxes;
  if (shape.regular) {
    if (shape.warps[0] * shape.warps[1] * shape.warps[2] > 0) boxes.push_back(all);
    if (shape.has_partial) {
      boxes.push_back(all);
      for (std::size_t d = 0; d < 3; ++d) {
        boxes.back().warps[d] = {shape.partial_warp[d], 1, 1};
        boxes.back().threads = shape.partial_threads;
      }
    }
    return boxes;
  }
  for (std::int64_t warp = 0; warp < shape.warps[0]; ++warp) {
    boxes.push_back(all);
    boxes.back().warps[0] = {warp, 1, 1};
  }
  return boxes;
}

}  // namespace warptime::warps
