// The results of `warptime simulate`, as text, JSON and CSV from the same rows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/model/puchala/core_package.h"

namespace warptime::cli {

struct SimulationRow {
  std::string kernel;  // its name, or the file's if the program has none
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::int64_t warps = 0;
  double t_m_cycles = 0;
  std::uint64_t periods = 0;  // of one warp
  CorePackageTime time;
};

// One row: the total and its breakdown. Several rows: a table.
std::string simulation_text(const std::vector<SimulationRow>& rows);
// An object for one row, an array for several: kernel, parameters, warps, t_m_cycles, periods, cycles,
// breakdown.
std::string simulation_json(const std::vector<SimulationRow>& rows);
// kernel, the parameters of all rows, warps, t_m_cycles, cycles, and the breakdown.
std::string simulation_csv(const std::vector<SimulationRow>& rows);

}  // namespace warptime::cli
