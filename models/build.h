// Makes the models of a source, and decides whether the committed ones are up to date.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "models/file.h"
#include "models/folder.h"

namespace warptime::models {

struct BuildSettings {
  CompileOptions compile;
  bool skip_unsupported = false;
  // Skip sources whose models are up to date.
  bool only_what_changed = false;
};

struct BuiltModel {
  std::string kernel;               // the source's name of it
  std::string file;                 // of the model: dwt_kernels/models/mtx.cu.mtx.yaml
  std::optional<FoundModel> found;  // the committed one
  // The model as it should be; nothing where the analysis failed.
  std::string text;
  std::optional<KernelProgram> program;
};

struct BuiltSource {
  const KernelSource* source = nullptr;
  bool skipped = false;  // its inputs have not changed: the models are as found
  std::vector<BuiltModel> models;
  std::vector<std::string> orphans;  // models of kernels that the source no longer has
  Diagnostics said;                  // warnings and notes of compiler and analysis
  Diagnostics errors;
};

// Reads, compiles and analyses sources in parallel; writes nothing.
std::vector<BuiltSource> build_models(const KernelFolder& folder, const BuildSettings& settings);

// "warptime 0.1.0"
std::string tool_name();

}  // namespace warptime::models
