// The machine code of a cubin, and the estimate of it. ptxas is asked where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/cfg/cfg.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/machine/context.h"
#include "analyzer/machine/cost_table.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/line_table.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/ptx/module.h"

namespace warptime::machine {
namespace {

// a[i] = 2 * a[i] for n iterations of i += 1.
constexpr const char* kLoop = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 a, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .f32 %f<3>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, 0;
LOOP:
mul.wide.s32 %rd3, %r2, 4;
add.s64 %rd4, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
add.f32 %f2, %f1, %f1;
st.global.f32 [%rd4], %f2;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, %r1;
@%p1 bra LOOP;
ret;
}
)";

std::vector<Context> contexts() {
  const auto module = ptx::parse(kLoop, "loop.ptx");
  EXPECT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "loop.ptx");
  EXPECT_TRUE(cfg);
  return contexts_of(code, *cfg);
}

TEST(Contexts, SayWhatBecomesOfAResultAndWhereOperandsComeFrom) {
  const auto found = contexts();
  ASSERT_EQ(found.size(), 13u);
  const auto text = [&](std::size_t i) {
    const Context& one = found[i];
    return one.operation + "|" + one.use + "|" + one.operands + (one.in_loop ? "|loop" : "");
  };
  EXPECT_EQ(text(0), "ld.param.b64|other1|o");
  EXPECT_EQ(text(3), "mov.i32|mixed+phi|c");
  EXPECT_EQ(text(4), "mul.wide.i32|add1|cr|loop");
  EXPECT_EQ(text(5), "add.i64|addressn|mr|loop");
  EXPECT_EQ(text(6), "ld.global.b32|addn|o|loop");
  EXPECT_EQ(text(7), "add.f32|other1|rr|loop");
  EXPECT_EQ(text(8), "st.global.b32||ao|loop");
  EXPECT_EQ(text(10), "setp.i32|branch1|pr|loop");
  EXPECT_EQ(text(11), "bra||o|loop");
  EXPECT_FALSE(found[12].in_loop);
}

TEST(CostTables, FindTheLineThatFitsBest) {
  const std::string zeros = ",0,0,0,0,0,0,0,0,0,0,0";
  const auto table = CostTable::read("# a comment\n*,*,*,9,0.5" + zeros + "\nadd.i64,*,*,5,2" + zeros +
                                         "\nadd.i64,address1,*,4,1.5" + zeros + "\nadd.i64,address1,mr,3,1" +
                                         zeros + "\nadd.i64,address1@loop,*,2,0.75" + zeros +
                                         "\n*,*@hoisted,*,2,0.25" + zeros + "\n",
                                     "table.csv");
  ASSERT_TRUE(table) << to_text(table.diagnostics());
  const auto alu = [&](Context context) { return table->find(context)[Pipe::alu]; };
  EXPECT_EQ(alu({"add.i64", "address1", "mr", false}), 1);
  EXPECT_EQ(alu({"add.i64", "address1", "rr", false}), 1.5);
  EXPECT_EQ(alu({"add.i64", "mixed", "rr", false}), 2);
  EXPECT_EQ(alu({"sub.i64", "mixed", "rr", false}), 0.5);
  EXPECT_EQ(alu({"add.i64", "address1", "mr", true}), 0.75);
  EXPECT_EQ(table->find_hoisted({"add.i64", "address1", "mr", true})[Pipe::alu], 0.25);
}

TEST(CostTables, SayWhichLineIsWrong) {
  EXPECT_EQ(to_text(CostTable::read("*,*,*,9\n", "t.csv").diagnostics()),
            "t.csv:1: error: 4 fields, where 16 are needed\n");
  EXPECT_EQ(to_text(CostTable::read("\n*,*,*,9,x,0,0,0,0,0,0,0,0,0,0,0\n", "t.csv").diagnostics()),
            "t.csv:2: error: `x` is no number\n");
  EXPECT_EQ(to_text(CostTable::read("", "t.csv").diagnostics()), "t.csv: error: there is no line `*,*,*`\n");
}

