// What `warptime models` says of two kernel programs: before, after, and the words.
#include "models/changes.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace warptime::models {
namespace {

struct Case {
  const char* says;
  const char* before;
  const char* after;
  std::vector<std::string> words;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.says;
}

KernelProgram program(const std::string& text) {
  auto programs = read_kernel_programs(text, "case.yaml");
  EXPECT_TRUE(programs) << to_text(programs ? Diagnostics() : programs.diagnostics());
  return programs ? programs->front() : KernelProgram();
}

std::vector<std::string> words_of(const std::vector<ProgramChange>& changes) {
  std::vector<std::string> words;
  for (const auto& change : changes) words.push_back(to_text(change));
  return words;
}

constexpr const char* loop_of_9 = R"(
program:
  - {instructions: 4, lines: 10}
  - repeat: K
    lines: 14
    body:
      - {instructions: 9, lines: 14}
      - {load: {access: coalesced, bytes: 4, sectors: 4}, lines: 11}
  - {store: {access: coalesced, bytes: 4, sectors: 4}, lines: 20}
)";

const std::vector<Case> cases = {
    {"the same program has not changed", loop_of_9, loop_of_9, {}},
    {"lines and lines of PTX move without a word",
     loop_of_9,
     R"(
program:
  - {instructions: 4, lines: 12, ptx: 7}
  - repeat: K
    lines: 16
    body:
      - {instructions: 9, lines: 16}
      - {load: {access: coalesced, bytes: 4, sectors: 4}, lines: 13}
  - {store: {access: coalesced, bytes: 4, sectors: 4}, lines: 22}
)",
     {}},
    {"a loop with more arithmetic, a further load, and one made strided",
     loop_of_9,
     R"(
program:
  - {instructions: 4, lines: 10}
  - repeat: K
    lines: 14
    body:
      - {instructions: 12, lines: 14}
      - {load: {access: strided, bytes: 4, sectors: 32, stride: 4 * N}, lines: 11}
      - {load: {access: strided, bytes: 8, sectors: 16, stride: 16}, lines: 12}
  - {store: {access: coalesced, bytes: 4, sectors: 4}, lines: 20}
)",
     {"loop body (line 14): 9 → 12 instructions; +1 strided load; coalesced load of line 11 made strided by "
      "4 * N bytes"}},
    {"the same of several accesses is said once",
     R"(
program:
  - repeat: K / 4
    lines: 5
    body:
      - {load: {access: coalesced, bytes: 4}, lines: 6}
      - {load: {access: coalesced, bytes: 4}, lines: 6}
)",
     R"(
program:
  - repeat: K / 4
    lines: 5
    body:
      - {load: {access: scattered, bytes: 4}, lines: 6}
      - {load: {access: scattered, bytes: 4}, lines: 6}
)",
     {"loop body (line 5): 2 coalesced loads of line 6 made scattered"}},
    {"a load that is gone, and a store that came",
     "program: [{load: {access: uniform}}, {load: {access: uniform}}]",
     "program: [{load: {access: uniform}}, {store: {access: scattered}}]",
     {"outside loops: +1 scattered store; -1 uniform load"}},
    {"a wider load",
     "program: [{load: {access: coalesced, bytes: 4, sectors: 4}}]",
     "program: [{load: {access: coalesced, bytes: 16, sectors: 16}}]",
     {"outside loops: coalesced load 4 → 16 bytes a thread, 4 → 16 sectors"}},
    {"another stride",
     "program: [{load: {access: strided, stride: 8}}]",
     "program: [{load: {access: strided, stride: 4 * N}}]",
     {"outside loops: strided load stride 8 → 4 * N bytes"}},
    {"another duration, by hand",
     "program: [{load: 120}]",
     "program: [{load: 160}]",
     {"outside loops: load of 120 cycles 120 → 160 cycles"}},
    {"sectors, where they alone tell",
     "program: [{load: {access: strided, sectors: 8}}]",
     "program: [{load: {access: strided, sectors: 16}}]",
     {"outside loops: strided load 8 → 16 sectors"}},
    {"bytes of the launch, where they alone tell",
     "program: [{load: {access: coalesced, footprint: 4 * N}}]",
     "program: [{load: {access: coalesced, footprint: 8 * N}}]",
     {"outside loops: coalesced load 4 * N → 8 * N bytes of the whole launch"}},
    {"another trip count",
     "program: [{repeat: K, body: [{instructions: 3}]}]",
     "program: [{repeat: K - 1, body: [{instructions: 3}]}]",
     {"loop body: K → K - 1 iterations"}},
    {"a new loop is told with what it does",
     "program: [{instructions: 3}]",
     "program: [{instructions: 3}, {repeat: N, lines: 7, body: [{instructions: 2}, {load: {access: "
     "uniform}}]}]",
     {"loop (line 7): is new: N iterations of 2 instructions, 1 uniform load"}},
    {"a loop that is gone",
     "program: [{repeat: N, lines: 7, body: [{instructions: 2}]}]",
     "program: []",
     {"loop (line 7): is gone: N iterations of 2 instructions"}},
    {"unrolled loops of one line are told apart by their counts",
     R"(
program:
  - {repeat: K / 4, lines: 5, body: [{instructions: 20}]}
  - {repeat: K % 4, lines: 5, body: [{instructions: 5}]}
)",
     R"(
