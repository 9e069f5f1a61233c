#include "simulator/program/warp_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/base/mixed_bits.h"
#include "simulator/program/launch_variable.h"

namespace warptime {
namespace {

// Slots that threads share; counters follow.
constexpr std::size_t kBlockSlot = 0, kWarpSlotOfTrace = 3, kFirstCounterSlot = 4;

// A sum as terms with whole coefficients, as far as it is one on its outside.
void split_sum(const Expression& expression, std::int64_t coefficient,
               std::vector<std::pair<std::int64_t, Expression>>& terms) {
  const auto& operands = expression.operands();
  if (expression.op() == Expression::Operator::add || expression.op() == Expression::Operator::subtract) {
    split_sum(operands[0], coefficient, terms);
    return split_sum(operands[1], expression.op() == Expression::Operator::add ? coefficient : -coefficient,
                     terms);
  }
  if (expression.op() == Expression::Operator::negate) return split_sum(operands[0], -coefficient, terms);
  if (expression.op() == Expression::Operator::multiply) {
    for (std::size_t side : {0, 1})
      if (operands[side].is_integer())
        return split_sum(operands[1 - side], coefficient * operands[side].integer_value(), terms);
  }
  terms.emplace_back(coefficient, expression);
}

Expression sum_of(const std::vector<std::pair<std::int64_t, Expression>>& terms) {
  Expression sum(0);
  for (const auto& [coefficient, term] : terms)
    sum = Expression::make(
        Expression::Operator::add,
        {std::move(sum), Expression::make(Expression::Operator::multiply, {coefficient, term})});
  return sum;
}

// Lines in order, most of which are added in order, or next to one that was added before.
class LineList {
 public:
  explicit LineList(std::vector<LineSectors>& lines) : lines_(lines) { lines_.clear(); }

  void add(std::int64_t sector) {
    const std::int64_t line = sector >> 2;
    const auto bit = static_cast<std::uint8_t>(1 << (sector & 3));
    if (lines_.empty() || lines_.back().line < line) return lines_.push_back({line, bit});
    std::size_t at = lines_.size();
    while (at > 0 && lines_[at - 1].line > line) --at;
    if (at > 0 && lines_[at - 1].line == line)
      lines_[at - 1].sectors |= bit;
    else
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), {line, bit});
  }

 private:
  std::vector<LineSectors>& lines_;
};

// The lines of the threads' bytes from `first` on, in order.
void find_lines(const LaneValues& first, std::int64_t offset, std::uint32_t threads, std::int64_t bytes,
                std::vector<LineSectors>& lines) {
  LineList list(lines);
  std::int64_t before = 0;  // the sector that was added last
  bool any = false;
  for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
    const std::int64_t at = first[static_cast<std::size_t>(std::countr_zero(rest))] + offset;
    const std::int64_t last = (at + bytes - 1) >> 5;
    for (std::int64_t sector = at >> 5; sector <= last; ++sector) {
      if (any && sector == before) continue;
      list.add(sector);
      before = sector;
      any = true;
    }
  }
}

// FNV-1a (Fowler, Noll, Vo).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

class LaunchTraceMaker {
 public:
  LaunchTraceMaker(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                   const Shares& shares)
      : program_(program), values_(values), shares_(shares) {
    for (const Parameter& parameter : program.parameters)
      if (parameter.share) shares_.emplace(parameter.name, *parameter.share);
    trace_.size_ = size;
    trace_.slots_ = kFirstCounterSlot;
  }

  Result<LaunchTrace> make() {
    trace_.nodes_ = nodes(program_.program);
    if (!wrong_.empty()) return std::move(wrong_);
    return std::move(trace_);
  }

 private:
  std::vector<TraceNode> nodes(const Items& items) {
    std::vector<TraceNode> made;
    made.reserve(items.size());
    for (const Item& item : items) {
      made.push_back(node(item));
      if (item.detail && item.detail->rises > 0) {
        const auto by =
            std::min<std::ptrdiff_t>(item.detail->rises, static_cast<std::ptrdiff_t>(made.size()) - 1);
        std::rotate(made.end() - 1 - by, made.end() - 1, made.end());
      }
    }
    return made;
  }

