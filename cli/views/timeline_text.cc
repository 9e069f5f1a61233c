// A timeline for a terminal. Figure 7 of Puchala et al. (2022), which is
// samples/puchala2022/listing_1_load.yaml with 3 warps and t_m = 2, at two cycles to a column:
//
//   112 cycles: listing_1_load, 3 warps, t_m = 2 cycles
//
//   cycle  0         20        40        60        80        100
//          |----+----|----+----|----+----|----+----|----+----|----+
//   warp 1 #//////======#////////////////=====##//////
//   warp 2  #///////     =====##////////////////=====#///////
//   warp 3   #///////          ======#////////////////=====##//////
//   all    ###....======#=====##=====#...=====##=====#=====##......
//
//     # issue of a load or store (t_m)    = calculation    . idle    / memory transaction in progress
//
// Each warp has a second line, for its transactions, where they overlap with what it does (Figure 8). An
// elided stretch of a repeat is an … through all rows, and a line below says what it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/views/table.h"
#include "cli/views/timeline.h"

namespace warptime::cli {
namespace {

constexpr std::size_t most_text_rows = 64;   // warps; hardware has no more
constexpr std::size_t gap_columns = 3;       // " … "
constexpr std::size_t stretch_columns = 12;  // a stretch between gaps has so many, or more, on average
constexpr std::size_t tick_columns = 10;
constexpr std::size_t most_notes = 12;

// What is under way in a column: cycles of each.
enum Mark : std::uint8_t { issue, calculation, transaction, idle };
constexpr std::array<char, 4> symbols = {'#', '=', '/', '.'};
using Cell = std::array<float, 4>;

struct Stretch {  // between gaps
  double begin = 0, end = 0;
  std::size_t column = 0, columns = 0;
};

// Which part of the timeline goes where.
struct Layout {
  double scale = 1;  // cycles per column
  std::vector<Stretch> stretches;
  std::size_t columns = 0;
  bool open_end = false;  // … at the end, too
  // Gaps first to last - 1 and what is between them are drawn as one.
  std::size_t merged_first = 0, merged_last = 0;
};

std::size_t columns_of(double cycles, double scale) {
  return static_cast<std::size_t>(std::max(0.0, std::ceil(cycles / scale * (1 - 1e-12))));
}

std::vector<Stretch> stretches_of(const Timeline& timeline, std::size_t most, Layout& layout) {
  std::vector<Stretch> stretches;
  double begin = 0;
  for (const auto& gap : timeline.gaps) {
    stretches.push_back({begin, gap.at});
    begin = gap.at;
  }
  stretches.push_back({begin, timeline.end});
  if (stretches.size() <= most) return stretches;
  // The beginning and the end.
  layout.merged_first = most - 2;
  layout.merged_last = timeline.gaps.size();
  stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(most) - 1, stretches.end() - 1);
  return stretches;
}

Layout lay_out(const Timeline& timeline, std::size_t columns) {
  Layout layout;
  layout.open_end = timeline.ended_early;
  layout.stretches = stretches_of(timeline, std::max<std::size_t>(2, columns / stretch_columns), layout);
  const std::size_t gaps = layout.stretches.size() - 1 + (layout.open_end ? 1 : 0);
  const std::size_t room = columns - std::min(columns - 1, gaps * gap_columns);
  double cycles = 0;
  for (const auto& stretch : layout.stretches) cycles += stretch.end - stretch.begin;
  const auto needed = [&](double scale) {
    std::size_t sum = 0;
    for (const auto& stretch : layout.stretches) sum += columns_of(stretch.end - stretch.begin, scale);
    return sum;
  };
  // A column is a cycle where all fits and there is something to see.
  double scale = round_step(cycles / static_cast<double>(room));
  if (cycles >= 10) scale = std::max(1.0, scale);
  while (needed(scale) > room && cycles < scale * 1e6) scale = round_step(scale * 1.01);
  layout.scale = scale;
  for (auto& stretch : layout.stretches) {
    stretch.column = layout.columns;
    stretch.columns = columns_of(stretch.end - stretch.begin, scale);
    layout.columns += stretch.columns + gap_columns;
  }
  if (!layout.open_end) layout.columns -= gap_columns;
  return layout;
}

class Picture {
 public:
  Picture(const Timeline& timeline, const Layout& layout)
      : timeline_(timeline),
        layout_(layout),
        rows_(std::min(most_text_rows, static_cast<std::size_t>(timeline.warps))),
        cells_((rows_ + 1) * layout.columns, Cell{}) {
    for (const auto& interval : timeline.intervals) {
      const Mark mark = interval.activity == Activity::issue         ? issue
                        : interval.activity == Activity::calculation ? calculation
                                                                     : idle;
      add(rows_, mark, interval.begin, interval.end);
      if (mark != idle && static_cast<std::size_t>(interval.warp) < rows_)
        add(static_cast<std::size_t>(interval.warp), mark, interval.begin, interval.end);
    }
    for (const auto& one : timeline.transactions)
      if (static_cast<std::size_t>(one.warp) < rows_)
        add(static_cast<std::size_t>(one.warp), transaction, one.begin, one.end);
  }

