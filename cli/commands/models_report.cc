#include "cli/commands/models_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "cli/options/options.h"
#include "cli/views/style.h"
#include "cli/views/table.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

constexpr std::size_t text_width = 110;

bool is_quiet(const ModelReport& model) {
  return model.status == "skipped" || model.status == "unchanged" || model.status == "up to date";
}

using models::Cost;

std::string at_sizes(const Cost& cost) {
  const auto sizes = models::sizes_text(cost.parameters);
  return sizes.empty() ? "" : " at " + sizes;
}

// Slower is red, faster green.
std::string growth_in_colour(double growth) {
  const std::string text = models::growth_text(growth);
  return growth > 0 ? coloured(text, Colour::red) : growth < 0 ? coloured(text, Colour::green) : text;
}

std::string times_text(const Cost& cost) {
  return fmt::format("{} → {}", cost.before_us ? sensible_time(*cost.before_us) : "unknown",
                     sensible_time(cost.after_us));
}

std::string cost_line(const Cost& cost) {
  const auto change = models::growth(cost);
  return fmt::format("{} on {}{} (plan {}: {})", change ? growth_in_colour(*change) : "new", cost.gpu,
                     at_sizes(cost), cost.plan, times_text(cost));
}

// One plan on several GPUs or with several sizes: the range, and where it is worst.
std::string range_line(std::span<const Cost> costs) {
  const auto less = [](const Cost& a, const Cost& b) { return models::growth(a) < models::growth(b); };
  const auto [best, worst] = std::minmax_element(costs.begin(), costs.end(), less);
  std::set<std::string> gpus, sizes;
  for (const auto& cost : costs) {
    gpus.insert(cost.gpu);
    sizes.insert(at_sizes(cost));
  }
  const auto text_of = [](const Cost& cost) {
    const auto change = models::growth(cost);
    return change ? growth_in_colour(*change) : std::string("new");
  };
  const auto from = text_of(*best), to = text_of(*worst);
  auto where = gpus.size() == 1 ? *gpus.begin() : fmt::format("{} GPUs", gpus.size());
  where += sizes.size() == 1 ? *sizes.begin() : fmt::format(" at {} sizes", sizes.size());
  const bool no_change = models::growth(*best) == 0.0 && models::growth(*worst) == 0.0;
  if (no_change) return fmt::format("no change on {} (plan {})", where, costs.front().plan);
  return fmt::format("{} on {} (plan {}; worst on {}{}: {})", from == to ? from : from + " to " + to, where,
                     costs.front().plan, worst->gpu, sizes.size() == 1 ? "" : at_sizes(*worst),
                     times_text(*worst));
}

// A line for each plan, or for each time.
std::string cost_lines(const std::vector<Cost>& costs, bool each_time) {
  std::string text;
  for (auto at = costs.begin(); at != costs.end();) {
    const auto end = std::find_if(at, costs.end(), [&](const Cost& cost) { return cost.plan != at->plan; });
    if (!each_time && end - at > 1) {
      text += fmt::format("  {}\n", range_line({at, end}));
    } else {
      for (auto one = at; one != end; ++one) text += fmt::format("  {}\n", cost_line(*one));
    }
    at = end;
  }
  return text;
}

std::string kernel_lines(const ModelReport& model, const std::string& since, bool each_time) {
  std::string text = fmt::format("{} ({}): {}{}\n", model.kernel, model.source, model.status, since);
  for (const auto& change : model.changes) text += fmt::format("  {}\n", to_text(change));
  return text + cost_lines(model.costs, each_time);
}

std::string text_of(const ModelsReport& report, bool each_time) {
  std::string text;
  std::map<std::string, std::vector<std::string>> quiet;
  std::map<std::string, int> counts;
  for (const auto& model : report.models) {
    ++counts[model.status];
    if (is_quiet(model) && model.changes.empty()) {
      quiet[model.status].push_back(model.kernel);
      continue;
    }
    const bool otherwise = !model.changes.empty() && report.against != committed_models;
    text += kernel_lines(model, otherwise ? ", changed since " + report.against : "", each_time);
  }
  for (const auto& [status, kernels] : quiet)
    text +=
        wrapped(fmt::format(
                    "{}: {}",
                    status == "skipped" ? "skipped, because nothing changed that they are made from" : status,
                    enumerate(kernels)),
                text_width) +
        "\n";
  for (const auto& remark : report.remarks) text += wrapped(remark, text_width) + "\n";
  std::vector<std::string> sums;
  for (const auto& [status, count] : counts) sums.push_back(fmt::format("{} {}", count, status));
  return text + fmt::format("{}: {}\n", report.folder,
                            sums.empty() ? "no kernels" : fmt::format("{}", fmt::join(sums, ", ")));
}

using Json = nlohmann::ordered_json;

Json json_of(const Cost& cost) {
  Json json;
  json["plan"] = cost.plan;
  json["gpu"] = cost.gpu;
  json["parameters"] = Json::object();
  for (const auto& [name, value] : cost.parameters) json["parameters"][name] = value;
  json["before_us"] = cost.before_us ? Json(*cost.before_us) : Json();
  json["after_us"] = cost.after_us;
  const auto change = models::growth(cost);
  json["growth_percent"] = change ? Json(100 * *change) : Json();
  return json;
}

std::string json_of(const ModelsReport& report) {
  Json json;
  json["folder"] = report.folder;
  json["against"] = report.against;
  json["models"] = Json::array();
  for (const auto& model : report.models) {
    Json one;
    one["kernel"] = model.kernel;
    one["source"] = model.source;
    one["model"] = model.model;
    one["status"] = model.status;
    one["changes"] = Json::array();
    for (const auto& change : model.changes)
      one["changes"].push_back({{"where", change.where}, {"what", change.what}});
    one["costs"] = Json::array();
    for (const auto& cost : model.costs) one["costs"].push_back(json_of(cost));
    json["models"].push_back(std::move(one));
  }
  json["remarks"] = report.remarks;
  return json_text(json, 2) + "\n";
}

// A line per model and cost; a model that costs nothing has one without.
std::string csv_of(const ModelsReport& report) {
  std::string text = csv_line({"kernel", "source", "model", "status", "changes", "plan", "gpu", "sizes",
                               "before_us", "after_us", "growth_percent"});
  for (const auto& model : report.models) {
    std::vector<std::string> changes;
    for (const auto& change : model.changes) changes.push_back(to_text(change));
    const std::vector<std::string> start = {model.kernel, model.source, model.model, model.status,
                                            fmt::format("{}", fmt::join(changes, "; "))};
    const auto line = [&](std::vector<std::string> rest) {
      rest.insert(rest.begin(), start.begin(), start.end());
      text += csv_line(rest);
    };
    if (model.costs.empty()) line(std::vector<std::string>(6));
    for (const auto& cost : model.costs) {
      const auto change = models::growth(cost);
      line({cost.plan, cost.gpu, models::sizes_text(cost.parameters),
            cost.before_us ? exact(*cost.before_us) : "", exact(cost.after_us),
            change ? exact(100 * *change) : ""});
    }
  }
  return text;
}

}  // namespace

std::string changes_text(const ModelReport& report, bool each_time) {
  return kernel_lines(report, {}, each_time);
}

std::string costs_text(const std::vector<models::Cost>& costs, bool each_time) {
  return cost_lines(costs, each_time);
}

std::string models_view(const ModelsReport& report, std::string_view format, bool each_time) {
  return format == "json" ? json_of(report) : format == "csv" ? csv_of(report) : text_of(report, each_time);
}

}  // namespace warptime::cli
