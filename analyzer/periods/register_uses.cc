#include "analyzer/periods/register_uses.h"

#include <algorithm>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {

using ptx::Operand;

RegisterUses::RegisterUses(const analysis::KernelFlow& flow) : flow_(flow) {
  const auto& function = flow.code.function();
  places_.resize(function.instructions.size());
  only_reader_.resize(function.registers.size(), analysis::none);
  has_reader_.resize(function.registers.size());
  named_.reserve(4 * places_.size());
  for (std::uint32_t i = 0; i < places_.size(); ++i) add(i);
}

std::span<const std::uint32_t> RegisterUses::reads(std::uint32_t instruction) const {
  const Place& place = places_[instruction];
  return std::span(named_).subspan(place.reads, place.writes - place.reads);
}

std::span<const std::uint32_t> RegisterUses::writes(std::uint32_t instruction) const {
  const Place& place = places_[instruction];
  return std::span(named_).subspan(place.writes, place.end - place.writes);
}

void RegisterUses::collect(const Operand& operand) {
  if (operand.kind == Operand::Kind::reg) named_.push_back(operand.symbol);
  for (std::uint32_t p = 0; p < operand.part_count; ++p)
    collect(flow_.code.operands()[operand.first_part + p]);
}

void RegisterUses::add(std::uint32_t i) {
  const auto& operands = flow_.code.operands();
  const auto& ins = flow_.code.function().instructions[i];
  const bool is_known = ins.info != nullptr;
  const bool guarded = ins.guard != ptx::no_index;
  const bool slot = analysis::moves_slot(operands, ins);
  std::uint32_t written = is_known ? ins.info->destinations : 1;
  if (slot) written = 1;
  // The results of a call are its first operand where that is a list.
  if (is_known && ins.info->category == ptx::Category::call && ins.operand_count > 1 &&
      operands[ins.first_operand].kind == Operand::Kind::list)
    written = 1;
  written = std::min(written, ins.operand_count);
  const bool reads_written = guarded || (is_known && ins.info->is(ptx::accumulates));
  Place& place = places_[i];
  place.reads = static_cast<std::uint32_t>(named_.size());
  if (guarded) collect(operands[ins.guard]);
  for (std::uint32_t o = reads_written ? 0 : written; o < ins.operand_count; ++o)
    collect(operands[ins.first_operand + o]);
  place.writes = static_cast<std::uint32_t>(named_.size());
  for (auto r = place.reads; r < place.writes; ++r) {
    const auto reg = named_[r];
    only_reader_[reg] = has_reader_[reg] && only_reader_[reg] != i ? analysis::none : i;
    has_reader_[reg] = true;
  }
  for (std::uint32_t o = 0; o < written; ++o) collect(operands[ins.first_operand + o]);
  place.end = static_cast<std::uint32_t>(named_.size());
  place.only_moves = !guarded && (slot || (is_known && ins.info->name == "mov"));
}

bool RegisterUses::names(std::span<const std::uint32_t> registers, std::uint32_t reg) const {
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}

const std::vector<bool>& RegisterUses::live_in(std::uint32_t reg) {
  const auto found = live_in_.find(reg);
  if (found != live_in_.end()) return found->second;
  const auto& blocks = flow_.cfg.blocks;
  std::vector<bool> live(blocks.size()), written(blocks.size());
  std::vector<std::uint32_t> work;
  for (const auto i : occurrences_[reg]) {
    const auto b = flow_.evaluator.block_of(i);
    if (b == analysis::none) continue;
    if (names(reads(i), reg) && !written[b] && !live[b]) {
      live[b] = true;
      work.push_back(b);
    }
    if (names(writes(i), reg)) written[b] = true;
  }
  while (!work.empty()) {
    const auto b = work.back();
    work.pop_back();
    for (const auto p : blocks[b].predecessors) {
      if (live[p] || written[p]) continue;
      live[p] = true;
      work.push_back(p);
    }
  }
  return live_in_.emplace(reg, std::move(live)).first->second;
}

bool RegisterUses::live_behind(std::uint32_t instruction, std::uint32_t reg) {
  if (occurrences_.empty()) {
    occurrences_.resize(only_reader_.size());
    for (std::uint32_t i = 0; i < places_.size(); ++i)
      for (auto r = places_[i].reads; r < places_[i].end; ++r)
        if (auto& in = occurrences_[named_[r]]; in.empty() || in.back() != i) in.push_back(i);
  }
  const auto& in = occurrences_[reg];
  const auto block = flow_.evaluator.block_of(instruction);
  for (auto next = std::upper_bound(in.begin(), in.end(), instruction);
       next != in.end() && flow_.evaluator.block_of(*next) == block; ++next) {
    if (names(reads(*next), reg)) return true;
    if (names(writes(*next), reg)) return false;
  }
  const auto& live = live_in(reg);
  const auto& successors = flow_.cfg.blocks[block].successors;
  return std::any_of(successors.begin(), successors.end(), [&](const auto s) { return live[s]; });
}

}  // namespace warptime::periods
