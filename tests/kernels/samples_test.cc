// The samples' kernels, by their plans, against their definitions.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "samples/reference/transforms.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

constexpr double kFloat = 1e-5;  // of the largest value: sums of up to a thousand products

class Samples : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(By, Samples, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

std::vector<float> table(int count, double (*of)(double)) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>(of(2 * std::numbers::pi * i / count));
  return values;
}

TEST_P(Samples, Fft) {
  const struct {
    std::string plan;
    int N;
    std::int64_t stages;
  } cases[] = {{"fft_radix2", 2, 1}, {"fft_radix2", 8, 3},  {"fft_radix2", 512, 9},
               {"fft_radix4", 4, 1}, {"fft_radix4", 64, 3}, {"fft_radix4", 1024, 5}};
  for (const auto& one : cases) {
    const auto n = static_cast<std::size_t>(one.N);
    const auto signal = random_floats(2 * n);  // real and imaginary parts in turn
    Device device;
    device.floats = {
        {"0", signal}, {"1", std::vector<float>(2 * n)}, {"twiddles", std::vector<float>(2 * n)}};
    const auto cosines = table(one.N, [](double angle) { return std::cos(angle); }),
               sines = table(one.N, [](double angle) { return std::sin(angle); });
    for (std::size_t i = 0; i < n; ++i) {
      device.floats["twiddles"][2 * i] = cosines[i];
      device.floats["twiddles"][2 * i + 1] = -sines[i];
    }
    const Binder binder = [](const std::string&, const std::string& argument,
                             const Bindings& counters) -> Value {
      if (argument == "twiddles") return Pointer{"twiddles"};
      return Pointer{(counters.at("stage") % 2 == 0) == (argument == "in") ? "0" : "1"};
    };
    EXPECT_EQ(run_plan("samples/fft/" + one.plan + ".plan.yaml", {{"N", one.N}}, device, binder, GetParam())
                  .launches,
              one.stages);
    std::vector<std::complex<double>> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = {signal[2 * i], signal[2 * i + 1]};
    std::vector<double> wanted;
    for (const auto& value : reference::fourier(x)) wanted.insert(wanted.end(), {value.real(), value.imag()});
    expect_near(device.floats[one.stages % 2 == 0 ? "0" : "1"], wanted, kFloat,
                fmt::format("{}, N = {}", one.plan, one.N));
  }
}

TEST_P(Samples, CosineTransform) {
  for (const int N : {1, 2, 7, 32, 100}) {
    const auto n = static_cast<std::size_t>(N);
    Device device;
    device.floats = {{"x", random_floats(n)},
                     {"X", std::vector<float>(n)},
                     {"cosines", table(4 * N, [](double angle) { return std::cos(angle); })}};
    run_plan("samples/dct/dct2_naive.plan.yaml", {{"N", N}}, device, by_name(), GetParam());
    expect_near(device.floats["X"], reference::cosine(to_doubles(device.floats["x"])), kFloat,
                fmt::format("N = {}", N));
  }
}

TEST_P(Samples, CosineTransformOfBlocks) {
  for (const auto& [R, C] : std::vector<std::pair<int, int>>{{8, 8}, {24, 40}}) {
    const auto rows = static_cast<std::size_t>(R), columns = static_cast<std::size_t>(C);
    Device device;
    device.floats = {{"in", random_floats(rows * columns)}, {"out", std::vector<float>(rows * columns)}};
    run_plan("samples/dct/dct2_8x8.plan.yaml", {{"R", R}, {"C", C}}, device, by_name(), GetParam());
    expect_near(device.floats["out"], reference::cosine_8x8(to_doubles(device.floats["in"]), rows, columns),
                kFloat, fmt::format("{} x {}", R, C));
  }
}

TEST_P(Samples, WalshHadamard) {
  for (const int N : {2, 16, 8192}) {  // 8192: the blocks have threads beyond N / 2
    Device device;
    device.floats = {{"x", random_floats(static_cast<std::size_t>(N))}};
    const auto wanted = reference::walsh_hadamard(to_doubles(device.floats["x"]));
    run_plan("samples/walsh_hadamard/walsh_hadamard.plan.yaml", {{"N", N}}, device, by_name(), GetParam());
    expect_near(device.floats["x"], wanted, kFloat, fmt::format("N = {}", N));
  }
}

TEST_P(Samples, Hartley) {
  for (const int N : {1, 2, 9, 64, 100}) {
    const auto n = static_cast<std::size_t>(N);
    Device device;
    device.floats = {{"x", random_floats(n)},
                     {"X", std::vector<float>(n)},
                     {"cas", table(N, [](double angle) { return std::cos(angle) + std::sin(angle); })}};
    run_plan("samples/hartley/hartley.plan.yaml", {{"N", N}}, device, by_name(), GetParam());
    expect_near(device.floats["X"], reference::hartley(to_doubles(device.floats["x"])), kFloat,
                fmt::format("N = {}", N));
  }
}

TEST_P(Samples, MatrixTimesVector) {
  for (const int N : {1, 5, 40}) {
    const auto n = static_cast<std::size_t>(N);
    Device device;
    device.floats = {
        {"mtx", random_floats(n * n)}, {"vec_in", random_floats(n, 2)}, {"vec_out", std::vector<float>(n)}};
    run_plan("samples/mtx_mul_vec/mtx_mul_vec.plan.yaml", {{"N", N}}, device, by_name(), GetParam());
    expect_near(
        device.floats["vec_out"],
        reference::product(to_doubles(device.floats["mtx"]), to_doubles(device.floats["vec_in"]), n, n, 1),
        kFloat, fmt::format("N = {}", N));
  }
}

TEST_P(Samples, MatrixTimesMatrix) {
  for (const int N : {1, 16, 35}) {
    const auto n = static_cast<std::size_t>(N);
    Device device;
    device.floats = {
        {"a", random_floats(n * n)}, {"b", random_floats(n * n, 2)}, {"c", std::vector<float>(n * n)}};
    run_plan("samples/mtx_mul_mtx/mtx_mul_mtx.plan.yaml", {{"N", N}}, device, by_name(), GetParam());
    expect_near(device.floats["c"],
                reference::product(to_doubles(device.floats["a"]), to_doubles(device.floats["b"]), n, n, n),
                kFloat, fmt::format("N = {}", N));
  }
}

}  // namespace
}  // namespace warptime::kernels
