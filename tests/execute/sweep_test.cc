// Instructions on many numbers, against the same computed in C++: every type, edge values against edge
// values, and random ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

template <class T>
std::vector<T> numbers(std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    values = {0,
              T(-0.0),
              1,
              -1,
              T(0.5),
              2,
              3,
              L::min(),
              L::denorm_min(),
              -L::denorm_min(),
              L::max(),
              L::lowest(),
              L::infinity(),
              -L::infinity(),
              L::quiet_NaN()};
    std::uniform_real_distribution<T> plain(-100, 100);
    while (values.size() < 128) values.push_back(plain(random));
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    while (values.size() < 256) values.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  } else {
    using L = std::numeric_limits<T>;
    values = {0, 1, T(-1), 2, 3, 7, L::max(), L::min(), T(L::max() - 1), T(L::min() + 1), T(L::max() / 2)};
    while (values.size() < 128) values.push_back(static_cast<T>(random() % 100));
    while (values.size() < 256) values.push_back(static_cast<T>(random()));
  }
  return values;
}

template <class T>
std::string suffix() {
  const auto bits = std::to_string(sizeof(T) * 8);
  return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "s" : "u") + bits;
}
template <class T>
char kind() {
  return sizeof(T) == 2 ? 'h' : sizeof(T) == 4 ? 'r' : 'd';
}

// 0 of R's kind after `instruction` of registers 1, 2, 3, which hold T, T and U; every pair of numbers<T>.
template <class R, class T, class U = T>
std::vector<R> swept(const std::string& instruction, const std::vector<T>& a, const std::vector<T>& b,
                     const std::vector<U>& c) {
  std::string body =
      "ld.param.u64 %d20, [a]; ld.param.u64 %d21, [b]; ld.param.u64 %d22, [c]; ld.param.u64 %d23, [out];\n"
      "mov.u32 %r20, %tid.x; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r22, %r21, 256, %r20;\n";
  const auto at = [&](int base, const char* index, std::size_t size) {
    body += "mul.wide.u32 %d30, " + std::string(index) + ", " + std::to_string(size) + "; add.u64 %d" +
            std::to_string(base) + ", %d" + std::to_string(base) + ", %d30;\n";
  };
  at(20, "%r20", sizeof(T)), at(21, "%r21", sizeof(T)), at(22, "%r22", sizeof(U)), at(23, "%r22", sizeof(R));
  const auto load = [&](char k, int number, int base, std::size_t size) {
    body += "ld.global.b" + std::to_string(size * 8) + " %" + k + std::to_string(number) + ", [%d" +
            std::to_string(base) + "];\n";
  };
  load(kind<T>(), 1, 20, sizeof(T)), load(kind<T>(), 2, 21, sizeof(T)), load(kind<U>(), 3, 22, sizeof(U));
  body += instruction + "\nst.global.b" + std::to_string(sizeof(R) * 8) + " [%d23], %" + kind<R>() + "0;\n";
  const auto loaded =
      load_text(kernel_text(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out", body));
  if (!loaded) return {};
  const auto outcome =
      launch(*loaded, {{256}, {256}}, {buffer(a), buffer(b), buffer(c), uninitialised(65536 * sizeof(R))});
  EXPECT_TRUE(outcome.execution.completed);
  return outcome.template values<R>(3);
}

template <class R>
bool same(R x, R y) {
  if constexpr (std::is_floating_point_v<R>)
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  else
    return x == y;
}

// `instruction` with T's type in place of T, against f(a, b, c).
template <class R, class T, class U, class F>
void check(std::string instruction, F&& f) {
  for (auto at = instruction.find('T'); at != std::string::npos; at = instruction.find('T'))
    instruction.replace(at, 1, suffix<T>());
  for (auto at = instruction.find('@'); at != std::string::npos; at = instruction.find('@'))
    instruction.replace(at, 1, std::string(1, kind<T>()));
  SCOPED_TRACE(instruction);
  const auto a = numbers<T>(1), b = numbers<T>(2);
  std::vector<U> c;
  for (const auto value : numbers<U>(3)) c.insert(c.end(), 256, value);
  const auto results = swept<R, T, U>(instruction, a, b, c);
  ASSERT_EQ(results.size(), 65536u);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const R expected = f(a[i % 256], b[i / 256], c[i]);
    if (!same(results[i], expected)) {
      FAIL() << +a[i % 256] << ", " << +b[i / 256] << ", " << +c[i] << " give " << +results[i] << ", not "
             << +expected;
    }
  }
}

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
void integers() {
  using U = std::make_unsigned_t<T>;
  constexpr int bits = static_cast<int>(sizeof(T) * 8);
  const auto high = [](T a, T b) {
    return static_cast<T>((std::conditional_t<std::is_signed_v<T>, Wide, UnsignedWide>(a) * b) >> bits);
  };
  const auto low = [](T a, T b) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  };
  check<T, T, T>("add.T %@0, %@1, %@2;",
                 [](T a, T b, T) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
  check<T, T, T>("sub.T %@0, %@1, %@2;",
                 [](T a, T b, T) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); });
  check<T, T, T>("mul.lo.T %@0, %@1, %@2;", [&](T a, T b, T) { return low(a, b); });
  check<T, T, T>("mul.hi.T %@0, %@1, %@2;", [&](T a, T b, T) { return high(a, b); });
  check<T, T, T>("mad.lo.T %@0, %@1, %@2, %@3;", [&](T a, T b, T c) {
    return static_cast<T>(static_cast<U>(low(a, b)) + static_cast<U>(c));
  });
  check<T, T, T>("mad.hi.T %@0, %@1, %@2, %@3;", [&](T a, T b, T c) {
    return static_cast<T>(static_cast<U>(high(a, b)) + static_cast<U>(c));
  });
  check<T, T, T>("min.T %@0, %@1, %@2;", [](T a, T b, T) { return std::min(a, b); });
  check<T, T, T>("max.T %@0, %@1, %@2;", [](T a, T b, T) { return std::max(a, b); });
  // By zero and of the least by -1 there is no result that C++ has.
  const auto divides = [](T a, T b) {
    return b != 0 && !(std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1));
  };
  check<T, T, T>("div.T %@0, %@1, %@2;", [&](T a, T b, T) {
    return divides(a, b) ? static_cast<T>(a / b) : b == 0 ? static_cast<T>(-1) : a;
  });
  check<T, T, T>("rem.T %@0, %@1, %@2;", [&](T a, T b, T) {
    return divides(a, b) ? static_cast<T>(a % b) : b == 0 ? a : T{0};
  });
  check<std::uint32_t, T, T>("setp.lt.T %p1, %@1, %@2; selp.u32 %r0, 1, 0, %p1;",
                             [](T a, T b, T) { return std::uint32_t{a < b}; });
  check<std::uint32_t, T, T>("setp.ge.T %p1, %@1, %@2; selp.u32 %r0, 1, 0, %p1;",
                             [](T a, T b, T) { return std::uint32_t{a >= b}; });
  check<T, T, std::uint32_t>("shr.T %@0, %@1, %r3;", [](T a, T, std::uint32_t n) {
    return n >= static_cast<std::uint32_t>(bits) ? static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0)
                                                 : static_cast<T>(a >> n);
  });
}

