// A kernel program as input of a model, with durations for the accesses that leave theirs open.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/memory_durations.h"

namespace warptime {

struct TimedProgram {
  std::shared_ptr<const KernelProgram> program;  // not null
  MemoryDurations durations;
  std::vector<std::string> names;  // used by its expressions; each needs a value
};

// A program with values of names, to remember results by.
struct ProgramWithValues {
  const TimedProgram* program = nullptr;
  std::vector<std::int64_t> values;
  friend bool operator==(const ProgramWithValues&, const ProgramWithValues&) = default;

  struct Hash {
    std::size_t operator()(const ProgramWithValues& of) const {
      std::uint64_t hash = std::bit_cast<std::uintptr_t>(of.program);
      for (const std::int64_t value : of.values) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
};

}  // namespace warptime
