#include "analyzer/symbolic/evaluate.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::analysis {
namespace {

constexpr int max_evaluation_depth = 500;
constexpr std::size_t max_copies = 100;

// The last part of an opcode: its type. `cvt.s64.s32` -> s32.
std::string_view last_word(std::string_view opcode) {
  const auto dot = opcode.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : opcode.substr(dot + 1);
}

int width_of(std::string_view type) {
  if (type.size() < 2) return 0;
  int width = 0;
  for (const char c : type.substr(1)) {
    if (c < '0' || c > '9') return 0;
    width = width * 10 + (c - '0');
    if (width > 128) return 0;
  }
  return width;
}

bool is_integer_type(std::string_view type) {
  return !type.empty() && (type[0] == 's' || type[0] == 'u' || type[0] == 'b') && width_of(type) != 0;
}

Special special_named(std::string_view name) {
  const auto index = [&](std::string_view of, Special x) {
    if (name.size() != of.size() + 2 || !name.starts_with(of) || name[of.size()] != '.')
      return Special::other;
    const auto dimension = name.back() - 'x';
    return dimension >= 0 && dimension < 3 ? static_cast<Special>(static_cast<int>(x) + dimension)
                                           : Special::other;
  };
  switch (name.size()) {
    case 6:
      return index("%tid", Special::tid_x);
    case 7:
      return name == "%laneid"   ? Special::laneid
             : name == "%warpid" ? Special::warpid
             : name == "WARP_SZ" ? Special::warpsize
                                 : index("%ntid", Special::ntid_x);
    case 8:
      return index("%ctaid", Special::ctaid_x);
    case 9:
      return index("%nctaid", Special::nctaid_x);
    default:
      return Special::other;
  }
}

bool is_low_mask(std::int64_t mask) {
  return mask > 0 && mask < INT64_MAX && ((mask + 1) & mask) == 0;
}

}  // namespace

Evaluator::Evaluator(const KernelCode& code, const Cfg& cfg)
    : module_(code.module()), operands_(code.operands()), function_(code.function()), cfg_(cfg) {
  block_of_.assign(function_.instructions.size(), none);
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
    for (auto i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) block_of_[i] = b;
  collect_definitions();
}

std::uint32_t Evaluator::block_of(std::uint32_t instruction) const {
  return block_of_[instruction];
}

void Evaluator::note_definition(const ptx::Operand& operand, std::uint32_t instruction) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::vector || operand.kind == Kind::pair || operand.kind == Kind::list) {
    for (std::uint32_t i = 0; i < operand.part_count; ++i)
      note_definition(operands_[operand.first_part + i], instruction);
    return;
  }
  if (operand.kind != Kind::reg || operand.symbol >= function_.registers.size()) return;
  const auto reg = operand.symbol;
  if (const auto it = several_.find(reg); it != several_.end()) {
    auto& list = it->second.instructions;
    if (list.back() != instruction) list.push_back(instruction);
  } else if (single_definition_[reg] == none) {
    single_definition_[reg] = instruction;
  } else if (single_definition_[reg] != instruction) {
    several_[reg].instructions = {single_definition_[reg], instruction};
    single_definition_[reg] = none;
  }
}

void Evaluator::collect_definitions() {
  single_definition_.assign(function_.registers.size(), none);
  only_value_.assign(function_.registers.size(), not_yet);
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
    const auto& instruction = function_.instructions[i];
    std::uint32_t count = instruction.info != nullptr ? instruction.info->destinations : 1;
    // A store to a slot writes the slot's register; a call that is not followed its results.
    if (count == 0 && instruction.operand_count != 0) {
      const bool results = instruction.info->category == ptx::Category::call &&
                           operands_[instruction.first_operand].kind == ptx::Operand::Kind::list;
      if (results ||
          (instruction.info->category == ptx::Category::store && moves_slot(operands_, instruction)))
        count = 1;
    }
    for (std::uint32_t d = 0; d < count && d < instruction.operand_count; ++d)
      note_definition(operands_[instruction.first_operand + d], i);
  }
}

