#include "models/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "analyzer/compile/build_flags.h"
#include "analyzer/compile/targets.h"
#include "analyzer/pipeline.h"
#include "load/programs.h"
#include "models/inputs.h"

namespace warptime::models {
namespace {

namespace fs = std::filesystem;

// The committed models of one source, by file. Those of a source outside of the folder share a folder with
// others.
std::map<std::string, FoundModel> found_models(const KernelSource& source, Diagnostics& errors) {
  std::map<std::string, FoundModel> found;
  const std::string begin = fs::path(source.file).filename().string() + ".";
  std::error_code failed;
  for (fs::directory_iterator entry(source.models, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(".yaml")) continue;
    const auto file = entry->path().string();
    auto text = read_text(file);
    if (text) {
      found.emplace(file, read_model(std::move(*text), file));
    } else if (std::error_code ignored; fs::file_size(file, ignored) == 0) {
      found.emplace(file, FoundModel());
    } else {
      errors.insert(errors.end(), text.diagnostics().begin(), text.diagnostics().end());
    }
  }
  return found;
}

// What a model must say that it was made with.
struct Making {
  Provenance provenance;  // compiler, target and flags; empty where nothing is compiled
  std::string asked_arch;
};

std::string flags_of(const CompileOptions& options) {
  const bool has_level = std::any_of(options.flags.begin(), options.flags.end(), [](const std::string& flag) {
    return flag.starts_with("-O") && flag.size() > 2;
  });
  std::vector<std::string> words;
  if (!has_level) words.emplace_back("-O3");
  if (options.rolled) words.emplace_back("--rolled");
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  return fmt::format("{}", fmt::join(words, " "));
}

constexpr const char* default_arch = "sm_75";  // compile.h: where CompileOptions name none

Making making_of(const KernelSource& source, const CompileOptions& options) {
  Making making;
  if (source.kind != InputKind::cuda) return making;
  making.asked_arch = options.arch.empty() ? default_arch : options.arch;
  making.provenance.compiler = first_compiler_version(options.compiler);
  making.provenance.flags = flags_of(options);
  making.provenance.target = making.asked_arch;
  const auto targets = compiler_targets(options.compiler);
  if (!targets) return making;
  if (const auto choice = compiling::choose_target(making.asked_arch, *targets, ""))
    making.provenance.target = choice->target;
  return making;
}

// A warptime that was built after a model may make another one of the same texts.
bool older_than_this_program(const std::string& file) {
  std::error_code failed;
  const auto program = fs::last_write_time("/proc/self/exe", failed);
  if (failed) return false;
  const auto model = fs::last_write_time(file, failed);
  return failed || model < program;
}

// A file of the user's own, which happens to be called like a model.
bool is_foreign(const FoundModel& model) {
  return model.heading.tool.empty();
}

class Builder {
 public:
  Builder(const KernelSource& source, const BuildSettings& settings) : source_(source), settings_(settings) {}

  BuiltSource run() {
    built_.source = &source_;
    auto text = read_text(source_.file);
    if (!text) return fail(text.diagnostics());
    committed_ = found_models(source_, built_.errors);
    std::vector<std::string> notes;
    if (source_.kind == InputKind::cuda) {
      auto compile = compiling::with_build_flags(settings_.compile, source_.file, notes);
      if (!compile) return fail(compile.diagnostics());
      compile_ = std::move(*compile);
    }
    inputs_ = inputs_of(source_.file, *text, compile_.flags);
    if (settings_.only_what_changed && built_.errors.empty() && inputs_.complete && is_current())
      return skip();
    auto compiled = source_of({source_.file, std::move(*text), source_.kind}, compile_);
    if (!compiled) return without_program(compiled.diagnostics());
    for (const auto& kernel : compiled->kernels) names_.emplace(kernel.symbol, kernel.name);
    say(compiled->warnings);
    for (const auto& note : notes) say_note(note);
    for (const auto& note : compiled->notes) say_note(note);
    auto analysis = analyze(*compiled, {"", settings_.skip_unsupported, {}, {}, false});
    if (!analysis) return without_program(analysis.diagnostics());
    say(analysis->diagnostics);
    for (const LaunchedShape& shape : source_.shapes) analyse_for(shape, *compiled, *analysis);
    built_.errors.insert(built_.errors.end(), analysis->errors.begin(), analysis->errors.end());
    for (const auto& kernel : analysis->kernels)
      names_[kernel.program.provenance.symbol] = kernel.program.provenance.kernel;
    add_models(*analysis);
    return std::move(built_);
  }

 private:
  BuiltSource fail(const Diagnostics& diagnostics) {
    built_.errors.insert(built_.errors.end(), diagnostics.begin(), diagnostics.end());
    return std::move(built_);
  }

  // The committed models stay what they are. A .cu that no plan launches may be of host code alone.
  BuiltSource without_program(const Diagnostics& diagnostics) {
    const bool no_kernel =
        diagnostics.size() == 1 && diagnostics.front().message.starts_with("no kernel in ");
    if (no_kernel && !source_.launched) {
      for (const auto& [file, found] : committed_)
        if (!is_foreign(found)) built_.orphans.push_back(file);
      return std::move(built_);
    }
    for (auto& [file, found] : committed_) add_as_found(file, std::move(found));
    for (auto& model : built_.models) model.program.reset();
    return fail(diagnostics);
  }

