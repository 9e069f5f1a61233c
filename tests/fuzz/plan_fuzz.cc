// Any bytes as a plan, a calibration file and a profile: each is refused with reasons, or what is written of a plan
// reads, and is written, as the same.
#include "fuzz_text.h"
#include "simulator/plan/calibration.h"
#include "simulator/plan/plan.h"
#include "simulator/plan/plan_write.h"
#include "simulator/program/profile.h"

using namespace warptime;
using fuzzing::require;

namespace {

void write_and_read(const Plan& plan) {
  const std::string written = write_plan(plan);
  const auto again = read_plan(written, "written.plan.yaml");
  if (!again) std::fputs((to_text(again.diagnostics()) + written).c_str(), stderr);
  require(static_cast<bool>(again), "what is written of a plan reads");
  require(write_plan(*again) == written, "what is written of a plan is written as the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = read_plan(text, "fuzz.plan.yaml");
  if (plan)
    write_and_read(*plan);
  else
    fuzzing::check_refusal(plan.diagnostics());
  if (const auto calibration = read_calibration_file(text, "fuzz.yaml"); !calibration)
    fuzzing::check_refusal(calibration.diagnostics());
  const auto profile = read_profile(text, "fuzz.yaml");
  if (!profile) return fuzzing::check_refusal(profile.diagnostics()), 0;
  require(static_cast<bool>(read_profile(to_yaml(*profile), "written.yaml")),
          "what is written of a profile reads");
  return 0;
}
