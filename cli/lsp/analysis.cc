#include "cli/lsp/analysis.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "analyzer/pipeline.h"
#include "cli/lsp/kernel_answer.h"
#include "cli/lsp/kernel_texts.h"
#include "cli/lsp/settings.h"
#include "cli/options/options.h"
#include "cli/options/predict_settings.h"
#include "cli/views/sarif.h"
#include "load/host_plan.h"
#include "load/kernel_file.h"
#include "load/kernel_loader.h"
#include "load/programs.h"
#include "models/file.h"
#include "simulator/predict/explanation.h"

namespace warptime::cli {
namespace {

using lsp::Answer;
using lsp::Json;

constexpr std::size_t kLongestText = std::size_t{8} << 20;

Answer::Severity severity_of(Severity severity) {
  return severity == Severity::error     ? Answer::Severity::error
         : severity == Severity::warning ? Answer::Severity::warning
                                         : Answer::Severity::information;
}

bool is_file(const std::string& name, const std::string& path) {
  return name.empty() || name == path;
}

// The first line with `#include` of a file of this name; 1: there is none.
int line_that_includes(std::string_view text, const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find("include") != std::string_view::npos && line.find(name) != std::string_view::npos)
      return number;
  }
  return 1;
}

// The compiler's messages, and our own, as findings in the document; notes belong to what they follow.
std::vector<Answer::Finding> findings_of(const Diagnostics& diagnostics, const std::string& path,
                                         std::string_view text) {
  std::vector<Answer::Finding> findings;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::vector<Diagnostic> messages =
        diagnostic.verbatim.empty() ? std::vector{diagnostic} : messages_of(diagnostic);
    bool follows = false;
    for (const Diagnostic& one : messages) {
      const bool here = is_file(one.file, path);
      std::string message = one.message;
      if (!one.hint.empty()) message += "\nhint: " + one.hint;
      if (one.severity == Severity::note && follows) {
        findings.back().message += here && one.line > 0
                                       ? fmt::format("\nnote: line {}: {}", one.line, message)
                                       : fmt::format("\nnote: {}", message);
        continue;
      }
      // Host code that does not compile, assumptions: what the command says in passing.
      if (one.severity == Severity::note) continue;
      follows = true;
      if (here) {
        findings.push_back({std::max(one.line, 1), one.column, severity_of(one.severity),
                            diagnostic.verbatim.empty() ? "input" : "compiler", std::move(message)});
      } else {
        findings.push_back({line_that_includes(text, one.file), 0, severity_of(one.severity), "compiler",
                            fmt::format("{}:{}: {}", one.file, one.line, message)});
      }
    }
  }
  return findings;
}

