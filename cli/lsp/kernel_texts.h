// Where the kernels of a source are in its text, found without compiling it: so that an edit in one kernel is an analysis of
// that kernel alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

// A __global__ function with a body.
struct KernelText {
  std::string name;                   // as it stands before the parameters
  std::size_t begin = 0;              // of `__global__`
  std::size_t body = 0;               // of its `{`
  std::size_t end = 0;                // behind its `}`
  int first_line = 1, last_line = 1;  // of `__global__` and of `}`, from 1
};

// In order. What comments, strings and preprocessor directives hold is no kernel; one that macros write is not found, nor is
// one that no brace ends.
std::vector<KernelText> find_kernel_texts(std::string_view text);

// The text with the body of each kernel whose `keep` is false replaced by `instead` and as many lines; it stays a
// declaration. As long as `keep` is kernels.
std::string without_bodies(std::string_view text, const std::vector<KernelText>& kernels,
                           const std::vector<bool>& keep, std::string_view instead);

}  // namespace warptime::cli
