// Sparse matrices of n rows by vectors, in several formats, with sixteen entries for each row.
#include "device.h"

constexpr int kEntries = 16, kDiagonals = 7;

// ELLPACK by rows: a thread for each row, the entries of a row side by side.
template <class T>
__global__ void ellpack_by_rows(const T* values, const int* columns, const T* x, T* y, int row_width,
                                int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = 0; k < row_width; ++k) {
    const int i = row * row_width + k;
    sum += values[i] * x[columns[i]];
  }
  y[row] = sum;
}

// ELLPACK by columns: entries of the same place in their rows lie side by side.
template <class T>
__global__ void ellpack_by_columns(const T* __restrict__ values, const int* __restrict__ columns,
                                   const T* __restrict__ x, T* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
#pragma unroll 4
  for (int k = 0; k < kEntries; ++k) sum += values[k * rows + row] * x[columns[k * rows + row]];
  y[row] = sum;
}

struct Offsets {
  int at[kDiagonals];
};

// Diagonal format: no column indices, only how far each diagonal is from the main one.
template <class T>
__global__ void diagonal_format(const T* __restrict__ values, Offsets offsets, const T* __restrict__ x,
                                T* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kDiagonals; ++k) {
    const int column = row + offsets.at[k];
    if (column >= 0 && column < rows) sum += values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

// CSR with rows of the same length: a thread for each row, four entries at a time.
__global__ void csr_scalar(const float4* __restrict__ values, const int4* __restrict__ columns,
                           const float* __restrict__ x, float* __restrict__ y, int row_quads, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < row_quads; ++k) {
    const float4 v = values[row * row_quads + k];
    const int4 c = columns[row * row_quads + k];
    sum += v.x * x[c.x] + v.y * x[c.y] + v.z * x[c.z] + v.w * x[c.w];
  }
  y[row] = sum;
}

// CSR with rows of the same length: a warp, or a part of one, for each row.
template <class T, int kLanes>
__global__ void csr_vector(const T* __restrict__ values, const int* __restrict__ columns,
                           const T* __restrict__ x, T* __restrict__ y, int row_width, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  T sum = 0;
  if (row < rows) {
    const int first = row * row_width;
    for (int k = lane; k < row_width; k += kLanes) sum += values[first + k] * x[columns[first + k]];
  }
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, kLanes);
  if (lane == 0 && row < rows) y[row] = sum;
}

// Blocked CSR: a thread for each row of the blocks of 4 x 4.
__global__ void blocked_by_rows(const float4* __restrict__ values, const int* __restrict__ block_columns,
                                const float4* __restrict__ x, float* __restrict__ y, int row_blocks,
                                int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < row_blocks; ++k) {
    const int block = row / 4 * row_blocks + k;
    const float4 v = values[block * 4 + row % 4], from = x[block_columns[block]];
    sum += v.x * from.x + v.y * from.y + v.z * from.z + v.w * from.w;
  }
  y[row] = sum;
}

// Blocked CSR: sixteen threads for each row of blocks, one for each element of a block.
template <class T>
__global__ void blocked_by_elements(const T* __restrict__ values, const int* __restrict__ block_columns,
                                    const T* __restrict__ x, T* __restrict__ y, int row_blocks,
                                    int block_rows) {
  const int block_row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, element = threadIdx.x % 16;
  T sum = 0;
  if (block_row < block_rows) {
    for (int k = 0; k < row_blocks; ++k) {
      const int block = block_row * row_blocks + k;
      sum += values[block * 16 + element] * x[block_columns[block] * 4 + element % 4];
    }
  }
  sum += __shfl_down_sync(0xffffffffu, sum, 2, 4);
  sum += __shfl_down_sync(0xffffffffu, sum, 1, 4);
  if (element % 4 == 0 && block_row < block_rows) y[block_row * 4 + element / 4] = sum;
}

// Coordinate format: a thread for each entry, and atomic sums.
template <class T>
__global__ void coordinate_format(const T* __restrict__ values, const int* __restrict__ entry_rows,
                                  const int* __restrict__ columns, const T* __restrict__ x, T* y,
                                  int entries) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < entries) atomicAdd(&y[entry_rows[i]], values[i] * x[columns[i]]);
}

// Several dense columns, those of a row side by side: a thread for each element of the result.
template <class T>
__global__ void dense_columns(const T* __restrict__ values, const int* __restrict__ columns,
                              const T* __restrict__ x, T* __restrict__ y, int row_width, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, column = threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int k = 0; k < row_width; ++k) {
    const int i = row * row_width + k;
    sum += values[i] * x[columns[i] * blockDim.x + column];
  }
  y[row * blockDim.x + column] = sum;
}

