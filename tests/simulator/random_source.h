// Random numbers and choices for tests that make programs of their own.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warptime::test {

class RandomSource {
 public:
  explicit RandomSource(std::uint32_t seed) : engine_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  std::string pick(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace warptime::test
