// A step of the build: write_bundled_gpus OUTPUT FILES… reads GPU files and writes the source of bundled_gpus().
// A file with an error stops the build, with its line.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "simulator/gpu/gpu.h"

namespace warptime {
namespace {

std::string quoted(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      literal += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      literal += fmt::format("\\{:03o}", c);
    else
      literal += c;
  }
  return literal + '"';
}

// `const TYPE NAME[] = {…};`, which may have no elements: an array of at least one, and a span without it.
std::string array_of(std::string_view type, const std::string& name,
                     const std::vector<std::string>& elements) {
  if (elements.empty()) return {};
  return fmt::format("const {} {}[] = {{{}}};\n", type, name, fmt::join(elements, ", "));
}

std::string span_of(const std::string& name, const std::vector<std::string>& elements) {
  return elements.empty() ? "{}" : name;
}

class Writer {
 public:
  void add(const Gpu& gpu) {
    const std::string id = std::to_string(count_++);
    std::vector<std::string> figures, sources, luo_suda, timing;
    for (std::size_t i = 0; i < gpu_figures().size(); ++i)
      if (const auto value = gpu_figures()[i].get(gpu))
        figures.push_back(fmt::format("{{{}, {}}}", i, *value));
    for (const auto& [field, source] : gpu.sources)
      sources.push_back(fmt::format("{{{}, {}}}", quoted(field), quoted(source)));
    std::string classes = "nullptr";
    if (gpu.luo_suda) {
      for (std::size_t i = 0; i < luo_suda_figures().size(); ++i)
        luo_suda.push_back(fmt::format("{{{}, {}}}", i, (*gpu.luo_suda).*luo_suda_figures()[i].member));
      std::vector<std::string> lines;
      for (const auto& line : gpu.luo_suda->class_cycles.values)
        lines.push_back(fmt::format("{{{}}}", fmt::join(line, ", ")));
      data_ += fmt::format("const LuoSudaClasses classes_{}{{{{{{{}}}}}}};\n", id, fmt::join(lines, ", "));
      classes = "&classes_" + id;
    }
    std::string copies = "nullptr";
    if (gpu.copies) {
      std::vector<std::string> values;
      for (const CopyFigure& figure : copy_figures())
        values.push_back(fmt::format("{}", (*gpu.copies).*figure.member));
      data_ += fmt::format("const CopyFigures copies_{}{{{}}};\n", id, fmt::join(values, ", "));
      copies = "&copies_" + id;
    }
    for (std::size_t i = 0; i < timing_figures().size(); ++i) {
      const TimingFigure& figure = timing_figures()[i];
      const auto origin = gpu.timing_origins.find(figure.name);
      if (origin == gpu.timing_origins.end()) continue;
      timing.push_back(fmt::format("{{{}, {}, {}, {}, {}}}", i, *(gpu.timing.*figure.member),
                                   origin->second.spread.value_or(-1), quoted(origin->second.date),
                                   quoted(origin->second.source)));
    }
    data_ += array_of("BundledTiming", "timing_" + id, timing);
    data_ += array_of("BundledFigure", "figures_" + id, figures);
    data_ += array_of("std::pair<std::string_view, std::string_view>", "sources_" + id, sources);
    data_ += array_of("BundledFigure", "luo_suda_" + id, luo_suda);
    gpus_ += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", quoted(gpu.name),
                         quoted(gpu.title), quoted(gpu.description), gpu.compute_capability.major,
                         gpu.compute_capability.minor, gpu.validated, span_of("figures_" + id, figures),
                         span_of("sources_" + id, sources), span_of("luo_suda_" + id, luo_suda), classes,
                         span_of("timing_" + id, timing), copies);
  }

  std::string text() const {
    return fmt::format(
        "#include \"simulator/gpu/bundled_gpus.h\"\n\nnamespace warptime {{\nnamespace {{\n\n{}\n"
        "const BundledGpu gpus[] = {{\n{}}};\n\n}}  // namespace\n\n"
        "std::span<const BundledGpu> bundled_gpus() {{\n  return gpus;\n}}\n\n}}  // namespace warptime\n",
        data_, gpus_);
  }

 private:
  std::string data_, gpus_;
  std::size_t count_ = 0;
};

std::optional<std::string> text_of(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return std::nullopt;
  return text;
}

int write(const char* output, std::span<const char* const> files) {
  Writer writer;
  bool failed = false;
  for (const char* file : files) {
    const auto text = text_of(file);
    const auto gpu = text ? read_gpu(*text, file) : Result<Gpu>(error_at(file, 0, 0, "cannot be read"));
    if (gpu) {
      writer.add(*gpu);
      continue;
    }
    for (const Diagnostic& diagnostic : gpu.diagnostics()) std::cerr << to_text(diagnostic) << '\n';
    failed = true;
  }
  if (failed) return 1;
  if (text_of(output) == writer.text()) return 0;  // ninja then compiles nothing again
  std::ofstream stream(output, std::ios::binary);
  stream << writer.text();
  stream.close();
  if (stream) return 0;
  std::cerr << output << ": cannot be written\n";
  return 1;
}

}  // namespace
}  // namespace warptime

int main(int count, char** arguments) {
  if (count < 2) return 2;
  return warptime::write(arguments[1], {arguments + 2, static_cast<std::size_t>(count) - 2});
}
