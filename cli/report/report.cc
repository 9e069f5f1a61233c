#include "cli/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cli/io/report.h"
#include "cli/report/code.h"
#include "cli/report/numbers.h"
#include "cli/report/timelines.h"
#include "cli/views/explanation_view.h"
#include "cli/views/prediction_view.h"
#include "cli/views/table.h"
#include "load/programs.h"
#include "simulator/base/parallel.h"
#include "simulator/gpu/occupancy.h"
#include "simulator/predict/counters.h"
#include "simulator/predict/explanation.h"
#include "simulator/predict/remembered_work.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDocumentVersion = 1;
constexpr std::array<std::int64_t, 6> kOtherBlocks = {32, 64, 128, 256, 512, 1024};

// --- predictions ---

class Rows : public RowBatch {
 public:
  void add(const PredictionRow& row) override { rows.push_back(row); }
  std::vector<PredictionRow> rows;
};

Result<std::vector<PredictionRow>> rows_of(const ReportMethod& method, const Plan& plan, unsigned threads) {
  std::vector<PredictionRow> all;
  SweepOptions how;
  how.threads = threads;
  const auto done = sweep(
      plan, method.gpus, method.parameters, method.options, method.loader->as_function(), how,
      [] { return std::make_unique<Rows>(); },
      [&](RowBatch& batch, std::uint64_t) {
        auto& rows = static_cast<Rows&>(batch).rows;
        std::move(rows.begin(), rows.end(), std::back_inserter(all));
        return true;
      });
  if (!done) return done.diagnostics();
  return all;
}

// Each text once, by its index.
class Texts {
 public:
  std::size_t index_of(const std::string& text) {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found != texts_.end()) return static_cast<std::size_t>(found - texts_.begin());
    texts_.push_back(text);
    return texts_.size() - 1;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

std::size_t index_of_gpu(const ReportMethod& method, const std::string& name) {
  const auto found =
      std::find_if(method.gpus.begin(), method.gpus.end(), [&](const Gpu* gpu) { return gpu->name == name; });
  return static_cast<std::size_t>(found - method.gpus.begin());
}

// Columns of equal length.
Json columns_of(const ReportMethod& method, const std::vector<PredictionRow>& rows, Texts& notes) {
  Json json = {{"gpu", Json::array()},   {"parameters", Json::object()}, {"grid", Json::array()},
               {"block", Json::array()}, {"launches", Json::array()},    {"time_us", Json::array()},
               {"parts", Json::object()}};
  for (const Parameter& parameter : method.plan->parameters)
    json["parameters"][parameter.name] = Json::array();
  for (const TimePart& part : method.options.model->parts())
    json["parts"][std::string(part.key)] = Json::array();
  for (const Model* model : method.options.beside) json["beside"][std::string(model->name())] = Json::array();
  json["notes"] = Json::array();
  for (const PredictionRow& row : rows) {
    json["gpu"].push_back(index_of_gpu(method, row.gpu));
    for (const auto& [name, value] : row.parameters) json["parameters"][name].push_back(value);
    const GridAndBlock shape = row.first_shape();
    json["grid"].push_back(to_string(shape.grid));
    json["block"].push_back(to_string(shape.block));
    json["launches"].push_back(row.launches);
    json["time_us"].push_back(six_digits(row.time.total_us));
    const auto parts = method.options.model->parts();
    for (std::size_t i = 0; i < parts.size(); ++i)
      json["parts"][std::string(parts[i].key)].push_back(six_digits(row.time.us[i]));
    for (std::size_t i = 0; i < row.beside_us.size(); ++i)
      json["beside"][std::string(method.options.beside[i]->name())].push_back(six_digits(row.beside_us[i]));
    Json of_row = Json::array();
    for (const std::string& note : row.notes) of_row.push_back(notes.index_of(note));
    if (row.t_m_source == ConstantSource::gpu_default && method.options.model->has_constants())
      of_row.push_back(notes.index_of("t_m is only the GPU's default, not fitted to this kernel"));
    json["notes"].push_back(std::move(of_row));
  }
  return json;
}

Json parts_json(const Model& model) {
  Json parts = Json::array();
  for (const TimePart& part : model.parts()) {
    const char* kind = part.kind == TimePart::Kind::launch        ? "launch"
                       : part.kind == TimePart::Kind::calculation ? "calculation"
                       : part.kind == TimePart::Kind::memory      ? "memory"
                       : part.kind == TimePart::Kind::tail        ? "tail"
                                                                  : "further";
    parts.push_back({{"key", part.key},
                     {"title", part.title},
                     {"meaning", part.meaning},
                     {"bound", part.bound},
                     {"kind", kind}});
  }
  return parts;
}

// --- other blocks ---

// The plan with blocks of so many threads in one dimension, and as many of them as have all threads. Nothing: a launch has
// blocks in more dimensions, or its kernel is made for the block that it has.
std::optional<Plan> with_blocks(const Plan& plan, std::int64_t size,
                                const std::function<bool(const PlanLaunch&)>& takes_any_block) {
  Plan changed = plan;
  bool possible = true;
  const std::function<void(std::vector<PlanStep>&)> change = [&](std::vector<PlanStep>& steps) {
    for (PlanStep& step : steps) {
      change(step.steps);
      if (!step.launch) continue;
      PlanLaunch& launch = *step.launch;
      std::string threads;
      if (launch.threads) {
        threads = to_string(*launch.threads);
      } else if (launch.grid.size() == 1 && launch.block.size() == 1 && takes_any_block(launch)) {
        threads = fmt::format("({}) * ({})", to_string(launch.grid[0]), to_string(launch.block[0]));
      } else {
        possible = false;
        continue;
      }
      auto grid = Expression::parse(fmt::format("ceil_div({}, {})", threads, size));
      if (!grid) {
        possible = false;
        continue;
      }
      launch.threads.reset();
      launch.grid = {std::move(*grid)};
      launch.block = {Expression(size)};
    }
  };
  change(changed.steps);
  if (!possible) return std::nullopt;
  return changed;
}

// --- what is looked at closely ---

// The parameter with the most values, the last one of several.
std::size_t size_of(const std::vector<NamedValues>& parameters) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].values.size() >= parameters[size].values.size()) size = i;
  return size;
}

