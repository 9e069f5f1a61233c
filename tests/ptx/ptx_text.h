// Small PTX modules for tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "analyzer/ptx/module.h"

namespace warptime::ptx {

// A kernel `k` around `body`, with registers %p %r %rd %f and two parameters; `before` stands at module
// scope. The body begins in line 6, where `before` has no line end.
inline std::string kernel_around(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + before +
         "\n.entry k(.param .u64 a, .param .u32 n) { .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>; "
         ".reg .f32 %f<9>;\n" +
         body + "\n}\n";
}

// A module together with the text that it looks into.
struct Parsed {
  std::shared_ptr<std::string> text;
  Result<Module> module;

  const Module& operator*() const { return *module; }
  const Module* operator->() const { return module.operator->(); }
  const Function& kernel() const { return module->functions.back(); }
  const Instruction& instruction(std::size_t index) const { return kernel().instructions[index]; }
  const Operand& operand(std::size_t of, std::uint32_t index) const {
    return module->operands[instruction(of).first_operand + index];
  }
  const Operand& part(const Operand& operand, std::uint32_t index) const {
    return module->operands[operand.first_part + index];
  }
};

inline Parsed parsed(std::string text) {
  auto owned = std::make_shared<std::string>(std::move(text));
  Parsed result{owned, parse(*owned, "test.ptx")};
  if (!result.module) ADD_FAILURE() << to_text(result.module.diagnostics()) << "\nin\n" << *owned;
  return result;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace warptime::ptx
