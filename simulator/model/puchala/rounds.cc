#include "simulator/model/puchala/rounds.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace warptime {
namespace {

constexpr std::size_t kCopiedSteps = 4;  // longer runs of steps are shared, not copied

// The same warp continues: `next` after `round`, without waiting in between.
Round joined(const Round& round, const Round& next) {
  Round both = round;
  both.busy += next.busy;
  if (round.busy + next.loads_done > round.loads_done) {
    both.loads_done = round.busy + next.loads_done;
    both.load_origin = next.load_origin;
  }
  if (round.busy + next.transactions_done > round.transactions_done) {
    both.transactions_done = round.busy + next.transactions_done;
    both.transaction_origin = next.transaction_origin;
  }
  return both;
}

Round joined_times(const Round& round, double times) {
  const double before_last = (times - 1) * round.busy;
  Round all = round;
  all.busy *= times;
  all.loads_done += before_last;
  all.transactions_done += before_last;
  return all;
}

// A stretch of the schedule: the end of the round in which it begins, whole rounds, and the beginning of the
// round in which it ends. If warps do not yield in it, all of it is in `head`.
struct Piece {
  bool empty = true;
  bool begins_with_load = false, ends_with_load = false;
  bool gives_way = false;
  Round head;
  std::vector<RoundStep> steps;
  Round tail;  // if warps yield in it
  double calculation = 0, accesses = 0;

  Round& last() { return gives_way ? tail : head; }
};

// A warp yields after a load, unless another load follows.
bool gives_way_between(const Piece& before, const Piece& after) {
  return before.ends_with_load && !after.begins_with_load;
}

class RoundMaker {
 public:
  explicit RoundMaker(double t_m_cycles) : t_m_(t_m_cycles) {}

  Piece piece_of(const std::vector<Schedule::Step>& steps) {
    Piece whole;
    for (const Schedule::Step& step : steps) {
      if (step.loop) {
        append(whole, piece_of(step.loop));
      } else {
        append(whole, step.period);
      }
    }
    return whole;
  }

 private:
  Round round_of(const Period& period) const {
    Round round;
    if (period.kind == PeriodKind::calculation) {
      round.busy = period.cycles;
      return round;
    }
    round.busy = t_m_;
    round.transactions_done = period.cycles;
    if (period.kind == PeriodKind::load) round.loads_done = period.cycles;
    round.load_origin = round.transaction_origin = period.origin;
    return round;
  }

  void append(Piece& into, const Period& period) const {
    const Round round = round_of(period);
    const bool load = period.kind == PeriodKind::load;
    if (into.empty) {
      into.empty = false;
      into.begins_with_load = load;
      into.head = round;
    } else if (into.ends_with_load && !load) {  // the warp gives way
      if (into.gives_way) into.steps.push_back({into.tail, nullptr});
      into.tail = round;
      into.gives_way = true;
    } else {
      into.last() = joined(into.last(), round);
    }
    into.ends_with_load = load;
    if (period.kind == PeriodKind::calculation) {
      into.calculation += period.cycles;
    } else {
      into.accesses += 1;
    }
  }

  // A loop that occurs in several places is cached.
  Piece piece_of(const std::shared_ptr<const Schedule::Loop>& loop) {
    if (loop.use_count() == 1) return repeat(piece_of(loop->body), loop->count);
    const auto known = loops_.find(loop.get());
    if (known != loops_.end()) return known->second;
    return loops_.emplace(loop.get(), repeat(piece_of(loop->body), loop->count)).first->second;
  }

  static void append(Piece& into, Piece next) {
    if (next.empty) return;
    if (into.empty) {
      into = std::move(next);
      return;
    }
    if (!gives_way_between(into, next)) {
      into.last() = joined(into.last(), next.head);
      if (next.gives_way && into.gives_way) into.steps.push_back({into.tail, nullptr});
    } else if (next.gives_way) {
      if (into.gives_way) into.steps.push_back({into.tail, nullptr});
      into.steps.push_back({next.head, nullptr});
    } else {
      if (into.gives_way) into.steps.push_back({into.tail, nullptr});
      into.tail = next.head;
      into.gives_way = true;
    }
    if (next.gives_way) {
      if (into.steps.empty()) {
        into.steps = std::move(next.steps);
      } else {
        into.steps.insert(into.steps.end(), next.steps.begin(), next.steps.end());
      }
      into.tail = next.tail;
      into.gives_way = true;
    }
    into.ends_with_load = next.ends_with_load;
    into.calculation += next.calculation;
    into.accesses += next.accesses;
  }

  static Piece repeat(Piece body, std::uint64_t count) {
    if (count == 1 || body.empty) return body;
    const auto times = static_cast<double>(count);
    const bool gives_way = gives_way_between(body, body);
    body.calculation *= times;
    body.accesses *= times;
    if (!body.gives_way && !gives_way) {
      body.head = joined_times(body.head, times);
      return body;
    }
    if (!body.gives_way) {
      add_loop(body.steps, count - 2, {{body.head, nullptr}});
      body.tail = body.head;
      body.gives_way = true;
      return body;
    }
    if (body.steps.size() > kCopiedSteps) {
      std::vector<RoundStep> shared;
      shared.push_back({{}, std::make_shared<const RoundLoop>(RoundLoop{1, std::move(body.steps)})});
      body.steps = std::move(shared);
    }
    std::vector<RoundStep> iteration;
    iteration.reserve(body.steps.size() + 2);
    if (gives_way) {
      iteration.push_back({body.tail, nullptr});
      iteration.push_back({body.head, nullptr});
    } else {
      iteration.push_back({joined(body.tail, body.head), nullptr});
    }
    iteration.insert(iteration.end(), body.steps.begin(), body.steps.end());
    add_loop(body.steps, count - 1, std::move(iteration));
    return body;
  }

  static void add_loop(std::vector<RoundStep>& steps, std::uint64_t count, std::vector<RoundStep> body) {
    if (count == 0) return;
    if (count == 1 && body.size() <= kCopiedSteps) {
      steps.insert(steps.end(), body.begin(), body.end());
      return;
    }
    steps.push_back({{}, std::make_shared<const RoundLoop>(RoundLoop{count, std::move(body)})});
  }

  double t_m_;
  std::unordered_map<const Schedule::Loop*, Piece> loops_;
};

}  // namespace

RoundSchedule make_rounds(const Schedule& schedule, double t_m_cycles) {
  Piece whole = RoundMaker(t_m_cycles).piece_of(schedule.steps);
  RoundSchedule rounds;
  rounds.calculation = whole.calculation;
  rounds.accesses = whole.accesses;
  if (whole.empty) return rounds;
  rounds.steps.reserve(whole.steps.size() + 2);
  rounds.steps.push_back({whole.head, nullptr});
  rounds.steps.insert(rounds.steps.end(), std::make_move_iterator(whole.steps.begin()),
                      std::make_move_iterator(whole.steps.end()));
  if (whole.gives_way) rounds.steps.push_back({whole.tail, nullptr});
  const auto is_loop = [](const RoundStep& step) { return step.loop != nullptr; };
  rounds.nested = std::any_of(rounds.steps.begin(), rounds.steps.end(), [&](const RoundStep& step) {
    return step.loop && std::any_of(step.loop->body.begin(), step.loop->body.end(), is_loop);
  });
  return rounds;
}

}  // namespace warptime
