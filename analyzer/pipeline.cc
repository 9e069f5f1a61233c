#include "analyzer/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <unordered_map>

#include "analyzer/compile/ptxas.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/resources.h"
#include "llvm/Demangle/Demangle.h"
#include "simulator/base/did_you_mean.h"

namespace warptime {
namespace {

// `mtx` of `_Z3mtxiiPfS_S_`, `filter<float>` of a template, the symbol itself where it is not mangled.
std::string source_name(const std::string& symbol) {
  auto name = llvm::demangle(symbol);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0) {
      name.resize(i);
      break;
    }
  }
  // A template's name carries its result type: `void filter<float>`.
  depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

const KernelSignature* signature_of(const Source& source, std::string_view symbol) {
  for (const auto& kernel : source.kernels)
    if (kernel.symbol == symbol) return &kernel;
  return nullptr;
}

std::string kernel_name(const Source& source, const ptx::Function& function) {
  const auto* signature = signature_of(source, function.name);
  return signature != nullptr ? signature->name : source_name(std::string(function.name));
}

// The .file number of the source itself; 0 where that is not known.
std::uint32_t main_file_number(const Source& source, const ptx::Module& module) {
  if (source.text.empty()) return 0;
  const auto base = [](const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); };
  for (const auto& file : module.files)
    if (base(file.path) == base(source.file)) return file.number;
  return module.files.empty() ? 0 : module.files.front().number;
}

class Pipeline {
 public:
  Pipeline(Source source, const AnalyzeOptions& options)
      : source_(std::make_shared<Source>(std::move(source))), options_(options) {
    // Errors about PTX that a compiler made name the PTX, not the .cu file whose lines are others.
    ptx_name_ = source_->text.empty() ? source_->file : source_->file + " (PTX)";
  }

  Result<Analysis> run() {
    auto module = ptx::parse(source_->ptx, ptx_name_);
    if (!module) return module.diagnostics();
    module_ = std::make_shared<ptx::Module>(std::move(*module));
    main_file_ = main_file_number(*source_, *module_);
    auto chosen = choose_kernels();
    if (!chosen) return chosen.diagnostics();
    if (auto lines = choose_lines(); !lines) return lines.diagnostics();
    analyze_kernels(*chosen);
    if (analysis_.kernels.empty()) return std::move(analysis_.errors);
    if (options_.registers) add_registers();
    analysis_.restricted = !lines_.empty();
    analysis_.source = source_;
    analysis_.module = module_;
    return std::move(analysis_);
  }

 private:
  Result<std::vector<std::uint32_t>> choose_kernels() {
    std::vector<std::uint32_t> all, chosen;
    std::vector<std::string> names;
    for (std::uint32_t f = 0; f < module_->functions.size(); ++f) {
      const auto& function = module_->functions[f];
      if (!function.entry || function.declaration) continue;
      all.push_back(f);
      names.push_back(kernel_name(*source_, function));
      names_[f] = names.back();
      if (options_.kernel == names.back() || options_.kernel == function.name) chosen.push_back(f);
    }
    if (all.empty())
      return error_at(source_->file, 0, 0, "no kernel in this file",
                      "a kernel is a __global__ function (.entry in PTX)");
    if (options_.kernel.empty()) return all;
    if (!chosen.empty()) return chosen;
    const auto near = nearest(options_.kernel, names);
    return error_at(source_->file, 0, 0,
                    fmt::format("no kernel `{}`; there are: {}", options_.kernel, fmt::join(names, ", ")),
                    near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  }

  // The lines that AnalyzeOptions restricts the analysis to.
  Result<bool> choose_lines() {
    lines_ = options_.lines;
    if (source_->text.empty() && options_.region.empty()) return true;
    auto regions = find_regions(source_->text, source_->file);
    if (!regions) return regions.diagnostics();
    analysis_.regions = std::move(*regions);
    if (options_.region.empty()) return true;
    std::vector<std::string> names;
    for (const auto& region : analysis_.regions) {
      names.push_back(region.name);
      if (region.name != options_.region) continue;
      lines_.add(region.lines);
      return true;
    }
    if (names.empty())
      return error_at(source_->file, 0, 0,
                      fmt::format("no region `{}`: the source has none", options_.region),
                      "a region is what stands between `// warptime-begin NAME` and `// warptime-end NAME`");
    return error_at(source_->file, 0, 0,
                    fmt::format("no region `{}`; there are: {}", options_.region, fmt::join(names, ", ")));
  }

  struct Job {
    std::optional<Result<KernelAnalysis>> kernel;
    Diagnostics warnings;
  };

  // Kernels are analysed side by side where there are many; what comes out is in the file's order.
  void analyze_kernels(const std::vector<std::uint32_t>& functions) {
    budget_ =
        std::min(most_with_callees,
                 (least_with_callees + most_growth * instructions_of_all()) / functions.size() + least_share);
    resources_.emplace(*module_);
    std::vector<Job> jobs(functions.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (auto i = next++; i < jobs.size(); i = next++)
        jobs[i].kernel = analyze_kernel(functions[i], jobs[i].warnings);
    };
    std::size_t workers = 1;
    if (module_->text.size() >= text_worth_workers)
      workers = std::min<std::size_t>(
          {std::max(1u, std::thread::hardware_concurrency()), functions.size(), most_workers});
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < workers; ++i) others.push_back(std::async(std::launch::async, work));
    work();
    for (auto& other : others) other.get();
    for (auto& job : jobs) {
      analysis_.diagnostics.insert(analysis_.diagnostics.end(), job.warnings.begin(), job.warnings.end());
      if (*job.kernel)
        analysis_.kernels.push_back(std::move(**job.kernel));
      else
        analysis_.errors.insert(analysis_.errors.end(), job.kernel->diagnostics().begin(),
                                job.kernel->diagnostics().end());
    }
  }

