// Writing out what one warp executes, as a kernel program of its own.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "simulator/program/walk.h"
#include "simulator/program/warp_code.h"

namespace warptime::warps {
namespace {

constexpr std::int64_t kSharePeriod = 8;  // iterations that are written out where shares decide
// Iterations of one repeat that one warp's program keeps apart: fewer if it would become too large, as where several
// repeats are nested.
constexpr std::array<std::int64_t, 5> kMostWrittenOut = {256, 32, 8, 2, 1};
// Items of one warp's program, each of which takes time in every launch; and of one that is written coarser.
constexpr std::int64_t kMostItems = 1 << 15, kFewItems = 1 << 12;

struct TooLarge {};

// Writes out what one warp executes.
class WarpWriter : WarpState {
 public:
  WarpWriter(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
             const Shares& shares, double phase, std::int64_t most_written_out)
      : WarpState(program, values, size, shares), phase_(phase), most_written_out_(most_written_out) {}

  // Throws TooLarge.
  Items run(const WarpGroup& group) {
    one_warp_ = true;
    for (std::size_t d = 0; d < 3; ++d) slots_[d] = ValueRange(group.block[d]);
    return write(program_.nodes, begin_warp(group.warp));
  }

 private:
  Items write(const std::vector<WarpNode>& nodes, Lanes active) {
    Items items;
    for (const WarpNode& node : nodes) write(node, active, items);
    return items;
  }

  Lanes holds(const Condition& condition, Lanes active) {
    Remembered& known = remembered(condition);
    if (known.stamp != stamp_ || known.active != active)
      known = {stamp_, active, find_holding(condition, active)};
    return known.result;
  }

  Lanes find_holding(const Condition& condition, Lanes active) {
    Lanes result = 0;
    if (condition.on_thread && active != 0) {
      RangeExpression::LaneNumbers values;
      const Lanes unknown = active & ~values_of_warp(condition.expression, values);
      set_lane(
          static_cast<std::size_t>(unknown != 0 ? std::countr_zero(unknown) : std::bit_width(active) - 1));
      if (unknown != 0) return active;
      for (Lanes rest = active; rest != 0; rest &= rest - 1)
        if (values[static_cast<std::size_t>(std::countr_zero(rest))] != 0) result |= rest & -rest;
      return result;
    }
    for (Lanes rest = active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      set_lane(lane);
      const ValueRange value = evaluate(condition.expression);
      if (!value.known) return active;
      if (value.low != 0 || value.high != 0) result |= Lanes{1} << lane;
      if (!condition.on_thread) return result != 0 ? active : 0;
    }
    return result;
  }

  // Whether this warp is among the share, this time.
  bool takes(double share, const void* where) {
    double& passed = passed_.try_emplace(where, phase_).first->second;
    const double before = std::floor(passed + 1e-9);
    passed += share;
    return std::floor(passed + 1e-9) > before;
  }

  void write(const WarpNode& node, Lanes active, Items& items) {
    if (++written_ > most_items()) throw TooLarge{};
    bool executed = true;
    if (node.threads) {
      active = holds(*node.threads, active);
      executed = active != 0;
    }
    if (executed && !node.item->shares.empty()) executed = takes(share_of(node), &node);
    if (!executed) {
      if (node.item->predicated) items.push_back({Instructions{1}, node.item->lines, node.item->ptx});
      return;
    }
    if (!node.varies && !in_counter_) {
      items.push_back(plain(*node.item));
      return;
    }
    if (const auto* repeat = std::get_if<Repeat>(&node.item->what)) {
      write(node, *repeat, active, items);
    } else if (const auto* when = std::get_if<When>(&node.item->what)) {
      write(node, *when, active, items);
    } else {
      items.push_back(plain(*node.item));
    }
  }

  // Without what says which threads execute it, and with the counters that are written out as numbers.
  Item plain(Item item) const {
    item.threads.reset();
    item.predicated = false;
    item.shares.clear();
    if (!counters_.empty()) substitute(item);
    return item;
  }

