#include "analyzer/periods/on_chip.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <vector>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/periods/classify.h"
#include "analyzer/periods/fragments.h"
#include "analyzer/periods/resources.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/value_ranges.h"

namespace warptime::periods {

using analysis::ExprId;
using ptx::Category;
using ptx::StateSpace;

namespace {

std::optional<ChipAccess::Kind> kind_of_access(Category category) {
  switch (category) {
    case Category::load:
      return ChipAccess::Kind::load;
    case Category::store:
      return ChipAccess::Kind::store;
    case Category::atomic:
    case Category::reduction:
      return ChipAccess::Kind::atomic;
    default:
      return std::nullopt;
  }
}

std::optional<ChipAccess::Space> chip_space(StateSpace space) {
  switch (space) {
    case StateSpace::shared:
      return ChipAccess::Space::shared;
    case StateSpace::local:
      return ChipAccess::Space::local;
    case StateSpace::constant:
      return ChipAccess::Space::constant;
    default:
      return std::nullopt;
  }
}

// Of a thread's share in what the warp moves: four bytes for each matrix of ldmatrix and stmatrix.
std::int64_t bytes_moved_by_warp(std::string_view opcode) {
  if (ptx::has_part(opcode, "x1")) return 4;
  if (ptx::has_part(opcode, "x2")) return 8;
  return 16;
}

}  // namespace

bool is_shuffle(std::string_view opcode) {
  return ptx::first_word(opcode) == "shfl";
}

bool waits_for_block(std::string_view opcode) {
  const auto word = ptx::first_word(opcode);
  if (word != "bar" && word != "barrier") return false;
  if (ptx::has_part(opcode, "warp")) return false;
  if (ptx::has_part(opcode, "cluster")) return ptx::has_part(opcode, "wait");
  return !ptx::has_part(opcode, "arrive");
}

// The variables that the code names, in the order of their declaration.
void OnChip::lay_out() {
  laid_out_ = true;
  const auto& function = flow_.code.function();
  const auto& module = flow_.code.module();
  const auto& operands = flow_.code.operands();
  std::set<std::uint64_t> of_module, own;
  const auto see = [&](const auto& self, const ptx::Operand& operand) -> void {
    if (operand.referent == ptx::Operand::Referent::module_variable) of_module.insert(operand.value);
    if (operand.referent == ptx::Operand::Referent::function_variable) own.insert(operand.value);
    for (std::uint32_t p = 0; p < operand.part_count; ++p) self(self, operands[operand.first_part + p]);
  };
  for (const auto& ins : function.instructions)
    for (std::uint32_t o = 0; o < ins.operand_count; ++o) see(see, operands[ins.first_operand + o]);
  std::vector<const ptx::Variable*> variables;
  for (const auto index : of_module)
    if (index < module.variables.size()) variables.push_back(&module.variables[index]);
  for (const auto index : own)
    if (index < function.variables.size()) variables.push_back(&function.variables[index]);
  std::uint64_t shared = 0, local = 0, dynamic = 0;
  for (const auto* variable : variables) {
    auto& end = variable->space == StateSpace::shared ? shared : local;
    if ((variable->space != StateSpace::shared && variable->space != StateSpace::local) ||
        is_dynamic_shared(*variable))
      continue;
    const auto place = place_behind(end, *variable);
    begins_[variable] = static_cast<std::int64_t>(place.begin);
    end = place.end;
  }
  // All dynamic variables begin at one place.
  for (const auto* variable : variables)
    if (is_dynamic_shared(*variable)) dynamic = std::max(dynamic, place_behind(shared, *variable).begin);
  for (const auto* variable : variables)
    if (is_dynamic_shared(*variable)) begins_[variable] = static_cast<std::int64_t>(dynamic);
}

std::optional<std::int64_t> OnChip::begin_of(const ptx::Variable* variable, StateSpace space) {
  if (variable == nullptr || variable->space != space) return std::nullopt;
  if (space == StateSpace::constant) return 0;
  if (!laid_out_) lay_out();
  const auto it = begins_.find(variable);
  return it == begins_.end() ? std::nullopt : std::optional(it->second);
}

// Of dynamic shared memory, whose size launches give: what a block may have without asking for more.
std::int64_t OnChip::bytes_chosen_from(const ptx::Variable& variable) {
  constexpr std::int64_t dynamic_bytes = 48 << 10;
  if (is_dynamic_shared(variable)) return dynamic_bytes;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(place_behind(0, variable).end));
}

