#include "simulator/model/luo_suda/luo_suda.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include "random_program.h"
#include "test_files.h"

namespace warptime {
namespace {

const Gpu& gtx_260() {
  return **GpuCatalogue::bundled().find("gtx-260");
}

const LuoSudaFigures& figures() {
  return *gtx_260().luo_suda;
}

Schedule schedule_of(const KernelProgram& program, const Bindings& bindings = {}) {
  const auto schedule = make_schedule(program, bindings, paper_durations());
  if (!schedule) ADD_FAILURE() << to_text(schedule.diagnostics());
  return schedule ? *schedule : Schedule{};
}

LuoSudaProgram luo_suda_program(const std::string& items, const Bindings& bindings = {}) {
  const KernelProgram program = test::program_of("program: " + items);
  const auto made = make_luo_suda_program(schedule_of(program, bindings), figures());
  if (!made) ADD_FAILURE() << to_text(made.diagnostics());
  return made ? *made : LuoSudaProgram{};
}

LuoSudaTime time_of(const LuoSudaProgram& program, std::int64_t blocks, std::int64_t threads_per_block) {
  const auto time = luo_suda_time(gtx_260(), {blocks, threads_per_block}, program);
  if (!time) ADD_FAILURE() << to_text(time.diagnostics());
  return time ? *time : LuoSudaTime{};
}

double cycles(double microseconds) {
  return microseconds * gtx_260().clock_mhz;
}

void expect_parts_sum_up(const LuoSudaTime& time) {
  const double near = 1e-9 * time.total_us;
  EXPECT_NEAR(time.total_us, time.computation_us + time.waiting_previous_us + time.waiting_current_us, near);
  EXPECT_NEAR(time.total_us, time.full_runs_us + time.remaining_run_us, near);
  EXPECT_NEAR(time.total_us, std::accumulate(time.type_us.begin(), time.type_us.end(), 0.0), near);
}

// ---- The figures ----

TEST(LuoSudaFigures, OfTheGtx260AreThePapers) {
  EXPECT_EQ(figures().memory_latency_cycles, 200);
  EXPECT_EQ(figures().cpd_a, 3);
  EXPECT_EQ(figures().cpd_b, 11);
  EXPECT_EQ(figures().cpd_c, 0.5);
  EXPECT_EQ(figures().cpd_d, 80);
  EXPECT_EQ(gtx_260().sms, 24);
  EXPECT_EQ(gtx_260().clock_mhz, 1242);
  EXPECT_EQ(*gtx_260().memory_bandwidth_gb_s, 111.9);
  EXPECT_EQ(gtx_260().max_warps_per_sm, 32);
  // Table 2 agrees with itself: 192 processors, 3 floating-point operations a cycle each, 715 Gflop/s
  EXPECT_EQ(gtx_260().sms * gtx_260().cores_per_sm, 192);
  EXPECT_NEAR(192 * 3 * gtx_260().clock_mhz / 1000, 715, 0.5);
}

struct Table1Row {
  LuoSudaOperation operation;
  std::array<double, 4> cycles;  // int_const, int_reg, float_const, float_reg
};
void PrintTo(const Table1Row& one, std::ostream* out) {
  *out << to_string(one.operation);
}
class Table1 : public testing::TestWithParam<Table1Row> {};

TEST_P(Table1, IsKeptAsPrinted) {
  EXPECT_EQ(figures().class_cycles.values[static_cast<std::size_t>(GetParam().operation)], GetParam().cycles)
      << to_string(GetParam().operation);
}

using Op = LuoSudaOperation;
INSTANTIATE_TEST_SUITE_P(
    Rows, Table1,
    testing::Values(Table1Row{Op::add, {22, 65, 22, 65}}, Table1Row{Op::sub, {22, 65, 22, 65}},
                    Table1Row{Op::mul, {44, 136, 22, 65}}, Table1Row{Op::div, {728, 753, 748, 783}},
                    Table1Row{Op::neg, {22, 22, 17, 17}}, Table1Row{Op::min, {62, 62, 62, 62}},
                    Table1Row{Op::max, {62, 62, 62, 62}}, Table1Row{Op::bit_and, {64, 64, 64, 64}},
                    Table1Row{Op::bit_or, {62, 62, 62, 62}}, Table1Row{Op::bit_xor, {62, 62, 62, 62}},
                    Table1Row{Op::bit_not, {22, 22, 22, 22}}));

TEST(LuoSudaFigures, CostsOfInstructionsByClassAddUp) {
  LuoSudaClasses counts;
  counts.at(Op::add, LuoSudaOperands::float_reg) = 10;  // 10 *  65 =  650
  counts.at(Op::mul, LuoSudaOperands::int_const) = 4;   //  4 *  44 =  176
  counts.at(Op::div, LuoSudaOperands::float_reg) = 1;   //  1 * 783 =  783
  EXPECT_EQ(luo_suda_cycles(figures(), counts), 1609);
}

TEST(LuoSudaFigures, OperationsThatTable1LacksTakeWhatTheirSourceSays) {
  const auto line = [](Op operation) {
    return figures().class_cycles.values[static_cast<std::size_t>(operation)];
  };
  EXPECT_EQ(line(Op::mad), line(Op::mul));
  EXPECT_EQ(line(Op::shift), line(Op::bit_or));
  EXPECT_EQ(line(Op::compare), line(Op::sub));
  EXPECT_EQ(line(Op::select), line(Op::min));
  EXPECT_EQ(line(Op::move), line(Op::neg));
  EXPECT_EQ(line(Op::convert), line(Op::neg));
  const double addition = figures().class_cycles.at(Op::add, LuoSudaOperands::float_reg);
  EXPECT_EQ(line(Op::special),
            (std::array<double, 4>{4 * addition, 4 * addition, 4 * addition, 4 * addition}));
  EXPECT_EQ(line(Op::branch), (std::array<double, 4>{}));
}

// ---- The equations, by hand ----

TEST(LuoSudaPrograms, InstructionsCostWhatTheirClassesCost) {
  // 22 + 2 * 65 + 783, and two of no class at 65 each
  const auto known = luo_suda_program(
      "[{instructions: 6, classes: {add.int_const: 1, mul.float_reg: 2, div.float_reg: 1}}, {load: 200}]");
  EXPECT_EQ(known.computation_cycles, 22 + 2 * 65 + 783 + 2 * 65);
  // Runs that meet, over iterations: 3 * (44 + 65)
  const auto repeated = luo_suda_program(
      "[{repeat: 3, body: [{instructions: 1, classes: {mul.int_const: 1}}, {instructions: 1}]}]");
  EXPECT_EQ(repeated.computation_cycles, 3 * (44 + 65));
  EXPECT_EQ(luo_suda_program("[{instructions: 6}, {load: 200}]").computation_cycles, 6 * 65);
}

TEST(LuoSudaEquations, Equation1IsWhatAWarpMovesInAnAccess) {
  // 32 threads * 4 bytes in 1 transaction of 200 cycles: 0.64 bytes per cycle, times 1242 MHz = 794.88 MB/s
  EXPECT_DOUBLE_EQ(luo_suda_warp_bandwidth_gb_s(4, 1, 200, 1242), 0.79488);
  // 16 transactions: 0.04 bytes per cycle = 49.68 MB/s
  EXPECT_DOUBLE_EQ(luo_suda_warp_bandwidth_gb_s(4, 16, 200, 1242), 0.04968);
}

struct MpdCase {
  double warps, transactions, mpd;
};
void PrintTo(const MpdCase& one, std::ostream* out) {
  *out << one.warps << " warps, " << one.transactions << " transactions";
}
class Mpd : public testing::TestWithParam<MpdCase> {};

TEST_P(Mpd, IsThatOfEquation2) {
  const auto [warps, transactions, mpd] = GetParam();
  const double warp_bandwidth = luo_suda_warp_bandwidth_gb_s(4, transactions, 200, 1242);
  EXPECT_EQ(luo_suda_mpd(warps, 111.9, 24, warp_bandwidth), mpd);
}

INSTANTIATE_TEST_SUITE_P(
    Gtx260, Mpd,
    testing::Values(         // one transaction: 24 * 0.79488 = 19.07712 GB/s for a warp on each SM
        MpdCase{1, 1, 1},    // 111.9 / 19.08 = 5.9, floor 5; but there is 1 warp
        MpdCase{2, 1, 2},    // 111.9 / 38.15 = 2.9, floor 2
        MpdCase{3, 1, 1},    // 111.9 / 57.23 = 1.96, floor 1
        MpdCase{8, 1, 1},    // 111.9 / 152.6 = 0.7, floor 0: read as 1
        MpdCase{8, 16, 8},   // sixteen: 24 * 8 * 0.04968 = 9.54; 11.7, floor 11; but there are 8 warps
        MpdCase{16, 16, 5},  // 111.9 / 19.08 = 5.9, floor 5
        MpdCase{32, 16, 2}   // 111.9 / 38.15 = 2.9, floor 2
        ));

struct CpdCase {
  double proportion, warps, most_warps, cpd1, cpd2, cpd;
};
void PrintTo(const CpdCase& one, std::ostream* out) {
  *out << one.warps << " of " << one.most_warps << " warps, proportion " << one.proportion;
}
class Cpd : public testing::TestWithParam<CpdCase> {};

TEST_P(Cpd, IsThatOfEquations3To5) {
  const CpdCase& test = GetParam();
  EXPECT_DOUBLE_EQ(luo_suda_cpd1(figures(), test.proportion, test.warps), test.cpd1);
  EXPECT_DOUBLE_EQ(luo_suda_cpd2(figures(), test.proportion, test.warps, test.most_warps), test.cpd2);
  EXPECT_DOUBLE_EQ(luo_suda_cpd(figures(), test.proportion, test.warps, test.most_warps), test.cpd);
}

INSTANTIATE_TEST_SUITE_P(
    ByHand, Cpd,
    testing::Values(
        // P = 0.25: CPD1 = 0.25 * (N - 11) + 3; n = 80 * 0.25^2 = 5. m = 26: (m - 1)^2 = 625
        CpdCase{0.25, 11, 26, 3, 7, 3},        // 0.25 * 0 + 3; 5 / 25 * sqrt(625 - 15^2 = 400) + 3 = 4 + 3
        CpdCase{0.25, 19, 26, 5, 7.8, 5},      // 0.25 * 8 + 3; 5 / 25 * sqrt(625 - 7^2 = 576) + 3 = 4.8 + 3
        CpdCase{0.25, 26, 26, 6.75, 8, 6.75},  // 0.25 * 15 + 3; the limit n + a
        CpdCase{0.25, 32, 32, 8.25, 8, 8},     // m = 32: 0.25 * 21 + 3 is above the limit
        CpdCase{0.25, 1, 26, 0.5, 3, 1},       // 0.25 * -10 + 3: less than one warp, read as 1
        CpdCase{0.5, 20, 32, 3, 3, 3},         // P = c: n = 0, both are a
        // P = 0.75: n = 5 again; CPD1 = -0.25 * (N - 11) + 3 falls with the warps and is not taken
        CpdCase{0.75, 19, 26, 1, 7.8, 7.8}, CpdCase{0.75, 26, 26, -0.75, 8, 8},
        CpdCase{0.75, 1, 1, 5.5, 3, 3}));  // an SM that takes one warp: no division by m - 1

TEST(LuoSudaEquations, CpdNeverFallsWithTheWarps) {
  for (const double proportion : {0.0, 0.2623, 0.282, 0.4584, 0.5, 0.5297, 0.7662, 0.8697, 1.0}) {
    for (double warps = 2; warps <= 32; ++warps) {
      EXPECT_GE(luo_suda_cpd(figures(), proportion, warps, 32),
                luo_suda_cpd(figures(), proportion, warps - 1, 32))
          << proportion << " " << warps;
    }
  }
  // which CPD1 as printed does for the computing intensive benchmarks of Table 3, down to below zero
  EXPECT_LT(luo_suda_cpd1(figures(), 0.8697, 32), 0);
}

struct PeriodCase {
  const char* what;
  LuoSudaPeriod period;  // c_i, m_i, m_{i-1} where c_{i-1} < m_{i-1}
  double warps, cpd, mpd;
  int type;
  LuoSudaPeriodTime time;  // computation, T_p, T_c
};
void PrintTo(const PeriodCase& one, std::ostream* out) {
  *out << one.what;
}
class PeriodTime : public testing::TestWithParam<PeriodCase> {};

TEST_P(PeriodTime, IsThatOfItsType) {
  const PeriodCase& test = GetParam();
  EXPECT_EQ(test.period.type(), test.type);
  const auto time = luo_suda_period_time(test.period, test.warps, test.cpd, test.mpd);
  EXPECT_EQ(time.computation, test.time.computation) << test.what;
  EXPECT_EQ(time.waiting_previous, test.time.waiting_previous) << test.what;
  EXPECT_EQ(time.waiting_current, test.time.waiting_current) << test.what;
}

INSTANTIATE_TEST_SUITE_P(
    ByHand, PeriodTime,
    testing::Values(
        PeriodCase{"(6): 8 * 90 / 4", {90, 60}, 8, 4, 1, 1, {180, 0, 0}},
        PeriodCase{"(6): 8 * 10 / 3 = 26.7, rounded up", {10, 10}, 8, 3, 1, 1, {27, 0, 0}},
        PeriodCase{"(7, 8): 8 * 20 / 4; 200 - 7 * 20", {20, 200}, 8, 4, 1, 2, {40, 0, 60}},
        PeriodCase{"(8): 200 - 11 * 20 is negative", {20, 200}, 12, 4, 1, 2, {60, 0, 0}},
        PeriodCase{
            "(9, 10): 8 * 70 / 4; 200 * floor(8 / 2 - 1) - 7 * 70", {70, 60, 200}, 8, 4, 2, 3, {140, 110, 0}},
        PeriodCase{"(10): 200 * floor(8 / 3 - 1 = 1.7) - 7 * 70", {70, 60, 200}, 8, 4, 3, 3, {140, 0, 0}},
        PeriodCase{"(11, 12): 8 * 20 / 4; 200 * 3 - 7 * 20; (13): 300 - (140 + 460)",
                   {20, 300, 200},
                   8,
                   4,
                   2,
                   4,
                   {40, 460, 0}},
        PeriodCase{"(12): 200 * 1 - 140; (13): 300 - (140 + 60)", {20, 300, 200}, 8, 4, 4, 4, {40, 60, 100}},
        PeriodCase{"(12): 200 * 0 - 140; (13): 300 - 140", {20, 300, 200}, 8, 4, 8, 4, {40, 0, 160}},
        PeriodCase{"nothing", {0, 0}, 8, 4, 1, 1, {0, 0, 0}}));

TEST(LuoSudaEquations, Equation14IsTheSmallerTimeOverTheLarger) {
  EXPECT_DOUBLE_EQ(luo_suda_accuracy(80, 100), 0.8);
  EXPECT_DOUBLE_EQ(luo_suda_accuracy(100, 80), 0.8);
  EXPECT_EQ(luo_suda_accuracy(100, 0), 0);
  EXPECT_EQ(luo_suda_accuracy(0, 0), 1);
  // 0.8 and 0.2: (0.8 + 0.2) / 2 = 0.5; sqrt(0.16) = 0.4
  const auto means = luo_suda_accuracy(std::vector<std::pair<double, double>>{{80, 100}, {500, 100}});
  EXPECT_DOUBLE_EQ(means.arithmetic_mean, 0.5);
  EXPECT_DOUBLE_EQ(means.geometric_mean, 0.4);
  EXPECT_EQ(luo_suda_accuracy(std::vector<std::pair<double, double>>{}).arithmetic_mean, 0);
}

TEST(LuoSudaEquations, TheMeansOfTable4AreThe90PercentOfTheAbstract) {
  std::vector<std::pair<double, double>> arithmetic, geometric;
  for (const double percent : {95.6, 90.7, 91.0, 93.9, 82.6, 88.4}) arithmetic.emplace_back(percent, 100);
  for (const double percent : {95.4, 90.5, 90.8, 93.8, 82.5, 88.1}) geometric.emplace_back(percent, 100);
  EXPECT_NEAR(luo_suda_accuracy(arithmetic).arithmetic_mean, 0.9037, 1e-4);  // 542.2 / 6
  EXPECT_NEAR(luo_suda_accuracy(geometric).arithmetic_mean, 0.9018, 1e-4);   // 541.1 / 6
}

// ---- From a program to its periods ----

// One line per period, sorted: "c m, after m_{i-1}: count".
std::string periods_of(const LuoSudaProgram& program) {
  std::vector<std::string> lines;
  for (const LuoSudaPeriod& period : program.periods) {
    lines.push_back(fmt::format("{} {}, after {}: {}", period.computation_cycles, period.memory_cycles,
                                period.previous_memory_cycles, period.count));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "; "));
}

struct ProgramCase {
  const char* items;
  const char* periods;
};
void PrintTo(const ProgramCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.items));
}
class LuoSudaPeriods : public testing::TestWithParam<ProgramCase> {};