  void add_registers() {
    const auto& target = analysis_.kernels.front().program.provenance.target;
    const auto found = registers_of(source_->ptx, target);
    if (!found) {
      for (auto why : found.diagnostics()) {
        why.severity = Severity::warning;
        analysis_.diagnostics.push_back(std::move(why));
      }
      return;
    }
    for (auto& kernel : analysis_.kernels) {
      const auto& symbol = kernel.program.provenance.symbol;
      const auto cubin = found->find(symbol);
      if (cubin == found->end()) continue;
      kernel.program.resources =
          with_registers(kernel.program.resources.value_or(KernelResources()), cubin->second);
    }
  }

  Result<KernelAnalysis> analyze_kernel(std::uint32_t index, Diagnostics& warnings) const {
    const auto& function = module_->functions[index];
    auto code = analysis::build_code(*module_, index, std::max(budget_, function.instructions.size()));
    auto cfg = analysis::build_cfg(code, ptx_name_);
    if (!cfg) return cfg.diagnostics();
    KernelAnalysis kernel;
    kernel.function = index;
    analysis::KernelFlow flow(std::move(code), std::move(*cfg));
    periods::LowerOptions options;
    options.skip_unsupported = options_.skip_unsupported;
    options.signature = signature_of(*source_, function.name);
    options.file = ptx_name_;
    options.main_file = main_file_;
    options.lines = lines_;
    options.ptx_lines = source_->text.empty();
    auto lowered = periods::lower(flow, options);
    if (!lowered) return lowered.diagnostics();
    warnings = std::move(lowered->diagnostics);
    kernel.program = std::move(lowered->program);
    if (!lines_.empty())
      kernel.program.description =
          fmt::format("only {} {}", source_->text.empty() ? "PTX lines" : "lines", to_string(lines_));
    kernel.program.resources = resources_->resources_of(index);
    auto& from = kernel.program.provenance;
    from.kernel = names_.at(index);
    from.symbol = std::string(function.name);
    from.source = source_->file;
    from.compiler = source_->compiler;
    from.target = source_->target.empty() ? std::string(module_->target.substr(0, module_->target.find(',')))
                                          : source_->target;
    from.flags = source_->flags;
    if (options_.keep_steps) {
      kernel.lowered = std::make_shared<periods::Lowered>(std::move(*lowered));
      kernel.code = std::make_shared<analysis::KernelCode>(std::move(flow.code));
      kernel.cfg = std::make_shared<analysis::Cfg>(std::move(flow.cfg));
    }
    return kernel;
  }

  // Device functions are copied to where they are called: the work stays in proportion to the file.
  static constexpr std::size_t most_with_callees = 300'000;   // instructions of a kernel
  static constexpr std::size_t least_with_callees = 200'000;  // of all kernels: these, and …
  static constexpr std::size_t most_growth = 10;              // … so many times those of the file
  static constexpr std::size_t least_share = 1'000;           // that a kernel of many has
  static constexpr std::size_t text_worth_workers = 200'000;  // bytes
  static constexpr std::size_t most_workers = 16;
  std::size_t instructions_of_all() const {
    std::size_t sum = 0;
    for (const auto& function : module_->functions) sum += function.instructions.size();
    return sum;
  }

  std::shared_ptr<Source> source_;
  const AnalyzeOptions& options_;
  std::string ptx_name_;
  std::shared_ptr<ptx::Module> module_;
  std::unordered_map<std::uint32_t, std::string> names_;  // of kernels, by function
  std::uint32_t main_file_ = 0;
  std::optional<periods::ResourceFinder> resources_;
  LineSet lines_;           // only these; empty: all
  std::size_t budget_ = 0;  // instructions that each kernel may have, with callees
  Analysis analysis_;
};

}  // namespace

Result<Analysis> analyze(Source source, const AnalyzeOptions& options) {
  return Pipeline(std::move(source), options).run();
}

Source ptx_source(std::string file, std::string text) {
  Source source;
  source.file = std::move(file);
  source.ptx = std::move(text);
  return source;
}

}  // namespace warptime
