#include "analyzer/machine/machine_code.h"

#include <algorithm>

#include "analyzer/compile/elf.h"
#include "analyzer/machine/line_table.h"

namespace warptime::machine {
namespace {

#define MACHINE(code, name, pipe) {code, name, Pipe::pipe},
constexpr MachineOpcode kOpcodes[] = {
#include "analyzer/machine/machine_opcodes.def"
};
#undef MACHINE

constexpr std::uint64_t kInstructionBytes = 16;
constexpr std::uint16_t kCodeMask = 0x1ff, kNop = 0x118, kBranch = 0x147, kCall = 0x144;
constexpr int kAlways = 7;  // the predicate that is true
constexpr std::string_view kCode = ".text.", kLines = ".nv_debug_line_sass",
                           kLineRelocations = ".rela.nv_debug_line_sass",  // since Hopper, with addends
    kLineRelocationsWithout = ".rel.nv_debug_line_sass";

std::uint64_t bits(std::uint64_t word, unsigned from, unsigned count) {
  return word >> from & ((std::uint64_t{1} << count) - 1);
}

// The upper half has the control word in its bits 41 to 61.
Control control_of(std::uint64_t upper) {
  Control control;
  control.stall = static_cast<int>(bits(upper, 41, 4));
  control.yield = bits(upper, 45, 1) != 0;
  control.write_barrier = static_cast<int>(bits(upper, 46, 3));
  control.read_barrier = static_cast<int>(bits(upper, 49, 3));
  control.waits = static_cast<unsigned>(bits(upper, 52, 6));
  control.reuse = static_cast<unsigned>(bits(upper, 58, 4));
  return control;
}

MachineInstruction decoded(std::uint64_t address, std::uint64_t lower, std::uint64_t upper) {
  MachineInstruction one;
  one.address = static_cast<std::uint32_t>(address);
  one.code = static_cast<std::uint16_t>(lower & kCodeMask);
  one.opcode = find_machine_opcode(one.code);
  one.guard = static_cast<int>(bits(lower, 12, 3));
  one.guard_negated = bits(lower, 15, 1) != 0;
  one.control = control_of(upper);
  one.lower = lower;
  one.upper = upper;
  return one;
}

class Reader {
 public:
  explicit Reader(const std::vector<elf::Section>& sections)
      : sections_(sections), symbols_(elf::symbols_of(sections)) {}

  std::map<std::string, MachineKernel> read() {
    read_lines();
    std::map<std::string, MachineKernel> kernels;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const elf::Section& section = sections_[i];
      if (!section.name.starts_with(kCode)) continue;
      const std::string symbol(section.name.substr(kCode.size()));
      if (elf::find_section(sections_, ".nv.info." + symbol) != nullptr)
        kernels[symbol] = kernel_of(i, symbol);
    }
    return kernels;
  }

 private:
  struct Placed {
    std::uint64_t section = 0, begin = 0;
    LineSequence sequence;
  };

  // A relocation of a sequence's address names the symbol of its code.
  void read_lines() {
    const elf::Section* lines = elf::find_section(sections_, kLines);
    const elf::Section* relocations = elf::find_section(sections_, kLineRelocations);
    const bool addends = relocations != nullptr;
    if (!addends) relocations = elf::find_section(sections_, kLineRelocationsWithout);
    if (lines == nullptr || relocations == nullptr) return;
    const std::uint64_t relocation_bytes = addends ? 24 : 16;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> at;  // place -> symbol, addend
    for (std::uint64_t i = 0; i + relocation_bytes <= relocations->contents.size(); i += relocation_bytes) {
      const std::string_view entry = relocations->contents.substr(i, relocation_bytes);
      at[*elf::number_at(entry, 0, 8)] = {*elf::number_at(entry, 12, 4),
                                          addends ? *elf::number_at(entry, 16, 8) : 0};
    }
    for (LineSequence& sequence : read_line_table(lines->contents)) {
      const auto found = at.find(sequence.address_at);
      if (found == at.end() || found->second.first >= symbols_.size()) continue;
      const elf::Symbol& symbol = symbols_[found->second.first];
      placed_.push_back({symbol.section, symbol.value + found->second.second, std::move(sequence)});
    }
  }

  MachineKernel kernel_of(std::size_t section, const std::string& symbol) const {
    const std::string_view code = sections_[section].contents;
    MachineKernel kernel;
    for (std::uint64_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes)
      kernel.instructions.push_back(
          decoded(at, *elf::number_at(code, at, 8), *elf::number_at(code, at + 8, 8)));
    while (!kernel.instructions.empty() && kernel.instructions.back().code == kNop)
      kernel.instructions.pop_back();
    note_lines(section, kernel);
    note_subroutines(section, symbol, kernel);
    return kernel;
  }

