#include "simulator/program/profiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "simulator/program/typical_shares.h"
#include "simulator/program/walk.h"

namespace warptime {
namespace {

// Where a part of an iteration matters.
constexpr double kFewIterations = 8, kLeastPart = 0.02;

// What a warp typically makes of a loop that is left where data differ, and the share of its count that it makes of another that
// data leave: the most of its threads.
constexpr double kUntilDifferent = 3, kUntilLeft = 0.75;

// Instructions of a search for each place that it looks at, at most.
constexpr double kMostOfPlace = 24;

// Any number of iterations of which a loop's count is a little less.
constexpr std::int64_t kAnyCount = 1000;

int first_line(const Item& item) {
  return item.ptx.empty() ? 0 : item.ptx.ranges().front().first;
}

// Whether the item has that line of the PTX, itself or in what is nested in it, loops apart.
bool contains(const Item& item, int ptx_line) {
  if (std::holds_alternative<Repeat>(item.what)) return false;
  bool found = item.ptx.contains(ptx_line);
  for_each_inner(item, [&](const Items& inner) {
    found = found ||
            std::any_of(inner.begin(), inner.end(), [&](const Item& one) { return contains(one, ptx_line); });
  });
  return found;
}

bool asks_for_iterations(const Repeat& repeat) {
  const auto names = repeat.count.names();
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with("iterations_at_"); });
}

class ProfileApplier {
 public:
  ProfileApplier(KernelProgram& program, const KernelProfile& profile,
                 const std::map<std::string, double, std::less<>>& given, Unsaid unsaid,
                 std::map<int, EarlyLoop> early)
      : program_(program), profile_(profile), given_(given), unsaid_(unsaid), early_(std::move(early)) {}

  void apply(const std::map<std::string, double>& typical_shares) {
    apply(program_.program);
    apply_shares(typical_shares);
  }
  bool changed() const { return changed_; }
  Shares take_shares() { return std::move(shares_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  void apply(Items& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      Item& item = items[i];
      for_each_inner(item, [this](Items& inner) { apply(inner); });
      apply_accesses(item);
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        // The last iteration, as far as it goes, may be written behind the others.
        const bool last_beside = i + 1 < items.size() && !repeat->body.empty() &&
                                 first_line(items[i + 1]) == first_line(repeat->body.front());
        apply_iterations(item, last_beside);
      }
    }
  }

  void apply_shares(const std::map<std::string, double>& typical) {
    if (unsaid_ == Unsaid::most) return;
    for (Parameter& parameter : program_.parameters) {
      if (!is_side_of_branch(parameter) || profile_.shares.contains(parameter.name) ||
          given_.contains(parameter.name))
        continue;
      parameter.threads = typical_threads(parameter);
      changed_ = true;
      if (const auto found = typical.find(parameter.name); found != typical.end())
        parameter.share = found->second;
    }
  }

  void apply_accesses(Item& item) {
    if (std::holds_alternative<MemoryAccess>(item.what)) {
      const auto found = profile_.accesses.find(access_name(item));
      if (found == profile_.accesses.end()) return;
      auto detail = item.detail ? std::make_shared<ItemDetail>(*item.detail) : std::make_shared<ItemDetail>();
      detail->profile = found->second;
      item.detail = std::move(detail);
      changed_ = true;
      return;
    }
    if (!item.detail) return;
    const auto& on_chip = item.detail->on_chip;
    if (std::all_of(on_chip.begin(), on_chip.end(),
                    [](const ChipAccess& one) { return one.address.has_value(); }))
      return;
    auto detail = std::make_shared<ItemDetail>(*item.detail);
    for (ChipAccess& access : detail->on_chip)
      if (!access.address) access.ways = ways_of(item, access);
    item.detail = std::move(detail);
    changed_ = true;
  }

  // The mean over the lines of the item.
  std::optional<double> ways_of(const Item& item, const ChipAccess& access) const {
    double requests = 0, ways = 0;
    const auto add = [&](const LineSet& lines, bool of_ptx) {
      for (const auto& [first, last] : lines.ranges())
        for (int line = first; line <= last; ++line)
          if (const auto found =
                  profile_.chip_accesses.find(chip_access_name(access.space, access.kind, line, of_ptx));
              found != profile_.chip_accesses.end()) {
            requests += found->second.requests;
            ways += found->second.requests * found->second.ways;
          }
    };
    add(item.lines, false);
    add(item.ptx, true);
    return requests > 0 ? std::optional(ways / requests) : std::nullopt;
  }

