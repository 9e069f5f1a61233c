// What each opcode computes, as SymbolicExprs: a function for each, looked up by the opcode's line of
// opcodes.def.
#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>

#include "analyzer/cfg/stack_slots.h"
#include "analyzer/ptx/opcodes.h"
#include "analyzer/symbolic/evaluate.h"
#include "analyzer/symbolic/float_constants.h"
#include "analyzer/symbolic/ptx_types.h"

namespace warptime::analysis {
namespace {

// An instruction whose result is wanted. Operand 0 is the destination.
struct Computed {
  Evaluator& evaluator;
  SymbolicExprs& v;
  BitFields& bits;
  std::uint32_t instruction;
  std::string_view opcode;
  std::string_view type;  // the last part of the opcode
  int width;              // of the type, in bits; 0 of a predicate

  ExprId in(std::uint32_t index) const { return evaluator.operand(instruction, index); }
  ExprId no_closed_form() const { return evaluator.opaque_result(instruction); }
  bool has(std::string_view part) const { return ptx::has_part(opcode, part); }
  bool is_signed() const { return type[0] == 's'; }
  bool is_predicate() const { return type == "pred"; }
  int register_bits() const { return width == 0 ? 64 : width; }
  // The number of an operand that is constant.
  std::optional<std::int64_t> number(std::uint32_t index) const {
    const auto value = in(index);
    return v.is_constant(value) ? std::optional(v[value].number) : std::nullopt;
  }
  // The same, of which hardware reads the lowest eight bits.
  std::optional<std::int64_t> byte(std::uint32_t index) const {
    const auto n = number(index);
    return n ? std::optional(*n & 0xff) : std::nullopt;
  }
};

// ---- moves

// mov.b64 d, {a, b}: b · 2^32 + a, where a is known to be a number without a sign.
ExprId packed(const Computed& c, const ptx::Operand& from) {
  if (from.part_count == 0 || c.width == 0 || c.width > 64) return c.no_closed_form();
  const auto part_width = c.width / static_cast<int>(from.part_count);
  auto whole = c.v.constant(0);
  for (std::uint32_t p = 0; p < from.part_count; ++p) {
    const auto part = c.evaluator.vector_part(c.instruction, from, p);
    const auto shift = part_width * static_cast<int>(p);
    if (c.bits.possible_bits(part) >> part_width != 0 || shift > 61) return c.no_closed_form();
    whole = c.v.add(whole, c.v.scale(part, std::int64_t{1} << shift));
  }
  return whole;
}

ExprId move(const Computed& c) {
  auto& v = c.v;
  const auto& ins = c.evaluator.function().instructions[c.instruction];
  const auto& from = c.evaluator.operands()[ins.first_operand + 1];
  if (from.kind == ptx::Operand::Kind::vector) return packed(c, from);
  auto value = c.in(1);
  // A 32-bit constant with its top bit set is a negative number to most of what reads it.
  if (c.is_predicate() && v.is_constant(value)) value = v.constant(v[value].number != 0);
  if (c.width == 32 && v.is_constant(value)) value = v.constant(static_cast<std::int32_t>(v[value].number));
  return value;
}

ExprId convert_address(const Computed& c) {
  const auto value = c.in(1);
  // The address becomes generic: remember from which space.
  if (!c.has("to")) c.evaluator.note_space(value, ptx::space_of(c.opcode));
  return value;
}

ExprId select_by_predicate(const Computed& c) {
  const auto a = c.in(1), b = c.in(2);
  return c.v.select(c.in(3), a, b);
}

ExprId select_by_sign(const Computed& c) {
  const auto a = c.in(1), b = c.in(2);
  return c.v.select(c.v.compare(SymbolicOp::less_equal, c.v.constant(0), c.in(3)), a, b);
}

// ---- arithmetic

ExprId sum(const Computed& c) {
  return c.has("cc") ? c.no_closed_form() : c.v.add(c.in(1), c.in(2));
}

ExprId difference(const Computed& c) {
  return c.has("cc") ? c.no_closed_form() : c.v.subtract(c.in(1), c.in(2));
}

ExprId negation(const Computed& c) {
  return c.v.scale(c.in(1), -1);
}

// The high 64 bits of x · M, as compilers divide 64-bit numbers by q: floor(2^s · x / q), where M is about
// 2^(64 + s) / q. With M · q = 2^(64 + s) + e that is exact while 0 <= x and x · e < 2^64.
std::optional<ExprId> high_of_64_bits(const Computed& c, ExprId x, std::int64_t constant) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::int64_t most_divisor = std::int64_t{1} << 31;
  const auto range = c.bits.range(x);
  const auto factor = static_cast<std::uint64_t>(constant);
  if (range.low < 0 || factor < (std::uint64_t{1} << 32)) return std::nullopt;
  for (int s = 0; s < 31; ++s) {
    const auto power = Wide{1} << (64 + s);
    const auto wide_q = (power + factor - 1) / factor;
    if (wide_q > most_divisor) break;
    const auto excess = factor * wide_q - power;
    if (wide_q < 2 || excess >= factor || excess * static_cast<Wide>(range.high) >= (Wide{1} << 64)) continue;
    const auto scaled = c.v.scale(x, std::int64_t{1} << s);
    const auto value = c.v.floor_divide(scaled, c.v.constant(static_cast<std::int64_t>(wide_q)));
    // As a signed factor it is negative: x · (M - 2^64).
    return c.is_signed() && constant < 0 ? c.v.subtract(value, x) : value;
  }
  return std::nullopt;
}

ExprId wrapped(const Computed& c, ExprId a);

ExprId product_of(const Computed& c, ExprId a, ExprId b) {
  auto& v = c.v;
  const bool high = c.has("hi");
  // A constant with its top bit set is a large number where the multiplication is unsigned and keeps the
  // high half.
  if ((c.type == "u32" || c.type == "u16") && (high || c.has("wide")))
    for (auto* part : {&a, &b}) {
      if (v.is_constant(*part) && v[*part].number < 0)
        *part = v.constant(v[*part].number & ((std::int64_t{1} << c.width) - 1));
      else if (c.width == 16)
        *part = c.bits.low_bits(*part, c.width);
    }
  if (high || c.has("wide")) a = wrapped(c, a), b = wrapped(c, b);
  if (!high) return v.multiply(a, b);
  if (v.is_constant(a)) std::swap(a, b);
  if (!v.is_constant(b)) return c.no_closed_form();
  if (c.width == 64) {
    const auto value = high_of_64_bits(c, a, v[b].number);
    return value ? *value : c.no_closed_form();
  }
  return c.bits.divide(v.multiply(a, b), v.constant(std::int64_t{1} << c.width));
}

ExprId product(const Computed& c) {
  if (c.has("cc")) return c.no_closed_form();
  const auto a = c.in(1), b = c.in(2);
  return product_of(c, a, b);
}

ExprId product_and_sum(const Computed& c) {
  if (c.has("cc")) return c.no_closed_form();
  // Symbolic expressions name their parts in the order in which these are first met.
  const auto addend = c.in(3), b = c.in(2), a = c.in(1);
  return c.v.add(product_of(c, a, b), addend);
}

ExprId quotient(const Computed& c) {
  const auto a = wrapped(c, c.in(1)), b = c.in(2);
  return c.is_signed() ? c.v.truncated_divide(a, b) : c.v.floor_divide(a, b);
}

ExprId remainder(const Computed& c) {
  const auto whole = quotient(c);
  return c.v.subtract(wrapped(c, c.in(1)), c.v.multiply(c.in(2), whole));
}

ExprId least(const Computed& c) {
  return c.v.minimum(c.in(1), c.in(2));
}

ExprId greatest(const Computed& c) {
  return c.v.maximum(c.in(1), c.in(2));
}

ExprId magnitude(const Computed& c) {
  const auto a = c.in(1);
  return c.v.maximum(a, c.v.scale(a, -1));
}

ExprId sum_of_absolute_difference(const Computed& c) {
  const auto d = c.v.subtract(c.in(1), c.in(2));
  return c.v.add(c.in(3), c.v.maximum(d, c.v.scale(d, -1)));
}

// ---- shifts

// A shift's constant count: it is an unsigned 32-bit number, and greater ones than the register's width shift as far.
std::optional<std::int64_t> shift_count(const Computed& c) {
  const auto count = c.number(2);
  if (!count) return std::nullopt;
  return std::min<std::int64_t>(static_cast<std::uint32_t>(*count), c.width);
}

ExprId shift_left(const Computed& c) {
  const auto a = c.in(1), b = c.in(2);
  if (const auto count = shift_count(c))
    return *count >= c.width ? c.v.constant(0) : c.v.multiply(a, c.v.power_of_two(c.v.constant(*count)));
  return c.v.multiply(a, c.v.power_of_two(b));
}

// Compilers extract bit fields and extend signs by a shift to the left and one back to the right: the few bits
// that stay. Nothing where the value was not shifted left by as much.
std::optional<ExprId> few_bits_shifted_back(const Computed& c, ExprId a, std::int64_t count) {
  constexpr std::int64_t most_bits = 16;
  const auto left = c.width - count;
  if (count <= 0 || left <= 0 || left > (c.width == 64 ? 2 * most_bits : most_bits) || count > 61)
    return std::nullopt;
  const auto power = std::int64_t{1} << count;
  std::vector<Term> terms;
  const auto number = c.v.linear_terms(a, terms);
  if (number % power != 0 ||
      std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return t.coefficient % power != 0; }))
    return std::nullopt;
  const auto before = c.v.floor_divide(a, c.v.constant(power));
  const auto bits = static_cast<int>(left);
  return c.is_signed() ? c.bits.sign_extend(before, bits) : c.bits.low_bits(before, bits);
}

