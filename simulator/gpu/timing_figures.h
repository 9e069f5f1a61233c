// What the latencies, rates, bandwidths and sizes of a GPU's parts are: measured by `warptime measure --device`,
// or published. Models of single instructions read them. In a GPU's file:
//
//   timing:
//     source: "warptime measure --device on an NVIDIA H100 80GB HBM3 (driver 580.159.04)"
//     date: 2026-11-22                 # optional: when they were measured
//     l1_latency_cycles: {value: 39.6, spread: 0.1}  # spread, date and source are optional
//     l2_latency_cycles: {value: 273, source: "…"}   # those of the section where absent
//     …
//
// The section and every figure of it are optional. with_nearest_timing() gives a GPU the figures that its
// file does not have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warptime {

namespace yaml {
class Reader;
struct Node;
}  // namespace yaml

// Cycles are those of the SMs' clock. Nothing: the file does not say.
struct TimingFigures {
  using Figure = std::optional<double>;
  // Latencies: one thread or one warp, each step waits for the one before.
  Figure l1_latency_cycles;
  Figure l1_indexed_latency_cycles;
  Figure l2_latency_cycles;
  Figure memory_latency_cycles;
  Figure memory_large_latency_cycles;
  Figure memory_cold_latency_cycles;
  Figure store_load_latency_cycles;
  Figure store_load_l1_latency_cycles;
  Figure constant_latency_cycles;
  Figure global_atomic_latency_cycles;
  Figure shared_atomic_latency_cycles;
  Figure shared_latency_cycles;
  Figure shared_indexed_latency_cycles;
  Figure shared_latency_2_ways_cycles;
  Figure shared_latency_4_ways_cycles;
  Figure shared_latency_8_ways_cycles;
  Figure shared_latency_16_ways_cycles;
  Figure shared_latency_32_ways_cycles;
  // Instructions: one after another in a warp, and how long a partition of the SM is busy with one of a warp.
  Figure fma_f32_latency_cycles;
  Figure fma_f32_issue_cycles;
  Figure add_s32_latency_cycles;
  Figure add_s32_issue_cycles;
  Figure mad_s32_latency_cycles;
  Figure mad_s32_issue_cycles;
  Figure fma_f64_latency_cycles;
  Figure fma_f64_issue_cycles;
  Figure div_f32_latency_cycles;
  Figure div_f32_issue_cycles;
  Figure sqrt_f32_latency_cycles;
  Figure sqrt_f32_issue_cycles;
  Figure rcp_f32_latency_cycles;
  Figure rcp_f32_issue_cycles;
  Figure ex2_f32_latency_cycles;
  Figure ex2_f32_issue_cycles;
  Figure sin_f32_latency_cycles;
  Figure sin_f32_issue_cycles;
  Figure div_s32_latency_cycles;
  Figure div_s32_issue_cycles;
  Figure div_s64_latency_cycles;
  Figure div_s64_issue_cycles;
  Figure convert_latency_cycles;
  Figure convert_issue_cycles;
  Figure shuffle_latency_cycles;
  Figure shuffle_issue_cycles;
  Figure vote_latency_cycles;
  Figure vote_issue_cycles;
  Figure popc_latency_cycles;
  Figure popc_issue_cycles;
  // Loads of one SM at full rate: cycles of the SM for one load instruction of a warp.
  Figure shared_load_cycles;
  Figure shared_load_32_ways_cycles;
  Figure l1_coalesced_load_cycles;
  Figure l1_strided_load_cycles;
  Figure l1_scattered_load_cycles;
  Figure shared_atomic_one_address_cycles;
  // Barriers, by the threads of the block.
  Figure barrier_32_cycles;
  Figure barrier_64_cycles;
  Figure barrier_128_cycles;
  Figure barrier_256_cycles;
  Figure barrier_512_cycles;
  Figure barrier_1024_cycles;
  // Starts of blocks that do next to nothing, on the whole GPU, by the threads of the block; with few
  // registers per thread or with 64.
  Figure block_starts_32_per_us;
  Figure block_starts_32_many_registers_per_us;
  Figure block_starts_128_per_us;
  Figure block_starts_128_many_registers_per_us;
  Figure block_starts_256_per_us;
  Figure block_starts_256_many_registers_per_us;
  Figure block_starts_1024_per_us;
  Figure block_starts_1024_many_registers_per_us;
  // Launches.
  Figure empty_kernel_us;
  Figure small_kernel_us;
  Figure one_block_kernel_us;
  Figure all_sms_us;
  Figure launch_gap_us;
  Figure launch_us;
  Figure event_launch_us;
  // Bandwidths of the whole GPU, but for those of one SM. A copy counts the bytes that it reads and those
  // that it writes.
  Figure memory_read_bytes_per_us;
  Figure memory_write_bytes_per_us;
  Figure memory_copy_bytes_per_us;
  Figure l2_read_bytes_per_us;
  Figure l2_write_bytes_per_us;
  Figure memory_read_1_warp_bytes_per_us;
  Figure memory_read_4_warps_bytes_per_us;
  Figure memory_read_16_warps_bytes_per_us;
  Figure memory_read_1_sm_bytes_per_us;
  Figure l2_read_1_sm_bytes_per_us;
  Figure l1_read_bytes_per_cycle;
  // Atomics on global memory: atomics of threads of the whole GPU.
  Figure atomic_one_address_per_us;
  Figure atomic_warp_address_per_us;
  Figure atomic_own_address_per_us;
  // Effective sizes: the largest footprint that a chain of loads finds in the cache.
  Figure l1_capacity_bytes;
  Figure l2_capacity_bytes;
  // The clock of the SMs while they were measured.
  Figure measured_clock_mhz;
};

