#include "cli/views/sm_timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cli/views/svg.h"
#include "cli/views/table.h"
#include "cli/views/timeline.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;
using Interval = SmTimeline::Interval;

constexpr std::size_t kMostWarpRows = 16;    // more warps have no rows of their own
constexpr double kUsualCyclesOfColumn = 10;  // of long runs
constexpr double kWholeUpTo = 4;             // times as many: then all of it
constexpr std::size_t kSvgColumns = 1000;
constexpr double kMostTraceCycles = 100'000;
constexpr std::size_t kMostTraceEvents = 100'000;
constexpr std::size_t kTickColumns = 10, kLeastColumns = 20;

struct Row {
  std::string name;
  const std::vector<Interval>* intervals = nullptr;
};

// The part of a timeline that is drawn, in columns.
struct Drawing {
  double begin = 0, end = 0, column = 1;  // cycles
  std::vector<Row> rows;
  std::size_t partitions = 0;  // of the rows, the first
  std::size_t warps = 0;       // that do something then

  std::size_t columns() const { return static_cast<std::size_t>(std::ceil((end - begin) / column - 1e-9)); }
};

bool overlaps(const std::vector<Interval>& intervals, double begin, double end) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& one) { return one.end > begin && one.begin < end; });
}

Drawing drawing_of(const SmTimeline& timeline, const DrawnCycles& cycles, std::size_t columns,
                   double cycles_of_column) {
  Drawing drawing;
  const auto width = static_cast<double>(columns);
  drawing.end = timeline.collected;
  if (cycles) {
    drawing.begin = std::min(cycles->first, timeline.collected);
    drawing.end = std::min(cycles->second, timeline.collected);
  } else if (drawing.end > kWholeUpTo * cycles_of_column * width) {
    drawing.end = cycles_of_column * width;
  }
  drawing.column = round_step(std::max((drawing.end - drawing.begin) / width, 1.0));
  for (std::size_t i = 0; i < timeline.partitions.size(); ++i)
    drawing.rows.push_back({fmt::format("partition {}", i + 1), &timeline.partitions[i]});
  drawing.partitions = drawing.rows.size();
  std::vector<Row> warps;
  for (const SmTimeline::WarpRow& warp : timeline.warps) {
    if (!overlaps(warp.intervals, drawing.begin, drawing.end)) continue;
    ++drawing.warps;
    if (drawing.warps <= kMostWarpRows)
      warps.push_back({fmt::format("block {} warp {}", warp.block, warp.warp), &warp.intervals});
  }
  if (drawing.warps <= kMostWarpRows) drawing.rows.insert(drawing.rows.end(), warps.begin(), warps.end());
  return drawing;
}

// The index of the state that takes most of each column; -1: none.
std::vector<int> cells_of(const Drawing& drawing, const std::vector<Interval>& intervals) {
  const std::size_t columns = drawing.columns(), states = SmTimeline::states().size();
  std::vector<double> cycles(columns * states);
  for (const Interval& one : intervals) {
    const double begin = std::max(one.begin, drawing.begin), end = std::min(one.end, drawing.end);
    if (!(end > begin)) continue;
    auto at = static_cast<std::size_t>((begin - drawing.begin) / drawing.column);
    for (; at < columns; ++at) {
      const double from = drawing.begin + static_cast<double>(at) * drawing.column;
      if (from >= end) break;
      cycles[at * states + one.state] += std::min(end, from + drawing.column) - std::max(begin, from);
    }
  }
  std::vector<int> cells(columns, -1);
  for (std::size_t at = 0; at < columns; ++at) {
    const auto first = cycles.begin() + static_cast<std::ptrdiff_t>(at * states);
    const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(states));
    if (*most > 0) cells[at] = static_cast<int>(most - first);
  }
  return cells;
}

std::string title_of(const SmTimeline& timeline) {
  return fmt::format("{} cycles of one SM: {} on {}{}: grid {}, block {}",
                     cycles_text(std::round(timeline.sm_cycles)), timeline.kernel, timeline.row.gpu,
                     with_values(timeline.row.parameters), to_string(timeline.size.grid),
                     to_string(timeline.size.block));
}

