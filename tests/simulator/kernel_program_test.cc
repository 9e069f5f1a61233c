#include "simulator/program/kernel_program.h"

#include <gtest/gtest.h>

#include "random_program.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

TEST(LineSet, IsSortedAndDisjoint) {
  LineSet lines;
  lines.add(12);
  lines.add(5, 6);
  lines.add(7);
  lines.add(6);
  EXPECT_EQ(to_string(lines), "5-7,12");
  lines.add(1, 20);
  EXPECT_EQ(to_string(lines), "1-20");
  EXPECT_TRUE(lines.contains(20));
  EXPECT_FALSE(lines.contains(21));
  EXPECT_EQ(to_string(LineSet()), "");
}

TEST(LineSet, IsReadBack) {
  for (const char* text : {"1", "5-7,12", "1,3,5-9", "2147483647"})
    EXPECT_EQ(to_string(*parse_line_set(text)), text);
  EXPECT_EQ(to_string(*parse_line_set(" 7 , 5 - 6")), "5-7");
  for (const char* text : {"", "0", "-3", "7-5", "1,", "1;2", "a", "1-", "99999999999", "1 2"}) {
    EXPECT_FALSE(parse_line_set(text)) << text;
  }
}

TEST(KernelProgram, TheSmallestIsOnlyItsProgram) {
  const KernelProgram program = program_of(
      "program:\n"
      "  - calc: 33\n"
      "  - repeat: K\n"
      "    body:\n"
      "      - load: 120\n"
      "      - load: 160\n"
      "      - calc: 17\n"
      "  - store: 100\n");
  ASSERT_EQ(program.program.size(), 3u);
  EXPECT_EQ(std::get<Calculation>(program.program[0].what).cycles, Expression(33));
  const Repeat& repeat = std::get<Repeat>(program.program[1].what);
  EXPECT_EQ(to_string(repeat.count), "K");
  ASSERT_EQ(repeat.body.size(), 3u);
  EXPECT_EQ(std::get<MemoryAccess>(repeat.body[1].what).cycles, Expression(160));
  EXPECT_EQ(std::get<MemoryAccess>(program.program[2].what).kind, MemoryAccess::Kind::store);
  EXPECT_EQ(parameter_names(program), std::vector<std::string>{"K"});
}

TEST(KernelProgram, PiecesOfAnUnrolledLoopAreReadBack) {
  const KernelProgram program = program_of(
      "program: [{repeat: K, unrolled: [{iterations: 4}, {iterations: 1, machine: {alu: 0.5, cbu: 2}}], "
      "body: "
      "[{calc: 1}]}]");
  const Repeat& repeat = std::get<Repeat>(program.program[0].what);
  ASSERT_EQ(repeat.unrolled.size(), 2u);
  EXPECT_EQ(repeat.unrolled[0].iterations, 4);
  EXPECT_EQ(repeat.unrolled[0].machine.total(), 0);
  EXPECT_EQ(repeat.unrolled[1].machine[Pipe::alu], 0.5);
  EXPECT_NE(
      to_yaml(program).find("    unrolled: [{iterations: 4}, {iterations: 1, machine: {alu: 0.5, cbu: 2}}]"),
      std::string::npos)
      << to_yaml(program);
  EXPECT_EQ(program_of(to_yaml(program)), program);
  EXPECT_EQ(program_of(to_json({program})), program);
}

TEST(KernelProgram, CyclesOfMachineInstructionsAreReadBack) {
  const KernelProgram program = program_of("program: [{instructions: 3, machine: {alu: 2, cycles: 13.5}}]");
  const Item& item = program.program[0];
  EXPECT_EQ(item.machine->total(), 2);
  EXPECT_EQ(item.machine->cycles, 13.5);
  EXPECT_TRUE(has_dependences(item));
  EXPECT_EQ(program_of(to_yaml(program)), program);
  EXPECT_EQ(program_of(to_json({program})), program);
}

