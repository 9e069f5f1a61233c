#include "tests/execute/random_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

namespace warptime::execute::testing {
namespace {

// An expression in C++ and the numbers that it can have.
struct Index {
  std::string text;
  std::int64_t low = 0, high = 0;
};

class IndexWriter {
 public:
  IndexWriter(std::uint64_t seed, bool any_block) : random_(seed), any_block_(any_block) {
    constexpr std::array<const char*, 4> types = {"int", "unsigned", "long long", "unsigned long long"};
    type_ = types[below(types.size())];
    is_signed_ = type_[0] != 'u';
  }

  std::string kernel(const std::string& name) {
    const std::string declared = fmt::format(
        "const {0} x = threadIdx.x, y = threadIdx.y, b = blockIdx.x, g = blockIdx.x * blockDim.x + "
        "threadIdx.x{1}; ",
        type_, any_block_ ? ", z = threadIdx.z" : "");
    const auto index = in_buffer(expression(2 + static_cast<int>(below(3))));
    return fmt::format("__global__ void {}({}* a) {{ {}a[{}] = 1; }}\n", name,
                       below(4) == 0 ? "double" : "float", declared, index.text);
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  Index leaf() {
    const std::int64_t most_x = index_block_x - 1, most_y = any_block_ ? 15 : index_block_y - 1;
    switch (below(8)) {
      case 0:
        return {"y", 0, most_y};
      case 1:
        if (any_block_) return {"z", 0, 3};
        return {"b", 0, 0};
      case 2:
      case 3:
        return {"g", 0, most_x};
      default:
        return {"x", 0, most_x};
    }
  }

  Index expression(int depth) {
    if (depth == 0) return leaf();
    const auto a = expression(depth - 1);
    switch (below(10)) {
      case 0:
      case 1:
        return divided(a);
      case 2:
        return masked(a);
      case 3:
        return tiled(a, expression(depth - 1));
      case 4:
        return combined(a, expression(depth - 1));
      case 5:
        return exclusive(a);
      case 6:
        return narrowed(a);
      case 7:
        return intrinsic(a, expression(depth - 1));
      case 8:
        return chosen(a, expression(depth - 1));
      default:
        return scaled(a);
    }
  }

  static Index made(std::string text, std::int64_t low, std::int64_t high) {
    return {"(" + std::move(text) + ")", low, high};
  }

  // As large as fits 16 bits: what is larger is taken modulo that.
  Index small(const Index& a) {
    constexpr std::int64_t most = (1 << 15) - 1;
    if (a.low >= 0 && a.high <= most) return a;
    return made(fmt::format("{} & {}", a.text, most), 0, most);
  }

  std::int64_t divisor() {
    constexpr std::array<std::int64_t, 12> all = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32};
    return all[below(all.size())];
  }

  Index divided(const Index& given) {
    const auto a = small(given);
    const auto d = divisor();
    if (below(2) == 0) return made(fmt::format("{} / {}", a.text, d), a.low / d, a.high / d);
    return made(fmt::format("{} % {}", a.text, d), 0, std::min(a.high, d - 1));
  }

  Index masked(const Index& given) {
    const auto a = small(given);
    constexpr std::array<std::int64_t, 12> all = {
        1, 3, 7, 15, 31, 0x1c, 0x15, 0xf0, ~std::int64_t{7}, ~std::int64_t{31}, 0x7ff0, 0x2d};
    const auto mask = all[below(all.size())];
    return made(fmt::format("{} & {}", a.text, mask), 0, mask < 0 ? a.high : std::min(mask, a.high));
  }

  // a / n * m + b % n, in several spellings.
  Index tiled(const Index& first, const Index& second) {
    const auto a = small(first), b = small(second);
    const auto bits = 1 + below(4), stride = bits + below(2);
    const auto n = std::int64_t{1} << bits, m = std::int64_t{1} << stride;
    const auto most = (a.high >> bits) * m + n - 1;
    switch (below(4)) {
      case 0:
        return made(fmt::format("{} / {} * {} + {} % {}", a.text, n, m, b.text, n), 0, most);
      case 1:
        return made(fmt::format("({} >> {} << {}) | ({} & {})", a.text, bits, stride, b.text, n - 1), 0,
                    most);
      case 2:
        return made(fmt::format("({} >> {}) * {} ^ ({} % {})", a.text, bits, m, b.text, n), 0, most);
      default: {
        const auto d = divisor(), e = d + static_cast<std::int64_t>(below(3));
        return made(fmt::format("{} / {} * {} + {} % {}", a.text, d, e, b.text, d), 0,
                    a.high / d * e + d - 1);
      }
    }
  }

