// What a cubin, the ELF file that ptxas makes, says of its kernels' registers and shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "simulator/base/diagnostic.h"

namespace warptime {

struct CubinKernel {
  int registers = 0;              // per thread
  std::int64_t shared_bytes = 0;  // per block, static
};

// By symbol (_Z3mtxiiPfS_S_). A kernel is a function with a section `.nv.info.SYMBOL` of its own. Its
// registers are in `.nv.info` (attribute REGCOUNT, of symbols by their number); where that says nothing, in
// the upper 8 bits of sh_info of `.text.SYMBOL`. Its shared memory is the size of `.nv.shared.SYMBOL`, which
// from sm_90 on has in it the 1 KiB that the system reserves of each block's (the cubin then has
// `.nv.shared.reserved.0`); that is elided here. Any bytes are safe to read. Errors: no 64-bit
// little-endian ELF file, one that ends too early, one that is no CUDA object. `file` is for the diagnostics.
Result<std::map<std::string, CubinKernel>> read_cubin(std::string_view bytes, const std::string& file);

}  // namespace warptime
