// Modules in, programs out; and what a program says of itself.
#include <fmt/format.h>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/layout.h"
#include "analyzer/execute/provenance.h"

namespace warptime::execute {
namespace {

constexpr std::size_t most_errors = 20;
constexpr std::uint64_t most_window_bytes = std::uint64_t{1}
                                            << 24;  // the windows of local and parameter memory

bool fits(const Program& program, Diagnostics& errors) {
  for (const auto& [index, code] : program.functions)
    if (code.local_bytes > most_window_bytes || code.param_bytes > most_window_bytes)
      errors.push_back(error_at(program.file, static_cast<int>(program.module->functions[index].line), 0,
                                fmt::format("{} bytes of local memory for each thread", code.local_bytes)));
  return errors.empty();
}

// mtx of _Z3mtxiiPfS_S_: the length, then the name; of nested names the last.
bool is_mangled_form(std::string_view symbol, std::string_view name) {
  const auto wanted = std::to_string(name.size()) + std::string(name);
  return symbol.starts_with("_Z") && symbol.find(wanted) != std::string_view::npos;
}

}  // namespace

Result<Code> load(const ptx::Module& module, std::uint32_t kernel, const std::string& file) {
  auto program = std::make_shared<Program>();
  program->module = &module;
  program->file = file;
  program->kernel = kernel;
  program->wide = module.address_size == 64;
  if (kernel >= module.functions.size() || !module.functions[kernel].entry ||
      module.functions[kernel].declaration)
    return error_at(file, 0, 0, "no such kernel");
  Diagnostics errors;
  lay_out(*program, errors);
  if (!errors.empty() || !fits(*program, errors)) return errors;
  for (auto& [index, code] : program->functions)
    Decoder(*program, module.functions[index], code, errors).decode();
  if (errors.empty()) find_owners(*program, module.functions[kernel], program->functions.at(kernel));
  if (errors.size() > most_errors) errors.resize(most_errors);
  if (!errors.empty()) return errors;
  return Code(std::move(program));
}

Result<std::uint32_t> find_kernel(const ptx::Module& module, std::string_view name, const std::string& file) {
  std::vector<std::uint32_t> exact, mangled;
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    const auto& function = module.functions[f];
    if (!function.entry || function.declaration) continue;
    names.emplace_back(function.name);
    if (name.empty() || function.name == name)
      exact.push_back(f);
    else if (is_mangled_form(function.name, name))
      mangled.push_back(f);
  }
  const auto& found = exact.empty() ? mangled : exact;
  if (found.size() == 1) return found[0];
  if (names.empty())
    return error_at(file, 0, 0, "no kernel in this file",
                    "a kernel is a __global__ function (.entry in PTX)");
  const auto all = fmt::format("{}", fmt::join(names, ", "));
  if (found.empty()) return error_at(file, 0, 0, fmt::format("no kernel `{}`; there are: {}", name, all));
  return error_at(file, 0, 0,
                  fmt::format("several kernels{}: {}", name.empty() ? "" : fmt::format(" `{}`", name), all),
                  "choose one of them");
}

std::vector<ParameterInfo> parameters(const Program& program) {
  std::vector<ParameterInfo> list;
  for (const auto& variable : program.module->functions[program.kernel].parameters)
    list.push_back({std::string(variable.name), std::string(variable.type), bytes_of_variable(variable)});
  return list;
}

std::uint64_t static_shared_bytes(const Program& program) {
  return program.shared_bytes;
}

std::uint64_t pointer_bytes(const Program& program) {
  return program.wide ? 8 : 4;
}

Argument pointer(const Program& program, const Memory& memory, std::uint32_t buffer, std::uint64_t offset) {
  const auto address = memory.address(buffer) + offset;
  if (program.wide) return scalar(address);
  return scalar(static_cast<std::uint32_t>(address));
}

}  // namespace warptime::execute
