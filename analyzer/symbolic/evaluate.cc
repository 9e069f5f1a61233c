#include "analyzer/symbolic/evaluate.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/ptx_types.h"

namespace warptime::analysis {
namespace {

constexpr int max_evaluation_depth = 500;
constexpr std::size_t max_copies = 100;

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
  if (single_definition_[reg] == none) {
    const auto it = several_.empty() ? several_.end() : several_.find(reg);
    if (it == several_.end()) {
      single_definition_[reg] = instruction;
    } else if (auto& list = it->second.instructions; list.back() != instruction) {
      list.push_back(instruction);
    }
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
  if (reg >= function_.registers.size()) return exprs_.opaque(on_unknown);
  if (single_definition_[reg] != none) return written_by(single_definition_[reg], reg);
  const auto it = several_.find(reg);
  if (it == several_.end()) return exprs_.opaque(on_unknown);  // never written
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
  if (it == several_.end()) return exprs_.opaque(on_unknown);
  const auto& list = it->second.instructions;
  const auto next = std::lower_bound(list.begin(), list.end(), cfg_.blocks[block].end);
  if (next != list.begin() && *std::prev(next) >= cfg_.blocks[block].first)
    return written_by(*std::prev(next), reg);
  return register_at_entry(reg, block);
}

ExprId Evaluator::register_at_entry(std::uint32_t reg, std::uint32_t block) {
  const auto& list = several_.at(reg).instructions;
  // Up through blocks with one incoming edge.
  for (std::size_t steps = 0; steps <= cfg_.blocks.size(); ++steps) {
    const auto& b = cfg_.blocks[block];
    if (b.predecessors.empty()) return exprs_.opaque(on_unknown);
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
      list.push_back(exprs_.opaque(on_unknown));  // the entry itself brings what was there before
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
  } else if (first.kind == ptx::Operand::Kind::vector && ins.opcode.starts_with("ld.param.")) {
    value = exprs_.result(instruction, reg);
    for (std::uint32_t p = 0; p < first.part_count; ++p)
      if (operands_[first.first_part + p].symbol == reg) {
        ++depth_;
        value = load_parameter(instruction, p).value_or(value);
        --depth_;
      }
  } else if (first.kind == ptx::Operand::Kind::vector && ptx::first_word(ins) == "mov") {
    ++depth_;
    value = unpacked(instruction, reg);
    --depth_;
  } else if (first.kind == ptx::Operand::Kind::pair && first.part_count == 2 &&
             ptx::first_word(ins) == "setp") {
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

// mov.b64 {a, b}, c: a register of those that a wider one is taken apart into.
ExprId Evaluator::unpacked(std::uint32_t instruction, std::uint32_t reg) {
  const auto& ins = function_.instructions[instruction];
  const auto& parts = operands_[ins.first_operand];
  const auto whole = operand(instruction, 1);
  const auto width = width_of(last_word(ins.opcode));
  if (is_of_thread(whole) && parts.part_count != 0 && width <= 64)
    for (std::uint32_t p = 0; p < parts.part_count; ++p)
      if (operands_[parts.first_part + p].symbol == reg) {
        const auto part_width = width / static_cast<int>(parts.part_count);
        return bits_.extract(whole, part_width * static_cast<int>(p), part_width, width, false);
      }
  return exprs_.result(instruction, reg);
}

ExprId Evaluator::opaque_result(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  const auto reg = ins.operand_count > 0 ? operands_[ins.first_operand].symbol : none;
  return exprs_.result(instruction, reg);
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
      return which == Special::other || operand.negated ? exprs_.opaque(on_unknown) : exprs_.special(which);
    }
    case Kind::symbol: {
      const bool own = operand.referent == ptx::Operand::Referent::function_variable &&
                       operand.value < function_.variables.size();
      const auto [it, fresh] = symbols_.emplace(std::pair(operand.text, own ? operand.value + 1 : 0),
                                                static_cast<std::uint32_t>(symbols_.size() + 1));
      if (fresh) {
        const ptx::Variable* variable = nullptr;
        if (own)
          variable = &function_.variables[operand.value];
        else if (operand.referent == ptx::Operand::Referent::module_variable &&
                 operand.value < module_.variables.size())
          variable = &module_.variables[operand.value];
        if (variable != nullptr) symbol_variables_[it->second] = variable;
        symbol_spaces_[it->second] = variable == nullptr ? ptx::StateSpace::none : variable->space;
        if (operand.referent == ptx::Operand::Referent::parameter)
          symbol_parameters_[it->second] = static_cast<std::uint32_t>(operand.value);
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
  return exprs_.opaque(on_unknown);
}

ExprId Evaluator::operand(std::uint32_t instruction, std::uint32_t index) {
  const auto& ins = function_.instructions[instruction];
  if (index >= ins.operand_count) return exprs_.opaque(on_unknown);
  return value_of(operands_[ins.first_operand + index], instruction);
}

ExprId Evaluator::address(std::uint32_t instruction, std::uint32_t operand_index) {
  const auto& ins = function_.instructions[instruction];
  if (operand_index >= ins.operand_count) return exprs_.opaque(on_unknown);
  const auto& operand = operands_[ins.first_operand + operand_index];
  if (operand.kind != ptx::Operand::Kind::address || operand.part_count < 1) return exprs_.opaque(on_unknown);
  const auto base = value_of(operands_[operand.first_part], instruction);
  if (operand.part_count > 1) return exprs_.opaque(on_unknown);
  return exprs_.add(base, exprs_.constant(static_cast<std::int64_t>(operand.value)));
}

ExprId Evaluator::guard(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  if (ins.guard == ptx::no_index) return exprs_.constant(1);
  return value_of(operands_[ins.guard], instruction);
}

// Part `part` of the vector that is loaded, which has one if it is none.
std::optional<ExprId> Evaluator::load_parameter(std::uint32_t instruction, std::uint32_t part) {
  const auto& ins = function_.instructions[instruction];
  const auto& operand = operands_[ins.first_operand + 1];
  const auto type = last_word(ins.opcode);
  if (!function_.entry || operand.kind != ptx::Operand::Kind::address || operand.part_count != 1 ||
      !is_integer_type(type))
    return std::nullopt;
  const auto offset = part * static_cast<std::uint32_t>(width_of(type) / 8);
  const auto& base = operands_[operand.first_part];
  if (base.referent == ptx::Operand::Referent::parameter)
    return exprs_.argument(static_cast<std::uint32_t>(base.value),
                           static_cast<std::uint32_t>(operand.value) + offset);
  return parameter_at(exprs_.add(address(instruction, 1), exprs_.constant(offset)));
}

// The part of a kernel parameter at an address: compilers read a struct by the address of its parameter.
std::optional<ExprId> Evaluator::parameter_at(ExprId address) {
  std::vector<Term> terms;
  const auto offset = exprs_.linear_terms(address, terms);
  if (terms.size() != 1 || terms[0].coefficient != 1 || offset < 0) return std::nullopt;
  const auto base = exprs_[terms[0].atom];
  if (base.op != SymbolicOp::symbol) return std::nullopt;
  const auto parameter = symbol_parameters_.find(base.a);
  if (parameter == symbol_parameters_.end()) return std::nullopt;
  return exprs_.argument(parameter->second, static_cast<std::uint32_t>(offset));
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

// The value of several arrivals at a block: the branch that dominates all of them decides between two groups,
// and branches below it within each.
std::optional<ExprId> Evaluator::choose(std::uint32_t block, const std::vector<Arrival>& arrivals,
                                        bool& by_thread) {
  if (arrivals.size() == 1) return arrivals[0].value;
  auto above = arrivals[0].from;
  const auto above_all = [&] {
    return std::all_of(arrivals.begin(), arrivals.end(),
                       [&](const Arrival& a) { return cfg_.dominates(above, a.from); });
  };
  while (above != none && !above_all()) above = cfg_.blocks[above].dominator;
  if (above == none) return std::nullopt;
  const auto& decides = cfg_.blocks[above];
  if (decides.successors.size() != 2 || decides.end == decides.first ||
      function_.instructions[decides.end - 1].guard == ptx::no_index)
    return std::nullopt;
  std::vector<Arrival> sides[2];
  for (const auto& arrival : arrivals) {
    const auto on = [&](std::uint32_t s) {
      return arrival.from == above ? s == block : s != block && cfg_.dominates(s, arrival.from);
    };
    const auto side = on(decides.successors[0]) ? 0 : 1;
    if (side == 1 && !on(decides.successors[1])) return std::nullopt;
    sides[side].push_back(arrival);
  }
  if (sides[0].empty() || sides[1].empty()) return std::nullopt;
  const auto taken = choose(block, sides[0], by_thread), fallen_through = choose(block, sides[1], by_thread);
  if (!taken || !fallen_through) return std::nullopt;
  const auto condition = guard(decides.end - 1);
  by_thread = by_thread || (dependence(condition) & on_thread) != 0;
  return exprs_.select(condition, *taken, *fallen_through);
}

std::optional<ExprId> Evaluator::chosen_by_thread(std::uint32_t phi) {
  constexpr std::size_t most_arrivals = 8;
  const auto block = phis_[phi].block;
  const auto predecessors = cfg_.blocks[block].predecessors;
  const auto& values = incoming(phi);
  if (values.size() != predecessors.size() || values.size() > most_arrivals) return std::nullopt;
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (cfg_.blocks[predecessors[i]].reachable) arrivals.push_back({predecessors[i], values[i]});
  bool by_thread = false;
  if (arrivals.empty()) return std::nullopt;
  const auto chosen = choose(block, arrivals, by_thread);
  return by_thread ? chosen : std::nullopt;
}

void Evaluator::note_space(ExprId value, ptx::StateSpace space) {
  exprs_.any_leaf(value, [&](ExprId leaf) {
    const auto node = exprs_[leaf];
    if (node.op == SymbolicOp::symbol && symbol_spaces_[node.a] == ptx::StateSpace::none)
      symbol_spaces_[node.a] = space;
    return false;
  });
}

std::optional<ptx::StateSpace> Evaluator::space_of_address(ExprId address) {
  constexpr std::size_t most_values = 200;
  std::optional<ptx::StateSpace> space;
  std::vector<ExprId> work{address};
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.size() > most_values) return std::nullopt;
    const auto value = work[i];  // through one definition
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