TEST_P(LuoSudaPeriods, AreThoseOfTheProgram) {
  EXPECT_EQ(periods_of(luo_suda_program(GetParam().items)), GetParam().periods);
}

INSTANTIATE_TEST_SUITE_P(
    Table, LuoSudaPeriods,
    testing::Values(ProgramCase{"[]", ""}, ProgramCase{"[calc: 0]", "0 0, after 0: 1"},
                    ProgramCase{"[instructions: 2, calc: 7]", "137 0, after 0: 1"},  // 2 * 65 + 7
                    ProgramCase{"[load: 20]", "0 20, after 0: 1"},  // no computation task before it
                    ProgramCase{"[load: 20, store: 30, calc: 5]", "0 50, after 0: 1; 5 0, after 50: 1"},
                    ProgramCase{"[calc: 30, load: 20, calc: 5]",
                                "30 20, after 0: 1; 5 0, after 0: 1"},  // 30 >= 20: no waiting
                    ProgramCase{"[{repeat: 1000000, body: [calc: 3]}]", "3000000 0, after 0: 1"},
                    ProgramCase{"[{repeat: 1000000, body: [load: 3]}]", "0 3000000, after 0: 1"},
                    ProgramCase{"[{repeat: 1000000, body: [calc: 3, load: 20]}]",
                                "3 20, after 0: 1; 3 20, after 20: 999999"},
                    ProgramCase{"[{repeat: 1000000, body: [load: 20, calc: 3]}]",
                                "0 20, after 0: 1; 3 0, after 20: 1; 3 20, after 20: 999999"},
                    // the loop's ends are parts of its neighbours
                    ProgramCase{"[calc: 1, {repeat: 10, body: [calc: 3, load: 20, calc: 4]}, load: 9]",
                                "4 20, after 0: 1; 4 9, after 20: 1; 7 20, after 20: 9"},
                    ProgramCase{
                        "[{repeat: 5, body: [{repeat: 7, body: [calc: 3, load: 20]}, store: 1]}]",
                        "3 20, after 0: 1; 3 20, after 20: 25; 3 20, after 21: 4; 3 21, after 20: 5"}));

