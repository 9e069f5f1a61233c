// How many iterations a binary search takes, whose data decide in which half it goes on.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/loops/closed_forms.h"
#include "analyzer/symbolic/evaluate.h"

namespace warptime::analysis {

// How often the exiting block of `loop` runs, where the loop keeps two ends, each iteration puts one of them to the middle
// between them, or next to it, as loaded data decide, and `stay`, under which it goes on, says that they are apart: by more than a
// number from -1 to 1. An interval of n is halved until it is 0 (log2 n + 1 times, rounded down, or once less) or 1 (log2 n times,
// rounded up). Nothing for other loops. `forms` gives the closed forms of the loop's registers.
std::optional<ExprId> halvings(Evaluator& evaluator, ClosedForms& forms, std::uint32_t loop, ExprId stay);

}  // namespace warptime::analysis
