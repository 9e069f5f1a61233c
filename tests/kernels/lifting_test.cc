// Lifting in a unified buffer, and with separate ones, by their plans.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "dwt_kernels/reference/lifting.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

constexpr double kFloat = 2e-6;  // of the largest value

TEST(Lifting, IsPyWavelets) {
  auto data = golden();
  const Signal signal = whole_numbers(64, 9);
  const struct {
    const char* name;
    Lifting lifting;
    double low, high;  // PyWavelets' bands are these times ours
  } cases[] = {{"bior2.2", cdf_5_3(), std::sqrt(2.), -std::sqrt(0.5)}, {"bior4.4", cdf_9_7(), 1, -1}};
  for (const auto& one : cases) {
    Signal ours = lifting_forward(signal, one.lifting);
    for (std::size_t i = 0; i < 64; ++i) ours[i] *= i < 32 ? one.low : one.high;
    Signal wanted = data[fmt::format("{}_low", one.name)];
    const Signal& high = data[fmt::format("{}_high", one.name)];
    wanted.insert(wanted.end(), high.begin(), high.end());
    expect_near(ours, wanted, 1e-9, one.name);
  }
}

// (13,7): the analysis filters reach 13 and 7 samples.
TEST(Lifting, FiltersHaveTheLengthsOfTheirNames) {
  const struct {
    Lifting lifting;
    int low, high;
  } cases[] = {{deslauriers_dubuc_13_7(), 13, 7}, {cdf_5_3(), 5, 3}, {cdf_9_7(), 9, 7}};
  for (const auto& one : cases) {
    int low_first = 64, low_last = -1, high_first = 64, high_last = -1;
    for (int i = 0; i < 64; ++i) {
      Signal impulse(64);
      impulse[static_cast<std::size_t>(i)] = 1;
      const Signal response = lifting_forward(impulse, one.lifting);
      if (response[16] != 0) low_first = std::min(low_first, i), low_last = i;
      if (response[48] != 0) high_first = std::min(high_first, i), high_last = i;
    }
    EXPECT_EQ(low_last - low_first + 1, one.low);
    EXPECT_EQ(high_last - high_first + 1, one.high);
  }
}

// Equations 1 and 2, written out.
TEST(Lifting, DeslauriersDubucIsItsDefinition) {
  const Signal x = whole_numbers(32, 4);
  const auto at = [](const Signal& values, std::size_t t) { return values[t % values.size()]; };
  Signal wanted(32);
  for (std::size_t t = 0; t < 16; ++t)
    wanted[16 + t] = at(x, 2 * t + 1) -
                     (-at(x, 2 * t + 30) + 9 * at(x, 2 * t) + 9 * at(x, 2 * t + 2) - at(x, 2 * t + 4)) / 16;
  const Signal d(wanted.begin() + 16, wanted.end());
  for (std::size_t t = 0; t < 16; ++t)
    wanted[t] = x[2 * t] + (-at(d, t + 14) + 9 * at(d, t + 15) + 9 * at(d, t) - at(d, t + 1)) / 32;
  expect_near(lifting_forward(x, deslauriers_dubuc_13_7()), wanted, 1e-14, "(13,7)");
}

TEST(Lifting, InversesGiveTheSignalBack) {
  const Signal signal = whole_numbers(30, 4);
  for (const auto& lifting : {deslauriers_dubuc_13_7(), cdf_5_3(), cdf_9_7()})
    expect_near(lifting_inverse(lifting_forward(signal, lifting), lifting), signal, 1e-13, "inverse");
}

TEST(Chunks, TheExampleOfThePaper) {
  EXPECT_EQ(representatives(8), (std::vector<int>{1, 3}));
  EXPECT_EQ(circular_permutation(1, 8), (std::vector<int>{1, 2, 4}));  // (1 4 2), from the other end
  EXPECT_EQ(circular_permutation(3, 8), (std::vector<int>{3, 6, 5}));
}

