#include "analyzer/periods/fragments.h"

#include "analyzer/ptx/matrix_operation.h"

namespace warptime::periods {

using analysis::ExprId;

namespace {

struct Fragment {
  ptx::FragmentRequests requests;
  ExprId address, pitch;  // of the first line; in bytes, from one line to the next
};

std::optional<Fragment> fragment_of(analysis::Evaluator& evaluator, std::uint32_t instruction,
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
  return Fragment{*requests, evaluator.address(instruction, operand),
                  strided ? exprs.scale(evaluator.operand(instruction, last), requests->element_bytes)
                          : exprs.constant(length)};
}

}  // namespace

std::optional<FragmentAccess> fragment_access(analysis::Evaluator& evaluator, std::uint32_t instruction,
                                              std::uint32_t operand) {
  const auto fragment = fragment_of(evaluator, instruction, operand);
  if (!fragment) return std::nullopt;
  auto& exprs = evaluator.exprs();
  const ptx::FragmentRequests& requests = fragment->requests;
  const ExprId lane = exprs.special(analysis::Special::laneid);
  const ExprId line = exprs.floor_divide(lane, exprs.constant(requests.threads_per_line));
  const ExprId in_line = exprs.subtract(lane, exprs.scale(line, requests.threads_per_line));
  const ExprId first = exprs.add(fragment->address, exprs.add(exprs.multiply(line, fragment->pitch),
                                                              exprs.scale(in_line, requests.bytes)));
  FragmentAccess access;
  access.bytes = requests.bytes;
  for (int from = 0; from < requests.lines; from += requests.lines_per_request())
    for (int piece = 0; piece < requests.pieces; ++piece)
      access.addresses.push_back(
          exprs.add(first, exprs.add(exprs.scale(fragment->pitch, from),
                                     exprs.constant(piece * requests.threads_per_line * requests.bytes))));
  return access;
}

std::optional<FragmentAccess> shared_fragment_access(analysis::Evaluator& evaluator,
                                                     std::uint32_t instruction, std::uint32_t operand) {
  constexpr int matrix_lines = 8, matrix_bytes = 16, most = 4;  // of ldmatrix
  const auto fragment = fragment_of(evaluator, instruction, operand);
  if (!fragment) return std::nullopt;
  const ptx::FragmentRequests& requests = fragment->requests;
  const int length = requests.pieces * requests.threads_per_line * requests.bytes;
  const int below = requests.lines / matrix_lines, matrices = below * (length / matrix_bytes);
  // One or two matrices have the addresses of some threads alone: they have no conflicts that matter.
  if (!requests.loads_matrices || below == 0 || matrices % most != 0)
    return fragment_access(evaluator, instruction, operand);
  auto& exprs = evaluator.exprs();
  const ExprId lane = exprs.special(analysis::Special::laneid);
  FragmentAccess access;
  access.bytes = matrix_bytes;
  for (int first = 0; first < matrices; first += most) {
    // Those of a column of matrices lie below each other.
    const int lines = requests.lines;
    const ExprId row = exprs.add(lane, exprs.constant(first * matrix_lines));
    const ExprId column = exprs.floor_divide(row, exprs.constant(lines));
    const ExprId line = exprs.subtract(row, exprs.scale(column, lines));
    access.addresses.push_back(exprs.add(fragment->address, exprs.add(exprs.multiply(line, fragment->pitch),
                                                                      exprs.scale(column, matrix_bytes))));
  }
  return access;
}

}  // namespace warptime::periods
