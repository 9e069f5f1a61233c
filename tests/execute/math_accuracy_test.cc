// The mathematical functions of warptime's own CUDA headers, executed on the CPU, against the C library's in extended precision:
// within the errors that the CUDA C++ Programming Guide states for CUDA's. As there, an error is the number of units in the last
// place from the correctly rounded result.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "analyzer/compile/compile.h"
#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double pi = 3.14159265358979323846264338327950288L;

const Source& compiled_functions() {
  static const Result<Source> source = [] {
    const std::string path = std::string(WARPTIME_SOURCE_DIR) + "/tests/execute/math_functions.cuh";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return compile_cuda("math_functions.cu", text.str(), CompileOptions());
  }();
  if (!source) throw std::runtime_error(to_text(source.diagnostics()));
  return *source;
}

// Functions that the C library has not.
long double erfcx(long double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  long double sum = 1, term = 1;
  for (int k = 1; k < 12; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum / (x * std::sqrt(pi));
}
long double erfinv(long double y) {
  const long double a = std::fabs(y);
  if (a == 0) return y;
  if (a >= 1) return a == 1 ? std::copysign(infinity, y) : std::numeric_limits<long double>::quiet_NaN();
  long double x = a < 0.9L ? a * 0.9L : std::sqrt(-std::log(1 - a));
  for (int i = 0; i < 60; ++i) {
    const long double error = a < 0.5L ? std::erf(x) - a : (1 - a) - std::erfc(x);
    const long double step = error * std::sqrt(pi) / 2 * std::exp(x * x);
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}
long double erfcinv(long double y) {
  if (y == 0 || y == 2) return y == 0 ? infinity : -infinity;
  if (y > 0.5L && y < 1.5L) return erfinv(1 - y);
  const long double q = std::min(y, 2 - y);
  long double x = std::sqrt(-std::log(q));
  for (int i = 0; i < 60; ++i) {
    const long double e = std::erfc(x);
    x += (std::log(e) - std::log(q)) * e * std::sqrt(pi) / 2 * std::exp(x * x);
  }
  return y > 1 ? -x : x;
}
long double sinpi(long double x) {
  const long double n = std::rint(2 * x), t = (x - n / 2) * pi;
  const long double quadrant = std::fmod(n, 4.0L) + (std::fmod(n, 4.0L) < 0 ? 4 : 0);
  const long double y = std::fmod(quadrant, 2.0L) != 0 ? std::cos(t) : std::sin(t);
  return quadrant >= 2 ? -y : y;
}
long double cospi(long double x) {
  const long double n = std::rint(2 * x), t = (x - n / 2) * pi;
  const long double quadrant = std::fmod(std::fabs(n), 4.0L);
  const long double y = std::fmod(quadrant, 2.0L) != 0 ? std::copysign(1.0L, -n) * std::sin(t) : std::cos(t);
  return quadrant >= 2 ? -y : y;
}
long double bessel_i(int order, long double x) {
  long double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 2000; ++k) sum += term *= x * x / 4 / (k * static_cast<long double>(k + order));
  return sum;
}

// How many numbers apart.
template <class T>
double distance(T got, long double exact) {
  const T want = static_cast<T>(exact);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e18;
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T v) {
    const auto bits = std::bit_cast<Bits>(v);
    return static_cast<long double>(bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits);
  };
  return static_cast<double>(std::fabs(place(got) - place(want)));
}

template <class T>
std::vector<T> arguments(long double low, long double high, unsigned seed) {
  std::vector<T> values = {0,
                           -T(0),
                           1,
                           -1,
                           T(0.5),
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max()};
  std::mt19937_64 random(seed);
  const long double from = std::max(low, -20.0L), to = std::min(high, 20.0L);
  while (values.size() < 2048) {
    const auto bits = random();
    const T any =
        sizeof(T) == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
    const long double share = static_cast<long double>(bits >> 11) / (1ull << 53);
    const T near = static_cast<T>(std::ldexp(2 * share - 1, static_cast<int>(bits % 12) - 6));
    values.push_back(values.size() % 3 == 0   ? any
                     : values.size() % 3 == 1 ? static_cast<T>(from + (to - from) * share)
                                              : near);
  }
  for (T& value : values)
    if (value < low || value > high) value = static_cast<T>(from + (to - from) / 2);
  return values;
}

