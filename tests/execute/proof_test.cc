// The proof: every kernel of the repository, on several sizes and as each compiler makes it: its kernel
// program, flattened, is what a warp executes, period by period; and what it says of each access is what the
// addresses show. Kernels are found by their files, their launches by the plans beside them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/pipeline.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/launch_totals.h"
#include "tests/execute/launches.h"
#include "tests/execute/segmentation_text.h"

namespace warptime::execute::testing {
namespace {

// Kernels in which loaded data decide how often a loop runs or which side is taken: these ask for a
// parameter. The last two do so unoptimised, where their counters are in memory beside an array.
const std::set<std::string>& asking() {
  static const std::set<std::string> names = {
      "on_data",      "until_data",     "left_early",   "chunk_rearrangement",
      "blackscholes", "blackscholes_7", "lift_columns", "chunk_generation_columns"};
  return names;
}

// Kernels whose warps have different parts: a program without a launch executes what any warp does, and the
// first warp does not. With the launch it must be what all warps execute.
const std::set<std::string>& dividing() {
  static const std::set<std::string> names = {"window_columns", "lift_rows", "lift_columns"};
  return names;
}

// Kernels that are executed otherwise than their program says, and why.
const std::map<std::string, std::string>& others() {
  static const std::map<std::string, std::string> names = {
      {"divergent", "its __syncwarp() on one side of a branch makes that side wait for the other"},
  };
  return names;
}

// ---- what is compared

class Compared {
 public:
  Compared(const KernelProgram& program, Bindings bindings, const ptx::Module& module, std::uint32_t kernel,
           bool unoptimised)
      : program_(program),
        bindings_(std::move(bindings)),
        module_(module),
        kernel_(kernel),
        unoptimised_(unoptimised) {}

  // Sectors are those of large arguments.
  void segmentation(const Stream& stream, bool largest, const Stream& inner) {
    const auto schedule = make_schedule(program_, bindings_, paper_durations());
    ASSERT_TRUE(schedule) << to_text(schedule.diagnostics());
    const auto periods = written_out(*schedule, 1 << 20);
    ASSERT_TRUE(periods);
    // Unoptimised code branches where threads choose (optimised code selects): the program executes both
    // sides and says so, and the warp that is looked at may take one.
    if (says_that_threads_differ() && text_of(*periods) != text_of(segment(stream))) return;
    ASSERT_EQ(text_of(*periods), text_of(segment(stream)));
    if (largest)
      accesses(*schedule, *periods, text_of(segment(inner)) == text_of(segment(stream)) ? inner : stream);
  }

  // Distinct bytes at each access, over the whole launch.
  void footprint(const FootprintRecorder& recorder) const {
    std::map<int, std::uint64_t> by_line;
    const auto& instructions = module_.functions[kernel_].instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i)
      by_line[static_cast<int>(instructions[i].line)] += recorder.bytes_at(kernel_, i);
    in_items(program_.program, by_line);
  }

  bool says_that_threads_differ() const {
    return unoptimised_ &&
           std::any_of(program_.assumptions.begin(), program_.assumptions.end(), [](const auto& a) {
             return a.text.find("differs between") != std::string::npos ||
                    a.text.find("taken to pass") != std::string::npos;
           });
  }

 private:
  // The pattern is that of the first iteration of every loop, in a warp of which every thread is active.
  void accesses(const Schedule& schedule, const std::vector<Period>& periods, const Stream& stream) const {
    std::set<const Item*> seen;
    auto entry = stream.entries.begin();
    for (const auto& period : periods) {
      if (period.kind == PeriodKind::calculation) continue;
      while (entry->role != Role::load && entry->role != Role::store) ++entry;
      const auto* item = schedule.origins[period.origin].front().item;
      if (seen.insert(item).second && entry->address_count == lanes) access(*item, stream, *entry);
      ++entry;
    }
  }

