#include "simulator/fit/accuracy.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <set>

namespace warptime {

Errors errors_of(const std::vector<double>& predicted, const std::vector<double>& measured) {
  assert(predicted.size() == measured.size());
  Errors errors;
  errors.count = measured.size();
  if (measured.empty()) return errors;
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = std::abs(1 - predicted[i] / measured[i]);
    sum += error;
    if (error > errors.maximum) {
      errors.maximum = error;
      errors.worst = i;
    }
  }
  errors.mean = sum / static_cast<double>(measured.size());
  return errors;
}

Errors errors_of(const std::vector<ComparedRow>& rows) {
  std::vector<double> predicted, measured;
  for (const ComparedRow& row : rows) {
    predicted.push_back(row.predicted_us);
    measured.push_back(row.measured_us);
  }
  return errors_of(predicted, measured);
}

std::size_t size_parameter(const std::vector<ComparedRow>& rows, std::size_t parameters) {
  std::size_t best = 0, most = 0;
  for (std::size_t i = 0; i < parameters; ++i) {
    std::set<std::int64_t> values;
    for (const ComparedRow& row : rows) values.insert(row.values[i]);
    if (values.size() < most) continue;
    most = values.size();
    best = i;
  }
  return best;
}

std::vector<Experiment> experiments_of(const std::vector<ComparedRow>& rows, std::size_t size_parameter) {
  std::vector<Experiment> experiments;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::size_t> known;
  for (const ComparedRow& row : rows) {
    std::vector<std::int64_t> values = row.values;
    if (!values.empty()) values[size_parameter] = 0;
    const auto [found, is_new] = known.emplace(std::pair(row.gpu, values), experiments.size());
    if (is_new) experiments.push_back({row.gpu, values, {}, {}, 0, 0});
    experiments[found->second].rows.push_back(row);
  }
  for (Experiment& experiment : experiments) {
    if (!experiment.values.empty()) {
      std::stable_sort(experiment.rows.begin(), experiment.rows.end(), [&](const auto& a, const auto& b) {
        return a.values[size_parameter] < b.values[size_parameter];
      });
    }
    experiment.errors = errors_of(experiment.rows);
    const auto [shortest, longest] =
        std::minmax_element(experiment.rows.begin(), experiment.rows.end(),
                            [](const auto& a, const auto& b) { return a.measured_us < b.measured_us; });
    experiment.shortest_us = shortest->measured_us;
    experiment.longest_us = longest->measured_us;
  }
  return experiments;
}

GlobalErrors global_errors(const std::vector<Experiment>& experiments) {
  GlobalErrors global;
  for (const Experiment& experiment : experiments) {
    global.mean += experiment.errors.mean;
    global.maximum = std::max(global.maximum, experiment.errors.maximum);
    for (const ComparedRow& row : experiment.rows) {
      global.mean_prediction_us += row.prediction_us;
      global.longest_prediction_us = std::max(global.longest_prediction_us, row.prediction_us);
    }
    global.rows += experiment.rows.size();
  }
  global.experiments = experiments.size();
  if (global.experiments > 0) global.mean /= static_cast<double>(global.experiments);
  if (global.rows > 0) global.mean_prediction_us /= static_cast<double>(global.rows);
  return global;
}

GlobalErrors total(const std::vector<GlobalErrors>& methods) {
  GlobalErrors all;
  for (const GlobalErrors& method : methods) {
    all.mean += method.mean;
    all.mean_prediction_us += method.mean_prediction_us;
    all.maximum = std::max(all.maximum, method.maximum);
    all.longest_prediction_us = std::max(all.longest_prediction_us, method.longest_prediction_us);
    all.experiments += method.experiments;
    all.rows += method.rows;
  }
  if (methods.empty()) return all;
  all.mean /= static_cast<double>(methods.size());
  all.mean_prediction_us /= static_cast<double>(methods.size());
  return all;
}

std::vector<ComparedRow> method_ratios(const std::vector<ComparedRow>& method,
                                       const std::vector<ComparedRow>& other) {
  std::map<std::pair<std::string, std::vector<std::int64_t>>, const ComparedRow*> by_values;
  for (const ComparedRow& row : other) by_values.emplace(std::pair(row.gpu, row.values), &row);
  std::vector<ComparedRow> ratios;
  for (const ComparedRow& row : method) {
    const auto found = by_values.find({row.gpu, row.values});
    if (found == by_values.end() || !(found->second->predicted_us > 0)) continue;
    ComparedRow ratio = row;
    ratio.measured_us = row.measured_us / found->second->measured_us;
    ratio.predicted_us = row.predicted_us / found->second->predicted_us;
    ratios.push_back(std::move(ratio));
  }
  return ratios;
}

}  // namespace warptime
