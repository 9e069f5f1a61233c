// What products of matrices become, and how long they hold the tensor pipe of a partition.
//
// Of compute capability 9.0 measured on an H100 (tests/hardware/matrix_products.cu, data/hardware/h100_matrix_products.csv):
// mma reaches 64% of what wgmma does. Others as NVIDIA's data sheets and architecture white papers have it: multiplications and
// additions of halves that an SM makes in a cycle, 512 on Volta, Turing, GA10x, Ada and consumer Blackwell, 1,024 on GA100.
// GeForce boards of these make half as many where sums are of single precision, which their compute capability does not tell.
// Of compute capability 10.0 as of 9.0.
#pragma once

#include "analyzer/ptx/matrix_operation.h"

namespace warptime::machine {

struct MatrixWork {
  double instructions = 1;  // of the machine, for each warp
  double cycles = 0;        // for which one holds the pipe
  double latency = 0;       // until the next can use its result
};
// target: 90 of sm_90. Of a product.
MatrixWork matrix_work(const ptx::MatrixOperation& operation, int target);

}  // namespace warptime::machine