  TraceNode node(const Item& item) {
    TraceNode node;
    node.item = &item;
    if (item.threads) {
      node.threads = expression(*item.threads);
      node.condition = condition(*item.threads);
    }
    for (const std::string& share : item.shares) {
      node.share *= share_of(share);
      node.part = std::min(node.part, part_of_threads(share));
    }
    if (item.detail)
      for (const ChipAccess& access : item.detail->on_chip)
        node.on_chip.push_back(access.address ? known(expression(*access.address)) : std::nullopt);
    if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      node.count = count(instructions->count, item);
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      node.access = trace_.accesses_++;
      if (access->kind == MemoryAccess::Kind::load) node.load = ++loads_;
      if (access->address) find_address(*access->address, node);
      if (item.detail && item.detail->row) find_row(*item.detail->row, node);
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      node.count = count(repeat->count, item);
      if (repeat->per_thread) node.per_thread = known(expression(*repeat->per_thread));
      if (repeat->spread && !repeat->per_thread) node.iterations = IterationQuantiles(*repeat->spread);
      node.counter = static_cast<int>(trace_.slots_++);
      counters_.emplace_back(repeat->counter, node.counter);
      conditions_.clear();  // the same names are of other counters in other repeats
      node.body = nodes(repeat->body);
      conditions_.clear();
      counters_.pop_back();
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      decide(*when, item, node);
      node.body = nodes(when->then_items);
      node.otherwise = nodes(when->else_items);
    }
    return node;
  }

  // Items side by side mostly have the same condition.
  int condition(const Expression& threads) {
    constexpr std::size_t looked_at = 8;
    for (std::size_t back = 1; back <= std::min(looked_at, conditions_.size()); ++back)
      if (const auto& known = conditions_[conditions_.size() - back]; known.first == threads)
        return known.second;
    conditions_.emplace_back(threads, trace_.conditions_);
    return trace_.conditions_++;
  }

  void decide(const When& when, const Item& item, TraceNode& node) {
    if (when.then_threads) node.then_threads = known(expression(*when.then_threads));
    const auto op = when.condition.op();
    const bool equal = op == Expression::Operator::equal;
    if (equal || op == Expression::Operator::not_equal) {
      const auto& sides = when.condition.operands();
      if (sides[0].op() == Expression::Operator::name && sides[1] == Expression(0))
        if (const auto share = shares_.find(sides[0].name_text()); share != shares_.end()) {
          node.then_share = std::clamp(equal ? 1 - share->second : share->second, 0.0, 1.0);
          if (!equal) node.part = part_of_threads(sides[0].name_text());
          return;
        }
    }
    if (!node.then_threads) node.count = count(when.condition, item);
  }

  double share_of(const std::string& name) const {
    const auto share = shares_.find(name);
    return share == shares_.end() ? 1 : std::clamp(share->second, 0.0, 1.0);
  }

  double part_of_threads(const std::string& share) const {
    const auto& all = program_.parameters;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Parameter& one) { return one.name == share; });
    return found == all.end() ? 1 : found->threads;
  }

  static std::optional<LaneExpression> known(LaneExpression expression) {
    if (!expression.known()) return std::nullopt;
    return expression;
  }

  void find_row(const RowOfData& row, TraceNode& node) {
    const LaneExpression bytes = expression(row.bytes);
    if (!bytes.known() || !bytes.is_shared() || bytes.uses_from(0)) return;
    node.row_bytes = std::max<std::int64_t>(bytes.shared_value(LaneSlots{}), 1);
    node.row_chooser = hash_of(row.by);
    node.row_of = known(expression(row.of));
    node.row_at = known(expression(row.at));
    if (!node.row_of || !node.row_at) node.row_of = node.row_at = std::nullopt;
  }

  void find_address(const Expression& address, TraceNode& node) {
    std::vector<std::pair<std::int64_t, Expression>> terms, of_lanes, of_block, of_shared, of_both;
    split_sum(address, 1, terms);
    for (auto& term : terms) {
      const LaneExpression compiled = expression(term.second);
      if (!compiled.known()) return;
      auto& part = compiled.is_shared()                     ? of_shared
                   : !compiled.uses_from(0)                 ? of_lanes
                   : !compiled.uses_from(kFirstCounterSlot) ? of_block
                                                            : of_both;
      part.push_back(std::move(term));
    }
    node.of_lanes = expression(sum_of(of_lanes));
    node.of_block = expression(sum_of(of_block));
    node.of_shared = expression(sum_of(of_shared));
    node.of_both = expression(sum_of(of_both));
    node.of_both.keep_parts(kFirstCounterSlot);
    node.has_block = !of_block.empty();
    node.has_both = !of_both.empty();
    node.known = trace_.known_++;
    if (node.has_block || node.has_both) node.own = trace_.own_++;
  }

  LaneExpression count(const Expression& expression, const Item& item) {
    LaneExpression compiled = this->expression(expression);
    if (!compiled.known() || !compiled.is_shared()) {
      std::string place;
      if (!item.lines.empty())
        place = fmt::format(" of {}:{}", program_.provenance.source, to_string(item.lines));
      wrong_.push_back(error(fmt::format("`{}`{} cannot be evaluated", to_string(expression), place)));
    }
    return compiled;
  }

  LaneExpression expression(const Expression& expression) {
    return {expression, [this](const std::string& name) { return find(name); }};
  }

  LaneName find(const std::string& name) const {
    using Where = LaneName::Where;
    for (auto at = counters_.rbegin(); at != counters_.rend(); ++at)
      if (!name.empty() && at->first == name) return {Where::shared, at->second};
    if (const auto variable = launch_variable(name)) return place_of(*variable);
    if (const auto value = values_.find(name); value != values_.end())
      return {Where::constant, value->second};
    return {};
  }

  LaneName place_of(const LaunchVariable& variable) const {
    using Kind = LaunchVariable::Kind;
    using Where = LaneName::Where;
    const std::size_t axis = variable.axis;
    switch (variable.kind) {
      case Kind::block_idx:
        return {Where::shared, static_cast<std::int64_t>(kBlockSlot + axis)};
      case Kind::thread_idx:
        return {Where::own, static_cast<std::int64_t>(axis)};
      case Kind::block_dim:
        return {Where::constant, trace_.size_.block[axis]};
      case Kind::grid_dim:
        return {Where::constant, trace_.size_.grid[axis]};
      case Kind::lane_id:
        return {Where::own, 3};
      case Kind::warp_id:
        return {Where::shared, kWarpSlotOfTrace};
      case Kind::warp_size:
        return {Where::constant, static_cast<std::int64_t>(kLanes)};
    }
    return {};
  }

  const KernelProgram& program_;
  const Bindings& values_;
  Shares shares_;
  LaunchTrace trace_;
  std::vector<std::pair<std::string, int>> counters_;
  std::vector<std::pair<Expression, int>> conditions_;
  int loads_ = 0;
  Diagnostics wrong_;
};

