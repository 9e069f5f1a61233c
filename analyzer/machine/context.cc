#include "analyzer/machine/context.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

using ptx::Category;
using ptx::Instruction;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

// Words of an opcode that say how, not what: rounding, caching, ordering, scope.
constexpr std::array<std::string_view, 36> kManners = {
    "rn",       "rz",      "rm",      "rp",      "rni",     "rzi",     "rmi",    "rpi",     "ftz",
    "sat",      "uni",     "to",      "nc",      "ca",      "cg",      "cs",     "lu",      "cv",
    "wb",       "wt",      "cta",     "gpu",     "sys",     "cluster", "sync",   "aligned", "weak",
    "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio",    "approx", "full",    "unified"};
// Comparisons of setp and set.
constexpr std::array<std::string_view, 20> kComparisons = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",
                                                           "ls",  "hi",  "hs",  "equ", "neu", "ltu", "leu",
                                                           "gtu", "geu", "num", "nan", "T",   "F"};
// Operations for which the sign of an integer changes what is executed.
constexpr std::array<std::string_view, 4> kSigned = {"div", "rem", "shr", "cvt"};
// `approx` tells one function from another there.
constexpr std::array<std::string_view, 6> kApproximated = {"div", "rcp", "sqrt", "rsqrt", "sin", "cos"};

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string_view> words_of(std::string_view opcode) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t dot = opcode.find('.');
    words.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    opcode.remove_prefix(dot + 1);
  }
}

// i32 of u32, s32 and b32.
std::string without_sign(std::string_view type) {
  const bool is_integer = type.size() >= 2 && type.size() <= 4 &&
                          (type[0] == 'u' || type[0] == 's' || type[0] == 'b') &&
                          type.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_integer ? "i" + std::string(type.substr(1)) : std::string(type);
}

std::string_view space_name(std::string_view opcode) {
  for (const std::string_view space : {"global", "shared", "local", "param", "const"})
    if (ptx::has_part(opcode, space) || opcode.find(std::string(space) + "::") != std::string_view::npos)
      return space;
  return "generic";
}

std::string operation_of(const Instruction& instruction) {
  const auto words = words_of(instruction.opcode);
  const std::string_view first = words.front();
  std::string text(first);
  if (first == "ld" || first == "st" || first == "ldu") {
    const int bytes = std::max(4, ptx::access_bytes(instruction.opcode));
    return text + "." + std::string(space_name(instruction.opcode)) + ".b" + std::to_string(8 * bytes);
  }
  const bool compares = first == "setp" || first == "set";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "approx" && is_one_of(first, kApproximated)) {
      text += ".approx";
      continue;
    }
    if (is_one_of(words[i], kManners) || words[i].find("::") != std::string_view::npos) continue;
    if (compares && is_one_of(words[i], kComparisons)) continue;
    text += "." + (is_one_of(first, kSigned) ? std::string(words[i]) : without_sign(words[i]));
  }
  return text;
}

// The kind of a reader, as Context::use has it.
std::string_view reader_kind(const Instruction& reader) {
  const std::string_view first = ptx::first_word(reader.opcode);
  if (first == "bra") return "branch";
  if (first == "add" || first == "sub") return "add";
  if (first == "and" || first == "or" || first == "xor" || first == "not" || first == "lop3") return "logic";
  if (first == "selp") return "select";
  if (first == "mov") return "mov";
  if (first == "shl" || first == "mul" || first == "mad") return "mul";
  if (first == "cvt") return "cvt";
  return "other";
}