struct TransactionCase {
  const char* access;
  double transactions, bytes;
};
void PrintTo(const TransactionCase& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.access));
}
class Transactions : public testing::TestWithParam<TransactionCase> {};

TEST_P(Transactions, AreThoseOfAHalfWarp) {
  const KernelProgram program = test::program_of(fmt::format("program: [load: {}]", GetParam().access));
  const auto task =
      luo_suda_memory_task(std::get<MemoryAccess>(program.program.front().what), 120, figures());
  EXPECT_EQ(task.cycles, 200 * GetParam().transactions) << GetParam().access;
  EXPECT_EQ(task.bytes, GetParam().bytes) << GetParam().access;
}

INSTANTIATE_TEST_SUITE_P(
    Gtx260, Transactions,
    testing::Values(TransactionCase{"{access: uniform, bytes: 4}", 1, 128},
                    TransactionCase{"{access: coalesced}", 1, 128},  // 16 * 4 bytes
                    TransactionCase{"{access: coalesced, bytes: 8}", 1,
                                    256},  // 16 * 8 bytes: 1 segment of 128
                    TransactionCase{"{access: coalesced, bytes: 16}", 2, 512},
                    TransactionCase{"{access: strided, bytes: 4, stride: 8}", 1, 128},
                    TransactionCase{"{access: strided, bytes: 4, stride: -32}", 4, 128},
                    TransactionCase{"{access: strided, bytes: 4, stride: 4096}", 16, 128},
                    TransactionCase{"{access: strided, bytes: 4, sectors: 16, stride: 4 * N}", 2, 128},
                    TransactionCase{"{access: strided, bytes: 4, sectors: 32, stride: 4 * N}", 16, 128},
                    TransactionCase{"{access: strided, bytes: 4}", 16, 128},
                    TransactionCase{"{access: scattered, bytes: 4, sectors: 6}", 3, 128},
                    TransactionCase{"{access: scattered, bytes: 4}", 16, 128},
                    TransactionCase{"{cycles: 120, access: coalesced, bytes: 16}", 0.6,
                                    512}));  // 120 cycles as they stand

