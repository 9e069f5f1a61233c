#include "tests/execute/builds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace warptime::execute::testing {

const std::vector<Build>& builds() {
  static const std::vector<Build> all = {
      {"clang", Compiler::clang, false, {}},         {"clang_rolled", Compiler::clang, true, {}},
      {"clang_O0", Compiler::clang, false, {"-O0"}}, {"clang_O1", Compiler::clang, false, {"-O1"}},
      {"nvcc", Compiler::nvcc, false, {}},           {"nvcc_rolled", Compiler::nvcc, true, {}},
      {"nvcc_G", Compiler::nvcc, false, {"-G"}}};
  return all;
}

void PrintTo(const Build& build, std::ostream* out) {
  *out << build.name;
}

std::string file_text(const std::string& file) {
  std::ifstream in(std::string(WARPTIME_SOURCE_DIR) + "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << file;
  return text.str();
}

std::vector<std::string> cuda_files(const std::string& folder) {
  const std::filesystem::path root(WARPTIME_SOURCE_DIR);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".cu" && entry.path().parent_path().filename() != "host")
      files.push_back(entry.path().lexically_relative(root).generic_string());
  std::sort(files.begin(), files.end());
  return files;
}

std::shared_ptr<const Source> compiled(const std::string& file, const Build& build) {
  static std::map<std::string, std::shared_ptr<const Source>> made;
  auto& entry = made[file + " " + build.name];
  if (entry) return entry;
  CompileOptions options;
  options.compiler = build.compiler;
  options.rolled = build.rolled;
  options.flags = build.flags;
  // By its whole path, for what it includes.
  auto source = compile_cuda(std::string(WARPTIME_SOURCE_DIR) + "/" + file, file_text(file), options);
  EXPECT_TRUE(source) << to_text(source.diagnostics());
  if (!source) return entry;
  source->file = file;
  return entry = std::make_shared<Source>(std::move(*source));
}

}  // namespace warptime::execute::testing
