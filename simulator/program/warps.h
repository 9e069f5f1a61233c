// What the warps of a launch execute. A kernel program says what one warp executes; where its items name the threads
// that execute them (Item::threads, Repeat::per_thread, When::then_threads), warps differ, and this finds how: which
// warps are alike, what each kind executes, and what the whole launch executes.
//
// Warps are cut from the linear thread ids of their block. A warp executes an item where one of its threads does. A
// launch has too many warps to look at each: blocks are looked at many at once, as ranges of their indices
// (range_expression.h), and cut into smaller ranges only where a condition is not decided for all of them. What cannot
// be decided within a budget is found from a sample, and said to be.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime {

// Grid and block, x, y and z each.
struct LaunchSize {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t threads_per_block() const { return block[0] * block[1] * block[2]; }
  std::int64_t warps_per_block() const { return (threads_per_block() + 31) / 32; }
  friend bool operator==(const LaunchSize&, const LaunchSize&) = default;
};

// Shares of the warps that execute what loaded data decide, 0 to 1, by name; others have the program's own.
using Shares = std::map<std::string, double, std::less<>>;

// Sums over warps. Real numbers, since shares are.
struct WarpTotals {
  double instructions = 0;  // executed by warps, loads and stores among them
  double loads = 0, stores = 0;
  double more_loads = 0, more_stores = 0;      // MemoryAccess::continues
  double load_sectors = 0, store_sectors = 0;  // of 32 bytes
  // Those of loads, and those of stores, that are atomics or reductions.
  double atomics = 0, atomic_sectors = 0, reductions = 0, reduction_sectors = 0;
  // Those of stores that are asynchronous copies to shared memory.
  double copies = 0, copy_sectors = 0;
  // Of local memory, as far as the items have their accesses on the chip: 32-byte sectors.
  double local_load_sectors = 0, local_store_sectors = 0;
  // Machine instructions, where the items say so; an item that does not counts as one of pipe `none` for each
  // instruction.
  MachineWork machine;
  void add(const WarpTotals& other, double times);
};

// Warps that execute the same.
struct WarpGroup {
  double warps = 0;
  WarpTotals each;
  std::array<std::int64_t, 3> block{};  // of one of them
  std::int64_t warp = 0;                // in its block
  // WarpOptions::decisions
  std::optional<std::vector<std::int64_t>> decisions = {};
};

struct LaunchWarps {
  std::vector<WarpGroup> groups;  // most warps first
  WarpTotals total;               // of the launch
  bool sampled = false;           // not every warp was looked at
  bool threads_unknown = false;   // a condition could not be evaluated: taken to hold
  bool sectors_unknown = false;   // an address could not be: its pattern's sectors stand for it
};

struct WarpOptions {
  bool sectors = false;            // find WarpTotals::load_sectors and store_sectors
  std::uint64_t budget = 100'000;  // evaluations of expressions, for one launch
  std::size_t most_groups = 8;     // more are joined with those that execute about as much
  bool machine = false;            // find WarpTotals::machine
  // Find WarpGroup::decisions: which items that tell warps apart this one executes, and how often. Groups of any launches
  // of a program that have the same decisions have the same of_warp(). Where shares decide, or counters, or not every
  // warp was looked at, a group has none. Totals are not needed then: they may be empty, and groups that execute as much
  // of different items stay apart.
  bool decisions = false;
  std::optional<std::array<std::int64_t, 3>> block = {};  // only the warps of this one
};

class WarpProgram {
 public:
  // `program` must outlive it.
  explicit WarpProgram(const KernelProgram& program);
  ~WarpProgram();
  WarpProgram(WarpProgram&&) noexcept;
  WarpProgram(const WarpProgram&) = delete;
  WarpProgram& operator=(const WarpProgram&) = delete;

  // Whether warps may differ: an item has threads, shares, …
  bool varies() const;
  // The names that decide how warps differ, beside those of used_names: launch() takes what it has of them.
  const std::vector<std::string>& thread_names() const;

  // Errors: a name that counts use and `values` lacks, a negative count, a count that cannot be evaluated.
  Result<LaunchWarps> launch(const Bindings& values, const LaunchSize& size, const Shares& shares,
                             const WarpOptions& options) const;

  // What one warp of the launch executes, as a program's items without threads and shares. `phase`, 0 to 1: of warps with
  // phases spread evenly, each share of them executes what has that share. Errors: launch()'s.
  Result<Items> of_warp(const Bindings& values, const LaunchSize& size, const WarpGroup& group,
                        const Shares& shares, double phase) const;

  struct Compiled;

 private:
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace warptime
