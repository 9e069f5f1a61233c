// Whole files of both compilers, and some written by hand for what these do not have: they parse, every
// instruction is known, and what is printed of them parses and prints as the same.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <regex>

#include "analyzer/ptx/printer.h"
#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

std::vector<std::string> files_in(const char* folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  return files;
}

// What a current ptxas takes.
std::vector<std::string> files_of_compilers() {
  return files_in(WARPTIME_PTX_TESTS "/data");
}

// These, and what it has ceased to take.
std::vector<std::string> all_files() {
  std::vector<std::string> files = files_of_compilers();
  for (const std::string& file : files_in(WARPTIME_PTX_TESTS "/data/unchecked")) files.push_back(file);
  return files;
}

TEST(Files, ParseWithEveryInstructionKnown) {
  ASSERT_GE(all_files().size(), 4u);
  for (const std::string& file : all_files()) {
    const Parsed p = parsed(read_file(file));
    ASSERT_TRUE(static_cast<bool>(p.module)) << file;
    std::size_t instructions = 0;
    for (const Function& function : p->functions) {
      instructions += function.instructions.size();
      for (const Instruction& instruction : function.instructions)
        EXPECT_NE(instruction.info, nullptr) << file << ":" << instruction.line << ": " << instruction.opcode;
    }
    EXPECT_GT(instructions, 20u) << file;
  }
}

TEST(Files, PrintedModulesParseAndPrintAsTheSame) {
  for (const std::string& file : all_files()) {
    const std::string printed = print(*parsed(read_file(file)));
    EXPECT_TRUE(print(*parsed(printed)) == printed) << file;
  }
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  for (int c = 0; (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  pclose(pipe);
  return output;
}

std::string ptxas() {
  for (const char* candidate : {"ptxas", "/usr/local/cuda/bin/ptxas"})
    if (output_of(std::string(candidate) + " --version").find("NVIDIA") != std::string::npos)
      return candidate;
  return "";
}

// The sections of machine code in an ELF file, joined; empty where there is none.
std::string code_of(const std::string& elf) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    if (at + bytes <= elf.size()) std::memcpy(&value, elf.data() + at, bytes);
    return value;
  };
  const std::size_t headers = number(0x28, 8);
  const std::size_t names = number(headers + 64 * number(0x3e, 2) + 0x18, 8);
  std::map<std::string, std::string> code;  // by name: the order may differ
  for (std::size_t i = 0; i < number(0x3c, 2); ++i) {
    const std::size_t header = headers + 64 * i;
    const std::string name = elf.c_str() + names + number(header, 4);
    if (name.rfind(".text", 0) == 0)
      code[name] = elf.substr(number(header + 0x18, 8), number(header + 0x20, 8));
  }
  std::string joined;
  for (const auto& [name, bytes] : code) joined += name + bytes;
  return joined;
}

// `ptx` without what print() leaves out, so that it makes no difference to the machine code.
std::string without_debug(const std::string& ptx) {
  std::string text = std::regex_replace(
      ptx, std::regex("\\s\\.loc\\s[^\n]*|\\s\\.file\\s[^\n]*|, debug|\\.pragma[^;]*;"), "\n");
  if (const std::size_t sections = text.find(".section"); sections != std::string::npos)
    text.resize(sections);
  return text;
}

TEST(Files, PtxasMakesTheSameCodeOfWhatIsPrinted) {
  const std::string assembler = ptxas();
  if (assembler.empty()) GTEST_SKIP() << "no ptxas here";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("warptime_ptx_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto assembled = [&](const std::string& text, std::string_view target) {
    std::ofstream(folder / "a.ptx") << text;
    const bool old = target.size() < 6 && target < "sm_75";  // this ptxas may not know it any more
    const std::string said = output_of(fmt::format("{} -O1 -arch={} -o {}/a.cubin {}/a.ptx", assembler,
                                                   old ? "sm_75" : target, folder.string(), folder.string()));
    EXPECT_EQ(said.find("fatal"), std::string::npos) << said;
    return code_of(read_file(folder / "a.cubin"));
  };
  for (const std::string& file : files_of_compilers()) {
    const std::string original = without_debug(read_file(file));
    const Parsed p = parsed(original);
    const std::string_view target = p->target.substr(0, p->target.find(','));
    const std::string code = assembled(original, target);
    EXPECT_GT(code.size(), 100u) << file;
    EXPECT_TRUE(code == assembled(print(*p), target)) << file;
  }
  std::filesystem::remove_all(folder);
}

// The line of each instruction is the line that its text is on.
TEST(Files, LinesAndOffsetsAgree) {
  for (const std::string& file : all_files()) {
    const Parsed p = parsed(read_file(file));
    for (const Function& function : p->functions) {
      for (const Instruction& instruction : function.instructions) {
        const auto newlines = std::count(p.text->begin(), p.text->begin() + instruction.offset, '\n');
        ASSERT_EQ(instruction.line, newlines + 1) << file;
      }
    }
  }
}

TEST(Files, InlinedCodeHasTheLineOfTheCall) {
  const Parsed p = parsed(read_file(WARPTIME_PTX_TESTS "/data/debug.nvcc.sm_75.lineinfo.ptx"));
  // x[i] = both(left, x[i]) + collatz(i) stands in line 17 of debug.cu, what `both` computes in lines 10
  // and 11.
  bool inlined = false;
  for (const Instruction& instruction : p.kernel().instructions) {
    if (instruction.inner_line == 0) continue;
    inlined = true;
    EXPECT_EQ(instruction.source_line, 21u) << instruction.line;
    EXPECT_EQ(instruction.inner_line, 14u);
  }
  EXPECT_TRUE(inlined);
}

}  // namespace
}  // namespace warptime::ptx