template <class T>
std::vector<T> results(const std::string& function, const std::vector<T>& a, const std::vector<T>& b) {
  const auto loaded =
      load_text(compiled_functions().ptx, function + (sizeof(T) == 4 ? "_of_float" : "_of_double"));
  if (!loaded) return {};
  LaunchConfig how;
  how.block.x = 256;
  how.grid.x = static_cast<std::uint32_t>(a.size() / 256);
  const Outcome outcome = launch(*loaded, how, {buffer(a), buffer(b), buffer(std::vector<T>(a.size()))});
  EXPECT_TRUE(outcome.execution.completed);
  return outcome.values<T>(2);
}

struct OfOne {
  const char* name;
  long double (*exact)(long double);
  long double low, high;
  int ulps;
};
struct OfTwo {
  const char* name;
  long double (*exact)(long double, long double);
  int ulps;
};

template <class T>
void check(const OfOne& function) {
  const auto a = arguments<T>(function.low, function.high, 1);
  const auto got = results<T>(function.name, a, a);
  ASSERT_EQ(got.size(), a.size()) << function.name;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(distance(got[i], function.exact(a[i])), function.ulps)
        << function.name << "(" << a[i] << ") = " << got[i] << ", not "
        << static_cast<T>(function.exact(a[i]));
}

template <class T>
void check(const OfTwo& function) {
  auto a = arguments<T>(-infinity, infinity, 2), b = arguments<T>(-infinity, infinity, 3);
  std::rotate(b.begin(), b.begin() + 3, b.begin() + 10);  // the special ones against each other
  for (std::size_t i = 10; i < b.size(); i += 4) b[i] = std::rint(b[i]);
  const auto got = results<T>(function.name, a, b);
  ASSERT_EQ(got.size(), a.size()) << function.name;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(distance(got[i], function.exact(a[i], b[i])), function.ulps)
        << function.name << "(" << a[i] << ", " << b[i] << ") = " << got[i] << ", not "
        << static_cast<T>(function.exact(a[i], b[i]));
}