  void note_lines(std::size_t section, MachineKernel& kernel) const {
    for (const Placed& placed : placed_) {
      if (placed.section != section) continue;
      const auto& rows = placed.sequence.rows;
      for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
        const std::uint64_t end = std::min<std::uint64_t>(
            (placed.begin + rows[row + 1].address) / kInstructionBytes, kernel.instructions.size());
        for (std::uint64_t i = (placed.begin + rows[row].address) / kInstructionBytes; i < end; ++i)
          kernel.instructions[i].ptx_line = rows[row].line;
      }
    }
  }

  // ptxas' own subroutines, __cuda_sm20_div_rn_f64_full, say, are for operands that its code beside the call
  // is not for: subnormal ones, infinite ones. Not so the 64-bit divisions, __cuda_sm20_rem_u64.
  static bool is_slow_path(std::string_view name) {
    return name.find("__cuda_sm") != std::string_view::npos && !name.ends_with("_u64") &&
           !name.ends_with("_s64");
  }

  void note_subroutines(std::size_t section, const std::string& kernel_symbol, MachineKernel& kernel) const {
    for (const elf::Symbol& symbol : symbols_) {
      if (symbol.section != section || symbol.size == 0 || symbol.name == kernel_symbol) continue;
      const std::uint64_t first = symbol.value / kInstructionBytes, count = symbol.size / kInstructionBytes;
      const bool slow = is_slow_path(symbol.name);
      for (std::uint64_t i = first; i - first < count && i < kernel.instructions.size(); ++i) {
        kernel.instructions[i].in_subroutine = true;
        kernel.instructions[i].in_slow_path = slow;
      }
    }
  }

  const std::vector<elf::Section>& sections_;
  std::vector<elf::Symbol> symbols_;
  std::vector<Placed> placed_;
};

// The offset counts four bytes from the next instruction on, in 48 bits from bit 34; since Hopper its lowest
// eight bits lie in bits 16 to 23.
std::int64_t relative_target(const MachineInstruction& instruction, int target) {
  const std::uint64_t field = instruction.lower >> 34 | bits(instruction.upper, 0, 18) << 30;
  std::int64_t offset = static_cast<std::int64_t>(field << 16) >> 16;
  if (target >= 90) offset = offset * 256 + static_cast<std::int64_t>(bits(instruction.lower, 16, 8));
  return static_cast<std::int64_t>(instruction.address) + static_cast<std::int64_t>(kInstructionBytes) +
         4 * offset;
}

}  // namespace

std::optional<std::int64_t> branch_target(const MachineInstruction& instruction, int target) {
  if (instruction.code != kBranch) return std::nullopt;
  return relative_target(instruction, target);
}

std::optional<std::int64_t> call_target(const MachineInstruction& instruction, int target) {
  if (instruction.code != kCall) return std::nullopt;
  return relative_target(instruction, target);
}

// A branch has a second predicate, in bits 87 to 90.
bool is_conditional(const MachineInstruction& instruction) {
  const bool guarded = instruction.guard != kAlways || instruction.guard_negated;
  return guarded || (instruction.code == kBranch && bits(instruction.upper, 23, 4) != kAlways);
}

bool is_taken_on_divergence(const MachineInstruction& instruction) {
  return instruction.code == kBranch && bits(instruction.upper, 27, 1) != 0;
}

std::span<const MachineOpcode> machine_opcodes() {
  return kOpcodes;
}

const MachineOpcode* find_machine_opcode(std::uint16_t code) {
  static const std::vector<const MachineOpcode*> by_code = [] {
    std::vector<const MachineOpcode*> table(kCodeMask + 1, nullptr);
    for (const MachineOpcode& opcode : kOpcodes) table[opcode.code] = &opcode;
    return table;
  }();
  return code < by_code.size() ? by_code[code] : nullptr;
}

Result<std::map<std::string, MachineKernel>> read_machine_code(std::string_view cubin,
                                                               const std::string& file) {
  const elf::ElfReader reader(cubin);
  if (!reader.is_elf() || !reader.is_cuda()) return error_at(file, 0, 0, "this is not a cubin");
  const auto sections = reader.sections();
  if (!sections) return error_at(file, 0, 0, "the cubin is truncated");
  return Reader(*sections).read();
}

}  // namespace warptime::machine
