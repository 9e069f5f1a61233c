#include "tests/kernels/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <sstream>

#include "analyzer/execute/execute.h"
#include "simulator/gpu/gpu.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"
#include "tests/kernels/gpu.h"

namespace warptime::kernels {
namespace {

// A source that was compiled, with its module and the code of its kernels. Each is made once.
struct Built {
  Source source;
  ptx::Module module;
  std::map<std::string, execute::Code> code;  // by the kernel's name
};

Built* built(const std::string& file, Compiler compiler) {
  static std::map<std::pair<std::string, Compiler>, std::unique_ptr<Built>> made;
  auto& entry = made[{file, compiler}];
  if (entry) return entry.get();
  CompileOptions options;
  options.compiler = compiler;
  auto source = compile_cuda(file, read_file(file), options);
  if (!source) {
    ADD_FAILURE() << to_text(source.diagnostics());
    return nullptr;
  }
  auto one = std::make_unique<Built>();
  one->source = std::move(*source);
  auto module = ptx::parse(one->source.ptx, file);
  if (!module) {
    ADD_FAILURE() << to_text(module.diagnostics());
    return nullptr;
  }
  one->module = std::move(*module);
  for (const auto& kernel : one->source.kernels) {
    const auto index = execute::find_kernel(one->module, kernel.symbol, file);
    if (!index) {
      ADD_FAILURE() << to_text(index.diagnostics());
      return nullptr;
    }
    const auto code = execute::load(one->module, *index, file);
    if (!code) {
      ADD_FAILURE() << to_text(code.diagnostics());
      return nullptr;
    }
    one->code[kernel.name] = *code;
  }
  entry = std::move(one);
  return entry.get();
}

class Runner {
 public:
  Runner(const std::string& plan_file, Device& device, const Binder& binder, Compiler compiler)
      : folder_(std::filesystem::path(plan_file).parent_path().string()),
        device_(device),
        binder_(binder),
        compiler_(compiler) {}

  bool steps(const std::vector<PlanStep>& steps, const Bindings& bindings) {
    return std::all_of(steps.begin(), steps.end(), [&](const PlanStep& one) { return step(one, bindings); });
  }
  const Ran& ran() const { return ran_; }

 private:
  bool step(const PlanStep& step, const Bindings& bindings) {
    const auto iterations = count(step.repeat, bindings);
    if (!iterations) return false;
    for (std::int64_t iteration = 0; iteration < *iterations; ++iteration) {
      Bindings inner = bindings;
      if (!step.counter.empty()) inner[step.counter] = iteration;
      if (!(step.launch ? launch(*step.launch, inner) : steps(step.steps, inner))) return false;
    }
    return true;
  }

  static std::optional<std::int64_t> count(const Expression& expression, const Bindings& bindings) {
    const auto value = evaluate_count(expression, bindings);
    if (value) return *value;
    ADD_FAILURE() << to_text(value.diagnostics());
    return std::nullopt;
  }

  // 68 SMs: seldom a divisor of what is launched.
  static std::optional<Launch> shape(const PlanLaunch& launch, const Bindings& bindings) {
    if (!launch.threads) {
      if (launch.grid.size() != 1 || launch.block.size() != 1) return std::nullopt;
      const auto blocks = count(launch.grid.front(), bindings),
                 threads = count(launch.block.front(), bindings);
      if (!blocks || !threads) return std::nullopt;
      return Launch{*blocks, *threads};
    }
    const auto threads = count(*launch.threads, bindings);
    if (!threads) return std::nullopt;
    const auto gpu = GpuCatalogue::bundled().find("rtx-2080-ti");
    const auto chosen = choose_launch(**gpu, *threads);
    if (chosen) return *chosen;
    ADD_FAILURE() << to_text(chosen.diagnostics());
    return std::nullopt;
  }

  bool launch(const PlanLaunch& launch, const Bindings& bindings) {
    Built* const kernels = built(folder_ + "/" + launch.kernel, compiler_);
    const auto how = shape(launch, bindings);
    if (!kernels || !how) return false;
    const auto& known = kernels->source.kernels;
    const auto kernel = std::find_if(known.begin(), known.end(), [&](const auto& one) {
      return launch.entry.empty() || one.name == launch.entry;
    });
    if (kernel == known.end()) {
      ADD_FAILURE() << launch.kernel << " has no kernel " << launch.entry;
      return false;
    }
    SCOPED_TRACE(fmt::format("{}<<<{}, {}>>> of {}, {}", kernel->name, how->blocks, how->threads_per_block,
                             launch.kernel, name_of(compiler_)));
    Bindings inner = bindings;
    inner["blockDim.x"] = how->threads_per_block;
    inner["gridDim.x"] = how->blocks;
    return execute(*kernels, *kernel, launch, *how, inner);
  }

