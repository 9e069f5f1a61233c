// Which bitwise operations become one: LOP3 is any function of three values.
#pragma once

#include <cstdint>
#include <vector>

namespace warptime::machine {

// An operation on all bits of its inputs, in the order in which they are executed.
struct LogicOperation {
  static constexpr std::uint32_t outside = ~0u;

  struct Input {
    std::uint64_t value = 0;          // a register, or a constant: the same value is the same number
    std::uint32_t made_by = outside;  // the operation before this one that makes it; outside: none of these
    bool constant = false;
  };
  std::vector<Input> inputs;    // one or two; zeros and ones in all bits are left out
  bool read_elsewhere = false;  // by what is no operation of these, or before this one
  std::uint32_t readers = 0;    // how many of these operations read it
};

// For each operation whether it is part of all that read it, and takes no instruction of its own.
//
// From the last to the first: an operation that is read as a value takes in what makes its inputs, while it has
// three inputs of which one is a constant. What it takes in may also be part of others: those who read it only
// have to have it in them, which is why an operation can be executed in several places at no cost. (Technology
// mapping for tables of three inputs, as of Cong and Ding, FlowMap, 1994, without its bound on depth.)
std::vector<bool> part_of_readers(const std::vector<LogicOperation>& operations);

}  // namespace warptime::machine
