#include "load/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "simulator/base/did_you_mean.h"
#include "simulator/program/program_documents.h"

namespace warptime {
namespace {

bool leaves_open(const Items& items) {
  return std::any_of(items.begin(), items.end(), [](const Item& item) {
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) return !access->cycles;
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) return leaves_open(repeat->body);
    if (const auto* when = std::get_if<When>(&item.what))
      return leaves_open(when->then_items) || leaves_open(when->else_items);
    return false;
  });
}

std::string file_stem(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return file == "-" ? "kernel" : name.substr(0, name.find('.'));
}

std::string name_of(const std::string& kernel, const std::string& symbol, const std::string& file) {
  if (!kernel.empty()) return kernel;
  return symbol.empty() ? file_stem(file) : symbol;
}

std::vector<KernelName> names_of(const std::vector<KernelProgram>& programs, const std::string& file) {
  std::vector<KernelName> names;
  for (const auto& program : programs)
    names.push_back({kernel_name(program, file), program.provenance.symbol});
  return names;
}

// Nothing: the file has to be read whole, to know which program it is or what is wrong.
std::optional<KernelProgram> read_only(std::string_view text, const std::string& kernel,
                                       const std::string& file, ChosenBy by) {
  const auto documents = program_documents(text);
  std::vector<KernelName> names;
  for (const auto& document : documents)
    names.push_back({name_of(document.kernel, document.symbol, file), document.symbol});
  if (names.empty()) return std::nullopt;
  const auto selected = select_kernel(names, kernel, file, by);
  if (!selected) return std::nullopt;
  auto programs = read_kernel_programs(documents[*selected].text, file);
  if (!programs || programs->size() != 1) return std::nullopt;
  return std::move(programs->front());
}

}  // namespace

std::string kernel_name(const KernelProgram& program, const std::string& file) {
  return name_of(program.provenance.kernel, program.provenance.symbol, file);
}

Result<std::vector<KernelProgram>> select_kernels(std::vector<KernelProgram> programs,
                                                  const std::string& kernel, const std::string& file) {
  const auto found = matching_kernels(names_of(programs, file), kernel, file);
  if (!found) return found.diagnostics();
  std::vector<KernelProgram> selected;
  for (const std::size_t i : *found) selected.push_back(std::move(programs[i]));
  return selected;
}

Result<KernelProgram> select_program(std::vector<KernelProgram> programs, const std::string& kernel,
                                     const std::string& file, ChosenBy by) {
  const auto selected = select_kernel(names_of(programs, file), kernel, file, by);
  if (!selected) return selected.diagnostics();
  return std::move(programs[*selected]);
}

Result<KernelProgram> read_kernel_program(std::string_view text, const std::string& kernel,
                                          const std::string& file, ChosenBy by) {
  if (auto only = read_only(text, kernel, file, by)) return std::move(*only);
  // Errors have their places in the whole file.
  auto programs = read_kernel_programs(text, file);
  if (!programs) return programs.diagnostics();
  return select_program(std::move(*programs), kernel, file, by);
}

bool leaves_durations_open(const KernelProgram& program) {
  return leaves_open(program.program);
}

std::string modelled_share(const KernelProgram& program) {
  const auto& modelled = program.instructions_modelled;
  const auto& total = program.instructions_total;
  if (!modelled || !total || *modelled == *total) return {};
  return fmt::format("{} of {} instructions are modelled", *modelled, *total);
}

std::vector<std::string> parameters_to_bind(const KernelProgram& program,
                                            const std::vector<NamedValues>& given) {
  auto names = parameter_names(program);
  auto used = used_names(program);
  // Shares of warps have a value of their own.
  for (const Parameter& parameter : program.parameters)
    if (parameter.share) std::erase(used, parameter.name);
  std::erase_if(names, [&](const std::string& name) {
    return std::find(used.begin(), used.end(), name) == used.end() &&
           std::none_of(given.begin(), given.end(), [&](const NamedValues& one) { return one.name == name; });
  });
  return names;
}

std::string description_of(const KernelProgram& program, const std::string& name) {
  for (const auto& parameter : program.parameters)
    if (parameter.name == name) return parameter.description;
  return {};
}

Diagnostics unknown_parameters(const std::vector<KernelProgram>& programs,
                               const std::vector<NamedValues>& given) {
  std::vector<std::string> known;
  for (const auto& program : programs)
    for (const auto& name : parameter_names(program))
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  Diagnostics wrong;
  for (const auto& one : given)
    if (std::find(known.begin(), known.end(), one.name) == known.end())
      wrong.push_back(error(fmt::format("there is no parameter `{}`", one.name),
                            known.empty() ? "the program has no parameters"
                                          : fmt::format("the parameters are {}", enumerate(known))));
  return wrong;
}

Result<ParameterSweep> ParameterSweep::of(const KernelProgram& program,
                                          const std::vector<NamedValues>& given) {
  ParameterSweep sweep;
  for (const auto& name : parameter_names(program)) {
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == name; });
    if (found == given.end()) continue;
    if (__builtin_mul_overflow(sweep.size_, found->values.size(), &sweep.size_))
      return error("the number of combinations of parameters does not fit 64 bits");
    sweep.axes_.push_back(*found);
  }
  return sweep;
}

std::vector<std::pair<std::string, std::int64_t>> ParameterSweep::at(std::uint64_t index) const {
  std::vector<std::pair<std::string, std::int64_t>> values(axes_.size());
  for (auto i = axes_.size(); i-- > 0;) {
    const auto& axis = axes_[i];
    values[i] = {axis.name, axis.values.at(index % axis.values.size())};
    index /= axis.values.size();
  }
  return values;
}

}  // namespace warptime
