// The page of a report: one HTML file that holds its data, its script and its style, and asks for nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace warptime::cli {

// `report`: what report_json() gives. Its strings are text to the page, whatever they contain: the page's own markup is the same
// for every report.
std::string report_page(const nlohmann::ordered_json& report);

}  // namespace warptime::cli
