// The parts of warps.h: a kernel program compiled for evaluation over ranges, and what looking at many warps and writing
// out one have in common. External interface: none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/program/expression/range_expression.h"
#include "simulator/program/warps.h"

namespace warptime {
namespace warps {

inline constexpr std::int64_t kWarp = 32, kSector = 32;
// Slots of names that every program has: blockIdx, threadIdx, blockDim, gridDim, then these.
inline constexpr int kLaneSlot = 12, kWarpSlot = 13, kWarpSizeSlot = 14, kFirstOwnSlot = 15;

inline constexpr std::array kSlotsOfThreads = {3, 4, 5, kLaneSlot};  // that differ within a warp

using Lanes = std::uint32_t;  // a bit for each active thread of a warp

struct Condition {
  RangeExpression expression;
  bool on_thread = false;  // uses threadIdx or laneid
  int number = 0;          // equal ones have the same
};

struct WarpNode {
  const Item* item = nullptr;
  std::optional<Condition> threads, then_threads, per_thread, address;
  RangeExpression count;              // of instructions, of iterations; a `when`'s condition
  std::string share_condition;        // of a `when: NAME != 0` where NAME has a share
  bool negated = false;               // … or `NAME == 0`
  bool atomic = false, copy = false;  // is_atomic, is_asynchronous_copy
  int counter = -1;                   // its slot
  std::vector<WarpNode> body, otherwise;
  // Of a repeat: whether the counter, or which threads are active, changes what its body executes.
  bool counter_matters = false, threads_matter = false;
  // Whether, beside addresses, something inside depends on which threads are active.
  bool threads_inside = false;
  int launch_value = -1;  // count's number among those that are the same for all warps of a launch
  bool varies_inside = false;
  bool has_shares = false;  // here or inside
  bool varies = false;      // here or inside
};

struct Failed {
  Diagnostics diagnostics;
};

}  // namespace warps

struct WarpProgram::Compiled {
  const KernelProgram* program = nullptr;
  std::vector<warps::WarpNode> nodes;
  std::vector<std::string> names;  // of slots from kFirstOwnSlot on; counters have empty names
  std::vector<std::string> thread_names;
  std::uint32_t slots_used = 0;   // of those before kFirstOwnSlot: a bit each
  std::size_t conditions = 0;     // Condition::number is less
  std::size_t launch_values = 0;  // WarpNode::launch_value is less
  bool varies = false;
  // Whether warps differ by guards alone: conditions on threads that use no counters, no shares, and counts that are the
  // same for all warps.
  bool only_guards = true;
  std::vector<const warps::Condition*> guards;  // those, each once
  std::size_t items = 0;
};

namespace warps {

// What is common to looking at many warps at once and to writing out one.
class WarpState {
 public:
  WarpState(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
            const Shares& shares)
      : program_(program), size_(size), remembered_(program.conditions) {
    const std::size_t slots = kFirstOwnSlot + program.names.size();
    if (slots > few_slots_.size()) many_slots_.resize(slots);
    slots_ = slots > few_slots_.size() ? many_slots_.data() : few_slots_.data();
    for (std::size_t i = 0; i < slots; ++i) slots_[i].known = false;
    counts_.fill(1);
    for (std::size_t d = 0; d < 3; ++d) {
      slots_[6 + d] = ValueRange(size.block[d]);
      slots_[9 + d] = ValueRange(size.grid[d]);
    }
    slots_[kWarpSizeSlot] = ValueRange(kWarp);
    for (std::size_t i = 0; i < program.names.size(); ++i) {
      if (program.names[i].empty()) continue;
      if (const auto value = values.find(program.names[i]); value != values.end())
        slots_[kFirstOwnSlot + i] = ValueRange(value->second);
    }
    for (const Parameter& parameter : program.program->parameters)
      if (parameter.share) {
        shares_[parameter.name] = *parameter.share;
        if (parameter.threads < 1) parts_[parameter.name] = parameter.threads;
      }
    for (const auto& [name, share] : shares) shares_[name] = share;
  }
  WarpState(const WarpState&) = delete;
  WarpState& operator=(const WarpState&) = delete;

