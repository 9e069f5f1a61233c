#include "analyzer/periods/constant_registers.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr std::int64_t kPieceBytes = 8;  // of ULDC

bool is_constant_load(const Instruction& one) {
  return one.info != nullptr && one.info->category == ptx::Category::load && one.operand_count >= 2 &&
         ptx::space_of(one) == ptx::StateSpace::constant;
}

// Instructions without an operand for a uniform register.
bool takes_no_uniform(const Instruction& one) {
  const ptx::FirstWord word = ptx::first_word(one);
  return one.info == nullptr || one.info->is(ptx::slow) || word == "selp" || word == "rcp" ||
         word == "sqrt" || word == "rsqrt" || word == "ex2" || word == "lg2" || word == "sin" ||
         word == "cos" || word == "tanh";
}

class Finder {
 public:
  explicit Finder(const analysis::KernelCode& code)
      : function_(code.function()), operands_(code.operands()), pieces_(function_.registers.size()) {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (is_constant_load(function_.instructions[i])) add(i);
    if (loads_.empty()) return;
    for (const Instruction& one : function_.instructions) use(one);
  }

  std::unordered_map<std::uint32_t, std::int64_t> own_bytes() const {
    std::unordered_map<std::uint32_t, std::int64_t> bytes;
    for (const Load& load : loads_) {
      const bool all = load.index != ptx::no_index && held_.contains(load.index);
      std::int64_t left = load.bytes, own = 0;
      for (std::uint32_t piece = load.first; piece < load.end; ++piece, left -= kPieceBytes)
        if (all || own_.contains(piece)) own += std::min(left, kPieceBytes);
      if (own > 0) bytes[load.instruction] = own;
    }
    return bytes;
  }

 private:
  struct Load {
    std::uint32_t instruction = 0, first = 0, end = 0;  // its pieces
    std::int64_t bytes = 0;
    std::uint32_t index = ptx::no_index;  // the register of its address
  };
  struct Piece {
    std::uint32_t number = 0, index = ptx::no_index;  // 0: no constant
  };

  void add(std::uint32_t i) {
    const Instruction& one = function_.instructions[i];
    const Operand& address = operands_[one.first_operand + one.operand_count - 1];
    Load load{i, pieces_made_, 0, std::max<std::int64_t>(ptx::access_bytes(one), 1)};
    if (address.part_count != 0 && operands_[address.first_part].kind == Operand::Kind::reg)
      load.index = operands_[address.first_part].symbol;
    std::uint32_t registers = 0;
    const auto visit_results = [&](const auto& visit) {
      const Operand& result = operands_[one.first_operand];
      if (result.kind == Operand::Kind::reg) visit(result.symbol);
      for (std::uint32_t p = 0; p < result.part_count; ++p)
        if (operands_[result.first_part + p].kind == Operand::Kind::reg)
          visit(operands_[result.first_part + p].symbol);
    };
    visit_results([&](std::uint32_t) { ++registers; });
    const std::int64_t each = load.bytes / std::max<std::uint32_t>(registers, 1);
    std::int64_t at = 0;
    visit_results([&](std::uint32_t reg) {
      if (reg < pieces_.size())
        pieces_[reg] = {pieces_made_ + static_cast<std::uint32_t>(at / kPieceBytes), load.index};
      at += each;
    });
    pieces_made_ += static_cast<std::uint32_t>((load.bytes + kPieceBytes - 1) / kPieceBytes);
    load.end = pieces_made_;
    loads_.push_back(load);
  }

  void use(const Instruction& one) {
    if (one.info == nullptr) return;
    std::vector<Piece> constants;
    bool immediate = false;
    for (std::uint32_t o = one.info->destinations; o < one.operand_count; ++o) {
      const Operand& operand = operands_[one.first_operand + o];
      immediate =
          immediate || operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::floating;
      if (operand.kind == Operand::Kind::reg && operand.symbol < pieces_.size() &&
          pieces_[operand.symbol].number != 0)
        constants.push_back(pieces_[operand.symbol]);
    }
    if (constants.empty()) return;
    const bool computes = one.info->category == ptx::Category::arithmetic;
    if (takes_no_uniform(one) || (computes && immediate))
      for (const Piece& piece : constants) held_.insert(piece.index);
    if (computes && constants.size() > 1)
      own_.insert(std::min_element(constants.begin(), constants.end(), [](const Piece& a, const Piece& b) {
                    return a.number < b.number;
                  })->number);
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  std::vector<Piece> pieces_;      // by the register that has one
  std::uint32_t pieces_made_ = 1;  // numbers are in the order of the PTX
  std::vector<Load> loads_;
  std::set<std::uint32_t> held_;  // registers of addresses
  std::set<std::uint32_t> own_;   // pieces
};

}  // namespace

ConstantRegisters::ConstantRegisters(const analysis::KernelCode& code)
    : own_bytes_(Finder(code).own_bytes()) {}

std::int64_t ConstantRegisters::own_bytes(std::uint32_t i) const {
  const auto found = own_bytes_.find(i);
  return found == own_bytes_.end() ? 0 : found->second;
}

}  // namespace warptime::periods
