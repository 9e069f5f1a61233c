#include "load/kernel_loader.h"

#include <fmt/format.h>

#include <atomic>
#include <future>
#include <thread>

#include "analyzer/compile/targets.h"
#include "analyzer/pipeline.h"
#include "load/programs.h"

namespace warptime {
namespace {

// The PTX before the line `.target`, and what follows that line.
std::pair<std::string_view, std::string_view> without_target(std::string_view ptx) {
  const std::size_t begin = std::min(ptx.find("\n.target "), ptx.size());
  return {ptx.substr(0, begin), ptx.substr(std::min(ptx.find('\n', begin + 1), ptx.size()))};
}

bool differs_by_target_alone(const Source& a, const Source& b) {
  return a.notes == b.notes && a.warnings.empty() && b.warnings.empty() && a.flags == b.flags &&
         a.compiler == b.compiler && without_target(a.ptx) == without_target(b.ptx);
}

// What is wrong with the file of a plan's kernel, at the launch that names it.
Diagnostics with_place(Diagnostics wrong, const Plan& plan, const PlanLaunch& launch) {
  int line = 0;
  for_each_launch(plan.steps, [&](const PlanStep& step) {
    if (line == 0 && step.launch->kernel == launch.kernel) line = step.line;
  });
  for (Diagnostic& one : wrong) {
    if (one.line > 0 || one.file.empty()) continue;  // it has a place of its own
    one.message = fmt::format("the kernel's file {}: {}", one.file, one.message);
    one.file = plan.file;
    one.line = line;
  }
  return wrong;
}

}  // namespace

KernelLoader::KernelLoader(FileReader read, DiagnosticHandler report, CompileOptions compile,
                           bool skip_unsupported, bool registers, AnalyzeOptions::Machine machine)
    : read_(std::move(read)),
      report_(std::move(report)),
      compile_(std::move(compile)),
      skip_unsupported_(skip_unsupported),
      registers_(registers),
      machine_(machine) {}

void KernelLoader::add(Input input) {
  std::string file = input.file;
  inputs_.emplace(std::move(file), std::move(input));
}

Result<const Input*> KernelLoader::input_of(const std::string& file) {
  const auto known = inputs_.find(file);
  if (known != inputs_.end()) return &known->second;
  auto input = read_kernel_file(file, read_);
  if (!input) return input.diagnostics();
  add(std::move(*input));
  return &inputs_.at(file);
}

// GPUs whose own target the compiler lacks share the target that replaces it; each gets a note. Where nothing
// can replace it (no such compiler, no such target), compiling reports the error.
KernelLoader::Target KernelLoader::target_of(const Gpu& gpu) {
  const std::string wanted = !compile_.arch.empty() ? compile_.arch
                                                    : fmt::format("sm_{}{}", gpu.compute_capability.major,
                                                                  gpu.compute_capability.minor);
  const auto [known, added] = targets_.try_emplace(wanted, Target{wanted, ""});
  if (!added) return known->second;
  const auto available = compiler_targets(compile_.compiler);
  if (!available) return known->second;
  const auto compiler = first_compiler_version(compile_.compiler);
  if (auto choice = compiling::choose_target(wanted, *available, compiler))
    known->second = std::move(*choice);
  return known->second;
}

void KernelLoader::prepare(const Plan& plan, const std::vector<const Gpu*>& gpus) {
  struct Job {
    const Input* input;
    std::string target;
    CompiledSources::Compiled source = {};
  };
  std::vector<Job> jobs;
  for (const auto& file : launched_files(plan)) {
    const auto input = input_of(file);
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

CompiledSources::Compiled CompiledSources::find_or_compile(const std::string& file, const std::string& target,
                                                           const std::function<Compiled()>& compile) {
  std::promise<Compiled> promise;
  std::shared_future<Compiled> compiled;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = sources_.try_emplace({file, target});
    if (fresh) known->second = promise.get_future().share();
    compiled = known->second;
    first = fresh;
  }
  if (first) promise.set_value(compile());
  return compiled.get();
}

CompiledSources::Compiled KernelLoader::compile(const Input& input, const std::string& target) const {
  const auto compile = [&]() -> CompiledSources::Compiled {
    CompileOptions options = compile_;
    options.arch = target;
    return std::make_shared<const Result<Source>>(source_of(input, options));
  };
  return shared_ != nullptr ? shared_->find_or_compile(input.file, target, compile) : compile();
}

void KernelLoader::set_parameters(const std::vector<NamedValues>& parameters) {
  first_values_.clear();
  for (const NamedValues& one : parameters)
    if (one.values.size() > 0) first_values_[one.name] = one.values.at(0);
}

AnalysedBlock analysed_block(const Plan& plan, const PlanLaunch& launch, Bindings values) {
  if (launch.block.size() < 2) return {};
  values.insert(plan.typical.begin(), plan.typical.end());
  Dim3 shape;
  for (std::size_t i = 0; i < launch.block.size(); ++i) {
    const auto size = evaluate_count(launch.block[i], values);
    if (!size || *size < 1)
      return {std::nullopt,
              fmt::format("{} is analysed for blocks of one dimension: `{}` is known only in the plan",
                          launch.kernel, to_string(launch.block[i]))};
    shape.at(i) = *size;
  }
  if (shape == Dim3{shape.x, 1, 1}) return {};
  return {shape, ""};
}

Result<LoadedProgram> KernelLoader::load(const Plan& plan, const PlanLaunch& launch, const Gpu& gpu) {
  const auto input = input_of(launched_file(plan, launch));
  if (!input) return plan.file.empty() ? input.diagnostics() : with_place(input.diagnostics(), plan, launch);
  const auto target = (*input)->kind == InputKind::cuda ? target_of(gpu) : Target();
  const auto block = (*input)->kind == InputKind::kernel_program
                         ? AnalysedBlock()
                         : analysed_block(plan, launch, first_values_);
  const std::tuple key((*input)->file, launch.entry, target.target,
                       block.shape ? to_string(*block.shape) : "");
  if (programs_.count(key) == 0) {
    auto made = make(**input, launch.entry, target.target, block,
                     plan.file.empty() ? ChosenBy::option : ChosenBy::plan);
    if (!made) return made.diagnostics();
    programs_.emplace(key, std::move(*made));
  }
  LoadedProgram loaded = programs_.at(key);
  if (!block.note.empty()) loaded.notes.push_back(block.note);
  if (!target.note.empty()) loaded.notes.insert(loaded.notes.begin(), target.note);
  return loaded;
}

Result<LoadedProgram> KernelLoader::make(const Input& input, const std::string& kernel,
                                         const std::string& target, const AnalysedBlock& block, ChosenBy by) {
  if (input.kind != InputKind::kernel_program) {
    auto& source = sources_[{input.file, target}];
    if (!source) source = compile(input, target);
    if (auto known = of_same_code(input, kernel, target, block)) return std::move(*known);
    return analysed(*source, kernel, block, by);
  }
  auto program = read_kernel_program(input.text, kernel, input.file, by);
  if (!program) return program.diagnostics();
  return LoadedProgram{std::move(*program), {}};
}

// Most sources have the same PTX for all targets but for the line that names it.
std::optional<LoadedProgram> KernelLoader::of_same_code(const Input& input, const std::string& kernel,
                                                        const std::string& target,
                                                        const AnalysedBlock& block) {
  const Result<Source>& source = *sources_.at({input.file, target});
  // ptxas gives each target its own registers, and each has a table of machine instructions.
  if (!source || registers_ || machine_ != AnalyzeOptions::Machine::none) return std::nullopt;
  const std::string shape = block.shape ? to_string(*block.shape) : "";
  for (auto known = programs_.lower_bound({input.file, kernel, "", ""});
       known != programs_.end() && std::get<0>(known->first) == input.file &&
       std::get<1>(known->first) == kernel;
       ++known) {
    if (std::get<3>(known->first) != shape) continue;
    const auto other = sources_.find({input.file, std::get<2>(known->first)});
    if (other == sources_.end() || !*other->second || !differs_by_target_alone(*source, **other->second))
      continue;
    return known->second;
  }
  return std::nullopt;
}

Result<LoadedProgram> KernelLoader::analysed(const Result<Source>& source, const std::string& kernel,
                                             const AnalysedBlock& block, ChosenBy by) {
  if (!source) return source.diagnostics();
  report_once(source->warnings);
  const std::string file = source->file;
  std::vector<std::string> notes = source->notes;
  auto analysis = analyze(*source, analyze_options(kernel, block, false));
  if (!analysis) return analysis.diagnostics();
  report_once(analysis->diagnostics);
  if (!analysis->errors.empty()) return std::move(analysis->errors);

  std::vector<KernelProgram> programs;
  for (auto& one : analysis->kernels) programs.push_back(std::move(one.program));
  auto program = select_program(std::move(programs), kernel, file, by);
  if (!program) return program.diagnostics();
  if (auto share = modelled_share(*program); !share.empty()) notes.push_back(std::move(share));
  return LoadedProgram{std::move(*program), std::move(notes)};
}

std::vector<KernelProgram> KernelLoader::programs() const {
  std::vector<KernelProgram> all;
  for (const auto& [key, loaded] : programs_) all.push_back(*loaded.program);
  return all;
}

std::vector<std::string> KernelLoader::headers() const {
  std::set<std::string> all;
  for (const auto& [key, source] : sources_)
    if (source && *source) all.insert((*source)->files.begin(), (*source)->files.end());
  return {all.begin(), all.end()};
}

AnalyzeOptions KernelLoader::analyze_options(const std::string& kernel, const AnalysedBlock& block,
                                             bool keep_steps) const {
  AnalyzeOptions options{kernel, skip_unsupported_, {}, {}, keep_steps, registers_, machine_};
  options.classes = classes_;
  options.rearrange = rearrange_;
  if (block.shape) options.block = {block.shape->x, block.shape->y, block.shape->z};
  return options;
}

Result<std::optional<Analysis>> KernelLoader::steps(const Plan& plan, const PlanLaunch& launch,
                                                    const Gpu& gpu) {
  const auto loaded = load(plan, launch, gpu);
  if (!loaded) return loaded.diagnostics();
  const auto input = input_of(launched_file(plan, launch));
  if (!input) return input.diagnostics();
  if ((*input)->kind == InputKind::kernel_program) return std::optional<Analysis>();
  const std::string target = (*input)->kind == InputKind::cuda ? target_of(gpu).target : "";
  auto& source = sources_[{(*input)->file, target}];
  if (!source) source = compile(**input, target);
  if (!*source) return source->diagnostics();
  auto analysis =
      analyze(**source, analyze_options(launch.entry, analysed_block(plan, launch, first_values_), true));
  if (!analysis) return analysis.diagnostics();
  std::erase_if(analysis->kernels, [&](const KernelAnalysis& kernel) {
    return kernel.program.provenance.kernel != loaded->program->provenance.kernel;
  });
  if (analysis->kernels.size() != 1)
    return error(fmt::format("{} has no kernel of that name alone", (*input)->file));
  return std::optional<Analysis>(std::move(*analysis));
}

void KernelLoader::report_once(const Diagnostics& diagnostics) {
  for (const auto& diagnostic : diagnostics)
    if (reported_.insert(to_text(diagnostic)).second) report_(diagnostic);
}

}  // namespace warptime
