// .cu → PTX through the embedded clang.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <thread>

#include "tests/compile/compile_fixture.h"

namespace warptime {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Result<Source>& result) {
  return result ? "" : to_text(result.diagnostics());
}

std::vector<std::string> bad_sources() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(WARPTIME_TEST_DATA)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("bad-")) names.push_back(name);
  }
  return names;
}

// Every bad source says in comments what is expected of the diagnostics.
TEST(CompileClang, BadSourcesGetClangsOwnDiagnostics) {
  ASSERT_GE(bad_sources().size(), 10u);
  for (const std::string& name : bad_sources()) {
    const std::string source = read_text(data_path(name));
    fs::current_path(WARPTIME_TEST_DATA);
    const Result<Source> result = compile_cuda(name, source, {});
    ASSERT_FALSE(result) << name;
    const std::string text = to_text(result.diagnostics());
    int expectations = 0;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      const std::string mark = "// expect: ";
      if (!line.starts_with(mark)) continue;
      ++expectations;
      EXPECT_TRUE(contains(text, line.substr(mark.size()))) << name << " gave\n"
                                                            << text << "instead of\n"
                                                            << line;
    }
    EXPECT_GT(expectations, 0) << name;
    EXPECT_FALSE(contains(text, "\033")) << name << ": colours";
  }
}

TEST(CompileClang, KernelsHaveTheSourcesNamesTypesAndLines) {
  const Result<Source> result = compile_data("kernels.cu");
  ASSERT_TRUE(result) << text_of(result);
  std::vector<std::string> lines;
  for (const KernelSignature& kernel : result->kernels) {
    lines.push_back(to_line(kernel));
    EXPECT_TRUE(contains(result->ptx, ".entry " + kernel.symbol + "(")) << kernel.symbol;
  }
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "2 plain (int n, float * data)",
                       "6 ns::filter<float, 3> (float * to, const float * from, float arg2)",
                       "6 ns::filter<double, 4> (double * to, const double * from, double arg2)",
                       "15 by_value (Size size, float4 * pixels, void (*)(int) f)",
                   }));
  EXPECT_EQ(result->kernels[0].symbol, "plain");
  EXPECT_EQ(result->kernels[1].symbol, "_ZN2ns6filterIfLi3EEEvPT_PKS1_S1_");
}

TEST(CompileClang, SaysWhereThePtxCameFrom) {
  CompileOptions options = with_flags({"-DX=1", "-Wall"});
  options.rolled = true;
  const Result<Source> result = compile_data("loops.cu", options);
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_EQ(result->file, data_path("loops.cu"));
  EXPECT_EQ(result->text, read_text(data_path("loops.cu")));
  EXPECT_EQ(result->compiler, clang_version());
  EXPECT_TRUE(std::regex_match(result->compiler, std::regex("clang 19\\.\\d+\\.\\d+")));
  EXPECT_EQ(result->target, "sm_75");
  EXPECT_EQ(result->flags, "-O3 --rolled -DX=1 -Wall");
  EXPECT_TRUE(contains(result->ptx, "\t.file\t1 \"" + data_path("loops.cu") + "\""));
}

