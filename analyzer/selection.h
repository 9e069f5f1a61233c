// Which kernels of a file, and which lines of its source, an analysis is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/pipeline.h"
#include "analyzer/ptx/module.h"
#include "analyzer/regions.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

struct ChosenKernel {
  std::uint32_t function = 0;                  // index into Module::functions
  std::string name;                            // `mtx`, `filter<float>`: as in the source
  const KernelSignature* signature = nullptr;  // null if the source is unknown
};

// Those that AnalyzeOptions::kernel means (kernel_names.h), in the file's order. Errors: no kernel, none that
// it means.
Result<std::vector<ChosenKernel>> choose_kernels(const Source& source, const ptx::Module& module,
                                                 const AnalyzeOptions& options);

struct ChosenLines {
  LineSet lines;                // only these; empty: all
  std::vector<Region> regions;  // of the source, chosen or not
};

// The lines of `options` with those of its region. Errors: unclosed regions, no region of that name.
Result<ChosenLines> choose_lines(const Source& source, const AnalyzeOptions& options);

}  // namespace warptime
