// Kernels as they are found in the text alone.
#include "cli/lsp/kernel_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warptime::cli {
namespace {

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const KernelText& kernel : find_kernel_texts(text)) names.push_back(kernel.name);
  return names;
}

TEST(KernelTexts, HaveTheirPlaces) {
  const std::string text = "int x;\n__global__ void k(int n)\n{\n  if (n) { x(); }\n}\nint y;\n";
  const auto kernels = find_kernel_texts(text);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "k");
  EXPECT_EQ(kernels[0].first_line, 2);
  EXPECT_EQ(kernels[0].last_line, 5);
  EXPECT_EQ(text.substr(kernels[0].body, kernels[0].end - kernels[0].body), "{\n  if (n) { x(); }\n}");
}

struct NamesCase {
  const char* text;
  std::vector<std::string> names;
};

class KernelNames : public testing::TestWithParam<NamesCase> {};

TEST_P(KernelNames, AreThoseOfDefinitions) {
  EXPECT_EQ(names_in(GetParam().text), GetParam().names) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelNames,
    testing::Values(NamesCase{"__global__ void a(); __global__ void b() {}", {"b"}},
                    NamesCase{"template <class T> __global__ void t(T x) { }", {"t"}},
                    NamesCase{"__global__ __launch_bounds__(256, 2) void k(int) {}", {"k"}},
                    NamesCase{"__global__ void __launch_bounds__(f(2)) k(int a = g()) {}", {"k"}},
                    NamesCase{"extern \"C\" __global__ void c(void) { s(\"}\"); c('}'); }", {"c"}},
                    NamesCase{"// __global__ void a() {}\n/* __global__ void b() {} */", {}},
                    NamesCase{"#define K __global__ void m() {}\n__global__ void n() {}", {"n"}},
                    NamesCase{"#define K \\\n __global__ void m() {}\n", {}},
                    NamesCase{"const char* s = R\"x( __global__ void r() {} )x\"; __global__ void n() {}",
                              {"n"}},
                    NamesCase{"int i = 1'000'000; __global__ void n() {}", {"n"}},
                    NamesCase{"namespace n { __global__ void k() {{}} }", {"k"}},
                    NamesCase{"__global__ void open() { if (", {}}, NamesCase{"__global__", {}},
                    NamesCase{"__global__ void k) {}", {}}, NamesCase{"", {}}));

TEST(KernelTexts, BodiesGoAndLinesStay) {
  const std::string text = "__global__ void a() {\n 1;\n}\n__global__ void b() {\n}\nend";
  const auto kernels = find_kernel_texts(text);
  EXPECT_EQ(without_bodies(text, kernels, {false, true}, ";"),
            "__global__ void a() ;\n\n\n__global__ void b() {\n}\nend");
  EXPECT_EQ(without_bodies(text, kernels, {true, true}, ";"), text);
}

}  // namespace
}  // namespace warptime::cli
