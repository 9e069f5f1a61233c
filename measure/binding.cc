#include "measure/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "simulator/base/did_you_mean.h"
#include "simulator/plan/launch.h"

namespace warptime::measuring {
namespace {

// Arrays are bound to addresses so far apart that any sum tells which array it points into, and where.
constexpr int kAddressBits = 44;
constexpr std::int64_t kArraySpan = std::int64_t{1} << kAddressBits;
constexpr std::size_t kMostArrays = 1 << 16;

// Thrown and caught in this file.
struct Failed {
  Diagnostics diagnostics;
};

class Binder {
 public:
  Binder(const Plan& plan, const PlanKernels& kernels, const Gpu& gpu, std::optional<std::int64_t> threads)
      : plan_(plan), kernels_(kernels), gpu_(gpu), threads_per_block_(threads) {}

  BoundPlan bind(const Bindings& parameters) {
    bind_arrays(parameters);
    steps(plan_.steps, parameters);
    const std::set<std::string> named = named_by_launches();
    for (const auto& array : bound_.arrays)
      if (array.variables_of.empty() && !named.contains(array.of->name))
        fail(array.of->line, error(fmt::format("nothing uses the array `{}`", array.of->name)));
    return std::move(bound_);
  }

 private:
  [[noreturn]] void fail(int line, Diagnostics wrong) const {
    for (auto& one : wrong) {
      if (!one.file.empty()) continue;
      one.file = plan_.file;
      one.line = line;
      one.column = 0;
      one.source_line.clear();
    }
    throw Failed{std::move(wrong)};
  }
  [[noreturn]] void fail(int line, Diagnostic wrong) const { fail(line, Diagnostics{std::move(wrong)}); }

  std::int64_t count(const Expression& expression, const Bindings& bindings, int line,
                     std::string_view what) const {
    auto value = evaluate_count(expression, bindings);
    if (value) return *value;
    auto wrong = value.diagnostics();
    for (auto& one : wrong) one.message = fmt::format("{}: {}", what, one.message);
    fail(line, std::move(wrong));
  }

  void bind_arrays(const Bindings& parameters) {
    if (plan_.arrays.size() > kMostArrays) fail(0, error(fmt::format("more than {} arrays", kMostArrays)));
    for (const auto& array : plan_.arrays) {
      BoundArray one;
      one.of = &array;
      const auto elements =
          count(array.elements, parameters, array.line, fmt::format("the array `{}`", array.name));
      if (elements < 0 || elements >= kArraySpan / 8)
        fail(array.line, error(fmt::format("the array `{}` has {} elements", array.name, elements)));
      one.elements = static_cast<std::uint64_t>(elements);
      if (array.fill == ArrayFill::cycle_leaders)
        one.cycles_of =
            count(array.of, parameters, array.line, fmt::format("`of` of the array `{}`", array.name));
      for (std::size_t i = 0; i < kernels_.modules().size(); ++i)
        for (const auto& variable : kernels_.modules()[i]->module.variables)
          if (variable.name == array.name) one.variables_of.push_back(i);
      addresses_[array.name] = static_cast<std::int64_t>(bound_.arrays.size() + 1) * kArraySpan;
      bound_.arrays.push_back(one);
    }
  }

  void steps(const std::vector<PlanStep>& all, const Bindings& bindings) {
    for (const auto& step : all) {
      const auto iterations = count(step.repeat, bindings, step.line, "`repeat`");
      if (iterations < 0) fail(step.line, error(fmt::format("`repeat` is {}", iterations)));
      Bindings inner = bindings;
      for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
        if (!step.counter.empty()) inner[step.counter] = iteration;
        const auto before = bound_.launches.size();
        if (step.launch)
          launch(step, inner);
        else
          steps(step.steps, inner);
        if (bound_.launches.size() == before)
          break;  // nothing inside is launched, nor will be in later iterations
        if (bound_.launches.size() > most_launches)
          fail(step.line, error(fmt::format("more than {} launches in one run", most_launches)));
      }
    }
  }

  // What the arguments of all launches name, those that these parameters leave out (`repeat: class == 2`), too.
  std::set<std::string> named_by_launches() const {
    std::set<std::string> named;
    for_each_launch(plan_.steps, [&](const PlanStep& step) {
      for (const auto& parameter : kernels_.kernel(kernels_.of(*step.launch)).parameters) {
        const auto& data = step.launch->data;
        const auto given = std::find_if(data.begin(), data.end(),
                                        [&](const auto& one) { return one.first == parameter.name; });
        if (given == data.end()) {
          named.insert(parameter.name);
          continue;
        }
        const auto names = given->second.names();
        named.insert(names.begin(), names.end());
      }
    });
    return named;
  }

