#include "simulator/sm/launch_footprint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "simulator/base/integer_math.h"
#include "simulator/program/access_profile.h"
#include "simulator/program/expression/range_expression.h"
#include "simulator/program/launch_variable.h"
#include "simulator/program/walk.h"
#include "simulator/program/warp_trace.h"

namespace warptime {
namespace {

// Bytes that lie as `count` runs of `run` bytes, `pitch` apart.
struct Runs {
  double low = 0, high = 0;  // of all
  double run = 0, count = 1, pitch = 0;
  double piece = 0;             // a run, before others lie between
  std::size_t first_apart = 0;  // the first of `steps` that does not make it longer
  double requests = std::numeric_limits<double>::infinity();  // no more sectors than all threads ask for
  std::vector<std::pair<double, std::int64_t>> steps;  // that it was made of: equal ones are shifted copies

  // In pieces of `grain`.
  double bytes(double grain) const { return std::min(of_hull(grain), requests * grain); }

  // What `low` to `high` has of them. A quotient, as where an index wraps around, leaves its range alone.
  double of_hull(double grain) const {
    const double whole = std::max(run, grain);
    if (count > 1 && pitch <= whole) return high - low;
    // Where runs begin at all places of a piece that are multiples of `apart`, they touch one more in part of the cases.
    const double apart = apart_in_pieces(grain), within = low - std::floor(low / grain) * grain;
    const double touched =
        count <= 1 || apart == grain ? std::ceil((within + run) / grain) * grain : run + grain - apart;
    return std::min(count * std::max(touched, grain), std::max(high - low, grain));
  }

