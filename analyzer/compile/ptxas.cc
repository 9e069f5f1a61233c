#include "analyzer/compile/ptxas.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/compile/process.h"
#include "analyzer/compile/targets.h"
#include "analyzer/compile/toolkit.h"

namespace warptime {

namespace {

std::string find_ptxas() {
  for (const auto& folder : compiling::toolkit_folders()) {
    const std::string path = folder + "/ptxas";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

}  // namespace

Result<std::string> assemble(std::string_view ptx, const std::string& target,
                             const std::vector<std::string>& flags) {
  if (!compiling::parse_target(target))
    return error(fmt::format("`{}` is not a target; targets are named like sm_86", target));
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) {
    return error("ptxas was not found: registers are not known without it",
                 "looked in the PATH, in bin of CUDA_HOME and CUDA_PATH, and in /usr/local/cuda/bin");
  }
  const compiling::TemporaryFolder folder;
  const std::string input = folder.path() + "/kernel.ptx", output = folder.path() + "/kernel.cubin";
  if (folder.path().empty() || !compiling::write_file(input, ptx))
    return compiling::no_temporary_folder("ptxas");
  std::vector<std::string> command{ptxas, "-arch=" + target, input, "-o", output};
  command.insert(command.end(), flags.begin(), flags.end());
  const auto run = compiling::run_process(command, {{"TMPDIR", folder.path()}});
  if (!run) return run.diagnostics();
  if (run->status != 0) {
    std::string said = run->errors + run->output;
    for (auto at = said.find(input); at != std::string::npos; at = said.find(input))
      said.replace(at, input.size(), "PTX");
    said.erase(said.find_last_not_of("\n ") + 1);
    return error(fmt::format("ptxas rejects the PTX for {}: {}", target,
                             said.empty() ? fmt::format("status {}", run->status) : said));
  }
  auto cubin = compiling::read_file(output);
  if (!cubin) return error(fmt::format("ptxas wrote no cubin for {}", target));
  return std::move(*cubin);
}

Result<std::map<std::string, CubinKernel>> registers_of(std::string_view ptx, const std::string& target) {
  const auto cubin = assemble(ptx, target);
  if (!cubin) return cubin.diagnostics();
  return read_cubin(*cubin, "ptxas' cubin");
}

KernelResources with_registers(KernelResources resources, const CubinKernel& kernel) {
  resources.registers_per_thread = kernel.registers;
  resources.shared_bytes_static = kernel.shared_bytes;
  return resources;
}

}  // namespace warptime
