// Looking at the warps of a launch, many at once.
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "simulator/program/expression/arithmetic.h"
#include "simulator/program/launch_box.h"
#include "simulator/program/launch_line.h"
#include "simulator/program/warp_code.h"

namespace warptime::warps {
namespace {

constexpr std::int64_t kFewIterations = 8;
constexpr int kDeepest = 64;  // cuts within cuts; from there on ranges are halved

// Looks at the warps of a launch.
class LaunchWalk : WarpState {
 public:
  LaunchWalk(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
             const Shares& shares, const WarpOptions& options)
      : WarpState(program, values, size, shares), options_(options), launch_values_(program.launch_values) {
    constexpr std::size_t few = 3;  // of a guard: the warps before it, at it and behind
    found_.groups.reserve(few);
    for (std::size_t lane = 0; lane < lane_numbers_.size(); ++lane) {
      lane_numbers_[lane] = static_cast<std::int64_t>(lane);
      if (!shape_.regular) continue;
      auto index = static_cast<std::int64_t>(lane);
      for (std::size_t d = 0; d < 3; index /= shape_.threads[d++])
        lane_places_[d][lane] = index % shape_.threads[d];
    }
  }

  LaunchWarps run() {
    std::vector<LaunchBox> boxes = boxes_of(size_, shape_);
    if (options_.block)
      for (LaunchBox& box : boxes)
        for (std::size_t d = 0; d < box.blocks.size(); ++d)
          box.blocks[d] = {{(*options_.block)[d], 1, 1}, {0, 1, 1}};
    if (options_.block || !along_line(boxes)) {
      found_ = {};
      group_of_.clear();
      double budget = static_cast<double>(options_.budget);
      for (std::size_t i = 0; i < boxes.size(); ++i)
        budget = look_at(boxes[i], budget, static_cast<double>(boxes.size() - i));
      sort_groups();
    }
    for (WarpGroup& group : found_.groups) {
      found_.total.add(group.each, group.warps);
      // Of one warp alone, conditions may be known that are not of many.
      if (found_.sampled || found_.threads_unknown) group.decisions.reset();
    }
    join_groups();
    return std::move(found_);
  }

 private:
  void sort_groups() {
    std::sort(found_.groups.begin(), found_.groups.end(),
              [](const WarpGroup& a, const WarpGroup& b) { return a.warps > b.warps; });
  }

  // Most launches have one dimension, and guards that say up to which thread something is done. This finds the same
  // groups as cutting boxes does, from where the guards change. False: it cannot, or not surely in the same order.
  bool along_line(const std::vector<LaunchBox>& boxes) {
    constexpr std::size_t most_items = 300, most_guards = 4, most_changes = 8;
    const auto one = [](const std::array<std::int64_t, 3>& of) {
      return of[0] > 0 && of[1] == 1 && of[2] == 1;
    };
    if (!options_.decisions || !program_.only_guards || program_.items > most_items ||
        program_.guards.size() > most_guards || !one(size_.grid) || !one(size_.block))
      return false;
    LaunchLine line(size_);
    for (const LaunchBox& box : boxes) {
      bind(box);
      for (const Condition* guard : program_.guards) {
        RangeObstacles obstacles;
        if (!guard->expression.evaluate(slots_, counts_, &obstacles).known || !obstacles.divisions.empty())
          return false;
        for (const ValueRange& difference : obstacles.differences)
          if (!line.add_changes(difference, box)) return false;
      }
    }
    if (line.changes() > most_changes) return false;
    try {
      for (const LinePiece& piece : line.pieces())
        if (!look_at_one(piece)) return false;
    } catch (Failed&) {
      return false;  // of several errors, the other way says which is first
    }
    sort_groups();
    const auto as_many = [](const WarpGroup& a, const WarpGroup& b) { return a.warps == b.warps; };
    return found_.groups.size() <= options_.most_groups &&
           std::adjacent_find(found_.groups.begin(), found_.groups.end(), as_many) == found_.groups.end();
  }

  bool look_at_one(const LinePiece& piece) {
    bind(piece.one);
    decisions_.clear();
    all_decisions_ = true;
    if (decide(program_.nodes, warps_) || !all_decisions_) return false;
    const auto known = std::find_if(found_.groups.begin(), found_.groups.end(),
                                    [this](const WarpGroup& group) { return group.decisions == decisions_; });
    if (known != found_.groups.end()) {
      known->warps += piece.warps;
    } else {
      found_.groups.push_back({piece.warps, {}, piece.one.first_block(), piece.one.first_warp(shape_)});
      found_.groups.back().decisions = decisions_;
    }
    return true;
  }

  // Nothing, or how to cut the warps so that more is decided.
  using Outcome = std::optional<Cut>;

