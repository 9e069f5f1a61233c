// The output of compare: experiments with their errors, and the global errors in the form of Table 4 of
// Puchala et al. (2022).
#pragma once

#include <string>
#include <vector>

#include "simulator/fit/accuracy.h"
#include "simulator/plan/plan.h"

namespace warptime::cli {

// The constants of the predictions of a plan on a GPU, and their sources.
struct ComparedConstants {
  std::string gpu;
  double t_p_us = 0, t_m_cycles = 0;
  std::string t_p_source, t_m_source;
  bool used = true;                  // whether the model has such constants
  std::optional<double> scale = {};  // in place of t_m
};

// One plan ("method") over all its measurements.
struct ComparedMethod {
  Plan plan;
  std::string rows_of;  // the plan that the measurements are of
  std::string letter;   // of its experiments: Exp. (M.1)
  std::size_t size_parameter = 0;
  std::vector<ComparedConstants> constants;
  std::vector<Experiment> experiments;
  GlobalErrors global;
  std::vector<std::string> notes;
};

// The ratio of the first method's times to another's: Exp. (R.i).
struct ComparedRatio {
  std::string method, other;
  std::vector<Experiment> experiments;
  GlobalErrors global;
};

struct Comparison {
  std::vector<ComparedMethod> methods;  // of the same parameters
  std::vector<ComparedRatio> ratios;    // the first to each of the others
  GlobalErrors overall;
};

// "M.1"
std::string experiment_name(const std::string& letter, std::size_t index);
// The parameters of an experiment except its size: "K = 8".
std::string fixed_text(const Plan& plan, const Experiment& experiment, std::size_t size_parameter);

std::string comparison_text(const Comparison& comparison);
std::string comparison_csv(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace warptime::cli
