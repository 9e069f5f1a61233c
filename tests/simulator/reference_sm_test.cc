// run_sm() against a plain and slow engine, on random programs.
#include <gtest/gtest.h>

#include <random>

#include "reference_sm.h"
#include "simulator/program/kernel_program.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {
namespace {

class RandomSmProgram {
 public:
  explicit RandomSmProgram(std::mt19937& random) : random_(random), details_(random() % 4 != 0) {}

  KernelProgram make() {
    KernelProgram program;
    // Arrays lie in the order in which they are accessed: no load rises as far.
    for (const char* array : {"a", "b", "c"}) {
      MemoryAccess first;
      first.kind = MemoryAccess::Kind::load;
      first.access = Access::coalesced;
      first.bytes = 4;
      first.array = array;
      first.address = address(true);
      program.program.push_back(Item{std::move(first)});
      ++loads_;
    }
    for (int i = 0; i < 3; ++i) program.program.push_back(Item{Instructions{Expression(1)}});
    for (Item& item : items(2, 6)) program.program.push_back(std::move(item));
    return program;
  }

 private:
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  bool one_in(int several) { return below(several) == 0; }

  Expression counter() { return Expression::name("i" + std::to_string(1 + below(open_))); }

  static Expression times(std::int64_t factor, Expression of) {
    return Expression::make(Expression::Operator::multiply, {Expression(factor), std::move(of)});
  }
  static Expression sum(Expression a, Expression b) {
    return Expression::make(Expression::Operator::add, {std::move(a), std::move(b)});
  }

  // Of the thread, the block and counters; of all blocks some the same.
  Expression address(bool global) {
    constexpr std::array<std::int64_t, 7> strides = {0, 4, 4, 8, 36, 128, 288};
    Expression thread = Expression::name("threadIdx.x");
    if (one_in(6))
      thread = Expression::make(Expression::Operator::modulo, {times(7, std::move(thread)), Expression(13)});
    Expression made =
        sum(times(strides[static_cast<std::size_t>(below(7))], std::move(thread)), Expression(4 * below(20)));
    if (global && !one_in(3))
      made = sum(std::move(made), times(256 * below(3), Expression::name("blockIdx.x")));
    if (open_ > 0 && !one_in(3)) made = sum(std::move(made), times(32 * below(6), counter()));
    if (global && open_ > 0 && one_in(6))
      made = sum(std::move(made), times(4, Expression::make(Expression::Operator::multiply,
                                                            {counter(), Expression::name("threadIdx.x")})));
    return made;
  }

  Items items(int deeper, int most) {
    Items made;
    for (int i = 1 + below(most); i > 0; --i) made.push_back(item(deeper));
    return made;
  }

  Item item(int deeper) {
    const int what = below(12);
    if (what == 0 && deeper > 0) {
      const std::string counter = "i" + std::to_string(++open_);
      Repeat repeat{Expression(below(5)), counter, items(deeper - 1, 4)};
      --open_;
      return Item{std::move(repeat)};
    }
    if (what == 1 && deeper > 0)
      return Item{When{Expression(below(2)), items(deeper - 1, 3), items(deeper - 1, 3)}};
    Item made{Instructions{Expression(1 + below(6))}};
    if (what >= 6) made.what = access();
    if (what < 6 && one_in(3)) {
      auto machine = std::make_shared<MachineWork>();
      for (int i = 1 + below(3); i > 0; --i)
        machine->by_pipe[static_cast<std::size_t>(below(kPipes))] += 0.25 * (1 + below(12));
      if (one_in(3)) machine->cycles = below(60);
      if (one_in(3)) machine->imad = 0.5 * below(20);
      if (one_in(3)) machine->reads = below(40);
      if (one_in(4)) machine->matrix = 0.5 * below(60);
      made.machine = std::move(machine);
    }
    const bool load = what >= 6 && std::get<MemoryAccess>(made.what).kind == MemoryAccess::Kind::load;
    if (load) ++loads_;
    if (one_in(5))
      made.threads = Expression::make(Expression::Operator::less,
                                      {Expression::name("threadIdx.x"), Expression(below(70))});
    if (made.threads && what >= 6) made.predicated = one_in(2);
    if (details_ && !one_in(3)) made.detail = detail(what < 6, !made.threads);
    return made;
  }