  void bind(const LaunchBox& box) {
    warps_ = begin_warp(box.first_warp(shape_));
    for (std::size_t d = 0; d < 3; ++d) {
      const auto& [strides, inner] = box.blocks[d];
      const auto dimension = [this](std::size_t which, const Progression& range) {
        return ValueRange::progression(which, range.first, range.step, range.count);
      };
      counts_[d] = strides.count;
      counts_[kFirstStrideDimension + d] = inner.count;
      if (uses_slot(d))
        slots_[d] = add(dimension(d, strides), dimension(kFirstStrideDimension + d, inner), counts_);
      if (!shape_.regular) continue;
      const Progression& warps = box.warps[d];
      counts_[kFirstWarpDimension + d] = warps.count;
      counts_[kFirstLaneDimension + d] = box.threads[d];
      if (!uses_slot(3 + d)) continue;
      const std::int64_t along = shape_.threads[d];
      warp_threads_[d] =
          dimension(kFirstWarpDimension + d, {warps.first * along, warps.step * along, warps.count});
      all_threads_[d] =
          add(warp_threads_[d], dimension(kFirstLaneDimension + d, {0, 1, box.threads[d]}), counts_);
    }
    if (shape_.regular) bind_linear(box);
    one_block_and_warp_ = box.count() == 1;
    one_warp_ = false;
    forget_conditions();
    set_all_lanes();
  }

  // laneid and warpid
  void bind_linear(const LaunchBox& box) {
    const auto linear = [this](std::size_t first, const std::array<std::int64_t, 3>& sizes,
                               std::int64_t from) {
      ValueRange sum(from);
      std::int64_t step = 1;
      for (std::size_t d = 0; d < 3; step *= sizes[d++])
        sum = add(sum, ValueRange::progression(first + d, 0, step, counts_[first + d]), counts_);
      return sum;
    };
    if (uses_slot(kLaneSlot)) all_lanes_ = linear(kFirstLaneDimension, shape_.threads, 0);
    if (uses_slot(kWarpSlot))
      slots_[kWarpSlot] = linear(kFirstWarpDimension, shape_.warps, box.first_warp(shape_));
  }

  // The others need no value.
  bool uses_slot(std::size_t slot) const { return (program_.slots_used >> slot & 1) != 0; }

  // The threads of all warps at once.
  void set_all_lanes() {
    one_warp_ = false;
    for (std::size_t d = 0; d < 3; ++d)
      if (uses_slot(3 + d)) slots_[3 + d] = shape_.regular ? all_threads_[d] : ValueRange::unknown();
    if (uses_slot(kLaneSlot)) slots_[kLaneSlot] = shape_.regular ? all_lanes_ : ValueRange::unknown();
  }

  // One thread of each warp.
  void set_lane_of_each(std::size_t lane) {
    one_warp_ = one_block_and_warp_ && open_counters_ == 0;
    if (one_block_and_warp_ || !shape_.regular) return set_lane(lane);
    auto index = static_cast<std::int64_t>(lane);
    for (std::size_t d = 0; d < 3; index /= shape_.threads[d++])
      if (uses_slot(3 + d))
        slots_[3 + d] = add(warp_threads_[d], ValueRange(index % shape_.threads[d]), counts_);
    slots_[kLaneSlot] = ValueRange(static_cast<std::int64_t>(lane));
  }

  // Takes about as many evaluations as `budget` has for one of `parts`; the rest of the budget is for those
  // behind.
  double look_at(const LaunchBox& box, double budget, double parts) {
    const std::uint64_t before = evaluations_;
    look_at(box, budget / parts);
    return std::max(budget - static_cast<double>(evaluations_ - before), 0.0);
  }

  void look_at(const LaunchBox& box, double budget) {
    const std::uint64_t before = evaluations_;
    bind(box);
    decisions_.clear();
    part_ = 1;
    all_decisions_ = options_.decisions;
    WarpTotals totals;
    const Outcome cut = walk(program_.nodes, warps_, totals, 1);
    if (!cut) {
      add_group(box, totals, box.count());
      return;
    }
    const auto cost = static_cast<double>(evaluations_ - before);
    budget -= cost;
    const std::vector<LaunchBox> parts =
        budget < cost ? std::vector<LaunchBox>{} : box.parts(deep_ < kDeepest ? *cut : in_halves(*cut));
    if (parts.empty() || parts.front() == box) {  // one warp in the middle stands for all
      const LaunchBox sample = box.sample();
      bind(sample);
      totals = {};
      walk(program_.nodes, warps_, totals, 1);
      found_.sampled = true;
      add_group(sample, totals, box.count());
      return;
    }
    ++deep_;
    for (std::size_t i = 0; i < parts.size(); ++i)
      budget = look_at(parts[i], budget, static_cast<double>(parts.size() - i));
    --deep_;
  }

  // Cuts that peel off a few values at a time would nest too deep.
  static Cut in_halves(const Cut& cut) {
    Cut halves;
    halves.dimension = cut.dimension;
    return halves;
  }

  WarpGroup& add_group(const LaunchBox& box, const WarpTotals& totals, double warps) {
    const auto key =
        std::tuple{totals.instructions, totals.loads,         totals.stores,
                   totals.load_sectors, totals.store_sectors, all_decisions_ ? decisions_ : Decisions{}};
    const auto [known, fresh] = group_of_.try_emplace(key, found_.groups.size());
    if (!fresh) {
      found_.groups[known->second].warps += warps;
      return found_.groups[known->second];
    }
    found_.groups.push_back({warps, totals, box.first_block(), box.first_warp(shape_)});
    if (all_decisions_) found_.groups.back().decisions = decisions_;
    return found_.groups.back();
  }

  void note(std::int64_t decision) {
    if (all_decisions_) decisions_.push_back(decision);
  }

  // apart: its iterations are written out each on its own.
  void note(const WarpNode& node, std::int64_t count, bool apart) {
    if (!node.varies) return;
    if (node.varies_inside && (apart || node.has_shares)) all_decisions_ = false;
    note(node.varies_inside || node.per_thread ? count : std::int64_t{count != 0});
  }

