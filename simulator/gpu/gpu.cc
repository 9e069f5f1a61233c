#include "simulator/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

#include "simulator/base/did_you_mean.h"
#include "simulator/gpu/bundled_gpus.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {

namespace {

Gpu made(const BundledGpu& bundled) {
  Gpu gpu;
  gpu.name = bundled.name;
  gpu.title = bundled.title;
  gpu.description = bundled.description;
  gpu.compute_capability = {bundled.major, bundled.minor};
  gpu.validated = bundled.validated;
  for (const BundledFigure& figure : bundled.figures) gpu_figures()[figure.index].set(gpu, figure.value);
  for (const auto& [field, source] : bundled.sources) gpu.sources.emplace(field, source);
  if (bundled.luo_suda) {
    gpu.luo_suda.emplace();
    for (const BundledFigure& figure : bundled.luo_suda_figures)
      (*gpu.luo_suda).*luo_suda_figures()[figure.index].member = figure.value;
    gpu.luo_suda->class_cycles = *bundled.luo_suda;
  }
  if (bundled.copies) gpu.copies = *bundled.copies;
  for (const BundledTiming& timing : bundled.timing) {
    const TimingFigure& figure = timing_figures()[timing.index];
    gpu.timing.*figure.member = timing.value;
    TimingOrigin& origin = gpu.timing_origins[std::string(figure.name)];
    origin.source = timing.source;
    origin.date = timing.date;
    if (timing.spread >= 0) origin.spread = timing.spread;
  }
  return gpu;
}

std::optional<std::string> read_whole(const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return std::nullopt;  // a pipe would wait
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::array<char, 4096> buffer;
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.eof() || stream.bad()) return std::nullopt;
  return text;
}

}  // namespace

const GpuCatalogue& GpuCatalogue::bundled() {
  static const GpuCatalogue catalogue = [] {
    GpuCatalogue bundled;
    for (const BundledGpu& gpu : bundled_gpus()) bundled.add(made(gpu));
    return bundled;
  }();
  return catalogue;
}

Result<GpuCatalogue> GpuCatalogue::with_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code status;
  fs::directory_iterator entries(folder, status);
  if (status) return error(fmt::format("cannot read the folder {}: {}", folder, status.message()));
  std::vector<fs::path> files;
  for (; entries != fs::directory_iterator(); entries.increment(status)) {
    if (entries->path().extension() == ".yaml") files.push_back(entries->path());
  }
  if (status) return error(fmt::format("cannot read the folder {}: {}", folder, status.message()));
  std::sort(files.begin(), files.end());
  GpuCatalogue catalogue = bundled();
  Diagnostics wrong;
  std::map<std::string, std::string> file_of;
  for (const fs::path& file : files) {
    const auto text = read_whole(file);
    if (!text) {
      wrong.push_back(error_at(file.string(), 0, 0, "cannot be read"));
      continue;
    }
    auto gpu = read_gpu(*text, file.string());
    if (gpu) {
      const auto [first, added] = file_of.emplace(gpu->name, file.string());
      if (!added)
        wrong.push_back(
            error_at(file.string(), 0, 0,
                     fmt::format("`{}` is also the name of the GPU in {}", gpu->name, first->second),
                     "give one of them another name"));
      catalogue.add(std::move(*gpu));
    } else {
      wrong.insert(wrong.end(), gpu.diagnostics().begin(), gpu.diagnostics().end());
    }
  }
  if (!wrong.empty()) return wrong;
  return catalogue;
}

std::vector<const Gpu*> GpuCatalogue::with_core_packages() const {
  std::vector<const Gpu*> fit;
  for (const Gpu& gpu : gpus_)
    if (check_core_packages(gpu).empty()) fit.push_back(&gpu);
  return fit;
}

Result<const Gpu*> GpuCatalogue::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const Gpu& gpu : gpus_) {
    if (gpu.name == name) return &gpu;
    known.push_back(gpu.name);
  }
  const std::string near = nearest(name, known);
  return error(fmt::format("unknown GPU `{}`", name), near.empty()
                                                          ? fmt::format("there are {}", yaml::list_of(known))
                                                          : fmt::format("did you mean `{}`?", near));
}

void GpuCatalogue::add(Gpu gpu) {
  std::erase_if(gpus_, [&](const Gpu& known) { return known.name == gpu.name; });
  const auto before = [](const Gpu& a, const Gpu& b) {
    return std::tie(a.compute_capability, a.name) < std::tie(b.compute_capability, b.name);
  };
  gpus_.insert(std::upper_bound(gpus_.begin(), gpus_.end(), gpu, before), std::move(gpu));
}

}  // namespace warptime