const OfOne kFloat[] = {
    {"expf", [](long double x) -> long double { return std::exp(x); }, -infinity, infinity, 2},
    {"exp2f", [](long double x) -> long double { return std::exp2(x); }, -infinity, infinity, 2},
    {"exp10f", [](long double x) -> long double { return std::pow(10.0L, x); }, -infinity, infinity, 2},
    {"expm1f", [](long double x) -> long double { return std::expm1(x); }, -infinity, infinity, 1},
    {"logf", [](long double x) -> long double { return std::log(x); }, 0, infinity, 1},
    {"log2f", [](long double x) -> long double { return std::log2(x); }, 0, infinity, 1},
    {"log10f", [](long double x) -> long double { return std::log10(x); }, 0, infinity, 2},
    {"log1pf", [](long double x) -> long double { return std::log1p(x); }, -1, infinity, 1},
    {"sinf", [](long double x) -> long double { return std::sin(x); }, -infinity, infinity, 2},
    {"cosf", [](long double x) -> long double { return std::cos(x); }, -infinity, infinity, 2},
    {"tanf", [](long double x) -> long double { return std::tan(x); }, -infinity, infinity, 4},
    {"asinf", [](long double x) -> long double { return std::asin(x); }, -1, 1, 2},
    {"acosf", [](long double x) -> long double { return std::acos(x); }, -1, 1, 2},
    {"atanf", [](long double x) -> long double { return std::atan(x); }, -infinity, infinity, 2},
    {"sinhf", [](long double x) -> long double { return std::sinh(x); }, -infinity, infinity, 3},
    {"coshf", [](long double x) -> long double { return std::cosh(x); }, -infinity, infinity, 2},
    {"tanhf", [](long double x) -> long double { return std::tanh(x); }, -infinity, infinity, 2},
    {"asinhf", [](long double x) -> long double { return std::asinh(x); }, -infinity, infinity, 3},
    {"acoshf", [](long double x) -> long double { return std::acosh(x); }, 1, infinity, 4},
    {"atanhf", [](long double x) -> long double { return std::atanh(x); }, -1, 1, 3},
    {"cbrtf", [](long double x) -> long double { return std::cbrt(x); }, -infinity, infinity, 1},
    {"rcbrtf", [](long double x) -> long double { return 1 / std::cbrt(x); }, -infinity, infinity, 1},
    {"erff", [](long double x) -> long double { return std::erf(x); }, -infinity, infinity, 2},
    {"erfcf", [](long double x) -> long double { return std::erfc(x); }, -infinity, infinity, 4},
    {"erfcxf", [](long double x) -> long double { return erfcx(x); }, -9, infinity, 4},
    {"erfinvf", [](long double x) -> long double { return erfinv(x); }, -1, 1, 2},
    {"erfcinvf", [](long double x) -> long double { return erfcinv(x); }, 0, 2, 4},
    {"normcdff", [](long double x) -> long double { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, -infinity,
     infinity, 5},
    {"normcdfinvf", [](long double x) -> long double { return -std::sqrt(2.0L) * erfcinv(2 * x); }, 0, 1, 5},
    {"lgammaf", [](long double x) -> long double { return std::lgamma(x); }, 0, infinity, 6},
    {"tgammaf", [](long double x) -> long double { return std::tgamma(x); }, -40, infinity, 5},
    {"sinpif", [](long double x) -> long double { return sinpi(x); }, -infinity, infinity, 1},
    {"cospif", [](long double x) -> long double { return cospi(x); }, -infinity, infinity, 1},
    {"cyl_bessel_i0f", [](long double x) -> long double { return bessel_i(0, x); }, -85, 85, 6},
    {"cyl_bessel_i1f", [](long double x) -> long double { return bessel_i(1, x); }, -85, 85, 6},
    {"roundf", [](long double x) -> long double { return std::round(x); }, -infinity, infinity, 0},
    {"logbf", [](long double x) -> long double { return std::logb(x); }, -infinity, infinity, 0},
    {"__frsqrt_rn", [](long double x) -> long double { return 1 / std::sqrt(x); }, 0, infinity, 0},
};
const OfOne kDouble[] = {
    {"exp", [](long double x) -> long double { return std::exp(x); }, -infinity, infinity, 1},
    {"exp2", [](long double x) -> long double { return std::exp2(x); }, -infinity, infinity, 1},
    {"exp10", [](long double x) -> long double { return std::pow(10.0L, x); }, -infinity, infinity, 1},
    {"expm1", [](long double x) -> long double { return std::expm1(x); }, -infinity, infinity, 1},
    {"log", [](long double x) -> long double { return std::log(x); }, 0, infinity, 1},
    {"log2", [](long double x) -> long double { return std::log2(x); }, 0, infinity, 1},
    {"log10", [](long double x) -> long double { return std::log10(x); }, 0, infinity, 1},
    {"log1p", [](long double x) -> long double { return std::log1p(x); }, -1, infinity, 1},
    {"sin", [](long double x) -> long double { return std::sin(x); }, -infinity, infinity, 2},
    {"cos", [](long double x) -> long double { return std::cos(x); }, -infinity, infinity, 2},
    {"tan", [](long double x) -> long double { return std::tan(x); }, -infinity, infinity, 2},
    {"asin", [](long double x) -> long double { return std::asin(x); }, -1, 1, 2},
    {"acos", [](long double x) -> long double { return std::acos(x); }, -1, 1, 2},
    {"atan", [](long double x) -> long double { return std::atan(x); }, -infinity, infinity, 2},
    {"sinh", [](long double x) -> long double { return std::sinh(x); }, -infinity, infinity, 2},
    {"cosh", [](long double x) -> long double { return std::cosh(x); }, -infinity, infinity, 1},
    {"tanh", [](long double x) -> long double { return std::tanh(x); }, -infinity, infinity, 1},
    {"asinh", [](long double x) -> long double { return std::asinh(x); }, -infinity, infinity, 3},
    {"acosh", [](long double x) -> long double { return std::acosh(x); }, 1, infinity, 3},
    {"atanh", [](long double x) -> long double { return std::atanh(x); }, -1, 1, 2},
    {"cbrt", [](long double x) -> long double { return std::cbrt(x); }, -infinity, infinity, 1},
    {"rcbrt", [](long double x) -> long double { return 1 / std::cbrt(x); }, -infinity, infinity, 1},
    {"erf", [](long double x) -> long double { return std::erf(x); }, -infinity, infinity, 2},
    {"erfc", [](long double x) -> long double { return std::erfc(x); }, -infinity, infinity, 5},
    {"erfcx", [](long double x) -> long double { return erfcx(x); }, -26, infinity, 4},
    {"erfinv", [](long double x) -> long double { return erfinv(x); }, -1, 1, 5},
    {"erfcinv", [](long double x) -> long double { return erfcinv(x); }, 0, 2, 6},
    {"normcdf", [](long double x) -> long double { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, -infinity,
     infinity, 5},
    {"normcdfinv", [](long double x) -> long double { return -std::sqrt(2.0L) * erfcinv(2 * x); }, 0, 1, 8},
    {"sinpi", [](long double x) -> long double { return sinpi(x); }, -infinity, infinity, 2},
    {"cospi", [](long double x) -> long double { return cospi(x); }, -infinity, infinity, 2},
    {"round", [](long double x) -> long double { return std::round(x); }, -infinity, infinity, 0},
    {"logb", [](long double x) -> long double { return std::logb(x); }, -infinity, infinity, 0},
    {"cyl_bessel_i0", [](long double x) -> long double { return bessel_i(0, x); }, -700, 700, 6},
    {"cyl_bessel_i1", [](long double x) -> long double { return bessel_i(1, x); }, -700, 700, 6},
};
const OfTwo kFloatOfTwo[] = {
    {"powf", [](long double x, long double y) -> long double { return std::pow(x, y); }, 4},
    {"atan2f", [](long double x, long double y) -> long double { return std::atan2(x, y); }, 3},
    {"hypotf", [](long double x, long double y) -> long double { return std::hypot(x, y); }, 3},
    {"rhypotf", [](long double x, long double y) -> long double { return 1 / std::hypot(x, y); }, 2},
    {"fmodf", [](long double x, long double y) -> long double { return std::fmod(x, y); }, 0},
    {"remainderf", [](long double x, long double y) -> long double { return std::remainder(x, y); }, 0},
    {"nextafterf",
     [](long double x, long double y) -> long double {
       return std::nextafter(static_cast<float>(x), static_cast<float>(y));
     },
     0},
};
const OfTwo kDoubleOfTwo[] = {
    {"pow", [](long double x, long double y) -> long double { return std::pow(x, y); }, 2},
    {"atan2", [](long double x, long double y) -> long double { return std::atan2(x, y); }, 2},
    {"hypot", [](long double x, long double y) -> long double { return std::hypot(x, y); }, 2},
    {"rhypot", [](long double x, long double y) -> long double { return 1 / std::hypot(x, y); }, 1},
    {"fmod", [](long double x, long double y) -> long double { return std::fmod(x, y); }, 0},
    {"remainder", [](long double x, long double y) -> long double { return std::remainder(x, y); }, 0},
    {"nextafter",
     [](long double x, long double y) -> long double {
       return std::nextafter(static_cast<double>(x), static_cast<double>(y));
     },
     0},
};

TEST(MathAccuracy, OfFloats) {
  for (const OfOne& function : kFloat) check<float>(function);
  for (const OfTwo& function : kFloatOfTwo) check<float>(function);
}

TEST(MathAccuracy, OfDoubles) {
  for (const OfOne& function : kDouble) check<double>(function);
  for (const OfTwo& function : kDoubleOfTwo) check<double>(function);
}

// ---- halves: every number, as scalars and as pairs ----

struct OfHalf {
  const char* name;
  long double (*exact)(long double);
  int ulps;
};
const OfHalf kHalf[] = {
    {"hexp", [](long double x) { return std::exp(x); }, 1},
    {"hexp2", [](long double x) { return std::exp2(x); }, 1},
    {"hexp10", [](long double x) { return std::pow(10.0L, x); }, 1},
    {"hlog", [](long double x) { return std::log(x); }, 1},
    {"hlog2", [](long double x) { return std::log2(x); }, 1},
    {"hlog10", [](long double x) { return std::log10(x); }, 1},
    {"hsin", [](long double x) { return std::sin(x); }, 1},
    {"hcos", [](long double x) { return std::cos(x); }, 1},
    {"htanh", [](long double x) { return std::tanh(x); }, 1},
    {"hsqrt", [](long double x) { return std::sqrt(x); }, 1},
    {"hrsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1},
    {"hrcp", [](long double x) { return 1 / x; }, 1},
};

long double value_of_half(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const long double fraction = bits & 1023;
  long double value = exponent == 0 ? std::ldexp(fraction, -24)
                      : exponent == 31
                          ? (fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : infinity)
                          : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}
unsigned half_of(long double value) {  // rounded to nearest, ties to even
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const long double size = std::fabs(value);
  if (std::isnan(value)) return 0x7fff;
  if (size >= 65520) return sign | 0x7c00;
  const int exponent = size == 0 ? -14 : std::max(-14, std::ilogb(size));
  const auto digits = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return sign | (static_cast<unsigned>(exponent + 14) * 1024 + digits);
}

TEST(MathAccuracy, OfHalves) {
  for (const OfHalf& function : kHalf)
    for (const char* type : {"_of_half", "_of_half2"}) {
      const auto loaded = load_text(compiled_functions().ptx, std::string(function.name) + type);
      ASSERT_TRUE(loaded);
      LaunchConfig how;
      how.block.x = 256;
      how.grid.x = 256;
      const Outcome outcome = launch(*loaded, how, {buffer(std::vector<std::uint16_t>(65536))});
      const auto got = outcome.values<std::uint16_t>(0);
      for (unsigned i = 0; i < 65536; ++i) {
        const unsigned want = half_of(function.exact(value_of_half(i)));
        const bool no_number = (want & 0x7fff) > 0x7c00;
        const auto place = [](unsigned bits) {
          return bits & 0x8000 ? -static_cast<int>(bits & 0x7fff) : static_cast<int>(bits);
        };
        if (no_number)
          EXPECT_GT(got[i] & 0x7fff, 0x7c00) << function.name << type << " of " << i;
        else
          EXPECT_LE(std::abs(place(got[i]) - place(want)), function.ulps)
              << function.name << type << "(" << static_cast<double>(value_of_half(i)) << "), bits " << i;
      }
    }
}

// ---- lanes of words ----

struct OfLanes {
  const char* name;
  bool of_signed, sum;
  int (*exact)(int a, int b, int low, int high);
};
const OfLanes kLanes[] = {
    {"__vadd", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a + b;
     }},
    {"__vsub", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a - b;
     }},
    {"__vaddss", true, false, [](int a, int b, int low, int high) { return std::clamp(a + b, low, high); }},
    {"__vaddus", false, false, [](int a, int b, int low, int high) { return std::clamp(a + b, low, high); }},
    {"__vsubss", true, false, [](int a, int b, int low, int high) { return std::clamp(a - b, low, high); }},
    {"__vsubus", false, false, [](int a, int b, int low, int high) { return std::clamp(a - b, low, high); }},
    {"__vmaxs", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::max(a, b);
     }},
    {"__vmaxu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::max(a, b);
     }},
    {"__vmins", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::min(a, b);
     }},
    {"__vminu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::min(a, b);
     }},
    {"__vabsdiffs", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::abs(a - b);
     }},
    {"__vabsdiffu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::abs(a - b);
     }},
    {"__vavgs", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return (a + b + 1) >> 1;
     }},
    {"__vavgu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return (a + b + 1) >> 1;
     }},
    {"__vhaddu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return (a + b) >> 1;
     }},
    {"__vcmpeq", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a == b ? -1 : 0;
     }},
    {"__vcmpne", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a != b ? -1 : 0;
     }},
    {"__vcmpgts", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a > b ? -1 : 0;
     }},
    {"__vcmpgtu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a > b ? -1 : 0;
     }},
    {"__vcmpges", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a >= b ? -1 : 0;
     }},
    {"__vcmpgeu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a >= b ? -1 : 0;
     }},
    {"__vcmplts", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a < b ? -1 : 0;
     }},
    {"__vcmpltu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a < b ? -1 : 0;
     }},
    {"__vcmples", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a <= b ? -1 : 0;
     }},
    {"__vcmpleu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a <= b ? -1 : 0;
     }},
    {"__vseteq", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a == b ? 1 : 0;
     }},
    {"__vsetgtu", false, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a > b ? 1 : 0;
     }},
    {"__vsetges", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a >= b ? 1 : 0;
     }},
    {"__vsetlts", true, false,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return a < b ? 1 : 0;
     }},
    {"__vsads", true, true,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::abs(a - b);
     }},
    {"__vsadu", false, true,
     [](int a, int b, int low, int high) {
       static_cast<void>(low), static_cast<void>(high);
       return std::abs(a - b);
     }},
};

