// The second model: Luo Cheng and Reiji Suda, "An execution time prediction analytical model for GPU with
// instruction-level and thread-level parallelism awareness" (2011). A warp alternates computation tasks and
// memory access tasks. A calculation period is one of each, from the beginning of one computation task
// to that of the next. Its time depends on the number of active warps, on how many of their memory accesses
// (MPD) and computations (CPD) run at a time, and on whether the previous period waits for its accesses.
// docs/luo-suda.md says how equations are read that cannot be meant as printed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simulator/gpu/gpu.h"
#include "simulator/gpu/luo_suda_figures.h"
#include "simulator/plan/launch.h"
#include "simulator/program/schedule.h"

namespace warptime {

// ---- The equations, each by itself. Warps are those that are active on one SM, at least 1. ----

// Equation (1), Warp_bwt in 10^9 bytes per second: what one warp moves during one memory access.
// N_thread is 32; bytes_per_thread: D_mem; transactions: N_trans; latency_cycles: t_mem.
double luo_suda_warp_bandwidth_gb_s(double bytes_per_thread, double transactions, double latency_cycles,
                                    double clock_mhz);

// Equation (2), MPD: memory accesses of one SM that run at a time, at least 1. MPD = min{N_act,
// floor(GPU_bwt / (N_act * N_sm * Warp_bwt))}.
double luo_suda_mpd(double active_warps, double gpu_bandwidth_gb_s, double sms, double warp_bandwidth_gb_s);

// Equation (3): CPD1 = (c - P) * (N_act - b) + a.
double luo_suda_cpd1(const LuoSudaFigures& figures, double proportion, double active_warps);
// Equations (4) and (5): CPD2 = n / (m - 1) * sqrt((m - 1)^2 - (N_act - m)^2) + a, n = d * (P - c)^2; m:
// most_warps, the most that an SM takes. N_act is 1 to m.
double luo_suda_cpd2(const LuoSudaFigures& figures, double proportion, double active_warps,
                     double most_warps);
// CPD, at least 1: min{CPD1, CPD2}, or CPD2 where P is above c, since CPD1 then falls with the warps.
double luo_suda_cpd(const LuoSudaFigures& figures, double proportion, double active_warps, double most_warps);

// One calculation period of one warp, and what its time depends on of the previous period.
struct LuoSudaPeriod {
  double computation_cycles = 0;  // c_i
  double memory_cycles = 0;       // m_i
  // Of the previous period, if its memory access task is longer than its computation task (c_{i-1} <
  // m_{i-1}); else 0.
  double previous_memory_cycles = 0;         // m_{i-1}
  double previous_warp_bytes_per_cycle = 0;  // Warp_bwt of its accesses
  double count = 1;                          // how often a warp executes it

