// An opcode is one line of opcodes.def: this binary has one line more than the analyzer, `frob`, and no other
// change.
#include <gtest/gtest.h>

#include "analyzer/pipeline.h"
#include "analyzer/ptx/module.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/ptx/printer.h"

namespace warptime {
namespace {

constexpr char kernel[] = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<4>;
	ld.param.u64 	%rd1, [a];
	mov.u32 	%r1, %tid.x;
	frob.s32 	%r2, %r1, %r1;
	mul.wide.s32 	%rd2, %r2, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.u32 	[%rd3], %r1;
	ret;
}
)";

TEST(PlantedOpcode, IsKnownByItsLine) {
  const auto* frob = ptx::find_opcode("frob.s32");
  ASSERT_NE(frob, nullptr);
  EXPECT_EQ(frob->category, ptx::Category::arithmetic);
  EXPECT_EQ(ptx::find_opcode("frobnicate.s32"), nullptr);
  EXPECT_EQ(ptx::opcode_index(*frob) + 1, ptx::opcode_count());
}

TEST(PlantedOpcode, IsCountedAsCalculation) {
  Source source;
  source.file = "frob.ptx";
  source.ptx = kernel;
  const auto analysis = analyze(source, {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = analysis->kernels[0].program;
  ASSERT_EQ(program.program.size(), 2u);
  EXPECT_EQ(to_string(std::get<Instructions>(program.program[0].what).count), "5");
  // What it computes is not known: an address that stands on it has no closed form.
  const auto& store = std::get<MemoryAccess>(program.program[1].what);
  EXPECT_EQ(store.kind, MemoryAccess::Kind::store);
  EXPECT_EQ(store.access, Access::scattered);
  EXPECT_EQ(program.instructions_modelled, program.instructions_total);
}

TEST(PlantedOpcode, IsPrintedAsItWasRead) {
  const auto module = ptx::parse(kernel, "frob.ptx");
  ASSERT_TRUE(module) << to_text(module.diagnostics());
  EXPECT_NE(ptx::print(*module).find("frob.s32"), std::string::npos);
}

}  // namespace
}  // namespace warptime
