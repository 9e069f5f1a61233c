#include "analyzer/machine/address_forms.h"

#include <algorithm>
#include <bit>

#include "analyzer/machine/operand_registers.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr std::size_t kMostTerms = 12;  // a longer sum is a value of its own
constexpr int kDeepest = 8;             // counters that step by counters

AddressForm sum_of(const AddressForm& left, const AddressForm& right, std::int64_t factor) {
  AddressForm sum;
  sum.constant = left.constant + factor * right.constant;
  auto a = left.terms.begin();
  auto b = right.terms.begin();
  while (a != left.terms.end() || b != right.terms.end()) {
    if (b == right.terms.end() || (a != left.terms.end() && a->first < b->first)) {
      sum.terms.push_back(*a++);
    } else if (a == left.terms.end() || b->first < a->first) {
      sum.terms.emplace_back(b->first, factor * b->second);
      ++b;
    } else {
      if (const std::int64_t both = a->second + factor * b->second; both != 0)
        sum.terms.emplace_back(a->first, both);
      ++a, ++b;
    }
  }
  return sum;
}

AddressForm scaled(const AddressForm& form, std::int64_t factor) {
  return factor == 0 ? AddressForm{} : sum_of({}, form, factor);
}

// Whether all terms are multiples of a power of two that is greater than the constant: `or` then is a sum.
bool leaves_room(const AddressForm& form, std::int64_t constant) {
  if (constant < 0) return false;
  std::uint64_t bits = static_cast<std::uint64_t>(form.constant);
  for (const auto& [value, factor] : form.terms) bits |= static_cast<std::uint64_t>(factor);
  return bits != 0 && (std::uint64_t{1} << std::countr_zero(bits)) > static_cast<std::uint64_t>(constant);
}

bool is_integer_type(std::string_view opcode) {
  for (const std::string_view type : {"s32", "u32", "b32", "s64", "u64", "b64"})
    if (opcode.ends_with(type)) return true;
  return false;
}

// Of two `or`ed sums one is the row's, whose lower bits are free, the other the column.
bool is_shifted(const AddressForm& form) {
  return !form.terms.empty() && std::all_of(form.terms.begin(), form.terms.end(),
                                            [](const auto& term) { return term.second % 2 == 0; });
}

}  // namespace

AddressForms::AddressForms(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                           const std::vector<std::vector<std::uint32_t>>& definitions)
    : function_(code.function()),
      operands_(code.operands()),
      cfg_(cfg),
      definitions_(definitions),
      block_of_(function_.instructions.size(), analysis::none),
      forms_(definitions.size()) {
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
    for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) block_of_[i] = b;
}

const AddressForm& AddressForms::of(std::uint32_t reg) {
  if (forms_[reg]) return *forms_[reg];
  const AddressForm own = of_value(value_of(reg));
  if (definitions_[reg].size() == 1 &&
      function_.instructions[definitions_[reg].front()].guard == ptx::no_index)
    if (auto made = made_by(definitions_[reg].front()); made && made->terms.size() <= kMostTerms)
      return *(forms_[reg] = std::move(made));
  return *(forms_[reg] = own);
}

bool AddressForms::changes(const AddressForm& form) const {
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
    const Value& value = values_[term.first];
    if (value.reg != ptx::no_index) return definitions_[value.reg].size() > 1;
    return value.left != term.first && (changes(of_value(value.left)) || changes(of_value(value.right)));
  });
}

bool AddressForms::steps_wide(const AddressForm& form, const AddressForm& step, std::uint32_t loop) {
  const bool adds_wide = std::any_of(step.terms.begin(), step.terms.end(),
                                     [&](const auto& term) { return values_[term.first].wide; });
  if (adds_wide) return true;
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
    const Value value = values_[term.first];
    if (value.reg != ptx::no_index || !value.wide) return false;
    const auto own = step_of_value(term.first, loop, 0);
    return own && !own->is_constant();
  });
}

bool AddressForms::is_unsigned(std::uint32_t reg, int depth) const {
  if (depth > kDeepest || definitions_[reg].size() != 1) return false;
  const ptx::Instruction& one = function_.instructions[definitions_[reg].front()];
  if (one.opcode == "mul.wide.u32" || one.opcode == "cvt.u64.u32") return true;
  for (std::uint32_t o = 1; o < one.operand_count; ++o) {
    const ptx::Operand& read = operands_[one.first_operand + o];
    if (read.kind == ptx::Operand::Kind::reg && read.symbol < forms_.size() &&
        is_unsigned(read.symbol, depth + 1))
      return true;
  }
  return false;
}

std::uint32_t AddressForms::value_of(std::uint32_t reg) {
  const auto [place, added] = registers_.try_emplace(reg, static_cast<std::uint32_t>(values_.size()));
  if (added) values_.push_back({reg, 0, 0, ptx::type_bytes(function_.registers[reg].type) == 8});
  return place->second;
}

std::uint32_t AddressForms::product_of(std::uint32_t left, std::uint32_t right, bool wide) {
  if (left > right) std::swap(left, right);
  const auto [place, added] =
      products_.try_emplace({left, right, wide}, static_cast<std::uint32_t>(values_.size()));
  if (added) values_.push_back({ptx::no_index, left, right, wide});
  return place->second;
}

AddressForm AddressForms::of_name(std::string_view name, bool wide) {
  const auto own = static_cast<std::uint32_t>(values_.size());
  const auto [place, added] = names_.try_emplace(std::string(name), own);
  if (added) values_.push_back({ptx::no_index, own, own, wide});  // a product of none
  return of_value(place->second);
}