  int type() const {  // 1 to 4, as in section 3.5
    return (previous_memory_cycles > 0 ? 3 : 1) + (computation_cycles < memory_cycles ? 1 : 0);
  }
};

// T_i in cycles, as three parts: equations (6) to (13).
struct LuoSudaPeriodTime {
  double computation = 0;       // ceil(N_act * c_i / CPD)
  double waiting_previous = 0;  // T_p: for the memory accesses of the previous period
  double waiting_current = 0;   // T_c: for the memory accesses of this period
  double total() const { return computation + waiting_previous + waiting_current; }
};
// mpd: of the memory access task of the previous period.
LuoSudaPeriodTime luo_suda_period_time(const LuoSudaPeriod& period, double active_warps, double cpd,
                                       double mpd);

// Equation (14), the accuracy of one prediction, 0 to 1: min{T_test, T_model} / max{T_test, T_model}.
// Both are at least 0; two times of 0 agree.
double luo_suda_accuracy(double measured_us, double predicted_us);
struct LuoSudaAccuracy {  // Table 4; 0 without predictions
  double arithmetic_mean = 0;
  double geometric_mean = 0;
};
LuoSudaAccuracy luo_suda_accuracy(std::span<const std::pair<double, double>> measured_and_predicted_us);

// ---- A program's calculation periods. ----

// One task, or several adjacent tasks of the same kind.
struct LuoSudaTask {
  bool memory = false;
  double cycles = 0;  // of one warp, alone
  double bytes = 0;   // moved by one warp; 0 for computation
  friend bool operator==(const LuoSudaTask&, const LuoSudaTask&) = default;
};

// What a warp executes, as the model sees it: its calculation periods, equal ones merged.
struct LuoSudaProgram {
  std::vector<LuoSudaPeriod> periods;  // in no particular order
  double computation_cycles = 0;       // the sum of all c_i
  double memory_cycles = 0;            // the sum of all m_i
  double proportion() const;           // P, the computation instruction proportion; 1 for an empty program
};

// Makes the periods of a schedule from make_schedule. Each of its `instructions` costs what class_cycles has for its
// class, or instruction_cycles if that is not known (the n - 1 + 10 of a run belongs to the other model). `calc` and accesses with `cycles` cost these cycles;
// other accesses cost what luo_suda_memory_task says. The work does not depend on iteration counts. Errors: a
// time that overflows.
Result<LuoSudaProgram> make_luo_suda_program(const Schedule& schedule, const LuoSudaFigures& figures);
// The same from a sequence of tasks, for programs whose instruction classes are known (luo_suda_cycles).
Result<LuoSudaProgram> make_luo_suda_program(std::span<const LuoSudaTask> tasks);

// The memory access task of one access of a warp. period_cycles: its duration if the access fixes its
// `cycles`. Without `bytes` in the program, a thread accesses 4 bytes.
LuoSudaTask luo_suda_memory_task(const MemoryAccess& access, double period_cycles,
                                 const LuoSudaFigures& figures);

// ---- The time of a launch. ----

// Microseconds of one launch. total_us is the sum of computation, waiting_previous and
// waiting_current, of full_runs and remaining_run, and of type_us (to rounding). This model has no launch
// overhead.
struct LuoSudaTime {
  double total_us = 0;
  double computation_us = 0;
  double waiting_previous_us = 0;  // T_p
  double waiting_current_us = 0;   // T_c
  double full_runs_us = 0;
  double remaining_run_us = 0;
  std::array<double, 4> type_us{};       // by the four types of calculation period
  std::array<double, 4> type_periods{};  // of one warp
  std::int64_t full_runs = 0;
  double active_warps = 0;            // N_act of a full run
  double remaining_active_warps = 0;  // of the remaining run; 0 without one
  double proportion = 0;              // P
  double cpd = 0;                     // of a full run
  // MPD in a full run: the smallest and the largest, over the memory access tasks that later periods wait for (types 3
  // and 4). 0: there are none.
  double mpd_least = 0, mpd_most = 0;
};
// For plans: adds `time`, `times` times. The members that are not times keep their value in `into`; if `into`
// is empty, they are those of `time`.
void add_times(LuoSudaTime& into, const LuoSudaTime& time, double times);

// Empty if the model can predict for this GPU. Errors: no `luo_suda` section, no memory_bandwidth_gb_s.
Diagnostics check_luo_suda(const Gpu& gpu);

// The time of one launch: the sum of the times of its calculation periods, over all runs of blocks on
// an SM. The paper's launches are one run; several are as in Algorithm 1 of Puchala et al. (kernel_time.h),
// with N_act of each run. active_blocks_per_sm: what occupancy allows; without it, the GPU's limits of blocks
// and warps. Thread-safe. The work is proportional to the number of different periods of the program. Errors:
// those of check_luo_suda and check_launch, no active block, a time that overflows.
Result<LuoSudaTime> luo_suda_time(const Gpu& gpu, const Launch& launch, const LuoSudaProgram& program,
                                  std::optional<std::int64_t> active_blocks_per_sm = std::nullopt);

}  // namespace warptime
