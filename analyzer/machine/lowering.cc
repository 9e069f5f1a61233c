#include "analyzer/machine/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/machine/address_forms.h"
#include "analyzer/machine/live_values.h"
#include "analyzer/machine/logic_cover.h"
#include "analyzer/machine/matrix_work.h"
#include "analyzer/machine/operand_registers.h"
#include "analyzer/machine/result_latencies.h"
#include "analyzer/machine/source_loops.h"
#include "analyzer/ptx/matrix_operation.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

using analysis::none;
using ptx::Category;
using ptx::Instruction;
using ptx::no_index;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

// Machine instructions that ptxas predicates, and does not branch over: nvcc 13.0 with bodies of growing length, and with two
// sides. Loads of global memory, whose latency others can hide, raise the limit: those behind a branch and those where its ways
// meet.
constexpr double kMostPredicated = 8, kMostPredicatedWithLoads = 20;
constexpr double kMostOfBothSides = 12, kMostOfBothSidesWithLoads = 18;
constexpr std::int64_t kLongestOffset = 1 << 23;   // bytes: of an access
constexpr int kUnrolledTimes = 4;                  // iterations
constexpr std::int64_t kMostUnrolledWhole = 3000;  // instructions
// Of loops with branches: instructions, and iterations. ptxas left copies alone of 8 such loops of tests/development, with 3 to 16
// iterations and at most 900 instructions but for one; it kept 12 that are longer, but for three.
constexpr double kMostWithBranches = 900, kMostTimesWithBranches = 32;
constexpr double kMostUnrolledWork = 43, kMostUnrolledWithBarrier = 58;  // machine instructions
constexpr double kMostUnrolledWithoutLoads = 22;
// ptxas leaves no loop of a constant number of iterations whose copies have at most so many machine instructions, times the
// share of an iteration's that vanish in them. From loops of 1 to 60 multiply-adds, with a load and without, with and without
// sums of the counter alone: 6,300 to 11,000 (docs/counters.md).
constexpr double kMostWholeByShare = 8000;
constexpr double kDivisionEntry = 24;  // instructions that find out how many iterations a loop has
// Of loops whose iterations are a multiple of four, so that nothing is left over.
constexpr double kMostUnrolledExactly = 77, kMostLoadsExactly = 24;
constexpr double kUnrolledEntry = 6;  // instructions that decide which copies are executed

MachineWork work_of(Pipe pipe, double count = 1) {
  MachineWork work;
  work[pipe] = count;
  return work;
}

// Machine instructions of operations that the tables' lines of single operations (alone_costs.h) do not have. The first line
// whose words an opcode has counts.
struct FixedCost {
  std::string_view operation;  // its first words
  std::string_view type;       // its end
  Pipe pipe;
  double count;
};
constexpr std::array<FixedCost, 36> kFixedCosts = {{
    {"abs", "s32", Pipe::alu, 1},
    {"neg", "s32", Pipe::alu, 1},
    {"neg", "s64", Pipe::alu, 2},
    {"min", "s16", Pipe::alu, 1},
    {"min", "u16", Pipe::alu, 1},
    {"max", "s16", Pipe::alu, 1},
    {"max", "u16", Pipe::alu, 1},
    {"bfe", "32", Pipe::alu, 2},
    {"prmt", "b32", Pipe::alu, 1},
    {"shf", "b32", Pipe::alu, 1},
    {"lop3", "b32", Pipe::alu, 1},
    {"mul.lo", "s16", Pipe::fma, 1},
    {"mul.lo", "u16", Pipe::fma, 1},
    {"bfi", "b32", Pipe::alu, 1.5},
    {"mad.lo", "s64", Pipe::fma, 4},
    {"mad.lo", "u64", Pipe::fma, 4},
    {"add", "16", Pipe::alu, 1},
    {"sub", "16", Pipe::alu, 1},
    {"and", "b16", Pipe::alu, 1},
    {"or", "b16", Pipe::alu, 1},
    {"xor", "b16", Pipe::alu, 1},
    {"setp", "s16", Pipe::alu, 1},
    {"setp", "u16", Pipe::alu, 1},
    {"shl", "b64", Pipe::alu, 2},
    {"shr", "64", Pipe::alu, 2},
    {"cvt.f32", "f16", Pipe::fp16, 1},
    {"cvt.s32", "s8", Pipe::alu, 1},
    {"cvt.s32", "s16", Pipe::alu, 1},
    {"cvt.u64", "u16", Pipe::alu, 1},
    {"red.global", "", Pipe::lsu, 1},
    {"cp.async.cg.shared.global", "", Pipe::lsu, 4},
    {"cp.async.ca.shared.global", "", Pipe::lsu, 4},
    {"atom.shared.add", "f32", Pipe::lsu, 7},
    {"atom.shared.add", "f64", Pipe::lsu, 8},
    {"abs", "s64", Pipe::alu, 5},
    {"sad", "32", Pipe::alu, 1},
}};
// Quotients and remainders of integers: the first by a divisor, another by the same one, and another of the
// same dividend, too.
struct DivisionCost {
  std::string_view operation;
  std::string_view type;
  double first, again, both;
};
// From the divisor to its reciprocal: two conversions, MUFU, and three instructions between them.
constexpr double kReciprocalCycles = 3 * kXuLatency + 3 * 4.5;
// The upper 64 bits of a product whose lower ones are made, too.
constexpr double kUpperHalf = 3;

constexpr std::array<DivisionCost, 8> kDivisionCosts = {{
    {"div", "s32", 24, 13, 8},
    {"div", "u32", 18, 10, 4},
    {"rem", "s32", 22, 11, 8},
    {"rem", "u32", 17, 9, 4},
    {"div", "s64", 88, 88, 84},
    {"div", "u64", 72, 72, 68},
    {"rem", "s64", 82, 82, 84},
    {"rem", "u64", 68, 68, 68},
}};

// Of a `bfi`, the shift; ptxas makes none where the field begins at bit 0.
constexpr double kBfiShift = 0.5;
// ptxas gives what either pipe can do to the one that has less to do in the block. Of what 52 programs of tests/development have of
// it, the FMA pipe has 0.73 of the shifts and 0.75 of the negations in blocks of which it has a quarter at most, 0.62 of the
// shifts where it has less than half, and 0.2 of them elsewhere. Blocks with fewer instructions on both pipes stay as they are.
constexpr double kFewToBalance = 6;
// What the FMA pipe has of one kind, in blocks of which the ALU would have more than 0.75, more than half, or less.
struct FmaShares {
  double most = 0, half = 0, less = 0;
  double of(double share_of_alu) const {
    return share_of_alu > 0.75 ? most : share_of_alu > 0.5 ? half : less;
  }
};
constexpr FmaShares kShifts{0.75, 0.6, 0.3};
// Sums of the same programs, but for those of families that are kept apart: of two registers (IADD3, IMAD.IADD or VIADD), of a
// register and a constant (IADD3 or VIADD) or a parameter, of what a shift by a constant makes and another (LEA, or IMAD), and
// of three (IADD3, or an IMAD and another sum). VIADD, which Hopper has, is on the FMA pipe: of 224 kernels without loops the
// counters of both pipes say so (docs/counters.md). What a shift to the right makes is added by LEA.HI.
constexpr FmaShares kSums{0.7, 0.8, 0.2}, kSumsWithConstant{0.7, 0.63, 0.33},
    kSumsWithParameter{0.35, 0.65, 0.4}, kShiftedSums{0.2, 0.4, 0.35}, kSumsOfThree{0.05, 0.15, 0.45}, kOnAlu;

// Whether an opcode has these first words, and this end.
bool is_of(std::string_view opcode, std::string_view operation, std::string_view type) {
  return opcode.starts_with(operation) && opcode.ends_with(type) &&
         (opcode.size() == operation.size() || opcode[operation.size()] == '.');
}

// What nvcc computes of the addresses in a loop.
struct Pointers {
  double stepping = 0;                        // pointers to which a constant is added
  double entry = 0;                           // machine instructions before the loop
  bool overflows = false;                     // an index without sign may
  double indices_each = 0, indices_once = 0;  // LLVM's instructions for indices: of all copies, of one
};

// How an instruction reads a register.
struct Use {
  std::uint32_t instruction = 0;
  std::uint32_t operand = 0;
  bool as_address = false;
};

class Lowering {
 public:
  Lowering(const analysis::KernelCode& code, const analysis::Cfg& cfg, const Contexts& contexts,
           const std::vector<bool>& slow, const CostTable& table, int target)
      : function_(code.function()),
        operands_(code.operands()),
        code_(code),
        cfg_(cfg),
        contexts_(contexts),
        slow_(slow),
        loops_(contexts.loops()),
        table_(table),
        target_(target),
        values_(code, cfg) {
    made_.each.resize(function_.instructions.size());
    made_.loops.resize(cfg.loops.size());
    means_.resize(function_.instructions.size());
  }

  Estimate lower() {
    is_of_nvcc_ = code_.module().text.substr(0, 300).find("NVVM") != std::string_view::npos;
    note_definitions();
    pointers_.resize(cfg_.loops.size());
    if (!is_of_nvcc_) note_addresses();
    note_live();
    note_varying();
    predicated_.assign(cfg_.blocks.size(), false);
    note_narrow();
    note_calls();
    note_latches();
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      calls_ = calls_ || (live_[i] && !code_.silent(i) && is_call(function_.instructions[i]));
    note_folded();
    note_folded();
    note_wide_loads();
    lower_blocks();  // to see how long they are
    note_predicated();
    made_in_.clear();
    made_.each.assign(function_.instructions.size(), {});
    made_.loops.assign(cfg_.loops.size(), {});
    lower_blocks();
    for (const auto& block : cfg_.blocks) balance_pipes(block.first, block.end);
    made_.once[Pipe::cbu] += 1;                     // EXIT
    if (target_ >= 90) made_.once[Pipe::adu] += 1;  // LDC R1, the stack
    if (target_ < 90) made_.once[Pipe::fma] += 1;   // MOV R1
    for (std::uint32_t loop = 0; loop < cfg_.loops.size(); ++loop) lower_loop(loop);
    note_branches();
    return std::move(made_);
  }

 private:
  // ---- who defines and reads what

  template <typename Visit>
  void visit_registers(const Operand& operand, bool in_address, const Visit& visit) const {
    machine::visit_registers(operands_, uses_.size(), operand, in_address, visit);
  }

