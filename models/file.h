// A committed model: the kernel program of one kernel in a file of its own, under a heading of comments that
// names every text that it was made from:
//
//   # Made by `warptime models update` of warptime 0.1.0: change the kernel and run that again, …
//   # from 5feceb66ffc8…  mtx.cu
//   # kernel mtx
//   # text 6b86b273ff34…
//   warptime: 1
//   kernel: mtx
//   …
//
// `from` is the SHA-256 and the name of each of these texts, relative to the source, which comes first.
// `kernel` names every kernel of that source. `text` is the SHA-256 of the file without this line: it shows
// an edit by hand.
//
// The kernel program below names kernel, symbol, source, compiler with version, target and flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/program/kernel_program.h"

namespace warptime::models {

// Lower-case hexadecimal.
std::string sha256(std::string_view text);

struct ModelInput {
  std::string file;  // relative to the source's folder
  std::string hash;  // SHA-256 of its text
  friend bool operator==(const ModelInput&, const ModelInput&) = default;
};

struct ModelHeading {
  std::string tool;  // "warptime 0.1.0"
  std::vector<ModelInput> inputs;
  std::vector<std::string> kernels;
  friend bool operator==(const ModelHeading&, const ModelHeading&) = default;
};

// The whole file.
std::string model_text(const ModelHeading& heading, const KernelProgram& program);

// A model's file as it was found.
struct FoundModel {
  std::string text;
  ModelHeading heading;                  // as far as it is there
  bool as_made = false;                  // the text is what model_text() wrote, not edited since
  std::optional<KernelProgram> program;  // nothing where it cannot be read
};
FoundModel read_model(std::string text, const std::string& file);

// mtx.cu.mtx.yaml: the name of the file of a kernel's model, in the folder models/ beside its source. What a
// file's name should not hold is replaced, and then, or where `ambiguous`, the symbol's hash tells it apart.
std::string model_file_name(const std::string& source, const std::string& kernel, const std::string& symbol,
                            bool ambiguous);

}  // namespace warptime::models
