// Any bytes as an .npy file: it is refused with reasons, or what is written of it reads as the same array.
#include "analyzer/execute/npy.h"
#include "fuzz_text.h"

using namespace warptime;
using fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto array = execute::read_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
  if (!array) return fuzzing::check_refusal(array.diagnostics()), 0;
  require(array->bytes.size() == array->elements() * execute::element_bytes(array->type),
          "an array has the bytes of its elements");
  require(array->bytes.size() <= size, "an array has no more bytes than its file");
  const auto again = execute::read_npy(execute::write_npy(*array), "written.npy");
  require(static_cast<bool>(again), "what is written of an array reads");
  require(again->type == array->type && again->shape == array->shape && again->bytes == array->bytes,
          "what is written of an array reads as the same");
  return 0;
}