ExprId Evaluator::register_before(std::uint32_t reg, std::uint32_t instruction) {
  if (reg >= function_.registers.size()) return exprs_.opaque(on_data | on_thread);
  if (single_definition_[reg] != none) return written_by(single_definition_[reg], reg);
  const auto it = several_.find(reg);
  if (it == several_.end()) return exprs_.opaque(on_data | on_thread);  // never written
  const auto block = block_of(instruction);
  const auto& list = it->second.instructions;
  const auto next = std::lower_bound(list.begin(), list.end(), instruction);
  if (next != list.begin() && *std::prev(next) >= cfg_.blocks[block].first)
    return written_by(*std::prev(next), reg);
  return register_at_entry(reg, block);
}

ExprId Evaluator::register_at_end(std::uint32_t reg, std::uint32_t block) {
  if (single_definition_[reg] != none) return written_by(single_definition_[reg], reg);
  const auto it = several_.find(reg);
  if (it == several_.end()) return exprs_.opaque(on_data | on_thread);
  const auto& list = it->second.instructions;
  const auto next = std::lower_bound(list.begin(), list.end(), cfg_.blocks[block].end);
  if (next != list.begin() && *std::prev(next) >= cfg_.blocks[block].first)
    return written_by(*std::prev(next), reg);
  return register_at_entry(reg, block);
}

ExprId Evaluator::register_at_entry(std::uint32_t reg, std::uint32_t block) {
  const auto& list = several_.at(reg).instructions;
  // Up through blocks with one way in.
  for (std::size_t steps = 0; steps <= cfg_.blocks.size(); ++steps) {
    const auto& b = cfg_.blocks[block];
    if (b.predecessors.empty()) return exprs_.opaque(on_data | on_thread);
    if (b.predecessors.size() > 1 || block == 0) break;
    block = b.predecessors[0];
    const auto next = std::lower_bound(list.begin(), list.end(), cfg_.blocks[block].end);
    if (next != list.begin() && *std::prev(next) >= cfg_.blocks[block].first)
      return written_by(*std::prev(next), reg);
  }
  const auto [it, fresh] = phi_index_.emplace(pair_key(block, reg), static_cast<std::uint32_t>(phis_.size()));
  if (fresh) {
    phis_.push_back({block, reg});
    incoming_.emplace_back();
  }
  return exprs_.phi(it->second);
}

const std::vector<ExprId>& Evaluator::incoming(std::uint32_t phi) {
  if (incoming_[phi].empty()) {
    const auto [block, reg] = phis_[phi];
    std::vector<ExprId> list;
    for (const auto p : cfg_.blocks[block].predecessors)
      list.push_back(cfg_.blocks[p].reachable ? register_at_end(reg, p) : exprs_.phi(phi));
    if (block == 0)
      list.push_back(exprs_.opaque(on_data | on_thread));  // the entry itself brings what was there before
    incoming_[phi] = std::move(list);
  }
  return incoming_[phi];
}

ExprId Evaluator::written_by(std::uint32_t instruction, std::uint32_t reg) {
  const bool only = single_definition_[reg] != none;
  const auto k = pair_key(instruction, reg);
  if (only) {
    if (only_value_[reg] != not_yet) return only_value_[reg];
  } else if (const auto it = written_.find(k); it != written_.end()) {
    return it->second;
  }
  const auto& ins = function_.instructions[instruction];
  ExprId value;
  const auto& first = operands_[ins.first_operand];
  if (depth_ > max_evaluation_depth) {
    value = exprs_.result(instruction, reg);
  } else if (first.kind == ptx::Operand::Kind::reg && first.symbol == reg) {
    ++depth_;
    value = evaluate(instruction);
    --depth_;
  } else if (first.kind == ptx::Operand::Kind::vector && moves_slot(operands_, ins)) {
    value = exprs_.result(instruction, reg);
    const auto& other = operands_[ins.first_operand + 1];
    for (std::uint32_t p = 0; p < first.part_count && p < other.part_count; ++p)
      if (operands_[first.first_part + p].symbol == reg) {
        ++depth_;
        value = value_of(operands_[other.first_part + p], instruction);
        --depth_;
      }
  } else if (first.kind == ptx::Operand::Kind::pair && first.part_count == 2 &&
             ptx::first_word(ins.opcode) == "setp") {
    ++depth_;
    value = evaluate(instruction);
    --depth_;
    if (operands_[first.first_part].symbol != reg)
      value = ins.operand_count < 4 ? exprs_.logical_not(value) : exprs_.result(instruction, reg);
  } else {
    value = exprs_.result(instruction, reg);
  }
  // Where the guard does not hold, the register keeps what it had; one without other definitions had nothing.
  if (ins.guard != ptx::no_index && depth_ <= max_evaluation_depth && !only) {
    written_[k] = exprs_.result(instruction, reg);  // what a loop may bring back here
    ++depth_;
    const auto condition = guard(instruction);
    value = exprs_.select(condition, value, register_before(reg, instruction));
    --depth_;
  }
  (only ? only_value_[reg] : written_[k]) = value;
  return value;
}