  void substitute(Item& item) const {
    const auto in = [this](Expression& expression) { expression = expression.substitute(counters_); };
    if (auto* calculation = std::get_if<Calculation>(&item.what)) in(calculation->cycles);
    if (auto* instructions = std::get_if<Instructions>(&item.what)) in(instructions->count);
    if (auto* access = std::get_if<MemoryAccess>(&item.what)) {
      if (access->cycles) in(*access->cycles);
    }
    if (auto* repeat = std::get_if<Repeat>(&item.what)) in(repeat->count);
    if (auto* when = std::get_if<When>(&item.what)) in(when->condition);
    for_each_inner(item, [this](Items& inner) {
      for (Item& one : inner) substitute(one);
    });
  }

  void write(const WarpNode& node, const When& when, Lanes active, Items& items) {
    const auto append = [&](const std::vector<WarpNode>& nodes, Lanes lanes) {
      for (const WarpNode& inner : nodes) write(inner, lanes, items);
    };
    if (!node.share_condition.empty()) {
      double share = share_of(node.share_condition);
      if (node.negated) share = 1 - share;
      return append(takes(share, &node) ? node.body : node.otherwise, active);
    }
    if (node.then_threads) {
      const Lanes some = holds(*node.then_threads, active);
      if (some != 0) append(node.body, some);
      if ((active & ~some) != 0) append(node.otherwise, active & ~some);
      return;
    }
    const ValueRange value = evaluate(node.count);
    if (!value.known) throw failure(node, when.condition, "cannot be evaluated");
    if (value.is_single()) return append(value.low != 0 ? node.body : node.otherwise, active);
    // It depends on a counter that is not written out.
    Item item = plain(*node.item);
    std::get<When>(item.what) =
        When{std::get<When>(item.what).condition, write(node.body, active), write(node.otherwise, active)};
    items.push_back(std::move(item));
  }

  void write(const WarpNode& node, const Repeat& repeat, Lanes active, Items& items) {
    std::array<std::int64_t, kWarp> of_lane{};
    std::int64_t count = 0;
    bool known = node.per_thread.has_value();
    for (Lanes rest = active; rest != 0 && known; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      set_lane(lane);
      const ValueRange value = evaluate(node.per_thread->expression);
      known = value.is_single();
      of_lane[lane] = std::max<std::int64_t>(value.low, 0);
      count = std::max(count, of_lane[lane]);
    }
    if (!known) {
      const ValueRange value = evaluate(node.count);
      if (!value.is_single()) throw failure(node, repeat.count, "cannot be evaluated");
      if (value.low < 0) throw failure(node, repeat.count, fmt::format("is negative: {}", value.low));
      count = value.low;
      of_lane.fill(count);
    }
    if (count == 0) return;
    const bool inside =
        std::any_of(node.body.begin(), node.body.end(), [](const WarpNode& one) { return one.varies; });
    if (!inside) return whole(node, repeat, count, items);
    // Iterations that are told apart: by their counter, by the threads that are left, by shares.
    const bool apart = node.counter_matters || (known && node.threads_matter);
    if (!apart && !node.has_shares) return add_iterations(write(node.body, active), count, repeat, items);
    const std::int64_t period =
        std::min({count, most_written_out_, apart ? most_written_out_ : kSharePeriod});
    const Copies copies(*this, period, node.body.size());
    if (!apart) {
      Items some;
      for (std::int64_t i = 0; i < period; ++i) add_iterations(write(node.body, active), 1, repeat, some);
      add_iterations(std::move(some), count / period, repeat, items);
      for (std::int64_t i = 0; i < count % period; ++i)
        add_iterations(write(node.body, active), 1, repeat, items);
      return;
    }
    // Each of `period` stretches is as its middle.
    Items last;
    std::int64_t alike = 0;
    for (std::int64_t i = 0; i < period; ++i) {
      const auto part = [&](std::int64_t at) { return count / period * at + count % period * at / period; };
      const std::int64_t begin = part(i), stretch = part(i + 1) - begin, iteration = begin + stretch / 2;
      Lanes left = active;
      for (Lanes rest = active; rest != 0; rest &= rest - 1)
        if (of_lane[static_cast<std::size_t>(std::countr_zero(rest))] <= iteration) left &= ~(rest & -rest);
      Items body = in_iteration(node, repeat, iteration, left);
      if (alike > 0 && body == last) {
        alike += stretch;
        continue;
      }
      add_iterations(std::move(last), alike, repeat, items);
      last = std::move(body);
      alike = stretch;
    }
    add_iterations(std::move(last), alike, repeat, items);
  }

