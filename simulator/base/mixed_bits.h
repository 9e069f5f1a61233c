// Numbers that look drawn, and are the same in every run.
#pragma once

#include <cstdint>

namespace warptime {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
constexpr std::uint64_t mixed_bits(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

// The upper 53 bits as a number from 0 up to 1.
constexpr double share_of_bits(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace warptime