ExprId Evaluator::opaque_result(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  const auto reg = ins.operand_count > 0 ? operands_[ins.first_operand].symbol : none;
  return exprs_.result(instruction, reg);
}

// What an instruction's result depends on: `visit` is called with what it reads; the rest is returned.
std::uint8_t Evaluator::instruction_dependence(std::uint32_t instruction,
                                               const std::function<void(ExprId)>& visit) {
  const auto& ins = function_.instructions[instruction];
  const std::uint32_t destinations = ins.info != nullptr ? ins.info->destinations : 1;
  const bool accumulates = ins.info != nullptr && ins.info->accumulates;
  const auto add = [&](const ptx::Operand& o) {
    if (o.kind == ptx::Operand::Kind::reg || o.kind == ptx::Operand::Kind::special)
      visit(value_of(o, instruction));
  };
  for (std::uint32_t i = accumulates ? 0 : std::min(destinations, ins.operand_count); i < ins.operand_count;
       ++i) {
    const auto part = operands_[ins.first_operand + i];
    add(part);
    for (std::uint32_t p = 0; p < part.part_count; ++p) add(operands_[part.first_part + p]);
  }
  if (ins.guard != ptx::no_index) visit(value_of(operands_[ins.guard], instruction));
  // What other threads put there can differ from thread to thread.
  const auto word = ptx::first_word(ins.opcode);
  const bool from_others = word == "shfl" || word == "atom" || word == "mma" || word == "wmma" ||
                           word == "match" || word == "call";
  if (from_others) return on_data | on_thread;
  // What lies in a thread's own memory can differ, wherever its address is the same.
  if (word == "ld" && ins.operand_count == 2) {
    auto space = ptx::space_of(ins.opcode);
    if (space == ptx::StateSpace::generic)
      space = space_of_address(address(instruction, 1)).value_or(ptx::StateSpace::global);
    if (space == ptx::StateSpace::local) return on_data | on_thread;
  }
  return on_data;
}

ExprId Evaluator::value_of(const ptx::Operand& operand, std::uint32_t instruction) {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
    case Kind::integer:
      return exprs_.constant(static_cast<std::int64_t>(operand.value));
    case Kind::reg: {
      const auto value = register_before(operand.symbol, instruction);
      if (!operand.negated) return value;
      return function_.registers[operand.symbol].type == "pred" ? exprs_.logical_not(value)
                                                                : exprs_.scale(value, -1);
    }
    case Kind::special: {
      const auto which = special_named(operand.text);
      return which == Special::other || operand.negated ? exprs_.opaque(on_data | on_thread)
                                                        : exprs_.special(which);
    }
    case Kind::symbol: {
      const bool own = operand.referent == ptx::Operand::Referent::function_variable &&
                       operand.value < function_.variables.size();
      const auto [it, fresh] = symbols_.emplace(std::pair(operand.text, own ? operand.value + 1 : 0),
                                                static_cast<std::uint32_t>(symbols_.size() + 1));
      if (fresh) {
        auto space = ptx::StateSpace::none;
        if (own)
          space = function_.variables[operand.value].space;
        else if (operand.referent == ptx::Operand::Referent::module_variable &&
                 operand.value < module_.variables.size())
          space = module_.variables[operand.value].space;
        symbol_spaces_[it->second] = space;
      }
      return exprs_.symbol(it->second);
    }
    case Kind::sum: {
      if (operand.part_count != 1) break;
      const auto base = value_of(operands_[operand.first_part], instruction);
      return exprs_.add(base, exprs_.constant(static_cast<std::int64_t>(operand.value)));
    }
    default:
      break;
  }
  return exprs_.opaque(on_data | on_thread);
}

