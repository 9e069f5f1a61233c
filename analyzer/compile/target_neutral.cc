#include "analyzer/compile/target_neutral.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/compile/targets.h"

namespace warptime::compiling {

namespace {

// The same on every target: indices, barriers, and arithmetic that is one instruction everywhere.
constexpr std::array<llvm::StringLiteral, 28> neutral_intrinsics{"llvm.nvvm.read.ptx.sreg.",
                                                                 "llvm.nvvm.barrier0",
                                                                 "llvm.nvvm.fmin.f",
                                                                 "llvm.nvvm.fmax.f",
                                                                 "llvm.nvvm.fmin.d",
                                                                 "llvm.nvvm.fmax.d",
                                                                 "llvm.nvvm.sqrt.",
                                                                 "llvm.nvvm.rsqrt.",
                                                                 "llvm.nvvm.rcp.",
                                                                 "llvm.nvvm.div.",
                                                                 "llvm.nvvm.ex2.approx.f",
                                                                 "llvm.nvvm.lg2.",
                                                                 "llvm.nvvm.sin.",
                                                                 "llvm.nvvm.cos.",
                                                                 "llvm.nvvm.bitcast.",
                                                                 "llvm.fma.f",
                                                                 "llvm.fmuladd.f",
                                                                 "llvm.fabs.f",
                                                                 "llvm.sqrt.f",
                                                                 "llvm.rint.f",
                                                                 "llvm.floor.f",
                                                                 "llvm.ceil.f",
                                                                 "llvm.trunc.f",
                                                                 "llvm.smin.i",
                                                                 "llvm.smax.i",
                                                                 "llvm.umin.i",
                                                                 "llvm.umax.i",
                                                                 "llvm.abs.i"};

bool is_neutral(const llvm::Type& type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type)) {
    const llvm::Type& element = *vector->getElementType();
    return element.isFloatTy() || element.isDoubleTy() || element.isIntegerTy(32) || element.isIntegerTy(64);
  }
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(&type)) {
    return std::all_of(structure->element_begin(), structure->element_end(),
                       [](const llvm::Type* element) { return is_neutral(*element); });
  }
  if (type.isArrayTy()) return is_neutral(*type.getArrayElementType());
  const bool integer = type.isIntegerTy() && type.getIntegerBitWidth() <= 64;
  return integer || type.isFloatTy() || type.isDoubleTy() || type.isPointerTy() || type.isVoidTy() ||
         type.isLabelTy() || type.isMetadataTy();
}

bool is_neutral_call(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isIntrinsic()) return false;
  if (llvm::isa<llvm::DbgInfoIntrinsic>(call) || call.isLifetimeStartOrEnd()) return true;
  const llvm::StringRef name = callee->getName();
  return std::any_of(neutral_intrinsics.begin(), neutral_intrinsics.end(),
                     [&](llvm::StringRef known) { return name.starts_with(known); });
}

bool is_neutral(const llvm::Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile() || !is_neutral(*instruction.getType())) return false;
  for (const llvm::Value* operand : instruction.operands()) {
    if (!llvm::isa<llvm::Function>(operand) && !is_neutral(*operand->getType())) return false;
  }
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || is_neutral_call(*call);
}

}  // namespace

bool is_target_neutral(const llvm::Module& module) {
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (!is_neutral(*variable.getValueType())) return false;
  }
  for (const llvm::Function& function : module) {
    for (const llvm::Argument& argument : function.args()) {
      if (!function.isDeclaration() && !is_neutral(*argument.getType())) return false;
    }
    const auto instructions = llvm::instructions(function);
    const auto neutral = [](const llvm::Instruction& instruction) { return is_neutral(instruction); };
    if (!std::all_of(instructions.begin(), instructions.end(), neutral)) return false;
  }
  return true;
}

bool is_neutral_target(const std::string& target) {
  const std::optional<Target> parsed = parse_target(target);
  return parsed && parsed->number >= 32 && parsed->suffix.empty();
}

}  // namespace warptime::compiling
