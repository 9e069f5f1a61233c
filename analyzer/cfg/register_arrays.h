// Arrays of a thread that ptxas keeps in registers although the code computes indices: each access is then a choice among all
// words, and nothing is local memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::analysis {

struct RegisterArrays {
  std::uint32_t words = 0;    // of 32 bits, of all local variables together
  std::uint32_t indices = 0;  // places that are computed; accesses of one register share one
  bool in_loop = false;       // some of them in a loop; not looked at where likely() is false without
  struct Access {
    bool computed = false;   // its place is; otherwise it is a constant
    bool first_use = false;  // of its index
  };
  std::unordered_map<std::uint32_t, Access> accesses;  // by instruction

  // What ptxas of CUDA 13.0 does, for sm_75 as for sm_90 (measured with -v on kernels of 2 to 64 words and 1 to 40 accesses):
  // the more words and indices, the rather it leaves them in memory.
  bool likely() const;
};

// Of a function whose local variables are accessed as 32-bit words alone, at constant places or at such that are computed, and
// whose addresses go nowhere else. Without a local variable, or with another use: no accesses.
RegisterArrays find_register_arrays(const std::vector<ptx::Operand>& operands, const ptx::Function& function);

}  // namespace warptime::analysis