TEST(Sweep, Integers16) {
  integers<std::int16_t>(), integers<std::uint16_t>();
}
TEST(Sweep, Integers32) {
  integers<std::int32_t>(), integers<std::uint32_t>();
}
TEST(Sweep, Integers64) {
  integers<std::int64_t>(), integers<std::uint64_t>();
}

template <class T>
void floats() {
  check<T, T, T>("add.rn.T %@0, %@1, %@2;", [](T a, T b, T) { return a + b; });
  check<T, T, T>("sub.rn.T %@0, %@1, %@2;", [](T a, T b, T) { return a - b; });
  check<T, T, T>("mul.rn.T %@0, %@1, %@2;", [](T a, T b, T) { return a * b; });
  check<T, T, T>("div.rn.T %@0, %@1, %@2;", [](T a, T b, T) { return a / b; });
  check<T, T, T>("fma.rn.T %@0, %@1, %@2, %@3;", [](T a, T b, T c) { return std::fma(a, b, c); });
  check<T, T, T>("sqrt.rn.T %@0, %@1;", [](T a, T, T) { return std::sqrt(a); });
  check<T, T, T>("rcp.rn.T %@0, %@1;", [](T a, T, T) { return 1 / a; });
  check<std::uint32_t, T, T>("setp.lt.T %p1, %@1, %@2; selp.u32 %r0, 1, 0, %p1;",
                             [](T a, T b, T) { return std::uint32_t{a < b}; });
  check<std::uint32_t, T, T>("setp.geu.T %p1, %@1, %@2; selp.u32 %r0, 1, 0, %p1;",
                             [](T a, T b, T) { return std::uint32_t{!(a < b)}; });
  check<std::int32_t, T, T>("cvt.rzi.s32.T %r0, %@1;", [](T a, T, T) -> std::int32_t {
    if (std::isnan(a)) return sizeof(T) == 8 ? std::numeric_limits<std::int32_t>::min() : 0;
    return static_cast<std::int32_t>(
        std::clamp<double>(std::trunc(static_cast<double>(a)), -2147483648.0, 2147483647.0));
  });
}

TEST(Sweep, Floats) {
  floats<float>(), floats<double>();
}

TEST(Sweep, MultiplicationsToTwiceTheWidth) {
  check<std::int64_t, std::int32_t, std::int64_t>(
      "mad.wide.s32 %d0, %r1, %r2, %d3;", [](std::int32_t a, std::int32_t b, std::int64_t c) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{a} * b) +
                                         static_cast<std::uint64_t>(c));
      });
  check<std::uint64_t, std::uint32_t, std::uint64_t>(
      "mad.wide.u32 %d0, %r1, %r2, %d3;",
      [](std::uint32_t a, std::uint32_t b, std::uint64_t c) { return std::uint64_t{a} * b + c; });
}

// A half as a float and back is the half; every float rounds to the nearest.
TEST(Sweep, HalvesThroughFloats) {
  const auto loaded = load_text(kernel_text(
      ".param .u64 out",
      "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 256, %r2;\n"
      "cvt.u16.u32 %h1, %r1; cvt.f32.f16 %r2, %h1; cvt.rn.f16.f32 %h2, %r2;\n"
      "mul.wide.u32 %d2, %r1, 2; add.u64 %d1, %d1, %d2; st.global.u16 [%d1], %h2;\n"));
  ASSERT_TRUE(loaded);
  const auto outcome = launch(*loaded, {{256}, {256}}, {uninitialised(65536 * 2)});
  const auto halves = outcome.values<std::uint16_t>(0);
  for (std::uint32_t i = 0; i < 65536; ++i)
    if ((i & 0x7c00) != 0x7c00 || (i & 0x3ff) == 0) {
      ASSERT_EQ(halves[i], i);
    }
}

}  // namespace
}  // namespace warptime::execute::testing
