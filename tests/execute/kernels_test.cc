// Kernels as compilers make them, against the same on the host.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/execute/builds.h"
#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

class Kernels : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (GetParam().compiler == Compiler::nvcc && !nvcc_version()) GTEST_SKIP() << "no nvcc on this machine";
  }

  // The outcome of a kernel, which must end without a finding.
  Outcome executed(const std::string& file, const std::string& kernel, const LaunchConfig& how,
                   const std::vector<Given>& arguments, ExecutionListener* listener = nullptr) {
    const auto source = compiled(file, GetParam());
    if (!source) return {};
    const auto signature = std::find_if(source->kernels.begin(), source->kernels.end(),
                                        [&](const auto& k) { return k.name == kernel; });
    if (signature == source->kernels.end()) {
      ADD_FAILURE() << "no kernel " << kernel;
      return {};
    }
    loaded_ = load_text(source->ptx, signature->symbol);
    if (!loaded_) return {};
    auto outcome = launch(*loaded_, how, arguments, {}, listener);
    EXPECT_TRUE(outcome.execution.completed);
    for (const auto& finding : outcome.execution.findings)
      ADD_FAILURE() << to_text(to_diagnostic(finding, *loaded_->module, kernel + ".ptx"));
    return outcome;
  }
  std::optional<Loaded> loaded_;
};

constexpr char file[] = "tests/execute/kernels.cu";

std::vector<float> some_floats(std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> values(count);
  for (auto& value : values) value = between(random);
  return values;
}

std::vector<int> some_ints(std::size_t count, int most, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (auto& value : values)
    value = static_cast<int>(random() % (2 * static_cast<std::uint32_t>(most) + 1)) - most;
  return values;
}

// Compilers may contract a * b + c, or not.
template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& wanted, T tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], tolerance * std::max<T>(1, std::abs(wanted[i]))) << i;
}

TEST_P(Kernels, MatrixTransform) {
  for (const int K : {2, 4, 6, 7, 8, 12}) {
    const int N = 256;
    const auto in = some_floats(N), coefs = some_floats(2 * static_cast<std::size_t>(K), 2);
    const auto outcome = executed("dwt_kernels/mtx.cu", "mtx", {{4}, {64}},
                                  {value(K), value(N), buffer(in), uninitialised(N * 4), buffer(coefs)});
    std::vector<float> wanted(N);
    for (int id = 0; id < N; ++id)
      for (int i = 0; i < K; ++i)
        wanted[static_cast<std::size_t>(id)] += in[static_cast<std::size_t>((2 * (id / 2) + i) % N)] *
                                                coefs[static_cast<std::size_t>(id % 2 * K + i)];
    expect_near(outcome.values<float>(1), wanted, 1e-6f);
  }
}

TEST_P(Kernels, LatticeStage) {
  const int L = 3, N = 128;
  const auto coefs = some_floats(2 * L, 2);
  auto wanted = some_floats(N);
  auto data = wanted;
  for (int k = 0; k < L; ++k) {
    data = executed("dwt_kernels/ltt.cu", "ltt", {{2}, {32}},
                    {value(k), value(L), value(N), buffer(data), buffer(coefs)})
               .values<float>(0);
    const float t = coefs[static_cast<std::size_t>(2 * k)], s = coefs[static_cast<std::size_t>(2 * k + 1)];
    for (int i = 0; i < N / 2; ++i) {
      auto &a = wanted[static_cast<std::size_t>(2 * i + k % 2)],
           &b = wanted[static_cast<std::size_t>((2 * i + k % 2 + 1) % N)];
      const float x = a, y = b;
      a = k < L - 1 ? x + t * y : t * x;
      b = k < L - 1 ? s * x + y : s * y;
    }
  }
  expect_near(data, wanted, 1e-6f);
}

TEST_P(Kernels, MatrixTimesVector) {
  const int N = 64;
  const auto matrix = some_floats(N * N), vector = some_floats(N, 2);
  const auto outcome = executed("samples/mtx_mul_vec/mtx_mul_vec.cu", "mtx_mul_vec", {{2}, {32}},
                                {value(N), buffer(matrix), buffer(vector), buffer(std::vector<float>(N))});
  std::vector<float> wanted(N);
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) wanted[i] += matrix[i * N + j] * vector[j];
  expect_near(outcome.values<float>(2), wanted, 1e-5f);
}

