// From a source's PTX to the kernel program of each kernel: what `warptime analyze` does. pipeline.cc lists
// the passes in order: Pipeline::run those over the file, Pipeline::analyze_kernel those over a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/ptx/module.h"
#include "analyzer/regions.h"
#include "simulator/program/kernel_program.h"

namespace warptime {

struct AnalyzeOptions {
  // Only these: a name, a symbol or a regular expression (kernel_names.h); empty: all.
  std::string kernel;
  // Unknown instructions count as calculation, and are reported.
  bool skip_unsupported = false;
  // Only instructions that come from these lines of the source (of PTX given as such: of the PTX); empty:
  // all.
  LineSet lines = {};
  // Only those of this region of the source; empty: all.
  std::string region = {};
  // Keeps what emit_text needs for steps other than the program; without it, memory is freed kernel by
  // kernel.
  bool keep_steps = true;
  // Asks ptxas of a CUDA Toolkit for the registers of each kernel, which costs a process. If ptxas fails, a
  // warning says why, and KernelProgram::resources has no registers.
  bool registers = false;
  // The machine instructions of each item (machine/annotate.h): estimated, or those that ptxas of a CUDA Toolkit makes,
  // which costs a process; if ptxas fails, a warning says why, and the estimate stands for them. Registers likewise:
  // KernelProgram::estimated_registers, or those of ptxas as above.
  enum class Machine : std::uint8_t { none, estimated, assembled } machine = Machine::none;
  // The block's shape (x, y, z) for which patterns are computed; empty: one-dimensional.
  std::optional<std::array<std::int64_t, 3>> block = {};
  // The classes of calculation instructions (Instructions::classes).
  bool classes = false;
  // Loads whose addresses need nothing that was loaded before become adjacent, and so do stores (periods/rearrange.h).
  // Without effect where `machine` asks for what models of single instructions need: those move loads themselves.
  bool rearrange = false;
};

namespace analysis {
class KernelCode;  // the kernel's instructions, with those of its callees: cfg/kernel_code.h
struct Cfg;        // basic blocks, dominators, loops: cfg/cfg.h
}  // namespace analysis

namespace machine {
struct MachineKernel;  // what ptxas made of a kernel: machine/machine_code.h
}

namespace periods {
struct Lowered;  // what each instruction is in the kernel program: periods/lower.h
}

struct KernelAnalysis {
  std::uint32_t function = 0;  // index into Module::functions
  // Instructions, basic blocks and loops, and what each instruction is; empty unless AnalyzeOptions asks for
  // the steps.
  std::shared_ptr<const analysis::KernelCode> code;
  std::shared_ptr<const analysis::Cfg> cfg;
  std::shared_ptr<const periods::Lowered> lowered;
  std::shared_ptr<const machine::MachineKernel> assembled;  // only with Machine::assembled, if ptxas made it
  KernelProgram program;                                    // with its provenance
};

struct Analysis {
  std::shared_ptr<const Source> source;  // owns the PTX that the module's views refer to
  std::shared_ptr<const ptx::Module> module;
  std::vector<KernelAnalysis> kernels;
  std::vector<Region> regions;  // of the source
  bool restricted = false;      // to the lines or the region of AnalyzeOptions
  Diagnostics diagnostics;      // warnings and notes: skipped instructions, assumptions
  Diagnostics errors;           // kernels without a program, and why; `kernels` holds the others
};

// Errors: PTX that does not parse, an unknown kernel or region name (lists the known ones), and, if no kernel
// has a program, unsupported instructions and control flow (with their PTX and source lines).
Result<Analysis> analyze(Source source, const AnalyzeOptions& options);

// A Source for PTX that the user gives. `file` is for the diagnostics.
Source ptx_source(std::string file, std::string text);

enum class Emit { program, ptx, cfg, loops, periods, listing, machine };

// The step as text, or as JSON. Emit::program as text is YAML. Emit::ptx is the PTX itself in both.
std::string emit_text(const Analysis& analysis, Emit what);
std::string emit_json(const Analysis& analysis, Emit what);

}  // namespace warptime