// Whether it is a product with a large odd number, as hashes and generators of pseudo-random numbers have them, which leaves the range
// of 32 bits. Strides of arrays are even where they are as large.
bool is_hash(const Computed& c, ExprId a) {
  constexpr std::int64_t least = 1 << 20;
  std::vector<Term> terms;
  c.v.linear_terms(a, terms);
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
    return term.coefficient % 2 != 0 && (term.coefficient >= least || term.coefficient <= -least) &&
           !c.v[term.atom].indirect;
  });
}

// What comparisons, divisions and shifts to the right read of a number of 32 bits that is a hash, or of which only the register's top
// bits are left, a multiple of 2^16 or more: compilers compare bytes there. Of what a thread computes by itself.
ExprId wrapped(const Computed& c, ExprId a) {
  constexpr int least_power = 16, register_width = 32;
  if (c.width == register_width && !c.v[a].indirect && is_hash(c, a))
    return c.is_signed() ? c.bits.sign_extend(a, register_width) : c.bits.low_bits(a, register_width);
  if (c.width != register_width || c.v.is_constant(a) || !c.evaluator.is_of_thread(a)) return a;
  const auto power = std::countr_zero(c.bits.possible_bits(a));
  if (power < least_power || power >= register_width) return a;
  const auto divisor = std::int64_t{1} << power;
  const auto before = c.v.floor_divide(a, c.v.constant(divisor));
  const auto left = register_width - power;
  return c.v.scale(!c.is_signed() ? c.bits.low_bits(before, left) : c.bits.sign_extend(before, left),
                   divisor);
}

