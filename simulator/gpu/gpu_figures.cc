// What figures a GPU has, what each may be, and changing one.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "simulator/base/did_you_mean.h"
#include "simulator/gpu/gpu.h"
#include "simulator/gpu/gpu_range.h"

namespace warptime {
namespace {

using Range = GpuFigure::Range;

template <auto member>
GpuFigure required(const char* name, const char* short_name, const char* unit, Range range) {
  return {name,
          short_name,
          unit,
          range,
          true,
          [](const Gpu& gpu) -> std::optional<double> { return static_cast<double>(gpu.*member); },
          [](Gpu& gpu, double value) {
            gpu.*member = static_cast<std::remove_reference_t<decltype(gpu.*member)>>(value);
          }};
}

template <auto member>
GpuFigure optional(const char* name, const char* unit, Range range) {
  return {name,
          "",
          unit,
          range,
          false,
          [](const Gpu& gpu) -> std::optional<double> {
            if (!(gpu.*member)) return std::nullopt;
            return static_cast<double>(*(gpu.*member));
          },
          [](Gpu& gpu, double value) {
            gpu.*member =
                static_cast<typename std::remove_reference_t<decltype(gpu.*member)>::value_type>(value);
          }};
}

template <auto table, Access access>
GpuFigure duration(const char* kind) {
  constexpr auto place = static_cast<std::size_t>(access);
  return {fmt::format("{}.{}", kind, to_string(access)),
          "",
          "cycles",
          Range::not_negative,
          false,
          [](const Gpu& gpu) -> std::optional<double> { return (gpu.durations.*table)[place]; },
          [](Gpu& gpu, double value) { (gpu.durations.*table)[place] = value; }};
}

template <auto table>
void add_durations(std::vector<GpuFigure>& figures, const char* kind) {
  figures.push_back(duration<table, Access::uniform>(kind));
  figures.push_back(duration<table, Access::coalesced>(kind));
  figures.push_back(duration<table, Access::strided>(kind));
  figures.push_back(duration<table, Access::scattered>(kind));
}

std::vector<GpuFigure> make_figures() {
  std::vector<GpuFigure> figures = {
      required<&Gpu::clock_mhz>("clock_mhz", "clock", "MHz", Range::positive),
      required<&Gpu::sms>("sms", "", "", Range::count),
      required<&Gpu::cores_per_sm>("cores_per_sm", "", "", Range::count),
      required<&Gpu::max_blocks_per_sm>("max_blocks_per_sm", "", "", Range::count),
      required<&Gpu::max_warps_per_sm>("max_warps_per_sm", "", "", Range::count),
      required<&Gpu::max_threads_per_block>("max_threads_per_block", "", "", Range::count),
      required<&Gpu::t_p_us>("t_p_us", "t_p", "µs", Range::not_negative),
      required<&Gpu::t_m_cycles>("t_m_cycles", "t_m", "cycles", Range::not_negative),
      required<&Gpu::warp_size>("warp_size", "", "", Range::count),
      optional<&Gpu::registers_per_sm>("registers_per_sm", "", Range::count),
      optional<&Gpu::shared_bytes_per_sm>("shared_bytes_per_sm", "bytes", Range::bytes),
      optional<&Gpu::shared_bytes_per_block>("shared_bytes_per_block", "bytes", Range::bytes),
      optional<&Gpu::memory_bandwidth_gb_s>("memory_bandwidth_gb_s", "GB/s", Range::positive),
      optional<&Gpu::l2_bytes>("l2_bytes", "bytes", Range::bytes)};
  add_durations<&MemoryDurations::load>(figures, "load");
  add_durations<&MemoryDurations::store>(figures, "store");
  return figures;
}

const GpuFigure* figure_named(std::string_view name) {
  for (const GpuFigure& figure : gpu_figures())
    if (name == figure.name || (!figure.short_name.empty() && name == figure.short_name)) return &figure;
  return nullptr;
}

Diagnostics unknown_figure(std::string_view name) {
  std::vector<std::string> known;
  for (const GpuFigure& figure : gpu_figures()) {
    known.push_back(figure.name);
    if (!figure.short_name.empty()) known.push_back(figure.short_name);
  }
  const std::string near = nearest(name, known);
  return Diagnostics{error(fmt::format("a GPU has no figure `{}`", name),
                           near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                        : fmt::format("did you mean `{}`?", near))};
}

constexpr std::string_view kLuoSuda = "luo_suda.";
constexpr std::string_view kTiming = "timing.";
constexpr std::string_view kCopies = "copies.";

Result<Gpu> with_timing_figure(Gpu gpu, std::string_view name, double value) {
  const TimingFigure* figure = find_timing_figure(name.substr(kTiming.size()));
  if (figure == nullptr) {
    std::vector<std::string> known;
    for (const TimingFigure& one : timing_figures()) known.emplace_back(one.name);
    const std::string near = nearest(name.substr(kTiming.size()), known);
    return error(fmt::format("a GPU has no timing figure `{}`", name.substr(kTiming.size())),
                 near.empty() ? "`warptime gpus h100-sxm` lists them"
                              : fmt::format("did you mean `{}{}`?", kTiming, near));
  }
  if (const std::string wrong = out_of_range(*figure, value); !wrong.empty()) return error(wrong);
  gpu.timing.*figure->member = value;
  gpu.timing_origins[std::string(figure->name)] = {"set on the command line", {}, {}, {}};
  return gpu;
}

// One of the figures of copies.
Result<Gpu> with_copy_figure(Gpu gpu, std::string_view name, double value) {
  if (!gpu.copies)
    return error(fmt::format("{} has no figures of copies", gpu.name),
                 "a file with `copies` in a folder that --gpu-dir names gives them");
  std::vector<std::string> known;
  for (const CopyFigure& figure : copy_figures()) {
    known.emplace_back(figure.name);
    if (name.substr(kCopies.size()) != figure.name) continue;
    if (const std::string wrong = out_of_range(figure, value); !wrong.empty()) return error(wrong);
    (*gpu.copies).*figure.member = value;
    gpu.sources["copies"] += fmt::format("; {} set on the command line", figure.name);
    return gpu;
  }
  return error(fmt::format("copies have no figure `{}`", name.substr(kCopies.size())),
               fmt::format("there are {}", fmt::join(known, ", ")));
}

// One of the other model's figures, but for Table 1.
Result<Gpu> with_luo_suda_figure(Gpu gpu, std::string_view name, double value) {
  if (!gpu.luo_suda)
    return error(fmt::format("{} has no figures of Luo and Suda's model", gpu.name),
                 "`--model luo-suda` or `--model all` uses those of the GTX 260");
  std::vector<std::string> known;
  for (const LuoSudaFigure& figure : luo_suda_figures()) {
    known.emplace_back(figure.name);
    if (name.substr(kLuoSuda.size()) != figure.name) continue;
    if (const std::string wrong = out_of_range(figure, value); !wrong.empty()) return error(wrong);
    (*gpu.luo_suda).*figure.member = value;
    gpu.sources[std::string(name)] = "set on the command line";
    gpu.validated = false;
    return gpu;
  }
  return error(fmt::format("Luo and Suda's model has no figure `{}`", name.substr(kLuoSuda.size())),
               fmt::format("there are {}", fmt::join(known, ", ")));
}

}  // namespace

std::span<const GpuFigure> gpu_figures() {
  static const std::vector<GpuFigure> figures = make_figures();
  return figures;
}

std::string out_of_range(const GpuFigure& figure, double value) {
  const auto wrong = [&](const std::string& what) {
    return fmt::format("`{}` is {}: it must be {}", figure.name, value, what);
  };
  const bool is_whole = figure.range == Range::count || figure.range == Range::bytes;
  const double least = is_whole ? 1 : 0;
  const double most = figure.range == Range::count   ? kLargestCount
                      : figure.range == Range::bytes ? kLargestBytes
                                                     : std::numeric_limits<double>::max();
  if (figure.range == Range::positive && !(value > 0)) return wrong("greater than 0");
  if (!(value >= least)) return wrong(fmt::format("at least {}", least));
  if (is_whole && (value != std::floor(value) || value > most))
    return wrong(fmt::format("a whole number of at most {}", static_cast<std::int64_t>(most)));
  if (value > most) return wrong("a finite number");
  if (figure.name == "warp_size" && value != 32)
    return fmt::format("`warp_size` is {}: the model needs warps of 32 threads", value);
  return {};
}

Result<Gpu> with_figure(Gpu gpu, std::string_view name, double value) {
  if (name.starts_with(kLuoSuda)) return with_luo_suda_figure(std::move(gpu), name, value);
  if (name.starts_with(kCopies)) return with_copy_figure(std::move(gpu), name, value);
  if (name.starts_with(kTiming)) return with_timing_figure(std::move(gpu), name, value);
  const GpuFigure* figure = figure_named(name);
  if (figure == nullptr) return unknown_figure(name);
  if (const std::string wrong = out_of_range(*figure, value); !wrong.empty()) return error(wrong);
  figure->set(gpu, value);
  gpu.sources[figure->name] = "set on the command line";
  gpu.validated = false;
  return gpu;
}

Diagnostics check_core_packages(const Gpu& gpu) {
  if (gpu.core_packages_per_sm() >= 1) return {};
  return {error(
      fmt::format("{} has {} cores per SM: the model's core package is 32 cores, which issue an instruction "
                  "of a warp in one cycle; an SM of {} cores takes {} cycles",
                  gpu.name, gpu.cores_per_sm, gpu.cores_per_sm,
                  (32 + gpu.cores_per_sm - 1) / gpu.cores_per_sm),
      "the model of Luo and Suda, `--model luo-suda`, was made on such a GPU")};
}

}  // namespace warptime
