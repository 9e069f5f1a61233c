// Numbers in floating point that are made of numbers alone, as in what a math function asks of an argument that is a number: whether
// the exponent of powf(x, 0.45f) is odd. Compilers leave such tests in PTX, and ptxas takes them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/ptx/module.h"

namespace warptime::analysis {

class Evaluator;

// The value of an operand of f32 or f64, as PTX computes it; nothing where it is not such a number, or is made in more than
// 16 steps.
std::optional<double> float_constant(const Evaluator& evaluator, const ptx::Operand& operand);

// setp.CmpOp.f32 or .f64 of two such numbers; nothing for the operators that name no order, as `nan`.
std::optional<bool> compare_floats(std::string_view comparison, double a, double b);

}  // namespace warptime::analysis