Result<LaunchTrace> LaunchTrace::make(const KernelProgram& program, const Bindings& values,
                                      const LaunchSize& size, const Shares& shares) {
  return LaunchTraceMaker(program, values, size, shares).make();
}

std::span<const LineSectors> LinePattern::lines(const LaneValues& addresses, std::int64_t offset,
                                                std::uint32_t threads, std::int64_t bytes) {
  constexpr std::size_t most_known = 1 << 12;
  LaneValues apart;
  std::uint64_t different = threads_ ^ threads;
  for (std::size_t i = 0; i < kLanes; ++i) {
    apart[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(addresses[i]) -
                                         static_cast<std::uint64_t>(addresses[0]));
    different |= static_cast<std::uint64_t>(apart[i] ^ apart_[i]);
  }
  if (different != 0 || all_.size() > most_known) {
    threads_ = threads;
    apart_ = apart;
    phases_.fill({});
    all_.clear();
  }
  const std::int64_t phase = (addresses[0] + offset) & (kLineBytes - 1);
  Part& part = phases_[static_cast<std::size_t>(phase)];
  if (part.count == 0) {
    find_lines(apart_, phase, threads, bytes, found_);
    if (found_.size() > most_known) return found_;
    part = {static_cast<std::uint16_t>(all_.size()), static_cast<std::uint16_t>(found_.size())};
    all_.insert(all_.end(), found_.begin(), found_.end());
  }
  return std::span<const LineSectors>(all_).subspan(part.first, part.count);
}

TraceOfBlocks::TraceOfBlocks(const LaunchTrace& launch)
    : launch_(&launch),
      warps_(static_cast<std::size_t>(launch.size_.warps_per_block())),
      patterns_(static_cast<std::size_t>(launch.known_)) {}

