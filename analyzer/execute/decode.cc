#include "analyzer/execute/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>

#include "analyzer/cfg/cfg.h"
#include "analyzer/execute/layout.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

struct SpecialName {
  std::string_view name;
  Special special;
};
constexpr SpecialName special_names[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
    {"%aggr_smem_size", Special::total_smem_size},
    {"%clock", Special::clock},
    {"%clock64", Special::clock},
    {"%clock_hi", Special::zero},
    {"%globaltimer", Special::clock},
    {"%globaltimer_lo", Special::clock},
    {"%globaltimer_hi", Special::zero},
    // A launch without clusters is one of clusters of one block.
    {"%clusterid.x", Special::ctaid_x},
    {"%clusterid.y", Special::ctaid_y},
    {"%clusterid.z", Special::ctaid_z},
    {"%nclusterid.x", Special::nctaid_x},
    {"%nclusterid.y", Special::nctaid_y},
    {"%nclusterid.z", Special::nctaid_z},
    {"%cluster_ctaid.x", Special::zero},
    {"%cluster_ctaid.y", Special::zero},
    {"%cluster_ctaid.z", Special::zero},
    {"%cluster_nctaid.x", Special::one},
    {"%cluster_nctaid.y", Special::one},
    {"%cluster_nctaid.z", Special::one},
    {"%cluster_ctarank", Special::zero},
    {"%cluster_nctarank", Special::one},
};

// What moves the bytes of its operands.
constexpr std::string_view moving[] = {"mov", "cvt", "cvta", "shl", "shr", "shf",  "and",  "or",
                                       "xor", "not", "lop3", "bfe", "bfi", "prmt", "selp", "shfl"};

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') result += c;
  return result;
}

// "v4 .f32": the width, and the type behind it.
std::pair<int, std::string_view> vector_type(std::string_view type) {
  if (type.size() < 2 || type[0] != 'v' || type[1] < '0' || type[1] > '9') return {1, type};
  const auto dot = type.find('.');
  return {type[1] - '0', dot == std::string_view::npos ? type : type.substr(dot + 1)};
}

// Component of `%v.x`; 0 where there is none.
int component_of(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != text.size()) return 0;
  constexpr std::string_view first = "xyzw", second = "rgba";
  if (const auto i = first.find(text[dot + 1]); i != std::string_view::npos) return static_cast<int>(i);
  if (const auto i = second.find(text[dot + 1]); i != std::string_view::npos) return static_cast<int>(i);
  return 0;
}

}  // namespace

Decoder::Decoder(Program& program, const ptx::Function& function, FunctionCode& code, Diagnostics& errors)
    : program_(program), module_(*program.module), function_(function), code_(code), errors_(errors) {}

void Decoder::place_registers() {
  for (const auto& entry : function_.registers) {
    const auto [width, type] = vector_type(entry.type);
    Slot slot;
    slot.bits = bits_of(type_of(type));
    slot.width = width;
    slot.predicate = type == "pred";
    if (slot.predicate) {
      slot.index = code_.predicates++;
    } else {
      slot.index = code_.register_slots;
      code_.register_slots += static_cast<std::uint32_t>(width) * (slot.bits > 64 ? 2 : 1);
    }
    slots_.push_back(slot);
  }
  sink_ = code_.register_slots;
  code_.register_slots += 2;
  // Parameters that are registers are found by their names.
  const auto bind = [&](const std::vector<ptx::Variable>& variables, std::vector<CallSite::Passed>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_register) continue;
      list[i].source = Ref(Bank::registers, sink_);
      for (std::uint32_t r = 0; r < function_.registers.size(); ++r)
        if (ptx::register_name(module_, function_, r) == variables[i].name) {
          list[i].source = Ref(Bank::registers, slots_[r].index);
          list[i].predicate_index = slots_[r].predicate ? slots_[r].index : 0;
        }
    }
  };
  if (!function_.entry) {
    bind(function_.parameters, code_.parameters);
    bind(function_.results, code_.results);
  }
}