  Dim3 dimensions(const Dim3Expressions& sizes, const Bindings& bindings, int line,
                  std::string_view what) const {
    Dim3 found;
    for (std::size_t i = 0; i < sizes.size(); ++i) found.at(i) = count(sizes[i], bindings, line, what);
    return found;
  }

  GridAndBlock shape(const PlanStep& step, const Bindings& bindings) const {
    const auto& launch = *step.launch;
    if (!launch.threads)
      return checked({dimensions(launch.grid, bindings, step.line, "the grid"),
                      dimensions(launch.block, bindings, step.line, "the block")},
                     step);
    const auto threads = count(*launch.threads, bindings, step.line, "`threads`");
    if (threads < 1) fail(step.line, error(fmt::format("`threads` is {}", threads)));
    if (threads_per_block_)
      return checked(one_dimensional({(threads - 1) / *threads_per_block_ + 1, *threads_per_block_}), step);
    const auto chosen = choose_launch(gpu_, threads);
    if (!chosen) fail(step.line, chosen.diagnostics());
    return checked(one_dimensional(*chosen), step);
  }
  GridAndBlock checked(const GridAndBlock& shape, const PlanStep& step) const {
    if (const auto good = check_launch(gpu_, shape); !good) fail(step.line, good.diagnostics());
    return shape;
  }

  void launch(const PlanStep& step, const Bindings& bindings) {
    BoundLaunch one;
    one.kernel = kernels_.of(*step.launch);
    one.shape = shape(step, bindings);
    Bindings inner = bindings;
    add_dimensions(one.shape, inner);
    if (step.launch->shared) {
      one.shared_bytes = count(*step.launch->shared, inner, step.line, "`shared`");
      if (one.shared_bytes < 0 || one.shared_bytes > std::numeric_limits<std::int32_t>::max())
        fail(step.line, error(fmt::format("`shared` is {} bytes", one.shared_bytes)));
    }
    const auto& kernel = kernels_.kernel(one.kernel);
    for (const auto& parameter : kernel.parameters)
      one.arguments.push_back(value_of(kernel, parameter, step, inner));
    bound_.launches.push_back(std::move(one));
  }

  ArgumentValue value_of(const Kernel& kernel, const KernelParameter& parameter, const PlanStep& step,
                         const Bindings& bindings) {
    using Kind = KernelParameter::Kind;
    for (const auto& [name, expression] : step.launch->data) {
      if (name != parameter.name) continue;
      const auto names = expression.names();
      const bool points =
          std::any_of(names.begin(), names.end(), [&](const auto& one) { return addresses_.contains(one); });
      if (!points) return number(expression, step, parameter, bindings);
      if (parameter.kind == Kind::real || parameter.bytes != 8)
        fail(step.line,
             error(fmt::format("`{}` of {} is {}, not a pointer", name, kernel.name, parameter.type)));
      return pointer(expression, step, parameter, bindings);
    }
    for (const auto& [name, expression] : step.launch->arguments) {
      if (name != parameter.name) continue;
      if (parameter.kind == Kind::pointer) {
        if (expression == Expression(0)) return std::int64_t{0};  // null
        fail(step.line, error(fmt::format("`{}` of {} is a pointer, not a number", name, kernel.name),
                              "the name of one of the plan's arrays, or 0"));
      }
      return number(expression, step, parameter, bindings);
    }
    const bool array = addresses_.contains(parameter.name);
    if (parameter.kind == Kind::pointer || (array && parameter.bytes == 8)) {
      if (array) return pointer(Expression::name(parameter.name), step, parameter, bindings);
      fail(step.line, missing_array(kernel, parameter));
    }
    if (bindings.contains(parameter.name))
      return number(Expression::name(parameter.name), step, parameter, bindings);
    fail(step.line, error(fmt::format("the argument `{}` ({}) of {} has no value", parameter.name,
                                      parameter.type, kernel.name),
                          fmt::format("arguments: {{{}: …}}", parameter.name)));
  }

  Diagnostic missing_array(const Kernel& kernel, const KernelParameter& parameter) const {
    std::vector<std::string> names;
    for (const auto& array : plan_.arrays) names.push_back(array.name);
    const auto near = nearest(parameter.name, names);
    return error(
        fmt::format("the argument `{}` ({}) of {} has no array", parameter.name, parameter.type, kernel.name),
        fmt::format("arrays: {{{}: number of elements}} in the plan, or arguments: {{{}: {}}} at the launch",
                    parameter.name, parameter.name, near.empty() ? "name of an array" : near));
  }

