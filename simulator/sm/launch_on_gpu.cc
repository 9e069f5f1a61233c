#include "simulator/sm/launch_on_gpu.h"

namespace warptime {

KernelResources resources_of(const KernelProgram& program, std::optional<std::int64_t> shared_bytes) {
  KernelResources resources = with_shared_bytes(program.resources, shared_bytes);
  if (!resources.registers_per_thread) resources.registers_per_thread = program.estimated_registers;
  return resources;
}

}  // namespace warptime