// ptxas lays the constants of a module out in their order.
std::int64_t OnChip::constant_align(const ptx::Variable& variable) {
  if (constant_aligns_.empty()) {
    std::uint64_t end = 0;
    for (const ptx::Variable& one : flow_.code.module().variables) {
      if (one.space != StateSpace::constant) continue;
      const auto place = place_behind(end, one);
      constant_aligns_[&one] = std::int64_t{1} << std::min(std::countr_zero(place.begin), 3);
      end = place.end;
    }
  }
  const auto found = constant_aligns_.find(&variable);
  return found == constant_aligns_.end() ? 1 : found->second;
}

namespace {

constexpr std::int64_t kWordBytes = 4;
// How many constants the threads of a warp typically choose between where data choose, letters or kinds, say. (The profiles of
// data/development: 1 to 31 different ones in a request, 8 as the geometric mean of the kernels.)
constexpr std::int64_t kTypicalConstants = 8;
// Steps of fewer places than that are not those of rows.
constexpr std::int64_t kLeastOfRow = 8;

// The bytes between places that what is loaded may choose from: what its coefficients have in common.
std::int64_t distance_that_data_choose(analysis::Evaluator& evaluator, ExprId address) {
  std::int64_t common = 0;
  for (const analysis::Term& term : evaluator.exprs().linear_terms(address))
    if ((evaluator.dependence(term.atom) & analysis::on_data) != 0)
      common = std::gcd(common, term.coefficient);
  return common;
}

// The bytes of a row, where what is loaded chooses a place in a row that the rest of the address chooses: the smallest step of the
// rest that is longer than the steps of `apart` bytes between the places; none: there is no such step, or data choose rows, too.
std::optional<std::int64_t> bytes_of_row(analysis::Evaluator& evaluator, ExprId address, std::int64_t apart) {
  std::optional<std::int64_t> row;
  for (const analysis::Term& term : evaluator.exprs().linear_terms(address)) {
    const std::int64_t step = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if ((evaluator.dependence(term.atom) & analysis::on_data) != 0) {
      if (step != apart) return std::nullopt;
    } else if (step > apart && step % apart == 0) {
      row = std::min(row.value_or(step), step);
    }
  }
  return row;
}

// The rest of an address in shared memory where what is loaded chooses rows of all banks, and each thread has its place in them:
// the rest says which banks the threads access.
std::optional<ExprId> place_in_chosen_row(analysis::Evaluator& evaluator, ExprId address,
                                          std::int64_t bytes) {
  constexpr std::int64_t all_banks = 128;
  auto& exprs = evaluator.exprs();
  ExprId rest = address;
  bool by_thread = false;
  for (const analysis::Term& term : exprs.linear_terms(address)) {
    const auto dependence = evaluator.dependence(term.atom);
    if ((dependence & analysis::on_data) != 0) {
      if (term.coefficient % all_banks != 0) return std::nullopt;
      rest = exprs.add(rest, exprs.scale(term.atom, -term.coefficient));
    } else {
      by_thread = by_thread || (term.coefficient == bytes && (dependence & analysis::on_thread) != 0);
    }
  }
  return by_thread ? std::optional(rest) : std::nullopt;
}

// Between the first and behind the last of the places, `apart` bytes from each other, that what is loaded may choose from: by
// the range of what it adds to the address, a remainder of 16, say.
std::int64_t bytes_that_data_span(analysis::Evaluator& evaluator, ExprId address, std::int64_t apart) {
  auto& exprs = evaluator.exprs();
  ExprId chosen = exprs.constant(0);
  for (const analysis::Term& term : exprs.linear_terms(address))
    if ((evaluator.dependence(term.atom) & analysis::on_data) != 0)
      chosen = exprs.add(chosen, exprs.scale(term.atom, term.coefficient));
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto range = analysis::ValueRanges(exprs).range(chosen);
  return range.within(-most, most) ? range.high - range.low + apart : most;
}

}  // namespace

