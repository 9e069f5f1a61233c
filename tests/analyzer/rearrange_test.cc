// Calculation that moves across loads and stores (periods/rearrange.h): what becomes adjacent, and what must not move.
#include <filesystem>

#include "simulator/program/walk.h"
#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

struct RearrangeCase {
  const char* name;
  const char* body;    // PTX; a and b point to arrays, %r1 and %rd3 hold numbers
  const char* wanted;  // the items in short: numbers of instructions, l and s
};
void PrintTo(const RearrangeCase& one, std::ostream* out) {
  *out << one.name;
}

const RearrangeCase rearrange_cases[] = {
    {"AddressesOfLaterLoadsMoveUp",
     "ld.global.f32 %f1, [%rd1]; add.s64 %rd4, %rd2, 4; ld.global.f32 %f2, [%rd4]; add.f32 %f3, %f1, %f2;",
     "5 l l 1"},
    {"WhatUsesALoadFollowsAllOfThem",
     "ld.global.f32 %f1, [%rd1]; add.f32 %f3, %f1, %f1; ld.global.f32 %f2, [%rd2]; add.f32 %f3, %f3, %f2;",
     "4 l l 2"},
    {"AnAddressThatIsLoadedWaits",
     "ld.global.u64 %rd4, [%rd1]; add.s64 %rd4, %rd4, 4; ld.global.f32 %f2, [%rd4]; add.f32 %f3, %f2, %f2;",
     "4 l 1 l 1"},
    {"SoDoesOneThatIsLoadedDirectly", "ld.global.u64 %rd4, [%rd1]; ld.global.f32 %f2, [%rd4];", "4 l l"},
    {"ALoadStaysBehindAStore",
     "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1; add.s64 %rd4, %rd1, 4; ld.global.f32 %f2, "
     "[%rd4];",
     "4 l s 1 l"},
    {"ValuesOfLaterStoresMoveUp",
     "add.f32 %f1, %f4, %f4; st.global.f32 [%rd1], %f1; add.f32 %f2, %f4, %f1; add.s64 %rd4, %rd2, 4; "
     "st.global.f32 [%rd4], %f2;",
     "7 s s"},
    {"ARegisterThatAnEarlierLoadReadsIsNotWrittenBefore",
     "ld.global.f32 %f1, [%rd1]; add.s64 %rd1, %rd1, 4; ld.global.f32 %f2, [%rd1];", "4 l 1 l"},
    {"ARegisterThatCalculationBetweenReadsIsNotLoadedBefore",
     "ld.global.f32 %f1, [%rd1]; add.f32 %f3, %f2, %f2; ld.global.f32 %f2, [%rd2]; add.f32 %f3, %f3, %f1;",
     "5 l l 1"},
    {"NothingCrossesABarrier",
     "ld.global.f32 %f1, [%rd1]; bar.sync 0; add.s64 %rd4, %rd2, 4; ld.global.f32 %f2, [%rd4];", "4 l 2 l"},
    {"NothingCrossesAnAtomic",
     "ld.global.f32 %f1, [%rd1]; atom.global.add.f32 %f2, [%rd2], %f4; add.s64 %rd4, %rd2, 4; "
     "ld.global.f32 %f3, [%rd4];",
     "4 l l 1 l"},
};

std::string in_short(const Items& items) {
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text += ' ';
    if (const auto* run = std::get_if<Instructions>(&item.what))
      text += std::to_string(run->count.integer_value());
    else
      text += std::get<MemoryAccess>(item.what).kind == MemoryAccess::Kind::load ? 'l' : 's';
  }
  return text;
}

class Rearrange : public testing::TestWithParam<RearrangeCase> {};
INSTANTIATE_TEST_SUITE_P(Each, Rearrange, testing::ValuesIn(rearrange_cases),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(Rearrange, KeepsWhatDepends) {
  const std::string ptx =
      ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, .param .u64 "
      "k_param_1)\n{\n"
      ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
      "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\ncvta.to.global.u64 %rd1, %rd1;\n"
      "mov.f32 %f4, 0f3F800000;\n" +
      std::string(GetParam().body) + "\nret;\n}\n";
  AnalyzeOptions options;
  options.rearrange = true;
  const auto analysis = analyze(ptx_source("one.ptx", ptx), options);
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  EXPECT_EQ(in_short(analysis->kernels.front().program.program), GetParam().wanted);
}

class CountItems : public ItemWalker<CountItems> {
 public:
  using ItemWalker::on;
  void on(const Item&, const Instructions& run) {
    instructions += run.count.is_integer() ? run.count.integer_value() : 0;
  }
  void on(const Item&, const MemoryAccess& access) {
    ++(access.kind == MemoryAccess::Kind::load ? loads : stores);
  }
  std::int64_t instructions = 0, loads = 0, stores = 0;
};

// Of every kernel: the same instructions and accesses in another order, in no more periods.
TEST(Rearranged, KernelsKeepTheirInstructions) {
  namespace fs = std::filesystem;
  int fewer = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(WARPTIME_SOURCE_DIR) / "dwt_kernels")) {
    if (entry.path().extension() != ".cu") continue;
    const auto text = read_file("dwt_kernels/" + entry.path().filename().string());
    AnalyzeOptions plain, rearranged;
    rearranged.rearrange = true;
    const auto a = analyze_text(text, {}, plain), b = analyze_text(text, {}, rearranged);
    ASSERT_TRUE(a && b) << entry.path();
    for (std::size_t k = 0; k < a->kernels.size(); ++k) {
      const KernelProgram &of_a = a->kernels[k].program, &of_b = b->kernels[k].program;
      SCOPED_TRACE(of_a.provenance.kernel);
      CountItems in_a, in_b;
      in_a.walk(of_a.program);
      in_b.walk(of_b.program);
      EXPECT_EQ(in_a.instructions, in_b.instructions);
      EXPECT_EQ(in_a.loads, in_b.loads);
      EXPECT_EQ(in_a.stores, in_b.stores);
      EXPECT_LE(to_yaml(of_b).size(), to_yaml(of_a).size());
      fewer += to_yaml(of_b).size() < to_yaml(of_a).size() ? 1 : 0;
    }
  }
  EXPECT_GT(fewer, 5);
}

}  // namespace
}  // namespace warptime
