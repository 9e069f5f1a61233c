#include "cli/views/comparison_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "cli/views/svg.h"
#include "cli/views/table.h"

namespace warptime::cli {
namespace {

constexpr double panel_width = 300, panel_height = 190;  // with its margins
constexpr double left_margin = 52, right_margin = 12, top_margin = 34, bottom_margin = 38;
constexpr std::size_t panels_in_a_row = 4;
constexpr double heading_height = 44;
constexpr char predicted_colour[] = "#1a1a1a", measured_colour[] = "#8c8c8c";

std::string file_name(std::string_view text) {
  std::string safe;
  for (const char c : text)
    safe += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ? c : '_';
  return safe;
}

struct Point {
  double size = 0, value = 0;
};

// Where a value lies between two ends, on a logarithmic or a linear axis.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  double share(double value) const {
    if (logarithmic) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return (value - low) / (high - low);
  }
};

// Sizes below 1 stand at 1: an axis of sizes is logarithmic.
Axis size_axis(const std::vector<ComparedRow>& rows, std::size_t size_parameter) {
  Axis axis{1e300, 1, true};
  for (const auto& row : rows) {
    const double size =
        row.values.empty() ? 1 : std::max(1.0, static_cast<double>(row.values[size_parameter]));
    axis.low = std::min(axis.low, size);
    axis.high = std::max(axis.high, size);
  }
  if (axis.low >= axis.high) {
    axis.low = std::max(0.5, axis.low / 2);
    axis.high *= 2;
  }
  return axis;
}

// The limit on the ticks of an axis; more would touch.
constexpr int most_axis_ticks = 100;
constexpr int most_power_ticks = 12;

// Round steps of a linear axis.
double step_of(double width) {
  if (!(width > 1e-300 && width < 1e300)) return width;
  const double power = std::pow(10, std::floor(std::log10(width / 4)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= width / 6) return factor * power;
  return 10 * power;
}

class Panel {
 public:
  Panel(double x, double y, Axis sizes, Axis values) : x_(x), y_(y), sizes_(sizes), values_(values) {}

  void frame(const std::string& title, const std::string& subtitle, const std::string& size_name) {
    const double width = panel_width - left_margin - right_margin,
                 height = panel_height - top_margin - bottom_margin;
    text(x_ + left_margin, y_ + 14, "start", 11, title, true);
    text(x_ + left_margin, y_ + 27, "start", 9, subtitle);
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
        "stroke=\"#666\"/>\n",
        x_ + left_margin, y_ + top_margin, width, height);
    size_ticks(size_name);
    value_ticks();
  }

  void line_at(double value) {
    svg_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#c33\" stroke-dasharray=\"4 "
        "3\"/>\n",
        x_ + left_margin, y_of(value), x_ + panel_width - right_margin, y_of(value));
  }

  void points(const std::vector<Point>& points, const char* colour, bool joined) {
    std::string line;
    for (const auto& point : points) {
      const double x = x_of(point.size), y = y_of(point.value);
      line += fmt::format("{:.1f},{:.1f} ", x, y);
      svg_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"5\" height=\"5\" fill=\"{}\"><title>{:.0f}: "
          "{:.6g}</title></rect>\n",
          x - 2.5, y - 2.5, colour, point.size, point.value);
    }
    if (joined && points.size() > 1)
      svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", line, colour);
  }

  const std::string& svg() const { return svg_; }

 private:
  double x_of(double size) const {
    return x_ + left_margin +
           std::clamp(sizes_.share(size), 0.0, 1.0) * (panel_width - left_margin - right_margin);
  }
  double y_of(double value) const {
    return y_ + panel_height - bottom_margin -
           std::clamp(values_.share(value), 0.0, 1.0) * (panel_height - top_margin - bottom_margin);
  }

  void text(double x, double y, const char* anchor, int size, const std::string& words, bool bold = false) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\"{}>{}</text>\n",
                        x, y, anchor, size, bold ? " font-weight=\"bold\"" : "", xml_escaped(words));
  }

  // Powers of two, every one to every fourth.
  void size_ticks(const std::string& name) {
    const int first = static_cast<int>(std::ceil(std::log2(sizes_.low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log2(sizes_.high) + 1e-9));
    const int step = std::max(1, (last - first + 7) / 8);
    for (int power = first; power <= last; power += step) {
      const double x = x_of(std::exp2(power)), y = y_ + panel_height - bottom_margin;
      svg_ +=
          fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#666\"/>\n",
                      x, y, y + 3);
      svg_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"9\">2<tspan dy=\"-3\" "
          "font-size=\"7\">{}</tspan></text>\n",
          x, y + 14, power);
    }
    text(x_ + (panel_width + left_margin - right_margin) / 2, y_ + panel_height - 8, "middle", 9, name);
  }

  void value_tick(double value, const std::string& label) {
    const double y = y_of(value);
    svg_ +=
        fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>\n",
                    x_ + left_margin, y, x_ + panel_width - right_margin, y);
    text(x_ + left_margin - 4, y + 3, "end", 9, label);
  }

  void value_ticks() {
    if (values_.logarithmic) {
      // The ends of the axis are powers of ten: at most 309 of them either way.
      const int first = static_cast<int>(std::ceil(std::log10(values_.low) - 1e-9));
      const int last = static_cast<int>(std::floor(std::log10(values_.high) + 1e-9));
      const int step = (last - first) / most_power_ticks + 1;
      for (int power = first; power <= last; power += step)
        value_tick(std::pow(10, power), sensible_time(std::pow(10, power)));
      return;
    }
    const double step = step_of(values_.high - values_.low);
    const double first_step = std::ceil(values_.low / step - 1e-9);
    for (int n = 0; n < most_axis_ticks; ++n) {
      const double value = (first_step + n) * step;
      if (!(value <= values_.high + step * 1e-9)) break;
      value_tick(value, sensible(std::abs(value) < step / 2 ? 0 : value));
    }
  }

  double x_, y_;
  Axis sizes_, values_;
  std::string svg_;
};

