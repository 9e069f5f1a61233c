// Structure: what each form of statement and operand is parsed into.
#include <gtest/gtest.h>

#include <bit>

#include "analyzer/ptx/opcodes.h"
#include "analyzer/ptx/printer.h"
#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

using Kind = Operand::Kind;

TEST(Parser, HeaderOfAModule) {
  const Parsed p = parsed(
      ".version 8.3\n.target sm_90a, texmode_independent\n.address_size 64\n.file 1 \"/src/a.cu\", 17, 4\n"
      ".file 2 \"/src\" \"b.cu\"\n.file 3 \"/src\" \"/c.cu\" md5 0x12\n");
  EXPECT_EQ(p->version, "8.3");
  EXPECT_EQ(p->target, "sm_90a, texmode_independent");
  EXPECT_EQ(p->address_size, 64);
  ASSERT_EQ(p->files.size(), 3u);
  EXPECT_EQ(p->files[0].path, "/src/a.cu");
  EXPECT_EQ(p->files[1].path, "/src/b.cu");
  EXPECT_EQ(p->files[2].path, "/c.cu");
}

TEST(Parser, AddressesHave32BitsWhereNothingIsSaid) {
  EXPECT_EQ(parsed(".version 1.4\n.target sm_13\n")->address_size, 32);
}

// One instruction in, its canonical form out.
TEST(Parser, Instructions) {
  const struct {
    const char* text;
    const char* printed;  // null: the same
  } cases[] = {
      {"add.s32 %r1, %r2, %r3;", nullptr},
      {"add.s32 %r1,%r2,-4;", "add.s32 %r1, %r2, -4;"},
      {"@%p1 bra L;", nullptr},
      {"@!%p1 bra.uni L;", nullptr},
      {"@ !%p1 bra L;", "@!%p1 bra L;"},
      {"ld.global.f32 %f1, [%rd1+-8];", nullptr},
      {"ld.global.f32 %f1, [%rd1 + -8];", "ld.global.f32 %f1, [%rd1+-8];"},
      {"ld.global.f32 %f1, [%rd1+4+4];", "ld.global.f32 %f1, [%rd1+8];"},
      {"ld.global.f32 %f1, [%rd1+0];", "ld.global.f32 %f1, [%rd1];"},
      {"ld.global.u32 %r1, [data+4];", nullptr},
      {"ld.local.u32 %r1, [16];", nullptr},
      {"ld.global.u32 %r1, data[3];", "ld.global.u32 %r1, [data+12];"},
      {"ld.global.u32 %r1, data[%r2];", nullptr},
      {"mov.u64 %rd1, data[3];", "mov.u64 %rd1, data+12;"},
      {"mov.u64 %rd1, data+4-2;", "mov.u64 %rd1, data+2;"},
      {"ld .global .L2::128B.v4.u32 {%r1, _, %r2, %r3}, [%rd1];",
       "ld.global.L2::128B.v4.u32 {%r1, _, %r2, %r3}, [%rd1];"},
      {"ld.const[2].u32 %r1, [data];", nullptr},
      {"ld.param.b64 %rd1, [%rd2];", nullptr},
      {"mov.u32 %r1, %tid.x;", nullptr},
      {"mov.u32 %r1, %tid .x;", "mov.u32 %r1, %tid.x;"},
      {"mov.u64 %rd1, %globaltimer;", nullptr},
      {"mov.b32 %r1, %envreg31;", nullptr},
      {"new.op %r1, -%laneid, ! %tid .x, -data;", "new.op %r1, -%laneid, !%tid.x, -data;"},
      {"mov.b32 %r1, {0,%r2};", "mov.b32 %r1, {0, %r2};"},
      {"setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;", nullptr},
      {"setp.eq.s32 %p1|_, %r1, 0;", nullptr},
      {"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", nullptr},
      {"vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;", nullptr},
      {"vabsdiff4.u32.u32.u32 %r1, %r2.b0123, %r3.b7654, %r1;", nullptr},
      {"vset2.s32.u32.ne %r1, %r2.h10, %r3.h32, %r1;", nullptr},
      {"tcgen05.wait::ld.sync.aligned;", nullptr},
      {".reg .b32 ; .param .b64 ; add.s32 %r1, %r2, 1;", "add.s32 %r1, %r2, 1;"},
      {"\\ \nadd.s32 %r1, %r2, 1;", "add.s32 %r1, %r2, 1;"},
      {"# 7 \"kernel.cu\"\nadd.s32 %r1, %r2, 1; #line 8 \"kernel.cu\"", "add.s32 %r1, %r2, 1;"},
      {"mov.f32 %f1, -(0f3F800000);", "mov.f32 %f1, 0dBFF0000000000000;"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [data, {%f1, %f2}];", nullptr},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [data, {%f1, %f2}];", nullptr},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [data, data, {%f1, %f2}];", nullptr},
      {"call f, (%r1, 3);", nullptr},
      {"call.uni (%r1), f, (%r2);", nullptr},
      {"call (%r1), %rd1, (%r2), proto;", nullptr},
      {"add.s32 %r1, %r2+1, 3;", nullptr},
      {"fma.rn.f32 %f1, %f2, -%f3, %f4;", nullptr},
      {"bar.sync 0;", nullptr},
      {"ret;", nullptr},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1, %rd2, %p1, 1, -1, 0, 1;",
       nullptr},
      {"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1], 16;", nullptr},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, "
       "%r3}], [%r4];",
       nullptr},
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r4, %r5, %r6}, %p1;", nullptr},
      {"no.such::thing.v3 %r1|%p1, [%rd1, 3], word, (%r2, {1, 2});", nullptr},
      {"mov.f32 %f1, 0f3F800000;", "mov.f32 %f1, 0d3FF0000000000000;"},
      {"mov.f64 %f1, 0d3FF0000000000000;", nullptr},
      {"mov.f32 %f1, 1.5;", "mov.f32 %f1, 0d3FF8000000000000;"},
      {"mov.f32 %f1, -.5e1;", "mov.f32 %f1, 0dC014000000000000;"},
      {"add.u32 /* a */ %r1 // b\n, %r2\n,\n%r3 ;", "add.u32 %r1, %r2, %r3;"},
      {"bra\n\n L\n;", "bra L;"},
  };
  for (const auto& c : cases) {
    const Parsed p = parsed(kernel_around(
        std::string("proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n") + c.text + "\nL:",
        ".global .align 4 .b32 data[16]; .func f;"));
    ASSERT_EQ(p.kernel().instructions.size(), 1u) << c.text;
    const std::string printed = print(*p);
    const std::string wanted = std::string("\n  ") + (c.printed != nullptr ? c.printed : c.text) + "\n";
    EXPECT_NE(printed.find(wanted), std::string::npos) << "wanted " << wanted << "in\n" << printed;
  }
}

