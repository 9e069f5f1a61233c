// Making the models of a source, and telling whether the committed ones are still what would be made.
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
  // Sources whose models are still what they come from are left alone.
  bool only_what_changed = false;
};

struct BuiltModel {
  std::string kernel;               // the source's name of it
  std::string file;                 // of the model: dwt_kernels/models/mtx.cu.mtx.yaml
  std::optional<FoundModel> found;  // the committed one
  // As it should be; nothing where the kernel came to no program.
  std::string text;
  std::optional<KernelProgram> program;
};

struct BuiltSource {
  const KernelSource* source = nullptr;
  bool skipped = false;  // nothing that its models come from changed: they are as found
  std::vector<BuiltModel> models;
  std::vector<std::string> orphans;  // models of kernels that the source has no longer
  Diagnostics said;                  // warnings and notes of compiler and analysis
  Diagnostics errors;
};

// Reads, compiles and analyses; writes nothing. Several at a time.
std::vector<BuiltSource> build_models(const KernelFolder& folder, const BuildSettings& settings);

// "warptime 0.1.0"
std::string tool_name();

}  // namespace warptime::models
