// Random programs: what the analysis says that a warp executes, against what it executes, period by period. A
// failing program is made smaller and printed with its seed; WARPTIME_RANDOM_SEED=n begins there,
// WARPTIME_RANDOM_PROGRAMS=n makes as many.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "analyzer/pipeline.h"
#include "tests/execute/harness.h"
#include "tests/execute/random_ptx.h"
#include "tests/execute/segmentation_text.h"

namespace warptime::execute::testing {
namespace {

constexpr std::uint64_t longest_execution = 20000;  // warp instructions; longer ones are not looked at

enum class Verdict : std::uint8_t {
  same,
  different,
  asks,     // the program has parameters that only the user knows
  assumes,  // it is different, and says that it took something for granted that does not hold
  refused,  // by the analysis
  long_execution,
  invalid,  // the generator's fault
};

struct Compared {
  Verdict verdict = Verdict::same;
  std::string text;  // both segmentations, or what was said
};

// The longest of two texts' ends that differ, for people.
std::string short_text(const std::string& text) {
  return text.size() <= 400 ? text : text.substr(0, 400) + "…";
}

Bindings bindings_of(const RandomProgram& program, const std::vector<std::int64_t>& arguments) {
  Bindings bindings{{"blockDim.x", program.threads}, {"blockDim.y", 1}, {"blockDim.z", 1},
                    {"gridDim.x", program.blocks},   {"gridDim.y", 1},  {"gridDim.z", 1}};
  for (std::size_t i = 0; i < arguments.size(); ++i) bindings[fmt::format("n{}", i)] = arguments[i];
  return bindings;
}

struct Executed {
  bool ended = false;
  std::string finding;
  std::vector<StreamPeriod> periods;
};

Executed execute_first_warp(const Code& code, const RandomProgram& program,
                            const std::vector<std::int64_t>& arguments) {
  Executed result;
  auto memory = Memory::create(*code);
  const auto buffer = memory->allocate("memory", random_program_memory_bytes);
  std::vector<Argument> passed{pointer(*code, *memory, *buffer)};
  for (const auto argument : arguments) passed.push_back(scalar(static_cast<std::int32_t>(argument)));
  Options options;
  options.checks = Checks::none();
  options.instruction_budget = longest_execution;
  StreamRecorder recorder({{0, 0}});
  // Only the first block is looked at, but the kernel sees how many there are.
  const auto execution =
      run(*code, *memory, {{program.blocks}, {program.threads}}, passed, options, &recorder);
  if (!execution) {
    result.finding = to_text(execution.diagnostics());
    return result;
  }
  result.ended = execution->completed;
  for (const auto& finding : execution->findings)
    if (finding.kind != Finding::Kind::budget)
      result.finding = fmt::format("PTX line {}: {}", finding.ptx_line, finding.message);
  result.periods = segment(recorder.stream());
  return result;
}

std::string description_of(const KernelProgram& program, const std::string& name) {
  for (const auto& parameter : program.parameters)
    if (parameter.name == name) return fmt::format("{}: {}", name, parameter.description);
  return name;
}

Compared compare(const RandomProgram& program) {
  const auto text = to_ptx(program);
  const auto analysis = analyze(ptx_source("random.ptx", text), {});
  const auto module = ptx::parse(text, "random.ptx");
  if (!module) return {Verdict::invalid, to_text(module.diagnostics())};
  const auto code = load(*module, *find_kernel(*module, "k", "random.ptx"), "random.ptx");
  if (!code) return {Verdict::invalid, to_text(code.diagnostics())};
  bool looked_at = false;
  for (const auto& arguments : program.argument_sets) {
    const auto executed = execute_first_warp(*code, program, arguments);
    if (!executed.finding.empty()) return {Verdict::invalid, executed.finding};
    if (!executed.ended) continue;
    looked_at = true;
    if (!analysis) return {Verdict::refused, to_text(analysis.diagnostics())};
    const auto& kernel = analysis->kernels[0].program;
    const auto bindings = bindings_of(program, arguments);
    for (const auto& name : parameter_names(kernel))
      if (!bindings.contains(name)) return {Verdict::asks, description_of(kernel, name)};
    const auto said = [&](const std::string& what) {
      std::string numbers;
      for (const auto argument : arguments) numbers += fmt::format(" {}", argument);
      std::string assumed;
      for (const auto& a : kernel.assumptions)
        assumed += fmt::format("\nassumed, PTX line {}: {}", a.ptx_line, a.text);
      return fmt::format("arguments{}, {} blocks of {}\n  the program {}\n  was executed {}{}", numbers,
                         program.blocks, program.threads, what, short_text(text_of(executed.periods)),
                         assumed);
    };
    const bool assumes = std::any_of(kernel.assumptions.begin(), kernel.assumptions.end(), [](const auto& a) {
      return a.text.find("data") != std::string::npos || a.text.find("`…`") != std::string::npos ||
             a.text.find("the loop may be left early here") != std::string::npos ||
             a.text.find("are not negative") != std::string::npos;
    });
    const auto different = assumes ? Verdict::assumes : Verdict::different;
    const auto schedule = make_schedule(kernel, bindings, paper_durations());
    if (!schedule) return {different, said(to_text(schedule.diagnostics()))};
    const auto periods = written_out(*schedule, 4 * longest_execution);
    if (!periods) return {different, said("is far longer")};
    const auto predicted = text_of(*periods);
    if (predicted != text_of(executed.periods)) return {different, said(short_text(predicted))};
  }
  return {looked_at ? Verdict::same : Verdict::long_execution, ""};
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string reproducer(const RandomProgram& program) {
  const auto smaller = shrink(program, [verdict = compare(program).verdict](const RandomProgram& p) {
    return compare(p).verdict == verdict;
  });
  const auto outcome = compare(smaller);
  return fmt::format("seed {}\n{}\n{}", program.seed, outcome.text, to_ptx(smaller));
}

struct Tally {
  std::map<Verdict, int> counts;
  int failures = 0;
  void add(Verdict verdict) { ++counts[verdict]; }
};

void try_programs(const RandomFeatures& features, std::uint64_t first, std::uint64_t count) {
  Tally tally;
  const auto most_failures = static_cast<int>(number_from("WARPTIME_RANDOM_FAILURES", 5));
  const bool strict =
      number_from("WARPTIME_RANDOM_STRICT", 0) != 0;  // what is asked for and what is assumed fails too
  for (std::uint64_t seed = first; seed < first + count && tally.failures < most_failures; ++seed) {
    const auto program = random_program(seed, features);
    const auto outcome = compare(program);
    tally.add(outcome.verdict);
    const bool wrong = outcome.verdict == Verdict::different || outcome.verdict == Verdict::invalid ||
                       outcome.verdict == Verdict::refused;
    if (!wrong && !(strict && (outcome.verdict == Verdict::asks || outcome.verdict == Verdict::assumes)))
      continue;
    ++tally.failures;
    ADD_FAILURE() << reproducer(program);
  }
  const auto share = [&](Verdict verdict) { return 100 * tally.counts[verdict] / static_cast<int>(count); };
  std::printf(
      "of %d programs %d%% agree, %d%% need a parameter of the user's, %d%% assume what data decide and are "
      "wrong, %d%% run too long to be looked at\n",
      static_cast<int>(count), share(Verdict::same), share(Verdict::asks), share(Verdict::assumes),
      share(Verdict::long_execution));
}

TEST(Random, ProgramsWithoutCalls) {
  try_programs({.calls = false}, number_from("WARPTIME_RANDOM_SEED", 1),
               number_from("WARPTIME_RANDOM_PROGRAMS", 2000));
}

TEST(Random, ProgramsWithCalls) {
  try_programs({.calls = true}, number_from("WARPTIME_RANDOM_SEED", 1000001),
               number_from("WARPTIME_RANDOM_PROGRAMS", 2000));
}

}  // namespace
}  // namespace warptime::execute::testing
