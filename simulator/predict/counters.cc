#include "simulator/predict/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "simulator/gpu/occupancy.h"
#include "simulator/program/walk.h"
#include "simulator/sm/memory_levels.h"

namespace warptime {
namespace {

// One launch and what is known of it.
struct Counted {
  const LaunchWork& work;
  const Gpu& gpu;
  KernelResources resources;
  Occupancy occupancy;
  CacheState caches = CacheState::warm;
  std::optional<MemoryLevels> levels;
  bool machine_known = false;
};

using Value = std::optional<double>;

double loads_of(const Counted& of) {
  if (of.levels) return of.levels->l1_loads;
  const WarpTotals& total = of.work.whole->warps.total;
  return total.load_sectors - total.atomic_sectors + total.copy_sectors;
}

double stores_of(const Counted& of) {
  if (of.levels) return of.levels->l1_stores;
  const WarpTotals& total = of.work.whole->warps.total;
  return total.store_sectors - total.reduction_sectors - total.copy_sectors;
}

double local_loads_of(const Counted& of) {
  return of.levels ? of.levels->l1_local_loads : of.work.whole->warps.total.local_load_sectors;
}

double local_stores_of(const Counted& of) {
  return of.levels ? of.levels->l1_local_stores : of.work.whole->warps.total.local_store_sectors;
}

double sectors_of(const Counted& of) {
  const WarpTotals& total = of.work.whole->warps.total;
  const double atomics = of.levels ? of.levels->l2_atomics : total.atomic_sectors + total.reduction_sectors;
  return loads_of(of) + stores_of(of) + atomics + local_loads_of(of) + local_stores_of(of);
}

Value percent(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return 100 * part / whole;
}

template <double MemoryLevels::*field>
Value level_of(const Counted& of) {
  if (!of.levels) return std::nullopt;
  return *of.levels.*field;
}

using Compute = Value (*)(const Counted&);

// The loop of an addition of floating-point numbers in shared memory: load, add, exchange, compare and two of the branch.
constexpr double kOfExchangeRound = 6;

double further_exchanges(const Counted& of) {
  return of.levels ? of.levels->exchange_rounds : 0;
}

Value pipe_of(const Counted& of, Pipe pipe) {
  if (!of.machine_known) return std::nullopt;
  const double in_loops = pipe == Pipe::lsu ? 2 : pipe == Pipe::alu ? 1 : 0;
  return of.work.whole->warps.total.machine[pipe] + in_loops * further_exchanges(of);
}

template <Pipe pipe>
Value instructions_of(const Counted& of) {
  return pipe_of(of, pipe);
}

Value limit(const std::optional<std::int64_t>& blocks) {
  if (!blocks) return std::nullopt;
  return static_cast<double>(*blocks);
}

struct Line {
  Metric metric;
  Compute compute;
};

constexpr std::array kLines = {
    Line{{"smsp__inst_executed.sum", "inst", "instructions of warps"},
         [](const Counted& of) -> Value {
           return of.work.whole->warps.total.machine.total() + kOfExchangeRound * further_exchanges(of);
         }},
    Line{{"sm__inst_executed_pipe_alu.sum", "inst", "on the ALU pipe"}, instructions_of<Pipe::alu>},
    Line{{"sm__inst_executed_pipe_fma.sum", "inst", "on the FMA pipes"}, instructions_of<Pipe::fma>},
    Line{{"sm__inst_executed_pipe_fp64.sum", "inst", "on the FP64 pipe"}, instructions_of<Pipe::fp64>},
    Line{{"sm__inst_executed_pipe_fp16.sum", "inst", "on the FP16 pipe"}, instructions_of<Pipe::fp16>},
    Line{{"sm__inst_executed_pipe_xu.sum", "inst", "on the XU pipe"}, instructions_of<Pipe::xu>},
    Line{{"sm__inst_executed_pipe_lsu.sum", "inst", "on the LSU pipe"}, instructions_of<Pipe::lsu>},
    Line{{"sm__inst_executed_pipe_tensor.sum", "inst", "on the tensor pipe"}, instructions_of<Pipe::tensor>},
    Line{{"sm__inst_executed_pipe_uniform.sum", "inst", "on the uniform pipe"},
         instructions_of<Pipe::uniform>},
    Line{{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "global loads of warps"},
         [](const Counted& of) -> Value {
           const WarpTotals& total = of.work.whole->warps.total;
           return total.loads + total.more_loads - total.atomics + total.copies;
         }},
    Line{{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "global stores of warps"},
         [](const Counted& of) -> Value {
           const WarpTotals& total = of.work.whole->warps.total;
           return total.stores + total.more_stores - total.reductions - total.copies;
         }},
    Line{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "sectors of global loads"},
         [](const Counted& of) -> Value { return loads_of(of); }},
    Line{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "sectors of global stores"},
         [](const Counted& of) -> Value { return stores_of(of); }},
    Line{{"l1tex__t_sectors.sum", "sector", "sectors of L1"},
         [](const Counted& of) -> Value { return sectors_of(of); }},
    Line{{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "… of loads of local memory"},
         [](const Counted& of) -> Value { return local_loads_of(of); }},
    Line{{"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "… of stores to local memory"},
         [](const Counted& of) -> Value { return local_stores_of(of); }},
    Line{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sector", "… of loads that L1 has"},
         level_of<&MemoryLevels::l1_load_hits>},
    Line{{"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%", "of the sectors of loads"},
         [](const Counted& of) -> Value {
           if (!of.levels) return std::nullopt;
           return percent(of.levels->l1_load_hits, loads_of(of));
         }},
    Line{{"l1tex__t_sector_hit_rate.pct", "%", "of the sectors of L1"},
         [](const Counted& of) -> Value {
           if (!of.levels) return std::nullopt;
           return percent(of.levels->l1_load_hits + of.levels->l1_store_hits + of.levels->l1_local_hits,
                          sectors_of(of));
         }},
    Line{{"lts__t_sectors_srcunit_tex_op_read.sum", "sector", "that L1 asks L2 for"},
         level_of<&MemoryLevels::l2_reads>},
    Line{{"lts__t_sectors_srcunit_tex_op_write.sum", "sector", "that L1 writes to L2"},
         level_of<&MemoryLevels::l2_writes>},
    Line{{"lts__t_sectors_srcunit_tex.sum", "sector", "of L2 for L1, atomics among them"},
         [](const Counted& of) -> Value {
           if (!of.levels) return std::nullopt;
           return of.levels->l2_reads + of.levels->l2_writes + of.levels->l2_atomics;
         }},
    Line{{"dram__bytes_read.sum", "byte", "read from memory"}, level_of<&MemoryLevels::memory_read_bytes>},
    Line{{"dram__bytes_write.sum", "byte", "written to memory"},
         level_of<&MemoryLevels::memory_written_bytes>},
    Line{{"dram__bytes.sum", "byte", "of memory"},
         [](const Counted& of) -> Value {
           if (!of.levels) return std::nullopt;
           return of.levels->memory_read_bytes + of.levels->memory_written_bytes;
         }},
    Line{{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
          "conflicts of loads from shared memory"},
         level_of<&MemoryLevels::shared_load_conflicts>},
    Line{{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
          "conflicts of stores to shared memory"},
         level_of<&MemoryLevels::shared_store_conflicts>},
    Line{{"launch__grid_size", "", "blocks"},
         [](const Counted& of) -> Value { return static_cast<double>(of.work.size.grid.product()); }},
    Line{{"launch__block_size", "", "threads of a block"},
         [](const Counted& of) -> Value { return static_cast<double>(of.work.size.block.product()); }},
    Line{{"launch__registers_per_thread", "register/thread", "registers of a thread"},
         [](const Counted& of) -> Value {
           if (!of.resources.registers_per_thread) return std::nullopt;
           // Hopper gives a thread this many at least (data/hardware/h100_counters.csv).
           const int least = of.gpu.compute_capability.major >= 9 ? 16 : 0;
           return static_cast<double>(std::max(least, *of.resources.registers_per_thread));
         }},
    Line{{"launch__occupancy_limit_warps", "block", "blocks of an SM by its warps"},
         [](const Counted& of) -> Value { return static_cast<double>(of.occupancy.blocks_by_warps); }},
    Line{{"launch__occupancy_limit_blocks", "block", "blocks of an SM by its blocks"},
         [](const Counted& of) -> Value { return static_cast<double>(of.occupancy.blocks_by_blocks); }},
    Line{{"launch__occupancy_limit_registers", "block", "blocks of an SM by its registers"},
         [](const Counted& of) -> Value { return limit(of.occupancy.blocks_by_registers); }},
    Line{{"launch__occupancy_limit_shared_mem", "block", "blocks of an SM by its shared memory"},
         [](const Counted& of) -> Value { return limit(of.occupancy.blocks_by_shared_memory); }},
    Line{{"sm__maximum_warps_per_active_cycle_pct", "%", "theoretical occupancy"},
         [](const Counted& of) -> Value { return 100 * of.occupancy.fraction; }},
    Line{{"launch__waves_per_multiprocessor", "", "waves"},
         [](const Counted& of) -> Value {
           return static_cast<double>(of.work.size.grid.product()) /
                  static_cast<double>(of.gpu.sms * of.occupancy.active_blocks);
         }},
    Line{{"gpu__time_duration.sum", "ns", "the kernel's time"},
         [](const Counted& of) -> Value {
           if (!of.levels) return std::nullopt;
           return (of.levels->cycles / of.gpu.clock_mhz + launch_figures(of.gpu, of.caches).kernel_us) * 1000;
         }},
};

bool has_machine(const KernelProgram& program) {
  bool found = false;
  for_each_item(program.program, [&](const Item& item) { found = found || item.machine; });
  return found;
}

void add_notes(const MemoryLevels& levels, std::vector<std::string>& notes) {
  if (levels.simulated_share < 1)
    notes.push_back(
        fmt::format("hit rates are those of the first {:.1f}% of the accesses of one SM, and of the second "
                    "half of these for the rest",
                    100 * levels.simulated_share));
  if (levels.unknown_share > 0.005)
    notes.push_back(
        fmt::format("{:.0f}% of the sectors have addresses that are not known: they are spread as their "
                    "patterns say, over the array, or over an element for each thread",
                    100 * levels.unknown_share));
  if (levels.profiled_share > 0.005)
    notes.push_back(fmt::format(
        "{:.0f}% of the sectors have addresses that data decide: they are drawn as the profile says",
        100 * levels.profiled_share));
  if (levels.footprint_estimated)
    notes.emplace_back(
        "bytes of memory are estimated: where an address or a loop's range is not known, an element for each "
        "thread is counted");
}

Result<LaunchCounters> counters_of(const LaunchWork& work, const Gpu& gpu, CacheState caches) {
  const KernelProgram& program = *work.launch->program->program;
  const WholeLaunch& whole = *work.whole;
  Counted counted{work, gpu, whole.resources, whole.on_gpu.occupancy, caches, {}, has_machine(program)};
  if (counted.occupancy.active_blocks > 0) {
    auto levels = memory_levels(whole.on_gpu, caches);
    if (!levels) return levels.diagnostics();
    counted.levels = *levels;
  }
  LaunchCounters counters;
  counters.kernel = kernel_of(*work.launch);
  counters.size = work.size;
  counters.launches = work.times;
  for (const Line& line : kLines) counters.values.push_back(line.compute(counted));
  if (!counted.machine_known)
    counters.notes.emplace_back(
        "the program has no machine instructions: instructions are those of PTX (`warptime analyze "
        "--machine`)");
  if (work.whole->warps.sampled)
    counters.notes.emplace_back(
        "the warps of the launch are too many to look at each: a sample stands for them");
  if (work.whole->warps.threads_unknown)
    counters.notes.emplace_back(
        "which threads execute some of the kernel depends on arguments without a value: taken as all");
  if (work.whole->warps.sectors_unknown)
    counters.notes.emplace_back(
        "some addresses are not known: their accesses have the sectors of their pattern");
  if (counted.levels) add_notes(*counted.levels, counters.notes);
  if (whole.registers_estimated)
    counters.notes.push_back(fmt::format("registers are estimated: {} (`--registers` asks ptxas)",
                                         *whole.resources.registers_per_thread));
  if (!whole.resources.registers_per_thread)
    counters.notes.emplace_back("registers are not known: they limit nothing (--registers)");
  return counters;
}

}  // namespace

std::span<const Metric> counter_metrics() {
  static const auto metrics = [] {
    std::array<Metric, kLines.size()> all;
    for (std::size_t i = 0; i < kLines.size(); ++i) all[i] = kLines[i].metric;
    return all;
  }();
  return metrics;
}

Result<CounterRow> count(const PreparedPlan& plan, std::size_t gpu, const std::vector<std::int64_t>& values,
                         const PredictionOptions& options) {
  RowModel model(plan, options);
  CounterRow counted;
  counted.left_out = plan.left_out;
  const auto work = model.work(gpu, values, counted.row);
  if (!work) return work.diagnostics();
  for (const LaunchWork& one : *work) {
    auto counters = counters_of(one, *plan.gpus[gpu].gpu, options.model_options.caches);
    if (!counters) return counters.diagnostics();
    counted.launches.push_back(std::move(*counters));
  }
  return counted;
}

}  // namespace warptime