  // Puts the program for the block of a launch in the place of the one for one-dimensional blocks. A kernel that
  // is launched in several shapes keeps that of its first.
  void analyse_for(const LaunchedShape& shape, const Source& compiled, Analysis& analysis) {
    AnalyzeOptions options{shape.entry, settings_.skip_unsupported, {}, {}, false};
    options.block = {shape.block.x, shape.block.y, shape.block.z};
    auto shaped = analyze(compiled, options);
    if (!shaped) return;  // no kernel of this name, which the plan's prediction reports
    say(shaped->diagnostics);
    for (KernelAnalysis& kernel : shaped->kernels) {
      const std::string& symbol = kernel.program.provenance.symbol;
      const auto one = std::find_if(analysis.kernels.begin(), analysis.kernels.end(), [&](const auto& other) {
        return other.program.provenance.symbol == symbol;
      });
      if (one == analysis.kernels.end()) continue;
      const auto [first, added] = shapes_.try_emplace(symbol, shape);
      if (added)
        one->program = std::move(kernel.program);
      else if (first->second.block != shape.block && !(one->program.program == kernel.program.program))
        say_note(fmt::format(
            "{} is launched in blocks of {} by {} and of {} by {}: its model is that of the first",
            kernel.program.provenance.kernel, to_string(first->second.block), first->second.plan,
            to_string(shape.block), shape.plan));
    }
  }

  void say(const Diagnostics& diagnostics) {
    built_.said.insert(built_.said.end(), diagnostics.begin(), diagnostics.end());
  }
  void say_note(const std::string& text) {
    Diagnostic note = error_at(source_.file, 0, 0, text);
    note.severity = Severity::note;
    built_.said.push_back(std::move(note));
  }

  bool is_current() const {
    if (!source_.shapes.empty()) return false;  // a plan that changed may have another block
    const ModelHeading* heading = nullptr;
    std::vector<std::string> kernels;
    for (const auto& [file, model] : committed_) {
      if (is_foreign(model)) continue;
      if (!model.program || !is_current(model) || older_than_this_program(file)) return false;
      if (heading != nullptr && model.heading.kernels != heading->kernels) return false;
      heading = &model.heading;
      kernels.push_back(model.program->provenance.kernel);
    }
    std::sort(kernels.begin(), kernels.end());
    return heading != nullptr && kernels == heading->kernels;
  }

  bool is_current(const FoundModel& model) const {
    const Making making = making_of(source_, compile_);
    const auto& from = model.program->provenance;
    const bool all_modelled = model.program->instructions_modelled == model.program->instructions_total;
    return model.as_made && model.heading.tool == tool_name() && model.heading.inputs == inputs_.inputs &&
           from.compiler == making.provenance.compiler && from.flags == making.provenance.flags &&
           (from.target == making.provenance.target || from.target == making.asked_arch) &&
           (all_modelled || settings_.skip_unsupported);
  }

  void add_as_found(const std::string& file, FoundModel found) {
    if (is_foreign(found)) return;
    BuiltModel model;
    model.file = file;
    model.kernel = found.program ? found.program->provenance.kernel : fs::path(file).filename().string();
    model.program = found.program;
    model.text = found.text;
    model.found = std::move(found);
    built_.models.push_back(std::move(model));
  }

  BuiltSource skip() {
    built_.skipped = true;
    for (auto& [file, found] : committed_) add_as_found(file, std::move(found));
    return std::move(built_);
  }

  void add_models(const Analysis& analysis) {
    std::map<std::string, int> uses;
    for (const auto& [symbol, name] : names_) ++uses[model_file_name("", name, "", false)];
    ModelHeading heading{tool_name(), inputs_.inputs, {}};
    for (const auto& [symbol, name] : names_) heading.kernels.push_back(name);
    std::sort(heading.kernels.begin(), heading.kernels.end());
    const std::string base = fs::path(source_.file).filename().string();
    std::set<std::string> files;
    for (const auto& [symbol, name] : names_) {
      BuiltModel model;
      model.kernel = name;
      const bool ambiguous = uses[model_file_name("", name, "", false)] > 1;
      model.file = (fs::path(source_.models) / model_file_name(base, name, symbol, ambiguous)).string();
      files.insert(model.file);
      if (const auto found = committed_.find(model.file); found != committed_.end())
        model.found = found->second;
      for (const auto& kernel : analysis.kernels) {
        if (kernel.program.provenance.symbol != symbol) continue;
        model.program = kernel.program;
        model.program->provenance.source = base;  // the same from wherever it is made
        model.text = model_text(heading, *model.program);
      }
      built_.models.push_back(std::move(model));
    }
    std::sort(built_.models.begin(), built_.models.end(),
              [](const auto& a, const auto& b) { return a.file < b.file; });
    for (const auto& [file, found] : committed_)
      if (files.count(file) == 0 && !is_foreign(found)) built_.orphans.push_back(file);
  }

  const KernelSource& source_;
  const BuildSettings& settings_;
  CompileOptions compile_;  // with the flags of this source
  BuiltSource built_;
  std::map<std::string, FoundModel> committed_;
  ModelInputs inputs_;
  std::map<std::string, std::string> names_;     // of the kernels, by symbol
  std::map<std::string, LaunchedShape> shapes_;  // that they are analysed for, by symbol
};

}  // namespace

std::string tool_name() {
  return fmt::format("warptime {}", WARPTIME_VERSION);
}

std::vector<BuiltSource> build_models(const KernelFolder& folder, const BuildSettings& settings) {
  std::vector<BuiltSource> built(folder.sources.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < built.size(); i = next++)
      built[i] = Builder(folder.sources[i], settings).run();
  };
  std::vector<std::future<void>> workers;
  const std::size_t count =
      std::min<std::size_t>(built.size(), std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) workers.push_back(std::async(std::launch::async, work));
  work();
  workers.clear();  // waits
  return built;
}

}  // namespace warptime::models
