// A time and the parts that it is the sum of, in the terms of its model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warptime {

// One part of the times of a model.
struct TimePart {
  enum class Kind : std::uint8_t {
    launch,       // of the launch as a whole, not of any line of the kernel
    calculation,  // of instructions
    memory,       // of memory accesses: fewer accesses take less of it
    tail,         // of memory accesses, at the end of a run
    further,      // another breakdown of the total, not one of its parts
  };

  std::string_view key;      // in CSV and JSON: "calculation_us"
  std::string_view title;    // of a table's column: "calc"
  std::string_view meaning;  // "calculation"
  std::string_view bound;    // what a launch is that spends most of its time here: "compute-bound"
  Kind kind = Kind::launch;
};

// Microseconds. Model::parts() says what each of `us` is; those that are not `further` sum to total_us (to rounding).
struct TimeBreakdown {
  static constexpr std::size_t kMostParts = 10;

  double total_us = 0;
  std::array<double, kMostParts> us{};
  friend bool operator==(const TimeBreakdown&, const TimeBreakdown&) = default;

  // Adds to a sum. parts: those of `other` that are not 0, or more.
  void add(const TimeBreakdown& other, double times, std::size_t parts = kMostParts) {
    total_us += times * other.total_us;
    for (std::size_t i = 0; i < parts; ++i) us[i] += times * other.us[i];
  }
  // The same, or as the first of a sum.
  void take(const TimeBreakdown& other, double times, bool first, std::size_t parts = kMostParts) {
    if (!first) return add(other, times, parts);
    total_us = times * other.total_us;
    for (std::size_t i = 0; i < parts; ++i) us[i] = times * other.us[i];
    for (std::size_t i = parts; i < kMostParts; ++i) us[i] = 0;
  }
};

}  // namespace warptime
