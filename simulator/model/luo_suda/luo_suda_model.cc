#include "simulator/model/luo_suda/luo_suda_model.h"

#include <array>

#include "simulator/model/luo_suda/luo_suda.h"

namespace warptime {
namespace {

constexpr std::array<TimePart, 5> kLuoSudaParts = {{
    {"calculation_us", "calc", "computation", "compute-bound", TimePart::Kind::launch},
    {"waiting_previous_us", "wait T_p", "waiting for the previous period's accesses (T_p)", "memory-bound",
     TimePart::Kind::launch},
    {"waiting_current_us", "wait T_c", "waiting for the current period's accesses (T_c)", "memory-bound",
     TimePart::Kind::launch},
    {"full_runs_us", "", "full runs of active blocks", "", TimePart::Kind::further},
    {"remaining_run_us", "", "the remaining run", "", TimePart::Kind::further},
}};

}  // namespace

std::span<const TimePart> LuoSudaModel::parts() const {
  return kLuoSudaParts;
}

Diagnostics LuoSudaModel::check(const Gpu& gpu) const {
  return check_luo_suda(gpu);
}

std::optional<BorrowedFigures> LuoSudaModel::borrow(const Gpu& gpu, const GpuCatalogue& catalogue) const {
  if (gpu.luo_suda || !gpu.memory_bandwidth_gb_s) return std::nullopt;
  const auto from = catalogue.find("gtx-260");
  if (!from || !(*from)->luo_suda) return std::nullopt;
  BorrowedFigures borrowed{
      gpu, "Luo and Suda's figures are those of the GTX 260: nobody has measured them on this GPU"};
  borrowed.gpu.luo_suda = (*from)->luo_suda;
  return borrowed;
}

Result<TimeBreakdown> LuoSudaModel::time(const Schedule& schedule, const ModelGpu& gpu,
                                         const ModelLaunch& launch) const {
  if (auto wrong = check_luo_suda(*gpu.gpu); !wrong.empty()) return wrong;
  const auto program = make_luo_suda_program(schedule, *gpu.gpu->luo_suda);
  if (!program) return program.diagnostics();
  const auto time = luo_suda_time(*gpu.gpu, launch.shape, *program, launch.active_blocks_per_sm);
  if (!time) return time.diagnostics();
  TimeBreakdown breakdown;
  breakdown.total_us = time->total_us;
  breakdown.us = {time->computation_us, time->waiting_previous_us, time->waiting_current_us,
                  time->full_runs_us, time->remaining_run_us};
  return breakdown;
}

}  // namespace warptime
