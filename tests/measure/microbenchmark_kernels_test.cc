// The micro-benchmarks' kernels, executed on the CPU: what they compute shows that each step of a chain is
// there and depends on the one before, and that every byte is read or written.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "analyzer/execute/execute.h"
#include "measure/device/kernels.h"

namespace warptime::measuring {
namespace {

// The kernels with memory of their own.
class OnCpu {
 public:
  OnCpu() : text_(microbenchmark_ptx()) {
    auto module = ptx::parse(text_, "microbenchmarks.ptx");
    EXPECT_TRUE(module) << to_text(module.diagnostics());
    if (module) module_ = std::move(*module);
  }

  struct Array {
    std::vector<std::byte> bytes;
    template <class T>
    static Array of(const std::vector<T>& values) {
      const auto view = std::as_bytes(std::span(values));
      return {{view.begin(), view.end()}};
    }
    template <class T>
    std::vector<T> as() const {
      std::vector<T> values(bytes.size() / sizeof(T));
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
      return values;
    }
  };
  // An argument: an array, or a number.
  struct Value {
    Value(Array* of) : array(of) {}
    Value(std::uint64_t of) : number(of) {}
    Value(int of) : number(static_cast<std::uint64_t>(of)) {}
    Array* array = nullptr;
    std::uint64_t number = 0;
  };

  void run(std::string_view kernel, std::uint32_t blocks, std::uint32_t threads,
           const std::vector<Value>& values) {
    const auto index = execute::find_kernel(module_, kernel, "microbenchmarks.ptx");
    ASSERT_TRUE(index) << to_text(index.diagnostics());
    const auto code = execute::load(module_, *index, "microbenchmarks.ptx");
    ASSERT_TRUE(code) << to_text(code.diagnostics());
    auto memory = execute::Memory::create(**code);
    ASSERT_TRUE(memory);
    std::vector<execute::Argument> arguments;
    std::vector<std::pair<Array*, std::uint32_t>> buffers;
    for (const Value& value : values) {
      Array* array = value.array;
      if (array == nullptr) {
        arguments.push_back(execute::scalar(value.number));
        continue;
      }
      const auto known =
          std::find_if(buffers.begin(), buffers.end(), [&](const auto& one) { return one.first == array; });
      if (known == buffers.end()) {
        const auto buffer = memory->allocate("array", array->bytes);
        ASSERT_TRUE(buffer);
        buffers.emplace_back(array, *buffer);
        arguments.push_back(execute::pointer(**code, *memory, *buffer));
      } else {
        arguments.push_back(execute::pointer(**code, *memory, known->second));
      }
    }
    execute::Options options;
    options.instruction_budget = 10'000'000;
    const auto execution = execute::run(**code, *memory, {{blocks}, {threads}}, arguments, options);
    ASSERT_TRUE(execution) << to_text(execution.diagnostics());
    for (const auto& finding : execution->findings) ADD_FAILURE() << kernel << ": " << finding.message;
    instructions_ = execution->counts.instructions;
    addresses_.clear();
    for (const auto& [array, buffer] : buffers) {
      const auto bytes = std::as_const(*memory).bytes(buffer);
      array->bytes.assign(bytes.begin(), bytes.end());
      addresses_.push_back(memory->address(buffer));
    }
  }

  std::uint64_t instructions() const { return instructions_; }
  // Of the arrays of the last run, in the order of their first use.
  std::uint64_t address(std::size_t array) const { return addresses_[array]; }