TEST(Lanes, DoWhatOneLaneDoes) {
  std::vector<unsigned> a(2048), b(2048);
  std::mt19937 random(5);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<unsigned>(random());
    b[i] = i % 4 == 0 ? a[i] ^ (1u << i % 32) : i % 4 == 1 ? a[i] : static_cast<unsigned>(random());
    if (i % 16 == 3) a[i] = 0x80007f00u, b[i] = i % 32 == 3 ? 0x7fff8001u : 0x80ff0180u;
  }
  for (const OfLanes& function : kLanes)
    for (const int count : {2, 4}) {
      const auto loaded =
          load_text(compiled_functions().ptx, function.name + std::to_string(count) + "_of_words");
      ASSERT_TRUE(loaded) << function.name;
      LaunchConfig how;
      how.block.x = 256;
      how.grid.x = static_cast<std::uint32_t>(a.size() / 256);
      const Outcome outcome =
          launch(*loaded, how, {buffer(a), buffer(b), buffer(std::vector<unsigned>(a.size()))});
      const auto got = outcome.values<unsigned>(2);
      const int bits = 32 / count, high = function.of_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
      const int low = function.of_signed ? -high - 1 : 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        unsigned want = 0;
        for (int lane = 0; lane < count; ++lane) {
          const auto of = [&](unsigned word) {
            const int value = static_cast<int>(word >> lane * bits & ((1u << bits) - 1));
            return function.of_signed && value > high ? value - (1 << bits) : value;
          };
          const auto result = static_cast<unsigned>(function.exact(of(a[i]), of(b[i]), low, high));
          want += function.sum ? result : (result & ((1u << bits) - 1)) << lane * bits;
        }
        EXPECT_EQ(got[i], want) << function.name << count << std::hex << "(" << a[i] << ", " << b[i] << ")";
      }
    }
}

}  // namespace
}  // namespace warptime::execute::testing