TEST(CompileClang, RolledKeepsEveryLoop) {
  CompileOptions options;
  const Result<Source> unrolled = compile_data("loops.cu", options);
  ASSERT_TRUE(unrolled) << text_of(unrolled);
  EXPECT_NE(count_loops(unrolled->ptx), 6);
  for (const std::string name : {"loops.cu", "loop_in_header.cu"}) {
    options.rolled = true;
    const Result<Source> rolled = compile_data(name, options);
    ASSERT_TRUE(rolled) << text_of(rolled);
    EXPECT_EQ(count_loops(rolled->ptx), name == "loops.cu" ? 6 : 1) << name;
    // One multiplication or addition of the body is there once.
    EXPECT_LT(rolled->ptx.size(), 12'000u) << name;
  }
}

struct TargetCase {
  std::string wanted;
  std::string target;
  std::string note;  // empty: none
};

TEST(CompileClang, TargetsThatClangDoesNotHaveAreMapped) {
  const std::string clang = clang_version();
  const std::vector<TargetCase> cases{
      {"", "sm_75", ""},
      {"sm_30", "sm_30", ""},
      {"sm_90a", "sm_90a", ""},
      {"sm_21", "sm_30", "analysed for sm_30, the oldest target of " + clang + "; sm_21 was asked for"},
      {"sm_88", "sm_87",
       "analysed for sm_87, the nearest older target of " + clang + "; sm_88 was asked for"},
      {"sm_100", "sm_90", "analysed for sm_90, the newest target of " + clang + "; sm_100 was asked for"},
      {"sm_120a", "sm_90", "analysed for sm_90, the newest target of " + clang + "; sm_120a was asked for"},
  };
  for (const TargetCase& c : cases) {
    const Result<Source> result = compile_data("target.cu", for_target(c.wanted));
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(result->target, c.target);
    EXPECT_TRUE(contains(result->ptx, ".target " + c.target + "\n")) << c.wanted;
    EXPECT_EQ(result->notes, c.note.empty() ? std::vector<std::string>{} : std::vector<std::string>{c.note});
  }
}

TEST(CompileClang, WhatIsNoTargetIsRefused) {
  for (const std::string arch :
       {"compute_75", "75", "sm_", "sm_7", "sm_075", "sm_7500", "sm_75x", "SM_75", "sm_-1"}) {
    const Result<Source> result = compile_data("target.cu", for_target(arch));
    ASSERT_FALSE(result) << arch;
    EXPECT_EQ(result.diagnostics()[0].message, "`" + arch + "` is not a compute target");
    EXPECT_TRUE(contains(result.diagnostics()[0].hint, "sm_75"));
  }
}

TEST(CompileClang, EveryTargetCompiles) {
  const Result<std::vector<std::string>> targets = compiler_targets(Compiler::clang);
  ASSERT_TRUE(targets);
  EXPECT_EQ(targets->front(), "sm_30");
  EXPECT_EQ(targets->back(), "sm_90");
  for (const std::string& target : *targets) {
    const Result<Source> result = compile_data("target.cu", for_target(target));
    ASSERT_TRUE(result) << target << text_of(result);
    const std::string number = target.substr(3) + "0";
    EXPECT_TRUE(contains(result->ptx, "mov.b32 \t%r1, " + number + ";")) << result->ptx;
  }
}

// A source that does not ask for the target is parsed and optimised once for all of them; the outcome is what
// it would be otherwise.
TEST(CompileClang, TargetsAfterTheFirstAreTheSameAsOnTheirOwn) {
  int unique = 0;
  for (const std::string name :
       {"kernels.cu", "loops.cu", "read_only.cu", "arithmetic.cu", "integers.cu", "lines.cu"}) {
    for (const std::string target : {"sm_30", "sm_35", "sm_61", "sm_75", "sm_80", "sm_90", "sm_90a"}) {
      const Result<Source> shared = compile_data(name, for_target(target));
      CompileOptions alone = for_target(target);
      alone.flags = {"-DUNIQUE=" + std::to_string(++unique)};
      const Result<Source> separate = compile_data(name, alone);
      ASSERT_TRUE(shared) << text_of(shared);
      ASSERT_TRUE(separate) << text_of(separate);
      EXPECT_TRUE(shared->ptx == separate->ptx) << name << " " << target;
      EXPECT_EQ(shared->kernels.size(), separate->kernels.size());
    }
  }
}

TEST(CompileClang, ReadOnlyLoadsDependOnTheTarget) {
  const Result<Source> new_target = compile_data("read_only.cu", for_target("sm_75"));
  const Result<Source> old_target = compile_data("read_only.cu", for_target("sm_30"));
  ASSERT_TRUE(new_target && old_target);
  EXPECT_TRUE(contains(new_target->ptx, "ld.global.nc.f32"));
  EXPECT_FALSE(contains(old_target->ptx, ".nc"));
}

TEST(CompileClang, AHeaderThatChangesIsReadAgain) {
  const fs::path folder = fs::path(testing::TempDir()) / "warptime-compile-test";
  fs::create_directories(folder);
  const std::string file = (folder / "k.cu").string();
  const std::string text = "#include \"value.h\"\n__global__ void k(int* a) { a[0] = VALUE; }\n";
  for (const std::string value : {"1234", "56789"}) {
    std::ofstream(folder / "value.h") << "#define VALUE " << value << "\n";
    const Result<Source> result = compile_cuda(file, text, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_TRUE(contains(result->ptx, ", " + value + ";")) << result->ptx;
  }
  fs::remove_all(folder);
}

TEST(CompileClang, HostCodeAndItsHeadersParse) {
  const Result<Source> result = compile_data("host_code.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(result->kernels[0].name, "convolve");
  EXPECT_TRUE(result->warnings.empty()) << to_text(result->warnings);
  EXPECT_FALSE(contains(result->ptx, "cudaMalloc"));
}

// What only the host needs may be missing or wrong: a note says so, once.
TEST(CompileClang, ErrorsInHostCodeAreNotes) {
  const Result<Source> result = compile_data("host_errors.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 2u);
  EXPECT_EQ(result->kernels[1].name, "fill<float>");
  ASSERT_EQ(result->warnings.size(), 2u) << to_text(result->warnings);
  for (const Diagnostic& note : result->warnings) EXPECT_EQ(note.severity, Severity::note);
  EXPECT_EQ(result->warnings[0].message, "not found, and taken as empty: some_library.h, own_helpers.h");
  const std::string errors = result->warnings[1].message;
  EXPECT_TRUE(contains(errors, " errors in host code, which no kernel depends on:\n")) << errors;
  EXPECT_TRUE(contains(errors, "host_errors.cu:3:1: unknown type name 'library_handle_t'\n")) << errors;
  EXPECT_TRUE(contains(errors, "\n  and ")) << errors;
}

TEST(CompileClang, EvenWhatIsNoCppAtAllIsANoteInHostCode) {
  const Result<Source> result = compile_data("host_error.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(contains(result->warnings[0].message, "1 error in host code, which no kernel depends on:\n"));
  EXPECT_TRUE(contains(result->warnings[0].message, "host_error.cu:2:21: expected expression"));
}

TEST(CompileClang, TheDeviceHeadersComeAlong) {
  for (const std::string target : {"sm_35", "sm_60", "sm_75", "sm_80", "sm_90"}) {
    const Result<Source> result = compile_data("device_headers.cu", for_target(target));
    ASSERT_TRUE(result) << target << text_of(result);
    EXPECT_TRUE(result->warnings.empty()) << to_text(result->warnings);
    EXPECT_FALSE(contains(result->ptx, ".extern .func")) << target;
  }
}

TEST(CompileClang, TemplatesThatNobodyInstantiatesAreTakenWithFloat) {
  const Result<Source> result = compile_data("template_never_used.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(result->kernels[0].name, "kernel<float>");
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(contains(result->warnings[0].message, "are taken with float: kernel<float>"));
}

// What a launch says is taken where it says it all; a number gets one that fits its name.
TEST(CompileClang, TemplatesThatNobodyInstantiatesAreTakenAsTheirLaunchesSay) {
  const Result<Source> result = compile_data("templates_never_used.cu");
  ASSERT_TRUE(result) << text_of(result);
  std::vector<std::string> names;
  for (const KernelSignature& kernel : result->kernels) names.push_back(kernel.name);
  EXPECT_EQ(names, (std::vector<std::string>{"known<7, double>", "unknown<32, true, float>"}));
  const std::string notes = to_text(result->warnings);
  EXPECT_TRUE(contains(
      notes, "are taken with what its launches say, or float: known<7, double>, unknown<32, true, float>"))
      << notes;
}

TEST(CompileClang, HostFunctionsThatDeviceCodeCallsAreCompiledForIt) {
  const Result<Source> result = compile_data("host_functions.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_FALSE(contains(result->ptx, ".extern .func")) << result->ptx;
  EXPECT_FALSE(contains(result->ptx, "call")) << result->ptx;
  ASSERT_EQ(result->warnings.size(), 1u) << to_text(result->warnings);
  EXPECT_EQ(result->warnings[0].message,
            "host functions that device code calls are compiled for the device too: Pair::Pair, "
            "Pair::operator+, fourth, "
            "ignore, square");
  EXPECT_EQ(result->kernels[0].line, 11);
}

TEST(CompileClang, KernelsThatAKernelLaunchesAreElidedThere) {
  const Result<Source> result = compile_data("nested_launch.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 2u);  // nothing instantiates the template any more
  ASSERT_EQ(result->warnings.size(), 1u) << to_text(result->warnings);
  EXPECT_EQ(result->warnings[0].message,
            "kernels that device code launches are elided there: scale, tiles::fill");
  EXPECT_FALSE(contains(result->ptx, "call")) << result->ptx;
}

TEST(CompileClang, WhatNvccSpellsOtherwiseIsTaken) {
  const Result<Source> result = compile_data("other_spellings.cu");
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->kernels.size(), 3u);
  EXPECT_EQ(result->kernels[2].name, "scale<3>");
  EXPECT_TRUE(result->warnings.empty()) << to_text(result->warnings);
  EXPECT_TRUE(contains(result->ptx, "tile[1024]")) << result->ptx;
  for (const std::string variable :
       {".global .align 64 .b8 table[16]", ".const .align 64 .b8 _ZL7factors[16]",
        ".align 32 .b8 _ZZ7alignedPfE4tile[144]", ".align 32 .f32 _ZZ7alignedPfE5other",
        ".align 16 .b8 _ZZ7alignedPfE4four[16]"})
    EXPECT_TRUE(contains(result->ptx, variable)) << variable << result->ptx;
}

// As nvcc 13.0 does, also where clang sees an array of less alignment.
TEST(CompileClang, CastsToTypesOfGreaterAlignmentAreTrusted) {
  for (const std::string copy :
       {"*reinterpret_cast<float4*>(&tile[r][8 * s]) = *reinterpret_cast<const float4*>(&in[r * n + 4 * s]);",
        "((float4*)tile[r])[s] = ((const float4*)(in + r * n))[s];",
        "reinterpret_cast<float4&>(tile[r][4 * s]) = reinterpret_cast<const float4&>(in[r * n + 4 * s]);",
        "auto store = [&](float4 x) { *(float4*)&tile[r][4 * s] = x; }; store(*(const float4*)&in[4 * "
        "n]);"}) {
    const Result<Source> result =
        compile_cuda("k.cu",
                     "template <class T> __global__ void k(const T* in, T* out, int n) {\n"
                     "  __shared__ T tile[8][40];\n  int r = threadIdx.x / 4, s = threadIdx.x % 4;\n" +
                         copy +
                         "\n  __syncthreads();\n  out[threadIdx.x] = tile[s][r];\n}\n"
                         "template __global__ void k<float>(const float*, float*, int);",
                     for_target("sm_80"));
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_TRUE(contains(result->ptx, "st.shared.v4.f32")) << copy << result->ptx;
    EXPECT_TRUE(contains(result->ptx, ".v4.f32 \t{")) << copy << result->ptx;
    EXPECT_FALSE(contains(result->ptx, "st.shared.f32")) << copy << result->ptx;
  }
}

// f16 and bytes, as with nvcc 13.0; it leaves bf16, tf32 and double generic.
TEST(CompileClang, FragmentsInSharedMemoryAreShared) {
  const auto loads_of = [](const std::string& type, const std::string& product, const std::string& shape) {
    const Result<Source> result = compile_cuda(
        "k.cu",
        "#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(" + type +
            "* out, int at) {\n"
            "  __shared__ alignas(32) " +
            type +
            " tile[1024];\n  tile[threadIdx.x] = out[threadIdx.x];\n"
            "  wmma::fragment<wmma::matrix_a, " +
            shape + ", " + product +
            ", wmma::row_major> a;\n"
            "  __syncthreads();\n  wmma::load_matrix_sync(a, tile + 32 * (threadIdx.x / 32) + at, 16);\n"
            "  out[threadIdx.x] = a.x[0];\n}",
        for_target("sm_80"));
    EXPECT_TRUE(result) << text_of(result);
    return result ? result->ptx : std::string();
  };
  EXPECT_TRUE(contains(loads_of("half", "half", "16, 16, 16"), "m16n16k16.shared.f16"));
  EXPECT_TRUE(contains(loads_of("signed char", "signed char", "16, 16, 16"), "m16n16k16.shared.s8"));
  EXPECT_TRUE(contains(loads_of("float", "wmma::precision::tf32", "16, 16, 8"), "m16n16k8.tf32"));
}

TEST(CompileClang, TheDeviceLibrariesComeAlong) {
  for (const std::string target : {"sm_60", "sm_75", "sm_80", "sm_90"}) {
    const Result<Source> result = compile_data("device_libraries.cu", for_target(target));
    ASSERT_TRUE(result) << target << text_of(result);
    EXPECT_TRUE(result->warnings.empty()) << to_text(result->warnings);
    EXPECT_FALSE(contains(result->ptx, ".extern .func")) << target;
  }
}

TEST(CompileClang, ErrorsInTemplatesThatNoKernelUsesAreNotes) {
  const Result<Source> result =
      compile_cuda("k.cu",
                   "template <class T> __device__ T f(T a) { return a + missing; }\n"
                   "__global__ void k(float* a) { a[0] = 1; }",
                   {});
  ASSERT_TRUE(result) << text_of(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(contains(result->warnings[0].message, "k.cu:1:53: use of undeclared identifier 'missing'"))
      << result->warnings[0].message;
}

TEST(CompileClang, RegistersMayBeNamedAsForNvcc) {
  const Result<Source> result = compile_cuda(
      "k.cu", R"(__global__ void k(int* a) { int l; asm("mov.u32 %0, %laneid;" : "=r"(l)); a[0] = l; })", {});
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_TRUE(contains(result->ptx, "%laneid;"));
}

TEST(CompileClang, DeviceFunctionsMayBeVariadic) {
  const Result<Source> result = compile_cuda(
      "k.cu",
      "__device__ int first(int n, ...) { return n; }\n__global__ void k(int* a) { a[0] = first(7, a[1]); }",
      {});
  ASSERT_TRUE(result) << text_of(result);
}

TEST(CompileClang, SimpleSourcesNeedNoSystemHeaders) {
  const Result<Source> result = compile_data("no_system_headers.cu", with_flags({"-nostdinc"}));
  ASSERT_TRUE(result) << text_of(result);
}

// Without lines and the files that they are in, which are others.
std::string code_of(const std::string& ptx) {
  static const std::regex lines(R"(\n\t?\.(loc|file)[^\n]*)");
  return std::regex_replace(ptx, lines, "");
}

// -nostdinc hides all headers but those that come with warptime. With them host code has no errors, and kernels are
// what they are with the system's.
TEST(CompileClang, StandardHeadersThatComeWithWarptimeMeanWhatTheSystemsDo) {
  for (const std::string standard : {"-std=c++17", "-std=c++20", "-std=gnu++17"}) {
    const Result<Source> bundled = compile_data("standard_headers.cu", with_flags({standard, "-nostdinc"}));
    ASSERT_TRUE(bundled) << standard << text_of(bundled);
    EXPECT_TRUE(bundled->warnings.empty()) << standard << to_text(bundled->warnings);
    if (!fs::exists("/usr/include/stdio.h") || !fs::exists("/usr/include/c++")) continue;
    const Result<Source> systems = compile_data("standard_headers.cu", with_flags({standard}));
    ASSERT_TRUE(systems) << standard << text_of(systems);
    EXPECT_TRUE(systems->warnings.empty()) << standard << to_text(systems->warnings);
    EXPECT_EQ(code_of(bundled->ptx), code_of(systems->ptx)) << standard;
  }
}

// clang's analysis of a function's flow, for warnings, does not expect errors that were overlooked in it.
TEST(CompileClang, WarningsAboutHostCodeWithErrorsCrashNothing) {
  const Result<Source> result = compile_data("host_crash.cu");
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_EQ(result->kernels.size(), 1u);
}

// Whatever our headers declare is there, in PTX that ptxas takes, and calls nothing but the device's run-time
// library.
TEST(CompileClang, OurHeadersAreComplete) {
  const std::set<std::string> run_time{"vprintf", "malloc", "free", "__assertfail"};
  for (const std::string target : {"sm_30", "sm_60", "sm_75", "sm_80", "sm_90"}) {
    const Result<Source> result = compile_data("all_functions.cu", for_target(target));
    ASSERT_TRUE(result) << text_of(result);
    const std::regex declared("\\.extern \\.func[^;]*?([A-Za-z_]\\w*)\\s*\\n?\\(");
    for (std::sregex_iterator match(result->ptx.begin(), result->ptx.end(), declared), end; match != end;
         ++match) {
      EXPECT_EQ(run_time.count((*match)[1].str()), 1u) << (*match)[0];
    }
  }
}

std::string find_ptxas() {
  for (const std::string path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"}) {
    if (fs::exists(path)) return path;
  }
  return {};
}

TEST(CompileClang, PtxasTakesThePtx) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas here";
  const std::string file = testing::TempDir() + "warptime-compile-test.ptx";
  for (const std::string name :
       {"all_functions.cu", "device_headers.cu", "host_code.cu", "kernels.cu", "loops.cu"}) {
    for (const std::string target : {"sm_75", "sm_80", "sm_90"}) {
      const Result<Source> result = compile_data(name, for_target(target));
      ASSERT_TRUE(result) << text_of(result);
      std::ofstream(file) << result->ptx;
      EXPECT_EQ(std::system((ptxas + " -arch=" + target + " -o /dev/null " + file).c_str()), 0)
          << name << " " << target;
    }
  }
  fs::remove(file);
}

struct FlagCase {
  std::vector<std::string> flags;
  std::string source;
  std::string expected;  // in the PTX
};

TEST(CompileClang, FlagsReachTheCompiler) {
  const std::vector<FlagCase> cases{
      {{"-DVALUE=4321"}, "__global__ void k(int* a) { a[0] = VALUE; }", ", 4321;"},
      {{"-D", "VALUE=4321"}, "__global__ void k(int* a) { a[0] = VALUE; }", ", 4321;"},
      {{"-DOLD", "-UOLD"},
       "#ifdef OLD\n#error\n#endif\n__global__ void k(int* a) { a[0] = 1; }",
       ".entry _Z1kPi"},
      {{"-std=c++20"},
       "template <class T> concept C = true;\n__global__ void k(int* a) { a[0] = 20; }",
       ", 20;"},
      {{"-include", "stdint.h"}, "__global__ void k(int32_t* a) { a[0] = 20; }", ", 20;"},
      {{"-I" WARPTIME_TEST_DATA},
       "#include <loop_in_header.cuh>\n__global__ void k(float* a) { a[0] = sum(a, 2); }",
       "k"},
      {{}, "__global__ void k(float* a) { a[0] = a[1] / a[2]; }", "div.rn.f32"},
      {{"-ffast-math"}, "__global__ void k(float* a) { a[0] = a[1] / a[2]; }", "div.approx.f32"},
      {{"--use_fast_math"}, "__global__ void k(float* a) { a[0] = sinf(a[1]); }", "sin.approx.f32"},
      {{"--use_fast_math"}, "__global__ void k(float* a) { a[0] = a[1] + a[2]; }", "add.ftz.f32"},
      {{}, "__global__ void k(float* a) { a[0] = a[1] * a[2] + a[3]; }", "fma.rn.f32"},
      {{"-ffp-contract=off"}, "__global__ void k(float* a) { a[0] = a[1] * a[2] + a[3]; }", "mul.rn.f32"},
      {{"-O0"}, "__global__ void k(int* a) { int x = 1; a[0] = x; }", "st.u32"},
  };
  for (const FlagCase& c : cases) {
    const Result<Source> result = compile_cuda("k.cu", c.source, with_flags(c.flags));
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_TRUE(contains(result->ptx, c.expected)) << c.source << "\n" << result->ptx;
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(CompileClang, StructuresAreCopiedElementByElement) {
  struct Case {
    std::string type, load, store;
  };
  for (const Case& c : std::vector<Case>{{"float4", "ld.global.v4.f32", "st.global.v4.f32"},
                                         {"float2", "ld.global.v2.f32", "st.global.v2.f32"},
                                         {"double2", "ld.global.v2.f64", "st.global.v2.f64"},
                                         {"int4", "ld.global.v4.u32", "st.global.v4.u32"},
                                         {"ulonglong2", "ld.global.v2.u64", "st.global.v2.u64"},
                                         {"Inner", "ld.global.v4.f32", "st.global.v4.f32"},
                                         {"uchar4", "ld.global.u32", "st.global.u32"},
                                         {"Holes", "ld.global.u64", "st.global.u64"}}) {
    const std::string source =
        "struct Inner { float4 a; };\nstruct alignas(8) Holes { float a; };\n__global__ void k(const " +
        c.type + "* in, " + c.type + "* out) { out[threadIdx.x] = in[threadIdx.x]; }";
    const Result<Source> result = compile_cuda("k.cu", source, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(count_of(result->ptx, "ld.global"), 1) << c.type << "\n" << result->ptx;
    EXPECT_TRUE(contains(result->ptx, c.load)) << c.type << "\n" << result->ptx;
    EXPECT_TRUE(contains(result->ptx, c.store)) << c.type << "\n" << result->ptx;
  }
}

// nvcc 13.0 has stores of four elements; not for doubles, which are aligned as one.
TEST(CompileClang, ZerosOfFourElementsAreOneStore) {
  for (const auto& [body, stores] :
       {std::pair("p[threadIdx.x] = make_float4(0, 0, 0, 0);", 1),
        std::pair("for (int k = 0; k < 4; ++k) p[4 * threadIdx.x + k] = make_float4(0, 0, 0, 0);", 4),
        std::pair("__shared__ float4 t[64]; t[threadIdx.x] = make_float4(0, 0, 0, 0); __syncthreads(); "
                  "p[threadIdx.x].x = "
                  "t[63 - threadIdx.x].y;",
                  1)}) {
    const Result<Source> result =
        compile_cuda("k.cu", "__global__ void k(float4* p) { " + std::string(body) + " }", {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(count_of(result->ptx, ".v4."), stores) << result->ptx;
    EXPECT_EQ(count_of(result->ptx, ".u64 \t["), 0) << result->ptx;
  }
  const Result<Source> doubles = compile_cuda("k.cu",
                                              "struct S { double a[2]; };\n__global__ void k(S* p) { "
                                              "p[threadIdx.x].a[0] = p[threadIdx.x].a[1] = 0; }",
                                              {});
  ASSERT_TRUE(doubles) << text_of(doubles);
  EXPECT_EQ(count_of(doubles->ptx, "st.global.u64"), 2) << doubles->ptx;
}

// As nvcc 13.0 does: four, and one for what is left.
TEST(CompileClang, LoopsOfMatrixProductsAreUnrolled) {
  const Result<Source> result = compile_cuda("k.cu", R"(#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < n; i += 16) {
    wmma::load_matrix_sync(x, a + i, n);
    wmma::load_matrix_sync(y, b + i * n, n);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
})",
                                             for_target("sm_80"));
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_EQ(count_of(result->ptx, "wmma.mma"), 5) << result->ptx;
}

// nvcc 13.0 has the store in the loop and its remainder, since a `double` may be what a `float` is read from; but for pointers
// that are `__restrict__`.
TEST(CompileClang, TypesTellNothingAboutMemory) {
  for (const auto& [restricted, stores] : {std::pair("", 1 + 4 + 1), std::pair("__restrict__", 1 + 1)}) {
    const std::string kind = restricted,
                      source =
                          "__global__ void k(const float* " + kind + " in, double* " + kind +
                          " sums, int n) {\n  sums[threadIdx.x] = 0;\n"
                          "  for (int i = 0; i < n; ++i) sums[threadIdx.x] += in[i * 32 + threadIdx.x];\n}";
    const Result<Source> result = compile_cuda("k.cu", source, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(count_of(result->ptx, "st.global"), static_cast<std::size_t>(stores)) << result->ptx;
  }
}

// How often nvcc 13.0 has the loop's load in its PTX: the table of docs/compiling.md.
TEST(CompileClang, LoopsAreUnrolledAsNvccUnrollsThem) {
  struct Case {
    std::string bound, body;
    std::size_t loads;
  };
  const std::string two = "s = s * x + 0.5f; s = s * x + 1.5f; ", six = two + two + two;
  for (const Case& c : std::vector<Case>{{"32", two, 32},
                                         {"16", two, 16},
                                         {"64", two, 16},
                                         {"64", six, 8},
                                         {"48", six + six, 4},
                                         {"20", six + six + six + six, 2},
                                         {"255", two, 4},
                                         {"77", six + six, 4},
                                         {"255", six + six + six + six, 2},
                                         {"n", two, 4 + 1},
                                         {"n", six + six + six + six, 2 + 1},
                                         {"n", six + six + six + six + six + six + six + six, 1}}) {
    const std::string source =
        "__global__ void k(const float* a, float* o, int n, int m, float x) { int i = threadIdx.x; float s = "
        "0;\n"
        "for (int k = 0; k < " +
        c.bound + "; ++k) { s += a[k * m + i]; " + c.body + "} o[i] = s; }";
    const Result<Source> result = compile_cuda("k.cu", source, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(count_of(result->ptx, "ld.global"), c.loads) << source;
    const auto rolled = compile_cuda("k.cu", source, with_flags({"-fno-unroll-loops"}));
    ASSERT_TRUE(rolled);
    EXPECT_LE(count_of(rolled->ptx, "ld.global"), c.loads);
  }
}

// ptxas may unroll once more what the source does not speak of, but not what is left of the iterations. With a pragma,
// neither (nvcc 13.0).
TEST(CompileClang, LoopsMayBeUnrolledAgainWithoutAPragma) {
  const auto compiled = [](const std::string& pragma) {
    const Result<Source> result =
        compile_cuda("k.cu",
                     "__global__ void k(const float* a, float* o, int n, int m) { float s = 0;\n" + pragma +
                         "\nfor (int k = 0; k < n; ++k) s += a[k * m];\no[0] = s; }",
                     {});
    EXPECT_TRUE(result) << text_of(result);
    return result ? result->ptx : std::string();
  };
  const std::string plain = compiled("");
  EXPECT_EQ(count_of(plain, "ld.global"), 4 + 1);
  EXPECT_EQ(count_of(plain, ".pragma \"nounroll\""), 1);
  EXPECT_LT(plain.rfind("nounroll"), plain.rfind("ld.global"));
  EXPECT_GT(plain.rfind("nounroll"), plain.rfind("ld.global", plain.rfind("ld.global") - 1));
  for (const std::string pragma : {"#pragma unroll 4", "#pragma unroll"}) {
    const std::string ptx = compiled(pragma);
    EXPECT_EQ(count_of(ptx, "ld.global"), 4 + 1) << pragma;
    EXPECT_EQ(count_of(ptx, ".pragma \"nounroll\""), 2) << pragma;
  }
}

std::string ptx_of(const std::string& source) {
  const Result<Source> result = compile_cuda("k.cu", source, {});
  EXPECT_TRUE(result) << text_of(result);
  return result ? result->ptx : std::string();
}

// Also where a barrier is in the loop; one of the copies has the exit (nvcc 13.0).
TEST(CompileClang, LoopsOfAnOddNumberOfIterationsAreUnrolled) {
  const auto ptx = ptx_of(R"(__global__ void k(float* x, float a) {
  for (int i = 0; i < 255; ++i) {
    x[threadIdx.x + 256 * i] *= a;
    __syncthreads();
  }
})");
  EXPECT_EQ(count_of(ptx, "bar.sync"), 4) << ptx;
  EXPECT_EQ(count_of(ptx, "setp."), 1) << ptx;
}

// nvcc 13.0 leaves none of these either.
TEST(CompileClang, MathOfConstantsIsComputed) {
  for (const char* const of :
       {"__log2f(16)", "__logf(60.0f)", "__powf(2, 2)", "__expf(1.5f)", "logf(60.0f)", "10 * sinf(0.5f)",
        "10 * cosf(1.1f)", "expf(1.5f)", "fminf(4.5f, 7.0f)", "ceilf(10 / 3.0f)"}) {
    const auto ptx = ptx_of(fmt::format(
        "__global__ void k(float* x) {{ for (int i = 0; i < {}; ++i) x[i * 64 + threadIdx.x] = i; }}", of));
    EXPECT_EQ(count_of(ptx, "bra"), 0) << of;
    EXPECT_GE(count_of(ptx, "st.global"), 4) << of;
    EXPECT_LE(count_of(ptx, "st.global"), 5) << of;
    EXPECT_EQ(count_of(ptx, "approx"), 0) << of;
  }
}

TEST(CompileClang, LoopsGoBackWhereTheirConditionHolds) {
  const auto ptx = ptx_of(R"(__global__ void gram(const float* rows, float* gram, int p, int n, int each) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.z * each, end = min(first + each, n);
  if (i >= p || j >= p) return;
  float sum = 0;
  for (int r = first; r < end; ++r) sum += rows[r * p + i] * rows[r * p + j];
  atomicAdd(gram + i * p + j, sum);
})");
  EXPECT_EQ(count_of(ptx, "bra.uni"), 0) << ptx;
}

// What nvcc 13.0 has in its PTX: loads of the loop, and loops that may not be unrolled again. It unrolls loops that step by a
// constant, but not by the block's size, which it takes to be any number, nor where it knows that no number is negative; and
// makes copies of what is left of the iterations where another loop is around.
TEST(CompileClang, LoopsThatStepAreUnrolledAsNvccUnrollsThem) {
  struct Case {
    std::string loop;
    std::size_t loads, kept;
  };
  for (const Case& c : std::vector<Case>{
           {"for (int i = threadIdx.x; i < n; i += 32)", 4 + 1, 1},
           {"for (int i = threadIdx.x % 32; i < n; i += 32)", 4 + 1, 1},
           {"for (int i = threadIdx.x; i < 76; i += 64)", 4 + 1, 1},
           {"for (int i = threadIdx.x; i < n; i += blockDim.x)", 1, 0},
           {"for (int i = threadIdx.x / 8; i < 256; i += 32)", 1, 0},
           {"for (int i = threadIdx.x % 32; i < 64; i += 32)", 1, 0},
           {"for (int r = threadIdx.y; r < n; r += 8) for (int i = threadIdx.x; i < 76; i += 64)", 4 + 3,
            0}}) {
    const auto ptx = ptx_of("__global__ void k(const float* a, float* o, int n, int m) { float s = 0;\n" +
                            c.loop + " s += a[i * m];\no[threadIdx.x] = s; }");
    EXPECT_EQ(count_of(ptx, "ld.global"), c.loads) << c.loop << ptx;
    EXPECT_EQ(count_of(ptx, ".pragma \"nounroll\""), c.kept) << c.loop;
  }
}

// What nvcc 13.0 has in its PTX: loads of the loop, with exits of several kinds.
TEST(CompileClang, LoopsWithSeveralExitsAreUnrolledAsNvccUnrollsThem) {
  struct Case {
    std::string loop;
    std::size_t loads;
  };
  for (const Case& c :
       std::vector<Case>{{"for (int k = 0; k < 8 && i < n; ++k) s += a[k * m + i];", 1},
                         {"for (int k = 0; k < 64 && i < n; ++k) s += a[k * m + i];", 1},
                         {"for (int k = 0; k < 8 && s < 5; ++k) s += a[k * m + i];", 1},
                         {"for (int k = 0; k < 8; ++k) { s += a[k * m + i]; if (s > 5) break; }", 1},
                         {"for (int k = 0; k < 8; ++k, i = i * 3 + 1 & m) { const float x = a[i]; s += x * "
                          "k; if (x > 5) break; }",
                          8},
                         {"for (int k = 0; k < min(8, n); ++k) s += a[k * m + i];", 1},
                         {"for (int k = 0; k < min(64, n); ++k) s += a[k * m + i];", 4 + 1},
                         {"for (const float *q = a + i, *end = q + 8; q < end; ++q) s += *q;", 1},
                         {"for (const float *q = a + i, *end = q + 8; q != end; ++q) s += *q;", 8}}) {
    const auto ptx = ptx_of(
        "__global__ void k(const float* a, float* o, int n, int m) { float s = 0;\n"
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        c.loop + "\no[threadIdx.x] = s; }");
    EXPECT_EQ(count_of(ptx, "ld.global"), c.loads) << c.loop << ptx;
  }
}

// Of nests, too: inner loops become copies first, and those that have a pragma before all others.
TEST(CompileClang, OuterLoopsAreJudgedByTheirCopies) {
  struct Case {
    int outer;
    std::string inner;
    std::size_t loads;
  };
  for (const Case& c : std::vector<Case>{{4, "for (int k = 0; k < n; ++k)", 4 * (4 + 3)},
                                         {8, "for (int k = 0; k < n; ++k)", 4 + 3},
                                         {8, "for (int k = 0; k < 500; ++k)", 8 * 4},
                                         {16, "for (int k = 0; k < 500; ++k)", 4},
                                         {4, "\n#pragma unroll 8\nfor (int k = 0; k < 128; ++k)", 4 * 8},
                                         {8, "\n#pragma unroll 8\nfor (int k = 0; k < 128; ++k)", 8},
                                         {16, "\n#pragma unroll 1\nfor (int k = 0; k < 128; ++k)", 16}}) {
    const auto ptx =
        ptx_of(fmt::format("__global__ void k(const float* a, float* o, int n, int m) {{ float s = 0;\n"
                           "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "for (int c = 0; c < {}; ++c)\n{} s += a[k * m + i + c];\no[i] = s; }}",
                           c.outer, c.inner));
    EXPECT_EQ(count_of(ptx, "ld.global"), c.loads) << c.outer << c.inner << ptx;
  }
}

// nvcc 13.0 loads a whole aligned structure once two of its elements are used, and stores all of what the source copies as a whole.
TEST(CompileClang, AlignedStructuresAreAccessedWhole) {
  struct Case {
    std::string type, use, load;
    std::size_t loads;
  };
  for (const Case& c : std::vector<Case>{{"float4", "v.x + v.y * v.z", "ld.global.v4.f32", 1},
                                         {"float4", "v.x * v.z", "ld.global.v4.f32", 1},
                                         {"float4", "v.x * v.y", "ld.global.v4.f32", 1},
                                         {"float4", "v.w", "ld.global.f32", 1},
                                         {"float3", "v.x * v.y", "ld.global.f32", 2},
                                         {"int4", "v.x * v.y + v.z", "ld.global.v4.u32", 1},
                                         {"double2", "v.x * v.y", "ld.global.v2.f64", 1},
                                         {"uchar4", "v.x * v.y + v.z", "ld.global.u32", 1},
                                         {"short4", "v.x * v.y + v.z", "ld.global.v4.u16", 1},
                                         {"Mixed", "v.x * v.y + v.z", "ld.global.v4.f32", 1},
                                         {"Three", "v.x * v.y", "ld.global.v4.f32", 1},
                                         {"Four", "v.x * v.y + v.z * v.w", "ld.global.f32", 4}}) {
    const std::string source =
        "struct __align__(16) Mixed { float x; int y; float z; int w; };\n"
        "struct __align__(16) Three { float x, y, z; };\n"
        "struct Four { float x, y, z, w; };\n__global__ void k(float* o, const " +
        c.type + "* a) { " + c.type + " v = a[threadIdx.x]; o[threadIdx.x] = " + c.use + "; }";
    const std::string ptx = ptx_of(source);
    EXPECT_EQ(count_of(ptx, "ld.global"), c.loads) << c.type << " " << c.use << ptx;
    EXPECT_TRUE(contains(ptx, c.load)) << c.type << " " << c.use << ptx;
  }
  const std::string kept = ptx_of(
      "__global__ void k(float4* a) { float4 v = a[threadIdx.x]; v.x += 1; v.y += 2; a[threadIdx.x] = v; }");
  EXPECT_EQ(count_of(kept, "ld.global.v4.f32"), 1) << kept;
  EXPECT_EQ(count_of(kept, "st.global.v4.f32"), 1) << kept;
  // Also where one element alone changes, or the elements are used in different branches.
  const std::string one =
      ptx_of("__global__ void k(float2* a) { float2 v = a[threadIdx.x]; v.x += 1; a[threadIdx.x] = v; }");
  EXPECT_EQ(count_of(one, "ld.global.v2.f32"), 1) << one;
  EXPECT_EQ(count_of(one, "st.global.v2.f32"), 1) << one;
  for (const std::string type : {"uchar2", "float2", "double2"}) {
    const std::string body = " v = a[threadIdx.x]; if (v.x > 0) o[threadIdx.x] = v.y; }";
    const std::string copied = ptx_of("__global__ void k(const " + type + "* a, float* o) { " + type + body);
    EXPECT_EQ(count_of(copied, "ld.global.v2"), 1) << copied;
    const std::string referred =
        ptx_of("__global__ void k(const " + type + "* a, float* o) { const " + type + "&" + body);
    EXPECT_EQ(count_of(referred, "ld.global.v2"), 0) << referred;
  }
  // Of what is not copied, the loads begin with the first element.
  const auto referred = [](const std::string& use) {
    return ptx_of(
        "__global__ void k(const float4* a, float* o) { const float4& v = a[threadIdx.x]; o[threadIdx.x] = " +
        use + "; }");
  };
  EXPECT_EQ(count_of(referred("v.x + v.y"), "ld.global.v2.f32"), 1);
  EXPECT_EQ(count_of(referred("v.x + v.z"), "ld.global.v4.f32"), 1);
  EXPECT_EQ(count_of(referred("v.y + v.w"), "ld.global.f32"), 2);
  // What is written in between is loaded again.
  const std::string apart = ptx_of(
      "__global__ void k(const float4* a, float* o) { const float4* p = a + threadIdx.x; float x = p->x; *o "
      "= x; "
      "o[1] = x + p->z; }");
  EXPECT_EQ(count_of(apart, "ld.global.f32"), 2) << apart;
  // Elements are not stored that the source does not store.
  const std::string some = ptx_of(
      "__global__ void k(float4* a) { float4 v = a[threadIdx.x]; a[threadIdx.x].x = v.y + v.z * v.w; "
      "a[threadIdx.x].y = v.x; }");
  EXPECT_EQ(count_of(some, "st.global.v4"), 0) << some;
}

// `a[k * m + i]` is a pointer that is added to, where each iteration loads it (nvcc 13.0: the same).
TEST(CompileClang, IndicesThatStepAreAddedTo) {
  const auto loop = [](const std::string& body) {
    return ptx_of(
        "__global__ void k(const float* __restrict__ a, const float* b, float* o, int n, int m) { float s = "
        "0;\n"
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\n#pragma unroll 1\n"
        "for (int k = 0; k < n; ++k) { " +
        body + " }\no[i] = s; }");
  };
  const auto in_loop = [](const std::string& ptx) {
    const auto from = ptx.find("Loop Header");
    return count_of(ptx.substr(from, ptx.find("setp", from) - from), "mul.wide");
  };
  EXPECT_EQ(in_loop(loop("s += a[k * m + i];")), 0);
  EXPECT_EQ(in_loop(loop("s += a[(k * m + n) * m + i];")), 0);
  EXPECT_EQ(in_loop(loop("__syncthreads(); s += a[k * m + i];")), 0);
  EXPECT_GT(count_of(loop("if (b[k] > 0) s += a[k * m + i];"), "mul.wide"), 1u);
}

// However far a pointer is added to, what it leads to is only read.
TEST(CompileClang, LongChainsOfAddressesAreReadOnly) {
  const std::string ptx = ptx_of(
      "__global__ void k(const float* __restrict__ a, float* __restrict__ o, int n, int m) { float s = 0;\n"
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n#pragma unroll 8\n"
      "for (int k = 0; k < n; ++k) o[k * m + i] = s += a[k * m + i]; }");
  EXPECT_EQ(count_of(ptx, "ld.global.nc.f32"), 9) << ptx;
}

// nvcc 13.0 divides any number of 32 bits by the same product.
TEST(CompileClang, DivisionsDoNotDependOnWhatIsKnown) {
  const std::string ptx = ptx_of("__global__ void k(unsigned* o, unsigned x) { o[0] = (x >> 1) % 11; }");
  EXPECT_TRUE(contains(ptx, "-1171354717")) << ptx;
  EXPECT_TRUE(contains(ptx, ", 35;")) << ptx;
}

// A function is inlined before its loops are judged: how many iterations there are, and which arrays are the thread's own, the kernel
// tells (nvcc 13.0: the same numbers of loads).
TEST(CompileClang, LoopsOfFunctionsAreJudgedInTheKernel) {
  const std::string functions =
      "__device__ float sum(const float* a, int n) { float s = 0; for (int i = 0; i < n; ++i) s += a[i * "
      "33]; "
      "return s; }\n"
      "__device__ float twice(const float* a, int n) { return sum(a, n) * sum(a + 1, n + 1); }\n"
      "__device__ void product(float* r, const float* a, const float* b) { for (int k = 0; k < 16; ++k)\n"
      "for (int c = 0; c < 4; ++c) for (int y = 0; y < 8; ++y) for (int x = 0; x < 4; ++x)\n"
      "r[y * 16 + c * 4 + x] += a[k * 8 + y] * b[(k * 4 + c) * 4 + x]; }\n"
      "__global__ void k(float* o, const float* a, int n) { ";
  EXPECT_EQ(count_of(ptx_of(functions + "o[threadIdx.x] = sum(a + threadIdx.x, 8); }"), "ld.global"), 8);
  EXPECT_EQ(count_of(ptx_of(functions + "o[threadIdx.x] = sum(a + threadIdx.x, n); }"), "ld.global"), 5);
  EXPECT_EQ(count_of(ptx_of(functions + "o[threadIdx.x] = twice(a + threadIdx.x, 12); }"), "ld.global"), 25);
  const std::string tile =
      ptx_of(functions +
             "float r[128] = {}; for (int i = 0; i < n; ++i) product(r, a + i, a + n + i);\n"
             "for (int i = 0; i < 128; ++i) o[threadIdx.x + i * 32] = r[i]; }");
  EXPECT_EQ(count_of(tile, ".local"), 0) << tile;
  // One that is not inlined is judged by itself.
  const std::string called = ptx_of(
      "__device__ __noinline__ float sum(const float* a, int n) { float s = 0; for (int i = 0; i < n; ++i) "
      "s += a[i * 33]; return s; }\n__global__ void k(float* o, const float* a, int n) { *o = sum(a, n); }");
  EXPECT_EQ(count_of(called, "ld.f32") + count_of(called, "ld.global.f32"), 5) << called;
}

// The running sum of one thread: four loads in the copies, and no more than two in what is left over.
TEST(CompileClang, WhatAnIterationStoresForTheNextIsNotLoaded) {
  const std::string ptx = ptx_of(
      "__global__ void k(double* sums, const double* a, int n) { sums[0] = a[0];\n"
      "for (int i = 1; i < n; ++i) sums[i] = a[i] + sums[i - 1]; }");
  EXPECT_EQ(count_of(ptx, "ld.global"), 6) << ptx;
  // Another store may change it.
  const std::string two = ptx_of(
      "__global__ void k(double* sums, double* b, const double* a, int n) {\n"
      "for (int i = 1; i < n; ++i) { sums[i] = a[i] + sums[i - 1]; b[i] = 1; } }");
  EXPECT_GE(count_of(two, "ld.global"), 10) << two;
}

// The tiles of a product, with barriers, and with and without a pragma (nvcc 13.0: the number of loads of a tile).
TEST(CompileClang, LoopsWithBarriersAreUnrolledAsNvccUnrollsThem) {
  for (const auto& [side, loads] : {std::pair(4, 2 * (4 + 1)), std::pair(6, 2 * (2 + 1)),
                                    std::pair(12, 2 * (2 + 1)), std::pair(16, 2), std::pair(24, 2)})
    for (const std::string pragma : {"", "#pragma unroll"}) {
      const auto ptx =
          ptx_of(fmt::format(R"(__global__ void k(const float* p, const float* q, float* o, int n) {{
  __shared__ float g[32][33], h[32][33];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; k += {}) {{
    g[threadIdx.y][threadIdx.x] = p[y * n + k + threadIdx.x];
    h[threadIdx.y][threadIdx.x] = q[(k + threadIdx.y) * n + x];
    __syncthreads();
{}
    for (int e = 0; e < {}; ++e) s += g[threadIdx.y][e] * h[e][threadIdx.x];
    __syncthreads();
  }}
  o[y * n + x] = s;
}})",
                             side, pragma, side));
      EXPECT_EQ(count_of(ptx, "ld.global"), static_cast<std::size_t>(loads)) << side << pragma << ptx;
    }
}

// Two conversions more for each shuffle of a float (nvcc 13.0: ten of them four times, twelve twice).
TEST(CompileClang, ShufflesOfFloatsCountMoreThanThoseOfIntegers) {
  const auto loads = [](const std::string& type, int shuffles) {
    std::string body;
    for (int k = 1; k <= shuffles; ++k) body += fmt::format("x += __shfl_xor_sync(~0u, x, {}); ", k);
    return count_of(ptx_of("__global__ void k(const float* a, " + type + "* o, int n) { " + type +
                           " x = 0;\nfor (int i = 0; i < n; ++i) { x += a[i * n + threadIdx.x]; " + body +
                           "}\no[threadIdx.x] = x; }"),
                    "ld.global");
  };
  EXPECT_EQ(loads("float", 10), 4 + 1);
  EXPECT_EQ(loads("float", 12), 2 + 1);
  EXPECT_EQ(loads("int", 18), 4 + 1);
}

// Each `if` has its branch, and what follows it is one block (nvcc 13.0).
TEST(CompileClang, BranchesOnOneValueStayApart) {
  const auto ptx = ptx_of(R"(__global__ void k(float* p, const float* q) {
  const int x = threadIdx.x;
  float* o = p + blockIdx.x * blockDim.x;
  o[x + 1] = 1;
  if (x == 0) o[0] = q[1];
  if (x == 31) o[33] = q[2];
  if (x == 16) o[40] = q[3];
})");
  const auto at = [&](const std::string& text) { return ptx.find(text); };
  ASSERT_NE(at(", 0;"), std::string::npos) << ptx;
  EXPECT_EQ(count_of(ptx, "setp.ne.s32"), 3) << ptx;
  EXPECT_EQ(count_of(ptx, "bra.uni"), 0) << ptx;
  EXPECT_LT(at("%r1, 31;"), at("%r1, 16;"));
  // As the source has it where the value is the same in all threads, and where the conditions are one.
  EXPECT_LE(count_of(ptx_of("__global__ void k(float* p) { const int x = threadIdx.x;\n"
                            "if (x == 0 || x == 31 || x == 7) p[0] = 1; }"),
                     "setp."),
            2);
}

// Stored by each thread, and not loaded from a constant array (nvcc 13.0: two stores of 16 bytes).
TEST(CompileClang, ArraysThatBeginWithConstantsAreStored) {
  const auto ptx = ptx_of(R"(__global__ void k(const float* p, float* o) {
  const float w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  o[threadIdx.x] = w[threadIdx.x & 7] * p[threadIdx.x];
})");
  EXPECT_EQ(count_of(ptx, "st.local.v4"), 2) << ptx;
  EXPECT_EQ(count_of(ptx, "ld.local"), 1) << ptx;
  EXPECT_EQ(count_of(ptx, "ld.global"), 1) << ptx;
}

// nvcc 13.0 adds the numbers of the row and in it; but not for shared memory, and not where a loop counts them.
TEST(CompileClang, AddressesInTwoStepsAreSumsOf64Bits) {
  const auto sums = [](const std::string& array, const std::string& at) {
    const auto ptx = ptx_of(
        "__global__ void k(const float* a, float* o, int n, int m) {\n__shared__ float tile[1024];\n"
        "tile[threadIdx.x] = a[threadIdx.x];\n__syncthreads();\nconst float* row = " +
        array + " + blockIdx.x * n;\nfloat s = 0;\n#pragma unroll 1\nfor (int i = 0; i < m; ++i) s += row[" +
        at + "];\no[threadIdx.x] = s; }");
    const auto loop = ptx.find("nounroll");
    EXPECT_NE(loop, std::string::npos) << ptx;
    return count_of(ptx.substr(loop, ptx.find("bra", loop) - loop), "shl.b64");
  };
  EXPECT_EQ(sums("a", "min(max(i - 3, 0), n)"), 1);
  EXPECT_EQ(sums("a", "i"), 0);
  EXPECT_EQ(sums("tile", "min(max(i - 3, 0), n)"), 0);
}

// nvcc 13.0 divides, unless it unrolls the loop whole.
TEST(CompileClang, PowersOfTwoThatALoopDoublesAreDivisors) {
  const auto divisions = [](const std::string& bound) {
    const auto ptx =
        ptx_of("__global__ void k(int* o, int n) { int s = 0;\nfor (int d = 1; d < " + bound +
               "; d *= 2) if (threadIdx.x % (2 * d) == 0) s += o[s + d];\no[threadIdx.x] = s; }");
    return count_of(ptx, "rem.u32") + count_of(ptx, "rem.s32") + count_of(ptx, "asm");
  };
  EXPECT_EQ(divisions("n"), 1);
  EXPECT_EQ(divisions("8"), 0);
}

// LLVM 19 leaves %SP without a value where local memory has 32-bit addresses.
TEST(CompileClang, AddressesOnTheChipHave32Bits) {
  const auto ptx = ptx_of(R"(__constant__ float factors[64];
__global__ void k(const int* at, float* out) {
  __shared__ float line[64];
  float own[24];
  for (int i = 0; i < 24; ++i) own[i] = i;
  for (int i = 0; i < 64; ++i) own[at[i] % 24] += 1;
  line[threadIdx.x] = own[at[64] % 24];
  __syncthreads();
  out[threadIdx.x] = line[at[threadIdx.x] & 63] * factors[at[threadIdx.x] & 63];
})");
  EXPECT_EQ(count_of(ptx, "cvta.local.u64 \t%SP, %SPL;"), 1) << ptx;
  EXPECT_NE(ptx.find("ld.shared.f32 \t%f"), std::string::npos);
  for (const std::string space : {"ld.shared.f32", "ld.const.f32"}) {
    const auto load = ptx.find(space);
    ASSERT_NE(load, std::string::npos) << space;
    EXPECT_EQ(ptx.substr(ptx.find('[', load), 3), "[%r") << space;
    EXPECT_NE(ptx[ptx.find('[', load) + 3], 'd') << space;
  }
}

// A private array is in registers where the loops over it are unrolled.
TEST(CompileClang, LoopsOverPrivateArraysAreUnrolledWhole) {
  for (const auto& [size, local] : {std::pair("64", false), std::pair("256", true)}) {
    const std::string source = std::string("constexpr int n = ") + size +
                               ";\n__global__ void k(const int* a, int* o, int m) { int r[n], s = a[0];\n"
                               "for (int k = 0; k < n; ++k) r[k] = a[k * m];\n"
                               "for (int t = 0; t < m; ++t) for (int k = 0; k < n; ++k) {\n"
                               "s = (s ^ m) + 3; s = (s ^ m) + 5; s = (s ^ m) + 7; r[k] += s; s ^= r[k]; }\n"
                               "for (int k = 0; k < n; ++k) s += r[k];\no[0] = s; }";
    const Result<Source> result = compile_cuda("k.cu", source, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(contains(result->ptx, "st.local"), local) << size;
  }
}

// Also where a loop has no more iterations than the array has elements, as one within another has: each iteration has its
// own exit.
TEST(CompileClang, LoopsOverPartOfAPrivateArrayAreUnrolledToTheMostIterations) {
  for (const auto& [size, local] : {std::pair("24", false), std::pair("400", true)}) {
    const std::string source = std::string("constexpr int n = ") + size +
                               ";\n__global__ void k(const float* a, float* o, float x) { float r[n + 1];\n"
                               "for (int k = 0; k <= n; ++k) r[k] = a[k];\n"
                               "for (int t = n - 1; t >= 0; --t)\n"
                               "for (int k = 0; k <= t; ++k) r[k] = x * r[k] + r[k + 1];\n"
                               "o[0] = r[0]; }";
    const Result<Source> result = compile_cuda("k.cu", source, {});
    ASSERT_TRUE(result) << text_of(result);
    EXPECT_EQ(contains(result->ptx, "st.local"), local) << size;
  }
}

TEST(CompileClang, FlagsThatDoNotCompileAreRefused) {
  const std::string source = "__global__ void k(int* a) { a[0] = 1; }";
  for (const std::string flag :
       {"-no-such-flag", "-maxrregcount=32", "-o", "-v", "--version", "other.cu", "-save-temps", "-###"}) {
    const Result<Source> result = compile_cuda("k.cu", source, with_flags({flag}));
    ASSERT_FALSE(result) << flag;
    EXPECT_TRUE(contains(to_text(result.diagnostics()), flag)) << to_text(result.diagnostics());
  }
}

TEST(CompileClang, WarningsAreKeptAsPrinted) {
  const Result<Source> quiet = compile_data("warning.cu");
  ASSERT_TRUE(quiet);
  EXPECT_TRUE(quiet->warnings.empty());
  const Result<Source> result = compile_data("warning.cu", with_flags({"-Wall"}));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_EQ(result->warnings[0].severity, Severity::warning);
  EXPECT_TRUE(
      contains(result->warnings[0].verbatim, "warning.cu:2:7: warning: unused variable 'never_used'"));
}

TEST(CompileClang, StandardInputIsCalledSo) {
  const Result<Source> result = compile_cuda("-", "__global__ void k(int* a) { a[0] = x; }", {});
  ASSERT_FALSE(result);
  EXPECT_TRUE(
      contains(to_text(result.diagnostics()), "<stdin>:1:36: error: use of undeclared identifier 'x'"));
}

// Headers have no lines of their own: what they make counts for the line that called them.
TEST(CompileClang, LinesAreTheSourcesOwn) {
  const Result<Source> result = compile_data("lines.cu");
  ASSERT_TRUE(result) << text_of(result);
  EXPECT_FALSE(contains(result->ptx, ".file\t2")) << result->ptx;
  for (const std::string line : {"\t.loc\t1 3 ", "\t.loc\t1 6 ", "\t.loc\t1 7 "}) {
    EXPECT_TRUE(contains(result->ptx, line)) << line << "\n" << result->ptx;
  }
  EXPECT_FALSE(contains(result->ptx, ".debug_info"));
}

TEST(CompileClang, FunctionsThatAreOurOwnAreNoted) {
  const Result<Source> software = compile_data("lines.cu");
  ASSERT_TRUE(software);
  ASSERT_EQ(software->notes.size(), 1u);
  EXPECT_TRUE(contains(software->notes[0], "sinf: ")) << software->notes[0];
  const Result<Source> hardware = compile_cuda(
      "k.cu", "__global__ void k(float* a) { a[0] = sqrtf(a[1]) + fmaxf(a[2], __sinf(a[3])); }", {});
  ASSERT_TRUE(hardware);
  EXPECT_TRUE(hardware->notes.empty());
}

TEST(CompileClang, DeeplyNestedSourcesAreRefusedOrCompiled) {
  std::string minuses, brackets, branches;
  for (int i = 0; i < 300'000; ++i) minuses += "- ";
  for (int i = 0; i < 3'000; ++i) brackets += "(";
  for (int i = 0; i < 1'000; ++i) branches += "if (a[0] == 1) a[1] = 2; else ";
  const auto kernel = [](const std::string& body) { return "__global__ void k(int* a) { " + body + " }"; };
  EXPECT_FALSE(compile_cuda("k.cu", kernel("a[0] = " + minuses + "a[1];"), {}));
  EXPECT_FALSE(compile_cuda("k.cu", kernel("a[0] = " + brackets + "1;"), {}));
  EXPECT_TRUE(compile_cuda("k.cu", kernel(branches + "a[0] = 1;"), {}));
  // And what comes after a crash compiles as before.
  EXPECT_TRUE(compile_data("kernels.cu"));
}

TEST(CompileClang, ThreadsDoNotDisturbEachOther) {
  const Result<Source> expected = compile_data("kernels.cu", for_target("sm_61"));
  ASSERT_TRUE(expected);
  std::vector<std::thread> threads;
  std::vector<std::string> ptx(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&ptx, i] {
      for (int k = 0; k < 3; ++k) {
        CompileOptions options = for_target(i % 2 == 0 ? "sm_61" : "sm_90");
        options.flags = {"-DTHREAD=" + std::to_string(i / 2 + k * 10)};
        const Result<Source> result = compile_data("kernels.cu", options);
        ptx[static_cast<std::size_t>(i)] = result ? result->ptx : to_text(result.diagnostics());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ptx[0], expected->ptx);
  EXPECT_EQ(ptx[2], expected->ptx);
  EXPECT_TRUE(contains(ptx[1], ".target sm_90\n"));
  EXPECT_EQ(ptx[1], ptx[3]);
}

}  // namespace
}  // namespace warptime
