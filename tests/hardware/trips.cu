// Loops whose trip counts depend on the thread, the warp or the block.
#include "device.h"

__global__ void lower_row_sums(const float* matrix, float* sums, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int column = 0; column <= row; ++column) sum += matrix[row * n + column];
  sums[row] = sum;
}

__global__ void lower_column_sums(const float* matrix, float* sums, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int row = column; row < n; ++row) sum += matrix[row * n + column];
  sums[column] = sum;
}

__global__ void by_warp(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
  float sum = 0;
  for (int k = 0; k <= warp; ++k) sum += in[i + k * n];
  out[i] = sum;
}

__global__ void by_block(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < static_cast<int>(blockIdx.x) % 16; ++k) sum += in[i + k * n];
  out[i] = sum;
}

__global__ void by_row_of_blocks(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k <= y; k += 8) sum += in[k * width + x];
  out[y * width + x] = sum;
}

__global__ void grid_stride(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * 2;
}

int main() {
  const int n = 1000, elements = 131072;
  float* in = device_floats(16 * elements);
  float* out = device_floats(16 * elements);
  for (int run = 0; run < kRuns; ++run) lower_row_sums<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) lower_row_sums<<<ceil_div(n, 32), 32>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) lower_column_sums<<<ceil_div(n, 128), 128>>>(in, out, n);
  for (int run = 0; run < kRuns; ++run) by_warp<<<elements / 256, 256>>>(in, out, elements);
  for (int run = 0; run < kRuns; ++run) by_block<<<elements / 256, 256>>>(in, out, elements);
  for (int run = 0; run < kRuns; ++run) by_row_of_blocks<<<dim3(16, 32), dim3(32, 8)>>>(in, out, 512);
  for (int run = 0; run < kRuns; ++run) by_row_of_blocks<<<dim3(32, 16), dim3(16, 16)>>>(in, out, 512);
  for (int run = 0; run < kRuns; ++run) grid_stride<<<100, 256>>>(in, out, 100000);
  return finish("trips");
}
