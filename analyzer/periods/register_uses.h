// The registers that each instruction of a kernel reads and writes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/periods/flow.h"

namespace warptime::periods {

class RegisterUses {
 public:
  // `flow` must outlive it.
  explicit RegisterUses(const analysis::KernelFlow& flow);

  // Indices into Function::registers, each as often as it is named. A guard is read; so is what a guarded instruction
  // writes, since the old value stays where the guard does not hold.
  std::span<const std::uint32_t> reads(std::uint32_t instruction) const;
  std::span<const std::uint32_t> writes(std::uint32_t instruction) const;
  // Whether it only passes registers on, so that ptxas need not make an instruction of it: an unguarded move, which a
  // promoted stack slot or an argument of an inlined call is, too.
  bool only_moves(std::uint32_t instruction) const { return places_[instruction].only_moves; }

  // Whether some path from behind the instruction reads the register before it is written.
  bool live_behind(std::uint32_t instruction, std::uint32_t reg);
  // The instruction that reads the register, where there is one alone; else analysis::none.
  std::uint32_t only_reader(std::uint32_t reg) const { return only_reader_[reg]; }

 private:
  struct Place {  // in named_: what is read, then what is written
    std::uint32_t reads = 0, writes = 0, end = 0;
    bool only_moves = false;
  };
  void add(std::uint32_t instruction);
  void collect(const ptx::Operand& operand);
  bool names(std::span<const std::uint32_t> registers, std::uint32_t reg) const;
  const std::vector<bool>& live_in(std::uint32_t reg);  // by block

  const analysis::KernelFlow& flow_;
  std::vector<Place> places_;  // by instruction
  std::vector<std::uint32_t> named_;
  std::vector<std::uint32_t> only_reader_;  // by register
  std::vector<bool> has_reader_;            // by register
  std::vector<std::vector<std::uint32_t>>
      occurrences_;  // by register: instructions; made when it is asked for
  std::map<std::uint32_t, std::vector<bool>> live_in_;  // by register
};

}  // namespace warptime::periods
