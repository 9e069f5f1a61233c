// Loops as ptxas unrolls them, and loads ahead of what does not need them.
#include "simulator/program/scheduled_loads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "simulator/program/warps.h"
#include "test_files.h"

namespace warptime {
namespace {

using test::program_of;

// `[1 x4 …]`: the body of a repeat; L1+2: the first load, which rises past two items; c(1,2): a calculation that needs
// these loads.
std::string shown(const Items& items, int& loads) {
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text += ' ';
    std::string needs;
    if (item.detail)
      for (const int needed : item.detail->needs)
        needs += fmt::format("{}{}", needs.empty() ? "" : ",", needed);
    if (!needs.empty()) needs = "(" + needs + ")";
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      text += to_string(repeat->count) + "[" + shown(repeat->body, loads) + "]";
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      text += access->kind == MemoryAccess::Kind::load ? fmt::format("L{}", ++loads) : "S";
      if (item.detail && item.detail->rises > 0) text += fmt::format("+{}", item.detail->rises);
      text += needs;
    } else {
      text += "c" + needs;
    }
  }
  return text;
}

std::string scheduled(const std::string& items) {
  KernelProgram program = program_of("program:\n" + items);
  schedule_loads(program);
  int loads = 0;
  return shown(program.program, loads);
}

const std::string load =
    "{load: {access: coalesced, bytes: 4, sectors: 4, address: 4 * threadIdx.x + 128 * i, array: a}}";
std::string loop(const std::string& count, const std::string& more, const std::string& body) {
  return fmt::format("  - {{repeat: \"{}\", counter: i{}, body: [{}]}}\n", count, more, body);
}
std::string calc(const std::string& more, int instructions = 4) {
  return fmt::format("{{instructions: {}{}}}", instructions, more);
}

TEST(ScheduledLoads, OfAnUnrolledLoopAreInFlightTogether) {
  const std::string body = load + ", " + calc(", needs: [1]");
  EXPECT_EQ(scheduled(loop("n", ", unrolled: [{iterations: 2}]", body)),
            "n / 2[c L1+1 c(1) L2+2 c(2)] n % 2[L3 c(3)]");
  // What the PTX has unrolled by four is unrolled four times more, where the body is small.
  EXPECT_EQ(scheduled(loop("n / 4", "", body)).substr(0, 30), "n / 4 / 4[L1 c(1) L2+1 c(2) L3");
  EXPECT_EQ(scheduled(loop("n / 4", "", load + ", " + calc(", needs: [1]", 80))), "n / 4[L1 c(1)]");
  EXPECT_EQ(scheduled(loop("n", "", body)), "n[L1 c(1)]");
}

// ptxas leaves the loads of a large block where they are.
TEST(ScheduledLoads, OfLargePiecesStayInTheirIteration) {
  const auto unrolled = [](int iterations, int instructions) {
    return scheduled(loop("n", fmt::format(", unrolled: [{{iterations: {}}}]", iterations),
                          load + ", " + calc(", needs: [1]", instructions)));
  };
  EXPECT_EQ(unrolled(2, 400), "n / 2[c L1+1 c(1) L2+2 c(2)] n % 2[L3 c(3)]");
  EXPECT_EQ(unrolled(2, 600), "n[L1 c(1)]");
  EXPECT_EQ(unrolled(16, 72), "n[L1 c(1)]");
}

TEST(ScheduledLoads, StayBehindStoresAndBarriers) {
  const std::string store =
      "{store: {access: coalesced, bytes: 4, sectors: 4, address: 4 * threadIdx.x, array: b}}";
  const std::string twice = ", unrolled: [{iterations: 2}]";
  EXPECT_EQ(scheduled(loop("n", twice, load + ", " + calc(", needs: [1]") + ", " + store)),
            "n / 2[c L1 c(1) S L2 c(2) S] n % 2[L3 c(3) S]");
  EXPECT_EQ(scheduled(loop("n", twice, load + ", " + calc(", needs: [1], barrier: true"))), "n[L1 c(1)]");
}