  void apply_iterations(Item& item, bool last_beside) {
    auto& repeat = std::get<Repeat>(item.what);
    if (const auto early = early_.find(first_line(item)); early != early_.end()) {
      const EarlyLoop& loop = early->second;
      const auto find = [&](const auto& names) {
        const auto own = names.find(loop.name);
        return own != names.end() ? own : names.find(loop.of_line);
      };
      const auto given = find(given_);
      const auto found = find(profile_.iterations);
      if (given != given_.end()) {
        leave_after(repeat, loop, given->second, last_beside);
      } else if (found != profile_.iterations.end()) {
        leave_after(repeat, loop, found->second.mean, last_beside);
        set_spread(repeat, found->second, loop.exits.empty() && last_beside ? -1 : 0);
      } else if (unsaid_ == Unsaid::typical && loop.data) {
        leave_as_typical(repeat, loop, last_beside);
      }
      return;
    }
    const auto names = repeat.count.names();
    if (names.size() != 1 || given_.contains(names[0])) return;
    const auto found = profile_.iterations.find(names[0]);
    if (found == profile_.iterations.end()) return;
    const auto less = evaluate_count(repeat.count, {{names[0], kAnyCount}});
    const auto one_more = evaluate_count(repeat.count, {{names[0], kAnyCount + 1}});
    if (!less || !one_more || *one_more - *less != 1) return;
    const double mean = found->second.mean + static_cast<double>(*less - kAnyCount);
    if (mean < kFewIterations && std::abs(mean - std::round(mean)) > kLeastPart)
      set_iterations(repeat, names[0], mean, 1);
    set_spread(repeat, found->second, static_cast<double>(*less - kAnyCount));
  }

  void leave_after(Repeat& repeat, const EarlyLoop& loop, double mean, bool last_beside) {
    repeat.per_thread.reset();
    repeat.unrolled.clear();
    if (loop.exits.empty())
      set_iterations(repeat, loop.name, last_beside ? mean - 1 : mean, 1);
    else
      cut_at_exits(repeat, loop, mean);
  }

  // Whether data decide where something in it loads from.
  static bool loads_where_data_say(const Items& items) {
    bool found = false;
    for_each_item(items, [&](const Item& item) {
      const auto* access = std::get_if<MemoryAccess>(&item.what);
      found = found || (access != nullptr && access->kind == MemoryAccess::Kind::load && !access->address);
      if (!item.detail) return;
      const auto& on_chip = item.detail->on_chip;
      found = found || std::any_of(on_chip.begin(), on_chip.end(), [](const ChipAccess& one) {
                return one.kind == ChipAccess::Kind::load && !one.address;
              });
    });
    return found;
  }

  // Whether it looks at one place after the other until it is the one that is sought, as in a hash table: a few instructions
  // for each, and no branches on data but those that leave it. Others, such as a ray that goes from cell to cell, make steps.
  static bool searches(const Items& body, double exits) {
    if (!loads_where_data_say(body)) return false;
    bool branches = false;
    std::int64_t instructions = 0;
    for_each_item(body, [&](const Item& item) {
      branches = branches || !item.shares.empty();
      if (const auto* run = std::get_if<Instructions>(&item.what); run != nullptr && run->count.is_integer())
        instructions += run->count.integer_value();
    });
    return !branches && static_cast<double>(instructions) <= exits * kMostOfPlace;
  }

  void leave_as_typical(Repeat& repeat, const EarlyLoop& loop, bool last_beside) {
    const auto note = [&](const std::string& iterations) {
      notes_.push_back(fmt::format(
          "{}: data may leave the loop before its end: taken to make {} (`--assume {}=ITERATIONS`)",
          loop.name, iterations, loop.name));
    };
    if (loop.at_difference && !repeat.count.is_integer()) {
      note(fmt::format("{} iterations", kUntilDifferent));
      return leave_after(repeat, loop, kUntilDifferent, last_beside);
    }
    if (repeat.count.is_integer()) {
      const auto exits = static_cast<double>(std::max<std::size_t>(loop.exits.size(), 1));
      const double most = exits * static_cast<double>(repeat.count.integer_value()) + (last_beside ? 1 : 0);
      const double typical = loop.at_difference             ? kUntilDifferent
                             : searches(repeat.body, exits) ? std::cbrt(most)
                                                            : most * kUntilLeft;
      const double mean = std::max(std::round(typical), 1.0);
      if (mean >= most) return;
      note(fmt::format("{} of {} iterations", mean, most));
      return leave_after(repeat, loop, mean, last_beside);
    }
    changed_ = true;
    note("three quarters of its iterations");
    repeat.per_thread.reset();
    repeat.unrolled.clear();
    repeat.count =
        Expression::make(Expression::Operator::subtract,
                         {repeat.count, Expression::make(Expression::Operator::divide, {repeat.count, 4})});
  }

