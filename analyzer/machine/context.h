// What decides how many machine instructions ptxas makes of a PTX instruction: the operation, what becomes of the
// result, and where the operands come from. A product that only feeds a sum, for example, becomes part of the sum.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

struct Context {
  // The opcode without rounding, caching and scope, signed and unsigned types as one where they make no difference:
  // `add.i32`, `ld.global.b64`.
  std::string operation;
  // What reads the result: `address`, `branch`, `add`, … with `1` for one reader and `n` for several; `mixed` for
  // readers of several kinds; `unused`. A register with several definitions has `+phi` behind it.
  std::string use;
  // A letter for each operand that is read, sorted: c constant, p parameter of the kernel, t thread's coordinate,
  // m a product, s a shift, a a sum, l logic (each read here alone), r another register, o other.
  std::string operands;
  // ptxas moves what does not change out of a loop.
  bool in_loop = false;
};

// By instruction of code.function(). cfg: of that code.
std::vector<Context> contexts_of(const analysis::KernelCode& code, const analysis::Cfg& cfg);

}  // namespace warptime::machine
