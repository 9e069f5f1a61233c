#include "cli/views/sparkline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "cli/views/style.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

constexpr std::size_t kMostPoints = 4096, kMostSeries = 40, kMostCharacters = 40;
constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct Series {
  std::string gpu, sizes;  // of the other parameters
  std::vector<std::pair<std::int64_t, double>> points;
};

std::string bars_of(const Series& series, double least, double most) {
  const std::size_t count = std::min(series.points.size(), kMostCharacters);
  std::string bars;
  for (std::size_t i = 0; i < count; ++i) {
    const double us = series.points[i * series.points.size() / count].second;
    const double at =
        most > least && us > 0 ? (std::log(us) - std::log(least)) / (std::log(most) - std::log(least)) : 0;
    bars += kBars[static_cast<std::size_t>(
        std::clamp(at * static_cast<double>(kBars.size()), 0.0, static_cast<double>(kBars.size()) - 1))];
  }
  return bars;
}

}  // namespace

void Sparklines::add(const PredictionRow& row) {
  if (points_.size() < kMostPoints) points_.push_back({row.gpu, row.parameters, row.time.total_us});
}

std::string Sparklines::text() const {
  if (points_.empty()) return {};
  std::optional<std::size_t> swept;
  for (std::size_t i = 0; i < points_.front().parameters.size(); ++i) {
    std::set<std::int64_t> values;
    for (const Point& point : points_) values.insert(point.parameters[i].second);
    if (values.size() >= 3) swept = i;
  }
  if (!swept) return {};
  std::vector<Series> all;
  double least = std::numeric_limits<double>::max(), most = 0;
  for (const Point& point : points_) {
    std::string sizes;
    for (std::size_t i = 0; i < point.parameters.size(); ++i)
      if (i != *swept)
        sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", point.parameters[i].first,
                             point.parameters[i].second);
    auto series = std::find_if(all.begin(), all.end(),
                               [&](const Series& one) { return one.gpu == point.gpu && one.sizes == sizes; });
    if (series == all.end()) {
      if (all.size() == kMostSeries) continue;
      series = all.insert(all.end(), {point.gpu, sizes, {}});
    }
    series->points.emplace_back(point.parameters[*swept].second, point.us);
    if (point.us > 0) least = std::min(least, point.us);
    most = std::max(most, point.us);
  }
  const std::string& name = points_.front().parameters[*swept].first;
  Table table(
      {{"gpu", Align::left}, {"", Align::left}, {"time over " + name, Align::left}, {"", Align::left}});
  for (Series& series : all) {
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto& [first, first_us] = series.points.front();
    const auto& [last, last_us] = series.points.back();
    table.add({series.gpu, series.sizes, bars_of(series, least, most),
               fmt::format("{} at {} to {} at {}", short_time(first_us), first, short_time(last_us), last)});
  }
  return table.take();
}

}  // namespace warptime::cli