  // Joins those that execute about as much: the one with most warps of each stretch stands for it.
  void join_groups() {
    auto& groups = found_.groups;
    if (groups.size() <= options_.most_groups) return;
    constexpr double access = 20;  // instructions that one weighs
    const auto weight = [](const WarpGroup& group) {
      return group.each.instructions + access * (group.each.loads + group.each.stores);
    };
    std::sort(groups.begin(), groups.end(),
              [&](const WarpGroup& a, const WarpGroup& b) { return weight(a) < weight(b); });
    double warps = 0, total_weight = 0;
    for (const WarpGroup& group : groups) warps += group.warps, total_weight += group.warps * weight(group);
    std::vector<WarpGroup> joined;
    std::size_t begin = 0;
    double passed = 0;
    for (std::size_t part = 1; part <= options_.most_groups && begin < groups.size(); ++part) {
      const double until = warps * static_cast<double>(part) / static_cast<double>(options_.most_groups);
      double in_part = 0, part_weight = 0;
      std::size_t end = begin;
      while (end < groups.size() && (end == begin || passed + groups[end].warps <= until * (1 + 1e-12))) {
        passed += groups[end].warps;
        in_part += groups[end].warps;
        part_weight += groups[end].warps * weight(groups[end]);
        ++end;
      }
      if (part == options_.most_groups) {
        for (; end < groups.size(); ++end)
          in_part += groups[end].warps, part_weight += groups[end].warps * weight(groups[end]);
      }
      const double mean = part_weight / in_part;
      const auto nearest = std::min_element(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                                            groups.begin() + static_cast<std::ptrdiff_t>(end),
                                            [&](const WarpGroup& a, const WarpGroup& b) {
                                              return std::abs(weight(a) - mean) < std::abs(weight(b) - mean);
                                            });
      joined.push_back(*nearest);
      joined.back().warps = in_part;
      begin = end;
    }
    groups = std::move(joined);
  }

  // ---- the warps of a box

  static constexpr DimensionSet kLanes = DimensionSet{7} << kFirstLaneDimension;

  // The cut that decides an expression, which the threads of a warp do not.
  Cut cut_for_value(const RangeExpression& expression, const ValueRange& value) {
    RangeObstacles obstacles;
    expression.evaluate(slots_, counts_, &obstacles);
    return cut_for(value, obstacles, ~kLanes, counts_);
  }

  // The lanes of `active` where the condition holds; `some` of them will do where it only matters whether there are any.
  Outcome holds(const Condition& condition, Lanes active, bool some, Lanes& result) {
    Remembered& known = remembered(condition);
    const bool again = known.stamp == stamp_ && known.active == active;
    if (again && (some || !known.some)) {
      result = known.result;
      return {};
    }
    const std::uint64_t before = evaluations_;
    auto cut = find_holding(condition, active, some, result);
    if (again) evaluations_ = before;  // they were counted when some of the lanes were found
    if (!cut) known = {stamp_, active, result, some};
    return cut;
  }

  Outcome find_holding(const Condition& condition, Lanes active, bool some, Lanes& result) {
    const ValueRange all = evaluate(condition.expression);
    if (all.known && all.is_decided()) {
      result = all.holds() ? active : 0;
      return {};
    }
    if (!condition.on_thread) {
      if (all.known) return cut_for_value(condition.expression, all);
      return unknown_threads(active, result);
    }
    if (all.known && (all.dimensions() & kLanes) == 0) return cut_for_value(condition.expression, all);
    return find_lanes(condition, active, some && all.known, result);
  }

  // … thread by thread.
  Outcome find_lanes(const Condition& condition, Lanes active, bool some, Lanes& result) {
    result = 0;
    if (has_lane_values(condition.expression)) {
      RangeExpression::LaneNumbers values;
      const Lanes unknown = active & ~lane_values(condition.expression, values);
      const Lanes before = unknown != 0 ? active & (first_of(unknown) - 1) : active;
      for (Lanes rest = before; rest != 0; rest &= rest - 1)
        if (values[static_cast<std::size_t>(std::countr_zero(rest))] != 0) result |= first_of(rest);
      if (some && result != 0 && looks_at_one_warp()) {
        result = first_of(result);
        evaluations_ += static_cast<std::uint64_t>(std::popcount(active));  // as if all were looked at
        return {};
      }
      add_evaluations(before, unknown);
      return unknown == 0 ? Outcome() : unknown_threads(active, result);
    }
    Outcome cut;
    bool known = true;
    kept_of_lanes_.forget();
    for (Lanes rest = active; rest != 0 && known && !cut; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      set_lane_of_each(lane);
      const ValueRange value = evaluate_with_kept(condition.expression);
      known = value.known;
      if (known && !value.is_decided()) cut = cut_for_value(condition.expression, value);
      if (value.holds()) result |= Lanes{1} << lane;
    }
    set_all_lanes();
    return known ? cut : unknown_threads(active, result);
  }

  static Lanes first_of(Lanes lanes) { return lanes & (~lanes + 1); }

  // All that is known has one value for each thread.
  bool looks_at_one_warp() const { return one_block_and_warp_ && open_counters_ == 0; }