  MemoryAccess access() {
    MemoryAccess made;
    made.kind = one_in(3) ? MemoryAccess::Kind::store : MemoryAccess::Kind::load;
    made.access = one_in(8) ? Access::uniform : Access::coalesced;
    made.bytes = one_in(3) ? 8 : 4;
    made.array = std::string(1, static_cast<char>('a' + below(3)));
    made.address = address(true);
    if (one_in(6)) made.note = "atomic";
    if (made.kind == MemoryAccess::Kind::store && one_in(5)) made.note = "cp.async";
    return made;
  }

  std::shared_ptr<const ItemDetail> detail(bool calculates, bool all_threads) {
    auto made = std::make_shared<ItemDetail>();
    for (int i = below(3); i > 0 && loads_ > 0; --i) made->needs.push_back(1 + below(loads_));
    if (one_in(3)) made->chain = 0.5 * below(60);
    if (!calculates) made->rises = below(3);
    for (int i = below(3); calculates && i > 0; --i) {
      ChipAccess access;
      access.kind = static_cast<ChipAccess::Kind>(below(2));
      access.space = static_cast<ChipAccess::Space>(below(3));
      if (access.space == ChipAccess::Space::shared && one_in(3)) access.kind = ChipAccess::Kind::atomic;
      const bool wide = access.space == ChipAccess::Space::local || access.kind == ChipAccess::Kind::atomic;
      access.bytes = wide && one_in(2) ? 8 : 4;
      access.address = address(false);
      if (access.space == ChipAccess::Space::constant) {
        access.index = static_cast<ChipAccess::Index>(below(3));
        if (one_in(3)) access.bytes = 16;
      }
      made->on_chip.push_back(std::move(access));
    }
    made->floating = calculates && one_in(2);
    if (calculates && one_in(4)) made->shuffles = below(9);
    if (calculates && one_in(6)) made->matches = below(9);
    made->barrier = calculates && all_threads && one_in(5);
    return made;
  }

