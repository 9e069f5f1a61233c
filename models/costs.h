// The cost of a changed model: the plans that launch it, predicted with the model before and after the
// change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/folder.h"
#include "simulator/predict/prediction.h"

namespace warptime::models {

// By source (as it is opened) and the file of the kernel's model.
using Programs = std::map<std::pair<std::string, std::string>, KernelProgram>;

struct Cost {
  std::string plan;
  std::string gpu;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  std::optional<double> before_us;  // nothing: there was no model
  double after_us = 0;
};

// As a fraction of the time before: 0.18 is slower by 18%. Nothing where there was no time before.
std::optional<double> growth(const Cost& cost);
// "+18%", "-3.4%", "+0.02%", "no change"
std::string growth_text(double growth);
// "K=8, N=2^20"
std::string sizes_text(const std::vector<std::pair<std::string, std::int64_t>>& parameters);

struct Costs {
  std::vector<Cost> costs;
  Diagnostics problems;  // why there are none
};

inline constexpr std::int64_t default_size =
    1024;  // of a parameter for which the plan gives no typical value

// The values that a plan is predicted for: those of the command line, else the plan's typical ones, else
// default_size. `defaulted`: the names of the last.
std::vector<NamedValues> sizes_of(const Plan& plan, const std::vector<NamedValues>& given,
                                  std::vector<std::string>* defaulted = nullptr);

// Where `before` is null or lacks a program, the costs have no time before. Errors are in Costs::problems.
Costs costs_of(const Plan& plan, const std::vector<const Gpu*>& gpus, const std::vector<NamedValues>& given,
               const Programs* before, const Programs& after);

// Whether the plan launches this kernel.
bool launches_kernel(const Plan& plan, const Programs& programs,
                     const std::pair<std::string, std::string>& kernel);

}  // namespace warptime::models
