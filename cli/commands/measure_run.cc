#include "cli/commands/measure_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "cli/io/report.h"
#include "measure/arrays.h"
#include "measure/reference.h"

namespace warptime::cli {
namespace {

constexpr int kWarmUps = 3;
constexpr std::uint64_t kCheckBudget = 300'000'000;  // warp instructions: tens of seconds at most
constexpr std::uint64_t kCheckBytes = std::uint64_t{1}
                                      << 18;  // of arrays: blocks enough to show what is wrong
constexpr std::uint64_t kMostCheckBytes = std::uint64_t{1} << 28;
constexpr std::size_t kCheckCandidates = 10'000;

// "nvcc 13.0.88", each once.
std::string compilers(const measuring::PlanKernels& kernels) {
  std::vector<std::string> names;
  for (const auto& module : kernels.modules()) {
    const auto& compiler = module->source.compiler;
    const auto name = compiler.empty() ? std::string("PTX as given") : compiler;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Diagnostics with_case(Diagnostics wrong, const MeasuredCase& of) {
  for (auto& one : wrong)
    if (one.verbatim.empty() && !of.parameters.empty())
      one.message = fmt::format("{} ({})", one.message, case_text(of));
  return wrong;
}

PlanMeasurement::PlanMeasurement(const Plan& plan, MeasureOptions options, const Gpu& gpu,
                                 measuring::Session& session, const measuring::PlanKernels& kernels)
    : plan_(plan), options_(std::move(options)), gpu_(gpu), session_(session), kernels_(kernels) {
  const auto& device = session.device().description;
  setting_ = {
      plan.name, gpu.name, device.figures.name, device.driver,
      fmt::format("{}, {}, warptime {}", session.device().versions, compilers(kernels), WARPTIME_VERSION)};
}

Result<measuring::BoundPlan> PlanMeasurement::bind(const MeasuredCase& one) const {
  auto bound = measuring::bind_plan(plan_, kernels_, one.bindings(), gpu_, one.threads_per_block);
  if (bound && bound->launches.empty()) return error("the plan launches nothing");
  return bound;
}

// Puts the arrays on the GPU, and gives what is in them.
Result<measuring::Arrays> PlanMeasurement::prepare(const measuring::BoundPlan& bound) {
  const auto there = session_.device().memory_bytes;
  if (bound.bytes() > there)
    return error(
        fmt::format("the arrays take {} MiB, and the GPU has {} MiB", bound.bytes() >> 20, there >> 20));
  measuring::Arrays contents;
  try {
    for (const auto& array : bound.arrays) {
      auto bytes = measuring::contents_of(array);
      if (!bytes) return bytes.diagnostics();
      contents.push_back(std::move(*bytes));
    }
  } catch (const std::bad_alloc&) {
    return error(
        fmt::format("not enough memory for the contents of the arrays, {} MiB", bound.bytes() >> 20));
  }
  if (auto wrong = session_.prepare(bound, contents); !wrong.empty()) return wrong;
  return contents;
}

Diagnostics PlanMeasurement::check(const std::vector<MeasuredCase>& cases) {
  const MeasuredCase* chosen = &cases.front();
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < std::min(cases.size(), kCheckCandidates); ++i) {
    const auto bound = bind(cases[i]);
    if (!bound || bound->bytes() > kCheckBytes || bound->bytes() <= most) continue;
    most = bound->bytes();
    chosen = &cases[i];
  }
  const auto bound = bind(*chosen);
  if (!bound) return with_case(bound.diagnostics(), *chosen);
  return with_case(compare(*bound, *chosen), *chosen);
}

Diagnostics PlanMeasurement::compare(const measuring::BoundPlan& bound, const MeasuredCase& one) {
  const auto too_large = [&] {
    say_note(fmt::format("not checked against the CPU: {} would take too long", case_text(one)),
             "add a smaller combination, or give --no-check");
    return Diagnostics();
  };
  if (bound.bytes() > kMostCheckBytes) return too_large();
  auto contents = prepare(bound);
  if (!contents) return contents.diagnostics();
  const auto wanted = measuring::run_reference(bound, kernels_, std::move(*contents), kCheckBudget);
  if (!wanted) return wanted.diagnostics();
  if (wanted->too_large) return too_large();
  const auto got = session_.run_once();
  if (!got) return got.diagnostics();
  return measuring::compare(bound, wanted->arrays, *got);
}

Result<std::vector<MeasuredRow>> PlanMeasurement::run(const MeasuredCase& one) {
  const auto bound = bind(one);
  if (!bound) return bound.diagnostics();
  if (const auto contents = prepare(*bound); !contents) return contents.diagnostics();
  std::vector<MeasuredRow> rows;
  for (const auto what : options_.what) {
    auto times = session_.time(what, kWarmUps, options_.repetitions);
    if (!times) return times.diagnostics();
    rows.push_back({&one, what, std::move(*times), bound->launches.front().shape, bound->launches.size()});
  }
  return rows;
}

}  // namespace warptime::cli
