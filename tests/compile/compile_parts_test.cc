// The pieces of compile/ that need no compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "analyzer/compile/build_flags.h"
#include "analyzer/compile/header_parts.h"
#include "analyzer/compile/process.h"
#include "analyzer/compile/roll_loops.h"
#include "analyzer/compile/scan_kernels.h"
#include "analyzer/compile/targets.h"
#include "tests/compile/compile_fixture.h"

namespace warptime::compiling {
namespace {

// `@` stands for the pragma.
TEST(RollLoops, EveryLoopGetsThePragmaOnItsOwnLine) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"for (;;) f();", "@for (;;) f();"},
      {"while (a) f();", "@while (a) f();"},
      {"do { f(); } while (a);", "@do { f(); } while (a);"},
      {"do f(); while (a); while (b) g();", "@do f(); while (a); @while (b) g();"},
      {"do { while (a) { f(); } } while (b);", "@do { @while (a) { f(); } } while (b);"},
      {"do while (a) f(); while (b);", "@do @while (a) f(); while (b);"},
      {"{ } while (a) f();", "{ } @while (a) f();"},
      {"if (x) for (;;) f(); else while (a) g();", "if (x) @for (;;) f(); else @while (a) g();"},
      {"for (int i : list)\n  for (;;)\n    f();\n", "@for (int i : list)\n  @for (;;)\n    f();\n"},
      {"#define LOOP(n) for (int i = 0; i < n; ++i)\nLOOP(3) f();",
       "#define LOOP(n) @for (int i = 0; i < n; ++i)\nLOOP(3) f();"},
      {"#define for for\n", "#define for @for\n"},
      {"#pragma omp parallel for\nx;", "#pragma omp parallel for\nx;"},
      {"#if defined(while)\n#endif\nx;", "#if defined(while)\n#endif\nx;"},
      {"// for while\n/* do */ \"for\" 'w' R\"(while)\"", "// for while\n/* do */ \"for\" 'w' R\"(while)\""},
      {"forward whiley dog", "forward whiley dog"},
      {"#include \"a.h\"\nfor", "#include \"A\"\n@for"},
      {"#include <a.h> // for\n", "#include \"A\" // for\n"},
      {"#include <b.h>\n#include MACRO\n#include\n#", "#include <b.h>\n#include MACRO\n#include\n#"},
      {"", ""},
  };
  const auto include = [](const std::string& name, bool) {
    return name == "a.h" ? std::optional<std::string>("A") : std::nullopt;
  };
  for (const auto& [text, expected] : cases) {
    const std::regex pragma(R"(_Pragma\("unroll 1"\) )");
    EXPECT_EQ(std::regex_replace(roll_loops(text, include), pragma, "@"), expected);
  }
}

struct CommandCase {
  std::string command;
  std::vector<std::string> taken;
  std::vector<std::string> dropped;
};

TEST(BuildFlags, TheFlagsThatChangeTheCodeAreTaken) {
  const std::vector<CommandCase> cases{
      {"nvcc -DX=1 -DY -I../include -Ilib -isystem /opt/a -std=c++17 -x cu -c k.cu -o k.o",
       {"-DX=1", "-DY", "-I/p/include", "-I/p/build/lib", "-isystem", "/opt/a", "-std=c++17"},
       {}},
      {"/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -ccbin=/usr/bin/g++ -Xcompiler=-fPIC "
       "\"--generate-code=arch=compute_80,code=[compute_80,sm_80]\" -MD -MT k.o -MF k.o.d -O3 -DNDEBUG -c "
       "k.cu",
       {"-DNDEBUG"},
       {}},
      {"nvcc --expt-relaxed-constexpr --extended-lambda -use_fast_math -rdc=true -G k.cu",
       {"--expt-relaxed-constexpr", "--extended-lambda", "-use_fast_math"},
       {"-rdc=true", "-G"}},
      {"clang++ --cuda-gpu-arch=sm_80 -ffast-math -D 'NAME=\"a b\"' -U OLD --include-path=inc -x cuda k.cu",
       {"--use_fast_math", "-DNAME=\"a b\"", "-UOLD", "-I/p/build/inc"},
       {}},
      {"nvcc -std c++20 --define-macro A=2 -arch sm_90 -gencode arch=compute_90,code=sm_90 k.cu",
       {"-std=c++20", "-DA=2"},
       {}},
  };
  for (const CommandCase& c : cases) {
    const BuildFlags flags = translate_flags(split_command(c.command), "/p/build");
    EXPECT_EQ(flags.taken, c.taken) << c.command;
    EXPECT_EQ(flags.dropped, c.dropped) << c.command;
  }
}

