// The values of a kernel that need registers of the machine, and where they are alive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/cfg/kernel_code.h"
#include "analyzer/machine/operand_registers.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {

// How many registers of 32 bits a value of a PTX type takes.
inline int registers_of_type(std::string_view type) {
  if (type == "pred") return 0;
  return std::max(1, (ptx::type_bytes(type) + 3) / 4);
}

// Which registers of the PTX become registers of the machine, and what each instruction does to them.
class LiveValues {
 public:
  // parameters: those that instructions cannot read in place need registers, too. indices: what is made of an index with
  // mul.wide is computed again, with the sum that is an address (IMAD.WIDE), so that the index is kept alone.
  LiveValues(const analysis::KernelCode& code, const analysis::Cfg& cfg, bool parameters = false,
             bool indices = false)
      : function_(code.function()), operands_(code.operands()), indices_(indices) {
    const std::size_t count = function_.registers.size();
    alias_.resize(count);
    std::iota(alias_.begin(), alias_.end(), 0u);
    definitions_.assign(count, 0);
    definition_.assign(count, ptx::no_index);
    value_reads_.assign(count, 0);
    where_.assign(count, Where::of_thread);
    for (const ptx::Register& one : function_.registers) width_.push_back(registers_of_type(one.type));
    count_definitions(cfg);
    // In dominance order definitions come before their uses; the second round is for what is in another order.
    for (int round = 0; round < 2; ++round)
      for (const analysis::Block& block : cfg.blocks)
        for (std::uint32_t i = block.first; i < block.end; ++i) fold(i);
    if (parameters) keep_parameters(cfg);
    collect_effects();
  }

  int width(std::uint32_t value) const { return width_[value]; }
  std::size_t count() const { return width_.size(); }
  // Nothing is executed for it.
  bool vanishes(std::uint32_t i) const { return effects_[i].vanishes; }

  bool is_constant_register(std::uint32_t reg) const {
    return reg < width_.size() && where_[value_of(reg)] == Where::nowhere;
  }
  // The instructions that load parameters into registers of the thread, where they are needed.
  const std::vector<std::uint32_t>& parameter_loads() const { return parameter_loads_; }

  template <typename Visit>
  void for_each_use(std::uint32_t i, const Visit& visit) const {
    for (std::uint32_t e = effects_[i].first; e < effects_[i].written; ++e) visit(touched_[e]);
  }
  template <typename Visit>
  void for_each_definition(std::uint32_t i, const Visit& visit) const {
    for (std::uint32_t e = effects_[i].written; e < effects_[i].end; ++e) visit(touched_[e]);
  }

 private:
  // Where a value is kept: in a register of each thread, in one of the warp's uniform registers, or nowhere: parameters and
  // constants are operands of the instructions that read them.
  enum class Where : std::uint8_t { of_thread, of_warp, nowhere };
  struct Effects {  // places in touched_: what is read, then what is written
    std::uint32_t first = 0, written = 0, end = 0;
    bool vanishes = false;
  };

  template <typename Visit>
  void visit_registers(const ptx::Operand& operand, bool in_address, const Visit& visit) const {
    machine::visit_registers(operands_, width_.size(), operand, in_address, visit);
  }
  template <typename Visit>
  void visit_written(const ptx::Instruction& one, const Visit& visit) const {
    for (std::uint32_t o = 0; o < destinations(one); ++o)
      visit_registers(operands_[one.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
        if (!in_address) visit(reg);
      });
  }
  template <typename Visit>
  void visit_read(const ptx::Instruction& one, const Visit& visit) const {
    const std::uint32_t written = destinations(one);
    const bool accumulates = one.info != nullptr && one.info->is(ptx::accumulates);
    for (std::uint32_t o = 0; o < one.operand_count; ++o)
      visit_registers(operands_[one.first_operand + o], false, [&](std::uint32_t reg, bool in_address) {
        if (o >= written || in_address || accumulates) visit(reg, in_address);
      });
    if (one.guard != ptx::no_index)
      visit_registers(operands_[one.guard], false, [&](std::uint32_t reg, bool) { visit(reg, false); });
  }