// What nothing writes does not stay behind: others stay where they were.
TEST(ScheduledLoads, PassStoresThatCannotChangeThem) {
  const std::string store =
      "{store: {access: coalesced, bytes: 4, sectors: 4, address: 4 * threadIdx.x, array: b}}";
  const std::string read_only = load.substr(0, load.size() - 1) + ", read_only: true}";
  const std::string twice = ", unrolled: [{iterations: 2}]";
  EXPECT_EQ(scheduled(loop("n", twice, read_only + ", " + calc(", needs: [1]") + ", " + store)),
            "n / 2[c L1+1 c(1) S L2+3 c(2) S] n % 2[L3 c(3) S]");
  EXPECT_EQ(
      scheduled(loop("n", twice, load + ", " + read_only + ", " + calc(", needs: [1, 2]") + ", " + store)),
      "n / 2[c L1 L2+2 c(1,2) S L3 L4+5 c(3,4) S] n % 2[L5 L6 c(5,6) S]");
}

// A load of the next iteration passes the last store of this one, if it goes to other words of the same array.
TEST(ScheduledLoads, PassTheStoreOfTheIterationBefore) {
  const auto of = [](const std::string& address, const std::string& array) {
    const std::string store =
        "{store: {access: coalesced, bytes: 4, sectors: 4, address: " + address + ", array: " + array + "}}";
    return scheduled(
        loop("n", ", unrolled: [{iterations: 2}]", load + ", " + calc(", needs: [1]") + ", " + store));
  };
  const std::string same = "4 * threadIdx.x + 128 * i";
  EXPECT_EQ(of(same, "a"), "n / 2[c L1 c(1) S L2+1 c(2) S] n % 2[L3 c(3) S]");
  EXPECT_EQ(of(same, "b"), "n / 2[c L1 c(1) S L2 c(2) S] n % 2[L3 c(3) S]");
  EXPECT_EQ(of(same + " + 128", "a"), "n / 2[c L1 c(1) S L2 c(2) S] n % 2[L3 c(3) S]");
  EXPECT_EQ(of("4 * threadIdx.x * i", "a"), "n / 2[c L1 c(1) S L2 c(2) S] n % 2[L3 c(3) S]");
}

// A division is a branch to ptxas: loads of the next iteration stay behind it.
TEST(ScheduledLoads, StayBehindDivisions) {
  EXPECT_EQ(
      scheduled(loop("n", ", unrolled: [{iterations: 2}]", load + ", " + calc(", needs: [1], splits: true"))),
      "n / 2[c L1+1 c(1) L2 c(2)] n % 2[L3 c(3)]");
}

TEST(ScheduledLoads, NeedWhatTheIterationBeforeHasLoaded) {
  // A chain: each load needs the one of the iteration before.
  const std::string chain =
      "{load: {access: uniform, bytes: 4, sectors: 1, array: a}, needs: [1]}, " + calc("");
  EXPECT_EQ(scheduled(loop("n", ", unrolled: [{iterations: 3}]", chain)),
            "n / 3[c L1(3) c L2(1) c L3(2) c] n % 3[L4(4) c]");
  // What comes after the loop needs the last of them, whichever that is.
  EXPECT_EQ(
      scheduled(loop("n", ", unrolled: [{iterations: 2}]", load) + "  - " + calc(", needs: [1]") + "\n"),
      "n / 2[c L1+1 L2+1] n % 2[L3] c(1,2,3)");
}

// A tile that is filled piece by piece, each behind a branch of its own.
TEST(ScheduledLoads, StayBehindBranchesThatFillSharedMemory) {
  const auto order = [](const std::string& first, const std::string& second) {
    const auto piece = [](const std::string& threads, int number) {
      return "  - " + load.substr(0, load.size() - 1) + ", threads: " + threads + "}\n" +
             fmt::format(
                 "  - {{instructions: 1, threads: {}, needs: [{}], on_chip: [{{store: shared, bytes: "
                 "4}}]}}\n",
                 threads, number);
    };
    return scheduled("  - {instructions: 3}\n" + piece(first, 1) + piece(second, 2));
  };
  EXPECT_EQ(order("threadIdx.x < 9", "threadIdx.x < 4"), "c L1+1 c(1) L2 c(2)");
  EXPECT_EQ(order("threadIdx.x < 9", "threadIdx.x < 9"), "c L1+1 c(1) L2+2 c(2)");
}