  void access(const Item& item, const Stream& stream, const Stream::Entry& entry) const {
    const auto& said = std::get<MemoryAccess>(item.what);
    const std::span<const std::uint64_t> addresses(stream.addresses.data() + entry.first_address,
                                                   entry.address_count);
    std::string shown;
    for (const auto a : addresses) shown += fmt::format(" {}", static_cast<std::int64_t>(a - addresses[0]));
    SCOPED_TRACE(fmt::format("PTX line {}, source line {}: said to be {}; addresses{}", to_string(item.ptx),
                             to_string(item.lines), said.access ? to_string(*said.access) : "nothing",
                             shown));
    if (said.bytes) {
      EXPECT_EQ(*said.bytes, entry.bytes);
    }
    if (!said.sectors || said.access == warptime::Access::scattered) return;
    // Where arguments move the whole request within a sector, its number may be that of another place; and
    // where the signal is read periodically, one end of the request may be at the other end of the signal.
    const auto all = std::vector<std::uint64_t>(addresses.begin(), addresses.end());
    constexpr std::ptrdiff_t most_at_the_other_end = 3;
    for (std::ptrdiff_t left_out = -most_at_the_other_end; left_out <= most_at_the_other_end; ++left_out)
      for (std::uint64_t moved = 0; moved < 32; moved += entry.bytes) {
        std::vector<std::uint64_t> elsewhere(all.begin() + std::max<std::ptrdiff_t>(left_out, 0),
                                             all.end() + std::min<std::ptrdiff_t>(left_out, 0));
        for (auto& address : elsewhere) address += moved;
        if (*said.sectors == sectors(elsewhere, entry.bytes)) return;
      }
    ADD_FAILURE() << "said to touch " << *said.sectors << " sectors, touches "
                  << sectors(addresses, entry.bytes);
  }

  void in_items(const Items& items, const std::map<int, std::uint64_t>& by_line) const {
    for (const auto& item : items) {
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) in_items(repeat->body, by_line);
      if (const auto* when = std::get_if<When>(&item.what))
        in_items(when->then_items, by_line), in_items(when->else_items, by_line);
      const auto* access = std::get_if<MemoryAccess>(&item.what);
      if (access == nullptr || item.ptx.ranges().size() != 1) continue;
      const auto expression = access->footprint;
      if (!expression) continue;
      const auto bytes = evaluate_count(*expression, bindings_);
      ASSERT_TRUE(bytes) << to_text(bytes.diagnostics());
      const auto found = by_line.find(item.ptx.ranges()[0].first);
      if (found != by_line.end() && found->second != 0) {
        EXPECT_EQ(static_cast<std::uint64_t>(*bytes), found->second)
            << "footprint at PTX line " << to_string(item.ptx) << ": " << to_string(*expression);
      }
    }
  }

  static constexpr std::uint32_t lanes = 32;
  const KernelProgram& program_;
  Bindings bindings_;
  const ptx::Module& module_;
  std::uint32_t kernel_;
  bool unoptimised_ = false;  // what the compiler was asked for
};

// Two listeners at once.
class Both : public ExecutionListener {
 public:
  Both(ExecutionListener& a, ExecutionListener& b) : a_(a), b_(b) {}
  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId& warp, const ExecutedInstruction& instruction) override {
    if (a_.wants(warp)) a_.executed(warp, instruction);
    b_.executed(warp, instruction);
  }

 private:
  ExecutionListener &a_, &b_;
};

