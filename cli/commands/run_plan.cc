#include "cli/commands/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyzer/execute/npy.h"
#include "analyzer/execute/pgm.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/options/options.h"
#include "dwt_kernels/reference/lattice.h"
#include "load/input.h"
#include "measure/arrays.h"
#include "measure/reference.h"
#include "measure/session.h"

namespace warptime::cli {
namespace {

constexpr std::uint64_t kMostPlanBytes = std::uint64_t{1} << 32;
constexpr int kPartBits = 44;  // arrays stand so far apart that a sum tells which one it points into

bool takes_parameter(const Plan& plan, std::string_view name) {
  return std::any_of(plan.parameters.begin(), plan.parameters.end(),
                     [&](const Parameter& one) { return one.name == name; });
}

Diagnostic wrong_plan(const Plan& plan, std::string message, std::string hint = {}) {
  return error_at(plan.file.empty() ? plan.name : plan.file, 0, 0, std::move(message), std::move(hint));
}

Result<execute::Array> read_signal(const std::string& file) {
  const auto text = read_text(file);
  if (!text) return text.diagnostics();
  auto array = text->starts_with("P5") ? execute::read_pgm(*text, file) : execute::read_npy(*text, file);
  if (!array) return array.diagnostics();
  if (array->type == "f8") {
    std::vector<std::byte> narrow(array->elements() * sizeof(float));
    for (std::uint64_t i = 0; i < array->elements(); ++i) {
      double value = 0;
      std::memcpy(&value, &array->bytes[i * sizeof value], sizeof value);
      const auto single = static_cast<float>(value);
      std::memcpy(&narrow[i * sizeof single], &single, sizeof single);
    }
    array->type = "f4";
    array->bytes = std::move(narrow);
  }
  if (array->type != "f4")
    return error_at(file, 0, 0,
                    fmt::format("has elements of type {}, not 32-bit or 64-bit floats", array->type));
  return array;
}

// Binds what the signal's shape, the wavelet and --param say. Errors: a shape that the plan does not have; a
// parameter without a value, with two, or with several.
Result<Bindings> values_of(const Plan& plan, const std::vector<NamedValues>& given,
                           const execute::Array& signal, const reference::Filters& filters) {
  Bindings values;
  for (const auto& [name, list] : given) {
    if (!takes_parameter(plan, name))
      return error_at("--param", 0, 0, fmt::format("{} has no parameter `{}`", plan.name, name));
    if (list.size() != 1) return error_at("--param", 0, 0, fmt::format("`{}` has more than one value", name));
    values[name] = list.at(0);
  }
  std::vector<std::string> sizes;
  if (signal.shape.size() == 1 && takes_parameter(plan, "N")) sizes = {"N"};
  if (signal.shape.size() == 2 && takes_parameter(plan, "R") && takes_parameter(plan, "C"))
    sizes = {"R", "C"};
  if (sizes.empty())
    return error_at(
        "--in", 0, 0,
        fmt::format("has {} dimensions, which {} does not transform", signal.shape.size(), plan.name));
  const auto bind = [&](const std::string& name, std::uint64_t value) -> Diagnostics {
    const auto number = static_cast<std::int64_t>(value);
    const auto [at, added] = values.emplace(name, number);
    if (!added && at->second != number)
      return {
          error_at("--param", 0, 0, fmt::format("{} is {}, but the input has {}", name, at->second, number))};
    return {};
  };
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (auto wrong = bind(sizes[i], signal.shape[i]); !wrong.empty()) return wrong;
  if (!filters.low.empty())
    if (auto wrong = bind("K", filters.low.size()); !wrong.empty()) return wrong;
  for (const auto& parameter : plan.parameters)
    if (!values.contains(parameter.name))
      return wrong_plan(
          plan, fmt::format("the parameter `{}` ({}) has no value", parameter.name, parameter.description),
          fmt::format("--param {}=…", parameter.name));
  const auto levels = values.find("levels");
  const auto count = levels == values.end() ? 1 : levels->second;
  if (count < 1 || count > 40) return error_at("--param", 0, 0, fmt::format("levels is {}", count));
  for (const auto& name : sizes)
    if (values[name] < 1 || values[name] % (std::int64_t{1} << count) != 0)
      return error_at("--in", 0, 0,
                      fmt::format("{} is {}, which is not a multiple of {}", name, values[name],
                                  std::int64_t{1} << count));
  return values;
}

struct Part {
  std::size_t array = 0;
  std::uint64_t first = 0, elements = 0;
};

Result<std::vector<Part>> parts_of(const Plan& plan, const std::vector<PlanPart>& parts, Bindings values,
                                   const measuring::BoundPlan& bound) {
  for (std::size_t i = 0; i < plan.arrays.size(); ++i)
    values[plan.arrays[i].name] = static_cast<std::int64_t>(i + 1) << kPartBits;
  std::vector<Part> found;
  for (const PlanPart& part : parts) {
    const auto from = evaluate_count(part.from, values), elements = evaluate_count(part.elements, values);
    if (!from) return from.diagnostics();
    if (!elements) return elements.diagnostics();
    const auto array = static_cast<std::uint64_t>(*from) >> kPartBits;
    const auto first = static_cast<std::uint64_t>(*from) & ((std::uint64_t{1} << kPartBits) - 1);
    if (*from < 0 || array < 1 || array > bound.arrays.size() || *elements < 0 ||
        first > bound.arrays[array - 1].elements ||
        static_cast<std::uint64_t>(*elements) > bound.arrays[array - 1].elements - first ||
        bound.arrays[array - 1].of->type != ElementType::f32)
      return wrong_plan(plan, fmt::format("{} elements from {} are not within an array of 32-bit floats",
                                          *elements, to_string(part.from)));
    found.push_back({array - 1, first, static_cast<std::uint64_t>(*elements)});
  }
  return found;
}

std::vector<float> singles(const std::vector<double>& numbers) {
  std::vector<float> narrow;
  for (const double one : numbers) narrow.push_back(static_cast<float>(one));
  return narrow;
}

Result<std::vector<float>> numbers_of(WaveletNumbers numbers, const reference::Filters& filters) {
  if (numbers == WaveletNumbers::low) return singles(filters.low);
  if (numbers == WaveletNumbers::high) return singles(filters.high);
  if (numbers == WaveletNumbers::matrix) {
    auto both = singles(filters.low);
    const auto high = singles(filters.high);
    both.insert(both.end(), high.begin(), high.end());
    return both;
  }
  const auto lattice = reference::factorise(filters);
  if (!lattice) return lattice.diagnostics();
  return numbers == WaveletNumbers::lattice ? reference::ltt_coefficients(*lattice)
                                            : reference::ltt_inverse_coefficients(*lattice);
}

Result<measuring::Arrays> contents(const measuring::BoundPlan& bound, const reference::Filters& filters) {
  measuring::Arrays arrays;
  for (const auto& array : bound.arrays) {
    if (array.of->wavelet == WaveletNumbers::none) {
      auto bytes = measuring::contents_of(array);
      if (!bytes) return bytes.diagnostics();
      arrays.push_back(std::move(*bytes));
      continue;
    }
    const auto numbers = numbers_of(array.of->wavelet, filters);
    if (!numbers) return numbers.diagnostics();
    if (numbers->size() != array.elements)
      return error(fmt::format("the array `{}` has {} elements, and the wavelet {} numbers for it",
                               array.of->name, array.elements, numbers->size()));
    arrays.emplace_back(array.bytes());
    std::memcpy(arrays.back().data(), numbers->data(), array.bytes());
  }
  return arrays;
}

// The arrays after all launches, on the GPU of this machine, or executed on the CPU.
Result<measuring::Arrays> run_launches(const measuring::BoundPlan& bound,
                                       const measuring::PlanKernels& kernels, measuring::Arrays arrays,
                                       bool on_gpu) {
  if (on_gpu) {
    auto session = measuring::Session::open();
    if (!session) return session.diagnostics();
    if (auto wrong = (*session)->load(kernels); !wrong.empty()) return wrong;
    if (auto wrong = (*session)->prepare(bound, arrays); !wrong.empty()) return wrong;
    return (*session)->run_once();
  }
  auto ran =
      measuring::run_reference(bound, kernels, std::move(arrays), std::numeric_limits<std::uint64_t>::max());
  if (!ran) return ran.diagnostics();
  return std::move(ran->arrays);
}

Result<execute::Array> transform(const Plan& plan, const measuring::PlanKernels& kernels, const Gpu& gpu,
                                 const Bindings& values, const execute::Array& signal,
                                 const reference::Filters& filters, bool on_gpu) {
  const auto bound = measuring::bind_plan(plan, kernels, values, gpu);
  if (!bound) return bound.diagnostics();
  if (bound->bytes() > kMostPlanBytes)
    return wrong_plan(plan, fmt::format("the arrays take {} MiB, more than {}", bound->bytes() >> 20,
                                        kMostPlanBytes >> 20));
  const auto in = parts_of(plan, plan.input, values, *bound),
             out = parts_of(plan, plan.output, values, *bound);
  if (!in) return in.diagnostics();
  if (!out) return out.diagnostics();
  auto arrays = contents(*bound, filters);
  if (!arrays) return arrays.diagnostics();
  const std::size_t size = sizeof(float);
  std::size_t at = 0;
  for (const Part& part : *in) {
    if (part.elements * size > signal.bytes.size() - at)
      return wrong_plan(plan, "the input has fewer elements than its parts");
    std::memcpy(&(*arrays)[part.array][part.first * size], &signal.bytes[at], part.elements * size);
    at += part.elements * size;
  }
  if (at != signal.bytes.size()) return wrong_plan(plan, "the input has more elements than its parts");
  const auto ran = run_launches(*bound, kernels, std::move(*arrays), on_gpu);
  if (!ran) return ran.diagnostics();
  execute::Array result;
  result.type = "f4";
  for (const Part& part : *out) {
    const auto begin = (*ran)[part.array].begin() + static_cast<std::ptrdiff_t>(part.first * size);
    result.bytes.insert(result.bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(part.elements * size));
  }
  result.shape = signal.shape;
  if (result.bytes.size() != signal.bytes.size()) result.shape = {result.bytes.size() / size};
  return result;
}

}  // namespace

OptionGroup run_plan_options() {
  return {"A whole plan",
          {{"in", "FILE",
            "run all launches of INPUT, a plan or the name of a bundled one, on this signal or image, and "
            "write the result to "
            "--out FILE: .npy of floats, which sets N or R and C, or PGM",
            Names::input},
           {"wavelet", "NAME",
            "fill the plan's filter, and set K: haar, db1 to db7, sym4 to sym10, coif1 to coif5, meyer"},
           {"on", "WHERE", "cpu (default) or gpu: the GPU of this machine", Names::no_file, {"cpu", "gpu"}},
           param_option()}};
}

int run_plan(const Arguments& arguments, const PlanInput& input) {
  const Plan& plan = input.plan;
  if (plan.input.empty() || plan.output.empty())
    return fail(wrong_input, {wrong_plan(plan, "the plan does not say what its `input` and `output` are",
                                         "docs/plan.md has an example")});
  for (const char* const option :
       {"kernel", "grid", "block", "shared", "arg", "constant", "stream", "profile", "sample-blocks", "check",
        "keep-going", "max-instructions", "format"})
    if (arguments.has(option))
      return fail(wrong_command_line,
                  {error_at(fmt::format("--{}", option), 0, 0, "is of a single kernel, not of a plan")});
  const auto on = read_choice(arguments, "on");
  if (!on) return fail(wrong_command_line, on.diagnostics());
  const auto given = read_parameters(arguments);
  if (!given) return fail(wrong_command_line, given.diagnostics());
  const auto compile = read_compile_options(arguments);
  if (!compile) return fail(wrong_command_line, compile.diagnostics());
  const auto file = arguments.value("in");
  const auto outputs = arguments.values("out");
  if (!file || outputs.size() != 1)
    return fail(wrong_command_line, {error("a plan needs one --in FILE and one --out FILE")});
  const bool takes = std::any_of(plan.arrays.begin(), plan.arrays.end(),
                                 [](const PlanArray& one) { return one.wavelet != WaveletNumbers::none; });
  const auto name = arguments.value("wavelet");
  if (name.has_value() != takes)
    return fail(wrong_command_line, {error_at("--wavelet", 0, 0,
                                              takes ? fmt::format("{} needs a wavelet", plan.name)
                                                    : fmt::format("{} takes no filter", plan.name))});
  const auto filters = name ? reference::wavelet(*name) : reference::Filters();
  if (name && filters.low.empty())
    return fail(wrong_command_line, {error_at("--wavelet", 0, 0, fmt::format("`{}` is no wavelet", *name),
                                              "haar, db1 to db7, sym4 to sym10, coif1 to coif5, meyer")});
  const auto signal = read_signal(*file);
  if (!signal) return fail(wrong_input, signal.diagnostics());
  const auto values = values_of(plan, *given, *signal, filters);
  if (!values) return fail(wrong_input, values.diagnostics());
  const auto catalogue = read_catalogue(arguments);
  if (!catalogue) return fail(wrong_input, catalogue.diagnostics());
  const auto gpu =
      catalogue->find("rtx-2080-ti");  // Algorithm 3 chooses blocks for some GPU: results are the same
  if (!gpu) return fail(wrong_input, gpu.diagnostics());
  const auto kernels = measuring::PlanKernels::load(plan, input.read, *compile);
  if (!kernels) return fail(wrong_input, kernels.diagnostics());
  const auto result = transform(plan, *kernels, **gpu, *values, *signal, filters, *on == "gpu");
  if (!result) return fail(wrong_input, result.diagnostics());
  const std::string& out = outputs.front();
  if (!out.ends_with(".pgm")) return write_result(out, execute::write_npy(*result));
  if (result->shape.size() != 2)
    return fail(wrong_command_line,
                {error_at("--out", 0, 0, "a signal is no image", "write it to a .npy file")});
  const auto image = execute::write_pgm(*result);
  if (image.clamped > 0)
    say_note(fmt::format("{}: {} of {} values are not within 0 to 255: .npy keeps them", out, image.clamped,
                         result->elements()));
  return write_result(out, image.contents);
}

}  // namespace warptime::cli
