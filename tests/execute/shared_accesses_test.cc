// What kernel programs say of accesses to shared memory (Item::detail) is what the executor's addresses show:
// as many accesses of each kind, in as many ways, and each with the same distances between the threads of its
// warp. Only distances and ways: where a variable begins in shared memory is the assembler's choice.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/pipeline.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/expression/range_expression.h"
#include "simulator/program/shared_conflicts.h"
#include "simulator/program/walk.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/launch_totals.h"
#include "tests/execute/launches.h"

namespace warptime::execute::testing {
namespace {

using Lanes = std::uint32_t;
constexpr std::size_t lanes_of_warp = 32;
using LaneAddresses = std::array<std::int64_t, lanes_of_warp>;

// The accesses of a launch to shared memory, by kind and bytes.
class SharedAccesses {
 public:
  void add(ChipAccess::Kind kind, std::int64_t bytes, Lanes active, const LaneAddresses* addresses) {
    auto& of_kind = by_kind_[{kind, bytes}];
    ++of_kind.accesses;
    if (addresses == nullptr) {
      unknown_ = true;
      return;
    }
    of_kind.ways += shared_ways(*addresses, active, bytes, kind);
    const auto first = (*addresses)[static_cast<std::size_t>(std::countr_zero(active))];
    std::uint64_t hash = active;
    for (Lanes rest = active; rest != 0; rest &= rest - 1) {
      const auto distance = (*addresses)[static_cast<std::size_t>(std::countr_zero(rest))] - first;
      hash = (hash ^ static_cast<std::uint64_t>(distance)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    of_kind.distances += hash;  // in any order: warps execute in theirs
  }
  bool empty() const { return by_kind_.empty(); }
  bool unknown() const { return unknown_; }
  std::int64_t ways() const {
    std::int64_t sum = 0;
    for (const auto& [kind, of_kind] : by_kind_) sum += of_kind.ways;
    return sum;
  }
  std::string text(bool with_addresses) const {
    std::string text;
    for (const auto& [kind, of_kind] : by_kind_) {
      text += fmt::format("{} {} of {} bytes", of_kind.accesses,
                          kChipAccessKinds[static_cast<std::size_t>(kind.first)], kind.second);
      if (with_addresses) text += fmt::format(" in {} ways, distances {:x}", of_kind.ways, of_kind.distances);
      text += "; ";
    }
    return text;
  }

 private:
  struct OfKind {
    std::int64_t accesses = 0, ways = 0;
    std::uint64_t distances = 0;
  };
  std::map<std::pair<ChipAccess::Kind, std::int64_t>, OfKind> by_kind_;
  bool unknown_ = false;
};

// Those that the executor makes.
class SharedRecorder : public ExecutionListener {
 public:
  explicit SharedRecorder(const ptx::Module& module) : module_(module) {}
  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId&, const ExecutedInstruction& instruction) override {
    if (instruction.shared_lanes == 0) return;
    const auto& ins = module_.functions[instruction.function].instructions[instruction.instruction];
    using Category = ptx::Category;
    const auto category = ins.info->category;
    const auto kind = category == Category::load    ? ChipAccess::Kind::load
                      : category == Category::store ? ChipAccess::Kind::store
                                                    : ChipAccess::Kind::atomic;
    LaneAddresses addresses{};
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
      addresses[lane] = static_cast<std::int64_t>(instruction.addresses[lane]);
    accesses.add(kind, ptx::access_bytes(ins.opcode), instruction.shared_lanes, &addresses);
  }
  SharedAccesses accesses;

 private:
  const ptx::Module& module_;
};

// Those that a program says: every warp of the launch, item by item.
class SaidAccesses {
 public:
  SaidAccesses(const KernelProgram& program, Bindings values, const LaunchConfig& how)
      : values_(std::move(values)), how_(how), program_(program) {}

  SharedAccesses of_launch() {
    const std::uint64_t threads = how_.block.count();
    for (std::uint32_t z = 0; z < how_.grid.z; ++z)
      for (std::uint32_t y = 0; y < how_.grid.y; ++y)
        for (std::uint32_t x = 0; x < how_.grid.x; ++x)
          for (std::uint64_t first = 0; first < threads; first += lanes_of_warp) of_warp({x, y, z}, first);
    return accesses_;
  }