  std::size_t rows() const { return rows_; }

  // The row's marks that count, the most of them in each column.
  std::string row(std::size_t row, std::initializer_list<Mark> marks) const {
    std::string text;
    std::size_t column = 0;
    for (const auto& stretch : layout_.stretches) {
      if (column < stretch.column) text += " … ";
      for (column = stretch.column; column < stretch.column + stretch.columns; ++column)
        text += symbol(cells_[row * layout_.columns + column], marks);
      column = stretch.column + stretch.columns;
    }
    if (layout_.open_end) text += " … ";
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  void add(std::size_t row, Mark mark, double begin, double end) {
    for (const auto& stretch : layout_.stretches) {
      const double from = std::max(begin, stretch.begin), to = std::min(end, stretch.end);
      if (!(to > from)) continue;
      auto column = static_cast<std::size_t>((from - stretch.begin) / layout_.scale);
      for (; column < stretch.columns; ++column) {
        const double left = stretch.begin + static_cast<double>(column) * layout_.scale;
        if (left >= to) break;
        const double share = (std::min(to, left + layout_.scale) - std::max(from, left)) / layout_.scale;
        // Rounding leaves slivers.
        if (share > 1e-9)
          cells_[row * layout_.columns + stretch.column + column][mark] += static_cast<float>(share);
      }
    }
  }

  static char symbol(const Cell& cell, std::initializer_list<Mark> marks) {
    char best = ' ';
    float most = 0;
    for (const Mark mark : marks) {
      if (cell[mark] <= most * 1.0001F) continue;
      most = cell[mark];
      best = symbols[mark];
    }
    return best;
  }

  const Timeline& timeline_;
  const Layout& layout_;
  std::size_t rows_;
  std::vector<Cell> cells_;
};

// Cycle numbers above their ticks. After a gap the first is the cycle, the others are counted from it where
// they would be too long.
std::pair<std::string, std::string> axis(const Timeline& timeline, const Layout& layout,
                                         std::size_t columns) {
  std::string numbers, ruler;
  std::size_t free_from = 0;
  const auto put = [&](std::size_t column, const std::string& number, std::size_t end) {
    if (column + number.size() > columns) column = columns - std::min(columns, number.size());
    if (column < free_from || column + number.size() > end) return;
    numbers.resize(std::max(numbers.size(), column + number.size()), ' ');
    numbers.replace(column, number.size(), number);
    free_from = column + number.size() + 1;
  };
  for (const auto& stretch : layout.stretches) {
    const bool last = &stretch == &layout.stretches.back();
    double offset = timeline.elided_before(stretch.end);
    if (stretch.begin == stretch.end && last)
      for (offset = 0; const auto& gap : timeline.gaps) offset += gap.time.total;
    ruler.resize(stretch.column, ' ');
    const double first = stretch.begin + offset;
    const bool relative = first >= 1e6;
    for (std::size_t column = 0; column < stretch.columns; ++column) {
      const bool tick = column % tick_columns == 0;
      ruler += tick ? '|' : column % tick_columns == tick_columns / 2 ? '+' : '-';
      if (!tick) continue;
      const double cycle = static_cast<double>(column) * layout.scale;
      const std::string number =
          column == 0 || !relative ? cycles_text(first + cycle) : fmt::format("+{}", cycles_text(cycle));
      put(stretch.column + column, number,
          column == 0 ? std::string::npos : stretch.column + stretch.columns + (last ? tick_columns : 0));
    }
  }
  return {numbers, ruler};
}

// The legend, with where the cycles went.
std::string legend(const Timeline& timeline, const Layout& layout) {
  const CorePackageTime& time = timeline.time;
  const std::vector<double> parts = {time.issue, time.calculation, time.waiting + time.tail};
  const auto shares = percentages(parts, time.issue + time.calculation + time.waiting + time.tail);
  std::string text;
  const auto line = [&](char symbol, const char* name, std::size_t part) {
    text += fmt::format("  {} {}: {} cycles ({})\n", symbol, name, cycles_text(parts[part]), shares[part]);
  };
  line('#', "issue of a load or store (t_m)", 0);
  line('=', "calculation", 1);
  line('.', "idle", 2);
  text += "  / memory transaction in progress\n";
  text +=
      fmt::format("  one column: {} {}", cycles_text(layout.scale), layout.scale == 1 ? "cycle" : "cycles");
  if (layout.scale > 1) text += "; it shows what takes most of them";
  return text + "\n";
}

std::string notes(const Timeline& timeline, const Layout& layout) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < timeline.gaps.size(); ++i) {
    if (i == layout.merged_first && layout.merged_last > 0) {
      const auto& gap = timeline.gaps[i];
      const double from = gap.at + timeline.elided_before(gap.at);
      const auto& until = timeline.gaps[layout.merged_last - 1];
      double to = until.at + timeline.elided_before(until.at) + until.time.total;
      notes.push_back(fmt::format("after cycle {}: {} cycles of {} such repetitions and what is between them",
                                  cycles_text(from), cycles_text(to - from),
                                  layout.merged_last - layout.merged_first));
      break;
    }
    notes.push_back(gap_note(timeline, timeline.gaps[i]));
  }
  const auto ending = ending_note(timeline);
  std::string text;
  for (std::size_t i = 0; i < std::min(notes.size(), most_notes); ++i)
    text += fmt::format("  … {}\n", notes[i]);
  if (notes.size() > most_notes)
    text += fmt::format("  … and {} more like these\n", notes.size() - most_notes);
  if (!ending.empty()) text += fmt::format("  … {}\n", ending);
  return text.empty() ? text : "elided:\n" + text;
}

}  // namespace