struct ComparisonFigure {
  const Plan* plan = nullptr;
  std::size_t size_parameter = 0;
  std::string letter;
  std::vector<std::pair<std::size_t, const Experiment*>> experiments;  // with their numbers

  std::string size_name() const {
    return plan->parameters.empty() ? "" : plan->parameters[size_parameter].name;
  }
  double size_of(const ComparedRow& row) const {
    return row.values.empty() ? 1 : std::max(1.0, static_cast<double>(row.values[size_parameter]));
  }
  std::string title_of(std::size_t i) const {
    const auto& [number, experiment] = experiments[i];
    const auto fixed = fixed_text(*plan, *experiment, size_parameter);
    return fmt::format("Exp. ({}){}{}", experiment_name(letter, number), fixed.empty() ? "" : "  ", fixed);
  }
  static std::string errors_text(const Experiment& experiment) {
    return fmt::format("mean error {:.1f}%, max {:.1f}%", experiment.errors.mean * 100,
                       experiment.errors.maximum * 100);
  }
};

// One value axis for all panels of a figure, so that they compare.
Axis ratio_axis(const ComparisonFigure& figure) {
  double away = 0.1;
  for (const auto& [number, experiment] : figure.experiments)
    for (const auto& row : experiment->rows) away = std::max(away, std::abs(row.ratio() - 1));
  away = std::min(away * 1.1, 1e6);
  return {std::max(0.0, 1 - away), 1 + away, false};
}

Axis times_axis(const ComparisonFigure& figure) {
  Axis axis{std::numeric_limits<double>::max(), 0, true};
  for (const auto& [number, experiment] : figure.experiments) {
    for (const auto& row : experiment->rows) {
      for (const double time : {row.measured_us, row.predicted_us}) {
        if (!(time > 0)) continue;
        axis.low = std::min(axis.low, time);
        axis.high = std::max(axis.high, time);
      }
    }
  }
  // 1e-307 and 1e308 are the outermost powers of ten that are ordinary numbers.
  if (axis.low > axis.high) return {1, 10, true};
  axis.low = std::pow(10, std::max(-307.0, std::floor(std::log10(axis.low))));
  axis.high = std::pow(10, std::min(308.0, std::ceil(std::log10(axis.high * 1.001))));
  if (axis.low >= axis.high) axis.low = axis.high / 10;
  return axis;
}

std::vector<Point> points_of(const ComparisonFigure& figure, const Experiment& experiment,
                             double (*value)(const ComparedRow&)) {
  std::vector<Point> points;
  for (const auto& row : experiment.rows)
    if (value(row) > 0) points.push_back({figure.size_of(row), value(row)});
  return points;
}
double ratio_value(const ComparedRow& row) {
  return row.ratio();
}
double measured_value(const ComparedRow& row) {
  return row.measured_us;
}
double predicted_value(const ComparedRow& row) {
  return row.predicted_us;
}

std::string document(double width, double height, const std::string& title, const std::string& legend,
                     const std::string& body) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  svg += fmt::format("<text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
                     xml_escaped(title));
  svg +=
      fmt::format("<text x=\"12\" y=\"36\" font-size=\"10\" fill=\"#444\">{}</text>\n", xml_escaped(legend));
  return svg + body + "</svg>\n";
}

std::size_t columns_of(const ComparisonFigure& figure) {
  return std::clamp<std::size_t>(figure.experiments.size(), 1, panels_in_a_row);
}

