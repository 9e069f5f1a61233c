// Files of the repository for the tests, and kernel programs written inline.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "simulator/program/kernel_program.h"

namespace warptime::test {

inline std::string read_file(const std::string& path_in_repository) {
  std::ifstream stream(std::string(WARPTIME_SOURCE_DIR) + "/" + path_in_repository, std::ios::binary);
  EXPECT_TRUE(stream) << path_in_repository;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// One kernel program; fails the test where the text is none.
inline KernelProgram program_of(const std::string& text) {
  const auto programs = read_kernel_programs(text, "inline");
  if (!programs) {
    ADD_FAILURE() << to_text(programs.diagnostics());
    return {};
  }
  return programs->front();
}

inline KernelProgram sample(const std::string& name) {
  return program_of(read_file("samples/puchala2022/" + name));
}

}  // namespace warptime::test