  void note_definitions() {
    uses_.resize(function_.registers.size());
    definitions_.resize(function_.registers.size());
    block_of_.assign(function_.instructions.size(), none);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (slow_[b] || !cfg_.blocks[b].reachable) continue;
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) block_of_[i] = b;
    }
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      if (block_of_[i] == none) continue;
      const Instruction& one = function_.instructions[i];
      const std::uint32_t written = destinations(one);
      for (std::uint32_t o = 0; o < one.operand_count; ++o)
        visit_registers(operands_[one.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
          if (o < written && !in_address) definitions_[reg].push_back(i);
        });
    }
  }

  bool has_effect(const Instruction& one) const {
    if (one.info == nullptr) return true;
    if (one.info->is(ptx::of_other_threads) || ptx::has_part(one.opcode, "volatile")) return true;
    return one.info->category != Category::arithmetic && one.info->category != Category::move &&
           one.info->category != Category::load;
  }

  void note_live() {
    live_.assign(function_.instructions.size(), false);
    std::vector<std::uint32_t> work;
    const auto mark = [&](std::uint32_t i) {
      if (!live_[i]) live_[i] = true, work.push_back(i);
    };
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (block_of_[i] != none && has_effect(function_.instructions[i])) mark(i);
    while (!work.empty()) {
      const std::uint32_t i = work.back();
      work.pop_back();
      const Instruction& one = function_.instructions[i];
      const std::uint32_t written = destinations(one);
      const auto read = [&](std::uint32_t reg, std::uint32_t operand, bool in_address) {
        uses_[reg].push_back({i, operand, in_address});
        for (const std::uint32_t made : definitions_[reg]) mark(made);
      };
      const bool accumulates = one.info != nullptr && one.info->is(ptx::accumulates);
      const auto placed = address_inputs_.find(i);
      if (placed != address_inputs_.end())
        for (const std::uint32_t reg : placed->second) read(reg, no_index, true);
      for (std::uint32_t o = 0; o < one.operand_count; ++o) {
        if (placed != address_inputs_.end() && operand(i, o).kind == Kind::address) continue;
        visit_registers(operands_[one.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
          if (o >= written || in_address || accumulates) read(reg, o, in_address);
        });
      }
      if (one.guard != no_index)
        visit_registers(operands_[one.guard], false,
                        [&](std::uint32_t reg, bool) { read(reg, no_index, false); });
    }
  }

  const Operand& operand(std::uint32_t i, std::uint32_t o) const {
    return operands_[function_.instructions[i].first_operand + o];
  }
  std::string_view opcode(std::uint32_t i) const { return function_.instructions[i].opcode; }
  ptx::FirstWord first(std::uint32_t i) const { return ptx::first_word(function_.instructions[i]); }
  bool is_guarded(std::uint32_t i) const { return function_.instructions[i].guard != no_index; }

  // The instruction that alone defines what operand `o` reads; no_index: none or several.
  std::uint32_t definition(std::uint32_t i, std::uint32_t o) const {
    if (o >= function_.instructions[i].operand_count) return no_index;
    return definition_of(operand(i, o));
  }
  std::uint32_t definition_of(const Operand& read) const {
    if (read.kind != Kind::reg || read.symbol >= definitions_.size()) return no_index;
    if (definitions_[read.symbol].size() != 1) return no_index;
    const std::uint32_t made = definitions_[read.symbol].front();
    return is_guarded(made) ? no_index : made;
  }
  std::uint32_t result_of(std::uint32_t i) const {
    const Instruction& one = function_.instructions[i];
    if (one.operand_count == 0 || destinations(one) == 0) return no_index;
    const Operand& to = operands_[one.first_operand];
    return to.kind == Kind::reg && to.symbol < uses_.size() ? to.symbol : no_index;
  }
  // Whether its result is only its own.
  bool is_only_definition(std::uint32_t i) const {
    const std::uint32_t to = result_of(i);
    return to != no_index && definitions_[to].size() == 1 && !is_guarded(i);
  }
  template <typename Test>
  bool all_uses(std::uint32_t i, const Test& test) const {
    const std::uint32_t to = result_of(i);
    return to != no_index && !uses_[to].empty() && std::all_of(uses_[to].begin(), uses_[to].end(), test);
  }
  std::size_t use_count(std::uint32_t i) const {
    const std::uint32_t to = result_of(i);
    return to == no_index ? 0 : uses_[to].size();
  }

  bool is_constant(const Operand& read) const { return constant_of(read) != nullptr; }
  // Through moves.
  const Operand* constant_of(const Operand& read, int steps = 0) const {
    if (read.kind == Kind::integer || read.kind == Kind::floating) return &read;
    const std::uint32_t made = definition_of(read);
    if (made == no_index || steps > 4 || first(made) != "mov" ||
        function_.instructions[made].operand_count != 2)
      return nullptr;
    return constant_of(operand(made, 1), steps + 1);
  }
  bool is_zero(const Operand& read) const {
    const Operand* constant = constant_of(read);
    return constant != nullptr && constant->value == 0;
  }

  bool is_integer(std::uint32_t i, std::string_view width) const {
    const std::string_view all = opcode(i);
    if (!all.ends_with(width) || all.size() <= width.size()) return false;
    const char type = all[all.size() - width.size() - 1];
    return type == 's' || type == 'u' || type == 'b';
  }
  bool is_sum(std::uint32_t i, std::string_view width) const {
    return (first(i) == "add" || first(i) == "sub") && is_integer(i, width);
  }

  // ---- addresses as nvcc computes them

  // clang computes many addresses anew where nvcc has an offset from another, or a pointer that steps with the
  // loop; its PTX is estimated as nvcc's.
  void note_addresses() {
    AddressForms forms(code_, cfg_, definitions_);
    std::map<AddressKey, std::vector<std::pair<std::uint32_t, std::int64_t>>> bases;
    std::set<std::pair<std::uint32_t, AddressKey>> pointers;
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (slow_[b] || !cfg_.blocks[b].reachable) continue;
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        const std::uint32_t reg = address_register(i);
        if (reg == no_index) continue;
        if (!becomes_pointer(i, reg, forms, pointers)) become_offset(i, reg, forms, bases);
      }
    }
  }
  using AddressKey = std::vector<std::pair<std::uint32_t, std::int64_t>>;

  std::uint32_t address_register(std::uint32_t i) const {
    const auto space = ptx::space_of(function_.instructions[i]);
    if (space != ptx::StateSpace::global && space != ptx::StateSpace::generic &&
        space != ptx::StateSpace::shared)
      return no_index;
    return base_register(i);
  }

  // Of the address that an access names, in whatever state space.
  std::uint32_t base_register(std::uint32_t i) const {
    for (std::uint32_t o = 0; o < function_.instructions[i].operand_count; ++o) {
      const Operand& address = operand(i, o);
      if (address.kind != Kind::address || address.part_count != 1) continue;
      const Operand& base = operands_[address.first_part];
      return base.kind == Kind::reg && base.symbol < uses_.size() ? base.symbol : no_index;
    }
    return no_index;
  }

  // An address that grows by the same in each iteration: the pointer's step is all that nvcc executes for it.
  bool becomes_pointer(std::uint32_t i, std::uint32_t reg, AddressForms& forms,
                       std::set<std::pair<std::uint32_t, AddressKey>>& pointers) {
    const std::uint32_t loop = cfg_.blocks[block_of_[i]].loop;
    if (loop == none) return false;
    std::set<std::uint32_t> inputs;
    if (!is_computed_in(loop, reg, inputs, 0)) return false;
    const AddressForm form = forms.of(reg);
    const auto step = forms.step_of(form, loop);
    if (!step) return false;
    if (!step->is_constant()) {
      const bool overflows = forms.is_unsigned(reg);
      pointers_[loop].overflows = pointers_[loop].overflows || overflows;
      // Where the counter itself steps by so many elements, nvcc computes the address from it.
      if (overflows || !contexts_.steps(loop)) return false;
    }
    address_inputs_[i].assign(inputs.begin(), inputs.end());
    if (!pointers.emplace(loop, form.terms).second) return true;
    Pointers& of = pointers_[loop];
    of.entry += 1;
    if (!step->is_constant()) {
      address_work_[i] = forms.steps_wide(form, *step, loop) ? 2 : 1;
      of.indices_each += 2;
    } else if (step->constant != 0) {
      of.stepping += 1;
      of.indices_once += 1;
    }
    return true;
  }

  // Whether instructions of the loop compute it; inputs: the registers that they read from outside.
  bool is_computed_in(std::uint32_t loop, std::uint32_t reg, std::set<std::uint32_t>& inputs,
                      int depth) const {
    if (depth > 12) return false;
    const bool inside = std::any_of(definitions_[reg].begin(), definitions_[reg].end(),
                                    [&](std::uint32_t made) { return is_inside(made, loop); });
    if (!inside) {
      inputs.insert(reg);
      return false;
    }
    if (definitions_[reg].size() != 1) return false;
    const std::uint32_t made = definitions_[reg].front();
    for (std::uint32_t o = 1; o < function_.instructions[made].operand_count; ++o)
      if (operand(made, o).kind == Kind::reg && operand(made, o).symbol < uses_.size())
        is_computed_in(loop, operand(made, o).symbol, inputs, depth + 1);
    return true;
  }

  // An address at a constant distance from one that is computed anyway.
  void become_offset(std::uint32_t i, std::uint32_t reg, AddressForms& forms,
                     std::map<AddressKey, std::vector<std::pair<std::uint32_t, std::int64_t>>>& bases) {
    const AddressForm& form = forms.of(reg);
    auto& others = bases[form.terms];
    const bool changes = forms.changes(form);
    for (const auto& [other, constant] : others) {
      const bool same_block = block_of_[other] == block_of_[i];
      if (!same_block && (changes || !cfg_.dominates(block_of_[other], block_of_[i]))) continue;
      if (std::abs(constant - form.constant) >= kLongestOffset) continue;
      if (address_register(other) != reg) address_inputs_[i];
      return;
    }
    others.emplace_back(i, form.constant);
  }

  // ---- what differs between the threads of a warp

  void note_varying() {
    varying_.assign(uses_.size(), false);
    std::vector<std::uint32_t> work;
    const auto mark_results = [&](std::uint32_t i) {
      const Instruction& one = function_.instructions[i];
      for (std::uint32_t o = 0; o < destinations(one); ++o)
        visit_registers(operands_[one.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
          if (!in_address && !varying_[reg]) varying_[reg] = true, work.push_back(reg);
        });
    };
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (live_[i] && is_source_of_varying(function_.instructions[i])) mark_results(i);
    while (!work.empty()) {
      const std::uint32_t reg = work.back();
      work.pop_back();
      for (const Use& use : uses_[reg]) mark_results(use.instruction);
    }
  }

  bool is_source_of_varying(const Instruction& one) const {
    if (one.info == nullptr || one.info->is(ptx::of_other_threads)) return true;
    if (one.info->category == Category::load) return ptx::space_of(one) != ptx::StateSpace::param;
    if (one.info->category == Category::atomic || one.info->category == Category::call) return true;
    for (std::uint32_t o = 0; o < one.operand_count; ++o) {
      const Operand& read = operands_[one.first_operand + o];
      if (read.kind == Kind::special && (read.text.starts_with("%tid") || read.text.starts_with("%lane") ||
                                         read.text.starts_with("%clock")))
        return true;
    }
    return false;
  }

  bool is_varying(const Operand& read) const {
    return read.kind == Kind::reg && read.symbol < varying_.size() && varying_[read.symbol];
  }

  // ---- branches

  std::uint32_t branch_of(std::uint32_t b) const {
    const analysis::Block& block = cfg_.blocks[b];
    if (block.end == block.first) return no_index;
    const Instruction& last = function_.instructions[block.end - 1];
    return last.info != nullptr && last.info->category == Category::branch ? block.end - 1 : no_index;
  }

  // Nothing but the kernel's end.
  bool is_end(std::uint32_t b) const {
    const analysis::Block& block = cfg_.blocks[b];
    if (block.end == block.first) return b == cfg_.exit();
    const Instruction& last = function_.instructions[block.end - 1];
    return block.end - block.first == 1 && last.info != nullptr && last.info->category == Category::exit;
  }

  // Whether a block can be predicated: without calls, barriers, atomics, what reads other threads' values, and operations that
  // are branches themselves.
  bool is_simple(std::uint32_t b) const {
    for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
      const Instruction& one = function_.instructions[i];
      if (!live_[i] || code_.silent(i)) continue;
      if (one.info == nullptr || one.info->is(ptx::of_other_threads)) return false;
      if (one.info->is(ptx::slow) && !ptx::has_part(one.opcode, "approx") &&
          !ptx::has_part(one.opcode, "full"))
        return false;
      const Category category = one.info->category;
      if (category == Category::barrier || category == Category::call || category == Category::exit ||
          category == Category::atomic || category == Category::reduction)
        return false;
    }
    return true;
  }
  bool loads_global(std::uint32_t b) const {
    const analysis::Block& block = cfg_.blocks[b];
    return std::any_of(function_.instructions.begin() + block.first,
                       function_.instructions.begin() + block.end, [](const Instruction& one) {
                         return one.info != nullptr && one.info->category == Category::load && is_global(one);
                       });
  }
  // Of a side of a branch, without the jump over the other side.
  double work_of_side(std::uint32_t b) const {
    const bool jumps = branch_of(b) != no_index && !is_guarded(branch_of(b));
    const std::uint32_t end = cfg_.blocks[b].end - (jumps ? 1 : 0);
    double work = 0;
    for (std::uint32_t i = cfg_.blocks[b].first; i < end; ++i) work += made_.each[i].total();
    return work;
  }

  // Where a block leads that only branches.
  std::uint32_t through(std::uint32_t b) const {
    return is_only_branch(b) ? cfg_.blocks[b].successors[0] : b;
  }
  bool is_only_branch(std::uint32_t b) const {
    const analysis::Block& block = cfg_.blocks[b];
    return block.end - block.first == 1 && branch_of(b) != no_index && !is_guarded(block.first) &&
           block.successors.size() == 1;
  }

  // The only block whose branch leads to `b`, there or to a block that only branches to `b`; none: there are several.
  std::uint32_t branching_to(std::uint32_t b) const {
    const auto only_entry = [&](std::uint32_t of) {
      const auto& entries = cfg_.blocks[of].predecessors;
      return entries.size() == 1 ? entries.front() : none;
    };
    const std::uint32_t entry = only_entry(b);
    return entry != none && is_only_branch(entry) ? only_entry(entry) : entry;
  }
  // Whether global memory is loaded where the ways of a branch meet, in this block or in those that follow it without another
  // way in or out, once short branches are predicated.
  bool loads_behind(std::uint32_t b) const {
    const std::uint32_t loop = cfg_.blocks[b].loop;
    for (std::size_t steps = 0; steps < cfg_.blocks.size(); ++steps) {
      if (loads_global(b)) return true;
      const auto& successors = cfg_.blocks[b].successors;
      std::uint32_t next = none;
      if (predicated_[b])
        next = cfg_.blocks[b].post_dominator;
      else if (successors.size() == 1 && cfg_.blocks[successors[0]].predecessors.size() == 1)
        next = successors[0];
      if (next == none || next <= b || cfg_.blocks[next].loop != loop) return false;
      b = next;
    }
    return false;
  }

  // Short branches are predicated: `if (p) x`, and `if (p) x else y`.
  void note_predicated() {
    // From the end on, since what is behind a branch counts.
    for (auto b = static_cast<std::uint32_t>(cfg_.blocks.size()); b-- > 0;) {
      const analysis::Block& block = cfg_.blocks[b];
      if (block_is_dead(b) || block.successors.size() != 2 || branch_of(b) == no_index) continue;
      const std::uint32_t taken = through(block.successors[0]), next = through(block.successors[1]);
      const auto is_side = [&](std::uint32_t body, std::uint32_t to) {
        return branching_to(body) == b && cfg_.blocks[body].successors.size() == 1 &&
               cfg_.blocks[body].successors[0] == to && cfg_.blocks[body].loop == block.loop &&
               is_simple(body);
      };
      const auto loads = [&](std::uint32_t body, std::uint32_t to) {
        return loads_global(body) || (cfg_.blocks[to].loop == block.loop && to > b && loads_behind(to));
      };
      const auto skips = [&](std::uint32_t body, std::uint32_t to) {
        return is_side(body, to) &&
               work_of_side(body) <= (loads(body, to) ? kMostPredicatedWithLoads : kMostPredicated);
      };
      if (is_end(taken)) continue;
      if (skips(next, taken)) {
        predicated_[b] = true;
        short_.insert(next);
      } else if (skips(taken, next)) {
        predicated_[b] = true;
        short_.insert(taken);
      } else if (cfg_.blocks[next].successors.size() == 1 && cfg_.blocks[taken].successors.size() == 1 &&
                 cfg_.blocks[next].successors[0] == cfg_.blocks[taken].successors[0]) {
        const std::uint32_t to = cfg_.blocks[next].successors[0];
        const bool with_loads = loads(next, to) || loads_global(taken);
        if (!skips(next, to) || !skips(taken, to) ||
            work_of_side(next) + work_of_side(taken) >
                (with_loads ? kMostOfBothSidesWithLoads : kMostOfBothSides))
          continue;
        predicated_[b] = true;
        short_.insert(next), short_.insert(taken);
      }
    }
  }
  bool block_is_dead(std::uint32_t b) const { return slow_[b] || !cfg_.blocks[b].reachable; }

  // ---- what becomes part of other instructions

  void note_folded() {
    folded_.resize(function_.instructions.size());
    std::vector<std::uint8_t> absorbed(function_.instructions.size());
    absorbs_.swap(absorbed);
    absorbs_.assign(function_.instructions.size(), 0);
    note_logic();
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (live_[i]) folded_[i] = folds(i);
  }

  // Takes one operand in for each of the readers of `i`; at most `most` for each.
  bool absorb_in_all(std::uint32_t i, int most = 1) {
    const std::uint32_t to = result_of(i);
    for (const Use& use : uses_[to])
      if (absorbs_[use.instruction] >= most) return false;
    for (const Use& use : uses_[to]) ++absorbs_[use.instruction];
    return true;
  }

  // Whether halves of a register are taken apart for what cannot select them, as half-precision can.
  bool takes_halves(std::uint32_t i) const {
    const Operand& parts = operand(i, 0);
    if (opcode(i) != "mov.b32" || parts.kind != Kind::vector) return opcode(i) == "mov.b32";
    for (std::uint32_t p = 0; p < parts.part_count; ++p) {
      const Operand& part = operands_[parts.first_part + p];
      if (part.kind != Kind::reg || part.symbol >= uses_.size()) continue;
      for (const Use& use : uses_[part.symbol])
        if (opcode(use.instruction).find("f16") == std::string_view::npos ||
            opcode(use.instruction).find("bf16") != std::string_view::npos)
          return true;
    }
    return false;
  }

  // `bfe.u32 x, 8, 8`, or `bfi.b32 x, y, 8, 8`: a byte or half of a register, which is one PRMT.
  bool is_part_of_register(std::uint32_t i, std::uint64_t bits) const {
    const bool inserts = opcode(i) == "bfi.b32";
    if (!inserts && opcode(i) != "bfe.u32") return false;
    const std::uint32_t at = inserts ? 3 : 2;
    const Operand *first_bit = constant_of(operand(i, at)), *length = constant_of(operand(i, at + 1));
    return first_bit != nullptr && length != nullptr && length->value == bits && first_bit->value % bits == 0;
  }
  bool is_part_of_register(std::uint32_t i) const {
    return is_part_of_register(i, 8) || is_part_of_register(i, 16);
  }
  // `x & 255` of such a byte.
  bool keeps_byte(std::uint32_t i) const {
    const Operand* mask = constant_of(operand(i, 2));
    if (mask == nullptr || mask->value != 255 || function_.instructions[i].operand_count != 3) return false;
    std::uint32_t made = definition(i, 1);
    if (made != no_index && opcode(made) == "cvt.u16.u32") made = definition(made, 1);
    return made != no_index && opcode(made) == "bfe.u32" && is_part_of_register(made, 8);
  }

  bool folds(std::uint32_t i) {
    const ptx::FirstWord name = first(i);
    const std::string_view all = opcode(i);
    const Instruction& one = function_.instructions[i];
    if (code_.silent(i)) return true;
    if (all.starts_with("ld.param") || name == "cvta") return true;
    if (name == "and" && keeps_byte(i)) return true;
    if (!is_only_definition(i)) {
      // Registers of a pair, and the pair.
      return name == "mov" && one.operand_count == 2 && !is_guarded(i) &&
             (operand(i, 0).kind == Kind::vector || operand(i, 1).kind == Kind::vector) && !takes_halves(i);
    }
    if (name == "mov") {
      const Kind kind = one.operand_count == 2 ? operand(i, 1).kind : Kind::text;
      if (kind == Kind::vector && all == "mov.b32") return false;
      return kind == Kind::integer || kind == Kind::floating || kind == Kind::reg || kind == Kind::vector ||
             kind == Kind::symbol || kind == Kind::sum || kind == Kind::special;
    }
    if ((name == "neg" || name == "abs") && (all.ends_with(".f32") || all.ends_with(".f64")))
      return all_uses(i, [&](const Use& use) {
        const Instruction& reader = function_.instructions[use.instruction];
        return reader.info != nullptr && reader.info->category == Category::arithmetic &&
               (reader.opcode.ends_with(".f32") || reader.opcode.ends_with(".f64"));
      });
    if (name == "mul" && (all == "mul.f32" || all == "mul.ftz.f32" || all == "mul.f64")) {
      const std::string_view type = all.substr(all.size() - 4);
      return all_uses(i,
                      [&](const Use& use) {
                        const std::string_view reader = opcode(use.instruction);
                        return (reader.starts_with("add.") || reader.starts_with("sub.")) &&
                               reader.ends_with(type) && !ptx::has_part(reader, "rn");
                      }) &&
             absorb_in_all(i);
    }
    if (is_short_product(i))
      return all_uses(i, [&](const Use& use) { return is_sum(use.instruction, "32"); }) && absorb_in_all(i);
    if (all.starts_with("mul.wide") && !is_only_place(i))
      return (is_constant(operand(i, 2)) || !is_read_in_loop(i)) &&
             all_uses(i,
                      [&](const Use& use) {
                        return opcode(use.instruction).starts_with("add.") && is_sum(use.instruction, "64");
                      }) &&
             absorb_in_all(i);
    if (takes_half(i)) return true;
    if ((name == "or" || name == "add") && all.ends_with("64") && joins_halves(i)) return true;
    if (is_stride(i)) return true;
    if (is_sum(i, "64") && is_address_offset(i)) return true;
    if (adds_constant_place(i)) return true;
    if (is_sum(i, "64") && function_.instructions[i].operand_count == 3 && is_zero(operand(i, 2)))
      return true;
    // LEA shifts and adds; for several sums the shift is executed once.
    if (name == "shl" && is_integer(i, "64") && one.operand_count == 3 && is_constant(operand(i, 2)))
      return use_count(i) == 1 &&
             all_uses(i,
                      [&](const Use& use) {
                        return opcode(use.instruction).starts_with("add.") && is_sum(use.instruction, "64");
                      }) &&
             absorb_in_all(i);
    if (all == "cvt.s64.s32")
      return all_uses(i, [&](const Use& use) {
        return block_of_[use.instruction] == block_of_[i] &&
               (is_sum(use.instruction, "64") ||
                (first(use.instruction) == "shl" && is_integer(use.instruction, "64") &&
                 feeds_sum(use.instruction)));
      });
    if (all.starts_with("cvt.r") && all.ends_with("i.f32.f32")) return becomes_integer(i);
    if (all == "cvt.u64.u32" || all == "cvt.u32.u64" || all == "cvt.s32.s64" || all == "cvt.u32.u32")
      return true;
    if (rotated_by(i) != no_index || fills_zeros(i)) return true;
    if (is_product(i) && has_upper_half(i)) return true;
    if (name == "selp" && selects_result(i)) return true;
    if (is_counted_condition(i) && counts_condition(uses_[result_of(i)].front().instruction)) return true;
    if (is_product(i)) {
      return all_uses(i,
                      [&](const Use& use) {
                        if (is_stride(use.instruction) || !is_sum(use.instruction, "32")) return false;
                        return first(use.instruction) == "add" || use.operand == 1 ||
                               is_constant(operand(i, 2));
                      }) &&
             absorb_in_all(i);
    }
    if ((name == "shl" || name == "shr") && is_integer(i, "32") && one.operand_count == 3 &&
        is_constant(operand(i, 2)))
      return all_uses(i,
                      [&](const Use& use) {
                        if (is_stride(use.instruction) || !is_sum(use.instruction, "32")) return false;
                        return first(use.instruction) == "add" || name == "shl";
                      }) &&
             (name == "shl" || use_count(i) == 1) && absorb_in_all(i);
    if (all.starts_with("mul.hi") && is_integer(i, "32"))
      return use_count(i) == 1 &&
             all_uses(i, [&](const Use& use) { return opcode(use.instruction).starts_with("add.s32"); }) &&
             absorb_in_all(i);
    if (adds_shared_place(i)) return true;
    if (is_sum(i, "32") && folds_into_extremum(i)) return true;
    if ((name == "min" || name == "max") && is_integer(i, "32")) return folds_into_extremum(i);
    if (is_sum(i, "32")) return folds_sum(i, "32");
    if (is_sum(i, "64") && folds_sum(i, "64")) return true;
    if (is_covered(i)) return folds_logic(i);
    if (name == "and" || name == "or" || name == "xor" || name == "not") {
      if (all.ends_with(".pred")) return true;
    }
    return false;
  }

  // Rounded to a whole number, which becomes an integer: the conversion rounds so itself.
  bool becomes_integer(std::uint32_t i) const {
    return all_uses(i, [&](const Use& use) {
      const std::string_view reader = opcode(use.instruction);
      return reader.starts_with("cvt.rzi.") && reader.ends_with("32.f32");
    });
  }

  // Whether a loop reads what is made outside of it.
  bool is_read_in_loop(std::uint32_t i) const {
    return !all_uses(i, [&](const Use& use) {
      const std::uint32_t loop = cfg_.blocks[block_of_[use.instruction]].loop;
      return loop == none || is_inside(i, loop);
    });
  }

  // The sum of two shifts that is a rotation, of which `i` is one shift; no_index: none.
  std::uint32_t rotated_by(std::uint32_t i) const {
    if ((first(i) != "shl" && first(i) != "shr") || use_count(i) != 1) return no_index;
    const std::uint32_t reader = uses_[result_of(i)].front().instruction;
    return is_rotation(reader) ? reader : no_index;
  }
  bool is_rotation(std::uint32_t i) const {
    const ptx::FirstWord name = first(i);
    if ((name != "or" && name != "add" && name != "xor") || function_.instructions[i].operand_count != 3)
      return false;
    std::uint32_t left = definition(i, 1), right = definition(i, 2);
    if (left == no_index || right == no_index) return false;
    if (first(left) == "shr") std::swap(left, right);
    if (first(left) != "shl" || first(right) != "shr" || ptx::has_part(opcode(right), "s32") ||
        ptx::has_part(opcode(right), "s64"))
      return false;
    const Operand *up = constant_of(operand(left, 2)), *down = constant_of(operand(right, 2));
    if (up == nullptr || down == nullptr) return false;
    const std::uint64_t width = opcode(left).ends_with("64") ? 64 : 32;
    const bool same = operand(left, 1).symbol == operand(right, 1).symbol;
    return (same || width == 32) && up->value + down->value == width && use_count(left) == 1 &&
           use_count(right) == 1;
  }

  // One of the two registers of a value of 64 bits.
  bool takes_half(std::uint32_t i) const {
    if (!opcode(i).ends_with("64") || function_.instructions[i].operand_count != 3) return false;
    const Operand* by = constant_of(operand(i, 2));
    if (by == nullptr) return false;
    if (first(i) == "shr") return by->value == 32 && !opcode(i).ends_with("s64");
    return (first(i) == "shl" && by->value == 32) || (first(i) == "and" && by->value == 0xffffffffu);
  }
  // The upper bits of a value are joined to what has zeros in their place: LEA.HI.
  bool fills_zeros(std::uint32_t i) {
    if (!opcode(i).starts_with("shr.u32") || use_count(i) != 1) return false;
    const Use use = uses_[result_of(i)].front();
    const Operand* by = constant_of(operand(i, 2));
    if (opcode(use.instruction) != "or.b32" || by == nullptr || by->value > 31) return false;
    return zero_bits_of(operand(use.instruction, 3 - use.operand), 0) >= 32 - static_cast<int>(by->value);
  }

  bool joins_halves(std::uint32_t i) const {
    if (function_.instructions[i].operand_count != 3) return false;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const std::uint32_t upper = definition(i, o), lower = definition(i, 3 - o);
      if (upper != no_index && first(upper) == "shl" && takes_half(upper) && is_extended(lower)) return true;
    }
    return false;
  }

  // A sum that leads from one address to the next. nvcc adds to the address instead, which is the instruction
  // that would compute it anyway; clang's PTX is estimated as nvcc's.
  bool is_stride(std::uint32_t i) const {
    if (is_of_nvcc_ || first(i) != "add" || !is_sum(i, "32") || !is_only_definition(i)) return false;
    const bool only_addresses = all_uses(i, [&](const Use& use) {
      return opcode(use.instruction).starts_with("mul.wide") || is_sum(use.instruction, "32");
    });
    if (!only_addresses) return false;
    bool scaled = false;
    for (const Use& use : uses_[result_of(i)])
      scaled = scaled || opcode(use.instruction).starts_with("mul.wide");
    if (!scaled) return false;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const Operand& from = operand(i, o);
      if (from.kind != Kind::reg || from.symbol >= uses_.size()) continue;
      for (const Use& use : uses_[from.symbol])
        if (use.instruction < i && opcode(use.instruction).starts_with("mul.wide") &&
            block_of_[use.instruction] == block_of_[i])
          return true;
    }
    return false;
  }
  bool is_extended(std::uint32_t i) const {
    return i != no_index && (takes_half(i) || opcode(i) == "cvt.u64.u32");
  }

  // Whether the lower 64 bits of the same product are made, too: with them, the upper ones take less.
  bool has_lower_half(std::uint32_t i) const {
    const Operand& left = operand(i, 1);
    if (left.kind != Kind::reg || left.symbol >= uses_.size()) return false;
    return std::any_of(uses_[left.symbol].begin(), uses_[left.symbol].end(), [&](const Use& use) {
      if (!opcode(use.instruction).starts_with("mul.lo") || !opcode(use.instruction).ends_with("64") ||
          block_of_[use.instruction] != block_of_[i] || !live_[use.instruction])
        return false;
      const Operand &a = operand(i, 2), &b = operand(use.instruction, 3 - use.operand);
      return a.kind == b.kind && (a.kind == Kind::reg ? a.symbol == b.symbol : a.value == b.value);
    });
  }
  // Both halves of a product are one instruction.
  bool has_upper_half(std::uint32_t i) const {
    const Operand& left = operand(i, 1);
    if (left.kind != Kind::reg || left.symbol >= uses_.size()) return false;
    for (const Use& use : uses_[left.symbol]) {
      if (opcode(use.instruction) != "mul.hi.u32" || block_of_[use.instruction] != block_of_[i]) continue;
      const Operand &a = operand(i, 2), &b = operand(use.instruction, 3 - use.operand);
      const Operand *x = constant_of(a), *y = constant_of(b);
      if (x != nullptr && y != nullptr &&
          static_cast<std::uint32_t>(x->value) == static_cast<std::uint32_t>(y->value))
        return true;
      if (x == nullptr && y == nullptr && a.kind == Kind::reg && a.symbol == b.symbol) return true;
    }
    return false;
  }

  // `selp x + 1, x`: the sum is predicated.
  bool selects_result(std::uint32_t i) const {
    if (!opcode(i).ends_with("32") || function_.instructions[i].operand_count != 4) return false;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const std::uint32_t made = definition(i, o);
      const Operand& other = operand(i, 3 - o);
      if (made == no_index || use_count(made) != 1 || other.kind != Kind::reg ||
          block_of_[made] != block_of_[i])
        continue;
      const Instruction& from = function_.instructions[made];
      if (from.info == nullptr || from.info->category != Category::arithmetic || from.info->is(ptx::slow))
        continue;
      const bool of_floats = (first(made) == "add" || first(made) == "sub") && from.opcode.ends_with(".f32");
      if (!is_sum(made, "32") && !is_logic(made) && !(of_floats && ends_at(other, i))) continue;
      for (std::uint32_t p = 1; p < from.operand_count; ++p)
        if (operand(made, p).kind == Kind::reg && operand(made, p).symbol == other.symbol) return true;
    }
    return false;
  }

  // Whether nothing reads a value behind `i`, so that its register can be written there.
  bool ends_at(const Operand& value, std::uint32_t i) const {
    const std::uint32_t made = definition_of(value);
    if (made == no_index || cfg_.blocks[block_of_[made]].loop != cfg_.blocks[block_of_[i]].loop) return false;
    return std::all_of(uses_[value.symbol].begin(), uses_[value.symbol].end(),
                       [&](const Use& use) { return use.instruction <= i && use.instruction > made; });
  }

  bool is_product(std::uint32_t i) const { return opcode(i).starts_with("mul.lo") && is_integer(i, "32"); }
  bool is_short_product(std::uint32_t i) const {
    return opcode(i) == "mul.wide.u16" || opcode(i) == "mul.wide.s16";
  }
  bool feeds_sum(std::uint32_t i) const {
    return all_uses(i, [&](const Use& use) { return is_sum(use.instruction, "64"); });
  }
  bool is_logic(std::uint32_t i) const {
    const ptx::FirstWord name = first(i);
    return (name == "and" || name == "or" || name == "xor" || name == "not") && opcode(i).ends_with(".b32");
  }

  // A constant that is added to what only accesses read.
  bool is_address_offset(std::uint32_t i) const {
    if (first(i) != "add" || function_.instructions[i].operand_count != 3) return false;
    const Operand* offset = constant_of(operand(i, 2));
    if (offset == nullptr || std::abs(static_cast<std::int64_t>(offset->value)) >= kLongestOffset)
      return false;
    return all_uses(i, [&](const Use& use) {
      return use.as_address || (is_sum(use.instruction, "64") && is_only_definition(use.instruction) &&
                                is_address_offset(use.instruction));
    });
  }

  // Whether its readers vanish, so that it does not.
  bool is_only_place(std::uint32_t i) const {
    return all_uses(i, [&](const Use& use) { return adds_constant_place(use.instruction); });
  }

  // Registers of 64 bits whose upper half nothing needs: addresses of constant, local and shared memory.
  void note_narrow() {
    narrow_.assign(uses_.size(), false);
    for (std::uint32_t reg = 0; reg < uses_.size(); ++reg)
      narrow_[reg] = ptx::type_bytes(function_.registers[reg].type) == 8 && !uses_[reg].empty();
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t reg = static_cast<std::uint32_t>(uses_.size()); reg-- > 0;) {  // readers come later
        if (!narrow_[reg]) continue;
        const auto& uses = uses_[reg];
        narrow_[reg] =
            std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return is_narrow_use(use); });
        changed = changed || !narrow_[reg];
      }
    }
  }
  bool is_narrow_use(const Use& use) const {
    if (use.as_address) {
      const auto space = ptx::space_of(opcode(use.instruction));
      return space == ptx::StateSpace::constant || space == ptx::StateSpace::local ||
             space == ptx::StateSpace::shared;
    }
    const ptx::FirstWord name = first(use.instruction);
    const bool keeps_lower = opcode(use.instruction).starts_with("mul.lo") || name == "add" ||
                             name == "sub" || name == "and" || name == "shl" || name == "mov";
    const std::uint32_t to = result_of(use.instruction);
    return keeps_lower && to != no_index && narrow_[to];
  }
  bool is_narrow(std::uint32_t i) const {
    const std::uint32_t to = result_of(i);
    return to != no_index && narrow_[to];
  }
  // What is added to the place of an array in shared memory, and read by accesses alone: the place is in a uniform
  // register, which they add themselves. Nothing else has become part of the sum.
  bool adds_shared_place(std::uint32_t i) const {
    if (target_ < 90 || !opcode(i).starts_with("add.") || !is_sum(i, "32") || absorbs_[i] != 0) return false;
    const auto is_place = [&](const Operand& read) {
      const std::uint32_t leaf = leaf_of(read);
      return leaf != no_index && first(leaf) == "mov" && is_shared(operand(leaf, 1));
    };
    for (std::uint32_t o = 1; o < 3; ++o) {
      const std::uint32_t offset = definition(i, 3 - o);
      if (!is_place(operand(i, o)) || offset == no_index || is_leaf(offset) || folded_[offset] ||
          opcode(offset).starts_with("mul.wide"))
        continue;
      return all_uses(i, [&](const Use& use) {
        return use.as_address && (first(use.instruction) == "ld" || first(use.instruction) == "st");
      });
    }
    return false;
  }

  // What is added to the place of a constant array is the offset of its loads.
  bool adds_constant_place(std::uint32_t i) const {
    if (!is_sum(i, "64") || !is_narrow(i)) return false;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const std::uint32_t leaf = leaf_of(operand(i, o));
      if (leaf != no_index && first(leaf) == "mov" && !is_shared(operand(leaf, 1)) &&
          operand(leaf, 1).kind != Kind::special)
        return true;
    }
    return false;
  }

  // A number where a condition holds, and zero elsewhere, for one sum.
  bool is_counted_condition(std::uint32_t i) const {
    if (i == no_index || first(i) != "selp" || !is_integer(i, "32") || is_guarded(i) || use_count(i) != 1)
      return false;
    return is_constant(operand(i, 1)) && is_zero(operand(i, 2));
  }
  // A sum that counts where a condition holds: ptxas adds in any case (VIADD), and moves the sum under the predicate.
  bool counts_condition(std::uint32_t i) const {
    if (first(i) != "add" || !is_sum(i, "32") || ptx::has_part(opcode(i), "cc") || is_guarded(i) ||
        function_.instructions[i].operand_count != 3)
      return false;
    const std::uint32_t a = definition(i, 1), b = definition(i, 2);
    return is_counted_condition(a) != is_counted_condition(b) &&
           block_of_[is_counted_condition(a) ? a : b] == block_of_[i];
  }

  // One of three summands.
  bool folds_sum(std::uint32_t i, std::string_view bits) {
    if (use_count(i) != 1 || absorbs_[i] != 0 || counts_condition(i)) return false;
    const Use use = uses_[result_of(i)].front();
    if (counts_condition(use.instruction)) return false;
    if (!is_sum(use.instruction, bits) || !is_only_definition(use.instruction)) return false;
    if (block_of_[use.instruction] != block_of_[i] || absorbs_[use.instruction] != 0) return false;
    int constants = 0;
    for (const auto& [which, o] : {std::pair{i, 1u}, {i, 2u}, {use.instruction, 1u}, {use.instruction, 2u}})
      constants += is_constant(operand(which, o)) ? 1 : 0;
    if (constants > 1) return false;
    // What is yet to fold into the reader.
    const std::uint32_t other = definition(use.instruction, 3 - use.operand);
    if (other != no_index && live_[other] && folded_[other] && !is_leaf(other) &&
        opcode(other) != "cvt.u64.u32")
      return false;
    ++absorbs_[use.instruction];
    return true;
  }

  // The least or greatest of three, or of a sum and another, is one instruction since Hopper.
  bool folds_into_extremum(std::uint32_t i) {
    if (target_ < 90 || use_count(i) != 1 || absorbs_[i] != 0) return false;
    const Use use = uses_[result_of(i)].front();
    const ptx::FirstWord name = first(use.instruction);
    if ((name != "min" && name != "max") || !is_integer(use.instruction, "32")) return false;
    if (block_of_[use.instruction] != block_of_[i] || absorbs_[use.instruction] != 0) return false;
    if (!is_sum(i, "32") && opcode(i) != opcode(use.instruction)) return false;
    ++absorbs_[use.instruction];
    return true;
  }

  bool folds_logic(std::uint32_t i) {
    if (is_rotation(i)) return false;
    // A test of bits: LOP3 with a predicate as its result.
    if (first(i) == "and" && use_count(i) == 1) {
      const Use use = uses_[result_of(i)].front();
      if (first(use.instruction) == "setp" && is_integer(use.instruction, "32") &&
          (ptx::has_part(opcode(use.instruction), "eq") || ptx::has_part(opcode(use.instruction), "ne")) &&
          is_zero(operand(use.instruction, 2)))
        return true;
    }
    return part_of_logic_[i];
  }

  // What LOP3 takes in: an operation of 32 or 64 bits that is no rotation, and not the upper bits of a sum.
  bool is_covered(std::uint32_t i) const {
    if (!live_[i] || code_.silent(i) || is_rotation(i) || result_of(i) == no_index) return false;
    if (is_logic(i)) return true;
    const ptx::FirstWord name = first(i);
    if (name == "lop3") return true;
    return (name == "and" || name == "or" || name == "xor" || name == "not") && opcode(i).ends_with(".b64") &&
           !takes_half(i) && !joins_halves(i);
  }
  void note_logic() {
    part_of_logic_.assign(function_.instructions.size(), false);
    std::vector<std::uint32_t> instructions, number(function_.instructions.size(), LogicOperation::outside);
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      if (!is_covered(i)) continue;
      number[i] = static_cast<std::uint32_t>(instructions.size());
      instructions.push_back(i);
    }
    std::vector<LogicOperation> operations(instructions.size());
    for (std::uint32_t n = 0; n < instructions.size(); ++n) {
      const std::uint32_t i = instructions[n];
      const std::uint32_t count = function_.instructions[i].operand_count;
      const std::uint32_t end = first(i) == "lop3" ? std::min(4u, count) : count;
      for (std::uint32_t o = 1; o < end; ++o) add_input(operations[n], n, operand(i, o), number);
      operations[n].read_elsewhere = !is_only_definition(i) || is_guarded(i);
      for (const Use& use : uses_[result_of(i)]) {
        const std::uint32_t reader = number[use.instruction];
        if (reader == LogicOperation::outside || reader <= n || !stays_together(i, use.instruction))
          operations[n].read_elsewhere = true;
        else
          ++operations[n].readers;
      }
    }
    const std::vector<bool> part = part_of_readers(operations);
    for (std::uint32_t n = 0; n < instructions.size(); ++n) part_of_logic_[instructions[n]] = part[n];
  }
  bool stays_together(std::uint32_t i, std::uint32_t reader) const {
    return block_of_[i] == block_of_[reader] || use_count(i) == 1;
  }
  void add_input(LogicOperation& to, std::uint32_t n, const Operand& read,
                 const std::vector<std::uint32_t>& number) const {
    LogicOperation::Input input;
    if (const Operand* constant = constant_of(read)) {
      input.constant = true;
      input.value = constant->value;
      if (input.value == 0 || ~input.value == 0 || input.value == 0xffffffffu) return;
    } else {
      input.value = read.symbol;
      const std::uint32_t made = definition_of(read);
      if (made != no_index && number[made] < n) input.made_by = number[made];
    }
    to.inputs.push_back(input);
  }

  // ---- values that are made where they are needed: parameters, constants, special registers

  bool is_leaf(std::uint32_t i) const {
    const std::string_view all = opcode(i);
    if (all.starts_with("ld.param")) return true;
    if (first(i) == "cvta") return true;
    if (first(i) != "mov" || function_.instructions[i].operand_count != 2) return false;
    const Kind kind = operand(i, 1).kind;
    return kind == Kind::special || kind == Kind::symbol || kind == Kind::sum;
  }

  // The leaf that an operand is, through copies: its instruction.
  std::uint32_t leaf_of(const Operand& read, int steps = 0) const {
    const std::uint32_t made = definition_of(read);
    if (made == no_index || steps > 6) return no_index;
    if (opcode(made).starts_with("ld.param")) return made;
    const bool copies = (first(made) == "mov" || first(made) == "cvta" || opcode(made) == "cvt.u64.u32") &&
                        function_.instructions[made].operand_count == 2;
    if (!copies) return no_index;
    const Operand& source = operand(made, 1);
    if (source.kind == Kind::special || source.kind == Kind::symbol || source.kind == Kind::sum) return made;
    return leaf_of(source, steps + 1);
  }

  // Charges what makes a value, unless a dominating block has it: before the outermost loop, or in `b` where it is
  // in none, or where iterations may leave it out.
  void demand(const std::string& key, std::uint32_t b, std::uint32_t i, const MachineWork& work) {
    // What a predicated block makes is made under its predicate: blocks behind it make it again.
    std::vector<std::uint32_t>& places = made_in_[key];
    for (const std::uint32_t place : places)
      if (cfg_.dominates(place, b)) return;
    if (!is_conditional(b)) return make_before_loops(key, b, i, work);
    places.push_back(b);
    made_.each[i].add(work);
  }
  void make_before_loops(const std::string& key, std::uint32_t b, std::uint32_t i, const MachineWork& work) {
    std::vector<std::uint32_t>& places = made_in_[key];
    std::uint32_t loop = cfg_.blocks[b].loop;
    if (loop == none) {
      places.push_back(b);
      made_.each[i].add(work);
      return;
    }
    while (cfg_.loops[loop].parent != none) loop = cfg_.loops[loop].parent;
    places.push_back(cfg_.loops[loop].header);
    made_.loops[loop].entry.add(work);
  }

  void demand_leaf(std::uint32_t leaf, std::uint32_t b, std::uint32_t i) {
    if (opcode(leaf).starts_with("ld.param")) {
      if (target_ < 90) return;
      demand("p" + std::string(function_.instructions[leaf].operand_count > 1 ? operand(leaf, 1).text : ""),
             b, i, work_of(Pipe::adu));
      return;
    }
    const Operand& source = operand(leaf, 1);
    if (source.kind == Kind::special) {
      const bool constant = source.text.find("ntid") != std::string_view::npos ||
                            source.text.find("nctaid") != std::string_view::npos;
      if (constant && target_ < 90) return;
      demand(std::string(source.text), b, i, work_of(constant ? Pipe::adu : Pipe::lsu));
      return;
    }
    demand_symbol(source, b, i);
  }

  // Of an address that is computed before the loop.
  void demand_input(std::uint32_t reg, std::uint32_t b, std::uint32_t i) {
    Operand read;
    read.kind = Kind::reg;
    read.symbol = reg;
    if (const std::uint32_t leaf = leaf_of(read); leaf != no_index) demand_leaf(leaf, b, i);
  }

  void demand_symbol(const Operand& source, std::uint32_t b, std::uint32_t i) {
    const bool shared = is_shared(source);
    if (!shared) return demand("s" + std::string(source.text), b, i, work_of(Pipe::adu));
    if (target_ < 90) return;
    // The address of the block's shared memory in its cluster's.
    demand("shared", b, i, work_of(Pipe::adu));
    demand("s" + std::string(source.text), b, i, work_of(Pipe::uniform, 2));
  }
  // Whether iterations of the loop around a block may leave it out.
  bool is_conditional(std::uint32_t b) const {
    const std::uint32_t loop = cfg_.blocks[b].loop;
    return loop != none && !cfg_.dominates(b, before_latches_[loop]);
  }
  // By loop: the last block that all iterations execute.
  void note_latches() {
    before_latches_.assign(cfg_.loops.size(), none);
    for (std::uint32_t loop = 0; loop < cfg_.loops.size(); ++loop) {
      std::uint32_t& last = before_latches_[loop];
      last = cfg_.loops[loop].latches.front();
      for (const std::uint32_t latch : cfg_.loops[loop].latches)
        while (last != cfg_.loops[loop].header && !cfg_.dominates(last, latch))
          last = cfg_.blocks[last].dominator;
    }
  }

  bool is_shared(const Operand& source) const {
    const Operand& base = source.part_count > 0 ? operands_[source.first_part] : source;
    if (base.kind != Kind::symbol) return false;
    if (base.referent == Operand::Referent::module_variable && base.value < code_.module().variables.size())
      return code_.module().variables[base.value].space == ptx::StateSpace::shared;
    if (base.referent == Operand::Referent::function_variable && base.value < function_.variables.size())
      return function_.variables[base.value].space == ptx::StateSpace::shared;
    return false;
  }

  // A constant that the instruction cannot hold.
  void demand_constant(const Operand& read, std::uint32_t b, std::uint32_t i) {
    const Operand* constant = constant_of(read);
    if (constant == nullptr || constant->value == 0) return;
    const bool wide = opcode(i).ends_with("64");
    const std::uint32_t loop = cfg_.blocks[b].loop;
    if (!wide || loop == none)
      return demand("c" + std::string(constant->text), b, i, work_of(Pipe::fma, wide ? 2 : 1));
    // In uniform registers, which calls do not keep.
    if (has_call_[loop] || !known(fmt::format("c{} in {}", constant->text, loop), b))
      made_.each[i].add(work_of(Pipe::uniform, 2));
  }

  // All leaves that the instruction reads itself, or what folded into it.
  void demand_operands(std::uint32_t i, std::uint32_t b, std::uint32_t at, int depth) {
    const Instruction& one = function_.instructions[i];
    const std::uint32_t written = destinations(one);
    const bool placed = address_inputs_.contains(i);
    const auto read = [&](const auto& self, const Operand& operand, bool in_address) -> void {
      if (placed && in_address && operand.kind == Kind::reg) return;
      if (operand.kind == Kind::reg) {
        if (const std::uint32_t leaf = leaf_of(operand); leaf != no_index) {
          demand_leaf(leaf, b, at);
        } else if (const std::uint32_t made = definition_of(operand);
                   made != no_index && folded_[made] && depth < 8) {
          demand_operands(made, b, at, depth + 1);
        }
      }
      if (operand.kind == Kind::symbol && in_address && is_shared(operand)) demand_symbol(operand, b, at);
      if (operand.kind == Kind::special) demand_special(operand, b, at);
      for (std::uint32_t p = 0; p < operand.part_count; ++p)
        self(self, operands_[operand.first_part + p], in_address || operand.kind == Kind::address);
    };
    for (std::uint32_t o = written; o < one.operand_count; ++o)
      read(read, operands_[one.first_operand + o], false);
  }

  void demand_special(const Operand& source, std::uint32_t b, std::uint32_t i) {
    demand(std::string(source.text), b, i, work_of(Pipe::lsu));
  }

  // ---- the work of an instruction

  void lower_blocks() {
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      if (!block_is_dead(b)) lower_block(b);
  }

  void lower_block(std::uint32_t b) {
    for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
      if (code_.silent(i) || !live_[i]) continue;
      if (folded_[i] && adds_shared_place(i)) demand_operands(i, b, i, 0);
      if (folded_[i]) continue;
      const Instruction& one = function_.instructions[i];
      if (is_exit(one) && !is_guarded(i)) continue;
      const std::optional<MachineWork> work = rule(i, b);
      made_.each[i].add(with_reads(i, with_products(i, work ? *work : mean(i))));
      if (const auto step = address_work_.find(i); step != address_work_.end()) {
        made_.each[i][Pipe::fma] += step->second;
        made_.each[i].imad += kImadCycles * step->second;
      }
      if (const auto placed = address_inputs_.find(i); placed != address_inputs_.end())
        for (const std::uint32_t reg : placed->second) demand_input(reg, b, i);
      if (!is_call(one)) demand_operands(i, b, i, 0);
      demand_constants(i, b);
      if (target_ < 90) demand_beside_constant(i, b);
      if (target_ >= 80 && is_global(one)) demand_descriptor(i);
    }
  }

  // What ptxas makes on either pipe: shifts to the left by a constant (SHF, or IMAD.SHL), that of a `bfi` among them, negations
  // (IADD3, or IMAD.MOV), moves, and sums.
  struct EitherPipe {
    double instructions = 0;
    const FmaShares* shares = &kShifts;
  };
  EitherPipe on_either_pipe(std::uint32_t i) const {
    const MachineWork& work = made_.each[i];
    const double both = work[Pipe::alu] + work[Pipe::fma];
    const std::string_view all = opcode(i);
    if (first(i) == "bfi") return {is_part_of_register(i) ? 0 : std::min(both, kBfiShift)};
    // nvcc shifts to the left, and back.
    if (!is_of_nvcc_ && all == "bfe.s32" && both >= 2) return {1};
    if (both > 1) return {};
    if (is_sum(i, "32") && !ptx::has_part(all, "cc")) {
      if (const FmaShares* const shares = shares_of_sum(i)) return {both, shares};
      return {};
    }
    const bool either = (all == "shl.b32" && constant_of(operand(i, 2)) != nullptr) || all == "neg.s32" ||
                        (first(i) == "mov" && all.ends_with("32"));
    return {either ? both : 0};
  }

  // Null: it is on one pipe.
  const FmaShares* shares_of_sum(std::uint32_t i) const {
    bool constant = false, parameter = false;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const Operand& read = operand(i, o);
      const std::uint32_t made = definition_of(read);
      if (absorbs_[i] != 0 && made != no_index && folded_[made]) {
        if (first(made) == "shl") return &kShiftedSums;
        if (first(made) == "shr") return &kOnAlu;
        if (is_sum(made, "32")) return &kSumsOfThree;
      }
      constant = constant || read.kind != Kind::reg || is_constant(read);
      parameter = parameter || leaf_of(read) != no_index;
    }
    if (absorbs_[i] != 0) return nullptr;
    if (target_ < 90 && constant) return &kOnAlu;
    return constant ? &kSumsWithConstant : parameter ? &kSumsWithParameter : &kSums;
  }

  void balance_pipes(std::uint32_t begin, std::uint32_t end) {
    double alu = 0, fma = 0, given = 0;  // `given`: what the FMA pipe has so far of what either pipe can do
    for (std::uint32_t i = begin; i < end; ++i) {
      const MachineWork& work = made_.each[i];
      alu += work[Pipe::alu];
      fma += work[Pipe::fma];
      if (first(i) != "bfi" && on_either_pipe(i).instructions > 0) given += work[Pipe::fma];
    }
    if (alu + fma < kFewToBalance) return;
    const double share_of_alu = (alu + given) / (alu + fma);
    for (std::uint32_t i = begin; i < end; ++i) {
      const EitherPipe either = on_either_pipe(i);
      if (either.instructions <= 0) continue;
      MachineWork& work = made_.each[i];
      const double more =
          either.shares->of(share_of_alu) * either.instructions - (first(i) == "bfi" ? 0 : work[Pipe::fma]);
      work[Pipe::fma] += more;
      work[Pipe::alu] -= more;
      work.imad = std::max(work.imad + kImadCycles * more, 0.0);
    }
  }

  // Before Hopper a parameter is an operand in constant memory; an instruction has one such operand or one
  // constant.
  void demand_beside_constant(std::uint32_t i, std::uint32_t b) {
    const Operand* constant = nullptr;
    std::uint32_t parameter = no_index;
    const Instruction& one = function_.instructions[i];
    if (one.info == nullptr || one.info->category != Category::arithmetic) return;
    for (std::uint32_t o = 1; o < one.operand_count; ++o) {
      const Operand& read = operand(i, o);
      const std::uint32_t made = definition(i, o);
      if (const Operand* found = constant_of(read)) constant = found;
      if (made != no_index && folded_[made] && opcode(made).starts_with("mul.wide"))
        constant = constant_of(operand(made, 2));
      if (const std::uint32_t leaf = leaf_of(read); leaf != no_index && opcode(leaf).starts_with("ld.param"))
        parameter = leaf;
    }
    if (constant == nullptr || parameter == no_index || constant->value == 0) return;
    if (is_sum(i, "64"))
      demand("c" + std::string(constant->text), b, i, work_of(Pipe::fma));
    else
      demand("p" + std::string(operand(parameter, 1).text), b, i, work_of(Pipe::alu));
  }

  // Where functions are called, it is not kept in uniform registers.
  void demand_descriptor(std::uint32_t i) {
    if (!made_in_.contains("descriptor"))
      make_before_loops("descriptor", block_of_[i], i, work_of(Pipe::adu));
    if (calls_) made_.each[i][Pipe::uniform] += 2;
  }

  static bool is_exit(const Instruction& one) {
    return one.info != nullptr && one.info->category == Category::exit;
  }
  static bool is_call(const Instruction& one) {
    return one.info != nullptr && one.info->category == Category::call;
  }
  static bool is_global(const Instruction& one) {
    const auto space = ptx::space_of(one);
    return space == ptx::StateSpace::global || space == ptx::StateSpace::generic;
  }

  // What the table says, without the parameters, which are counted where they are needed.
  MachineWork mean(std::uint32_t i) const {
    if (means_[i] == nullptr) {
      Context context = contexts_.of(i);
      if (target_ >= 90) std::replace(context.operands.begin(), context.operands.end(), 'p', 'q');
      means_[i] = &table_.find(context);
    }
    return *means_[i];
  }

  std::optional<MachineWork> rule(std::uint32_t i, std::uint32_t b) {
    const Instruction& one = function_.instructions[i];
    const ptx::FirstWord name = first(i);
    const std::string_view all = one.opcode;
    if (one.info == nullptr) return std::nullopt;
    if (is_rotation(i)) {
      const bool swaps = all.ends_with("64") && constant_of(operand(definition(i, 1), 2))->value == 32;
      return work_of(Pipe::alu, swaps ? 0 : all.ends_with("64") ? 2 : 1);
    }
    if (all == "mov.b32" && (operand(i, 0).kind == Kind::vector || operand(i, 1).kind == Kind::vector))
      return work_of(Pipe::alu);
    if (name == "mov" && one.operand_count == 2) return move_rule(i, b);
    if (name == "div" || name == "rem")
      if (const auto work = division_rule(i, b)) return work;
    if (one.info->category == Category::barrier && ptx::has_part(all, "red"))
      return work_of(Pipe::adu, 2);  // BAR.RED, and B2R for what it counts
    if (name == "atom" && all.find("global") != std::string_view::npos) return atomic_rule(i);
    if (one.info->category == Category::branch) return branch_rule(i, b);
    if (one.info->category == Category::load || one.info->category == Category::store) return access_rule(i);
    if (is_short_product(i)) return work_of(Pipe::fma);
    if (all == "mul.hi.u64" && has_lower_half(i)) return work_of(Pipe::fma, kUpperHalf);
    if (name == "add" || name == "sub" || name == "mul" || name == "fma" || name == "mad") {
      const auto work = sum_rule(i);
      return work ? work : fixed_rule(all);
    }
    if (name == "setp" && !all.ends_with("16")) {
      if (all.ends_with("64") && !all.ends_with("f64")) return work_of(Pipe::alu, 2);
      if (all.ends_with(".f64")) return work_of(Pipe::fp64);
      if (all.ends_with("32")) return work_of(Pipe::alu);
    }
    if (is_part_of_register(i)) return work_of(Pipe::alu);
    if (name == "selp") return work_of(Pipe::alu, all.ends_with("64") ? 2 : 1);
    if (is_logic(i)) return work_of(Pipe::alu);
    if ((name == "and" || name == "or" || name == "xor" || name == "not") && all.ends_with(".b64"))
      return work_of(Pipe::alu, is_narrow(i) || joins_zeros(i) ? 1 : 2 - halves_kept(i));
    if ((name == "shl" || name == "shr") && one.operand_count == 3) {
      if (all.ends_with("32")) return work_of(Pipe::alu);
      if (all.ends_with("64") && is_constant(operand(i, 2)))
        return work_of(Pipe::alu, (name == "shl" && is_narrow(i)) || leaves_zeros(i) ? 1 : 2);
    }
    if ((name == "min" || name == "max") && all.ends_with("32")) return work_of(Pipe::alu);
    if (all == "cvt.s64.s32") return work_of(Pipe::alu);
    if (name == "shfl" || all.starts_with("movmatrix")) return work_of(Pipe::lsu);
    if (one.info->is(ptx::tensor_core))
      if (const auto work = matrix_rule(i)) return work;
    return fixed_rule(all);
  }

  std::optional<MachineWork> fixed_rule(std::string_view all) const {
    if (const MachineWork* alone = table_.find_alone(all)) return *alone;
    for (const FixedCost& cost : kFixedCosts)
      if (is_of(all, cost.operation, cost.type)) return work_of(cost.pipe, cost.count);
    return std::nullopt;
  }

  std::optional<MachineWork> division_rule(std::uint32_t i, std::uint32_t b) {
    const Operand& divisor = operand(i, 2);
    const bool constant = is_constant(divisor);
    for (const DivisionCost& cost : kDivisionCosts) {
      if (!is_of(opcode(i), cost.operation, cost.type)) continue;
      double count = constant ? cost.first - 6 : cost.first;
      const auto reciprocal = [&] {  // of the divisor, and two conversions
        MachineWork work = work_of(Pipe::alu, (cost.first - cost.again) / 2 - 3);
        work[Pipe::fma] += (cost.first - cost.again) - (cost.first - cost.again) / 2;
        work[Pipe::xu] += 3;
        work.cycles = kReciprocalCycles;
        return work;
      };
      const bool has_reciprocal = cost.first - cost.again >= 6;
      if (divisor.kind == Kind::reg && !constant) {
        const std::string key = fmt::format("{} {}", divisor.symbol, cost.type);
        const std::uint32_t loop = has_reciprocal ? outermost_where_fixed(divisor.symbol, b) : none;
        if (known(key, b)) {
          count = cost.again;
        } else if (loop != none && !known("before " + key, cfg_.loops[loop].header)) {
          made_in_[key].pop_back();  // the next one makes its own
          made_.loops[loop].entry.add(reciprocal());
          count = cost.again;
        }
        if (known(fmt::format("{} {} {}", divisor.symbol, operand(i, 1).symbol, cost.type), b))
          count = cost.both;
      }
      const double special = count == cost.first ? 3 : 0;
      MachineWork work = work_of(Pipe::alu, count / 2 - special);
      work[Pipe::fma] += count - count / 2;
      work[Pipe::xu] += special;
      return work;
    }
    return std::nullopt;
  }
  // Divisions and roots with a subroutine are calls, too.
  void note_calls() {
    has_call_.assign(cfg_.loops.size(), false);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        if (!live_[i] || code_.silent(i)) continue;
        const Instruction& one = function_.instructions[i];
        const bool divides = first(i) == "div" || first(i) == "rem";
        if (!is_call(one) && !analysis::has_subroutine(one) && !(divides && opcode(i).ends_with("64")))
          continue;
        for (std::uint32_t loop = cfg_.blocks[b].loop; loop != none; loop = cfg_.loops[loop].parent)
          has_call_[loop] = true;
      }
  }
  // The outermost loop around a block in which nothing writes a register; none: its own loop does.
  std::uint32_t outermost_where_fixed(std::uint32_t reg, std::uint32_t b) const {
    std::uint32_t found = none;
    for (std::uint32_t loop = cfg_.blocks[b].loop; loop != none; loop = cfg_.loops[loop].parent) {
      const bool written = std::any_of(definitions_[reg].begin(), definitions_[reg].end(),
                                       [&](std::uint32_t made) { return is_inside(made, loop); });
      if (written || has_call_[loop]) break;
      found = loop;
    }
    return found;
  }
  // Whether a dominating block has it; from now on it has.
  bool known(const std::string& key, std::uint32_t b) {
    std::vector<std::uint32_t>& places = made_in_[key];
    for (const std::uint32_t place : places)
      if (cfg_.dominates(place, b)) return true;
    places.push_back(b);
    return false;
  }

  // Of atomics of global memory. Where all threads of a warp add to one address, one does it for them.
  std::optional<MachineWork> atomic_rule(std::uint32_t i) {
    const Instruction& one = function_.instructions[i];
    const bool unused = use_count(i) == 0;
    const bool adds_integers = ptx::has_part(one.opcode, "add") && is_integer(i, "32");
    bool one_address = adds_integers;
    visit_registers(operand(i, 1), true,
                    [&](std::uint32_t reg, bool) { one_address = one_address && !varying_[reg]; });
    if (!one_address) return work_of(Pipe::lsu);
    MachineWork work = work_of(Pipe::lsu, 2);
    work[Pipe::alu] += unused ? 4 : 8;
    return work;
  }

  // To a register that has several definitions: where paths meet.
  std::optional<MachineWork> move_rule(std::uint32_t i, std::uint32_t b) {
    const Operand &to = operand(i, 0), &from = operand(i, 1);
    if (to.kind != Kind::reg || to.symbol >= uses_.size() || to.symbol == from.symbol) return std::nullopt;
    if (opcode(i).ends_with("pred")) return std::nullopt;
    const bool wide = opcode(i).ends_with("64") && !narrow_[to.symbol];
    if (const Operand* constant = constant_of(from)) {
      // Of copies of one constant for several paths, the first is enough.
      if (known(fmt::format("{} = {}", to.symbol, constant->text), b)) return MachineWork();
      if (constant->value == 0) return work_of(Pipe::alu, 1);
      return work_of(Pipe::fma, wide ? 2 : 1);
    }
    if (from.kind != Kind::reg || from.symbol >= uses_.size()) return std::nullopt;
    return shares_register(i, b) ? MachineWork() : work_of(Pipe::fma, wide ? 2 : 1);
  }

  // Whether what is moved can be in the same register from the beginning.
  bool shares_register(std::uint32_t i, std::uint32_t b) const {
    const std::uint32_t to = operand(i, 0).symbol, from = operand(i, 1).symbol;
    if (definitions_[from].size() != 1) return false;
    const std::uint32_t made = definitions_[from].front();
    if (block_of_[made] != b) return uses_[from].size() == 1;
    for (const Use& use : uses_[from])
      if (use.instruction > i || use.instruction < made || block_of_[use.instruction] != b) return false;
    for (const Use& use : uses_[to])
      if (use.instruction > made && use.instruction < i) return false;
    return true;
  }

  // A shift of 64 bits by so many that one of the two registers is zero.
  bool leaves_zeros(std::uint32_t i) const {
    if ((first(i) != "shl" && first(i) != "shr") || !opcode(i).ends_with("64") || opcode(i).ends_with("s64"))
      return false;
    const Operand* by = constant_of(operand(i, 2));
    return by != nullptr && by->value >= 32;
  }
  // One of its registers is a copy of what the other operand has there.
  bool joins_zeros(std::uint32_t i) const {
    if (first(i) != "or" && first(i) != "xor") return false;
    for (std::uint32_t o = 1; o < function_.instructions[i].operand_count; ++o)
      if (const std::uint32_t made = definition(i, o); made != no_index && leaves_zeros(made)) return true;
    return false;
  }

  // Of the two registers of a mask: how many are copies, or constants.
  int halves_kept(std::uint32_t i) const {
    if (function_.instructions[i].operand_count != 3) return 0;
    const Operand* mask = constant_of(operand(i, 2));
    if (mask == nullptr) return 0;
    // What is part of this operation has to be executed here.
    const std::uint32_t made = definition(i, 1);
    const bool copies = first(i) != "xor" && (made == no_index || !part_of_logic_[made]);
    int kept = 0;
    for (const std::uint64_t half : {mask->value & 0xffffffffu, mask->value >> 32})
      kept += half == 0 || (half == 0xffffffffu && copies) ? 1 : 0;
    return kept;
  }

  // Whatever is on the FMA pipe and not of floating-point numbers is an integer product.
  MachineWork with_products(std::uint32_t i, MachineWork work) const {
    const std::string_view all = opcode(i);
    if (work[Pipe::fma] <= 0) return work;
    if (is_floating(all)) {
      work.imad = kEitherCycles * work[Pipe::fma];
      return work;
    }
    const double wide = wide_products(i, work);
    work.imad = wide * kWideImadCycles + (work[Pipe::fma] - wide) * kImadCycles;
    return work;
  }

  // The instruction's own operands, each once; what else it becomes reads two words for each. Products of 64 bits are made in two
  // steps, which both read the factors.
  MachineWork with_reads(std::uint32_t i, MachineWork work) const {
    const double slots = work.total();
    if (slots <= 0) return work;
    const bool extends = ptx::has_part(opcode(i), "wide");
    std::vector<std::uint32_t> own;
    int words = 0, factors = 0;  // a summand of 64 bits is no factor
    values_.for_each_use(i, [&](std::uint32_t value) {
      if (std::find(own.begin(), own.end(), value) != own.end()) return;
      own.push_back(value);
      words += values_.width(value);
      if (!extends || values_.width(value) == 1) factors += values_.width(value);
    });
    const double wide = wide_products(i, work);
    work.reads = std::min(slots, 1.0) * words + 2 * std::max(slots - 1, 0.0) +
                 std::min(wide, 1.0) * std::min(factors, 2) + 2 * std::max(wide - 1, 0.0);
    return work;
  }

  static bool is_floating(std::string_view all) { return all.find(".f") != std::string_view::npos; }

  // Its products of 64 bits (IMAD.WIDE, IMAD.HI).
  double wide_products(std::uint32_t i, const MachineWork& work) const {
    return work[Pipe::fma] <= 0 || is_floating(opcode(i)) ? 0 : wide_share(i, work) * work[Pipe::fma];
  }

  // How many of its products have 64 bits: all that make the upper half of a product, one of the three
  // that make the lower 64 bits, one of five of a 32-bit division, whose moves count among them, and half of those of 64 bits.
  double wide_share(std::uint32_t i, const MachineWork& work) const {
    const std::string_view all = opcode(i);
    const ptx::FirstWord name = first(i);
    const bool pair = all.ends_with("64");
    if (ptx::has_part(all, "wide") || ptx::has_part(all, "hi")) return 1;
    if (name == "mul" || name == "mad") return pair ? 1.0 / 3 : 0;
    if (name == "div" || name == "rem") return pair ? 0.5 : 0.2;
    return is_sum(i, "64") && work[Pipe::alu] == 0 ? 1 : 0;
  }

  std::optional<MachineWork> sum_rule(std::uint32_t i) {
    const ptx::FirstWord name = first(i);
    const std::string_view all = opcode(i);
    if (all.ends_with(".f32")) return work_of(Pipe::fma);
    if (all.ends_with(".f64")) return work_of(Pipe::fp64);
    if (all.ends_with("16") || all.ends_with("16x2") || name == "fma") return std::nullopt;
    if (all.starts_with("mul.wide") || all.starts_with("mad.wide")) return work_of(Pipe::fma);
    if (is_sum(i, "64")) {
      if (ptx::has_part(all, "cc")) return std::nullopt;
      for (std::uint32_t o = 1; o < 3; ++o) {
        const std::uint32_t made = definition(i, o);
        // What is added to it is extended to a pair of registers.
        if (made != no_index && folded_[made] && opcode(made).starts_with("mul.wide"))
          return work_of(Pipe::fma, is_extended(definition(i, 3 - o)) ? 2.5 : 1);
      }
      return work_of(Pipe::alu, is_narrow(i) ? 1 : 2);
    }
    if (counts_condition(i)) {
      // Of 133 sums of tests/development, VIADD, else IADD3, and @P IMAD.MOV, else @P IADD3.
      const double on_fma = target_ < 90 ? 0.7 : 1.4;
      MachineWork work = work_of(Pipe::alu, 2 - on_fma);
      work.add(work_of(Pipe::fma, on_fma));
      return work;
    }
    if (is_sum(i, "32") && !ptx::has_part(all, "cc"))
      return work_of(absorbs_[i] != 0 ? Pipe::fma : Pipe::alu);
    if (all.starts_with("mul.lo") && (is_integer(i, "32") || is_narrow(i))) return work_of(Pipe::fma);
    if (all.starts_with("mad.lo") && is_integer(i, "32") && !ptx::has_part(all, "cc"))
      return work_of(Pipe::fma);
    if (all.starts_with("mul.hi") && is_integer(i, "32")) return work_of(Pipe::fma);
    return std::nullopt;
  }

  // Of an array in registers: a comparison of the index with each word's, and for each access a move or a choice of each word,
  // half of them on either pipe. The moves of constant places vanish.
  MachineWork choice_among(const analysis::RegisterArrays::Access& access) const {
    if (!access.computed) return {};
    const double words = code_.register_array_words();
    MachineWork work = work_of(Pipe::alu, words * (access.first_use ? 1.5 : 0.5));
    work[Pipe::fma] = words / 2;
    return work;
  }

  std::optional<MachineWork> access_rule(std::uint32_t i) {
    const auto space = ptx::space_of(opcode(i));
    if (const auto* access = code_.register_array_access(i)) return choice_among(*access);
    if (one_of_wide(i)) return MachineWork();
    if (one_matrix(i)) return work_of(Pipe::lsu);
    if (const auto work = fragment_rule(i)) return work;
    if (space == ptx::StateSpace::global || space == ptx::StateSpace::shared ||
        space == ptx::StateSpace::local || space == ptx::StateSpace::generic ||
        space == ptx::StateSpace::constant)
      if (first(i) == "ld" || first(i) == "st")
        return work_of(space == ptx::StateSpace::constant ? Pipe::adu : Pipe::lsu, 1 + packed_parts(i));
    return std::nullopt;
  }
  // ldmatrix and stmatrix.
  bool one_matrix(std::uint32_t i) const { return first(i) == "ldmatrix" || first(i) == "stmatrix"; }

  // The requests of wmma.load and wmma.store (matrix_operation.h); of shared memory, factors that lie as the product has them,
  // and all halves, come by ldmatrix, of up to 512 bytes. Each group of lines has an address.
  std::optional<MachineWork> fragment_rule(std::uint32_t i) const {
    const auto operation = ptx::matrix_operation(opcode(i));
    const auto requests = operation ? ptx::fragment_requests(*operation) : std::nullopt;
    if (!requests) return std::nullopt;
    if (ptx::space_of(opcode(i)) == ptx::StateSpace::shared && requests->loads_matrices) {
      constexpr int most = 512;
      return work_of(Pipe::lsu, (requests->requests() * 32 * requests->bytes + most - 1) / most);
    }
    MachineWork work = work_of(Pipe::lsu, requests->requests() * (1 + requests->moves_per_request));
    if (ptx::space_of(opcode(i)) == ptx::StateSpace::shared) return work;
    work[Pipe::alu] += 2;
    work[Pipe::fma] += requests->lines / requests->lines_per_request() - 1;
    return work;
  }

  std::optional<MachineWork> matrix_rule(std::uint32_t i) const {
    const auto operation = ptx::matrix_operation(opcode(i));
    if (!operation) return std::nullopt;
    const MatrixWork made = matrix_work(*operation, target_);
    MachineWork work = work_of(Pipe::tensor, made.instructions);
    work.matrix = made.instructions * made.cycles;
    return work;
  }

  // Bytes and halves of words that are loaded or stored together are taken apart, or put together.
  double packed_parts(std::uint32_t i) const {
    const std::string_view all = opcode(i);
    const bool four = ptx::has_part(all, "v4"), two = ptx::has_part(all, "v2");
    if (!four && !two) return 0;
    const double parts = four ? 4 : 2;
    if (all.ends_with("8")) return first(i) == "ld" ? parts : parts - 1;
    if (all.ends_with("16")) return first(i) == "ld" ? parts / 2 : parts / 2;
    return 0;
  }
  bool one_of_wide(std::uint32_t i) const { return i < in_wide_.size() && in_wide_[i]; }

  void demand_constants(std::uint32_t i, std::uint32_t b) {
    const ptx::FirstWord name = first(i);
    const std::string_view all = opcode(i);
    const Instruction& one = function_.instructions[i];
    const bool floating = all.ends_with(".f32") || all.ends_with(".f64");
    if (name == "st") {
      for (std::uint32_t o = 1; o < one.operand_count; ++o) {
        const Operand& value = operand(i, o);
        if (value.kind == Kind::vector) {
          for (std::uint32_t p = 0; p < value.part_count; ++p)
            demand_constant(operands_[value.first_part + p], b, i);
        } else {
          demand_constant(value, b, i);
        }
      }
      return;
    }
    if ((name == "atom" || name == "red") && one.operand_count > 1) {
      for (std::uint32_t o = destinations(one); o < one.operand_count; ++o)
        demand_constant(operand(i, o), b, i);
      return;
    }
    if (!(floating || name == "mad" || name == "selp" || name == "mul")) return;
    int constants = 0;
    for (std::uint32_t o = 1; o < one.operand_count; ++o) {
      const Operand* constant = constant_of(operand(i, o));
      if (constant == nullptr) continue;
      const bool too_long = all.ends_with(".f64") && (constant->value & 0xffffffffu) != 0;
      if (constants > 0 || too_long || all.starts_with("mul.hi.s")) demand_constant(*constant, b, i);
      if (!too_long && constant->value != 0) ++constants;
    }
  }

  // ---- branches

  std::optional<MachineWork> branch_rule(std::uint32_t i, std::uint32_t b) {
    const analysis::Block& block = cfg_.blocks[b];
    if (opcode(i).starts_with("brx")) return std::nullopt;
    if (!is_guarded(i)) {
      // Where a short branch is predicated, the branch around its other side is, too.
      if (short_.contains(b) || is_only_branch(b)) return MachineWork();
      if (block.successors.size() == 1 && is_end(block.successors[0])) return MachineWork();
      const bool next = block.successors.size() == 1 && cfg_.blocks[block.successors[0]].first == block.end;
      return next ? MachineWork() : work_of(Pipe::cbu);
    }
    if (predicated_[b]) return MachineWork();
    MachineWork work = work_of(Pipe::cbu);
    if (block.successors.size() != 2) return work;
    const std::uint32_t taken = through(block.successors[0]), next = through(block.successors[1]);
    const bool back =
        cfg_.blocks[taken].first <= i || (next != block.successors[1] && cfg_.blocks[next].first <= i);
    if (back || is_end(block.successors[0]) || is_end(block.successors[1])) return work;
    if (converges(b) && is_varying(operands_[function_.instructions[i].guard]) &&
        !known(fmt::format("join {}", block.post_dominator), b))
      work[Pipe::cbu] += 2;
    return work;
  }

  // Whether its threads meet again before the end.
  bool converges(std::uint32_t b) const {
    const std::uint32_t join = cfg_.blocks[b].post_dominator;
    return join != none && !is_end(join) && !leaves_loop(b);
  }
  bool leaves_loop(std::uint32_t b) const {
    const std::uint32_t loop = cfg_.blocks[b].loop;
    if (loop == none) return false;
    for (const std::uint32_t to : cfg_.blocks[b].successors)
      if (!cfg_.contains(loop, to)) return true;
    return false;
  }

  // ---- loads that are joined

  // Of shared and local memory, whose addresses ptxas knows: neighbours with the same base are one load of up
  // to 16 bytes, where they are aligned.
  void note_wide_loads() {
    in_wide_.assign(function_.instructions.size(), false);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (block_is_dead(b)) continue;
      std::map<std::pair<std::uint32_t, int>, std::map<std::int64_t, std::uint32_t>>
          groups;  // by base and bytes
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        if (!live_[i]) continue;
        if (ends_group(i)) {
          for (const auto& [key, loads] : groups) join(key.first, key.second, loads);
          groups.clear();
        }
        const int bytes = ptx::access_bytes(opcode(i));
        if (!is_joinable_load(i) || bytes < 4 || bytes > 8) continue;
        const bool stores = first(i) == "st";
        const Operand& address = operand(i, stores ? 0 : 1);
        const Operand& base = operands_[address.first_part];
        const std::uint32_t key = base.kind == Kind::reg
                                      ? base.symbol
                                      : 0x80000000u + static_cast<std::uint32_t>(base.value & 0xffff);
        const bool constant = ptx::space_of(opcode(i)) == ptx::StateSpace::constant;
        groups[{key, constant     ? -bytes
                     : is_copy(i) ? stores ? 10'008 : 20'008
                                  : bytes}]
            .try_emplace(static_cast<std::int64_t>(address.value), i);
      }
      for (const auto& [key, loads] : groups) join(key.first, key.second, loads);
    }
  }

  bool is_joinable_load(std::uint32_t i) const {
    const bool loads = first(i) == "ld", copies = first(i) == "st" && is_copy(i);
    if ((!loads && !copies) || is_guarded(i) || ptx::has_part(opcode(i), "volatile") ||
        function_.instructions[i].operand_count != 2)
      return false;
    const auto space = ptx::space_of(opcode(i));
    if (space != ptx::StateSpace::shared && space != ptx::StateSpace::local &&
        space != ptx::StateSpace::constant && !is_copy(i))
      return false;
    if (code_.register_array_access(i) != nullptr) return false;
    const Operand& address = operand(i, loads ? 1 : 0);
    return operand(i, loads ? 0 : 1).kind == Kind::reg && address.kind == Kind::address &&
           address.part_count == 1 &&
           (operands_[address.first_part].kind == Kind::reg ||
            operands_[address.first_part].kind == Kind::symbol);
  }

  // Of a copied structure, such as float4, which clang copies in pieces, and nvcc at once.
  bool is_copy(std::uint32_t i) const {
    return !is_of_nvcc_ && ptx::space_of(opcode(i)) == ptx::StateSpace::global && opcode(i).ends_with("u64");
  }

  // Loads do not pass it.
  bool ends_group(std::uint32_t i) const {
    const Instruction& one = function_.instructions[i];
    if (one.info == nullptr || one.info->category == Category::barrier ||
        one.info->category == Category::call)
      return true;
    const auto space = ptx::space_of(one);
    const bool writes = one.info->category == Category::store || one.info->category == Category::atomic ||
                        one.info->category == Category::async_copy;
    return writes && space != ptx::StateSpace::global;
  }

  void join(std::uint32_t base, int bytes, const std::map<std::int64_t, std::uint32_t>& loads) {
    if (loads.size() < 2) return;
    const std::int64_t most = bytes < 0 ? 8 : 16;  // of constants
    const bool copies = bytes > 10'000;            // taken to be aligned
    bytes = std::abs(bytes) % 10'000;
    const std::int64_t aligned =
        base >= 0x80000000u || copies ? 16 : std::int64_t{1} << std::min(4, zero_bits(base, 0));
    for (auto at = loads.begin(); at != loads.end();) {
      std::int64_t width = most;
      for (; width > bytes; width /= 2)
        if (aligned >= width && at->first % width == 0 && has_all(loads, at->first, bytes, width)) break;
      for (std::int64_t next = at->first + bytes; next < at->first + width; next += bytes)
        in_wide_[loads.at(next)] = true;
      const std::int64_t end = at->first + width;
      while (at != loads.end() && at->first < end) ++at;
    }
  }
  static bool has_all(const std::map<std::int64_t, std::uint32_t>& loads, std::int64_t from, int bytes,
                      std::int64_t width) {
    for (std::int64_t at = from; at < from + width; at += bytes)
      if (!loads.contains(at)) return false;
    return true;
  }

  // How many of the lowest bits of an address are zero. Where variables lie in shared memory is for ptxas to
  // choose.
  int zero_bits(std::uint32_t reg, int depth) {
    constexpr int all = 16;
    if (depth > 12) return 0;
    if (const auto known = zero_bits_.find(reg); known != zero_bits_.end()) return known->second;
    zero_bits_[reg] = all;  // of a counter: what it begins with and what is added decide
    int least = definitions_[reg].empty() ? 0 : all;
    for (const std::uint32_t made : definitions_[reg])
      least = std::min(least, zero_bits_of_result(made, depth));
    zero_bits_[reg] = least;
    return least;
  }
  int zero_bits_of(const Operand& read, int depth) {
    if (read.kind == Kind::integer) return read.value == 0 ? 16 : std::min(16, std::countr_zero(read.value));
    if (read.kind == Kind::symbol) return 4;
    if (read.kind == Kind::sum) return std::min(4, read.value == 0 ? 16 : std::countr_zero(read.value));
    if (read.kind == Kind::reg && read.symbol < definitions_.size()) return zero_bits(read.symbol, depth + 1);
    return 0;
  }
  int zero_bits_of_result(std::uint32_t i, int depth) {
    const ptx::FirstWord name = first(i);
    const std::uint32_t count = function_.instructions[i].operand_count;
    const auto of = [&](std::uint32_t o) { return zero_bits_of(operand(i, o), depth); };
    if (is_guarded(i)) return 0;
    if ((name == "mov" || name == "cvta" || name == "cvt") && count == 2) return of(1);
    if ((name == "add" || name == "sub" || name == "or" || name == "xor") && count == 3)
      return std::min(of(1), of(2));
    if (name == "and" && count == 3) return std::max(of(1), of(2));
    if (name == "shl" && count == 3) {
      const Operand* by = constant_of(operand(i, 2));
      return by == nullptr
                 ? of(1)
                 : std::min<int>(16, of(1) + static_cast<int>(std::min<std::uint64_t>(16, by->value)));
    }
    if (name == "mul" && count == 3) return std::min(16, of(1) + of(2));
    if (name == "mad" && count == 4) return std::min({16, of(1) + of(2), of(3)});
    return 0;
  }

  void note_branches() {
    for (const std::uint32_t b : short_)
      if (const std::uint32_t branch = branch_of(branching_to(b)); !block_is_dead(b) && branch != no_index)
        made_.predicated.push_back({b, branch});
  }

  // ---- loops

  // A register that one instruction in the loop adds a constant to.
  struct Counter {
    std::uint32_t sum = no_index;  // instruction
    std::int64_t step = 0;
  };
  std::optional<Counter> counter_of(std::uint32_t reg, std::uint32_t loop) const {
    Counter found;
    for (const std::uint32_t made : definitions_[reg]) {
      if (!is_inside(made, loop)) continue;
      const std::uint32_t sum = first(made) == "mov" ? definition(made, 1) : made;
      if (sum == no_index || found.sum != no_index || first(sum) != "add" || is_guarded(sum) ||
          function_.instructions[sum].operand_count != 3)
        return std::nullopt;
      const Operand* step = constant_of(operand(sum, 2));
      if (step == nullptr || step->kind != Kind::integer || operand(sum, 1).symbol != reg)
        return std::nullopt;
      found = {sum, static_cast<std::int64_t>(step->value)};
    }
    if (found.sum == no_index) return std::nullopt;
    return found;
  }
  bool is_inside(std::uint32_t i, std::uint32_t loop) const {
    return block_of_[i] != none && cfg_.contains(loop, block_of_[i]);
  }

  // The comparison that decides whether a loop with one exit goes on.
  std::uint32_t condition_of(std::uint32_t loop) const {
    const analysis::Loop& of = cfg_.loops[loop];
    if (of.exits.size() != 1 || of.latches.size() != 1) return no_index;
    const std::uint32_t last = last_block_of(cfg_, loop);
    if (of.exits.front().from != last) return no_index;
    return comparison_before(last, loop);
  }

  // What the branch at the end of a block goes by.
  std::uint32_t comparison_before(std::uint32_t end_of, std::uint32_t loop) const {
    const std::uint32_t branch = branch_of(end_of);
    if (branch == no_index || !is_guarded(branch)) return no_index;
    const std::uint32_t setp = definition_of(operands_[function_.instructions[branch].guard]);
    return setp != no_index && first(setp) == "setp" && is_inside(setp, loop) ? setp : no_index;
  }

  // Of a loop whose only exit is inside of its body, as where it is unrolled and the number of iterations is odd.
  std::uint32_t condition_inside(std::uint32_t loop) const {
    const analysis::Loop& of = cfg_.loops[loop];
    if (of.exits.size() != 1 || of.latches.size() != 1) return no_index;
    const std::uint32_t from = of.exits.front().from, last = of.latches.front();
    const std::uint32_t back = branch_of(last);
    if (from == last || !cfg_.dominates(from, last) || (back != no_index && is_guarded(back)))
      return no_index;
    return comparison_before(from, loop);
  }

  // What is a number in each copy of the body, once no iteration is left: what is computed of the counter and of numbers alone.
  std::set<std::uint32_t> numbers_in_copies(std::uint32_t loop) const {
    std::set<std::uint32_t> numbers;
    const auto is_number = [&](const Operand& read) {
      if (read.kind == Kind::integer || read.kind == Kind::floating || is_constant(read)) return true;
      if (read.kind != Kind::reg || read.symbol >= definitions_.size()) return false;
      if (const std::uint32_t made = definition_of(read); made != no_index) return numbers.contains(made);
      const auto& all = definitions_[read.symbol];
      return counter_of(read.symbol, loop) &&
             std::all_of(all.begin(), all.end(), [&](const std::uint32_t made) {
               return is_inside(made, loop) || (first(made) == "mov" && is_constant(operand(made, 1)));
             });
    };
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        const Instruction& one = function_.instructions[i];
        if (!live_[i] || code_.silent(i) || one.info == nullptr || is_guarded(i) || result_of(i) == no_index)
          continue;
        if (one.info->category != Category::arithmetic && one.info->category != Category::move) continue;
        bool all = one.operand_count > 1;
        for (std::uint32_t o = 1; o < one.operand_count; ++o) all = all && is_number(operand(i, o));
        if (all) numbers.insert(i);
      }
    return numbers;
  }

  // Whether ptxas leaves nothing of the loop but copies. A division or root with a path of its own keeps it.
  bool is_whole_by_ptxas(std::uint32_t loop, double iterations, double by_compiler) const {
    if (!is_innermost(loop) || is_kept_for_branches(loop, iterations)) return false;
    const BodyWork body = work_of_body(loop);
    double vanishes = 0;
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i)
        if (live_[i] && analysis::has_subroutine(function_.instructions[i])) return false;
    const std::set<std::uint32_t> control = control_of_copies(loop);
    for (const std::uint32_t i : control) vanishes += made_.each[i].total();
    double numbers = 0;
    for (const std::uint32_t i : numbers_in_copies(loop))
      if (!control.contains(i)) numbers += made_.each[i].total();
    const double all = (body.work - vanishes) * by_compiler + vanishes;
    const double gone = numbers * by_compiler + vanishes;
    return iterations / by_compiler * (all - gone) <= kMostWholeByShare * gone / std::max(all, 1.0);
  }

  // The branches of a loop with one exit, and what only they and counters are there for.
  std::set<std::uint32_t> control_of_copies(std::uint32_t loop) const {
    if (condition_of(loop) != no_index) return shared_by_copies(loop, true);
    const std::uint32_t condition = condition_inside(loop);
    if (condition == no_index) return {};
    std::set<std::uint32_t> control = {branch_of(cfg_.loops[loop].exits.front().from), condition};
    if (const std::uint32_t back = branch_of(cfg_.loops[loop].latches.front()); back != no_index)
      control.insert(back);
    return control;
  }

  // What is compared is the counter, before or after the sum, or its lower half.
  std::uint32_t counter_register(const Operand& compared) const {
    if (compared.kind != Kind::reg) return no_index;
    std::uint32_t reg = compared.symbol;
    const std::uint32_t made = definition_of(compared);
    if (made != no_index && opcode(made) == "cvt.u32.u64") return counter_register(operand(made, 1));
    if (made != no_index && first(made) == "add")
      reg = operand(made, 1).kind == Kind::reg ? operand(made, 1).symbol : no_index;
    return reg < definitions_.size() ? reg : no_index;
  }

  // How many iterations a loop has, where constants tell.
  std::optional<std::int64_t> constant_iterations(std::uint32_t loop) const {
    return constant_iterations(loop, condition_of(loop));
  }
  std::optional<std::int64_t> constant_iterations(std::uint32_t loop, std::uint32_t setp) const {
    if (setp == no_index || function_.instructions[setp].operand_count != 3) return std::nullopt;
    const Operand* bound = constant_of(operand(setp, 2));
    const Operand& counted = operand(setp, 1);
    if (bound == nullptr || bound->kind != Kind::integer || counted.kind != Kind::reg) return std::nullopt;
    const std::uint32_t reg = counter_register(counted);
    if (reg == no_index) return std::nullopt;
    const auto counter = counter_of(reg, loop);
    if (!counter || counter->step == 0) return std::nullopt;
    const Operand* begin = nullptr;
    for (const std::uint32_t made : definitions_[reg]) {
      if (is_inside(made, loop)) continue;
      if (begin != nullptr || first(made) != "mov" || is_guarded(made)) return std::nullopt;
      begin = constant_of(operand(made, 1));
      if (begin == nullptr) return std::nullopt;
    }
    if (begin == nullptr) return std::nullopt;
    const std::int64_t distance =
        static_cast<std::int64_t>(bound->value) - static_cast<std::int64_t>(begin->value);
    const std::int64_t iterations = distance / counter->step;
    if (iterations < 1 || iterations > 100'000) return std::nullopt;
    return iterations;
  }

  std::uint32_t size_of(std::uint32_t loop) const {
    std::uint32_t size = 0;
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i)
        size += live_[i] && !folded_[i] && !code_.silent(i) ? 1 : 0;
    return size;
  }

  bool is_innermost(std::uint32_t loop) const {
    return std::none_of(cfg_.loops.begin(), cfg_.loops.end(),
                        [&](const analysis::Loop& other) { return other.parent == loop; });
  }

  // Whether it accesses constant or local memory, at places that are constants once it is unrolled.
  bool indexes_arrays(std::uint32_t loop) const {
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        const auto space = ptx::space_of(opcode(i));
        const bool accesses = first(i) == "ld" || first(i) == "st";
        if (!accesses || (space != ptx::StateSpace::constant && space != ptx::StateSpace::local)) continue;
        const std::uint32_t address = base_register(i);
        if (address != no_index && varies_in(loop, address) && is_place_in_copies(address, loop)) return true;
      }
    return false;
  }
  // Whether a register is computed of the loop's counters, of constants and of the addresses of arrays alone.
  bool is_place_in_copies(std::uint32_t reg, std::uint32_t loop, int steps = 0) const {
    constexpr int kMostSteps = 6;
    if (reg >= definitions_.size() || steps > kMostSteps) return false;
    if (counter_of(reg, loop)) return true;
    if (definitions_[reg].size() != 1) return false;
    const std::uint32_t made = definitions_[reg].front();
    const Instruction& one = function_.instructions[made];
    if (is_guarded(made) || one.info == nullptr ||
        (one.info->category != Category::arithmetic && one.info->category != Category::move))
      return false;
    for (std::uint32_t o = 1; o < one.operand_count; ++o) {
      const Operand& read = operand(made, o);
      if (read.kind == Kind::special) return false;
      if (read.kind == Kind::reg && !is_place_in_copies(read.symbol, loop, steps + 1)) return false;
    }
    return true;
  }

  // Whether a loop has branches that ptxas keeps it for: in too many iterations, or too many instructions of all of them.
  bool is_kept_for_branches(std::uint32_t loop, double iterations) const {
    return cfg_.loops[loop].blocks.size() > 1 &&
           (iterations > kMostTimesWithBranches || iterations * size_of(loop) > kMostWithBranches);
  }

  // ---- unrolling, by nvcc and then by ptxas

  // How a loop is executed: a piece of `longest` iterations as often as it can be, then pieces of `middle` and
  // of one.
  struct Pieces {
    double by_compiler = 1;  // iterations of the PTX in one of nvcc's
    double longest = 1;      // … and in one after ptxas
    bool whole = false;      // no branch is left
    bool exact = false;      // no iteration is left over
  };

  struct BodyWork {
    double work = 0, control = 0;  // machine instructions of an iteration; of what unrolled copies share
    double loads = 0;
    bool barrier = false;
  };

  Pieces pieces_of(std::uint32_t loop) const {
    Pieces pieces;
    if (!is_innermost(loop)) return pieces;
    if (is_kept_rolled(code_.module(), function_, cfg_, loop)) return is_of_nvcc_ ? pieces : rest_of(loop);
    const auto iterations = constant_iterations(loop);
    if (iterations && *iterations * size_of(loop) <= kMostUnrolledWhole &&
        !is_kept_for_branches(loop, static_cast<double>(*iterations)) && indexes_arrays(loop)) {
      pieces.longest = static_cast<double>(*iterations);
      pieces.whole = true;
      return pieces;
    }
    if (const std::uint32_t condition = condition_inside(loop); condition != no_index) {
      const auto passes = constant_iterations(loop, condition);
      if (passes && is_whole_by_ptxas(loop, static_cast<double>(*passes) + 0.5, 1)) {
        pieces.longest = static_cast<double>(*passes);
        pieces.whole = true;
        return pieces;
      }
    }
    if (!contexts_.steps(loop)) {
      if (!is_of_nvcc_ && steps_by_parameter(loop))
        pieces.by_compiler = pieces.longest =
            static_cast<double>(unrolled_by_nvcc(size_for_nvcc(loop, 1), std::nullopt).times);
      return pieces;
    }
    if (step_of_condition(loop) == 0) return pieces;
    const BodyWork body = work_of_body(loop);
    double copies = 1;
    if (!is_of_nvcc_) {
      copies = static_cast<double>(copies_of_source(code_, cfg_, loop, step_of_condition(loop)));
      if (is_unrolled_by_nvcc(loop, copies, body.barrier)) {
        std::optional<std::int64_t> of_source;
        if (iterations) of_source = *iterations * static_cast<std::int64_t>(copies);
        const SourceUnrolling nvcc = unrolled_by_nvcc(size_for_nvcc(loop, copies), of_source);
        pieces.by_compiler = static_cast<double>(nvcc.times) / copies;
        pieces.whole = nvcc.whole;
      }
    }
    pieces.longest = pieces.by_compiler;
    if (pieces.whole) return pieces;
    if (iterations && is_whole_by_ptxas(loop, static_cast<double>(*iterations), pieces.by_compiler)) {
      pieces.longest = static_cast<double>(*iterations);
      pieces.whole = true;
      return pieces;
    }
    pieces.exact = iterations.has_value() &&
                   std::fmod(static_cast<double>(*iterations), kUnrolledTimes * pieces.by_compiler) == 0;
    if (pieces.exact && !is_of_nvcc_ &&
        static_cast<double>(*iterations) == kUnrolledTimes * pieces.by_compiler) {
      pieces.longest = static_cast<double>(*iterations);
      pieces.whole = true;
    } else if (is_unrolled_by_ptxas(loop, body, pieces)) {
      pieces.longest *= kUnrolledTimes;
    }
    return pieces;
  }

  // Of the iterations that are left over where clang unrolls more often than nvcc.
  Pieces rest_of(std::uint32_t loop) const {
    std::uint32_t before = none, after = none;
    for (std::uint32_t other = 0; other < cfg_.loops.size(); ++other) {
      const std::uint32_t header = cfg_.loops[other].header;
      if (other == loop || cfg_.loops[other].parent != cfg_.loops[loop].parent) continue;
      if (header < cfg_.loops[loop].header) {
        if (before == none || header > cfg_.loops[before].header) before = other;
      } else if (after == none || header < cfg_.loops[after].header) {
        after = other;
      }
    }
    const std::uint32_t unrolled = before != none ? before : after;
    Pieces pieces;
    if (unrolled == none || is_kept_rolled(code_.module(), function_, cfg_, unrolled)) return pieces;
    if (pieces_of(unrolled).by_compiler >= 1) return pieces;
    pieces.by_compiler = pieces.longest = kUnrolledTimes;
    return pieces;
  }

  // nvcc divides to know how many iterations there are.
  bool steps_by_parameter(std::uint32_t loop) const {
    const std::uint32_t setp = condition_of(loop);
    if (setp == no_index || work_of_body(loop).barrier) return false;
    for (std::uint32_t o = 1; o < function_.instructions[setp].operand_count; ++o) {
      const Operand& compared = operand(setp, o);
      if (compared.kind != Kind::reg || compared.symbol >= definitions_.size()) continue;
      for (const std::uint32_t made : definitions_[compared.symbol]) {
        if (!is_inside(made, loop) || first(made) != "add" || !is_sum(made, "32")) continue;
        const std::uint32_t leaf = leaf_of(operand(made, 2));
        if (leaf != no_index && opcode(leaf).starts_with("ld.param")) return true;
      }
    }
    return false;
  }

  // Without a barrier: threads would wait for each other in the iterations that are left over.
  bool is_unrolled_by_nvcc(std::uint32_t loop, double copies, bool barrier) const {
    if (barrier || condition_of(loop) == no_index) return false;
    return copies > 1 || !is_unrolled_by_compiler(loop);
  }

  bool is_unrolled_by_ptxas(std::uint32_t loop, const BodyWork& body, const Pieces& pieces) const {
    if (contexts_.hinders_unrolling(loop) || pointers_[loop].overflows) return false;
    if (is_of_nvcc_ && !pieces.exact && loops_[loop] != LoopKind::unrolled) return false;
    const double work = (body.work - body.control) * pieces.by_compiler + body.control;
    const double loads = body.loads * pieces.by_compiler;
    if (body.barrier) return work <= kMostUnrolledWithBarrier && loads <= kMostLoadsExactly;
    if (pieces.exact) return work <= kMostUnrolledExactly && loads <= kMostLoadsExactly;
    return work <= (body.loads > 0 ? kMostUnrolledWork : kMostUnrolledWithoutLoads);
  }

  BodyWork work_of_body(std::uint32_t loop) const {
    BodyWork body;
    body.control = 2 * pointers_[loop].stepping;
    body.work = body.control;
    for (const std::uint32_t b : cfg_.loops[loop].blocks) {
      body.work += work_of_side(b);
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        body.barrier = body.barrier || opcode(i).starts_with("bar.sync");
        if (live_[i] && first(i) == "ld" && !folded_[i]) body.loads += 1;
      }
    }
    for (const std::uint32_t i : shared_by_copies(loop, false)) body.control += made_.each[i].total();
    return body;
  }

  // What LLVM counts of an iteration of the source.
  double size_for_nvcc(std::uint32_t loop, double copies) const {
    double size = pointers_[loop].indices_each;
    const std::set<std::uint32_t> control = shared_by_copies(loop, false);
    for (const std::uint32_t b : cfg_.loops[loop].blocks) {
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        if (!live_[i] || code_.silent(i) || control.contains(i)) continue;
        const Category category = function_.instructions[i].info == nullptr
                                      ? Category::arithmetic
                                      : function_.instructions[i].info->category;
        if (category == Category::move || first(i) == "mov" || first(i) == "cvta" || is_leaf(i)) continue;
        const bool two = first(i) == "fma" || first(i) == "mad" ||
                         (address_register(i) != no_index && varies_in(loop, address_register(i)));
        size += first(i) == "div" || first(i) == "rem" ? 4 : two ? 2 : 1;
      }
    }
    return size / copies + pointers_[loop].indices_once + 1;
  }
  bool varies_in(std::uint32_t loop, std::uint32_t reg) const {
    return std::any_of(definitions_[reg].begin(), definitions_[reg].end(),
                       [&](std::uint32_t made) { return is_inside(made, loop); });
  }

  // Of the counter that the condition of a loop compares; 0: unknown.
  std::int64_t step_of_condition(std::uint32_t loop) const {
    const std::uint32_t setp = condition_of(loop);
    if (setp == no_index || function_.instructions[setp].operand_count != 3) return 0;
    for (std::uint32_t o = 1; o < 3; ++o) {
      const std::uint32_t reg = counter_register(operand(setp, o));
      const auto counter = reg == no_index ? std::nullopt : counter_of(reg, loop);
      if (counter) return counter->step;
    }
    return 0;
  }

  // The rest of the iterations then is a loop behind it.
  bool is_unrolled_by_compiler(std::uint32_t loop) const {
    std::uint32_t next = none;
    for (std::uint32_t other = 0; other < cfg_.loops.size(); ++other) {
      if (cfg_.loops[other].parent != cfg_.loops[loop].parent) continue;
      if (cfg_.loops[other].header <= cfg_.loops[loop].header) continue;
      if (next == none || cfg_.loops[other].header < cfg_.loops[next].header) next = other;
    }
    return next != none && is_kept_rolled(code_.module(), function_, cfg_, next);
  }

  void lower_loop(std::uint32_t loop) {
    const analysis::Loop& of = cfg_.loops[loop];
    if (block_is_dead(of.header)) return;
    unroll(loop, pieces_of(loop));
    made_.loops[loop].entry[Pipe::fma] += pointers_[loop].entry;
    // Threads that leave it at different times wait for each other.
    bool waits = false;
    for (const analysis::Loop::Exit& exit : of.exits) {
      const std::uint32_t branch = branch_of(exit.from);
      if (branch == no_index || !is_guarded(branch) || is_end(exit.to)) continue;
      waits = waits || is_varying(operands_[function_.instructions[branch].guard]);
    }
    if (waits) made_.loops[loop].entry[Pipe::cbu] += 2;
  }

  // What the copies of a body have once: the branch, and counters that only addresses, sums and the condition
  // read. whole: also sums of counters, which are constants then.
  std::set<std::uint32_t> shared_by_copies(std::uint32_t loop, bool whole) const {
    const std::uint32_t condition = condition_of(loop);
    if (condition == no_index) return {};
    std::set<std::uint32_t> shared = {branch_of(last_block_of(cfg_, loop)), condition};
    for (const std::uint32_t b : cfg_.loops[loop].blocks) {
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        if (!live_[i]) continue;
        const std::uint32_t to = result_of(i);
        if (to == no_index) continue;
        if (whole && first(i) == "add" && is_constant(operand(i, 2)) && operand(i, 1).kind == Kind::reg &&
            operand(i, 1).symbol < uses_.size() && counter_of(operand(i, 1).symbol, loop))
          shared.insert(i);
        if (const auto counter = counter_of(to, loop); counter && is_shared_counter(to, counter->sum, loop)) {
          shared.insert(counter->sum);
          shared.insert(i);
        }
      }
    }
    return shared;
  }

  void unroll(std::uint32_t loop, const Pieces& pieces) {
    const double share = pieces.whole ? 0 : 1 / pieces.longest;
    const std::uint32_t last = branch_of(last_block_of(cfg_, loop));
    MachineWork control;  // of an iteration after ptxas
    if (last != no_index) {
      control[Pipe::alu] += 2 * pointers_[loop].stepping;
      made_.each[last][Pipe::alu] += 2 * share * pointers_[loop].stepping;
    }
    if (pieces.longest == 1) return;
    std::set<std::uint32_t> once = pieces.whole ? control_of_copies(loop) : shared_by_copies(loop, false);
    if (pieces.whole) once.merge(numbers_in_copies(loop));
    for (const std::uint32_t i : once) {
      MachineWork own = made_.each[i];
      if (i == last) own[Pipe::alu] -= 2 * share * pointers_[loop].stepping;
      control.add(own);
      made_.each[i].add(own, share - 1);
    }
    std::vector<UnrolledPiece>& all = made_.loops[loop].pieces;
    const auto longest = static_cast<std::int64_t>(std::max(1.0, pieces.longest));
    if (longest > 1) all = {{longest, {}}};
    if (pieces.whole || pieces.exact) return;
    made_.loops[loop].entry[Pipe::alu] += pieces.longest > pieces.by_compiler ? kUnrolledEntry : 0;
    if (!is_of_nvcc_ && !contexts_.steps(loop) && !is_kept_rolled(code_.module(), function_, cfg_, loop))
      made_.loops[loop].entry[Pipe::fma] += kDivisionEntry;
    // Pieces of two iterations of nvcc's, and its own rest.
    const double middle = pieces.by_compiler > 1 ? pieces.by_compiler : 2 * pieces.by_compiler;
    for (const double size : {middle, 1.0}) {
      const auto iterations = static_cast<std::int64_t>(std::max(1.0, size));
      if (all.empty() || iterations >= all.back().iterations) continue;
      MachineWork beside;
      beside.add(control, static_cast<double>(iterations) * (1 / size - share));
      all.push_back({iterations, beside});
    }
  }

  bool is_shared_counter(std::uint32_t reg, std::uint32_t sum, std::uint32_t loop) const {
    const auto fits = [&](const Use& use) {
      if (use.as_address || use.instruction == sum || !is_inside(use.instruction, loop)) return true;
      const ptx::FirstWord name = first(use.instruction);
      return name == "setp" || name == "mov" || opcode(use.instruction) == "cvt.u32.u64" ||
             is_sum(use.instruction, "32") || is_sum(use.instruction, "64");
    };
    const std::uint32_t next = result_of(sum);
    return std::all_of(uses_[reg].begin(), uses_[reg].end(), fits) &&
           (next == no_index || next == reg || std::all_of(uses_[next].begin(), uses_[next].end(), fits));
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  const analysis::KernelCode& code_;
  const analysis::Cfg& cfg_;
  const Contexts& contexts_;
  const std::vector<bool>& slow_;
  const std::vector<LoopKind>& loops_;
  const CostTable& table_;
  const int target_;
  LiveValues values_;
  Estimate made_;
  mutable std::vector<const MachineWork*> means_;        // by instruction: of the table; null: not looked for
  std::vector<std::vector<std::uint32_t>> definitions_;  // by register: instructions
  std::vector<std::vector<Use>> uses_;                   // by register: of live instructions
  std::vector<std::uint32_t> block_of_;                  // by instruction
  std::vector<bool> live_;                               // by instruction: something depends on it
  std::vector<bool> varying_;                            // by register: may differ between threads
  std::vector<bool> predicated_;                         // by block: its branch vanishes
  std::set<std::uint32_t> short_;                        // blocks that are predicated
  std::vector<bool> folded_;                             // by instruction: part of its readers
  std::vector<bool> has_call_;                           // by loop
  std::vector<std::uint32_t> before_latches_;            // by loop
  std::vector<bool> part_of_logic_;                      // by instruction: of the LOP3 of all that read it
  std::vector<std::uint8_t> absorbs_;                    // by instruction: how many became part of it
  bool is_of_nvcc_ = false;                              // who made the PTX
  // Of accesses whose addresses nvcc computes otherwise: the registers that they need of outside their loop.
  std::map<std::uint32_t, std::vector<std::uint32_t>> address_inputs_;
  std::map<std::uint32_t, double> address_work_;  // machine instructions of the same, in each iteration
  std::vector<Pointers> pointers_;                // by loop
  bool calls_ = false;                            // functions
  std::vector<bool> narrow_;                      // by register: its upper half is not needed
  std::map<std::uint32_t, int> zero_bits_;        // by register
  std::vector<bool> in_wide_;                     // by instruction: part of a wider load
  std::map<std::string, std::vector<std::uint32_t>> made_in_;  // leaves: the blocks that have them
};

}  // namespace

Estimate lower(const analysis::KernelCode& code, const analysis::Cfg& cfg, const Contexts& contexts,
               const std::vector<bool>& slow, const CostTable& table, int target) {
  return Lowering(code, cfg, contexts, slow, table, target).lower();
}

}  // namespace warptime::machine
