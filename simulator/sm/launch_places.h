// Where in a kernel program an SM's cycles, sectors and bytes go: by place, which is a line of the source
// mostly.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/sm/sm_listener.h"

namespace warptime {

// What SmWait::on_chip is.
enum class ChipWait : std::uint8_t { l1, shared, local, constants, queue };  // queue: of L1 and shared memory
inline constexpr std::size_t kChipWaits = 5;

// place_of() an item that executes, or that is waited for (SmCause::item): "starts of blocks" where there is none.
std::string place_of_cause(const Item* item);

// Of the whole launch, but for the cycles, which are those of an SM.
struct LaunchPlace {
  std::string where;  // place_of_cause()
  LineSet lines;
  std::array<double, kSmWaits> waits{};     // the cycles that the SM waits for it, or issues it
  std::array<double, kPipes> pipe_waits{};  // those of SmWait::pipe by pipe
  // Those of `waits` for latencies, barriers and starts, after a block has ended in whose place none starts.
  std::array<double, kSmWaits> draining{};

  std::array<double, kChipWaits> chip_waits{};  // those of SmWait::on_chip without `draining`

  double requests = 0;       // loads, stores and atomics of warps
  double sectors = 0;        // of L1, for them
  double least_sectors = 0;  // if the threads of each warp accessed one piece of memory without gaps
  double load_sectors = 0, load_hits = 0;
  double local_sectors = 0, local_hits = 0;  // of local memory
  double l2_bytes = 0, memory_bytes = 0;     // read and written
  // Of accesses to shared memory with known addresses: ways, and how many there would be without conflicts.
  double shared_ways = 0, shared_least_ways = 0;

  // What the bytes are found from.
  double asked_sectors = 0, written_sectors = 0, local_asked_sectors = 0, local_store_sectors = 0;
  double atomic_sectors = 0, first_bytes = 0;

  void add(const LaunchPlace& other, double times);  // the numbers
};

// What one SM does by place, first all and then what is behind SmListener::half().
class PlaceListener : public SmListener {
 public:
  void passed(double begin, double end, const SmCause& cause, bool drains) override;
  void executed(const SmExecution& execution) override;
  void shared_access(int ways, int least) override;
  void half() override { at_half_ = places_; }

  // Lets others say what the second half is: the second half of each, or all of it, so many times.
  void forget_second_half() { other_half_.emplace(); }
  void add_later(const PlaceListener& other, bool whole, double times);
  // In the order of first execution; `more` times the second half is added.
  std::vector<LaunchPlace> places(double more) const;

 private:
  LaunchPlace& place_of_item(const Item* item);

  std::vector<LaunchPlace> second_half() const;

  std::vector<LaunchPlace> places_, at_half_;
  std::optional<std::vector<LaunchPlace>> other_half_;
  std::unordered_map<const Item*, std::size_t> by_item_;
  std::map<std::string, std::size_t> by_name_;
  double ways_ = 0, least_ways_ = 0;  // of the item that is executed
};

}  // namespace warptime
