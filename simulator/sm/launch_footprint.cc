#include "simulator/sm/launch_footprint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "simulator/program/expression/range_expression.h"
#include "simulator/program/walk.h"
#include "simulator/program/warp_trace.h"

namespace warptime {
namespace {

constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};

// Bytes that lie as `count` runs of `run` bytes, `pitch` apart.
struct Runs {
  double low = 0, high = 0;  // of all
  double run = 0, count = 1, pitch = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      steps;  // that it was made of: equal ones are shifted copies

  // In pieces of `grain`.
  double bytes(double grain) const {
    const double whole = std::max(run, grain);
    if (count > 1 && pitch <= whole) return high - low;
    // A run that does not begin at a piece's begin touches one more, in part of the cases.
    const bool aligned =
        std::fmod(run, grain) == 0 && std::fmod(pitch, grain) == 0 && std::fmod(low, grain) == 0;
    const double touched = aligned ? run : std::floor((run + grain - 1) / grain) * grain;
    return std::min(count * std::max(touched, grain), std::max(high - low, grain));
  }
};

Runs runs_of(const ValueRange& address, const DimensionCounts& counts, std::int64_t bytes) {
  Runs runs;
  runs.low = static_cast<double>(address.low);
  runs.high = static_cast<double>(address.high + bytes);
  runs.run = static_cast<double>(bytes + (address.rest_high - address.rest_low));
  for (std::size_t d = 0; d < kRangeDimensions; ++d)
    if (const std::int64_t step = std::abs(address.step(d)); step != 0 && counts[d] > 1)
      runs.steps.emplace_back(step, counts[d]);
  std::sort(runs.steps.begin(), runs.steps.end());
  for (const auto& [step, count] : runs.steps) {
    const auto by = static_cast<double>(step), times = static_cast<double>(count);
    if (runs.count <= 1) {
      if (by <= std::max(runs.run, static_cast<double>(kSectorBytes))) {
        runs.run += by * (times - 1);
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

// What several accesses of one array touch together.
double union_of(std::vector<Runs> runs, double grain) {
  std::sort(runs.begin(), runs.end(), [](const Runs& a, const Runs& b) { return a.low < b.low; });
  double total = 0;
  for (std::size_t i = 0; i < runs.size();) {
    double low = runs[i].low, high = runs[i].high, sum = 0;
    std::vector<const Runs*> together;
    for (; i < runs.size() && runs[i].low < high; ++i) {
      high = std::max(high, runs[i].high);
      bool copy = false;  // within the pieces of one that is counted
      for (const Runs* known : together)
        copy = copy || (known->steps == runs[i].steps &&
                        std::abs(std::floor(known->low / grain) - std::floor(runs[i].low / grain)) < 1);
      if (!copy) sum += runs[i].bytes(grain);
      together.push_back(&runs[i]);
    }
    total += std::min(sum, std::ceil(high / grain) * grain - std::floor(low / grain) * grain);
  }
  return total;
}

class Collector {
 public:
  Collector(const Bindings& values, const LaunchSize& size, const ArrayPlaces& places, std::int64_t first,
            std::int64_t count)
      : values_(values), size_(size), places_(places) {
    counts_.fill(1);
    // Whole rows, or whole planes, where the blocks are more than part of one.
    const std::int64_t row = size.grid[0], plane = size.grid[0] * size.grid[1], last = first + count - 1;
    begin_ = {first % row, first / row % size.grid[1], first / plane};
    std::array<std::int64_t, 3> many = {last - first + 1, 1, 1};
    if (first / plane != last / plane) {
      begin_[0] = begin_[1] = 0;
      many = {row, size.grid[1], last / plane - first / plane + 1};
    } else if (first / row != last / row) {
      begin_[0] = 0;
      many = {row, last / row - first / row + 1, 1};
    }
    for (std::size_t d = 0; d < 3; ++d) {
      counts_[d] = std::max<std::int64_t>(many[d], 1);
      counts_[kFirstStrideDimension + d] = size.block[d];
    }
    counts_[kFirstLaneDimension] = static_cast<std::int64_t>(kLanes);
    counts_[kFirstWarpDimension] = size.warps_per_block();
  }

  void walk(const Items& items) {
    for (const Item& item : items) {
      if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
        add(*access);
      } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        const std::size_t dimension = kFirstCounterDimension + open_;
        const ValueRange trips = value(repeat->per_thread ? *repeat->per_thread : repeat->count);
        const std::int64_t most = trips.known ? trips.high : 1;
        if (most <= 0) continue;
        if (dimension >= kRangeDimensions) {
          footprint_.estimated = true;
          counters_.emplace_back(repeat->counter, ValueRange(0));
          walk(repeat->body);
        } else {
          counts_[dimension] = most;
          counters_.emplace_back(repeat->counter, ValueRange::progression(dimension, 0, 1, most));
          ++open_;
          walk(repeat->body);
          --open_;
          counts_[dimension] = 1;
        }
        counters_.pop_back();
      } else if (const auto* when = std::get_if<When>(&item.what)) {
        const ValueRange condition = value(when->condition);
        if (when->then_threads || !condition.known || !condition.is_decided() || condition.holds())
          walk(when->then_items);
        if (when->then_threads || !condition.known || !condition.is_decided() || !condition.holds())
          walk(when->else_items);
      }
    }
  }

  Footprint finish() {
    for (auto& [name, array] : arrays_) {
      const auto of = [&](std::vector<Runs> runs, std::int64_t grain) {
        const double bytes = union_of(std::move(runs), static_cast<double>(grain));
        return array.bytes ? std::min(bytes, std::ceil(*array.bytes / static_cast<double>(grain)) *
                                                 static_cast<double>(grain))
                           : bytes;
      };
      footprint_.read_bytes += of(array.read, kMemoryBytes);
      footprint_.written_bytes += of(array.written, kSectorBytes);
      footprint_.atomic_bytes += of(array.atomic, kSectorBytes);
      array.read.insert(array.read.end(), array.written.begin(), array.written.end());
      footprint_.all_bytes += of(std::move(array.read), kLineBytes);
    }
    return footprint_;
  }

 private:
  struct ArrayRuns {
    std::vector<Runs> read, written, atomic;
    std::optional<double> bytes;  // of the allocation, where they are known
  };

  void add(const MemoryAccess& access) {
    const std::int64_t bytes = std::max<std::int64_t>(1, access.bytes.value_or(4));
    ++accesses_;
    const auto place = places_.find(access.array);
    ArrayRuns& array = arrays_[place != places_.end() ? "@" + std::to_string(place->second.allocation)
                               : access.array.empty() ? "#" + std::to_string(accesses_)
                                                      : "." + access.array];
    const double begin = place != places_.end() ? static_cast<double>(place->second.offset) : 0;
    if (place != places_.end() && place->second.bytes)
      array.bytes = std::max(array.bytes.value_or(0), begin + static_cast<double>(*place->second.bytes));
    Runs runs;
    const ValueRange address = access.address ? value(*access.address) : ValueRange::unknown();
    if (!address.known && is_atomic(access)) return;  // counters, which L2 holds
    if (address.known) {
      runs = runs_of(address, counts_, bytes);
      runs.low += begin;
      runs.high += begin;
    } else {  // an element for each thread
      footprint_.estimated = true;
      double threads = 1;
      for (std::size_t d = 0; d < 3; ++d) threads *= static_cast<double>(counts_[d] * size_.block[d]);
      runs.run = threads * static_cast<double>(bytes);
      if (place != places_.end() && place->second.bytes)
        runs.run = std::min(runs.run, static_cast<double>(*place->second.bytes));
      runs.low = begin;
      runs.high = begin + runs.run;
    }
    const bool both = is_atomic(access);
    if (both) array.atomic.push_back(runs);
    const bool copy = is_asynchronous_copy(access);
    if (access.kind == MemoryAccess::Kind::load || copy) array.read.push_back(runs);
    if ((access.kind == MemoryAccess::Kind::store && !copy) || both) array.written.push_back(runs);
  }

  ValueRange value(const Expression& expression) {
    std::vector<ValueRange> slots;
    const RangeExpression compiled(expression, [&](const std::string& name) {
      const std::optional<ValueRange> range = find(name);
      if (!range) return -1;
      slots.push_back(*range);
      return static_cast<int>(slots.size() - 1);
    });
    return compiled.evaluate(slots.data(), counts_);
  }

  std::optional<ValueRange> find(const std::string& name) const {
    for (auto at = counters_.rbegin(); at != counters_.rend(); ++at)
      if (!name.empty() && at->first == name) return at->second;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto is = [&](const char* what) { return name == std::string(what) + '.' + kAxes[d]; };
      if (is("blockIdx")) return ValueRange::progression(d, begin_[d], 1, counts_[d]);
      if (is("threadIdx")) return ValueRange::progression(kFirstStrideDimension + d, 0, 1, size_.block[d]);
      if (is("blockDim")) return ValueRange(size_.block[d]);
      if (is("gridDim")) return ValueRange(size_.grid[d]);
    }
    if (name == "laneid")
      return ValueRange::progression(kFirstLaneDimension, 0, 1, counts_[kFirstLaneDimension]);
    if (name == "warpid")
      return ValueRange::progression(kFirstWarpDimension, 0, 1, counts_[kFirstWarpDimension]);
    if (name == "warpSize") return ValueRange(static_cast<std::int64_t>(kLanes));
    if (const auto value = values_.find(name); value != values_.end()) return ValueRange(value->second);
    return std::nullopt;
  }

  const Bindings& values_;
  const LaunchSize& size_;
  const ArrayPlaces& places_;
  std::array<std::int64_t, 3> begin_{};
  DimensionCounts counts_{};
  std::vector<std::pair<std::string, ValueRange>> counters_;
  std::size_t open_ = 0, accesses_ = 0;
  std::map<std::string, ArrayRuns> arrays_;
  Footprint footprint_;
};

}  // namespace

LaunchFootprint::LaunchFootprint(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                                 ArrayPlaces places)
    : program_(program), values_(values), size_(size), places_(std::move(places)) {}

Footprint LaunchFootprint::of_blocks(std::int64_t first, std::int64_t count) const {
  Collector collector(values_, size_, places_, first, std::max<std::int64_t>(count, 1));
  collector.walk(program_.program);
  return collector.finish();
}

}  // namespace warptime