TEST(BuildFlags, CommandsAreSplitAsAShellDoes) {
  EXPECT_EQ(split_command(R"(a  "b c" 'd "e"' f\ g "h\"i" '')"),
            (std::vector<std::string>{"a", "b c", "d \"e\"", "f g", "h\"i", ""}));
  EXPECT_TRUE(split_command("  ").empty());
}

class BuildFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/build");
    std::ofstream(folder_ + "/k.cu") << text_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Result<Source> compile(const std::string& commands) {
    if (!commands.empty()) std::ofstream(folder_ + "/build/compile_commands.json") << commands;
    CompileOptions options;
    options.build_folder = folder_ + "/build";
    return compile_cuda(folder_ + "/k.cu", text_, options);
  }
  std::string message(const Result<Source>& result) { return to_text(result.diagnostics()); }

  std::string folder_ = testing::TempDir() + "warptime-build-folder";
  std::string text_ = "__global__ void k(int* a) { a[0] = VALUE; }\n";
};

TEST_F(BuildFolder, TheSourcesOwnFlagsAreTaken) {
  const Result<Source> result =
      compile(R"([
    {"directory": "/nowhere", "command": "nvcc -DVALUE=1 -c other/k.cu", "file": "other/k.cu"},
    {"directory": ")" +
              folder_ + R"(/build", "command": "nvcc -DVALUE=4321 -rdc=true -c ../k.cu", "file": "../k.cu"}
  ])");
  ASSERT_TRUE(result) << message(result);
  EXPECT_TRUE(contains(result->ptx, ", 4321;"));
  EXPECT_EQ(result->flags, "-O3 -DVALUE=4321");
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_TRUE(contains(result->notes[0], "compile_commands.json that were not taken: -rdc=true"));
}

TEST_F(BuildFolder, WithoutFlagsForTheSourceThereIsAnError) {
  const Result<Source> none = compile("");
  ASSERT_FALSE(none);
  EXPECT_TRUE(contains(message(none), "there is no " + folder_ + "/build/compile_commands.json"));
  EXPECT_TRUE(contains(message(none), "CMAKE_EXPORT_COMPILE_COMMANDS"));
  const Result<Source> broken = compile("{");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(contains(message(broken), "is not a list of compilation commands"));
  const Result<Source> other = compile("[]");
  ASSERT_FALSE(other);
  EXPECT_TRUE(contains(message(other), "has no entry for "));
}

TEST(ScanKernels, FindsDeclarationsWithoutACompiler) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"__global__ void k(int n, float* a) {", "1 k (int n, float* a)"},
      {"\n\n__global__ void __launch_bounds__(256, 2)\nk(void)\n{", "3 k ()"},
      {"template <class T> __global__ void k(T* __restrict__ a, const std::pair<int, int> b = {1, 2})",
       "1 k (T* a, const std::pair<int, int> b)"},
      {"__global__ void k(float a[], int)", "1 k (float * a, int arg1)"},
      {"/* __global__ void no(int) */ // __global__ void no()\n__global__ void k(float /* a */ *x)",
       "2 k (float * x)"},
      {"static __global__ __attribute__((used)) void k(unsigned long n)", "1 k (unsigned long n)"},
  };
  for (const auto& [text, expected] : cases) {
    const std::vector<KernelSignature> kernels = scan_kernels(text);
    ASSERT_EQ(kernels.size(), 1u) << text;
    EXPECT_EQ(to_line(kernels[0]), expected);
  }
  for (const std::string text : {"", "__global__", "__global__ void", "__global__ void k(",
                                 "__global__ void x;", "\"__global__ void k()\""}) {
    EXPECT_TRUE(scan_kernels(text).empty()) << text;
  }
}

TEST(ScanKernels, MatchesThePtxByDemangledName) {
  const std::string ptx =
      ".visible .entry _ZN2ns6filterIfEEvPT_i(\n\t.param .u64 a,\n\t.param .u32 b\n)\n{}\n"
      ".entry unknown(\n\t.param .u64 unknown_param_0\n)\n{}\n";
  const std::vector<KernelSignature> scanned =
      scan_kernels("namespace ns { template <class T> __global__ void filter(T* x, int n) {} }");
  const std::vector<KernelSignature> kernels = match_kernels(ptx, {}, scanned);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(to_line(kernels[0]), "0 unknown ( arg0)");
  EXPECT_EQ(to_line(kernels[1]), "1 ns::filter<float> (T* x, int n)");
}

