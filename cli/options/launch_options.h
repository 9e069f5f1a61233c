// The launch of a kernel as the command line gives it: --threads, or --grid and --block, and --shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/options/arguments.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"

namespace warptime::cli {

struct LaunchOptions {
  std::optional<Expression> threads;  // either this, …
  Dim3Expressions grid, block;        // … or both of these
  std::optional<Expression> shared;
  bool given() const { return threads || !grid.empty() || shared; }
  bool sized() const { return threads || !grid.empty(); }
  // Sets the launch's size and shared memory.
  void apply(PlanLaunch& launch) const;
};

// For CommandSyntax::groups. Short forms are --blocks for --grid, and --threads-per-block for --block.
enum class ShortForms { with, without };
std::vector<Option> launch_options(ShortForms short_forms);

// Errors: a value that is no expression, --threads beside the others, one of --grid and --block without the
// other.
Result<LaunchOptions> read_launch(const Arguments& arguments, ShortForms short_forms);

// X[,Y[,Z]], each an expression; empty: not given. A comma inside parentheses belongs to the expression.
// Errors: no expression, more than three dimensions.
Result<Dim3Expressions> read_dimensions(const Arguments& arguments, std::string_view name);
// The same as numbers. Errors: a name, a dimension below 1 or above `largest`.
Result<std::optional<Dim3>> read_dim3(const Arguments& arguments, std::string_view name, const Dim3& largest);

}  // namespace warptime::cli