ExprId Evaluator::operand(std::uint32_t instruction, std::uint32_t index) {
  const auto& ins = function_.instructions[instruction];
  if (index >= ins.operand_count) return exprs_.opaque(on_data | on_thread);
  return value_of(operands_[ins.first_operand + index], instruction);
}

ExprId Evaluator::address(std::uint32_t instruction, std::uint32_t operand_index) {
  const auto& ins = function_.instructions[instruction];
  if (operand_index >= ins.operand_count) return exprs_.opaque(on_data | on_thread);
  const auto& operand = operands_[ins.first_operand + operand_index];
  if (operand.kind != ptx::Operand::Kind::address || operand.part_count < 1)
    return exprs_.opaque(on_data | on_thread);
  const auto base = value_of(operands_[operand.first_part], instruction);
  if (operand.part_count > 1) return exprs_.opaque(on_data | on_thread);
  return exprs_.add(base, exprs_.constant(static_cast<std::int64_t>(operand.value)));
}

ExprId Evaluator::guard(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  if (ins.guard == ptx::no_index) return exprs_.constant(1);
  return value_of(operands_[ins.guard], instruction);
}

ExprId Evaluator::load_parameter(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  const auto& operand = operands_[ins.first_operand + 1];
  if (function_.entry && operand.kind == ptx::Operand::Kind::address && operand.part_count == 1) {
    const auto& base = operands_[operand.first_part];
    if (base.referent == ptx::Operand::Referent::parameter && is_integer_type(last_word(ins.opcode)))
      return exprs_.argument(static_cast<std::uint32_t>(base.value),
                             static_cast<std::uint32_t>(operand.value));
  }
  return opaque_result(instruction);
}

// The largest power of two (up to 2^32) that is known to divide the value.
std::uint64_t Evaluator::power_dividing(ExprId value) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  const auto& node = exprs_[value];
  const auto of_number = [most](std::int64_t n) {
    const auto bits = static_cast<std::uint64_t>(n);
    return n == 0 ? most : std::min(most, bits & (0 - bits));
  };
  if (node.op == SymbolicOp::constant) return of_number(node.number);
  if (node.op != SymbolicOp::sum) return 1;
  auto power = of_number(node.number);
  for (const auto& t : exprs_.terms(value)) power = std::min(power, of_number(t.coefficient));
  return power;
}

ExprId Evaluator::bit_and(ExprId a, ExprId b) {
  if (exprs_.is_constant(a)) std::swap(a, b);
  if (!exprs_.is_constant(b)) {
    if (exprs_.is_boolean(a) && exprs_.is_boolean(b)) return exprs_.logical_and(a, b);
    return exprs_.bits(SymbolicOp::bit_and, a, b);
  }
  const auto mask = exprs_[b].number;
  if (exprs_.is_constant(a)) return exprs_.constant(exprs_[a].number & mask);
  if (mask == 0) return exprs_.constant(0);
  if (mask == -1) return a;
  if (mask == INT64_MIN) return exprs_.bits(SymbolicOp::bit_and, a, b);
  if (is_low_mask(mask)) {
    if (exprs_.is_boolean(a)) return a;
    return exprs_.modulo(a, exprs_.constant(mask + 1));
  }
  // …111000, or 0111…1000 where the compiler knows that the value is not negative: rounds down to a multiple.
  const auto low = mask & -mask;
  const auto filled = mask | (low - 1);
  if (filled == -1 || filled == 0x7fffffff || filled == 0xffffffff || filled == 0x7fffffffffffffff ||
      filled == 0x3fffffff || filled == 0x1fffffff)
    return exprs_.subtract(a, exprs_.modulo(a, exprs_.constant(low)));
  // Ones from bit j to bit k - 1: x mod 2^k - x mod 2^j.
  if (mask > 0 && is_low_mask(filled)) {
    const auto below = low == 1 ? exprs_.constant(0) : exprs_.modulo(a, exprs_.constant(low));
    return exprs_.subtract(exprs_.modulo(a, exprs_.constant(filled + 1)), below);
  }
  return exprs_.bits(SymbolicOp::bit_and, a, b);
}