void Decoder::decode() {
  place_registers();
  code_.ops.resize(function_.instructions.size());
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) instruction_op(i);
  analysis::KernelCode as_it_stands(module_, function_);
  const auto cfg = analysis::build_cfg(as_it_stands, program_.file, analysis::Irreducible::keep);
  if (!cfg) {
    errors_.insert(errors_.end(), cfg.diagnostics().begin(), cfg.diagnostics().end());
    return;
  }
  for (const auto& block : cfg->blocks) {
    if (block.end == block.first) continue;
    auto& op = code_.ops[block.end - 1];
    const auto meet = block.post_dominator == analysis::none ? cfg->exit() : block.post_dominator;
    op.reconverge = cfg->blocks[meet].first;
  }
}

void Decoder::instruction_op(std::uint32_t index) {
  instruction_ = &function_.instructions[index];
  failed_ = false;
  reads_.clear();
  writes_.clear();
  auto& op = code_.ops[index];
  const Words words(instruction_->opcode);
  if (!guard(op)) return;
  if (instruction_->info == nullptr) {
    fail(fmt::format("unknown instruction `{}`", instruction_->opcode));
    return;
  }
  if (!control(words, op)) {
    const auto family = family_of(words[0]);
    if (family == nullptr) {
      fail(fmt::format("`{}` is not executed by warptime run", instruction_->opcode));
      return;
    }
    if (!family(*this, words, op) || failed_) return;
    op.moves = std::find(std::begin(moving), std::end(moving), words[0]) != std::end(moving);
    assert(op.run != nullptr);
  }
  op.reads_first = static_cast<std::uint32_t>(code_.touched.size());
  op.reads_count = static_cast<std::uint32_t>(reads_.size());
  code_.touched.insert(code_.touched.end(), reads_.begin(), reads_.end());
  op.writes_first = static_cast<std::uint32_t>(code_.touched.size());
  op.writes_count = static_cast<std::uint32_t>(writes_.size());
  code_.touched.insert(code_.touched.end(), writes_.begin(), writes_.end());
}

bool Decoder::guard(DecodedInstruction& op) {
  if (instruction_->guard == ptx::no_index) return true;
  const auto& operand = module_.operands[instruction_->guard];
  const auto p = predicate(operand);
  op.guard = p.index;
  op.guard_negated = p.negated;
  return !failed_;
}

bool Decoder::fail(std::string message) {
  if (!failed_)
    errors_.push_back(error_at(program_.file, static_cast<int>(instruction_->line), 0, std::move(message)));
  failed_ = true;
  return false;
}

bool Decoder::unsupported() {
  return fail(fmt::format("`{}`: this form is not executed by warptime run", instruction_->opcode));
}

Ref Decoder::missing(std::size_t i) {
  fail(fmt::format("`{}` lacks operand {}", instruction_->opcode, i + 1));
  return {};
}

Ref Decoder::constant(std::uint64_t bits) {
  const auto [place, fresh] = constants_.try_emplace(bits);
  if (fresh) {
    const auto slot = static_cast<std::uint32_t>(code_.constants.size() / lanes_of_warp);
    code_.constants.insert(code_.constants.end(), lanes_of_warp, bits);
    place->second = Ref(Bank::constants, slot);
  }
  return place->second;
}

Ref Decoder::special(const ptx::Operand& operand) {
  const auto name = without_blanks(operand.text);
  for (const std::string_view zero : {"%envreg", "%pm", "%reserved_smem_offset"})
    if (name.starts_with(zero)) return constant(0);
  for (const auto& known : special_names)
    if (known.name == name) {
      auto& used = program_.specials;
      const auto found = std::find(used.begin(), used.end(), known.special);
      const auto slot = static_cast<std::uint32_t>(found - used.begin());
      if (found == used.end()) used.push_back(known.special);
      return Ref(Bank::specials, slot);
    }
  fail(fmt::format("special register `{}` is not executed by warptime run", name));
  return {};
}

