// Predicted times as text, CSV and JSON. Rows are formatted by the threads that computed them, batch by
// batch, and written in order, so that a long sweep takes constant memory.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/predict/prediction.h"

namespace warptime::cli {

// The optional columns of the rows of a run.
struct PredictionColumns {
  bool ranks = false;                // the rank of the row's GPU, fastest first
  bool best_launch = false;          // the time with Algorithm 3's launches
  const Model* model = nullptr;      // whose parts the columns are
  std::vector<const Model*> beside;  // other models whose times are shown, …
  double disagreement = 2;           // … and whether one of them disagrees by more than this factor
  std::string why_model = {};        // where the user named none
  bool transfers = false;            // the times with copies
  bool sparklines = false;           // below the table: times over a swept parameter
};

// What GPUs are ranked by: the time with copies, where the row has it.
double ranked_us(const PredictionRow& row);

// Whether its rows have low_us and high_us.
bool has_interval(const Model& model);
// Whether the time of one of the models beside the row's own differs by more than PredictionColumns::disagreement.
bool disagree(const PredictionRow& row, const PredictionColumns& columns);
// The row's notes as one text, a column of the CSV.
std::string notes_text(const PredictionRow& row);
// What Algorithm 3's launches take longer than the best ones, in percent of theirs.
double gain_percent(const PredictionRow& row);
// The key of the time of a model beside the row's own: "luo_suda_us".
std::string time_key(const Model& model);
// Times that differ by less are too close to call (docs/predicting.md says how often the others are called
// right).
inline constexpr double kTooClose = 1.1;
// "Model: extended, because …; --model chooses another."
std::string model_line(const Model& model, const std::string& why);

class PredictionView {
 public:
  virtual ~PredictionView() = default;
  // Each returns the text to write next, which may be empty.
  virtual std::string begin() = 0;
  // For batches from make_batch(), in the order of the rows.
  virtual std::string text(RowBatch& batch) = 0;
  virtual std::string end() = 0;
  // In any thread.
  virtual std::unique_ptr<RowBatch> make_batch() const = 0;
};

// The first keys of every JSON row: plan, gpu, parameters, blocks, threads_per_block, launches,
// time_us, grid, block.
nlohmann::ordered_json row_json(const PredictionRow& row);
// The parts of the row's time, under their keys.
void add_parts(const PredictionRow& row, nlohmann::ordered_json& json);

// format: "text", "csv" or "json".
std::unique_ptr<PredictionView> make_prediction_view(std::string_view format, const Plan& plan,
                                                     const PredictionColumns& columns);

// A view that sorts consecutive rows of equal parameters by their times, and ranks them; `view` shows them.
// gpus: the number of rows of each combination of parameters. If a sweep ends early, its last rows have no
// rank.
std::unique_ptr<PredictionView> make_ranking_view(std::unique_ptr<PredictionView> view, std::size_t gpus);

}  // namespace warptime::cli