TEST_P(Kernels, Sums) {
  const int n = 1000;
  const auto in = some_ints(n, 1000);
  const auto outcome = executed(file, "sums", {{3}, {128}}, {value(n), buffer(in), uninitialised(12)});
  std::vector<int> wanted(3);
  for (std::size_t i = 0; i < n; ++i) wanted[i / 128 % 3] += in[i];
  EXPECT_EQ(outcome.values<int>(1), wanted);
}

TEST_P(Kernels, TreeSums) {
  const auto in = some_floats(512);
  const auto outcome = executed(file, "tree_sums", {{4}, {128}, 512}, {buffer(in), uninitialised(16)});
  std::vector<float> wanted(4);
  for (std::size_t i = 0; i < in.size(); ++i) wanted[i / 128] += in[i];
  expect_near(outcome.values<float>(1), wanted, 1e-5f);
}

TEST_P(Kernels, LoopsOfDifferentLengths) {
  const int n = 300;
  const auto outcome = executed(file, "collatz", {{3}, {128}}, {value(n), uninitialised(n * 4)});
  std::vector<int> wanted(n);
  for (int i = 0; i < n; ++i) {
    auto& count = wanted[static_cast<std::size_t>(i)];
    for (long long x = i + 1; x != 1;) {
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
      if (++count == 200) break;
    }
  }
  EXPECT_EQ(outcome.values<int>(0), wanted);
}

TEST_P(Kernels, Histogram) {
  const int n = 5000;
  std::vector<unsigned char> in(n);
  std::mt19937 random(1);
  for (auto& value : in) value = static_cast<unsigned char>(random());
  const auto outcome =
      executed(file, "histogram", {{5}, {128}}, {value(n), buffer(in), buffer(std::vector<unsigned>(64))});
  std::vector<unsigned> wanted(64);
  for (const auto value : in) ++wanted[value % 64];
  EXPECT_EQ(outcome.values<unsigned>(1), wanted);
}

TEST_P(Kernels, Calls) {
  struct Pair {
    int x = 7;
    long long y = 1000000000000;
  };
  const auto outcome = executed(file, "calls", {{2}, {32}}, {value(Pair{}), uninitialised(64 * 8)});
  std::vector<long long> wanted(64);
  for (int i = 0; i < 64; ++i) {
    int power = 1;
    for (int k = 0; k < i % 8; ++k) power *= 3;
    wanted[static_cast<std::size_t>(i)] = power + 7 * i + 1000000000007;
  }
  EXPECT_EQ(outcome.values<long long>(0), wanted);
}

TEST_P(Kernels, Transpose) {
  std::vector<double> in(48 * 48);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  const auto outcome =
      executed(file, "transpose", {{3, 3}, {16, 16}}, {value(48), buffer(in), uninitialised(in.size() * 8)});
  const auto values = outcome.values<double>(1);
  ASSERT_EQ(values.size(), in.size());
  for (std::size_t y = 0; y < 48; ++y)
    for (std::size_t x = 0; x < 48; ++x) ASSERT_EQ(values[x * 48 + y], in[y * 48 + x]);
}

TEST_P(Kernels, ConstantTables) {
  const int n = 128;
  const auto in = some_floats(n);
  const auto outcome = executed(file, "filter", {{4}, {32}}, {value(n), buffer(in), uninitialised(n * 4)});
  constexpr float taps[8] = {0.5f, -0.25f, 0.125f, 1.0f, -1.0f, 2.0f, 0.75f, 0.0625f};
  std::vector<float> wanted(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 8; ++k) wanted[i] += taps[k] * in[(i + k) % n];
  expect_near(outcome.values<float>(1), wanted, 1e-5f);
}

TEST_P(Kernels, LocalArraysAndSwitches) {
  std::vector<int> code;
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) code.push_back(static_cast<int>(random() % 128));
  const auto outcome = executed(file, "machine", {{2}, {32}}, {value(60), buffer(code), uninitialised(256)});
  std::vector<int> wanted;
  for (int i = 0; i < 64; ++i) {
    std::uint32_t stack[8] = {static_cast<std::uint32_t>(i), 1, 2, 3, 4, 5, 6, 7};
    for (int k = 0; k < 60; ++k) {
      auto& top = stack[(code[static_cast<std::size_t>(k)] >> 4) & 7];
      switch (code[static_cast<std::size_t>(k)] & 15) {
        case 0:
          top += 5;
          break;
        case 1:
          top *= 3;
          break;
        case 2:
          top -= stack[(i + k) & 7];
          break;
        case 3:
          top ^= static_cast<std::uint32_t>(k);
          break;
        case 4:
          top = 0 - top;
          break;
        case 5:
          top = static_cast<std::uint32_t>(static_cast<int>(top) >> 1);
          break;
        case 6:
          if (static_cast<int>(top) > 100) top = 100;
          break;
        default:
          top = stack[0];
      }
    }
    std::uint32_t sum = 0;
    for (const auto part : stack) sum = sum * 31 + part;
    wanted.push_back(static_cast<int>(sum));
  }
  EXPECT_EQ(outcome.values<int>(1), wanted);
}

