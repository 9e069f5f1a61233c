#include "simulator/fit/nvprof_text.h"

#include <algorithm>
#include <vector>

namespace warptime {
namespace {

constexpr std::string_view kElided = "...";

std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> columns;
  for (std::size_t at = line.find_first_not_of(' '); at < line.size();) {
    const std::size_t end = std::min(line.find("  ", at), line.size());
    std::string_view column = line.substr(at, end - at);
    at = std::min(line.find_first_not_of(' ', end), line.size());
    if (column.starts_with(kElided)) column.remove_prefix(kElided.size());
    column.remove_prefix(std::min(column.find_first_not_of(' '), column.size()));
    if (!column.empty()) columns.emplace_back(column);
  }
  return columns;
}

bool is_heading_of_trace(const std::vector<std::string>& columns) {
  const auto has = [&](std::string_view title) {
    return std::find(columns.begin(), columns.end(), title) != columns.end();
  };
  return columns.size() > 2 && columns.front() == "Start" && has("Duration") && columns.back() == "Name";
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

void append_line(const std::vector<std::string>& columns, std::string& csv) {
  for (std::size_t i = 0; i < columns.size(); ++i) csv += (i == 0 ? "" : ",") + quoted(columns[i]);
}

}  // namespace

std::optional<std::string> csv_of_nvprof_text(std::string_view text) {
  std::string csv;
  std::size_t titles = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto columns = columns_of(line);
    if (titles == 0) {
      if (is_heading_of_trace(columns)) {
        titles = columns.size();
        append_line(columns, csv);
      }
    } else if (columns.size() == titles) {
      append_line(columns, csv);
    }
    csv += '\n';
  }
  if (titles == 0) return std::nullopt;
  return csv;
}

}  // namespace warptime