ExprId shift_right(const Computed& c) {
  auto& v = c.v;
  const auto a = wrapped(c, c.in(1)), b = c.in(2);
  if (const auto given = shift_count(c)) {
    if (*given >= c.width && !c.is_signed()) return v.constant(0);
    const auto count = std::min<std::int64_t>(*given, c.width - 1);  // the sign alone is left
    if (const auto field = few_bits_shifted_back(c, a, count)) return *field;
    if (count == c.width - 1) {  // the sign bit
      const auto negative = v.compare(SymbolicOp::less, a, v.constant(0));
      return c.is_signed() ? v.scale(negative, -1) : negative;
    }
    // The sign's bits, shifted right: what division of a negative number by a power of two adds.
    if (!c.is_signed()) {
      std::vector<Term> terms;
      if (v.linear_terms(a, terms) == 0 && terms.size() == 1 && terms[0].coefficient == -1 &&
          v.is_boolean(terms[0].atom))
        return v.scale(terms[0].atom, (std::int64_t{1} << std::min<std::int64_t>(c.width - count, 62)) - 1);
    }
    return c.bits.divide(a, v.power_of_two(v.constant(count)));
  }
  return v.floor_divide(a, v.power_of_two(b));
}

ExprId funnel_shift(const Computed& c) {
  const auto given = c.number(3);
  if (!given) return c.no_closed_form();
  constexpr std::int64_t most = 32;
  const auto count =
      static_cast<int>(c.has("clamp") ? std::min<std::int64_t>(static_cast<std::uint32_t>(*given), most)
                                      : *given & (most - 1));
  const auto a = c.in(1), b = c.in(2);
  return c.has("l") ? c.bits.funnel_left(a, b, count) : c.bits.funnel_right(a, b, count);
}

// ---- bits

ExprId conjunction(const Computed& c) {
  if (c.is_predicate()) return c.v.logical_and(c.in(1), c.in(2));
  return c.bits.bit_and(c.in(1), c.in(2), c.register_bits());
}

