// The references themselves: against PyWavelets, against their definitions, and forward against inverse.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "dwt_kernels/reference/lattice.h"
#include "dwt_kernels/reference/matrix.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

// PyWavelets' filter of output o ends at sample 2 o + K / 2 (mode periodization), ours begins at 2 o: the
// same for a signal that begins K / 2 - 1 samples earlier.
Signal aligned(const Signal& signal, std::size_t taps) {
  Signal result(signal.size());
  for (std::size_t i = 0; i < signal.size(); ++i)
    result[i] = signal[(i + taps * signal.size() + 1 - taps / 2) % signal.size()];
  return result;
}

Signal part(const Signal& values, std::size_t first, std::size_t count) {
  return {values.begin() + static_cast<std::ptrdiff_t>(first),
          values.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

TEST(Filters, AreThoseOfPyWavelets) {
  auto data = golden();
  for (int taps = 2; taps <= 14; taps += 2) {
    const auto filters = daubechies(taps);
    Signal low = data[fmt::format("low_{}", taps)], high = data[fmt::format("high_{}", taps)];
    std::reverse(low.begin(), low.end());
    std::reverse(high.begin(), high.end());
    expect_near(filters.low, low, 1e-14, fmt::format("low-pass of {} taps", taps));
    expect_near(filters.high, high, 1e-14, fmt::format("high-pass of {} taps", taps));
  }
  EXPECT_TRUE(daubechies(3).low.empty());
  EXPECT_TRUE(daubechies(16).low.empty());
}

// The largest moment of the high-pass filter about its middle, of the first `moments`, as a share of its terms.
double largest_moment(const Filters& filters, int moments) {
  const double middle = (static_cast<double>(filters.high.size()) - 1) / 2;
  double largest = 0;
  for (int moment = 0; moment < moments; ++moment) {
    double sum = 0, scale = 0;
    for (std::size_t j = 0; j < filters.high.size(); ++j) {
      const double term = filters.high[j] * std::pow(static_cast<double>(j) - middle, moment);
      sum += term;
      scale += std::abs(term);
    }
    largest = std::max(largest, std::abs(sum) / scale);
  }
  return largest;
}

// How far the low-pass filter is from having the length 1 and from being orthogonal to itself, shifted by
// two.
double off_orthonormal(const Filters& filters) {
  const auto& low = filters.low;
  double largest = 0;
  for (std::size_t shift = 0; shift < low.size(); shift += 2) {
    double sum = shift == 0 ? -1 : 0;
    for (std::size_t j = shift; j < low.size(); ++j) sum += low[j] * low[j - shift];
    largest = std::max(largest, std::abs(sum));
  }
  return largest;
}

struct NamedWavelet {
  std::string name;
  std::size_t taps;
  int moments;  // that vanish
};

std::vector<NamedWavelet> orthogonal_wavelets() {
  std::vector<NamedWavelet> all{{"haar", 2, 1}};
  for (int n = 1; n <= 7; ++n) all.push_back({fmt::format("db{}", n), 2 * static_cast<std::size_t>(n), n});
  for (int n = 4; n <= 10; ++n) all.push_back({fmt::format("sym{}", n), 2 * static_cast<std::size_t>(n), n});
  for (int n = 1; n <= 5; ++n)
    all.push_back({fmt::format("coif{}", n), 6 * static_cast<std::size_t>(n), 2 * n});
  return all;
}

TEST(Filters, AreOrthonormalWithTheirVanishingMomentsAndNoMore) {
  for (const auto& [name, taps, moments] : orthogonal_wavelets()) {
    const auto filters = wavelet(name);
    ASSERT_EQ(filters.low.size(), taps) << name;
    EXPECT_LT(off_orthonormal(filters), 1e-12) << name;
    EXPECT_LT(largest_moment(filters, moments), 1e-11) << name;
    EXPECT_GT(largest_moment(filters, moments + 1), 1e-4) << name;
  }
  for (const char* unknown : {"db8", "db", "sym3", "sym11", "coif6", "coif", "db2x", "db-1", "morlet", ""})
    EXPECT_TRUE(wavelet(unknown).low.empty()) << unknown;
}

// The scaling function's moments are those of the low-pass filter about the place where it is centred.
TEST(Filters, CoifletsScalingFunctionsHaveVanishingMomentsToo) {
  for (int n = 1; n <= 5; ++n) {
    const auto low = coiflet(6 * n).low;
    const double centre = 2 * n;
    for (int moment = 1; moment < 2 * n; ++moment) {
      double sum = 0, scale = 0;
      for (std::size_t j = 0; j < low.size(); ++j) {
        const double term = low[j] * std::pow(static_cast<double>(j) - centre, moment);
        sum += term;
        scale += std::abs(term);
      }
      EXPECT_NEAR(sum / scale, 0, 1e-11) << n << ", moment " << moment;
    }
  }
}

TEST(Filters, SymletsAndCoifletsAreThoseOfPyWavelets) {
  auto data = golden();
  int compared = 0;
  for (const auto& [name, taps, moments] : orthogonal_wavelets()) {
    if (!data.contains("low_" + name)) continue;
    const auto filters = wavelet(name);
    Signal low = data["low_" + name];
    std::reverse(low.begin(), low.end());
    expect_near(filters.low, low, 1e-14, name);
    const Signal bands = split(matrix_forward(aligned(whole_numbers(64, taps), taps), filters));
    expect_near(part(bands, 0, 32), data["dwt_" + name + "_low"], 1e-9, name);
    expect_near(part(bands, 32, 32), data["dwt_" + name + "_high"], 1e-9, name);
    ++compared;
  }
  EXPECT_EQ(compared, 12);
}

TEST(Filters, MeyersIsOrthonormalAsFarAsItGoes) {
  double before = 1;
  for (const int taps : {14, 30, 62, 102}) {
    const double off = off_orthonormal(meyer(taps));
    EXPECT_LT(off, before / 5) << taps << " taps";
    before = off;
  }
  EXPECT_LT(before, 1e-6);
  const auto low = wavelet("meyer").low;
  ASSERT_EQ(low.size(), 62u);
  for (std::size_t j = 1; j < 31; ++j) EXPECT_NEAR(low[30 - j], low[30 + j], 1e-15) << "symmetric: " << j;
  EXPECT_TRUE(meyer(61).low.empty());
}

TEST(Matrix, OneLevelIsPyWavelets) {
  auto data = golden();
  int compared = 0;
  for (std::size_t taps = 2; taps <= 14; taps += 2)
    for (const std::size_t count : {taps, std::size_t{30}, std::size_t{64}}) {
      const auto name = fmt::format("dwt_{}_{}", taps, count);
      ASSERT_TRUE(data.contains(name + "_low")) << name;
      const Signal bands = split(
          matrix_forward(aligned(whole_numbers(count, taps), taps), daubechies(static_cast<int>(taps))));
      expect_near(part(bands, 0, count / 2), data[name + "_low"], 1e-9, name);
      expect_near(part(bands, count / 2, count / 2), data[name + "_high"], 1e-9, name);
      ++compared;
    }
  EXPECT_EQ(compared, 21);
}

TEST(Matrix, ThreeLevelsArePyWavelets) {
  auto data = golden();
  for (const std::size_t taps : {2, 4, 8}) {
    // Aligned at every level.
    Signal result = whole_numbers(64, 3);
    for (std::size_t n = 64; n > 8; n /= 2) {
      const Signal bands =
          split(matrix_forward(aligned(part(result, 0, n), taps), daubechies(static_cast<int>(taps))));
      std::copy(bands.begin(), bands.end(), result.begin());
    }
    expect_near(result, data[fmt::format("levels_{}", taps)], 1e-9, fmt::format("{} taps", taps));
    // Haar's filter needs no alignment.
    if (taps == 2)
      expect_near(matrix_levels(whole_numbers(64, 3), daubechies(2), 3), data["levels_2"], 1e-9,
                  "matrix_levels");
  }
}

TEST(Matrix, TwoDimensionsArePyWavelets) {
  auto data = golden();
  constexpr std::size_t kRows = 12, kColumns = 20;
  for (const std::size_t taps : {2, 4, 8}) {
    const Signal image = whole_numbers(kRows * kColumns, 5);
    Signal moved(image.size());
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t c = 0; c < kColumns; ++c)
        moved[r * kColumns + c] = image[(r + taps * kRows + 1 - taps / 2) % kRows * kColumns +
                                        (c + taps * kColumns + 1 - taps / 2) % kColumns];
    const Signal result = matrix_2d(moved, kRows, kColumns, daubechies(static_cast<int>(taps)));
    const std::vector<std::string> names = {
        "ll", "lh", "hl", "hh"};  // first the columns' band of the rows', as PyWavelets' horizontal is hl
    for (std::size_t band = 0; band < 4; ++band) {
      Signal one;
      for (std::size_t r = band / 2; r < kRows; r += 2)
        for (std::size_t c = band % 2; c < kColumns; c += 2) one.push_back(result[r * kColumns + c]);
      expect_near(one, data[fmt::format("image_{}_{}", taps, names[band])], 1e-9,
                  fmt::format("{} taps, band {}", taps, names[band]));
    }
  }
}

TEST(Matrix, InversesGiveTheSignalBack) {
  for (int taps = 2; taps <= 14; taps += 2) {
    const auto filters = daubechies(taps);
    for (const std::size_t count : {16, 32, 80}) {
      const Signal signal = whole_numbers(count, 11);
      expect_near(matrix_inverse(matrix_forward(signal, filters), filters), signal, 1e-10, "one level");
      expect_near(matrix_levels_inverse(matrix_levels(signal, filters, 3), filters, 3), signal, 1e-10,
                  "three levels");
    }
    const Signal image = whole_numbers(10 * 16, 12);
    expect_near(matrix_2d_inverse(matrix_2d(image, 10, 16, filters), 10, 16, filters), image, 1e-10,
                "two dimensions");
  }
}

TEST(Lattice, IsTheMatrixWithItsPairsMoved) {
  for (const auto& [name, taps, moments] : orthogonal_wavelets()) {
    const auto filters = wavelet(name);
    const auto lattice = factorise(filters);
    ASSERT_TRUE(lattice) << to_text(lattice.diagnostics());
    const std::size_t count = 50, moved = taps / 2 - 1;
    const Signal signal = whole_numbers(count, 2), wanted = matrix_forward(signal, filters),
                 got = lattice_forward(signal, *lattice);
    Signal back(count);
    for (std::size_t i = 0; i < count; ++i) back[i] = got[(i + moved) % count];
    expect_near(back, wanted, 1e-11, name);
    expect_near(lattice_inverse(got, *lattice), signal, 1e-11, "inverse, " + name);
  }
}

// Any angles make orthogonal filters: the factorisation finds the transform again, whatever the filters are
// called.
TEST(Lattice, FactorisesWhateverAnglesMade) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto angles = random_floats(1 + seed % 7, seed);
    Lattice made;
    double scale = seed % 2 == 0 ? 1 : -1;
    for (const float angle : angles) {
      made.t.push_back(std::tan(1.5 * angle));
      made.s.push_back(-made.t.back());
      scale /= std::hypot(1, made.t.back());
    }
    made.low_scale = scale;
    made.high_scale = seed % 3 == 0 ? scale : -scale;
    // Its filters: the transform of unit impulses.
    const std::size_t taps = 2 * angles.size(), count = 2 * taps, at = taps / 2 - 1;
    Filters filters{Signal(taps), Signal(taps)};
    for (std::size_t j = 0; j < taps; ++j) {
      Signal impulse(count);
      impulse[j] = 1;
      const Signal response = lattice_forward(impulse, made);
      filters.low[j] = response[at];
      filters.high[j] = response[at + 1];
    }
    const auto found = factorise(filters);
    ASSERT_TRUE(found) << to_text(found.diagnostics());
    expect_near(found->t, made.t, 1e-6, fmt::format("seed {}", seed));
    EXPECT_NEAR(found->low_scale, made.low_scale, 1e-9);
    EXPECT_NEAR(found->high_scale, made.high_scale, 1e-9);
  }
}

