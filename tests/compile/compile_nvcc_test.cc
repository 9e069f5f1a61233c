// .cu → PTX through the user's nvcc. Where there is none, only what is said about that is tested.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>

#include "analyzer/compile/nvcc.h"
#include "tests/compile/compile_fixture.h"

namespace warptime {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Result<Source>& result) {
  return result ? "" : to_text(result.diagnostics());
}

CompileOptions nvcc(CompileOptions options = {}) {
  options.compiler = Compiler::nvcc;
  return options;
}

TEST(FindNvcc, SaysWhereItLookedAndWhatElseThereIs) {
  const Result<compiling::Nvcc> found = compiling::find_nvcc_in({"/nonexistent/bin", "/"});
  ASSERT_FALSE(found);
  const std::string text = to_text(found.diagnostics());
  EXPECT_TRUE(contains(text, "error: nvcc was not found")) << text;
  for (const std::string part : {"PATH", "CUDA_HOME", "/usr/local/cuda/bin", "--compiler clang"}) {
    EXPECT_TRUE(contains(text, part)) << text;
  }
}

// Each test has a folder for temporary files of its own, which must be empty in the end.
class CompileNvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (!nvcc_version()) GTEST_SKIP() << "no CUDA Toolkit here";
    folder_ = fs::path(testing::TempDir()) / folder_name();
    fs::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    EXPECT_TRUE(fs::is_empty(folder_)) << "temporary files were left behind in " << folder_;
    fs::remove_all(folder_);
    unsetenv("TMPDIR");
  }

 private:
  static std::string folder_name() { return "warptime-nvcc-test-" + std::to_string(getpid()); }
  fs::path folder_;
};

TEST_F(CompileNvcc, AnswersForItself) {
  EXPECT_TRUE(std::regex_match(*nvcc_version(), std::regex("nvcc \\d+\\.\\d+\\.\\d+"))) << *nvcc_version();
  const Result<std::vector<std::string>> targets = compiler_targets(Compiler::nvcc);
  ASSERT_TRUE(targets);
  EXPECT_NE(std::find(targets->begin(), targets->end(), "sm_75"), targets->end());
}

TEST_F(CompileNvcc, KernelsHaveTheSourcesNamesTypesAndLines) {
  const Result<Source> result = compile_data("kernels.cu", nvcc());
  ASSERT_TRUE(result) << text_of(result);
  std::vector<std::string> lines;
  for (const KernelSignature& kernel : result->kernels) lines.push_back(to_line(kernel));
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "2 plain (int n, float * data)",
                       "6 ns::filter<float, 3> (float * to, const float * from, float arg2)",
                       "6 ns::filter<double, 4> (double * to, const double * from, double arg2)",
                       "15 by_value (Size size, float4 * pixels, void (*)(int) f)",
                   }));
  EXPECT_EQ(result->compiler, *nvcc_version());
  EXPECT_EQ(result->target, "sm_75");
  EXPECT_TRUE(contains(result->ptx, data_path("kernels.cu"))) << ".file names the user's own";
}