 private:
  // The greatest common divisor of the pitch and the grain, a power of two.
  double apart_in_pieces(double grain) const {
    const auto of_pitch = static_cast<std::int64_t>(std::fmod(pitch, grain));
    return static_cast<double>(std::gcd(of_pitch, static_cast<std::int64_t>(grain)));
  }
};

// Of the addresses `address` / `divisor`.
Runs runs_of(const ValueRange& address, std::int64_t divisor, const DimensionCounts& counts,
             std::int64_t bytes) {
  const auto quotient = [divisor](std::int64_t of) {
    return static_cast<double>(of) / static_cast<double>(divisor);
  };
  Runs runs;
  runs.low = std::floor(quotient(address.low));
  runs.high = std::floor(quotient(address.high)) + static_cast<double>(bytes);
  runs.run = runs.piece = static_cast<double>(bytes) + quotient(address.rest_high - address.rest_low);
  for (std::size_t d = 0; d < kRangeDimensions; ++d)
    if (const std::int64_t step = std::abs(address.step(d)); step != 0 && counts[d] > 1)
      runs.steps.emplace_back(quotient(step), counts[d]);
  std::sort(runs.steps.begin(), runs.steps.end());
  for (const auto& [by, count] : runs.steps) {
    const auto times = static_cast<double>(count);
    if (runs.count <= 1) {
      if (by <= std::max(runs.run, static_cast<double>(kSectorBytes))) {
        runs.run += by * (times - 1);
        runs.piece = runs.run;
        ++runs.first_apart;
      } else {
        runs.count = times;
        runs.pitch = by;
      }
      continue;
    }
    const double span = (runs.count - 1) * runs.pitch + runs.run;
    const double apart = by / runs.pitch;
    if (by >= span) {
      runs.count *= times;  // the same runs further on
    } else if (apart == std::floor(apart)) {
      runs.count += apart * (times - 1);  // some of them are the same
    } else {
      // They lie between each other.
      const double all = runs.count * times * runs.run, reach = span + by * (times - 1);
      if (all >= reach) {
        runs.run = reach;
        runs.count = 1;
      } else {
        runs.count *= times;
        runs.pitch = reach / runs.count;
      }
    }
  }
  return runs;
}

// From where to where, in pieces.
using Interval = std::pair<double, double>;

// Each run of `of` on its own; false: they are more than `most`, or the threads do not ask for all of them.
bool add_intervals(const Runs& of, double grain, std::size_t most, std::vector<Interval>& into) {
  if (of.bytes(grain) < of.of_hull(grain)) return false;
  const auto apart = std::span(of.steps).subspan(of.first_apart);
  std::size_t count = 1;
  for (const auto& [step, times] : apart) {
    if (static_cast<std::size_t>(times) > most / count) return false;
    count *= static_cast<std::size_t>(times);
  }
  if (into.size() + count > most) return false;
  const std::size_t first = into.size();
  into.emplace_back(of.low, of.low + of.piece);
  for (const auto& [step, times] : apart) {
    const std::size_t end = into.size();
    for (std::int64_t k = 1; k < times; ++k) {
      const double by = static_cast<double>(k) * step;
      for (std::size_t i = first; i < end; ++i) into.emplace_back(into[i].first + by, into[i].second + by);
    }
  }
  for (std::size_t i = first; i < into.size(); ++i) {
    into[i].first = std::floor(into[i].first / grain);
    into[i].second = std::ceil(std::min(into[i].second, of.high) / grain);
  }
  return true;
}

// Bytes of their pieces, each counted once.
double bytes_of(std::vector<Interval>& intervals, double grain) {
  std::sort(intervals.begin(), intervals.end());
  double pieces = 0, until = -std::numeric_limits<double>::infinity();
  for (const auto& [begin, end] : intervals) {
    pieces += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return pieces * grain;
}

// What several accesses of one array touch together: exactly where their runs are few.
double union_of(std::vector<Runs> runs, double grain) {
  constexpr std::size_t few = 1024;
  std::sort(runs.begin(), runs.end(), [](const Runs& a, const Runs& b) { return a.low < b.low; });
  double total = 0;
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < runs.size();) {
    double low = runs[i].low, high = runs[i].high, sum = 0;
    std::vector<const Runs*> together;
    intervals.clear();
    // Beyond 2^53 an access may end where it begins: each takes part in its own.
    for (const std::size_t first = i; i < runs.size() && (i == first || runs[i].low < high); ++i) {
      high = std::max(high, runs[i].high);
      bool copy = false;  // within the pieces of one that is counted
      for (const Runs* known : together)
        copy = copy || (known->steps == runs[i].steps &&
                        std::abs(std::floor(known->low / grain) - std::floor(runs[i].low / grain)) < 1);
      if (!copy && !add_intervals(runs[i], grain, few, intervals)) sum += runs[i].bytes(grain);
      together.push_back(&runs[i]);
    }
    sum += bytes_of(intervals, grain);
    total += std::min(sum, std::ceil(high / grain) * grain - std::floor(low / grain) * grain);
  }
  return total;
}

}  // namespace

// The program with its names resolved: the values that names have stand in slots.
struct LaunchFootprint::Compiled {
  // `if(c, a, b)` in an address, as of a neighbour beyond the border: c tells which of the two addresses it is.
  struct Choice {
    RangeExpression value;                      // of the address, or of c
    std::vector<Choice> of;                     // none, or where c does not hold, and where it does
    std::optional<RangeExpression> difference;  // of what c compares
    Expression::Operator compares = Expression::Operator::less;
  };
  // An address with one quotient in it, as of what i / 200 numbers: `numerator` / `divisor`, but for what is rounded. It has
  // steps where the address has none.
  struct Quotient {
    RangeExpression numerator, divisor;
  };
  struct Node {
    const Item* item = nullptr;
    std::optional<RangeExpression> value;  // the address, the iterations, the condition
    std::optional<Quotient> quotient;
    std::optional<Choice> choice;  // of an address with conditions in it
    std::size_t array = 0;
    double begin = 0;                   // of the array in its allocation
    std::optional<std::int64_t> bytes;  // of the array
    std::size_t counter = 0;            // its slot
    std::vector<Node> body, otherwise;
  };
  static constexpr std::size_t kBlock = 0, kThread = 3, kLane = 6, kWarp = 7, kFirst = 8;

  LaunchSize size;
  std::vector<Node> nodes;
  std::vector<ValueRange> slots;
  std::map<std::string, std::size_t> arrays;  // that accesses share
};

namespace {

using CompiledFootprint = LaunchFootprint::Compiled;

class FootprintCompiler {
 public:
  FootprintCompiler(const Bindings& values, const ArrayPlaces& places, CompiledFootprint& into)
      : values_(values), places_(places), into_(into) {
    into_.slots.resize(CompiledFootprint::kFirst);
  }

