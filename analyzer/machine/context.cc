#include "analyzer/machine/context.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <span>
#include <string_view>

#include "analyzer/machine/operand_registers.h"
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
    const int bytes = std::max(4, ptx::access_bytes(instruction));
    return text + "." + std::string(space_name(instruction.opcode)) + ".b" + std::to_string(8 * bytes);
  }
  const bool compares = first == "setp" || first == "set";
  // Without `rn` ptxas may join a product and a sum.
  const bool may_join = first == "mul" || first == "add" || first == "sub";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "approx" && is_one_of(first, kApproximated)) {
      text += ".approx";
      continue;
    }
    if (may_join && words[i] == "rn") {
      text += ".rn";
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
  const ptx::FirstWord first = ptx::first_word(reader);
  if (first == "bra") return "branch";
  if (first == "add" || first == "sub") return "add";
  if (first == "and" || first == "or" || first == "xor" || first == "not" || first == "lop3") return "logic";
  if (first == "selp") return "select";
  if (first == "mov") return "mov";
  if (first == "shl" || first == "mul" || first == "mad") return "mul";
  if (first == "cvt") return "cvt";
  return "other";
}

// What a branch over few instructions skips, ptxas predicates.
constexpr std::uint32_t kFewInstructions = 8;
// Of a body that ptxas unrolls.
constexpr std::uint32_t kLongestUnrolled = 48, kLongestWithBarrier = 64;

}  // namespace

