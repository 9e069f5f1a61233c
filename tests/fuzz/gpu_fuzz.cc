// Any bytes as a GPU's file: it is refused with reasons, or what is written of it reads, and is written, as the same.
#include "fuzz_text.h"
#include "simulator/gpu/device.h"
#include "simulator/gpu/gpu.h"

using namespace warptime;
using fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto gpu = read_gpu({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!gpu) return fuzzing::check_refusal(gpu.diagnostics()), 0;
  const std::string written = to_yaml(*gpu);
  const auto again = read_gpu(written, "written.yaml");
  if (!again) std::fputs((to_text(again.diagnostics()) + written).c_str(), stderr);
  require(static_cast<bool>(again), "what is written of a GPU reads");
  require(to_yaml(*again) == written, "what is written of a GPU is written as the same");
  return 0;
}
