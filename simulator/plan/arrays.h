// The arrays of a plan: what its kernels' pointers point to. Only running a plan needs them; a prediction
// does not.
//
//   arrays:
//     idata: N                                          # elements; 32-bit floats between -1 and 1
//     odata: {elements: N, fill: zeros}
//     coefs: {elements: 2 * K, type: f64, fill: 0.5}    # all of them 0.5
//     table: {elements: l, type: i32, fill: cycle_leaders, of: C / b}
//     taps: {elements: 2 * K, wavelet: matrix}          # of the wavelet that `run` is given; else as filled
//
// Pointer arguments are bound by name, as others are; or by an expression over the arrays' names, in elements
// as in C: `low: x + N / 2`, `in: if(level % 2 == 0, a, b)`. An array with the name of a module variable
// (__constant__ float coefs[…]) gives that variable's contents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/program/expression/expression.h"

namespace warptime {

namespace yaml {
class Reader;
struct Node;
}  // namespace yaml

enum class ElementType : std::uint8_t { f32, f64, i8, i16, i32, i64 };
std::string_view to_string(ElementType type);  // "f32"
std::uint32_t bytes_of(ElementType type);

enum class ArrayFill : std::uint8_t {
  random,  // floats between -1 and 1, whole numbers between 0 and 99; the same ones each time
  zeros,
  iota,      // 0, 1, 2, …
  constant,  // PlanArray::value
  // The least element of every cycle of i -> 2 i mod (n - 1) over 1 … n - 2, ascending: the representative
  // elements of Ikuzawa et al. (2017), Algorithm 3, n being the number of chunks, `of`.
  cycle_leaders,
};
std::string_view to_string(ArrayFill fill);

// The numbers of a wavelet that an array takes.
enum class WaveletNumbers : std::uint8_t {
  none,
  matrix,           // the low-pass filter, then the high-pass filter: 2 K
  low,              // K
  high,             // K
  lattice,          // those of ltt.cu: K + 2
  lattice_inverse,  // those of ltt_inverse.cu: K + 2
};
std::string_view to_string(WaveletNumbers numbers);

struct PlanArray {
  std::string name;
  Expression elements;  // over the plan's parameters
  ElementType type = ElementType::f32;
  ArrayFill fill = ArrayFill::random;
  double value = 0;                               // of a constant
  Expression of;                                  // of cycle_leaders
  WaveletNumbers wavelet = WaveletNumbers::none;  // replaces the fill where a wavelet is given
  int line = 0;                                   // in the plan's file
};

// The plan's `arrays`. `parameters`: what the expressions may use. Errors: not a mapping, an array that
// occurs twice or has the name of a parameter, an unknown type or fill, an expression with other names.
std::vector<PlanArray> read_plan_arrays(yaml::Reader& reader, const yaml::Node& node,
                                        const std::vector<std::string>& parameters);

}  // namespace warptime
