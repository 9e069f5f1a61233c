// Any bytes as kernel programs: they are refused with reasons, or what is written of them reads as equal programs.
#include "fuzz_text.h"
#include "simulator/program/kernel_program.h"

using namespace warptime;
using fuzzing::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto programs = read_kernel_programs({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!programs) return fuzzing::check_refusal(programs.diagnostics()), 0;
  for (const KernelProgram& program : *programs) (void)parameter_names(program);
  const auto again = read_kernel_programs(to_yaml(*programs), "written.yaml");
  if (!again) std::fputs(to_text(again.diagnostics()).c_str(), stderr);
  require(static_cast<bool>(again), "what is written as YAML reads");
  require(*again == *programs, "what is written as YAML reads as equal programs");
  const auto from_json = read_kernel_programs(to_json(*programs), "written.json");
  require(programs->size() != 1 || static_cast<bool>(from_json), "what is written as JSON reads");
  return 0;
}
