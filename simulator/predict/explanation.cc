#include "simulator/predict/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/gpu/occupancy.h"
#include "simulator/model/units.h"
#include "simulator/predict/fixed_block.h"

namespace warptime {
namespace {

std::vector<ExplainedLaunch> explained_launches(const std::vector<LaunchTerm>& terms) {
  std::vector<ExplainedLaunch> launches;
  for (const LaunchTerm& term : terms) {
    launches.push_back({kernel_of(*term.launch), &*term.launch->step->launch, term.program, term.values,
                        term.shape, term.active_blocks, term.times, term.time, term.shared_bytes,
                        term.whole ? &term.whole->on_gpu : nullptr});
  }
  return launches;
}

// "1024 x 256"; in several dimensions "32x128x1 x 32x8x1".
std::string size_text(const PredictionRow& row) {
  if (!row.first_dimensions)
    return fmt::format("{} x {}", row.first_launch.blocks, row.first_launch.threads_per_block);
  return fmt::format("{} x {}", to_string(row.first_dimensions->grid),
                     to_string(row.first_dimensions->block));
}

// Those of the lines, and the parts that no line has a share in.
std::vector<Limit> limits_of(const Explanation& explanation) {
  std::vector<Limit> limits;
  for (const LineShare& line : explanation.lines)
    for (const Limit& limit : line.limits) add_limit(limits, limit);
  if (limits.empty()) return limits;
  const auto parts = explanation.row.model->parts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].kind == TimePart::Kind::launch)
      add_limit(limits, {parts[i].title, parts[i].meaning, explanation.row.time.us[i]});
  sort_longest_first(limits);
  return limits;
}

// What can be said of a row with any model, and what its own model adds.
class Claims {
 public:
  Claims(const PreparedPlan& plan, std::size_t gpu, const std::vector<std::int64_t>& values,
         const PredictionOptions& options, const ExplainedRow& explained, const Explanation& so_far)
      : plan_(plan),
        gpu_(gpu),
        values_(values),
        options_(options),
        model_(*options.model),
        explained_(explained),
        row_(so_far.row),
        lines_(so_far.lines),
        limits_(so_far.limits) {}

  std::vector<Claim> all() {
    bound();
    active_blocks();
    bool wasted = false;
    for (Claim& claim : model_.claims(explained_, lines_)) {
      wasted = wasted || claim.kind == Claim::Kind::partial_run;
      claims_.push_back(std::move(claim));
    }
    best_launch(wasted);
    if (!model_.takes_whole_launches()) fewer_loads();
    return std::move(claims_);
  }

 private:
  const Gpu& gpu() const { return *explained_.gpu->gpu; }

  Claim& say(Claim::Kind kind, std::string text) {
    claims_.emplace_back();
    claims_.back().kind = kind;
    claims_.back().text = std::move(text);
    return claims_.back();
  }

  // The longest limit, and the line that has most of it.
  void limit() {
    const Limit& longest = limits_.front();
    if (!(row_.time.total_us > 0)) return;
    std::string text = fmt::format("{} of {} goes to {}", percent_text(longest.us / row_.time.total_us),
                                   time_text(row_.time.total_us), longest.title);
    const LineShare* most = nullptr;
    double most_us = 0;
    for (const LineShare& line : lines_)
      for (const Limit& one : line.limits)
        if (one.key == longest.key && one.us > most_us) most = &line, most_us = one.us;
    if (most != nullptr && !most->lines.empty())
      text += fmt::format(" ({} of it at {})", percent_text(most_us / longest.us), most->where);
    say(Claim::Kind::bound, std::move(text));
  }

