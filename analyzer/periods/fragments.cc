#include "analyzer/periods/fragments.h"

#include "analyzer/ptx/matrix_operation.h"

namespace warptime::periods {

using analysis::ExprId;

std::optional<FragmentAccess> fragment_access(analysis::Evaluator& evaluator, std::uint32_t instruction,
                                              std::uint32_t operand) {
  const auto& ins = evaluator.function().instructions[instruction];
  if (ins.info == nullptr || !ins.info->is(ptx::moved_by_warp)) return std::nullopt;
  const auto operation = ptx::matrix_operation(ins.opcode);
  const auto requests = operation ? ptx::fragment_requests(*operation) : std::nullopt;
  if (!requests) return std::nullopt;
  auto& exprs = evaluator.exprs();
  // From one line to the next, in elements: the last operand, if it is neither the address nor the registers.
  const std::uint32_t last = ins.operand_count - 1;
  const bool strided =
      last > operand && evaluator.operands()[ins.first_operand + last].kind != ptx::Operand::Kind::vector;
  const int length = requests->pieces * requests->threads_per_line * requests->bytes;
  const ExprId pitch = strided ? exprs.scale(evaluator.operand(instruction, last), requests->element_bytes)
                               : exprs.constant(length);
  const ExprId lane = exprs.special(analysis::Special::laneid);
  const ExprId line = exprs.floor_divide(lane, exprs.constant(requests->threads_per_line));
  const ExprId in_line = exprs.subtract(lane, exprs.scale(line, requests->threads_per_line));
  const ExprId first =
      exprs.add(evaluator.address(instruction, operand),
                exprs.add(exprs.multiply(line, pitch), exprs.scale(in_line, requests->bytes)));
  FragmentAccess access;
  access.bytes = requests->bytes;
  for (int from = 0; from < requests->lines; from += requests->lines_per_request())
    for (int piece = 0; piece < requests->pieces; ++piece)
      access.addresses.push_back(
          exprs.add(first, exprs.add(exprs.scale(pitch, from),
                                     exprs.constant(piece * requests->threads_per_line * requests->bytes))));
  return access;
}

}  // namespace warptime::periods
