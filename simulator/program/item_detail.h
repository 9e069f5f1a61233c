// What an item does beside what the paper's models read: which loads it waits for, what it accesses on the chip, and
// where its block waits. `analyze --machine` and `--estimate-machine` write it; models of time that look at single
// instructions read it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

struct AccessProfile;

// An access to memory that is private to an SM, or that its caches hold: `{load: shared, bytes: 4, address: …}`.
struct ChipAccess {
  enum class Kind : std::uint8_t { load, store, atomic } kind = Kind::load;
  enum class Space : std::uint8_t { shared, local, constant } space = Space::shared;
  std::int64_t bytes = 4;  // per thread
  // The bytes from the beginning of the block's shared memory, of the thread's local memory or of the constant array, as
  // MemoryAccess::address. Absent: unknown.
  std::optional<Expression> address = {};
  // ChipAccessProfile::ways, where a profile has them. Not in the file.
  std::optional<double> ways = {};
  // Where data decide the address, for each thread another: the bytes that they choose from.
  std::optional<std::int64_t> scattered = {};
  // Of a constant: of its bytes, those that ptxas loads with an index in a register of each thread (LDC), also where all
  // threads have the same, since what uses them has no place for a uniform register.
  std::int64_t own_bytes = 0;
  // Of a constant: the array begins at a multiple of so many bytes. ptxas joins two loads of 4 bytes side by side where it is 8.
  std::int64_t align = 8;
  // Of a constant, where the machine code keeps its index: in the instruction; in a register that all threads of a warp share
  // (ULDC); in one of each thread (LDC). Only programs that schedule_loads() has changed say so. Not in the file.
  enum class Index : std::uint8_t { none, shared, own } index = Index::none;
  friend bool operator==(const ChipAccess&, const ChipAccess&) = default;
};
inline constexpr std::array<std::string_view, 3> kChipAccessKinds = {"load", "store", "atomic"};
inline constexpr std::array<std::string_view, 3> kChipSpaces = {"shared", "local", "constant"};

// Where loaded data choose a row of an array: threads with the same `of` have loaded the same index, the element of the array
// `by` at that place, say, and so they are in the same row. Rows begin at multiples of `bytes`; what a thread accesses begins
// `at` bytes after its row does.
struct RowOfData {
  std::string by;
  Expression of, bytes, at;
  friend bool operator==(const RowOfData&, const RowOfData&) = default;
};

struct ItemDetail {
  // The loads whose results it uses: it begins when their last executions have completed. A number is the place of the
  // `load` among the loads of the program as it is written, from 1. Results that an item before it has waited for are
  // not among them, unless they may have been loaded anew.
  std::vector<int> needs;
  // Of a load: how many of the items before it in its list the compiler moves it past. Loads rise in their order: each
  // from behind the items before it, as loads that rose before it have left them. What it needs, it needs there.
  std::int64_t rises = 0;
  // Cycles from the item's begin, in the order of what rises, until its last instruction can be issued: as the latencies
  // of results allow that its instructions use, of the item's own and of what is left of those before it. Absent: its
  // instructions can be issued one after the other.
  std::optional<double> chain;
  std::vector<ChipAccess> on_chip;  // in order
  bool barrier = false;             // the item ends at a barrier of the block
  std::int64_t shuffles = 0;        // its instructions that give words to other threads of the warp (shfl)
  // Different values of a warp's threads that its match.any go through, and those that ptxas adds where a shuffle names the threads
  // of a part of the warp by a register.
  std::int64_t matches = 0;
  // Of an access without an address: nothing that is loaded decides it (it is computed in floating point, say), so that
  // threads side by side are taken to access what lies side by side.
  bool near = false;
  // Of an access without an address: a hash, or a pseudo-random number, decides it, so that each thread is taken to access any
  // element of the array.
  bool random = false;
  // Of an access without an address.
  std::optional<RowOfData> row = {};
  bool floating = false;  // of an atomic, also on the chip: it is one of floating-point numbers
  // Of a run: ptxas makes a branch of one of its instructions, such as a division: no load rises past it.
  bool splits = false;
  // Of a load: nothing that the kernel stores changes what it loads (ld.global.nc), so that it rises past stores, too.
  bool read_only = false;
  // The PTX instructions that it stands for, as indices, in the order of execution. Only while `analyze` makes the
  // program: a finished one has none.
  std::vector<std::uint32_t> made_of = {};
  // Of a memory access: what a profile says of it (profiled_program.h). Not in the file.
  std::shared_ptr<const AccessProfile> profile = {};
  bool empty() const {
    return needs.empty() && rises == 0 && !chain && on_chip.empty() && !barrier && shuffles == 0 &&
           matches == 0 && !near && !random && !row && !floating && !splits && !read_only;
  }
  friend bool operator==(const ItemDetail&, const ItemDetail&) = default;
};

}  // namespace warptime