NamedValues only(const NamedValues& of, const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  const auto parsed = ParameterValues::parse(text);
  return {of.name, parsed ? *parsed : of.values};
}

// Of each parameter but the size all values, of the size the largest and others between, as many as fit; GPUs and values are cut
// where even one size has too many rows.
struct Focus {
  std::vector<const Gpu*> gpus;
  std::vector<NamedValues> parameters;
  bool complete = true;  // but for the sizes
};

Focus focus_of(const ReportMethod& method, std::size_t most) {
  Focus focus{method.gpus, method.parameters};
  if (focus.parameters.empty()) {
    if (focus.gpus.size() > most) focus.gpus.resize(most), focus.complete = false;
    return focus;
  }
  const std::size_t size = size_of(focus.parameters);
  std::uint64_t others = 1;
  for (std::size_t i = 0; i < focus.parameters.size(); ++i) {
    if (i == size) continue;
    NamedValues& one = focus.parameters[i];
    const std::uint64_t room = std::max<std::uint64_t>(1, most / others);
    if (one.values.size() > room) {
      std::vector<std::int64_t> kept;
      for (std::uint64_t k = 0; k < room; ++k) kept.push_back(one.values.at(k));
      one = only(one, kept);
      focus.complete = false;
    }
    others *= one.values.size();
  }
  const std::uint64_t room = std::max<std::uint64_t>(1, most / others);
  if (focus.gpus.size() > room) focus.gpus.resize(room), focus.complete = false;
  NamedValues& sizes = focus.parameters[size];
  const std::uint64_t count = sizes.values.size();
  const std::uint64_t shown =
      std::clamp<std::uint64_t>(most / (others * std::max<std::size_t>(1, focus.gpus.size())), 1, count);
  std::vector<std::int64_t> kept;
  for (std::uint64_t i = 1; i <= shown; ++i) kept.push_back(sizes.values.at(count * i / shown - 1));
  sizes = only(sizes, kept);
  return focus;
}

std::string first_of(const Diagnostics& diagnostics) {
  return diagnostics.empty() ? std::string("unknown") : diagnostics.front().message;
}