class Contexts::Uses {
 public:
  Uses(const analysis::KernelCode& code, const analysis::Cfg& cfg)
      : module_(code.module()),
        function_(code.function()),
        operands_(code.operands()),
        cfg_(cfg),
        first_reader_(function_.registers.size() + 1, 0),
        definitions_(function_.registers.size(), 0),
        definition_(function_.registers.size(), ptx::no_index),
        block_of_(function_.instructions.size(), analysis::none) {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      visit(
          i, [&](std::uint32_t reg, bool) { ++first_reader_[reg + 1]; },
          [&](std::uint32_t reg) {
            ++definitions_[reg];
            definition_[reg] = i;
          });
    }
    for (std::size_t reg = 1; reg < first_reader_.size(); ++reg) first_reader_[reg] += first_reader_[reg - 1];
    all_readers_.resize(first_reader_.back());
    std::vector<std::uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      visit(
          i,
          [&](std::uint32_t reg, bool in_address) {
            all_readers_[next[reg]++] = {i, in_address};
          },
          [](std::uint32_t) {});
    for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
      for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end && i < block_of_.size(); ++i)
        block_of_[i] = b;
  }

  Context context_of(std::uint32_t i, const std::vector<LoopKind>& loops) const {
    const Instruction& instruction = function_.instructions[i];
    std::string operation = operation_of(instruction);
    if (operation == "bra" && instruction.guard != ptx::no_index) operation += branch_kind(i);
    const std::uint32_t loop =
        block_of_[i] == analysis::none ? analysis::none : cfg_.blocks[block_of_[i]].loop;
    return {std::move(operation), use_of(i), operands_of(i),
            loop == analysis::none ? LoopKind::none : loops[loop]};
  }

  LoopKind kind_of(std::uint32_t loop) const {
    std::uint32_t size = 0, longest = kLongestUnrolled;
    for (const std::uint32_t b : cfg_.loops[loop].blocks) {
      if (cfg_.blocks[b].loop != loop) return LoopKind::outer;
      size += cfg_.blocks[b].end - cfg_.blocks[b].first;
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i)
        if (function_.instructions[i].opcode.starts_with("bar.sync")) longest = kLongestWithBarrier;
    }
    return size <= longest && !hinders(loop) && steps(loop) ? LoopKind::unrolled : LoopKind::rolled;
  }

  bool steps(std::uint32_t loop) const {
    return cfg_.loops[loop].exits.size() == 1 && cfg_.loops[loop].latches.size() == 1 &&
           !is_kept_rolled(module_, function_, cfg_, loop) && has_constant_step(loop);
  }
  bool hinders(std::uint32_t loop) const {
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i)
        if (hinders_unrolling(function_.instructions[i], cfg_.loops[loop].blocks.size())) return true;
    return false;
  }

 private:
  struct Reader {
    std::uint32_t instruction = 0;
    bool as_address = false;
  };

  template <typename Visit>
  void visit_registers(const Operand& operand, bool in_address, const Visit& visit) const {
    machine::visit_registers(operands_, definitions_.size(), operand, in_address, visit);
  }

  // Calls read(register, in_address) and write(register) for each register that the instruction names.
  template <typename Read, typename Write>
  void visit(std::uint32_t i, const Read& read, const Write& write) const {
    const Instruction& instruction = function_.instructions[i];
    const std::uint32_t written = destinations(instruction);
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o) {
      visit_registers(operands_[instruction.first_operand + o], false,
                      [&](std::uint32_t reg, bool in_address) {
                        if (o >= written || in_address)
                          read(reg, in_address);
                        else
                          write(reg);
                      });
    }
    if (instruction.guard != ptx::no_index)
      visit_registers(operands_[instruction.guard], false,
                      [&](std::uint32_t reg, bool) { read(reg, false); });
  }

  std::span<const Reader> readers_of(std::uint32_t reg) const {
    return std::span(all_readers_).subspan(first_reader_[reg], first_reader_[reg + 1] - first_reader_[reg]);
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
            readers += readers_of(reg).size();
            for (const Reader& reader : readers_of(reg))
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

  static bool hinders_unrolling(const Instruction& instruction, std::size_t blocks) {
    constexpr std::array<std::string_view, 9> words = {"div",  "rem", "call", "bar", "barrier",
                                                       "sqrt", "rcp", "atom", "red"};
    if (blocks <= 2 && instruction.opcode.starts_with("bar.sync")) return false;
    return is_one_of(ptx::first_word(instruction.opcode), words) &&
           instruction.opcode.find("approx") == std::string_view::npos;
  }

  // Whether the condition of the branch back compares with a register that a constant is added to.
  bool has_constant_step(std::uint32_t loop) const {
    const analysis::Block& latch = cfg_.blocks[last_block_of(cfg_, loop)];
    if (latch.end == latch.first || function_.instructions[latch.end - 1].guard == ptx::no_index)
      return false;
    const std::uint32_t guard = operands_[function_.instructions[latch.end - 1].guard].symbol;
    const std::uint32_t setp = guard < definition_.size() ? definition_[guard] : ptx::no_index;
    if (setp == ptx::no_index || block_of_[setp] == analysis::none ||
        cfg_.blocks[block_of_[setp]].loop != loop)
      return false;
    const Instruction& compare = function_.instructions[setp];
    for (std::uint32_t o = 1; o < compare.operand_count; ++o) {
      const Operand& operand = operands_[compare.first_operand + o];
      if (operand.kind == Kind::reg && operand.symbol < definitions_.size() &&
          (is_stepped(operand.symbol, loop) || is_stepped(widened(operand.symbol), loop)))
        return true;
    }
    return false;
  }

  // The register of 64 bits whose lower half a register is; itself: of none.
  std::uint32_t widened(std::uint32_t reg) const {
    if (definitions_[reg] != 1) return reg;
    const Instruction& made = function_.instructions[definition_[reg]];
    if (made.opcode != "cvt.u32.u64") return reg;
    const Operand& from = operands_[made.first_operand + 1];
    return from.kind == Kind::reg && from.symbol < definitions_.size() ? from.symbol : reg;
  }

  bool is_stepped(std::uint32_t reg, std::uint32_t loop) const {
    for (std::uint32_t b : cfg_.loops[loop].blocks) {
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        const Instruction& one = function_.instructions[i];
        const ptx::FirstWord first = ptx::first_word(one);
        if ((first != "add" && first != "sub") || one.operand_count != 3 ||
            operands_[one.first_operand].symbol != reg)
          continue;
        return operands_[one.first_operand + 1].kind == Kind::integer ||
               operands_[one.first_operand + 2].kind == Kind::integer;
      }
    }
    return false;
  }

  std::string branch_kind(std::uint32_t i) const {
    const std::uint32_t b = block_of_[i];
    if (b == analysis::none || cfg_.blocks[b].successors.empty()) return "";
    const analysis::Block& target = cfg_.blocks[cfg_.blocks[b].successors.front()];
    if (target.first <= i) return ".back";
    return target.first - i <= kFewInstructions ? ".short" : "";
  }

  // Whether the access could become part of a wider one.
  bool has_neighbour(std::uint32_t i) const {
    const Operand* own = address_of(function_.instructions[i]);
    if (own == nullptr || block_of_[i] == analysis::none) return false;
    const auto bytes = static_cast<std::uint64_t>(ptx::access_bytes(function_.instructions[i]));
    const analysis::Block& block = cfg_.blocks[block_of_[i]];
    for (std::uint32_t other = block.first; other < block.end; ++other) {
      if (other == i || function_.instructions[other].opcode != function_.instructions[i].opcode) continue;
      const Operand* place = address_of(function_.instructions[other]);
      if (place != nullptr && operands_[place->first_part].symbol == operands_[own->first_part].symbol &&
          (place->value + bytes == own->value || own->value + bytes == place->value))
        return true;
    }
    return false;
  }

  const Operand* address_of(const Instruction& instruction) const {
    const ptx::FirstWord first = ptx::first_word(instruction);
    if (first != "ld" && first != "st") return nullptr;
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o) {
      const Operand& operand = operands_[instruction.first_operand + o];
      if (operand.kind == Kind::address && operand.part_count == 1 &&
          operands_[operand.first_part].kind == Kind::reg)
        return &operand;
    }
    return nullptr;
  }

  std::string operands_of(std::uint32_t i) const {
    const Instruction& instruction = function_.instructions[i];
    if (ptx::first_word(instruction) == "mov" && instruction.operand_count == 2) {
      const Operand& source = operands_[instruction.first_operand + 1];
      if (source.kind == Kind::special) return std::string(source.text);
    }
    std::string letters;
    for (std::uint32_t o = destinations(instruction); o < instruction.operand_count; ++o)
      letters += letter_of(operands_[instruction.first_operand + o], i);
    if (has_neighbour(i)) letters += 'n';
    std::sort(letters.begin(), letters.end());
    return letters;
  }

  char letter_of(const Operand& operand, std::uint32_t reader) const {
    if (operand.kind == Kind::integer)
      return is_simpler_by_powers(reader) && std::has_single_bit(operand.value) && operand.value > 1 ? '2'
                                                                                                     : 'c';
    if (operand.kind == Kind::floating) return 'c';
    if (operand.kind == Kind::special) return 't';
    if (operand.kind == Kind::address && operand.part_count == 1) {
      const Operand& base = operands_[operand.first_part];
      if (base.kind != Kind::reg) return 'k';
      const char letter = letter_of(base, reader);
      return letter == 'p' || letter == 'q' || letter == 'i' ? letter : 'o';
    }
    if (operand.kind != Kind::reg || operand.symbol >= definitions_.size()) return 'o';
    if (definitions_[operand.symbol] != 1) return 'r';
    const std::uint32_t made = definition_[operand.symbol];
    const Instruction& from = function_.instructions[made];
    const ptx::FirstWord first = ptx::first_word(from);
    if (is_parameter(from, 0)) return is_first_use(made, reader) ? 'p' : 'q';
    if (first == "mov" && from.operand_count == 2 && operands_[from.first_operand + 1].kind == Kind::special)
      return 't';
    if (is_outside(made, reader)) return 'i';
    const bool product = from.opcode.starts_with("mul.lo") || from.opcode.starts_with("mul.wide");
    if (readers_of(operand.symbol).size() != 1) return product ? 'M' : 'r';
    if (product) return 'm';
    if (first == "shl") return 's';
    if (first == "add" || first == "sub") return 'a';
    if (first == "and" || first == "or" || first == "xor") return 'l';
    return 'r';
  }

  bool is_simpler_by_powers(std::uint32_t i) const {
    constexpr std::array<std::string_view, 4> words = {"mul", "mad", "div", "rem"};
    return is_one_of(ptx::first_word(function_.instructions[i].opcode), words);
  }

  // Also what only says that a parameter points to global memory.
  bool is_parameter(const Instruction& from, int steps) const {
    if (from.opcode.starts_with("ld.param")) return true;
    if (!from.opcode.starts_with("cvta") || from.operand_count != 2 || steps > 3) return false;
    const Operand& source = operands_[from.first_operand + 1];
    return source.kind == Kind::reg && source.symbol < definitions_.size() &&
           definitions_[source.symbol] == 1 &&
           is_parameter(function_.instructions[definition_[source.symbol]], steps + 1);
  }

  // Where a parameter is needed first, it is loaded.
  bool is_first_use(std::uint32_t definition, std::uint32_t reader) const {
    const Operand& written = operands_[function_.instructions[definition].first_operand];
    return written.symbol >= definitions_.size() || readers_of(written.symbol).empty() ||
           readers_of(written.symbol).front().instruction >= reader;
  }

  bool is_outside(std::uint32_t definition, std::uint32_t reader) const {
    const std::uint32_t from = block_of_[definition], at = block_of_[reader];
    if (at == analysis::none || from == analysis::none || cfg_.blocks[at].loop == analysis::none)
      return false;
    return !cfg_.contains(cfg_.blocks[at].loop, from);
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  const analysis::Cfg& cfg_;
  std::vector<std::uint32_t> first_reader_;  // by register: its first place in all_readers_
  std::vector<Reader> all_readers_;          // of each register those in the order of the instructions
  std::vector<std::uint32_t> definitions_;   // by register: how many
  std::vector<std::uint32_t> definition_;    // by register: the last
  std::vector<std::uint32_t> block_of_;      // by instruction
};