// Whatever the number of chunks: the permutations are disjoint, move every chunk but the first and last, and
// put even before odd.
TEST(Chunks, PermutationsPutEvenChunksFirst) {
  for (int chunks = 2; chunks <= 130; chunks += 2) {
    std::vector<int> place(static_cast<std::size_t>(chunks));
    std::iota(place.begin(), place.end(), 0);
    std::vector<int> moved(place.size());
    for (const int one : representatives(chunks))
      for (const int i : circular_permutation(one, chunks)) {
        place[static_cast<std::size_t>(i)] = static_cast<int>(2 * i % (chunks - 1));
        ++moved[static_cast<std::size_t>(i)];
      }
    for (int i = 0; i < chunks; ++i) {
      EXPECT_EQ(place[static_cast<std::size_t>(i)], i < chunks / 2 ? 2 * i : 2 * (i - chunks / 2) + 1)
          << chunks;
      EXPECT_EQ(moved[static_cast<std::size_t>(i)], i == 0 || i == chunks - 1 ? 0 : 1) << chunks;
    }
  }
}

// Lemma 1 and Theorem 1, for 2m a power of two, as n is.
TEST(Chunks, LemmaAndTheorem) {
  for (int bits = 2; bits <= 17; ++bits) {
    const int chunks = 1 << bits, m = chunks / 2;
    const auto all = representatives(chunks);
    std::size_t longest = 0, moved = 0;
    for (const int one : all) {
      const auto permutation = circular_permutation(one, chunks);
      longest = std::max(longest, permutation.size());
      moved += permutation.size();
    }
    EXPECT_LE(longest, static_cast<std::size_t>(bits)) << "Lemma 1: at most log2 2m chunks";
    EXPECT_EQ(moved, static_cast<std::size_t>(chunks - 2));
    const int l = static_cast<int>(all.size());
    EXPECT_TRUE(l < m || m < 128) << "Theorem 1: " << l;
    EXPECT_LT(l * bits, 8 * m) << "equation 9";
    // Lemma 2: l + 2 necklaces of `bits` beads in two colours.
    long long necklaces = 0;
    for (int i = 1; i <= bits; ++i) necklaces += 1LL << std::gcd(i, bits);
    EXPECT_EQ(necklaces, static_cast<long long>(bits) * (l + 2)) << bits;
  }
}

class LiftingKernels : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(By, LiftingKernels, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

Device unified(const std::vector<float>& image, int chunks) {
  Device device;
  device.floats = {{"x", image}};
  device.ints = {{"representatives", representatives(chunks)}};
  return device;
}

std::size_t bytes_of(const Device& device) {
  std::size_t bytes = 0;
  for (const auto& [name, values] : device.floats) bytes += 4 * values.size();
  for (const auto& [name, values] : device.ints) bytes += 4 * values.size();
  return bytes;
}

// Weights and places of the steps, in the order in which the plans launch them.
Binder steps_of(const Lifting& lifting, std::size_t band) {
  auto at = std::make_shared<std::size_t>(0);
  return [=](const std::string& kernel, const std::string& argument, const Bindings&) -> Value {
    if (kernel == "scale_bands" && argument != "x")
      return static_cast<float>(argument == "low" ? lifting.low_scale : lifting.high_scale);
    if (argument == "x") return Pointer{"x"};
    const auto& step = lifting.steps[*at];
    if (argument == "weight" || argument == "outer") return static_cast<float>(step.weights[0]);
    if (argument == "inner") return static_cast<float>(step.weights[1]);
    if (argument == "target") return Pointer{"x", step.into_high ? band : 0};
    ++*at;  // source is the last argument of a step
    return Pointer{"x", step.into_high ? 0 : band};
  };
}

TEST_P(LiftingKernels, RowsAndColumnsInOneBuffer) {
  const struct {
    std::string rows_plan, columns_plan;
    Lifting lifting;
    std::int64_t steps;
  } wavelets[] = {{"lifting_unified_rows", "lifting_unified_columns", deslauriers_dubuc_13_7(), 2},
                  {"lifting_53_rows", "lifting_53_columns", cdf_5_3(), 2},
                  {"lifting_97_rows", "lifting_97_columns", cdf_9_7(), 5}};
  const struct { int R, C, b; } images[] = {{8, 256, 32}, {16, 128, 32}, {4, 1024, 64}};
  for (const auto& wavelet : wavelets)
    for (const auto& image : images) {
      const auto rows = static_cast<std::size_t>(image.R), columns = static_cast<std::size_t>(image.C);
      const auto pixels = random_floats(rows * columns);
      const auto what = fmt::format("{}, {} x {}", wavelet.rows_plan, rows, columns);
      Device device = unified(pixels, image.C / image.b);
      auto l = static_cast<std::int64_t>(device.ints["representatives"].size());
      const Bindings parameters = {{"R", image.R}, {"C", image.C}, {"b", image.b}, {"l", l}};
      auto ran = run_plan("dwt_kernels/" + wavelet.rows_plan + ".plan.yaml", parameters, device,
                          steps_of(wavelet.lifting, columns / 2), GetParam());
      EXPECT_EQ(ran.launches, 2 + wavelet.steps);
      Signal wanted;
      for (std::size_t r = 0; r < rows; ++r) {
        const auto row =
            lifting_forward(to_doubles({pixels.begin() + static_cast<std::ptrdiff_t>(r * columns),
                                        pixels.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns)}),
                            wavelet.lifting);
        wanted.insert(wanted.end(), row.begin(), row.end());
      }
      expect_near(device.floats["x"], wanted, kFloat, what + ", rows");

      device.ints["representatives"] = representatives(image.R);
      l = static_cast<std::int64_t>(device.ints["representatives"].size());
      ran = run_plan("dwt_kernels/" + wavelet.columns_plan + ".plan.yaml",
                     {{"R", image.R}, {"C", image.C}, {"l", l}}, device,
                     steps_of(wavelet.lifting, rows / 2 * columns), GetParam());
      EXPECT_EQ(ran.launches, 1 + wavelet.steps);
      expect_near(device.floats["x"], lifting_2d(to_doubles(pixels), rows, columns, wavelet.lifting), kFloat,
                  what + ", columns");
    }
}

