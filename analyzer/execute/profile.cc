#include "analyzer/execute/profile.h"

#include <algorithm>
#include <cmath>

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

ProfileRecorder::ProfileRecorder(const KernelProgram& program, const ptx::Module& module)
    : program_(program), module_(module) {
  for (const Parameter& parameter : program.parameters)
    if (parameter.share && parameter.ptx_line > 0) shares_[parameter.name].branch = parameter.ptx_line;
  find(program.program);
  std::erase_if(shares_, [](const auto& share) { return share.second.side == 0; });
  for (const auto& [name, share] : shares_) executions_[share.branch] = executions_[share.side] = 0;
}

void ProfileRecorder::find(const Items& items) {
  for (const Item& item : items) {
    if (!item.shares.empty()) {
      const auto share = shares_.find(item.shares.back());
      if (share != shares_.end() && share->second.side == 0) {
        share->second.access = item.predicated;
        share->second.side = first_line({item});
      }
    }
    if (const auto* when = std::get_if<When>(&item.what)) {
      const auto& sides = when->condition.operands();
      if (when->condition.op() == Expression::Operator::not_equal &&
          sides[0].op() == Expression::Operator::name) {
        const auto share = shares_.find(sides[0].name_text());
        if (share != shares_.end() && share->second.side == 0) {
          share->second.other = when->then_items.empty();
          share->second.side = first_line(share->second.other ? when->else_items : when->then_items);
        }
      }
    }
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      // `iterations_at_line_9`, or one less with a last iteration beside it.
      const auto names = repeat->count.names();
      if (names.size() == 1 && names[0].starts_with("iterations_at_")) {
        Loop loop;
        loop.parameter = names[0];
        loop.first_line = first_line(repeat->body);
        for_each_item(repeat->body, [&](const Item& inner) { loop.lines.add(inner.ptx); });
        const bool known = std::any_of(loops_.begin(), loops_.end(),
                                       [&](const Loop& other) { return other.parameter == loop.parameter; });
        if (!known && loop.first_line != 0) loops_.push_back(std::move(loop));
      }
    }
    for_each_inner(item, [this](const Items& inner) { find(inner); });
  }
}

void ProfileRecorder::executed(const WarpId& warp, const ExecutedInstruction& instruction) {
  const int line =
      static_cast<int>(module_.functions[instruction.function].instructions[instruction.instruction].line);
  if (const auto counted = executions_.find(line); counted != executions_.end()) {
    ++counted->second;
    if (instruction.performed != 0) ++performed_[line];
  }
  for (Loop& loop : loops_) {
    const auto key = std::pair{warp.block, warp.warp};
    if (line == loop.first_line) {
      ++loop.open[key];
    } else if (!loop.lines.contains(line)) {
      const auto open = loop.open.find(key);
      if (open == loop.open.end()) continue;
      close(loop, open->second);
      loop.open.erase(open);
    }
  }
}

void ProfileRecorder::close(Loop& loop, std::int64_t iterations) {
  ++loop.entries;
  const auto count = static_cast<double>(iterations);
  loop.sum += count;
  loop.squares += count * count;
  loop.most = std::max(loop.most, iterations);
}

KernelProfile ProfileRecorder::profile() const {
  KernelProfile profile;
  profile.kernel = program_.provenance.kernel;
  const auto count = [](const std::map<int, std::uint64_t>& counts, int line) {
    const auto found = counts.find(line);
    return found == counts.end() ? 0.0 : static_cast<double>(found->second);
  };
  for (const auto& [name, share] : shares_) {
    const double reached = count(executions_, share.branch);
    if (reached == 0) continue;
    const double taken = count(share.access ? performed_ : executions_, share.side) / reached;
    profile.shares[name] = std::clamp(share.other ? 1 - taken : taken, 0.0, 1.0);
  }
  for (Loop loop : loops_) {
    for (const auto& [warp, iterations] : loop.open) {
      ++loop.entries;
      loop.sum += static_cast<double>(iterations);
      loop.squares += static_cast<double>(iterations) * static_cast<double>(iterations);
      loop.most = std::max(loop.most, iterations);
    }
    if (loop.entries == 0) continue;
    const double entries = static_cast<double>(loop.entries), mean = loop.sum / entries;
    profile.iterations[loop.parameter] = {
        mean, std::sqrt(std::max(0.0, loop.squares / entries - mean * mean)), loop.most};
  }
  return profile;
}

}  // namespace warptime::execute