TEST(Parser, Constants) {
  const struct {
    const char* text;
    std::uint64_t value;
  } cases[] = {
      {"12", 12},
      {"0x1F", 31},
      {"0X1f", 31},
      {"0b101", 5},
      {"017", 15},
      {"12U", 12},
      {"0", 0},
      {"-1", ~0ull},
      {"~0", ~0ull},
      {"!0", 1},
      {"!7", 0},
      {"- -3", 3},
      {"+4", 4},
      {"(1<<3)|4", 12},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"7/2", 3},
      {"-7/2", static_cast<std::uint64_t>(-3)},
      {"7 % 4", 3},
      {"1 ? 2 : 3", 2},
      {"0?2:0?4:5", 5},
      {"3 == 3", 1},
      {"3 != 3", 0},
      {"2 < 3 && 4 >= 4", 1},
      {"0 || 0", 0},
      {"6 & 3", 2},
      {"6 ^ 3", 5},
      {"-8 >> 1", static_cast<std::uint64_t>(-4)},
      {"1 << 64", 0},
      {"(.s64)3", 3},
      {"(.u64) 2.9", 2},
      {"WARP_SZ*2", 64},
      {"18446744073709551615", ~0ull},
      {"9223372036854775807 + 1", 0x8000000000000000},
      {"(0x8000000000000000)/-1", 0x8000000000000000},
  };
  for (const auto& c : cases) {
    const Parsed p = parsed(kernel_around(std::string("mov.u64 %rd1, ") + c.text + ";"));
    EXPECT_EQ(p.operand(0, 1).kind, Kind::integer) << c.text;
    EXPECT_EQ(p.operand(0, 1).value, c.value) << c.text;
    EXPECT_EQ(p.operand(0, 1).text, c.text);
  }
}