TEST_P(LiftingKernels, SeparateBuffersGiveTheSame) {
  for (const auto& [R, C] : std::vector<std::pair<int, int>>{{4, 4}, {6, 34}, {16, 300}, {40, 256}}) {
    const auto rows = static_cast<std::size_t>(R), columns = static_cast<std::size_t>(C);
    const auto image = random_floats(rows * columns);
    Device device;
    device.floats = {{"first", image}, {"second", std::vector<float>(image.size())}};
    const Binder binder = [](const std::string& kernel, const std::string& argument,
                             const Bindings&) -> Value {
      return Pointer{(kernel == "laan_rows") == (argument == "in") ? "first" : "second"};
    };
    EXPECT_EQ(run_plan("dwt_kernels/lifting_laan.plan.yaml", {{"R", R}, {"C", C}}, device, binder, GetParam())
                  .launches,
              2);
    expect_near(device.floats["first"],
                lifting_2d(to_doubles(image), rows, columns, deslauriers_dubuc_13_7()), kFloat,
                fmt::format("{} x {}", R, C));
    EXPECT_EQ(bytes_of(device), 4 * 2 * image.size()) << "2n";
  }
}

// n + ceil(n / 2b) values at most, against 2n; and the rearrangement loads and stores every chunk that moves
// once (section 4.1).
TEST_P(LiftingKernels, MemoryOfTheUnifiedBuffer) {
  constexpr int kLength = 1 << 13, kChunk = 32, kChunks = kLength / kChunk;  // m = 128
  const auto signal = random_floats(kLength);
  Device device = unified(signal, kChunks);
  const auto l = static_cast<std::int64_t>(device.ints["representatives"].size());
  EXPECT_LT(bytes_of(device), 4 * (kLength + kLength / (2 * kChunk)));
  const auto ran = run_plan("dwt_kernels/lifting_unified_rows.plan.yaml",
                            {{"R", 1}, {"C", kLength}, {"b", kChunk}, {"l", l}}, device,
                            steps_of(deslauriers_dubuc_13_7(), kLength / 2), GetParam());
  expect_near(device.floats["x"], lifting_forward(to_doubles(signal), deslauriers_dubuc_13_7()), kFloat,
              "one row");
  EXPECT_EQ(device.ints["representatives"].size(), static_cast<std::size_t>(l));
  // By warps: generation 2b = 64 threads a segment; rearrangement a warp a chunk; lifting a warp of 256
  // threads, twice, of which the first of each block loads its halo again.
  const std::uint64_t lifting = 2 * kLength / 2 / 32;
  EXPECT_EQ(ran.stores, kLength / 32 + (kChunks - 2) + lifting);
  EXPECT_EQ(ran.loads, kLength / 32 + (kChunks - 2) + 2 * lifting + lifting / 8);
}

}  // namespace
}  // namespace warptime::kernels