std::vector<ChipAccess> OnChip::accesses_of(std::uint32_t i, std::uint32_t loop,
                                            const analysis::Facts& facts) {
  auto& evaluator = flow_.evaluator;
  const auto& ins = evaluator.function().instructions[i];
  if (ins.info == nullptr || analysis::moves_slot(evaluator.operands(), ins) ||
      flow_.code.register_array_access(i) != nullptr)
    return {};
  const auto kind = kind_of_access(ins.info->category);
  if (!kind) return {};
  const auto operand = address_operand(evaluator.operands(), ins, ins.info->category);
  const auto address = evaluator.address(i, operand);
  auto space = ptx::space_of(ins);
  if (space == StateSpace::generic || space == StateSpace::none)
    space = evaluator.space_of_address(address).value_or(StateSpace::global);
  const auto on_chip = chip_space(space);
  if (!on_chip) return {};
  ChipAccess access{*kind, *on_chip, ptx::access_bytes(ins), std::nullopt};
  // ptxas loads with ldmatrix only what the PTX says to be shared.
  if (const auto fragment = ptx::space_of(ins) == StateSpace::shared
                                ? shared_fragment_access(evaluator, i, operand)
                                : fragment_access(evaluator, i, operand)) {
    access.bytes = fragment->bytes;
    std::vector<ChipAccess> accesses;
    for (const ExprId of_request : fragment->addresses) {
      access.address = conditions_.place_on_chip(of_request, loop, facts, [&](ExprId symbol) {
        return begin_of(evaluator.variable_of(symbol), space);
      });
      accesses.push_back(access);
    }
    return accesses;
  }
  if (ins.info->is(ptx::moved_by_warp)) {
    access.bytes = bytes_moved_by_warp(ins.opcode);
    // Each thread has the address of a row of 16 bytes.
    if (!ptx::has_part(ins.opcode, "x4") || !ptx::has_part(ins.opcode, "m8n8")) return {access};
  }
  access.bytes = std::max<std::int64_t>(1, access.bytes);
  const ptx::Variable* only = nullptr;  // addresses in two constant arrays are of neither
  const auto place = [&](ExprId of) {
    return conditions_.place_on_chip(of, loop, facts, [&](ExprId symbol) {
      const auto* variable = evaluator.variable_of(symbol);
      if (only != nullptr && only != variable && space == StateSpace::constant)
        return std::optional<std::int64_t>();
      only = variable;
      return begin_of(variable, space);
    });
  };
  access.address = place(address);
  if (!access.address && space == StateSpace::shared)
    if (const auto rest = place_in_chosen_row(evaluator, address, access.bytes))
      access.address = place(*rest);
  if (space == StateSpace::constant && access.address) {
    if (!constants_) constants_.emplace(flow_.code);
    access.own_bytes = constants_->own_bytes(i);
    // ptxas joins no loads of 8 bytes or more.
    if (only != nullptr && access.bytes == kWordBytes) access.align = constant_align(*only);
  }
  constexpr auto by_thread = analysis::on_data | analysis::on_thread;
  if (!access.address && only != nullptr && (evaluator.dependence(address) & by_thread) == by_thread) {
    // Of an array of structures, one place in each.
    const std::int64_t apart = std::max(distance_that_data_choose(evaluator, address), access.bytes);
    const std::int64_t bytes =
        std::min(bytes_chosen_from(*only), bytes_that_data_span(evaluator, address, apart));
    std::int64_t elements = std::max<std::int64_t>(bytes / apart, 1);
    if (space == StateSpace::shared)
      if (const auto row = bytes_of_row(evaluator, address, apart); row && *row >= kLeastOfRow * apart)
        elements = std::min(elements, *row / apart);
    if (space == StateSpace::constant && !evaluator.is_scrambled(address))
      elements = std::min(elements, kTypicalConstants);
    access.scattered = elements * access.bytes;
  }
  return {access};
}

}  // namespace warptime::periods
