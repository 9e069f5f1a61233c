// One warp: fetch, guard, do; and where its lanes part and meet.
#include "analyzer/execute/machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::execute {
namespace {

// Lanes that return end in this frame; lanes that exit, in all.
void retire(Warp& warp, std::uint32_t mask, bool everywhere) {
  for (std::size_t i = everywhere ? 0 : warp.frame().stack_base; i < warp.stack.size(); ++i)
    warp.stack[i].mask &= ~mask;
  if (everywhere || warp.depth == 1) warp.live &= ~mask;
}

// ---- waiting for lanes on other sides of a branch

// The lanes that must do `op` together: of a barrier all that run, of a .sync those that its member mask
// names.
std::uint32_t needed(const Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto lane = std::countr_zero(mask);
  if (op.has_members) return static_cast<std::uint32_t>(warp.at(op.e)[lane]) & warp.live;
  if (op.control != Control::barrier) return 0;
  const auto& site = warp.code().barriers[op.extra];
  if (site.kind == BarrierSite::Kind::warp_sync)
    return static_cast<std::uint32_t>(warp.at(site.id)[lane]) & warp.live;
  return warp.live;
}

void detach(Warp& warp, std::uint32_t lanes) {
  for (std::size_t i = warp.frame().stack_base; i < warp.stack.size(); ++i) warp.stack[i].mask &= ~lanes;
}

// Sides meet at post-dominators; where one of them may return, that is the function's end, though the code
// goes on together before. Lanes that come to a barrier or a .sync there wait for sides that have not run
// yet. Gives whether to go on with those (or with all, now together). Lanes that wait where the sides meet
// will not come: that is a divergent barrier.
bool wait_for_others(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  const auto all = needed(warp, op, mask);
  if ((all & ~mask) == 0) return false;
  std::uint32_t arrived = active, elsewhere = 0;
  for (const auto& parked : warp.parked)
    if (parked.depth == warp.depth && parked.pc == warp.pc) arrived |= parked.mask & warp.live;
  for (std::size_t i = warp.frame().stack_base; i < warp.stack.size(); ++i)
    if ((warp.stack[i].mask & active) == 0) elsewhere |= warp.stack[i].mask;
  const auto missing = all & ~(arrived & (mask | ~active));
  if ((missing & ~elsewhere) != 0) return false;
  detach(warp, arrived);
  if (missing != 0) {
    warp.parked.push_back({warp.pc, active, warp.depth});
    return true;
  }
  std::erase_if(warp.parked,
                [&](const Parked& parked) { return parked.depth == warp.depth && parked.pc == warp.pc; });
  warp.stack.push_back({warp.pc, static_cast<std::uint32_t>(warp.code().ops.size()), arrived});
  return true;
}

// The others have ended, or wait elsewhere: goes on with lanes that waited in this frame.
bool unpark(Warp& warp) {
  while (!warp.parked.empty() && warp.parked.back().depth == warp.depth) {
    const auto parked = warp.parked.back();
    warp.parked.pop_back();
    if ((parked.mask & warp.live) == 0) continue;
    warp.stack.push_back(
        {parked.pc, static_cast<std::uint32_t>(warp.code().ops.size()), parked.mask & warp.live});
    return true;
  }
  return false;
}

// Takes what is done off the stack: sides that reached the meeting point, frames that returned. Gives false
// where the warp has ended.
bool settle(Warp& warp) {
  while (true) {
    while (warp.stack.size() > warp.frame().stack_base) {
      const auto& top = warp.stack.back();
      if (top.mask != 0 && top.pc != top.reconverge) return true;
      warp.stack.pop_back();
    }
    if (unpark(warp)) return true;
    if (warp.depth == 1) break;
    leave(warp);
  }
  warp.live = 0;
  warp.state = Warp::State::ended;
  warp_ended(*warp.block);
  return false;
}

void diverge(Warp& warp, std::uint32_t meet, std::uint32_t taken_pc, std::uint32_t taken,
             std::uint32_t other_pc, std::uint32_t other) {
  auto& top = warp.stack.back();
  if (top.reconverge == meet)
    warp.stack.pop_back();  // it has nothing to do before the sides meet, and nothing after
  else
    top.pc = meet;
  if (taken_pc != meet) warp.stack.push_back({taken_pc, meet, taken});
  if (other_pc != meet) warp.stack.push_back({other_pc, meet, other});  // first: on top
}

void branch(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t taken) {
  auto& top = warp.stack.back();
  if (taken == active)
    top.pc = op.extra;
  else if (taken == 0)
    ++top.pc;
  else
    diverge(warp, op.reconverge, op.extra, taken, top.pc + 1, active & ~taken);
}

// brx.idx: a side for each target, the first target's on top; lanes whose guard is false go on behind it.
void indirect_branch(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  const auto& targets = warp.code().target_lists[op.extra];
  const auto* index = warp.at(op.a);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sides;  // pc, lanes
  const auto add = [&](std::uint32_t pc, std::uint32_t lanes) {
    for (auto& side : sides)
      if (side.first == pc) {
        side.second |= lanes;
        return;
      }
    sides.emplace_back(pc, lanes);
  };
  const auto here = warp.stack.back().pc;
  if ((active & ~mask) != 0) add(here + 1, active & ~mask);
  for (std::uint32_t k = 0; k < targets.size(); ++k) {
    std::uint32_t lanes = 0;
    each(mask,
         [&](std::uint32_t i) { lanes |= std::uint32_t{static_cast<std::uint32_t>(index[i]) == k} << i; });
    if (lanes != 0) add(targets[k], lanes);
  }
  std::uint32_t covered = 0;
  for (const auto& side : sides) covered |= side.second;
  if (const auto lost = active & ~covered; lost != 0) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lost));
    warp.fault(Finding::Kind::bad_operand, lane,
               fmt::format("an indirect branch to target {} of {}", static_cast<std::uint32_t>(index[lane]),
                           targets.size()));
    retire(warp, lost, true);
  }
  if (sides.empty()) return;
  if (sides.size() == 1) {
    warp.stack.back().pc = sides[0].first;
    return;
  }
  auto& top = warp.stack.back();
  if (top.reconverge == op.reconverge)
    warp.stack.pop_back();
  else
    top.pc = op.reconverge;
  for (auto side = sides.rbegin(); side != sides.rend(); ++side)
    if (side->first != op.reconverge) warp.stack.push_back({side->first, op.reconverge, side->second});
}

