// How far predictions are from measurements: the measures of Puchala et al. (2022), section 6.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace warptime {

// One run of a plan on a GPU, predicted and measured.
struct ComparedRow {
  std::string gpu;
  std::vector<std::int64_t> values;  // of the plan's parameters, in their order
  double measured_us = 0;            // t^(d), positive
  double predicted_us = 0;           // t^(m)
  double prediction_us = 0;          // how long the prediction itself took (T of equation 20)
  double ratio() const { return predicted_us / measured_us; }  // r_k, equation 15
};

// Equation 16: the mean absolute percentage error and the largest mismatch, as shares (0.05 is 5 %).
struct Errors {
  double mean = 0;
  double maximum = 0;
  std::size_t worst = 0;  // index of the largest
  std::size_t count = 0;
};
// predicted and measured: of the same length. All 0 without rows.
Errors errors_of(const std::vector<double>& predicted, const std::vector<double>& measured);
Errors errors_of(const std::vector<ComparedRow>& rows);

// Rows that differ only in one parameter, in order of its values: a graph of Figures 10 to 15.
struct Experiment {
  std::string gpu;
  std::vector<std::int64_t> values;  // of the plan's parameters; ignore that of the size
  std::vector<ComparedRow> rows;
  Errors errors;
  double shortest_us = 0, longest_us = 0;  // t_min, t_max: measured
};

// The parameter that the experiments run over: the one with the most different values among the rows (the
// last one of several). 0 without parameters.
std::size_t size_parameter(const std::vector<ComparedRow>& rows, std::size_t parameters);
// In order of first appearance.
std::vector<Experiment> experiments_of(const std::vector<ComparedRow>& rows, std::size_t size_parameter);

// Equations 19 and 20: over the experiments of one method. For several methods see total().
struct GlobalErrors {
  double mean = 0;     // of the experiments' mean errors
  double maximum = 0;  // of their largest
  double mean_prediction_us = 0, longest_prediction_us = 0;
  std::size_t experiments = 0, rows = 0;
};
GlobalErrors global_errors(const std::vector<Experiment>& experiments);
// The mean of the methods' means and the largest of their maxima. All 0 without methods.
GlobalErrors total(const std::vector<GlobalErrors>& methods);

// Equations 21 and 22: R, the ratio of one method's time to another's. Pairs rows with the same GPU and
// values: measured_us and predicted_us of the result are the ratios R^(d) and R^(m), not times.
std::vector<ComparedRow> method_ratios(const std::vector<ComparedRow>& method,
                                       const std::vector<ComparedRow>& other);

}  // namespace warptime
