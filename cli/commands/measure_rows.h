// The combinations that `warptime measure` runs, and its results as rows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/session.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// One run of the plan: its parameters in the plan's order, and the threads per block where they are given.
struct MeasuredCase {
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::optional<std::int64_t> threads_per_block;
  Bindings bindings() const { return {parameters.begin(), parameters.end()}; }
};

inline constexpr std::uint64_t most_measured_cases = 1'000'000;

// All combinations, the plan's last parameter innermost, then the threads per block. Errors: a parameter of
// the plan without values, one that the plan does not have, more than most_measured_cases.
Result<std::vector<MeasuredCase>> measured_cases(const Plan& plan, const std::vector<NamedValues>& given,
                                                 const std::optional<ParameterValues>& threads_per_block);

// "K=8, N=64, 128 threads per block"
std::string case_text(const MeasuredCase& of);

struct MeasuredRow {
  const MeasuredCase* of = nullptr;
  measuring::What what = measuring::What::kernels;
  measuring::Times times;
  GridAndBlock first_launch;
  std::size_t launches = 0;
};

// What is the same in all rows.
struct MeasuredSetting {
  std::string plan, gpu, device, driver, versions;
};

// Columns: plan, gpu, the parameters, time_us (median), spread_us (interquartile range), repetitions, what,
// blocks, threads_per_block, launches, clock_mhz, temperature_c, device, driver, versions, grid, block (128x512x1).
std::string measured_heading_csv(const Plan& plan);
std::string measured_row_csv(const MeasuredRow& row, const MeasuredSetting& setting);
// An object, without what stands between rows.
std::string measured_row_json(const MeasuredRow& row, const MeasuredSetting& setting);

}  // namespace warptime::cli
