// The seven GPU and four CPU variants of Stokfiszewski et al. (2022): all eleven give the same numbers.
#include <fmt/format.h>

#include "dwt_kernels/reference/cpu_dwt.h"
#include "dwt_kernels/reference/cpu_dwt_team.h"
#include "dwt_kernels/reference/lattice.h"
#include "dwt_kernels/reference/matrix.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

constexpr double kFloat = 2e-6;  // of the largest value

// The high-pass filter with the sign that the lattice of this paper makes.
Filters with_sign(Filters filters) {
  for (double& tap : filters.high) tap = -tap;
  return filters;
}

struct Case {
  int K, N;
  std::size_t n, taps;
  Filters filters;
  std::vector<float> signal, hp, gp, wtg;
  Signal wanted;  // low band, then high band

  Case(const Filters& wavelet, int size)
      : K(static_cast<int>(wavelet.low.size())),
        N(size),
        n(static_cast<std::size_t>(size)),
        taps(wavelet.low.size()),
        filters(with_sign(wavelet)) {
    signal = random_floats(n, static_cast<unsigned>(K));
    hp = to_floats(filters.low);
    gp = to_floats(filters.high);
    const auto factors = factorise_tangents(filters);
    EXPECT_TRUE(factors);
    wtg = to_floats(*factors);
    wanted = split(matrix_forward(to_doubles(signal), filters));
  }
  std::string name(const std::string& what) const { return fmt::format("{}, K = {}, N = {}", what, K, N); }
  Bindings parameters() const { return {{"K", K}, {"N", N}}; }
  // The signal after its own last two values, and followed by its own first K - 2 values.
  std::vector<float> preceded() const {
    auto y = signal;
    y.insert(y.begin(), signal.end() - 2, signal.end());
    return y;
  }
  std::vector<float> expanded() const {
    auto y = signal;
    y.insert(y.end(), signal.begin(), signal.begin() + K - 2);
    return y;
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int K = 2; K <= 14; K += 2)
    for (const int N : {16, 100, 2052}) all.emplace_back(daubechies(K), N);
  for (const char* name : {"sym4", "sym7", "sym10", "coif1", "coif2", "coif5"})
    all.emplace_back(wavelet(name), 100);
  return all;
}

TEST(CpuVariants, AllFourAreTheTransform) {
  for (const auto& one : cases()) {
    auto m2_ww = one.signal, m2_nw = one.signal, l2_ww = one.signal, l2_nw = one.signal;
    std::vector<float> y(one.n + one.taps - 2);
    cpu_dwt_m2_ww_ref(one.K, one.N, m2_ww.data(), y.data(), one.hp.data(), one.gp.data());
    cpu_dwt_m2_nw(one.K, one.N, m2_nw.data(), y.data(), one.hp.data(), one.gp.data());
    cpu_dwt_l2_ww(one.K, one.N, l2_ww.data(), y.data(), one.wtg.data());
    cpu_dwt_l2_nw(one.K, one.N, l2_nw.data(), y.data(), one.wtg.data());
    expect_near(m2_ww, one.wanted, kFloat, one.name("cpu_dwt_m2_ww_ref"));
    expect_near(m2_nw, one.wanted, kFloat, one.name("cpu_dwt_m2_nw"));
    expect_near(l2_ww, one.wanted, kFloat, one.name("cpu_dwt_l2_ww"));
    expect_near(l2_nw, one.wanted, kFloat, one.name("cpu_dwt_l2_nw"));
    EXPECT_EQ(m2_ww, m2_nw) << "the same additions in the same order";
  }
}

TEST(CpuVariants, ThreadsChangeNoBit) {
  for (const int threads : {1, 2, 3, 7}) {
    Team team(threads);
    for (const auto& one : cases())
      for (const CpuVariant variant : kCpuVariants) {
        auto transform = CpuDwt::make(variant, one.filters, one.N);
        ASSERT_TRUE(transform);
        auto alone = one.signal, shared = one.signal;
        transform->forward(alone.data());
        transform->forward(shared.data(), &team);
        EXPECT_EQ(shared, alone) << one.name(name_of(variant)) << ", " << threads << " threads";
        expect_near(alone, one.wanted, kFloat, one.name(name_of(variant)));
      }
  }
}

