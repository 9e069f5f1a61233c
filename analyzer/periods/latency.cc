#include "analyzer/periods/latency.h"

#include <string_view>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

// Cycles on an H100 where nothing else is said, by chains of dependent instructions in one warp; the generations since
// Volta differ by a cycle or two. What was not measured is built of what was.
namespace cycles {

// Integers, logic, comparisons, single precision: 4.52 (FFMA) and 4.51 (IMAD) with the loop around them.
constexpr double fixed = 4.5;
constexpr double half = 4.5;    // taken as single precision
constexpr double fp64 = 8.3;    // DFMA: 8.33
constexpr double special = 23;  // sin.approx: 22.96, a MUFU and a multiplication
constexpr double f32_division = 45;
constexpr double f32_root = 43;
constexpr double f32_reciprocal = 40;     // a division without its product: built of f32_division
constexpr double integer_division = 70;   // 69.53; remainders 69.47
constexpr double wide_division = 140;     // of 64 bits: taken as two
constexpr double constant_division = 18;  // high product, shifts, sum
constexpr double fp64_division = 100;     // MUFU.RCP64H, nine DFMA
constexpr double conversion = 12;         // on the XU pipe: taken as half of a special function
constexpr double shuffle = 23;            // Luo et al. (2024), arXiv 2402.13499: near that of a shared load
constexpr double shared_load = 34;        // free of conflicts, `shared_stride_1`
constexpr double shared_atomic = 68;      // taken as a load and a store
constexpr double local_load = 40;         // that hits in L1: `chase_4kB`
constexpr double constant_load = 34;      // with a computed address: taken as a shared load
constexpr double matrix = 33;  // mma.sync.m16n8k16: Luo et al. (2024), table of mma instructions on Hopper
// ptxas lets 13 cycles pass between a comparison and the branch that it decides (the stall counts in its code for sm_90).
constexpr double before_branch = 13 - fixed;

}  // namespace cycles

bool has_type(std::string_view opcode, std::string_view type) {
  return opcode.ends_with(type) && opcode.size() > type.size() &&
         opcode[opcode.size() - type.size() - 1] == '.';
}

bool of_integers(std::string_view opcode) {
  const auto type = opcode.substr(opcode.find_last_of('.') + 1);
  return type.starts_with('s') || type.starts_with('u') || type.starts_with('b');
}

double load(const ptx::Instruction& ins) {
  switch (ptx::space_of(ins)) {
    case ptx::StateSpace::param:
      return 0;
    case ptx::StateSpace::local:
      return cycles::local_load;
    case ptx::StateSpace::constant:
      return cycles::constant_load;
    default:
      return cycles::shared_load;
  }
}

double conversion(std::string_view opcode) {
  // cvt.….to.from: between integers it is a move or a shift, and from and to double precision, and between integers
  // and floating point, the XU does it.
  const auto from = opcode.substr(opcode.find_last_of('.') + 1);
  const auto before = opcode.substr(0, opcode.find_last_of('.'));
  const auto to = before.substr(before.find_last_of('.') + 1);
  const auto floating = [](std::string_view type) {
    return type.starts_with('f') || type.starts_with("bf") || type.starts_with("tf");
  };
  if (!floating(from) && !floating(to))
    return to.ends_with("64") && (from == "u32" || from == "s32") ? 0 : cycles::fixed;
  if (from == "f64" || to == "f64") return cycles::conversion + cycles::fp64;
  if (floating(from) && floating(to)) return cycles::fixed;
  return cycles::conversion;
}

double division(const analysis::KernelFlow& flow, const ptx::Instruction& ins) {
  const auto opcode = ins.opcode;
  if (has_type(opcode, "f64")) return cycles::fp64_division;
  if (has_type(opcode, "f32"))
    return ptx::has_part(opcode, "approx") ? cycles::special + cycles::fixed : cycles::f32_division;
  const auto& divisor = flow.code.operands()[ins.first_operand + ins.operand_count - 1];
  if (divisor.kind == ptx::Operand::Kind::integer)
    return (divisor.value & (divisor.value - 1)) == 0 ? cycles::fixed : cycles::constant_division;
  return opcode.ends_with("64") ? cycles::wide_division : cycles::integer_division;
}

double special_function(ptx::FirstWord word, std::string_view opcode) {
  if (has_type(opcode, "f64")) return cycles::fp64_division;
  if (ptx::has_part(opcode, "approx") || word == "tanh" || word == "ex2") return cycles::special;
  return word == "sqrt" ? cycles::f32_root : cycles::f32_reciprocal;
}

// What ptxas makes part of the instruction that reads it.
bool is_folded(const analysis::KernelFlow& flow, const RegisterUses& uses, std::uint32_t i,
               ptx::FirstWord word) {
  const auto written = uses.writes(i);
  const auto& ins = flow.code.function().instructions[i];
  if (written.size() != 1 || ins.guard != ptx::no_index || !of_integers(ins.opcode)) return false;
  const auto reader = uses.only_reader(written[0]);
  if (reader == analysis::none) return false;
  const auto& by = flow.code.function().instructions[reader];
  if (by.info == nullptr) return false;
  // IMAD, LEA
  if (word == "mul" || word == "shl")
    return (by.info->first_word == "add" || by.info->first_word == "sub") && of_integers(by.opcode);
  const auto& last = flow.code.operands()[ins.first_operand + ins.operand_count - 1];
  return word == "add" && last.kind == ptx::Operand::Kind::integer &&
         (by.info->category == ptx::Category::load || by.info->category == ptx::Category::store ||
          by.info->category == ptx::Category::atomic || by.info->category == ptx::Category::reduction);
}

}  // namespace

const double latency_before_branch = cycles::before_branch;

double latency_of(const analysis::KernelFlow& flow, const RegisterUses& uses, std::uint32_t i) {
  const auto& ins = flow.code.function().instructions[i];
  if (ins.info == nullptr) return cycles::fixed;
  if (uses.only_moves(i) || uses.writes(i).empty()) return 0;
  const std::string_view opcode = ins.opcode;
  const ptx::FirstWord word = ptx::first_word(ins);
  switch (ins.info->category) {
    case ptx::Category::load:
      return ins.info->is(ptx::texture | ptx::surface) ? 0 : load(ins);
    case ptx::Category::atomic:
      return cycles::shared_atomic;
    case ptx::Category::move:
      if (word == "shfl" || word == "match" || word == "redux") return cycles::shuffle;
      return word == "mov" || word == "cvta" ? 0 : cycles::fixed;
    case ptx::Category::arithmetic:
      break;
    default:
      return 0;
  }
  if (ins.info->is(ptx::tensor_core)) return cycles::matrix;
  if (word == "cvt") return conversion(opcode);
  if (word == "div" || word == "rem") return division(flow, ins);
  if (ins.info->is(ptx::slow)) return special_function(word, opcode);
  if (word == "popc" || word == "bfind" || word == "clz" || word == "brev") return cycles::conversion;
  if (has_type(opcode, "f64")) return cycles::fp64;
  if (has_type(opcode, "f16") || has_type(opcode, "f16x2")) return cycles::half;
  return is_folded(flow, uses, i, word) ? 0 : cycles::fixed;
}

}  // namespace warptime::periods
