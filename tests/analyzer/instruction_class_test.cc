// The class of each instruction, as Table 1 of Luo and Suda (2011) sorts them.
#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

struct ClassCase {
  const char* instruction;
  const char* wanted;  // empty: of no class
};
void PrintTo(const ClassCase& one, std::ostream* out) {
  *out << one.instruction;
}

const ClassCase class_cases[] = {
    {"add.s32 %r1, %r2, 4;", "add.int_const"},
    {"add.s64 %rd1, %rd2, %rd3;", "add.int_reg"},
    {"sub.f32 %f1, %f2, %f3;", "sub.float_reg"},
    {"mul.f32 %f1, %f2, 0f40000000;", "mul.float_const"},
    {"mul.wide.s32 %rd1, %r1, 4;", "mul.int_const"},
    {"div.rn.f32 %f1, %f2, %f3;", "div.float_reg"},
    {"rem.u32 %r1, %r2, 7;", "div.int_const"},
    {"abs.f32 %f1, %f2;", "neg.float_reg"},
    {"min.s32 %r1, %r2, %r3;", "min.int_reg"},
    {"max.f32 %f1, %f2, 0f00000000;", "max.float_const"},
    {"and.b32 %r1, %r2, 31;", "and.int_const"},
    {"or.pred %p1, %p2, %p3;", "or.int_reg"},
    {"not.b32 %r1, %r2;", "not.int_reg"},
    {"fma.rn.f32 %f1, %f2, %f3, %f4;", "mad.float_reg"},
    {"mad.lo.s32 %r1, %r2, %r3, 1;", "mad.int_const"},
    {"shl.b32 %r1, %r2, 3;", "shift.int_const"},
    {"setp.lt.s32 %p1, %r1, %r2;", "compare.int_reg"},
    {"setp.gt.f32 %p1, %f1, 0f3F800000;", "compare.float_const"},
    {"selp.f32 %f1, %f2, %f3, %p1;", "select.float_reg"},
    {"mov.u32 %r1, %tid.x;", "move.int_reg"},
    {"mov.f32 %f1, 0f00000000;", "move.float_const"},
    {"cvt.rn.f32.s32 %f1, %r1;", "convert.float_reg"},
    {"cvt.u64.u32 %rd1, %r1;", "convert.int_reg"},
    {"ex2.approx.f32 %f1, %f2;", "special.float_reg"},
    {"ld.param.u32 %r1, [k_param_0];", "move.int_reg"},
    {"ld.shared.f32 %f1, [%r1];", ""},
    {"st.shared.f32 [%r1], %f1;", ""},
    {"bar.sync 0;", ""},
};

class InstructionClassOf : public testing::TestWithParam<ClassCase> {};
INSTANTIATE_TEST_SUITE_P(Each, InstructionClassOf, testing::ValuesIn(class_cases));

TEST_P(InstructionClassOf, IsThatOfItsOperationAndOperands) {
  const std::string ptx =
      ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u32 k_param_0)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n" +
      std::string(GetParam().instruction) + "\nret;\n}\n";
  AnalyzeOptions options;
  options.classes = true;
  const auto analysis = analyze(ptx_source("one.ptx", ptx), options);
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& items = analysis->kernels.front().program.program;
  ASSERT_EQ(items.size(), 1u);
  const auto& classes = std::get<Instructions>(items.front().what).classes;
  if (*GetParam().wanted == '\0') {
    EXPECT_FALSE(classes);
    return;
  }
  ASSERT_TRUE(classes);
  ASSERT_EQ(classes->counts.size(), 1u);
  EXPECT_EQ(to_string(classes->counts.front().first), GetParam().wanted);
  EXPECT_EQ(classes->counts.front().second, 1);
}

// A program has the same periods with classes and without; parts of a run that other options cut keep theirs.
TEST(InstructionClasses, ChangeNothingElse) {
  const auto text = read_file("dwt_kernels/ltt.cu");
  for (const auto machine : {AnalyzeOptions::Machine::none, AnalyzeOptions::Machine::estimated}) {
    AnalyzeOptions plain, with;
    plain.machine = with.machine = machine;
    with.classes = true;
    const auto a = analyze_text(text, {}, plain), b = analyze_text(text, {}, with);
    ASSERT_TRUE(a && b);
    const auto &of_a = program_of(*a, "ltt"), &of_b = program_of(*b, "ltt");
    const Bindings bindings{{"k", 0}, {"L", 5}, {"N", 1024}, {"blockDim.x", 32}, {"gridDim.x", 16}};
    EXPECT_EQ(flat(of_a, bindings), flat(of_b, bindings));
    EXPECT_EQ(to_yaml(of_a).find("classes"), std::string::npos);
    EXPECT_NE(to_yaml(of_b).find("classes: {"), std::string::npos);
  }
}

}  // namespace
}  // namespace warptime
