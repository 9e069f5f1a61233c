#include "cli/report/page.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile report_bundle[];
}  // namespace warptime

namespace warptime::cli {
namespace {

// In page/bundle/report.html, in this order: what stands for the end of the policy and of the head, and for the data.
constexpr std::string_view kPolicyMark = "@WATCH-POLICY@", kHeadMark = "@WATCH@", kDataMark = "@REPORT@";

constexpr std::string_view kWatchBegin = R"(<script type="application/json" id="watch">)";
constexpr std::string_view kWatchEnd = "</script>";

// JSON in ASCII without `<`, `>` and `&`: no string of it can end the element that it is in, begin a comment, or change the
// direction of the text around it.
std::string markup_free(const nlohmann::ordered_json& report) {
  const std::string json = report.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

// In a timeline's intervals, begin becomes what is between an interval and the one before it: mostly nothing (src/timeline.js
// adds it up again). Both are in tenths of cycles, and whole.
void use_gaps(nlohmann::ordered_json& intervals) {
  constexpr std::size_t numbers = 4;  // begin, cycles, state, place
  const auto tenths = [](double cycles) { return static_cast<std::int64_t>(std::llround(10 * cycles)); };
  std::int64_t end = 0;
  for (std::size_t i = 0; i + numbers <= intervals.size(); i += numbers) {
    const double begins = intervals[i], cycles = intervals[i + 1];
    const std::int64_t begin = tenths(begins), ends = tenths(begins + cycles);
    intervals[i] = begin - end;
    intervals[i + 1] = ends - begin;
    end = ends;
  }
}

void keep_only(nlohmann::ordered_json& object, std::initializer_list<std::string_view> keys) {
  for (auto at = object.begin(); at != object.end();)
    at = std::find(keys.begin(), keys.end(), at.key()) == keys.end() ? object.erase(at) : std::next(at);
}

// Of the items of a kernel program, what src/code.js and src/main.js read.
void trim_items(nlohmann::ordered_json& items) {
  for (auto& item : items) {
    keep_only(item, {"instructions", "calc", "load", "store", "repeat", "body", "when", "then", "else",
                     "lines", "ptx", "threads"});
    for (const char* inner : {"body", "then", "else"})
      if (item.contains(inner)) trim_items(item[inner]);
  }
}

// What the page shows of the document.
void trim(nlohmann::ordered_json& report) {
  constexpr std::size_t most_warps = 24;  // MOST_WARPS of src/timeline.js
  for (auto& method : report.at("methods")) {
    for (auto& kernel : method.at("kernels")) {
      auto& program = kernel.at("program");
      keep_only(program, {"assumptions", "not_modelled", "program"});
      if (program.contains("program")) trim_items(program["program"]);
    }
    for (auto& counters : method.at("counters")) counters.erase("notes");
    for (auto& timeline : method.at("timelines")) {
      auto& warps = timeline.at("warps");
      if (warps.size() > most_warps) warps.erase(warps.begin() + most_warps, warps.end());
      for (auto& warp : warps) use_gaps(warp.at("intervals"));
      for (auto& partition : timeline.at("partitions")) use_gaps(partition);
    }
  }
}

std::string watch_element(const nlohmann::ordered_json& watch) {
  return std::string(kWatchBegin) + markup_free(watch) + std::string(kWatchEnd);
}

// The bundle with these texts in place of its marks.
std::string page_of(std::string_view policy, std::string_view head, std::string_view data) {
  std::string_view rest = report_bundle[0].text;
  std::string page;
  page.reserve(rest.size() + policy.size() + head.size() + data.size());
  for (const auto& [mark, text] :
       {std::pair(kPolicyMark, policy), std::pair(kHeadMark, head), std::pair(kDataMark, data)}) {
    const std::size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  page += rest;
  return page;
}

}  // namespace

std::string report_page(nlohmann::ordered_json report) {
  trim(report);
  return page_of("", "", markup_free(report));
}

std::string watched_report_page(nlohmann::ordered_json report, const std::string& revision,
                                const std::string& time_of_day) {
  trim(report);
  // Its first line is the policy's, the rest the head's, which follows the element that its script reads.
  const std::string_view watch = report_bundle[1].text;
  const std::size_t line = watch.find('\n');
  const std::string head =
      watch_element({{"revision", revision}, {"time", time_of_day}, {"stale", nullptr}}) +
      std::string(watch.substr(line + 1));
  return page_of(watch.substr(0, line), head, markup_free(report));
}

std::optional<std::string> stale_report_page(std::string_view page, const std::string& since,
                                             const std::string& why) {
  const std::size_t begin = page.find(kWatchBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t text = begin + kWatchBegin.size(), end = page.find(kWatchEnd, text);
  if (end == std::string_view::npos) return std::nullopt;
  auto watch = nlohmann::ordered_json::parse(page.substr(text, end - text), nullptr, false);
  if (!watch.is_object()) return std::nullopt;
  watch["stale"] = {{"since", since}, {"why", why}};
  return std::string(page.substr(0, begin)) + watch_element(watch) +
         std::string(page.substr(end + kWatchEnd.size()));
}

}  // namespace warptime::cli
