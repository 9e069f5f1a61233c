#include "analyzer/periods/instruction_class.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using Operation = InstructionOperation;

constexpr std::array<std::pair<std::string_view, Operation>, 62> kOperationOf = {{
    {"add", Operation::add},     {"addc", Operation::add},        {"sub", Operation::sub},
    {"subc", Operation::sub},    {"sad", Operation::mad},         {"mul", Operation::mul},
    {"mul24", Operation::mul},   {"mad", Operation::mad},         {"mad24", Operation::mad},
    {"madc", Operation::mad},    {"fma", Operation::mad},         {"dp2a", Operation::mad},
    {"dp4a", Operation::mad},    {"div", Operation::div},         {"rem", Operation::div},
    {"neg", Operation::neg},     {"abs", Operation::neg},         {"copysign", Operation::neg},
    {"min", Operation::min},     {"max", Operation::max},         {"and", Operation::bit_and},
    {"or", Operation::bit_or},   {"xor", Operation::bit_xor},     {"lop3", Operation::bit_xor},
    {"not", Operation::bit_not}, {"cnot", Operation::bit_not},    {"shl", Operation::shift},
    {"shr", Operation::shift},   {"shf", Operation::shift},       {"bfe", Operation::shift},
    {"bfi", Operation::shift},   {"bfind", Operation::shift},     {"bmsk", Operation::shift},
    {"brev", Operation::shift},  {"clz", Operation::shift},       {"popc", Operation::shift},
    {"fns", Operation::shift},   {"szext", Operation::shift},     {"prmt", Operation::shift},
    {"set", Operation::compare}, {"setp", Operation::compare},    {"testp", Operation::compare},
    {"selp", Operation::select}, {"slct", Operation::select},     {"mov", Operation::move},
    {"cvta", Operation::move},   {"activemask", Operation::move}, {"isspacep", Operation::move},
    {"ld", Operation::move},     {"ldu", Operation::move},        {"st", Operation::move},
    {"cvt", Operation::convert}, {"cos", Operation::special},     {"ex2", Operation::special},
    {"lg2", Operation::special}, {"rcp", Operation::special},     {"rsqrt", Operation::special},
    {"sin", Operation::special}, {"sqrt", Operation::special},    {"tanh", Operation::special},
    {"bra", Operation::branch},  {"brx", Operation::branch},
}};

bool is_number_type(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) && word.size() > prefix.size() &&
         word.find_first_not_of("0123456789x", prefix.size()) == std::string_view::npos;
}

// Whether a type among the words of the opcode is one of floating-point numbers: f32, bf16x2.
bool is_floating(std::string_view opcode) {
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', dot + 1);
    const auto word = opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (is_number_type(word, "f") || is_number_type(word, "bf") || is_number_type(word, "tf")) return true;
    dot = next;
  }
  return false;
}

bool is_literal(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::integer || operand.kind == ptx::Operand::Kind::floating;
}

}  // namespace

std::optional<InstructionClass> class_of(const std::vector<ptx::Operand>& operands,
                                         const ptx::Instruction& ins) {
  if (ins.info == nullptr) return std::nullopt;
  const auto word = ptx::first_word(ins.opcode);
  const auto known = std::find_if(kOperationOf.begin(), kOperationOf.end(),
                                  [&](const auto& one) { return one.first == word; });
  if (known == kOperationOf.end()) return std::nullopt;
  // Of the loads and stores that are calculation, only those of kernel arguments move a register's worth.
  const bool accesses =
      ins.info->category == ptx::Category::load || ins.info->category == ptx::Category::store;
  if (accesses && ptx::space_of(ins) != ptx::StateSpace::param) return std::nullopt;
  bool constant = false;
  for (std::uint32_t o = ins.info->destinations; o < ins.operand_count; ++o)
    constant = constant || is_literal(operands[ins.first_operand + o]);
  const bool floating = is_floating(ins.opcode);
  return InstructionClass{
      known->second, floating ? (constant ? InstructionOperands::float_const : InstructionOperands::float_reg)
                              : (constant ? InstructionOperands::int_const : InstructionOperands::int_reg)};
}

}  // namespace warptime::periods