  // How warps differ in the iterations, of which the loop makes `more` than the profile counts. Where it makes other
  // numbers of them in their place (a part of the body more often, several at once), in proportion.
  void set_spread(Repeat& repeat, const KernelProfile::Iterations& of, double more) {
    const double mean = of.mean + more, most = static_cast<double>(of.most) + more;
    if (!(mean > 0) || !(of.deviation > kLeastPart * mean)) return;
    const double made = repeat.count.is_integer() ? static_cast<double>(repeat.count.integer_value()) : mean;
    const double scale = made / mean;
    repeat.spread = IterationSpread{made, of.deviation * scale, most * scale};
    changed_ = true;
  }

  // So many iterations, on average, of `share` of the body.
  void set_iterations(Repeat& repeat, const std::string& name, double mean, double share) {
    changed_ = true;
    mean = std::max(mean, 0.0);
    const bool few = mean < kFewIterations && std::abs(mean - std::round(mean)) > kLeastPart;
    const double whole = few ? std::ceil(mean) : std::round(mean);
    repeat.count = Expression(static_cast<std::int64_t>(whole));
    if (few) share *= mean / whole;
    if (share < 1) repeat.body = part_of(std::move(repeat.body), name, share);
  }

  // Whether an iteration of the source begins with its exit, as that of `for (…; i < n && data; …)`: more is behind the last
  // of them than up to the first.
  static bool begins_with_exit(const Items& body, const EarlyLoop& loop) {
    const auto leaves = [&](const Item& item) { return exits_in(item, loop) > 0; };
    const auto first = std::find_if(body.begin(), body.end(), leaves);
    const auto last = std::find_if(body.rbegin(), body.rend(), leaves).base();
    return first != body.end() &&
           instructions_of(last, body.end()) > instructions_of(body.begin(), first + 1);
  }

  static std::int64_t exits_in(const Item& item, const EarlyLoop& loop) {
    return std::count_if(loop.exits.begin(), loop.exits.end(),
                         [&](int line) { return contains(item, line); });
  }

  static std::int64_t instructions_of(Items::const_iterator begin, Items::const_iterator end) {
    std::int64_t all = 0;
    for (auto at = begin; at != end; ++at) {
      const auto* instructions = std::get_if<Instructions>(&at->what);
      all += instructions != nullptr && instructions->count.is_integer() ? instructions->count.integer_value()
                                                                         : 1;
    }
    return all;
  }

  // Between the exits of an iteration of which `mean` are passed in all iterations together.
  void cut_at_exits(Repeat& repeat, const EarlyLoop& loop, double mean) {
    changed_ = true;
    const auto exits = static_cast<double>(loop.exits.size());
    const double iterations = std::max(std::ceil(mean / exits), 1.0), passed = mean / iterations;
    repeat.count = Expression(static_cast<std::int64_t>(iterations));
    Items body, segment;
    double before = begins_with_exit(repeat.body, loop) ? -1 : 0;
    const auto end = [&] {
      const double share = std::clamp(passed - before, 0.0, 1.0);
      Items part =
          share < 1 ? part_of(std::exchange(segment, {}), loop.name, share) : std::exchange(segment, {});
      std::move(part.begin(), part.end(), std::back_inserter(body));
    };
    for (Item& item : repeat.body) {
      const std::int64_t here = exits_in(item, loop);
      segment.push_back(std::move(item));
      if (here == 0) continue;
      end();
      before += static_cast<double>(here);
    }
    if (!segment.empty()) end();
    repeat.body = std::move(body);
  }

  // The items, where `share` of the warps executes them.
  Items part_of(Items items, const std::string& name, double share) {
    Expression condition(0);
    if (share > 0) {
      std::string part = fmt::format("part_of_{}", name);
      while (shares_.contains(part)) part += "_";
      shares_[part] = share;
      program_.parameters.push_back({part, "the share of the warps that execute it, of the profile", share});
      condition = Expression::make(Expression::Operator::not_equal, {Expression::name(part), Expression(0)});
    }
    Item item{When{std::move(condition), std::move(items), {}}};
    Items only;
    only.push_back(std::move(item));
    return only;
  }

