#include "analyzer/periods/classify.h"

#include <fmt/format.h>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/memory/access_pattern.h"
#include "analyzer/periods/fragments.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using Kind = InstructionRole::Kind;

// Whether an asynchronous copy reads device memory: its second operand then is the address there.
bool copied_from_memory(const ptx::Instruction& ins) {
  return ins.opcode.find(".shared") != std::string_view::npos && ins.operand_count > 1 &&
         ins.opcode.find(".global.shared") == std::string_view::npos;
}

InstructionRole memory(analysis::KernelFlow& flow, std::uint32_t block, std::uint32_t instruction, Kind kind,
                       std::uint32_t operand, std::string note, const analysis::Naming& naming,
                       std::vector<MemoryAccess>& accesses) {
  auto& evaluator = flow.evaluator;
  const auto& ins = evaluator.function().instructions[instruction];
  const auto fragment = fragment_access(evaluator, instruction, operand);
  const auto bytes = fragment ? fragment->bytes : std::max(1, ptx::access_bytes(ins));
  const auto address = fragment ? fragment->addresses.front() : evaluator.address(instruction, operand);
  const auto pattern = flow.accesses.pattern(
      address, bytes, [&] { return flow.loops.resolve(address, flow.cfg.blocks[block].loop); });
  MemoryAccess access;
  access.kind = kind == Kind::load ? MemoryAccess::Kind::load : MemoryAccess::Kind::store;
  access.access = pattern.access;
  access.bytes = bytes;
  access.sectors = pattern.sectors;
  if (fragment) {
    const auto requests = static_cast<std::int64_t>(fragment->addresses.size());
    access.bytes = bytes * requests;
    if (access.sectors) access.sectors = *access.sectors * requests;
    note += note.empty() ? "" : ", ";
    note += fmt::format("a fragment: {} requests", requests);
  }
  if (!pattern.sectors)
    note += note.empty() ? "its sectors depend on arguments or iterations"
                         : ", its sectors depend on arguments or iterations";
  if (pattern.sector_pitch)
    note += note.empty() ? "its sectors are those of rows that begin at multiples of 32 bytes"
                         : ", its sectors are those of rows that begin at multiples of 32 bytes";
  access.note = std::move(note);
  if (pattern.access == Access::strided) {
    const auto form =
        flow.accesses.stride_expr(pattern, flow.loops.resolve(address, flow.cfg.blocks[block].loop));
    const auto stride = form ? analysis::to_expression(evaluator.exprs(), *form, naming) : std::nullopt;
    if (stride) access.stride = to_string(*stride);
  }
  InstructionRole role;
  role.kind = kind;
  role.operand = operand;
  role.access = static_cast<std::uint32_t>(accesses.size());
  accesses.push_back(std::move(access));
  return role;
}

}  // namespace

std::uint32_t address_operand(const std::vector<ptx::Operand>& operands, const ptx::Instruction& ins,
                              ptx::Category category) {
  const std::uint32_t from = category == ptx::Category::load || category == ptx::Category::atomic ? 1 : 0;
  for (std::uint32_t i = from; i < ins.operand_count; ++i)
    if (operands[ins.first_operand + i].kind == ptx::Operand::Kind::address) return i;
  return from;
}

InstructionRole classify(analysis::KernelFlow& flow, std::uint32_t block, std::uint32_t instruction,
                         const analysis::Naming& naming, std::vector<MemoryAccess>& accesses) {
  auto& evaluator = flow.evaluator;
  const auto& function = evaluator.function();
  const auto& ins = function.instructions[instruction];
  InstructionRole role;
  role.kind = Kind::calculation;
  if (flow.code.silent(instruction)) {
    role.kind = Kind::none;
    return role;
  }
  if (ins.info == nullptr) {
    role.modelled = false;
    return role;
  }
  const auto category = ins.info->category;
  if (category == ptx::Category::exit) {
    if (flow.code.jump(instruction) != ptx::no_index) return role;  // of a device function
    if (ins.guard == ptx::no_index && ins.info->name != "trap") role.kind = Kind::none;
    return role;
  }
  const bool reads = category == ptx::Category::load || category == ptx::Category::atomic;
  const bool writes = category == ptx::Category::store || category == ptx::Category::reduction;
  if (category == ptx::Category::async_copy)
    return memory(flow, block, instruction, Kind::store, copied_from_memory(ins) ? 1 : 0, "asynchronous copy",
                  naming, accesses);
  if ((!reads && !writes) || analysis::moves_slot(evaluator.operands(), ins)) return role;
  if (ins.info->is(ptx::texture | ptx::surface)) {
    // Device memory, through the texture units: there is no address that can be followed.
    MemoryAccess access;
    access.kind = reads ? MemoryAccess::Kind::load : MemoryAccess::Kind::store;
    access.access = Access::coalesced;
    access.note = ins.info->is(ptx::texture) ? "texture" : "surface";
    if (category == ptx::Category::reduction) access.note = "reduction, surface";
    role.kind = reads ? Kind::load : Kind::store;
    role.access = static_cast<std::uint32_t>(accesses.size());
    accesses.push_back(std::move(access));
    return role;
  }
  const auto operand = address_operand(evaluator.operands(), ins, category);
  auto space = ptx::space_of(ins);
  std::string note = category == ptx::Category::atomic      ? "atomic"
                     : category == ptx::Category::reduction ? "reduction"
                                                            : "";
  if (space == ptx::StateSpace::generic || space == ptx::StateSpace::none) {
    const auto shown = evaluator.space_of_address(evaluator.address(instruction, operand));
    space = shown.value_or(ptx::StateSpace::global);
    if (!shown)
      note += note.empty() ? "generic address, taken as global" : ", generic address, taken as global";
  }
  if (space != ptx::StateSpace::global) return role;
  return memory(flow, block, instruction, reads ? Kind::load : Kind::store, operand, std::move(note), naming,
                accesses);
}

}  // namespace warptime::periods