TEST(KernelProgram, EveryKeyIsRead) {
  const KernelProgram program = program_of(R"(
warptime: 1
kernel: mtx
symbol: _Z3mtxiiPfS_S_
source: mtx.cu
compiler: clang 19.1.7
target: sm_75
flags: -O3 --rolled
description: one row per thread
parameters: {K: argument 0 (int K), blockDim.x: ""}
assumptions:
  - {line: 5, ptx: 30, text: the guard is taken to pass}
  - as simple as that
coverage: {modelled: 40, instructions: 41}
program:
  - instructions: 24
    lines: 5-7,12
    ptx: 24-37
  - load: {access: coalesced, cycles: K * 2, bytes: 4, sectors: 4, stride: 4 * N, note: atomic}
  - store: {access: scattered}
  - repeat: K
    counter: i
    body: [calc: i]
  - when: K < 3
    then: [calc: 1]
    else: [calc: 2.5]
)");
  EXPECT_EQ(program.provenance,
            (Provenance{"mtx", "_Z3mtxiiPfS_S_", "mtx.cu", "clang 19.1.7", "sm_75", "-O3 --rolled"}));
  EXPECT_EQ(program.description, "one row per thread");
  EXPECT_EQ(program.parameters, (std::vector<Parameter>{{"K", "argument 0 (int K)"}, {"blockDim.x", ""}}));
  EXPECT_EQ(program.assumptions,
            (std::vector<Assumption>{{5, 30, "the guard is taken to pass"}, {0, 0, "as simple as that"}}));
  EXPECT_EQ(program.instructions_modelled, 40);
  EXPECT_EQ(program.instructions_total, 41);
  ASSERT_EQ(program.program.size(), 5u);
  EXPECT_EQ(to_string(program.program[0].lines), "5-7,12");
  EXPECT_EQ(to_string(program.program[0].ptx), "24-37");
  const auto& load = std::get<MemoryAccess>(program.program[1].what);
  EXPECT_EQ(load.access, Access::coalesced);
  EXPECT_EQ(to_string(*load.cycles), "K * 2");
  EXPECT_EQ(load.bytes, 4);
  EXPECT_EQ(load.sectors, 4);
  EXPECT_EQ(load.stride, "4 * N");
  EXPECT_EQ(load.note, "atomic");
  EXPECT_EQ(std::get<Repeat>(program.program[3].what).counter, "i");
  const auto& when = std::get<When>(program.program[4].what);
  EXPECT_EQ(to_string(when.condition), "K < 3");
  EXPECT_EQ(std::get<Calculation>(when.else_items[0].what).cycles, Expression::decimal(2.5));
}

TEST(KernelProgram, IsWrittenReadably) {
  KernelProgram program;
  program.provenance.kernel = "mtx";
  program.parameters = {{"K", "argument 0 (int K)"}};
  program.assumptions = {{5, 30, "`id >= N` does not return"}};
  Item instructions{Instructions{24}};
  instructions.lines.add(5, 7);
  instructions.ptx.add(24, 37);
  MemoryAccess load;
  load.access = Access::coalesced;
  load.bytes = 4;
  load.sectors = 4;
  Repeat repeat;
  repeat.count = Expression::name("K");
  repeat.body = {Item{load}, Item{Calculation{Expression::decimal(2.5)}}};
  program.program = {instructions, Item{repeat}};
  EXPECT_EQ(to_yaml(program), R"(warptime: 3
kernel: mtx
parameters:
  K: argument 0 (int K)
assumptions:
  - {line: 5, ptx: 30, text: "`id >= N` does not return"}
program:
  - {instructions: 24, lines: 5-7, ptx: 24-37}
  - repeat: K
    body:
      - load: {access: coalesced, bytes: 4, sectors: 4}
      - calc: 2.5
)");
}

TEST(KernelProgram, YamlAndJsonReadBackToAnEqualProgram) {
  std::mt19937 random(3);
  test::RandomProgramOptions options;
  options.texts = true;
  options.whole_cycles = false;
  for (int i = 0; i < 3000; ++i) {
    const KernelProgram program = test::random_program(random, options);
    for (const std::string& text : {to_yaml(program), to_json({program})}) {
      const auto again = read_kernel_programs(text, "again");
      ASSERT_TRUE(again) << text << to_text(again.diagnostics());
      ASSERT_EQ(again->size(), 1u) << text;
      ASSERT_EQ(again->front(), program) << text;
    }
  }
}

