// The files of catalogue/ as data: reading them as YAML took half of the time of a prediction. The build runs
// write_bundled_gpus, which reads the files with read_gpu() and writes the source that defines bundled_gpus().
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/gpu/copy_figures.h"
#include "simulator/gpu/luo_suda_figures.h"

namespace warptime {

struct BundledFigure {
  std::size_t index;  // into gpu_figures() or luo_suda_figures()
  double value;
};

struct BundledTiming {
  std::size_t index;  // into timing_figures()
  double value;
  double spread;  // negative: not known
  std::string_view date, source;
};

struct BundledGpu {
  std::string_view name, title, description;
  int major, minor;  // of the compute capability
  bool validated;
  std::span<const BundledFigure> figures;
  std::span<const std::pair<std::string_view, std::string_view>> sources;  // Gpu::sources
  std::span<const BundledFigure> luo_suda_figures;
  const LuoSudaClasses* luo_suda;  // class_cycles; null: the file has no such figures
  std::span<const BundledTiming> timing;
  const CopyFigures* copies;  // null: the file has none
};

std::span<const BundledGpu> bundled_gpus();

}  // namespace warptime