ExprId Evaluator::bit_or(ExprId a, ExprId b) {
  if (exprs_.is_constant(a, 0)) return b;
  if (exprs_.is_constant(b, 0)) return a;
  if (exprs_.is_constant(a) && exprs_.is_constant(b))
    return exprs_.constant(exprs_[a].number | exprs_[b].number);
  if (exprs_.is_boolean(a) && exprs_.is_boolean(b)) return exprs_.logical_or(a, b);
  // Disjoint bits: a multiple of 2^k and a number in [0, 2^k).
  for (int turn = 0; turn < 2; ++turn, std::swap(a, b)) {
    const auto power = static_cast<std::int64_t>(power_dividing(a));
    if (exprs_.is_constant(b) && exprs_[b].number >= 0 && exprs_[b].number < power) return exprs_.add(a, b);
    // x - d·(x / d) with d <= 2^k
    if (exprs_[b].op == SymbolicOp::sum)
      for (const auto& t : exprs_.terms(b)) {
        const auto& atom = exprs_[t.atom];
        if (atom.op == SymbolicOp::floor_divide && t.coefficient != INT64_MIN && exprs_.is_constant(atom.b) &&
            exprs_[atom.b].number == -t.coefficient && exprs_[atom.b].number <= power &&
            exprs_.modulo(atom.a, atom.b) == b)
          return exprs_.add(a, b);
      }
    // Thread indices are below 1024 where the other part is a multiple of that.
    if (exprs_[b].op == SymbolicOp::special && exprs_[b].a <= static_cast<ExprId>(Special::tid_z) &&
        power >= 1024)
      return exprs_.add(a, b);
  }
  return exprs_.bits(SymbolicOp::bit_or, a, b);
}

ExprId Evaluator::evaluate_compare(std::uint32_t instruction, std::string_view opcode) {
  // setp.CmpOp[.BoolOp].type p[|q], a, b[, {!}c]
  auto rest = opcode.substr(opcode.find('.') + 1);
  const auto comparison = rest.substr(0, rest.find('.'));
  const auto type = last_word(opcode);
  if (!is_integer_type(type)) return opaque_result(instruction);
  const auto a = operand(instruction, 1), b = operand(instruction, 2);
  const bool is_unsigned = type[0] == 'u';
  ExprId result;
  if (comparison == "eq")
    result = exprs_.compare(SymbolicOp::equal, a, b);
  else if (comparison == "ne")
    result = exprs_.compare(SymbolicOp::not_equal, a, b);
  else if (comparison == "lt" && !is_unsigned)
    result = exprs_.compare(SymbolicOp::less, a, b);
  else if (comparison == "le" && !is_unsigned)
    result = exprs_.compare(SymbolicOp::less_equal, a, b);
  else if (comparison == "gt" && !is_unsigned)
    result = exprs_.compare(SymbolicOp::less, b, a);
  else if (comparison == "ge" && !is_unsigned)
    result = exprs_.compare(SymbolicOp::less_equal, b, a);
  else if (comparison == "lt" || comparison == "lo")
    result = exprs_.compare(SymbolicOp::less_unsigned, a, b);
  else if (comparison == "le" || comparison == "ls")
    result = exprs_.compare(SymbolicOp::less_equal_unsigned, a, b);
  else if (comparison == "gt" || comparison == "hi")
    result = exprs_.compare(SymbolicOp::less_unsigned, b, a);
  else if (comparison == "ge" || comparison == "hs")
    result = exprs_.compare(SymbolicOp::less_equal_unsigned, b, a);
  else
    return opaque_result(instruction);
  if (function_.instructions[instruction].operand_count < 4) return result;
  const auto c = operand(instruction, 3);
  if (ptx::has_part(opcode, "and")) return exprs_.logical_and(result, c);
  if (ptx::has_part(opcode, "or")) return exprs_.logical_or(result, c);
  return opaque_result(instruction);
}

ExprId Evaluator::evaluate(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  if (ins.info == nullptr) return opaque_result(instruction);
  const auto opcode = ins.opcode;
  const auto word = ptx::first_word(opcode);
  if (word == "setp") return evaluate_compare(instruction, opcode);
  if (moves_slot(operands_, ins)) return operand(instruction, 1);
  if (word == "ld")
    return ptx::space_of(opcode) == ptx::StateSpace::param ? load_parameter(instruction)
                                                           : opaque_result(instruction);
  const auto type = last_word(opcode);
  const bool predicate = type == "pred";
  if (!predicate && !is_integer_type(type)) return opaque_result(instruction);
  return evaluate_known(instruction, opcode);
}