  // Nothing inside tells warps apart.
  void whole(const WarpNode& node, const Repeat& repeat, std::int64_t count, Items& items) const {
    Item item = plain(*node.item);
    auto& copy = std::get<Repeat>(item.what);
    if (repeat.per_thread) copy.count = Expression(count);
    copy.per_thread.reset();
    items.push_back(std::move(item));
  }

  Items in_iteration(const WarpNode& node, const Repeat& repeat, std::int64_t iteration, Lanes active) {
    if (node.counter < 0) return write(node.body, active);
    const auto slot = static_cast<std::size_t>(node.counter);
    const ValueRange outer = std::exchange(slots_[slot], ValueRange(iteration));
    const auto hidden = counters_.find(repeat.counter);
    const std::optional<Expression> before =
        hidden == counters_.end() ? std::nullopt : std::optional(hidden->second);
    counters_.insert_or_assign(repeat.counter, Expression(iteration));
    const bool around = std::exchange(in_counter_, true);
    forget_conditions();
    Items items = write(node.body, active);
    in_counter_ = around;
    if (before)
      counters_.insert_or_assign(repeat.counter, *before);
    else
      counters_.erase(repeat.counter);
    slots_[slot] = outer;
    forget_conditions();
    return items;
  }

  static void add_iterations(Items body, std::int64_t count, const Repeat& repeat, Items& items) {
    if (body.empty() || count == 0) return;
    if (count == 1) {
      std::move(body.begin(), body.end(), std::back_inserter(items));
      return;
    }
    items.push_back({Repeat{Expression(count), repeat.counter, std::move(body)}});
  }

  std::int64_t most_items() const {
    return most_written_out_ == kMostWrittenOut.front() || most_written_out_ == kMostWrittenOut.back()
               ? kMostItems
               : kFewItems;
  }

  // While a repeat's body is written out `times` times. What would become much too large is given up at once.
  class Copies {
   public:
    Copies(WarpWriter& writer, std::int64_t times, std::size_t items)
        : writer_(writer), before_(writer.copies_) {
      constexpr std::int64_t kMuch = 16;
      if (before_ * times * static_cast<std::int64_t>(items) > kMuch * writer.most_items()) throw TooLarge{};
      writer.copies_ = before_ * times;
    }
    ~Copies() { writer_.copies_ = before_; }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

   private:
    WarpWriter& writer_;
    std::int64_t before_;
  };

  double phase_;
  std::int64_t most_written_out_;
  std::int64_t copies_ = 1;  // of what is written out now
  bool in_counter_ = false;  // in an iteration that is written out
  std::map<std::string, Expression, std::less<>> counters_;
  std::map<const void*, double> passed_;  // the sum of the shares of a node, so far
  std::int64_t written_ = 0;
};

}  // namespace

Items write_warp(const WarpProgram::Compiled& program, const Bindings& values, const LaunchSize& size,
                 const WarpGroup& group, const Shares& shares, double phase) {
  for (const std::int64_t most : kMostWrittenOut) {
    try {
      return WarpWriter(program, values, size, shares, phase, most).run(group);
    } catch (const TooLarge&) {
    }
  }
  throw Failed{{error("the program of one warp is too large to be written out")}};
}

}  // namespace warptime::warps
