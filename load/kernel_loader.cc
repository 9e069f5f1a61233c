#include "load/kernel_loader.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "analyzer/compile/targets.h"
#include "analyzer/pipeline.h"
#include "load/programs.h"

namespace warptime {
namespace {

std::string beside(const Plan& plan, const std::string& kernel) {
  if (plan.file.empty() || std::filesystem::path(kernel).is_absolute()) return kernel;
  return (std::filesystem::path(plan.file).parent_path() / kernel).lexically_normal().string();
}

void collect_kernel_files(const std::vector<PlanStep>& steps, std::set<std::string>& files) {
  for (const auto& step : steps) {
    if (step.launch) files.insert(step.launch->kernel);
    collect_kernel_files(step.steps, files);
  }
}

}  // namespace

KernelLoader::KernelLoader(Reader read, DiagnosticHandler report, CompileOptions compile,
                           bool skip_unsupported, bool registers)
    : read_(std::move(read)),
      report_(std::move(report)),
      compile_(std::move(compile)),
      skip_unsupported_(skip_unsupported),
      registers_(registers) {}

void KernelLoader::add(Input input) {
  std::string file = input.file;
  inputs_.emplace(std::move(file), std::move(input));
}

Result<const Input*> KernelLoader::input_of(const std::string& file) {
  const auto known = inputs_.find(file);
  if (known != inputs_.end()) return &known->second;
  auto text = read_(file);
  if (!text) return text.diagnostics();
  const InputKind kind = kind_of(file, *text);
  add({file, std::move(*text), kind});
  return &inputs_.at(file);
}

// GPUs whose own target the compiler does not have share the one that stands in for it, each with a note of
// its own. Where there is no choice (no such compiler, no such target), compiling says why.
KernelLoader::Target KernelLoader::target_of(const Gpu& gpu) {
  const std::string wanted = !compile_.arch.empty() ? compile_.arch
                                                    : fmt::format("sm_{}{}", gpu.compute_capability.major,
                                                                  gpu.compute_capability.minor);
  const auto [known, added] = targets_.try_emplace(wanted, Target{wanted, ""});
  if (!added) return known->second;
  const auto available = compiler_targets(compile_.compiler);
  if (!available) return known->second;
  const auto compiler =
      compile_.compiler == Compiler::clang ? clang_version() : nvcc_version().value_or("nvcc");
  if (auto choice = compiling::choose_target(wanted, *available, compiler))
    known->second = std::move(*choice);
  return known->second;
}

void KernelLoader::prepare(const Plan& plan, const std::vector<const Gpu*>& gpus) {
  std::set<std::string> files;
  collect_kernel_files(plan.steps, files);
  struct Job {
    const Input* input;
    std::string target;
    std::unique_ptr<Result<Source>> source = {};
  };
  std::vector<Job> jobs;
  for (const auto& file : files) {
    const auto input = input_of(beside(plan, file));
    if (!input || (*input)->kind != InputKind::cuda) continue;
    std::set<std::string> targets;
    for (const auto* gpu : gpus) targets.insert(target_of(*gpu).target);
    for (const auto& target : targets) jobs.push_back({*input, target});
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++)
      jobs[i].source = compile(*jobs[i].input, jobs[i].target);
  };
  std::vector<std::future<void>> workers;
  const std::size_t count =
      std::min<std::size_t>(jobs.size(), std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) workers.push_back(std::async(std::launch::async, work));
  work();
  workers.clear();  // waits
  for (auto& job : jobs) sources_[{job.input->file, job.target}] = std::move(job.source);
}

std::unique_ptr<Result<Source>> KernelLoader::compile(const Input& input, const std::string& target) const {
  CompileOptions options = compile_;
  options.arch = target;
  return std::make_unique<Result<Source>>(compile_cuda(input.file, input.text, options));
}

Result<LoadedProgram> KernelLoader::load(const Plan& plan, const PlanLaunch& launch, const Gpu& gpu) {
  const auto input = input_of(beside(plan, launch.kernel));
  if (!input) return input.diagnostics();
  const auto target = (*input)->kind == InputKind::cuda ? target_of(gpu) : Target();
  const std::tuple key((*input)->file, launch.entry, target.target);
  if (programs_.count(key) == 0) {
    auto made = make(**input, launch.entry, target.target);
    if (!made) return made.diagnostics();
    programs_.emplace(key, std::move(*made));
  }
  LoadedProgram loaded = programs_.at(key);
  if (!target.note.empty()) loaded.notes.insert(loaded.notes.begin(), target.note);
  return loaded;
}

Result<LoadedProgram> KernelLoader::make(const Input& input, const std::string& kernel,
                                         const std::string& target) {
  switch (input.kind) {
    case InputKind::cuda: {
      auto& source = sources_[{input.file, target}];
      if (!source) source = compile(input, target);
      return analysed(*source, kernel);
    }
    case InputKind::ptx:
      return analysed(ptx_source(input.file, input.text), kernel);
    case InputKind::plan:
      return error_at(input.file, 0, 0, "is a plan, where a kernel is asked for");
    case InputKind::kernel_program:
      break;
  }
  auto programs = read_kernel_programs(input.text, input.file);
  if (!programs) return programs.diagnostics();
  auto selected = select_kernels(std::move(*programs), kernel, input.file);
  if (!selected) return selected.diagnostics();
  auto program = only_kernel(std::move(*selected), input.file);
  if (!program) return program.diagnostics();
  return LoadedProgram{std::move(*program), {}};
}

Result<LoadedProgram> KernelLoader::analysed(const Result<Source>& source, const std::string& kernel) {
  if (!source) return source.diagnostics();
  report_once(source->warnings);
  const std::string file = source->file;
  std::vector<std::string> notes = source->notes;
  auto analysis = analyze(*source, {kernel, skip_unsupported_, {}, {}, false, registers_});
  if (!analysis) return analysis.diagnostics();
  report_once(analysis->diagnostics);
  if (!analysis->errors.empty()) return std::move(analysis->errors);

  std::vector<KernelProgram> programs;
  for (auto& one : analysis->kernels) programs.push_back(std::move(one.program));
  auto program = only_kernel(std::move(programs), file);
  if (!program) return program.diagnostics();
  if (auto share = modelled_share(*program); !share.empty()) notes.push_back(std::move(share));
  return LoadedProgram{std::move(*program), std::move(notes)};
}

void KernelLoader::report_once(const Diagnostics& diagnostics) {
  for (const auto& diagnostic : diagnostics)
    if (reported_.insert(to_text(diagnostic)).second) report_(diagnostic);
}

}  // namespace warptime
