#include "analyzer/selection.h"

#include <fmt/format.h>

#include "analyzer/compile/scan_kernels.h"
#include "analyzer/kernel_names.h"

namespace warptime {
namespace {

const KernelSignature* signature_of(const Source& source, std::string_view symbol) {
  for (const auto& kernel : source.kernels)
    if (kernel.symbol == symbol) return &kernel;
  return nullptr;
}

std::string kernel_name(const KernelSignature* signature, const ptx::Function& function) {
  return signature != nullptr ? signature->name : compiling::function_name(std::string(function.name));
}

}  // namespace

Result<std::vector<ChosenKernel>> choose_kernels(const Source& source, const ptx::Module& module,
                                                 const AnalyzeOptions& options) {
  std::vector<ChosenKernel> all, chosen;
  std::vector<KernelName> names;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    const auto& function = module.functions[f];
    if (!function.entry || function.declaration) continue;
    const auto* signature = signature_of(source, function.name);
    all.push_back({f, kernel_name(signature, function), signature});
    names.push_back({all.back().name, std::string(function.name)});
  }
  if (all.empty())
    return error_at(source.file, 0, 0, "no kernel in this file",
                    "a kernel is a __global__ function (.entry in PTX)");
  const auto found = matching_kernels(names, options.kernel, source.file);
  if (!found) return found.diagnostics();
  for (const std::size_t i : *found) chosen.push_back(all[i]);
  return chosen;
}

Result<ChosenLines> choose_lines(const Source& source, const AnalyzeOptions& options) {
  ChosenLines chosen{options.lines, {}};
  if (source.text.empty() && options.region.empty()) return chosen;
  auto regions = find_regions(source.text, source.file);
  if (!regions) return regions.diagnostics();
  chosen.regions = std::move(*regions);
  if (options.region.empty()) return chosen;
  std::vector<std::string> names;
  for (const auto& region : chosen.regions) {
    names.push_back(region.name);
    if (region.name != options.region) continue;
    chosen.lines.add(region.lines);
    return chosen;
  }
  if (names.empty())
    return error_at(source.file, 0, 0, fmt::format("no region `{}`: the source has none", options.region),
                    "a region is what stands between `// warptime-begin NAME` and `// warptime-end NAME`");
  return error_at(source.file, 0, 0,
                  fmt::format("no region `{}`; there are: {}", options.region, fmt::join(names, ", ")));
}

}  // namespace warptime
