// One kernel as it is analysed: its instructions, with the device functions that it calls inlined, and with
// memory that works like a register (parameters of calls, promoted stack slots) as registers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/cfg/register_arrays.h"
#include "analyzer/ptx/module.h"

namespace warptime::analysis {

// A call that is not inlined: what its callee executes is unknown.
struct OpaqueCall {
  std::string callee;  // its name in the source; empty: called through a pointer
  std::string why;     // "which this file does not define", "which calls itself", …
};

class KernelCode {
 public:
  KernelCode() = default;
  // The unchanged function: calls are not inlined, stack slots stay memory. Both must outlive it.
  KernelCode(const ptx::Module& module, const ptx::Function& function)
      : module_(&module), function_(&function), operands_(&module.operands) {}
  KernelCode(KernelCode&&) = default;
  KernelCode& operator=(KernelCode&&) = default;

  // What it was made from, which must outlive it.
  const ptx::Module& module() const { return *module_; }
  // Its own if calls were inlined or stack slots promoted; otherwise the module's. The operands of
  // `function()` are in `operands()`.
  const ptx::Function& function() const { return *function_; }
  const std::vector<ptx::Operand>& operands() const { return *operands_; }

  // Where control continues after an instruction that leaves its function: for the `ret` of an inlined
  // function, after the call; for a call whose guard is false, after the callee's code. no_index: as its
  // opcode says.
  std::uint32_t jump(std::uint32_t instruction) const {
    const auto it = jumps_.find(instruction);
    return it == jumps_.end() ? ptx::no_index : it->second;
  }
  // Whether the instruction only passes an argument or result of an inlined call: it is not executed.
  bool silent(std::uint32_t instruction) const {
    return instruction < silent_.size() && silent_[instruction];
  }
  const OpaqueCall* opaque_call(std::uint32_t instruction) const {
    const auto it = opaque_calls_.find(instruction);
    return it == opaque_calls_.end() ? nullptr : &it->second;
  }

  // Of arrays that ptxas is taken to keep in registers; null: it is no such access.
  const RegisterArrays::Access* register_array_access(std::uint32_t instruction) const {
    if (!arrays_in_registers_) return nullptr;
    const auto it = register_arrays_.accesses.find(instruction);
    return it == register_arrays_.accesses.end() ? nullptr : &it->second;
  }
  // Of 32 bits; 0: no arrays are in registers.
  std::uint32_t register_array_words() const { return arrays_in_registers_ ? register_arrays_.words : 0; }
  // What ptxas did, where its machine code is there.
  void know_arrays(bool in_registers) {
    arrays_in_registers_ = in_registers && !register_arrays_.accesses.empty();
  }

  // Appends copies of instructions [first, end); gives the index of the first. For irreducible flow.
  std::uint32_t duplicate(std::uint32_t first, std::uint32_t end);

 private:
  friend class CodeBuilder;
  const ptx::Module* module_ = nullptr;
  const ptx::Function* function_ = nullptr;
  const std::vector<ptx::Operand>* operands_ = nullptr;
  std::unique_ptr<ptx::Function> own_function_;
  std::unique_ptr<std::vector<ptx::Operand>> own_operands_;
  std::unordered_map<std::uint32_t, std::uint32_t> jumps_;
  std::unordered_map<std::uint32_t, OpaqueCall> opaque_calls_;
  std::vector<bool> silent_;
  RegisterArrays register_arrays_;
  bool arrays_in_registers_ = false;
};

// `budget`: the maximum number of instructions of the kernel with its callees. A call that would exceed it is
// not inlined, nor is a recursive call.
KernelCode build_code(const ptx::Module& module, std::uint32_t function, std::size_t budget);

}  // namespace warptime::analysis