  std::vector<CompiledFootprint::Node> compile(const Items& items) {
    std::vector<CompiledFootprint::Node> nodes;
    for (const Item& item : items) {
      CompiledFootprint::Node node;
      node.item = &item;
      if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
        if (access->address) {
          node.value = expression(*access->address);
          if (first_choice(*access->address) != nullptr) node.choice = choice(*access->address, kMostChoices);
          if (const auto quotient = fraction_of(*access->address))
            node.quotient = {expression(quotient->first), expression(quotient->second)};
        }
        find_array(*access, node);
      } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        node.value = expression(repeat->per_thread ? *repeat->per_thread : repeat->count);
        node.counter = add_slot(ValueRange(0));
        counters_.emplace_back(repeat->counter, node.counter);
        node.body = compile(repeat->body);
        counters_.pop_back();
      } else if (const auto* when = std::get_if<When>(&item.what)) {
        node.value = expression(when->condition);
        node.body = compile(when->then_items);
        node.otherwise = compile(when->else_items);
      } else {
        continue;
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  void find_array(const MemoryAccess& access, CompiledFootprint::Node& node) {
    const auto place = places_.find(access.array);
    const std::string name = place != places_.end() ? "@" + std::to_string(place->second.allocation)
                             : access.array.empty() ? "#" + std::to_string(++unnamed_)
                                                    : "." + access.array;
    node.array = into_.arrays.try_emplace(name, into_.arrays.size()).first->second;
    if (place == places_.end()) return;
    node.begin = static_cast<double>(place->second.offset);
    node.bytes = place->second.bytes;
  }

  static constexpr std::uint64_t kMostChosen = 400;  // nodes of an address
  static constexpr int kMostChoices = 3;             // one within the other

  static const Expression* first_choice(const Expression& in) {
    if (in.size() > kMostChosen) return nullptr;
    if (in.op() == Expression::Operator::conditional) return &in;
    for (const Expression& operand : in.operands())
      if (const Expression* found = first_choice(operand)) return found;
    return nullptr;
  }

  // Of an expression with one divisor in it: what is divided, and the divisor.
  using Fraction = std::pair<Expression, Expression>;
  static std::optional<Fraction> fraction_of(const Expression& in) {
    using enum Expression::Operator;
    if (in.size() > kMostChosen) return std::nullopt;
    const auto operands = in.operands();
    if (in.op() == divide) return Fraction(operands[0], operands[1]);
    if (in.op() != multiply && in.op() != add && in.op() != subtract) return std::nullopt;
    std::optional<Fraction> left = fraction_of(operands[0]), right = fraction_of(operands[1]);
    if (!left && !right) return std::nullopt;
    const Expression divisor = left ? left->second : right->second;
    if (left && right) {
      if (in.op() == multiply || left->second != right->second) return std::nullopt;
      return Fraction(Expression::make(in.op(), left->first, right->first), divisor);
    }
    const auto over_divisor = [&](const std::optional<Fraction>& of, const Expression& operand) {
      if (of) return of->first;
      return in.op() == multiply ? operand : Expression::make(multiply, operand, divisor);
    };
    return Fraction(
        Expression::make(in.op(), over_divisor(left, operands[0]), over_divisor(right, operands[1])),
        divisor);
  }

  static Expression chosen(const Expression& in, const Expression& condition, bool holds) {
    const auto operands = in.operands();
    if (in.op() == Expression::Operator::conditional && operands[0] == condition)
      return chosen(operands[holds ? 1 : 2], condition, holds);
    if (operands.empty()) return in;
    std::vector<Expression> parts;
    parts.reserve(operands.size());
    for (const Expression& operand : operands) parts.push_back(chosen(operand, condition, holds));
    return Expression::make(in.op(), parts);
  }

  CompiledFootprint::Choice choice(const Expression& address, int most) {
    const Expression* first = most > 0 ? first_choice(address) : nullptr;
    CompiledFootprint::Choice choice;
    choice.value = expression(first == nullptr ? address : first->operands()[0]);
    if (first == nullptr) return choice;
    const Expression condition = first->operands()[0];
    choice.compares = condition.op();
    if (condition.operands().size() == 2)
      choice.difference = expression(
          Expression::make(Expression::Operator::subtract, condition.operands()[0], condition.operands()[1]));
    for (const bool holds : {false, true})
      choice.of.push_back(this->choice(chosen(address, condition, holds), most - 1));
    return choice;
  }

  RangeExpression expression(const Expression& of) {
    return {of, [this](const std::string& name) { return slot_of(name); }};
  }

  std::size_t add_slot(const ValueRange& value) {
    into_.slots.push_back(value);
    return into_.slots.size() - 1;
  }

  int constant(std::int64_t value) { return static_cast<int>(add_slot(ValueRange(value))); }

  int slot_of(const std::string& name) {
    for (auto at = counters_.rbegin(); at != counters_.rend(); ++at)
      if (!name.empty() && at->first == name) return static_cast<int>(at->second);
    if (const auto variable = launch_variable(name)) return slot_of(*variable);
    if (const auto value = values_.find(name); value != values_.end()) return constant(value->second);
    return -1;
  }

  int slot_of(const LaunchVariable& variable) {
    using Kind = LaunchVariable::Kind;
    const std::size_t axis = variable.axis;
    switch (variable.kind) {
      case Kind::block_idx:
        return static_cast<int>(CompiledFootprint::kBlock + axis);
      case Kind::thread_idx:
        return static_cast<int>(CompiledFootprint::kThread + axis);
      case Kind::block_dim:
        return constant(into_.size.block[axis]);
      case Kind::grid_dim:
        return constant(into_.size.grid[axis]);
      case Kind::lane_id:
        return CompiledFootprint::kLane;
      case Kind::warp_id:
        return CompiledFootprint::kWarp;
      case Kind::warp_size:
        return constant(static_cast<std::int64_t>(kLanes));
    }
    return -1;
  }

  const Bindings& values_;
  const ArrayPlaces& places_;
  CompiledFootprint& into_;
  std::vector<std::pair<std::string, std::size_t>> counters_;
  std::size_t unnamed_ = 0;
};

class Collector {
 public:
  Collector(const CompiledFootprint& program, std::int64_t blocks)
      : program_(program),
        size_(program.size),
        slots_(program.slots),
        all_blocks_(blocks),
        arrays_(program.arrays.size()) {}

