#include "cli/options/launch_options.h"

#include <fmt/format.h>

#include "cli/options/options.h"
#include "simulator/base/text.h"

namespace warptime::cli {
namespace {

// The option or its short form, whichever is given. Errors: both.
Result<Dim3Expressions> read_size(const Arguments& arguments, std::string_view name, std::string_view other,
                                  ShortForms short_forms) {
  if (short_forms == ShortForms::without) return read_dimensions(arguments, name);
  if (arguments.has(name) && arguments.has(other))
    return error(fmt::format("--{} and --{} say the same", name, other), "give one of them");
  return read_dimensions(arguments, arguments.has(other) ? other : name);
}

}  // namespace

void LaunchOptions::apply(PlanLaunch& launch) const {
  launch.threads = threads;
  launch.grid = grid;
  launch.block = block;
  launch.shared = shared;
}

std::vector<Option> launch_options(ShortForms short_forms) {
  std::vector<Option> options = {
      {"threads", "EXPR", "that many threads, N or N / 2, say, in blocks that Algorithm 3 chooses"},
      {"grid", "X[,Y[,Z]]",
       "that many blocks instead, each dimension an expression: to predict a launch as your code makes it"},
      {"block", "X[,Y[,Z]]", "with that many threads in each; goes with --grid"},
      {"shared", "BYTES",
       "dynamic shared memory of each block, the third argument of <<<>>>: an expression that may use "
       "blockDim.x, too"}};
  if (short_forms == ShortForms::with)
    options.insert(options.end() - 1, {{"blocks", "EXPR", "the same as --grid: usual for one dimension"},
                                       {"threads-per-block", "EXPR", "the same as --block"}});
  return options;
}

Result<LaunchOptions> read_launch(const Arguments& arguments, ShortForms short_forms) {
  const auto threads = read_expression(arguments, "threads");
  if (!threads) return threads.diagnostics();
  auto grid = read_size(arguments, "grid", "blocks", short_forms);
  if (!grid) return grid.diagnostics();
  auto block = read_size(arguments, "block", "threads-per-block", short_forms);
  if (!block) return block.diagnostics();
  const auto shared = read_expression(arguments, "shared");
  if (!shared) return shared.diagnostics();
  const bool short_form =
      short_forms == ShortForms::with && (arguments.has("blocks") || arguments.has("threads-per-block"));
  if (*threads && !(grid->empty() && block->empty())) {
    const char* const size = !grid->empty() ? (arguments.has("grid") ? "grid" : "blocks")
                                            : (arguments.has("block") ? "block" : "threads-per-block");
    return error(fmt::format("--threads cannot be used with --{}", size), "use one or the other");
  }
  if (grid->empty() != block->empty()) {
    const char* const missing =
        grid->empty() ? (short_form ? "blocks" : "grid") : (short_form ? "threads-per-block" : "block");
    return error(fmt::format("--{} is missing", missing), short_form
                                                              ? "--blocks and --threads-per-block go together"
                                                              : "--grid and --block go together");
  }
  return LaunchOptions{*threads, std::move(*grid), std::move(*block), *shared};
}

Result<Dim3Expressions> read_dimensions(const Arguments& arguments, std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return Dim3Expressions();
  Dim3Expressions sizes;
  for (const WholePiece& part : rejoined_in_parentheses(split_at_commas(*text))) {
    auto parsed = parse_expression(part.text, name);
    if (!parsed) return parsed.diagnostics();
    sizes.push_back(std::move(*parsed));
  }
  if (sizes.size() > 3)
    return error_at(fmt::format("--{}", name), 0, 0,
                    fmt::format("`{}` has more than three dimensions", *text));
  return sizes;
}

Result<std::optional<Dim3>> read_dim3(const Arguments& arguments, std::string_view name,
                                      const Dim3& largest) {
  const auto sizes = read_dimensions(arguments, name);
  if (!sizes) return sizes.diagnostics();
  if (sizes->empty()) return std::optional<Dim3>();
  Dim3 found;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const auto value = evaluate_count((*sizes)[i], {});
    const auto most = i == 0 ? largest.x : i == 1 ? largest.y : largest.z;
    if (!value || *value < 1 || *value > most)
      return error_at(fmt::format("--{}", name), 0, 0,
                      fmt::format("`{}` is not a number from 1 to {}", to_string((*sizes)[i]), most),
                      fmt::format("--{0} 256, --{0} 16,16", name));
    found.at(i) = *value;
  }
  return std::optional(found);
}

}  // namespace warptime::cli