  // Whether the expression has one value for each thread, the same for all warps that are looked at.
  bool has_lane_values(const RangeExpression& expression) const {
    if (looks_at_one_warp()) return true;
    if (!expression.is_of_lanes(slots_)) return false;
    return one_block_and_warp_ || !shape_.regular ||
           std::all_of(expression.changing().begin(), expression.changing().end(), [this](int slot) {
             return slot == kLaneSlot || warp_threads_[static_cast<std::size_t>(slot - 3)].is_single();
           });
  }

  // These. Returns of which threads they are known.
  Lanes lane_values(const RangeExpression& expression, RangeExpression::LaneNumbers& values) const {
    if (one_block_and_warp_ || !shape_.regular) return values_of_warp(expression, values);
    std::array<RangeExpression::LaneNumbers, 3> threads;
    std::array<RangeExpression::LaneSlot, 4> own{};
    std::size_t count = 0;
    for (const int slot : expression.changing()) {
      own[count] = {slot, &lane_numbers_};
      if (slot != kLaneSlot) {
        const auto d = static_cast<std::size_t>(slot - 3);
        for (std::size_t lane = 0; lane < threads[d].size(); ++lane)
          threads[d][lane] = warp_threads_[d].low + lane_places_[d][lane];
        own[count].numbers = &threads[d];
      }
      ++count;
    }
    return expression.lane_values(slots_, own, values);
  }

  // As if threads were looked at one after the other, until one is unknown.
  void add_evaluations(Lanes before, Lanes unknown) {
    evaluations_ += static_cast<std::uint64_t>(std::popcount(before) + (unknown != 0 ? 1 : 0));
  }

  ValueRange evaluate_with_kept(const RangeExpression& expression) {
    ++evaluations_;
    return expression.evaluate(slots_, counts_, nullptr, &kept_of_lanes_);
  }

  Outcome unknown_threads(Lanes active, Lanes& result) {
    found_.threads_unknown = true;
    result = active;
    return {};
  }

  // What walk() notes, of a program where only guards tell warps apart: what is the same for all is passed over.
  Outcome decide(const std::vector<WarpNode>& nodes, Lanes active) {
    for (const WarpNode& node : nodes)
      if (node.varies)
        if (auto undecided = decide(node, active)) return undecided;
    return {};
  }

  Outcome decide(const WarpNode& node, Lanes active) {
    if (node.threads) {
      Lanes some = 0;
      if (auto undecided = holds(*node.threads, active, !node.threads_inside, some)) return undecided;
      note(some != 0);
      if (some == 0) return {};
      active = some;
    }
    if (const auto* repeat = std::get_if<Repeat>(&node.item->what)) {
      std::int64_t count = 0;
      if (auto undecided = number(node, repeat->count, count)) return undecided;
      note(node, count, node.counter_matters);
      return count > 0 ? decide(node.body, active) : Outcome();
    }
    if (const auto* when = std::get_if<When>(&node.item->what)) return decide(node, *when, active);
    return {};
  }

  Outcome decide(const WarpNode& node, const When& when, Lanes active) {
    if (!node.then_threads) {
      const ValueRange value = count_of(node);
      if (!value.known) throw failure(node, when.condition, "cannot be evaluated");
      if (!value.is_decided()) return cut_for_value(node.count, value);
      note(value.holds());
      return decide(value.holds() ? node.body : node.otherwise, active);
    }
    Lanes some = 0;
    if (auto undecided = holds(*node.then_threads, active, false, some)) return undecided;
    const Lanes others = active & ~some;
    note(some != 0);
    note(others != 0);
    if (some != 0)
      if (auto undecided = decide(node.body, some)) return undecided;
    return others != 0 ? decide(node.otherwise, others) : Outcome();
  }

  Outcome walk(const std::vector<WarpNode>& nodes, Lanes active, WarpTotals& totals, double times) {
    for (const WarpNode& node : nodes)
      if (auto undecided = walk(node, active, totals, times)) return undecided;
    return {};
  }

  // Where data decide, only a part of a warp's threads goes on.
  Outcome walk(const WarpNode& node, Lanes active, WarpTotals& totals, double times) {
    if (parts_.empty() || node.item->shares.empty()) return walk_part(node, active, totals, times);
    const double around = part_;
    for (const std::string& share : node.item->shares) part_ = std::min(part_, part_of_threads(share));
    auto undecided = walk_part(node, active, totals, times);
    part_ = around;
    return undecided;
  }

  Outcome walk_part(const WarpNode& node, Lanes active, WarpTotals& totals, double times) {
    if (node.threads) {
      Lanes some = 0;
      const bool which = node.threads_inside || options_.sectors;
      if (auto undecided = holds(*node.threads, active, !which, some)) return undecided;
      note(some != 0);
      if (some == 0) {
        if (node.item->predicated) add_skipped(totals, times);
        return {};
      }
      active = some;
    }
    if (!node.item->shares.empty()) {
      all_decisions_ = false;
      const double share = share_of(node);
      if (node.item->predicated) add_skipped(totals, times * (1 - share));
      times *= share;
      if (times == 0) return {};
    }
    if (options_.machine && node.item->machine) totals.machine.add(*node.item->machine, times);
    if (const auto* instructions = std::get_if<Instructions>(&node.item->what)) {
      std::int64_t count = 0;
      if (auto undecided = number(node, instructions->count, count)) return undecided;
      totals.instructions += times * static_cast<double>(count);
      if (!node.item->machine) totals.machine[Pipe::none] += times * static_cast<double>(count);
      if (options_.sectors && node.item->detail) add_local(node.item->detail->on_chip, totals, times);
      return {};
    }
    if (const auto* access = std::get_if<MemoryAccess>(&node.item->what))
      return walk(node, *access, active, totals, times);
    if (const auto* repeat = std::get_if<Repeat>(&node.item->what))
      return walk(node, *repeat, active, totals, times);
    if (const auto* when = std::get_if<When>(&node.item->what))
      return walk(node, *when, active, totals, times);
    return {};  // calc: cycles, no instructions
  }

