// Square images by the paper's two methods: the unified buffer and separate ones, with the accesses of Table 3.
#include <fmt/format.h>

#include <cmath>

#include "dwt_kernels/reference/lifting.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

constexpr double kRounding = 2e-6;  // of the largest value

class LiftingOfImages : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(By, LiftingOfImages, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

std::int64_t value_count(const Device& device) {
  std::size_t count = 0;
  for (const auto& [name, values] : device.floats) count += values.size();
  for (const auto& [name, values] : device.ints) count += values.size();
  return static_cast<std::int64_t>(count);
}

Signal transformed(const std::vector<float>& image, std::int64_t side) {
  const auto count = static_cast<std::size_t>(side);
  return lifting_2d(to_doubles(image), count, count, deslauriers_dubuc_13_7());
}

// Tiles of r = 256 values: less than one, one, several, and a last one that is not full.
TEST_P(LiftingOfImages, OneBuffer) {
  const struct { std::int64_t N, b; } images[] = {{128, 32}, {256, 32}, {512, 64}};
  for (const auto& [N, b] : images) {
    const auto image = random_floats(static_cast<std::size_t>(N * N));
    Device device;
    device.floats = {{"x", image}};
    device.ints = {{"representatives", representatives(static_cast<int>(N / b))}};
    const auto l = static_cast<std::int64_t>(device.ints["representatives"].size());
    const auto ran = run_plan("dwt_kernels/lifting_unified.plan.yaml", {{"N", N}, {"b", b}, {"l", l}}, device,
                              by_name(), GetParam());
    EXPECT_EQ(ran.launches, 6);
    expect_near(device.floats["x"], transformed(image, N), kRounding, fmt::format("N = {}, b = {}", N, b));
    EXPECT_EQ(value_count(device), N * N + l);
  }
}

TEST_P(LiftingOfImages, SeparateBuffers) {
  for (const std::int64_t N : {32, 128, 256, 352, 512}) {
    const auto image = random_floats(static_cast<std::size_t>(N * N));
    Device device;
    device.floats = {{"first", image}, {"second", std::vector<float>(image.size())}};
    const Binder binder = [](const std::string& kernel, const std::string& argument,
                             const Bindings&) -> Value {
      return Pointer{(kernel == "laan_rows") == (argument == "in") ? "first" : "second"};
    };
    EXPECT_EQ(
        run_plan("dwt_kernels/lifting_separate.plan.yaml", {{"N", N}}, device, binder, GetParam()).launches,
        2);
    expect_near(device.floats["first"], transformed(image, N), kRounding, fmt::format("N = {}", N));
    EXPECT_EQ(value_count(device), 2 * N * N);
  }
}

// Table 3 by the warps that the executed PTX counts: 32 values for each, but for the halos of rows, which have 6 and 6 values in two
// loads of a tile, and the first 3 values of each band, which are stored by themselves.
TEST_P(LiftingOfImages, AccessesOfTable3) {
  constexpr std::int64_t kSide = 512, kChunk = 64, kChunks = kSide / kChunk, kTiles = kSide / 256, kWarp = 32;
  const auto image = random_floats(kSide * kSide);
  Device one;
  one.floats = {{"x", image}};
  one.ints = {{"representatives", representatives(kChunks)}};
  const auto l = static_cast<std::int64_t>(one.ints["representatives"].size());
  const auto unified = run_plan("dwt_kernels/lifting_unified.plan.yaml",
                                {{"N", kSide}, {"b", kChunk}, {"l", l}}, one, by_name(), GetParam());
  const std::uint64_t generation = 2 * kSide * kSide / kWarp,
                      rearrangement = 2 * kSide * (kChunks - 2) * kChunk / kWarp;
  const std::uint64_t rows = kSide * kTiles, strips = kSide / kWarp * kTiles;
  EXPECT_EQ(unified.loads, generation + rearrangement + rows * (256 / kWarp + 2) + strips * 268);
  EXPECT_EQ(unified.stores, generation + rearrangement + rows * 256 / kWarp + 2 * kSide + strips * 256);

  Device two;
  two.floats = {{"first", image}, {"second", std::vector<float>(image.size())}};
  const auto separate = run_plan(
      "dwt_kernels/lifting_separate.plan.yaml", {{"N", kSide}}, two,
      [](const std::string& kernel, const std::string& argument, const Bindings&) -> Value {
        return Pointer{(kernel == "laan_rows") == (argument == "in") ? "first" : "second"};
      },
      GetParam());
  EXPECT_EQ(separate.loads, rows * (256 / kWarp + 1) + strips * 268);
  EXPECT_EQ(separate.stores, rows * 256 / kWarp + strips * 256);
}

}  // namespace
}  // namespace warptime::kernels