ExprId Evaluator::evaluate_known(std::uint32_t instruction, std::string_view opcode) {
  const auto word = ptx::first_word(opcode);
  const auto type = last_word(opcode);
  const int width = width_of(type);
  const auto in = [&](std::uint32_t i) { return operand(instruction, i); };
  auto& v = exprs_;
  const bool carries = ptx::has_part(opcode, "cc");
  if (word == "mov") {
    const auto kind = operands_[function_.instructions[instruction].first_operand + 1].kind;
    if (kind == ptx::Operand::Kind::vector) return opaque_result(instruction);
    auto value = in(1);
    // A 32-bit constant with its top bit set is a negative number to most of what reads it.
    if (type == "pred" && v.is_constant(value)) value = v.constant(v[value].number != 0);
    if (width == 32 && v.is_constant(value)) value = v.constant(static_cast<std::int32_t>(v[value].number));
    return value;
  }
  if (word == "cvta") {
    if (!ptx::has_part(opcode, "to")) {
      // The address becomes generic: remember from which space.
      const auto value = in(1);
      const auto space = ptx::space_of(opcode);
      v.any_leaf(value, [&](ExprId leaf) {
        if (v[leaf].op == SymbolicOp::symbol && symbol_spaces_[v[leaf].a] == ptx::StateSpace::none)
          symbol_spaces_[v[leaf].a] = space;
        return false;
      });
      return value;
    }
    return in(1);
  }
  if (carries) return opaque_result(instruction);
  if (word == "add") return v.add(in(1), in(2));
  if (word == "sub") return v.subtract(in(1), in(2));
  if (word == "neg") return v.scale(in(1), -1);
  if (word == "mul" || word == "mul24") {
    auto a = in(1), b = in(2);
    const bool high = ptx::has_part(opcode, "hi");
    // A constant with its top bit set is a large number where the multiplication is unsigned and keeps the
    // high half.
    if (type == "u32" && (high || ptx::has_part(opcode, "wide")))
      for (auto* part : {&a, &b})
        if (v.is_constant(*part) && v[*part].number < 0)
          *part = v.constant(static_cast<std::uint32_t>(v[*part].number));
    if (!high) return v.multiply(a, b);
    if (width != 32 || (!v.is_constant(a) && !v.is_constant(b))) return opaque_result(instruction);
    return v.floor_divide(v.multiply(a, b), v.constant(std::int64_t{1} << 32));
  }
  if (word == "mad" || word == "mad24") {
    if (ptx::has_part(opcode, "hi")) return opaque_result(instruction);
    return v.add(v.multiply(in(1), in(2)), in(3));
  }
  if (word == "div" || word == "rem") {
    const auto a = in(1), b = in(2);
    const auto quotient = type[0] == 's' ? v.truncated_divide(a, b) : v.floor_divide(a, b);
    return word == "div" ? quotient : v.subtract(a, v.multiply(b, quotient));
  }
  if (word == "min") return v.minimum(in(1), in(2));
  if (word == "max") return v.maximum(in(1), in(2));
  if (word == "abs") {
    const auto a = in(1);
    return v.maximum(a, v.scale(a, -1));
  }
  if (word == "shl") {
    const auto a = in(1), b = in(2);
    return v.multiply(a, v.power_of_two(b));
  }
  if (word == "shr") {
    const auto a = in(1), b = in(2);
    if (v.is_constant(b, width - 1)) {  // the sign bit
      const auto negative = v.compare(SymbolicOp::less, a, v.constant(0));
      return type[0] == 's' ? v.scale(negative, -1) : negative;
    }
    // The sign's bits, shifted right: what division of a negative number by a power of two adds.
    if (type[0] != 's' && v.is_constant(b)) {
      std::vector<Term> terms;
      if (v.linear_form(a, terms) == 0 && terms.size() == 1 && terms[0].coefficient == -1 &&
          v.is_boolean(terms[0].atom))
        return v.scale(terms[0].atom,
                       (std::int64_t{1} << std::clamp<std::int64_t>(width - v[b].number, 0, 62)) - 1);
    }
    return v.floor_divide(a, v.power_of_two(b));
  }
  if (word == "and") return bit_and(in(1), in(2));
  if (word == "or") return bit_or(in(1), in(2));
  if (word == "not") return type == "pred" ? v.logical_not(in(1)) : v.add(v.scale(in(1), -1), v.constant(-1));
  if (word == "xor") {
    const auto a = in(1), b = in(2);
    if (v.is_constant(a) && v.is_constant(b)) return v.constant(v[a].number ^ v[b].number);
    if (v.is_constant(b, 0)) return a;
    if (v.is_constant(a, 0)) return b;
    if (v.is_constant(b, -1)) return v.add(v.scale(a, -1), v.constant(-1));
    if (type == "pred" && v.is_constant(b, 1)) return v.logical_not(a);
    return v.bits(SymbolicOp::bit_xor, a, b);
  }
  if (word == "selp") {
    const auto a = in(1), b = in(2);
    return v.select(in(3), a, b);
  }
  if (word == "cvt") {
    // Between integer types; a narrower result keeps the low bits, which are the value where it fits.
    const auto before = opcode.substr(0, opcode.rfind('.'));
    const auto to = last_word(before);
    if (!is_integer_type(to)) return opaque_result(instruction);
    if (width_of(to) < 32 && width_of(to) < width) {
      const auto value = in(1);
      return v.modulo(value, v.constant(std::int64_t{1} << width_of(to)));
    }
    // Compilers count in 16 bits where only the low bits matter: what is widened again has lost the rest.
    if (type[0] == 'u' && width < 32 && width_of(to) > width)
      return v.modulo(in(1), v.constant(std::int64_t{1} << width));
    return in(1);
  }
  if (word == "bfe" && type[0] == 'u') {
    const auto a = in(1), position = in(2), length = in(3);
    return v.modulo(v.floor_divide(a, v.power_of_two(position)), v.power_of_two(length));
  }
  if (word == "bfind" && type[0] == 'u' && !ptx::has_part(opcode, "shiftamt")) return v.log2_floor(in(1));
  if (word == "clz") return v.subtract(v.constant(width - 1), v.log2_floor(in(1)));
  return opaque_result(instruction);
}