// Several dense columns, one after another in memory: a thread for each row, with a sum for each column.
template <class T, int kColumns>
__global__ void dense_columns_at_once(const T* __restrict__ values, const int* __restrict__ columns,
                                      const T* __restrict__ x, T* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sums[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) sums[c] = 0;
  for (int k = 0; k < kEntries; ++k) {
    const T value = values[k * rows + row];
    const int from = columns[k * rows + row];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[c] += value * x[c * rows + from];
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) y[c * rows + row] = sums[c];
}

void run(int n) {
  const int entries = kEntries * n, stride = n / 64;
  float* values = device_floats(entries);
  double* double_values = device_doubles(entries);
  // A band about the main diagonal, row by row.
  int* banded = device_array<int>(entries, [n](int i) { return (i / 16 + i % 16 - 8 + n) % n; });
  // Rows of 64 entries, far from one another.
  int* strided =
      device_array<int>(entries, [n, stride](int i) { return (i / 64 * 4 + i % 64 * stride) % n; });
  // Rows of 16 entries, far from one another, first entries of all rows first.
  int* strided_by_columns =
      device_array<int>(entries, [n, stride](int i) { return (i % n + i / n * (4 * stride)) % n; });
  int* rows_in_order = device_array<int>(entries, [](int i) { return i / 16; });
  int* rows_in_turn = device_array<int>(entries, [n](int i) { return i % n; });
  int* block_columns = device_array<int>(n, [n](int i) { return (i / 4 + i % 4 + n / 4 - 1) % (n / 4); });
  float* x = device_floats(8 * n);
  float* y = device_zeros<float>(8 * n);
  double* double_x = device_doubles(4 * n);
  double* double_y = device_zeros<double>(4 * n);
  int side = 1;
  while ((side + 1) * (side + 1) * (side + 1) <= n) ++side;
  const Offsets offsets = {{-side * side, -side, -1, 0, 1, side, side * side}};
  for (int r = 0; r < kLaunches; ++r)
    ellpack_by_rows<<<ceil_div(n, 128), 128>>>(values, banded, x, y, kEntries, n);
  for (int r = 0; r < kLaunches; ++r)
    ellpack_by_columns<<<ceil_div(n, 256), 256>>>(values, strided_by_columns, x, y, n);
  for (int r = 0; r < kLaunches; ++r)
    ellpack_by_columns<<<ceil_div(n, 128), 128>>>(double_values, strided_by_columns, double_x, double_y, n);
  for (int r = 0; r < kLaunches; ++r) diagonal_format<<<ceil_div(n, 256), 256>>>(values, offsets, x, y, n);
  for (int r = 0; r < kLaunches; ++r)
    diagonal_format<<<ceil_div(n, 512), 512>>>(double_values, offsets, double_x, double_y, n);
  for (int r = 0; r < kLaunches; ++r)
    csr_scalar<<<ceil_div(n, 256), 256>>>((float4*)values, (int4*)banded, x, y, 4, n);
  for (int r = 0; r < kLaunches; ++r)
    csr_scalar<<<ceil_div(n / 4, 64), 64>>>((float4*)values, (int4*)strided, x, y, 16, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    csr_vector<float, 32><<<ceil_div(n / 4, 8), 256>>>(values, strided, x, y, 64, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    csr_vector<double, 8><<<ceil_div(n, 16), 128>>>(double_values, banded, double_x, double_y, kEntries, n);
  for (int r = 0; r < kLaunches; ++r)
    blocked_by_rows<<<ceil_div(n, 128), 128>>>((float4*)values, block_columns, (float4*)x, y, 4, n);
  for (int r = 0; r < kLaunches; ++r)
    blocked_by_elements<<<ceil_div(n / 4, 16), 256>>>(double_values, block_columns, double_x, double_y, 4,
                                                      n / 4);
  for (int r = 0; r < kLaunches; ++r)
    coordinate_format<<<ceil_div(entries, 256), 256>>>(values, rows_in_order, banded, x, y, entries);
  for (int r = 0; r < kLaunches; ++r)
    coordinate_format<<<ceil_div(entries, 512), 512>>>(double_values, rows_in_turn, strided_by_columns,
                                                       double_x, double_y, entries);
  for (int r = 0; r < kLaunches; ++r)
    dense_columns<<<ceil_div(n, 32), dim3(8, 32)>>>(values, banded, x, y, kEntries, n);
  for (int r = 0; r < kLaunches; ++r)
    dense_columns_at_once<double, 4>
        <<<ceil_div(n, 128), 128>>>(double_values, strided_by_columns, double_x, double_y, n);
  free_all(values, double_values, banded, strided, strided_by_columns, rows_in_order, rows_in_turn,
           block_columns);
  free_all(x, y, double_x, double_y);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sparse_formats");
}