// What is not drawn.
std::vector<std::string> cuts_of(const SmTimeline& timeline, const Drawing& drawing) {
  std::vector<std::string> notes;
  if (drawing.begin > 0 || drawing.end < timeline.sm_cycles - 1)
    notes.push_back(fmt::format("cut: cycles {} to {} of {} are drawn (--cycles FROM..TO draws others{})",
                                cycles_text(std::round(drawing.begin)), cycles_text(std::round(drawing.end)),
                                cycles_text(std::round(timeline.sm_cycles)),
                                timeline.collected < timeline.sm_cycles - 1
                                    ? fmt::format(", up to {}", cycles_text(std::floor(timeline.collected)))
                                    : ""));
  if (drawing.warps > kMostWarpRows)
    notes.push_back(fmt::format("{} warps run in these cycles: rows of warps are drawn for at most {}",
                                drawing.warps, kMostWarpRows));
  return notes;
}

// Cycles of all partitions by state, in what is drawn; the last: in none.
std::vector<double> totals_of(const SmTimeline& timeline, const Drawing& drawing) {
  std::vector<double> totals(SmTimeline::states().size() + 1);
  for (const auto& partition : timeline.partitions) {
    double known = 0;
    for (const Interval& one : partition) {
      const double cycles = std::min(one.end, drawing.end) - std::max(one.begin, drawing.begin);
      if (!(cycles > 0)) continue;
      totals[one.state] += cycles;
      known += cycles;
    }
    totals.back() += std::max(drawing.end - drawing.begin - known, 0.0);
  }
  return totals;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string without_end_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string axis(const Drawing& drawing, std::size_t margin) {
  std::string numbers(margin, ' '), ticks(margin, ' ');
  numbers.replace(0, 5, "cycle");
  const std::size_t columns = drawing.columns();
  for (std::size_t at = 0; at < columns; ++at) {
    ticks += at % kTickColumns == 0 ? '|' : at % kTickColumns == kTickColumns / 2 ? '+' : '-';
    if (at % kTickColumns != 0) continue;
    const std::string number = cycles_text(drawing.begin + static_cast<double>(at) * drawing.column);
    if (margin + at < numbers.size()) continue;  // the number before is long
    numbers = padded(std::move(numbers), margin + at) + number + " ";
  }
  return without_end_blanks(std::move(numbers)) + ticks + "\n";
}

const char* color_of(std::size_t state) {
  static constexpr std::array<const char*, 11> colors = {"#1b1b1b", "#7a3b00", "#c98b2b", "#4f7cac",
                                                         "#2a9d8f", "#1b5e57", "#cfd8dc", "#b5179e",
                                                         "#e76f51", "#f4e3b2", "#9aa5b1"};
  return colors[state % colors.size()];
}

}  // namespace

std::string sm_timeline_text(const SmTimeline& timeline, const DrawnCycles& cycles, std::size_t columns) {
  std::size_t margin = 0;
  const auto width = [&] { return columns > margin + kLeastColumns ? columns - margin : kLeastColumns; };
  for (const Row& row : drawing_of(timeline, cycles, width(), kUsualCyclesOfColumn).rows)
    margin = std::max(margin, row.name.size() + 1);
  const Drawing drawing = drawing_of(timeline, cycles, width(), kUsualCyclesOfColumn);
  std::string text = title_of(timeline) + "\n\n" + axis(drawing, margin);
  const auto states = SmTimeline::states();
  std::vector<bool> used(states.size());
  for (const Row& row : drawing.rows) {
    std::string line = padded(row.name, margin);
    for (const int state : cells_of(drawing, *row.intervals)) {
      line += state < 0 ? ' ' : states[static_cast<std::size_t>(state)].symbol;
      if (state >= 0) used[static_cast<std::size_t>(state)] = true;
    }
    text += without_end_blanks(std::move(line));
  }
  text += '\n';
  const std::vector<double> totals = totals_of(timeline, drawing);
  const std::vector<std::string> shares =
      percentages(totals, static_cast<double>(drawing.partitions) * (drawing.end - drawing.begin));
  for (std::size_t i = 0; i < states.size(); ++i)
    if (used[i] || totals[i] > 0)
      text += totals[i] > 0 ? fmt::format("  {} {}: {} of the partitions' cycles\n", states[i].symbol,
                                          states[i].title, shares[i])
                            : fmt::format("  {} {}\n", states[i].symbol, states[i].title);
  if (totals.back() > 0.5) text += fmt::format("    no warp: {} of the partitions' cycles\n", shares.back());
  text += fmt::format("  one column: {} {}{}\n", cycles_text(drawing.column),
                      drawing.column == 1 ? "cycle" : "cycles",
                      drawing.column > 1 ? "; it shows what takes most of them" : "");
  for (const std::string& note : cuts_of(timeline, drawing)) text += "  " + note + "\n";
  return text;
}