TEST(Parser, FloatingConstants) {
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"0f3F800000", 1.0},
      {"0FBF800000", -1.0},
      {"0d4000000000000000", 2.0},
      {"-(0f3F800000)", -1.0},
      {"1.", 1.0},
      {"1.5*2", 3.0},
      {"1e400", std::numeric_limits<double>::infinity()},
      {"1.5 < 2.0 ? 3.0 : 4.0", 3.0},
  };
  for (const auto& c : cases) {
    const Parsed p = parsed(kernel_around(std::string("mov.f64 %f1, ") + c.text + ";"));
    EXPECT_EQ(p.operand(0, 1).kind, Kind::floating) << c.text;
    EXPECT_EQ(std::bit_cast<double>(p.operand(0, 1).value), c.value) << c.text;
  }
}

TEST(Parser, VariablesAndParameters) {
  const Parsed p = parsed(R"(.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 bytes[2][3] = {{1,2,0xFF},{4}};
.extern .shared .align 16 .b8 dynamic[];
.const .f32 c = 0f3F800000, d;
.global .texref t;
.global .samplerref s = { filter_mode = nearest };
.weak .global .attribute(.managed) .v2 .u64 pair;
.common .global .s32 shared_between;
.func (.param .align 16 .b8 r[16]) f (.param .b32 x, .param .b64 _)
.noreturn;
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q)
.maxntid 256, 1, 1
.minnctapersm 2
.pragma "nounroll";
.explicitcluster
.reqnctapercluster 2, 1, 1
{ ret; }
)");
  ASSERT_EQ(p->variables.size(), 8u);
  EXPECT_EQ(p->variables[0].elements, 6u);
  EXPECT_EQ(p->variables[0].align, 4u);
  EXPECT_EQ(p->variables[0].initializer, "{{1,2,0xFF},{4}}");
  EXPECT_EQ(p->variables[0].linkage, Linkage::visible);
  EXPECT_EQ(p->variables[1].elements, 0u);
  EXPECT_TRUE(p->variables[1].is_array);
  EXPECT_EQ(p->variables[1].space, StateSpace::shared);
  EXPECT_EQ(p->variables[2].space, StateSpace::constant);
  EXPECT_EQ(p->variables[4].type, "texref");
  EXPECT_EQ(p->variables[6].vector_width, 2);
  EXPECT_EQ(p->variables[6].type, "u64");
  ASSERT_EQ(p->functions.size(), 2u);
  EXPECT_TRUE(p->functions[0].declaration);
  EXPECT_EQ(p->functions[0].results[0].elements, 16u);
  EXPECT_EQ(p->functions[0].parameters[1].name, "");
  const Function& k = p->functions[1];
  EXPECT_TRUE(k.entry);
  EXPECT_EQ(k.parameters[0].pointee, StateSpace::global);
  EXPECT_EQ(k.parameters[0].align, 0u);  // .ptr .align is of what it points to
  EXPECT_EQ(k.parameters[1].pointee, StateSpace::generic);
  EXPECT_EQ(k.directives,
            (std::vector<std::string_view>{".maxntid 256, 1, 1", ".minnctapersm 2", ".pragma \"nounroll\";",
                                           ".explicitcluster", ".reqnctapercluster 2, 1, 1"}));
  EXPECT_EQ(k.line, 13u);
  EXPECT_EQ(k.end_line, 19u);
}

TEST(Parser, ADefinitionTakesThePlaceOfItsDeclaration) {
  const Parsed p =
      parsed(".version 9.0\n.target sm_90\n.func f;\n.func g { call f; ret; }\n.func f { ret; }\n");
  ASSERT_EQ(p->functions.size(), 2u);
  EXPECT_EQ(p->functions[0].name, "f");
  EXPECT_FALSE(p->functions[0].declaration);
  EXPECT_EQ(p->functions[0].line, 5u);
}

TEST(Parser, SourceLines) {
  const Parsed p = parsed(kernel_around(R"(ret;
.loc 1 10 3
ret;
.loc 1 20 7, function_name $L__info_string0, inlined_at 1 10 3
ret;
.loc 2 30 1, function_name $L__info_string0+8, inlined_at 1 20 7
ret;
.loc 1 11 0
ret;
.loc 1 20 7
ret;
.loc 2 40 1, function_name $L__info_string0, inlined_at 1 20 7
ret;)"));
  const struct {
    std::uint32_t file, line, inner;
  } wanted[] = {{0, 0, 0}, {1, 10, 0}, {1, 10, 20}, {1, 10, 30}, {1, 11, 0}, {1, 20, 0}, {1, 20, 40}};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    EXPECT_EQ(p.instruction(i).source_file, wanted[i].file) << i;
    EXPECT_EQ(p.instruction(i).source_line, wanted[i].line) << i;
    EXPECT_EQ(p.instruction(i).inner_line, wanted[i].inner) << i;
  }
}