  // The threads' local memory lies word by word side by side: where they access the same place, a word is a line.
  static void add_local(const std::vector<ChipAccess>& accesses, WarpTotals& totals, double times) {
    constexpr std::int64_t word = 4, sectors_of_word = kWarp * word / kSector;
    for (const ChipAccess& access : accesses) {
      if (access.space != ChipAccess::Space::local) continue;
      auto sectors = static_cast<double>((access.bytes + word - 1) / word * sectors_of_word);
      if (access.scattered) sectors *= lines_of_scattered(*access.scattered, word, kWarp / sectors_of_word);
      (access.kind == ChipAccess::Kind::store ? totals.local_store_sectors : totals.local_load_sectors) +=
          times * sectors;
    }
  }

  // The words that so many threads choose from those of an array, on average, if each is as likely.
  static double lines_of_scattered(std::int64_t bytes, std::int64_t word, std::int64_t threads) {
    const double words = static_cast<double>(std::max<std::int64_t>(bytes / word, 1));
    return words * (1 - std::pow(1 - 1 / words, static_cast<double>(threads)));
  }

  // A predicated instruction that none of the warp's threads execute is issued all the same.
  static void add_skipped(WarpTotals& totals, double times) {
    totals.instructions += times;
    totals.machine[Pipe::lsu] += times;
  }

  // Of the node's count. What is the same for all warps of the launch is evaluated once.
  ValueRange count_of(const WarpNode& node) {
    if (node.launch_value < 0) return evaluate(node.count);
    ++evaluations_;
    LaunchValue& known = launch_values_[static_cast<std::size_t>(node.launch_value)];
    if (!known.evaluated) {
      const ValueRange value = node.count.evaluate(slots_, counts_);
      known = {true, value.known, value.low};
    }
    return known.known ? ValueRange(known.value) : ValueRange::unknown();
  }

  Outcome number(const WarpNode& node, const Expression& expression, std::int64_t& result) {
    const ValueRange value = count_of(node);
    if (!value.known) throw failure(node, expression, "cannot be evaluated");
    if (!value.is_single()) return cut_for_value(node.count, value);
    if (value.low < 0) throw failure(node, expression, fmt::format("is negative: {}", value.low));
    result = value.low;
    return {};
  }

  Outcome walk(const WarpNode& node, const MemoryAccess& access, Lanes active, WarpTotals& totals,
               double times) {
    const bool load = access.kind == MemoryAccess::Kind::load;
    if (!node.item->machine) totals.machine[Pipe::lsu] += times;
    if (access.continues) {
      (load ? totals.more_loads : totals.more_stores) += times;
    } else {
      totals.instructions += times;
      (load ? totals.loads : totals.stores) += times;
    }
    if (node.atomic) (load ? totals.atomics : totals.reductions) += times;
    if (node.copy) totals.copies += times;
    if (!options_.sectors) return {};
    std::int64_t of_all = 0;
    if (auto undecided = sectors_of(node, access, active, of_all)) return undecided;
    const double sectors = times * sectors_of_part(access, active, static_cast<double>(of_all));
    (load ? totals.load_sectors : totals.store_sectors) += sectors;
    if (node.atomic) (load ? totals.atomic_sectors : totals.reduction_sectors) += sectors;
    if (node.copy) totals.copy_sectors += sectors;
    return {};
  }

  // How many of the sectors some thread of the part accesses, if each is as likely to be one of it.
  double sectors_of_part(const MemoryAccess& access, Lanes active, double sectors) const {
    if (part_ >= 1 || sectors <= 0) return sectors;
    const std::int64_t each = sector_of(std::max<std::int64_t>(access.bytes.value_or(4), 1) - 1) + 1;
    const double threads = static_cast<double>(std::popcount(active) * each) / sectors;
    return sectors * (1 - std::pow(1 - part_, std::max(threads, 1.0)));
  }

