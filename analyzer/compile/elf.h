// The ELF-64 format (System V ABI, chapter 4) as far as a cubin needs it. Any bytes are safe to read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace warptime::elf {

struct Section {
  std::string_view name;
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t size = 0;
  std::string_view contents;  // empty where it has none in the file
};

struct Symbol {
  std::string_view name;
  std::uint64_t section = 0, value = 0, size = 0;
};

class ElfReader {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  bool is_elf() const;   // of 64 bits, little-endian
  bool is_cuda() const;  // machine EM_CUDA

  // Nothing where the file ends before what its header promises. Call it for an ELF file only.
  std::optional<std::vector<Section>> sections() const;

 private:
  std::optional<std::uint64_t> number(std::uint64_t offset, std::size_t width) const;
  std::optional<std::uint64_t> field(std::uint64_t table, std::uint64_t section, std::uint64_t offset,
                                     std::size_t width) const;
  std::optional<std::string_view> contents(std::uint64_t table, std::uint64_t section) const;

  std::string_view bytes_;
};

// `width` bytes at `offset`, little-endian; nothing where the text ends before.
std::optional<std::uint64_t> number_at(std::string_view bytes, std::uint64_t offset, std::size_t width);

const Section* find_section(const std::vector<Section>& sections, std::string_view name);

// By their numbers.
std::vector<Symbol> symbols_of(const std::vector<Section>& sections);

}  // namespace warptime::elf
