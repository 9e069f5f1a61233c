// The GPU catalogue: one YAML file per GPU in catalogue/, compiled into the library, extendable by a folder of the
// user's.
//
//   warptime: 1                        # optional: the version of the format
//   name: rtx-2080                     # lower case, digits and hyphens
//   title: NVIDIA GeForce RTX 2080
//   description: …                     # optional: what a reader should know about the figures
//   validated: true                    # optional, false: whether measurements of this GPU stand behind t_p
//                                      # and t_m
//   compute_capability: {value: 7.5, source: "…"}
//   clock_mhz: {value: 1545, source: "…"}
//   …                                  # the same for the other figures of gpu_figures()
//   memory_cycles:                     # optional: default durations; paper_durations() where absent
//     load: {uniform: 10, coalesced: 120, strided: 120, scattered: 160}
//     store: {uniform: 100, coalesced: 100, strided: 100, scattered: 100}
//     source: "…"
//   luo_suda: …                        # optional: luo_suda_figures.h
//   copies: …                          # optional: copy_figures.h
//   timing: …                          # optional: timing_figures.h
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/gpu/copy_figures.h"
#include "simulator/gpu/luo_suda_figures.h"
#include "simulator/gpu/timing_figures.h"
#include "simulator/program/schedule.h"

namespace warptime {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

struct Gpu {
  static constexpr int format_version = 1;
  std::string name;         // rtx-2080
  std::string title;        // NVIDIA GeForce RTX 2080
  std::string description;  // a note for the reader, may be empty
  ComputeCapability compute_capability;
  // Table 3's columns, with Puchala et al.'s symbols:
  double clock_mhz = 0;              // F
  int sms = 0;                       // N_sm
  int cores_per_sm = 0;              // N_c/sm
  int max_blocks_per_sm = 0;         // L_b/sm
  int max_warps_per_sm = 0;          // L_w/sm
  int warp_size = 32;                // N_t/w
  int max_threads_per_block = 1024;  // L_t/b
  // Limits of the SM, if the file gives them; otherwise compute_limits() (occupancy.h) has those of the
  // compute capability.
  std::optional<std::int64_t> registers_per_sm;        // of 32 bits
  std::optional<std::int64_t> shared_bytes_per_sm;     // shared memory, the maximum configuration
  std::optional<std::int64_t> shared_bytes_per_block;  // the maximum for one block
  std::optional<double> memory_bandwidth_gb_s;         // peak of the device memory, 10^9 bytes per second
  std::optional<std::int64_t> l2_bytes;
  // Defaults for kernels that nobody has calibrated.
  double t_p_us = 0;
  double t_m_cycles = 0;
  MemoryDurations durations;
  bool validated = false;                  // whether its t_p and t_m come from measurements of this GPU
  std::optional<LuoSudaFigures> luo_suda;  // for the second model; absent: the figures are borrowed
  std::optional<CopyFigures> copies;       // between host and device; absent: nobody knows
  TimingFigures timing;                    // those that its file has, or with_nearest_timing() gave it
  TimingOrigins timing_origins;
  std::map<std::string, std::string> sources;  // field name as in the file -> where the figure comes from

  // Rounded down: 48 cores are one. 0 for fewer than 32 cores: see check_core_packages.
  int core_packages_per_sm() const { return cores_per_sm / 32; }
};

// One figure of a GPU: its name in the file, in JSON and in CSV, and its range.
struct GpuFigure {
  enum class Range : std::uint8_t { positive, not_negative, count, bytes };
  std::string name;        // clock_mhz, load.coalesced
  std::string short_name;  // clock: for the command line; empty: none
  std::string unit;        // MHz, µs, cycles, bytes, …; empty: a count
  Range range = Range::positive;
  bool required = true;                                // whether a file must have it
  std::optional<double> (*get)(const Gpu&) = nullptr;  // nothing: the file does not say
  void (*set)(Gpu&, double) = nullptr;
};
// Table 3's first, in its order, with t_p and t_m; then those of the SM and of memory; the memory durations
// (load.uniform, …, store.scattered: parts of the file's `memory_cycles`) last.
std::span<const GpuFigure> gpu_figures();

// Errors (with line and column): not YAML, a missing or unknown field, a figure without a source, one that is
// not a positive number (t_p and t_m may be 0), a warp size other than 32.
Result<Gpu> read_gpu(std::string_view text, const std::string& file);

// `gpu` with one figure changed, its source "set on the command line"; the result is not validated. `name` is
// that of gpu_figures() or its short form (clock, t_p, t_m), "luo_suda." with one of luo_suda_figures(), "copies."
// with one of copy_figures(), or "timing." with one of timing_figures().
// Errors: an unknown name (the hint is the nearest one), a value that a file could not have either.
Result<Gpu> with_figure(Gpu gpu, std::string_view name, double value);

// Errors: an SM of fewer than 32 cores (compute capability 1.x has 8), which takes more than one cycle to
// issue an instruction of a warp. The core package of Puchala et al. (2022), section 4, is 32 cores that
// issue one per cycle, so that the model does not hold there. Otherwise empty.
Diagnostics check_core_packages(const Gpu& gpu);

class GpuCatalogue {
 public:
  // The GPUs that are compiled in.
  static const GpuCatalogue& bundled();
  // The bundled ones and every *.yaml of `folder` (one of the same name replaces the bundled one).
  static Result<GpuCatalogue> with_folder(const std::string& folder);

  const std::vector<Gpu>& gpus() const { return gpus_; }  // by compute capability, then name
  // Those that pass check_core_packages, in the same order.
  std::vector<const Gpu*> with_core_packages() const;
  // Error: an unknown name, with the nearest known one as the hint.
  Result<const Gpu*> find(std::string_view name) const;

 private:
  void add(Gpu gpu);
  std::vector<Gpu> gpus_;
};

// `gpu` with the timing figures that it does not have from the catalogue's GPU of the nearest architecture that
// has them itself (of the same major compute capability, if there is one), measured or published. A borrowed
// figure is in proportion to another one of the same part of the GPU, where `gpu` has that one itself or borrows
// it from a nearer architecture, or else to what TimingFigure::Scaling says. A figure stays absent where no GPU
// has it, or where one of the two has not what it is in proportion to. The origins of borrowed figures say whose
// they are.
Gpu with_nearest_timing(Gpu gpu, const GpuCatalogue& catalogue);

}  // namespace warptime
