// Looking at the warps of a launch, many at once.
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "simulator/program/warp_code.h"

namespace warptime::warps {
namespace {

constexpr std::int64_t kFewIterations = 8;

// Looks at the warps of a launch.
class LaunchWalk : WarpState {
 public:
  LaunchWalk(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
             const Shares& shares, const WarpOptions& options)
      : WarpState(program, values, size, shares), options_(options) {}

  LaunchWarps run() {
    // Every warp at once, where none differs; its threads are dimensions of their own.
    Box all;
    for (std::size_t d = 0; d < 3; ++d) all.blocks[d] = {0, 1, size_.grid[d]};
    look_at(all, static_cast<double>(options_.budget));
    std::sort(found_.groups.begin(), found_.groups.end(),
              [](const WarpGroup& a, const WarpGroup& b) { return a.warps > b.warps; });
    for (const WarpGroup& group : found_.groups) found_.total.add(group.each, group.warps);
    join_groups();
    return std::move(found_);
  }

 private:
  struct Progression {
    std::int64_t first = 0, step = 1, count = 1;
    std::int64_t last() const { return first + step * (count - 1); }
  };
  struct Box {
    std::array<Progression, 3> blocks;
    double count() const {
      return static_cast<double>(blocks[0].count) * static_cast<double>(blocks[1].count) *
             static_cast<double>(blocks[2].count);
    }
  };
  // Why something is not decided for all: the dimension to cut, and into how many progressions; 1: in halves.
  struct Undecided {
    std::size_t dimension = 0;
    std::int64_t residues = 1;
  };

  void bind(const Box& box) {
    for (std::size_t d = 0; d < 3; ++d) {
      const Progression& blocks = box.blocks[d];
      counts_[d] = blocks.count;
      slots_[d] = ValueRange::progression(d, blocks.first, blocks.step, blocks.count);
    }
  }

  // Looks at the warps of these blocks: all at once, else each warp of a block in all of the blocks.
  void look_at(const Box& box, double budget) {
    if (!options_.sectors && look_at_all_warps(box)) return;
    const std::int64_t warps = size_.warps_per_block();
    for (std::int64_t warp = 0; warp < warps; ++warp) {
      const std::uint64_t before = evaluations_;
      look_at_warp(box, warp, budget / static_cast<double>(warps - warp));
      budget = std::max(budget - static_cast<double>(evaluations_ - before), 0.0);
    }
  }

  bool look_at_all_warps(const Box& box) {
    bind(box);
    for (std::size_t d = 0; d < 3; ++d) {
      counts_[3 + d] = size_.block[d];
      slots_[3 + d] = ValueRange::progression(3 + d, 0, 1, size_.block[d]);
    }
    slots_[kLaneSlot] = slots_[kWarpSlot] = ValueRange::unknown();
    all_warps_ = true;
    forget_conditions();
    WarpTotals totals;
    const auto undecided = walk(program_.nodes, 1, totals, 1);
    all_warps_ = false;
    for (std::size_t d = 0; d < 3; ++d) counts_[3 + d] = 1;
    if (undecided) return false;
    add_group(box, 0, totals, static_cast<double>(size_.warps_per_block()));
    return true;
  }

