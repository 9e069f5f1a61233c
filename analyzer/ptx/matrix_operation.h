// What the opcodes of matrix instructions say: the shape, the types, and which fragment is loaded or stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warptime::ptx {

struct MatrixOperation {
  enum class Kind : std::uint8_t {
    load,      // wmma.load: a fragment from memory
    store,     // wmma.store
    multiply,  // mma, wmma.mma, wgmma.mma_async
  } kind = Kind::multiply;
  bool of_wmma = false, of_group = false;  // wmma; wgmma
  char fragment = 'd';                     // of a load or store: a, b, c or d
  bool row_major = true;                   // likewise: how it lies in memory
  int m = 0, n = 0, k = 0;                 // of the product
  // Of the elements: of the fragment, or of the factors.
  int bits = 16;
  bool floating = true;
  std::int64_t products = 0;  // multiplications and additions of one element each
};

// Nothing: it is none of these, or its shape and types are none that PTX has.
std::optional<MatrixOperation> matrix_operation(std::string_view opcode);

// The requests that a wmma.load or wmma.store becomes: as ptxas 13.0 makes them for sm_80 to sm_120. Thread t of a warp moves
// `bytes` in each, `threads_per_line` of them side by side in one line (a row, or a column) of the fragment and the others in
// the lines behind it.
struct FragmentRequests {
  int bytes = 4;
  int threads_per_line = 4;
  int lines = 0;   // of the fragment
  int pieces = 0;  // requests for the whole length of a line
  int element_bytes = 2;
  bool loads_matrices = false;  // whether ptxas loads it from shared memory with ldmatrix
  int moves_per_request = 0;    // movmatrix that transpose what was loaded, or is stored

  int lines_per_request() const { return 32 / threads_per_line < lines ? 32 / threads_per_line : lines; }
  int requests() const { return pieces * (lines / lines_per_request()); }
};
// Nothing: a type of less than a byte, or no load or store.
std::optional<FragmentRequests> fragment_requests(const MatrixOperation& operation);

}  // namespace warptime::ptx
