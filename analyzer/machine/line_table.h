// The line tables of a cubin: those of DWARF 2 (section 6.2), of which ptxas writes one for the PTX.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::machine {

struct LineRow {
  std::uint64_t address = 0;
  std::uint32_t line = 0;  // 0: the end of a sequence
};

// The rows that belong together. What the table calls its address lies at `address_at`, a place in the section where a
// relocation adds the symbol's.
struct LineSequence {
  std::uint64_t address_at = 0;
  std::vector<LineRow> rows;
};

// Stops where the section is damaged. Any bytes are safe to read.
std::vector<LineSequence> read_line_table(std::string_view section);

}  // namespace warptime::machine
