// Errors in host code do not stop a compilation for the device. This room decides which of clang's errors
// concern host code alone, and remembers which headers could not be found.
#pragma once

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analyzer/compile/clang_sources.h"

namespace warptime::compiling {

// One per compilation. Errors are judged while clang parses, because what clang does next depends on it: an
// error in the body of a host function, in a declaration without __device__ or __global__, or in a class, is
// host code's. What then turns out to be part of device code after all (a class that a kernel uses, a
// function that is both host and device) is found when the translation unit is complete.
class HostCode {
 public:
  HostCode();
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;

  // To be called before the source is parsed. Headers that are not found are empty from then on.
  void attach(clang::CompilerInstance& compiler);

  // The consumer that sees the declarations; it comes before the one that makes code.
  std::unique_ptr<clang::ASTConsumer> make_consumer();

  // For an error that clang is about to report.
  bool is_host_error(const clang::Diagnostic& error);

  // For each error that was taken for host code's, whether it concerns code that a kernel reaches. Good from
  // when the translation unit is complete.
  std::vector<bool> errors_that_matter() const;

  // For every diagnostic and note: remembers what nvcc is known not to need.
  void observe(const clang::Diagnostic& diagnostic);

  // What helps: __host__ __device__ before host functions with a body that device code calls, `template` and
  // `typename` where clang asks for them. Offsets in the text that clang read. Good from when the translation unit is
  // complete, as are the names of the host functions.
  const SourceInsertions& helpful_insertions() const;
  const std::set<std::string>& names_called_from_device() const;
  const std::set<std::string>& kernels_launched_from_device() const;

  // As the source writes them, in the order of the source.
  const std::vector<std::string>& missing_headers() const;

 private:
  class Judge;
  class Consumer;
  class Callbacks;
  std::unique_ptr<Judge> judge_;
};

// What to do about headers that were not found, where device code seems to need them.
std::string hint_about_headers(const std::vector<std::string>& missing);

}  // namespace warptime::compiling