  bool execute(const Built& kernels, const KernelSignature& kernel, const PlanLaunch& launch,
               const Launch& how, const Bindings& bindings) {
    const execute::Code& code = kernels.code.at(kernel.name);
    auto memory = execute::Memory::create(*code);
    if (!memory) {
      ADD_FAILURE() << to_text(memory.diagnostics());
      return false;
    }
    for (const auto& [array, values] : device_.ints) {
      // The module's own variable of that name, as cudaMemcpyToSymbol fills it.
      const auto variable = memory->find(array);
      if (!variable) continue;
      const auto bytes = memory->bytes(*variable);
      if (bytes.size() < 4 * values.size()) {
        ADD_FAILURE() << array << " has " << bytes.size() << " bytes";
        return false;
      }
      std::memcpy(bytes.data(), values.data(), 4 * values.size());
    }
    std::map<std::string, std::uint32_t> buffers;
    std::vector<execute::Argument> arguments;
    values_.clear();
    for (const auto& argument : kernel.arguments) {
      const auto value = value_of(kernel.name, argument, launch, bindings);
      if (!value) return false;
      values_.push_back(*value);
      if (const auto* pointer = std::get_if<Pointer>(&*value)) {
        const auto buffer = upload(*memory, pointer->array, buffers);
        if (!buffer) return false;
        arguments.push_back(execute::pointer(*code, *memory, *buffer, pointer->first * 4));
      } else if (const auto* number = std::get_if<float>(&*value)) {
        arguments.push_back(execute::scalar(*number));
      } else {
        arguments.push_back(execute::scalar(std::get<int>(*value)));
      }
    }
    auto on_gpu = gpu_launch(kernels, kernel, how, *memory, buffers);
    execute::LaunchConfig dimensions;
    dimensions.grid.x = static_cast<std::uint32_t>(how.blocks);
    dimensions.block.x = static_cast<std::uint32_t>(how.threads_per_block);
    const auto execution = execute::run(*code, *memory, dimensions, arguments, {});
    if (!execution) {
      ADD_FAILURE() << to_text(execution.diagnostics());
      return false;
    }
    for (const auto& finding : execution->findings)
      ADD_FAILURE() << to_text(to_diagnostic(finding, kernels.module, kernel.name));
    if (!execution->completed || !execution->findings.empty()) return false;
    if (on_gpu && !same_on_gpu(*on_gpu, *memory, buffers)) return false;
    for (const auto& [array, buffer] : buffers) download(*memory, array, buffer);
    ++ran_.launches;
    ran_.loads += execution->counts.loads;
    ran_.stores += execution->counts.stores;
    return true;
  }

  // The same launch for the GPU, where there is one, with what is in memory before it.
  std::optional<GpuLaunch> gpu_launch(const Built& kernels, const KernelSignature& kernel, const Launch& how,
                                      const execute::Memory& memory,
                                      const std::map<std::string, std::uint32_t>& buffers) const {
    if (!gpu_here()) return std::nullopt;
    GpuLaunch launch;
    launch.ptx = kernels.source.ptx;
    launch.symbol = kernel.symbol;
    launch.blocks = static_cast<std::uint32_t>(how.blocks);
    launch.threads = static_cast<std::uint32_t>(how.threads_per_block);
    std::map<std::string, std::size_t> places;
    for (const auto& [array, buffer] : buffers) {
      places[array] = launch.buffers.size();
      const auto bytes = memory.bytes(buffer);
      launch.buffers.emplace_back(bytes.begin(), bytes.end());
    }
    for (const auto& value : values_) {
      if (const auto* pointer = std::get_if<Pointer>(&value))
        launch.arguments.push_back({{}, places.at(pointer->array), 4 * pointer->first});
      else if (const auto* number = std::get_if<float>(&value))
        launch.arguments.push_back({execute::scalar(*number)});
      else
        launch.arguments.push_back({execute::scalar(std::get<int>(value))});
    }
    for (const auto& [array, values] : device_.ints) {
      if (!memory.find(array)) continue;
      const auto bytes = std::as_bytes(std::span(values));
      if (!buffers.contains(array)) launch.variables[array] = {bytes.begin(), bytes.end()};
    }
    return launch;
  }

  // Products and sums without a rounding of their own (`mul.f32`, as nvcc writes them) may be rounded
  // together below PTX.
  static bool may_be_joined(const std::string& ptx) {
    return std::any_of(std::begin(joinable), std::end(joinable),
                       [&](const char* op) { return ptx.find(op) != std::string::npos; });
  }
  static constexpr const char* joinable[] = {"mul.f32", "add.f32", "sub.f32"};

  // Whether the floats differ by no more than a few roundings of the largest.
  static bool near(std::span<const std::byte> a, std::span<const std::byte> b) {
    constexpr float tolerance = 1e-5f;
    if (a.size() != b.size() || a.size() % sizeof(float) != 0) return false;
    std::vector<float> x(a.size() / sizeof(float)), y(x.size());
    std::memcpy(x.data(), a.data(), a.size());
    std::memcpy(y.data(), b.data(), b.size());
    float largest = 0;
    for (const float value : x) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(std::abs(x[i] - y[i]) <= tolerance * largest)) return false;
    return true;
  }

