// What the instructions of a run of calculation are: their operations, and whether their operands are integers or
// floating-point numbers, constants or registers. The model of Luo and Suda (2011) gives each class its cost; the
// other models count instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime {

// First the lines of Luo and Suda's Table 1, then operations that it lacks.
enum class InstructionOperation : std::uint8_t {
  add,
  sub,
  mul,
  div,
  neg,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  mad,      // a product and a sum: fma, mad
  shift,    // shl, shr, and what moves bits
  compare,  // set, setp
  select,   // selp, slct
  move,     // mov, cvta, ld.param
  convert,  // cvt
  special,  // rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh
  branch,   // bra
};
inline constexpr std::size_t kInstructionOperations = 19;
inline constexpr std::size_t kTable1Operations = 11;         // the first of them
std::string_view to_string(InstructionOperation operation);  // as in PTX: "add", "and"

// The columns of Table 1. `int_const`: integers, one source operand a constant; `int_reg`: all in registers.
enum class InstructionOperands : std::uint8_t { int_const, int_reg, float_const, float_reg };
inline constexpr std::size_t kInstructionOperands = 4;
std::string_view to_string(InstructionOperands operands);

struct InstructionClass {
  InstructionOperation operation = InstructionOperation::add;
  InstructionOperands operands = InstructionOperands::int_reg;
  friend auto operator<=>(const InstructionClass&, const InstructionClass&) = default;
};
std::string to_string(const InstructionClass& one);  // "add.int_const", "mad.float_reg"
std::optional<InstructionClass> find_instruction_class(std::string_view name);

// How many instructions of each class one execution of an item has; those of no class are not counted.
struct InstructionClasses {
  std::vector<std::pair<InstructionClass, std::int64_t>> counts;  // sorted, each class once, none of 0

  void add(const InstructionClass& one, std::int64_t count = 1);
  void add(const InstructionClasses& more);
  std::int64_t total() const;
  friend bool operator==(const InstructionClasses&, const InstructionClasses&) = default;
};

}  // namespace warptime