  // Takes about as many evaluations as `budget`; what a part leaves goes to the next one.
  void look_at_warp(const Box& box, std::int64_t warp, double budget) {
    bind(box);
    const Lanes active = begin_warp(warp);
    const std::uint64_t before = evaluations_;
    forget_conditions();
    WarpTotals totals;
    const auto undecided = walk(program_.nodes, active, totals, 1);
    if (!undecided) return add_group(box, warp, totals, 1);
    const double cost = static_cast<double>(evaluations_ - before);
    Progression cut = box.blocks[undecided->dimension];
    budget -= cost;
    if (budget < cost) {  // one block in the middle stands for all
      Box sample = box;
      for (Progression& blocks : sample.blocks)
        blocks = {blocks.first + blocks.step * (blocks.count / 2), blocks.step, 1};
      bind(sample);
      forget_conditions();
      totals = {};
      begin_warp(warp);
      walk(program_.nodes, active, totals, 1);
      found_.sampled = true;
      add_group(sample, warp, totals, box.count());
      return;
    }
    const std::int64_t parts =
        undecided->residues > 1 && cut.count > undecided->residues ? undecided->residues : 2;
    for (std::int64_t part = 0; part < parts; ++part) {
      Box smaller = box;
      Progression& blocks = smaller.blocks[undecided->dimension];
      if (parts == 2 && undecided->residues <= 1) {
        const std::int64_t half = cut.count / 2;
        blocks = part == 0 ? Progression{cut.first, cut.step, half}
                           : Progression{cut.first + cut.step * half, cut.step, cut.count - half};
      } else if (parts == 2 && cut.count <= undecided->residues) {
        blocks = part == 0 ? Progression{cut.first, cut.step, cut.count / 2}
                           : Progression{cut.first + cut.step * (cut.count / 2), cut.step,
                                         cut.count - cut.count / 2};
      } else {
        blocks = {cut.first + cut.step * part, cut.step * parts, (cut.count - part + parts - 1) / parts};
      }
      const std::uint64_t so_far = evaluations_;
      look_at_warp(smaller, warp, budget / static_cast<double>(parts - part));
      budget = std::max(budget - static_cast<double>(evaluations_ - so_far), 0.0);
    }
  }

