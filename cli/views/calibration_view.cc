#include "cli/views/calibration_view.h"

#include <fmt/format.h>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

// More digits than a measurement can bear out, and no more.
std::string seven_digits(double number) {
  return fmt::format("{:.7g}", number);
}

std::string error_percent(double share) {
  const double value = share * 100;
  return value < 0.01 ? fmt::format("{:.2g}%", value) : fmt::format("{:.2f}%", value);
}

std::string count_text(std::size_t count) {
  return fmt::format("{} measurement{}", count, count == 1 ? "" : "s");
}

std::string range_text(const FitRange& range) {
  if (range.open) return fmt::format("{:.4g} and more are as good", range.low);
  return fmt::format("{:.4g} to {:.4g} are as good", range.low, range.high);
}

// A duration that GPUs share has no range of its own.
bool is_shared(const FittedDuration& duration) {
  return duration.range.low == duration.range.high && !duration.range.open;
}

constexpr double t_p_floor_us = 0.1, t_m_floor_cycles = 0.5, scale_floor = 0.05, duration_floor_cycles = 5;

// What the data says little about, in words.
std::vector<std::string> undetermined(const Fit& fit) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& name, const FitRange& range, double floor, const char* hint) {
    if (hardly_determined(range, floor))
      words.push_back(fmt::format("the data hardly determines {}: {}{}", name, range_text(range), hint));
  };
  if (fit.t_p_fitted)
    add("t_p", fit.t_p_range, t_p_floor_us, "; measure small sizes, where the launch overhead matters");
  if (fit.t_m_fitted) add("t_m", fit.t_m_range, t_m_floor_cycles, "; measure large sizes, with many warps");
  if (fit.scale) add("the scale", fit.scale_range, scale_floor, "; measure large sizes, with many warps");
  for (const auto& duration : fit.durations)
    add("the duration of " + to_string(duration.name), duration.range, duration_floor_cycles, "");
  return words;
}

std::string quality(const GpuFit& of) {
  std::string text =
      fmt::format("fitted to {} of {}, mean error {}, maximum {}", count_text(of.fit.errors.count), of.files,
                  error_percent(of.fit.errors.mean), error_percent(of.fit.errors.maximum));
  if (of.held_out)
    text += fmt::format("; {} held out: mean error {}, maximum {}", of.held_out->errors.count,
                        error_percent(of.held_out->errors.mean), error_percent(of.held_out->errors.maximum));
  return text;
}

std::string report(const Plan& plan, const GpuFit& of) {
  const Fit& fit = of.fit;
  std::string text = fmt::format("# {} on {}: {}, mean error {}, maximum {} ({})\n", plan.name, of.gpu,
                                 count_text(fit.errors.count), error_percent(fit.errors.mean),
                                 error_percent(fit.errors.maximum), of.worst);
  if (of.held_out) {
    text += fmt::format("# held out: {}, mean error {}, maximum {} ({})\n",
                        count_text(of.held_out->errors.count), error_percent(of.held_out->errors.mean),
                        error_percent(of.held_out->errors.maximum), of.held_out->worst);
  }
  const std::string second = fit.scale
                                 ? fmt::format("scale {:.4g} ({})", *fit.scale, range_text(fit.scale_range))
                                 : fmt::format("t_m {:.4g} cycles ({})", fit.t_m_cycles,
                                               fit.t_m_fitted ? range_text(fit.t_m_range) : "given");
  text += fmt::format("# t_p {:.4g} µs ({}), {}\n", fit.t_p_us,
                      fit.t_p_fitted ? range_text(fit.t_p_range) : "given", second);
  for (const auto& duration : fit.durations)
    text += fmt::format("# {} {:.4g} cycles ({})\n", to_string(duration.name), duration.cycles,
                        is_shared(duration) ? "for all GPUs" : range_text(duration.range));
  for (const auto& words : undetermined(fit)) text += fmt::format("# {}\n", words);
  for (const auto& note : of.notes) text += fmt::format("# {}\n", wrapped(note, 1000));
  return text;
}

Json range_json(const FitRange& range) {
  return {{"low", range.low}, {"high", range.open ? Json() : Json(range.high)}};
}

Json errors_json(const Errors& errors, const std::string& worst) {
  return {{"measurements", errors.count},
          {"mean_error_percent", errors.mean * 100},
          {"max_error_percent", errors.maximum * 100},
          {"worst", worst}};
}

}  // namespace