TEST_F(CompileNvcc, RolledKeepsEveryLoop) {
  CompileOptions options = nvcc();
  const Result<Source> unrolled = compile_data("loops.cu", options);
  ASSERT_TRUE(unrolled) << text_of(unrolled);
  EXPECT_NE(count_loops(unrolled->ptx), 6);
  options.rolled = true;
  const Result<Source> rolled = compile_data("loops.cu", options);
  ASSERT_TRUE(rolled) << text_of(rolled);
  EXPECT_EQ(count_loops(rolled->ptx), 6);
  EXPECT_LT(rolled->ptx.size(), 9'000u);
  const Result<Source> in_header = compile_data("loop_in_header.cu", options);
  ASSERT_TRUE(in_header) << text_of(in_header);
  EXPECT_EQ(count_loops(in_header->ptx), 1);
  EXPECT_TRUE(contains(in_header->ptx, "loop_in_header.cuh"))
      << ".file names the user's header, not the copy";
  EXPECT_FALSE(contains(in_header->ptx, "warptime-"));
}

TEST_F(CompileNvcc, HostCodeWithSystemHeadersRolls) {
  CompileOptions options = nvcc();
  options.rolled = true;
  options.flags = {"--expt-relaxed-constexpr"};
  const Result<Source> result = compile_data("host_code.cu", options);
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(to_line(result->kernels[0]), "28 convolve (float * to, const float * from, int n)");
}

TEST_F(CompileNvcc, DiagnosticsNameTheUsersFileAndLines) {
  for (const bool rolled : {false, true}) {
    CompileOptions options = nvcc();
    options.rolled = rolled;
    fs::current_path(WARPTIME_TEST_DATA);
    const Result<Source> result = compile_cuda("bad-two-errors.cu", read_text("bad-two-errors.cu"), options);
    ASSERT_FALSE(result);
    const std::string text = to_text(result.diagnostics());
    EXPECT_TRUE(contains(text, "bad-two-errors.cu(2): error: identifier \"x\" is undefined")) << text;
    EXPECT_TRUE(contains(text, "bad-two-errors.cu(3): error: identifier \"y\" is undefined")) << text;
    EXPECT_TRUE(contains(text, "2 errors detected in the compilation of \"bad-two-errors.cu\"")) << text;
    EXPECT_FALSE(contains(text, testing::TempDir())) << text;
  }
}

TEST_F(CompileNvcc, WarningsFlagsAndStandardInput) {
  const Result<Source> result = compile_cuda(
      "-",
      "#include \"loop_in_header.cuh\"\n__global__ void k(float* a) { int z; a[0] = VALUE + sum(a, 3); }",
      nvcc(with_flags({"-DVALUE=3", "-I", WARPTIME_TEST_DATA, "-O2"})));
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(contains(result->warnings[0].verbatim, "<stdin>(2): warning #177-D"))
      << result->warnings[0].verbatim;
  EXPECT_EQ(result->flags, "-DVALUE=3 -I " WARPTIME_TEST_DATA " -O2");
}

TEST_F(CompileNvcc, OldTargetsAreMappedToItsOldest) {
  const Result<std::vector<std::string>> targets = compiler_targets(Compiler::nvcc);
  ASSERT_TRUE(targets);
  const Result<Source> result = compile_data("warning.cu", nvcc(for_target("sm_21")));
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_EQ(result->target, targets->front());
  EXPECT_EQ(result->notes,
            (std::vector<std::string>{"analysed for " + targets->front() + ", the oldest target of " +
                                      *nvcc_version() + "; sm_21 was asked for"}));
}

TEST_F(CompileNvcc, NoKernelNoPtx) {
  const Result<Source> result = compile_cuda("k.cu", "int main() {}", nvcc());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.diagnostics()[0].message, "no kernel in k.cu");
}

// nvcc runs its steps through a shell: no name of the user's may reach it. Each folder's name, if a shell
// read it, would create the file HACKED in the working directory, or break the compilation.
struct FolderName {
  std::string title, name;
};

void PrintTo(const FolderName& folder, std::ostream* out) {
  *out << folder.title;
}