TimelineLimits text_limits(std::size_t columns) {
  const auto cycles = static_cast<double>(columns);
  return {4 * cycles, 0, cycles / 2, 1 << 18, 8 * cycles};
}

std::string timeline_text(const Timeline& timeline, std::size_t columns) {
  const std::string most = fmt::format("warp {} ", std::min<std::int64_t>(timeline.warps, most_text_rows));
  const std::size_t label = std::max<std::size_t>(most.size(), 6);
  const Layout layout = lay_out(timeline, columns - label);
  const Picture picture(timeline, layout);
  const bool two_lines = timeline.overlaps();

  std::string text = timeline_title(timeline) + "\n\n";
  const auto add = [&](const std::string& name, const std::string& row) {
    std::string line = fmt::format("{:<{}}{}", name, label, row);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const auto [numbers, ruler] = axis(timeline, layout, columns - label);
  add("cycle", numbers);
  add("", ruler);
  for (std::size_t warp = 0; warp < picture.rows(); ++warp) {
    const auto name = fmt::format("warp {}", warp + 1);
    if (two_lines) {
      add(name, picture.row(warp, {issue, calculation}));
      add("", picture.row(warp, {transaction}));
    } else {
      add(name, picture.row(warp, {issue, calculation, transaction}));
    }
  }
  const auto more = timeline.warps - static_cast<std::int64_t>(picture.rows());
  if (more > 0) add("…", fmt::format("{} more {} not drawn", more, more == 1 ? "warp, " : "warps,"));
  add("all", picture.row(picture.rows(), {issue, calculation, idle}));
  return text + "\n" + legend(timeline, layout) + notes(timeline, layout);
}

}  // namespace warptime::cli