 private:
  std::string text_;
  ptx::Module module_;
  std::uint64_t instructions_ = 0;
  std::vector<std::uint64_t> addresses_;
};

using Array = OnCpu::Array;

Array out() {
  return {std::vector<std::byte>(kOutBytes)};
}
// What thread 0 wrote, and the cycles of warp 0.
std::uint64_t value_of(const Array& out) {
  return out.as<std::uint64_t>()[kValuesAt / 8];
}
std::uint64_t cycles_of(const Array& out) {
  const auto words = out.as<std::uint64_t>();
  return words[1] - words[0];
}

TEST(MicrobenchmarkKernels, AChainLeadsThroughAllLinesBackToItsBegin) {
  OnCpu gpu;
  const std::vector<std::uint32_t> next = {3, 0, 1, 4, 5, 6, 7, 2};
  Array lines{std::vector<std::byte>(8 * 128)}, order = Array::of(next);
  gpu.run("fill_chain", 2, 3, {&lines, &order, 8, 128});
  const auto base = gpu.address(0);
  const auto words = lines.as<std::uint64_t>();
  for (std::size_t i = 0; i < next.size(); ++i) EXPECT_EQ(words[16 * i], base + 128 * next[i]) << i;
}

TEST(MicrobenchmarkKernels, AChaseTakesAsManyStepsAsItIsTold) {
  for (const char* kernel : {"chase_ca", "chase_cg"}) {
    OnCpu gpu;
    Array result = out(), chain{std::vector<std::byte>(8)};
    gpu.run("store_load", 1, 1, {&result, &chain, &chain, 0, 1});  // to know where the arrays are
    const auto begin = gpu.address(1);
    chain = Array::of<std::uint64_t>({begin});
    gpu.run(kernel, 1, 1, {&result, &chain, 2, 3});
    const auto short_chase = gpu.instructions();
    EXPECT_EQ(value_of(result), begin);
    gpu.run(kernel, 1, 1, {&result, &chain, 2, 4});
    EXPECT_EQ(gpu.instructions() - short_chase, kStepsPerIteration + 3);  // and the loop's
  }
}

TEST(MicrobenchmarkKernels, EachStepOfALatencyDependsOnTheOneBefore) {
  OnCpu gpu;
  Array result = out(), word = Array::of<std::uint32_t>(std::vector<std::uint32_t>(32));
  gpu.run("store_load", 1, 32, {&result, &word, &word, 0, 2});
  EXPECT_EQ(value_of(result), 2 * kStepsPerIteration);  // one is added in each
  Array lines = Array::of<std::uint32_t>(std::vector<std::uint32_t>(32 * kStepsPerIteration));
  gpu.run("store_load", 1, 32, {&result, &lines, &lines, 128, 1});
  EXPECT_EQ(value_of(result), kStepsPerIteration);
  for (int i = 0; i < kStepsPerIteration; ++i) EXPECT_EQ(lines.as<std::uint32_t>()[32 * i], i);
  Array indices = Array::of<std::uint32_t>({3, 0, 1, 2});
  gpu.run("global_index", 1, 1, {&result, &indices, 1});
  EXPECT_EQ(value_of(result), 0);  // twice around
  indices = Array::of<std::uint32_t>({2, 0, 1});
  gpu.run("global_index", 1, 1, {&result, &indices, 1});
  EXPECT_EQ(value_of(result), 1);
  gpu.run("shared_index", 1, 32, {&result, 1});
  EXPECT_EQ(result.as<std::uint64_t>()[kValuesAt / 8 + 31], 31);
  gpu.run("constant", 1, 1, {&result, 0, 8});
  EXPECT_EQ(value_of(result), 0);  // 64 steps: once around
  gpu.run("constant", 1, 1, {&result, 0, 4});
  EXPECT_NE(value_of(result), 0);
  word = Array::of<std::uint32_t>({1});
  gpu.run("global_atomic", 1, 1, {&result, &word, 0, 1});
  EXPECT_GT(word.as<std::uint32_t>().front(), 1U);
  gpu.run("shared_atomic", 1, 1, {&result, 0, 1});
  EXPECT_EQ(value_of(result), 13);  // Fibonacci's: each adds what the one before returned
  gpu.run("shared_chain", 1, 32, {&result, 8, 2});
  EXPECT_EQ(result.as<std::uint64_t>()[kValuesAt / 8 + 31] - value_of(result), 31 * 8);
}

// What a chain of `steps` steps of each instruction gives.
double expected(std::string_view name, int steps) {
  const auto repeat = [&](double x, auto step) {
    for (int i = 0; i < steps; ++i) x = step(x);
    return x;
  };
  if (name == "fma_f32") return 1.5;
  if (name == "fma_f64") return 1;
  if (name == "div_f32") return 1.5;
  if (name == "sqrt_f32") return repeat(1.5, [](float x) { return std::sqrt(x); });
  if (name == "rcp_f32") return repeat(1.5, [](float x) { return 1 / x + 1; });
  if (name == "ex2_f32") return repeat(1.5, [](float x) { return std::exp2(x); });
  if (name == "sin_f32") return repeat(1.5, [](float x) { return std::sin(x); });
  if (name == "div_s32") return 1'000'000;
  if (name == "div_s64") return std::pow(2, 60);
  if (name == "convert") return 1000;
  if (name == "shuffle") return 1;
  if (name == "vote") return std::pow(2, 32) - 1;
  if (name == "popc") return 1;
  std::uint32_t x = 1;
  for (int i = 0; i < steps; ++i) x = name == "add_s32" ? (x + 3) ^ 5 : x * 3 + 5;
  return x;
}

TEST(MicrobenchmarkKernels, EachInstructionsChainHasAllItsSteps) {
  for (const InstructionBenchmark& one : instruction_benchmarks()) {
    OnCpu gpu;
    Array result = out();
    gpu.run("latency_" + std::string(one.name), 1, 32, {&result, one.x, one.a, one.b, 0, 2});
    const auto bits = value_of(result);
    const double value = one.type == "f32"   ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                         : one.type == "f64" ? std::bit_cast<double>(bits)
                                             : static_cast<double>(bits);
    const double wanted = expected(one.name, 2 * one.unrolled);
    EXPECT_TRUE(value == wanted || std::abs(value - wanted) < 1e-5 * std::abs(wanted))
        << one.name << ": " << value << ", not " << wanted;
    EXPECT_GE(cycles_of(result), static_cast<std::uint64_t>(2 * one.unrolled)) << one.name;
    // Four chains of the same value cancel, and have four times as many steps.
    const auto alone = gpu.instructions();
    gpu.run("rate_" + std::string(one.name), 1, 32, {&result, one.x, one.a, one.b, 0, 2});
    EXPECT_EQ(value_of(result), 0) << one.name;
    EXPECT_GE(gpu.instructions(), alone + (kChains - 1) * 2 * one.unrolled) << one.name;
  }
}

TEST(MicrobenchmarkKernels, StreamsReadAndWriteEveryByteOnce) {
  OnCpu gpu;
  std::vector<std::uint32_t> numbers(16384);
  std::iota(numbers.begin(), numbers.end(), 1U);
  Array from = Array::of(numbers), to = Array::of(std::vector<std::uint32_t>(numbers.size(), 7));
  gpu.run("copy_16", 4, 256, {&from, &to, 65536, 1});
  EXPECT_EQ(to.as<std::uint32_t>(), numbers);
  gpu.run("write_16", 4, 256, {&to, 65536, 2});
  EXPECT_EQ(to.as<std::uint32_t>(), std::vector<std::uint32_t>(numbers.size(), 0));
  // A thread that reads something else than zeros says so at the array's begin.
  for (const char* kernel : {"read_4", "read_16"}) {
    for (const std::size_t place : {std::size_t{1}, numbers.size() / 2, numbers.size() - 1}) {
      std::vector<std::uint32_t> one(numbers.size(), 0);
      one[place] = 42;
      Array array = Array::of(one);
      gpu.run(kernel, 2, 64, {&array, 65536, 1});
      EXPECT_EQ(array.as<std::uint32_t>().front(), 42U) << kernel << ", " << place;
    }
  }
}

TEST(MicrobenchmarkKernels, AtomicsFallWhereTheyAreTold) {
  OnCpu gpu;
  const auto run = [&](std::uint64_t shift, std::uint64_t mask, std::uint64_t stride) {
    Array words{std::vector<std::byte>(4096)};
    gpu.run("atomics", 2, 128, {&words, shift, mask, stride, 3});
    return words.as<std::uint32_t>();
  };
  EXPECT_EQ(run(0, 0, 4)[0], 2 * 128 * 3U);
  const auto by_warp = run(5, 0xffffffff, 128);
  for (int warp = 0; warp < 8; ++warp) EXPECT_EQ(by_warp[32 * warp], 32 * 3U);
  const auto own = run(0, 0xffffffff, 4);
  EXPECT_EQ(std::count(own.begin(), own.end(), 3U), 256);
}

}  // namespace
}  // namespace warptime::measuring