  Outcome sectors_of(const WarpNode& node, const MemoryAccess& access, Lanes active, std::int64_t& sectors) {
    if (!node.address || !access.bytes) return unknown_sectors(node, access, active, sectors);
    const std::int64_t bytes = std::max<std::int64_t>(*access.bytes, 1);
    std::array<std::int64_t, kWarp> places{};
    std::size_t size = 0;
    const RangeExpression& address = node.address->expression;
    const ValueRange all = evaluate(address);
    if (all.known && all.is_linear()) {
      if (auto cut = cut_to_sectors(all)) return cut;
      for (Lanes rest = active; rest != 0; rest &= rest - 1) {
        std::int64_t index = std::countr_zero(rest), place = all.base;
        for (std::size_t d = 0; d < 3; index /= shape_.threads[d++])
          place += index % shape_.threads[d] * all.step(kFirstLaneDimension + d);
        places[size++] = place;
      }
    } else {
      std::optional<ValueRange> first;
      Outcome cut;
      Lanes rest = active;
      if (node.address->on_thread && find_linear(address, active, places)) {
        for (; rest != 0; rest &= rest - 1)
          places[size++] = places[static_cast<std::size_t>(std::countr_zero(rest))];
        evaluations_ += size;  // as if each were looked at
      }
      if (rest != 0 && has_lane_values(address)) {
        RangeExpression::LaneNumbers values;
        if (!node.address->on_thread) rest = first_of(rest);
        const Lanes unknown = rest & ~lane_values(address, values);
        const Lanes before = unknown != 0 ? rest & (first_of(unknown) - 1) : rest;
        add_evaluations(before, unknown);
        if (unknown != 0) return unknown_sectors(node, access, active, sectors);
        for (; rest != 0; rest &= rest - 1)
          places[size++] = values[static_cast<std::size_t>(std::countr_zero(rest))];
      }
      kept_of_lanes_.forget();
      for (; rest != 0 && !cut; rest &= rest - 1) {
        set_lane_of_each(static_cast<std::size_t>(std::countr_zero(rest)));
        const ValueRange place = evaluate_with_kept(address);
        if (!place.known) {
          set_all_lanes();
          return unknown_sectors(node, access, active, sectors);
        }
        if (!place.is_linear()) {
          cut = cut_for_value(address, place);
        } else if (first && !place.has_steps_of(*first, ~DimensionSet{0})) {
          cut = cut_for_value(address, place.stepping != 0 ? place : *first);
        } else {
          cut = cut_to_sectors(place);
        }
        if (!first) first = place;
        places[size++] = place.base;
        if (!node.address->on_thread) break;
      }
      set_all_lanes();
      if (cut) return cut;
    }
    std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(size));
    std::optional<std::int64_t> last;
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t begin = sector_of(places[i]), end = sector_of(places[i] + bytes - 1);
      const std::int64_t fresh = last ? std::max(begin, *last + 1) : begin;
      sectors += std::max<std::int64_t>(end - fresh + 1, 0);
      last = last ? std::max(*last, end) : end;
    }
    return {};
  }

  // first, first + step, …: `count` of a warp's threads.
  struct LaneProgression {
    std::size_t first = 0, step = 1, count = kWarp;
    Lanes lanes() const {
      Lanes set = 0;
      for (std::size_t i = 0; i < count; ++i) set |= Lanes{1} << (first + i * step);
      return set;
    }
    // Those with the same remainder by `parts`, or as many side by side.
    LaneProgression part(std::size_t which, std::size_t parts, bool residues) const {
      if (residues) return {first + which * step, step * parts, count / parts};
      return {first + which * step * (count / parts), step, count / parts};
    }
  };

  // Where threads access memory, if that is linear for each warp's lanes in a few progressions, and steps from warp to warp
  // by whole sectors, as many for all. False: it is not, and what cut is needed shows lane by lane.
  bool find_linear(const RangeExpression& address, Lanes active, std::array<std::int64_t, kWarp>& places) {
    if (!shape_.regular || shape_.threads[0] != kWarp) return false;
    kept_.forget();
    std::optional<ValueRange> first;
    return find_linear(address, {}, active, first, places);
  }

  bool find_linear(const RangeExpression& address, const LaneProgression& lanes, Lanes active,
                   std::optional<ValueRange>& first, std::array<std::int64_t, kWarp>& places) {
    if ((active & lanes.lanes()) == 0) return true;
    RangeObstacles obstacles;
    const ValueRange place = evaluate_for(address, lanes, obstacles);
    if (!place.known) return false;
    if (!place.is_linear()) {
      if (lanes.count == 1) return false;
      const bool residues = repeats_by_two(obstacles, lanes);
      return find_linear(address, lanes.part(0, 2, residues), active, first, places) &&
             find_linear(address, lanes.part(1, 2, residues), active, first, places);
    }
    if (!first) first = place;
    if (!place.has_steps_of(*first, ~kLanes) || cut_to_sectors(place)) return false;
    for (std::size_t i = 0; i < lanes.count; ++i)
      places[lanes.first + i * lanes.step] =
          place.base + static_cast<std::int64_t>(i) * place.step(kFirstLaneDimension);
    return true;
  }

  // Whether a division by a small number is in the way: every other lane, or every fourth, has steps of the same size.
  static bool repeats_by_two(const RangeObstacles& obstacles, const LaneProgression& lanes) {
    return std::any_of(obstacles.divisions.begin(), obstacles.divisions.end(), [&](const auto& division) {
      const std::int64_t step = division.dividend.step(kFirstLaneDimension);
      if (step == 0) return false;
      const std::int64_t period = division.divisor / std::gcd(division.divisor, step);
      return period % 2 == 0 && period < static_cast<std::int64_t>(lanes.count);
    });
  }

  // For these lanes of each warp, which are side by side in x.
  ValueRange evaluate_for(const RangeExpression& expression, const LaneProgression& lanes,
                          RangeObstacles& obstacles) {
    const auto all = counts_[kFirstLaneDimension];
    counts_[kFirstLaneDimension] = static_cast<std::int64_t>(lanes.count);
    const auto threads = ValueRange::progression(kFirstLaneDimension, static_cast<std::int64_t>(lanes.first),
                                                 static_cast<std::int64_t>(lanes.step),
                                                 static_cast<std::int64_t>(lanes.count));
    if (uses_slot(3)) slots_[3] = add(warp_threads_[0], threads, counts_);
    for (std::size_t d = 1; d < 3; ++d)
      if (uses_slot(3 + d)) slots_[3 + d] = warp_threads_[d];
    if (uses_slot(kLaneSlot)) slots_[kLaneSlot] = threads;
    const ValueRange value = expression.evaluate(slots_, counts_, &obstacles, &kept_);
    counts_[kFirstLaneDimension] = all;
    return value;
  }