ExprId disjunction(const Computed& c) {
  if (c.is_predicate()) return c.v.logical_or(c.in(1), c.in(2));
  return c.bits.bit_or(c.in(1), c.in(2), c.register_bits());
}

ExprId exclusive_disjunction(const Computed& c) {
  const auto a = c.in(1), b = c.in(2);
  if (c.is_predicate() && c.v.is_constant(b, 1)) return c.v.logical_not(a);
  return c.bits.bit_xor(a, b, c.register_bits());
}

ExprId complement(const Computed& c) {
  return c.is_predicate() ? c.v.logical_not(c.in(1)) : c.bits.bit_not(c.in(1));
}

ExprId logic_of_three(const Computed& c) {
  const auto table = c.number(4);
  if (!table || c.opcode != "lop3.b32") return c.no_closed_form();
  return c.bits.lookup(c.in(1), c.in(2), c.in(3), static_cast<std::uint32_t>(*table));
}

ExprId extracted_field(const Computed& c) {
  auto& v = c.v;
  const auto position = c.byte(2), length = c.byte(3);
  if (position && length) return c.bits.extract(c.in(1), *position, *length, c.width, c.is_signed());
  if (c.is_signed()) return c.no_closed_form();
  const auto shifted = v.floor_divide(c.in(1), v.power_of_two(c.in(2)));
  return v.modulo(shifted, v.power_of_two(c.in(3)));
}

ExprId inserted_field(const Computed& c) {
  const auto position = c.byte(3), length = c.byte(4);
  if (!position || !length) return c.no_closed_form();
  return c.bits.insert(c.in(1), c.in(2), *position, *length, c.width);
}

ExprId permuted_bytes(const Computed& c) {
  const auto selector = c.number(3);
  if (!selector || c.opcode != "prmt.b32") return c.no_closed_form();
  return c.bits.permute_bytes(c.in(1), c.in(2), static_cast<std::uint32_t>(*selector));
}

ExprId number_of_ones(const Computed& c) {
  const auto a = c.in(1);
  return c.bits.few_bits(a) ? c.bits.count_ones(a) : c.no_closed_form();
}

ExprId reversed_bits(const Computed& c) {
  const auto a = c.in(1);
  return c.width == 32 && c.bits.few_bits(a) ? c.bits.reverse(a, c.width) : c.no_closed_form();
}

ExprId highest_bit(const Computed& c) {
  return c.is_signed() || c.has("shiftamt") ? c.no_closed_form() : c.v.log2_floor(c.in(1));
}

ExprId leading_zeros(const Computed& c) {
  return c.v.subtract(c.v.constant(c.width - 1), c.v.log2_floor(c.in(1)));
}

// ---- conversion

// Between integer types. A narrower result keeps the low bits, which are the value where it fits.
ExprId conversion(const Computed& c) {
  auto& v = c.v;
  const auto to = last_word(c.opcode.substr(0, c.opcode.rfind('.')));
  if (!is_integer_type(to)) return c.no_closed_form();
  const int to_width = width_of(to);
  auto value = c.in(1);
  if (c.has("sat") && to_width < 62) {
    const auto half = std::int64_t{1} << (to_width - 1);
    const auto low = to[0] == 's' ? -half : 0, high = to[0] == 's' ? half - 1 : 2 * half - 1;
    return v.minimum(v.maximum(value, v.constant(low)), v.constant(high));
  }
  if (to_width < 32 && to_width < c.width) return c.bits.low_bits(value, to_width);
  if (to_width > c.width) value = wrapped(c, value);
  // Compilers count in 16 bits where only the low bits matter: what is widened again has lost the rest.
  if (c.width < 32 && to_width > c.width) {
    if (!c.is_signed()) return c.bits.low_bits(value, c.width);
    if (c.evaluator.is_of_thread(value)) return c.bits.sign_extend(value, c.width);
  }
  return value;
}

// ---- comparison

