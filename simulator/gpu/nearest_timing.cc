// Timing figures from the GPU of the nearest architecture.
#include <fmt/format.h>

#include <cstdlib>

#include "simulator/gpu/gpu.h"

namespace warptime {
namespace {

using Scaling = TimingFigure::Scaling;

// How far one architecture is from another: one of another major version is further than any of the same one.
int distance_between(const ComputeCapability& a, const ComputeCapability& b) {
  constexpr int kMajor = 100;
  const int minors = 10 * (a.major - b.major) + a.minor - b.minor;
  return kMajor * std::abs(a.major - b.major) + std::abs(minors);
}

// The GPU of the nearest architecture that has the figure itself; null: none. Of equals the one with the most
// figures, so that they belong together.
const Gpu* nearest_with(const TimingFigure& figure, const Gpu& gpu, const GpuCatalogue& catalogue) {
  const Gpu* nearest = nullptr;
  const auto is_nearer = [&](const Gpu& one) {
    if (nearest == nullptr) return true;
    const int distance = distance_between(one.compute_capability, gpu.compute_capability);
    const int least = distance_between(nearest->compute_capability, gpu.compute_capability);
    if (distance != least) return distance < least;
    return one.timing_origins.size() > nearest->timing_origins.size();
  };
  for (const Gpu& one : catalogue.gpus())
    if (one.name != gpu.name && one.timing_origins.contains(figure.name) && is_nearer(one)) nearest = &one;
  return nearest;
}

// What the figure is in proportion to; nothing: the GPU's file does not say.
std::optional<double> scale_of(Scaling scaling, const Gpu& gpu) {
  const auto number = [](const auto& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  switch (scaling) {
    case Scaling::same:
      return 1;
    case Scaling::clock:
      return gpu.clock_mhz;
    case Scaling::sm_cycles:
      return gpu.sms * gpu.clock_mhz;
    case Scaling::memory_bandwidth:
      return gpu.memory_bandwidth_gb_s;
    case Scaling::shared_bytes:
      return number(gpu.shared_bytes_per_sm);
    case Scaling::l2_bytes:
      return number(gpu.l2_bytes);
    case Scaling::never:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view in_proportion_to(Scaling scaling) {
  switch (scaling) {
    case Scaling::clock:
      return ", in proportion to the clock";
    case Scaling::sm_cycles:
      return ", in proportion to the SMs and the clock";
    case Scaling::memory_bandwidth:
      return ", in proportion to memory_bandwidth_gb_s";
    case Scaling::shared_bytes:
      return ", in proportion to shared_bytes_per_sm";
    case Scaling::l2_bytes:
      return ", in proportion to l2_bytes";
    case Scaling::same:
    case Scaling::never:
      return "";
  }
  return "";
}

}  // namespace

Gpu with_nearest_timing(Gpu gpu, const GpuCatalogue& catalogue) {
  for (const TimingFigure& figure : timing_figures()) {
    if (gpu.timing.*figure.member) continue;
    const Gpu* nearest = nearest_with(figure, gpu, catalogue);
    if (nearest == nullptr) continue;
    const auto own = scale_of(figure.scaling, gpu), theirs = scale_of(figure.scaling, *nearest);
    if (!own || !theirs) continue;
    gpu.timing.*figure.member = *(nearest->timing.*figure.member) * (*own / *theirs);
    TimingOrigin& origin = gpu.timing_origins[std::string(figure.name)];
    origin.source = fmt::format("not measured: that of the {}, the nearest architecture that has it{}",
                                nearest->name, in_proportion_to(figure.scaling));
    origin.borrowed_from = nearest->name;
  }
  return gpu;
}

}  // namespace warptime
