#include "simulator/plan/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "simulator/base/did_you_mean.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Node;

struct TypeLine {
  ElementType type;
  std::string_view name;
  std::uint32_t bytes;
};
constexpr std::array<TypeLine, 6> kTypes = {{{ElementType::f32, "f32", 4},
                                             {ElementType::f64, "f64", 8},
                                             {ElementType::i8, "i8", 1},
                                             {ElementType::i16, "i16", 2},
                                             {ElementType::i32, "i32", 4},
                                             {ElementType::i64, "i64", 8}}};
constexpr std::array<std::pair<ArrayFill, std::string_view>, 4> kFills = {
    {{ArrayFill::random, "random"},
     {ArrayFill::zeros, "zeros"},
     {ArrayFill::iota, "iota"},
     {ArrayFill::cycle_leaders, "cycle_leaders"}}};

constexpr std::array<std::pair<WaveletNumbers, std::string_view>, 5> kWaveletNumbers = {
    {{WaveletNumbers::matrix, "matrix"},
     {WaveletNumbers::low, "low"},
     {WaveletNumbers::high, "high"},
     {WaveletNumbers::lattice, "lattice"},
     {WaveletNumbers::lattice_inverse, "lattice_inverse"}}};

const TypeLine& line_of(ElementType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& line) { return line.type == type; });
}

class ArraysReader {
 public:
  ArraysReader(yaml::Reader& reader, const std::vector<std::string>& parameters)
      : reader_(reader), parameters_(parameters) {}

  PlanArray read(const Node& key, const Node& value) {
    PlanArray array;
    array.name = reader_.text(key, "an array's name");
    array.line = key.line;
    if (!is_name(array.name))
      reader_.error(key, fmt::format("`{}` is not a valid name for an array", array.name));
    if (std::find(parameters_.begin(), parameters_.end(), array.name) != parameters_.end())
      reader_.error(key, fmt::format("`{}` is already the name of a parameter", array.name));
    if (value.kind == Node::Kind::mapping) {
      read_fields(value, array);
    } else {
      array.elements = expression(value, fmt::format("`{}`", array.name));
    }
    return array;
  }

 private:
  void read_fields(const Node& node, PlanArray& array) {
    yaml::Fields fields(reader_, node, {"elements", "type", "fill", "of", "wavelet"}, "an array");
    if (const Node* elements = fields.require("elements"))
      array.elements = expression(*elements, "`elements`");
    if (const Node* type = fields.find("type")) array.type = read_type(*type);
    if (const Node* fill = fields.find("fill")) read_fill(*fill, array);
    if (const Node* wavelet = fields.find("wavelet")) read_wavelet(*wavelet, array);
    const Node* const of = fields.find("of");
    if (of != nullptr) array.of = expression(*of, "`of`");
    if ((of != nullptr) != (array.fill == ArrayFill::cycle_leaders))
      reader_.error(
          of != nullptr ? *of : node,
          of != nullptr ? "`of` goes with `fill: cycle_leaders`" : "`fill: cycle_leaders` needs `of`",
          "of: the number of chunks");
  }

  ElementType read_type(const Node& node) {
    const auto text = reader_.text(node, "`type`");
    std::vector<std::string> known;
    for (const auto& line : kTypes) {
      if (line.name == text) return line.type;
      known.emplace_back(line.name);
    }
    reader_.error(node, fmt::format("`{}` is not an element type", text), "one of " + yaml::list_of(known));
    return ElementType::f32;
  }

  void read_fill(const Node& node, PlanArray& array) {
    const auto text = reader_.text(node, "`fill`");
    std::vector<std::string> known;
    for (const auto& [fill, name] : kFills) {
      known.emplace_back(name);
      if (name == text) {
        array.fill = fill;
        return;
      }
    }
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), array.value);
    array.fill = ArrayFill::constant;
    if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(array.value))
      reader_.error(node, fmt::format("an array cannot be filled with `{}`", text),
                    "use a number, or one of " + yaml::list_of(known));
  }

  void read_wavelet(const Node& node, PlanArray& array) {
    const auto text = reader_.text(node, "`wavelet`");
    std::vector<std::string> known;
    for (const auto& [numbers, name] : kWaveletNumbers) {
      known.emplace_back(name);
      if (name == text) array.wavelet = numbers;
    }
    if (array.wavelet == WaveletNumbers::none)
      reader_.error(node, fmt::format("a wavelet has no numbers called `{}`", text),
                    "one of " + yaml::list_of(known));
    else if (array.type != ElementType::f32)
      reader_.error(node, "an array with a wavelet's numbers is of 32-bit floats");
  }

  Expression expression(const Node& node, std::string_view what) {
    const Expression read = reader_.expression(node, what, yaml::Reader::Constant::count);
    for (const auto& name : read.names()) {
      if (std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end()) continue;
      const auto near = nearest(name, parameters_);
      reader_.error(node, fmt::format("{}: `{}` is not a parameter of the plan", what, name),
                    near.empty() ? "" : fmt::format("did you mean `{}`?", near));
    }
    return read;
  }

  yaml::Reader& reader_;
  const std::vector<std::string>& parameters_;
};

}  // namespace

std::string_view to_string(ElementType type) {
  return line_of(type).name;
}
std::uint32_t bytes_of(ElementType type) {
  return line_of(type).bytes;
}

std::string_view to_string(WaveletNumbers numbers) {
  for (const auto& [known, name] : kWaveletNumbers)
    if (known == numbers) return name;
  return "none";
}

std::string_view to_string(ArrayFill fill) {
  for (const auto& [known, name] : kFills)
    if (known == fill) return name;
  return "constant";
}

std::vector<PlanArray> read_plan_arrays(yaml::Reader& reader, const Node& node,
                                        const std::vector<std::string>& parameters) {
  std::vector<PlanArray> arrays;
  if (node.kind == Node::Kind::null) return arrays;
  if (node.kind != Node::Kind::mapping) {
    reader.error(node, "`arrays` must be a mapping from names to numbers of elements",
                 "arrays: {data: N, coefs: {elements: 2 * K, type: f32, fill: random}}");
    return arrays;
  }
  ArraysReader read(reader, parameters);
  for (const auto& entry : node.entries) {
    auto array = read.read(entry.key, entry.value);
    const bool twice = std::any_of(arrays.begin(), arrays.end(),
                                   [&](const auto& other) { return other.name == array.name; });
    if (twice) reader.error(entry.key, fmt::format("`{}` occurs twice", array.name));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace warptime
