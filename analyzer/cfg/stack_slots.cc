#include "analyzer/cfg/stack_slots.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/opcodes.h"

namespace warptime::analysis {
namespace {

using ptx::no_index;
using Kind = ptx::Operand::Kind;
using Referent = ptx::Operand::Referent;

bool is_load(const ptx::Instruction& ins) {
  return ins.info != nullptr && ins.info->category == ptx::Category::load;
}
bool is_store(const ptx::Instruction& ins) {
  return ins.info != nullptr && ins.info->category == ptx::Category::store;
}

class SlotPromoter {
 public:
  SlotPromoter(std::vector<ptx::Operand>& operands, ptx::Function& function)
      : operands_(operands), function_(function) {}

  // Whether something became a register.
  bool run() {
    find_definitions();
    find_address_registers();
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) look_at_uses(i);
    choose_slots();
    for (const auto& access : accesses_) rewrite(access);
    return !registers_.empty();
  }

 private:
  // A byte of a local variable.
  struct Place {
    std::uint32_t variable = 0;
    std::uint64_t offset = 0;
  };
  struct SlotAccess {
    std::uint32_t instruction = 0;
    std::uint32_t operand = 0;  // which
    Place place;
    std::uint32_t parts = 1, bytes = 0;  // elements, and the bytes of each
  };

  const ptx::Operand& operand(const ptx::Instruction& ins, std::uint32_t which) const {
    return operands_[ins.first_operand + which];
  }

  void note_definition(const ptx::Operand& o, std::uint32_t instruction) {
    for (std::uint32_t p = 0; p < o.part_count; ++p)
      note_definition(operands_[o.first_part + p], instruction);
    if (o.kind != Kind::reg || o.symbol >= definitions_.size()) return;
    auto& definition = definitions_[o.symbol];
    definition = definition == no_index ? instruction : several;
  }

  void find_definitions() {
    definitions_.assign(function_.registers.size(), no_index);
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const auto& ins = function_.instructions[i];
      const std::uint32_t count = ins.info != nullptr ? ins.info->destinations : 1;
      for (std::uint32_t d = 0; d < count && d < ins.operand_count; ++d) note_definition(operand(ins, d), i);
      if (is_store(ins) && moves_slot(operands_, ins)) note_definition(operand(ins, 0), i);
      if (ins.info != nullptr && ins.info->category == ptx::Category::call)
        for (std::uint32_t d = 0; d < ins.operand_count; ++d) note_definition(operand(ins, d), i);
    }
  }

  // The place that an operand is the address of.
  std::optional<Place> place_of(const ptx::Operand& o) const {
    if (o.kind == Kind::sum || o.kind == Kind::address) {
      if (o.part_count != 1) return std::nullopt;
      auto place = place_of(operands_[o.first_part]);
      if (place) place->offset += o.value;
      return place;
    }
    if (o.negated) return std::nullopt;
    if (o.kind == Kind::reg) {
      const auto it = places_.find(o.symbol);
      return it == places_.end() ? std::nullopt : std::optional(it->second);
    }
    if (o.kind == Kind::symbol && o.referent == Referent::function_variable &&
        o.value < function_.variables.size() && function_.variables[o.value].space == ptx::StateSpace::local)
      return Place{static_cast<std::uint32_t>(o.value), 0};
    return std::nullopt;
  }

  // The place that the instruction's result is the address of: mov, cvta, add of a constant.
  std::optional<Place> place_made_by(const ptx::Instruction& ins) const {
    if (ins.guard != no_index || ins.operand_count < 2) return std::nullopt;
    const auto word = ptx::first_word(ins.opcode);
    if (word == "mov" || word == "cvta" || word == "cvt" || moves_slot(operands_, ins))
      return place_of(operand(ins, 1));
    if (word != "add" || ins.operand_count != 3 || operand(ins, 2).kind != Kind::integer) return std::nullopt;
    auto place = place_of(operand(ins, 1));
    if (place) place->offset += operand(ins, 2).value;
    return place;
  }

