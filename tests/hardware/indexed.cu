// Addresses and trip counts that arrays hold.
#include "device.h"

__global__ void gather(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

__global__ void histogram_global(const int* keys, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] % 256], 1);
}

__global__ void histogram_shared(const int* keys, int* bins, int n) {
  __shared__ int part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&part[keys[i] % 256], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}

__global__ void sparse_rows(const int* first, const int* columns, const float* values, const float* x,
                            float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = first[row]; k < first[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

int main() {
  const int n = 100000, rows = 10000;
  float* in = device_floats(n);
  float* out = device_floats(n);
  int* near = device_array<int>(n, [](int i) { return (i * 3) % 100000; });
  int* far = device_array<int>(n, [](int i) { return static_cast<int>(i * 7919LL % 100000); });
  int* bins = device_array<int>(256, [](int) { return 0; });
  // Row r has r % 8 + 1 entries.
  int* first = device_array<int>(rows + 1, [](int r) { return r / 8 * 36 + (r % 8) * (r % 8 + 1) / 2; });
  for (int run = 0; run < kRuns; ++run) gather<<<ceil_div(n, 256), 256>>>(in, near, out, n);
  for (int run = 0; run < kRuns; ++run) gather<<<ceil_div(n, 256), 256>>>(in, far, out, n);
  for (int run = 0; run < kRuns; ++run) scatter<<<ceil_div(n, 256), 256>>>(in, far, out, n);
  for (int run = 0; run < kRuns; ++run) histogram_global<<<ceil_div(n, 256), 256>>>(far, bins, n);
  for (int run = 0; run < kRuns; ++run) histogram_shared<<<60, 256>>>(far, bins, n);
  for (int run = 0; run < kRuns; ++run)
    sparse_rows<<<ceil_div(rows, 128), 128>>>(first, far, in, in, out, rows);
  return finish("indexed");
}