  std::mt19937& random_;
  bool details_;
  int open_ = 0, loads_ = 0;
};

SmFigures random_figures(std::mt19937& random) {
  const auto below = [&](unsigned most) { return static_cast<double>(random() % most); };
  SmFigures figures;
  figures.partitions = 1 + static_cast<int>(random() % 4);
  figures.l1_bytes = 128 * static_cast<std::int64_t>(4 + random() % 60);
  if (random() % 2 == 0)
    figures.unified_l1_bytes = figures.l1_bytes + 128 * static_cast<std::int64_t>(random() % 60);
  figures.request_cycles = 1 + static_cast<double>(random() % 2);
  figures.shared_latency = 20 + below(10);
  figures.l1_latency = 30 + below(10);
  figures.l2_latency = 200 + below(100);
  figures.memory_latency = 500 + below(200);
  figures.stored_latency = figures.l2_latency + 50;
  figures.slice_way = below(90);
  figures.sm_way = below(30);
  figures.store_wait = below(40);
  figures.l2_sector_cycles = 0.25 * below(16);
  figures.l2_sector_cycles_alone = figures.l2_sector_cycles * 0.25 * below(5);
  figures.memory_sector_cycles = 0.25 * below(40);
  for (double& cycles : figures.pipe_cycles) cycles = below(5);
  figures.barrier_latency = below(20);
  figures.barrier_warp_cycles = 0.5 * below(6);
  figures.block_start_cycles = below(200);
  figures.warp_start_cycles = 0.5 * below(20);
  figures.atomic_thread_cycles = 0.5 * below(6);
  figures.constant_latency = 30 + below(20);
  figures.constant_way_latency = below(12);
  figures.constant_way_cycles = below(6);
  return figures;
}

void expect_equal(const SmCounts& fast, const SmCounts& plain) {
  EXPECT_EQ(fast.instructions, plain.instructions);
  EXPECT_EQ(fast.load_sectors, plain.load_sectors);
  EXPECT_EQ(fast.load_hits, plain.load_hits);
  EXPECT_EQ(fast.reread_bytes, plain.reread_bytes);
  EXPECT_EQ(fast.rewritten_sectors, plain.rewritten_sectors);
  EXPECT_EQ(fast.store_sectors, plain.store_sectors);
  EXPECT_EQ(fast.store_hits, plain.store_hits);
  EXPECT_EQ(fast.merged_sectors, plain.merged_sectors);
  EXPECT_EQ(fast.atomic_sectors, plain.atomic_sectors);
  EXPECT_EQ(fast.local_load_sectors, plain.local_load_sectors);
  EXPECT_EQ(fast.local_load_hits, plain.local_load_hits);
  EXPECT_EQ(fast.local_store_sectors, plain.local_store_sectors);
  EXPECT_EQ(fast.local_store_hits, plain.local_store_hits);
  EXPECT_DOUBLE_EQ(fast.local_read_sectors, plain.local_read_sectors);
  EXPECT_DOUBLE_EQ(fast.local_written_sectors, plain.local_written_sectors);
  EXPECT_EQ(fast.shared_load_conflicts, plain.shared_load_conflicts);
  EXPECT_EQ(fast.shared_store_conflicts, plain.shared_store_conflicts);
  EXPECT_DOUBLE_EQ(fast.exchange_rounds, plain.exchange_rounds);
  EXPECT_DOUBLE_EQ(fast.partial_store_sectors, plain.partial_store_sectors);
  EXPECT_DOUBLE_EQ(fast.first_store_sectors, plain.first_store_sectors);
  EXPECT_EQ(fast.first_bytes, plain.first_bytes);
  EXPECT_EQ(fast.first_of_all_bytes, plain.first_of_all_bytes);
}

TEST(ReferenceSm, AgreesWithTheSimulation) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const KernelProgram program = RandomSmProgram(random).make();
    const SmFigures figures = random_figures(random);
    const LaunchSize size{{static_cast<std::int64_t>(1 + random() % 12), 1, 1},
                          {static_cast<std::int64_t>(1 + random() % 100), 1, 1}};
    SmOptions options;
    options.active_blocks = static_cast<std::int64_t>(1 + random() % 4);
    options.sms = static_cast<std::int64_t>(1 + random() % 3);
    options.sm = static_cast<std::int64_t>(random()) % std::min(options.sms, size.grid[0]);
    options.in_the_middle = random() % 3 == 0;
    options.leads = random() % 4 == 0;
    options.atomics_shared = random() % 2 == 0;
    options.atomic_sms = 1 + static_cast<double>(random() % 4);
    options.atomic_slices = static_cast<double>(random() % 4);
    options.local_bytes_at_l2 = 1024 * static_cast<double>(random() % 8);
    options.local_to_memory = 0.25 * static_cast<double>(random() % 5);
    if (random() % 2 == 0)
      options.turns = {1 + static_cast<std::int64_t>(random() % 3), static_cast<std::int64_t>(random() % 3)};
    options.from_memory = 0.25 * static_cast<double>(random() % 5);
    options.from_memory_of_all = 0.25 * static_cast<double>(random() % 5);
    options.to_memory = 0.25 * static_cast<double>(random() % 5);
    options.mixed = 0.25 * static_cast<double>(random() % 5);
    options.bytes_at_l2 = random() % 2 == 0 ? 0 : 1024 * static_cast<double>(1 + random() % 32);
    options.written_back_bytes = 1024 * static_cast<double>(1 + random() % 32);
    options.reads_at_l2 = 0.25 * static_cast<double>(1 + random() % 4);
    options.active_sms = 1 + static_cast<double>(random() % 4);
    options.even_instructions = random() % 2 == 0 ? 0 : static_cast<double>(1 + random() % 200);
    options.left_sms = 0.25 * static_cast<double>(1 + random() % 4);
    const auto launch = LaunchTrace::make(program, {}, size, {});
    ASSERT_TRUE(launch);
    const SmRun fast = run_sm(*launch, figures, options);
    const test::ReferenceRun plain = test::reference_sm(program, {}, size, figures, options);
    ASSERT_TRUE(fast.complete);
    EXPECT_EQ(fast.accesses, plain.accesses);
    EXPECT_DOUBLE_EQ(fast.cycles, plain.cycles);
    EXPECT_EQ(fast.local_left_sectors, plain.local_left_sectors);
    expect_equal(fast.counts, plain.counts);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace warptime