std::string stamp_text(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "none";
  return fmt::format("{}:{}:{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

bool is_of_user(const std::string& file) {
  return !file.starts_with("/usr/") && !file.starts_with("/warptime/");
}

// "ns::filter<float>" -> "filter"
std::string plain_name(const std::string& name) {
  const std::string without = name.substr(0, name.find('<'));
  const auto scope = without.rfind(':');
  return scope == std::string::npos ? without : without.substr(scope + 1);
}

// The launches of one kernel.
std::vector<PlanStep> launches_of(const std::vector<PlanStep>& steps, const Provenance& kernel) {
  std::vector<PlanStep> found;
  for (PlanStep step : steps) {
    step.copy.reset();
    if (step.launch) {
      if (step.launch->entry.empty() || step.launch->entry == kernel.kernel ||
          step.launch->entry == kernel.symbol)
        found.push_back(std::move(step));
      continue;
    }
    step.steps = launches_of(step.steps, kernel);
    step.streams.reset();
    if (!step.steps.empty()) found.push_back(std::move(step));
  }
  return found;
}

// "4096", "32x8": without the dimensions of size 1 at its end.
std::string size_text(const Dim3& size) {
  if (size.z != 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y != 1 ? fmt::format("{}x{}", size.x, size.y) : fmt::format("{}", size.x);
}

std::string shape_text(const PredictionRow& row) {
  const GridAndBlock shape = row.first_shape();
  return fmt::format("{} x {}{}", size_text(shape.grid), size_text(shape.block),
                     row.launches > 1 ? fmt::format(", {} launches", row.launches) : "");
}

// One kernel of the compiled source.
struct CompiledKernel {
  KernelProgram program;
  std::optional<std::size_t> text;  // its index in the document's kernels
  int line = 0;                     // 0: not in the document
  std::optional<Explanation> explanation;
  std::string why_no_time, launch;
  bool finished = false;
};

class DocumentAnalysis {
 public:
  DocumentAnalysis(const lsp::Question& question, const std::vector<std::string>& words,
                   const AnalysisCache& cache, const std::function<void(AnalysisStep)>& report)
      : path_(question.path.empty() ? "untitled.cu" : question.path),
        text_(question.text),
        cache_(cache),
        report_(report),
        settings_(read_document_settings(question.path, text_, question.settings)),
        texts_(find_kernel_texts(text_)) {
    settings_.layers.insert(settings_.layers.begin(), {"", words});
    rest_.findings = findings_of(settings_.wrong, path_, text_);
  }

  void run() {
    check_gpu();
    find_keys();
    compile_missing();
    send(false);
    explain_all_kernels();
    send(true);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // A GPU that is not known is a mistake of the settings as a whole.
  void check_gpu() {
    const auto arguments = arguments_of("");
    if (!arguments) return;
    const auto catalogue = read_catalogue(*arguments);
    if (!catalogue) return;
    if (const auto gpus = read_gpus(*arguments, *catalogue); !gpus) add_wrong(gpus.diagnostics());
  }

  std::string word_text(const std::string& kernel) const {
    std::string text;
    for (const KernelSettings& layer : settings_.layers)
      if (layer.kernel.empty() || layer.kernel == kernel)
        text += fmt::format("{}\n", fmt::join(layer.words, "\x01"));
    return text;
  }

  // A part's key: all of the text but the bodies of other kernels, and what else decides.
  void find_keys() {
    std::string rest = without_bodies(text_, texts_, std::vector<bool>(texts_.size(), false), "{}");
    std::erase(rest, '\n');
    for (const std::string& file : cache_.files) rest += stamp_text(file);
    const std::string rest_hash = models::sha256(rest);
    std::map<std::string, int> seen;
    for (const KernelText& kernel : texts_) {
      const std::string_view own = std::string_view(text_).substr(kernel.begin, kernel.end - kernel.begin);
      keys_.push_back(models::sha256(
          fmt::format("{}\n{}\n{}\n{}", rest_hash, word_text(kernel.name), seen[kernel.name]++, own)));
    }
    parts_.resize(texts_.size());
    missing_.assign(texts_.size(), true);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const auto known = cache_.parts.find(keys_[i]);
      if (known == cache_.parts.end()) continue;
      parts_[i] = known->second;
      missing_[i] = false;
    }
  }

  bool any_missing() const {
    return texts_.empty() || std::find(missing_.begin(), missing_.end(), true) != missing_.end();
  }

  Result<Arguments> arguments_of(const std::string& kernel) const { return settings_.arguments_for(kernel); }

  // Compiles and analyses what is not known; where kernels have errors, the others without them.
  void compile_missing() {
    if (!any_missing()) return;
    const auto arguments = arguments_of("");
    if (!arguments) return add_wrong(arguments.diagnostics());
    auto options = read_compile_options(*arguments);
    if (!options) return add_wrong(options.diagnostics());
    const auto catalogue = read_catalogue(*arguments);
    if (!catalogue) return add_wrong(catalogue.diagnostics());
    if (options->arch.empty())
      if (const auto gpus = read_gpus(*arguments, *catalogue); gpus && !gpus->empty())
        options->arch = fmt::format("sm_{}{}", gpus->front()->compute_capability.major,
                                    gpus->front()->compute_capability.minor);
    compile_options_ = *options;
    skip_unsupported_ = arguments->has("skip-unsupported");
    std::vector<bool> compiled = missing_;
    for (int round = 0; round < 2; ++round) {
      const std::string source_text = without_bodies(text_, texts_, compiled, ";");
      auto source = source_of({path_, source_text, InputKind::cuda}, *compile_options_);
      if (source) return take(std::move(*source), compiled);
      if (!take_errors(source.diagnostics(), compiled, round == 0)) return;
    }
  }

  // Returns whether to try again, without the kernels that have errors.
  bool take_errors(const Diagnostics& diagnostics, std::vector<bool>& compiled, bool first) {
    const auto findings = findings_of(diagnostics, path_, text_);
    // A source that has no kernel is no mistake while it is written.
    const bool no_kernel = diagnostics.size() == 1 && diagnostics.front().verbatim.empty() &&
                           diagnostics.front().message.starts_with("no kernel in");
    if (no_kernel) return false;
    if (first) rest_.findings.insert(rest_.findings.end(), findings.begin(), findings.end());
    bool all_in_kernels = first, left = false;
    for (const auto& one : findings) {
      if (one.severity != Answer::Severity::error) continue;
      bool inside = false;
      for (std::size_t i = 0; i < texts_.size(); ++i)
        if (compiled[i] && one.line >= texts_[i].first_line && one.line <= texts_[i].last_line) {
          compiled[i] = false;
          broken_.push_back(i);
          inside = true;
        } else if (one.line >= texts_[i].first_line && one.line <= texts_[i].last_line) {
          inside = true;
        }
      all_in_kernels = all_in_kernels && inside;
    }
    left = std::find(compiled.begin(), compiled.end(), true) != compiled.end();
    return all_in_kernels && left;
  }

  void take(Source source, const std::vector<bool>& compiled) {
    for (const std::string& file : source.files)
      if (is_of_user(file) && file != path_) files_.push_back(file);
    const auto warnings = findings_of(source.warnings, path_, text_);
    rest_.findings.insert(rest_.findings.end(), warnings.begin(), warnings.end());
    source_ = std::move(source);
    AnalyzeOptions options;
    options.skip_unsupported = skip_unsupported_;
    options.keep_steps = false;
    options.machine = AnalyzeOptions::Machine::estimated;
    auto analysis = analyze(*source_, options);
    if (!analysis) return add_wrong(analysis.diagnostics());
    for (const auto& error : analysis->errors) add_wrong({error});
    for (KernelAnalysis& kernel : analysis->kernels) {
      CompiledKernel made{std::move(kernel.program), {}, 0, {}, {}, {}};
      find_place(made, compiled);
      kernels_.push_back(std::move(made));
    }
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!compiled[i]) continue;
      parts_[i] = Answer();  // of a template that nobody instantiates, nothing is known
      made_.push_back(i);
    }
  }

  // Where the kernel is in the document.
  void find_place(CompiledKernel& kernel, const std::vector<bool>& compiled) {
    const Provenance& from = kernel.program.provenance;
    int line = 0;
    for (const KernelSignature& signature : source_->kernels)
      if (signature.symbol == from.symbol) line = signature.line;
    const std::string name = plain_name(from.kernel);
    constexpr int kAbove = 20;  // lines of attributes and template parameters
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!compiled[i] || texts_[i].name != name || line > texts_[i].last_line ||
          line < texts_[i].first_line - kAbove)
        continue;
      kernel.text = i;
      kernel.line = texts_[i].first_line;
      return;
    }
    // One that a macro writes, say; those of headers have no line here.
    if (texts_.empty() ||
        !std::count_if(texts_.begin(), texts_.end(), [&](const auto& one) { return one.name == name; })) {
      const auto has_name = [&](int number) { return line_of(number).find(name) != std::string_view::npos; };
      if (line > 0 && has_name(line)) kernel.line = line;
    }
  }

  std::string_view line_of(int number) const {
    std::string_view rest = text_;
    for (; number > 1; --number) {
      const auto end = rest.find('\n');
      if (end == std::string_view::npos) return {};
      rest.remove_prefix(end + 1);
    }
    return rest.substr(0, rest.find('\n'));
  }

  void add_wrong(const Diagnostics& diagnostics) {
    const auto findings = findings_of(diagnostics, path_, text_);
    rest_.findings.insert(rest_.findings.end(), findings.begin(), findings.end());
  }

  // Of the host code, once.
  const std::optional<Plan>& host_plan() {
    std::call_once(host_plan_once_, [&] {
      if (text_.find("<<<") == std::string::npos && text_.find("cudaLaunchKernel") == std::string::npos)
        return;
      const std::string bodies = without_bodies(text_, texts_, std::vector<bool>(texts_.size(), false), "{}");
      if (auto found = find_plan({{path_, bodies}}, *compile_options_)) host_plan_ = std::move(found->plan);
    });
    return host_plan_;
  }

  void explain_all_kernels() {
    if (kernels_.empty()) return;
    host_plan();
    for (const bool with_claims : {false, true}) {
      std::atomic<std::size_t> next = 0;
      const auto work = [&] {
        for (std::size_t i = next++; i < kernels_.size(); i = next++) {
          CompiledKernel& kernel = kernels_[i];
          if (kernel.line == 0) continue;
          explain(kernel, with_claims);
          send_now_and_then();
        }
      };
      std::vector<std::thread> workers;
      const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
      for (std::size_t i = 1; i < std::min(most, kernels_.size()); ++i) workers.emplace_back(work);
      work();
      for (std::thread& worker : workers) worker.join();
      if (with_claims) break;
      keep_early();
      send(false);
    }
    const std::lock_guard lock(mutex_);
    for (const std::size_t i : made_) {
      finished_[keys_[i]] = parts_of(i);
      newest_[texts_[i].name] = keys_[i];
    }
  }

  // What is known without claims: for when the code does not compile before all is known.
  void keep_early() {
    const std::lock_guard lock(mutex_);
    for (const std::size_t i : made_) {
      const std::string key = "early " + keys_[i];
      finished_[key] = parts_of(i);
      newest_[texts_[i].name] = key;
    }
  }

  // Fills in the kernel's explanation, or why there is none.
  void explain(CompiledKernel& kernel, bool with_claims) {
    if (with_claims && !kernel.explanation) return;
    std::string launch;
    auto explained = explained_launch(kernel, with_claims, launch);
    const std::lock_guard lock(mutex_);
    if (explained) {
      kernel.explanation = std::move(*explained);
      kernel.launch = std::move(launch);
    } else if (!with_claims) {
      kernel.why_no_time =
          "no time: " + (explained.diagnostics().empty() ? std::string("unknown")
                                                         : explained.diagnostics().front().message);
    }
  }

  Result<Explanation> explained_launch(const CompiledKernel& kernel, bool with_claims, std::string& launch) {
    const Provenance& from = kernel.program.provenance;
    const auto arguments = arguments_of(kernel.text ? texts_[*kernel.text].name : from.kernel);
    if (!arguments) return arguments.diagnostics();
    const auto catalogue = read_catalogue(*arguments);
    if (!catalogue) return catalogue.diagnostics();
    auto settings = read_predict_settings(*arguments, *catalogue, uncalibrated_model());
    if (!settings) return settings.diagnostics();
    if (settings->gpus.empty()) return error("no GPU is given");
    bool assumed = false;
    auto plan = plan_of(kernel, *settings, assumed);
    if (!plan) return plan.diagnostics();
    std::map<std::string, LoadedProgram> by_block;
    const ProgramLoader loader = [&](const Plan& of, const PlanLaunch& one, const Gpu&) {
      return program_for(kernel, of, one, settings->parameters, by_block);
    };
    settings->prediction.model_options.step_limit = 100'000'000;
    auto explained = with_claims ? warptime::explain_all(*plan, {settings->gpus.front()},
                                                         settings->parameters, settings->prediction, loader)
                                 : explain_lines_of_all(*plan, {settings->gpus.front()}, settings->parameters,
                                                        settings->prediction, loader);
    if (!explained) return explained.diagnostics();
    if (explained->empty()) return error("no launch");
    launch = shape_text(explained->front().row) + (assumed ? ", assumed" : "");
    return std::move(explained->front());
  }

  // The launches that settings give, or those of the host code, or an assumed one; each parameter gets its first value.
  Result<Plan> plan_of(const CompiledKernel& kernel, PredictSettings& settings, bool& assumed) {
    const KernelProgram& program = kernel.program;
    Plan plan;
    plan.name = program.provenance.kernel;
    std::vector<std::pair<std::string, std::int64_t>> typical;
    if (!settings.launch.sized() && host_plan()) {
      plan.steps = launches_of(host_plan()->steps, program.provenance);
      typical = host_plan()->typical;
      if (!plan.steps.empty()) plan.parameters = host_plan()->parameters;
    }
    if (plan.steps.empty()) {
      PlanLaunch launch;
      launch.kernel = path_;
      launch.entry = program.provenance.symbol;
      settings.launch.apply(launch);
      if (!settings.launch.sized()) {
        assumed = true;
        const AssumedLaunch sizes = assumed_launch(program);
        for (const std::int64_t size : sizes.grid) launch.grid.emplace_back(size);
        for (const std::int64_t size : sizes.block) launch.block.emplace_back(size);
      }
      std::vector<std::string> names = parameters_to_bind(program, settings.parameters);
      launch.for_each_size([&](const Expression& size) { size.collect_names(names); });
      for (const std::string& name : names)
        if (!is_launch_dimension(name) && !has_parameter(plan, name))
          plan.parameters.push_back({name, "", {}, 0});
      plan.steps.emplace_back();
      plan.steps.back().launch = std::move(launch);
    }
    std::vector<NamedValues> values;
    for (const Parameter& parameter : plan.parameters) {
      auto value = first_value(parameter.name, program, settings, typical, assumed);
      if (!value) return value.diagnostics();
      values.push_back({parameter.name, std::move(*value)});
    }
    settings.parameters = std::move(values);
    return plan;
  }

  static bool has_parameter(const Plan& plan, const std::string& name) {
    return std::any_of(plan.parameters.begin(), plan.parameters.end(),
                       [&](const Parameter& one) { return one.name == name; });
  }

  static Result<ParameterValues> first_value(const std::string& name, const KernelProgram& program,
                                             const PredictSettings& settings,
                                             const std::vector<std::pair<std::string, std::int64_t>>& typical,
                                             bool& assumed) {
    for (const NamedValues& given : settings.parameters)
      if (given.name == name && given.values.size() > 0)
        return ParameterValues::parse(fmt::format("{}", given.values.at(0)));
    for (const auto& [known, value] : typical)
      if (known == name) return ParameterValues::parse(fmt::format("{}", value));
    assumed = true;
    return ParameterValues::parse(fmt::format("{}", assumed_value(program, name)));
  }

  // The program for the launch's block, whose shape decides which threads make a warp.
  Result<LoadedProgram> program_for(const CompiledKernel& kernel, const Plan& plan, const PlanLaunch& launch,
                                    const std::vector<NamedValues>& parameters,
                                    std::map<std::string, LoadedProgram>& by_block) const {
    Bindings values;
    for (const NamedValues& one : parameters)
      if (one.values.size() > 0) values[one.name] = one.values.at(0);
    const AnalysedBlock block = analysed_block(plan, launch, values);
    if (!block.shape) return LoadedProgram(kernel.program, {});
    const std::string shape = to_string(*block.shape);
    if (const auto known = by_block.find(shape); known != by_block.end()) return known->second;
    AnalyzeOptions options;
    options.kernel = kernel.program.provenance.symbol;
    options.skip_unsupported = skip_unsupported_;
    options.keep_steps = false;
    options.machine = AnalyzeOptions::Machine::estimated;
    options.block = {block.shape->x, block.shape->y, block.shape->z};
    auto analysis = analyze(*source_, options);
    if (!analysis) return analysis.diagnostics();
    if (analysis->kernels.empty()) return analysis->errors;
    LoadedProgram made(std::move(analysis->kernels.front().program), {});
    by_block.emplace(shape, made);
    return made;
  }

  // With lines of the document.
  static Answer answer_of_kernel(const CompiledKernel& kernel) {
    KernelFindings findings;
    findings.program = &kernel.program;
    findings.line = kernel.line;
    findings.explanation = kernel.explanation ? &*kernel.explanation : nullptr;
    findings.why_no_time = kernel.why_no_time;
    findings.launch = kernel.launch;
    return answer_of(findings);
  }

  // With lines that count from the kernel's first one.
  Answer parts_of(std::size_t text) const {
    Answer part;
    for (const CompiledKernel& kernel : kernels_)
      if (kernel.text == text) append(part, answer_of_kernel(kernel));
    // Instantiations of a template say the same of each line.
    std::vector<Answer::Hover> hovers;
    for (auto& one : part.hovers)
      if (std::find(hovers.begin(), hovers.end(), one) == hovers.end()) hovers.push_back(std::move(one));
    part.hovers = std::move(hovers);
    return moved(std::move(part), 1 - texts_[text].first_line);
  }

  // What was known of a kernel before, where nothing is known now.
  Answer earlier_part(std::size_t text) const {
    const auto newest = cache_.newest.find(texts_[text].name);
    if (newest == cache_.newest.end()) return {};
    const auto part = cache_.parts.find(newest->second);
    if (part == cache_.parts.end()) return {};
    Answer answer = part->second;
    answer.findings.clear();
    const int lines = texts_[text].last_line - texts_[text].first_line + 1;
    std::erase_if(answer.lenses, [&](const auto& one) { return one.line > lines; });
    std::erase_if(answer.hovers, [&](const auto& one) { return one.line > lines; });
    return answer;
  }

  void send_now_and_then() {
    constexpr auto kBetween = std::chrono::milliseconds(150);
    {
      const std::lock_guard lock(mutex_);
      if (Clock::now() - last_sent_ < kBetween) return;
      last_sent_ = Clock::now();
    }
    send(false);
  }

  void send(bool final) {
    const std::lock_guard lock(mutex_);
    AnalysisStep step;
    step.final = final;
    step.answer = rest_;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const bool made = std::find(made_.begin(), made_.end(), i) != made_.end();
      append(step.answer, moved(made           ? parts_of(i)
                                : !missing_[i] ? parts_[i]
                                               : earlier_part(i),
                                texts_[i].first_line - 1));
    }
    for (const CompiledKernel& kernel : kernels_)
      if (!kernel.text && kernel.line > 0) append(step.answer, answer_of_kernel(kernel));
    step.files = files_;
    step.parts = finished_;
    step.newest = newest_;
    last_sent_ = Clock::now();
    report_(std::move(step));
  }

  const std::string path_;
  const std::string& text_;
  const AnalysisCache& cache_;
  const std::function<void(AnalysisStep)>& report_;
  DocumentSettings settings_;
  std::vector<KernelText> texts_;
  std::vector<std::string> keys_;
  std::vector<Answer> parts_;
  std::vector<bool> missing_;
  std::vector<std::size_t> made_, broken_;  // of texts_: compiled now; with errors
  std::optional<CompileOptions> compile_options_;
  bool skip_unsupported_ = false;
  std::optional<Source> source_;
  std::vector<CompiledKernel> kernels_;
  std::vector<std::string> files_;
  std::once_flag host_plan_once_;
  std::optional<Plan> host_plan_;
  std::mutex mutex_;  // of what send() reads while kernels are explained
  Answer rest_;
  std::map<std::string, Answer> finished_;
  std::map<std::string, std::string> newest_;
  Clock::time_point last_sent_ = Clock::now();
};

}  // namespace