program:
  - {repeat: K / 4, lines: 5, body: [{instructions: 24}]}
  - {repeat: K % 4, lines: 5, body: [{instructions: 6}]}
)",
     {"loop body (line 5, K / 4 iterations): 20 → 24 instructions",
      "loop body (line 5, K % 4 iterations): 5 → 6 instructions"}},
    {"an inner loop is one, and its outer loop stays quiet",
     R"(
program:
  - {repeat: N, lines: 5, body: [{instructions: 2}, {repeat: K, lines: 6, body: [{instructions: 7}]}]}
)",
     R"(
program:
  - {repeat: N, lines: 5, body: [{instructions: 2}, {repeat: K, lines: 6, body: [{instructions: 8}]}]}
)",
     {"inner loop body (line 6): 7 → 8 instructions"}},
    {"a loop before it does not shift the others",
     "program: [{repeat: K, lines: 9, body: [{instructions: 5}]}]",
     R"(
program:
  - {repeat: N, lines: 3, body: [{instructions: 1}]}
  - {repeat: K, lines: 12, body: [{instructions: 5}]}
)",
     {"loop (line 3): is new: N iterations of 1 instruction"}},
    {"a loop that came under a branch is the same loop",
     "program: [{instructions: 2}, {repeat: K, lines: 4, body: [{instructions: 5}]}]",
     R"(
program:
  - {instructions: 2}
  - {when: K >= 1, lines: 4, then: [{instructions: 1}, {repeat: K, lines: 4, body: [{instructions: 5}]}]}
)",
     {"where `K >= 1` (line 4): new branch: 1 instruction"}},
    {"both sides of a branch",
     "program: [{when: k < 2, lines: 3, then: [{instructions: 2}], else: [{instructions: 3}]}]",
     "program: [{when: k < 2, lines: 3, then: [{instructions: 4}], else: [{instructions: 3}, {store: "
     "{access: uniform}}]}]",
     {"where `k < 2` (line 3): 2 → 4 instructions", "where not `k < 2` (line 3): +1 uniform store"}},
    {"another condition",
     "program: [{when: k < 2, then: [{instructions: 2}]}]",
     "program: [{when: k < 4, then: [{instructions: 2}]}]",
     {"where `k < 4`: the condition was `k < 2`"}},
    {"the same parts in another order",
     "program: [{instructions: 2}, {load: {access: uniform}}]",
     "program: [{load: {access: uniform}}, {instructions: 2}]",
     {"program: the same instructions, loads and stores in another arrangement"}},
    {"parameters come and go",
     "parameters: {K: argument 0 (int K)}\nprogram: []",
     "parameters: {L: argument 0 (int L)}\nprogram: []",
     {"parameters: `K` is gone (argument 0 (int K))", "parameters: `L` is new (argument 0 (int L))"}},
    {"what is assumed",
     "assumptions: [{line: 3, text: a guard}]\nprogram: []",
     "assumptions: [{line: 4, text: a guard}, {line: 8, text: another}]\nprogram: []",
     {"assumed (line 8): another"}},
    {"parts that are not all modelled",
     "not_modelled: [barriers count as calculation]\nprogram: []",
     "not_modelled: [a limit]\nprogram: []",
     {"no longer in it: barriers count as calculation", "now in it: a limit"}},
    {"what is not modelled",
     "coverage: {modelled: 10, instructions: 10}\nprogram: []",
     "coverage: {modelled: 9, instructions: 10}\nprogram: []",
     {"instructions that are not modelled: 0 → 1"}},
};

class ProgramChanges : public testing::TestWithParam<Case> {};

TEST_P(ProgramChanges, says) {
  EXPECT_EQ(words_of(program_changes(program(GetParam().before), program(GetParam().after))),
            GetParam().words)
      << GetParam().says;
}

// No change stays unsaid, whichever way it goes.
TEST_P(ProgramChanges, says_something_of_the_way_back_too) {
  const auto back = program_changes(program(GetParam().after), program(GetParam().before));
  EXPECT_EQ(back.empty(), GetParam().words.empty()) << GetParam().says;
}

INSTANTIATE_TEST_SUITE_P(Table, ProgramChanges, testing::ValuesIn(cases));

TEST(ProvenanceChanges, name_compiler_target_and_flags) {
  const auto before = program("compiler: clang 19.1.7\ntarget: sm_75\nflags: -O3\nprogram: []");
  const auto after = program("compiler: nvcc 13.0.88\ntarget: sm_90\nflags: -O3 --rolled\nprogram: []");
  EXPECT_EQ(words_of(provenance_changes(before.provenance, after.provenance)),
            (std::vector<std::string>{"compiler: clang 19.1.7 → nvcc 13.0.88", "target: sm_75 → sm_90",
                                      "flags: -O3 → -O3 --rolled"}));
}

// Thousands of accesses, nearly all of them changed: in time, and none left out.
TEST(ProgramChanges, of_long_programs_add_up) {
  KernelProgram before, after;
  MemoryAccess access;
  access.access = Access::coalesced;
  for (int i = 0; i < 5000; ++i) before.program.push_back({access, {}, {}});
  access.access = Access::strided;
  for (int i = 0; i < 5001; ++i) after.program.push_back({access, {}, {}});
  EXPECT_EQ(words_of(program_changes(before, after)),
            (std::vector<std::string>{"outside loops: +1 strided load; 5000 coalesced loads made strided"}));
}

}  // namespace
}  // namespace warptime::models