  void find_address_registers() {
    for (int pass = 0; pass < 4; ++pass) {
      const auto before = places_.size();
      for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
        const auto& ins = function_.instructions[i];
        if (ins.operand_count < 2 || operand(ins, 0).kind != Kind::reg) continue;
        const auto reg = operand(ins, 0).symbol;
        if (reg >= definitions_.size() || definitions_[reg] != i || places_.contains(reg)) continue;
        if (const auto place = place_made_by(ins)) places_[reg] = *place;
      }
      if (places_.size() == before) break;
    }
  }

  void escape(const ptx::Operand& o) {
    if (o.kind == Kind::reg || o.kind == Kind::symbol)
      if (const auto place = place_of(o)) {
        const auto [it, fresh] = escapes_.emplace(place->variable, place->offset);
        if (!fresh) it->second = std::min(it->second, place->offset);
      }
    for (std::uint32_t p = 0; p < o.part_count; ++p) escape(operands_[o.first_part + p]);
  }

  void look_at_uses(std::uint32_t i) {
    const auto& ins = function_.instructions[i];
    if (ins.operand_count >= 2 && operand(ins, 0).kind == Kind::reg) {
      const auto reg = operand(ins, 0).symbol;
      if (reg < definitions_.size() && definitions_[reg] == i && places_.contains(reg))
        return;  // makes an address
    }
    const bool accesses = (is_load(ins) || is_store(ins)) && ins.operand_count == 2;
    const std::uint32_t which = is_load(ins) ? 1 : 0;
    for (std::uint32_t o = 0; o < ins.operand_count; ++o)
      if (!accesses || o != which || !note_access(i, which)) escape(operand(ins, o));
  }

  bool note_access(std::uint32_t i, std::uint32_t which) {
    const auto& ins = function_.instructions[i];
    const auto& address = operand(ins, which);
    const auto space = ptx::space_of(ins);
    if (address.kind != Kind::address ||
        (space != ptx::StateSpace::local && space != ptx::StateSpace::generic))
      return false;
    const auto place = place_of(address);
    const auto bytes = ptx::access_bytes(ins);
    if (!place || bytes <= 0) return false;
    const auto& value = operand(ins, 1 - which);
    SlotAccess access{i, which, *place, 1, static_cast<std::uint32_t>(bytes)};
    if (value.kind == Kind::vector && value.part_count != 0) {
      access.parts = value.part_count;
      access.bytes /= value.part_count;
    }
    accesses_.push_back(access);
    return true;
  }

  // Slots are what all accesses cut a variable into, where no two cut it differently.
  void choose_slots() {
    std::map<std::uint32_t, std::map<std::uint64_t, std::set<std::uint32_t>>>
        widths;  // variable -> offset -> widths
    for (const auto& access : accesses_)
      for (std::uint32_t p = 0; p < access.parts; ++p)
        widths[access.place.variable][access.place.offset + std::uint64_t{p} * access.bytes].insert(
            access.bytes);
    for (const auto& [variable, slots] : widths) {
      const auto escape = escapes_.find(variable);
      const std::uint64_t end = escape == escapes_.end() ? ~std::uint64_t{0} : escape->second;
      std::uint64_t covered = 0;  // up to where earlier accesses reach
      for (auto it = slots.begin(); it != slots.end(); ++it) {
        const auto widest = it->first + *it->second.rbegin();
        const bool alone = it->second.size() == 1 && it->first >= covered &&
                           (std::next(it) == slots.end() || std::next(it)->first >= widest);
        if (alone && widest <= end) registers_[{variable, it->first}] = no_index;
        covered = std::max(covered, widest);
      }
    }
    // What one access moves together is in registers together, or in memory.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& access : accesses_)
        if (!in_registers(access))
          for (std::uint32_t p = 0; p < access.parts; ++p)
            changed = registers_.erase(slot_of(access, p)) != 0 || changed;
    }
  }

  static std::pair<std::uint32_t, std::uint64_t> slot_of(const SlotAccess& access, std::uint32_t part) {
    return {access.place.variable, access.place.offset + std::uint64_t{part} * access.bytes};
  }

  bool in_registers(const SlotAccess& access) const {
    for (std::uint32_t p = 0; p < access.parts; ++p)
      if (!registers_.contains(slot_of(access, p))) return false;
    return true;
  }

  void rewrite(const SlotAccess& access) {
    if (!in_registers(access)) return;
    auto& address = operands_[function_.instructions[access.instruction].first_operand + access.operand];
    const auto base =
        access.place.offset - address.value;  // make_slot_operand counts from the operand's own offset
    make_slot_operand(operands_, function_.instructions[access.instruction], access.operand,
                      [&](std::uint64_t offset, std::uint32_t) {
                        auto& reg = registers_.at({access.place.variable, base + offset});
                        if (reg == no_index) {
                          reg = static_cast<std::uint32_t>(function_.registers.size());
                          function_.registers.push_back({"b64"});
                        }
                        return reg;
                      });
  }

  static constexpr std::uint32_t several = no_index - 1;
  std::vector<ptx::Operand>& operands_;
  ptx::Function& function_;
  std::vector<std::uint32_t> definitions_;           // by register
  std::unordered_map<std::uint32_t, Place> places_;  // registers that hold an address
  std::unordered_map<std::uint32_t, std::uint64_t>
      escapes_;  // variable -> the lowest offset whose address goes elsewhere
  std::vector<SlotAccess> accesses_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>
      registers_;  // (variable, offset) -> register
};

}  // namespace

