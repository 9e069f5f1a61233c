#include "analyzer/execute/pgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace warptime::execute {
namespace {

// The heading's next number, and what comes after it; nothing: there is none.
std::optional<std::uint64_t> next_pgm_number(std::string_view& rest) {
  for (;;) {
    const auto begin = rest.find_first_not_of(" \t\r\n\v\f");
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    if (rest.front() != '#') break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  std::uint32_t number = 0;
  const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (wrong != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

}  // namespace

Result<Array> read_pgm(std::string_view contents, const std::string& file) {
  const auto wrong = [&](std::string message) { return error_at(file, 0, 0, std::move(message)); };
  if (!contents.starts_with("P5")) return wrong("is no PGM file: it does not begin with P5");
  std::string_view rest = contents.substr(2);
  const auto columns = next_pgm_number(rest), rows = next_pgm_number(rest), largest = next_pgm_number(rest);
  if (!columns || !rows || !largest || rest.empty())
    return wrong("has a heading that is not that of a PGM file");
  rest.remove_prefix(1);
  if (*columns == 0 || *rows == 0 || *largest == 0 || *largest > 65535)
    return wrong(fmt::format("is an image of {} x {} with grays to {}", *columns, *rows, *largest));
  const std::uint64_t size = *largest > 255 ? 2 : 1;
  if (rest.size() / size / *columns != *rows || rest.size() != *rows * *columns * size)
    return wrong(fmt::format("has {} bytes for {} x {} pixels of {}", rest.size(), *columns, *rows, size));
  Array array;
  array.type = "f4";
  array.shape = {*rows, *columns};
  array.bytes.resize(*rows * *columns * sizeof(float));
  for (std::uint64_t i = 0; i < *rows * *columns; ++i) {
    const auto byte = [&](std::uint64_t at) { return static_cast<unsigned char>(rest[at]); };
    const auto gray = static_cast<float>(size == 2 ? byte(2 * i) * 256 + byte(2 * i + 1) : byte(i));
    std::memcpy(&array.bytes[i * sizeof gray], &gray, sizeof gray);
  }
  return array;
}

Pgm write_pgm(const Array& array) {
  Pgm pgm;
  pgm.contents = fmt::format("P5\n{} {}\n255\n", array.shape.at(1), array.shape.at(0));
  pgm.contents.reserve(pgm.contents.size() + array.elements());
  for (std::uint64_t i = 0; i < array.elements(); ++i) {
    float value = 0;
    std::memcpy(&value, &array.bytes[i * sizeof value], sizeof value);
    const float rounded = std::round(value);
    if (!(rounded >= 0 && rounded <= 255)) ++pgm.clamped;
    pgm.contents +=
        static_cast<char>(static_cast<unsigned char>(rounded >= 0 ? std::min(rounded, 255.0F) : 0));
  }
  return pgm;
}

}  // namespace warptime::execute