// ---- The time of a launch ----

constexpr const char* kFourTypes =
    "[calc: 190, load: 40, calc: 60, load: {cycles: 200, access: coalesced, bytes: 16},"
    " calc: 60, load: 100, calc: 70, store: 40]";

TEST(LuoSuda, AProgramWithAllFourTypesByHand) {
  // 24 blocks of 64 threads: one block, two warps on each of the 24 SMs. N_act = 2.
  // P = (190 + 60 + 60 + 70) / (380 + 40 + 200 + 100 + 40) = 0.5 = c, so that CPD = a = 3.
  //   1: c 190, m  40           type 1: ceil(2 * 190 / 3) = 127
  //   2: c  60, m 200 of 16 B   type 2: ceil(2 *  60 / 3) =  40; T_c = 200 - 60 = 140
  //   3: c  60, m 100           type 4: 40; Warp_bwt = 512 B * 1242 MHz / 200 = 3.18 GB/s,
  //                                     MPD = max(1, floor(111.9 / (2 * 24 * 3.18) = 0.7)) = 1;
  //                                     T_p = 200 * floor(2 / 1 - 1) - 60 = 140; T_c = 100 - (60 + 140) < 0
  //   4: c  70, m  40           type 3: ceil(2 * 70 / 3) = 47; Warp_bwt = 128 B * 1242 MHz / 100 = 1.59 GB/s,
  //                                     MPD = floor(111.9 / (2 * 24 * 1.59) = 1.5) = 1; T_p = 100 - 70 = 30
  // 127 + (40 + 140) + (40 + 140) + (47 + 30) = 564 cycles
  const LuoSudaTime time = time_of(luo_suda_program(kFourTypes), 24, 64);
  EXPECT_DOUBLE_EQ(time.proportion, 0.5);
  EXPECT_DOUBLE_EQ(time.cpd, 3);
  EXPECT_EQ(time.active_warps, 2);
  EXPECT_EQ(time.full_runs, 1);
  EXPECT_NEAR(cycles(time.total_us), 564, 1e-9);
  EXPECT_NEAR(cycles(time.computation_us), 254, 1e-9);       // 127 + 40 + 40 + 47
  EXPECT_NEAR(cycles(time.waiting_previous_us), 170, 1e-9);  // 140 + 30
  EXPECT_NEAR(cycles(time.waiting_current_us), 140, 1e-9);
  EXPECT_NEAR(cycles(time.type_us[0]), 127, 1e-9);
  EXPECT_NEAR(cycles(time.type_us[1]), 180, 1e-9);
  EXPECT_NEAR(cycles(time.type_us[2]), 77, 1e-9);
  EXPECT_NEAR(cycles(time.type_us[3]), 180, 1e-9);
  EXPECT_NEAR(time.total_us, 0.454106, 1e-6);  // 564 / 1242
}

