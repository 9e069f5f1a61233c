// The device functions that a kernel calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analyzer/ptx/module.h"

namespace warptime::analysis {

bool is_call(const ptx::Instruction& instruction);

// Resolves calls to functions, and counts a function's instructions with all that it calls.
class Callees {
 public:
  // `module` must outlive it.
  explicit Callees(const ptx::Module& module) : module_(module) {}

  // The callee of a direct call; nothing for a call through a pointer.
  std::optional<std::uint32_t> callee_of(const ptx::Instruction& call) const;

  // Counts the instructions of `function` and of all that it calls, each callee once for each call, but
  // recursive calls once.
  void count_from(std::uint32_t function);
  // The count, at most 2^40; 0 for a function that was not counted.
  std::size_t size_with_callees(std::uint32_t function) const;

 private:
  const ptx::Module& module_;
  std::unordered_map<std::uint32_t, std::size_t> sizes_;
};

}  // namespace warptime::analysis