// Two panels for each experiment, one below the other.
std::string method_plot(const ComparisonFigure& figure, const std::string& title) {
  const Axis ratios = ratio_axis(figure), times = times_axis(figure);
  const std::size_t columns = columns_of(figure);
  std::string body;
  for (std::size_t i = 0; i < figure.experiments.size(); ++i) {
    const Experiment& experiment = *figure.experiments[i].second;
    const double x = static_cast<double>(i % columns) * panel_width;
    const double y = heading_height + static_cast<double>(i / columns) * 2 * panel_height;
    const Axis sizes = size_axis(experiment.rows, figure.size_parameter);
    Panel above(x, y, sizes, ratios);
    above.frame(figure.title_of(i), ComparisonFigure::errors_text(experiment), figure.size_name());
    above.line_at(1);
    above.points(points_of(figure, experiment, ratio_value), predicted_colour, false);
    Panel below(x, y + panel_height, sizes, times);
    below.frame("",
                fmt::format("measured {} to {}", sensible_time(experiment.shortest_us),
                            sensible_time(experiment.longest_us)),
                figure.size_name());
    below.points(points_of(figure, experiment, measured_value), measured_colour, true);
    below.points(points_of(figure, experiment, predicted_value), predicted_colour, false);
    body += above.svg() + below.svg();
  }
  const std::size_t lines = (figure.experiments.size() + columns - 1) / columns;
  return document(static_cast<double>(columns) * panel_width,
                  heading_height + static_cast<double>(lines) * 2 * panel_height, title,
                  "Above: predicted / measured. Below: times, measured grey, predicted black.", body);
}

// R of the measurements and of the model in one panel for each experiment.
std::string ratio_plot(const ComparisonFigure& figure, const std::string& title) {
  double highest = 0;
  for (const auto& [number, experiment] : figure.experiments)
    for (const auto& row : experiment->rows) highest = std::max({highest, row.measured_us, row.predicted_us});
  const Axis ratios{0, std::clamp(highest * 1.1, 1e-300, 1e300), false};
  const std::size_t columns = columns_of(figure);
  std::string body;
  for (std::size_t i = 0; i < figure.experiments.size(); ++i) {
    const Experiment& experiment = *figure.experiments[i].second;
    Panel panel(static_cast<double>(i % columns) * panel_width,
                heading_height + static_cast<double>(i / columns) * panel_height,
                size_axis(experiment.rows, figure.size_parameter), ratios);
    panel.frame(figure.title_of(i), ComparisonFigure::errors_text(experiment), figure.size_name());
    panel.line_at(1);
    panel.points(points_of(figure, experiment, measured_value), measured_colour, true);
    panel.points(points_of(figure, experiment, predicted_value), predicted_colour, false);
    body += panel.svg();
  }
  const std::size_t lines = (figure.experiments.size() + columns - 1) / columns;
  return document(static_cast<double>(columns) * panel_width,
                  heading_height + static_cast<double>(lines) * panel_height, title,
                  "Ratio of the two times: measured grey, predicted black.", body);
}

// The experiments by GPU, in order of appearance.
std::vector<std::pair<std::string, ComparisonFigure>> by_gpu(const Plan& plan, std::size_t size_parameter,
                                                             const std::string& letter,
                                                             const std::vector<Experiment>& experiments) {
  std::vector<std::pair<std::string, ComparisonFigure>> figures;
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const auto same = [&](const auto& figure) { return figure.first == experiments[i].gpu; };
    auto found = std::find_if(figures.begin(), figures.end(), same);
    if (found == figures.end())
      found = figures.insert(figures.end(),
                             {experiments[i].gpu, ComparisonFigure{&plan, size_parameter, letter, {}}});
    found->second.experiments.emplace_back(i, &experiments[i]);
  }
  return figures;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> comparison_plots(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> plots;
  for (const auto& method : comparison.methods) {
    for (const auto& [gpu, figure] :
         by_gpu(method.plan, method.size_parameter, method.letter, method.experiments))
      plots.emplace_back(file_name(fmt::format("{}_{}.svg", method.plan.name, gpu)),
                         method_plot(figure, fmt::format("{} on {}", method.plan.name, gpu)));
  }
  const auto& first = comparison.methods.front();
  for (const auto& ratio : comparison.ratios) {
    for (const auto& [gpu, figure] : by_gpu(first.plan, first.size_parameter, "R", ratio.experiments))
      plots.emplace_back(file_name(fmt::format("{}_to_{}_{}.svg", ratio.method, ratio.other, gpu)),
                         ratio_plot(figure, fmt::format("{} to {} on {}", ratio.method, ratio.other, gpu)));
  }
  return plots;
}

}  // namespace warptime::cli
