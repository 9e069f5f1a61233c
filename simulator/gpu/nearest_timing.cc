// Timing figures from the GPU of the nearest architecture.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

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

// Figures of the same part of a GPU: the first one is in proportion to the second one, where the GPU has that itself, or
// borrows it from a nearer architecture. So the latencies of a GPU's memory fit each other, although only one of them was
// published.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSamePart = {{
    {"l1_indexed_latency_cycles", "l1_latency_cycles"},
    {"l1_latency_cycles", "l1_indexed_latency_cycles"},
    {"shared_indexed_latency_cycles", "shared_latency_cycles"},
    {"shared_latency_cycles", "shared_indexed_latency_cycles"},
    {"memory_latency_cycles", "memory_large_latency_cycles"},
    {"memory_large_latency_cycles", "memory_latency_cycles"},
    {"memory_cold_latency_cycles", "memory_latency_cycles"},
    {"memory_write_bytes_per_us", "memory_read_bytes_per_us"},
    {"memory_copy_bytes_per_us", "memory_read_bytes_per_us"},
    {"l2_write_bytes_per_us", "l2_read_bytes_per_us"},
}};

// The figure of `nearest`, made one of `gpu`; nothing: one of the two lacks what it is in proportion to.
std::optional<double> scaled(const TimingFigure& figure, const Gpu& gpu, const Gpu& nearest) {
  const auto own = scale_of(figure.scaling, gpu), theirs = scale_of(figure.scaling, nearest);
  if (!own || !theirs) return std::nullopt;
  return *(nearest.timing.*figure.member) * (*own / *theirs);
}

TimingOrigin borrowed_from(const Gpu& nearest, std::string_view in_proportion) {
  TimingOrigin origin;
  origin.source = fmt::format("not measured: that of the {}, the nearest architecture that has it{}",
                              nearest.name, in_proportion);
  origin.borrowed_from = nearest.name;
  return origin;
}

}  // namespace

Gpu with_nearest_timing(Gpu gpu, const GpuCatalogue& catalogue) {
  std::map<std::string_view, const Gpu*> lenders;
  for (const TimingFigure& figure : timing_figures()) {
    if (gpu.timing.*figure.member) continue;
    const Gpu* nearest = nearest_with(figure, gpu, catalogue);
    const auto value = nearest == nullptr ? std::nullopt : scaled(figure, gpu, *nearest);
    if (!value) continue;
    gpu.timing.*figure.member = value;
    gpu.timing_origins[std::string(figure.name)] = borrowed_from(*nearest, in_proportion_to(figure.scaling));
    lenders[figure.name] = nearest;
  }
  const TimingFigures alone = gpu.timing;
  const auto lender_of = [&](std::string_view name) {
    const auto lender = lenders.find(name);
    return lender == lenders.end() ? nullptr : lender->second;
  };
  for (const auto& [name, other] : kSamePart) {
    const TimingFigure &figure = *find_timing_figure(name), &part = *find_timing_figure(other);
    const Gpu* const lender = lender_of(name);
    if (lender == nullptr || lender == lender_of(other)) continue;
    const auto ours = alone.*part.member, theirs = lender->timing.*part.member;
    if (!ours || !theirs) continue;
    gpu.timing.*figure.member = *(lender->timing.*figure.member) * (*ours / *theirs);
    gpu.timing_origins[std::string(name)] =
        borrowed_from(*lender, fmt::format(", in proportion to {}", other));
  }
  return gpu;
}

}  // namespace warptime
