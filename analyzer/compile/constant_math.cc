#include "analyzer/compile/constant_math.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APSInt.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warptime::compiling {

namespace {

// The value as a double, which holds those of both types.
std::optional<double> number(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value);
  if (constant == nullptr) return std::nullopt;
  llvm::APFloat wide = constant->getValueAPF();
  bool inexact = false;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return wide.convertToDouble();
}

// A function of one number whose value is a number.
std::optional<double> value_of(llvm::Intrinsic::ID id, double x) {
  switch (id) {
    case llvm::Intrinsic::nvvm_lg2_approx_f:
    case llvm::Intrinsic::nvvm_lg2_approx_ftz_f:
      return std::log2(x);
    case llvm::Intrinsic::nvvm_ex2_approx_f:
    case llvm::Intrinsic::nvvm_ex2_approx_ftz_f:
      return std::exp2(x);
    case llvm::Intrinsic::nvvm_sin_approx_f:
    case llvm::Intrinsic::nvvm_sin_approx_ftz_f:
      return std::sin(x);
    case llvm::Intrinsic::nvvm_cos_approx_f:
    case llvm::Intrinsic::nvvm_cos_approx_ftz_f:
      return std::cos(x);
    case llvm::Intrinsic::nvvm_rcp_approx_ftz_f:
      return 1 / x;
    case llvm::Intrinsic::nvvm_sqrt_rn_f:
    case llvm::Intrinsic::nvvm_sqrt_rn_d:
      return std::sqrt(x);
    case llvm::Intrinsic::nvvm_trunc_f:
    case llvm::Intrinsic::nvvm_trunc_ftz_f:
    case llvm::Intrinsic::nvvm_trunc_d:
      return std::trunc(x);
    case llvm::Intrinsic::nvvm_floor_f:
    case llvm::Intrinsic::nvvm_floor_ftz_f:
    case llvm::Intrinsic::nvvm_floor_d:
      return std::floor(x);
    case llvm::Intrinsic::nvvm_ceil_f:
    case llvm::Intrinsic::nvvm_ceil_ftz_f:
    case llvm::Intrinsic::nvvm_ceil_d:
      return std::ceil(x);
    case llvm::Intrinsic::nvvm_saturate_f:
    case llvm::Intrinsic::nvvm_saturate_ftz_f:
    case llvm::Intrinsic::nvvm_saturate_d:
      return std::isnan(x) ? 0.0 : std::clamp(x, 0.0, 1.0);
    case llvm::Intrinsic::nvvm_d2f_rn:
    case llvm::Intrinsic::nvvm_d2f_rn_ftz:
      return x;
    default:
      return std::nullopt;
  }
}

// The same of two.
std::optional<double> value_of(llvm::Intrinsic::ID id, double x, double y) {
  switch (id) {
    case llvm::Intrinsic::nvvm_fmin_f:
    case llvm::Intrinsic::nvvm_fmin_ftz_f:
    case llvm::Intrinsic::nvvm_fmin_d:
      return std::fmin(x, y);
    case llvm::Intrinsic::nvvm_fmax_f:
    case llvm::Intrinsic::nvvm_fmax_ftz_f:
    case llvm::Intrinsic::nvvm_fmax_d:
      return std::fmax(x, y);
    default:
      return std::nullopt;
  }
}

// The bits of a number, or the number that bits are.
llvm::Constant* bits_of(const llvm::IntrinsicInst& call) {
  llvm::Type* type = call.getType();
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_bitcast_f2i:
    case llvm::Intrinsic::nvvm_bitcast_d2ll:
      if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(call.getArgOperand(0)))
        return llvm::ConstantInt::get(type, number->getValueAPF().bitcastToAPInt());
      return nullptr;
    case llvm::Intrinsic::nvvm_bitcast_i2f:
    case llvm::Intrinsic::nvvm_bitcast_ll2d:
      if (const auto* bits = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0)))
        return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), bits->getValue()));
      return nullptr;
    default:
      return nullptr;
  }
}