class CompileNvccInFolder : public CompileNvcc, public testing::WithParamInterface<FolderName> {
 protected:
  void SetUp() override {
    CompileNvcc::SetUp();
    if (IsSkipped()) return;
    before_ = fs::current_path();
    work_ = fs::path(testing::TempDir()) / ("warptime-names-" + std::to_string(getpid()));
    fs::remove_all(work_);
    for (const char* part : {"source", "headers"}) fs::create_directories(work_ / part / GetParam().name);
    write(work_ / "source" / GetParam().name / "k.cu",
          "#include \"beside.cuh\"\n#include \"in_headers.cuh\"\n"
          "__global__ void k(float* a) { int z; a[0] = beside(a) + in_headers(a); }\n");
    write(work_ / "source" / GetParam().name / "beside.cuh",
          "inline __device__ float beside(float* a) { int y; return a[1]; }\n");
    write(work_ / "headers" / GetParam().name / "in_headers.cuh",
          "inline __device__ float in_headers(float* a) { return a[2]; }\n");
    fs::current_path(work_);
  }
  void TearDown() override {
    if (!work_.empty()) {
      EXPECT_FALSE(fs::exists("HACKED")) << "a shell read the name";
      fs::current_path(before_);
      fs::remove_all(work_);
    }
    CompileNvcc::TearDown();
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path before_, work_;
};

TEST_P(CompileNvccInFolder, CompilesAndNamesTheUsersFiles) {
  const std::string file = "source/" + GetParam().name + "/k.cu";
  for (const bool absolute : {false, true}) {
    for (const bool rolled : {false, true}) {
      const std::string folder = (absolute ? work_.string() + "/" : "") + "headers/" + GetParam().name;
      CompileOptions options = nvcc(with_flags({"-I", folder}));
      options.rolled = rolled;
      const std::string path = absolute ? work_ / file : fs::path(file);
      const Result<Source> result = compile_cuda(path, read_text(path), options);
      ASSERT_TRUE(result) << text_of(result);
      EXPECT_EQ(result->kernels.size(), 1u);
      ASSERT_EQ(result->warnings.size(), 1u);
      const std::string& said = result->warnings[0].verbatim;
      EXPECT_TRUE(contains(said, path + "(3): warning")) << said;
      EXPECT_TRUE(contains(said, "source/" + GetParam().name + "/beside.cuh(1): warning")) << said;
      for (const std::string& text : {result->ptx, said}) EXPECT_FALSE(contains(text, "link-")) << text;
    }
  }
}

TEST_P(CompileNvccInFolder, TemporaryFilesMayStandThereToo) {
  setenv("TMPDIR", (work_ / "headers" / GetParam().name).c_str(), 1);
  const Result<Source> result = compile_cuda("k.cu", "__global__ void k(float* a) { a[0] = 1; }", nvcc());
  EXPECT_TRUE(result) << text_of(result);
}

INSTANTIATE_TEST_SUITE_P(
    Names, CompileNvccInFolder,
    testing::Values(FolderName{"Plain", "plain"}, FolderName{"Backticks", "`touch HACKED`"},
                    FolderName{"Dollar", "$(touch HACKED)"}, FolderName{"Semicolon", ";touch HACKED;"},
                    FolderName{"Ampersand", "&touch HACKED&"}, FolderName{"Pipe", "|touch HACKED|"},
                    FolderName{"DoubleQuotes", "\";touch HACKED;\""},
                    FolderName{"Quotes", "';touch HACKED;'"}, FolderName{"Spaces", "two  words"},
                    FolderName{"Newline", "a\ntouch HACKED\nb"}, FolderName{"Comma", "a,b"},
                    FolderName{"Dash", "-E"}, FolderName{"Backslash", "a\\"}),
    [](const auto& test) { return test.param.title; });

TEST_F(CompileNvcc, FlagsThatItsShellWouldReadAreRefused) {
  for (const std::string flag : {"-DX=`touch HACKED`", "-DX=$(touch HACKED)", "-DX=a\\",
                                 "-Xcompiler=;touch HACKED", "-ccbin=`touch HACKED`"}) {
    const Result<Source> result =
        compile_cuda("k.cu", "__global__ void k(float* a) { a[0] = 1; }", nvcc(with_flags({flag})));
    ASSERT_FALSE(result) << flag;
    EXPECT_TRUE(contains(text_of(result), "a shell, which would read it")) << text_of(result);
  }
  EXPECT_FALSE(fs::exists("HACKED"));
}

TEST_F(CompileNvcc, MacrosMayHoldWhatTheShellSeesQuoted) {
  const Result<Source> result = compile_cuda(
      "k.cu", "__global__ void k(float* a) { const char* t = NAME; a[0] = TWICE(2) + t[threadIdx.x]; }",
      nvcc(with_flags({"-DNAME=\"a;b&c|d'e\"", "-D", "TWICE(x)=((x) * 2)"})));
  EXPECT_TRUE(result) << text_of(result);
}

// The instructions of each kernel: what ends in a semicolon, but for directives and the return.
std::map<std::string, int> instruction_counts(const std::string& ptx) {
  std::map<std::string, int> counts;
  std::string kernel, statement;
  int depth = 0;
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    if (ptx.compare(i, 2, "//") == 0) i = std::min(ptx.find('\n', i), ptx.size() - 1);
    if (ptx.compare(i, 7, ".entry ") == 0 && depth == 0) kernel = ptx.substr(i + 7, ptx.find('(', i) - i - 7);
    const char c = ptx[i];
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) kernel.clear();
    if (c == ';' && !kernel.empty() && depth > 0) {
      const std::size_t label = statement.rfind(':');
      if (label != std::string::npos) statement.erase(0, label + 1);
      if (!statement.empty() && statement[0] != '.' && statement != "ret") ++counts[kernel];
    }
    // Operand lists in braces are part of their statement.
    const bool opens_block = c == '{' && (statement.empty() || statement.back() == ')');
    if (c == ';' || opens_block || c == '\n') {
      if (c != '\n' || statement.starts_with(".loc") || statement.ends_with(':')) statement.clear();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0 && !(c == '}' && statement.empty())) {
      statement += c;
    }
  }
  return counts;
}

