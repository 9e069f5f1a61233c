// A time and what it is the sum of, in the terms of the model that gave it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warptime {

// One of the times that a model tells apart.
struct TimePart {
  enum class Kind : std::uint8_t {
    launch,       // of the launch as a whole: no line of the kernel has a share in it
    calculation,  // of instructions
    memory,       // of memory accesses: fewer accesses take less of it
    tail,         // of memory accesses, at the end of a run
    further,      // the total seen from another side: none of its parts
  };

  std::string_view key;      // in CSV and JSON: "calculation_us"
  std::string_view title;    // of a table's column: "calc"
  std::string_view meaning;  // "calculation"
  std::string_view bound;    // what a launch is whose time this is, for the most part: "compute-bound"
  Kind kind = Kind::launch;
};

// Microseconds. Model::parts() says what each of `us` is; those that are not `further` sum to total_us (to rounding).
struct TimeBreakdown {
  static constexpr std::size_t kMostParts = 10;

  double total_us = 0;
  std::array<double, kMostParts> us{};

  void add(const TimeBreakdown& other, double times) {
    total_us += times * other.total_us;
    for (std::size_t i = 0; i < kMostParts; ++i) us[i] += times * other.us[i];
  }
  void assign(const TimeBreakdown& other, double times) {
    total_us = times * other.total_us;
    for (std::size_t i = 0; i < kMostParts; ++i) us[i] = times * other.us[i];
  }
};

}  // namespace warptime
