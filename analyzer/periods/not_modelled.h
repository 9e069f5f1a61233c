// What a kernel uses and the model ignores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::periods {

// Collects the features of a kernel that the model ignores (docs/not-modelled.md has a line for each), and
// returns the sentences about them in the kernel program.
class NotModelled {
 public:
  void look_at(const ptx::Instruction& instruction);
  std::vector<std::string> sentences() const;

 private:
  enum class Feature : std::uint8_t {
    shared_memory,
    local_memory,
    barrier,
    atomic,
    texture,
    async_copy,
    long_instruction,
    tensor_core
  };
  static constexpr std::size_t features = 8;
  void use(Feature feature) { used_[static_cast<std::size_t>(feature)] = true; }
  std::array<bool, features> used_{};
};

}  // namespace warptime::periods
