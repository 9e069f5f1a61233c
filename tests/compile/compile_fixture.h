// What the tests of compile/ share: sources as data, and questions to ask of PTX.
#pragma once

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "analyzer/compile/compile.h"

namespace warptime {

inline std::string data_path(const std::string& name) {
  return std::string(WARPTIME_TEST_DATA) + "/" + name;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the test's data is gone: " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Result<Source> compile_data(const std::string& name, const CompileOptions& options = {}) {
  return compile_cuda(data_path(name), read_text(data_path(name)), options);
}

inline CompileOptions with_flags(std::vector<std::string> flags) {
  CompileOptions options;
  options.flags = std::move(flags);
  return options;
}

inline CompileOptions for_target(std::string arch) {
  CompileOptions options;
  options.arch = std::move(arch);
  return options;
}

// A branch to a label that stands above it closes a loop: the number of labels that are branched back to.
inline int count_loops(const std::string& ptx) {
  std::set<std::string> labels;
  std::set<std::string> loops;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$L") && line.find(':') != std::string::npos)
      labels.insert(line.substr(0, line.find(':')));
    const std::size_t branch = line.find("bra");
    const std::size_t label = line.find("$L", branch == std::string::npos ? line.size() : branch);
    if (label == std::string::npos) continue;
    const std::string name = line.substr(label, line.find(';', label) - label);
    if (labels.count(name) != 0) loops.insert(name);
  }
  return static_cast<int>(loops.size());
}

// A kernel as one line: "12 ns::filter<float> (float * to, int n)".
inline std::string to_line(const KernelSignature& kernel) {
  std::string text = std::to_string(kernel.line) + " " + kernel.name + " (";
  for (const KernelArgument& argument : kernel.arguments) {
    text += (text.back() == '(' ? "" : ", ") + argument.type + " " + argument.name;
  }
  return text + ")";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace warptime
