// A plan on a GPU, one combination of parameters after the other.
#pragma once

#include <vector>

#include "cli/commands/measure_rows.h"
#include "measure/session.h"

namespace warptime::cli {

struct MeasureOptions {
  std::vector<measuring::What> what;
  int repetitions = 10;
};

// Adds the combination to the messages of its errors.
Diagnostics with_case(Diagnostics wrong, const MeasuredCase& of);

// Refers to everything it is made of. The kernels are loaded in the session.
class PlanMeasurement {
 public:
  PlanMeasurement(const Plan& plan, MeasureOptions options, const Gpu& gpu, measuring::Session& session,
                  const measuring::PlanKernels& kernels);

  // Compares what the GPU leaves in the arrays with what the CPU does: for the largest combination whose
  // arrays take at most 256 KiB, else for the first one. If the CPU would take too long, it is skipped with a
  // note on stderr. Errors: findings in a kernel; an element that differs; those of run().
  Diagnostics check(const std::vector<MeasuredCase>& cases);

  // The rows of one combination, one for each of the options' `what`. Errors: those of binding the plan, of
  // too large arrays, of the driver and of the kernels.
  Result<std::vector<MeasuredRow>> run(const MeasuredCase& one);

  const MeasuredSetting& setting() const { return setting_; }

 private:
  Result<measuring::BoundPlan> bind(const MeasuredCase& one) const;
  Result<measuring::Arrays> prepare(const measuring::BoundPlan& bound);
  Diagnostics compare(const measuring::BoundPlan& bound, const MeasuredCase& one);

  const Plan& plan_;
  MeasureOptions options_;
  const Gpu& gpu_;
  measuring::Session& session_;
  const measuring::PlanKernels& kernels_;
  MeasuredSetting setting_;
};

}  // namespace warptime::cli
