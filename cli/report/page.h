// The page of a report: one HTML file that holds its data, its script and its style, and asks for nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warptime::cli {

// `report`: what report_json() gives. Its strings are text to the page, whatever they contain: the page's own markup is the same
// for every report.
std::string report_page(nlohmann::ordered_json report);

// The same for --watch: the open page looks now and then whether its file has another revision, and shows that.
// time_of_day: for people.
std::string watched_report_page(nlohmann::ordered_json report, const std::string& revision,
                                const std::string& time_of_day);

// The page of watched_report_page(), of the same revision, saying that it is older than its source: since when, and why.
// Nothing: `page` is no such page.
std::optional<std::string> stale_report_page(std::string_view page, const std::string& since,
                                             const std::string& why);

}  // namespace warptime::cli