class GpuVariants : public testing::TestWithParam<Compiler> {
 protected:
  std::vector<float> run(const Case& one, const std::string& variant, Device device,
                         const std::string& result, std::int64_t launches) {
    const Binder arrays = by_name();
    const bool has_last_two = variant == "gpu_dwt_m4_ww";  // y by the signal's last two values
    const Binder binder = [&](const std::string& kernel, const std::string& argument,
                              const Bindings& counters) -> Value {
      // The host passes the stage's factor and the scale.
      const auto stage =
          counters.contains("k") ? static_cast<std::size_t>(counters.at("k")) : one.taps / 2 - 1;
      if (argument == "a") return one.wtg[stage];
      if (argument == "psi") return one.wtg[one.taps / 2];
      if (argument == "y" && has_last_two) return Pointer{"y", 2};
      return arrays(kernel, argument, counters);
    };
    EXPECT_EQ(run_plan("dwt_kernels/" + variant + ".plan.yaml", one.parameters(), device, binder, GetParam())
                  .launches,
              launches)
        << variant;
    return device.floats[result];
  }
};
INSTANTIATE_TEST_SUITE_P(By, GpuVariants, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

// y and x as the paper has them: the m variants read y and write x.
Device bands_apart(const Case& one, std::vector<float> y) {
  Device device;
  device.floats = {{"y", std::move(y)}, {"x", std::vector<float>(one.n)}, {"hp", one.hp}, {"gp", one.gp}};
  return device;
}

TEST_P(GpuVariants, Wrapped) {
  for (const auto& one : cases()) {
    Device reference;
    auto gh = one.hp;
    gh.insert(gh.end(), one.gp.begin(), one.gp.end());
    reference.floats = {{"x", one.signal}, {"y", std::vector<float>(one.n)}, {"gh", gh}};
    const auto m1 = run(one, "gpu_dwt_m1_ww_ref", reference, "y", 1);
    expect_near(split(to_doubles(m1)), one.wanted, kFloat, one.name("gpu_dwt_m1_ww_ref"));
    expect_near(run(one, "gpu_dwt_m2_ww", bands_apart(one, one.signal), "x", 1), one.wanted, kFloat,
                one.name("gpu_dwt_m2_ww"));
    expect_near(run(one, "gpu_dwt_m4_ww", bands_apart(one, one.preceded()), "x", 1), one.wanted, kFloat,
                one.name("gpu_dwt_m4_ww"));
  }
}

TEST_P(GpuVariants, Expanded) {
  for (const auto& one : cases()) {
    expect_near(run(one, "gpu_dwt_m2_nw", bands_apart(one, one.expanded()), "x", 1), one.wanted, kFloat,
                one.name("gpu_dwt_m2_nw"));
    expect_near(run(one, "gpu_dwt_m4_nw", bands_apart(one, one.expanded()), "x", 1), one.wanted, kFloat,
                one.name("gpu_dwt_m4_nw"));
  }
}

TEST_P(GpuVariants, Lattice) {
  for (const auto& one : cases()) {
    Device in_place;
    in_place.floats = {{"x", one.signal}};
    const auto moved = run(one, "gpu_dwt_l2_ww", in_place, "x", one.K / 2);
    Signal back(one.n);
    for (std::size_t i = 0; i < one.n; ++i) back[i] = moved[(i + one.taps / 2 - 1) % one.n];
    expect_near(split(back), one.wanted, kFloat, one.name("gpu_dwt_l2_ww"));
    expect_near(run(one, "gpu_dwt_l2_nw", bands_apart(one, one.expanded()), "x", one.K / 2), one.wanted,
                kFloat, one.name("gpu_dwt_l2_nw"));
  }
}

}  // namespace
}  // namespace warptime::kernels
