#include "cli/report/timelines.h"

#include <fmt/format.h>

#include <deque>
#include <string_view>

#include "cli/report/numbers.h"
#include "simulator/predict/models.h"
#include "simulator/predict/sm_timeline.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

// One of four groups, which the page tells apart by pattern as well as by colour.
std::string_view group_of(const SmTimeline::State& state) {
  switch (state.symbol) {
    case '#':
      return "issue";
    case 'p':
    case '=':
      return "calculation";
    case '1':
    case '2':
    case 'm':
    case '.':
    case 'a':
      return "transaction";
    default:
      return "idle";
  }
}

// begin, cycles, state, place; one after the other, as whole cycles.
Json intervals_json(const std::vector<SmTimeline::Interval>& intervals) {
  Json json = Json::array();
  for (const SmTimeline::Interval& one : intervals) {
    json.push_back(six_digits(one.begin));
    json.push_back(six_digits(one.end - one.begin));
    json.push_back(one.state);
    json.push_back(one.place);
  }
  return json;
}

Json timeline_json(const SmTimeline& timeline) {
  Json parameters = Json::object();
  for (const auto& [name, value] : timeline.row.parameters) parameters[name] = value;
  Json json = {{"gpu", timeline.row.gpu},
               {"parameters", std::move(parameters)},
               {"kernel", timeline.kernel},
               {"grid", to_string(timeline.size.grid)},
               {"block", to_string(timeline.size.block)},
               {"places", timeline.places},
               {"cycles", six_digits(timeline.sm_cycles)},
               {"collected", six_digits(timeline.collected)}};
  json["partitions"] = Json::array();
  for (const auto& partition : timeline.partitions) json["partitions"].push_back(intervals_json(partition));
  json["warps"] = Json::array();
  for (const SmTimeline::WarpRow& warp : timeline.warps)
    json["warps"].push_back({{"block", warp.block},
                             {"warp", warp.warp},
                             {"partition", warp.partition},
                             {"intervals", intervals_json(warp.intervals)}});
  return json;
}

}  // namespace

Json timeline_states_json() {
  Json json = Json::array();
  for (const SmTimeline::State& state : SmTimeline::states())
    json.push_back({{"key", state.key}, {"title", state.title}, {"group", group_of(state)}});
  return json;
}

Json timelines_json(const ReportMethod& method, const std::vector<const Gpu*>& gpus,
                    const ReportLimits& limits, Json& missing) {
  PredictionOptions options = method.options;
  const bool of_rows = options.model == &uncalibrated_model();  // whose GPUs have all that it needs
  options.model = &uncalibrated_model();
  options.beside.clear();
  if (!of_rows) options.remembered = nullptr;  // it would know the GPUs below by their addresses
  std::vector<NamedValues> largest;
  for (const NamedValues& one : method.parameters) {
    const std::uint64_t count = one.values.size();
    const auto last = ParameterValues::parse(std::to_string(count == 0 ? 0 : one.values.at(count - 1)));
    largest.push_back({one.name, last ? *last : one.values});
  }
  Json all = Json::array();
  for (const Gpu* gpu : gpus) {
    const auto borrowed = of_rows ? std::nullopt : options.model->borrow(*gpu, *method.catalogue);
    const auto timelines = sm_timelines(*method.plan, {borrowed ? &borrowed->gpu : gpu}, largest, options,
                                        method.estimated->as_function(), limits.timeline_items);
    if (!timelines) {
      missing.push_back(fmt::format("{}: a timeline on {}: {}", method.name, gpu->name,
                                    timelines.diagnostics().front().message));
      break;
    }
    for (const SmTimeline& timeline : *timelines) all.push_back(timeline_json(timeline));
  }
  return all;
}

}  // namespace warptime::cli
