// One warp: fetch, guard, do; and where its lanes part.
#include "analyzer/execute/machine.h"
#include "analyzer/execute/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warptime::execute {
namespace {

constexpr std::uint32_t polls_in_vain = 16;    // reads of one value before others get their turn
constexpr std::uint32_t most_long_turns = 64;  // of run_warp, while other threads of the warp wait

void branch(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t taken) {
  auto& top = warp.groups.back();
  if (taken == active)
    top.pc = op.extra;
  else if (taken == 0)
    ++top.pc;
  else
    part(warp, op.reconverge, std::array<Side, 2>{Side{op.extra, taken}, Side{top.pc + 1, active & ~taken}});
}

// brx.idx: a side for each target, the first target's on top; lanes whose guard is false go on behind it.
void indirect_branch(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  const auto& targets = warp.code().target_lists[op.extra];
  const auto* index = warp.at(op.a);
  std::vector<Side> sides;
  const auto add = [&](std::uint32_t pc, std::uint32_t lanes) {
    for (auto& side : sides)
      if (side.pc == pc) {
        side.mask |= lanes;
        return;
      }
    sides.push_back({pc, lanes});
  };
  const auto here = warp.groups.back().pc;
  if ((active & ~mask) != 0) add(here + 1, active & ~mask);
  for (std::uint32_t k = 0; k < targets.size(); ++k) {
    std::uint32_t lanes = 0;
    each(mask,
         [&](std::uint32_t i) { lanes |= std::uint32_t{static_cast<std::uint32_t>(index[i]) == k} << i; });
    if (lanes != 0) add(targets[k], lanes);
  }
  std::uint32_t covered = 0;
  for (const auto& side : sides) covered |= side.mask;
  if (const auto lost = active & ~covered; lost != 0) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lost));
    warp.fault(Finding::Kind::bad_operand, lane,
               fmt::format("an indirect branch to target {} of {}", static_cast<std::uint32_t>(index[lane]),
                           targets.size()));
    end_lanes(warp, lost);
  }
  if (sides.empty()) return;
  if (sides.size() == 1) {
    warp.groups.back().pc = sides[0].pc;
    return;
  }
  std::reverse(sides.begin(), sides.end());
  part(warp, op.reconverge, sides);
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
  const auto pc = warp.groups.back().pc, active = warp.groups.back().mask;
  std::vector<Side> sides;
  for (std::uint32_t rest = mask; rest != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint32_t lanes = 0;
    each(rest, [&](std::uint32_t i) { lanes |= std::uint32_t{address[i] == address[first]} << i; });
    sides.push_back({pc, lanes});
    rest &= ~lanes;
  }
  if (sides.size() == 1) return mask;
  if ((active & ~mask) != 0) sides.push_back({pc + 1, active & ~mask});
  std::reverse(sides.begin(), sides.end());
  part(warp, pc + 1, sides);
  return 0;
}

void call(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto& site = warp.code().calls[op.extra];
  ++warp.groups.back().pc;
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
  return op.control == Control::exit || (op.control == Control::ret && warp.frame().depth == 1);
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
      ++warp.groups.back().pc;
      end_lanes(warp, mask);
      break;
    case Control::ret:
      ++warp.groups.back().pc;
      return_lanes(warp, mask);
      break;
    case Control::barrier:
      if (mask != 0)
        reach_barrier(warp, op, active, mask);
      else
        ++warp.groups.back().pc;
      break;
    case Control::none:
      break;
  }
}

// Whether a read that is to see what another thread writes has given the same again and again.
bool polls_again(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto& poll = warp.polls[warp.pc % warp.polls.size()];
  std::uint64_t seen = warp.pc + (std::uint64_t{mask} << 32);
  const auto* d = warp.at(op.d);
  each(mask, [&](std::uint32_t i) { seen = (seen ^ d[i]) * 0x9e3779b97f4a7c15; });
  if (poll.seen != seen) {
    poll = {seen, 0};
    return false;
  }
  if (++poll.times < polls_in_vain) return false;
  poll.times = 0;
  return true;
}

// One instruction of the running group, which is settled.
void execute(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask) {
  auto& machine = *warp.machine;
  const auto pc = warp.pc;
  if (!count_instruction(warp, active, mask)) return;
  const auto function = warp.code().index;
  const bool none = warp.observed && writes_role_none(warp, op);
  Role role = none ? Role::none : Role::calculation;
  const bool undefined = warp.frame().undefined.any();
  if (op.control == Control::none) {
    warp.groups.back().pc = pc + 1;
    if (mask != 0) {
      warp.shared_lanes = 0;
      if (undefined)
        run_with_undefined(warp, op, active, mask);
      else
        op.run(warp, op, mask);
      if (op.memory_role && warp.global_lanes != 0) {
        role = op.role;
        auto& counts = machine.result.counts;
        ++(role == Role::load ? counts.loads : counts.stores);
      }
    }
  } else {
    if (undefined) run_with_undefined(warp, op, active, mask);
    control(warp, op, active, mask);
  }
  if (warp.observed) observe(warp, op, function, pc, active, mask, role);
}

}  // namespace

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

bool spend_budget(Warp& warp, std::uint32_t active) {
  auto& machine = *warp.machine;
  warp.fault(Finding::Kind::budget, static_cast<std::uint32_t>(std::countr_zero(active)),
             fmt::format("the kernel has not ended after {} warp instructions",
                         machine.options->instruction_budget));
  machine.stopped = true;
  return false;
}

void run_warp(Warp& warp, std::uint64_t instructions) {
  auto& machine = *warp.machine;
  const bool registers = machine.options->checks.uninitialised_registers;
  warp.polled_in_vain = false;
  while (warp.state == Warp::State::ready && !machine.stopped) {
    if (instructions-- == 0) {
      if (++warp.long_turns >= most_long_turns) yield(warp);
      return;
    }
    auto* top = warp.groups.data() + warp.groups.size() - 1;
    if (warp.groups.empty() || top->mask == 0 || top->pc == top->reconverge) {
      if (!settle(warp)) return;
      top = &warp.groups.back();
    }
    if (top->frame != warp.frame_index) use_frame(warp, top->frame);
    const auto& code = warp.code();
    if (top->pc >= code.ops.size()) {  // the end of the text
      return_lanes(warp, top->mask);
      continue;
    }
    const DecodedInstruction& op = code.ops[top->pc];
    warp.pc = top->pc;
    const auto active = top->mask;
    auto mask = active;
    if (op.guard != 0 || op.guard_negated)
      mask &= warp.predicates[op.guard] ^ (op.guard_negated ? full_mask : 0);
    if (op.control == Control::call && mask != 0 && code.calls[op.extra].indirect &&
        agreeing(warp, op, mask) == 0)
      continue;
    if (op.has_members && mask != 0 && !members_are_here(warp, op, mask)) {
      wait_for_members(warp, active, mask);
      continue;
    }
    if (registers) check_registers(warp, op, mask);
    execute(warp, op, active, mask);
    if (op.polls && mask != 0 && polls_again(warp, op, mask) && !yield(warp)) {
      warp.polled_in_vain = true;
      return;
    }
  }
}

}  // namespace warptime::execute
