// What the editor shows of a CUDA source: what its kernels and loops cost, the compiler's messages, performance findings with
// the gain that the model confirms, and what is known of each line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lsp/answer.h"
#include "lsp/server.h"

namespace warptime::cli {

// What earlier analyses of a document found: a kernel that has not changed since is not analysed again.
struct AnalysisCache {
  // By a key made of all that a kernel's answer depends on. Lines count from the kernel's first one.
  std::map<std::string, lsp::Answer> parts;
  // The newest part of each kernel, by name: where its code does not compile now.
  std::map<std::string, std::string> newest;
  std::vector<std::string> files;  // headers of the user that the source was compiled with
};

// What there is more of an answer.
struct AnalysisStep {
  lsp::Answer answer;                        // the whole one, as far as it is known
  std::map<std::string, lsp::Answer> parts;  // that are finished, for the cache
  std::map<std::string, std::string> newest;
  std::vector<std::string> files;  // empty: as before
  bool final = false;
};

lsp::Json to_json(const AnalysisStep& step);
std::optional<AnalysisStep> read_step(const lsp::Json& json);
void keep(AnalysisCache& cache, AnalysisStep step);

// Calls `report` with what is found: at first what kernels cost in instructions and accesses, then also in time, then all.
// In any thread, one after the other. Text of any kind is analysed; what is wrong with it is in the answer. Compilations beyond
// their limits end the process by cli/io/capture.h's Capture::exceed(), if there is a capture. words: options that count less
// than all others, as editor_syntax() has them.
void analyse_document(const lsp::Question& question, const std::vector<std::string>& words,
                      const AnalysisCache& cache, const std::function<void(AnalysisStep)>& report);

// The answer that says only that.
lsp::Answer only_finding(const Diagnostic& wrong);

}  // namespace warptime::cli
