// Changes to a kernel program, to ask the model what they would gain. Loads keep their numbers
// (ItemDetail::needs).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime {

// `where`: a text from place_of(). Nothing: there is nothing to change.

// Every second load at `where`, atomics apart, is executed by no thread: of adjacent loads every second one;
// of one that occurs once in each iteration, that of every second iteration.
std::optional<KernelProgram> without_every_second_load(const KernelProgram& program,
                                                       const std::string& where);
// Loads and stores at `where` access the elements of a warp side by side, and altogether the same bytes; of
// those with known addresses, the ones whose threads are a constant stride apart. row: how many threads of a
// warp, a divisor of 32, are side by side in x.
std::optional<KernelProgram> with_coalesced_accesses(const KernelProgram& program, const std::string& where,
                                                     std::int64_t row);
// Accesses to shared memory at `where` have no bank conflicts.
std::optional<KernelProgram> without_bank_conflicts(const KernelProgram& program, const std::string& where);
// No local memory is accessed at `where`.
std::optional<KernelProgram> without_local_memory(const KernelProgram& program, const std::string& where);
// An item that only some threads of a warp execute: the share of the warps that execute it if those are together in warps
// of their own.
using TogetherShares = std::map<const Item*, double>;
// The program whose warps do not diverge at these of its items.
std::optional<KernelProgram> without_divergence(const KernelProgram& program, const TogetherShares& shares);
// What the FP64 pipe executes is executed by the FMA pipes.
std::optional<KernelProgram> in_single_precision(const KernelProgram& program);

}  // namespace warptime
