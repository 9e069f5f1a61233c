// What the tests of this room share: a .cu or PTX file to its kernel programs, and a program to its flat list
// of periods.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/pipeline.h"
#include "simulator/program/schedule.h"

namespace warptime {

inline std::string read_file(const std::string& name) {
  const auto path = std::string(WARPTIME_SOURCE_DIR) + "/" + name;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline Result<Analysis> analyze_text(const std::string& text, const CompileOptions& options,
                                     const AnalyzeOptions& how = {}) {
  auto source = compile_cuda("test.cu", text, options);
  if (!source) return source.diagnostics();
  return analyze(std::move(*source), how);
}

inline const KernelProgram& program_of(const Analysis& analysis, const std::string& kernel) {
  for (const auto& k : analysis.kernels)
    if (k.program.provenance.kernel == kernel) return k.program;
  ADD_FAILURE() << "no kernel " << kernel;
  static const KernelProgram empty;
  return empty;
}

inline std::vector<Period> flat(const KernelProgram& program, const Bindings& bindings) {
  const auto schedule = make_schedule(program, bindings, paper_durations());
  EXPECT_TRUE(schedule) << (schedule ? "" : to_text(schedule.diagnostics()));
  if (!schedule) return {};
  const auto periods = written_out(*schedule, 10'000'000);
  EXPECT_TRUE(periods);
  return periods ? *periods : std::vector<Period>{};
}

inline std::int64_t count(const std::vector<Period>& periods, PeriodKind kind) {
  std::int64_t n = 0;
  for (const auto& p : periods) n += p.kind == kind;
  return n;
}

// clang and nvcc, loops unrolled and rolled; without nvcc only clang's.
struct Way {
  std::string name;
  CompileOptions options;
};
inline std::vector<Way> ways_to_compile() {
  std::vector<Way> ways;
  for (const bool rolled : {false, true}) {
    CompileOptions options;
    options.rolled = rolled;
    ways.push_back({rolled ? "clang rolled" : "clang", options});
    options.compiler = Compiler::nvcc;
    if (nvcc_version()) ways.push_back({rolled ? "nvcc rolled" : "nvcc", options});
  }
  return ways;
}

}  // namespace warptime
