// The GPU catalogue: one YAML file per GPU in gpus/, compiled into the library, extendable by a folder of the
// user's.
//
//   name: rtx-2080                     # lower case, digits and hyphens
//   title: NVIDIA GeForce RTX 2080
//   description: …                     # optional: what a reader should know about the figures
//   validated: true                    # optional, false: whether measurements of this GPU stand behind t_p
//   and t_m compute_capability: {value: 7.5, source: "…"} clock_mhz: {value: 1545, source: "…"} … # the same
//   for sms, cores_per_sm, max_blocks_per_sm, max_warps_per_sm, warp_size,
//                                      # max_threads_per_block, t_p_us and t_m_cycles
//   memory_cycles:                     # optional: default durations; paper_durations() where absent
//     load: {uniform: 10, coalesced: 120, strided: 120, scattered: 160}
//     store: {uniform: 100, coalesced: 100, strided: 100, scattered: 100}
//     source: "…"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule.h"

namespace warptime {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

struct Gpu {
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
  // Defaults for kernels that nobody has calibrated.
  double t_p_us = 0;
  double t_m_cycles = 0;
  MemoryDurations durations;
  bool validated = false;  // whether measurements of this GPU stand behind its t_p and t_m
  std::map<std::string, std::string> sources;  // field name as in the file -> where the figure comes from

  int core_packages_per_sm() const { return cores_per_sm / 32; }
};

// Errors (with line and column): not YAML, a missing or unknown field, a figure without a source, one that is
// not a positive number (t_p and t_m may be 0), cores_per_sm below 32, a warp size other than 32.
Result<Gpu> read_gpu(std::string_view text, const std::string& file);

class GpuCatalogue {
 public:
  // The GPUs that are compiled in.
  static const GpuCatalogue& bundled();
  // The bundled ones and every *.yaml of `folder` (one of the same name replaces the bundled one).
  static Result<GpuCatalogue> with_folder(const std::string& folder);

  const std::vector<Gpu>& gpus() const { return gpus_; }  // by compute capability, then name
  // Error: an unknown name, with the nearest known one as the hint.
  Result<const Gpu*> find(std::string_view name) const;

 private:
  void add(Gpu gpu);
  std::vector<Gpu> gpus_;
};

}  // namespace warptime
