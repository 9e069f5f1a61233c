// LLVM's NVPTX backend prints some 8,000 instructions; the mnemonic of each stands in our table.
#include <gtest/gtest.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>

#include <set>

#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/opcodes.h"

extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTargetMC();

namespace warptime::ptx {
namespace {

// What LLVM prints of each instruction up to its first operand.
std::vector<std::string> printed_beginnings() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return {};
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  const std::unique_ptr<llvm::MCAsmInfo> assembly(
      target->createMCAsmInfo(*registers, triple, llvm::MCTargetOptions()));
  const std::unique_ptr<llvm::MCInstPrinter> printer(
      target->createMCInstPrinter(llvm::Triple(triple), 0, *assembly, *instructions, *registers));
  std::vector<std::string> result;
  for (unsigned opcode = 0; opcode < instructions->getNumOpcodes(); ++opcode) {
    llvm::MCInst instruction;
    instruction.setOpcode(opcode);
    const char* text = printer->getMnemonic(&instruction).first;
    if (text != nullptr) result.emplace_back(text);
  }
  return result;
}

// The opcodes in a beginning, which can be that of several statements: { .reg .b16 t; mov.b32 {t, …
std::vector<std::string> opcodes_in(const std::string& text) {
  std::vector<std::string> result;
  bool statement_begins = true;
  for (const Token& token : tokenize(text)) {
    if (token.kind == TokenKind::space || token.kind == TokenKind::comment) continue;
    if (statement_begins && token.kind == TokenKind::word) result.emplace_back(token.text);
    statement_begins = token.mark == ';' || (token.mark == '{' && result.empty());
  }
  return result;
}

TEST(OpcodeTable, HasEveryMnemonicOfLlvm) {
  const std::vector<std::string> beginnings = printed_beginnings();
  ASSERT_GT(beginnings.size(), 5000u);
  // LLVM's own pseudo-instructions, and `param`, which declares a parameter.
  const std::set<std::string> none_of_ptx = {"PSEUDO_PROBE",   "LIFETIME_START", "LIFETIME_END", "DBG_VALUE",
                                             "DBG_VALUE_LIST", "DBG_INSTR_REF",  "DBG_PHI",      "DBG_LABEL",
                                             "BUNDLE",         "param"};
  std::set<std::string> found;
  for (const std::string& beginning : beginnings) {
    for (const std::string& opcode : opcodes_in(beginning)) {
      if (none_of_ptx.count(opcode) != 0) continue;
      const Opcode* info = find_opcode(opcode);
      EXPECT_NE(info, nullptr) << opcode << " of: " << beginning;
      if (info != nullptr) found.emplace(info->name);
    }
  }
  EXPECT_GT(found.size(), 90u);
}

}  // namespace
}  // namespace warptime::ptx
