#include "analyzer/compile/cubin.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace warptime {

namespace {

// The ELF-64 format (System V ABI, chapter 4), as far as it is needed here.
constexpr std::size_t header_bytes = 64, section_bytes = 64, symbol_bytes = 24;
constexpr std::uint64_t machine_cuda = 190;                   // EM_CUDA
constexpr std::uint32_t type_symbols = 2, type_no_bytes = 8;  // SHT_SYMTAB, SHT_NOBITS
constexpr int registers_shift = 24;                           // in sh_info of a kernel's code
constexpr std::uint64_t reserved_shared = 1024;

struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t size = 0;
  std::string_view contents;  // empty where it has none in the file
};

// `width` bytes at `offset`; nothing where the text ends before.
std::optional<std::uint64_t> number_at(std::string_view bytes, std::uint64_t offset, std::size_t width) {
  if (offset > bytes.size() || bytes.size() - offset < width) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(offset) + i]);
  return value;
}

// The text up to its end, of a table of them.
std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto rest = table.substr(static_cast<std::size_t>(offset));
  return rest.substr(0, rest.find('\0'));
}

class ElfReader {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  bool is_elf() const {
    return bytes_.size() >= header_bytes &&
           bytes_.substr(0, 4) ==
               "\x7f"
               "ELF" &&
           bytes_[4] == 2 /* 64 bits */ && bytes_[5] == 1 /* little-endian */;
  }
  bool is_cuda() const { return number(18, 2) == machine_cuda; }

  // Nothing where the file ends before what its header promises.
  std::optional<std::vector<Section>> sections() const {
    const std::uint64_t table = *number(40, 8);
    std::uint64_t count = *number(60, 2), names = *number(62, 2);
    if (*number(58, 2) != section_bytes || table == 0) return std::nullopt;
    // Too many for 16 bits: the first section's header has the numbers.
    if (count == 0) count = field(table, 0, 32, 8).value_or(0);
    if (names == 0xffff) names = field(table, 0, 40, 4).value_or(0);
    if (table > bytes_.size() || count > (bytes_.size() - table) / section_bytes || names >= count)
      return std::nullopt;
    std::vector<Section> found;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto type = field(table, i, 4, 4), size = field(table, i, 32, 8), link = field(table, i, 40, 4),
                 info = field(table, i, 44, 4);
      if (!type || !size || !link || !info) return std::nullopt;
      Section section;
      section.type = static_cast<std::uint32_t>(*type);
      section.link = static_cast<std::uint32_t>(*link);
      section.info = static_cast<std::uint32_t>(*info);
      section.size = *size;
      if (section.type != type_no_bytes && i > 0) {
        const auto contained = contents(table, i);
        if (!contained) return std::nullopt;
        section.contents = *contained;
      }
      found.push_back(section);
    }
    for (std::uint64_t i = 0; i < count; ++i)
      found[i].name = text_at(found[names].contents, field(table, i, 0, 4).value_or(0));
    return found;
  }

 private:
  std::optional<std::uint64_t> number(std::uint64_t offset, std::size_t width) const {
    return number_at(bytes_, offset, width);
  }

  std::optional<std::uint64_t> field(std::uint64_t table, std::uint64_t section, std::uint64_t offset,
                                     std::size_t width) const {
    if (table > bytes_.size()) return std::nullopt;
    return number(table + section * section_bytes + offset, width);
  }

  std::optional<std::string_view> contents(std::uint64_t table, std::uint64_t section) const {
    const auto offset = field(table, section, 24, 8), size = field(table, section, 32, 8);
    if (!offset || !size || *offset > bytes_.size() || *size > bytes_.size() - *offset) return std::nullopt;
    return bytes_.substr(static_cast<std::size_t>(*offset), static_cast<std::size_t>(*size));
  }

  std::string_view bytes_;
};

constexpr std::string_view code_prefix = ".text.", info_prefix = ".nv.info.", shared_prefix = ".nv.shared.";

const Section* find(const std::vector<Section>& sections, std::string_view name) {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Section& one) { return one.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

// The symbols' names, by their numbers.
std::vector<std::string_view> symbols_of(const std::vector<Section>& sections) {
  std::vector<std::string_view> names;
  for (const auto& section : sections) {
    if (section.type != type_symbols || section.link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + symbol_bytes <= section.contents.size(); at += symbol_bytes)
      names.push_back(text_at(sections[section.link].contents, *number_at(section.contents, at, 4)));
    break;
  }
  return names;
}

// `.nv.info`: attributes of four bytes (form, attribute, two bytes of value), those of form 4 with as many
// bytes behind them as their value says. REGCOUNT: the symbol's number, its registers.
std::map<std::string_view, int> register_counts(const std::vector<Section>& sections) {
  constexpr std::uint64_t form_sized = 4, register_count = 0x2f;
  std::map<std::string_view, int> counts;
  const Section* info = find(sections, ".nv.info");
  if (info == nullptr) return counts;
  const auto symbols = symbols_of(sections);
  const std::string_view bytes = info->contents;
  for (std::uint64_t at = 0; at + 4 <= bytes.size();) {
    const auto form = *number_at(bytes, at, 1), attribute = *number_at(bytes, at + 1, 1);
    const auto size = form == form_sized ? *number_at(bytes, at + 2, 2) : 0;
    if (attribute == register_count && size >= 8) {
      const auto symbol = number_at(bytes, at + 4, 4), count = number_at(bytes, at + 8, 4);
      if (symbol && count && *symbol < symbols.size() && *count <= 0xffff)
        counts[symbols[*symbol]] = static_cast<int>(*count);
    }
    at += 4 + size;
  }
  return counts;
}

}  // namespace

Result<std::map<std::string, CubinKernel>> read_cubin(std::string_view bytes, const std::string& file) {
  const ElfReader reader(bytes);
  if (!reader.is_elf() || !reader.is_cuda()) return error_at(file, 0, 0, "this is not a cubin");
  const auto sections = reader.sections();
  if (!sections) return error_at(file, 0, 0, "the cubin is truncated");
  const auto counts = register_counts(*sections);
  const bool has_reserved = find(*sections, ".nv.shared.reserved.0") != nullptr;
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