const FunctionCode* function_at(const Warp& warp, std::uint64_t address) {
  const auto& program = *warp.machine->program;
  const auto offset = address - warp.machine->map->functions;
  if (offset % 16 != 0 || offset == 0 || offset / 16 > program.module->functions.size()) return nullptr;
  const auto found = program.functions.find(static_cast<std::uint32_t>(offset / 16 - 1));
  return found == program.functions.end() ? nullptr : &found->second;
}

// Where the lanes call different functions, each function's lanes make the call by themselves. Gives the
// lanes that call now.
std::uint32_t agreeing(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* address = warp.at(op.a);
  std::vector<std::uint32_t> groups;
  for (std::uint32_t rest = mask; rest != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint32_t lanes = 0;
    each(rest, [&](std::uint32_t i) { lanes |= std::uint32_t{address[i] == address[first]} << i; });
    groups.push_back(lanes);
    rest &= ~lanes;
  }
  if (groups.size() == 1) return mask;
  const auto pc = warp.stack.back().pc;
  warp.stack.back().pc = pc + 1;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    warp.stack.push_back({pc, pc + 1, *group});
  return 0;
}

void call(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto& site = warp.code().calls[op.extra];
  ++warp.stack.back().pc;
  if (mask == 0) return;
  if (!site.external.empty()) return call_external(warp, site, mask);
  const auto* callee = site.indirect ? function_at(warp, warp.at(op.a)[std::countr_zero(mask)])
                                     : &warp.machine->program->functions.at(site.target);
  if (callee == nullptr || site.arguments.size() != callee->parameters.size() || callee->entry) {
    warp.fault(Finding::Kind::bad_operand, static_cast<std::uint32_t>(std::countr_zero(mask)),
               "a call through a register that does not hold a function with these parameters");
    return;
  }
  enter(warp, *callee, site, mask);
}

void check_registers(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto& frame = warp.frame();
  const auto place = [&](std::uint32_t touched) -> std::uint32_t& {
    return frame
        .known[(touched & predicate_mark) != 0 ? frame.code->register_slots + (touched & ~predicate_mark)
                                               : touched];
  };
  const auto* touched = frame.code->touched.data();
  for (std::uint32_t k = 0; k < op.reads_count; ++k) {
    const auto unknown = mask & ~place(touched[op.reads_first + k]);
    if (unknown != 0)
      warp.fault(Finding::Kind::uninitialised_register, static_cast<std::uint32_t>(std::countr_zero(unknown)),
                 "a register is read before it has a value");
  }
  for (std::uint32_t k = 0; k < op.writes_count; ++k) place(touched[op.writes_first + k]) |= mask;
}

