#include "analyzer/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/compile/plain_name.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/annotate.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/machine/registers.h"
#include "analyzer/machine/slow_divisions.h"
#include "analyzer/machine/spills.h"
#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/periods/resources.h"
#include "analyzer/selection.h"

namespace warptime {
namespace {

// The .file number of the source itself; 0 where that is not known.
std::uint32_t main_file_number(const Source& source, const ptx::Module& module) {
  if (source.text.empty()) return 0;
  const auto base = [](const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); };
  for (const auto& file : module.files)
    if (base(file.path) == base(compiling::plain_name(source.file))) return file.number;
  return module.files.empty() ? 0 : module.files.front().number;
}

// The passes over a file, and over each of its kernels.
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
    auto kernels = choose_kernels(*source_, *module, options_);
    if (!kernels) return kernels.diagnostics();
    auto chosen = choose_lines(*source_, options_);
    if (!chosen) return chosen.diagnostics();
    module_ = std::make_shared<ptx::Module>(std::move(*module));
    lines_ = std::move(chosen->lines);
    if (options_.machine == AnalyzeOptions::Machine::assembled) read_machine_code();
    analyze_kernels(*kernels);
    if (analysis_.kernels.empty()) return std::move(analysis_.errors);
    if (options_.registers && assembled_.empty()) ask_for_registers();
    add_registers();
    analysis_.source = source_;
    analysis_.module = module_;
    analysis_.regions = std::move(chosen->regions);
    analysis_.restricted = !lines_.empty();
    return std::move(analysis_);
  }

 private:
  Result<KernelAnalysis> analyze_kernel(const ChosenKernel& chosen, Diagnostics& warnings) const {
    // Instructions, with those of the device functions that are called; stack slots become registers.
    auto code = analysis::build_code(*module_, chosen.function, budget_of(chosen));
    const auto* const assembled = machine_code_of(chosen);
    if (assembled != nullptr) code.know_arrays(!accesses_local_memory(*assembled));
    // Basic blocks, dominators, loops; each loop gets one entry.
    auto cfg = analysis::build_cfg(code, ptx_name_);
    if (!cfg) return cfg.diagnostics();
    // Symbolic expressions of registers, trip counts, access patterns: each is found when it is asked for.
    analysis::KernelFlow flow(std::move(code), std::move(*cfg), options_.block);
    // Instructions to periods, periods to the kernel program.
    std::optional<machine::Estimate> work;
    if (options_.machine != AnalyzeOptions::Machine::none) work = work_of(flow, assembled);
    periods::LowerOptions lowering = lower_options(chosen);
    if (assembled != nullptr)
      lowering.machine_places = places_of(flow, *assembled);
    else if (work)
      lowering.machine_places = {std::move(work->places), std::move(work->chains), true};
    auto lowered = periods::lower(flow, lowering);
    if (!lowered) return lowered.diagnostics();
    warnings = std::move(lowered->diagnostics);
    KernelAnalysis kernel;
    kernel.function = chosen.function;
    kernel.program = std::move(lowered->program);
    describe(kernel.program, chosen);
    if (lowered->block_matters) kernel.program.block_shape = options_.block;
    if (work) add_machine(kernel.program, flow, *work);
    if (options_.machine != AnalyzeOptions::Machine::none && (machine_code_.empty() || assembled_.empty()))
      estimate_registers(kernel.program, flow, assembled == nullptr ? &*work : nullptr);
    if (options_.keep_steps) {
      kernel.lowered = std::make_shared<periods::Lowered>(std::move(*lowered));
      kernel.code = std::make_shared<analysis::KernelCode>(std::move(flow.code));
      kernel.cfg = std::make_shared<analysis::Cfg>(std::move(flow.cfg));
      if (assembled != nullptr) kernel.assembled = std::make_shared<machine::MachineKernel>(*assembled);
    }
    return kernel;
  }

  periods::LowerOptions lower_options(const ChosenKernel& chosen) const {
    periods::LowerOptions options;
    options.skip_unsupported = options_.skip_unsupported;
    options.signature = chosen.signature;
    options.file = ptx_name_;
    options.main_file = main_file_;
    options.lines = lines_;
    options.ptx_lines = source_->text.empty();
    options.detail = options_.machine != AnalyzeOptions::Machine::none;
    options.classes = options_.classes;
    options.rearrange = options_.rearrange;
    return options;
  }

  // nullptr: ptxas was not asked, or did not tell.
  const machine::MachineKernel* machine_code_of(const ChosenKernel& chosen) const {
    const auto found = machine_code_.find(std::string(module_->functions[chosen.function].name));
    return found == machine_code_.end() ? nullptr : &found->second;
  }

  static bool accesses_local_memory(const machine::MachineKernel& kernel) {
    return std::any_of(kernel.instructions.begin(), kernel.instructions.end(), [](const auto& ins) {
      return ins.opcode != nullptr && (ins.opcode->name == "LDL" || ins.opcode->name == "STL");
    });
  }

  static periods::MachinePlaces places_of(const analysis::KernelFlow& flow,
                                          const machine::MachineKernel& kernel) {
    std::unordered_map<std::uint32_t, std::uint32_t> firsts, prepares, accesses;  // addresses by PTX line
    std::unordered_set<std::uint32_t> branches;                                   // PTX lines
    for (const auto& ins : kernel.instructions) {
      if (ins.in_subroutine) continue;
      const std::string_view name = ins.opcode != nullptr ? ins.opcode->name : "";
      if (ins.opcode != nullptr && ins.opcode->pipe == Pipe::cbu) branches.insert(ins.ptx_line);
      // Constants and copies may be made far ahead, before a loop, say.
      const bool prepared = ins.opcode != nullptr && (ins.opcode->pipe == Pipe::adu || name == "MOV" ||
                                                      name == "UMOV" || name == "CS2R");
      (prepared ? prepares : firsts).try_emplace(ins.ptx_line, ins.address);
      if (name == "LDG" || name == "LD" || name == "STG" || name == "ST")
        accesses.try_emplace(ins.ptx_line, ins.address);
    }
    for (const auto& [line, address] : prepares) firsts.try_emplace(line, address);
    // Of a load or a store, not of what computes its address.
    for (const auto& [line, address] : accesses) firsts[line] = address;
    // A line of a function that is inlined several times has several places.
    const auto& instructions = flow.code.function().instructions;
    std::unordered_map<std::uint32_t, int> copies;
    for (const auto& ins : instructions) ++copies[ins.line];
    periods::MachinePlaces places;
    places.chains =
        chains_of(flow, [&](std::uint32_t line) { return branches.contains(line) || copies[line] != 1; });
    places.of_instruction.reserve(instructions.size());
    for (const auto& ins : instructions) {
      const auto found = firsts.find(ins.line);
      places.of_instruction.push_back(found == firsts.end() || copies[ins.line] != 1 ? analysis::none
                                                                                     : found->second);
    }
    return places;
  }

  // Blocks with those behind branches that are no more in the machine code. is_left: whether one is, by its PTX line.
  template <class IsLeft>
  static std::vector<std::uint32_t> chains_of(const analysis::KernelFlow& flow, const IsLeft& is_left) {
    const auto& blocks = flow.cfg.blocks;
    const auto& instructions = flow.code.function().instructions;
    std::vector<std::uint32_t> first(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      first[b] = b;
      const auto& before = blocks[b].predecessors;
      const bool one = !before.empty() && std::all_of(before.begin(), before.end(), [&](const auto p) {
        if (p >= b || first[p] != first[before.front()]) return false;
        const auto& last = instructions[blocks[p].end - 1];
        return last.guard == ptx::no_index ? blocks[p].successors.size() == 1 : !is_left(last.line);
      });
      if (one) first[b] = first[before.front()];
    }
    return first;
  }

  // Where the program comes from, and what the kernel takes of a multiprocessor.
  void describe(KernelProgram& program, const ChosenKernel& chosen) const {
    if (!lines_.empty())
      program.description =
          fmt::format("only {} {}", source_->text.empty() ? "PTX lines" : "lines", to_string(lines_));
    program.resources = resources_->resources_of(chosen.function);
    auto& from = program.provenance;
    from.kernel = chosen.name;
    from.symbol = std::string(module_->functions[chosen.function].name);
    from.source = source_->file;
    from.compiler = source_->compiler;
    from.target = target();
    from.flags = source_->flags;
  }

  struct Job {
    std::optional<Result<KernelAnalysis>> kernel;
    Diagnostics warnings;
  };

  // Kernels are analysed side by side where there are many; what comes out is in the file's order.
  void analyze_kernels(const std::vector<ChosenKernel>& kernels) {
    main_file_ = main_file_number(*source_, *module_);
    budget_ =
        std::min(most_with_callees,
                 (least_with_callees + most_growth * instructions_of_all()) / kernels.size() + least_share);
    resources_.emplace(*module_);
    std::vector<Job> jobs(kernels.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (auto i = next++; i < jobs.size(); i = next++)
        jobs[i].kernel = analyze_kernel(kernels[i], jobs[i].warnings);
    };
    std::size_t workers = 1;
    if (module_->text.size() >= text_worth_workers)
      workers = std::min<std::size_t>(
          {std::max(1u, std::thread::hardware_concurrency()), kernels.size(), most_workers});
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

  machine::Estimate work_of(const analysis::KernelFlow& flow, const machine::MachineKernel* assembled) const {
    std::string used;
    machine::Estimate work =
        assembled != nullptr
            ? machine::counted(flow.code, flow.cfg, *assembled, compiling::target_number(target()))
            : machine::estimate(flow.code, flow.cfg, machine::table_of(target(), used));
    machine::add_slow_divisions(work, flow.code);
    return work;
  }

  static void add_machine(KernelProgram& program, const analysis::KernelFlow& flow,
                          const machine::Estimate& work) {
    machine::annotate(program, flow.code, flow.cfg, work);
    machine::add_spills(program, work.spills, false);
  }

  // Where ptxas did not tell: the registers, and what does not fit those that launch bounds allow.
  void estimate_registers(KernelProgram& program, const analysis::KernelFlow& flow,
                          const machine::Estimate* work) const {
    const auto pressure = machine::pressure_of(flow.code, flow.cfg, work);
    if (!pressure) return;
    const KernelResources resources = program.resources.value_or(KernelResources());
    if (!options_.registers && assembled_.empty())
      program.estimated_registers = machine::register_table().estimate(*pressure, resources);
    if (!machine_code_.empty()) return;
    if (const auto registers = machine::registers_for_values(*pressure, resources))
      machine::add_spills(program, machine::expected_spills(flow.code, flow.cfg, *registers), true);
  }

  std::string target() const {
    return source_->target.empty() ? std::string(module_->target.substr(0, module_->target.find(',')))
                                   : source_->target;
  }

  // Assembles the PTX before its kernels are analysed.
  void read_machine_code() {
    const auto cubin = assemble(source_->ptx, target(), {"-lineinfo"});
    auto read = cubin ? machine::read_machine_code(*cubin, "ptxas' cubin") : cubin.diagnostics();
    if (read) {
      machine_code_ = std::move(*read);
      if (auto kernels = read_cubin(*cubin, "ptxas' cubin")) assembled_ = std::move(*kernels);
      return;
    }
    for (Diagnostic why : read.diagnostics()) {
      why.severity = Severity::warning;
      analysis_.diagnostics.push_back(std::move(why));
    }
  }

  void ask_for_registers() {
    auto found = registers_of(source_->ptx, target());
    if (!found) {
      for (auto why : found.diagnostics()) {
        why.severity = Severity::warning;
        analysis_.diagnostics.push_back(std::move(why));
      }
      return;
    }
    assembled_ = std::move(*found);
  }

  void add_registers() {
    for (auto& kernel : analysis_.kernels) {
      const auto& symbol = kernel.program.provenance.symbol;
      const auto cubin = assembled_.find(symbol);
      if (cubin == assembled_.end()) continue;
      kernel.program.resources =
          with_registers(kernel.program.resources.value_or(KernelResources()), cubin->second);
    }
  }

  // Device functions are copied to where they are called: the work stays in proportion to the file.
  static constexpr std::size_t most_with_callees = 300'000;   // instructions of a kernel
  static constexpr std::size_t least_with_callees = 200'000;  // of all kernels: these, and …
  static constexpr std::size_t most_growth = 10;              // … so many times those of the file
  static constexpr std::size_t least_share = 1'000;           // that a kernel of many has
  static constexpr std::size_t text_worth_workers = 200'000;  // bytes
  static constexpr std::size_t most_workers = 16;
  std::size_t budget_of(const ChosenKernel& chosen) const {
    return std::max(budget_, module_->functions[chosen.function].instructions.size());
  }
  std::size_t instructions_of_all() const {
    std::size_t sum = 0;
    for (const auto& function : module_->functions) sum += function.instructions.size();
    return sum;
  }

  std::shared_ptr<Source> source_;
  const AnalyzeOptions& options_;
  std::string ptx_name_;
  std::shared_ptr<ptx::Module> module_;
  std::uint32_t main_file_ = 0;
  std::optional<periods::ResourceFinder> resources_;
  LineSet lines_;           // only these; empty: all
  std::size_t budget_ = 0;  // instructions that each kernel may have, with callees
  std::map<std::string, machine::MachineKernel> machine_code_;  // by symbol, where ptxas was asked
  std::map<std::string, CubinKernel> assembled_;                // the same
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