Json explanations_of(const ReportMethod& method, const Focus& focus, const ReportLimits& limits,
                     unsigned threads, Json& missing) {
  PredictionOptions options = method.options;
  if (takes_whole_launches(options)) {
    std::uint64_t rows = focus.gpus.size();
    for (const NamedValues& parameter : focus.parameters) rows *= parameter.values.size();
    options.claim_best_launch = rows <= limits.quicker_blocks_of_whole_launches;
    if (!options.claim_best_launch && limits.quicker_blocks_of_whole_launches > 0)
      missing.push_back(fmt::format("{}: whether other blocks are quicker, of so many rows", method.name));
  }
  const auto explained =
      explain_all(*method.plan, focus.gpus, focus.parameters, options, method.loader->as_function(), threads);
  if (!explained) {
    missing.push_back(
        fmt::format("{}: what bounds its lines: {}", method.name, first_of(explained.diagnostics())));
    return Json::array();
  }
  Json all = Json::parse(explanations_json(*explained));
  for (Json& one : all) round_numbers(one);
  return all;
}

Json counters_of(const ReportMethod& method, const Focus& focus, unsigned threads, Json& missing) {
  const auto counted = count_all(*method.plan, focus.gpus, focus.parameters, method.options,
                                 method.estimated->as_function(), threads);
  if (!counted) {
    missing.push_back(fmt::format("{}: counters: {}", method.name, first_of(counted.diagnostics())));
    return Json::array();
  }
  Json all = Json::array();
  for (const CounterRow& row : *counted) {
    for (const LaunchCounters& launch : row.launches) {
      Json parameters = Json::object(), values = Json::array();
      for (const auto& [name, value] : row.row.parameters) parameters[name] = value;
      for (const auto& value : launch.values) values.push_back(value ? six_digits(*value) : Json(nullptr));
      all.push_back({{"gpu", row.row.gpu},
                     {"parameters", std::move(parameters)},
                     {"kernel", launch.kernel},
                     {"grid", to_string(launch.size.grid)},
                     {"block", to_string(launch.size.block)},
                     {"launches", six_digits(launch.launches)},
                     {"values", std::move(values)},
                     {"notes", launch.notes}});
    }
  }
  return all;
}

Json parameters_json(const ReportMethod& method, const std::vector<NamedValues>& given) {
  Json json = Json::array();
  for (const Parameter& parameter : method.plan->parameters) {
    Json values = Json::array();
    for (const NamedValues& one : given) {
      if (one.name != parameter.name) continue;
      for (std::uint64_t i = 0; i < one.values.size(); ++i) values.push_back(one.values.at(i));
    }
    json.push_back(
        {{"name", parameter.name}, {"description", parameter.description}, {"values", std::move(values)}});
  }
  return json;
}

// The times with other blocks, of fewer sizes where all would take long.
Json other_blocks(const ReportMethod& method, const ReportLimits& limits, unsigned threads, Json& missing) {
  if (limits.block_rows_of_whole_launches == 0 && takes_whole_launches(method.options)) {
    missing.push_back(fmt::format("{}: times with other blocks, in a report of so many inputs", method.name));
    return Json();
  }
  const auto takes_any_block = [&](const PlanLaunch& launch) {
    const auto loaded = method.loader->load(*method.plan, launch, *method.gpus.front());
    if (!loaded || loaded->program->block_shape) return false;
    const auto names = used_names(*loaded->program);
    return std::find(names.begin(), names.end(), "blockDim.x") != names.end();
  };
  const std::size_t most =
      takes_whole_launches(method.options) ? limits.block_rows_of_whole_launches : limits.block_rows;
  const Focus focus = focus_of(method, std::max<std::size_t>(1, most / kOtherBlocks.size()));
  if (!focus.complete) {
    missing.push_back(
        fmt::format("{}: times with other blocks, for so many GPUs and parameters", method.name));
    return Json();
  }
  ReportMethod fewer = method;
  fewer.parameters = focus.parameters;
  Json sizes = Json::array();
  for (const std::int64_t size : kOtherBlocks) {
    const auto plan = with_blocks(*method.plan, size, takes_any_block);
    if (!plan) {
      missing.push_back(
          fmt::format("{}: times with other blocks: a launch has blocks in two dimensions, or its kernel is "
                      "made for the block that it has",
                      method.name));
      return Json();
    }
    const auto other = rows_of(fewer, *plan, threads);
    if (!other) {
      missing.push_back(fmt::format("{}: times with blocks of {} threads: {}", method.name, size,
                                    first_of(other.diagnostics())));
      continue;
    }
    Json times = Json::array(), parts = Json::object();
    for (const TimePart& part : method.options.model->parts()) parts[std::string(part.key)] = Json::array();
    for (const PredictionRow& row : *other) {
      times.push_back(six_digits(row.time.total_us));
      std::size_t i = 0;
      for (const TimePart& part : method.options.model->parts())
        parts[std::string(part.key)].push_back(six_digits(row.time.us[i++]));
    }
    sizes.push_back({{"threads", size}, {"time_us", std::move(times)}, {"parts", std::move(parts)}});
  }
  if (sizes.empty()) return Json();
  return {{"parameters", parameters_json(method, focus.parameters)}, {"sizes", std::move(sizes)}};
}