TEST(LuoSuda, ALoopByHand) {
  // One warp on each SM; P = 50 / 150. CPD1 = (1/2 - 1/3) * (1 - 11) + 3 = 4/3, CPD2 = 3: ceil(50 / (4/3))
  // = 38.
  //   first c 0, m 100: 100; K - 1 times c 50, m 100, type 4: 38 + T_p 0 + T_c 100; last c 50: 38. In all 138
  //   K.
  for (const std::int64_t iterations : {3LL, 1000LL, 1'000'000'000'000LL, 1'000'000'000'000'000'000LL}) {
    const auto program = luo_suda_program("[{repeat: K, body: [load: 100, calc: 50]}]", {{"K", iterations}});
    EXPECT_EQ(program.periods.size(), 3u);  // whatever K
    EXPECT_DOUBLE_EQ(cycles(time_of(program, 24, 32).total_us), 138.0 * static_cast<double>(iterations));
  }
}

TEST(LuoSuda, InstructionClassesGiveThePartsTheirCosts) {
  // c = 10 * 65 + 783 = 1433; m = 200. P = 1433 / 1633 = 0.8775, above c: n = 80 * 0.3775^2 = 11.4;
  // one warp: sqrt(31^2 - 31^2) = 0, CPD = 3: ceil(1433 / 3) = 478 cycles
  LuoSudaClasses counts;
  counts.at(Op::add, LuoSudaOperands::float_reg) = 10;
  counts.at(Op::div, LuoSudaOperands::float_reg) = 1;
  const std::vector<LuoSudaTask> tasks = {{false, luo_suda_cycles(figures(), counts), 0}, {true, 200, 128}};
  const auto program = make_luo_suda_program(tasks);
  ASSERT_TRUE(program);
  EXPECT_NEAR(program->proportion(), 0.8775, 1e-4);
  EXPECT_NEAR(cycles(time_of(*program, 24, 32).total_us), 478, 1e-9);
}

