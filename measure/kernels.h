// The code of a plan's kernels: PTX with the names and types of its kernels' arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/execute/execute.h"
#include "analyzer/ptx/module.h"
#include "load/kernel_file.h"
#include "simulator/plan/plan.h"

namespace warptime::measuring {

// One parameter of a kernel.
struct KernelParameter {
  std::string name;  // in the source; for a PTX file in the PTX, without the kernel's name as prefix
  std::string type;  // in the source, "float *"; for a PTX file in the PTX, ".u64"
  enum class Kind : std::uint8_t { pointer, integer, real } kind = Kind::integer;
  std::uint64_t bytes = 0;
};

struct Kernel {
  std::string name;    // in the source
  std::string symbol;  // in the PTX
  std::vector<KernelParameter> parameters;
  execute::Code code;  // for the check on the CPU
};

// A file with kernels, compiled.
struct CodeModule {
  Source source;
  std::string file;
  ptx::Module module;  // points into source.ptx
  std::vector<Kernel> kernels;
};

// Which kernel a launch of the plan runs.
struct KernelReference {
  std::size_t module = 0, kernel = 0;
};

class PlanKernels {
 public:
  // Reads and compiles every file that the plan's launches name, each once. `compile.arch` is the GPU's.
  // Errors: those of reading and compiling; a kernel program, which has no code to run; a kernel that the
  // file does not have, or several and none named; a parameter of a kind that a plan cannot give (a struct).
  static Result<PlanKernels> load(const Plan& plan, const FileReader& read, const CompileOptions& compile);

  const std::vector<std::unique_ptr<CodeModule>>& modules() const { return modules_; }
  const Kernel& kernel(const KernelReference& reference) const {
    return modules_[reference.module]->kernels[reference.kernel];
  }
  KernelReference of(const PlanLaunch& launch) const;

 private:
  Result<std::size_t> add(const std::string& file, const FileReader& read, const CompileOptions& compile);
  Diagnostics add_launch(const Plan& plan, const PlanLaunch& launch, const FileReader& read,
                         const CompileOptions& compile);

  std::vector<std::unique_ptr<CodeModule>> modules_;
  std::vector<std::pair<std::pair<std::string, std::string>, KernelReference>> by_launch_;  // file and entry
};

}  // namespace warptime::measuring