std::uint32_t reversed(std::uint32_t x) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= ((x >> i) & 1) << (31 - i);
  return result;
}

TEST_P(Kernels, BitTricks) {
  std::vector<std::uint32_t> in = {0, 1, 2, 0x80000000, 0xffffffff};
  std::mt19937 random(3);
  while (in.size() < 64) in.push_back(static_cast<std::uint32_t>(random()));
  const auto outcome = executed(file, "bit_tricks", {{2}, {32}}, {buffer(in), uninitialised(256)});
  std::vector<std::uint32_t> wanted;
  for (const auto x : in) {
    const auto bytes = std::uint64_t{~x} << 32 | x;
    const auto byte = [&](int i) { return static_cast<std::uint32_t>(bytes >> (8 * i)) & 0xff; };
    std::uint32_t y = reversed(x) ^ static_cast<std::uint32_t>(std::popcount(x)) * 0x01010101u ^
                      static_cast<std::uint32_t>(std::countl_zero(x)) << 8 ^
                      (byte(5) | byte(1) << 8 | byte(7) << 16 | byte(3) << 24);
    y += static_cast<std::uint32_t>((std::uint64_t{x} * 0x9e3779b9u) >> 32) + x / 7 + x % 1000 +
         (x == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(x)) + 1);
    const auto wide = (std::uint64_t{x} << 32 | y) * 0x123456789abcdefull;
    wanted.push_back(static_cast<std::uint32_t>(wide >> 29) ^ static_cast<std::uint32_t>(wide % 1000003u));
  }
  EXPECT_EQ(outcome.values<std::uint32_t>(1), wanted);
}

TEST_P(Kernels, Vectors) {
  const auto in = some_floats(256);
  const auto outcome = executed(file, "vectors", {{2}, {32}}, {buffer(in), uninitialised(1024)});
  std::vector<float> wanted;
  for (std::size_t i = 0; i < 256; i += 4)
    wanted.insert(wanted.end(), {in[i + 3], in[i + 2], in[i + 1] + in[i], in[i] / in[i + 1]});
  expect_near(outcome.values<float>(1), wanted, 1e-6f);
}

TEST_P(Kernels, Numbers) {
  std::vector<double> in;
  for (int i = 0; i < 64; ++i) in.push_back((i - 20) * 1.37);
  const auto outcome = executed(file, "numbers", {{2}, {32}}, {buffer(in), uninitialised(512)});
  std::vector<double> wanted;
  for (const double x : in) {
    const auto whole = static_cast<long long>(x);
    wanted.push_back(x * 0.5 + static_cast<float>(x) + static_cast<double>(whole) +
                     static_cast<unsigned char>(static_cast<int>(x)) + static_cast<short>(whole) +
                     (x > 3    ? 1.0
                      : x < -3 ? -1.0
                               : 0.25) +
                     std::sqrt(x * x + 1) + 1.0 / (x * x + 2));
  }
  expect_near(outcome.values<double>(1), wanted, 1e-14);
}

TEST_P(Kernels, Votes) {
  auto in = some_ints(32, 50);
  in[3] = 7;
  const auto outcome = executed(file, "votes", {{1}, {32}}, {buffer(in), uninitialised(128)});
  std::uint32_t ballot = 0;
  for (std::uint32_t i = 0; i < 32; ++i) ballot |= std::uint32_t{in[i] > 0} << i;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t same = 0;
    for (std::uint32_t k = 0; k < 32; ++k) same |= std::uint32_t{(in[i] & 3) == (in[k] & 3)} << k;
    wanted.push_back(ballot ^ same ^ 3u ^ static_cast<std::uint32_t>(in[i ^ 5]));
  }
  EXPECT_EQ(outcome.values<std::uint32_t>(1), wanted);
}

INSTANTIATE_TEST_SUITE_P(Builds, Kernels, ::testing::ValuesIn(builds()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace warptime::execute::testing
