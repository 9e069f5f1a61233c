// Predicted times as text, CSV and JSON. Rows are formatted by the threads that computed them, batch by
// batch, and go out in their order, so that a long sweep takes no memory.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/predict/prediction.h"

namespace warptime::cli {

// What the rows of a run have beside what all rows have.
struct PredictionColumns {
  bool ranks = false;                // how the row's GPU does among all, fastest first
  bool best_launch = false;          // what Algorithm 3's launches would take
  const Model* model = nullptr;      // whose parts the columns are
  std::vector<const Model*> beside;  // what other models say, …
  double disagreement = 2;           // … and whether one of them disagrees by more than this factor
};

class PredictionView {
 public:
  virtual ~PredictionView() = default;
  // Each gives the text to write next, which may be empty.
  virtual std::string begin() = 0;
  // Of batches that make_batch() made, in the order of the rows.
  virtual std::string text(RowBatch& batch) = 0;
  virtual std::string end() = 0;
  // In any thread.
  virtual std::unique_ptr<RowBatch> make_batch() const = 0;
};

// What every JSON row begins with: plan, gpu, parameters, blocks, threads_per_block, launches,
// time_us, grid, block.
nlohmann::ordered_json row_json(const PredictionRow& row);
// The parts of the row's time, under their keys.
void add_parts(const PredictionRow& row, nlohmann::ordered_json& json);

// format: "text", "csv" or "json".
std::unique_ptr<PredictionView> make_prediction_view(std::string_view format, const Plan& plan,
                                                     const PredictionColumns& columns);

// A view that puts the rows of equal parameters, which come one after the other, in the order of their times,
// and gives them their ranks; `view` shows them. gpus: how many rows there are of each. Where a sweep ends
// before that, the last ones have no rank.
std::unique_ptr<PredictionView> make_ranking_view(std::unique_ptr<PredictionView> view, std::size_t gpus);

}  // namespace warptime::cli