  // To the bit, where PTX says which products and sums are rounded together.
  static bool same_on_gpu(GpuLaunch& launch, const execute::Memory& memory,
                          const std::map<std::string, std::uint32_t>& buffers) {
    const auto wrong = run_on_gpu(launch);
    if (!wrong.empty()) {
      ADD_FAILURE() << "on the GPU: " << wrong;
      return false;
    }
    std::size_t place = 0;
    for (const auto& [array, buffer] : buffers) {
      const auto bytes = memory.bytes(buffer);
      const auto& there = launch.buffers[place++];
      const bool same = std::equal(bytes.begin(), bytes.end(), there.begin(), there.end());
      if (!same && !(may_be_joined(launch.ptx) && near(bytes, there))) {
        ADD_FAILURE() << "the GPU and the CPU differ in " << array;
        return false;
      }
    }
    return true;
  }

  // The plan's, where it says; else the test's.
  std::optional<Value> value_of(const std::string& kernel, const KernelArgument& argument,
                                const PlanLaunch& launch, const Bindings& bindings) {
    for (const auto& [name, expression] : launch.arguments) {
      if (name != argument.name) continue;
      const auto value = count(expression, bindings);
      if (!value) return std::nullopt;
      return Value(static_cast<int>(*value));
    }
    const auto bound = bindings.find(argument.name);
    if (argument.type == "int" && bound != bindings.end()) return Value(static_cast<int>(bound->second));
    return binder_(kernel, argument.name, bindings);
  }

  std::optional<std::uint32_t> upload(execute::Memory& memory, const std::string& array,
                                      std::map<std::string, std::uint32_t>& buffers) {
    if (const auto there = buffers.find(array); there != buffers.end()) return there->second;
    const auto floats = device_.floats.find(array);
    const auto ints = device_.ints.find(array);
    if (floats == device_.floats.end() && ints == device_.ints.end()) {
      ADD_FAILURE() << "there is no array " << array;
      return std::nullopt;
    }
    const auto contents = floats != device_.floats.end() ? std::as_bytes(std::span(floats->second))
                                                         : std::as_bytes(std::span(ints->second));
    const auto buffer = memory.allocate(array, contents);
    if (!buffer) {
      ADD_FAILURE() << to_text(buffer.diagnostics());
      return std::nullopt;
    }
    return buffers[array] = *buffer;
  }

  void download(const execute::Memory& memory, const std::string& array, std::uint32_t buffer) {
    if (const auto floats = device_.floats.find(array); floats != device_.floats.end())
      floats->second = memory.values<float>(buffer);
    else
      device_.ints.at(array) = memory.values<int>(buffer);
  }

  std::string folder_;
  Device& device_;
  const Binder& binder_;
  Compiler compiler_;
  std::vector<Value> values_;  // of the arguments of the launch at hand
  Ran ran_;
};

}  // namespace

Binder by_name(std::map<std::string, std::string> names) {
  return
      [names = std::move(names)](const std::string&, const std::string& argument, const Bindings&) -> Value {
        const auto other = names.find(argument);
        return Pointer{other == names.end() ? argument : other->second, 0};
      };
}

Ran run_plan(const std::string& plan_file, const Bindings& parameters, Device& device, const Binder& binder,
             Compiler compiler) {
  SCOPED_TRACE(plan_file);
  const auto plan = read_plan(read_file(plan_file), plan_file);
  if (!plan) {
    ADD_FAILURE() << to_text(plan.diagnostics());
    return {};
  }
  Runner runner(plan_file, device, binder, compiler);
  runner.steps(plan->steps, parameters);
  return runner.ran();
}

std::vector<Compiler> compilers() {
  if (nvcc_version()) return {Compiler::clang, Compiler::nvcc};
  return {Compiler::clang};
}

std::string name_of(Compiler compiler) {
  return compiler == Compiler::clang ? "clang" : "nvcc";
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(random() >> 8) / static_cast<float>(1 << 23) - 1;
  return values;
}

std::vector<double> whole_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (double& value : values) {
    seed = (seed * 1103515245 + 12345) % (std::uint64_t{1} << 31);
    value = static_cast<double>((seed >> 16) % 256) - 128;
  }
  return values;
}

std::vector<double> to_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}
std::vector<float> to_floats(const std::vector<double>& values) {
  std::vector<float> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [](double value) { return static_cast<float>(value); });
  return result;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], tolerance * largest) << what << ", element " << i;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& wanted, double tolerance,
                 const std::string& what) {
  expect_near(to_doubles(got), wanted, tolerance, what);
}

std::map<std::string, std::vector<double>> golden() {
  std::map<std::string, std::vector<double>> result;
  std::istringstream lines(read_file("tests/kernels/pywt_golden.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.empty() || name[0] == '#') continue;
    for (double value = 0; words >> value;) result[name].push_back(value);
  }
  return result;
}

std::string read_file(const std::string& file) {
  std::ifstream in(std::string(WARPTIME_SOURCE_DIR) + "/" + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace warptime::kernels

namespace warptime {
void PrintTo(Compiler compiler, std::ostream* out) {
  *out << kernels::name_of(compiler);
}
}  // namespace warptime
