// The ways in which the tests compile kernels: each compiler, with and without its optimisations.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"

namespace warptime::execute::testing {

struct Build {
  const char* name;
  Compiler compiler;
  bool rolled;
  std::vector<std::string> flags;
};
void PrintTo(const Build& build, std::ostream* out);

const std::vector<Build>& builds();

// A file of the repository.
std::string file_text(const std::string& file);
// The .cu files in a folder of the repository and in those below it, by name; paths from the repository's
// root. Not those of host programs (in a folder `host`).
std::vector<std::string> cuda_files(const std::string& folder);

// Each file is compiled once for each build. Fails the test, and gives null, where that does not succeed.
std::shared_ptr<const Source> compiled(const std::string& file, const Build& build);

}  // namespace warptime::execute::testing
