// Which constants ptxas can load to a register that all threads of a warp share.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyzer/cfg/kernel_code.h"

namespace warptime::periods {

// A machine instruction has one operand for a uniform register, where it could have an immediate or a constant, and MUFU and
// SEL have none. So ptxas loads with LDC, whose index is in a register of each thread, instead of ULDC: constants of which
// an instruction uses two, of these the one that is loaded first; and all that are loaded from one register, where a use of
// one of them has an immediate, too, or is one of MUFU or SEL. Found with 60 small kernels, for sm_90.
class ConstantRegisters {
 public:
  explicit ConstantRegisters(const analysis::KernelCode& code);
  // Of the bytes that instruction `i` loads from constant memory: those with LDC, whole pieces of 8 bytes or less.
  std::int64_t own_bytes(std::uint32_t i) const;

 private:
  std::unordered_map<std::uint32_t, std::int64_t> own_bytes_;
};

}  // namespace warptime::periods