TEST(KernelProgram, ClassesOfInstructionsAreWrittenReadably) {
  const std::string text =
      "warptime: 3\nprogram:\n  - {instructions: 4, classes: {add.int_const: 2, mad.float_reg: 1}, lines: "
      "3}\n";
  const KernelProgram program = program_of(text);
  const auto& classes = std::get<Instructions>(program.program[0].what).classes;
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->total(), 3);
  EXPECT_EQ(to_yaml(program), text);
  EXPECT_FALSE(program == program_of("program: [{instructions: 4, lines: 3}]"));
}

TEST(KernelProgram, SeveralAreSeveralDocumentsOrAJsonArray) {
  const std::vector<KernelProgram> programs = {program_of("kernel: a\nprogram: [calc: 1]"),
                                               program_of("kernel: b\nprogram: [calc: 2]")};
  for (const std::string& text : {to_yaml(programs), to_json(programs)}) {
    const auto again = read_kernel_programs(text, "again");
    ASSERT_TRUE(again) << to_text(again.diagnostics());
    EXPECT_EQ(*again, programs) << text;
  }
}

TEST(KernelProgram, NamesAreTheDeclaredThenTheUsed) {
  const KernelProgram program = program_of(
      "parameters: [N, M]\n"
      "program:\n"
      "  - repeat: K\n"
      "    counter: i\n"
      "    body: [calc: i + L + N]\n"
      "  - calc: i\n");
  EXPECT_EQ(parameter_names(program), (std::vector<std::string>{"N", "M", "K", "L", "i"}));
  EXPECT_EQ(used_names(program), (std::vector<std::string>{"K", "L", "N", "i"}));
}

std::string nested(int depth) {
  std::string text = "program: ";
  for (int i = 0; i < depth; ++i) text += "[{repeat: 2, body: ";
  text += "[calc: 1]";
  for (int i = 0; i < depth; ++i) text += "}]";
  return text;
}