std::uint32_t last_block_of(const analysis::Cfg& cfg, std::uint32_t loop) {
  const std::uint32_t latch = cfg.loops[loop].latches.front();
  const analysis::Block& block = cfg.blocks[latch];
  const bool only_branches = block.end - block.first == 1 && block.successors.size() == 1 &&
                             block.predecessors.size() == 1 && latch != cfg.loops[loop].header;
  return only_branches ? block.predecessors.front() : latch;
}

bool is_kept_rolled(const ptx::Module& module, const ptx::Function& function, const analysis::Cfg& cfg,
                    std::uint32_t loop) {
  const std::uint32_t first = cfg.blocks[cfg.loops[loop].header].first;
  if (first == 0 || first >= function.instructions.size()) return false;
  const std::uint32_t from = function.instructions[first - 1].offset,
                      to = function.instructions[first].offset;
  return from < to && module.text.substr(from, to - from).find("nounroll") != std::string_view::npos;
}

Context entry_context(const analysis::Cfg& cfg) {
  const std::size_t blocks = cfg.blocks.size();
  return {"entry", "", blocks <= 2 ? "1" : blocks <= 4 ? "3" : blocks <= 8 ? "7" : "n", LoopKind::none};
}

Contexts::Contexts(const analysis::KernelCode& code, const analysis::Cfg& cfg)
    : uses_(std::make_unique<const Uses>(code, cfg)) {
  for (std::uint32_t loop = 0; loop < cfg.loops.size(); ++loop) loops_.push_back(uses_->kind_of(loop));
}

Contexts::~Contexts() = default;

bool Contexts::steps(std::uint32_t loop) const {
  return uses_->steps(loop);
}

bool Contexts::hinders_unrolling(std::uint32_t loop) const {
  return uses_->hinders(loop);
}

Context Contexts::of(std::uint32_t instruction) const {
  return uses_->context_of(instruction, loops_);
}

std::vector<LoopKind> loop_kinds(const analysis::KernelCode& code, const analysis::Cfg& cfg) {
  return Contexts(code, cfg).loops();
}

std::vector<Context> contexts_of(const analysis::KernelCode& code, const analysis::Cfg& cfg) {
  const Contexts all(code, cfg);
  std::vector<Context> contexts;
  contexts.reserve(code.function().instructions.size());
  for (std::uint32_t i = 0; i < code.function().instructions.size(); ++i) contexts.push_back(all.of(i));
  return contexts;
}

}  // namespace warptime::machine