  // The largest part of the time: "compute-bound: 75.0% of 37.3 µs".
  void bound() {
    if (!limits_.empty()) return limit();
    const auto parts = model_.parts();
    const TimePart* largest = nullptr;
    double most = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == TimePart::Kind::further || !(row_.time.us[i] > most)) continue;
      most = row_.time.us[i];
      largest = &parts[i];
    }
    if (largest == nullptr || !(row_.time.total_us > 0)) return;
    std::string text =
        fmt::format("{}: {} of {} is {}", largest->bound, percent_text(most / row_.time.total_us),
                    time_text(row_.time.total_us), largest->meaning);
    if (const std::string more = model_.about_bound(*largest, explained_); !more.empty())
      text += fmt::format(" ({})", more);
    say(Claim::Kind::bound, std::move(text));
  }

  // What limits the blocks of the launch that takes longest.
  void active_blocks() {
    const auto& launches = explained_.launches;
    const auto longest = std::max_element(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
      return a.times * a.time.total_us < b.times * b.time.total_us;
    });
    if (longest == launches.end()) return;
    const KernelProgram& program = *longest->program->program;
    const auto resources = model_.takes_whole_launches()
                               ? resources_of(program, longest->shared_bytes)
                               : with_shared_bytes(program.resources, longest->shared_bytes);
    const Occupancy occupied = occupancy(gpu(), longest->shape.threads_per_block, resources);
    std::string text = fmt::format("{}: up to {}", longest->kernel, to_text(gpu(), occupied));
    if (resources.registers_per_thread)
      text += fmt::format("; {} registers a thread{}", *resources.registers_per_thread,
                          program.resources && program.resources->registers_per_thread ? "" : " (estimated)");
    if (longest->whole != nullptr) text += few_blocks(longest->shape.blocks, occupied);
    for (const std::string& note : occupied.notes) text += "; " + note;
    say(Claim::Kind::occupancy, std::move(text));
  }

  // Where the launch has fewer blocks than the SMs take.
  std::string few_blocks(std::int64_t blocks, const Occupancy& occupied) const {
    const std::int64_t sms = std::max(gpu().sms, 1), of_sm = (blocks + sms - 1) / sms;
    if (occupied.active_blocks < 1 || of_sm >= occupied.active_blocks) return {};
    const std::int64_t warps = occupied.active_warps / occupied.active_blocks * of_sm;
    return fmt::format("; the launch has {} {} for {} SMs: at most {} {} on an SM", blocks,
                       blocks == 1 ? "block" : "blocks", sms, warps, warps == 1 ? "warp runs" : "warps run");
  }

  // wasted: whether a launch ends in a run that is not full.
  void best_launch(bool wasted) {
    // Of a program that is made for one block, other blocks in two dimensions would be guesses.
    const bool given_blocks = model_.takes_whole_launches();
    const bool any =
        std::any_of(explained_.launches.begin(), explained_.launches.end(), [&](const auto& launch) {
          const KernelProgram& program = *launch.program->program;
          if (!why_block_is_fixed(program).empty()) return false;
          const bool several = launch.of->grid.size() > 1 || launch.of->block.size() > 1;
          return launch.of->threads || (several && !program.block_shape) ||
                 (given_blocks && uses_block_size(program));
        });
    if (!any || options_.best_launch || !options_.claim_best_launch) return;
    PredictionOptions options = options_;
    options.best_launch = true;
    options.best_of_given_blocks = given_blocks;
    RowModel best(plan_, options);
    PredictionRow row;
    if (!best.row(gpu_, values_, row).empty()) return;
    if (row.time.total_us < (1 - kWorthSaying) * row_.time.total_us) {
      const bool one = row_.launches == 1 || explained_.launches.size() == 1;
      const PlanLaunch& of = *explained_.launches.front().of;
      const bool given = !of.threads && of.grid.size() == 1 && of.block.size() == 1;
      const bool unsure =
          std::any_of(explained_.launches.begin(), explained_.launches.end(),
                      [](const auto& launch) { return may_have_fixed_block(*launch.program->program); });
      say(Claim::Kind::best_launch,
          fmt::format("{}{} in place of {} (blocks x threads) would take {}: {} less{}{}",
                      one ? "" : "other launches, the first of them ", size_text(row), size_text(row_),
                      time_text(row.time.total_us), percent_text(1 - row.time.total_us / row_.time.total_us),
                      given          ? ""
                      : given_blocks ? " (`--best-launch` tries more)"
                                     : " (`--best-launch`)",
                      unsure ? ", if its static shared memory is not made for the blocks that it has" : ""))
          .time_us = row.time.total_us;
    } else if (wasted) {
      say(Claim::Kind::best_launch, "no other blocks of whole warps are faster");
    }
  }

  // The two places whose loads cost the most.
  void fewer_loads() {
    const auto parts = model_.parts();
    int said = 0;
    for (const LineShare& line : lines_) {
      if (said == 2) break;
      double memory = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].kind == TimePart::Kind::memory) memory += line.us[i];
      }
      if (line.accesses == 0 || memory < 0.02 * row_.time.total_us) continue;
      if (halve(line)) ++said;
    }
  }

  bool halve(const LineShare& line) {
    const ExplainedLaunch* of = nullptr;
    for (const ExplainedLaunch& launch : explained_.launches) {
      if (launch.kernel == line.kernel) of = &launch;
    }
    if (of == nullptr) return false;
    auto halved = with_half_the_loads(*of->program->program, line.where);
    if (!halved) return false;
    const auto program = std::make_shared<const KernelProgram>(std::move(*halved));
    const auto time = time_with(of->program, program);
    if (!time || !(*time < (1 - kWorthSaying) * row_.time.total_us)) return false;
    Claim& claim =
        say(Claim::Kind::fewer_loads,
            fmt::format("{}: half the loads of {} would make it {}: {} less", line.kernel, line.where,
                        time_text(*time), percent_text(1 - *time / row_.time.total_us)));
    claim.time_us = *time;
    claim.program = program;
    claim.launch = of->of;
    return true;
  }

  // The row with one program replaced by another.
  std::optional<double> time_with(const TimedProgram* of,
                                  const std::shared_ptr<const KernelProgram>& program) const {
    const TimedProgram timed{program, of->durations, of->names};
    const auto session = model_.session(options_.model_options);
    session->start(*explained_.gpu, 1);
    std::uint64_t revision = 0;
    double total = row_.time.total_us;
    for (const ExplainedLaunch& launch : explained_.launches) {
      if (launch.program != of) continue;
      const ModelLaunch changed{&timed, &launch.values, ++revision, launch.shape,
                                launch.active_blocks_per_sm};
      Diagnostics why;
      const TimeBreakdown* time = session->time(0, changed, why);
      if (time == nullptr) return std::nullopt;
      total += launch.times * (time->total_us - launch.time.total_us);
    }
    return total;
  }

  const PreparedPlan& plan_;
  std::size_t gpu_;
  const std::vector<std::int64_t>& values_;
  const PredictionOptions& options_;
  const Model& model_;
  const ExplainedRow& explained_;
  const PredictionRow& row_;
  const std::vector<LineShare>& lines_;
  const std::vector<Limit>& limits_;
  std::vector<Claim> claims_;
};