TEST(Parser, PlacesOfInstructions) {
  const Parsed p = parsed(kernel_around("  @%p1 add.s32\n %r1, %r2, 3; ret;"));
  EXPECT_EQ(p.instruction(0).line, 6u);
  EXPECT_EQ(p.text->substr(p.instruction(0).offset, 9), "@%p1 add.");
  EXPECT_EQ(p.instruction(1).line, 7u);
  EXPECT_EQ(p.text->substr(p.instruction(1).offset, 4), "ret;");
  EXPECT_EQ((*p).operands[p.instruction(0).guard].text, "%p1");
}

TEST(Parser, UnknownOpcodesAreKept) {
  const Parsed p = parsed(kernel_around("new.op %r1, word; add.u32 %r1, %r1, 1;"));
  EXPECT_EQ(p.instruction(0).info, nullptr);
  EXPECT_EQ(p.instruction(0).opcode, "new.op");
  EXPECT_EQ(p.operand(0, 1).kind, Kind::text);
  EXPECT_EQ(p.instruction(1).info, find_opcode("add"));
}

TEST(Parser, OldModules) {
  const Parsed p = parsed(R"(	.version 1.4
	.target sm_13, map_f64_to_f32
	@@DWARF	.section .debug_info
	@@DWARF	.byte 0x00, "x
	.const[0] .align 4 .b8 c[16];
	.reg .u32 %module;
	.entry old (.param .u32 __cudaparm_a) {
	.reg .u16 %rh<4>;
$LBB1_old:
	mov.u16 %rh1, %ctaid.x;
	ld.const[0].u32 %module, [c+4];
	exit;
$LDWend_old:
	} // old
)");
  EXPECT_EQ(p.kernel().instructions.size(), 3u);
  EXPECT_EQ(p.kernel().labels.size(), 2u);
}

TEST(Parser, FunctionsAreDeclaredWithoutSemicolonAndInBodies) {
  const Parsed p = parsed(
      ".version 9.0\n.target sm_90\n.extern .func (.param .b32 z) f (.param .b32 a)\n"
      ".entry k() { .extern .func g (.param .b32 a); ret; }\n.func h () { ret; }\n.func i\n.alias i, h;\n");
  ASSERT_EQ(p->functions.size(), 5u);
  const char* names[] = {"f", "k", "g", "h", "i"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(p->functions[i].name, names[i]);
  EXPECT_TRUE(p->functions[2].declaration);
  EXPECT_EQ(p->functions[4].alias_of, 3u);
}

TEST(Parser, SectionsAreSkipped) {
  const Parsed p = parsed(
      kernel_around(
          "ret;",
          ".section .debug_info { L: .b32 L+4 .b32 3, -4 .b32 .debug_abbrev /* } */ .b8 95 .b64 L-M }\n") +
      ".section .debug_loc\n{\n}\n");
  EXPECT_EQ(p.kernel().instructions.size(), 1u);
}

TEST(Parser, AVectorOf128Registers) {
  std::string vector = "{";
  for (int i = 0; i < 128; ++i) vector += (i == 0 ? "%v" : ", %v") + std::to_string(i);
  const Parsed p = parsed(
      kernel_around(".reg .b32 %v<128>; tcgen05.ld.sync.aligned.32x32b.x128.b32 " + vector + "}, [%r1];"));
  EXPECT_EQ(p.operand(0, 0).part_count, 128u);
  EXPECT_EQ(p.part(p.operand(0, 0), 127).text, "%v127");
}

TEST(Parser, CarriageReturnsAndNoNewlineAtTheEnd) {
  const Parsed p = parsed(".version 9.0\r\n.target sm_90\r\n.entry k { ret; }\r\n// end");
  EXPECT_EQ(p.instruction(0).line, 3u);
}

TEST(Parser, IndirectCallTargets) {
  const Parsed p =
      parsed(kernel_around("ct: .calltargets f, g; call (%r1), %rd1, (%r2), ct;", ".func f; .func g;"));
  EXPECT_EQ(p.kernel().prototypes[0].targets, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(p.operand(0, 3).referent, Operand::Referent::prototype);
}

}  // namespace
}  // namespace warptime::ptx