  // An address' steps from warp to warp must be whole sectors.
  static Outcome cut_to_sectors(const ValueRange& place) {
    for (std::size_t d = kRangeDimensions; d-- > 0;) {
      const std::int64_t step = place.step(d);
      if (step % kSector == 0 || (kLanes >> d & 1) != 0) continue;
      Cut cut;
      cut.dimension = d;
      cut.period = kSector / std::gcd(kSector, step % kSector);
      cut.residues = true;
      return cut;
    }
    return {};
  }

  static std::int64_t sector_of(std::int64_t place) {
    return static_cast<std::int64_t>(arithmetic::floor_divide(place, kSector));
  }

  // Those of its pattern, no more than threads need.
  Outcome unknown_sectors(const WarpNode& node, const MemoryAccess& access, Lanes active,
                          std::int64_t& sectors) {
    const bool profiled = node.item->detail && node.item->detail->profile;
    found_.sectors_unknown = found_.sectors_unknown || !profiled;
    const auto lanes = static_cast<std::int64_t>(std::popcount(active));
    const std::int64_t each = sector_of(std::max<std::int64_t>(access.bytes.value_or(4), 1) - 1) + 1;
    sectors = std::min(access.sectors.value_or(lanes * each), lanes * each);
    return {};
  }

  Outcome walk(const WarpNode& node, const When& when, Lanes active, WarpTotals& totals, double times) {
    if (!node.share_condition.empty()) {
      all_decisions_ = false;
      double share = share_of(node.share_condition);
      if (node.negated) share = 1 - share;
      if (share > 0) {
        const double around = part_;
        if (!node.negated) part_ = std::min(part_, part_of_threads(node.share_condition));
        auto undecided = walk(node.body, active, totals, times * share);
        part_ = around;
        if (undecided) return undecided;
      }
      return share < 1 ? walk(node.otherwise, active, totals, times * (1 - share)) : Outcome();
    }
    if (node.then_threads) {
      Lanes some = 0;
      if (auto undecided = holds(*node.then_threads, active, false, some)) return undecided;
      const Lanes others = active & ~some;
      note(some != 0);
      note(others != 0);
      if (some != 0)
        if (auto undecided = walk(node.body, some, totals, times)) return undecided;
      return others != 0 ? walk(node.otherwise, others, totals, times) : Outcome();
    }
    const ValueRange value = count_of(node);
    if (!value.known) throw failure(node, when.condition, "cannot be evaluated");
    if (!value.is_decided()) return cut_for_value(node.count, value);
    if (node.varies) note(value.holds());
    return walk(value.holds() ? node.body : node.otherwise, active, totals, times);
  }

  Outcome walk(const WarpNode& node, const Repeat& repeat, Lanes active, WarpTotals& totals, double times) {
    std::int64_t count = 0;
    if (!node.per_thread) {
      if (auto undecided = number(node, repeat.count, count)) return undecided;
      note(node, count, node.counter_matters);
      return all_iterations(node, repeat, count, active, totals, times);
    }
    std::array<std::int64_t, kWarp> of_lane{};
    bool known = true;
    if (auto cut = trips_of_lanes(*node.per_thread, active, of_lane, known)) return cut;
    if (!known) {
      found_.threads_unknown = true;
      if (auto undecided = number(node, repeat.count, count)) return undecided;
      return all_iterations(node, repeat, count, active, totals, times);
    }
    for (const std::int64_t trips : of_lane) count = std::max(count, trips);
    note(node, count, node.counter_matters || node.threads_matter);
    if (!node.threads_matter) return all_iterations(node, repeat, count, active, totals, times);
    add_pieces(repeat, count, totals, times);
    // While fewer and fewer threads are left.
    std::int64_t done = 0;
    while (done < count) {
      Lanes left = 0;
      std::int64_t until = count;
      for (Lanes rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        if (of_lane[lane] <= done) continue;
        left |= Lanes{1} << lane;
        until = std::min(until, of_lane[lane]);
      }
      if (auto undecided = iterations(node, {done, 1, until - done}, left, totals, times)) return undecided;
      done = until;
    }
    return {};
  }

  Outcome all_iterations(const WarpNode& node, const Repeat& repeat, std::int64_t count, Lanes active,
                         WarpTotals& totals, double times) {
    add_pieces(repeat, count, totals, times);
    return iterations(node, {0, 1, count}, active, totals, times);
  }

  void add_pieces(const Repeat& repeat, std::int64_t left, WarpTotals& totals, double times) const {
    if (!options_.machine) return;
    for (const UnrolledPiece& piece : repeat.unrolled) {
      totals.machine.add(piece.machine, times * static_cast<double>(left / piece.iterations));
      left %= piece.iterations;
    }
  }

