#include "analyzer/machine/line_table.h"

#include <optional>

#include "analyzer/compile/elf.h"

namespace warptime::machine {
namespace {

// Opcodes of the line number program.
enum : std::uint8_t {
  copy = 1,
  advance_pc,
  advance_line,
  set_file,
  set_column,
  const_add_pc = 8,
  fixed_advance_pc
};
enum : std::uint8_t { end_sequence = 1, set_address = 2 };

class Bytes {
 public:
  Bytes(std::string_view section, std::uint64_t at, std::uint64_t end)
      : section_(section), at_(at), end_(end) {}
  bool at_end() const { return failed_ || at_ >= end_; }
  bool failed() const { return failed_; }
  std::uint64_t at() const { return at_; }
  void skip_to(std::uint64_t at) { at_ = at; }

  std::uint64_t number(std::size_t width) {
    const auto value = at_ + width <= end_ ? elf::number_at(section_, at_, width) : std::nullopt;
    failed_ = failed_ || !value;
    at_ += width;
    return value.value_or(0);
  }

  std::uint64_t unsigned_leb() { return leb(false); }
  std::int64_t signed_leb() { return static_cast<std::int64_t>(leb(true)); }

 private:
  std::uint64_t leb(bool is_signed) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = number(1);
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
    failed_ = true;
    return value;
  }

  std::string_view section_;
  std::uint64_t at_, end_;
  bool failed_ = false;
};

class Program {
 public:
  Program(std::string_view section, std::uint64_t at, std::uint64_t end) : bytes_(section, at, end) {}

  // False: damaged.
  bool run(std::vector<LineSequence>& sequences) {
    bytes_.number(2);  // version
    const std::uint64_t header = bytes_.number(4);
    const std::uint64_t begin = bytes_.at() + header;
    minimum_ = bytes_.number(1);
    bytes_.number(1);  // whether rows are statements at first
    line_base_ = static_cast<std::int8_t>(bytes_.number(1));
    line_range_ = bytes_.number(1);
    opcode_base_ = bytes_.number(1);
    if (line_range_ == 0 || opcode_base_ == 0) return false;
    lengths_.assign(opcode_base_, 0);
    for (std::uint64_t i = 1; i < opcode_base_; ++i) lengths_[i] = bytes_.number(1);
    if (bytes_.failed()) return false;
    bytes_.skip_to(begin);
    while (!bytes_.at_end()) step(sequences);
    return !bytes_.failed();
  }

 private:
  void step(std::vector<LineSequence>& sequences) {
    const std::uint64_t opcode = bytes_.number(1);
    if (opcode >= opcode_base_) {
      address_ += (opcode - opcode_base_) / line_range_ * minimum_;
      line_ += line_base_ + static_cast<std::int64_t>((opcode - opcode_base_) % line_range_);
      row();
    } else if (opcode == 0) {
      extended(sequences);
    } else {
      standard(opcode);
    }
  }

  void standard(std::uint64_t opcode) {
    switch (opcode) {
      case copy:
        row();
        break;
      case advance_pc:
        address_ += bytes_.unsigned_leb() * minimum_;
        break;
      case advance_line:
        line_ += bytes_.signed_leb();
        break;
      case const_add_pc:
        address_ += (255 - opcode_base_) / line_range_ * minimum_;
        break;
      case fixed_advance_pc:
        address_ += bytes_.number(2);
        break;
      default:
        for (std::uint64_t i = 0; i < lengths_[opcode]; ++i) bytes_.unsigned_leb();
    }
  }

  void extended(std::vector<LineSequence>& sequences) {
    const std::uint64_t length = bytes_.unsigned_leb();
    const std::uint64_t end = bytes_.at() + length;
    const std::uint64_t opcode = length == 0 ? 0 : bytes_.number(1);
    if (opcode == set_address) {
      sequence_.address_at = bytes_.at();
      address_ = 0;
    } else if (opcode == end_sequence) {
      sequence_.rows.push_back({address_, 0});
      sequences.push_back(std::move(sequence_));
      sequence_ = {};
      address_ = 0;
      line_ = 1;
    }
    bytes_.skip_to(end);
  }

  void row() {
    const bool is_line = line_ > 0 && line_ <= 0xffffffff;
    sequence_.rows.push_back({address_, is_line ? static_cast<std::uint32_t>(line_) : 0});
  }

  Bytes bytes_;
  std::uint64_t minimum_ = 1, line_range_ = 1, opcode_base_ = 1, address_ = 0;
  std::int64_t line_base_ = 0, line_ = 1;
  std::vector<std::uint64_t> lengths_;
  LineSequence sequence_;
};

}  // namespace

std::vector<LineSequence> read_line_table(std::string_view section) {
  std::vector<LineSequence> sequences;
  for (std::uint64_t at = 0; at < section.size();) {
    const auto length = elf::number_at(section, at, 4);
    if (!length || *length > section.size() - at - 4) break;
    if (!Program(section, at + 4, at + 4 + *length).run(sequences)) break;
    at += 4 + *length;
  }
  return sequences;
}

}  // namespace warptime::machine
