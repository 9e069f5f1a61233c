#include "analyzer/cfg/register_arrays.h"

#include <algorithm>
#include <set>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::analysis {
namespace {

using ptx::no_index;
using Kind = ptx::Operand::Kind;
using Referent = ptx::Operand::Referent;

constexpr int kWordBytes = 4;

std::uint64_t bytes_of(const ptx::Variable& variable) {
  unsigned bits = 0;
  for (const char c : variable.type)
    if (c >= '0' && c <= '9') bits = 10 * bits + static_cast<unsigned>(c - '0');
  return std::max(1U, bits / 8) * variable.vector_width * std::min<std::uint64_t>(variable.elements, 1 << 20);
}

class ArrayFinder {
 public:
  ArrayFinder(const std::vector<ptx::Operand>& operands, const ptx::Function& function)
      : operands_(operands), function_(function) {}

  RegisterArrays run() {
    find_addresses();
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (!look_at(i)) return {};
    std::uint64_t bytes = 0;
    for (const std::uint64_t variable : variables_) bytes += bytes_of(function_.variables[variable]);
    found_.words = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / kWordBytes, 1 << 20));
    found_.indices = static_cast<std::uint32_t>(indices_.size());
    find_loops();
    return std::move(found_);
  }

 private:
  enum class Address : std::uint8_t { none, constant, computed };

  const ptx::Operand& operand(const ptx::Instruction& ins, std::uint32_t which) const {
    return operands_[ins.first_operand + which];
  }

  Address address_of(const ptx::Operand& o) {
    if (o.kind == Kind::reg) {
      const auto it = addresses_.find(o.symbol);
      return it == addresses_.end() ? Address::none : it->second;
    }
    if (o.kind == Kind::symbol && o.referent == Referent::function_variable &&
        o.value < function_.variables.size() &&
        function_.variables[o.value].space == ptx::StateSpace::local) {
      variables_.insert(o.value);
      return Address::constant;
    }
    Address most = Address::none;
    for (std::uint32_t p = 0; p < o.part_count; ++p)
      most = std::max(most, address_of(operands_[o.first_part + p]));
    return most;
  }

  // Of the instruction's result: what is added to an address is one.
  Address made_by(const ptx::Instruction& ins) {
    const auto word = ptx::first_word(ins.opcode);
    if (word != "mov" && word != "cvta" && word != "cvt" && word != "add" && word != "mad" && word != "sub")
      return Address::none;
    Address made = Address::none;
    bool constant = true;
    for (std::uint32_t o = 1; o < ins.operand_count; ++o) {
      const Address address = address_of(operand(ins, o));
      made = std::max(made, address);
      constant = constant && (address != Address::none || operand(ins, o).kind == Kind::integer);
    }
    return made != Address::none && !constant ? Address::computed : made;
  }

  void find_addresses() {
    for (const auto& ins : function_.instructions)
      if (ins.operand_count > 0 && operand(ins, 0).kind == Kind::reg) ++definitions_[operand(ins, 0).symbol];
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& ins : function_.instructions) {
        if (ins.operand_count < 2 || operand(ins, 0).kind != Kind::reg) continue;
        const auto reg = operand(ins, 0).symbol;
        Address made = made_by(ins);
        if (made == Address::none) continue;
        if (definitions_[reg] > 1) made = Address::computed;
        Address& known = addresses_[reg];
        changed = changed || made > known;
        known = std::max(known, made);
      }
    }
  }

  // Whether it is an access to words, makes an address, or has nothing to do with them.
  bool look_at(std::uint32_t i) {
    const auto& ins = function_.instructions[i];
    if (ins.info == nullptr) return true;
    const bool load = ins.info->category == ptx::Category::load,
               store = ins.info->category == ptx::Category::store;
    const std::uint32_t which = load ? 1 : 0;
    if ((load || store) && ins.operand_count == 2 && !moves_slot(operands_, ins)) {
      if (address_of(operand(ins, 1 - which)) != Address::none) return false;
      const Address address = address_of(operand(ins, which));
      return address == Address::none || note_access(i, which, address);
    }
    const bool makes = ins.operand_count >= 2 && operand(ins, 0).kind == Kind::reg &&
                       addresses_.contains(operand(ins, 0).symbol);
    if (makes) return made_by(ins) != Address::none;
    for (std::uint32_t o = 0; o < ins.operand_count; ++o)
      if (address_of(operand(ins, o)) != Address::none) return false;
    return true;
  }

  bool note_access(std::uint32_t i, std::uint32_t which, Address address) {
    const auto& ins = function_.instructions[i];
    const auto& value = operand(ins, 1 - which);
    const std::uint32_t parts = value.kind == Kind::vector ? std::max(value.part_count, 1U) : 1;
    RegisterArrays::Access access{address == Address::computed, false};
    const int bytes = ptx::access_bytes(ins);
    const bool words = access.computed ? bytes == kWordBytes : bytes > 0 && bytes % kWordBytes == 0;
    if (!words || ptx::has_part(ins.opcode, "volatile")) return false;
    if (access.computed) {
      const auto& at = operand(ins, which);
      if (parts != 1 || at.part_count != 1 || operands_[at.first_part].kind != Kind::reg) return false;
      access.first_use = indices_.insert(operands_[at.first_part].symbol).second;
    }
    found_.accesses.emplace(i, access);
    return true;
  }

  // Whether control comes back to the instruction.
  bool comes_back(std::uint32_t from) const {
    std::vector<bool> seen(function_.instructions.size());
    std::vector<std::uint32_t> open{from};
    const auto visit = [&](std::uint32_t to) {
      if (to >= seen.size() || seen[to]) return;
      seen[to] = true;
      open.push_back(to);
    };
    const auto visit_label = [&](std::uint32_t label) {
      if (label < function_.labels.size()) visit(function_.labels[label].instruction);
    };
    while (!open.empty() && !seen[from]) {
      const std::uint32_t i = open.back();
      open.pop_back();
      const auto& ins = function_.instructions[i];
      const auto word = ptx::first_word(ins.opcode);
      const bool ends = word == "ret" || word == "exit" || word == "bra" || word == "brx";
      if (!ends || ins.guard != no_index) visit(i + 1);
      for (std::uint32_t o = 0; o < ins.operand_count; ++o) {
        const auto& target = operand(ins, o);
        if (target.kind == Kind::label) visit_label(target.symbol);
        if (target.referent == Referent::branch_targets && target.value < function_.branch_targets.size())
          for (const std::uint32_t label : function_.branch_targets[target.value].labels) visit_label(label);
      }
    }
    return seen[from];
  }

  void find_loops() {
    if (!found_.likely()) return;  // nor in a loop
    found_.in_loop = std::any_of(found_.accesses.begin(), found_.accesses.end(), [&](const auto& access) {
      return access.second.computed && comes_back(access.first);
    });
  }

  const std::vector<ptx::Operand>& operands_;
  const ptx::Function& function_;
  std::unordered_map<std::uint32_t, Address> addresses_;  // registers
  std::unordered_map<std::uint32_t, int> definitions_;    // of registers: instructions
  std::set<std::uint64_t> variables_;                     // whose addresses are used
  std::set<std::uint32_t> indices_;                       // registers with a place that is computed
  RegisterArrays found_;
};

}  // namespace

bool RegisterArrays::likely() const {
  constexpr std::uint32_t always = 5, most_words = 64, few_indices = 2, most = 60;
  constexpr std::uint32_t always_in_loops = 6, most_in_loops = 20;
  if (accesses.empty()) return false;
  if (in_loop) return words <= always_in_loops || words * indices <= most_in_loops;
  return words <= always || words * indices <= most || (indices <= few_indices && words <= most_words);
}

RegisterArrays find_register_arrays(const std::vector<ptx::Operand>& operands,
                                    const ptx::Function& function) {
  if (!may_have_slots(function)) return {};
  return ArrayFinder(operands, function).run();
}

}  // namespace warptime::analysis
