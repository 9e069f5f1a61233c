// Addresses as sums: what a register is, told in values that are made of nothing simpler. Two accesses whose
// sums differ only in the constant have the same base register in nvcc's code, and an address whose sum grows
// by the same in each iteration of a loop is a pointer there that steps.
//
//   mad.lo.s32 %r1, %row, %n, %k;  mul.wide.s32 %rd1, %r1, 4;  add.s64 %rd2, %a, %rd1     a + 4 row·n + 4 k
//
// Sums of 32 bits are taken not to overflow, as compilers do with signed indices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"

namespace warptime::machine {

struct AddressForm {
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;  // value and factor, by value; no factor is 0
  std::int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
};

class AddressForms {
 public:
  // definitions: by register, the instructions that write it. All three must outlive it.
  AddressForms(const analysis::KernelCode& code, const analysis::Cfg& cfg,
               const std::vector<std::vector<std::uint32_t>>& definitions);

  const AddressForm& of(std::uint32_t reg);
  // By how much it grows from one iteration of the loop to the next; nothing: not by the same each time.
  std::optional<AddressForm> step_of(const AddressForm& form, std::uint32_t loop);
  // Whether a value of the form has several definitions, so that it is not the same wherever it is read.
  bool changes(const AddressForm& form) const;
  // Whether 64 bits are added for that step. What is a product of 32 bits is multiplied and added in one
  // instruction.
  bool steps_wide(const AddressForm& form, const AddressForm& step, std::uint32_t loop);
  // Whether it takes a sum of 32 bits without sign, which may overflow, so that no pointer can stand for it.
  bool is_unsigned(std::uint32_t reg, int depth = 0) const;

 private:
  struct Value {
    std::uint32_t reg;          // no_index: a name or a product
    std::uint32_t left, right;  // of a product: values
    bool wide;                  // of 64 bits
  };

  std::uint32_t value_of(std::uint32_t reg);
  std::uint32_t product_of(std::uint32_t left, std::uint32_t right, bool wide);
  AddressForm of_value(std::uint32_t value) const { return {{{value, 1}}, 0}; }
  AddressForm of_name(std::string_view name, bool wide);
  AddressForm of_operand(const ptx::Operand& operand);
  // What an instruction computes; nothing: it is no sum.
  std::optional<AddressForm> made_by(std::uint32_t instruction);
  std::optional<AddressForm> product(const AddressForm& left, const AddressForm& right, bool wide);
  std::optional<AddressForm> step_of_value(std::uint32_t value, std::uint32_t loop, int depth);
  std::optional<AddressForm> step_of_register(std::uint32_t reg, std::uint32_t loop, int depth);
  bool is_inside(std::uint32_t instruction, std::uint32_t loop) const;

  const ptx::Function& function_;
  const std::vector<ptx::Operand>& operands_;
  const analysis::Cfg& cfg_;
  const std::vector<std::vector<std::uint32_t>>& definitions_;
  std::vector<std::uint32_t> block_of_;            // by instruction
  std::vector<std::optional<AddressForm>> forms_;  // by register
  std::vector<Value> values_;
  std::map<std::uint32_t, std::uint32_t> registers_;  // to values
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> products_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
};

}  // namespace warptime::machine
