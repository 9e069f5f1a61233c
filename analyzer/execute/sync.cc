// Instructions that the members of a warp do together (.sync): each thread waits until all that its member mask
// names, and that have not ended, are at an instruction of the same kind with the same mask. They need not be at
// the same instruction: compilers for Volta and later GPUs send divergent ones to one common place.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/execute/machine.h"

namespace warptime::execute {
namespace {

const DecodedInstruction& op_of(const Warp& warp, const Waiting& waiting) {
  return warp.frames[waiting.group.frame].code->ops[waiting.group.pc];
}

bool is_together(const Warp& warp, const Waiting& a, const Waiting& b) {
  if (a.barrier != none_index || b.barrier != none_index || a.members != b.members) return false;
  const auto &one = op_of(warp, a), &other = op_of(warp, b);
  return one.run == other.run && one.detail == other.detail && one.immediate == other.immediate;
}

// Operands of instructions at several places, side by side; a handler finds them as registers of one frame.
struct Gathered {
  enum : std::uint32_t { a, b, c, e, d, slots };
  enum : std::uint32_t { none, p, pd, predicates };
  std::array<std::uint64_t, std::size_t{slots} * lanes_of_warp> registers{};
  std::array<std::uint32_t, predicates> predicate_masks{};

  std::uint64_t* slot(std::uint32_t which) { return &registers[std::size_t{which} * lanes_of_warp]; }
  static DecodedInstruction renamed(DecodedInstruction op) {
    op.a = Ref(Bank::registers, a), op.b = Ref(Bank::registers, b), op.c = Ref(Bank::registers, c);
    op.e = Ref(Bank::registers, e), op.d = Ref(Bank::registers, d);
    op.p = {p, false};
    op.pd = pd;
    return op;
  }
  void take(const Warp& warp, const DecodedInstruction& op, std::uint32_t lanes) {
    const std::uint64_t* from[slots] = {warp.at(op.a), warp.at(op.b), warp.at(op.c), warp.at(op.e),
                                        warp.at(op.d)};
    for (std::uint32_t k = 0; k < slots; ++k) each(lanes, [&](std::uint32_t i) { slot(k)[i] = from[k][i]; });
    predicate_masks[p] |= warp.predicate(op.p) & lanes;
    predicate_masks[pd] |= warp.predicates[op.pd] & lanes;
  }
  void give(Warp& warp, const DecodedInstruction& op, std::uint32_t lanes) {
    each(lanes, [&](std::uint32_t i) { warp.out(op.d)[i] = slot(d)[i]; });
    warp.set_predicate(op.pd, lanes, predicate_masks[pd]);
  }
};

void run_gathered(Warp& warp, const std::vector<Waiting>& all, std::uint32_t lanes) {
  Gathered gathered;
  for (const auto& one : all) {
    use_frame(warp, one.group.frame);
    gathered.take(warp, op_of(warp, one), one.group.mask);
  }
  const auto op = Gathered::renamed(op_of(warp, all.back()));
  warp.registers = gathered.registers.data();
  warp.predicates = gathered.predicate_masks.data();
  warp.banks[static_cast<int>(Bank::registers)] = warp.registers;
  op.run(warp, op, lanes);
  for (const auto& one : all) {
    use_frame(warp, one.group.frame);
    gathered.give(warp, op_of(warp, one), one.group.mask);
  }
}

// Those that wait do their instructions now, together, and go on.
void do_together(Warp& warp, const std::vector<Waiting>& all) {
  std::uint32_t lanes = 0;
  bool same = true;
  for (const auto& one : all) {
    lanes |= one.group.mask;
    same = same && one.group.pc == all[0].group.pc && one.group.frame == all[0].group.frame;
  }
  warp.pc = all.back().group.pc;
  use_frame(warp, all.back().group.frame);
  warp.shared_lanes = warp.global_lanes = 0;
  if (same)
    op_of(warp, all[0]).run(warp, op_of(warp, all[0]), lanes);
  else
    run_gathered(warp, all, lanes);
  for (const auto& one : all) {
    auto group = one.group;
    use_frame(warp, group.frame);
    warp.pc = group.pc;
    if (!count_instruction(warp, group.mask, group.mask)) return;
    if (warp.observed)
      observe(warp, op_of(warp, one), warp.code().index, group.pc, group.mask, group.mask, Role::calculation);
    ++group.pc;
    add_group(warp, group);
  }
}

// Takes those that can do their instruction together with warp.waiting[which] out of the list.
std::vector<Waiting> take_together(Warp& warp, std::size_t which) {
  const auto key = warp.waiting[which];
  std::vector<Waiting> taken;
  std::erase_if(warp.waiting, [&](const Waiting& one) {
    const bool is = is_together(warp, key, one);
    if (is) taken.push_back(one);
    return is;
  });
  return taken;
}

std::uint32_t lanes_together(const Warp& warp, const Waiting& key) {
  std::uint32_t lanes = 0;
  for (const auto& one : warp.waiting)
    if (is_together(warp, key, one)) lanes |= one.group.mask;
  return lanes;
}

}  // namespace

bool members_are_here(const Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* members = warp.at(op.e);
  const auto first = static_cast<std::uint32_t>(members[std::countr_zero(mask)]);
  if ((first & warp.live & ~mask) != 0) return false;
  if (op.e.bank() == static_cast<std::uint32_t>(Bank::constants)) return true;
  bool same = true;
  each(mask, [&](std::uint32_t i) { same = same && static_cast<std::uint32_t>(members[i]) == first; });
  return same;
}

void wait_for_members(Warp& warp, std::uint32_t active, std::uint32_t mask) {
  auto group = warp.groups.back();
  const auto* members = warp.at(warp.code().ops[group.pc].e);
  warp.groups.pop_back();
  for (std::uint32_t rest = mask; rest != 0;) {
    const auto named = static_cast<std::uint32_t>(members[std::countr_zero(rest)]);
    std::uint32_t lanes = 0;
    each(rest, [&](std::uint32_t i) {
      lanes |= std::uint32_t{static_cast<std::uint32_t>(members[i]) == named} << i;
    });
    group.mask = lanes;
    warp.waiting.push_back({group, named, none_index});
    rest &= ~lanes;
  }
  if ((active & ~mask) != 0) {
    group.mask = active & ~mask;
    ++group.pc;
    add_group(warp, group);
  }
  check_members_waiting(warp);
}

void check_members_waiting(Warp& warp) {
  for (std::size_t i = 0; i < warp.waiting.size();) {
    const auto& one = warp.waiting[i];
    if (one.barrier != none_index || (one.members & warp.live & ~lanes_together(warp, one)) != 0) {
      ++i;
      continue;
    }
    do_together(warp, take_together(warp, i));
    i = 0;
  }
}

bool break_members(Warp& warp) {
  for (std::size_t i = 0; i < warp.waiting.size(); ++i) {
    const auto one = warp.waiting[i];
    if (one.barrier != none_index) continue;
    const auto missing = one.members & warp.live & ~lanes_together(warp, one);
    warp.pc = one.group.pc;
    use_frame(warp, one.group.frame);
    warp.fault(
        Finding::Kind::divergent_warp, static_cast<std::uint32_t>(std::countr_zero(one.group.mask)),
        fmt::format(
            "the member mask 0x{:08x} names threads of the warp (0x{:08x}) that are elsewhere in the code",
            one.members, missing));
    do_together(warp, take_together(warp, i));
    return true;
  }
  return false;
}

}  // namespace warptime::execute
