#include "analyzer/execute/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace warptime::execute {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t npy_alignment = 64;  // of the data, as numpy writes it
constexpr std::uint64_t most_npy_elements = std::uint64_t{1} << 48;

// What follows `'key':` in the header, which is a Python dictionary of literals.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const auto wanted = quote + std::string(key) + quote;
    const auto at = header.find(wanted);
    if (at == std::string_view::npos) continue;
    auto rest = header.substr(at + wanted.size());
    const auto colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') return std::nullopt;
    rest.remove_prefix(colon + 1);
    const auto begin = rest.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::nullopt : std::optional(rest.substr(begin));
  }
  return std::nullopt;
}

std::optional<std::string> quoted(std::string_view text) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) return std::nullopt;
  const auto end = text.find(text[0], 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(std::string(text.substr(1, end - 1)));
}

// (3, 4), (5,), ()
std::optional<std::vector<std::uint64_t>> tuple(std::string_view text) {
  if (text.empty() || text[0] != '(') return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 1; i < text.size();) {
    const char c = text[i];
    if (c == ')') return numbers;
    if (c == ' ' || c == ',') {
      ++i;
      continue;
    }
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (failure != std::errc()) return std::nullopt;
    numbers.push_back(value);
    i = static_cast<std::size_t>(end - text.data());
  }
  return std::nullopt;
}

struct Header {
  std::string_view text;
  std::size_t end = 0;  // where the data begins
};

std::optional<Header> header_of(std::string_view contents) {
  if (contents.substr(0, magic.size()) != magic || contents.size() < 10) return std::nullopt;
  const int major = static_cast<unsigned char>(contents[6]);
  if (major < 1 || major > 3) return std::nullopt;
  const std::size_t width = major == 1 ? 2 : 4;
  if (contents.size() < 8 + width) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(contents[8 + i])) << (8 * i);
  if (contents.size() - 8 - width < length) return std::nullopt;
  return Header{contents.substr(8 + width, length), 8 + width + length};
}

Diagnostic wrong(const std::string& file, std::string message, std::string hint = {}) {
  return error_at(file, 0, 0, std::move(message), std::move(hint));
}

}  // namespace

std::uint64_t Array::elements() const {
  std::uint64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

std::size_t element_bytes(std::string_view type) {
  constexpr std::array<std::string_view, 12> types = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                      "i8", "u1", "u2", "u4", "u8", "b1"};
  for (const auto known : types)
    if (known == type) return static_cast<std::size_t>(type[1] - '0');
  return 0;
}

std::string type_name(std::string_view word) {
  if (word.size() < 2) return {};
  int bits = 0;
  const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), bits);
  if (failure != std::errc() || end != word.data() + word.size()) return {};
  const char kind = word[0] == 's' ? 'i' : word[0] == 'b' ? 'u' : word[0];
  if (bits % 8 == 0)
    if (auto name = fmt::format("{}{}", kind, bits / 8); element_bytes(name) != 0) return name;
  return element_bytes(word) != 0 ? std::string(word) : std::string();
}

Result<Array> read_npy(std::string_view contents, const std::string& file) {
  const auto header = header_of(contents);
  if (!header)
    return wrong(file, "is not an .npy file", "give raw numbers with their type: NAME=raw:f32:FILE");
  const auto descr = value_of(header->text, "descr"), order = value_of(header->text, "fortran_order"),
             shape_text = value_of(header->text, "shape");
  if (!descr || !order || !shape_text)
    return wrong(file, "the header of the .npy file lacks descr, fortran_order or shape");
  const auto type = quoted(*descr);
  if (!type || type->size() < 2) return wrong(file, "holds structures, not numbers");
  Array array;
  array.type = type->substr(1);
  const char byte_order = (*type)[0];
  if (element_bytes(array.type) == 0)
    return wrong(
        file,
        fmt::format("holds elements of type `{}`; known are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1", *type));
  if (byte_order == '>')
    return wrong(file, "holds big-endian numbers", "in numpy: array.astype(array.dtype.newbyteorder('<'))");
  if (byte_order != '<' && byte_order != '|' && byte_order != '=')
    return wrong(file, fmt::format("holds elements of type `{}`", *type));
  const auto shape = tuple(*shape_text);
  if (!shape) return wrong(file, "the shape in the header is not understood");
  if (order->starts_with("True") && shape->size() > 1)
    return wrong(file, "is in Fortran order", "in numpy: numpy.ascontiguousarray(array)");
  array.shape = *shape;
  std::uint64_t elements = 1;
  for (const auto size : array.shape) {
    if (size != 0 && elements > most_npy_elements / size)
      return wrong(file, "the shape in the header is too large");
    elements *= size;
  }
  const auto data = contents.substr(header->end);
  if (elements * element_bytes(array.type) != data.size())
    return wrong(file, fmt::format("has {} bytes of data, but its shape needs {}", data.size(),
                                   elements * element_bytes(array.type)));
  array.bytes.resize(data.size());
  if (!data.empty()) std::memcpy(array.bytes.data(), data.data(), data.size());
  return array;
}

std::string write_npy(const Array& array) {
  std::string shape;
  for (const auto size : array.shape) shape += fmt::format("{}, ", size);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.resize(shape.size() - 1);  // (5,)
  const char order = element_bytes(array.type) == 1 ? '|' : '<';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, array.type, shape);
  const auto length =
      (magic.size() + 4 + header.size() + 1 + npy_alignment - 1) / npy_alignment * npy_alignment -
      magic.size() - 4;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string contents(magic);
  contents += '\x01';
  contents += '\x00';
  contents += static_cast<char>(length & 0xff);
  contents += static_cast<char>(length >> 8);
  contents += header;
  contents.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return contents;
}

}  // namespace warptime::execute