  // Of blocks of one plane, or of whole planes.
  void collect(std::int64_t first, std::int64_t count) {
    counts_.fill(1);
    // Whole rows, or whole planes, where the blocks are more than part of one.
    const auto& grid = size_.grid;
    const std::int64_t row = grid[0], plane = grid[0] * grid[1], last = first + count - 1;
    std::array<std::int64_t, 3> begin = {first % row, first / row % grid[1], first / plane};
    std::array<std::int64_t, 3> many = {last - first + 1, 1, 1};
    if (first / plane != last / plane) {
      begin[0] = begin[1] = 0;
      many = {row, grid[1], last / plane - first / plane + 1};
    } else if (first / row != last / row) {
      begin[0] = 0;
      many = {row, last / row - first / row + 1, 1};
    }
    for (std::size_t d = 0; d < 3; ++d) {
      counts_[d] = std::max<std::int64_t>(many[d], 1);
      counts_[kFirstStrideDimension + d] = size_.block[d];
      slots_[CompiledFootprint::kBlock + d] = ValueRange::progression(d, begin[d], 1, counts_[d]);
      slots_[CompiledFootprint::kThread + d] =
          ValueRange::progression(kFirstStrideDimension + d, 0, 1, size_.block[d]);
    }
    counts_[kFirstLaneDimension] = static_cast<std::int64_t>(kLanes);
    counts_[kFirstWarpDimension] = size_.warps_per_block();
    for (const auto& [slot, dimension] : {std::pair(CompiledFootprint::kLane, kFirstLaneDimension),
                                          std::pair(CompiledFootprint::kWarp, kFirstWarpDimension)})
      slots_[slot] = ValueRange::progression(dimension, 0, 1, counts_[dimension]);
    walk(program_.nodes);
  }

  void walk(const std::vector<CompiledFootprint::Node>& nodes) {
    for (const CompiledFootprint::Node& node : nodes) {
      if (const auto* access = std::get_if<MemoryAccess>(&node.item->what)) {
        add(node, *access);
      } else if (const auto* when = std::get_if<When>(&node.item->what)) {
        const ValueRange condition = value(node);
        const bool both = when->then_threads || !condition.known || !condition.is_decided();
        if (both || condition.holds()) walk(node.body);
        if (both || !condition.holds()) walk(node.otherwise);
      } else {
        repeat(node);
      }
    }
  }

