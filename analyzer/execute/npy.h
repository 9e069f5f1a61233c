// Arrays in files: .npy (format 1.0 to 3.0, little-endian, C order), and raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime::execute {

struct Array {
  std::string type = "u1";           // numpy's letter and size in bytes: f4, f8, f2, i1 … i8, u1 … u8, b1
  std::vector<std::uint64_t> shape;  // empty: one number
  std::vector<std::byte> bytes;      // C order
  std::uint64_t elements() const;
};

// Bytes of one element of a type as above; 0 if there is no such type.
std::size_t element_bytes(std::string_view type);
// numpy's name of a type. The type may be written as in C or PTX, with its bits (f32, s32, u8), or as in
// numpy if that is unambiguous (f4, i4, f8: double). Empty for an unknown type.
std::string type_name(std::string_view word);

// `contents`: the whole file. Errors: not an .npy file, big-endian numbers, Fortran order, structured or
// object types, a length that differs from the shape.
Result<Array> read_npy(std::string_view contents, const std::string& file);
std::string write_npy(const Array& array);

}  // namespace warptime::execute