Ref Decoder::register_slot(const ptx::Operand& operand, bool written) {
  const auto& slot = slots_[operand.symbol];
  if (slot.predicate) {
    fail(fmt::format("predicate `{}` where a register belongs", operand.text));
    return {};
  }
  auto index = slot.index;
  if (slot.width > 1)
    index += static_cast<std::uint32_t>(component_of(operand.text)) * (slot.bits > 64 ? 2 : 1);
  (written ? writes_ : reads_).push_back(index);
  return Ref(Bank::registers, index);
}

int Decoder::register_bits(const ptx::Operand& operand) const {
  return operand.kind == Kind::reg ? slots_[operand.symbol].bits : 0;
}

bool Decoder::is_predicate(const ptx::Operand& operand) const {
  if (operand.kind == Kind::special) return without_blanks(operand.text) == "%is_explicit_cluster";
  return operand.kind == Kind::reg && slots_[operand.symbol].predicate;
}

std::uint64_t Decoder::constant_bits(const ptx::Operand& operand, Type type) {
  if (operand.kind == Kind::integer) {
    const auto value = static_cast<std::int64_t>(operand.value);
    if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    return operand.value;
  }
  // Exact bits where they are written: a double does not keep a signalling NaN of f32.
  const auto text = operand.text;
  if (text.size() == 10 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
    std::uint32_t bits = 0;
    const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + 10, bits, 16);
    if (failure == std::errc() && end == text.data() + 10) {
      if (type == Type::f64)
        return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits)));
      if (bits_of(type) != 64) return bits;
    }
  }
  const auto value = std::bit_cast<double>(operand.value);
  if (bits_of(type) == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return operand.value;
}

// The address that a symbol stands for; `known`: where it is the same in every frame.
std::uint64_t Decoder::symbol_value(const ptx::Operand& operand, bool& known) {
  known = true;
  switch (operand.referent) {
    case Referent::module_variable: {
      const auto space = module_.variables[operand.value].space;
      if (space == ptx::StateSpace::local || space == ptx::StateSpace::param ||
          space == ptx::StateSpace::texture)
        fail(fmt::format("`{}`: a variable of this kind is not executed by warptime run", operand.text));
      return program_.module_variables[operand.value].address;
    }
    case Referent::function:
      return function_address(program_,
                              ptx::function_run_by(module_, static_cast<std::uint32_t>(operand.value)));
    case Referent::parameter:
      if (function_.entry) return program_.parameters[operand.value].address;
      known = false;
      return call_parameters + code_.parameters[operand.value].offset;
    case Referent::result:
      known = false;
      return call_parameters + code_.results[operand.value].offset;
    case Referent::function_variable: {
      const auto& placed = code_.variables[operand.value];
      if (placed.space == Space::local || placed.space == Space::param) known = function_.entry;
      return placed.space == Space::param ? call_parameters + placed.address : placed.address;
    }
    default:
      fail(fmt::format("`{}` has no address", operand.text));
      return 0;
  }
}

Ref Decoder::source(const ptx::Operand& operand, Type type) {
  switch (operand.kind) {
    case Kind::reg:
      return register_slot(operand, false);
    case Kind::special:
      return special(operand);
    case Kind::integer:
    case Kind::floating:
      return constant(constant_bits(operand, type));
    case Kind::symbol:
    case Kind::sum: {
      const bool sum = operand.kind == Kind::sum;
      const auto& symbol = sum ? part(operand, 0) : operand;
      bool known = true;
      const auto value = symbol_value(symbol, known) + (sum ? operand.value : 0);
      if (sum && operand.part_count > 1)
        fail(fmt::format("`{}`: an element chosen by a register is not executed by warptime run",
                         operand.text));
      if (!known) fail(fmt::format("`{}` is an address that only mov can take", operand.text));
      return constant(value);
    }
    default:
      fail(fmt::format("`{}` is not an operand that `{}` can read", operand.text, instruction_->opcode));
      return {};
  }
}