  Outcome trips_of_lanes(const Condition& trips, Lanes active, std::array<std::int64_t, kWarp>& of_lane,
                         bool& known) {
    const ValueRange all = evaluate(trips.expression);
    if (all.is_single()) {
      for (Lanes rest = active; rest != 0; rest &= rest - 1)
        of_lane[static_cast<std::size_t>(std::countr_zero(rest))] = std::max<std::int64_t>(all.low, 0);
      return {};
    }
    if (all.known && (all.dimensions() & kLanes) == 0) return cut_for_value(trips.expression, all);
    Outcome cut;
    if (has_lane_values(trips.expression)) {
      RangeExpression::LaneNumbers values;
      const Lanes unknown = active & ~lane_values(trips.expression, values);
      add_evaluations(unknown != 0 ? active & (first_of(unknown) - 1) : active, unknown);
      known = unknown == 0;
      for (Lanes rest = active; rest != 0 && known; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        of_lane[lane] = std::max<std::int64_t>(values[lane], 0);
      }
      return {};
    }
    kept_of_lanes_.forget();
    for (Lanes rest = active; rest != 0 && known && !cut; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      set_lane_of_each(lane);
      const ValueRange value = evaluate_with_kept(trips.expression);
      known = value.known;
      if (known && !value.is_single()) cut = cut_for_value(trips.expression, value);
      of_lane[lane] = std::max<std::int64_t>(value.low, 0);
    }
    set_all_lanes();
    return cut;
  }

  Outcome iterations(const WarpNode& node, const Progression& which, Lanes active, WarpTotals& totals,
                     double times) {
    if (which.count <= 0) return {};
    if (!node.counter_matters)
      return walk(node.body, active, totals, times * static_cast<double>(which.count));
    const auto slot = static_cast<std::size_t>(node.counter);
    if (which.count <= kFewIterations || open_counters_ + kFirstCounterDimension >= kRangeDimensions)
      return one_by_one(node, which, active, totals, times);
    const std::size_t dimension = kFirstCounterDimension + open_counters_;
    const ValueRange outer = slots_[slot];
    const std::uint64_t before = evaluations_;
    forget_conditions();
    counts_[dimension] = which.count;
    slots_[slot] = ValueRange::progression(dimension, which.first, which.step, which.count);
    ++open_counters_;
    WarpTotals body;
    auto undecided = walk(node.body, active, body, 1);
    --open_counters_;
    counts_[dimension] = 1;
    slots_[slot] = outer;
    forget_conditions();
    if (!undecided) {
      totals.add(body, times * static_cast<double>(which.count));
      return {};
    }
    if (undecided->dimension != dimension) return undecided;
    loop_cost_ += evaluations_ - before;
    if (loop_cost_ > options_.budget) {
      found_.sampled = true;
      return one_by_one(node, {which.first + which.step * (which.count / 2), which.step, 1}, active, totals,
                        times * static_cast<double>(which.count));
    }
    ++deep_;
    Outcome why;
    for (const Progression& part : parts_of(which, deep_ < kDeepest ? *undecided : in_halves(*undecided)))
      if (why = iterations(node, part, active, totals, times); why) break;
    --deep_;
    return why;
  }

  Outcome one_by_one(const WarpNode& node, const Progression& which, Lanes active, WarpTotals& totals,
                     double times) {
    const auto slot = static_cast<std::size_t>(node.counter);
    const ValueRange outer = slots_[slot];
    Outcome undecided;
    for (std::int64_t i = 0; i < which.count && !undecided; ++i) {
      if (evaluations_ > 4 * options_.budget) {  // nested deeper than there are dimensions
        found_.sampled = true;
        times *= static_cast<double>(which.count - i);
        slots_[slot] = ValueRange(which.first + which.step * ((which.count + i) / 2));
        forget_conditions();
        undecided = walk(node.body, active, totals, times);
        break;
      }
      slots_[slot] = ValueRange(which.first + which.step * i);
      forget_conditions();
      undecided = walk(node.body, active, totals, times);
    }
    slots_[slot] = outer;
    forget_conditions();
    return undecided;
  }

  struct LaunchValue {
    bool evaluated = false, known = false;
    std::int64_t value = 0;
  };

  WarpOptions options_;
  std::vector<LaunchValue> launch_values_;
  LaunchWarps found_;
  using Decisions = std::vector<std::int64_t>;
  Decisions decisions_;         // of the box, so far
  double part_ = 1;             // of a warp's threads, that go where it is looked at
  bool all_decisions_ = false;  // they tell what its warps execute
  std::map<std::tuple<double, double, double, double, double, Decisions>, std::size_t> group_of_;
  std::size_t open_counters_ = 0;
  std::uint64_t loop_cost_ = 0;
  WarpShape shape_{size_.block};
  Lanes warps_ = 0;  // the threads of each warp of the box
  std::array<ValueRange, 3> warp_threads_, all_threads_;
  ValueRange all_lanes_;
  RangeExpression::Kept kept_;                                 // of the address that find_linear() looks at
  RangeExpression::LaneNumbers lane_numbers_{};                // 0, 1, …
  std::array<RangeExpression::LaneNumbers, 3> lane_places_{};  // of each thread of a warp, from its first
  RangeExpression::Kept kept_of_lanes_;                        // of what is looked at thread by thread
  bool one_block_and_warp_ = false;
  int deep_ = 0;
};

}  // namespace

LaunchWarps walk_launch(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
                        const Shares& shares, const WarpOptions& options) {
  return LaunchWalk(program, values, size, shares, options).run();
}

}  // namespace warptime::warps
