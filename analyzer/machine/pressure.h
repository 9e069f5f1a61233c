// How many 32-bit registers a kernel's values occupy at the same time. ptxas reorders the instructions of a basic block and
// unrolls small loops before it allocates registers: several orders are looked at, of which it takes none exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

struct Estimate;

// An order of the instructions of a basic block that their dependences allow.
enum class Order : std::uint8_t {
  source,       // as in the PTX
  frugal,       // next whatever leaves the fewest values alive
  bounded,      // loads first while 32 registers hold what is alive, else frugal
  loads_first,  // loads as early as their addresses are known
};
inline constexpr std::size_t kOrders = 4;

// What ptxas' list scheduler may occupy, and how.
enum class Schedule : std::uint8_t {
  of_14,       // while there are 14 registers, next what the longest path begins with
  of_24,       // while there are 24
  of_40,       // while there are 40
  of_all,      // as if there were any number
  of_40_free,  // while there are 40, and what a load or a store reads is free when it is issued
  of_40_loop,  // while there are 40, and loops are unrolled
};
inline constexpr std::size_t kSchedules = 6;

struct Pressure {
  // The maximum of what is alive, over the kernel, by Order. With what long instructions (divisions, roots) need beside it.
  std::array<int, kOrders> peak{};
  // With the best order of each basic block.
  int least = 0;
  // By Schedule; with the parameters that instructions do not read in place.
  std::array<int, kSchedules> scheduled{};
  int at_entry = 0;  // the maximum where a basic block begins

  // Loops that ptxas unrolls: what is alive at their entry, with the loads of kUnrolled iterations. The maximum over loops
  // whose loads no store bars, and over all of them. 0: none.
  int unrolled = 0;
  int unrolled_any = 0;
  int widest_load = 0;    // registers of one load
  int divisions = 0;      // of 32-bit integers: the maximum over basic blocks
  int instructions = 0;   // that remain when moves and folded constants vanish
  int longest_block = 0;  // of these, the maximum of a basic block
  int loads = 0;          // registers that the loads of a basic block write: the maximum
  int stores = 0;         // of a basic block: the maximum
  int slow_paths = 0;     // divisions and roots for which ptxas makes branches
  int barriers = 0;
  bool calls = false;  // a function that is not inlined
};

// Nothing for kernels so large that it would take seconds. `made`: how many iterations of loops are side by side.
std::optional<Pressure> pressure_of(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                                    const Estimate* made = nullptr);

}  // namespace warptime::machine
