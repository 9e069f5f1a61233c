// The values of PTX registers, as SymbolicExprs: static single assignment built on demand, one symbolic
// expression per register definition.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/ptx/module.h"
#include "analyzer/symbolic/bit_fields.h"
#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::analysis {

// A register at the start of a block whose incoming paths have different definitions of it.
struct Phi {
  std::uint32_t block = none;
  std::uint32_t reg = none;
};

class Evaluator {
 public:
  // Both must outlive it.
  Evaluator(const KernelCode& code, const Cfg& cfg);

  SymbolicExprs& exprs() { return exprs_; }
  const SymbolicExprs& exprs() const { return exprs_; }

  // The value that operand `index` of an instruction has when the instruction reads it.
  ExprId operand(std::uint32_t instruction, std::uint32_t index);
  // Part `index` of an operand that is a vector.
  ExprId vector_part(std::uint32_t instruction, const ptx::Operand& vector, std::uint32_t index) {
    return value_of(operands_[vector.first_part + index], instruction);
  }
  // The address of a memory access: base plus offset.
  ExprId address(std::uint32_t instruction, std::uint32_t operand_index);
  // 1 or 0: whether the guard of an instruction lets it execute. An instruction without a guard: 1.
  ExprId guard(std::uint32_t instruction);

  // The result of an instruction without a closed form.
  ExprId opaque_result(std::uint32_t instruction);

  // Records that the variables of an address lie in `space`, unless their declarations say otherwise.
  void note_space(ExprId address, ptx::StateSpace space);

  // A value that a thread computes from its coordinates without loops and loaded data: the bits that it loses
  // are known.
  bool is_of_thread(ExprId value) const {
    return !exprs_[value].indirect && (exprs_[value].dependence & on_thread) != 0;
  }

  std::uint32_t block_of(std::uint32_t instruction) const;

  const Phi& phi(std::uint32_t index) const { return phis_[index]; }
  std::size_t phi_count() const { return phis_.size(); }
  // The phi's incoming values, in the order of Block::predecessors.
  const std::vector<ExprId>& incoming(std::uint32_t phi);

  // The value of a phi that has only one incoming value, possibly through other phis.
  std::optional<ExprId> copy_of(std::uint32_t phi);

  // A phi as a select by the conditions of the branches that decide which of its incoming edges is taken;
  // nothing if other branches are involved, or if no condition differs between threads.
  std::optional<ExprId> chosen_by_thread(std::uint32_t phi);

  // What a value depends on, including phis and results: a bit set of Dependence. A phi depends on what its
  // incoming values depend on and on the conditions that choose between them; a result depends on what its
  // instruction reads.
  std::uint8_t dependence(ExprId value);

  // Whether a value is one of a generator of pseudo-random numbers, or a hash: on the way to it a product with a large constant
  // is cut to its low bits, sums of bits without carries follow each other (x ^= x << 13; x ^= x >> 17; …), or data are cut
  // to as many low bits as the launch says (key & mask).
  bool is_scrambled(ExprId value);

  // The only instruction that writes a register; nothing where several do, or none.
  std::optional<std::uint32_t> only_definition(std::uint32_t reg) const {
    return single_definition_[reg] == none ? std::nullopt : std::optional(single_definition_[reg]);
  }

  // The state space of a generic address, if the code shows it (cvta, a variable's address) and all incoming
  // paths agree.
  std::optional<ptx::StateSpace> space_of_address(ExprId address);

  // The variable whose address a symbol is; null for parameters and names that nothing declares.
  const ptx::Variable* variable_of(ExprId symbol) const {
    const auto it = symbol_variables_.find(exprs_[symbol].a);
    return it == symbol_variables_.end() ? nullptr : it->second;
  }

  const std::vector<ptx::Operand>& operands() const { return operands_; }
  const ptx::Function& function() const { return function_; }
  const Cfg& cfg() const { return cfg_; }

 private:
  // Whether `a & b` is some low bits of data, as many as the launch says: the place in a table of hashes.
  bool is_masked_data(ExprId a, ExprId b);
  struct Definitions {
    std::vector<std::uint32_t> instructions;  // that write the register, ascending
  };
  void collect_definitions();
  void note_definition(const ptx::Operand& operand, std::uint32_t instruction);
  ExprId value_of(const ptx::Operand& operand, std::uint32_t instruction);
  ExprId register_before(std::uint32_t reg, std::uint32_t instruction);
  ExprId register_at_entry(std::uint32_t reg, std::uint32_t block);
  ExprId register_at_end(std::uint32_t reg, std::uint32_t block);
  ExprId written_by(std::uint32_t instruction, std::uint32_t reg);
  ExprId evaluate(std::uint32_t instruction);
  ExprId unpacked(std::uint32_t instruction, std::uint32_t reg);
  struct Arrival {
    std::uint32_t from;  // a predecessor
    ExprId value;        // incoming
  };
  std::optional<ExprId> choose(std::uint32_t block, const std::vector<Arrival>& arrivals, bool& by_thread);
  std::optional<ExprId> load_parameter(std::uint32_t instruction, std::uint32_t part);
  std::optional<ExprId> parameter_at(ExprId address);
  std::uint8_t direct_dependence(ExprId value, std::vector<ExprId>& next);
  std::uint8_t instruction_dependence(std::uint32_t instruction, const std::function<void(ExprId)>& visit);
  void visit_sources_of_phi(std::uint32_t phi, const std::function<void(ExprId)>& visit);

  const ptx::Module& module_;
  const std::vector<ptx::Operand>& operands_;
  const ptx::Function& function_;
  const Cfg& cfg_;
  SymbolicExprs exprs_;
  BitFields bits_{exprs_};
  std::vector<std::uint32_t> block_of_;           // by instruction
  std::vector<std::uint32_t> single_definition_;  // by register: its only definition; none: none or several
  std::unordered_map<std::uint32_t, Definitions> several_;  // registers with several definitions
  static constexpr ExprId not_yet = ~ExprId{0};
  std::vector<ExprId> only_value_;  // by register: what its only definition writes
  std::unordered_map<std::uint64_t, ExprId>
      written_;  // (instruction, register) -> value, of those with several
  std::unordered_map<std::uint64_t, std::uint32_t> phi_index_;  // (block, register) -> phi
  std::vector<Phi> phis_;
  std::deque<std::vector<ExprId>> incoming_;  // references stay valid while phis are added
  std::unordered_map<std::uint32_t, std::optional<ExprId>> copies_;
  static constexpr std::uint8_t unknown_dependence = 0xff;
  std::vector<std::uint8_t> dependence_;  // by value, of those that are indirect
  std::vector<std::uint32_t>
      visit_of_;  // by value: while its dependence is being found, its number on the path + 1
  std::unordered_map<std::uint32_t, ptx::StateSpace> symbol_spaces_;  // serial of a symbol value -> space
  std::unordered_map<std::uint32_t, const ptx::Variable*> symbol_variables_;  // the same -> its variable
  std::unordered_map<std::uint32_t, std::uint32_t>
      symbol_parameters_;  // serial of a symbol value -> the parameter whose address it is
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint32_t>
      symbols_;  // name, and index of a function's own variable
  int depth_ = 0;
};

}  // namespace warptime::analysis