TraceOfBlocks::OfWarp& TraceOfBlocks::of(std::int64_t number) {
  OfWarp& warp = warps_[static_cast<std::size_t>(number)];
  if (warp.made) return warp;
  warp.made = true;
  warp.known.resize(static_cast<std::size_t>(launch_->known_));
  const auto& block = launch_->size_.block;
  const std::int64_t threads = launch_->size_.threads_per_block();
  std::int64_t thread = number * static_cast<std::int64_t>(kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane, ++thread) {
    if (thread < threads) warp.active |= std::uint32_t{1} << lane;
    warp.own[0][lane] = thread % block[0];
    warp.own[1][lane] = thread / block[0] % block[1];
    warp.own[2][lane] = thread / (block[0] * block[1]);
    warp.own[3][lane] = static_cast<std::int64_t>(lane);
  }
  return warp;
}

WarpTrace::WarpTrace(TraceOfBlocks& common, std::int64_t block, std::int64_t warp)
    : launch_(common.launch_), common_(&common) {
  restart(block, warp);
}

void WarpTrace::restart(std::int64_t block, std::int64_t warp) {
  const LaunchSize& size = launch_->size_;
  of_warp_ = &common_->of(warp);
  slots_.own = of_warp_->own;
  slots_.shared.assign(launch_->slots_, 0);
  slots_.shared[kBlockSlot] = block % size.grid[0];
  slots_.shared[kBlockSlot + 1] = block / size.grid[0] % size.grid[1];
  slots_.shared[kBlockSlot + 2] = block / (size.grid[0] * size.grid[1]);
  slots_.shared[kWarpSlotOfTrace] = warp;
  known_.resize(static_cast<std::size_t>(launch_->own_));
  for (KnownLines& known : known_) known.made = known.kept.made = false;
  holding_.assign(static_cast<std::size_t>(launch_->conditions_), {});
  trips_.clear();
  frames_.clear();
  behind_ = 0;
  changes_ = 1;
  random_ = static_cast<std::uint64_t>(block) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(warp) + 1;
  // Multiples of the golden section, without their whole part, are spread evenly.
  constexpr double golden_section = 0.6180339887498949;
  const double turns = golden_section * static_cast<double>(block * size.warps_per_block() + warp);
  first_share_ = turns - std::floor(turns);
  first_repeat_ = true;
  frames_.push_back({&launch_->nodes_, 0, of_warp_->active});
}

// Items that are executed, about: of both sides of a condition. Counters that counts depend on are taken as they are.
double WarpTrace::work(const std::vector<TraceNode>& nodes, bool repeats_only) const {
  double sum = 0;
  for (const TraceNode& node : nodes) {
    const bool repeat = node.counter >= 0;
    if (repeat) {
      double iterations = 0;
      if (node.per_thread) {
        LaneValues trips;
        node.per_thread->values(slots_, trips);
        iterations = static_cast<double>(*std::max_element(trips.begin(), trips.end()));
      } else {
        iterations = static_cast<double>(node.count.shared_value(slots_));
      }
      sum += std::max(iterations, 0.0) * work(node.body, false);
    } else if (!node.body.empty() || !node.otherwise.empty()) {
      sum += work(node.body, repeats_only) + work(node.otherwise, repeats_only);
    } else if (!repeats_only) {
      sum += 1;
    }
  }
  return sum;
}

void WarpTrace::begin_at(double part) {
  behind_ = part * work(launch_->nodes_, true);
}

// How many of a repeat's iterations begin_at() leaves out, when the warp comes to it.
std::int64_t WarpTrace::left_out(const TraceNode& node, std::int64_t iterations) {
  const double each = work(node.body, false);
  const std::int64_t left = std::min(iterations, static_cast<std::int64_t>(behind_ / std::max(each, 1.0)));
  behind_ = left < iterations ? 0 : behind_ - static_cast<double>(left) * each;
  return left;
}

// Whether this warp is among the share that does something.
bool WarpTrace::draw(double share) {
  return share >= 1 || random() < share;
}

// So many of the threads, drawn, but one at least. `share`: 0 to 1.
std::uint32_t WarpTrace::some_of(std::uint32_t threads, double share) {
  if (share >= 1) return threads;
  constexpr int bits = 8;
  const auto parts = static_cast<unsigned>(share * (1 << bits));
  std::uint32_t mask = 0;
  for (int bit = 0; bit < bits; ++bit) {
    random_ += 0x9e3779b97f4a7c15U;
    const auto drawn = static_cast<std::uint32_t>(mixed_bits(random_));
    mask = (parts >> bit & 1) != 0 ? mask | drawn : mask & drawn;
  }
  mask &= threads;
  return mask != 0 ? mask : threads & (~threads + 1);
}