// Of arithmetic, conversions, ranks and barriers: within two instructions, which is how far the two compilers
// are apart in addresses and immediates.
TEST(CompileAutomatic, TheDeviceHeadersCostWhatNvccMakesOfItsOwn) {
  if (!nvcc_version()) GTEST_SKIP() << "no nvcc here";
  CompileOptions options = for_target("sm_80");
  const Result<Source> by_clang = compile_data("device_costs.cu", options);
  ASSERT_TRUE(by_clang) << to_text(by_clang.diagnostics());
  options.compiler = Compiler::nvcc;
  options.flags = {"-std=c++17"};
  const Result<Source> by_nvcc = compile_data("device_costs.cu", options);
  ASSERT_TRUE(by_nvcc) << to_text(by_nvcc.diagnostics());
  std::map<std::string, int> ours = instruction_counts(by_clang->ptx);
  const std::map<std::string, int> theirs = instruction_counts(by_nvcc->ptx);
  ASSERT_EQ(theirs.size(), 46u);
  int equal = 0;
  for (const auto& [kernel, count] : theirs) {
    EXPECT_GE(ours[kernel], count - 2) << kernel;
    EXPECT_LE(ours[kernel], count + 2) << kernel;
    if (ours[kernel] == count) ++equal;
  }
  EXPECT_GE(equal, 30);
}

// What clang does not take is nvcc's, where the choice is left to warptime.
TEST(CompileAutomatic, WhatClangDoesNotTakeIsNvccs) {
  if (!nvcc_version()) GTEST_SKIP() << "no nvcc here";
  CompileOptions options;
  options.compiler = Compiler::automatic;
  const std::string bessel = "__global__ void k(float* a) { a[0] = jnf(3, a[1]); }";
  const Result<Source> by_nvcc = compile_cuda("k.cu", bessel, options);
  ASSERT_TRUE(by_nvcc) << to_text(by_nvcc.diagnostics());
  EXPECT_EQ(by_nvcc->compiler, *nvcc_version());
  ASSERT_EQ(by_nvcc->notes.size(), 1u);
  EXPECT_TRUE(contains(by_nvcc->notes[0], "compiled by nvcc, as clang does not take it: k.cu:1:"))
      << by_nvcc->notes[0];
  const Result<Source> by_clang = compile_cuda("k.cu", "__global__ void k(float* a) { a[0] = 1; }", options);
  ASSERT_TRUE(by_clang);
  EXPECT_EQ(by_clang->compiler, clang_version());
  EXPECT_TRUE(by_clang->notes.empty());
  const Result<Source> by_none = compile_cuda("k.cu", "__global__ void k(float* a) { a[0] = x; }", options);
  ASSERT_FALSE(by_none);
  EXPECT_TRUE(contains(to_text(by_none.diagnostics()), "use of undeclared identifier 'x'"));
}

}  // namespace
}  // namespace warptime
