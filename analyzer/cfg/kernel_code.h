// One kernel as it is analysed: its instructions, with those of the device functions that it calls in the
// place of the calls, and memory that works like a register (parameters of calls, promoted stack slots) as
// registers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/module.h"

namespace warptime::analysis {

// A call that is not followed: what its callee executes is not known here.
struct OpaqueCall {
  std::string callee;  // its name in the source; empty: called through a pointer
  std::string why;     // "which this file does not define", "which calls itself", …
};

class KernelCode {
 public:
  KernelCode() = default;
  // As it stands: calls are not followed, stack slots stay memory. Both must outlive it.
  KernelCode(const ptx::Module& module, const ptx::Function& function)
      : module_(&module), function_(&function), operands_(&module.operands) {}
  KernelCode(KernelCode&&) = default;
  KernelCode& operator=(KernelCode&&) = default;

  // What it was made from, which must outlive it.
  const ptx::Module& module() const { return *module_; }
  // Its own where calls were followed or stack slots promoted; else the module's. The operands of
  // `function()` are in `operands()`.
  const ptx::Function& function() const { return *function_; }
  const std::vector<ptx::Operand>& operands() const { return *operands_; }

  // Where the instruction goes on when it leaves its function: after the call, of a followed function's
  // `ret`; after the callee's code, of a call whose guard does not hold. no_index: as its opcode says.
  std::uint32_t jump(std::uint32_t instruction) const {
    const auto it = jumps_.find(instruction);
    return it == jumps_.end() ? ptx::no_index : it->second;
  }
  // Whether the instruction only hands over an argument or result of a followed call: it is not executed.
  bool silent(std::uint32_t instruction) const {
    return instruction < silent_.size() && silent_[instruction];
  }
  const OpaqueCall* opaque_call(std::uint32_t instruction) const {
    const auto it = opaque_calls_.find(instruction);
    return it == opaque_calls_.end() ? nullptr : &it->second;
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
};

// `budget`: most instructions that the kernel may have with its callees; a call whose callee would go beyond
// is not followed, nor is one of a function that is being followed already.
KernelCode build_code(const ptx::Module& module, std::uint32_t function, std::size_t budget);

}  // namespace warptime::analysis
