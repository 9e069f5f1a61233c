// What an execution saw of the accesses whose addresses data decide: how many sectors a warp's request has, how many bytes
// the launch goes over, and after how long a sector is asked for again. A simulation draws addresses with these
// (sm/drawn_lines.h).
//
// A *group* is what one request asks of one 128-byte line. Reuse is counted by array, by all accesses to it of which a
// profile is taken, in groups: a sector that is asked for again k groups after the last time has the reuse time k
// (Berg, Hagersten: "StatCache", ISPASS 2004). A stream that is drawn with the same reuse times has about the same hits in
// an LRU cache of any size, and no cache has to be chosen when the profile is taken.
//
// The blocks of an SM: those of every 128th block, as many at a time as have 2,048 threads, one request of each warp in
// turn. The launch: blocks one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime {

// Sectors of 32 bytes, pieces of 64 (which memory gives at once) and lines of 128 that have one that is touched.
struct TouchedMemory {
  double sectors = 0, pieces = 0, lines = 0;
  friend bool operator==(const TouchedMemory&, const TouchedMemory&) = default;
};

// Shares of an access' sectors by their reuse time: [k] of those with 2^k to 2^(k+1) - 1 groups.
using ReuseTimes = std::vector<double>;

// Of device memory: an access of the source, or several on one line to one array.
struct AccessProfile {
  double requests = 0;            // of warps, of which some thread accesses
  double sectors = 1, lines = 1;  // of a request
  // Of atomics: the turns that a request takes, where the threads of a warp that access one address take turns, and those
  // of other addresses in the sector take them together; different addresses; and the shares of the accesses of threads that
  // go to the most frequent address of the launch, and to the most frequent four lines. 0: no atomic; hottest_lines: it is
  // not known.
  double turns = 0, addresses = 0, hottest = 0, hottest_lines = 0;
  // Touched first by this access, among those to the array that read, or write, as it does. An atomic does both.
  TouchedMemory launch, block;  // by the whole launch; by a block alone, on average
  double blocks = 1;            // of the launch
  double threads = 32;          // of a block
  // Of the sectors: those that the warp's last request to the array had, too; the others by the time since the SM asked
  // for them, without those that it did not ask for before; and since the launch asked for them, repeats among them.
  double repeats = 0;
  ReuseTimes sm, all;
  // When the SM asks for what it did not ask for before: shares of such sectors, by how many it has asked for of all that
  // this access asks for: a 64th, a 32nd, …, half, all. What all warps need is there soon; of what each goes through on its own
  // there is more until the end. Empty: at all times alike.
  std::vector<double> first;
  // Sectors of a request by how many of this access the warp made before: none, one, two or three, up to 7, … Where threads
  // leave a loop, there are fewer. Empty: always `sectors`.
  std::vector<double> by_turn;
  friend bool operator==(const AccessProfile&, const AccessProfile&) = default;
};

// Of shared memory: `ways` are the cycles that shared memory takes for a request. Of constants: the different addresses that
// a warp asks for.
struct ChipAccessProfile {
  double requests = 0, ways = 1;
  friend bool operator==(const ChipAccessProfile&, const ChipAccessProfile&) = default;
};

// `load_of_table_at_line_52`, `atomic_at_line_9`: the same in programs that compilers unroll in different ways. Without a
// source, `load_at_ptx_line_33`. Of a memory access.
std::string access_name(const Item& item);
// `shared_load_at_line_12`, `constant_load_at_ptx_line_33`.
std::string chip_access_name(ChipAccess::Space space, ChipAccess::Kind kind, int line, bool of_ptx);

// How many parts AccessProfile::first has, each as long as all before it but the first.
constexpr std::size_t kPartsOfFirst = 7;

// The part of AccessProfile::first for the sector at so much of all, 0 to 1.
std::size_t part_of_first(double place);

// How many times as many sectors are asked for the first time at this place as on average.
double rate_of_first(const AccessProfile& profile, double place);

// The sectors of a warp's request that has so many before it.
double sectors_at_turn(const AccessProfile& profile, std::uint32_t before);

// The sectors that the blocks ask for with this access that stand for those of an SM: of every kBlocksOfSm-th one.
constexpr double kBlocksOfSm = 128;
double sectors_on_sm(const AccessProfile& profile);

// The share of the sectors that an LRU cache of so many lines does not find, by their reuse times alone: as many lines lie
// between two accesses of one as are not asked for again within that time (Eklov, Hagersten: "StatStack", ISPASS 2010).
double share_missed(const ReuseTimes& times, double lines);

// What so many blocks of so many threads touch, as if each block touched its part at random, of as much as makes the
// launch's.
TouchedMemory touched_by(const AccessProfile& profile, double blocks, double threads);

}  // namespace warptime
