// What kernels are called, and which kernels a user means by a name or by a regular expression.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

// What a kernel is called.
struct KernelName {
  std::string name;    // in the source: `mtx`, `filter<float>`
  std::string symbol;  // in the PTX
};

// What is wrong with a text that names kernels; empty: nothing. A text is a regular expression (POSIX extended,
// as `grep -E` and clang-tidy take them) where it starts with `regex:`, or where it names no kernel. Errors: a
// malformed expression; one whose matching could take more than about a second for a name of 10,000
// characters; escapes such as `\d`, which these expressions lack.
Diagnostics check_kernel_pattern(const std::string& text);

// The indices of the kernels that `wanted` means, in order; all of them where it is empty. The first of these
// rules that gives any kernel holds: the kernels with this name or symbol; those with this name without
// template arguments and namespaces; those whose whole name matches the regular expression `wanted`. After
// `regex:`, the expression matches any part of the name or of the symbol, as that of `ncu --kernel-name`.
// Errors: no such kernel (lists the kernels and suggests the nearest), those of check_kernel_pattern.
Result<std::vector<std::size_t>> matching_kernels(const std::vector<KernelName>& kernels,
                                                  const std::string& wanted, const std::string& file);

// The one kernel that `wanted` means. Errors: those of matching_kernels, several kernels (lists them; the hint
// is `choose`).
Result<std::size_t> matching_kernel(const std::vector<KernelName>& kernels, const std::string& wanted,
                                    const std::string& file, const std::string& choose);

// The names, each with its symbol where several kernels have the same name (overloads).
std::vector<std::string> distinct_names(const std::vector<KernelName>& kernels);

}  // namespace warptime