 private:
  void of_warp(const Dimensions& block, std::uint64_t first) {
    set("blockIdx.x", block.x), set("blockIdx.y", block.y), set("blockIdx.z", block.z);
    set("warpid", static_cast<std::int64_t>(first / lanes_of_warp));
    Lanes active = 0;
    for (std::size_t lane = 0; lane < lanes_of_warp && first + lane < how_.block.count(); ++lane)
      active |= Lanes{1} << lane;
    first_ = first;
    for (const auto& [name, value] : values_) set(name, value);
    items(program_.program, active);
  }

  void items(const Items& list, Lanes active) {
    for (const Item& one : list) item(one, active);
  }

  void item(const Item& item, Lanes active) {
    if (item.threads) active &= lanes_where(*item.threads, active);
    if (active == 0) return;
    if (item.detail)
      for (const ChipAccess& access : item.detail->on_chip) {
        if (access.space != ChipAccess::Space::shared) continue;
        LaneAddresses addresses{};
        if (access.address)
          for_lanes(active, [&](std::size_t lane) { addresses[lane] = value_of(*access.address); });
        accesses_.add(access.kind, access.bytes, active, access.address ? &addresses : nullptr);
      }
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      std::array<std::int64_t, lanes_of_warp> counts{};
      std::int64_t most = 0;
      if (!repeat->per_thread) counts.fill(most = value_of(repeat->count));
      if (repeat->per_thread)
        for_lanes(active, [&](std::size_t lane) {
          counts[lane] = value_of(*repeat->per_thread);
          most = std::max(most, counts[lane]);
        });
      for (std::int64_t i = 0; i < most; ++i) {
        Lanes inside = 0;
        for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
          if ((active >> lane & 1) != 0 && i < counts[lane]) inside |= Lanes{1} << lane;
        if (!repeat->counter.empty()) set(repeat->counter, i);
        items(repeat->body, inside);
      }
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      const Lanes then = when->then_threads          ? lanes_where(*when->then_threads, active)
                         : value_of(when->condition) ? active
                                                     : 0;
      if (then != 0) items(when->then_items, then);
      if ((active & ~then) != 0) items(when->else_items, active & ~then);
    }
  }

  template <class F>
  void for_lanes(Lanes active, F&& f) {
    for (Lanes rest = active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const auto thread = first_ + lane;
      set("threadIdx.x", static_cast<std::int64_t>(thread % how_.block.x));
      set("threadIdx.y", static_cast<std::int64_t>(thread / how_.block.x % how_.block.y));
      set("threadIdx.z", static_cast<std::int64_t>(thread / how_.block.x / how_.block.y));
      set("laneid", static_cast<std::int64_t>(lane));
      f(lane);
    }
  }

  Lanes lanes_where(const Expression& condition, Lanes active) {
    Lanes result = 0;
    for_lanes(active, [&](std::size_t lane) {
      if (value_of(condition) != 0) result |= Lanes{1} << lane;
    });
    return result;
  }

  std::int64_t value_of(const Expression& expression) {
    auto found = compiled_.find(&expression);
    if (found == compiled_.end())
      found =
          compiled_
              .emplace(&expression,
                       RangeExpression(expression, [this](const std::string& name) { return slot(name); }))
              .first;
    std::int64_t value = 0;
    EXPECT_TRUE(found->second.value(slots_.data(), value)) << to_string(expression);
    return value;
  }

  int slot(const std::string& name) {
    const auto [it, fresh] = slot_of_.try_emplace(name, static_cast<int>(slots_.size()));
    if (fresh) slots_.push_back(ValueRange::unknown());
    return it->second;
  }
  void set(const std::string& name, std::int64_t value) {
    slots_[static_cast<std::size_t>(slot(name))] = ValueRange(value);
  }

  Bindings values_;
  LaunchConfig how_;
  const KernelProgram& program_;
  SharedAccesses accesses_;
  std::uint64_t first_ = 0;  // thread of the warp
  std::map<const Expression*, RangeExpression> compiled_;
  std::map<std::string, int, std::less<>> slot_of_;
  std::vector<ValueRange> slots_;
};

Bindings launch_values(const LaunchConfig& how, const Bindings& numbers) {
  Bindings values{{"blockDim.x", how.block.x}, {"blockDim.y", how.block.y}, {"blockDim.z", how.block.z},
                  {"gridDim.x", how.grid.x},   {"gridDim.y", how.grid.y},   {"gridDim.z", how.grid.z},
                  {"warpSize", lanes_of_warp}};
  for (const auto& [name, number] : numbers) values[name] = number;
  return values;
}

// Loops and branches for which the program has a parameter.
bool data_decide_loops(const KernelProgram& program) {
  return std::any_of(program.parameters.begin(), program.parameters.end(), [](const auto& parameter) {
    return parameter.share || parameter.name.starts_with("iterations_at_");
  });
}

bool can_compile(const Build& build) {
  return build.compiler != Compiler::nvcc || nvcc_version();
}

class SharedAccessesOf : public ::testing::TestWithParam<Build> {
 public:
  void SetUp() override {
    if (!can_compile(GetParam())) GTEST_SKIP() << "no nvcc on this machine";
  }

