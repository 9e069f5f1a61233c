#include "simulator/program/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "simulator/base/integer_math.h"
#include "simulator/program/walk.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using Step = Schedule::Step;
using Loop = Schedule::Loop;

constexpr std::uint64_t kMostCountedIterations = std::uint64_t{1}
                                                 << 22;  // of counter-dependent bodies, all together
constexpr std::uint64_t kMostScheduleSteps = std::uint64_t{1} << 23;
constexpr std::uint64_t kMostVisits = std::uint64_t{1} << 25;  // of items
constexpr std::size_t kMostCopiedSteps = 4;                    // longer runs of steps are shared, not copied
constexpr int kDeepestSchedule = 400;
constexpr std::size_t kFewItems = 16;
constexpr std::size_t kFewLoops = 8, kFewOrigins = 16;  // that are looked through one by one

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return __builtin_add_overflow(a, b, &a) ? kSaturated : a;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return __builtin_mul_overflow(a, b, &a) ? kSaturated : a;
}

std::uint64_t count_periods(const std::vector<Step>& steps) {
  std::uint64_t count = 0;
  for (const Step& step : steps) {
    const std::uint64_t periods = step.loop ? saturating_multiply(step.loop->count, step.loop->periods) : 1;
    count = saturating_add(count, periods);
  }
  return count;
}

bool same_step(const Step& a, const Step& b) {
  if (a.loop || b.loop) return a.loop == b.loop;
  return a.period == b.period && a.period.origin == b.period.origin;
}

// Whether a counter is among used_names() of items.
class CounterFinder : public ItemWalker<CounterFinder> {
 public:
  explicit CounterFinder(std::string_view counter) : counter_(counter) {}
  bool found() const { return found_; }

  void on(const Item&, const Calculation& calculation) { find(calculation.cycles); }
  void on(const Item&, const Instructions& instructions) { find(instructions.count); }
  void on(const Item&, const MemoryAccess& access) {
    if (access.cycles) find(*access.cycles);
  }
  void on(const Item&, const Repeat& repeat) {
    find(repeat.count);
    if (repeat.counter != counter_) walk(repeat.body);  // which it hides
  }
  void on(const Item& item, const When& when) {
    find(when.condition);
    ItemWalker::on(item, when);
  }

 private:
  void find(const Expression& expression) { found_ = found_ || uses(expression); }
  bool uses(const Expression& expression) const {
    if (expression.op() == Expression::Operator::name) return expression.name_text() == counter_;
    const auto operands = expression.operands();
    return std::any_of(operands.begin(), operands.end(), [this](const Expression& one) { return uses(one); });
  }

  std::string_view counter_;
  bool found_ = false;
};

// Thrown nowhere else than here and caught in make_schedule: flattening recurses through the program.
struct FlattenFailed {
  Diagnostic diagnostic;
};

// Executed instructions of calculation that are not a period yet, as more may meet them.
struct Run {
  std::uint64_t count = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> shares;  // item's number, instructions; by number
  bool empty() const { return count == 0; }
  friend bool operator==(const Run&, const Run&) = default;
};

// A stretch of the program: instructions, then steps that begin and end with something that instructions do
// not merge with, then instructions. Where there are no steps, all the instructions are in `head`.
struct Fragment {
  Run head;
  std::vector<Step> steps;
  Run tail;
};

bool operator==(const Fragment& a, const Fragment& b) {
  return a.head == b.head && a.tail == b.tail &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_step);
}

class Flattener {
 public:
  Flattener(const KernelProgram& program, Bindings bindings, const MemoryDurations& durations,
            Origins origins)
      : program_(program),
        bindings_(std::move(bindings)),
        durations_(durations),
        origins_kept_(origins == Origins::kept) {
    check_depth(program.program, 0);
    if (!origins_kept_) return;
    items_.reserve(kFewItems);
    after_.reserve(kFewItems);
    number_items(program.program);
    schedule_.origins.reserve(std::min(items_.size(), kFewItems));
    single_origins_.assign(items_.size(), kNoOrigin);
  }

  Schedule run() {
    Fragment whole = flatten(program_.program, 0);
    std::vector<Step> steps;
    add_period(steps, whole.head);
    steps.insert(steps.end(), whole.steps.begin(), whole.steps.end());
    add_period(steps, whole.tail);
    schedule_.steps = std::move(steps);
    return std::move(schedule_);
  }

