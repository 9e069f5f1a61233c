// Two plans side by side:
//
//   gpu       K     N    matrix   lattice      R  faster
//   rtx-2080  8  1024  6.208 us  36.55 us  0.170  matrix
//
//   rtx-2080, K = 8: matrix is the faster one from N = 64 to 65536, lattice from 131072 on
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::cli {

struct PlanPair {
  std::string gpu;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  double first_us = 0, second_us = 0;
  double ratio() const { return first_us / second_us; }  // R of equation 21
};

struct PlanComparison {
  std::string first, second;  // the plans' names
  std::vector<PlanPair> pairs;
  bool calls_close = false;  // say where the times are too close to call
  std::string model = {};    // model_line(), where the user named no model
};

// Where the faster plan changes along the last parameter that has several values, a sentence for each GPU
// and combination of the others.
std::vector<std::string> crossovers(const PlanComparison& comparison);

// format: text, csv (gpu, the parameters, <first>_us, <second>_us, ratio) or json (an object: rows,
// crossovers).
std::string against_text(const PlanComparison& comparison, std::string_view format);

}  // namespace warptime::cli