  void add_group(const Box& box, std::int64_t warp, const WarpTotals& totals, double warps_of_each) {
    const double warps = box.count() * warps_of_each;
    const auto key = std::tuple{totals.instructions, totals.loads, totals.stores, totals.load_sectors,
                                totals.store_sectors};
    const auto [known, fresh] = group_of_.try_emplace(key, found_.groups.size());
    if (fresh)
      found_.groups.push_back(
          {warps, totals, {box.blocks[0].first, box.blocks[1].first, box.blocks[2].first}, warp});
    else
      found_.groups[known->second].warps += warps;
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

  // ---- one warp in all blocks of a box

  using Outcome = std::optional<Undecided>;

  static Undecided cut_at(const ValueRange& value) {
    // The innermost that varies: counters before blocks.
    return {static_cast<std::size_t>(std::bit_width(value.dimensions)) - 1, 1};
  }

  // Many items in a row have the same condition.
  struct Remembered {
    int condition = -1;
    Lanes active = 0, result = 0;
  };
  void forget_conditions() { remembered_.condition = -1; }

  // The lanes of `active` where the condition holds.
  Outcome holds(const Condition& condition, Lanes active, Lanes& result) {
    if (remembered_.condition == condition.number && remembered_.active == active) {
      result = remembered_.result;
      return {};
    }
    auto undecided = find_holding(condition, active, result);
    if (!undecided) remembered_ = {condition.number, active, result};
    return undecided;
  }

  Outcome find_holding(const Condition& condition, Lanes active, Lanes& result) {
    result = 0;
    if (!condition.on_thread || all_warps_) {
      const ValueRange value = evaluate(condition.expression);
      if (!value.known) return unknown_threads(active, result);
      if (!value.is_single() && value.low <= 0 && value.high >= 0) return cut_at(value);
      if (value.low != 0 || value.high != 0) result = active;
      return {};
    }
    for (Lanes rest = active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      set_lane(lane);
      const ValueRange value = evaluate(condition.expression);
      if (!value.known) return unknown_threads(active, result);
      if (!value.is_single() && value.low <= 0 && value.high >= 0) return cut_at(value);
      if (value.low != 0 || value.high != 0) result |= Lanes{1} << lane;
    }
    return {};
  }

  Outcome unknown_threads(Lanes active, Lanes& result) {
    if (all_warps_) return Undecided{3, 1};  // laneid, say: the warps tell
    found_.threads_unknown = true;
    result = active;
    return {};
  }

  Outcome walk(const std::vector<WarpNode>& nodes, Lanes active, WarpTotals& totals, double times) {
    for (const WarpNode& node : nodes)
      if (auto undecided = walk(node, active, totals, times)) return undecided;
    return {};
  }

  Outcome walk(const WarpNode& node, Lanes active, WarpTotals& totals, double times) {
    if (node.threads) {
      Lanes some = 0;
      if (auto undecided = holds(*node.threads, active, some)) return undecided;
      if (some == 0) {
        if (node.item->predicated) totals.instructions += times;
        return {};
      }
      active = some;
    }
    if (!node.item->shares.empty()) {
      const double share = share_of(node);
      if (node.item->predicated) totals.instructions += times * (1 - share);
      times *= share;
      if (times == 0) return {};
    }
    if (const auto* instructions = std::get_if<Instructions>(&node.item->what)) {
      std::int64_t count = 0;
      if (auto undecided = number(node, instructions->count, count)) return undecided;
      totals.instructions += times * static_cast<double>(count);
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

  Outcome number(const WarpNode& node, const Expression& expression, std::int64_t& result) {
    const ValueRange value = evaluate(node.count);
    if (!value.known) throw failure(node, expression, "cannot be evaluated");
    if (!value.is_single()) return cut_at(value);
    if (value.low < 0) throw failure(node, expression, fmt::format("is negative: {}", value.low));
    result = value.low;
    return {};
  }

  Outcome walk(const WarpNode& node, const MemoryAccess& access, Lanes active, WarpTotals& totals,
               double times) {
    const bool load = access.kind == MemoryAccess::Kind::load;
    totals.instructions += times;
    (load ? totals.loads : totals.stores) += times;
    if (!options_.sectors) return {};
    std::int64_t sectors = 0;
    if (auto undecided = sectors_of(node, access, active, sectors)) return undecided;
    (load ? totals.load_sectors : totals.store_sectors) += times * static_cast<double>(sectors);
    return {};
  }

  Outcome sectors_of(const WarpNode& node, const MemoryAccess& access, Lanes active, std::int64_t& sectors) {
    if (!node.address || !access.bytes) return unknown_sectors(access, active, sectors);
    const std::int64_t bytes = std::max<std::int64_t>(*access.bytes, 1);
    std::array<std::int64_t, kWarp> places{};
    std::size_t size = 0;
    std::optional<ValueRange> first;
    for (Lanes rest = active; rest != 0; rest &= rest - 1) {
      set_lane(static_cast<std::size_t>(std::countr_zero(rest)));
      const ValueRange place = evaluate(node.address->expression);
      if (!place.known) return unknown_sectors(access, active, sectors);
      if (place.dimensions != 0) {
        if (!place.linear) return cut_at(place);
        for (std::size_t d = kRangeDimensions; d-- > 0;) {
          const std::int64_t step = place.steps[d];
          if (step == 0) continue;
          if (step % kSector != 0) return Undecided{d, kSector / std::gcd(kSector, step)};
        }
      }
      if (first && place.steps != first->steps) return cut_at(place.dimensions != 0 ? place : *first);
      if (!first) first = place;
      places[size++] = place.base;
      if (!node.address->on_thread) break;
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

  static std::int64_t sector_of(std::int64_t place) {
    return place >= 0 ? place / kSector : -((kSector - 1 - place) / kSector);
  }

  // Those of its pattern, no more than threads need.
  Outcome unknown_sectors(const MemoryAccess& access, Lanes active, std::int64_t& sectors) {
    found_.sectors_unknown = true;
    const auto lanes = static_cast<std::int64_t>(std::popcount(active));
    const std::int64_t each = sector_of(std::max<std::int64_t>(access.bytes.value_or(4), 1) - 1) + 1;
    sectors = std::min(access.sectors.value_or(lanes * each), lanes * each);
    return {};
  }

  Outcome walk(const WarpNode& node, const When& when, Lanes active, WarpTotals& totals, double times) {
    if (!node.share_condition.empty()) {
      double share = share_of(node.share_condition);
      if (node.negated) share = 1 - share;
      if (share > 0)
        if (auto undecided = walk(node.body, active, totals, times * share)) return undecided;
      return share < 1 ? walk(node.otherwise, active, totals, times * (1 - share)) : Outcome();
    }
    if (node.then_threads) {
      Lanes some = 0;
      if (auto undecided = holds(*node.then_threads, active, some)) return undecided;
      if (some != 0)
        if (auto undecided = walk(node.body, some, totals, times)) return undecided;
      const Lanes others = all_warps_ ? (some != 0 ? 0 : active) : active & ~some;
      return others != 0 ? walk(node.otherwise, others, totals, times) : Outcome();
    }
    const ValueRange value = evaluate(node.count);
    if (!value.known) throw failure(node, when.condition, "cannot be evaluated");
    if (!value.is_single() && value.low <= 0 && value.high >= 0) return cut_at(value);
    return walk(value.low != 0 || value.high != 0 ? node.body : node.otherwise, active, totals, times);
  }

  Outcome walk(const WarpNode& node, const Repeat& repeat, Lanes active, WarpTotals& totals, double times) {
    std::int64_t count = 0;
    if (!node.per_thread) {
      if (auto undecided = number(node, repeat.count, count)) return undecided;
      return iterations(node, {0, 1, count}, active, totals, times);
    }
    std::array<std::int64_t, kWarp> of_lane{};
    bool known = true;
    for (Lanes rest = active; rest != 0 && known; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      if (!all_warps_) set_lane(lane);
      const ValueRange value = evaluate(node.per_thread->expression);
      known = value.known;
      if (known && !value.is_single()) return cut_at(value);
      of_lane[lane] = std::max<std::int64_t>(value.low, 0);
      count = std::max(count, of_lane[lane]);
    }
    if (!known) {
      if (all_warps_) return Undecided{3, 1};
      found_.threads_unknown = true;
      if (auto undecided = number(node, repeat.count, count)) return undecided;
      return iterations(node, {0, 1, count}, active, totals, times);
    }
    if (!node.threads_matter) return iterations(node, {0, 1, count}, active, totals, times);
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
    if (loop_cost_ > 16 * options_.budget) {
      found_.sampled = true;
      return one_by_one(node, {which.first + which.step * (which.count / 2), which.step, 1}, active, totals,
                        times * static_cast<double>(which.count));
    }
    if (undecided->residues > 1 && which.count > undecided->residues) {
      const std::int64_t parts = undecided->residues;
      for (std::int64_t part = 0; part < parts; ++part)
        if (auto why = iterations(node,
                                  {which.first + which.step * part, which.step * parts,
                                   (which.count - part + parts - 1) / parts},
                                  active, totals, times))
          return why;
      return {};
    }
    const std::int64_t half = which.count / 2;
    if (auto why = iterations(node, {which.first, which.step, half}, active, totals, times)) return why;
    return iterations(node, {which.first + which.step * half, which.step, which.count - half}, active, totals,
                      times);
  }

  Outcome one_by_one(const WarpNode& node, const Progression& which, Lanes active, WarpTotals& totals,
                     double times) {
    const auto slot = static_cast<std::size_t>(node.counter);
    const ValueRange outer = slots_[slot];
    Outcome undecided;
    for (std::int64_t i = 0; i < which.count && !undecided; ++i) {
      if (evaluations_ > 64 * options_.budget) {  // nested deeper than there are dimensions
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

  WarpOptions options_;
  LaunchWarps found_;
  std::map<std::tuple<double, double, double, double, double>, std::size_t> group_of_;
  std::size_t open_counters_ = 0;
  std::uint64_t loop_cost_ = 0;
  bool all_warps_ = false;
  Remembered remembered_;
};

}  // namespace

LaunchWarps walk_launch(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
                        const Shares& shares, const WarpOptions& options) {
  return LaunchWalk(program, values, size, shares, options).run();
}

}  // namespace warptime::warps
