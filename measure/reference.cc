#include "measure/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace warptime::measuring {
namespace {

constexpr double kTolerance = 1e-5;

execute::Argument scalar_argument(const KernelParameter& parameter, const ArgumentValue& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    if (parameter.bytes == 8) return execute::scalar(*real);
    return execute::scalar(static_cast<float>(*real));
  }
  auto argument = execute::scalar(std::get<std::int64_t>(value));  // little-endian: the low bytes come first
  argument.resize(parameter.bytes);
  return argument;
}

class Reference {
 public:
  Reference(const BoundPlan& bound, const PlanKernels& kernels, Arrays before, std::uint64_t budget)
      : bound_(bound), kernels_(kernels), budget_(budget) {
    result_.arrays = std::move(before);
  }

  Diagnostics run() {
    for (const auto& launch : bound_.launches) {
      auto wrong = step(launch);
      if (!wrong.empty() || result_.too_large) return wrong;
    }
    return {};
  }
  ReferenceResult take() { return std::move(result_); }

 private:
  Diagnostics step(const BoundLaunch& launch) {
    const auto& kernel = kernels_.kernel(launch.kernel);
    const auto& module = *kernels_.modules()[launch.kernel.module];
    auto memory = execute::Memory::create(*kernel.code);
    if (!memory) return memory.diagnostics();
    fill_variables(*memory, launch.kernel.module);
    std::map<std::size_t, std::uint32_t> buffers;
    std::vector<execute::Argument> arguments;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* pointer = std::get_if<ArrayPointer>(&launch.arguments[i]);
      if (pointer == nullptr) {
        arguments.push_back(scalar_argument(kernel.parameters[i], launch.arguments[i]));
        continue;
      }
      const auto& array = *bound_.arrays[pointer->array].of;
      if (!buffers.contains(pointer->array)) {
        const auto buffer = memory->allocate(array.name, result_.arrays[pointer->array]);
        if (!buffer) return buffer.diagnostics();
        buffers[pointer->array] = *buffer;
      }
      arguments.push_back(execute::pointer(*kernel.code, *memory, buffers[pointer->array],
                                           pointer->first * bytes_of(array.type)));
    }
    return execute_launch(launch, kernel, module, *memory, arguments, buffers);
  }

  Diagnostics execute_launch(const BoundLaunch& launch, const Kernel& kernel, const CodeModule& module,
                             execute::Memory& memory, const std::vector<execute::Argument>& arguments,
                             const std::map<std::size_t, std::uint32_t>& buffers) {
    execute::LaunchConfig how;
    const auto dimensions = [](const Dim3& size) {
      return execute::Dimensions{static_cast<std::uint32_t>(size.x), static_cast<std::uint32_t>(size.y),
                                 static_cast<std::uint32_t>(size.z)};
    };
    how.grid = dimensions(launch.shape.grid);
    how.block = dimensions(launch.shape.block);
    how.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
    execute::Options options;
    options.instruction_budget = budget_;
    options.print = [](std::string_view) {};
    const auto execution = execute::run(*kernel.code, memory, how, arguments, options);
    if (!execution) return execution.diagnostics();
    for (const auto& finding : execution->findings) {
      if (finding.kind == execute::Finding::Kind::budget) {
        result_.too_large = true;
        return {};
      }
      Diagnostic wrong = execute::to_diagnostic(finding, module.module, module.file);
      wrong.severity = Severity::error;  // also what `run` only warns of: the results could not be compared
      if (wrong.hint.empty()) wrong.hint = "--no-check measures without looking at the results";
      return {wrong};
    }
    budget_ -= std::min(budget_, execution->counts.instructions);
    for (const auto& [array, buffer] : buffers) {
      const auto bytes = std::as_const(memory).bytes(buffer);
      result_.arrays[array].assign(bytes.begin(), bytes.end());
    }
    return {};
  }

  void fill_variables(execute::Memory& memory, std::size_t module) const {
    for (std::size_t i = 0; i < bound_.arrays.size(); ++i) {
      const auto& of = bound_.arrays[i].variables_of;
      if (std::find(of.begin(), of.end(), module) == of.end()) continue;
      const auto variable = memory.find(bound_.arrays[i].of->name);
      if (!variable) continue;
      const auto bytes = memory.bytes(*variable);
      std::memcpy(bytes.data(), result_.arrays[i].data(), std::min(bytes.size(), result_.arrays[i].size()));
    }
  }

  const BoundPlan& bound_;
  const PlanKernels& kernels_;
  std::uint64_t budget_;
  ReferenceResult result_;
};

template <class T>
std::vector<double> numbers(const std::vector<std::byte>& bytes) {
  std::vector<double> values;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    values.push_back(static_cast<double>(value));
  }
  return values;
}

template <class T>
Diagnostics compare_reals(const BoundArray& array, const std::vector<std::byte>& wanted_bytes,
                          const std::vector<std::byte>& got_bytes) {
  const auto wanted = numbers<T>(wanted_bytes), got = numbers<T>(got_bytes);
  double largest = 0;
  for (const double value : wanted)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool same = std::isfinite(wanted[i]) ? std::abs(wanted[i] - got[i]) <= kTolerance * largest
                                               : !std::isfinite(got[i]);
    if (!same)
      return {error(fmt::format("after the run, {}[{}] is {} on the GPU and {} on the CPU", array.of->name, i,
                                got[i], wanted[i]))};
  }
  return {};
}

}  // namespace

Result<ReferenceResult> run_reference(const BoundPlan& bound, const PlanKernels& kernels, Arrays before,
                                      std::uint64_t budget) {
  Reference reference(bound, kernels, std::move(before), budget);
  auto wrong = reference.run();
  if (!wrong.empty()) return wrong;
  return reference.take();
}

Diagnostics compare(const BoundPlan& bound, const Arrays& wanted, const Arrays& got) {
  for (std::size_t i = 0; i < bound.arrays.size(); ++i) {
    const auto& array = bound.arrays[i];
    Diagnostics wrong;
    if (array.of->type == ElementType::f32) {
      wrong = compare_reals<float>(array, wanted[i], got[i]);
    } else if (array.of->type == ElementType::f64) {
      wrong = compare_reals<double>(array, wanted[i], got[i]);
    } else if (wanted[i] != got[i]) {
      wrong = {error(fmt::format("after the run, {} differs between the GPU and the CPU", array.of->name))};
    }
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace warptime::measuring
