// What a document is analysed for: GPU, parameters and launches, as options of `warptime predict`, from the client, from
// .warptime.yaml and from comments in the source. What is nearer to the kernel counts more.
//
//   // warptime: --gpu h200 --param N=2^20 --threads N
//   // warptime: --kernel mtx --grid 4096 --block 256 --param K=8
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options/arguments.h"
#include "lsp/json_rpc.h"
#include "simulator/base/diagnostic.h"

namespace warptime::cli {

inline constexpr char settings_file[] = ".warptime.yaml";
inline constexpr char default_editor_gpu[] = "h200";

// Options for the kernels that `kernel` names; empty: for all.
struct KernelSettings {
  std::string kernel;
  std::vector<std::string> words;
};

struct DocumentSettings {
  std::vector<KernelSettings> layers;  // what comes later counts more
  // Of the comments and the file: errors, with the place. What is wrong is left out.
  Diagnostics wrong;

  // The command line for a kernel of this name. Launches replace those of earlier layers as a whole, values of a parameter
  // those of the same one. Errors: there are none, but for options that only together are wrong.
  Result<Arguments> arguments_for(const std::string& kernel) const;
};

// path: of the document; may be empty. client: {"gpu": …, "options": …}, with or without "warptime" around it; options are a
// text or a list of words.
DocumentSettings read_document_settings(const std::string& path, std::string_view text,
                                        const lsp::Json& client);

// The options that settings take.
CommandSyntax editor_syntax();

// "--param N=2^20 'a b'" -> its words, as a shell cuts them: quotes group, a backslash takes the next character.
std::vector<std::string> split_words(std::string_view text);

}  // namespace warptime::cli