TEST(LuoSuda, MoreBlocksThanAreActiveAreRunsOneAfterTheOther) {
  const LuoSudaProgram program = luo_suda_program(kFourTypes);
  // 20 blocks of 2 warps for each SM, 8 of them active (the limit of blocks): 2 runs of 16 warps, 1 of 8
  const LuoSudaTime time = time_of(program, 24 * 20, 64);
  EXPECT_EQ(time.full_runs, 2);
  EXPECT_EQ(time.active_warps, 16);
  EXPECT_EQ(time.remaining_active_warps, 8);
  EXPECT_DOUBLE_EQ(time.total_us,
                   2 * time_of(program, 24 * 8, 64).total_us + time_of(program, 24 * 4, 64).total_us);
  expect_parts_sum_up(time);
  // where occupancy allows 5 blocks: 4 runs of 10 warps
  const auto fewer = luo_suda_time(gtx_260(), {24 * 20, 64}, program, 5);
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->full_runs, 4);
  EXPECT_DOUBLE_EQ(fewer->total_us, 4 * time_of(program, 24 * 5, 64).total_us);
}

TEST(LuoSuda, MoreFullRunsNeverTakeLess) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const auto made =
        make_luo_suda_program(schedule_of(test::random_program(random, {}), {{"K", 3}, {"N", 2}}), figures());
    ASSERT_TRUE(made);
    const std::int64_t blocks = 1 + static_cast<std::int64_t>(random() % 1000);
    EXPECT_GE(time_of(*made, blocks + 24 * 8, 64).total_us,
              time_of(*made, blocks, 64).total_us * (1 - 1e-12));
  }
}

// As the paper has it: a warp's (N_act - 1) * c_i hides accesses in full, but takes only 1 / CPD of its time.
TEST(LuoSuda, MoreWarpsInOneRunMayTakeLess) {
  const LuoSudaProgram program = luo_suda_program("[calc: 20, load: 200]");
  EXPECT_NEAR(cycles(time_of(program, 24, 32).total_us), 220, 1e-9);  // CPD 1: 20 + 200
  // P = 1/11: CPD = (1/2 - 1/11) * (8 - 11) + 3 = 1.773; ceil(8 * 20 / 1.773 = 90.3) + (200 - 7 * 20)
  EXPECT_NEAR(cycles(time_of(program, 24, 256).total_us), 151, 1e-9);
}

