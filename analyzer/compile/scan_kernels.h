// Kernels of a source that clang does not parse, from its words alone, and from the names in the PTX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::compiling {

// A function's name in the source, without its parameters: `mtx` of `_Z3mtxiiPfS_S_`, `ns::filter<float>` of a template, the
// symbol itself where it is not mangled.
std::string function_name(const std::string& symbol);

// Every `__global__ … name(parameters)`, with its line; the symbols are left empty.
std::vector<KernelSignature> scan_kernels(std::string_view text);

// The .entry names of `ptx`, in its order.
std::vector<std::string> entries_of(std::string_view ptx);

// One signature for each entry of `ptx`: the one of `known` with that symbol, else one of `scanned` with the
// name that the symbol demangles to, else arg0, arg1, … In the order of the source.
std::vector<KernelSignature> match_kernels(std::string_view ptx, const std::vector<KernelSignature>& known,
                                           const std::vector<KernelSignature>& scanned);

}  // namespace warptime::compiling