void make_slot_operand(std::vector<ptx::Operand>& operands, const ptx::Instruction& access,
                       std::uint32_t which,
                       const std::function<std::uint32_t(std::uint64_t, std::uint32_t)>& register_for) {
  const auto offset = operands[access.first_operand + which].value;
  const auto value = operands[access.first_operand + 1 - which];
  const auto bytes = static_cast<std::uint32_t>(std::max(1, ptx::access_bytes(access)));
  ptx::Operand promoted;
  promoted.text = operands[access.first_operand + which].text;
  if (value.kind == Kind::vector && value.part_count != 0) {
    promoted.kind = Kind::vector;
    promoted.part_count = value.part_count;
    promoted.first_part = static_cast<std::uint32_t>(operands.size());
    const auto each = std::max(1u, bytes / value.part_count);
    for (std::uint32_t p = 0; p < value.part_count; ++p) {
      ptx::Operand part;
      part.kind = Kind::reg;
      part.symbol = register_for(offset + std::uint64_t{p} * each, each);
      operands.push_back(part);
    }
  } else {
    promoted.kind = Kind::reg;
    promoted.symbol = register_for(offset, bytes);
  }
  operands[access.first_operand + which] = promoted;
}

bool may_have_slots(const ptx::Function& function) {
  return std::any_of(function.variables.begin(), function.variables.end(),
                     [](const auto& v) { return v.space == ptx::StateSpace::local; });
}

void promote_slots(std::vector<ptx::Operand>& operands, ptx::Function& function) {
  // An address that was kept in a stack slot can be followed once that slot is promoted.
  constexpr int most_rounds = 4;
  for (int round = 0;
       round < most_rounds && may_have_slots(function) && SlotPromoter(operands, function).run(); ++round) {
  }
}

bool moves_slot(const std::vector<ptx::Operand>& operands, const ptx::Instruction& ins) {
  if ((!is_load(ins) && !is_store(ins)) || ins.operand_count != 2) return false;
  const auto kind = operands[ins.first_operand + (is_load(ins) ? 1 : 0)].kind;
  return kind == Kind::reg || kind == Kind::vector;
}

}  // namespace warptime::analysis
