// What `warptime report` shows: the predictions of one method or several, and why they are what they are, as one JSON document.
// schemas/report.schema.json describes it; page.h makes the page of it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "load/kernel_loader.h"
#include "simulator/gpu/gpu.h"
#include "simulator/plan/parameter_values.h"
#include "simulator/plan/plan.h"
#include "simulator/predict/prediction.h"

namespace warptime::cli {

// One of the inputs that the report compares.
struct ReportMethod {
  std::string name;   // of its own in the report
  std::string input;  // as the user named it
  const Plan* plan = nullptr;
  std::vector<const Gpu*> gpus;
  std::vector<NamedValues> parameters;  // of each parameter of the plan
  PredictionOptions options;
  std::string why_model;                    // where the user named none
  const GpuCatalogue* catalogue = nullptr;  // that other models borrow figures from
  KernelLoader* loader = nullptr;           // for its model
  KernelLoader* estimated =
      nullptr;  // whose programs have machine instructions: for counters and timelines; may be `loader`
};

struct Report {
  std::string title;
  std::vector<ReportMethod> methods;  // at least one
  nlohmann::ordered_json comparison;  // what `compare --format json` gives; null: no measurements
  unsigned threads = 0;               // of sweeps; 0: one per core
  // Called as soon as all times are known, before what explains them: the rows of each method. May be empty.
  std::function<void(const std::vector<std::vector<PredictionRow>>&)> predicted;
};

// What a report holds at most; it says what it leaves out.
struct ReportLimits {
  std::uint64_t rows = 100'000;     // of predictions, all methods together: more are an error
  std::size_t block_rows = 20'000;  // of predictions with other blocks, of one method, …
  // … by a model that takes whole launches, which takes longer; 0: none
  std::size_t block_rows_of_whole_launches = 96;
  // What explains looks for quicker blocks with such a model where so many rows are explained, or fewer.
  std::size_t quicker_blocks_of_whole_launches = 12;
  std::size_t explanations = 48;       // of one method
  std::size_t timelines = 12;          // of one method
  std::size_t timeline_items = 600;    // executed by the warps of one timeline
  std::size_t code_bytes = 1'000'000;  // of one file of code
  std::size_t line_bytes = 2'000;      // of one line of code
};

// Of reports with so many inputs: less of each of many.
ReportLimits report_limits(std::size_t methods);

// Predicts, explains, counts and draws. Errors: those of predict(); more rows than the limit. What cannot be had of a model, a
// GPU or a kernel (a timeline, counters, the code of a kernel program) is not in the document, which says why in `missing`.
Result<nlohmann::ordered_json> report_json(const Report& report, const ReportLimits& limits = {});

}  // namespace warptime::cli
