#include "analyzer/periods/block_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

#include "analyzer/periods/classify.h"
#include "analyzer/periods/fragments.h"
#include "analyzer/periods/instruction_class.h"
#include "analyzer/periods/items.h"
#include "analyzer/periods/not_modelled.h"
#include "analyzer/periods/rearrange.h"
#include "analyzer/symbolic/ptx_types.h"

namespace warptime::periods {

using analysis::ExprId;
using analysis::Facts;
using analysis::none;

Diagnostics BlockItems::find_roles() {
  Diagnostics errors;
  NotModelled not_modelled;
  std::int64_t total = 0, modelled = 0;
  out_.roles.resize(function_.instructions.size());
  for (std::uint32_t b = 0; b + 1 < flow_.cfg.blocks.size(); ++b) {
    const auto& block = flow_.cfg.blocks[b];
    if (!block.reachable) continue;
    for (auto i = block.first; i < block.end; ++i) {
      auto& role = out_.roles[i];
      if (!options_.lines.empty() &&
          !options_.lines.contains(options_.ptx_lines ? static_cast<int>(function_.instructions[i].line)
                                                      : notes_.source_line(i)))
        continue;
      role = classify(flow_, b, i, conditions_.naming(), out_.accesses);
      if (role.kind == InstructionRole::Kind::none) continue;
      if (options_.classes && role.kind == InstructionRole::Kind::calculation)
        role.instruction_class = class_of(flow_.code.operands(), function_.instructions[i]);
      ++total;
      not_modelled.look_at(function_.instructions[i]);
      if (const auto* call = flow_.code.opaque_call(i)) not_modelled.look_at_call(call->callee);
      if (role.modelled)
        ++modelled;
      else
        unknown_instruction(i, errors);
    }
  }
  out_.program.instructions_total = total;
  out_.program.instructions_modelled = modelled;
  out_.program.not_modelled = not_modelled.sentences();
  return errors;
}

void BlockItems::unknown_instruction(std::uint32_t i, Diagnostics& errors) {
  constexpr std::size_t most_errors = 20;
  const auto& ins = function_.instructions[i];
  auto diagnostic = notes_.error_about(i, fmt::format("unknown instruction `{}`", ins.opcode),
                                       "--skip-unsupported counts it as one instruction of calculation");
  if (options_.skip_unsupported) {
    diagnostic.hint.clear();
    notes_.warn(std::move(diagnostic));
  } else if (errors.size() < most_errors) {
    errors.push_back(std::move(diagnostic));
  }
}

std::vector<std::uint32_t> BlockItems::order_of(std::uint32_t b) {
  if (options_.rearrange && !options_.detail) {
    if (!uses_) uses_.emplace(flow_);
    return rearranged(flow_, *uses_, b, out_.roles);
  }
  const auto& block = flow_.cfg.blocks[b];
  std::vector<std::uint32_t> order(block.end - block.first);
  std::iota(order.begin(), order.end(), block.first);
  return order;
}

void BlockItems::append_block(std::uint32_t b, std::uint32_t loop, const Facts& facts, Items& items) {
  const auto& block = flow_.cfg.blocks[b];
  std::int64_t run = 0;
  LineSet lines, ptx;
  std::vector<std::uint32_t> made_of;
  std::vector<ChipAccess> on_chip;
  bool barrier = false, floating = false;
  std::int64_t shuffles = 0, matches = 0;
  ExprId named = exprs_.constant(0);  // the threads that the last shuffle named by a register
  std::shared_ptr<InstructionClasses> classes;
  const auto end_run = [&] {
    if (run == 0) return;
    auto detail = detail_of(std::exchange(made_of, {}), std::exchange(on_chip, {}), barrier);
    if (detail) {
      detail->floating = std::exchange(floating, false);
      detail->shuffles = std::exchange(shuffles, 0);
      detail->matches = std::exchange(matches, 0);
    }
    add_instructions(items, run, lines, ptx, std::move(detail), std::exchange(classes, nullptr));
    lines = ptx = {};
    barrier = false;
    run = 0;
  };
  if (items.empty()) {
    // Accesses, and the runs around them: items are large, and moving them takes long.
    const auto accesses = std::count_if(
        out_.roles.begin() + block.first, out_.roles.begin() + block.end, [](const InstructionRole& role) {
          return role.kind == InstructionRole::Kind::load || role.kind == InstructionRole::Kind::store;
        });
    items.reserve(static_cast<std::size_t>(2 * accesses + 1));
  }
  const auto note_part = [&](std::uint32_t i) {
    if (options_.detail) made_of.push_back(i);
  };
  for (const auto i : order_of(b)) {
    const auto& role = out_.roles[i];
    if (role.kind == InstructionRole::Kind::none) {
      // It may still pass a register on: an argument of an inlined call.
      if (flow_.code.silent(i)) note_part(i);
      continue;
    }
    if (role.kind != InstructionRole::Kind::calculation) {
      end_run();
      note_part(i);
      append_memory_access(i, loop, facts, std::exchange(made_of, {}), items);
      continue;
    }
    note_part(i);
    ++run;
    add_class(i, classes);
    if (const auto line = notes_.source_line(i); line > 0) lines.add(line);
    ptx.add(static_cast<int>(function_.instructions[i].line));
    if (options_.detail) {
      std::vector<ChipAccess> accesses = on_chip_.accesses_of(i, loop, facts);
      out_.roles[i].on_chip = !accesses.empty();
      std::move(accesses.begin(), accesses.end(), std::back_inserter(on_chip));
      floating = floating || is_floating_atomic(i);
      out_.roles[i].shuffle = is_shuffle(function_.instructions[i].opcode);
      shuffles += out_.roles[i].shuffle ? 1 : 0;
      matches += out_.roles[i].matches = matches_of(i, named);
      barrier = waits_for_block(function_.instructions[i].opcode);
      if (barrier) end_run();
    }
    if (const auto* call = flow_.code.opaque_call(i)) {
      end_run();
      append_opaque_call(i, *call, items);
    }
  }
  end_run();
  if (!made_of.empty() && !items.empty()) extend_detail(items.back(), detail_of(std::move(made_of)));
}

// Of a match.any, as many values as data typically choose from; of the first shuffle of some threads that a register names, what ptxas
// finds out with one: which of the warp's threads come together, and whether all of these are there
// (data/hardware/h200_match_costs.csv, in which a group of threads adds as much as 2.75 values, and all together 4). `named`: the mask
// of the shuffle before it.
std::int64_t BlockItems::matches_of(std::uint32_t i, ExprId& named) {
  constexpr std::int64_t typical = 8, lanes = 32, most_c = 0x1f;
  constexpr double of_shuffle = 4, of_group = 2.75;
  const auto& one = function_.instructions[i];
  if (ptx::first_word(one.opcode) == "match") return ptx::has_part(one.opcode, "any") ? typical : 0;
  constexpr std::uint32_t width_at = 3, mask_at = 4;
  if (!is_shuffle(one.opcode) || one.operand_count <= mask_at) return 0;
  const ExprId mask = flow_.evaluator.operand(i, mask_at), width = flow_.evaluator.operand(i, width_at);
  if (exprs_.is_constant(mask) || mask == std::exchange(named, mask)) return 0;
  const std::int64_t others = exprs_.is_constant(width) ? exprs_[width].number >> 8 & most_c : 0;
  const std::int64_t groups = lanes / (lanes - others);
  return static_cast<std::int64_t>(of_shuffle + of_group * static_cast<double>(groups));
}

void BlockItems::add_class(std::uint32_t i, std::shared_ptr<InstructionClasses>& classes) const {
  const auto& one = out_.roles[i].instruction_class;
  if (!one) return;
  if (!classes) classes = std::make_shared<InstructionClasses>();
  classes->add(*one);
}

std::shared_ptr<ItemDetail> BlockItems::detail_of(std::vector<std::uint32_t> made_of,
                                                  std::vector<ChipAccess> on_chip, bool barrier) const {
  if (!options_.detail) return nullptr;
  auto detail = std::make_shared<ItemDetail>();
  detail->made_of = std::move(made_of);
  detail->on_chip = std::move(on_chip);
  detail->barrier = barrier;
  return detail;
}

// What a call costs that is not followed: a parameter, which the user gives. What the runtime's functions execute, few
// know and few kernels call for long.
void BlockItems::append_opaque_call(std::uint32_t i, const analysis::OpaqueCall& call, Items& items) {
  if (is_runtime_function(call.callee)) return;
  std::string wanted = "instructions_of_";
  if (call.callee.empty()) wanted += fmt::format("call_at_{}", notes_.place_for_name(i));
  for (const char c : call.callee) wanted += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  const auto what = call.callee.empty() ? fmt::format("the call through a pointer at {}", notes_.place(i))
                                        : fmt::format("`{}`", call.callee);
  const auto name = parameters_.ask_for(
      wanted, fmt::format("instructions that one call of {}, {}, executes", what, call.why));
  if (warned_calls_.insert(name).second) {
    auto warning = notes_.error_about(
        i, fmt::format("{} {} is not followed: give what one call executes as the parameter {}",
                       call.callee.empty() ? "a call" : fmt::format("a call of `{}`,", call.callee),
                       call.why + (call.callee.empty() ? "" : ","), name));
    notes_.warn(std::move(warning));
  }
  const auto guard =
      function_.instructions[i].guard == ptx::no_index ? exprs_.constant(1) : flow_.evaluator.guard(i);
  if (!exprs_.is_constant(guard))
    notes_.assume(i, fmt::format("the call is made where `{}`: taken to hold for some thread of each warp",
                                 conditions_.readable(guard)));
  items.push_back({Instructions{Expression::name(name)}, notes_.source_lines(i), notes_.ptx_lines(i)});
}

// The footprint of each access is found once: where the access is first lowered, which is not in a last
// iteration that is lowered by itself.
void BlockItems::find_footprint(std::uint32_t i, std::uint32_t loop, const Facts& facts) {
  const auto& role = out_.roles[i];
  if (role.operand == none || counters_.in_last_iteration() || !footprints_.insert(i).second) return;
  if (fragment_access(flow_.evaluator, i, role.operand)) return;
  const auto on_data = [&](ExprId expr) {
    return (flow_.evaluator.dependence(expr) & analysis::on_data) != 0;
  };
  const auto& path = conditions_.path();
  if (std::any_of(path.begin(), path.end(), [&](const auto& c) { return on_data(c.condition); })) return;
  auto path_and_guard = path;
  if (function_.instructions[i].guard != ptx::no_index)
    path_and_guard.push_back({conditions_.resolve(flow_.evaluator.guard(i), loop, facts), true});
  auto& access = out_.accesses[role.access];
  const auto address = flow_.loops.resolve(flow_.evaluator.address(i, role.operand), loop);
  const auto bytes =
      analysis::footprint_bytes(flow_.evaluator, flow_.loops, address, flow_.evaluator.block_of(i),
                                access.bytes.value_or(0), path_and_guard);
  if (!bytes) return;
  analysis::Assumptions assumed;
  const auto expression =
      analysis::to_expression(exprs_, facts.simplify(*bytes), conditions_.naming(), &assumed);
  if (expression && !assumed.unsigned_as_signed && !assumed.division_of_not_negative)
    access.footprint = *expression;
}

// Whether the address is without a closed form, but nothing that is loaded decides it.
bool BlockItems::computed_address(std::uint32_t i) {
  const auto operand = out_.roles[i].operand;
  if (operand == none) return false;
  const auto depends = flow_.evaluator.dependence(flow_.evaluator.address(i, operand));
  return (depends & analysis::on_data) != 0 && (depends & analysis::on_load) == 0;
}

bool BlockItems::scrambled_address(std::uint32_t i) {
  const auto operand = out_.roles[i].operand;
  return operand != none && flow_.evaluator.is_scrambled(flow_.evaluator.address(i, operand));
}

bool BlockItems::is_floating_atomic(std::uint32_t i) const {
  const auto& ins = function_.instructions[i];
  if (ins.info == nullptr ||
      (ins.info->category != ptx::Category::atomic && ins.info->category != ptx::Category::reduction))
    return false;
  const std::string_view type =
      analysis::last_word(ins.opcode);  // of `red.global.add.f32`, `atom.add.noftz.bf16x2`
  return type.starts_with("f") || type.starts_with("bf");
}

// The requests of a fragment of a matrix; nothing: it is one access.
Items BlockItems::requests_of(std::uint32_t i, std::uint32_t loop, const Facts& facts,
                              const MemoryAccess& whole, const std::vector<std::uint32_t>& made_of) {
  const auto operand = out_.roles[i].operand;
  if (!options_.detail || operand == none || function_.instructions[i].guard != ptx::no_index) return {};
  const auto fragment = fragment_access(flow_.evaluator, i, operand);
  if (!fragment) return {};
  Items items;
  const auto requests = static_cast<std::int64_t>(fragment->addresses.size());
  const auto array = arrays_.name_of(flow_.evaluator.address(i, operand), loop);
  for (const auto address : fragment->addresses) {
    MemoryAccess access = whole;
    access.bytes = fragment->bytes;
    if (access.sectors) access.sectors = *access.sectors / requests;
    access.continues = !items.empty();
    access.address = conditions_.place_in_array(address, loop, facts);
    access.array = array;
    auto detail = detail_of(items.empty() ? made_of : std::vector{i});
    detail->near = !access.address && computed_address(i);
    Item item{std::move(access), notes_.source_lines(i), notes_.ptx_lines(i)};
    item.detail = std::move(detail);
    items.push_back(std::move(item));
  }
  return items;
}

std::optional<RowOfData> BlockItems::row_of(std::uint32_t i, std::uint32_t loop, const Facts& facts) {
  const auto operand = out_.roles[i].operand;
  if (operand == none) return std::nullopt;
  auto chosen = conditions_.row_of_data(flow_.evaluator.address(i, operand), loop, facts);
  if (!chosen) return std::nullopt;
  chosen->row.by = arrays_.name_of(chosen->chosen_by, chosen->loop);
  return std::move(chosen->row);
}

// A guarded access whose guard depends on arguments alone is a condition: where it does not hold, one
// instruction is issued.
void BlockItems::append_memory_access(std::uint32_t i, std::uint32_t loop, const Facts& facts,
                                      std::vector<std::uint32_t> made_of, Items& items) {
  find_footprint(i, loop, facts);
  MemoryAccess access = out_.accesses[out_.roles[i].access];
  if (Items requests = requests_of(i, loop, facts, access, made_of); !requests.empty()) {
    std::move(requests.begin(), requests.end(), std::back_inserter(items));
    return;
  }
  if (const auto operand = out_.roles[i].operand; operand != none) {
    const auto address = flow_.evaluator.address(i, operand);
    access.address = conditions_.place_in_array(address, loop, facts);
    if (options_.detail) access.array = arrays_.name_of(address, loop);
  }
  auto detail = detail_of(std::move(made_of));
  if (detail) {
    detail->random = !access.address && !is_atomic(access) && scrambled_address(i);
    if (!access.address && !detail->random) {
      detail->near = !is_atomic(access) && computed_address(i);
      if (!detail->near) detail->row = row_of(i, loop, facts);
    }
    detail->floating = is_floating_atomic(i);
    detail->read_only = ptx::has_part(function_.instructions[i].opcode, "nc");
  }
  Item item{std::move(access), notes_.source_lines(i), notes_.ptx_lines(i)};
  item.detail = std::move(detail);
  if (function_.instructions[i].guard == ptx::no_index) {
    items.push_back(std::move(item));
    return;
  }
  const auto guard = conditions_.resolve(flow_.evaluator.guard(i), loop, facts);
  Items skipped;
  add_instructions(skipped, 1, notes_.source_lines(i), notes_.ptx_lines(i), item.detail);
  if (exprs_.is_constant(guard)) {
    if (exprs_[guard].number != 0)
      items.push_back(std::move(item));
    else
      append(items, std::move(skipped));
    return;
  }
  if (conditions_.uniform(guard))
    if (auto expression = conditions_.expression_of(guard, i)) {
      items.push_back({When{*expression, {std::move(item)}, std::move(skipped)}, notes_.source_lines(i),
                       notes_.ptx_lines(i)});
      return;
    }
  notes_.assume(i, fmt::format("the access is made where `{}`: taken to hold for some thread of each warp",
                               conditions_.readable(guard)));
  if (auto threads = conditions_.of_threads(guard)) {
    item.threads = std::move(*threads);
  } else {
    item.shares.push_back(parameters_.ask_for_share(
        fmt::format("accessed_at_{}", notes_.place_for_name(i)),
        fmt::format("share of the warps of which some thread makes the access at {}: data decide `{}`",
                    notes_.place(i), conditions_.readable(guard)),
        1, static_cast<int>(function_.instructions[i].line)));
  }
  item.predicated = true;
  items.push_back(std::move(item));
}

}  // namespace warptime::periods
