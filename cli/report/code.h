// The kernels of a report: their source and PTX line by line, what each instruction is to the model, control flow and loops.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/report/report.h"

namespace warptime::cli {

class ReportCode {
 public:
  explicit ReportCode(const ReportLimits& limits) : limits_(limits) {}

  // The kernels that the method's plan launches, each once, compiled for the method's first GPU. What cannot be analysed is said
  // in `missing`.
  nlohmann::ordered_json kernels_of(const ReportMethod& method, nlohmann::ordered_json& missing);
  // The files that kernels name by their index: name, kind, and lines. Long lines and long files are cut, which `cut` says.
  nlohmann::ordered_json take_files() { return std::move(files_); }

 private:
  nlohmann::ordered_json kernel_json(const ReportMethod& method, const PlanLaunch& launch,
                                     nlohmann::ordered_json& missing);
  std::size_t add_file(const std::string& name, const char* kind, const std::string& text);

  const ReportLimits limits_;
  nlohmann::ordered_json files_ = nlohmann::ordered_json::array();
  std::map<std::pair<std::string, std::string>, std::size_t> known_;  // by kind with name, and text
};

}  // namespace warptime::cli
