#include "analyzer/execute/profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulator/program/walk.h"

namespace warptime::execute {
namespace {

int first_line(const Items& items) {
  int first = 0;
  for_each_item(items, [&](const Item& item) {
    if (first == 0 && !item.ptx.empty()) first = item.ptx.ranges().front().first;
  });
  return first;
}

}  // namespace

ProfileRecorder::ProfileRecorder(const KernelProgram& program, const ptx::Module& module,
                                 const LaunchConfig& launch, const BlockSample& sample)
    : program_(program),
      module_(module),
      early_(early_loops(program)),
      accesses_(program, module, launch, sample.size()) {
  if (!sample.is_all()) sample_ = {sample.size(), launch.grid.count()};
  for (const Parameter& parameter : program.parameters)
    if (parameter.share && parameter.ptx_line > 0) shares_[parameter.name].branch = parameter.ptx_line;
  for (const auto& function : module.functions)
    for (const auto& instruction : function.instructions)
      if (instruction.opcode.starts_with("bra") && instruction.guard != ptx::no_index)
        branches_.insert(static_cast<int>(instruction.line));
  find(program.program);
  std::erase_if(shares_, [](const auto& share) { return share.second.sides.empty(); });
  for (const auto& [name, share] : shares_)
    for (const Side& side : share.sides) executions_[side.branch] = executions_[side.line] = 0;
  index_loops();
}

void ProfileRecorder::find(const Items& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (!item.shares.empty()) {
      const auto share = shares_.find(item.shares.back());
      const int line = first_line({item});
      if (share != shares_.end() && line != 0) {
        std::vector<Side>& sides = share->second.sides;
        if (item.predicated)
          sides.push_back({line, line, false, true});
        else if (const int branch = branch_before(items, i); branch > 0)
          sides.push_back({branch, line, false, false});
        else if (sides.empty())
          sides.push_back({share->second.branch, line, false, false});
      }
    }
    if (const auto* when = std::get_if<When>(&item.what)) {
      const auto& sides = when->condition.operands();
      if (when->condition.op() == Expression::Operator::not_equal &&
          sides[0].op() == Expression::Operator::name) {
        const auto share = shares_.find(sides[0].name_text());
        if (share != shares_.end() && !item.ptx.empty()) {
          const bool other = when->then_items.empty();
          const int line = first_line(other ? when->else_items : when->then_items);
          if (line != 0) share->second.sides.push_back({item.ptx.ranges().back().second, line, other, false});
        }
      }
    }
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      // `iterations_at_line_9`, or one less with a last iteration beside it.
      const auto names = repeat->count.names();
      const int at = first_line({item});
      if (const auto early = early_.find(at); early != early_.end())
        add_loop(item, early->second.name, early->second.exits, false);
      else if (names.size() == 1 && names[0].starts_with("iterations_at_"))
        add_loop(item, names[0], {}, true);
    }
    for_each_inner(item, [this](const Items& inner) { find(inner); });
  }
}

// Of an item that begins a side of a branch, the line of that branch: the last of what was executed before by all that take
// neither side alone. Unrolled code has a copy of both. 0: it does not begin a side, or the branch is not found.
int ProfileRecorder::branch_before(const Items& items, std::size_t at) const {
  const std::vector<std::string>& shares = items[at].shares;
  const std::vector<std::string> all(shares.begin(), shares.end() - 1);
  for (std::size_t i = at; i-- > 0;) {
    if (items[i].shares == shares) return 0;
    if (items[i].shares != all) continue;
    const int line = items[i].ptx.empty() ? 0 : items[i].ptx.ranges().back().second;
    return branches_.count(line) > 0 ? line : 0;
  }
  return 0;
}

void ProfileRecorder::add_loop(const Item& item, std::string parameter, std::vector<int> exits, bool asks) {
  const Items& body = std::get<Repeat>(item.what).body;
  Loop loop;
  loop.parameter = std::move(parameter);
  loop.exits = std::move(exits);
  loop.asks = asks;
  loop.first_line = first_line(body);
  for_each_item(body, [&](const Item& inner) { loop.lines.add(inner.ptx); });
  const bool known = std::any_of(loops_.begin(), loops_.end(),
                                 [&](const Loop& other) { return other.parameter == loop.parameter; });
  if (!known && loop.first_line != 0) loops_.push_back(std::move(loop));
}

