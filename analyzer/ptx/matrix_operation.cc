#include "analyzer/ptx/matrix_operation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

namespace warptime::ptx {
namespace {

struct ElementType {
  std::string_view name;
  int bits;
  bool floating;
};
constexpr std::array<ElementType, 18> kTypes = {{{"f16", 16, true},
                                                 {"bf16", 16, true},
                                                 {"tf32", 32, true},
                                                 {"f32", 32, true},
                                                 {"f64", 64, true},
                                                 {"s32", 32, false},
                                                 {"s8", 8, false},
                                                 {"u8", 8, false},
                                                 {"s4", 4, false},
                                                 {"u4", 4, false},
                                                 {"b1", 1, false},
                                                 {"e4m3", 8, true},
                                                 {"e5m2", 8, true},
                                                 {"e2m1", 4, true},
                                                 {"e3m2", 8, true},
                                                 {"e2m3", 8, true},
                                                 {"ue8m0", 8, true},
                                                 {"ue4m3", 8, true}}};
const ElementType* find_type(std::string_view word) {
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.name == word; });
  return found == kTypes.end() ? nullptr : &*found;
}

// m16n8k16
bool read_shape(std::string_view word, MatrixOperation& operation) {
  std::array<int*, 3> to = {&operation.m, &operation.n, &operation.k};
  std::size_t at = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (at >= word.size() || word[at] != "mnk"[i]) return false;
    const char* const end = word.data() + word.size();
    const auto [behind, error] = std::from_chars(word.data() + at + 1, end, *to[i]);
    if (error != std::errc() || *to[i] < 1 || *to[i] > 1024) return false;
    at = static_cast<std::size_t>(behind - word.data());
  }
  return at == word.size();
}

std::vector<std::string_view> words_of(std::string_view opcode) {
  std::vector<std::string_view> words;
  while (!opcode.empty()) {
    const auto end = std::min(opcode.find('.'), opcode.size());
    words.push_back(opcode.substr(0, end));
    opcode.remove_prefix(std::min(end + 1, opcode.size()));
  }
  return words;
}

}  // namespace

std::optional<MatrixOperation> matrix_operation(std::string_view opcode) {
  if (!opcode.starts_with("mma.") && !opcode.starts_with("wmma.") && !opcode.starts_with("wgmma.mma"))
    return std::nullopt;
  const auto words = words_of(opcode);
  if (words.size() < 2) return std::nullopt;
  MatrixOperation operation;
  operation.of_wmma = words[0] == "wmma";
  operation.of_group = words[0] == "wgmma";
  if (operation.of_wmma && words[1] == "load") operation.kind = MatrixOperation::Kind::load;
  if (operation.of_wmma && words[1] == "store") operation.kind = MatrixOperation::Kind::store;
  bool shape = false, sparse = false, layout = false;
  std::vector<const ElementType*> types;
  for (const std::string_view word : words) {
    if (!shape && word.starts_with("m") && word.find('k') != std::string_view::npos)
      shape = read_shape(word, operation);
    if (word.size() == 1 && operation.kind != MatrixOperation::Kind::multiply) operation.fragment = word[0];
    if ((word == "row" || word == "col") && !layout) operation.row_major = word == "row", layout = true;
    sparse = sparse || word == "sp";
    if (const ElementType* type = find_type(word)) types.push_back(type);
  }
  if (!shape || types.empty()) return std::nullopt;
  // Of a product: the types of d, a, b and c; of halves those of d and c alone; of a warp group d, a and b.
  const bool halves = operation.of_wmma && types.size() == 2;
  const ElementType half = {"f16", 16, true};
  const ElementType& type = operation.kind != MatrixOperation::Kind::multiply ? *types.front()
                            : halves                                          ? half
                                     : *types[types.size() > 1 ? 1 : 0];
  operation.bits = type.bits;
  operation.floating = type.floating;
  operation.products = static_cast<std::int64_t>(operation.m) * operation.n * operation.k / (sparse ? 2 : 1);
  return operation;
}

std::optional<FragmentRequests> fragment_requests(const MatrixOperation& operation) {
  if (operation.kind == MatrixOperation::Kind::multiply || operation.bits < 8) return std::nullopt;
  const char of = operation.fragment;
  const bool factor = of == 'a' || of == 'b';
  const int rows = of == 'b' ? operation.k : operation.m, columns = of == 'a' ? operation.k : operation.n;
  FragmentRequests requests;
  requests.element_bytes = operation.bits / 8;
  requests.lines = operation.row_major ? rows : columns;
  // mma.m16n8k16 has its factors in pairs along k, which is the length of a line of a in rows and of b in columns; its
  // result in pairs along n. The product of 8 by 32 matrices is made as that of 32 by 8, transposed.
  const bool turned = operation.m < operation.n;
  const bool along = factor ? operation.row_major == (of == 'a') : operation.row_major != turned;
  requests.loads_matrices = operation.kind == MatrixOperation::Kind::load && factor &&
                            (operation.bits == 16 || (operation.bits == 8 && along));
  if (operation.bits == 16) {
    requests.moves_per_request = along ? 0 : 1;
  } else if (factor && operation.bits == 8) {
    requests.bytes = along ? 4 : 1;
    requests.threads_per_line = along ? 4 : 8;
  } else if (factor) {
    requests.bytes = requests.element_bytes;
    requests.threads_per_line = along ? 4 : 8;
  } else {
    requests.bytes = requests.element_bytes * (along ? 2 : 1);
    requests.threads_per_line = along ? 4 : 8;
  }
  const int length = (operation.row_major ? columns : rows) * requests.element_bytes;
  const int piece = requests.threads_per_line * requests.bytes;
  if (length % piece != 0 || requests.lines % requests.lines_per_request() != 0) return std::nullopt;
  requests.pieces = length / piece;
  constexpr int most = 16;  // PTX has no larger fragments
  if (requests.requests() > most) return std::nullopt;
  return requests;
}

}  // namespace warptime::ptx