  Footprint finish() {
    for (const auto& [name, index] : program_.arrays) {
      ArrayRuns& array = arrays_[index];
      const auto of = [&](std::vector<Runs> runs, std::int64_t grain, double by_profile) {
        const double bytes =
            union_of(std::move(runs), static_cast<double>(grain)) + by_profile * static_cast<double>(grain);
        return array.bytes ? std::min(bytes, std::ceil(*array.bytes / static_cast<double>(grain)) *
                                                 static_cast<double>(grain))
                           : bytes;
      };
      footprint_.read_bytes += of(array.read, kMemoryBytes, array.read_by_profile.pieces);
      footprint_.written_bytes += of(array.written, kSectorBytes, array.written_by_profile.sectors);
      footprint_.atomic_bytes += of(array.atomic, kSectorBytes, array.atomic_sectors_by_profile);
      array.read.insert(array.read.end(), array.written.begin(), array.written.end());
      footprint_.all_bytes += of(std::move(array.read), kLineBytes,
                                 std::max(array.read_by_profile.lines, array.written_by_profile.lines));
    }
    return footprint_;
  }

 private:
  struct ArrayRuns {
    std::vector<Runs> read, written, atomic;
    TouchedMemory read_by_profile, written_by_profile;  // of accesses whose addresses data decide
    double atomic_sectors_by_profile = 0;
    std::set<const AccessProfile*> profiles;  // each counts once, however often an access is written
    std::optional<double> bytes;              // of the allocation, where they are known
  };

  void repeat(const CompiledFootprint::Node& node) {
    const std::size_t dimension = kFirstCounterDimension + open_;
    const ValueRange trips = value(node);
    const std::int64_t most = trips.known ? trips.high : 1;
    if (most <= 0) return;
    if (dimension >= kRangeDimensions) {
      footprint_.estimated = true;
      slots_[node.counter] = ValueRange(0);
      return walk(node.body);
    }
    counts_[dimension] = most;
    slots_[node.counter] = ValueRange::progression(dimension, 0, 1, most);
    ++open_;
    walk(node.body);
    --open_;
    counts_[dimension] = 1;
  }

  void add(const CompiledFootprint::Node& node, const MemoryAccess& access) {
    const std::int64_t bytes = std::max<std::int64_t>(1, access.bytes.value_or(4));
    ArrayRuns& array = arrays_[node.array];
    if (node.bytes)
      array.bytes = std::max(array.bytes.value_or(0), node.begin + static_cast<double>(*node.bytes));
    const ValueRange address = node.value ? value(node) : ValueRange::unknown();
    if (!address.known && node.item->detail && node.item->detail->profile)
      return add(access, *node.item->detail->profile, array);
    if (!address.known && is_atomic(access)) return;  // counters, which L2 holds
    std::vector<std::pair<ValueRange, double>> chosen;
    if (node.choice && choose(*node.choice, 1, chosen)) {
      for (const auto& [one, share] : chosen) add(node, access, one, bytes, share);
      return;
    }
    if (address.known) return add(node, access, address, bytes, 1);
    // An element for each thread.
    footprint_.estimated = true;
    Runs runs;
    runs.run = threads() * static_cast<double>(bytes);
    if (node.bytes) runs.run = std::min(runs.run, static_cast<double>(*node.bytes));
    runs.piece = runs.run;
    runs.low = node.begin;
    runs.high = node.begin + runs.run;
    add(access, runs, array);
  }

  // The addresses of so many of the threads.
  void add(const CompiledFootprint::Node& node, const MemoryAccess& access, const ValueRange& address,
           std::int64_t bytes, double share) {
    Runs runs = runs_at(node, address, bytes);
    runs.low += node.begin;
    runs.high += node.begin;
    runs.requests = share * sectors_asked_for(bytes);
    add(access, runs, arrays_[node.array]);
  }

  Runs runs_at(const CompiledFootprint::Node& node, const ValueRange& address, std::int64_t bytes) const {
    if (node.quotient && !address.is_linear()) {
      const ValueRange numerator = node.quotient->numerator.evaluate(slots_.data(), counts_);
      const ValueRange divisor = node.quotient->divisor.evaluate(slots_.data(), counts_);
      if (numerator.known && numerator.is_linear() && divisor.known && divisor.is_single() && divisor.low > 0)
        return runs_of(numerator, divisor.low, counts_, bytes);
    }
    return runs_of(address, 1, counts_, bytes);
  }

  // The addresses of a choice, and the share of the threads that have each. False: they are not known.
  bool choose(const CompiledFootprint::Choice& choice, double share,
              std::vector<std::pair<ValueRange, double>>& into) const {
    const ValueRange value = choice.value.evaluate(slots_.data(), counts_);
    if (choice.of.empty()) {
      into.emplace_back(value, share);
      return value.known;
    }
    if (value.known && value.is_decided()) return choose(choice.of[value.holds() ? 1 : 0], share, into);
    const auto held = share_of(choice);
    return choose(choice.of[0], held ? share * (1 - *held) : share, into) &&
           choose(choice.of[1], held ? share * *held : share, into);
  }

