#include "cli/commands/run_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "analyzer/execute/half.h"
#include "load/input.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

using execute::Argument;
using execute::Array;

Diagnostic wrong(std::string message, std::string hint = {}) {
  return error_at("--arg", 0, 0, std::move(message), std::move(hint));
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (failure != std::errc() || end == text.data()) return std::nullopt;
  if (end == text.data() + text.size()) return value;
  // 2^20
  const auto power = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (hexadecimal || power.size() < 2 || power[0] != '^' || value != 2) return std::nullopt;
  const auto exponent = whole_number(power.substr(1));
  return exponent && *exponent < 64 ? std::optional(std::uint64_t{1} << *exponent) : std::nullopt;
}

// An integer that fits `bits`, signed or unsigned, as its low bits.
std::optional<std::uint64_t> integer(std::string_view text, int bits) {
  const bool negative = text.starts_with('-');
  const auto magnitude = whole_number(negative ? text.substr(1) : text);
  if (!magnitude) return std::nullopt;
  const std::uint64_t most = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (negative ? *magnitude > (most >> 1) + 1 : *magnitude > most) return std::nullopt;
  return negative ? (0 - *magnitude) & most : *magnitude;
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Argument low_bytes(std::uint64_t bits, std::uint64_t bytes) {
  Argument argument(bytes);
  std::memcpy(argument.data(), &bits, std::min<std::uint64_t>(bytes, 8));
  return argument;
}

Result<Argument> scalar_argument(const ParameterNames& parameter, const std::string& value) {
  const auto& info = parameter.info;
  const auto refuse = [&](std::string_view what) {
    return wrong(fmt::format("{}={}: {}", parameter.names[0], value, what));
  };
  if (info.bytes > 8 || info.bytes == 0)
    return refuse(fmt::format("the parameter has {} bytes; give them in a file: {}=@FILE.npy", info.bytes,
                              parameter.names[0]));
  if (info.type == "f32" || info.type == "f64") {
    const auto number = real(value);
    if (!number) return refuse("is not a number");
    return info.type == "f64" ? execute::scalar(*number) : execute::scalar(static_cast<float>(*number));
  }
  if (info.type == "f16") {
    const auto number = real(value);
    if (!number) return refuse("is not a number");
    return low_bytes(execute::round_to(execute::half_format, *number, execute::Rounding::nearest_even), 2);
  }
  const auto number = integer(value, static_cast<int>(info.bytes * 8));
  if (!number)
    return refuse(
        fmt::format("is not a whole number that fits a parameter of {} bytes ({})", info.bytes, info.type));
  return low_bytes(*number, info.bytes);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// 1024, 2^20, 64x64
std::optional<std::vector<std::uint64_t>> shape_of(const std::string& text) {
  std::vector<std::uint64_t> shape;
  std::uint64_t product = 1;
  for (const auto& part : split(text, 'x')) {
    const auto size = whole_number(part);
    if (!size || (*size != 0 && product > (std::uint64_t{1} << 40) / *size)) return std::nullopt;
    product *= *size;
    shape.push_back(*size);
  }
  return shape;
}

// What `zeros:f32:1024`, `uninit:f32:1024`, `raw:f32:FILE` and `@FILE` say.
struct Contents {
  Array array;
  bool uninitialised = false, is_input = false;
};

Result<Contents> raw_file(const std::string& type, const std::string& file) {
  auto text = read_text(file);
  if (!text) return text.diagnostics();
  const auto size = execute::element_bytes(type);
  if (text->size() % size != 0)
    return error_at(
        file, 0, 0,
        fmt::format("has {} bytes, not a multiple of the {} of its elements", text->size(), size));
  Contents contents;
  contents.array.type = type;
  contents.array.shape = {text->size() / size};
  contents.array.bytes.resize(text->size());
  std::memcpy(contents.array.bytes.data(), text->data(), text->size());
  contents.is_input = true;
  return contents;
}

Result<Contents> npy_file(const std::string& file) {
  const auto text = read_text(file);
  if (!text) return text.diagnostics();
  auto array = execute::read_npy(*text, file);
  if (!array) return array.diagnostics();
  Contents contents;
  contents.array = std::move(*array);
  contents.is_input = true;
  return contents;
}

bool is_buffer(const std::string& value) {
  return value.starts_with('@') || value.starts_with("zeros:") || value.starts_with("uninit:") ||
         value.starts_with("raw:");
}

Result<Contents> read_contents(const std::string& name, const std::string& value) {
  if (value.starts_with('@')) return npy_file(value.substr(1));
  const auto first = value.find(':'), second = value.find(':', first + 1);
  const auto kind = value.substr(0, first);
  if (second == std::string::npos)
    return wrong(fmt::format("{}={}: has no size", name, value),
                 fmt::format("{}={}:f32:{}", name, kind, kind == "raw" ? "FILE" : "1024"));
  const auto word = value.substr(first + 1, second - first - 1);
  const auto type = execute::type_name(word);
  if (type.empty())
    return wrong(fmt::format("{}={}: `{}` is not a type; the types are f16 f32 f64 s8 … s64 u8 … u64", name,
                             value, word));
  const auto rest = value.substr(second + 1);
  if (kind == "raw") return raw_file(type, rest);
  const auto shape = shape_of(rest);
  if (!shape)
    return wrong(fmt::format("{}={}: `{}` is not a number of elements", name, value, rest),
                 "1024, 2^20 or 64x64");
  Contents contents;
  contents.array.type = type;
  contents.array.shape = *shape;
  contents.uninitialised = kind == "uninit";
  return contents;
}

Result<std::uint32_t> place(execute::Memory& memory, const std::string& name, const Contents& contents) {
  if (contents.is_input) return memory.allocate(name, contents.array.bytes);
  const auto bytes = contents.array.elements() * execute::element_bytes(contents.array.type);
  return memory.allocate(
      name, bytes,
      contents.uninitialised ? execute::Memory::Contents::uninitialised : execute::Memory::Contents::zeros);
}

Result<std::size_t> parameter_named(const std::vector<ParameterNames>& parameters, const std::string& name) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& names = parameters[i].names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return i;
    shown.push_back(names[0]);
  }
  const auto near = nearest(name, shown);
  return wrong(fmt::format("the kernel has no argument `{}`; it has: {}", name, fmt::join(shown, ", ")),
               near.empty() ? "" : fmt::format("did you mean {}?", near));
}

