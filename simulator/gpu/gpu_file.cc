// The reader of a GPU's file.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "simulator/gpu/gpu.h"
#include "simulator/gpu/gpu_range.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Fields;
using yaml::Node;
using yaml::Reader;

// The keys of a file: what is no figure, then the figures that stand alone.
std::vector<std::string> known_fields() {
  std::vector<std::string> fields = {
      "warptime",           "name",          "title",    "description", "validated",
      "compute_capability", "memory_cycles", "luo_suda", "copies",      "timing"};
  for (const GpuFigure& figure : gpu_figures())
    if (figure.name.find('.') == std::string::npos) fields.push_back(figure.name);
  return fields;
}

class GpuReader {
 public:
  GpuReader(Reader& reader, const Node& document)
      : reader_(reader), fields_(reader, document, known_fields(), "a GPU") {}

  Gpu read() {
    yaml::check_version(reader_, fields_, Gpu::format_version);
    if (const Node* node = fields_.require("name")) read_name(*node);
    if (const Node* node = fields_.require("title")) gpu_.title = reader_.text(*node, "`title`");
    if (const Node* node = fields_.find("description"))
      gpu_.description = reader_.text(*node, "`description`");
    if (const Node* node = fields_.find("validated")) read_validated(*node);
    read_compute_capability();
    for (const GpuFigure& figure : gpu_figures())
      if (figure.name.find('.') == std::string::npos) read_figure(figure);
    gpu_.durations = paper_durations();
    if (const Node* node = fields_.find("memory_cycles")) read_durations(*node);
    if (const Node* node = fields_.find("luo_suda"))
      gpu_.luo_suda = read_luo_suda_figures(reader_, *node, gpu_.sources);
    if (const Node* node = fields_.find("copies"))
      gpu_.copies = read_copy_figures(reader_, *node, gpu_.sources);
    if (const Node* node = fields_.find("timing"))
      gpu_.timing = read_timing_figures(reader_, *node, gpu_.timing_origins);
    return std::move(gpu_);
  }

 private:
  void read_name(const Node& node) {
    gpu_.name = reader_.text(node, "`name`");
    const bool good =
        !gpu_.name.empty() && gpu_.name.front() != '-' && gpu_.name != "all" &&
        gpu_.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (!good)
      reader_.error(node, fmt::format("`{}` is not a valid name for a GPU", gpu_.name),
                    "use lower case letters, digits and, behind the first, hyphens; `all` means all GPUs");
  }

  void read_validated(const Node& node) {
    gpu_.validated = node.text == "true";
    if (node.text != "true" && node.text != "false")
      reader_.error(node, "`validated` must be `true` or `false`");
  }

  // The value of `field: {value: …, source: …}`; null (and, where it has to be there, an error) where it is
  // not.
  const Node* value_of(const std::string& field, bool required) {
    const Node* node = required ? fields_.require(field) : fields_.find(field);
    if (node == nullptr) return nullptr;
    const std::string what = fmt::format("`{}`", field);
    if (node->kind == Node::Kind::scalar) {
      reader_.error(
          *node, fmt::format("{} has no source", what),
          fmt::format("{}: {{value: {}, source: \"where the figure comes from\"}}", field, node->text));
      return nullptr;
    }
    Fields parts(reader_, *node, {"value", "source"}, what);
    read_source(parts, field);
    return parts.require("value");
  }

  void read_source(Fields& parts, const std::string& field) {
    const Node* source = parts.require("source");
    if (source == nullptr) return;
    const std::string text = reader_.text(*source, "`source`");
    if (text.empty()) reader_.error(*source, fmt::format("the source of `{}` is empty", field));
    gpu_.sources[field] = text;
  }

  void read_compute_capability() {
    const Node* node = value_of("compute_capability", true);
    if (node == nullptr) return;
    ComputeCapability& into = gpu_.compute_capability;
    const char* const end = node->text.data() + node->text.size();
    const auto [dot, major_status] = std::from_chars(node->text.data(), end, into.major);
    if (major_status == std::errc() && dot != end && *dot == '.') {
      const auto [stopped, minor_status] = std::from_chars(dot + 1, end, into.minor);
      if (minor_status == std::errc() && stopped == end && into.major >= 1 && into.minor >= 0) return;
    }
    reader_.error(*node, "`compute_capability` must be written like 7.5");
  }

  void read_figure(const GpuFigure& figure) {
    const Node* node = value_of(figure.name, figure.required);
    if (node == nullptr) return;
    const auto value = reader_.number(*node, fmt::format("`{}`", figure.name));
    if (!value) return;
    if (const std::string wrong = out_of_range(figure, *value); !wrong.empty())
      reader_.error(*node, wrong);
    else
      figure.set(gpu_, *value);
  }

  void read_durations(const Node& node) {
    Fields parts(reader_, node, {"load", "store", "source"}, "`memory_cycles`");
    read_source(parts, "memory_cycles");
    if (const Node* load = parts.require("load")) read_durations(*load, gpu_.durations.load, "`load`");
    if (const Node* store = parts.require("store")) read_durations(*store, gpu_.durations.store, "`store`");
  }

  void read_durations(const Node& node, std::array<double, kAccesses>& into, std::string_view what) {
    Fields patterns(reader_, node, {access_names().begin(), access_names().end()}, what);
    for (std::size_t i = 0; i < kAccesses; ++i) {
      const std::string_view access = access_names()[i];
      const Node* cycles = patterns.require(access);
      if (cycles == nullptr) continue;
      const auto value = reader_.number(*cycles, fmt::format("`{}`", access));
      if (value && *value < 0) reader_.error(*cycles, fmt::format("`{}` is negative: {}", access, *value));
      if (value) into[i] = *value;
    }
  }

  Reader& reader_;
  Fields fields_;
  Gpu gpu_;
};

}  // namespace

Result<Gpu> read_gpu(std::string_view text, const std::string& file) {
  const auto documents = yaml::parse(text, file);
  if (!documents) return documents.diagnostics();
  if (documents->size() != 1 || documents->front().kind == Node::Kind::null) {
    return error_at(file, 0, 0,
                    fmt::format("a GPU file must be one YAML document, not {}", documents->size()));
  }
  Reader reader(text, file);
  Gpu gpu = GpuReader(reader, documents->front()).read();
  if (reader.failed()) return reader.take();
  return gpu;
}

}  // namespace warptime
