// Addresses in place of those that data decide: drawn so that they have the sectors of a request, the reuse times and the
// lines in all that a profile has seen (program/access_profile.h). An SM draws its own; the blocks that the profile took
// for those of an SM stand for them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulator/base/mixed_bits.h"
#include "simulator/program/access_profile.h"
#include "simulator/program/warp_trace.h"

namespace warptime {

// Marsaglia's xorshift64 (2003); the state must not be 0.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t& state) : state_(state) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  double share() { return share_of_bits(next()); }
  // A whole number that is `mean` on average.
  std::int64_t near(double mean) {
    const auto whole = static_cast<std::int64_t>(mean);
    return whole + (share() < mean - static_cast<double>(whole) ? 1 : 0);
  }

 private:
  std::uint64_t& state_;
};

class DrawnLines {
 public:
  // Another warp takes the place of this one.
  void restart(std::size_t warp);
  struct Place {
    std::int64_t array = 0;      // its number
    std::int64_t base = 0;       // lines that are drawn for the first time are this one, the next, …
    double sectors_of_line = 1;  // that the SM's blocks ask for in the end
  };
  // Puts what one request of a warp asks for into `made`.
  void draw(const AccessProfile& profile, const Place& place, std::size_t warp, RandomNumbers random,
            std::vector<LineSectors>& made);

 private:
  struct Group {
    LineSectors of;
    bool again = false;  // it was asked for once more later
  };
  struct Request {
    std::size_t first = 0, count = 0;  // in Array::history
  };
  struct PartOfLine {
    std::int64_t line = 0;
    int used = 0, most = 0;  // sectors
  };
  struct Array {
    std::vector<Group> history;
    std::vector<Request> last;     // of each warp
    std::deque<PartOfLine> parts;  // lines of which more sectors will be asked for
    std::int64_t lines = 0;        // drawn so far
    std::int64_t sectors = 0;      // of these
    std::int64_t early = 0;        // of these, drawn since nothing was there to be asked for again
    // No more sectors than the launch touches, by all accesses to the array so far.
    double most_sectors = 0;
    struct Access {
      double sectors = 0;                // asked for so far
      std::vector<std::uint32_t> turns;  // of each warp: its requests so far
    };
    std::unordered_map<const AccessProfile*, Access> accesses;
  };
  static Group* repeated(Array& array, const Request& last, std::size_t place,
                         std::span<const LineSectors> made);
  static Group* reused(Array& array, const AccessProfile& profile, double share, RandomNumbers random,
                       std::size_t end, std::span<const LineSectors> made);
  static Group* any_before(Array& array, RandomNumbers random, std::size_t end,
                           std::span<const LineSectors> made);
  static LineSectors fresh(Array& array, const Place& place, int sectors, RandomNumbers random);

  std::unordered_map<std::int64_t, Array> arrays_;
};

}  // namespace warptime
