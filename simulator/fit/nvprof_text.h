// The table that nvprof prints without --csv, as in Listing 5 of Puchala et al. (2022).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warptime {

// The table of a trace (`--print-gpu-trace`, `--print-api-trace`) as the CSV that nvprof writes of it, line by line, so
// that places in it are those of `text`. Columns stand two spaces or more apart; `...` for columns or lines that were
// left out is skipped. Nothing if no line is such a heading.
std::optional<std::string> csv_of_nvprof_text(std::string_view text);

}  // namespace warptime
