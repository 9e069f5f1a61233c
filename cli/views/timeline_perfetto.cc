// A timeline as a trace that https://ui.perfetto.dev and chrome://tracing open: the JSON of the Trace Event
// Format. A cycle is a microsecond there.
//
//   core package: mtx, …   (process)
//     all     ▮▯▯▯▯▮▯▯     what the core package does
//     warp 1  ▮▯▯▯▯        issue, calculation, idle where its loads are waited for
//     warp 2       ▮▯▯
//     warp 1: transactions  ▬▬▬▬▬▬    asynchronous, as they overlap
//
// Each event says its kind, its cycle (gaps counted) and the source lines of its period.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/views/table.h"
#include "cli/views/timeline.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int process = 1, all_thread = 1;
constexpr std::size_t most_steps = 100'000;

// Traces count nanoseconds: ends are rounded as beginnings are, so that what follows never overlaps.
double nanoseconds(double cycles) {
  return std::round(cycles * 1000);
}
Json time_stamp(double cycles) {
  return exact_json(nanoseconds(cycles) / 1000);
}
Json duration(double begin, double end) {
  return exact_json((nanoseconds(end) - nanoseconds(begin)) / 1000);
}

int thread_of(int warp) {
  return warp + 2;
}

const char* name_of(Activity activity) {
  switch (activity) {
    case Activity::issue:
      return "issue";
    case Activity::calculation:
      return "calculation";
    case Activity::waiting:
      return "idle";
    case Activity::tail:
      return "idle at the end";
  }
  return "";
}

const char* name_of(PeriodKind kind) {
  return kind == PeriodKind::calculation ? "calc" : kind == PeriodKind::load ? "load" : "store";
}

class Trace {
 public:
  explicit Trace(const Timeline& timeline) : timeline_(timeline) {
    for (const auto& gap : timeline.gaps) {
      const double before = gaps_before_.empty() ? 0 : gaps_before_.back().second + last_gap_;
      gaps_before_.emplace_back(gap.at, before);
      last_gap_ = gap.time.total;
    }
  }

  // An event to a line.
  std::string write() {
    text_ = "{\"displayTimeUnit\": \"ns\",\n\"otherData\": " + json_text(about()) + ",\n\"traceEvents\": [\n";
    names();
    for (const auto& interval : timeline_.intervals) add(interval);
    for (const auto& transaction : timeline_.transactions) add(transaction);
    for (std::size_t i = 0; i < timeline_.gaps.size(); ++i) add_gap(i);
    if (const auto note = ending_note(timeline_); !note.empty())
      event({{"name", "elided " + note}, {"ph", "i"}, {"s", "g"}, {"ts", time_stamp(timeline_.end)}},
            all_thread);
    return text_ + "\n]}\n";
  }

 private:
  // The true cycle of a drawn one; what begins at a gap begins after it.
  double cycle(double drawn) const {
    const auto next = std::upper_bound(gaps_before_.begin(), gaps_before_.end(), drawn,
                                       [](double time, const auto& gap) { return time < gap.first; });
    if (next == gaps_before_.end())
      return drawn + (gaps_before_.empty() ? 0 : gaps_before_.back().second + last_gap_);
    return drawn + next->second;
  }

  Json about() const {
    Json json;
    json["title"] = timeline_title(timeline_);
    json["unit"] = "1 us is 1 cycle of the core package";
    json["kernel"] = timeline_.kernel;
    json["parameters"] = Json::object();
    for (const auto& [name, value] : timeline_.parameters) json["parameters"][name] = value;
    json["warps"] = timeline_.warps;
    json["t_m_cycles"] = exact_json(timeline_.t_m_cycles);
    if (timeline_.time_known) json["cycles"] = exact_json(timeline_.time.total);
    json["whole"] = timeline_.gaps.empty() && !timeline_.ended_early;
    if (json["whole"]) return json;
    json["note"] =
        "The trace is shortened. Times continue after each gap in `left_out` as if there were no gap; "
        "`cycle` in the arguments of each event counts it.";
    json["left_out"] = Json::array();
    for (std::size_t i = 0; i < timeline_.gaps.size(); ++i) json["left_out"].push_back(of_gap(i));
    if (const auto note = ending_note(timeline_); !note.empty()) json["left_out_at_the_end"] = note;
    return json;
  }

