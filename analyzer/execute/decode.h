// From one PTX instruction to one DecodedInstruction. decode.cc resolves operands, decode_control.cc decodes
// what is control flow; each family of instructions has a file of its own that chooses the handler.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/execute/code.h"

namespace warptime::execute {

class Decoder {
 public:
  using Kind = ptx::Operand::Kind;
  using Referent = ptx::Operand::Referent;

  Decoder(Program& program, const ptx::Function& function, FunctionCode& code, Diagnostics& errors);

  // Decodes all instructions; errors go to the list.
  void decode();

  // ---- for the families. The i-th operand of the instruction.
  std::size_t count() const { return instruction_->operand_count; }
  const ptx::Operand& operand(std::size_t i) const {
    return module_.operands[instruction_->first_operand + i];
  }
  const ptx::Operand& part(const ptx::Operand& whole, std::size_t i) const {
    return module_.operands[whole.first_part + i];
  }

  // A source of `type`: a register, constant, special register, or the address of a variable or function.
  Ref source(const ptx::Operand& operand, Type type);
  Ref source(std::size_t i, Type type) { return i < count() ? source(operand(i), type) : missing(i); }
  // A register to write; a sink is a slot that nobody reads.
  Ref destination(const ptx::Operand& operand);
  Ref destination(std::size_t i) { return i < count() ? destination(operand(i)) : missing(i); }
  PredicateRef predicate(const ptx::Operand& operand);
  PredicateRef predicate(std::size_t i);
  std::uint32_t predicate_destination(const ptx::Operand& operand);
  Ref constant(std::uint64_t bits);
  // Parts of a vector, or the operand alone, appended to FunctionCode::refs; op.extra and op.count name them.
  void vector(DecodedInstruction& op, const ptx::Operand& operand, Type type, bool destination);
  // [base + offset] into op.a, op.immediate and op.base.
  void address(DecodedInstruction& op, const ptx::Operand& operand);
  // Where `operand` is the address of a variable whose place depends on the frame: into op.a, op.immediate
  // and op.base.
  bool frame_address(DecodedInstruction& op, const ptx::Operand& operand);
  bool is_predicate(const ptx::Operand& operand) const;
  // Width of a register operand in bits; 0: no register.
  int register_bits(const ptx::Operand& operand) const;

  // Says that the instruction is not executed here, or how its operands are wrong. Gives false.
  bool fail(std::string message);
  bool unsupported();

  const ptx::Instruction& instruction() const { return *instruction_; }
  const ptx::Function& function() const { return function_; }
  const Program& program() const { return program_; }
  FunctionCode& code() { return code_; }

 private:
  struct Slot {
    bool predicate = false;
    std::uint32_t index = 0;
    int bits = 0;
    int width = 1;
  };
  void place_registers();
  void instruction_op(std::uint32_t index);
  bool guard(DecodedInstruction& op);
  Ref missing(std::size_t i);
  Ref special(const ptx::Operand& operand);
  Ref register_slot(const ptx::Operand& operand, bool destination);
  std::uint64_t symbol_value(const ptx::Operand& operand, bool& known);
  std::uint64_t constant_bits(const ptx::Operand& operand, Type type);
  bool control(const Words& words, DecodedInstruction& op);
  bool branch(const Words& words, DecodedInstruction& op);
  bool call(DecodedInstruction& op);
  bool pass(const ptx::Operand& operand, std::vector<CallSite::Passed>& list);
  bool barrier(const Words& words, DecodedInstruction& op);

  Program& program_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  FunctionCode& code_;
  Diagnostics& errors_;
  const ptx::Instruction* instruction_ = nullptr;
  bool failed_ = false;  // the current instruction
  std::vector<Slot> slots_;
  std::unordered_map<std::uint64_t, Ref> constants_;
  std::vector<std::uint32_t> reads_, writes_;
  std::uint32_t sink_ = 0;
};

// A family's decoder: fills `op`, or fails.
using Family = bool (*)(Decoder& decoder, const Words& words, DecodedInstruction& op);

// By the opcode's first word; null where it is not executed.
Family family_of(std::string_view first_word);

bool decode_integer(Decoder& decoder, const Words& words,
                    DecodedInstruction& op);  // integer arithmetic; hands floats on
bool decode_bits(Decoder& decoder, const Words& words, DecodedInstruction& op);     // fields, shifts, bytes
bool decode_float(Decoder& decoder, const Words& words, DecodedInstruction& op);    // f32, f64
bool decode_half(Decoder& decoder, const Words& words, DecodedInstruction& op);     // f16, bf16, and pairs
bool decode_compare(Decoder& decoder, const Words& words, DecodedInstruction& op);  // setp, set, selp, slct
bool decode_logic(Decoder& decoder, const Words& words,
                  DecodedInstruction& op);  // and, or, xor, not, of registers and predicates
bool decode_convert(Decoder& decoder, const Words& words, DecodedInstruction& op);  // cvt
bool decode_move(Decoder& decoder, const Words& words, DecodedInstruction& op);     // mov, cvta, isspacep
bool decode_memory(Decoder& decoder, const Words& words,
                   DecodedInstruction& op);  // ld, st, cp.async, prefetch
bool decode_atomic(Decoder& decoder, const Words& words, DecodedInstruction& op);  // atom, red
bool decode_warp(Decoder& decoder, const Words& words,
                 DecodedInstruction& op);  // shfl, vote, match, redux, activemask, elect, bar.warp.sync
bool decode_nothing(Decoder& decoder, const Words& words, DecodedInstruction& op);  // fences, waits, hints

}  // namespace warptime::execute