lsp::Json to_json(const AnalysisStep& step) {
  Json parts = Json::object();
  for (const auto& [key, part] : step.parts) parts[key] = lsp::to_json(part);
  return {{"answer", lsp::to_json(step.answer)},
          {"parts", std::move(parts)},
          {"newest", step.newest},
          {"files", step.files},
          {"final", step.final}};
}

std::optional<AnalysisStep> read_step(const lsp::Json& json) try {
  AnalysisStep step;
  auto answer = lsp::read_answer(json.at("answer"));
  if (!answer) return std::nullopt;
  step.answer = std::move(*answer);
  for (const auto& [key, part] : json.at("parts").items())
    if (auto read = lsp::read_answer(part)) step.parts.emplace(key, std::move(*read));
  step.newest = json.at("newest").get<std::map<std::string, std::string>>();
  step.files = json.at("files").get<std::vector<std::string>>();
  step.final = json.at("final").get<bool>();
  return step;
} catch (const Json::exception&) {
  return std::nullopt;
}

void keep(AnalysisCache& cache, AnalysisStep step) {
  // Texts come and go as somebody types: the oldest states are of no use.
  constexpr std::size_t kMostParts = 2000;
  if (cache.parts.size() + step.parts.size() > kMostParts) {
    std::erase_if(cache.parts, [&](const auto& part) {
      return std::none_of(cache.newest.begin(), cache.newest.end(),
                          [&](const auto& newest) { return newest.second == part.first; });
    });
  }
  for (auto& [key, part] : step.parts) cache.parts.insert_or_assign(key, std::move(part));
  for (auto& [name, key] : step.newest) cache.newest.insert_or_assign(name, std::move(key));
  if (!step.files.empty()) cache.files = std::move(step.files);
}

void analyse_document(const lsp::Question& question, const std::vector<std::string>& words,
                      const AnalysisCache& cache, const std::function<void(AnalysisStep)>& report) {
  if (question.text.size() > kLongestText) {
    AnalysisStep step;
    step.answer = only_finding(
        error(fmt::format("the source is longer than {} MiB: it is not analysed", kLongestText >> 20)));
    step.final = true;
    return report(std::move(step));
  }
  DocumentAnalysis(question, words, cache, report).run();
}

lsp::Answer only_finding(const Diagnostic& wrong) {
  lsp::Answer answer;
  answer.findings.push_back({1, 0, Answer::Severity::error, "analysis",
                             wrong.message + (wrong.hint.empty() ? "" : "\nhint: " + wrong.hint)});
  return answer;
}

}  // namespace warptime::cli
