#include "simulator/program/launch_line.h"

#include <algorithm>
#include <array>

#include "simulator/program/expression/arithmetic.h"

namespace warptime::warps {
namespace {

using LineWide = arithmetic::Wide;
constexpr std::int64_t kLineWarp = 32;

}  // namespace

bool LaunchLine::add_changes(const ValueRange& difference, const LaunchBox& box) {
  // What one step of each dimension is, in threads.
  const std::array<std::pair<std::size_t, std::int64_t>, 3> dimensions = {
      {{0, threads_}, {kFirstWarpDimension, kLineWarp}, {kFirstLaneDimension, 1}}};
  const std::array<std::int64_t, 3> counts = {box.blocks[0].strides.count, box.warps[0].count,
                                              box.threads[0]};
  if (!difference.is_linear()) return false;
  std::int64_t each = 0;
  DimensionSet seen = 0;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (counts[i] <= 1) continue;
    const auto& [dimension, threads] = dimensions[i];
    const std::int64_t step = difference.step(dimension);
    if (step == 0 || step % threads != 0 || (each != 0 && step / threads != each)) return false;
    each = step / threads;
    seen |= DimensionSet{1} << dimension;
  }
  if (each == 0 || (difference.dimensions() & ~seen) != 0) return false;
  // difference = at_0 + each · thread
  const std::int64_t first = box.blocks[0].strides.first * threads_ + box.warps[0].first * kLineWarp;
  const LineWide at_0 = difference.base - LineWide{each} * first;
  const LineWide size = each > 0 ? each : -LineWide{each}, zero = each > 0 ? -at_0 : at_0;
  const LineWide floor = arithmetic::floor_divide(zero, size), all = LineWide{blocks_} * threads_;
  for (const LineWide change : {floor * size == zero ? floor : floor + 1, floor + 1})
    if (change > 0 && change < all) changes_.push_back(static_cast<std::int64_t>(change));
  return true;
}

LaunchBox LaunchLine::warp(std::int64_t block, std::int64_t warp) const {
  LaunchBox box;
  box.blocks[0] = {{block, 1, 1}, {0, 1, 1}};
  box.warps[0] = {warp, 1, 1};
  box.threads = {std::min(threads_ - warp * kLineWarp, kLineWarp), 1, 1};
  return box;
}

// Whole warps with a thread before this one.
std::int64_t LaunchLine::whole_begun(std::int64_t thread) const {
  const std::int64_t block = std::min(thread / threads_, blocks_), rest = thread - block * threads_;
  return block * whole_warps() + std::min(whole_warps(), (rest + kLineWarp - 1) / kLineWarp);
}

// Whole warps without a thread from this one on.
std::int64_t LaunchLine::whole_ended(std::int64_t thread) const {
  const std::int64_t block = std::min(thread / threads_, blocks_), rest = thread - block * threads_;
  return block * whole_warps() + std::min(whole_warps(), rest / kLineWarp);
}

std::int64_t LaunchLine::partial_begun(std::int64_t thread) const {
  const std::int64_t behind = thread - whole_warps() * kLineWarp;
  return behind <= 0 ? 0 : std::min((behind + threads_ - 1) / threads_, blocks_);
}

void LaunchLine::add_between(std::int64_t from, std::int64_t to, bool partial,
                             std::vector<LinePiece>& pieces) const {
  const std::int64_t begin = partial ? partial_begun(from) : whole_begun(from);
  const std::int64_t end = partial ? to / threads_ : whole_ended(to);
  if (end <= begin) return;
  pieces.push_back({partial ? warp(begin, whole_warps()) : warp(begin / whole_warps(), begin % whole_warps()),
                    static_cast<double>(end - begin)});
}

std::vector<LinePiece> LaunchLine::pieces() {
  std::sort(changes_.begin(), changes_.end());
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
  std::vector<LinePiece> pieces;
  constexpr std::size_t few = 4;  // of a guard: before it, at it, behind; and warps that are not whole
  pieces.reserve(few);
  for (const bool partial : {false, true}) {
    if (partial ? threads_ % kLineWarp == 0 : whole_warps() == 0) continue;
    std::int64_t from = 0;
    for (const std::int64_t change : changes_) {
      add_between(from, change, partial, pieces);
      from = change;
    }
    add_between(from, blocks_ * threads_, partial, pieces);
  }
  std::int64_t last = -1;  // the warp with a change inside that was added last, by its first thread
  for (const std::int64_t change : changes_) {
    const std::int64_t block = change / threads_, in_block = change % threads_;
    const std::int64_t first = block * threads_ + in_block / kLineWarp * kLineWarp;
    if (first == change || first == last) continue;
    last = first;
    pieces.push_back({warp(block, in_block / kLineWarp), 1});
  }
  return pieces;
}

}  // namespace warptime::warps