TEST(CostTables, OfTheLibraryAreRead) {
  ASSERT_FALSE(table_targets().empty());
  for (const std::string& target : table_targets()) {
    std::string used;
    const CostTable& table = table_of(target, used);
    EXPECT_EQ(used, target);
    EXPECT_NEAR(table.find({"fma.f32", "other1", "rrr", false})[Pipe::fma], 1, 0.2) << target;
    EXPECT_GT(table.find({"div.s32", "other1", "rr", false}).total(), 10) << target;
    EXPECT_LT(table.find({"mul.wide.i32", "add1", "cr", false}).total(), 0.2) << target;
  }
  std::string used;
  table_of("sm_30", used);
  EXPECT_EQ(used, table_targets().front());
  table_of("sm_999", used);
  EXPECT_EQ(used, table_targets().back());
}

class MachineCode : public testing::Test {
 protected:
  void SetUp() override {
    auto made = assemble(kLoop, "sm_90", {"-lineinfo"});
    if (!made) GTEST_SKIP() << "there is no ptxas for sm_90";
    cubin_ = std::move(*made);
  }
  std::string cubin_;
};

TEST_F(MachineCode, HasALoopOfKnownInstructionsWithTheirLines) {
  const auto kernels = read_machine_code(cubin_, "loop.cubin");
  ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
  ASSERT_EQ(kernels->count("scale"), 1u);
  int loads = 0, stores = 0, exits = 0, backward = 0;
  for (const MachineInstruction& one : kernels->at("scale").instructions) {
    ASSERT_NE(one.opcode, nullptr) << one.code;
    EXPECT_LE(one.control.stall, 15);
    EXPECT_LT(one.ptx_line, 27u);
    if (one.opcode->name == "LDG") {
      ++loads;
      EXPECT_EQ(one.ptx_line, 17u);
      EXPECT_NE(one.control.write_barrier, Control::no_barrier) << "a load's end is waited for";
    }
    if (one.opcode->name == "STG") {
      ++stores;
      EXPECT_EQ(one.ptx_line, 19u);
    }
    exits += one.opcode->name == "EXIT" ? 1 : 0;
    const auto to = branch_target(one, 90);
    backward += to && *to >= 0 && *to < one.address ? 1 : 0;
  }
  EXPECT_GE(loads, 1);
  EXPECT_EQ(loads, stores);
  EXPECT_GE(exits, 1);
  EXPECT_GE(backward, 1);
}

// However often ptxas unrolls the loop, an iteration has one load and one store.
TEST_F(MachineCode, GivesAnExecutionOfALineOneCopyOfIt) {
  const auto kernels = read_machine_code(cubin_, "loop.cubin");
  ASSERT_TRUE(kernels);
  const auto module = ptx::parse(kLoop, "loop.ptx");
  ASSERT_TRUE(module);
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "loop.ptx");
  ASSERT_TRUE(cfg);
  const KernelWork work = work_of(code, *cfg, kernels->at("scale"), 90);
  ASSERT_EQ(work.each.size(), 13u);
  EXPECT_DOUBLE_EQ(work.each[6].inside[Pipe::lsu], 1);
  EXPECT_DOUBLE_EQ(work.each[8].inside[Pipe::lsu], 1);
  EXPECT_DOUBLE_EQ(work.each[12].inside[Pipe::cbu], 1) << "the exit";
  double iteration = 0;
  for (std::size_t i = 4; i < 12; ++i) iteration += work.each[i].inside.total();
  EXPECT_GE(iteration, 3) << "load, sum, store";
  EXPECT_LE(iteration, 8) << "no more than in PTX";
}

TEST_F(MachineCode, IsSafeToReadHoweverItIsDamaged) {
  for (std::size_t size = 0; size < cubin_.size(); size += 7) {
    const auto cut = read_machine_code(std::string_view(cubin_).substr(0, size), "cut.cubin");
    EXPECT_TRUE(cut || !to_text(cut.diagnostics()).empty());
  }
  for (std::size_t at = 0; at < cubin_.size(); at += 3) {
    std::string damaged = cubin_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const auto read = read_machine_code(damaged, "damaged.cubin");
    EXPECT_TRUE(read || !to_text(read.diagnostics()).empty());
  }
}

TEST(LineTables, AreSafeToReadHoweverTheyAreDamaged) {
  EXPECT_TRUE(read_line_table("").empty());
  EXPECT_TRUE(read_line_table(std::string(64, '\xff')).empty());
  EXPECT_TRUE(read_line_table(std::string(64, '\0')).empty());
}

}  // namespace
}  // namespace warptime::machine
