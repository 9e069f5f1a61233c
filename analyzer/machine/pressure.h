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

// An order of the instructions of a basic block that their dependences allow.
enum class Order : std::uint8_t {
  source,          // as in the PTX
  frugal,          // next whatever leaves the fewest values alive
  bounded,         // loads first while 32 registers hold what is alive, else frugal
  loads_first,     // loads as early as their addresses are known
  loads_unbarred,  // the same, where loads may also pass stores to other addresses
  interleaved,     // the same, and their addresses are computed side by side
};
inline constexpr std::size_t kOrders = 6;

struct Pressure {
  // The maximum of what is alive, over the kernel, by Order. With what long instructions (divisions, roots) need beside it.
  std::array<int, kOrders> peak{};
  int least_peak() const;  // of the orders that keep loads behind stores

  // Loops that ptxas unrolls: what is alive at their entry, with the loads of kUnrolled iterations. The maximum over loops
  // whose loads no store bars, and over all of them. 0: none.
  int unrolled = 0;
  int unrolled_any = 0;
  int widest_load = 0;   // registers of one load
  int divisions = 0;     // of 32-bit integers: the maximum over basic blocks
  int instructions = 0;  // that remain when moves and folded constants vanish
  bool calls = false;    // a function that is not inlined
};

// Nothing for kernels so large that it would take seconds.
std::optional<Pressure> pressure_of(const analysis::KernelCode& code, const analysis::Cfg& cfg);

}  // namespace warptime::machine
