// The resources of a kernel that its PTX gives: shared memory and launch bounds. The assembler chooses the
// registers: analyzer/compile/ptxas.h asks it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ptx/module.h"
#include "simulator/program/kernel_program.h"

namespace warptime::periods {

// `.extern .shared .b8 s[]`: memory that the launch asks for.
bool is_dynamic_shared(const ptx::Variable& variable);

// Where a variable lies that is placed behind `end` bytes of its memory, at the next place that its alignment
// allows.
struct Placement {
  std::uint64_t begin = 0, end = 0;  // no more than what a kernel program can say
};
Placement place_behind(std::uint64_t end, const ptx::Variable& variable);

// Finds what each function of a module uses, once for all of its kernels.
class ResourceFinder {
 public:
  explicit ResourceFinder(const ptx::Module& module);

  // Of the kernel Module::functions[kernel]: the `.shared` variables that it or a reachable function uses, in
  // the order of their declaration, each at its alignment; whether there is `.extern .shared` memory, whose
  // size the launch sets; .maxntid, .reqntid and .minnctapersm. A function that is called through a pointer
  // is reachable if the kernel's code names it. Nothing without any of these.
  std::optional<KernelResources> resources_of(std::uint32_t kernel) const;

 private:
  struct Uses {
    std::vector<std::uint32_t> functions;         // indices into Module::functions
    std::vector<std::uint32_t> module_variables;  // shared ones: indices into Module::variables
    std::vector<std::uint32_t> own_variables;     // shared ones: indices into Function::variables
  };
  Uses uses_of(const ptx::Function& function) const;
  void add_shared(KernelResources& resources, std::uint32_t kernel) const;

  const ptx::Module& module_;
  bool any_shared_ = false;
  std::vector<Uses> uses_;  // of each function; empty where there is no shared variable at all
};

}  // namespace warptime::periods
