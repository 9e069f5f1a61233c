#include "simulator/model/luo_suda/luo_suda_model.h"

#include <fmt/format.h>

#include <array>

#include "simulator/model/luo_suda/luo_suda.h"
#include "simulator/model/units.h"

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

constexpr std::size_t kMostLaunchesTold = 8;

Result<LuoSudaTime> time_of_launch(const ExplainedLaunch& launch, const Gpu& gpu) {
  Bindings bindings;
  for (std::size_t i = 0; i < launch.values.size(); ++i)
    bindings[launch.program->names[i]] = launch.values[i];
  const auto schedule = make_schedule(*launch.program->program, bindings, launch.program->durations);
  if (!schedule) return schedule.diagnostics();
  const auto program = make_luo_suda_program(*schedule, *gpu.luo_suda);
  if (!program) return program.diagnostics();
  return luo_suda_time(gpu, launch.shape, *program, launch.active_blocks_per_sm);
}

// "2 of type 1, 256 of type 4"
std::string periods_text(const LuoSudaTime& time) {
  std::string text;
  for (std::size_t type = 0; type < time.type_periods.size(); ++type) {
    if (!(time.type_periods[type] > 0)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{:.0f} of type {}", time.type_periods[type], type + 1);
    if (time.total_us > 0) text += fmt::format(" ({})", percent_text(time.type_us[type] / time.total_us));
  }
  return text;
}

std::string mpd_text(const LuoSudaTime& time) {
  if (!(time.mpd_most > 0)) return {};
  if (time.mpd_least == time.mpd_most) return fmt::format(", MPD = {:.0f}", time.mpd_most);
  return fmt::format(", MPD = {:.0f} to {:.0f}", time.mpd_least, time.mpd_most);
}

Claim terms_claim(const ExplainedLaunch& launch, const LuoSudaTime& time) {
  Claim claim;
  claim.kind = Claim::Kind::model_terms;
  const double warps = time.full_runs > 0 ? time.active_warps : time.remaining_active_warps;
  claim.text =
      fmt::format("{}: P = {}, with {:.0f} {} on an SM CPD = {:.2f}{}; calculation periods of a warp: {}",
                  launch.kernel, percent_text(time.proportion), warps, warps == 1 ? "warp" : "warps",
                  time.cpd, mpd_text(time), periods_text(time));
  claim.terms = {{"proportion", time.proportion},
                 {"active_warps", warps},
                 {"cpd", time.cpd},
                 {"mpd_least", time.mpd_least},
                 {"mpd_most", time.mpd_most}};
  for (std::size_t type = 0; type < time.type_periods.size(); ++type) {
    claim.terms.push_back({fmt::format("type_{}_periods", type + 1), time.type_periods[type]});
    claim.terms.push_back({fmt::format("type_{}_us", type + 1), time.type_us[type]});
  }
  return claim;
}

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

std::vector<Claim> LuoSudaModel::claims(const ExplainedRow& row, std::span<const LineShare>) const {
  std::vector<Claim> claims;
  if (!check_luo_suda(*row.gpu->gpu).empty()) return claims;
  for (const ExplainedLaunch& launch : row.launches) {
    if (claims.size() == kMostLaunchesTold) break;
    const auto time = time_of_launch(launch, *row.gpu->gpu);
    if (time) claims.push_back(terms_claim(launch, *time));
  }
  return claims;
}

}  // namespace warptime
