#include "cli/report/page.h"

#include <cstddef>
#include <string_view>

#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile report_bundle[];
}  // namespace warptime

namespace warptime::cli {
namespace {

// Stands for the data in page/bundle/report.html.
constexpr std::string_view kDataMark = "@REPORT@";

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

}  // namespace

std::string report_page(const nlohmann::ordered_json& report) {
  const std::string_view bundle = report_bundle[0].text;
  const std::size_t mark = bundle.find(kDataMark);
  std::string page(bundle.substr(0, mark));
  page += markup_free(report);
  page += bundle.substr(mark + kDataMark.size());
  return page;
}

}  // namespace warptime::cli