double WarpTrace::random() {
  random_ += 0x9e3779b97f4a7c15U;  // splitmix64 (Steele, Lea, Flood 2014)
  return share_of_bits(mixed_bits(random_));
}

std::int64_t WarpTrace::drawn_iterations(const TraceNode& node) {
  return node.iterations.iterations(std::exchange(first_repeat_, false) ? first_share_ : random());
}

std::uint32_t WarpTrace::holding(const LaneExpression& condition, std::uint32_t threads) const {
  if (!condition.known()) return threads;
  if (condition.is_shared()) return condition.shared_value(slots_) != 0 ? threads : 0;
  LaneValues values;
  condition.values(slots_, values);
  std::uint32_t result = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    result |= static_cast<std::uint32_t>(values[lane] != 0) << lane;
  return result & threads;
}

std::uint32_t WarpTrace::threads_of(const TraceNode& node) {
  Holding& holding = holding_[static_cast<std::size_t>(node.condition)];
  const bool of_counters = node.threads->uses_from(kFirstCounterSlot);
  if (holding.since == 0 || (of_counters && holding.since != changes_)) {
    holding.threads = this->holding(*node.threads, ~std::uint32_t{0});
    holding.since = changes_;
  }
  return holding.threads;
}

bool WarpTrace::next(Step& step, std::int64_t* patience) {
  while (!frames_.empty()) {
    if (patience != nullptr && --*patience < 0) break;
    Frame& frame = frames_.back();
    if (frame.next == frame.nodes->size()) {
      if (frame.repeat != nullptr && ++frame.iteration < frame.iterations) {
        slots_.shared[static_cast<std::size_t>(frame.repeat->counter)] = frame.iteration;
        ++changes_;
        frame.next = 0;
        if (frame.trips >= 0) {
          const LaneValues& trips = trips_[static_cast<std::size_t>(frame.trips)];
          frame.threads = 0;
          for (std::uint32_t rest = frame.entered; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
            if (trips[lane] > frame.iteration) frame.threads |= std::uint32_t{1} << lane;
          }
        }
        continue;
      }
      if (frame.trips >= 0) trips_.pop_back();
      frames_.pop_back();
      continue;
    }
    const TraceNode& node = (*frame.nodes)[frame.next++];
    std::uint32_t threads = frame.threads;
    if (node.threads) threads &= threads_of(node);
    const bool executed = threads != 0 && draw(node.share);
    if (executed && node.then_share < 0) threads = some_of(threads, node.part);
    if (!executed && !node.item->predicated) continue;
    step = {&node, threads, !executed};
    if (!executed || node.counter < 0) {
      if (std::holds_alternative<When>(node.item->what)) {
        if (executed) enter(node, threads);
        continue;
      }
      return true;
    }
    enter(node, threads);
    // What is executed before the loop, each time that it is reached.
    if (node.item->machine && node.item->machine->total() > 0) return true;
  }
  frames_.clear();
  return false;
}

void WarpTrace::enter(const TraceNode& node, std::uint32_t threads) {
  if (node.counter < 0) {        // a `when`
    if (node.then_share >= 0) {  // all of a warp's threads that go on take the same side
      const bool takes = draw(node.then_share);
      const auto& side = takes ? node.body : node.otherwise;
      if (!side.empty()) frames_.push_back({&side, 0, takes ? some_of(threads, node.part) : threads});
      return;
    }
    const std::uint32_t then = holding(node.then_threads ? *node.then_threads : node.count, threads);
    if ((threads & ~then) != 0) frames_.push_back({&node.otherwise, 0, threads & ~then});
    if (then != 0) frames_.push_back({&node.body, 0, then});
    return;
  }
  Frame body{&node.body, 0, threads, &node, 0, 0, threads};
  if (node.per_thread) {
    LaneValues trips;
    node.per_thread->values(slots_, trips);
    std::uint32_t first = 0;
    for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      body.iterations = std::max(body.iterations, trips[lane]);
      if (trips[lane] > 0) first |= std::uint32_t{1} << lane;
    }
    if (!node.per_thread->is_shared()) {
      body.trips = static_cast<int>(trips_.size());
      trips_.push_back(trips);
      body.threads = first;
    }
  } else {
    body.iterations = node.iterations.known() ? drawn_iterations(node) : node.count.shared_value(slots_);
  }
  slots_.shared[static_cast<std::size_t>(node.counter)] = 0;
  ++changes_;
  if (behind_ > 0 && body.iterations > 0) {
    if (const std::int64_t left = left_out(node, body.iterations); left > 0) {
      body.iteration = left - 1;  // next() goes on with the iteration behind it
      body.next = node.body.size();
    }
  }
  if (body.iterations > 0 && !node.body.empty())
    frames_.push_back(body);
  else if (body.trips >= 0)
    trips_.pop_back();
}