  Index combined(const Index& first, const Index& second) {
    const auto a = small(first), b = small(second);
    const auto all = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max(a.high, b.high)) + 1) - 1);
    switch (below(6)) {
      case 0:
        return made(fmt::format("{} + {}", a.text, b.text), 0, a.high + b.high);
      case 1:
        return made(fmt::format("{} | {}", a.text, b.text), 0, all);
      case 2:
        return made(fmt::format("{} ^ {}", a.text, b.text), 0, all);
      case 3:
        return made(fmt::format("{} & {}", a.text, b.text), 0, std::min(a.high, b.high));
      case 4:
        return made(fmt::format("({0} < {1} ? {0} : {1})", a.text, b.text), 0, std::min(a.high, b.high));
      default:
        return made(fmt::format("({0} < {1} ? {1} - {0} : {0} - {1})", a.text, b.text), 0,
                    std::max(a.high, b.high));
    }
  }

  Index exclusive(const Index& given) {
    const auto a = small(given);
    const auto all = static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(a.high, 63)) + 1) - 1);
    switch (below(4)) {
      case 0:
        return made(fmt::format("{} ^ {}", a.text, 1 << below(6)), 0, all);
      case 1:
        return made(fmt::format("{} ^ {}", a.text, below(64)), 0, all);
      case 2:
        return made(fmt::format("{} | {}", a.text, 1 << below(6)), 0, all);
      default:
        return made(fmt::format("{0} ^ ({0} >> {1})", a.text, 1 + below(3)), 0, all);
    }
  }

  Index narrowed(const Index& a) {
    const auto scaled_by = 1 + below(20);
    constexpr std::int64_t byte = 256, half = 128;
    switch (below(4)) {
      case 0:
        return made(fmt::format("({})(unsigned char)({} * {})", type_, a.text, scaled_by), 0, byte - 1);
      case 1:
        return made(fmt::format("({})((signed char)({} * {}) + {})", type_, a.text, scaled_by, half), 0,
                    byte - 1);
      case 2:
        return made(fmt::format("({})((short)({} * {}) & 4095)", type_, a.text, scaled_by), 0, 4095);
      default:
        return made(fmt::format("({})((unsigned short)({} * {}) >> 4)", type_, a.text, scaled_by), 0, 4095);
    }
  }

  Index intrinsic(const Index& first, const Index& second) {
    const auto a = small(first), b = small(second);
    const auto u = [](const Index& i) { return fmt::format("(unsigned){}", i.text); };
    constexpr std::array<const char*, 6> selectors = {"0x4440", "0x7650", "0x4041",
                                                      "0x5410", "0x3210", "0x4404"};
    switch (below(6)) {
      case 0:
        return made(fmt::format("({})(__byte_perm({}, {}, {}) & 0x3fff)", type_, u(a), u(b),
                                selectors[below(selectors.size())]),
                    0, 0x3fff);
      case 1:
        return made(
            fmt::format("({})(__funnelshift_l({}, {}, {}) & 0x3fff)", type_, u(a), u(b), 1 + below(31)), 0,
            0x3fff);
      case 2:
        return made(
            fmt::format("({})(__funnelshift_r({}, {}, {}) & 0x3fff)", type_, u(a), u(b), 1 + below(31)), 0,
            0x3fff);
      case 3:
        return made(fmt::format("({})(__brev({} & 0xff) >> 24)", type_, u(a)), 0, 255);
      case 4:
        return made(fmt::format("({})__popc({} & 0x1ff)", type_, u(a)), 0, 9);
      default:
        return made(fmt::format("({})__sad((int){}, (int){}, 3u)", type_, a.text, b.text), 0,
                    std::max(a.high, b.high) + 3);
    }
  }

  Index chosen(const Index& first, const Index& second) {
    const auto a = small(first), b = small(second);
    const auto most = std::max(a.high, b.high);
    switch (below(3)) {
      case 0:
        return made(fmt::format("(x & {}) ? {} : {}", 1 << below(5), a.text, b.text), 0, most);
      case 1:
        return made(fmt::format("(x < {}) ? {} : {}", below(40), a.text, b.text), 0, most);
      default:
        return made(fmt::format("({} > {} ? {} : {})", a.text, below(20), b.text, below(50)), 0,
                    std::max<std::int64_t>(most, 50));
    }
  }

  Index scaled(const Index& given) {
    const auto a = small(given);
    switch (below(4)) {
      case 0: {
        const auto n = static_cast<std::int64_t>(1 + below(9));
        return made(fmt::format("{} * {}", a.text, n), 0, a.high * n);
      }
      case 1: {
        const auto bits = 1 + below(5);
        return made(fmt::format("{} << {}", a.text, bits), 0, a.high << bits);
      }
      case 2: {
        const auto bits = 1 + below(4);
        return made(fmt::format("{} >> {}", a.text, bits), 0, a.high >> bits);
      }
      default:
        if (is_signed_) {
          const auto n = static_cast<std::int64_t>(below(40));
          return made(fmt::format("abs((int)({} - {}))", a.text, n), 0, std::max(a.high, n));
        }
        return made(fmt::format("{} + {}", a.text, below(100)), 0, a.high + 100);
    }
  }

  Index in_buffer(const Index& a) {
    if (a.low >= 0 && a.high < index_elements) return a;
    return made(fmt::format("{} % {}", a.text, index_elements), 0, index_elements - 1);
  }

  std::mt19937_64 random_;
  std::string type_;
  bool is_signed_ = false;
  bool any_block_ = false;
};

}  // namespace

std::string random_index_kernel(const std::string& name, std::uint64_t seed, bool any_block) {
  return IndexWriter(seed, any_block).kernel(name);
}

}  // namespace warptime::execute::testing
