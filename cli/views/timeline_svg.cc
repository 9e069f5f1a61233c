// A timeline as a figure for a paper, after Figures 7 and 8 of Puchala et al. (2022):
//
//   112 cycles: listing_1_load, 3 warps, t_m = 2 cycles
//            <--->
//   warp 1  █▨▨▨ ░▭▭▭█▨▨▨▨▨        █ issue  ▨ transaction  ▭ calculation  ░ idle
//   warp 2   █▨▨▨░    ▭▭▭█▨▨▨▨
//   all     ███  ░▭▭▭▭▭▭██…        idle goes through all rows
//           |----|----|----|----
//           0    10   20   30  cycles
//
// One file, no scripts, no fonts of its own; the four fills differ in grey, too.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/views/svg.h"
#include "cli/views/timeline.h"

namespace warptime::cli {
namespace {

// Pixels.
constexpr double drawn_width = 900;
constexpr double widest_cycle = 8;
constexpr double least_width = 420;  // of the drawing: the legend is below it
constexpr double gap_width = 24;
constexpr double margin = 12;
constexpr double title_height = 30;
constexpr double arrows_height = 18;
constexpr double box_height = 16;
constexpr double lane_height = 7;  // of transactions, where they overlap
constexpr double row_gap = 6;
constexpr double line_height = 16;
constexpr double letter_width = 6.6;
constexpr double touching = 0.05;      // what is no further apart
constexpr double ticks_apart = 60;     // at least
constexpr int most_ticks = 1000;       // of one stretch
constexpr std::size_t most_rows = 64;  // warps
constexpr std::size_t most_gaps = 24;  // more are drawn as one
constexpr double whole_cycles = 400;   // longer ones elide what repeats

// Hundredths of a pixel.
std::string pixels(double number) {
  std::string text = fmt::format("{:.2f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// 1, 2 or 5 times a power of ten: not below `least`.
double tick_step(double least) {
  double step = round_step(least);
  if (least < 1e-300 || least > 1e300) return step;
  while (std::string_view("125").find(fmt::format("{:e}", step)[0]) == std::string_view::npos)
    step = round_step(step * 1.01);
  return step;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class Figure {
 public:
  explicit Figure(const Timeline& timeline)
      : timeline_(timeline),
        rows_(std::min(most_rows, static_cast<std::size_t>(timeline.warps))),
        two_lanes_(timeline.overlaps()) {
    lay_out();
  }

  std::string draw() {
    title();
    idle();
    rows();
    transactions();
    boxes(Activity::calculation, "calculation");
    boxes(Activity::issue, "issue");
    gaps();
    axis();
    legend();
    return head() + body_ + "</svg>\n";
  }

 private:
  struct Span {
    double begin = 0, end = 0;
  };
  struct Stretch {
    double begin, end, x, width;
    std::size_t first_gap, gaps;  // that follow it, drawn as one
  };

  void lay_out() {
    std::vector<double> begins = {0};
    const auto& gaps = timeline_.gaps;
    double cycles = 0;
    const std::size_t shown = std::min(gaps.size(), most_gaps);
    for (std::size_t i = 0; i < shown; ++i) {
      const bool merged = i + 1 == shown && gaps.size() > shown;
      stretches_.push_back({begins.back(), gaps[i].at, 0, 0, i, merged ? gaps.size() - i : 1});
      begins.push_back(merged ? gaps.back().at : gaps[i].at);
    }
    stretches_.push_back({begins.back(), timeline_.end, 0, 0, gaps.size(), 0});
    for (const auto& stretch : stretches_) cycles += stretch.end - stretch.begin;
    const double gap_widths = gap_width * static_cast<double>(shown + (timeline_.ended_early ? 1 : 0));
    const double room = std::max(drawn_width / 2, drawn_width - gap_widths);
    scale_ = cycles > 0 ? std::min(room / cycles, std::max(widest_cycle, least_width / cycles)) : 1;

    const auto last = fmt::format("warp {}", std::max<std::size_t>(rows_, 1));
    left_ = margin + letter_width * static_cast<double>(std::max<std::size_t>(last.size(), 6)) + 8;
    double x = left_;
    for (auto& stretch : stretches_) {
      stretch.x = x;
      stretch.width = (stretch.end - stretch.begin) * scale_;
      x += stretch.width + gap_width;
    }
    if (!timeline_.ended_early) x -= gap_width;
    right_ = x;
    top_ = margin + title_height + arrows_height;
    row_height_ = box_height + (two_lanes_ ? lane_height : 0) + row_gap;
    more_ = timeline_.warps > static_cast<std::int64_t>(rows_);
    bottom_ = row_top(rows_ + (more_ ? 1 : 0)) + box_height + row_gap;
    width_ = std::max(right_, left_ + least_width) + margin + 30;
  }

  double row_top(std::size_t row) const { return top_ + row_gap + static_cast<double>(row) * row_height_; }
  std::size_t all_row() const { return rows_ + (more_ ? 1 : 0); }

  void rectangle(const char* style, double x, double y, double width, double height) {
    body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", style,
                         pixels(x), pixels(y), pixels(width), pixels(height));
  }
  void line(const char* style, double x1, double y1, double x2, double y2) {
    body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", style, pixels(x1),
                         pixels(y1), pixels(x2), pixels(y2));
  }
  void text(double x, double y, const std::string& what, const char* anchor = "start") {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", pixels(x), pixels(y),
                         anchor, xml_escaped(what));
    if (std::string_view(anchor) == "start")
      width_ = std::max(width_, x + letter_width * static_cast<double>(characters(what)) + margin);
  }

  // Calls on_part(x, width) for each stretch that the time is in.
  template <class OnPart>
  void place(double begin, double end, const OnPart& on_part) const {
    auto stretch = std::lower_bound(stretches_.begin(), stretches_.end(), begin,
                                    [](const Stretch& one, double time) { return one.end <= time; });
    for (; stretch != stretches_.end() && stretch->begin < end; ++stretch) {
      const double from = std::max(begin, stretch->begin), to = std::min(end, stretch->end);
      if (to > from) on_part(stretch->x + (from - stretch->begin) * scale_, (to - from) * scale_);
    }
  }

  void title() { text(margin, margin + 14, timeline_title(timeline_)); }

  void rows() {
    for (std::size_t row = 0; row < rows_; ++row)
      text(margin, row_top(row) + 12, fmt::format("warp {}", row + 1));
    if (more_)
      text(margin, row_top(rows_) + 12,
           fmt::format("… {} more warps are not drawn", timeline_.warps - static_cast<std::int64_t>(rows_)));
    text(margin, row_top(all_row()) + 12, "all");
  }

  // Through all rows, with arrows above.
  void idle() {
    Span open;
    const auto flush = [&] {
      place(open.begin, open.end, [&](double x, double width) {
        rectangle("idle", x, top_, width, bottom_ - top_);
        if (width >= 6) arrows(x, x + width, top_ - 7);
      });
    };
    for (const auto& one : timeline_.intervals)
      if (one.activity >= Activity::waiting) extend(open, {one.begin, one.end}, flush);
    flush();
  }

  void arrows(double x, double end, double y) {
    line("arrow", x, y, end, y);
    for (const double tip : {x, end}) {
      const double inwards = tip == x ? 3 : -3;
      line("arrow", tip, y, tip + inwards, y - 2.5);
      line("arrow", tip, y, tip + inwards, y + 2.5);
    }
  }

  // What is too thin to tell from what it touches grows it; everything else is drawn by itself.
  template <class Flush>
  void extend(Span& open, const Span& next, const Flush& flush) const {
    if (!(next.end > next.begin)) return;
    const bool thin = (next.end - next.begin) * scale_ < 1 || (open.end - open.begin) * scale_ < 1;
    if (open.end > open.begin && thin && (next.begin - open.end) * scale_ < touching) {
      open.end = std::max(open.end, next.end);
      return;
    }
    if (open.end > open.begin) flush();
    open = next;
  }

  void boxes(Activity activity, const char* style) {
    std::map<int, Span> open;  // by warp
    Span all;
    const auto draw = [&](const Span& span, std::size_t row) {
      place(span.begin, span.end,
            [&](double x, double width) { rectangle(style, x, row_top(row), width, box_height); });
    };
    for (const auto& one : timeline_.intervals) {
      if (one.activity != activity) continue;
      extend(all, {one.begin, one.end}, [&] { draw(all, all_row()); });
      const auto row = static_cast<std::size_t>(one.warp);
      if (row >= rows_) continue;
      Span& own = open[one.warp];
      extend(own, {one.begin, one.end}, [&] { draw(own, row); });
    }
    draw(all, all_row());
    for (const auto& [warp, span] : open) draw(span, static_cast<std::size_t>(warp));
  }

  void transactions() {
    std::map<int, Span> open;  // by warp
    const auto draw = [&](const Span& span, int warp) {
      const double y = row_top(static_cast<std::size_t>(warp)) + (two_lanes_ ? box_height : 0);
      place(span.begin, span.end, [&](double x, double width) {
        rectangle("transaction", x, y, width, two_lanes_ ? lane_height : box_height);
      });
    };
    for (const auto& one : timeline_.transactions) {
      if (static_cast<std::size_t>(one.warp) >= rows_) continue;
      Span& own = open[one.warp];
      extend(own, {one.begin, one.end}, [&] { draw(own, one.warp); });
    }
    for (const auto& [warp, span] : open) draw(span, warp);
  }

  void gaps() {
    for (const auto& stretch : stretches_) {
      const bool last = &stretch == &stretches_.back();
      if (last && !timeline_.ended_early) break;
      const double x = stretch.x + stretch.width + gap_width / 2;
      text(x, (top_ + bottom_) / 2, "…", "middle");
      text(x, bottom_ + 4, "…", "middle");
    }
  }

  void axis() {
    const double step = tick_step(ticks_apart / scale_);
    for (const auto& stretch : stretches_) {
      line("axis", stretch.x, bottom_, stretch.x + stretch.width, bottom_);
      const double offset = timeline_.elided_before(std::nextafter(stretch.begin, 1e300));
      const double first = offset + stretch.begin;
      // Counted from the gap where numbers would get too long.
      const bool relative = first >= 1e6;
      const bool last = &stretch == &stretches_.back();
      const auto tick = [&](double from_left, const std::string& label) {
        const double x = stretch.x + from_left;
        line("axis", x, bottom_, x, bottom_ + 5);
        text(x, bottom_ + 18, label, "middle");
      };
      if (relative) tick(0, cycles_text(first));
      // In whole numbers of steps: where `first` is large, `first + step` may be `first` again.
      const double first_step = relative ? 1 : std::ceil(first / step);
      const double room = last ? stretch.width + 1e-6 : stretch.width - 12;
      for (int n = 0; n < most_ticks; ++n) {
        const double cycles = (first_step + n) * step;
        const double x = (relative ? cycles : cycles - first) * scale_;
        if (!(x <= room)) break;
        tick(x, relative ? "+" + cycles_text(cycles) : cycles_text(cycles));
      }
    }
    text(std::max(right_, left_ + 40), bottom_ + 34, "cycles", "end");
  }

  void legend() {
    double y = bottom_ + 48;
    const auto& time = timeline_.time;
    const auto entry = [&](const char* style, const std::string& what) {
      rectangle(style, margin, y, 24, 12);
      text(margin + 32, y + 10, what);
      y += line_height + 2;
    };
    entry("issue",
          fmt::format("issue of a load or store (SIMT front end, t_m): {} cycles", cycles_text(time.issue)));
    entry("transaction", "memory transaction in progress");
    entry("calculation", fmt::format("calculation: {} cycles", cycles_text(time.calculation)));
    entry("idle", fmt::format("idle: {} cycles", cycles_text(time.waiting + time.tail)));
    for (const auto& stretch : stretches_) {
      if (stretch.gaps == 0) continue;
      const auto& gap = timeline_.gaps[stretch.first_gap];
      std::string note = gap_note(timeline_, gap);
      if (stretch.gaps > 1) {
        double cycles = timeline_.gaps.back().at - gap.at;
        for (std::size_t i = stretch.first_gap; i < timeline_.gaps.size(); ++i)
          cycles += timeline_.gaps[i].time.total;
        note = fmt::format("after cycle {}: {} cycles of {} such repetitions and what is between them",
                           cycles_text(gap.at + timeline_.elided_before(gap.at)), cycles_text(cycles),
                           stretch.gaps);
      }
      text(margin, y + 10, "elided … " + note);
      y += line_height;
    }
    if (const auto note = ending_note(timeline_); !note.empty()) {
      text(margin, y + 10, "elided … " + note);
      y += line_height;
    }
    height_ = y + margin;
  }

  std::string head() const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<title>{2}</title>\n"
        "<defs>\n"
        "<pattern id=\"hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\">\n"
        "<rect width=\"4\" height=\"4\" fill=\"#ffffff\"/>\n"
        "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"4\" stroke=\"#333333\" stroke-width=\"1.4\"/>\n"
        "</pattern>\n"
        "</defs>\n"
        "<style>\n"
        "text {{ font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #000000; }}\n"
        ".issue {{ fill: #000000; }}\n"
        ".transaction {{ fill: url(#hatch); stroke: #333333; stroke-width: 0.4; }}\n"
        ".calculation {{ fill: #7fb2dd; stroke: #000000; stroke-width: 0.4; }}\n"
        ".idle {{ fill: #e4e4e4; }}\n"
        ".axis, .arrow {{ stroke: #000000; stroke-width: 0.8; }}\n"
        "</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        pixels(std::ceil(width_)), pixels(std::ceil(height_)), xml_escaped(timeline_title(timeline_)));
  }

  const Timeline& timeline_;
  std::size_t rows_;
  bool two_lanes_, more_ = false;
  std::vector<Stretch> stretches_;
  double scale_ = 1;  // pixels per cycle
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, row_height_ = 0, width_ = 0, height_ = 0;
  std::string body_;
};

}  // namespace

TimelineLimits svg_limits() {
  return {whole_cycles, 0, whole_cycles / 4, 50'000, 4 * whole_cycles};
}

std::string timeline_svg(const Timeline& timeline) {
  return Figure(timeline).draw();
}

}  // namespace warptime::cli
