// The sectors that the analysis gives a whole launch, against those that an H100 counted: l1tex__t_sectors.sum of
// data/hardware/h100_counters.csv, for the programs of this folder.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/compile/nvcc.h"
#include "analyzer/pipeline.h"
#include "load/host_plan.h"
#include "load/input.h"
#include "simulator/plan/launch.h"
#include "simulator/program/warps.h"

namespace warptime {
namespace {

const std::string folder = std::string(WARPTIME_SOURCE_DIR) + "/tests/hardware/";

struct MadeLaunch {
  std::string kernel;
  LaunchSize size;
  Bindings arguments;
};

std::array<std::int64_t, 3> three(const std::vector<Expression>& sizes, const Bindings& values) {
  std::array<std::int64_t, 3> all{1, 1, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto value = evaluate_count(sizes[i], values);
    EXPECT_TRUE(value) << to_string(sizes[i]);
    all[i] = value ? *value : 1;
  }
  return all;
}

// In the order in which the program makes them.
void collect(const std::vector<PlanStep>& steps, Bindings values, std::vector<MadeLaunch>& launches) {
  for (const PlanStep& step : steps) {
    const auto repeat = evaluate_count(step.repeat, values);
    ASSERT_TRUE(repeat);
    for (std::int64_t i = 0; i < *repeat; ++i) {
      if (!step.counter.empty()) values[step.counter] = i;
      if (!step.launch) {
        collect(step.steps, values, launches);
        continue;
      }
      MadeLaunch made;
      made.kernel = step.launch->entry;
      made.size = {three(step.launch->grid, values), three(step.launch->block, values)};
      for (const auto& [name, expression] : step.launch->arguments)
        if (const auto value = evaluate_count(expression, values)) made.arguments[name] = *value;
      launches.push_back(std::move(made));
    }
  }
}

struct Compared {
  std::string what, kernel;
  double said = 0, counted = 0;
  bool known = false;  // no address was unknown
};

// The recorded launches: program, number from 1, sectors.
std::vector<std::tuple<std::string, std::size_t, double>> recorded() {
  std::ifstream in(std::string(WARPTIME_SOURCE_DIR) + "/data/hardware/h100_counters.csv");
  std::string line;
  std::vector<std::tuple<std::string, std::size_t, double>> rows;
  std::vector<std::string> heading;
  while (std::getline(in, line)) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        fields.emplace_back();
      else
        fields.back() += c;
    }
    if (heading.empty()) {
      heading = fields;
      continue;
    }
    const auto field = [&](std::string_view name) {
      return fields[static_cast<std::size_t>(std::find(heading.begin(), heading.end(), name) -
                                             heading.begin())];
    };
    if (field("caches") == "cold")
      rows.emplace_back(field("program"), std::stoull(field("launch")),
                        std::stod(field("l1tex__t_sectors.sum")));
  }
  return rows;
}

TEST(Hardware, SectorsAreThoseThatAnH100Counts) {
  if (!compiling::find_nvcc()) GTEST_SKIP() << "the programs were compiled with nvcc, which is not here";
  std::map<std::string, std::vector<MadeLaunch>> programs;
  std::map<std::string, Source> sources;
  std::vector<Compared> all;
  for (const auto& [program, number, counted] : recorded()) {
    const std::string file = folder + program + ".cu";
    if (!std::ifstream(file)) continue;  // a bundled plan's
    if (!programs.contains(program)) {
      const auto text = read_text(file);
      ASSERT_TRUE(text);
      CompileOptions options;
      options.compiler = Compiler::clang;
      const auto plan = find_plan({{file, *text}}, options);
      ASSERT_TRUE(plan) << to_text(plan.diagnostics());
      collect(plan->plan.steps, {}, programs[program]);
      // As the programs were compiled for the GPU.
      options.compiler = Compiler::nvcc;
      options.arch = "sm_90";
      auto source = compile_cuda(file, *text, options);
      ASSERT_TRUE(source) << to_text(source.diagnostics());
      sources.emplace(program, std::move(*source));
    }
    const std::size_t at = 2 * (number - 1);  // each is made twice
    ASSERT_LT(at, programs[program].size()) << program;
    const MadeLaunch& made = programs[program][at];
    AnalyzeOptions options;
    options.kernel = made.kernel;
    options.block = made.size.block;
    const auto analysis = analyze(sources.at(program), options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    const KernelProgram& kernel = analysis->kernels.front().program;
    Bindings values = made.arguments;
    const std::array names{"blockDim.x", "blockDim.y", "blockDim.z", "gridDim.x", "gridDim.y", "gridDim.z"};
    for (std::size_t d = 0; d < 3; ++d) {
      values[names[d]] = made.size.block[d];
      values[names[3 + d]] = made.size.grid[d];
    }
    WarpOptions how;
    how.sectors = true;
    how.budget = 20'000'000;
    Compared one{fmt::format("{} {} {} {}x{}x{} {}x{}x{}", program, number, made.kernel, made.size.grid[0],
                             made.size.grid[1], made.size.grid[2], made.size.block[0], made.size.block[1],
                             made.size.block[2]),
                 made.kernel, 0, counted, false};
    const auto warps = WarpProgram(kernel).launch(values, made.size, {}, how);
    if (warps) {
      one.said = warps->total.load_sectors + warps->total.store_sectors;
      one.known = !warps->sectors_unknown && !warps->threads_unknown;
    } else {
      one.what += ": " + warps.diagnostics().front().message;
    }
    all.push_back(std::move(one));
  }
  std::size_t within = 0, known = 0;
  std::set<std::string> kernels;
  for (const Compared& one : all) {
    const bool close = std::abs(one.said - one.counted) <= 0.02 * one.counted;
    fmt::print("{:<60} said {:>12} counted {:>12}{}{}\n", one.what, one.said, one.counted,
               close ? "" : "  off", one.known ? "" : "  unknown addresses");
    within += close;
    known += one.known;
    if (close) kernels.insert(one.kernel);
    if (one.known) {
      EXPECT_TRUE(close) << one.what << ": " << one.said << " of " << one.counted;
    }
  }
  fmt::print("{} of {} launches within 2%, of {} kernels; {} with known addresses\n", within, all.size(),
             kernels.size(), known);
  EXPECT_GE(kernels.size(), 30u);
}

}  // namespace
}  // namespace warptime