  void count_definitions(const analysis::Cfg& cfg) {
    for (const analysis::Block& block : cfg.blocks) {
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        const ptx::Instruction& one = function_.instructions[i];
        visit_written(one, [&](std::uint32_t reg) {
          ++definitions_[reg];
          definition_[reg] = one.guard == ptx::no_index ? i : ptx::no_index;
        });
        visit_read(one, [&](std::uint32_t reg, bool in_address) { value_reads_[reg] += in_address ? 0 : 1; });
      }
    }
  }

  bool has_one_definition(std::uint32_t reg) const {
    return reg != ptx::no_index && definitions_[reg] == 1 && definition_[reg] != ptx::no_index;
  }
  // The register that operand `o` is, if it is one.
  std::uint32_t register_at(const ptx::Instruction& one, std::uint32_t o) const {
    if (o >= one.operand_count) return ptx::no_index;
    const ptx::Operand& operand = operands_[one.first_operand + o];
    return operand.kind == ptx::Operand::Kind::reg && operand.symbol < width_.size() ? operand.symbol
                                                                                     : ptx::no_index;
  }
  bool is_constant(const ptx::Instruction& one, std::uint32_t o) const {
    if (o >= one.operand_count) return false;
    const ptx::Operand::Kind kind = operands_[one.first_operand + o].kind;
    return kind == ptx::Operand::Kind::integer || kind == ptx::Operand::Kind::floating ||
           kind == ptx::Operand::Kind::symbol || kind == ptx::Operand::Kind::sum;
  }
  std::uint32_t value_of(std::uint32_t reg) const {
    while (alias_[reg] != reg) reg = alias_[reg];
    return reg;
  }

  // `to` is kept where `from` is, and needs nothing of its own.
  bool share(std::uint32_t to, std::uint32_t from) {
    if (!has_one_definition(from)) return false;
    if (where_[value_of(from)] != Where::of_thread)
      where_[to] = where_[value_of(from)];
    else
      alias_[to] = from;
    return true;
  }

  // Parameters that instructions cannot read in place: the base of an address that the thread computes, and a number that
  // is read twice, or beside another constant.
  void keep_parameters(const analysis::Cfg& cfg) {
    std::vector<std::uint32_t> root(width_.size(), ptx::no_index);
    std::vector<std::uint32_t> reads(width_.size(), 0);
    std::vector<bool> kept(width_.size(), false);
    for (int round = 0; round < 2; ++round)
      for (const analysis::Block& block : cfg.blocks)
        for (std::uint32_t i = block.first; i < block.end; ++i) {
          const ptx::Instruction& one = function_.instructions[i];
          if (one.operand_count == 0 || one.guard != ptx::no_index) continue;
          const std::uint32_t to = register_at(one, 0);
          if (!has_one_definition(to)) continue;
          if (one.opcode.starts_with("ld.param")) {
            root[to] = to;
            continue;
          }
          const ptx::FirstWord first = ptx::first_word(one);
          const bool copies =
              (first == "mov" && one.operand_count == 2) || first == "cvta" ||
              ((first == "add" || first == "sub") && one.opcode.ends_with("64") && is_constant(one, 2));
          const std::uint32_t from = register_at(one, 1);
          if (copies && from != ptx::no_index && root[from] != ptx::no_index && where_[to] == Where::nowhere)
            root[to] = root[from];
        }
    const auto root_at = [&](const ptx::Instruction& one, std::uint32_t o) {
      const std::uint32_t reg = register_at(one, o);
      return reg == ptx::no_index ? ptx::no_index : root[reg];
    };
    for (const analysis::Block& block : cfg.blocks)
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        const ptx::Instruction& one = function_.instructions[i];
        visit_read(one, [&](std::uint32_t reg, bool in_address) {
          if (in_address && root[reg] != ptx::no_index && width_[root[reg]] == 2) kept[root[reg]] = true;
        });
        if (one.operand_count < 3 || one.info == nullptr || one.info->category != ptx::Category::arithmetic)
          continue;
        const std::uint32_t to = register_at(one, 0);
        if (to == ptx::no_index || where_[value_of(to)] != Where::of_thread) continue;
        const ptx::FirstWord first = ptx::first_word(one);
        const bool adds = (first == "add" || first == "mad") && one.opcode.ends_with("64") &&
                          one.opcode.find(".f") == std::string_view::npos;
        const bool floats = one.opcode.find(".f") != std::string_view::npos && first != "cvt";
        int constants = 0;
        for (std::uint32_t o = 1; o < one.operand_count; ++o)
          if (is_constant(one, o) || root_at(one, o) != ptx::no_index ||
              (register_at(one, o) != ptx::no_index &&
               where_[value_of(register_at(one, o))] == Where::nowhere))
            ++constants;
        for (std::uint32_t o = 1; o < one.operand_count; ++o) {
          const std::uint32_t from = root_at(one, o);
          if (from == ptx::no_index) continue;
          if (adds) kept[from] = true;
          if (floats && (++reads[from] >= 2 || constants >= 2)) kept[from] = true;
        }
      }
    for (std::uint32_t reg = 0; reg < width_.size(); ++reg) {
      if (root[reg] == ptx::no_index || !kept[root[reg]]) continue;
      where_[reg] = Where::of_thread;
      if (reg != root[reg])
        alias_[reg] = root[reg];
      else
        parameter_loads_.push_back(definition_[reg]);
    }
  }

  void fold(std::uint32_t i) {
    const ptx::Instruction& one = function_.instructions[i];
    if (one.operand_count == 0 || one.guard != ptx::no_index) return;
    if (one.opcode.starts_with("ld.param")) {
      visit_written(one, [&](std::uint32_t reg) {
        if (has_one_definition(reg)) where_[reg] = Where::nowhere;
      });
      return;
    }
    if (one.opcode.starts_with("ld.const") && has_constant_address(one)) {
      visit_written(one, [&](std::uint32_t reg) {
        if (has_one_definition(reg)) where_[reg] = Where::nowhere;
      });
      return;
    }
    const std::uint32_t to = register_at(one, 0);
    if (!has_one_definition(to) || alias_[to] != to) return;
    if (!fold_move(one, to) && !fold_sum(one, to) && !fold_low_half(one, to) && !fold_index(one, to))
      fold_uniform(one, to);
  }

  // Whether nothing in the address of a load is computed.
  bool has_constant_address(const ptx::Instruction& one) const {
    bool constant = true;
    visit_read(one, [&](std::uint32_t reg, bool) {
      constant = constant && where_[value_of(reg)] == Where::nowhere;
    });
    return constant;
  }

  bool fold_move(const ptx::Instruction& one, std::uint32_t to) {
    const ptx::FirstWord first = ptx::first_word(one);
    const bool moves = first == "mov" && one.operand_count == 2;
    if (moves && is_constant(one, 1)) {
      where_[to] = Where::nowhere;
      return true;
    }
    if (moves && operands_[one.first_operand + 1].kind == ptx::Operand::Kind::special) {
      const std::string_view name = operands_[one.first_operand + 1].text;
      if (name.find("ctaid") != std::string_view::npos || name.find("ntid") != std::string_view::npos)
        where_[to] = Where::of_warp;
      return true;
    }
    const bool copies = moves || first == "cvta" ||
                        (first == "cvt" && (one.opcode == "cvt.u64.u32" || one.opcode == "cvt.u32.u16" ||
                                            one.opcode == "cvt.s32.u16" || one.opcode == "cvt.u16.u32"));
    return copies && share(to, register_at(one, 1));
  }

  // A sum with a constant: of an address, it is part of the access; else it can be added again where it is read.
  bool fold_sum(const ptx::Instruction& one, std::uint32_t to) {
    const ptx::FirstWord first = ptx::first_word(one);
    if ((first != "add" && first != "sub") || !is_constant(one, 2)) return false;
    if (one.opcode.find(".f") != std::string_view::npos) return false;
    if (one.opcode.ends_with("64") && value_reads_[to] != 0) return false;
    const std::uint32_t from = register_at(one, 1);
    if (from == ptx::no_index || (where_[value_of(from)] != Where::of_thread && !one.opcode.ends_with("64")))
      return false;
    return share(to, from);
  }

  // The low half of what was extended is what was extended.
  bool fold_low_half(const ptx::Instruction& one, std::uint32_t to) {
    if (ptx::first_word(one) != "cvt") return false;
    const std::uint32_t from = one.opcode == "cvt.u32.u64" ? register_at(one, 1) : ptx::no_index;
    if (!has_one_definition(from)) return false;
    const ptx::Instruction& extension = function_.instructions[definition_[from]];
    return extension.opcode == "cvt.s64.s32" && share(to, register_at(extension, 1));
  }

  bool fold_index(const ptx::Instruction& one, std::uint32_t to) {
    return indices_ && one.opcode.starts_with("mul.wide.") && one.opcode.ends_with("32") &&
           is_constant(one, 2) && share(to, register_at(one, 1));
  }

  // Integer arithmetic on what is the same in all threads of a warp is done once for the warp.
  void fold_uniform(const ptx::Instruction& one, std::uint32_t to) {
    if (one.info == nullptr || one.info->category != ptx::Category::arithmetic || one.info->is(ptx::slow))
      return;
    if (one.opcode.find(".f") != std::string_view::npos || one.opcode.find(".bf") != std::string_view::npos)
      return;
    bool uniform = true;
    visit_read(one, [&](std::uint32_t reg, bool) {
      uniform = uniform && where_[value_of(reg)] != Where::of_thread;
    });
    if (uniform) where_[to] = Where::of_warp;
  }

  void collect_effects() {
    effects_.resize(function_.instructions.size());
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      const ptx::Instruction& one = function_.instructions[i];
      Effects& effects = effects_[i];
      bool writes = false, computes = false;
      effects.first = static_cast<std::uint32_t>(touched_.size());
      visit_read(one, [&](std::uint32_t reg, bool) { touch(reg, effects.first); });
      effects.written = static_cast<std::uint32_t>(touched_.size());
      visit_written(one, [&](std::uint32_t reg) {
        writes = true;
        if (alias_[reg] != reg) return;
        computes = computes || where_[reg] == Where::of_thread;
        touch(reg, effects.written);
      });
      effects.end = static_cast<std::uint32_t>(touched_.size());
      effects.vanishes = writes && !computes;
      if (!effects.vanishes) continue;
      touched_.resize(effects.first);
      effects.written = effects.end = effects.first;
    }
  }

  void touch(std::uint32_t reg, std::uint32_t since) {
    const std::uint32_t value = value_of(reg);
    if (where_[value] != Where::of_thread || width_[value] == 0) return;
    if (std::find(touched_.begin() + since, touched_.end(), value) == touched_.end())
      touched_.push_back(value);
  }

  const ptx::Function& function_;
  const std::vector<ptx::Operand>& operands_;
  const bool indices_;
  // By register of the PTX:
  std::vector<std::uint32_t> alias_;                     // that it shares; itself: none
  std::vector<std::uint32_t> definitions_, definition_;  // how many; the last that has no guard
  std::vector<std::uint32_t> value_reads_;               // that are not part of an address
  std::vector<Where> where_;
  std::vector<int> width_;  // registers of the machine
  std::vector<Effects> effects_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> parameter_loads_;
};

