// Times over a swept parameter, as one line of text for each GPU:
//
//   gtx-1070  K=8  ▁▁▁▁▁▁▁▂▃▄▅▆▇█  7.2 µs at N=64 to 235 µs at N=1048576
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulator/predict/prediction.h"

namespace warptime::cli {

// Collects rows; those beyond the first thousands are left out, as are series beyond the first tens.
class Sparklines {
 public:
  void add(const PredictionRow& row);
  // Of the last parameter that has three values or more. On one logarithmic scale. Empty: there is none.
  std::string text() const;

 private:
  struct Point {
    std::string gpu;
    std::vector<std::pair<std::string, std::int64_t>> parameters;
    double us = 0;
  };
  std::vector<Point> points_;
};

}  // namespace warptime::cli