// A sum, a product or both, which are rounded as the intrinsic says.
llvm::Constant* rounded_value(const llvm::IntrinsicInst& call) {
  using llvm::APFloat;
  using namespace llvm::Intrinsic;
  enum class Kind { none, sum, product, both } kind = Kind::none;
  APFloat::roundingMode rounding = APFloat::rmNearestTiesToEven;
#define WARPTIME_ROUNDED(name, which)                   \
  case nvvm_##name##_rn_f:                              \
  case nvvm_##name##_rn_ftz_f:                          \
  case nvvm_##name##_rn_d:                              \
    kind = which;                                       \
    break;                                              \
  case nvvm_##name##_rz_f:                              \
  case nvvm_##name##_rz_ftz_f:                          \
  case nvvm_##name##_rz_d:                              \
    kind = which, rounding = APFloat::rmTowardZero;     \
    break;                                              \
  case nvvm_##name##_rm_f:                              \
  case nvvm_##name##_rm_ftz_f:                          \
  case nvvm_##name##_rm_d:                              \
    kind = which, rounding = APFloat::rmTowardNegative; \
    break;                                              \
  case nvvm_##name##_rp_f:                              \
  case nvvm_##name##_rp_ftz_f:                          \
  case nvvm_##name##_rp_d:                              \
    kind = which, rounding = APFloat::rmTowardPositive; \
    break;
  switch (call.getIntrinsicID()) {
    WARPTIME_ROUNDED(add, Kind::sum)
    WARPTIME_ROUNDED(mul, Kind::product)
    WARPTIME_ROUNDED(fma, Kind::both)
    default:
      return nullptr;
  }
#undef WARPTIME_ROUNDED
  for (const llvm::Use& argument : call.args())
    if (!llvm::isa<llvm::ConstantFP>(argument)) return nullptr;
  const auto argument = [&](unsigned i) {
    return llvm::cast<llvm::ConstantFP>(call.getArgOperand(i))->getValueAPF();
  };
  APFloat value = argument(0);
  if (kind == Kind::sum) value.add(argument(1), rounding);
  if (kind == Kind::product) value.multiply(argument(1), rounding);
  if (kind == Kind::both) value.fusedMultiplyAdd(argument(1), argument(2), rounding);
  return llvm::ConstantFP::get(call.getType(), value);
}

// How the conversion of a number to an integer rounds, and whether the integer has a sign.
struct ToInteger {
  llvm::APFloat::roundingMode rounding;
  bool is_signed;
};

std::optional<ToInteger> to_integer(llvm::Intrinsic::ID id) {
  constexpr auto nearest = llvm::APFloat::rmNearestTiesToEven, zero = llvm::APFloat::rmTowardZero,
                 down = llvm::APFloat::rmTowardNegative, up = llvm::APFloat::rmTowardPositive;
  using namespace llvm::Intrinsic;
#define WARPTIME_CONVERSIONS(from, to, is_signed) \
  case nvvm_##from##2##to##_rn:                   \
    return ToInteger{nearest, is_signed};         \
  case nvvm_##from##2##to##_rz:                   \
    return ToInteger{zero, is_signed};            \
  case nvvm_##from##2##to##_rm:                   \
    return ToInteger{down, is_signed};            \
  case nvvm_##from##2##to##_rp:                   \
    return ToInteger{up, is_signed};
  switch (id) {
    WARPTIME_CONVERSIONS(f, i, true)
    WARPTIME_CONVERSIONS(f, ui, false)
    WARPTIME_CONVERSIONS(f, ll, true)
    WARPTIME_CONVERSIONS(f, ull, false)
    WARPTIME_CONVERSIONS(d, i, true)
    WARPTIME_CONVERSIONS(d, ui, false)
    WARPTIME_CONVERSIONS(d, ll, true)
    WARPTIME_CONVERSIONS(d, ull, false)
    default:
      return std::nullopt;
  }
#undef WARPTIME_CONVERSIONS
}

// PTX's conversions go to the nearest integer of the type where the number is beyond all of them; 0 for what is no number.
llvm::Constant* converted(const llvm::ConstantFP& value, ToInteger how, llvm::Type& type) {
  llvm::APSInt result(type.getIntegerBitWidth(), !how.is_signed);
  bool exact = false;
  if (value.getValueAPF().isNaN()) return llvm::ConstantInt::get(&type, 0);
  value.getValueAPF().convertToInteger(result, how.rounding, &exact);
  return llvm::ConstantInt::get(&type, result);
}

llvm::Constant* value_of(const llvm::IntrinsicInst& call) {
  const auto id = call.getIntrinsicID();
  llvm::Type* type = call.getType();
  if (llvm::Constant* bits = bits_of(call)) return bits;
  if (call.arg_size() == 0 || !llvm::isa<llvm::ConstantFP>(call.getArgOperand(0))) return nullptr;
  const auto& first = *llvm::cast<llvm::ConstantFP>(call.getArgOperand(0));
  if (type->isIntegerTy()) {
    const auto how = to_integer(id);
    return how && call.arg_size() == 1 ? converted(first, *how, *type) : nullptr;
  }
  if (!type->isFloatTy() && !type->isDoubleTy()) return nullptr;
  if (llvm::Constant* rounded = rounded_value(call)) return rounded;
  std::optional<double> value;
  if (call.arg_size() == 1) value = value_of(id, *number(&first));
  if (call.arg_size() == 2)
    if (const auto second = number(call.getArgOperand(1))) value = value_of(id, *number(&first), *second);
  return value ? llvm::ConstantFP::get(type, *value) : nullptr;
}

}  // namespace

llvm::PreservedAnalyses FoldMathOfConstants::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& one : llvm::make_early_inc_range(llvm::instructions(function))) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
    llvm::Constant* value = call == nullptr ? nullptr : value_of(*call);
    if (value == nullptr) continue;
    one.replaceAllUsesWith(value);
    one.eraseFromParent();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace warptime::compiling