// A set of values.
class ValueSet {
 public:
  explicit ValueSet(std::size_t count) : words_((count + 63) / 64) {}
  bool has(std::uint32_t at) const { return (words_[at / 64] >> (at % 64) & 1) != 0; }
  void add(std::uint32_t at) { words_[at / 64] |= bit(at); }
  void remove(std::uint32_t at) { words_[at / 64] &= ~bit(at); }
  // Adds what `other` has; what was new is also added to `also` unless `except` has it. Whether anything was.
  bool add_all(const ValueSet& other, ValueSet& also, const ValueSet& except) {
    bool any = false;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const std::uint64_t more = other.words_[w] & ~words_[w];
      any = any || more != 0;
      words_[w] |= more;
      also.words_[w] |= more & ~except.words_[w];
    }
    return any;
  }
  int registers(const LiveValues& values) const {
    int sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint32_t b = 0; b < 64 && words_[w] >> b != 0; ++b)
        if ((words_[w] >> b & 1) != 0) sum += values.width(static_cast<std::uint32_t>(w * 64 + b));
    return sum;
  }

 private:
  static std::uint64_t bit(std::uint32_t at) { return std::uint64_t{1} << (at % 64); }
  std::vector<std::uint64_t> words_;
};

// Whether what is alive can be found in less than seconds.
inline bool is_small(const ptx::Function& function, const analysis::Cfg& cfg) {
  constexpr std::size_t most_instructions = 50'000,
                        most_bits = 1'000'000'000;  // bits: registers times basic blocks
  return function.instructions.size() <= most_instructions &&
         function.registers.size() * cfg.blocks.size() <= most_bits;
}

// What is alive where a basic block begins and where it ends.
struct LiveSets {
  std::vector<ValueSet> in, out;
};

inline LiveSets live_sets(const analysis::Cfg& cfg, const LiveValues& values) {
  const std::size_t count = cfg.blocks.size();
  const std::vector<ValueSet> empty(count, ValueSet(values.count()));
  LiveSets live{empty, empty};
  std::vector<ValueSet> written = empty;
  for (std::size_t b = 0; b < count; ++b) {
    for (std::uint32_t i = cfg.blocks[b].end; i-- > cfg.blocks[b].first;) {
      values.for_each_definition(i, [&](std::uint32_t value) {
        written[b].add(value);
        live.in[b].remove(value);
      });
      values.for_each_use(i, [&](std::uint32_t value) { live.in[b].add(value); });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = count; b-- > 0;)
      for (const std::uint32_t next : cfg.blocks[b].successors)
        if (live.out[b].add_all(live.in[next], live.in[b], written[b])) changed = true;
  }
  return live;
}

}  // namespace warptime::machine
