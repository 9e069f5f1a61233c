// Small kernels around one instruction, and launches of whole kernels on arrays.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/execute/execute.h"

namespace warptime::execute::testing {

// A module that owns its text, and the code of one of its kernels.
struct Loaded {
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const ptx::Module> module;
  Code code;
};

// Fails the test, and gives nothing, where the PTX is wrong. An empty kernel name: the only one.
std::optional<Loaded> load_text(std::string text, const std::string& kernel = {});
// The errors of loading: empty where there are none.
Diagnostics errors_of(const std::string& text);

// A module of one kernel `k`: `.entry k(parameters) { registers; body }`. Registers: %p, %h (b16), %r (b32),
// %d (b64), %w (b128), 40 each.
std::string kernel_text(const std::string& parameters, const std::string& body,
                        const std::string& before = {}, const std::string& target = "sm_90");

// Register 0 of its kind after `instruction`, whose other registers hold `inputs`: the k-th input is register
// k + 1 of the kind that the instruction names with that number: "add.s32 %r0, %r1, %r2;". Whole warps do it:
// every lane must give the same.
std::uint64_t evaluate(const std::string& instruction, const std::vector<std::uint64_t>& inputs);

// What a launch leaves: its execution, and its buffers by the order of the arguments.
struct Outcome {
  Execution execution;
  std::vector<std::vector<std::byte>> buffers;

  template <class T>
  std::vector<T> values(std::size_t which) const {
    std::vector<T> result(buffers[which].size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), buffers[which].data(), result.size() * sizeof(T));
    return result;
  }
  bool found(Finding::Kind kind) const;
  const Finding* finding(Finding::Kind kind) const;
};

// An argument: a scalar, a buffer with contents, or one without.
struct Given {
  Argument bytes;
  bool buffer = false, uninitialised = false;
  std::uint64_t offset = 0;  // of the pointer into the buffer, in bytes
};
template <class T>
Given value(T scalar_value) {
  return {scalar(scalar_value), false, false};
}
template <class T>
Given buffer(const std::vector<T>& contents) {
  Given given{Argument(contents.size() * sizeof(T)), true, false};
  if (!contents.empty()) std::memcpy(given.bytes.data(), contents.data(), given.bytes.size());
  return given;
}
Given uninitialised(std::size_t bytes);

Outcome launch(const Loaded& loaded, const LaunchConfig& launch, const std::vector<Given>& arguments,
               const Options& options = {}, ExecutionListener* listener = nullptr);

}  // namespace warptime::execute::testing