TEST(ScanKernels, NamesKernelsOfAnonymousNamespaces) {
  EXPECT_EQ(function_name("_ZN12_GLOBAL__N_15sweepEPdi"), "(anonymous namespace)::sweep");
  EXPECT_EQ(function_name("_ZN37_GLOBAL__N__d9443458_9_source_cu_main5sweepEPdPKddii"),
            "(anonymous namespace)::sweep");
  EXPECT_EQ(function_name("_ZN2ns12_GLOBAL__N_16filterIfLi3EEEvPT_"),
            "ns::(anonymous namespace)::filter<float, 3>");
  EXPECT_EQ(function_name("mtx"), "mtx");
  const std::string ptx =
      ".visible .entry _ZN37_GLOBAL__N__d9443458_9_source_cu_main5sweepEPdi(\n\t.param .u64 "
      "a,\n\t.param .u32 b\n)\n{}\n";
  const auto kernels =
      match_kernels(ptx, {}, scan_kernels("namespace { __global__ void sweep(double* u, int n) {} }"));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(to_line(kernels[0]), "1 (anonymous namespace)::sweep (double* u, int n)");
}

TEST(HeaderParts, ASourceGetsWhatItsWordsCallFor) {
  using namespace header_parts;
  const std::vector<std::pair<std::string, int>> cases{
      {"__global__ void k(float* a) { a[threadIdx.x] = 1; __syncthreads(); }", 0},
      {"float4 x;", vector_types},
      {"k<<<1, 1>>>();", host_runtime},
      {"cudaMalloc(&p, 1);", host_runtime},
      {"atomicAdd(p, 1);", atomics},
      {"__shfl_sync(m, v, 0);", synchronisation},
      {"__popc(x);", intrinsics},
      {"sqrtf(x)", math_basic},
      {"sinf(x)", math_basic | math_float},
      {"sin(x)", math_basic | math_float | math_double},
      {"#include <stdio.h>\n#include <cuda_runtime.h>\n", 0},
      {"#include <cmath>\n", all},
      {"#include \"own.h\"\n", all},
      {"#define CAT(a) a##f\n", all},
      {"std::min(a, b)", all},
  };
  for (const auto& [text, parts] : cases) EXPECT_EQ(needed_header_parts(text, {}), parts) << text;
  EXPECT_EQ(needed_header_parts("f(x)", {"-Df=sqrtf"}), math_basic);
  EXPECT_EQ(needed_header_parts("f(x)", {"-include", "f.h"}), all);
}

TEST(HeaderParts, NamesOfOldTemplatesAreFreeWhereTheyAreNoTemplates) {
  EXPECT_TRUE(may_be_reference("texture<float, 2> image;", "texture"));
  EXPECT_TRUE(may_be_reference("#include \"images.cuh\"\nint textures, my_texture;", "texture"));
  EXPECT_TRUE(may_be_reference("void surface(); surface <float> image;", "surface"));
  EXPECT_FALSE(may_be_reference("__global__ void surface(float* a) {}\nvoid f() { surface<<<1, 1>>>(0); }",
                                "surface"));
  EXPECT_FALSE(may_be_reference("float texture = 1;", "texture"));
}

TEST(RunProcess, ReadsBothOutputsHoweverLong) {
  const Result<ProcessResult> result = run_process(
      {"/bin/sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; echo $X >&2; exit 7"},
      {{"X", "set"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 7);
  EXPECT_EQ(result->output.size(), 300'000u);
  EXPECT_EQ(result->errors.size(), 300'004u);
  EXPECT_TRUE(result->errors.ends_with("set\n"));
}

TEST(RunProcess, SaysWhatCannotBeStarted) {
  const Result<ProcessResult> result = run_process({"/nonexistent/program"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.diagnostics()[0].message, "cannot start /nonexistent/program: No such file or directory");
}

TEST(RunProcess, ASignalIsAStatus) {
  const Result<ProcessResult> result = run_process({"/bin/sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 128 + 9);
}

}  // namespace
}  // namespace warptime::compiling
