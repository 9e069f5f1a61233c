// The arguments of a kernel in `warptime run`: NAME=VALUE, NAME=@array.npy, NAME=zeros:f32:1024, …
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/execute/execute.h"
#include "analyzer/execute/npy.h"

namespace warptime::cli {

// The names of a parameter: the source's, the PTX's, its number.
struct ParameterNames {
  std::vector<std::string> names;  // the first is the one to show
  execute::ParameterInfo info;
};

struct GivenArgument {
  std::string name, value;
};

// An argument that is a buffer: its place in memory, and its type and shape.
struct BufferArgument {
  std::size_t parameter = 0;
  std::uint32_t buffer = 0;  // in the memory
  std::string name;
  std::string type;  // numpy's: f4
  std::vector<std::uint64_t> shape;
  bool is_input = false;  // came with contents
};

struct BoundArguments {
  std::vector<execute::Argument> arguments;
  std::vector<BufferArgument> buffers;
};

// `text`: NAME=VALUE. Errors: no `=`.
Result<GivenArgument> split_argument(const std::string& option, const std::string& text);
// Puts the arguments into memory. Errors: an unknown name, one that is missing, a value that is none or does
// not fit its parameter, a file that cannot be read.
Result<BoundArguments> bind_arguments(const execute::Program& program, execute::Memory& memory,
                                      const std::vector<ParameterNames>& parameters,
                                      const std::vector<GivenArgument>& given);

// Fills `__constant__` variables, by their names. Those that the PTX gives no values and `given` none count as never
// written, nor do bytes beyond contents that are shorter. Errors: an unknown name, one that is given twice, contents
// that are longer, a file that cannot be read.
struct Constants {
  Diagnostics errors;
  std::vector<std::string> unfilled;  // names
};
Constants fill_constants(const execute::Program& program, execute::Memory& memory,
                         const std::vector<GivenArgument>& given);

// A buffer as an array, for a file.
execute::Array array_of(const execute::Memory& memory, const BufferArgument& buffer);
// Its first numbers: "0.5 1 1.5 …".
std::string first_numbers(const execute::Memory& memory, const BufferArgument& buffer, std::size_t most);

}  // namespace warptime::cli