  // Of the threads for which it holds, as if what it compares had each difference as often.
  std::optional<double> share_of(const CompiledFootprint::Choice& choice) const {
    if (!choice.difference) return std::nullopt;
    const ValueRange range = choice.difference->evaluate(slots_.data(), counts_);
    if (!range.known) return std::nullopt;
    const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
    const double all = high - low + 1;
    const auto share = [&](double values) { return std::clamp(values, 1.0, std::max(all - 1, 1.0)) / all; };
    using enum Expression::Operator;
    switch (choice.compares) {
      case less:
        return share(-low);
      case less_equal:
        return share(1 - low);
      case greater:
        return share(high);
      case greater_equal:
        return share(high + 1);
      case equal:
        return share(1);
      case not_equal:
        return share(all - 1);
      default:
        return std::nullopt;
    }
  }

  static void add(const MemoryAccess& access, const Runs& runs, ArrayRuns& array) {
    const bool both = is_atomic(access);
    if (both) array.atomic.push_back(runs);
    const bool copy = is_asynchronous_copy(access);
    if (access.kind == MemoryAccess::Kind::load || copy) array.read.push_back(runs);
    if ((access.kind == MemoryAccess::Kind::store && !copy) || both) array.written.push_back(runs);
  }

  double blocks() const {
    return static_cast<double>(counts_[0]) * static_cast<double>(counts_[1]) *
           static_cast<double>(counts_[2]);
  }

  // Of all these blocks.
  double threads() const { return blocks() * static_cast<double>(size_.threads_per_block()); }

  // By all threads, in all iterations, if none asks for what another one does.
  double sectors_asked_for(std::int64_t bytes) const {
    double accesses = threads();
    for (std::size_t d = 0; d < open_; ++d)
      accesses *= static_cast<double>(counts_[kFirstCounterDimension + d]);
    return accesses * static_cast<double>(divide_up(bytes, kSectorBytes));
  }

  void add(const MemoryAccess& access, const AccessProfile& profile, ArrayRuns& array) {
    if (!array.profiles.insert(&profile).second) return;
    const TouchedMemory touched =
        touched_by(profile, static_cast<double>(all_blocks_), static_cast<double>(size_.threads_per_block()));
    const auto add_to = [&](TouchedMemory& memory) {
      memory.sectors += touched.sectors;
      memory.pieces += touched.pieces;
      memory.lines += touched.lines;
    };
    const bool load = access.kind == MemoryAccess::Kind::load || is_asynchronous_copy(access);
    if (load) add_to(array.read_by_profile);
    if (!load || is_atomic(access)) add_to(array.written_by_profile);
    if (!is_atomic(access)) return;
    array.atomic_sectors_by_profile += touched.sectors;
    footprint_.hottest = std::max(footprint_.hottest, profile.hottest);
  }

  ValueRange value(const CompiledFootprint::Node& node) const {
    return node.value->evaluate(slots_.data(), counts_);
  }

  const CompiledFootprint& program_;
  const LaunchSize& size_;
  std::vector<ValueRange> slots_;
  std::int64_t all_blocks_ = 1;
  DimensionCounts counts_{};
  std::size_t open_ = 0;
  std::vector<ArrayRuns> arrays_;  // by CompiledFootprint::arrays
  Footprint footprint_;
};

}  // namespace

LaunchFootprint::LaunchFootprint(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                                 const ArrayPlaces& places)
    : compiled_(std::make_unique<Compiled>()) {
  compiled_->size = size;
  compiled_->nodes = FootprintCompiler(values, places, *compiled_).compile(program.program);
}

LaunchFootprint::~LaunchFootprint() = default;

Footprint LaunchFootprint::of_blocks(std::int64_t first, std::int64_t count) const {
  count = std::max<std::int64_t>(count, 1);
  Collector collector(*compiled_, count);
  const std::int64_t plane = compiled_->size.grid[0] * compiled_->size.grid[1], end = first + count;
  while (first < end) {
    const std::int64_t next = first % plane == 0 && end - first >= plane
                                  ? end - (end - first) % plane
                                  : std::min(end, (first / plane + 1) * plane);
    collector.collect(first, next - first);
    first = next;
  }
  return collector.finish();
}

}  // namespace warptime