class Uses {
 public:
  explicit Uses(const analysis::KernelCode& code)
      : function_(code.function()),
        operands_(code.operands()),
        readers_(function_.registers.size()),
        definitions_(function_.registers.size(), 0),
        definition_(function_.registers.size(), ptx::no_index) {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) add(i);
  }

  Context context_of(std::uint32_t i) const {
    const Instruction& instruction = function_.instructions[i];
    return {operation_of(instruction), use_of(i), operands_of(instruction), false};
  }

 private:
  struct Reader {
    std::uint32_t instruction = 0;
    bool as_address = false;
  };

  static std::uint32_t destinations(const Instruction& instruction) {
    const std::uint32_t count = instruction.info != nullptr ? instruction.info->destinations : 1;
    return std::min(count, instruction.operand_count);
  }

  template <typename Visit>
  void visit_registers(const Operand& operand, bool in_address, const Visit& visit) const {
    if (operand.kind == Kind::reg && operand.symbol < readers_.size()) visit(operand.symbol, in_address);
    const bool address = in_address || operand.kind == Kind::address;
    for (std::uint32_t p = 0; p < operand.part_count; ++p)
      visit_registers(operands_[operand.first_part + p], address, visit);
  }

  void add(std::uint32_t i) {
    const Instruction& instruction = function_.instructions[i];
    const std::uint32_t written = destinations(instruction);
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o) {
      visit_registers(operands_[instruction.first_operand + o], false,
                      [&](std::uint32_t reg, bool in_address) {
                        if (o >= written || in_address) {
                          readers_[reg].push_back({i, in_address});
                        } else {
                          ++definitions_[reg];
                          definition_[reg] = i;
                        }
                      });
    }
    if (instruction.guard != ptx::no_index)
      visit_registers(operands_[instruction.guard], false, [&](std::uint32_t reg, bool) {
        readers_[reg].push_back({i, false});
      });
  }

  std::string use_of(std::uint32_t i) const {
    const Instruction& instruction = function_.instructions[i];
    std::set<std::string_view> kinds;
    std::size_t readers = 0;
    bool any = false, several = false;
    for (std::uint32_t o = 0; o < destinations(instruction); ++o) {
      visit_registers(
          operands_[instruction.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
            if (in_address) return;
            any = true;
            several = several || definitions_[reg] > 1;
            readers += readers_[reg].size();
            for (const Reader& reader : readers_[reg])
              kinds.insert(reader.as_address ? "address"
                                             : reader_kind(function_.instructions[reader.instruction]));
          });
    }
    if (!any) return "";
    std::string text = kinds.empty()      ? "unused"
                       : kinds.size() > 1 ? "mixed"
                                          : std::string(*kinds.begin()) + (readers == 1 ? "1" : "n");
    return several ? text + "+phi" : text;
  }

  std::string operands_of(const Instruction& instruction) const {
    if (ptx::first_word(instruction.opcode) == "mov" && instruction.operand_count == 2) {
      const Operand& source = operands_[instruction.first_operand + 1];
      if (source.kind == Kind::special) return std::string(source.text);
    }
    std::string letters;
    for (std::uint32_t o = destinations(instruction); o < instruction.operand_count; ++o)
      letters += letter_of(operands_[instruction.first_operand + o]);
    std::sort(letters.begin(), letters.end());
    return letters;
  }

  char letter_of(const Operand& operand) const {
    if (operand.kind == Kind::integer || operand.kind == Kind::floating) return 'c';
    if (operand.kind == Kind::special) return 't';
    if (operand.kind != Kind::reg || operand.symbol >= readers_.size()) return 'o';
    if (definitions_[operand.symbol] != 1) return 'r';
    const Instruction& from = function_.instructions[definition_[operand.symbol]];
    if (from.opcode.starts_with("ld.param")) return 'p';
    const std::string_view first = ptx::first_word(from.opcode);
    if (first == "mov" && from.operand_count == 2 && operands_[from.first_operand + 1].kind == Kind::special)
      return 't';
    if (readers_[operand.symbol].size() != 1) return 'r';
    if (from.opcode.starts_with("mul.lo") || from.opcode.starts_with("mul.wide")) return 'm';
    if (first == "shl") return 's';
    if (first == "add" || first == "sub") return 'a';
    if (first == "and" || first == "or" || first == "xor") return 'l';
    return 'r';
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  std::vector<std::vector<Reader>> readers_;  // by register
  std::vector<std::uint32_t> definitions_;    // by register: how many
  std::vector<std::uint32_t> definition_;     // by register: the last
};

}  // namespace

std::vector<Context> contexts_of(const analysis::KernelCode& code, const analysis::Cfg& cfg) {
  const Uses uses(code);
  std::vector<Context> contexts;
  contexts.reserve(code.function().instructions.size());
  for (std::uint32_t i = 0; i < code.function().instructions.size(); ++i)
    contexts.push_back(uses.context_of(i));
  for (const analysis::Block& block : cfg.blocks)
    for (std::uint32_t i = block.first; i < block.end && i < contexts.size(); ++i)
      contexts[i].in_loop = block.loop != analysis::none;
  return contexts;
}

}  // namespace warptime::machine