bool writes_role_none(const Warp& warp, const DecodedInstruction& op) {
  if (op.guard != 0 || op.guard_negated) return false;
  return op.control == Control::exit || (op.control == Control::ret && warp.depth == 1);
}

void observe(Warp& warp, const DecodedInstruction& op, std::uint32_t function, std::uint32_t pc,
             std::uint32_t active, std::uint32_t mask, Role role) {
  ExecutedInstruction executed;
  executed.function = function;
  executed.instruction = pc;
  executed.active = active;
  executed.performed = mask;
  executed.role = role;
  if (role == Role::load || role == Role::store) {
    executed.bytes = static_cast<std::uint32_t>(op.bytes) * op.count;
    executed.addresses = warp.addresses;
    executed.global_lanes = warp.global_lanes;
  } else if (op.control == Control::none && mask != 0 && warp.shared_lanes != 0) {
    executed.addresses = warp.addresses;
    executed.shared_lanes = warp.shared_lanes;
    executed.bytes = static_cast<std::uint32_t>(op.bytes) * op.count;
  } else if (op.control == Control::none && op.space == Space::constant) {
    executed.addresses = warp.addresses;
    executed.constant_lanes = mask;
    executed.bytes = static_cast<std::uint32_t>(op.bytes) * op.count;
  }
  warp.machine->listener->executed({warp.block->number, warp.index}, executed);
}

void control(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  switch (op.control) {
    case Control::branch:
      branch(warp, op, active, mask);
      break;
    case Control::indirect_branch:
      indirect_branch(warp, op, active, mask);
      break;
    case Control::call:
      call(warp, op, mask);
      break;
    case Control::trap:
      if (mask != 0)
        warp.fault(Finding::Kind::assertion, static_cast<std::uint32_t>(std::countr_zero(mask)), "trap");
      [[fallthrough]];
    case Control::exit:
      ++warp.stack.back().pc;
      retire(warp, mask, true);
      break;
    case Control::ret:
      ++warp.stack.back().pc;
      retire(warp, mask, false);
      break;
    case Control::barrier:
      ++warp.stack.back().pc;
      if (mask != 0) reach_barrier(warp, op, mask);
      break;
    case Control::none:
      break;
  }
}

}  // namespace

void run_warp(Warp& warp, std::uint64_t instructions) {
  auto& machine = *warp.machine;
  const bool registers = machine.options->checks.uninitialised_registers;
  while (warp.state == Warp::State::ready && !machine.stopped && instructions-- > 0) {
    auto* top = &warp.stack.back();
    if (top->mask == 0 || top->pc == top->reconverge) {
      if (!settle(warp)) return;
      top = &warp.stack.back();
    }
    const auto& code = warp.code();
    if (top->pc >= code.ops.size()) {  // the end of the text
      retire(warp, top->mask, false);
      continue;
    }
    const auto pc = top->pc;
    const DecodedInstruction& op = code.ops[pc];
    warp.pc = pc;
    const auto active = top->mask;
    auto mask = active;
    if (op.guard != 0 || op.guard_negated)
      mask &= warp.predicates[op.guard] ^ (op.guard_negated ? full_mask : 0);
    if (op.control == Control::call && mask != 0 && code.calls[op.extra].indirect &&
        agreeing(warp, op, mask) == 0)
      continue;
    if (op.meets && mask != 0 && mask != warp.live && wait_for_others(warp, op, active, mask)) continue;
    if (machine.budget-- == 0) {
      machine.budget = 0;
      warp.fault(Finding::Kind::budget, static_cast<std::uint32_t>(std::countr_zero(active)),
                 fmt::format("the kernel has not ended after {} warp instructions",
                             machine.options->instruction_budget));
      machine.stopped = true;
      return;
    }
    auto& counts = machine.result.counts;
    ++counts.instructions;
    counts.lane_instructions += static_cast<std::uint32_t>(std::popcount(mask));
    if (registers) check_registers(warp, op, mask);
    const auto function = code.index;
    const bool none = warp.observed && writes_role_none(warp, op);
    Role role = none ? Role::none : Role::calculation;
    if (op.control == Control::none) {
      top->pc = pc + 1;
      if (mask != 0) {
        warp.shared_lanes = 0;
        op.run(warp, op, mask);
        if (op.memory_role && warp.global_lanes != 0) {
          role = op.role;
          ++(role == Role::load ? counts.loads : counts.stores);
        }
      }
    } else {
      control(warp, op, active, mask);
    }
    if (warp.observed) observe(warp, op, function, pc, active, mask, role);
  }
}

}  // namespace warptime::execute