  KernelProgram& program_;
  const KernelProfile& profile_;
  const std::map<std::string, double, std::less<>>& given_;
  const Unsaid unsaid_;
  std::map<int, EarlyLoop> early_;
  Shares shares_;
  std::vector<std::string> notes_;
  bool changed_ = false;
};

}  // namespace

std::map<int, EarlyLoop> early_loops(const KernelProgram& program) {
  std::set<int> early, exits, by_data, by_difference;
  for (const Assumption& assumption : program.assumptions) {
    if (assumption.text == kMayBeLeftEarly) early.insert(assumption.ptx_line);
    const bool different = assumption.text == kDifferentDataLeaveHere;
    const bool data = different || assumption.text == kDataMayLeaveHere;
    if (data || assumption.text == kMayBeLeftEarlyHere) exits.insert(assumption.ptx_line);
    if (data) by_data.insert(assumption.ptx_line);
    if (different) by_difference.insert(assumption.ptx_line);
  }
  std::set<std::string> taken;
  for (const Parameter& parameter : program.parameters) taken.insert(parameter.name);
  std::map<int, EarlyLoop> loops;
  if (early.empty() && exits.empty()) return loops;
  for_each_item(program.program, [&](const Item& item) {
    const auto* repeat = std::get_if<Repeat>(&item.what);
    const int at = first_line(item);
    if (repeat == nullptr || loops.contains(at) || asks_for_iterations(*repeat)) return;
    EarlyLoop loop;
    for (const int line : exits)
      if (std::any_of(repeat->body.begin(), repeat->body.end(),
                      [&](const Item& inner) { return contains(inner, line); }))
        loop.exits.push_back(line);
    if (loop.exits.empty() && !early.contains(at)) return;
    const auto any_exit = [&](const std::set<int>& of) {
      return std::any_of(loop.exits.begin(), loop.exits.end(), [&](int line) { return of.contains(line); });
    };
    loop.data = loop.exits.empty() || any_exit(by_data);
    loop.at_difference = any_exit(by_difference);
    const std::string wanted = item.lines.empty()
                                   ? fmt::format("iterations_at_ptx_line_{}", at)
                                   : fmt::format("iterations_at_line_{}", item.lines.ranges().front().first);
    loop.name = loop.of_line = wanted;
    for (int n = 2; !taken.insert(loop.name).second; ++n) loop.name = fmt::format("{}_{}", wanted, n);
    loops.emplace(at, std::move(loop));
  });
  return loops;
}

ProfiledProgram with_profile(std::shared_ptr<const KernelProgram> program, const KernelProfile& profile,
                             const std::map<std::string, double, std::less<>>& given, Unsaid unsaid) {
  auto early = early_loops(*program);
  const auto typical = unsaid == Unsaid::typical ? typical_shares(*program) : std::map<std::string, double>();
  const bool loops = !early.empty() && (unsaid == Unsaid::typical || !given.empty());
  const bool branches =
      unsaid == Unsaid::typical &&
      std::any_of(program->parameters.begin(), program->parameters.end(), is_side_of_branch);
  // A program is copied only where something may change.
  if (profile.says_nothing() && !loops && !branches) return {std::move(program), {}, {}};
  auto changed = std::make_shared<KernelProgram>(*program);
  ProfileApplier applier(*changed, profile, given, unsaid, std::move(early));
  applier.apply(typical);
  if (!applier.changed()) return {std::move(program), {}, {}};
  return {std::move(changed), applier.take_shares(), applier.take_notes()};
}

std::vector<std::string> unknown_names(const KernelProgram& program, const KernelProfile& profile) {
  std::set<std::string> known;
  for (const Parameter& parameter : program.parameters) known.insert(parameter.name);
  for (const auto& [at, loop] : early_loops(program)) known.insert(loop.name);
  for_each_item(program.program, [&](const Item& item) {
    if (std::holds_alternative<MemoryAccess>(item.what)) known.insert(access_name(item));
  });
  std::vector<std::string> unknown;
  const auto look = [&](const auto& names) {
    for (const auto& [name, value] : names)
      if (!known.contains(name)) unknown.push_back(name);
  };
  look(profile.shares);
  look(profile.iterations);
  look(profile.accesses);
  return unknown;
}

}  // namespace warptime