std::string calibration_yaml(const Plan& plan, const std::vector<GpuFit>& fits, bool with_report) {
  std::string text;
  for (const auto& of : fits)
    if (with_report) text += report(plan, of);
  text += fmt::format("warptime: 1\nplan: {}\ncalibrations:\n",
                      Json(plan.name).dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const auto& of : fits) {
    std::string durations;
    for (const auto& duration : of.fit.durations)
      durations += fmt::format("{}{}: {}", durations.empty() ? "" : ", ", to_string(duration.name),
                               seven_digits(duration.cycles));
    if (!durations.empty()) durations = fmt::format("    memory_cycles: {{{}}}\n", durations);
    const std::string second =
        of.fit.scale ? "scale: " + seven_digits(*of.fit.scale) : "t_m: " + seven_digits(of.fit.t_m_cycles);
    text += fmt::format("  {}:\n    t_p: {}\n    {}\n{}    source: {}\n", of.gpu, seven_digits(of.fit.t_p_us),
                        second, durations,
                        Json(quality(of)).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text;
}

std::string calibration_json(const Plan& plan, const std::vector<GpuFit>& fits) {
  Json json;
  json["plan"] = plan.name;
  json["fits"] = Json::array();
  for (const auto& of : fits) {
    Json one;
    one["gpu"] = of.gpu;
    one["t_p_us"] = of.fit.t_p_us;
    one["t_m_cycles"] = of.fit.scale ? Json() : Json(of.fit.t_m_cycles);
    if (of.fit.scale) one["scale"] = *of.fit.scale;
    one["t_p_fitted"] = of.fit.t_p_fitted;
    one["t_m_fitted"] = of.fit.t_m_fitted;
    one["t_p_as_good"] = of.fit.t_p_fitted ? range_json(of.fit.t_p_range) : Json();
    one["t_m_as_good"] = of.fit.t_m_fitted ? range_json(of.fit.t_m_range) : Json();
    if (of.fit.scale) one["scale_as_good"] = range_json(of.fit.scale_range);
    for (const auto& duration : of.fit.durations)
      one["memory_cycles"][to_string(duration.name)] = {
          {"cycles", duration.cycles},
          {"as_good", is_shared(duration) ? Json() : range_json(duration.range)}};
    one["fitted"] = errors_json(of.fit.errors, of.worst);
    one["held_out"] = of.held_out ? errors_json(of.held_out->errors, of.held_out->worst) : Json();
    one["files"] = of.files;
    one["undetermined"] = undetermined(of.fit);
    one["notes"] = of.notes;
    json["fits"].push_back(std::move(one));
  }
  return json_text(json, 2) + "\n";
}

std::string calibration_csv(const Plan& plan, const std::vector<GpuFit>& fits) {
  std::string text = csv_line({"plan", "gpu", "t_p_us", "t_m_cycles", "measurements", "mean_error_percent",
                               "max_error_percent", "held_out", "held_out_mean_error_percent",
                               "held_out_max_error_percent", "t_p_low_us", "t_p_high_us", "t_m_low_cycles",
                               "t_m_high_cycles", "memory_cycles", "scale", "scale_low", "scale_high"});
  for (const auto& of : fits) {
    const Fit& fit = of.fit;
    std::string durations;
    for (const auto& duration : fit.durations)
      durations +=
          fmt::format("{}{}={}", durations.empty() ? "" : " ", to_string(duration.name), duration.cycles);
    const Errors held = of.held_out ? of.held_out->errors : Errors{};
    const bool any = of.held_out.has_value();
    text += csv_line({plan.name, of.gpu, exact(fit.t_p_us), fit.scale ? "" : exact(fit.t_m_cycles),
                      std::to_string(fit.errors.count), exact(fit.errors.mean * 100),
                      exact(fit.errors.maximum * 100), std::to_string(held.count),
                      any ? exact(held.mean * 100) : "", any ? exact(held.maximum * 100) : "",
                      exact(fit.t_p_range.low), exact(fit.t_p_range.high), exact(fit.t_m_range.low),
                      fit.t_m_range.open ? "" : exact(fit.t_m_range.high), durations,
                      fit.scale ? exact(*fit.scale) : "", fit.scale ? exact(fit.scale_range.low) : "",
                      fit.scale && !fit.scale_range.open ? exact(fit.scale_range.high) : ""});
  }
  return text;
}

}  // namespace warptime::cli
