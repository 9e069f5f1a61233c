// The machine code of a cubin, instruction by instruction, without a disassembler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {

struct MachineOpcode {
  std::uint16_t code = 0;  // the lowest nine bits
  std::string_view name;   // IADD3
  Pipe pipe = Pipe::none;
};
std::span<const MachineOpcode> machine_opcodes();
const MachineOpcode* find_machine_opcode(std::uint16_t code);  // null: unknown

// How an instruction is scheduled, which ptxas writes into it (since Volta).
struct Control {
  static constexpr int no_barrier = 7;
  int stall = 0;                   // cycles before the warp's next instruction
  bool yield = false;              // the bit as it is stored: another warp may be preferred
  int write_barrier = no_barrier;  // 0 to 5: set until the result is there
  int read_barrier = no_barrier;   // 0 to 5: set until the operands are read
  unsigned waits = 0;              // bit b: waits for barrier b
  unsigned reuse = 0;              // bit i: operand i stays in the reuse cache
  friend bool operator==(const Control&, const Control&) = default;
};

struct MachineInstruction {
  std::uint32_t address = 0;              // in bytes, from the kernel's first
  std::uint16_t code = 0;                 // the lowest nine bits
  const MachineOpcode* opcode = nullptr;  // null: unknown
  int guard = 7;                          // predicate register; 7: always true
  bool guard_negated = false;
  bool in_subroutine = false;  // of code outside of the kernel's own, such as a 64-bit division
  bool in_slow_path = false;   // of such code that is called for exceptional operands only
  Control control;
  std::uint32_t ptx_line = 0;          // that it was made of; 0: unknown
  std::uint64_t lower = 0, upper = 0;  // as it is stored
};

// Where a direct branch leads, as an address; nothing for other instructions. target: 90 of sm_90, since the
// place of the offset changed with Hopper.
std::optional<std::int64_t> branch_target(const MachineInstruction& instruction, int target);
// The same of a call.
std::optional<std::int64_t> call_target(const MachineInstruction& instruction, int target);
// Whether an instruction is not executed by all threads that reach it; of a branch: whether some may not take
// it.
bool is_conditional(const MachineInstruction& instruction);
// BRA.DIV: taken where the threads of a warp have diverged before an instruction that wants all of them.
bool is_taken_on_divergence(const MachineInstruction& instruction);

struct MachineKernel {
  std::vector<MachineInstruction> instructions;  // without the NOPs at the end
};

// The kernels by symbol. The target must be sm_70 or newer: older instructions have another size. The lines
// are those of the PTX that ptxas read, if it was told -lineinfo. Errors: no cubin, one that is truncated.
// Any bytes are safe to read.
Result<std::map<std::string, MachineKernel>> read_machine_code(std::string_view cubin,
                                                               const std::string& file);

}  // namespace warptime::machine
