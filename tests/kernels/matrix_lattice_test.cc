// mtx, ltt and what is built from them, by their plans, against the reference.
#include <fmt/format.h>

#include "dwt_kernels/reference/lattice.h"
#include "dwt_kernels/reference/matrix.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

constexpr double kFloat = 2e-6;  // of the largest value

std::vector<float> matrix_coefficients(const Filters& filters) {
  auto coefs = to_floats(filters.low);
  for (const double tap : filters.high) coefs.push_back(static_cast<float>(tap));
  return coefs;
}

Lattice lattice_of(const Filters& filters) {
  const auto lattice = factorise(filters);
  EXPECT_TRUE(lattice);
  return *lattice;
}

class MatrixLattice : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(By, MatrixLattice, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

// N: less than the filter, a warp and a bit, many blocks of which the last is not full.
const std::vector<int> kSizes = {2, 6, 34, 100, 2050};

TEST_P(MatrixLattice, Mtx) {
  for (const int K : {2, 4, 8, 14})
    for (const int N : kSizes) {
      const auto filters = daubechies(K);
      const auto n = static_cast<std::size_t>(N);
      Device device;
      device.floats = {{"idata", random_floats(n)},
                       {"odata", std::vector<float>(n)},
                       {"coefs", matrix_coefficients(filters)}};
      const auto signal = to_doubles(device.floats["idata"]);
      const auto ran =
          run_plan("dwt_kernels/mtx.plan.yaml", {{"K", K}, {"N", N}}, device, by_name(), GetParam());
      EXPECT_EQ(ran.launches, 1);
      expect_near(device.floats["odata"], matrix_forward(signal, filters), kFloat,
                  fmt::format("mtx, K = {}, N = {}", K, N));
      std::swap(device.floats["idata"], device.floats["odata"]);
      run_plan("dwt_kernels/mtx_inverse.plan.yaml", {{"K", K}, {"N", N}}, device, by_name(), GetParam());
      if (N >= K)
        expect_near(device.floats["odata"], signal, kFloat, fmt::format("mtx_inverse, K = {}, N = {}", K, N));
    }
}

TEST_P(MatrixLattice, Ltt) {
  for (const int K : {2, 4, 8, 14})
    for (const int N : kSizes) {
      const auto lattice = lattice_of(daubechies(K));
      Device device;
      device.floats = {{"data", random_floats(static_cast<std::size_t>(N))},
                       {"forward", ltt_coefficients(lattice)},
                       {"inverse", ltt_inverse_coefficients(lattice)}};
      const auto signal = to_doubles(device.floats["data"]);
      const auto ran = run_plan("dwt_kernels/ltt.plan.yaml", {{"K", K}, {"N", N}}, device,
                                by_name({{"coefs", "forward"}}), GetParam());
      EXPECT_EQ(ran.launches, K / 2 + 1);
      expect_near(device.floats["data"], lattice_forward(signal, lattice), kFloat,
                  fmt::format("ltt, K = {}, N = {}", K, N));
      run_plan("dwt_kernels/ltt_inverse.plan.yaml", {{"K", K}, {"N", N}}, device,
               by_name({{"coefs", "inverse"}}), GetParam());
      expect_near(device.floats["data"], signal, kFloat, fmt::format("ltt_inverse, K = {}, N = {}", K, N));
    }
}

// The work array `a` holds the signal, then one low band after the other; `b` what mtx made of it. The high
// band of a level is final: its place among the coefficients is [N / 2, N) of that level.
struct LevelArrays {
  Device device;
  int N, levels;

  Binder binder(bool inverse) const {
    return [n = N, all = levels, inverse](const std::string&, const std::string& argument,
                                          const Bindings& counters) -> Value {
      const auto level = inverse ? all - 1 - counters.at("done") : counters.at("level");
      const auto half = static_cast<std::size_t>(n >> level) / 2;
      if (argument == "coefs") return Pointer{"coefs"};
      if (argument == "high") return Pointer{"coefficients", half};
      if (argument == "low") return Pointer{"a"};
      if (argument == "in" || argument == "out") return Pointer{"b"};
      // mtx: from a to b; mtx_inverse: from b to a.
      return Pointer{(argument == "idata") == inverse ? "b" : "a"};
    };
  }
};

TEST_P(MatrixLattice, MtxLevels) {
  for (const auto& [K, N, levels] :
       std::vector<std::array<int, 3>>{{4, 96, 3}, {8, 200, 2}, {6, 64, 1}, {4, 64, 6}}) {
    const auto filters = daubechies(K);
    const auto n = static_cast<std::size_t>(N);
    LevelArrays arrays{{}, N, levels};
    auto& floats = arrays.device.floats;
    floats = {{"a", random_floats(n)},
              {"b", std::vector<float>(n)},
              {"coefficients", std::vector<float>(n)},
              {"coefs", matrix_coefficients(filters)}};
    const auto signal = to_doubles(floats["a"]);
    const Bindings parameters = {{"K", K}, {"N", N}, {"levels", levels}};
    const auto ran = run_plan("dwt_kernels/mtx_levels.plan.yaml", parameters, arrays.device,
                              arrays.binder(false), GetParam());
    EXPECT_EQ(ran.launches, 2 * levels);
    auto result = floats["coefficients"];
    std::copy_n(floats["a"].begin(), N >> levels, result.begin());
    expect_near(result, matrix_levels(signal, filters, levels), kFloat,
                fmt::format("K = {}, N = {}, {} levels", K, N, levels));
    run_plan("dwt_kernels/mtx_levels_inverse.plan.yaml", parameters, arrays.device, arrays.binder(true),
             GetParam());
    if (N >> (levels - 1) >= K) expect_near(floats["a"], signal, kFloat, "back");
  }
}

// The lattice works in place: each level's low band becomes the data of the next, so that the two work arrays
// change places.
TEST_P(MatrixLattice, LttLevels) {
  for (const auto& [K, N, levels] : std::vector<std::array<int, 3>>{{4, 96, 3}, {8, 200, 2}, {6, 64, 1}}) {
    const auto filters = daubechies(K);
    const auto lattice = lattice_of(filters);
    const auto n = static_cast<std::size_t>(N);
    Device device;
    device.floats = {{"a", random_floats(n)},
                     {"b", std::vector<float>(n)},
                     {"coefficients", std::vector<float>(n)},
                     {"forward", ltt_coefficients(lattice)},
                     {"inverse", ltt_inverse_coefficients(lattice)}};
    const auto signal = to_doubles(device.floats["a"]);
    const Bindings parameters = {{"K", K}, {"N", N}, {"levels", levels}};
    const auto binder = [n, levels = levels](bool inverse) -> Binder {
      return [n, levels, inverse](const std::string&, const std::string& argument,
                                  const Bindings& counters) -> Value {
        const auto level =
            static_cast<std::size_t>(inverse ? levels - 1 - counters.at("done") : counters.at("level"));
        const std::string here = level % 2 == 0 ? "a" : "b", next = level % 2 == 0 ? "b" : "a";
        if (argument == "coefs") return Pointer{inverse ? "inverse" : "forward"};
        if (argument == "high") return Pointer{"coefficients", (n >> level) / 2};
        return Pointer{argument == "low" ? next : here};
      };
    };
    const auto ran =
        run_plan("dwt_kernels/ltt_levels.plan.yaml", parameters, device, binder(false), GetParam());
    EXPECT_EQ(ran.launches, levels * (K / 2 + 2));
    auto result = device.floats["coefficients"];
    std::copy_n(device.floats[levels % 2 == 0 ? "a" : "b"].begin(), N >> levels, result.begin());
    expect_near(result, matrix_levels(signal, filters, levels), kFloat,
                fmt::format("K = {}, N = {}, {} levels", K, N, levels));
    run_plan("dwt_kernels/ltt_levels_inverse.plan.yaml", parameters, device, binder(true), GetParam());
    expect_near(device.floats["a"], signal, kFloat, "back");
  }
}

// image → padded → transformed → transposed → padded → transformed → transposed.
Binder image_binder(const std::string& coefs, bool in_place) {
  return [=](const std::string& kernel, const std::string& argument, const Bindings&) -> Value {
    if (argument == "coefs") return Pointer{coefs};
    if (kernel == "pad_rows") return Pointer{argument == "in" ? "image" : "padded"};
    if (kernel == "crop_transpose")
      return Pointer{argument == "out" ? "image" : in_place ? "padded" : "transformed"};
    return Pointer{argument == "odata" ? "transformed" : "padded"};
  };
}

TEST_P(MatrixLattice, TwoDimensions) {
  for (const auto& [K, R, C] :
       std::vector<std::array<int, 3>>{{2, 4, 6}, {4, 34, 40}, {8, 10, 66}, {6, 4, 2}}) {
    const auto filters = daubechies(K);
    const auto lattice = lattice_of(filters);
    const auto rows = static_cast<std::size_t>(R), columns = static_cast<std::size_t>(C);
    const auto most = std::max(rows * (columns + 2 * static_cast<std::size_t>(K)),
                               columns * (rows + 2 * static_cast<std::size_t>(K)));
    const auto image = random_floats(rows * columns);
    const auto wanted = matrix_2d(to_doubles(image), rows, columns, filters);
    const Bindings parameters = {{"K", K}, {"R", R}, {"C", C}};
    const auto what = fmt::format("K = {}, {} x {}", K, R, C);
    Device device;
    device.floats = {{"image", image},
                     {"padded", std::vector<float>(most)},
                     {"transformed", std::vector<float>(most)},
                     {"coefs", matrix_coefficients(filters)},
                     {"forward", ltt_coefficients(lattice)},
                     {"inverse", ltt_inverse_coefficients(lattice)}};

    EXPECT_EQ(
        run_plan("dwt_kernels/mtx_2d.plan.yaml", parameters, device, image_binder("coefs", false), GetParam())
            .launches,
        6);
    expect_near(device.floats["image"], wanted, kFloat, "mtx_2d, " + what);
    if (R >= K && C >= K) {
      run_plan("dwt_kernels/mtx_2d_inverse.plan.yaml", parameters, device, image_binder("coefs", false),
               GetParam());
      expect_near(device.floats["image"], to_doubles(image), kFloat, "mtx_2d_inverse, " + what);
    }
    device.floats["image"] = image;
    EXPECT_EQ(run_plan("dwt_kernels/ltt_2d.plan.yaml", parameters, device, image_binder("forward", true),
                       GetParam())
                  .launches,
              K + 6);
    expect_near(device.floats["image"], wanted, kFloat, "ltt_2d, " + what);
    run_plan("dwt_kernels/ltt_2d_inverse.plan.yaml", parameters, device, image_binder("inverse", true),
             GetParam());
    expect_near(device.floats["image"], to_doubles(image), kFloat, "ltt_2d_inverse, " + what);
  }
}

}  // namespace
}  // namespace warptime::kernels
