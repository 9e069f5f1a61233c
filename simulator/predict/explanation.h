// Why a prediction is what it is: where its time goes, by line of the source, and what would shorten it.
// Every claimed gain comes from running the model on the changed kernel or launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/predict/row_model.h"

namespace warptime {

struct Explanation {
  PredictionRow row;
  std::vector<LineShare> lines;
  std::vector<Limit> limits;  // they sum to the row's time, longest first; empty if the model does not tell
  std::vector<Claim> claims;
};

// Of the row with these values of the plan's parameters. Errors: the row's own; a program whose breakdown
// takes too many steps.
Result<Explanation> explain(const PreparedPlan& plan, std::size_t gpu,
                            const std::vector<std::int64_t>& values, const PredictionOptions& options);
// The same without claims.
Result<Explanation> explain_lines(const PreparedPlan& plan, std::size_t gpu,
                                  const std::vector<std::int64_t>& values, const PredictionOptions& options);

// Of every row that predict() would give, in its order. Errors: predict()'s.
Result<std::vector<Explanation>> explain_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                             const std::vector<NamedValues>& parameters,
                                             const PredictionOptions& options, const ProgramLoader& loader,
                                             unsigned threads = 1);

// The same without claims.
Result<std::vector<Explanation>> explain_lines_of_all(const Plan& plan, const std::vector<const Gpu*>& gpus,
                                                      const std::vector<NamedValues>& parameters,
                                                      const PredictionOptions& options,
                                                      const ProgramLoader& loader);

// The program without every second load at `where` (a text from place_of): of adjacent loads every second
// one; of a load that occurs once in each iteration, that of every second iteration. Nothing if there is no
// second load.
std::optional<KernelProgram> with_half_the_loads(const KernelProgram& program, const std::string& where);

}  // namespace warptime