TEST(ScheduledLoads, RisePastShortBranches) {
  const std::string guarded = "threads: threadIdx.x + {} < n";
  std::string items;
  for (int k = 0; k < 3; ++k) {
    const std::string threads = fmt::format(fmt::runtime(guarded), k);
    items += "  - {instructions: 3, " + threads + "}\n  - " + load.substr(0, load.size() - 1) + ", " +
             threads + "}\n" + fmt::format("  - {{instructions: 1, {}, needs: [{}]}}\n", threads, k + 1);
  }
  KernelProgram program = program_of("parameters: {n: argument 0}\nprogram:\n" + items);
  schedule_loads(program);
  int loads = 0;
  EXPECT_EQ(shown(program.program, loads), "c L1+1 c(1) c L2+3 c(2) c L3+5 c(3)");
  // Where the registers are ptxas' own, so is the order.
  KernelProgram known =
      program_of("parameters: {n: argument 0}\nresources: {registers: 20}\nprogram:\n" + items);
  schedule_loads(known);
  loads = 0;
  EXPECT_EQ(shown(known.program, loads), "c L1 c(1) c L2 c(2) c L3 c(3)");
}

// Both sides of a short branch of some threads.
TEST(ScheduledLoads, OfBranchesThatBecomePredicatesRise) {
  const auto when = [](const std::string& threads, int load_number, int instructions) {
    return fmt::format(
        "  - {{when: 0, then_threads: \"{}\", then: [{{instructions: 1}}], else: [{{instructions: {}}}, {}, "
        "{{instructions: 1, needs: [{}]}}]}}\n",
        threads, instructions, load, load_number);
  };
  EXPECT_EQ(scheduled(when("threadIdx.x < 1", 1, 3) + when("threadIdx.x < 2", 2, 3)),
            "c c L1+2 c(1) c c L2+5 c(2)");
  KernelProgram program = program_of("program:\n" + when("threadIdx.x < 1", 1, 30));
  schedule_loads(program);
  EXPECT_TRUE(std::holds_alternative<When>(program.program.front().what));
}

// The machine code has the address of a constant in the instruction only where the loop around it is gone.
TEST(ScheduledLoads, SayWhereTheIndicesOfConstantsAre) {
  const auto index_in = [](const std::string& more, const std::string& body) {
    KernelProgram program = program_of("program:\n" + loop("8", more, body));
    schedule_loads(program);
    const auto* repeat = std::get_if<Repeat>(&program.program.front().what);
    const auto& inner = repeat != nullptr ? repeat->body : program.program;
    for (const Item& item : inner)
      if (item.detail && !item.detail->on_chip.empty()) return item.detail->on_chip.front().index;
    return ChipAccess::Index::none;
  };
  const auto constant = [](const std::string& address) {
    return "{instructions: 1, on_chip: [{load: constant, bytes: 4, address: \"" + address + "\"}]}";
  };
  EXPECT_EQ(index_in("", constant("4 * i")), ChipAccess::Index::shared);
  EXPECT_EQ(index_in("", constant("64")), ChipAccess::Index::none);
  EXPECT_EQ(index_in(", unrolled: [{iterations: 8}]", constant("4 * i")), ChipAccess::Index::none);
  EXPECT_EQ(index_in("", constant("4 * i") + ", {instructions: 1, threads: threadIdx.x < 3}"),
            ChipAccess::Index::own);
}

// What warps execute and access stays the same.
TEST(ScheduledLoads, AreTheSameWork) {
  const std::string body =
      load + ", {instructions: 3, on_chip: [{load: shared, bytes: 4, address: 4 * i}]}, " +
      calc(", needs: [1]") +
      ", {store: {access: coalesced, bytes: 4, sectors: 4, address: 4 * threadIdx.x * i, array: b}, "
      "threads: threadIdx.x > i}";
  for (const int pieces : {2, 3, 4, 8}) {
    for (int n = 0; n < 20; ++n) {
      const std::string items = fmt::format(
          "program:\n  - {{repeat: 20, per_thread: \"{} + threadIdx.x / 32\", counter: i, unrolled: "
          "[{{iterations: {}}}], "
          "body: [{}]}}\n",
          n, pieces, body);
      const KernelProgram before = program_of(items);
      KernelProgram after = before;
      schedule_loads(after);
      WarpOptions options;
      options.sectors = true;
      const LaunchSize size{{3, 1, 1}, {96, 1, 1}};
      const auto was = WarpProgram(before).launch({}, size, {}, options);
      const auto is = WarpProgram(after).launch({}, size, {}, options);
      ASSERT_TRUE(was && is);
      EXPECT_EQ(is->total.instructions, was->total.instructions) << pieces << ' ' << n;
      EXPECT_EQ(is->total.loads, was->total.loads);
      EXPECT_EQ(is->total.stores, was->total.stores);
      EXPECT_EQ(is->total.load_sectors, was->total.load_sectors);
      EXPECT_EQ(is->total.store_sectors, was->total.store_sectors);
    }
  }
}

}  // namespace
}  // namespace warptime