  Json of_gap(std::size_t index) const {
    const auto& gap = timeline_.gaps[index];
    return {{"after_cycle", exact_json(gap.at + gaps_before_[index].second)},
            {"period_cycles", exact_json(gap.period)},
            {"times", gap.times},
            {"cycles", exact_json(gap.time.total)}};
  }

  void event(Json event, int thread) {
    event["pid"] = process;
    event["tid"] = thread;
    if (!first_) text_ += ",\n";
    first_ = false;
    text_ += json_text(event);
  }

  void name(const char* what, int thread, const Json& arguments) {
    event({{"name", what}, {"ph", "M"}, {"args", arguments}}, thread);
  }

  void names() {
    name("process_name", all_thread, {{"name", "core package: " + timeline_title(timeline_)}});
    name("thread_name", all_thread, {{"name", "all"}});
    name("thread_sort_index", all_thread, {{"sort_index", 0}});
    const int named = named_warps();
    for (int warp = 0; warp < named; ++warp) {
      name("thread_name", thread_of(warp), {{"name", fmt::format("warp {}", warp + 1)}});
      name("thread_sort_index", thread_of(warp), {{"sort_index", warp + 1}});
    }
  }

  // A trace that ended early may not have come to all warps.
  int named_warps() const {
    if (!timeline_.ended_early) return static_cast<int>(timeline_.warps);
    int last = -1;
    for (const auto& interval : timeline_.intervals) last = std::max(last, interval.warp);
    return last + 1;
  }

  Json arguments(const char* kind, double begin, double cycles, std::uint32_t origin, bool has_lines) const {
    Json json = {{"kind", kind}, {"cycle", exact_json(cycle(begin))}, {"cycles", exact_json(cycles)}};
    if (has_lines && origin < timeline_.lines.size() && !timeline_.lines[origin].empty())
      json["lines"] = timeline_.lines[origin];
    return json;
  }

  void add(const Timeline::Interval& interval) {
    const bool works = interval.activity <= Activity::calculation;
    const double cycles = interval.end - interval.begin;
    Json json = {
        {"name", interval.activity == Activity::issue ? fmt::format("issue {}", name_of(interval.kind))
                                                      : name_of(interval.activity)},
        {"cat", name_of(interval.activity)},
        {"ph", "X"},
        {"ts", time_stamp(interval.begin)},
        {"dur", duration(interval.begin, interval.end)},
        {"args",
         arguments(works ? name_of(interval.kind) : "idle", interval.begin, cycles, interval.origin, works)}};
    if (interval.warp >= 0) {
      event(json, thread_of(interval.warp));
      json["args"]["warp"] = interval.warp + 1;
    }
    event(std::move(json), all_thread);
  }

  void add(const Timeline::Transaction& one) {
    const auto id = fmt::format("{:#x}", ++ids_);
    const auto track = fmt::format("warp {}: transactions", one.warp + 1);
    Json json = {
        {"name", track}, {"cat", "transaction"}, {"ph", "b"}, {"id", id}, {"ts", time_stamp(one.begin)}};
    Json end = json;
    json["args"] = arguments(name_of(one.kind), one.begin, one.end - one.begin, one.origin, true);
    if (one.from_gap) json["args"]["began"] = "in what is elided";
    if (one.into_gap) json["args"]["ends"] = "in what is elided";
    end["ph"] = "e";
    end["ts"] = time_stamp(one.end);
    event(std::move(json), thread_of(one.warp));
    event(std::move(end), thread_of(one.warp));
  }

  void add_gap(std::size_t index) {
    const auto& gap = timeline_.gaps[index];
    event({{"name", fmt::format("{} cycles elided", cycles_text(gap.time.total))},
           {"ph", "i"},
           {"s", "g"},
           {"ts", time_stamp(gap.at)},
           {"args", of_gap(index)}},
          all_thread);
  }

  const Timeline& timeline_;
  std::vector<std::pair<double, double>> gaps_before_;  // where; cycles of the gaps before it
  double last_gap_ = 0;
  std::string text_;
  bool first_ = true;
  std::uint64_t ids_ = 0;
};

}  // namespace

TimelineLimits perfetto_limits() {
  return {0, most_steps / 2, 1000, most_steps};
}

std::string timeline_perfetto(const Timeline& timeline) {
  return Trace(timeline).write();
}

}  // namespace warptime::cli
