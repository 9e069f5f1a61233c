// What a kernel uses and the model ignores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::periods {

// Whether the device's runtime has this function, by its name in PTX: printf, assert, malloc, free.
bool is_runtime_function(std::string_view callee);

// Collects the features of a kernel that the model ignores (docs/not-modelled.md has a line for each), and
// returns the sentences about them in the kernel program.
class NotModelled {
 public:
  void look_at(const ptx::Instruction& instruction);
  // A call that is not followed.
  void look_at_call(std::string_view callee);
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
    tensor_core,
    runtime_call
  };
  static constexpr std::size_t features = 9;
  void use(Feature feature) { used_[static_cast<std::size_t>(feature)] = true; }
  std::array<bool, features> used_{};
};

}  // namespace warptime::periods
