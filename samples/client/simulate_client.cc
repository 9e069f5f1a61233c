// Cycles of a kernel program, with warptime's simulator alone.
#include <cstdio>

#include "simulator/model/puchala/core_package.h"
#include "simulator/program/kernel_program.h"

int main() {
  const auto programs = warptime::read_kernel_programs(
      "program: [load: 15, calc: 5, calc: 6, load: 35, calc: 10, store: 15]", "listing 1");
  if (!programs) return std::fputs(to_text(programs.diagnostics()).c_str(), stderr), 1;
  const auto schedule = make_schedule(programs->front(), {}, warptime::paper_durations());
  if (!schedule) return std::fputs(to_text(schedule.diagnostics()).c_str(), stderr), 1;
  const auto time = simulate_core_package(*schedule, /*warps=*/3, /*t_m_cycles=*/2);
  if (!time) return std::fputs(to_text(time.diagnostics()).c_str(), stderr), 1;
  std::printf("%g cycles\n", time->total);
}