TEST(Lattice, EightDigitsOfAFilterAreEnough) {
  for (int taps = 4; taps <= 14; taps += 2) {
    Filters filters = daubechies(taps);
    for (double& tap : filters.low) tap = std::round(tap * 1e8) / 1e8;
    filters.high = quadrature_mirror(filters.low);
    const auto lattice = factorise(filters);
    ASSERT_TRUE(lattice) << to_text(lattice.diagnostics());
    const Signal signal = whole_numbers(40, 3);
    const Signal wanted = lattice_forward(signal, *factorise(daubechies(taps)));
    expect_near(lattice_forward(signal, *lattice), wanted, 1e-5, fmt::format("{} taps", taps));
    for (double& tap : filters.high) tap = -tap;
    EXPECT_TRUE(factorise_tangents(filters));
  }
}

TEST(Lattice, RefusesWithTheReason) {
  const auto good = daubechies(4);
  auto with = [&](auto change) {
    Filters filters = good;
    change(filters);
    return filters;
  };
  const struct {
    Filters filters;
    const char* reason;
  } cases[] = {
      {with([](Filters& f) { f.low.push_back(0); }), "5 taps and the high-pass filter 4"},
      {{{1, 2, 3}, {3, 2, 1}}, "3 taps: a lattice needs an even number"},
      {{{}, {}}, "0 taps"},
      {{{0, 0}, {0, 0}}, "all zeros"},
      {with([](Filters& f) { f.low[1] = NAN; }), "not a number"},
      {with([](Filters& f) { f.low[0] *= 1.01; }), "not orthogonal"},
      {with([](Filters& f) {
         for (double& tap : f.high) tap *= 2;
       }),
       "different norms"},
      {{{0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, 0.5, -0.5}}, "low-pass by low-pass is not 0 at a shift of 2"},
      {{{1, 0, 0, 0}, {0, 0, 0, 1}}, "infinite"},
      {{{0, 1}, {1, 0}}, "infinite"},
      {with([](Filters& f) {
         for (auto* one : {&f.low, &f.high}) one->insert(one->end(), {0, 0});
       }),
       "delay"},
  };
  for (const auto& one : cases) {
    const auto result = factorise(one.filters);
    ASSERT_FALSE(result) << one.reason;
    EXPECT_NE(to_text(result.diagnostics()).find(one.reason), std::string::npos)
        << to_text(result.diagnostics());
  }
  const auto sign = factorise_tangents(good);
  ASSERT_FALSE(sign);
  EXPECT_NE(to_text(sign.diagnostics()).find("negate the high-pass filter"), std::string::npos);
}

TEST(GoldenData, AreWhatPyWaveletsGives) {
  const std::string python = "/usr/bin/python3";  // Debian's, which has Debian's packages
  if (std::system((python + " -c 'import pywt' 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "no python3-pywt on this machine";
  const auto written =
      std::filesystem::temp_directory_path() / fmt::format("pywt_golden_{}.txt", std::random_device()());
  ASSERT_EQ(std::system(fmt::format("{} {}/tests/kernels/pywt_golden.py {}", python, WARPTIME_SOURCE_DIR,
                                    written.string())
                            .c_str()),
            0);
  std::ifstream in(written);
  std::map<std::string, Signal> fresh;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.starts_with('#')) continue;
    for (double value = 0; words >> value;) fresh[name].push_back(value);
  }
  std::filesystem::remove(written);
  const auto committed = golden();
  ASSERT_EQ(fresh.size(), committed.size());
  ASSERT_GT(fresh.size(), 40u);
  for (const auto& [name, values] : committed) expect_near(fresh[name], values, 1e-9, name);
}

}  // namespace
}  // namespace warptime::kernels