// A phi that only passes on one value, through other phis perhaps: that value. Phis further up count as
// values of their own.
std::optional<ExprId> Evaluator::copy_of(std::uint32_t phi) {
  if (const auto it = copies_.find(phi); it != copies_.end()) return it->second;
  const auto block = phis_[phi].block;
  std::vector<std::uint32_t> work{phi}, seen{phi};
  std::optional<ExprId> only;
  while (!work.empty()) {
    const auto p = work.back();
    work.pop_back();
    const auto sources = incoming(p);  // a copy
    for (const auto value : sources) {
      const auto node = exprs_[value];
      if (node.op == SymbolicOp::phi && !cfg_.dominates(phis_[node.a].block, block)) {
        if (std::find(seen.begin(), seen.end(), node.a) != seen.end()) continue;
        if (seen.size() > max_copies) return copies_[phi] = std::nullopt;
        seen.push_back(node.a);
        work.push_back(node.a);
      } else if (node.op == SymbolicOp::phi && node.a == phi) {
        continue;
      } else if (!only) {
        only = value;
      } else if (*only != value) {
        return copies_[phi] = std::nullopt;
      }
    }
  }
  return copies_[phi] = only;
}

void Evaluator::visit_sources_of_phi(std::uint32_t phi, const std::function<void(ExprId)>& visit) {
  if (const auto only = copy_of(phi)) return visit(*only);
  for (const auto value : incoming(phi)) visit(value);
  // The branch that decides by which way the block is reached.
  const auto decide = [&](std::uint32_t b) {
    if (b != none && cfg_.blocks[b].end > cfg_.blocks[b].first) visit(guard(cfg_.blocks[b].end - 1));
  };
  const auto block = phis_[phi].block;
  const auto loop = cfg_.blocks[block].loop;
  if (loop != none && cfg_.loops[loop].header == block) {
    for (const auto& exit : cfg_.loops[loop].exits) decide(exit.from);
  } else {
    decide(cfg_.blocks[block].dominator);
  }
}