 private:
  static void check_depth(const Items& items, int depth) {
    if (depth > kDeepestSchedule) throw FlattenFailed{error("the program's items are nested too deeply")};
    for (const Item& item : items) {
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) check_depth(repeat->body, depth + 1);
      if (const auto* when = std::get_if<When>(&item.what)) {
        check_depth(when->then_items, depth + 1);
        check_depth(when->else_items, depth + 1);
      }
    }
  }

  // Items are numbered as they stand in the program, those inside of others after these. Without origins, nothing
  // asks for their numbers, and all are 0.
  void number_items(const Items& items) {
    for (const Item& item : items) {
      const std::size_t number = items_.size();
      items_.push_back(&item);
      after_.push_back(0);
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) number_items(repeat->body);
      if (const auto* when = std::get_if<When>(&item.what)) {
        number_items(when->then_items);
        number_items(when->else_items);
      }
      after_[number] = static_cast<std::uint32_t>(items_.size());
    }
  }

  // first: the number of the first of the items.
  Fragment flatten(const Items& items, std::uint32_t first) {
    Fragment result;
    for (const Item& item : items) {
      append(result, item, first);
      first = after(first);
    }
    return result;
  }

  std::uint32_t after(std::uint32_t number) const { return origins_kept_ ? after_[number] : 0; }

  void append(Fragment& into, const Item& item, std::uint32_t number) {
    if (++visits_ > kMostVisits)
      throw FlattenFailed{error("the program is too large when its counters are written out")};
    if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
      append(into, single(number, PeriodKind::calculation, duration(item, "calc", calculation->cycles)));
    } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      const std::uint64_t n = count(item, "instructions", instructions->count);
      if (n > 0) add(into.steps.empty() ? into.head : into.tail, n, {number, n});
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      if (!access->continues) append(into, period(item, number, *access));
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      append(into, flatten(item, number, *repeat));
    } else {
      append(into, flatten(item, number, std::get<When>(item.what)));
    }
  }

  Fragment flatten(const Item& item, std::uint32_t number, const When& when) {
    const auto condition = evaluate_count(when.condition, bindings_);
    if (!condition) throw failure(item, "when", when.condition, condition.diagnostics().front());
    if (*condition != 0) return flatten(when.then_items, number + 1);
    // The others come after these, as many as there are.
    std::uint32_t first = number + 1;
    for (std::size_t i = 0; i < when.then_items.size(); ++i) first = after(first);
    return flatten(when.else_items, first);
  }

  Period period(const Item& item, std::uint32_t number, const MemoryAccess& access) {
    const bool load = access.kind == MemoryAccess::Kind::load;
    double cycles = 0;
    if (const double* const own = own_duration(access)) {
      cycles = *own;
    } else if (access.cycles) {
      cycles = duration(item, load ? "load" : "store", *access.cycles);
    } else if (access.access) {
      const auto pattern = static_cast<std::size_t>(*access.access);
      cycles = load ? durations_.load[pattern] : durations_.store[pattern];
    } else {
      throw FlattenFailed{
          error(fmt::format("a {} has neither `cycles` nor `access`", load ? "load" : "store"))};
    }
    return single(number, load ? PeriodKind::load : PeriodKind::store, cycles);
  }

  const double* own_duration(const MemoryAccess& access) const {
    for (const auto& [name, cycles] : durations_.single)
      if (name.place == access.place && name.store == (access.kind == MemoryAccess::Kind::store))
        return &cycles;
    return nullptr;
  }

  Fragment flatten(const Item& item, std::uint32_t number, const Repeat& repeat) {
    const std::uint64_t iterations = count(item, "repeat", repeat.count);
    if (iterations == 0) return {};
    if (repeat.counter.empty()) return repeated(flatten(repeat.body, number + 1), iterations);
    return counted(item, number, repeat, iterations);
  }

  // A body whose expressions use the counter is written out, with equal consecutive iterations merged.
  Fragment counted(const Item& item, std::uint32_t number, const Repeat& repeat, std::uint64_t iterations) {
    const auto outer = bindings_.find(repeat.counter);
    const bool hides = outer != bindings_.end();
    const std::int64_t hidden = hides ? outer->second : 0;
    Fragment result;
    if (!uses_counter(repeat)) {
      bindings_[repeat.counter] = 0;
      result = repeated(flatten(repeat.body, number + 1), iterations);
    } else {
      if (iterations > kMostCountedIterations - iterations_) {
        throw FlattenFailed{
            error(fmt::format("`repeat: {}`{} has {} iterations that depend on its counter `{}`: too many to "
                              "write out",
                              to_string(repeat.count), place(item), iterations, repeat.counter),
                  fmt::format("at most {} such iterations are written out", kMostCountedIterations))};
      }
      iterations_ += iterations;
      Fragment last;
      std::uint64_t equal = 0;
      for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        bindings_[repeat.counter] = static_cast<std::int64_t>(iteration);
        Fragment body = flatten(repeat.body, number + 1);
        if (equal > 0 && body == last) {
          ++equal;
          continue;
        }
        if (equal > 0) append(result, repeated(std::move(last), equal));
        last = std::move(body);
        equal = 1;
      }
      append(result, repeated(std::move(last), equal));
    }
    if (hides) {
      bindings_[repeat.counter] = hidden;
    } else {
      bindings_.erase(repeat.counter);
    }
    return result;
  }

  bool uses_counter(const Repeat& repeat) {
    const auto [entry, fresh] = uses_counter_.try_emplace(&repeat, false);
    if (fresh) {
      CounterFinder finder(repeat.counter);
      finder.walk(repeat.body);
      entry->second = finder.found();
    }
    return entry->second;
  }

  // Of one item.
  Period single(std::uint32_t number, PeriodKind kind, double cycles) {
    if (!origins_kept_) return {kind, cycles, 0};
    std::uint32_t& origin = single_origins_[number];
    if (origin == kNoOrigin) {
      origin = static_cast<std::uint32_t>(schedule_.origins.size());
      schedule_.origins.push_back({{items_[number], 0}});
    }
    return {kind, cycles, origin};
  }

  // … which instructions do not merge with.
  void append(Fragment& into, const Period& period) {
    if (into.steps.empty()) {
      into.steps.reserve(kMostCopiedSteps);
    } else {
      add_period(into.steps, into.tail);
      spend_steps(1);
      into.tail.count = 0;
      into.tail.shares.clear();
    }
    into.steps.push_back(Step{period, nullptr});
  }

  // body^n = head (steps middle)^(n - 1) steps tail, where `middle` is what the tail of one iteration and the head
  // of the next make.
  Fragment repeated(Fragment body, std::uint64_t iterations) {
    if (iterations == 1) return body;
    if (body.steps.empty()) {
      multiply(body.head, iterations);
      return body;
    }
    Run middle = body.tail;
    add(middle, body.head);
    Fragment result;
    result.head = std::move(body.head);
    result.tail = std::move(body.tail);
    if (middle.empty()) {
      add_loop(result.steps, iterations, std::move(body.steps));
      return result;
    }
    if (body.steps.size() > kMostCopiedSteps) {
      std::vector<Step> shared;
      add_loop(shared, 1, std::move(body.steps));
      body.steps = std::move(shared);
    }
    std::vector<Step> iteration = body.steps;
    add_period(iteration, middle);
    if (iterations == 2) {
      result.steps = std::move(iteration);
    } else {
      add_loop(result.steps, iterations - 1, std::move(iteration));
    }
    result.steps.insert(result.steps.end(), body.steps.begin(), body.steps.end());
    spend_steps(result.steps.size());
    return result;
  }

  void append(Fragment& into, Fragment next) {
    if (into.steps.empty()) {
      add(into.head, next.head);
      next.head = std::move(into.head);
      into = std::move(next);
      return;
    }
    add(into.tail, next.head);
    if (next.steps.empty()) return;
    add_period(into.steps, into.tail);
    spend_steps(next.steps.size());
    into.steps.insert(into.steps.end(), next.steps.begin(), next.steps.end());
    into.tail = std::move(next.tail);
  }

  static void add(Run& into, const Run& run) {
    if (__builtin_add_overflow(into.count, run.count, &into.count)) throw too_many_instructions();
    for (const auto& share : run.shares) add(into, share);
  }

  void add(Run& into, std::uint64_t count, const std::pair<std::uint32_t, std::uint64_t>& share) const {
    if (__builtin_add_overflow(into.count, count, &into.count)) throw too_many_instructions();
    if (origins_kept_) add(into, share);
  }

  static void add(Run& into, const std::pair<std::uint32_t, std::uint64_t>& share) {
    const auto at =
        std::lower_bound(into.shares.begin(), into.shares.end(), std::pair{share.first, std::uint64_t{0}});
    if (at != into.shares.end() && at->first == share.first) {
      at->second += share.second;  // at most the run's count
    } else {
      into.shares.insert(at, share);
    }
  }

  static void multiply(Run& run, std::uint64_t by) {
    if (__builtin_mul_overflow(run.count, by, &run.count)) throw too_many_instructions();
    for (auto& [number, instructions] : run.shares) instructions *= by;
  }

  static FlattenFailed too_many_instructions() {
    return FlattenFailed{error("a run of instructions does not fit 64 bits")};
  }

  void add_period(std::vector<Step>& steps, const Run& run) {
    if (run.empty()) return;
    spend_steps(1);
    const double cycles = static_cast<double>(run.count) - 1 + 10;
    steps.push_back(Step{Period{PeriodKind::calculation, cycles, intern_origin(run)}, nullptr});
  }

  void add_loop(std::vector<Step>& steps, std::uint64_t count, std::vector<Step> body) {
    spend_steps(body.size());
    Loop loop{count, std::move(body), 0};
    std::uint64_t key = count * 0x9E3779B97F4A7C15u;
    for (const Step& step : loop.body) {
      const auto part = step.loop
                            ? reinterpret_cast<std::uintptr_t>(step.loop.get())
                            : std::bit_cast<std::uint64_t>(step.period.cycles) ^ (step.period.origin * 8 + 1);
      key = (key ^ part) * 0x100000001B3u;
    }
    const auto same = [&](const Loop& known) {
      return known.count == count &&
             std::equal(known.body.begin(), known.body.end(), loop.body.begin(), loop.body.end(), same_step);
    };
    for (const auto& [known_key, known] : few_loops_) {
      if (known_key != key || !same(*known)) continue;
      steps.push_back(Step{{}, known});
      return;
    }
    const auto [begin, end] = loops_.equal_range(key);
    for (auto at = begin; at != end; ++at) {
      if (!same(*at->second)) continue;
      steps.push_back(Step{{}, at->second});
      return;
    }
    loop.periods = count_periods(loop.body);
    auto made = std::make_shared<const Loop>(std::move(loop));
    if (few_loops_.size() < kFewLoops) {
      few_loops_.emplace_back(key, made);
    } else {
      loops_.emplace(key, made);
    }
    steps.push_back(Step{{}, std::move(made)});
  }

  void spend_steps(std::uint64_t count) {
    steps_ += count;
    if (steps_ > kMostScheduleSteps) {
      throw FlattenFailed{error(fmt::format(
          "the program is too large: with the repeats that depend on counters written out, it has more "
          "than {} periods",
          kMostScheduleSteps))};
    }
  }

  std::uint32_t intern_origin(const Run& run) {
    if (!origins_kept_) return 0;
    std::uint64_t key = run.shares.size();
    for (const auto& [number, instructions] : run.shares)
      key = ((key ^ number) * 0x9E3779B97F4A7C15u ^ instructions) * 0x100000001B3u;
    for (const auto& [known_key, origin] : few_origins_)
      if (known_key == key && is_of(schedule_.origins[origin], run)) return origin;
    const auto [begin, end] = origins_.equal_range(key);
    for (auto at = begin; at != end; ++at)
      if (is_of(schedule_.origins[at->second], run)) return at->second;
    const auto fresh = static_cast<std::uint32_t>(schedule_.origins.size());
    auto& shares = schedule_.origins.emplace_back();
    shares.reserve(run.shares.size());
    for (const auto& [number, instructions] : run.shares) shares.push_back({items_[number], instructions});
    if (few_origins_.size() < kFewOrigins) {
      few_origins_.emplace_back(key, fresh);
    } else {
      origins_.emplace(key, fresh);
    }
    return fresh;
  }

  bool is_of(const std::vector<Schedule::Share>& shares, const Run& run) const {
    return std::equal(shares.begin(), shares.end(), run.shares.begin(), run.shares.end(),
                      [this](const Schedule::Share& share, const auto& of_run) {
                        return share.item == items_[of_run.first] && share.instructions == of_run.second;
                      });
  }

  std::uint64_t count(const Item& item, std::string_view what, const Expression& expression) {
    const auto value = evaluate_count(expression, bindings_);
    if (!value) throw failure(item, what, expression, value.diagnostics().front());
    if (*value < 0) throw negative(item, what, expression, fmt::format("{}", *value));
    return static_cast<std::uint64_t>(*value);
  }

  double duration(const Item& item, std::string_view what, const Expression& expression) {
    const auto value = evaluate_number(expression, bindings_);
    if (!value) throw failure(item, what, expression, value.diagnostics().front());
    if (*value < 0) throw negative(item, what, expression, fmt::format("{}", *value));
    return *value;
  }

  FlattenFailed negative(const Item& item, std::string_view what, const Expression& expression,
                         const std::string& value) {
    return FlattenFailed{error(fmt::format("`{}: {}`{} is negative: {}{}", what, to_string(expression),
                                           place(item), value, values(expression)))};
  }

  FlattenFailed failure(const Item& item, std::string_view what, const Expression& expression,
                        const Diagnostic& why) {
    return FlattenFailed{error(fmt::format("`{}: {}`{}: {}{}", what, to_string(expression), place(item),
                                           why.message, values(expression)),
                               why.hint)};
  }

  // " (K = 2, N = 64)"
  std::string values(const Expression& expression) {
    std::string text;
    for (const std::string& name : expression.names()) {
      const auto bound = bindings_.find(name);
      if (bound == bindings_.end()) continue;
      text += fmt::format("{}{} = {}", text.empty() ? " (" : ", ", name, bound->second);
    }
    return text.empty() ? text : text + ")";
  }

  // " of mtx.cu:5-7"
  std::string place(const Item& item) {
    if (item.lines.empty()) return {};
    if (program_.provenance.source.empty()) return fmt::format(" (lines {})", to_string(item.lines));
    return fmt::format(" of {}:{}", program_.provenance.source, to_string(item.lines));
  }

  const KernelProgram& program_;
  Bindings bindings_;
  const MemoryDurations& durations_;
  bool origins_kept_;
  Schedule schedule_;
  std::vector<const Item*> items_;
  std::vector<std::uint32_t> after_;  // the number after an item and those inside of it, by its number
  static constexpr std::uint32_t kNoOrigin = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> single_origins_;  // of periods that are one item, by its number
  std::unordered_map<const Repeat*, bool> uses_counter_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> few_origins_;  // of runs, by a hash of their shares
  std::unordered_multimap<std::uint64_t, std::uint32_t> origins_;     // the others
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Loop>>> few_loops_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Loop>> loops_;  // the others
  std::uint64_t iterations_ = 0, steps_ = 0, visits_ = 0;
};