// --- the document ---

Json gpu_data(const Gpu& gpu) {
  const double hertz = gpu.clock_mhz * 1e6;
  const int schedulers = sm_partitions(gpu.compute_capability);
  Json json = {{"name", gpu.name},
               {"title", gpu.title},
               {"compute_capability",
                fmt::format("{}.{}", gpu.compute_capability.major, gpu.compute_capability.minor)},
               {"clock_mhz", six_digits(gpu.clock_mhz)},
               {"sms", gpu.sms},
               {"cores_per_sm", gpu.cores_per_sm},
               {"warp_instructions_per_s", six_digits(hertz * gpu.sms * schedulers)},
               {"validated", gpu.validated}};
  json["memory_bandwidth_gb_s"] =
      gpu.memory_bandwidth_gb_s ? six_digits(*gpu.memory_bandwidth_gb_s) : Json(nullptr);
  json["l2_bytes"] = gpu.l2_bytes ? Json(*gpu.l2_bytes) : Json(nullptr);
  return json;
}

// What is predicted and simulated of a method, beside its rows, and what cannot be had of it.
struct Closely {
  Json blocks, explanations, counters, timelines;
  Json missing = Json::array(), missing_timelines = Json::array();
};

Closely look_closely(const ReportMethod& method, const ReportLimits& limits, unsigned threads) {
  Closely of;
  of.blocks = other_blocks(method, limits, threads, of.missing);
  const Focus focus = focus_of(method, limits.explanations);
  if (!focus.complete)
    of.missing.push_back(fmt::format(
        "{}: what bounds its lines, and counters, of all GPUs and parameters: {} rows are explained",
        method.name, limits.explanations));
  of.explanations = explanations_of(method, focus, limits, threads, of.missing);
  of.counters = counters_of(method, focus, threads, of.missing);
  of.timelines =
      timelines_json(method, focus_of(method, limits.timelines).gpus, limits, of.missing_timelines);
  return of;
}

void append(Json& to, Json&& more) {
  for (Json& one : more) to.push_back(std::move(one));
}

Json method_json(const ReportMethod& method, const std::vector<PredictionRow>& rows, Closely&& closely,
                 ReportCode& code, Json& missing) {
  Texts notes;
  Json gpus = Json::array();
  for (const Gpu* gpu : method.gpus) gpus.push_back(gpu->name);
  Json json = {{"name", method.name},
               {"plan", method.plan->name},
               {"input", method.input},
               {"description", method.plan->description},
               {"model", method.options.model->name()},
               {"why_model", method.why_model},
               {"interval", has_interval(*method.options.model)},
               {"gpus", std::move(gpus)},
               {"parameters", parameters_json(method, method.parameters)},
               {"parts", parts_json(*method.options.model)},
               {"rows", columns_of(method, rows, notes)}};
  json["notes"] = notes.all();
  append(missing, std::move(closely.missing));
  json["blocks"] = std::move(closely.blocks);
  json["explanations"] = std::move(closely.explanations);
  json["counters"] = std::move(closely.counters);
  json["kernels"] = code.kernels_of(method, missing);
  append(missing, std::move(closely.missing_timelines));
  json["timelines"] = std::move(closely.timelines);
  return json;
}

// How the work on methods is shared among threads: so many methods at a time, each in so many threads.
struct Sharing {
  unsigned methods = 1, of_each = 1;
};

Sharing share_threads(std::size_t methods, unsigned threads) {
  Sharing sharing;
  sharing.methods = static_cast<unsigned>(std::clamp<std::size_t>(methods, 1, threads));
  sharing.of_each = threads / sharing.methods;
  return sharing;
}

