// What decides how many machine instructions ptxas makes of a PTX instruction: the operation, what becomes of
// the result, and where the operands come from. A product that only feeds a sum, for example, becomes part of
// the sum.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

// The innermost loop that an instruction is in. ptxas moves what does not change out of it, and unrolls it.
enum class LoopKind : std::uint8_t {
  none,
  outer,     // others are in it
  rolled,    // ptxas is not likely to unroll it: no constant step, a long body, several exits, a division
  unrolled,  // it is
};

struct Context {
  // The opcode without rounding, caching and scope, signed and unsigned types as one where they make no
  // difference: `add.i32`, `ld.global.b64`.
  std::string operation;
  // What reads the result: `address`, `branch`, `add`, … with `1` for one reader and `n` for several; `mixed`
  // for readers of several kinds; `unused`. A register with several definitions has `+phi` behind it.
  std::string use;
  // A letter for each operand that is read, sorted: c constant, 2 power of two, p parameter of the kernel
  // where it is read first, q where it is read again, t thread's coordinate, i what the loop does not change,
  // k an address that is constant; m a product, s a shift, a a sum, l logic (each read here alone), M a
  // product that others read, too, r another register, o other; n another access of the block is beside this
  // one.
  std::string operands;
  LoopKind loop = LoopKind::none;
};

// Of what a kernel executes once that belongs to no instruction, by its size.
Context entry_context(const analysis::Cfg& cfg);
// Whether `.pragma "nounroll";` stands behind the loop's label: the compiler has unrolled it, and this is the
// rest.
bool is_kept_rolled(const ptx::Module& module, const ptx::Function& function, const analysis::Cfg& cfg,
                    std::uint32_t loop);
// Of a loop with one latch: the block that decides whether it goes on. That is the latch, or the block before
// a latch that only branches back.
std::uint32_t last_block_of(const analysis::Cfg& cfg, std::uint32_t loop);
// By loop of cfg.
std::vector<LoopKind> loop_kinds(const analysis::KernelCode& code, const analysis::Cfg& cfg);
// The contexts of a kernel's instructions, each found when it is asked for: the rules of lowering.h need few.
class Contexts {
 public:
  // Both must outlive it. cfg: of the code.
  Contexts(const analysis::KernelCode& code, const analysis::Cfg& cfg);
  ~Contexts();
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  Context of(std::uint32_t instruction) const;
  const std::vector<LoopKind>& loops() const { return loops_; }  // by loop of cfg
  // Whether an innermost loop has one exit and one latch, is not kept rolled, and counts in constant steps.
  bool steps(std::uint32_t loop) const;
  // Whether something in it keeps ptxas from unrolling it, however short it is: a division, a call, an atomic.
  bool hinders_unrolling(std::uint32_t loop) const;

 private:
  class Uses;
  std::unique_ptr<const Uses> uses_;
  std::vector<LoopKind> loops_;
};

// By instruction of code.function(). cfg: of that code.
std::vector<Context> contexts_of(const analysis::KernelCode& code, const analysis::Cfg& cfg);

}  // namespace warptime::machine