std::string sm_timeline_svg(const SmTimeline& timeline, const DrawnCycles& cycles) {
  const Drawing drawing = drawing_of(timeline, cycles, kSvgColumns, kUsualCyclesOfColumn);
  constexpr std::size_t margin = 130, row_height = 18, bar = 14, top = 44;
  const auto states = SmTimeline::states();
  std::string rows;
  std::vector<bool> used(states.size());
  std::size_t y = top;
  for (const Row& row : drawing.rows) {
    rows += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", margin - 8, y + 11,
                        xml_escaped(row.name));
    const std::vector<int> cells = cells_of(drawing, *row.intervals);
    for (std::size_t at = 0; at < cells.size();) {
      std::size_t end = at + 1;
      while (end < cells.size() && cells[end] == cells[at]) ++end;
      if (cells[at] >= 0) {
        const auto state = static_cast<std::size_t>(cells[at]);
        used[state] = true;
        rows += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", margin + at,
                            y, end - at, bar, color_of(state));
      }
      at = end;
    }
    y += row_height;
  }
  std::string axis_marks;
  for (std::size_t at = 0; at < drawing.columns(); at += 100)
    axis_marks += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", margin + at, top - 6,
                              cycles_text(drawing.begin + static_cast<double>(at) * drawing.column));
  std::string legend;
  y += 10;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!used[i]) continue;
    legend += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n<text x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        margin, y, color_of(i), margin + 18, y + 10, states[i].title);
    y += row_height;
  }
  for (const std::string& note : cuts_of(timeline, drawing)) {
    legend += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", margin, y + 10, xml_escaped(note));
    y += row_height;
  }
  const std::size_t width = margin + kSvgColumns + 20;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"18\" font-weight=\"bold\">{3}</text>\n{4}{5}{6}</svg>\n",
      width, y + 10, margin, xml_escaped(title_of(timeline)), axis_marks, rows, legend);
}

std::string sm_timeline_perfetto(const SmTimeline& timeline, const DrawnCycles& cycles) {
  const DrawnCycles all = cycles ? cycles : DrawnCycles({0, std::min(timeline.collected, kMostTraceCycles)});
  Drawing drawing = drawing_of(timeline, all, 1, 1);
  Json events = Json::array();
  const auto states = SmTimeline::states();
  const auto name = [&](const char* what, std::size_t thread, const std::string& text) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", thread}, {"args", {{"name", text}}}});
  };
  name("process_name", 0, title_of(timeline));
  std::vector<std::pair<std::string, const std::vector<Interval>*>> threads;
  for (std::size_t i = 0; i < timeline.partitions.size(); ++i)
    threads.emplace_back(fmt::format("partition {}", i + 1), &timeline.partitions[i]);
  for (const SmTimeline::WarpRow& warp : timeline.warps)
    if (overlaps(warp.intervals, drawing.begin, drawing.end))
      threads.emplace_back(
          fmt::format("partition {}: block {} warp {}", warp.partition + 1, warp.block, warp.warp),
          &warp.intervals);
  // As many cycles as have no more events than that.
  std::vector<double> begins;
  for (const auto& [title, intervals] : threads)
    for (const Interval& one : *intervals)
      if (one.end > drawing.begin && one.begin < drawing.end) begins.push_back(one.begin);
  if (begins.size() > kMostTraceEvents) {
    const auto last = begins.begin() + static_cast<std::ptrdiff_t>(kMostTraceEvents);
    std::nth_element(begins.begin(), last, begins.end());
    drawing.end = *last;
  }
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    name("thread_name", thread + 1, threads[thread].first);
    for (const Interval& one : *threads[thread].second) {
      if (one.end <= drawing.begin || one.begin >= drawing.end) continue;
      const auto& state = states[one.state];
      events.push_back({{"name", state.title},
                        {"cat", state.key},
                        {"ph", "X"},
                        {"ts", exact_json(one.begin)},
                        {"dur", exact_json(one.end - one.begin)},
                        {"pid", 1},
                        {"tid", thread + 1},
                        {"args", {{"where", timeline.places[one.place]}}}});
    }
  }
  Json about = {{"title", title_of(timeline)},
                {"unit", "1 us is 1 cycle of the SM"},
                {"cycles", exact_json(timeline.sm_cycles)},
                {"first_cycle", exact_json(drawing.begin)},
                {"last_cycle", exact_json(drawing.end)}};
  about["whole"] = drawing.begin == 0 && drawing.end >= timeline.sm_cycles - 1;
  return json_text({{"traceEvents", std::move(events)},
                    {"displayTimeUnit", "ns"},
                    {"otherData", std::move(about)}}) +
         "\n";
}

}  // namespace warptime::cli
