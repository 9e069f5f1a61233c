// Wrong PTX: each bad/bad-*.ptx says in its first lines what is to be said of it,
//   // expect: LINE:COLUMN: MESSAGE
// one for each diagnostic. Where ptxas is at hand it must refuse the file too, in the same line, unless the
// file says `// ptxas: takes it`.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "analyzer/ptx/printer.h"
#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

std::vector<std::string> bad_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WARPTIME_PTX_TESTS "/bad"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> expectations(const std::string& text) {
  static const std::regex line("// expect: (.*)");
  std::vector<std::string> result;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it)
    result.push_back((*it)[1]);
  return result;
}

TEST(BadPtx, IsRefusedAsTheFileSays) {
  ASSERT_GE(bad_files().size(), 10u);
  for (const std::string& file : bad_files()) {
    const std::string text = read_file(file);
    const auto module = parse(text, file);
    ASSERT_FALSE(static_cast<bool>(module)) << file;
    std::vector<std::string> said;
    for (const Diagnostic& diagnostic : module.diagnostics()) {
      said.push_back(std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + ": " +
                     diagnostic.message);
      EXPECT_EQ(diagnostic.file, file);
    }
    EXPECT_EQ(said, expectations(text)) << file;
  }
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> buffer;
  for (std::size_t read = 0; (read = fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
    output.append(buffer.data(), read);
  pclose(pipe);
  return output;
}

std::string ptxas() {
  for (const char* candidate : {"ptxas", "/usr/local/cuda/bin/ptxas"})
    if (output_of(std::string(candidate) + " --version").find("NVIDIA") != std::string::npos)
      return candidate;
  return "";
}

TEST(BadPtx, IsRefusedByPtxasInTheSameLine) {
  const std::string assembler = ptxas();
  if (assembler.empty()) GTEST_SKIP() << "no ptxas here";
  static const std::regex said(R"(line (\d+))");
  for (const std::string& file : bad_files()) {
    const std::string text = read_file(file);
    if (text.find("// ptxas: takes it") != std::string::npos) continue;
    const std::string output = output_of(assembler + " -arch=sm_80 -o /dev/null '" + file + "'");
    std::smatch match;
    ASSERT_TRUE(std::regex_search(output, match, said)) << file << "\n" << output;
    const auto module = parse(text, file);
    ASSERT_FALSE(static_cast<bool>(module)) << file;
    EXPECT_EQ(std::to_string(module.diagnostics().front().line), match[1]) << file << "\n" << output;
  }
}

// A file cut anywhere is refused, or is complete up to there.
TEST(BadPtx, FilesCutAnywhereAreRefusedInTheLastLine) {
  const std::string text = read_file(WARPTIME_PTX_TESTS "/data/debug.nvcc.sm_75.lineinfo.ptx");
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const std::string cut = text.substr(0, size);
    const auto module = parse(cut, "cut.ptx");
    if (module) {
      EXPECT_EQ(print(*module).find("{\n}"), std::string::npos);
      continue;
    }
    EXPECT_LE(module.diagnostics().size(), 3u) << size;
    const auto last_line = std::count(cut.begin(), cut.end(), '\n') + 1;
    EXPECT_LE(last_line - module.diagnostics().back().line, 40) << size << "\n"
                                                                << to_text(module.diagnostics());
  }
}

TEST(BadPtx, NoMoreThanTwentyDiagnostics) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "add.u32 %r1 %r2;\n";
  const std::string text = kernel_around(body);
  const auto module = parse(text, "test.ptx");
  ASSERT_FALSE(static_cast<bool>(module));
  EXPECT_EQ(module.diagnostics().size(), 20u);
  EXPECT_EQ(module.diagnostics()[19].line, 25);
}

}  // namespace
}  // namespace warptime::ptx