// Where a figure comes from.
struct TimingOrigin {
  std::string source;
  std::string date;              // 2026-11-22; empty: not known
  std::optional<double> spread;  // the interquartile range of repeated measurements, in the figure's unit
  std::string borrowed_from;     // the name of the GPU that has the figure; empty: it is this GPU's own
  friend bool operator==(const TimingOrigin&, const TimingOrigin&) = default;
};

// By the name of the figure, for those that the GPU has.
using TimingOrigins = std::map<std::string, TimingOrigin, std::less<>>;

// One of the figures.
struct TimingFigure {
  // How the figure of one GPU becomes that of another of the nearest architecture: in proportion to what.
  enum class Scaling : std::uint8_t {
    same,              // it stays as it is
    clock,             // the clock
    sm_cycles,         // the number of SMs, times the clock
    memory_bandwidth,  // memory_bandwidth_gb_s
    shared_bytes,      // shared_bytes_per_sm
    l2_bytes,          // l2_bytes
    never              // it says nothing of another GPU
  };
  std::string_view name;  // in the section
  std::string_view unit;  // cycles, µs, bytes, bytes/µs, …
  std::string_view what;  // "a load that hits L1"
  Scaling scaling = Scaling::same;
  std::optional<double> TimingFigures::*member = nullptr;
};
std::span<const TimingFigure> timing_figures();
const TimingFigure* find_timing_figure(std::string_view name);  // null: there is none of this name
// Why such a value is wrong, as a sentence; empty if it is not.
std::string out_of_range(const TimingFigure& figure, double value);

// Reads the section of a GPU's file. Errors, which go to `reader`: an unknown field, a figure without a
// source, a figure that is not positive, a negative spread, a date that is not written like 2026-11-22.
TimingFigures read_timing_figures(yaml::Reader& reader, const yaml::Node& section, TimingOrigins& origins);

// The section as it stands in a GPU's file; empty if there is no figure. Borrowed figures are omitted.
std::string to_yaml(const TimingFigures& figures, const TimingOrigins& origins);

}  // namespace warptime