AddressForm AddressForms::of_operand(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::integer) return {{}, static_cast<std::int64_t>(operand.value)};
  if (operand.kind == Kind::reg && operand.symbol < forms_.size()) return of(operand.symbol);
  return of_name(operand.text, false);
}

std::optional<AddressForm> AddressForms::product(const AddressForm& left, const AddressForm& right,
                                                 bool wide) {
  if (left.is_constant()) return scaled(right, left.constant);
  if (right.is_constant()) return scaled(left, right.constant);
  if (right.terms.size() != 1 || right.constant != 0) {
    if (left.terms.size() != 1 || left.constant != 0) return std::nullopt;
    return product(right, left, wide);
  }
  const auto& [by, factor] = right.terms.front();
  AddressForm all = scaled(of_value(by), left.constant);
  for (const auto& [value, times] : left.terms) {
    all = sum_of(all, of_value(product_of(value, by, wide)), times);
  }
  return scaled(all, factor);
}

std::optional<AddressForm> AddressForms::made_by(std::uint32_t i) {
  const ptx::Instruction& one = function_.instructions[i];
  const std::string_view opcode = one.opcode;
  const ptx::FirstWord name = ptx::first_word(one);
  const auto read = [&](std::uint32_t o) { return of_operand(operands_[one.first_operand + o]); };
  if (opcode.starts_with("ld.param") && one.operand_count == 2)
    return of_name(operands_[one.first_operand + 1].text, opcode.ends_with("64"));
  if (!is_integer_type(opcode) || ptx::has_part(opcode, "cc") || ptx::has_part(opcode, "hi"))
    return std::nullopt;
  if ((name == "mov" || name == "cvta") && one.operand_count == 2) {
    if (operands_[one.first_operand].kind != ptx::Operand::Kind::reg) return std::nullopt;
    return read(1);
  }
  if (name == "cvt") {
    for (const std::string_view type : {".s64.s32", ".u64.u32", ".u32.u64", ".s32.s64", ".u32.u32"})
      if (opcode.ends_with(type)) return read(1);
    return std::nullopt;
  }
  if (one.operand_count == 3) {
    if (name == "add") return sum_of(read(1), read(2), 1);
    if (name == "sub") return sum_of(read(1), read(2), -1);
    if (name == "mul") return product(read(1), read(2), opcode.ends_with("64"));
    const AddressForm right = read(2);
    if (name == "shl" && right.is_constant() && right.constant >= 0 && right.constant < 32)
      return scaled(read(1), std::int64_t{1} << right.constant);
    if (name == "or") {
      const AddressForm left = read(1);
      const bool sums =
          right.is_constant() ? leaves_room(left, right.constant) : is_shifted(left) != is_shifted(right);
      if (sums) return sum_of(left, right, 1);
    }
    return std::nullopt;
  }
  if (name == "mad" && one.operand_count == 4)
    if (const auto both = product(read(1), read(2), opcode.ends_with("64"))) return sum_of(*both, read(3), 1);
  return std::nullopt;
}

bool AddressForms::is_inside(std::uint32_t i, std::uint32_t loop) const {
  return block_of_[i] != analysis::none && cfg_.contains(loop, block_of_[i]);
}

std::optional<AddressForm> AddressForms::step_of(const AddressForm& form, std::uint32_t loop) {
  AddressForm step;
  for (const auto& [value, factor] : form.terms) {
    const auto own = step_of_value(value, loop, 0);
    if (!own) return std::nullopt;
    step = sum_of(step, *own, factor);
  }
  return step;
}

std::optional<AddressForm> AddressForms::step_of_value(std::uint32_t value, std::uint32_t loop, int depth) {
  const Value of = values_[value];
  if (depth > kDeepest) return std::nullopt;
  if (of.reg != ptx::no_index) return step_of_register(of.reg, loop, depth);
  if (of.left == value) return AddressForm{};  // a name
  const std::uint32_t left = of.left, right = of.right;
  const auto of_left = step_of_value(left, loop, depth + 1), of_right = step_of_value(right, loop, depth + 1);
  if (!of_left || !of_right) return std::nullopt;
  if (!of_left->is_constant() || of_left->constant != 0) {
    if (!of_right->is_constant() || of_right->constant != 0) return std::nullopt;
    return product(*of_left, of_value(right), of.wide);
  }
  return product(*of_right, of_value(left), of.wide);
}

std::optional<AddressForm> AddressForms::step_of_register(std::uint32_t reg, std::uint32_t loop, int depth) {
  std::uint32_t next = ptx::no_index;
  for (const std::uint32_t made : definitions_[reg]) {
    if (!is_inside(made, loop)) continue;
    if (next != ptx::no_index || function_.instructions[made].guard != ptx::no_index) return std::nullopt;
    next = made;
  }
  if (next == ptx::no_index) return AddressForm{};
  if (definitions_[reg].size() == 1) return std::nullopt;
  const auto after = made_by(next);
  if (!after) return std::nullopt;
  AddressForm step = sum_of(*after, of_value(value_of(reg)), -1);
  for (const auto& [value, factor] : step.terms) {
    if (values_[value].reg == reg) return std::nullopt;
    const auto own = step_of_value(value, loop, depth + 1);
    if (!own || !own->is_constant() || own->constant != 0) return std::nullopt;
  }
  return step;
}

}  // namespace warptime::machine