Ref Decoder::destination(const ptx::Operand& operand) {
  if (operand.kind == Kind::sink) return Ref(Bank::registers, sink_);
  if (operand.kind == Kind::reg) return register_slot(operand, true);
  fail(fmt::format("`{}` is not a register that can be written", operand.text));
  return {};
}

PredicateRef Decoder::predicate(const ptx::Operand& operand) {
  if (operand.kind == Kind::integer) return {0, operand.value != 0};
  if (operand.kind == Kind::special && is_predicate(operand)) return {0, operand.negated};
  if (!is_predicate(operand)) {
    fail(fmt::format("`{}` is not a predicate", operand.text));
    return {};
  }
  reads_.push_back(slots_[operand.symbol].index | predicate_mark);
  return {slots_[operand.symbol].index, operand.negated};
}

PredicateRef Decoder::predicate(std::size_t i) {
  if (i < count()) return predicate(operand(i));
  missing(i);
  return {};
}

std::uint32_t Decoder::predicate_destination(const ptx::Operand& operand) {
  if (operand.kind == Kind::sink) return 0;
  if (!is_predicate(operand) || operand.kind == Kind::special) {
    fail(fmt::format("`{}` is not a predicate that can be written", operand.text));
    return 0;
  }
  writes_.push_back(slots_[operand.symbol].index | predicate_mark);
  return slots_[operand.symbol].index;
}

void Decoder::vector(DecodedInstruction& op, const ptx::Operand& operand, Type type, bool written) {
  std::vector<Ref> refs;
  const auto one = [&](const ptx::Operand& element) {
    refs.push_back(written ? destination(element) : source(element, type));
  };
  if (operand.kind == Kind::vector) {
    for (std::uint32_t i = 0; i < operand.part_count; ++i) one(part(operand, i));
  } else if (operand.kind == Kind::reg && slots_[operand.symbol].width > 1 &&
             operand.text.find('.') == std::string_view::npos) {
    for (int i = 0; i < slots_[operand.symbol].width; ++i) {
      const auto slot = slots_[operand.symbol].index + static_cast<std::uint32_t>(i);
      (written ? writes_ : reads_).push_back(slot);
      refs.push_back(Ref(Bank::registers, slot));
    }
  } else {
    one(operand);
  }
  op.extra = static_cast<std::uint32_t>(code_.refs.size());
  op.count = static_cast<std::uint8_t>(std::min<std::size_t>(refs.size(), 255));
  code_.refs.insert(code_.refs.end(), refs.begin(), refs.end());
}

void Decoder::address(DecodedInstruction& op, const ptx::Operand& operand) {
  if (operand.kind != Kind::address || operand.part_count == 0) {
    fail(fmt::format("`{}` is not an address", operand.text));
    return;
  }
  if (operand.part_count > 1) {
    fail(fmt::format("`{}`: an address of several parts is not executed by warptime run", operand.text));
    return;
  }
  const auto& base = part(operand, 0);
  op.immediate = operand.value;
  if (base.kind != Kind::symbol) {
    op.a = source(base, Type::u64);
    return;
  }
  bool known = true;
  op.a = constant(0);
  op.immediate += symbol_value(base, known);
  if (known) return;
  const bool local =
      base.referent == Referent::function_variable && code_.variables[base.value].space == Space::local;
  op.base = local ? Base::frame_local : Base::frame_param;
}

bool Decoder::frame_address(DecodedInstruction& op, const ptx::Operand& operand) {
  const bool sum = operand.kind == Kind::sum;
  const auto& symbol = sum ? part(operand, 0) : operand;
  if (symbol.kind != Kind::symbol) return false;
  bool known = true;
  const auto value = symbol_value(symbol, known);
  if (known) return false;
  op.a = constant(0);
  op.immediate = value + (sum ? operand.value : 0);
  const bool local =
      symbol.referent == Referent::function_variable && code_.variables[symbol.value].space == Space::local;
  op.base = local ? Base::frame_local : Base::frame_param;
  return true;
}

}  // namespace warptime::execute
