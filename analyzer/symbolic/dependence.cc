// What values depend on: kernel arguments, the launch, the thread, data.
#include <algorithm>
#include <cmath>
#include <functional>

#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

// What an instruction's result depends on: `visit` is called with what it reads; the rest is returned.
std::uint8_t Evaluator::instruction_dependence(std::uint32_t instruction,
                                               const std::function<void(ExprId)>& visit) {
  const auto& ins = function_.instructions[instruction];
  const std::uint32_t destinations = ins.info != nullptr ? ins.info->destinations : 1;
  const bool accumulates = ins.info != nullptr && ins.info->is(ptx::accumulates);
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
  if (ins.info != nullptr && ins.info->is(ptx::of_other_threads)) return on_unknown;
  // What lies in a thread's own memory can differ, wherever its address is the same.
  if (ins.info != nullptr && ins.info->category == ptx::Category::load && ins.operand_count == 2) {
    auto space = ptx::space_of(ins);
    if (space == ptx::StateSpace::generic)
      space = space_of_address(address(instruction, 1)).value_or(ptx::StateSpace::global);
    if (space == ptx::StateSpace::local) return on_unknown;
  }
  const bool computes = ins.info != nullptr && (ins.info->category == ptx::Category::arithmetic ||
                                                ins.info->category == ptx::Category::move ||
                                                ptx::space_of(ins) == ptx::StateSpace::param);
  return computes ? on_data : on_data | on_load;
}

void Evaluator::visit_sources_of_phi(std::uint32_t phi, const std::function<void(ExprId)>& visit) {
  if (const auto only = copy_of(phi)) return visit(*only);
  for (const auto value : incoming(phi)) visit(value);
  // The branch that decides on which edge the block is reached.
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

// What a value reaches in one step: parts of an expression that are indirect, what a phi chooses from, what an
// instruction reads.
std::uint8_t Evaluator::direct_dependence(ExprId value, std::vector<ExprId>& next) {
  const auto node = exprs_[value];
  struct Visited {
    const SymbolicExprs& exprs;
    std::vector<ExprId>& next;
    std::uint8_t found;
  } visited{exprs_, next, node.dependence};
  auto& found = visited.found;
  // One reference, so that the function object needs no memory of its own.
  const std::function<void(ExprId)> visit = [&visited](ExprId v) {
    visited.found |= visited.exprs[v].dependence;
    if (visited.exprs[v].indirect) visited.next.push_back(v);
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
    std::size_t first,
        at;  // in `next`: what it reaches, up to the next visit's; and what of that is visited next
  };
  std::vector<Visit> path;
  std::vector<ExprId> next;  // of all on the path
  struct Open {
    ExprId value;
    std::uint8_t found;
  };
  std::vector<Open> open;
  std::uint32_t count = 0;
  const auto enter = [&](ExprId v) {
    Visit visit{v, count, count, 0, next.size(), next.size()};
    visit.found = direct_dependence(v, next);
    if (visit_of_.size() < exprs_.size()) visit_of_.resize(exprs_.size() + exprs_.size() / 2, 0);
    visit_of_[v] = ++count;
    open.push_back({v, 0});
    path.push_back(visit);
  };
  enter(value);
  while (true) {
    auto& top = path.back();
    if (top.at < next.size()) {
      const auto v = next[top.at++];
      if (const auto d = known(v); d != unknown_dependence)
        top.found |= d;
      else if (v < visit_of_.size() && visit_of_[v] != 0)
        top.low = std::min(top.low, visit_of_[v] - 1);
      else
        enter(v);
      continue;
    }
    const auto done = path.back();
    path.pop_back();
    next.resize(done.first);
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

namespace {

// A factor that no size of a row or a structure is.
bool scrambles(std::int64_t factor) {
  constexpr std::uint64_t most = 1 << 20;
  auto odd = static_cast<std::uint64_t>(factor < 0 ? -static_cast<std::uint64_t>(factor) : factor);
  while (odd != 0 && odd % 2 == 0) odd /= 2;
  return odd > most;
}

}  // namespace

bool Evaluator::is_masked_data(ExprId a, ExprId b) {
  const auto is_mask = [](std::uint8_t by) {
    return (by & on_argument) != 0 && (by & ~(on_argument | on_launch)) == 0;
  };
  const auto of_a = dependence(a), of_b = dependence(b);
  return (is_mask(of_a) && (of_b & on_load) != 0) || (is_mask(of_b) && (of_a & on_load) != 0);
}

bool Evaluator::is_scrambled(ExprId value) {
  constexpr std::size_t most_seen = 256;
  constexpr int enough = 2;  // sums without carries
  std::vector<ExprId> next{value}, seen;
  int sums = 0;
  const auto see = [&](ExprId part) {
    if (seen.size() >= most_seen || std::find(seen.begin(), seen.end(), part) != seen.end()) return;
    seen.push_back(part);
    next.push_back(part);
  };
  while (!next.empty()) {
    const ExprId id = next.back();
    next.pop_back();
    const SymbolicExprs::Node node = exprs_[id];
    switch (node.op) {
      case SymbolicOp::sum:
        for (const Term term : exprs_.linear_terms(id)) {
          if (scrambles(term.coefficient)) return true;
          see(term.atom);
        }
        break;
      case SymbolicOp::result: {
        const ptx::Instruction& ins = function_.instructions[node.a];
        if (ins.info != nullptr && ins.info->category != ptx::Category::arithmetic &&
            ins.info->category != ptx::Category::move)
          break;
        const bool product = ptx::has_part(ins.opcode, "mul") || ptx::has_part(ins.opcode, "mad");
        if (ins.opcode.starts_with("xor") && ++sums >= enough) return true;
        if (ins.opcode.starts_with("and.") && ins.operand_count == 3 &&
            is_masked_data(operand(node.a, 1), operand(node.a, 2)))
          return true;
        const std::uint32_t first = ins.info != nullptr ? ins.info->destinations : 1;
        for (std::uint32_t i = first; i < ins.operand_count; ++i) {
          const auto part = operand(node.a, i);
          if (product && ptx::has_part(ins.opcode, "lo") && exprs_.is_constant(part) &&
              scrambles(exprs_[part].number))
            return true;
          see(part);
        }
        break;
      }
      case SymbolicOp::phi:
        for (const ExprId part : incoming(node.a)) see(part);
        break;
      case SymbolicOp::bit_xor:
        if (++sums >= enough) return true;
        see(node.a);
        see(node.b);
        break;
      case SymbolicOp::bit_and:
        if (is_masked_data(node.a, node.b)) return true;
        see(node.a);
        see(node.b);
        break;
      case SymbolicOp::floor_divide:
        // x · M / 2^s, where M is about 2^s / q, is the quotient x / q.
        if (exprs_[node.a].op == SymbolicOp::sum && exprs_.is_constant(node.b)) {
          for (const Term term : exprs_.linear_terms(node.a)) {
            const auto quotient =
                std::abs(static_cast<double>(exprs_[node.b].number) / static_cast<double>(term.coefficient));
            if (quotient < 1 && scrambles(term.coefficient)) return true;
            see(term.atom);
          }
          break;
        }
        [[fallthrough]];
      case SymbolicOp::truncated_divide:
      case SymbolicOp::minimum:
      case SymbolicOp::maximum:
      case SymbolicOp::bit_or:
        see(node.a);
        see(node.b);
        break;
      case SymbolicOp::select:
        see(node.b);
        see(node.c);
        break;
      default:
        break;
    }
  }
  return false;
}

}  // namespace warptime::analysis
