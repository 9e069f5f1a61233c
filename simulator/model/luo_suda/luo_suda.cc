#include "simulator/model/luo_suda/luo_suda.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/base/integer_math.h"

namespace warptime {
namespace {

constexpr double kWarpThreads = 32;  // N_thread

// Cycles of one run of N_act warps on each SM.
struct RunTime {
  LuoSudaPeriodTime parts;
  std::array<double, 4> type{};
  std::array<double, 4> type_periods{};
  double cpd = 0;
  double mpd_least = 0, mpd_most = 0;
};

RunTime run_time(const Gpu& gpu, const LuoSudaProgram& program, double active_warps) {
  RunTime time;
  time.cpd = luo_suda_cpd(*gpu.luo_suda, program.proportion(), active_warps, gpu.max_warps_per_sm);
  for (const LuoSudaPeriod& period : program.periods) {
    // Only periods of types 3 and 4 need MPD, which is that of the previous accesses.
    const double mpd = period.previous_memory_cycles > 0
                           ? luo_suda_mpd(active_warps, *gpu.memory_bandwidth_gb_s, gpu.sms,
                                          period.previous_warp_bytes_per_cycle * gpu.clock_mhz / 1000)
                           : 1;
    const LuoSudaPeriodTime part = luo_suda_period_time(period, active_warps, time.cpd, mpd);
    time.parts.computation += period.count * part.computation;
    time.parts.waiting_previous += period.count * part.waiting_previous;
    time.parts.waiting_current += period.count * part.waiting_current;
    const auto type = static_cast<std::size_t>(period.type() - 1);
    time.type[type] += period.count * part.total();
    time.type_periods[type] += period.count;
    if (period.previous_memory_cycles > 0) {
      time.mpd_least = time.mpd_most > 0 ? std::min(time.mpd_least, mpd) : mpd;
      time.mpd_most = std::max(time.mpd_most, mpd);
    }
  }
  return time;
}

}  // namespace

double luo_suda_warp_bandwidth_gb_s(double bytes_per_thread, double transactions, double latency_cycles,
                                    double clock_mhz) {
  const double bytes_per_cycle = (kWarpThreads * bytes_per_thread) / (transactions * latency_cycles);
  return bytes_per_cycle * clock_mhz / 1000;  // 10^6 cycles per second, 10^9 bytes
}

double luo_suda_mpd(double active_warps, double gpu_bandwidth_gb_s, double sms, double warp_bandwidth_gb_s) {
  const double demand = active_warps * sms * warp_bandwidth_gb_s;
  const double share = demand > 0 ? std::floor(gpu_bandwidth_gb_s / demand) : active_warps;
  return std::max(1.0, std::min(active_warps, share));
}

double luo_suda_cpd1(const LuoSudaFigures& figures, double proportion, double active_warps) {
  return (figures.cpd_c - proportion) * (active_warps - figures.cpd_b) + figures.cpd_a;
}

double luo_suda_cpd2(const LuoSudaFigures& figures, double proportion, double active_warps,
                     double most_warps) {
  const double reach = most_warps - 1;  // 0 for one warp, the beginning of the curve
  if (reach <= 0) return figures.cpd_a;
  const double n = figures.cpd_d * (proportion - figures.cpd_c) * (proportion - figures.cpd_c);
  const double missing = active_warps - most_warps;
  return n / reach * std::sqrt(std::max(0.0, reach * reach - missing * missing)) + figures.cpd_a;
}

double luo_suda_cpd(const LuoSudaFigures& figures, double proportion, double active_warps,
                    double most_warps) {
  double cpd = luo_suda_cpd2(figures, proportion, active_warps, most_warps);
  if (proportion <= figures.cpd_c) cpd = std::min(cpd, luo_suda_cpd1(figures, proportion, active_warps));
  return std::max(1.0, cpd);
}

LuoSudaPeriodTime luo_suda_period_time(const LuoSudaPeriod& period, double active_warps, double cpd,
                                       double mpd) {
  const double c = period.computation_cycles, m = period.memory_cycles;
  const double others = (active_warps - 1) * c;  // the other warps' computation, which hides accesses
  const int type = period.type();
  LuoSudaPeriodTime time;
  time.computation = std::ceil(active_warps * c / cpd);
  if (type >= 3) {  // equations (10) and (12)
    const double rounds = std::floor(active_warps / mpd - 1);
    time.waiting_previous = std::max(period.previous_memory_cycles * rounds - others, 0.0);
  }
  if (type == 2 || type == 4)  // equations (8) and (13); T_p is 0 in type 2
    time.waiting_current = std::max(m - (others + time.waiting_previous), 0.0);
  return time;
}

double luo_suda_accuracy(double measured_us, double predicted_us) {
  const double larger = std::max(measured_us, predicted_us);
  return larger > 0 ? std::min(measured_us, predicted_us) / larger : 1;
}

LuoSudaAccuracy luo_suda_accuracy(std::span<const std::pair<double, double>> measured_and_predicted_us) {
  if (measured_and_predicted_us.empty()) return {};
  double sum = 0, logarithms = 0;
  for (const auto& [measured, predicted] : measured_and_predicted_us) {
    const double accuracy = luo_suda_accuracy(measured, predicted);
    sum += accuracy;
    logarithms += std::log(accuracy);
  }
  const auto size = static_cast<double>(measured_and_predicted_us.size());
  return {sum / size, std::exp(logarithms / size)};
}

double LuoSudaProgram::proportion() const {
  if (memory_cycles <= 0) return 1;
  return 1 / (1 + memory_cycles / computation_cycles);  // 0 computation: 1 / infinity
}

void add_times(LuoSudaTime& into, const LuoSudaTime& time, double times) {
  if (into.full_runs == 0) {
    into.full_runs = time.full_runs;
    into.active_warps = time.active_warps;
    into.remaining_active_warps = time.remaining_active_warps;
    into.proportion = time.proportion;
    into.cpd = time.cpd;
    into.type_periods = time.type_periods;
    into.mpd_least = time.mpd_least;
    into.mpd_most = time.mpd_most;
  }
  into.total_us += times * time.total_us;
  into.computation_us += times * time.computation_us;
  into.waiting_previous_us += times * time.waiting_previous_us;
  into.waiting_current_us += times * time.waiting_current_us;
  into.full_runs_us += times * time.full_runs_us;
  into.remaining_run_us += times * time.remaining_run_us;
  for (std::size_t i = 0; i < into.type_us.size(); ++i) into.type_us[i] += times * time.type_us[i];
}

Diagnostics check_luo_suda(const Gpu& gpu) {
  if (!gpu.luo_suda) {
    return {error(fmt::format("{} has no figures for the model of Luo and Suda", gpu.name),
                  "the paper's figures are those of gtx-260; docs/luo-suda.md says how to give a GPU its own "
                  "(`luo_suda:` in its file, `--gpu-dir`)")};
  }
  if (!gpu.memory_bandwidth_gb_s) {
    return {error(
        fmt::format("{} has no memory_bandwidth_gb_s, which the model of Luo and Suda needs", gpu.name))};
  }
  return {};
}

Result<LuoSudaTime> luo_suda_time(const Gpu& gpu, const Launch& launch, const LuoSudaProgram& program,
                                  std::optional<std::int64_t> active_blocks_per_sm) {
  if (Diagnostics wrong = check_luo_suda(gpu); !wrong.empty()) return wrong;
  const auto checked = check_launch(gpu, launch.blocks, launch.threads_per_block);
  if (!checked) return checked.diagnostics();

  const std::int64_t blocks_per_sm = divide_up(launch.blocks, gpu.sms);
  const std::int64_t warps_per_block = divide_up(launch.threads_per_block, gpu.warp_size);
  std::int64_t active_blocks = std::min({blocks_per_sm, gpu.max_warps_per_sm / warps_per_block,
                                         static_cast<std::int64_t>(gpu.max_blocks_per_sm)});
  if (active_blocks_per_sm) active_blocks = std::min(active_blocks, *active_blocks_per_sm);
  if (active_blocks < 1) return error(fmt::format("no block of this launch fits on an SM of {}", gpu.name));
  const std::int64_t remaining_blocks = blocks_per_sm % active_blocks;

  LuoSudaTime time;
  time.full_runs = blocks_per_sm / active_blocks;
  time.active_warps = static_cast<double>(active_blocks * warps_per_block);
  time.remaining_active_warps = static_cast<double>(remaining_blocks * warps_per_block);
  time.proportion = program.proportion();

  const auto runs = static_cast<double>(time.full_runs);
  const RunTime full = run_time(gpu, program, time.active_warps);
  const RunTime rest = remaining_blocks > 0 ? run_time(gpu, program, time.remaining_active_warps) : RunTime{};
  time.cpd = full.cpd;
  time.type_periods = full.type_periods;
  time.mpd_least = full.mpd_least;
  time.mpd_most = full.mpd_most;
  const auto microseconds = [&](double of_full, double of_rest) {
    return (runs * of_full + of_rest) / gpu.clock_mhz;
  };
  time.computation_us = microseconds(full.parts.computation, rest.parts.computation);
  time.waiting_previous_us = microseconds(full.parts.waiting_previous, rest.parts.waiting_previous);
  time.waiting_current_us = microseconds(full.parts.waiting_current, rest.parts.waiting_current);
  for (std::size_t i = 0; i < time.type_us.size(); ++i)
    time.type_us[i] = microseconds(full.type[i], rest.type[i]);
  time.full_runs_us = microseconds(full.parts.total(), 0);
  time.remaining_run_us = microseconds(0, rest.parts.total());
  time.total_us = time.computation_us + time.waiting_previous_us + time.waiting_current_us;
  if (!(time.total_us <= std::numeric_limits<double>::max()))
    return error("the time is too large for a number");
  return time;
}

}  // namespace warptime
