// Arrays with computed indices that ptxas keeps in registers.
#include "analyzer/cfg/register_arrays.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/cfg/kernel_code.h"
#include "analyzer/ptx/module.h"

namespace warptime::analysis {
namespace {

// A kernel with `words` local words, of which %rd3 is the address and %rd4, %rd5, … are computed ones.
KernelCode code_of(const ptx::Module& module) {
  return build_code(module, 0, 1000);
}

std::string kernel(int words, const std::string& body) {
  return ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
         ".local .align 16 .b8 depot[" +
         std::to_string(4 * words) +
         "];\n.reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         "mov.u64 %rd1, depot;\ncvta.local.u64 %rd2, %rd1;\nadd.u64 %rd3, %rd1, 0;\nld.param.u32 %r1, [n];\n"
         "mul.wide.u32 %rd10, %r1, 4;\nadd.s64 %rd4, %rd3, %rd10;\nmul.wide.u32 %rd11, %r1, 8;\n"
         "add.s64 %rd5, %rd3, %rd11;\nadd.s64 %rd6, %rd4, 4;\n" +
         body + "ret;\n}\n";
}

RegisterArrays arrays_of(int words, const std::string& body) {
  const std::string text = kernel(words, body);
  const auto module = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(module) << to_text(module.diagnostics());
  const KernelCode code = code_of(*module);
  return find_register_arrays(code.operands(), code.function());
}

const std::string count = "ld.local.u32 %r2, [%rd4];\nadd.s32 %r2, %r2, 1;\nst.local.u32 [%rd4], %r2;\n";

TEST(RegisterArrays, AccessesOfOneRegisterShareAnIndex) {
  const RegisterArrays arrays = arrays_of(8, "st.v2.u32 [%rd2+8], {%r1, %r1};\n" + count +
                                                 "ld.local.u32 %r3, [%rd5];\nld.local.u32 %r4, [%rd6+4];\n");
  EXPECT_EQ(arrays.words, 8U);
  EXPECT_EQ(arrays.indices, 3U);
  EXPECT_EQ(arrays.accesses.size(), 5U);
  EXPECT_FALSE(arrays.in_loop);
  EXPECT_TRUE(arrays.likely());
}

TEST(RegisterArrays, ManyWordsAndIndicesStayInMemory) {
  const std::string others = "ld.local.u32 %r3, [%rd5];\nld.local.u32 %r4, [%rd6];\n";
  EXPECT_TRUE(arrays_of(20, count + others).likely());
  EXPECT_FALSE(arrays_of(21, count + others).likely());
  EXPECT_TRUE(arrays_of(64, count).likely());
  EXPECT_FALSE(arrays_of(65, count).likely());
}

TEST(RegisterArrays, FewerInALoop) {
  const std::string loop = "L:\n" + count + "setp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n";
  EXPECT_TRUE(arrays_of(20, loop).in_loop);
  EXPECT_TRUE(arrays_of(20, loop).likely());
  EXPECT_FALSE(arrays_of(21, loop).likely());
  // A branch back over them that does not come from them.
  const std::string around = "bra E;\nL:\n" + count + "ret;\nE:\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n";
  EXPECT_FALSE(arrays_of(21, around).in_loop);
}

TEST(RegisterArrays, OtherUsesKeepThemInMemory) {
  for (const char* use : {"st.local.u64 [%rd4], %rd4;\n", "ld.local.u8 %r3, [%rd4];\n",
                          "ld.local.u64 %rd7, [%rd4];\n", "atom.add.u32 %r3, [%rd4], %r1;\n",
                          "setp.lt.u64 %p1, %rd4, %rd3;\n", "ld.volatile.local.u32 %r3, [%rd4];\n"})
    EXPECT_TRUE(arrays_of(8, count + use).accesses.empty()) << use;
}

TEST(RegisterArrays, PtxasMayBeKnownToHaveDecidedOtherwise) {
  const std::string text = kernel(8, count);
  const auto module = ptx::parse(text, "k.ptx");
  ASSERT_TRUE(module);
  KernelCode code = code_of(*module);
  EXPECT_EQ(code.register_array_words(), 8U);
  code.know_arrays(false);
  EXPECT_EQ(code.register_array_words(), 0U);
  EXPECT_EQ(code.register_array_access(9), nullptr);
}

}  // namespace
}  // namespace warptime::analysis