// The rows of each method, and how long each took.
struct MethodRows {
  std::vector<std::vector<PredictionRow>> rows;
  std::vector<std::chrono::steady_clock::duration> took;
};

Result<MethodRows> rows_of_all(const std::vector<ReportMethod>& methods, const Sharing& sharing) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::optional<Result<std::vector<PredictionRow>>>> found(methods.size());
  std::vector<Diagnostics> said(methods.size());
  MethodRows all;
  all.took.resize(methods.size());
  for_each_index(methods.size(), sharing.methods, [&](std::size_t i) {
    const auto begin = Clock::now();
    HeldMessages held;
    found[i].emplace(rows_of(methods[i], *methods[i].plan, sharing.of_each));
    said[i] = held.end();
    all.took[i] = Clock::now() - begin;
  });
  for (std::size_t i = 0; i < methods.size(); ++i) {
    say(said[i]);
    if (!*found[i]) return found[i]->diagnostics();
    all.rows.push_back(std::move(**found[i]));
  }
  return all;
}

// Those whose rows took longest first, so that all threads end at about the same time.
std::vector<Closely> look_closely_at_all(const std::vector<ReportMethod>& methods, const MethodRows& rows,
                                         const ReportLimits& limits, const Sharing& sharing) {
  std::vector<std::size_t> order(methods.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows.took[a] > rows.took[b]; });
  std::vector<Closely> all(methods.size());
  std::vector<Diagnostics> said(methods.size());
  for_each_index(methods.size(), sharing.methods, [&](std::size_t i) {
    HeldMessages held;
    all[order[i]] = look_closely(methods[order[i]], limits, sharing.of_each);
    said[order[i]] = held.end();
  });
  for (const Diagnostics& one : said) say(one);
  return all;
}

}  // namespace

ReportLimits report_limits(std::size_t methods) {
  constexpr std::size_t few = 16;
  ReportLimits limits;
  if (methods <= few) return limits;
  limits.block_rows_of_whole_launches = 0;
  limits.quicker_blocks_of_whole_launches = 0;
  limits.explanations = 12;
  limits.timelines = 2;
  limits.timeline_items = 400;
  return limits;
}

Result<Json> report_json(const Report& report, const ReportLimits& limits) {
  std::uint64_t total = 0;
  for (const ReportMethod& method : report.methods) {
    const auto size = sweep_size(method.gpus, method.parameters);
    if (!size) return size.diagnostics();
    total += *size;
    if (*size > limits.rows || total > limits.rows)
      return error(fmt::format("a report has at most {} rows; these are {}{}", limits.rows, total,
                               &method == &report.methods.back() ? "" : " and more"),
                   "choose fewer with --gpu and --param");
  }
  std::vector<ReportMethod> methods = report.methods;
  for (ReportMethod& method : methods) method.options.remembered = std::make_shared<RememberedWork>();
  const Sharing sharing = share_threads(methods.size(), threads_for(report.threads));
  const auto rows = rows_of_all(methods, sharing);
  if (!rows) return rows.diagnostics();
  if (report.predicted) report.predicted(rows->rows);
  std::vector<Closely> closely = look_closely_at_all(methods, *rows, limits, sharing);
  Json json = {{"warptime", kDocumentVersion}, {"title", report.title}};
  json["gpus"] = Json::array();
  std::set<std::string> known;
  for (const ReportMethod& method : report.methods)
    for (const Gpu* gpu : method.gpus)
      if (known.insert(gpu->name).second) json["gpus"].push_back(gpu_data(*gpu));
  json["metrics"] = Json::array();
  for (const Metric& metric : counter_metrics())
    json["metrics"].push_back({{"name", metric.name}, {"unit", metric.unit}, {"title", metric.title}});
  json["states"] = timeline_states_json();
  Json missing = Json::array();
  ReportCode code(limits);
  json["methods"] = Json::array();
  for (std::size_t i = 0; i < methods.size(); ++i)
    json["methods"].push_back(method_json(methods[i], rows->rows[i], std::move(closely[i]), code, missing));
  json["files"] = code.take_files();
  json["comparison"] = report.comparison;
  json["missing"] = std::move(missing);
  return json;
}

}  // namespace warptime::cli