// The model over periods written out, as close to the paper's text as it goes.
double written_out_cycles(const Schedule& schedule, double warps) {
  struct CalculationPeriod {
    double c = 0, m = 0, bytes = 0;
  };
  std::vector<CalculationPeriod> periods;
  bool in_memory = true;
  const auto written = written_out(schedule, 100'000);
  EXPECT_TRUE(written);
  for (const Period& period : *written) {
    const auto& shares = schedule.origins[period.origin];
    if (period.kind == PeriodKind::calculation) {
      if (in_memory) periods.emplace_back();
      double instructions = 0;
      for (const auto& share : shares) instructions += static_cast<double>(share.instructions);
      periods.back().c += instructions > 0 ? 65 * instructions : period.cycles;
      in_memory = false;
    } else {
      if (periods.empty()) periods.emplace_back();
      const LuoSudaTask task =
          luo_suda_memory_task(std::get<MemoryAccess>(shares.front().item->what), period.cycles, figures());
      periods.back().m += task.cycles;
      periods.back().bytes += task.bytes;
      in_memory = true;
    }
  }
  double computation = 0, all = 0;
  for (const auto& period : periods) {
    computation += period.c;
    all += period.c + period.m;
  }
  const double cpd = luo_suda_cpd(figures(), all > 0 ? computation / all : 1, warps, 32);
  double total = 0;
  CalculationPeriod previous;
  for (const auto& [c, m, bytes] : periods) {
    double t_p = 0, t_c = 0;
    if (previous.c < previous.m) {
      const double warp_bandwidth = previous.bytes / previous.m * 1242e6;
      const double mpd = std::max(1.0, std::min(warps, std::floor(111.9e9 / (warps * 24 * warp_bandwidth))));
      t_p = std::max(previous.m * std::floor(warps / mpd - 1) - (warps - 1) * c, 0.0);
    }
    if (c < m) t_c = std::max(m - ((warps - 1) * c + t_p), 0.0);
    total += std::ceil(warps * c / cpd) + t_p + t_c;
    previous = {c, m, bytes};
  }
  return total;
}

TEST(LuoSuda, AgreesWithThePeriodsWrittenOut) {
  std::mt19937 random(11);
  int with_loops = 0;
  for (int i = 0; i < 3000; ++i) {
    const KernelProgram program = test::random_program(random, {});
    const Schedule schedule = schedule_of(program, {{"K", static_cast<std::int64_t>(random() % 9)},
                                                    {"N", static_cast<std::int64_t>(random() % 5)}});
    if (schedule.period_count() > 100'000) continue;
    const auto made = make_luo_suda_program(schedule, figures());
    ASSERT_TRUE(made);
    const std::int64_t warps = 1 + static_cast<std::int64_t>(random() % 16);
    const double expected = written_out_cycles(schedule, static_cast<double>(warps));
    const LuoSudaTime time = time_of(*made, 24, 32 * warps);
    // a sum in another order may be a cycle more or less where it is rounded up
    EXPECT_NEAR(cycles(time.total_us), expected, 1e-9 * expected) << to_yaml(program) << warps;
    expect_parts_sum_up(time);
    for (const auto& step : schedule.steps) with_loops += step.loop != nullptr;
  }
  EXPECT_GT(with_loops, 1000);
}

TEST(LuoSuda, TheWorkDoesNotDependOnHowOftenLoopsRun) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    test::RandomProgramOptions options;
    options.counters = options.conditions = false;
    const KernelProgram program = test::random_program(random, options);
    std::vector<std::size_t> periods;
    for (const std::int64_t iterations : {1000LL, 1'000'000LL}) {
      const auto schedule = make_schedule(program, {{"K", iterations}, {"N", iterations}}, paper_durations());
      if (!schedule) continue;  // instructions that do not fit 64 bits
      const auto made = make_luo_suda_program(*schedule, figures());
      if (made) periods.push_back(made->periods.size());
    }
    if (periods.size() != 2) continue;
    EXPECT_EQ(periods[0], periods[1]) << to_yaml(program);
  }
}

// Instructions that meet across iterations make the schedule share its loops: written as a tree it has 2^60 parts.
TEST(LuoSuda, DeepNestsAreNotWalked) {
  std::string items = "[instructions: 3, load: 20, instructions: 2]";
  for (int depth = 0; depth < 60; ++depth) items = "[{repeat: 2, body: " + items + "}]";
  const LuoSudaProgram program = luo_suda_program(items);
  EXPECT_LE(program.periods.size(), 4u);
  EXPECT_DOUBLE_EQ(program.computation_cycles, 5 * 65 * std::exp2(60));
  EXPECT_DOUBLE_EQ(program.memory_cycles, 20 * std::exp2(60));
}

