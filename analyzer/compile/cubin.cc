#include "analyzer/compile/cubin.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "analyzer/compile/elf.h"

namespace warptime {

namespace {

constexpr int registers_shift = 24;  // in sh_info of a kernel's code
constexpr std::uint64_t reserved_shared = 1024;

constexpr std::string_view code_prefix = ".text.", info_prefix = ".nv.info.", shared_prefix = ".nv.shared.";

// `.nv.info`: attributes of four bytes (form, attribute, two bytes of value), those of form 4 with as many
// bytes behind them as their value says. REGCOUNT: the symbol's number, its registers.
std::map<std::string_view, int> register_counts(const std::vector<elf::Section>& sections) {
  constexpr std::uint64_t form_sized = 4, register_count = 0x2f;
  std::map<std::string_view, int> counts;
  const elf::Section* info = elf::find_section(sections, ".nv.info");
  if (info == nullptr) return counts;
  const auto symbols = elf::symbols_of(sections);
  const std::string_view bytes = info->contents;
  for (std::uint64_t at = 0; at + 4 <= bytes.size();) {
    const auto form = *elf::number_at(bytes, at, 1), attribute = *elf::number_at(bytes, at + 1, 1);
    const auto size = form == form_sized ? *elf::number_at(bytes, at + 2, 2) : 0;
    if (attribute == register_count && size >= 8) {
      const auto symbol = elf::number_at(bytes, at + 4, 4), count = elf::number_at(bytes, at + 8, 4);
      if (symbol && count && *symbol < symbols.size() && *count <= 0xffff)
        counts[symbols[*symbol].name] = static_cast<int>(*count);
    }
    at += 4 + size;
  }
  return counts;
}

}  // namespace

Result<std::map<std::string, CubinKernel>> read_cubin(std::string_view bytes, const std::string& file) {
  const elf::ElfReader reader(bytes);
  if (!reader.is_elf() || !reader.is_cuda()) return error_at(file, 0, 0, "this is not a cubin");
  const auto sections = reader.sections();
  if (!sections) return error_at(file, 0, 0, "the cubin is truncated");
  const auto counts = register_counts(*sections);
  const bool has_reserved = elf::find_section(*sections, ".nv.shared.reserved.0") != nullptr;
  std::map<std::string, CubinKernel> kernels;
  for (const auto& section : *sections)
    if (section.name.starts_with(info_prefix))
      kernels[std::string(section.name.substr(info_prefix.size()))] = {};
  for (const auto& section : *sections) {
    if (section.name.starts_with(code_prefix)) {
      const auto symbol = section.name.substr(code_prefix.size());
      const auto kernel = kernels.find(std::string(symbol));
      if (kernel == kernels.end()) continue;
      const auto count = counts.find(symbol);
      kernel->second.registers =
          count != counts.end() ? count->second : static_cast<int>(section.info >> registers_shift);
    } else if (section.name.starts_with(shared_prefix)) {
      const auto kernel = kernels.find(std::string(section.name.substr(shared_prefix.size())));
      if (kernel == kernels.end()) continue;
      constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
      const std::uint64_t reserved = has_reserved ? std::min(section.size, reserved_shared) : 0;
      kernel->second.shared_bytes = static_cast<std::int64_t>(std::min(section.size - reserved, most));
    }
  }
  return kernels;
}

}  // namespace warptime