// setp.CmpOp[.BoolOp].type p[|q], a, b[, {!}c]
ExprId comparison(const Computed& c) {
  struct Named {
    std::string_view name;
    SymbolicOp of_signed, of_unsigned;
    bool swapped;
  };
  constexpr auto equal = SymbolicOp::equal, not_equal = SymbolicOp::not_equal, less = SymbolicOp::less,
                 less_equal = SymbolicOp::less_equal, below = SymbolicOp::less_unsigned,
                 below_equal = SymbolicOp::less_equal_unsigned;
  static constexpr Named all[] = {
      {"eq", equal, equal, false}, {"ne", not_equal, not_equal, false},
      {"lt", less, below, false},  {"le", less_equal, below_equal, false},
      {"gt", less, below, true},   {"ge", less_equal, below_equal, true},
      {"lo", below, below, false}, {"ls", below_equal, below_equal, false},
      {"hi", below, below, true},  {"hs", below_equal, below_equal, true},
  };
  const auto rest = c.opcode.substr(c.opcode.find('.') + 1);
  const auto* named = std::find_if(std::begin(all), std::end(all),
                                   [&](const Named& n) { return n.name == rest.substr(0, rest.find('.')); });
  const auto& ins = c.evaluator.function().instructions[c.instruction];
  const auto with_third = [&](ExprId result) {
    if (ins.operand_count < 4) return result;
    if (c.has("and")) return c.v.logical_and(result, c.in(3));
    if (c.has("or")) return c.v.logical_or(result, c.in(3));
    return c.no_closed_form();
  };
  if (c.type[0] == 'f') {
    if (ins.operand_count < 3 || c.has("ftz")) return c.no_closed_form();
    const auto* const operands = &c.evaluator.operands()[ins.first_operand];
    const auto a = float_constant(c.evaluator, operands[1]), b = float_constant(c.evaluator, operands[2]);
    const auto holds = a && b ? compare_floats(rest.substr(0, rest.find('.')), *a, *b) : std::nullopt;
    return holds ? with_third(c.v.constant(*holds ? 1 : 0)) : c.no_closed_form();
  }
  if (named == std::end(all) || c.is_predicate()) return c.no_closed_form();
  auto a = wrapped(c, c.in(1)), b = wrapped(c, c.in(2));
  if (named->swapped) std::swap(a, b);
  return with_third(c.v.compare(c.type[0] == 'u' ? named->of_unsigned : named->of_signed, a, b));
}

// ---- the table

using Compute = ExprId (*)(const Computed&);

struct OpcodeValue {
  std::string_view name;  // of a line of opcodes.def
  Compute compute;
};

// An opcode that is not here has no closed form, which is safe.
constexpr OpcodeValue opcode_values[] = {
    {"abs", magnitude},
    {"add", sum},
    {"and", conjunction},
    {"bfe", extracted_field},
    {"bfi", inserted_field},
    {"bfind", highest_bit},
    {"brev", reversed_bits},
    {"clz", leading_zeros},
    {"cvt", conversion},
    {"cvta", convert_address},
    {"div", quotient},
    {"lop3", logic_of_three},
    {"mad", product_and_sum},
    {"mad24", product_and_sum},
    {"max", greatest},
    {"min", least},
    {"mov", move},
    {"mul", product},
    {"mul24", product},
    {"neg", negation},
    {"not", complement},
    {"or", disjunction},
    {"popc", number_of_ones},
    {"prmt", permuted_bytes},
    {"rem", remainder},
    {"sad", sum_of_absolute_difference},
    {"selp", select_by_predicate},
    {"setp", comparison},
    {"shf", funnel_shift},
    {"shl", shift_left},
    {"shr", shift_right},
    {"slct", select_by_sign},
    {"sub", difference},
    {"xor", exclusive_disjunction},
};

Compute compute_of(const ptx::Opcode& opcode) {
  static const auto by_line = [] {
    std::vector<Compute> table(ptx::opcode_count(), nullptr);
    for (const auto& value : opcode_values) {
      const auto* line = ptx::find_opcode(value.name);
      assert(line != nullptr && line->name == value.name);
      table[ptx::opcode_index(*line)] = value.compute;
    }
    return table;
  }();
  return by_line[ptx::opcode_index(opcode)];
}

}  // namespace

ExprId Evaluator::evaluate(std::uint32_t instruction) {
  const auto& ins = function_.instructions[instruction];
  if (ins.info == nullptr) return opaque_result(instruction);
  if (moves_slot(operands_, ins)) return operand(instruction, 1);
  if (ins.info->category == ptx::Category::load && ptx::space_of(ins) == ptx::StateSpace::param)
    return load_parameter(instruction, 0).value_or(opaque_result(instruction));
  const auto compute = compute_of(*ins.info);
  const auto type = last_word(ins.opcode);
  const bool of_floats = compute == comparison && (type == "f32" || type == "f64");
  if (compute == nullptr || (type != "pred" && !is_integer_type(type) && !of_floats))
    return opaque_result(instruction);
  return compute({*this, exprs_, bits_, instruction, ins.opcode, type, width_of(type)});
}

}  // namespace warptime::analysis