void ProfileRecorder::index_loops() {
  std::size_t lines = 0;
  for (const Loop& loop : loops_)
    lines = std::max(lines, static_cast<std::size_t>(loop.lines.ranges().back().second) + 1);
  line_in_loop_.assign(lines * loops_.size(), 0);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const auto at = [&](int line) -> std::uint8_t& {
      return line_in_loop_[static_cast<std::size_t>(line) * loops_.size() + i];
    };
    for (const auto& [first, last] : loops_[i].lines.ranges())
      for (int line = first; line <= last; ++line) at(line) |= kInside;
    at(loops_[i].first_line) |= kFirst;
    if (loops_[i].exits.empty()) at(loops_[i].first_line) |= kCounted;
    for (const int line : loops_[i].exits) at(line) |= kCounted;
  }
}

void ProfileRecorder::executed(const WarpId& warp, const ExecutedInstruction& instruction) {
  const int line =
      static_cast<int>(module_.functions[instruction.function].instructions[instruction.instruction].line);
  if (const auto counted = executions_.find(line); counted != executions_.end()) {
    ++counted->second;
    if (instruction.performed != 0) ++performed_[line];
  }
  if (!loops_.empty()) follow_loops(warp, instruction, line);
  accesses_.executed(warp, instruction, line);
}

void ProfileRecorder::follow_loops(const WarpId& warp, const ExecutedInstruction& instruction, int line) {
  if (warp.block != block_) {  // blocks run one after the other
    for (std::size_t i = 0; i < open_.size(); ++i) close(loops_[i % loops_.size()], open_[i]);
    block_ = warp.block;
  }
  const std::size_t first = warp.warp * loops_.size();
  if (open_.size() < first + loops_.size()) open_.resize(first + loops_.size());
  const std::size_t row = static_cast<std::size_t>(line) * loops_.size();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    Open& open = open_[first + i];
    const std::uint8_t where = row < line_in_loop_.size() ? line_in_loop_[row + i] : std::uint8_t{0};
    if ((where & kFirst) != 0) {
      const bool goes_on = (instruction.active & ~open.entered) == 0 && (instruction.active & open.left) == 0;
      if (!goes_on) close(loops_[i], open);
      open.entered |= instruction.active;
    }
    if (open.entered == 0) continue;
    if ((where & kCounted) != 0) ++open.iterations;
    if ((where & kInside) != 0) continue;
    open.left |= instruction.active;
    if ((open.entered & ~open.left) == 0) close(loops_[i], open);
  }
}

void ProfileRecorder::close(Loop& loop, Open& open) {
  const auto [entered, left, iterations] = std::exchange(open, {});
  if (entered == 0) return;
  ++loop.entries;
  const auto count = static_cast<double>(iterations);
  loop.sum += count;
  loop.squares += count * count;
  loop.most = std::max(loop.most, iterations);
}

KernelProfile ProfileRecorder::profile() const {
  KernelProfile profile;
  profile.kernel = program_.provenance.kernel;
  profile.sample = sample_;
  const auto count = [](const std::map<int, std::uint64_t>& counts, int line) {
    const auto found = counts.find(line);
    return found == counts.end() ? 0.0 : static_cast<double>(found->second);
  };
  for (const auto& [name, share] : shares_) {
    double reached = 0, taken = 0;
    for (const Side& side : share.sides) {
      const double branches = count(executions_, side.branch);
      const double there = std::min(count(side.access ? performed_ : executions_, side.line), branches);
      reached += branches;
      taken += side.other ? branches - there : there;
    }
    if (reached > 0) profile.shares[name] = std::clamp(taken / reached, 0.0, 1.0);
  }
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    Loop loop = loops_[i];
    for (std::size_t at = i; at < open_.size(); at += loops_.size()) {
      Open open = open_[at];
      close(loop, open);
    }
    if (loop.entries == 0) {
      if (loop.asks) profile.iterations[loop.parameter] = {};
      continue;
    }
    const double entries = static_cast<double>(loop.entries), mean = loop.sum / entries;
    profile.iterations[loop.parameter] = {
        mean, std::sqrt(std::max(0.0, loop.squares / entries - mean * mean)), loop.most};
  }
  accesses_.add_to(profile);
  return profile;
}

}  // namespace warptime::execute