std::int64_t WarpTrace::instructions(const Step& step) const {
  if (step.node->counter >= 0) return 0;  // of a repeat: the instructions are its body's
  return step.skipped ? 1 : step.node->count.shared_value(slots_);
}

KnownLines& WarpTrace::known_of(const TraceNode& node) {
  KnownLines& known = node.has_block ? known_[static_cast<std::size_t>(node.own)]
                                     : of_warp_->known[static_cast<std::size_t>(node.known)];
  if (known.made) return known;
  node.of_lanes.values(slots_, known.of_threads);
  if (node.has_block) {
    LaneValues of_block;
    node.of_block.values(slots_, of_block);
    for (std::size_t i = 0; i < kLanes; ++i) known.of_threads[i] += of_block[i];
  }
  known.made = true;
  known.phase = -1;
  return known;
}

LaneValues WarpTrace::of_threads_and_counters(const TraceNode& node, const KnownLines& known) {
  LaneValues addresses;
  node.of_both.values(slots_, known_[static_cast<std::size_t>(node.own)].kept, addresses);
  for (std::size_t i = 0; i < kLanes; ++i) addresses[i] += known.of_threads[i];
  return addresses;
}

std::span<const LineSectors> WarpTrace::lines(const Step& step) {
  const TraceNode& node = *step.node;
  if (node.known < 0) return {};
  KnownLines& known = known_of(node);
  const std::int64_t bytes =
      std::max<std::int64_t>(1, std::get<MemoryAccess>(node.item->what).bytes.value_or(4));
  const std::int64_t offset = node.of_shared.shared_value(slots_);
  LinePattern& pattern = common_->patterns_[static_cast<std::size_t>(node.known)];
  const auto move = [this](std::span<const LineSectors> lines, std::int64_t by) {
    moved_.assign(lines.begin(), lines.end());
    for (LineSectors& line : moved_) line.line += by;
    return std::span<const LineSectors>(moved_);
  };
  if (node.has_both) {
    const LaneValues addresses = of_threads_and_counters(node, known);
    return move(pattern.lines(addresses, offset, step.threads, bytes), (addresses[0] + offset) >> 7);
  }
  const std::int64_t phase = offset & (kLineBytes - 1), whole = offset >> 7;
  if (known.phase != phase || known.threads != step.threads) {
    const auto lines =
        move(pattern.lines(known.of_threads, phase, step.threads, bytes), (known.of_threads[0] + phase) >> 7);
    known.lines.assign(lines.begin(), lines.end());
    known.phase = phase;
    known.threads = step.threads;
  }
  return move(known.lines, whole);
}

void WarpTrace::addresses(const Step& step, LaneValues& addresses) {
  const TraceNode& node = *step.node;
  const KnownLines& known = known_of(node);
  addresses = node.has_both ? of_threads_and_counters(node, known) : known.of_threads;
  const std::int64_t offset = node.of_shared.shared_value(slots_);
  for (std::int64_t& address : addresses) address += offset;
}

bool WarpTrace::places_in_rows(const Step& step, LaneValues& rows, LaneValues& places) const {
  const TraceNode& node = *step.node;
  if (!node.row_of) return false;
  node.row_of->values(slots_, rows);
  node.row_at->values(slots_, places);
  for (std::int64_t& row : rows)
    row = static_cast<std::int64_t>(mixed_bits(node.row_chooser ^ static_cast<std::uint64_t>(row)) >> 1);
  return true;
}

void WarpTrace::lines_of(const LaneValues& addresses, std::uint32_t threads, std::int64_t bytes,
                         std::vector<LineSectors>& lines) {
  lines.clear();
  find_lines(addresses, 0, threads, bytes, lines);
}

bool WarpTrace::chip_addresses(const Step& step, std::size_t index, LaneValues& addresses) const {
  const auto& address = step.node->on_chip[index];
  if (!address) return false;
  address->values(slots_, addresses);
  return true;
}

}  // namespace warptime
