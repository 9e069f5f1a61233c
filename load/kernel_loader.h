// Gives predictions their kernel programs: reads them, or compiles and analyses the code of a .cu or .ptx.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/compile/targets.h"
#include "analyzer/pipeline.h"
#include "load/input.h"
#include "load/kernel_file.h"
#include "simulator/predict/prediction.h"

namespace warptime {

// The block that a launch's code is analysed for.
struct AnalysedBlock {
  std::optional<Dim3> shape;  // nothing: one-dimensional
  std::string note;           // why it is one-dimensional where the launch is not
};
// `values`: of parameters; the plan's typical ones stand in for the others.
AnalysedBlock analysed_block(const Plan& plan, const PlanLaunch& launch, Bindings values);

// What several loaders have compiled, with the same options and the same reader of files: each file once for each target, also
// where they ask at the same time. Thread-safe.
class CompiledSources {
 public:
  using Compiled = std::shared_ptr<const Result<Source>>;
  Compiled find_or_compile(const std::string& file, const std::string& target,
                           const std::function<Compiled()>& compile);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_future<Compiled>> sources_;
};

// Each file is read once, and compiled and analysed once for each target. Warnings and notes of the compiler
// and the analysis go to `report`, each message once.
class KernelLoader {
 public:
  using DiagnosticHandler = std::function<void(const Diagnostic&)>;

  // compile.arch replaces each GPU's own target, where it is not empty.
  // registers, machine: those of AnalyzeOptions.
  KernelLoader(FileReader read, DiagnosticHandler report, CompileOptions compile, bool skip_unsupported,
               bool registers = false, AnalyzeOptions::Machine machine = AnalyzeOptions::Machine::none);

  // Whether programs carry the classes of their instructions, for models that read them.
  void set_classes(bool classes) { classes_ = classes; }
  // Whether programs are rearranged (AnalyzeOptions::rearrange).
  void set_rearrange(bool rearrange) { rearrange_ = rearrange; }
  // The values that blocks over parameters are analysed for: the first of each, else the plan's typical one.
  // A block that depends on more (a counter) is analysed as one-dimensional, and a note says so.
  void set_parameters(const std::vector<NamedValues>& parameters);
  // Files that others compile, too.
  void share_sources(std::shared_ptr<CompiledSources> shared) { shared_ = std::move(shared); }
  // Adds a file that was read already.
  void add(Input input);
  // Compiles the plan's .cu files for the targets of `gpus` in parallel. load() returns the errors.
  void prepare(const Plan& plan, const std::vector<const Gpu*>& gpus);
  // The kernel of a launch: its file is relative to the plan's. Errors: those of reading, compiling and
  // analysing; several kernels and none named.
  Result<LoadedProgram> load(const Plan& plan, const PlanLaunch& launch, const Gpu& gpu);
  // Those that load() has given, in no particular order.
  std::vector<KernelProgram> programs() const;
  // The user's files that sources were compiled from (Source::files).
  std::vector<std::string> headers() const;
  // The code of a launch's kernel with every step of its analysis: its one kernel is that of load(). Nothing: a kernel program, which
  // has no code. Errors: load()'s.
  Result<std::optional<Analysis>> steps(const Plan& plan, const PlanLaunch& launch, const Gpu& gpu);
  // load(), for predictions. This must outlive it.
  ProgramLoader as_function() {
    return [this](const Plan& plan, const PlanLaunch& launch, const Gpu& gpu) {
      return load(plan, launch, gpu);
    };
  }

 private:
  using Target = compiling::TargetChoice;
  Result<const Input*> input_of(const std::string& file);
  Target target_of(const Gpu& gpu);
  CompiledSources::Compiled compile(const Input& input, const std::string& target) const;
  AnalyzeOptions analyze_options(const std::string& kernel, const AnalysedBlock& block,
                                 bool keep_steps) const;
  // The program of one kernel; target: empty where nothing is compiled.
  Result<LoadedProgram> make(const Input& input, const std::string& kernel, const std::string& target,
                             const AnalysedBlock& block, ChosenBy by);
  Result<LoadedProgram> analysed(const Result<Source>& source, const std::string& kernel,
                                 const AnalysedBlock& block, ChosenBy by);
  // The program that this code has for another target: its provenance names that one.
  std::optional<LoadedProgram> of_same_code(const Input& input, const std::string& kernel,
                                            const std::string& target, const AnalysedBlock& block);
  void report_once(const Diagnostics& diagnostics);

  FileReader read_;
  DiagnosticHandler report_;
  CompileOptions compile_;
  bool skip_unsupported_, registers_;
  AnalyzeOptions::Machine machine_;
  bool classes_ = false, rearrange_ = false;
  std::map<std::string, Input> inputs_;
  std::map<std::string, Target> targets_;                                             // by the one asked for
  std::map<std::pair<std::string, std::string>, CompiledSources::Compiled> sources_;  // by file and target
  std::shared_ptr<CompiledSources> shared_;                                           // may be null
  Bindings first_values_;                                                             // of parameters
  std::map<std::tuple<std::string, std::string, std::string, std::string>, LoadedProgram>
      programs_;  // by file, kernel, target and block
  std::set<std::string> reported_;
};

}  // namespace warptime
