// The 16-bit (and 8-bit) floating-point formats, by way of double: rounding to any format in any direction.
#pragma once

#include <cstdint>

namespace warptime::execute {

enum class Rounding : std::uint8_t { nearest_even, to_zero, down, up, nearest_away };

// p bits of significand with the hidden one; exponents e_min … e_max of normal numbers 1.xxx * 2^e.
struct Format {
  int significand_bits, e_min, e_max;
  int exponent_bits;
  bool has_infinity = true;
};
constexpr Format half_format = {11, -14, 15, 5};
constexpr Format brain_format = {8, -126, 127, 8};
constexpr Format tensor_format = {11, -126, 127, 8};  // tf32
constexpr Format e4m3_format = {4, -6, 8, 4, false};
constexpr Format e5m2_format = {3, -14, 15, 5};

// The bits of the number of `format` that `value` rounds to. NaN: all ones but the sign. `saturate`: to the
// largest finite number.
std::uint32_t round_to(const Format& format, double value, Rounding rounding, bool saturate = false);
double value_of(const Format& format, std::uint32_t bits);

float from_half(std::uint16_t bits);
float from_bfloat(std::uint16_t bits);

// a + b, and a * b + c, of which the last bit says whether there was more: rounding it again, to fewer bits,
// is rounding once.
double sum_to_odd(double a, double b);

}  // namespace warptime::execute