TEST(LuoSuda, HugeCountsGiveNumbersOrAnError) {
  std::string items = "[calc: 3, load: 20, instructions: 5, store: {access: scattered}]";
  for (int depth = 0; depth < 40; ++depth) {
    const KernelProgram program = test::program_of("program: " + items);
    const auto schedule = make_schedule(program, {}, paper_durations());
    ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
    const auto made = make_luo_suda_program(*schedule, figures());
    if (made) {
      for (const std::int64_t blocks : {1LL, 1LL << 62}) {
        const auto time = luo_suda_time(gtx_260(), {blocks, 512}, *made);
        if (!time) continue;
        EXPECT_TRUE(std::isfinite(time->total_us));
        expect_parts_sum_up(*time);
      }
      EXPECT_LT(depth, 20);
    } else {
      EXPECT_EQ(to_text(made.diagnostics()), "error: the program's time is too large for a number\n");
    }
    items = "[{repeat: 2^60, body: " + items + "}]";
  }
}

TEST(LuoSuda, NothingTakesNoTime) {
  for (const char* items :
       {"[]", "[calc: 0]", "[load: 0]", "[load: 0, calc: 0, store: 0]", "[instructions: 0]",
        "[{repeat: 0, body: [calc: 5]}]", "[{repeat: 2^60, body: [calc: 0, load: 0]}]"}) {
    EXPECT_EQ(time_of(luo_suda_program(items), 1'000'000, 512).total_us, 0) << items;
  }
}

TEST(LuoSuda, PlansAddUp) {
  LuoSudaTime sum;
  const LuoSudaTime time = time_of(luo_suda_program(kFourTypes), 100, 64);
  add_times(sum, time, 1);
  add_times(sum, time, 3);
  EXPECT_DOUBLE_EQ(sum.total_us, 4 * time.total_us);
  EXPECT_EQ(sum.active_warps, time.active_warps);
  EXPECT_EQ(sum.full_runs, time.full_runs);
  expect_parts_sum_up(sum);
}

// ---- What is refused ----

TEST(LuoSuda, AGpuWithoutMeasuredFiguresHasNoPrediction) {
  const Gpu& gpu = **GpuCatalogue::bundled().find("rtx-2080");
  const auto time = luo_suda_time(gpu, {100, 64}, luo_suda_program("[calc: 5]"));
  ASSERT_FALSE(time);
  EXPECT_EQ(time.diagnostics().front().message, "rtx-2080 has no figures for the model of Luo and Suda");
  EXPECT_NE(time.diagnostics().front().hint, "");
  Gpu unknown_bandwidth = gtx_260();
  unknown_bandwidth.memory_bandwidth_gb_s.reset();
  EXPECT_EQ(check_luo_suda(unknown_bandwidth).size(), 1u);
  EXPECT_TRUE(check_luo_suda(gtx_260()).empty());
}

TEST(LuoSuda, ALaunchThatTheGpuDoesNotTakeIsRefused) {
  const LuoSudaProgram program = luo_suda_program("[calc: 5]");
  EXPECT_FALSE(luo_suda_time(gtx_260(), {0, 64}, program));
  EXPECT_FALSE(luo_suda_time(gtx_260(), {1, 1024}, program));
  EXPECT_EQ(to_text(luo_suda_time(gtx_260(), {1, 64}, program, 0).diagnostics()),
            "error: no block of this launch fits on an SM of gtx-260\n");
}

struct BadFigures {
  const char* from;
  const char* to;
  const char* message;
};
void PrintTo(const BadFigures& one, std::ostream* out) {
  *out << testing::PrintToString(std::string(one.from)) << " made "
       << testing::PrintToString(std::string(one.to));
}
class BadLuoSudaFigures : public testing::TestWithParam<BadFigures> {};

TEST_P(BadLuoSudaFigures, AreNamed) {
  std::string text = test::read_file("simulator/gpu/catalogue/gtx-260.yaml");
  ASSERT_TRUE(read_gpu(text, "gtx-260.yaml"));
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto gpu = read_gpu(text, "gtx-260.yaml");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.diagnostics().front().message, GetParam().message);
  EXPECT_GT(gpu.diagnostics().front().line, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadLuoSudaFigures,
    testing::Values(
        BadFigures{"  cpd_b:", "  cpd_e:", "unknown key `cpd_e` in `luo_suda`"},
        BadFigures{"cpd_c: {value: 0.5", "cpd_c: {value: 1.5", "`cpd_c` is 1.5: it must be 0 to 1"},
        BadFigures{"cpd_a: {value: 3,", "cpd_a: {value: three,", "`cpd_a` must be a number"},
        BadFigures{"request_threads: {value: 16", "request_threads: {value: 12",
                   "`request_threads` is 12: it must divide the 32 threads of a warp"},
        BadFigures{"request_threads: {value: 16", "request_threads: {value: 0",
                   "`request_threads` is 0: it must be 1 to 32"},
        BadFigures{"    add: {int_const: 22", "    add: {int_const: -22",
                   "`int_const` is -22: it must be 0 to 1000000000"},
        BadFigures{"    add: {int_const", "    add: {int_konst", "unknown key `int_konst` in `add`"}));

}  // namespace
}  // namespace warptime