class Proof : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (GetParam().compiler == Compiler::nvcc && !nvcc_version()) GTEST_SKIP() << "no nvcc on this machine";
  }

  void file(const std::string& name) {
    const auto source = compiled(name, GetParam());
    ASSERT_TRUE(source);
    for (const auto& kernel : source->kernels) {
      SCOPED_TRACE(fmt::format("{} of {}, {}", kernel.name, name, GetParam().name));
      prove(*source, kernel);
    }
  }

  void folder(const std::string& name) {
    for (const auto& one : cuda_files(name)) file(one);
  }

 private:
  static std::uint32_t how_many(const Dimensions& grid) { return grid.x * grid.y * grid.z; }

  void prove(const Source& source, const KernelSignature& kernel) {
    const auto analysis = analyze(source, {.kernel = kernel.symbol});
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const auto& program = analysis->kernels[0].program;
    const auto loaded = load_text(source.ptx, kernel.symbol);
    ASSERT_TRUE(loaded);
    if (others().contains(kernel.name)) return;
    int proved = 0;
    const auto trials = trial_launches(source.file, kernel);
    for (const auto& trial : trials) {
      auto bindings = bindings_of(trial);
      if (asks(program, bindings)) {
        EXPECT_TRUE(asking().contains(kernel.name))
            << "the program has parameters that data decide:" << unknown_parameters(program, bindings);
        return;
      }
      if (one_size(*loaded, kernel, trial, program, std::move(bindings), &trial == &trials.back())) ++proved;
      if (HasFailure()) return;
    }
    EXPECT_GT(proved, 0)
        << "no size for which the kernel ends without a finding: give it a plan, or a line in launches.cc";
  }

  // Gives whether the kernel ended without a finding.
  bool one_size(const Loaded& loaded, const KernelSignature& kernel, const TrialLaunch& trial,
                const KernelProgram& program, Bindings bindings, bool largest) {
    const auto arguments = arguments_of(loaded, kernel, trial);
    std::string shown = fmt::format("{} blocks of {}", trial.how.grid.x, trial.how.block.x);
    for (const auto& [name, number] : trial.numbers) shown += fmt::format(" {}={}", name, number);
    SCOPED_TRACE(shown);
    // The first warp of all, and one in whose data the signal neither begins nor ends.
    StreamRecorder stream({{0, 0}, {how_many(trial.how.grid) / 2, 0}});
    FootprintRecorder footprint;
    Totals totals;
    Both both(stream, footprint), all(both, totals);
    const auto outcome = launch(loaded, trial.how, arguments, {}, &all);
    if (!outcome.execution.completed || !outcome.execution.findings.empty()) return false;
    whole_launch(program, bindings, trial.how, totals.totals);
    const auto kernel_index = find_kernel(*loaded.module, kernel.symbol, "");
    Compared compared(program, std::move(bindings), *loaded.module, *kernel_index, !GetParam().flags.empty());
    if (!dividing().contains(kernel.name))
      compared.segmentation(stream.stream(), largest,
                            how_many(trial.how.grid) > 1 ? stream.stream(1) : stream.stream());
    compared.footprint(footprint);
    return true;
  }

  // What all warps execute together, where no data decide it.
  static void whole_launch(const KernelProgram& program, const Bindings& bindings, const LaunchConfig& how,
                           WarpTotals executed) {
    if (std::any_of(program.parameters.begin(), program.parameters.end(),
                    [](const auto& parameter) { return parameter.share.has_value(); }))
      return;
    WarpOptions options;
    options.sectors = true;
    options.budget = 500'000;  // enough for every warp to be looked at: the counts are not from a sample
    auto said = WarpProgram(program).launch(bindings, {three(how.grid), three(how.block)}, {}, options);
    ASSERT_TRUE(said) << to_text(said.diagnostics());
    EXPECT_FALSE(said->sampled);
    if (said->sectors_unknown)
      said->total.load_sectors = said->total.store_sectors = executed.load_sectors = executed.store_sectors =
          0;
    EXPECT_EQ(text_of(said->total), text_of(executed));
  }

  static std::string unknown_parameters(const KernelProgram& program, const Bindings& bindings) {
    // Shares that only items have need no value: the program without a launch executes these items.
    const auto used = used_names(program);
    const auto needs_none = [&](const std::string& name) {
      return std::find(used.begin(), used.end(), name) == used.end() &&
             std::any_of(program.parameters.begin(), program.parameters.end(),
                         [&](const auto& parameter) { return parameter.name == name && parameter.share; });
    };
    std::string text;
    for (const auto& name : parameter_names(program))
      if (!bindings.contains(name) && !needs_none(name)) text += " " + name;
    return text;
  }
  static bool asks(const KernelProgram& program, const Bindings& bindings) {
    return !unknown_parameters(program, bindings).empty();
  }
};

TEST_P(Proof, TheTransforms) {
  folder("dwt_kernels");
}
TEST_P(Proof, TheSamples) {
  folder("samples");
}
TEST_P(Proof, SmallKernels) {
  folder("tests/analyzer/kernels");
}

INSTANTIATE_TEST_SUITE_P(Builds, Proof, ::testing::ValuesIn(builds()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace warptime::execute::testing
