// The documents of a file of kernel programs, told apart without reading them: reading the YAML of all kernels of a file
// takes longer than a launch of one of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warptime {

struct ProgramDocument {
  std::string kernel, symbol;  // what its keys `kernel` and `symbol` say; empty: it has no such key
  std::string_view text;       // of the whole text, from behind `---` to the next one
};

// Each document of a YAML stream with what it says of its kernel's name. None: the text has to be read to know that (JSON,
// directives, a name that is not on the line of its key).
std::vector<ProgramDocument> program_documents(std::string_view text);

}  // namespace warptime
