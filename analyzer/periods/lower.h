// Periods: from control flow to the kernel program. Each block's instructions become calculation and memory
// access periods (section 5.3 of Puchala et al. 2022); loops become repeats, branches on kernel arguments
// become conditions; if the threads of a warp can diverge, both sides are executed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/periods/flow.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// What an instruction is in the program: for the listing.
struct InstructionRole {
  enum class Kind : std::uint8_t { none, calculation, load, store };
  Kind kind = Kind::none;                 // none: unreachable, or the final ret
  bool modelled = true;                   // false: unknown to the table, counted as calculation
  std::uint32_t access = analysis::none;  // index into Lowered::accesses
  // Index of its address operand; none: no address that can be followed.
  std::uint32_t operand = analysis::none;
  bool on_chip = false;                                    // its item has a ChipAccess for it
  bool shuffle = false;                                    // its item counts it in ItemDetail::shuffles
  std::int64_t matches = 0;                                // what it adds to ItemDetail::matches
  std::optional<InstructionClass> instruction_class = {};  // if LowerOptions::classes asks for it
};

struct Lowered {
  KernelProgram program;
  std::vector<InstructionRole> roles;  // by instruction of the kernel's code
  std::vector<MemoryAccess> accesses;
  bool block_matters = false;  // to access patterns: they hold for the block that KernelFlow was given alone
  std::vector<std::string> repeats_of_loop;  // by loop: its count as text, "K / 4"
  Diagnostics diagnostics;                   // warnings
};

// Where instructions come in the machine code.
struct MachinePlaces {
  // By PTX instruction: the address or rank of the load or store that was made of it, else of the first of its machine
  // instructions; analysis::none: of none, or of several copies. Empty: nothing is known.
  std::vector<std::uint32_t> of_instruction;
  // By basic block: the first of those that are one to ptxas (machine::Estimate::chains). Empty: each is its own.
  std::vector<std::uint32_t> chains;
  bool expected = false;  // by an estimate
};

struct LowerOptions {
  bool skip_unsupported = false;
  // The signature, if the source is known: names of the arguments.
  const KernelSignature* signature = nullptr;
  std::string file;             // of the PTX, for diagnostics
  std::uint32_t main_file = 0;  // the .file number whose lines are the source's; 0: all
  LineSet lines;                // what comes from other lines is elided; empty: nothing is
  bool ptx_lines = false;       // `lines` are of the PTX
  // Writes what models of single instructions need: the arrays of accesses, and ItemDetail.
  bool detail = false;
  // Writes the classes of calculation instructions (InstructionClasses).
  bool classes = false;
  // Moves calculation across loads and stores (rearrange.h); not with `detail`.
  bool rearrange = false;
  // Where ptxas put the kernel's instructions, or is expected to; empty: not known.
  MachinePlaces machine_places = {};
};

// A call that is not inlined is one instruction and a parameter, instructions_of_<callee>, with a warning.
// Errors: unknown instructions (unless skipped), irreducible control flow that is too large to copy, a loop
// that never ends, …, each with its PTX line.
Result<Lowered> lower(analysis::KernelFlow& flow, const LowerOptions& options);

}  // namespace warptime::periods
