// A folder of kernels as `warptime models` sees it: its plans, the sources of their kernels, and where the
// models of these are.
#pragma once

#include <string>
#include <vector>

#include "load/kernel_file.h"
#include "simulator/plan/launch.h"
#include "simulator/plan/plan.h"

namespace warptime::models {

// A launch in blocks of more than one dimension.
struct LaunchedShape {
  std::string entry;  // the kernel, as the plan names it; may be empty
  Dim3 block;
  std::string plan;  // its file
};

struct KernelSource {
  std::string file;                   // as it is opened: dwt_kernels/mtx.cu
  std::string models;                 // the folder of its models: dwt_kernels/models
  InputKind kind = InputKind::cuda;   // or ptx
  bool launched = false;              // by a plan
  std::vector<LaunchedShape> shapes;  // in the plans' order
};

struct KernelFolder {
  std::string folder;
  std::vector<Plan> plans;            // by file
  std::vector<KernelSource> sources;  // by file
  Diagnostics errors;                 // plans that cannot be read, kernels that are not there
};

// The plans (*.plan.yaml) of `folder` and of the folders below it that have any, every .cu beside them, and
// whatever else of code the plans launch. Folders called `models` and hidden ones are left out. Models are in
// models/ beside their source, or in that of `folder` for a source outside of it. Errors: no such folder,
// neither plans nor kernels in it.
Result<KernelFolder> read_kernel_folder(const std::string& folder);

}  // namespace warptime::models