TEST(KernelProgram, IsNestedUpTo200Deep) {
  EXPECT_TRUE(read_kernel_programs(nested(199), "deep"));
  for (const int depth : {200, 240, 1000, 100'000}) {
    const auto deep = read_kernel_programs(nested(depth), "deep");
    ASSERT_FALSE(deep) << depth;
    EXPECT_NE(to_text(deep.diagnostics()).find("nested"), std::string::npos) << to_text(deep.diagnostics());
  }
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(KernelProgram, HostileTextIsRefusedQuickly) {
  std::string bomb = "a0: &a0 [calc: 1, calc: 1]\n";  // 2^30 items when its aliases are written out
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  const std::vector<std::string> texts = {bomb,
                                          "program: &x [{repeat: 2, body: *x}]\n",
                                          repeated("[", 100'000),
                                          repeated("{", 100'000),
                                          repeated("- ", 100'000),
                                          repeated("{a: ", 100'000),
                                          repeated("? ", 100'000),
                                          repeated("!a ", 10'000),
                                          repeated("\"", 10'001),
                                          std::string(1000, '\0'),
                                          std::string("\xff\xfe\x00\x00\x01\xd8", 6),
                                          "program: [calc: " + repeated("(", 100'000) + "]",
                                          "program: [calc: " + repeated("9", 100'000) + "]",
                                          "program: *nothing\n",
                                          "%YAML 9.9\n---\nprogram: []\n",
                                          "program:\n\t- calc: 1\n"};
  for (const std::string& text : texts) {
    const auto read = read_kernel_programs(text, "hostile");
    ASSERT_FALSE(read) << text.substr(0, 60);
    EXPECT_LT(to_text(read.diagnostics()).size(), 20'000u) << text.substr(0, 60);
  }
}

TEST(KernelProgram, TextCutOffAnywhereDoesNotCrash) {
  const std::string text =
      to_yaml(test::sample("listing_7.yaml")) + "---\n" + to_json({test::sample("listing_9.yaml")});
  for (std::size_t length = 0; length < text.size(); ++length) {
    static_cast<void>(read_kernel_programs(text.substr(0, length), "cut"));
  }
}

TEST(KernelProgram, RandomlyDamagedTextDoesNotCrash) {
  std::mt19937 random(4);
  const std::string text = to_yaml(test::sample("listing_7.yaml"));
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 3; ++k)
      damaged[random() % damaged.size()] = "[]{}:-&*!#,\"'\n 0aK\t\x80"[random() % 21];
    static_cast<void>(read_kernel_programs(damaged, "damaged"));
  }
}

TEST(KernelProgram, SaysWhatItTakesOfAnSm) {
  KernelResources all;
  all.registers_per_thread = 40;
  all.shared_bytes_static = 8192;
  all.shared_bytes_dynamic = 512;
  all.max_threads = 256;
  all.required_threads = 128;
  all.min_blocks_per_sm = 2;
  KernelResources little;
  little.dynamic_shared_unknown = true;
  struct Case {
    const char* text;
    KernelResources resources;
  };
  for (const auto& [text, resources] : std::initializer_list<Case>{
           {"{registers: 40, shared_bytes: 8192, dynamic_shared_bytes: 512, max_threads_per_block: 256, "
            "required_threads_per_block: 128, min_blocks_per_sm: 2}",
            all},
           {"{dynamic_shared_bytes: unknown}", little},
           {"{}", {}}}) {
    const KernelProgram program =
        test::program_of(std::string("resources: ") + text + "\nprogram: [calc: 1]\n");
    ASSERT_TRUE(program.resources) << text;
    EXPECT_EQ(*program.resources, resources) << text;
    EXPECT_NE(to_yaml(program).find(std::string("resources: ") + text + "\n"), std::string::npos)
        << to_yaml(program);
    EXPECT_EQ(test::program_of(to_yaml(program)), program);
    EXPECT_EQ(test::program_of(to_json({program})), program);
  }
  EXPECT_FALSE(test::program_of("program: [calc: 1]\n").resources);
  EXPECT_NE(test::program_of("resources: {registers: 40}\nprogram: [calc: 1]\n"),
            test::program_of("program: [calc: 1]\n"));
}

TEST(KernelProgram, EstimatedRegistersAreApartFromThoseThatModelsRead) {
  for (const std::string text : {"{registers: 34, registers_estimated: true}",
                                 "{registers: 34, registers_estimated: true, shared_bytes: 512}"}) {
    const KernelProgram program = test::program_of("resources: " + text + "\nprogram: [calc: 1]\n");
    EXPECT_EQ(program.estimated_registers, 34);
    EXPECT_EQ(program.resources.has_value(), text.find("shared") != std::string::npos);
    if (program.resources) {
      EXPECT_FALSE(program.resources->registers_per_thread);
    }
    EXPECT_NE(to_yaml(program).find("resources: " + text + "\n"), std::string::npos) << to_yaml(program);
    EXPECT_EQ(test::program_of(to_yaml(program)), program);
    EXPECT_EQ(test::program_of(to_json({program})), program);
  }
  const KernelProgram known =
      test::program_of("resources: {registers: 34, registers_estimated: false}\nprogram: [calc: 1]\n");
  EXPECT_FALSE(known.estimated_registers);
  EXPECT_EQ(known.resources->registers_per_thread, 34);
}

TEST(KernelProgram, TheKeysOfFormat1AreStillRead) {
  const auto read = read_kernel_programs(
      "warptime: 1\nprogram:\n  - {load: {access: coalesced, bytes: 4, touched: \"4 * N\"}}\n", "f.yaml");
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  EXPECT_NE(to_yaml(read->front()).find("footprint: 4 * N"), std::string::npos);
}

TEST(KernelProgram, DetailIsReadAndWritten) {
  const KernelProgram program = program_of(
      "arrays: {in: argument 0 (const float* in)}\n"
      "program:\n"
      "  - {load: {access: coalesced, bytes: 4, address: 4 * threadIdx.x, array: in}, rises: 3}\n"
      "  - {instructions: 2, needs: [1], chain: 9.5, barrier: true, on_chip: [\n"
      "      {load: constant, bytes: 8}, {atomic: shared, bytes: 4, address: 4 * threadIdx.x}]}\n"
      "  - {store: {access: scattered, bytes: 4, array: in}, row: {by: in, of: 4 * i, bytes: 4 * N, at: "
      "0}}\n");
  EXPECT_EQ(program.arrays, (std::vector<Array>{{"in", "argument 0 (const float* in)"}}));
  EXPECT_EQ(std::get<MemoryAccess>(program.program[0].what).array, "in");
  EXPECT_EQ(program.program[0].detail->rises, 3);
  const ItemDetail& detail = *program.program[1].detail;
  EXPECT_EQ(detail.needs, std::vector<int>{1});
  EXPECT_EQ(detail.chain, 9.5);
  EXPECT_TRUE(detail.barrier);
  ASSERT_EQ(detail.on_chip.size(), 2u);
  EXPECT_EQ(detail.on_chip[0], (ChipAccess{ChipAccess::Kind::load, ChipAccess::Space::constant, 8}));
  EXPECT_EQ(detail.on_chip[1].kind, ChipAccess::Kind::atomic);
  EXPECT_EQ(to_string(*detail.on_chip[1].address), "4 * threadIdx.x");
  const RowOfData& row = program.program[2].detail->row.value();
  EXPECT_EQ(row.by, "in");
  EXPECT_EQ(to_string(row.of) + "; " + to_string(row.bytes) + "; " + to_string(row.at), "4 * i; 4 * N; 0");
  EXPECT_EQ(program_of(to_yaml(program)), program);
  EXPECT_EQ(program_of(to_json({program})), program);
}

TEST(KernelProgram, DetailThatIsWrongIsRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"{instructions: 1, needs: 1}", "`needs` must be a list"},
      {"{instructions: 1, needs: [0]}", "`needs` is 0"},
      {"{instructions: 1, rises: -1}", "`rises` is negative"},
      {"{instructions: 1, chain: -1}", "`chain` is negative"},
      {"{instructions: 1, barrier: 1}", "`barrier` must be true or false"},
      {"{instructions: 1, on_chip: {load: shared}}", "`on_chip` must be a list"},
      {"{load: {access: scattered}, row: {of: 4, bytes: 4}}", "`row` needs `at`"},
      {"{load: {access: scattered}, row: {of: 4, bytes: 4, at: 0, on: 1}}", "unknown key `on`"},
      {"{instructions: 1, on_chip: [{load: register}]}", "needs a space"},
      {"{instructions: 1, on_chip: [{bytes: 4}]}", "needs a space"},
      {"{instructions: 1, on_chip: [{load: shared, store: shared}]}", "one of load, store and atomic"},
      {"{instructions: 1, on_chip: [{load: shared, bytes: 0}]}", "`bytes` is 0"},
  };
  for (const auto& [item, message] : wrong) {
    const auto read = read_kernel_programs(std::string("program:\n  - ") + item + "\n", "a.yaml");
    ASSERT_FALSE(read) << item;
    EXPECT_NE(to_text(read.diagnostics()).find(message), std::string::npos) << to_text(read.diagnostics());
  }
}

TEST(KernelProgramBlock, IsReadAndWritten) {
  const KernelProgram program = test::program_of("block: [16, 8]\nprogram: [calc: 1]\n");
  EXPECT_EQ(program.block_shape, (std::array<std::int64_t, 3>{16, 8, 1}));
  EXPECT_NE(to_yaml(program).find("block: [16, 8, 1]\n"), std::string::npos) << to_yaml(program);
  EXPECT_EQ(test::program_of(to_yaml(program)), program);
  EXPECT_NE(program, test::program_of("program: [calc: 1]\n"));
}

}  // namespace
}  // namespace warptime