 protected:
  double share_of(const std::string& name) const {
    const auto share = shares_.find(name);
    return share == shares_.end() ? 1 : std::clamp(share->second, 0.0, 1.0);
  }
  // Parameter::threads.
  double part_of_threads(const std::string& share) const {
    const auto found = parts_.find(share);
    return found == parts_.end() ? 1 : found->second;
  }
  double share_of(const WarpNode& node) const {
    double share = 1;
    for (const std::string& name : node.item->shares) share *= share_of(name);
    return share;
  }

  // The warp's threads, and which of them the block has.
  Lanes begin_warp(std::int64_t warp) {
    const auto& [x, y, z] = size_.block;
    const std::int64_t first = warp * kWarp, threads = std::min(x * y * z - first, kWarp);
    slots_[kWarpSlot] = ValueRange(warp);
    if (threads <= 0) return 0;
    std::array<std::int64_t, 3> place = {first % x, first / x % y, first / (x * y)};
    for (std::int64_t lane = 0; lane < threads; ++lane) {
      for (std::size_t d = 0; d < 3; ++d) lanes_[d][static_cast<std::size_t>(lane)] = place[d];
      if (++place[0] < x) continue;
      place[0] = 0;
      if (++place[1] < y) continue;
      place[1] = 0;
      ++place[2];
    }
    return ~Lanes{0} >> (kWarp - threads);
  }

  void set_lane(std::size_t lane) {
    for (std::size_t d = 0; d < 3; ++d) slots_[3 + d] = ValueRange(lanes_[d][lane]);
    slots_[kLaneSlot] = ValueRange(static_cast<std::int64_t>(lane));
  }

  // Of the threads of the warp that begin_warp() was called for, where all else has one value. Returns of which it is known.
  Lanes values_of_warp(const RangeExpression& expression, RangeExpression::LaneNumbers& values) const {
    static constexpr auto numbers = [] {
      RangeExpression::LaneNumbers all{};
      for (std::size_t lane = 0; lane < all.size(); ++lane) all[lane] = static_cast<std::int64_t>(lane);
      return all;
    }();
    const std::array<RangeExpression::LaneSlot, 4> own = {
        {{3, &lanes_[0]}, {4, &lanes_[1]}, {5, &lanes_[2]}, {kLaneSlot, &numbers}}};
    return expression.lane_values(slots_, own, values);
  }

  ValueRange evaluate(const RangeExpression& expression) {
    ++evaluations_;
    if (one_warp_) {
      std::int64_t value = 0;
      return expression.value(slots_, value) ? ValueRange(value) : ValueRange::unknown();
    }
    return expression.evaluate(slots_, counts_);
  }

  // Many items have the same condition: what was found of it for these threads holds until what it may use changes.
  struct Remembered {
    std::uint64_t stamp = 0;
    Lanes active = 0, result = 0;
    bool some = false;  // `result` may lack lanes where it holds
  };
  Remembered& remembered(const Condition& condition) {
    return remembered_[static_cast<std::size_t>(condition.number)];
  }
  void forget_conditions() { ++stamp_; }

  const WarpProgram::Compiled& program_;
  LaunchSize size_;
  // A launch in each row of a sweep has one of these: large pieces of memory would cost more than looking at its warps.
  static constexpr std::size_t kFewSlots = 24;
  std::array<ValueRange, kFewSlots> few_slots_;
  std::vector<ValueRange> many_slots_;
  ValueRange* slots_ = nullptr;  // in one of these
  DimensionCounts counts_{};
  std::array<RangeExpression::LaneNumbers, 3> lanes_{};  // threadIdx
  Shares shares_;
  std::map<std::string, double, std::less<>> parts_;  // Parameter::threads, where it is not 1
  std::uint64_t evaluations_ = 0;
  bool one_warp_ = false;  // all that is known has one value
  std::uint64_t stamp_ = 1;
  std::vector<Remembered> remembered_;

  Failed failure(const WarpNode& node, const Expression& expression, std::string_view why) const {
    std::string place;
    if (!node.item->lines.empty())
      place = fmt::format(" of {}:{}", program_.program->provenance.source, to_string(node.item->lines));
    return {{error(fmt::format("`{}`{} {}", to_string(expression), place, why))}};
  }
};

// The warps of a launch.
LaunchWarps walk_launch(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
                        const Shares& shares, const WarpOptions& options);
// What one of them executes.
Items write_warp(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
                 const WarpGroup& group, const Shares& shares, double phase);

}  // namespace warps
}  // namespace warptime
