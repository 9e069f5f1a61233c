#include "analyzer/machine/register_reads.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace warptime::machine {
namespace {

constexpr std::uint64_t kZero = 255;  // the register that is zero
constexpr std::size_t kPlaces = 3;    // operands A, B and C

// Which operands an instruction has as registers where all of them are, and how many words each.
struct Operands {
  std::array<int, kPlaces> words{};
  int steps = 1;  // that read the first two
};

template <std::size_t n>
bool names_it(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Operands operands_of(const MachineInstruction& one) {
  constexpr std::array<std::string_view, 12> three = {"FFMA",    "IMAD",   "IDP",       "LEA",
                                                      "LOP3",    "IADD3",  "SHF",       "PRMT",
                                                      "VIMNMX3", "FMNMX3", "VIADDMNMX", "HFMA2"};
  constexpr std::array<std::string_view, 17> two = {"FADD",  "FMUL",  "SEL",    "FSEL",  "FMNMX",   "FSET",
                                                    "FSETP", "ISETP", "IMNMX",  "VIADD", "VIMNMX",  "HADD2",
                                                    "HMUL2", "HSET2", "HSETP2", "SHFL",  "VABSDIFF"};
  constexpr std::array<std::string_view, 12> second = {"MOV",  "MUFU", "F2F",  "F2I",  "I2F",  "FRND",
                                                       "POPC", "FLO",  "BREV", "I2FP", "IABS", "F2FP"};
  if (one.opcode == nullptr) return {};
  const std::string_view name = one.opcode->name;
  if (names_it(name, three) || name == "HFMA2.MMA") return {{1, 1, 1}};
  if (names_it(name, two)) return {{1, 1, 0}};
  if (names_it(name, second)) return {{0, 1, 0}};
  if (name == "IMAD.WIDE" || name == "IMAD.HI") return {{1, 1, 2}, 2};
  if (name == "DFMA") return {{2, 2, 2}};
  if (name == "DMUL" || name == "DSETP") return {{2, 2, 0}};
  if (name == "DADD") return {{2, 0, 2}};
  if (name == "LDG" || name == "LD") return {{2, 0, 0}};
  if (name == "LDS" || name == "LDL") return {{1, 0, 0}};
  if (name == "STG" || name == "ST" || name == "REDG" || name == "ATOMG") return {{2, 1, 0}};
  if (name == "STS" || name == "STL" || name == "ATOMS") return {{1, 1, 0}};
  return {};
}

// The register of each operand; kZero: none. The form, in bits 9 to 11, says which of them is a constant, an immediate or a
// uniform register, which then has the place of B: the third register, in the upper half, may be B as well as C.
std::array<std::uint64_t, kPlaces> registers_of(const MachineInstruction& one, const Operands& operands) {
  const std::uint64_t form = one.lower >> 9 & 7;
  const std::uint64_t a = one.lower >> 24 & 255, b = one.lower >> 32 & 255, c = one.upper & 255;
  const bool has_c = operands.words[2] > 0;
  const bool stores = one.opcode != nullptr && one.opcode->pipe == Pipe::lsu;
  std::array<std::uint64_t, kPlaces> found = {kZero, kZero, kZero};
  if (operands.words[0] > 0) found[0] = a;
  if (operands.words[1] > 0 && (form == 1 || stores)) found[1] = b;
  if (has_c) found[2] = c;
  return found;
}

}  // namespace

double register_reads(std::span<const MachineInstruction> block) {
  std::array<double, 2> words{};  // by bank
  std::array<std::uint64_t, kPlaces> kept = {kZero, kZero, kZero};
  for (const MachineInstruction& one : block) {
    const Operands operands = operands_of(one);
    const auto registers = registers_of(one, operands);
    std::array<std::uint64_t, kPlaces> read = {kZero, kZero, kZero};
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const std::uint64_t reg = registers[place];
      if (reg != kept[place] && std::find(read.begin(), read.end(), reg) == read.end()) {
        for (int w = 0; w < operands.words[place]; ++w)
          words[(reg + static_cast<std::uint64_t>(w)) % 2] += place < 2 ? operands.steps : 1;
        read[place] = reg;
      }
      kept[place] = (one.control.reuse >> place & 1) != 0 ? reg : kZero;
    }
  }
  return 2 * std::max(words[0], words[1]);
}

}  // namespace warptime::machine
