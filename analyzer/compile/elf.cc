#include "analyzer/compile/elf.h"

#include <algorithm>

namespace warptime::elf {
namespace {

constexpr std::size_t header_bytes = 64, section_bytes = 64, symbol_bytes = 24;
constexpr std::uint64_t machine_cuda = 190;                   // EM_CUDA
constexpr std::uint32_t type_symbols = 2, type_no_bytes = 8;  // SHT_SYMTAB, SHT_NOBITS

// The text up to its end, of a table of them.
std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto rest = table.substr(static_cast<std::size_t>(offset));
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<std::uint64_t> number_at(std::string_view bytes, std::uint64_t offset, std::size_t width) {
  if (offset > bytes.size() || bytes.size() - offset < width) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(offset) + i]);
  return value;
}

bool ElfReader::is_elf() const {
  return bytes_.size() >= header_bytes &&
         bytes_.substr(0, 4) ==
             "\x7f"
             "ELF" &&
         bytes_[4] == 2 /* 64 bits */ && bytes_[5] == 1 /* little-endian */;
}

bool ElfReader::is_cuda() const {
  return number(18, 2) == machine_cuda;
}

std::optional<std::vector<Section>> ElfReader::sections() const {
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

std::optional<std::uint64_t> ElfReader::number(std::uint64_t offset, std::size_t width) const {
  return number_at(bytes_, offset, width);
}

std::optional<std::uint64_t> ElfReader::field(std::uint64_t table, std::uint64_t section,
                                              std::uint64_t offset, std::size_t width) const {
  if (table > bytes_.size()) return std::nullopt;
  return number(table + section * section_bytes + offset, width);
}

std::optional<std::string_view> ElfReader::contents(std::uint64_t table, std::uint64_t section) const {
  const auto offset = field(table, section, 24, 8), size = field(table, section, 32, 8);
  if (!offset || !size || *offset > bytes_.size() || *size > bytes_.size() - *offset) return std::nullopt;
  return bytes_.substr(static_cast<std::size_t>(*offset), static_cast<std::size_t>(*size));
}

const Section* find_section(const std::vector<Section>& sections, std::string_view name) {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Section& one) { return one.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

std::vector<Symbol> symbols_of(const std::vector<Section>& sections) {
  std::vector<Symbol> symbols;
  for (const auto& section : sections) {
    if (section.type != type_symbols || section.link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + symbol_bytes <= section.contents.size(); at += symbol_bytes)
      symbols.push_back({text_at(sections[section.link].contents, *number_at(section.contents, at, 4)),
                         *number_at(section.contents, at + 6, 2), *number_at(section.contents, at + 8, 8),
                         *number_at(section.contents, at + 16, 8)});
    break;
  }
  return symbols;
}

}  // namespace warptime::elf
