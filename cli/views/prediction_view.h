// Predicted times as text, CSV and JSON. Rows come one at a time and go out as soon as the view can place
// them, so that a long sweep takes no memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "simulator/prediction.h"

namespace warptime::cli {

class PredictionView {
 public:
  virtual ~PredictionView() = default;
  // Each gives the text to write next, which may be empty.
  virtual std::string begin() = 0;
  virtual std::string row(const PredictionRow& row) = 0;
  virtual std::string end() = 0;
};

// format: "text", "csv" or "json".
std::unique_ptr<PredictionView> make_prediction_view(std::string_view format, const Plan& plan);

}  // namespace warptime::cli
