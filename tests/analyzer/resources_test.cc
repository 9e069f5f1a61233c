// What the PTX says of a kernel's shared memory and launch bounds.
#include "analyzer/periods/resources.h"

#include "test_program.h"

namespace warptime {
namespace {

std::optional<KernelResources> resources_in(const std::string& ptx, const std::string& kernel = "k") {
  auto analysis =
      analyze(ptx_source("test.ptx", ".version 8.7\n.target sm_80\n.address_size 64\n" + ptx), {});
  EXPECT_TRUE(analysis) << (analysis ? "" : to_text(analysis.diagnostics()));
  if (!analysis) return std::nullopt;
  return program_of(*analysis, kernel).resources;
}

std::string kernel_using(const std::string& variables, const std::string& directives = "",
                         const std::string& own = "") {
  std::string text = ".visible .entry k() " + directives + " {\n" + own + "  .reg .b32 %r<4>;\n";
  std::istringstream words(variables);
  for (std::string variable; words >> variable;)
    text += "  mov.u32 %r1, " + variable + ";\n  st.shared.u32 [%r1], %r2;\n";
  return text + "  ret;\n}\n";
}

KernelResources shared(std::int64_t bytes) {
  KernelResources resources;
  resources.shared_bytes_static = bytes;
  return resources;
}

TEST(Resources, OfAKernelWithoutAnyAreNone) {
  EXPECT_EQ(resources_in(kernel_using("")), std::nullopt);
  EXPECT_EQ(resources_in(".shared .b8 unused[100];\n" + kernel_using("")), std::nullopt);
}

TEST(Resources, AreTheSharedVariablesThatItUses) {
  struct Case {
    const char* module_scope;
    const char* own;
    const char* used;
    std::int64_t bytes;
  };
  for (const auto& [module_scope, own, used, bytes] : std::initializer_list<Case>{
           {".shared .align 4 .b8 a[300];\n", "", "a", 300},
           {".shared .f32 a[8];\n.shared .f64 b[2];\n", "", "a b", 48},
           {".shared .f32 a[8];\n.shared .f64 b[2];\n", "", "b", 16},
           {".shared .b8 a[1];\n.shared .f32 b;\n", "", "a b", 8},               // b is aligned to 4
           {".shared .b8 a[1];\n.shared .align 16 .b8 b[3];\n", "", "a b", 19},  // to 16
           {".shared .v4 .f32 a[3];\n", "", "a", 48},
           {".shared .b16 a[4][8];\n", "", "a", 64},
           {"", "  .shared .align 4 .b8 mine[512];\n", "mine", 512},
           {".shared .b8 a[1200];\n", "  .shared .align 4 .b8 mine[512];\n", "a mine", 1712}})
    EXPECT_EQ(resources_in(module_scope + kernel_using(used, "", own)), shared(bytes)) << module_scope << own;
}

TEST(Resources, IncludeThoseOfCalledFunctions) {
  const std::string functions =
      ".shared .b8 deep[64];\n.shared .b8 never[4096];\n"
      ".func g() { .reg .b32 %r<2>; mov.u32 %r1, deep; st.shared.u32 [%r1], 1; ret; }\n"
      ".func f() { .shared .b8 own[36]; .reg .b32 %r<2>; mov.u32 %r1, own; st.shared.u32 [%r1], 1; call g; "
      "ret; }\n"
      ".func unused() { .reg .b32 %r<2>; mov.u32 %r1, never; st.shared.u32 [%r1], 1; ret; }\n";
  EXPECT_EQ(resources_in(functions + ".visible .entry k() { call f; ret; }\n"), shared(100));
  EXPECT_EQ(resources_in(functions + ".visible .entry k() { call g; ret; }\n"), shared(64));
}

TEST(Resources, MemoryThatTheLaunchAsksForIsOfUnknownSize) {
  KernelResources expected = shared(16);
  expected.dynamic_shared_unknown = true;
  EXPECT_EQ(resources_in(".extern .shared .align 16 .b8 dynamic[];\n.shared .b8 a[16];\n" +
                         kernel_using("dynamic a")),
            expected);
}

TEST(Resources, AreTheLaunchBounds) {
  KernelResources expected;
  expected.max_threads = 512;
  expected.min_blocks_per_sm = 2;
  EXPECT_EQ(resources_in(kernel_using("", ".maxntid 128, 2, 2 .minnctapersm 2")), expected);
  expected = {};
  expected.required_threads = 64;
  EXPECT_EQ(resources_in(kernel_using("", ".reqntid 64")), expected);
}

TEST(Resources, OfAnySizeAreSafe) {
  EXPECT_EQ(resources_in(".shared .b64 a[1000000000000];\n.shared .b8 b[7];\n" + kernel_using("a b")),
            shared(1'000'000'000'000));
  EXPECT_EQ(resources_in(kernel_using("", ".maxntid 4294967295, 4294967295, 4294967295")), std::nullopt);
}

}  // namespace
}  // namespace warptime