  ArgumentValue pointer(const Expression& expression, const PlanStep& step, const KernelParameter& parameter,
                        Bindings bindings) {
    bindings.insert(addresses_.begin(), addresses_.end());
    const auto what = fmt::format("the argument `{}`", parameter.name);
    const auto address = count(expression, bindings, step.line, what);
    const auto array = (address >> kAddressBits) - 1;
    const auto first = address & (kArraySpan - 1);
    const bool known = address >= 0 && array >= 0 && array < static_cast<std::int64_t>(bound_.arrays.size());
    if (!known || static_cast<std::uint64_t>(first) > bound_.arrays[static_cast<std::size_t>(array)].elements)
      fail(step.line,
           error(fmt::format("{}: {} points into none of the arrays", what, to_string(expression))));
    const auto place = static_cast<std::size_t>(array);
    bound_.arrays[place].pointed_to = true;
    return ArrayPointer{place, static_cast<std::uint64_t>(first)};
  }

  ArgumentValue number(const Expression& expression, const PlanStep& step, const KernelParameter& parameter,
                       const Bindings& bindings) const {
    const auto what = fmt::format("the argument `{}`", parameter.name);
    if (parameter.kind == KernelParameter::Kind::pointer)
      fail(step.line, error(fmt::format("{} is a pointer, not a number", what)));
    if (parameter.kind == KernelParameter::Kind::real) {
      const auto value = evaluate_number(expression, bindings);
      if (!value) fail(step.line, value.diagnostics());
      return *value;
    }
    const auto value = count(expression, bindings, step.line, what);
    const auto bits = static_cast<int>(8 * parameter.bytes);
    // Signed or not: whatever the bytes can hold.
    if (bits < 64 && (value < -(std::int64_t{1} << (bits - 1)) || value >= std::int64_t{1} << bits))
      fail(step.line, error(fmt::format("{}: {} does not fit {} bits", what, value, bits)));
    return value;
  }

  const Plan& plan_;
  const PlanKernels& kernels_;
  const Gpu& gpu_;
  std::optional<std::int64_t> threads_per_block_;
  Bindings addresses_;  // of the arrays
  BoundPlan bound_;
};

std::string argument_text(const BoundPlan& bound, const ArgumentValue& value) {
  if (const auto* pointer = std::get_if<ArrayPointer>(&value)) {
    const auto& name = bound.arrays[pointer->array].of->name;
    return pointer->first == 0 ? name : fmt::format("{} + {}", name, pointer->first);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(value));
}

// As CUDA's sources write it: "256", "dim3(32, 8)".
std::string dim3_text(const Dim3& size) {
  if (size.z != 1) return fmt::format("dim3({}, {}, {})", size.x, size.y, size.z);
  return size.y != 1 ? fmt::format("dim3({}, {})", size.x, size.y) : fmt::format("{}", size.x);
}

}  // namespace

std::uint64_t BoundPlan::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& array : arrays) {
    const auto add = array.bytes();
    sum = sum > std::numeric_limits<std::uint64_t>::max() - add ? std::numeric_limits<std::uint64_t>::max()
                                                                : sum + add;
  }
  return sum;
}

Result<BoundPlan> bind_plan(const Plan& plan, const PlanKernels& kernels, const Bindings& parameters,
                            const Gpu& gpu, std::optional<std::int64_t> threads_per_block) {
  try {
    return Binder(plan, kernels, gpu, threads_per_block).bind(parameters);
  } catch (Failed& failed) {
    return std::move(failed.diagnostics);
  }
}

std::string to_text(const BoundPlan& bound, const PlanKernels& kernels) {
  std::string text;
  for (const auto& array : bound.arrays) {
    const auto filled = array.of->fill == ArrayFill::constant ? fmt::format("{}", array.of->value)
                                                              : std::string(to_string(array.of->fill));
    text += fmt::format("  {}: {} x {}, {}{}\n", array.of->name, array.elements, to_string(array.of->type),
                        filled, array.variables_of.empty() ? "" : ", a variable of the module");
  }
  for (const auto& launch : bound.launches) {
    const auto& kernel = kernels.kernel(launch.kernel);
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      arguments.push_back(
          fmt::format("{}={}", kernel.parameters[i].name, argument_text(bound, launch.arguments[i])));
    text += fmt::format(
        "  {}<<<{}, {}{}>>>({})\n", kernel.name, dim3_text(launch.shape.grid), dim3_text(launch.shape.block),
        launch.shared_bytes == 0 ? "" : fmt::format(", {}", launch.shared_bytes), fmt::join(arguments, ", "));
  }
  return text;
}

}  // namespace warptime::measuring