Result<Explanation> explained_row(const PreparedPlan& plan, std::size_t gpu,
                                  const std::vector<std::int64_t>& values, const PredictionOptions& options,
                                  bool with_claims) {
  RowModel model(plan, options);
  Explanation explanation;
  const auto terms = model.terms(gpu, values, true, explanation.row);
  if (!terms) return terms.diagnostics();
  const auto launches = explained_launches(*terms);
  const ExplainedRow row{&plan.gpus[gpu], explanation.row.time.total_us, launches, options.model_options};
  auto lines = options.model->line_shares(row);
  if (!lines) return lines.diagnostics();
  explanation.lines = std::move(*lines);
  explanation.limits = limits_of(explanation);
  if (with_claims) explanation.claims = Claims(plan, gpu, values, options, row, explanation).all();
  return explanation;
}

}  // namespace

Result<Explanation> explain(const PreparedPlan& plan, std::size_t gpu,
                            const std::vector<std::int64_t>& values, const PredictionOptions& options) {
  return explained_row(plan, gpu, values, options, true);
}

Result<Explanation> explain_lines(const PreparedPlan& plan, std::size_t gpu,
                                  const std::vector<std::int64_t>& values, const PredictionOptions& options) {
  return explained_row(plan, gpu, values, options, false);
}

}  // namespace warptime