std::string missing_hint(const ParameterNames& parameter) {
  const bool may_be_pointer = parameter.info.bytes == 8 && parameter.info.type[0] != 'f';
  return may_be_pointer ? fmt::format("--arg {0}=@FILE.npy, --arg {0}=zeros:f32:1024", parameter.names[0])
                        : fmt::format("--arg {}=…", parameter.names[0]);
}

std::string number_at(const Array& array, std::size_t i) {
  const auto size = execute::element_bytes(array.type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &array.bytes[i * size], size);
  if (array.type == "f8") return fmt::format("{}", std::bit_cast<double>(bits));
  if (array.type == "f4") return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (array.type == "f2") return fmt::format("{}", execute::from_half(static_cast<std::uint16_t>(bits)));
  if (array.type[0] != 'i') return fmt::format("{}", bits);
  const auto shift = 64 - 8 * size;
  return fmt::format("{}", static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace

Result<GivenArgument> split_argument(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return error_at("--" + option, 0, 0, fmt::format("`{}` is not NAME=VALUE", text));
  return GivenArgument{text.substr(0, equals), text.substr(equals + 1)};
}

Result<BoundArguments> bind_arguments(const execute::Program& program, execute::Memory& memory,
                                      const std::vector<ParameterNames>& parameters,
                                      const std::vector<GivenArgument>& given) {
  BoundArguments bound;
  bound.arguments.resize(parameters.size());
  std::vector<bool> seen(parameters.size());
  for (const auto& [name, value] : given) {
    const auto which = parameter_named(parameters, name);
    if (!which) return which.diagnostics();
    const auto& parameter = parameters[*which];
    if (seen[*which]) return wrong(fmt::format("{} is given twice", name));
    seen[*which] = true;
    if (!is_buffer(value)) {
      auto argument = scalar_argument(parameter, value);
      if (!argument) return argument.diagnostics();
      bound.arguments[*which] = std::move(*argument);
      continue;
    }
    auto contents = read_contents(name, value);
    if (!contents) return contents.diagnostics();
    const auto pointer_bytes = execute::pointer_bytes(program);
    // A struct by value: the file's bytes are the argument.
    if (parameter.info.bytes != pointer_bytes && contents->is_input &&
        contents->array.bytes.size() == parameter.info.bytes) {
      bound.arguments[*which] = contents->array.bytes;
      continue;
    }
    if (parameter.info.bytes != pointer_bytes || parameter.info.type[0] == 'f')
      return wrong(fmt::format("{}={}: the parameter ({}, {} bytes) is not a pointer", name, value,
                               parameter.info.type, parameter.info.bytes));
    const auto buffer = place(memory, parameter.names[0], *contents);
    if (!buffer) return buffer.diagnostics();
    bound.arguments[*which] = execute::pointer(program, memory, *buffer);
    bound.buffers.push_back({*which, *buffer, parameter.names[0], contents->array.type, contents->array.shape,
                             contents->is_input});
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!seen[i])
      return wrong(fmt::format("argument {} is missing", parameters[i].names[0]),
                   missing_hint(parameters[i]));
  return bound;
}

Constants fill_constants(const execute::Program& program, execute::Memory& memory,
                         const std::vector<GivenArgument>& given) {
  Constants result;
  const auto variables = execute::constant_variables(program);
  std::vector<std::string> names, filled;
  for (const auto& variable : variables) names.push_back(variable.name);
  const auto refuse = [&](std::string message, std::string hint = {}) {
    result.errors.push_back(error_at("--constant", 0, 0, std::move(message), std::move(hint)));
  };
  for (const auto& [name, value] : given) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      const auto near = nearest(name, names);
      refuse(names.empty() ? fmt::format("`{}`: the kernel has no variables in constant memory", name)
                           : fmt::format("the kernel has no `__constant__` variable `{}`; it has: {}", name,
                                         fmt::join(names, ", ")),
             near.empty() ? "" : fmt::format("did you mean {}?", near));
      continue;
    }
    if (std::find(filled.begin(), filled.end(), name) != filled.end()) {
      refuse(fmt::format("{} is given twice", name));
      continue;
    }
    filled.push_back(name);
    auto contents = read_contents(name, value);
    if (!contents) {
      result.errors.insert(result.errors.end(), contents.diagnostics().begin(), contents.diagnostics().end());
      continue;
    }
    const auto to = memory.bytes(*memory.find(name));
    const auto bytes = contents->array.elements() * execute::element_bytes(contents->array.type);
    if (bytes > to.size()) {
      refuse(fmt::format("{}={}: has {} bytes, more than the {} of the variable", name, value, bytes,
                         to.size()));
      continue;
    }
    if (contents->is_input) std::memcpy(to.data(), contents->array.bytes.data(), bytes);
    memory.forget(*memory.find(name), contents->uninitialised ? 0 : bytes);
  }
  for (const auto& variable : variables) {
    if (variable.initialised || std::find(filled.begin(), filled.end(), variable.name) != filled.end())
      continue;
    memory.forget(*memory.find(variable.name));
    result.unfilled.push_back(variable.name);
  }
  return result;
}

Array array_of(const execute::Memory& memory, const BufferArgument& buffer) {
  Array array;
  array.type = buffer.type;
  array.shape = buffer.shape;
  const auto bytes = memory.bytes(buffer.buffer);
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

std::string first_numbers(const execute::Memory& memory, const BufferArgument& buffer, std::size_t most) {
  const auto bytes = memory.bytes(buffer.buffer);
  const std::size_t size = execute::element_bytes(buffer.type), count = bytes.size() / size;
  Array first;
  first.type = buffer.type;
  const auto shown = std::min(count, most);
  first.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(shown * size));
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : " ") + number_at(first, i);
  return count > most ? text + " …" : text;
}

}  // namespace warptime::cli