Diagnostics missing_parameters(const KernelProgram& program, const std::vector<std::string>& needed,
                               const Bindings& bindings) {
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    if (bindings.find(name) == bindings.end()) missing.push_back(name);
  }
  Diagnostics diagnostics;
  for (const std::string& name : missing) {
    std::string description;
    for (const Parameter& parameter : program.parameters) {
      if (parameter.name == name && !parameter.description.empty())
        description = fmt::format(" ({})", parameter.description);
    }
    diagnostics.push_back(error(fmt::format("the parameter `{}`{} has no value", name, description)));
  }
  if (!diagnostics.empty()) {
    diagnostics.back().hint =
        fmt::format("the program needs {}: `--param {}=VALUES`", yaml::list_of(needed), missing.front());
  }
  return diagnostics;
}

}  // namespace

std::uint64_t Schedule::period_count() const {
  return count_periods(steps);
}

Result<Schedule> make_schedule(const KernelProgram& program, const Bindings& bindings,
                               const MemoryDurations& durations) {
  Diagnostics missing = missing_parameters(program, used_names(program), bindings);
  if (!missing.empty()) return missing;
  return make_schedule_of_bound(program, bindings, durations);
}

Result<Schedule> make_schedule_of_bound(const KernelProgram& program, Bindings bindings,
                                        const MemoryDurations& durations, Origins origins) {
  try {
    return Flattener(program, std::move(bindings), durations, origins).run();
  } catch (FlattenFailed& failed) {
    return std::move(failed.diagnostic);
  }
}

namespace {

void write_out(const std::vector<Step>& steps, std::vector<Period>& into) {
  for (const Step& step : steps) {
    if (!step.loop) {
      into.push_back(step.period);
      continue;
    }
    for (std::uint64_t iteration = 0; iteration < step.loop->count; ++iteration)
      write_out(step.loop->body, into);
  }
}

}  // namespace

Result<std::vector<Period>> written_out(const Schedule& schedule, std::uint64_t limit) {
  const std::uint64_t count = schedule.period_count();
  if (count > limit) {
    return error(fmt::format("{} periods are more than the limit of {}",
                             count == kSaturated ? "2^64 or more" : fmt::format("{}", count), limit));
  }
  std::vector<Period> periods;
  periods.reserve(count);
  write_out(schedule.steps, periods);
  return periods;
}

}  // namespace warptime