// What a value reaches in one step: the parts of a form that are indirect, what a phi chooses from, what an
// instruction reads.
std::uint8_t Evaluator::direct_dependence(ExprId value, std::vector<ExprId>& next) {
  const auto node = exprs_[value];
  std::uint8_t found = node.dependence;
  const std::function<void(ExprId)> visit = [&](ExprId v) {
    found |= exprs_[v].dependence;
    if (exprs_[v].indirect) next.push_back(v);
  };
  if (node.op == SymbolicOp::phi) {
    visit_sources_of_phi(node.a, visit);
  } else if (node.op == SymbolicOp::result) {
    found |= instruction_dependence(node.a, visit);
  } else if (node.op == SymbolicOp::sum || node.op == SymbolicOp::product) {
    for (const auto& t : exprs_.terms(value)) visit(t.atom);
  } else {
    for (const auto part : {node.a, node.b, node.c}) visit(part);
  }
  return found;
}

// Everything that it reaches, cycles and all; the values of a cycle depend on the same (Tarjan 1972).
std::uint8_t Evaluator::dependence(ExprId value) {
  if (!exprs_[value].indirect) return exprs_[value].dependence;
  const auto known = [&](ExprId v) -> std::uint8_t {
    return v < dependence_.size() ? dependence_[v] : unknown_dependence;
  };
  if (const auto d = known(value); d != unknown_dependence) return d;
  struct Visit {
    ExprId value;
    std::uint32_t number, low;
    std::uint8_t found;
    std::size_t at = 0;
    std::vector<ExprId> next = {};
  };
  std::vector<Visit> path;
  struct Open {
    ExprId value;
    std::uint8_t found;
  };
  std::vector<Open> open;
  std::uint32_t count = 0;
  const auto enter = [&](ExprId v) {
    Visit visit{v, count, count, 0};
    visit.found = direct_dependence(v, visit.next);
    if (visit_of_.size() < exprs_.size()) visit_of_.resize(exprs_.size() + exprs_.size() / 2, 0);
    visit_of_[v] = ++count;
    open.push_back({v, 0});
    path.push_back(std::move(visit));
  };
  enter(value);
  while (true) {
    auto& top = path.back();
    if (top.at < top.next.size()) {
      const auto v = top.next[top.at++];
      if (const auto d = known(v); d != unknown_dependence)
        top.found |= d;
      else if (v < visit_of_.size() && visit_of_[v] != 0)
        top.low = std::min(top.low, visit_of_[v] - 1);
      else
        enter(v);
      continue;
    }
    const auto done = std::move(path.back());
    path.pop_back();
    auto found = done.found;
    if (done.low == done.number) {
      std::size_t first = open.size();
      do {
        --first;
        found |= open[first].found;
      } while (open[first].value != done.value);
      if (dependence_.size() < exprs_.size())
        dependence_.resize(exprs_.size() + exprs_.size() / 2, unknown_dependence);
      for (auto i = first; i < open.size(); ++i) {
        dependence_[open[i].value] = found;
        visit_of_[open[i].value] = 0;
      }
      open.resize(first);
    } else {
      // Its cycle is still open: what it found counts for all of it.
      for (auto i = open.size(); i-- > 0;)
        if (open[i].value == done.value) {
          open[i].found |= found;
          break;
        }
    }
    if (path.empty()) return found;
    path.back().found |= found;
    path.back().low = std::min(path.back().low, done.low);
  }
}

std::optional<ptx::StateSpace> Evaluator::space_of_address(ExprId address) {
  constexpr std::size_t most_values = 200;
  std::optional<ptx::StateSpace> space;
  std::vector<ExprId> work{address};
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.size() > most_values) return std::nullopt;
    const auto value = work[i];  // by way of one definition
    std::optional<ptx::StateSpace> here;
    std::vector<std::uint32_t> phis;
    exprs_.any_leaf(value, [&](ExprId leaf) {
      const auto node = exprs_[leaf];
      if (node.op == SymbolicOp::symbol && symbol_spaces_[node.a] != ptx::StateSpace::none)
        here = symbol_spaces_[node.a];
      if (node.op == SymbolicOp::phi) phis.push_back(node.a);
      return false;
    });
    if (here) {
      if (space && *space != *here) return std::nullopt;
      space = here;
      continue;
    }
    // The address may come with one of its phis, and an index with the others: followed where there is one.
    if (phis.size() != 1) return std::nullopt;
    for (const auto next : incoming(phis[0]))
      if (std::find(work.begin(), work.end(), next) == work.end()) work.push_back(next);
  }
  return space;
}

}  // namespace warptime::analysis