  static std::optional<Analysis> analysed(const Source& source) {
    AnalyzeOptions options;
    options.machine = AnalyzeOptions::Machine::estimated;
    auto analysis = analyze(source, options);
    EXPECT_TRUE(analysis) << to_text(analysis.diagnostics());
    return analysis ? std::optional(std::move(*analysis)) : std::nullopt;
  }

  // Gives the ways; nothing where the launch does not end, or data decide what runs.
  static std::optional<std::int64_t> compare(const Source& source, const KernelSignature& kernel,
                                             const Analysis& analysis, const TrialLaunch& trial,
                                             bool unoptimised) {
    const auto analysed =
        std::find_if(analysis.kernels.begin(), analysis.kernels.end(),
                     [&](const auto& one) { return one.program.provenance.symbol == kernel.symbol; });
    const auto loaded = load_text(source.ptx, kernel.symbol);
    if (analysed == analysis.kernels.end() || !loaded || data_decide_loops(analysed->program))
      return std::nullopt;
    std::vector<Given> arguments;
    const auto wanted = parameters(*loaded->code);
    constexpr std::size_t array_bytes = 1 << 18;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& argument = kernel.arguments[i];
      const auto number = trial.numbers.find(argument.name);
      if (argument.type.find('*') != std::string::npos)
        arguments.push_back(buffer(std::vector<float>(array_bytes / sizeof(float))));
      else if (wanted[i].bytes == 8)
        arguments.push_back(value(number == trial.numbers.end() ? std::int64_t{0} : number->second));
      else
        arguments.push_back(
            value(static_cast<std::int32_t>(number == trial.numbers.end() ? 0 : number->second)));
    }
    SharedRecorder executed(*loaded->module);
    const auto outcome = launch(*loaded, trial.how, arguments, {}, &executed);
    if (!outcome.execution.completed) return std::nullopt;
    SaidAccesses said(analysed->program, launch_values(trial.how, trial.numbers), trial.how);
    const auto accesses = said.of_launch();
    // Without optimisations, some addresses are in memory.
    EXPECT_TRUE(!accesses.unknown() || unoptimised);
    const bool addresses = !accesses.unknown();
    EXPECT_EQ(accesses.text(addresses), executed.accesses.text(addresses));
    return executed.accesses.ways();
  }
};

struct SharedLaunch {
  std::string kernel;
  LaunchConfig how;
  Bindings numbers;
  std::optional<std::int64_t> ways;  // of the whole launch, by hand
};

TEST_P(SharedAccessesOf, EveryKind) {
  const std::string file = "tests/execute/shared_accesses.cu";
  const auto source = compiled(file, GetParam());
  ASSERT_TRUE(source);
  const auto analysis = analysed(*source);
  ASSERT_TRUE(analysis);
  const std::vector<SharedLaunch> launches = {
      // 4 blocks of 32 warps: a store in 1 way, a load of a column in 32.
      {"transposed", {{2, 2}, {32, 32}}, {{"n", 64}}, 4 * 32 * (1 + 32)},
      {"padded", {{2, 2}, {32, 8}}, {{"n", 64}}, 4 * 32 * (1 + 1)},
      {"swizzled", {{2, 2}, {32, 8}}, {{"n", 64}}, 4 * 32 * (1 + 1)},
      // 4 blocks of 8 warps, 2 tiles: 2 stores and 32 loads.
      {"tiled_product", {{2, 2}, {16, 16}}, {{"n", 32}}, 4 * 8 * 2 * 34},
      // 8 stores; 4, 2, 1, 1, … warps with 3 accesses each; the last load.
      {"halving", {{3}, {256}}, {{"n", 1}}, 3 * (8 + 3 * 12 + 1)},
      {"spreading", {{3}, {256}}, {{"n", 1}}, std::nullopt},
      {"vectors", {{3}, {256}}, {{"n", 1}}, std::nullopt},
      // One thread's store; 4 warps with 5 stores, 5 loads and a load of one word.
      {"dynamic", {{3}, {128}, 128 * 5 * 4}, {{"n", 5}}, 3 * (1 + 4 * 11)},
      {"counting", {{3}, {128}}, {{"n", 9}}, std::nullopt},
      // 9 stores, and 7 loads of 8 warps.
      {"through_a_pointer", {{3}, {256}}, {{"n", 7}}, 3 * (9 + 8 * 7)},
  };
  const bool unoptimised = !GetParam().flags.empty();
  for (const auto& one : launches) {
    SCOPED_TRACE(one.kernel);
    const auto kernel = std::find_if(source->kernels.begin(), source->kernels.end(),
                                     [&](const auto& k) { return k.name == one.kernel; });
    ASSERT_NE(kernel, source->kernels.end());
    const auto ways = compare(*source, *kernel, *analysis, {one.how, one.numbers}, unoptimised);
    // Without optimisations, some loops' counts are in memory.
    EXPECT_TRUE(ways || unoptimised) << "the launch does not end, or data decide";
    if (ways && one.ways) {
      EXPECT_EQ(*ways, *one.ways);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, SharedAccessesOf, ::testing::ValuesIn(builds()),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Gives how many launches were compared.
int compare_folder(const std::string& folder, const Build& build) {
  int compared = 0;
  for (const auto& file : cuda_files(folder)) {
    const auto source = compiled(file, build);
    if (!source || source->ptx.find(".shared") == std::string::npos) continue;
    const auto analysis = SharedAccessesOf::analysed(*source);
    if (!analysis) continue;
    for (const auto& kernel : source->kernels) {
      const auto trials = trial_launches(file, kernel);
      // The smallest sizes have what larger ones have.
      constexpr std::size_t most_sizes = 2;
      for (std::size_t i = 0; i < std::min(trials.size(), most_sizes); ++i) {
        SCOPED_TRACE(fmt::format("{} of {}, {}, {} blocks of {}", kernel.name, file, build.name,
                                 trials[i].how.grid.x, trials[i].how.block.x));
        const auto ways = SharedAccessesOf::compare(*source, kernel, *analysis, trials[i], false);
        if (ways && *ways > 0) ++compared;
      }
    }
  }
  return compared;
}

TEST(SharedAccessesOfTheRepository, AsEachCompilerMakesThem) {
  for (const auto& build : builds()) {
    if (build.rolled || !build.flags.empty() || !can_compile(build)) continue;
    EXPECT_GE(compare_folder("dwt_kernels", build) + compare_folder("samples", build), 20) << build.name;
  }
}

TEST(SharedWays, OfAWarp) {
  using Kind = ChipAccess::Kind;
  const auto ways = [](std::int64_t bytes, auto address, Lanes active = ~Lanes{0}, Kind kind = Kind::load) {
    LaneAddresses addresses{};
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
      addresses[lane] = address(static_cast<std::int64_t>(lane));
    return shared_ways(addresses, active, bytes, kind);
  };
  EXPECT_EQ(ways(4, [](auto lane) { return 4 * lane; }), 1);
  EXPECT_EQ(ways(4, [](auto) { return 64; }), 1);  // one word for all
  EXPECT_EQ(ways(4, [](auto lane) { return 8 * lane; }), 2);
  EXPECT_EQ(ways(4, [](auto lane) { return 12 * lane; }), 1);
  EXPECT_EQ(ways(4, [](auto lane) { return 128 * lane; }), 32);
  EXPECT_EQ(ways(4, [](auto lane) { return 132 * lane; }), 1);
  EXPECT_EQ(ways(4, [](auto lane) { return 4 * (31 - lane) - 4096; }), 1);
  EXPECT_EQ(ways(1, [](auto lane) { return lane; }), 1);  // four threads share a word
  EXPECT_EQ(ways(2, [](auto lane) { return 128 * (lane / 8) + 2 * (lane % 8); }), 4);
  EXPECT_EQ(ways(8, [](auto lane) { return 8 * lane; }), 2);
  EXPECT_EQ(ways(8, [](auto lane) { return 16 * lane; }), 4);
  EXPECT_EQ(ways(16, [](auto lane) { return 16 * lane; }), 4);
  EXPECT_EQ(ways(16, [](auto lane) { return 256 * lane; }), 32);
  EXPECT_EQ(ways(
                4, [](auto lane) { return 128 * lane; }, 0x0000ffff),
            16);
  EXPECT_EQ(ways(
                16, [](auto lane) { return 16 * lane; }, 0x00000003),
            1);
  EXPECT_EQ(ways(
                4, [](auto lane) { return lane; }, 0),
            0);
}

}  // namespace
}  // namespace warptime::execute::testing
