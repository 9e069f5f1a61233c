// Networks that remember: n sequences, 256 hidden values each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "device.h"

__device__ float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

// The four gates of a cell with a long memory.
__global__ void long_memory(const float* gates, const float* bias, float* cells, float* hidden, int width,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * width) return;
  const int row = i / width, column = i % width;
  const float* own = gates + row * 4 * width + column;
  const float in = sigmoid(own[0] + bias[column]), keep = sigmoid(own[width] + bias[width + column]);
  const float out = sigmoid(own[3 * width] + bias[3 * width + column]);
  const float cell = keep * cells[i] + in * tanhf(own[2 * width] + bias[2 * width + column]);
  cells[i] = cell;
  hidden[i] = out * tanhf(cell);
}

// Three gates in bfloat16, two values for each thread.
__global__ void short_gates(const __nv_bfloat162* gates, __nv_bfloat162* hidden, int pairs, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const __nv_bfloat162* own = gates + i / pairs * 3 * pairs + i % pairs;
    const float2 reset = __bfloat1622float2(own[0]), update = __bfloat1622float2(own[pairs]);
    const float2 next = __bfloat1622float2(own[2 * pairs]), before = __bfloat1622float2(hidden[i]);
    const float zx = 1 / (1 + __expf(-update.x)), zy = 1 / (1 + __expf(-update.y));
    const float nx = tanhf(next.x + before.x / (1 + __expf(-reset.x)));
    const float ny = tanhf(next.y + before.y / (1 + __expf(-reset.y)));
    hidden[i] = __floats2bfloat162_rn(zx * before.x + (1 - zx) * nx, zy * before.y + (1 - zy) * ny);
  }
}

// The hidden values times the weights of the gates: 16 rows and 64 columns for each warp, by matrix instructions.
__global__ void gate_products(const half* hidden, const half* weights, float* gates, int depth, int columns) {
  using namespace nvcuda;
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 64;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
#pragma unroll
  for (int t = 0; t < 4; ++t) wmma::fill_fragment(sum[t], 0.0f);
  for (int k = 0; k < depth; k += 16) {
    wmma::load_matrix_sync(a, hidden + row * depth + k, depth);
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      wmma::load_matrix_sync(b, weights + k * columns + column + 16 * t, columns);
      wmma::mma_sync(sum[t], a, b, sum[t]);
    }
  }
#pragma unroll
  for (int t = 0; t < 4; ++t)
    wmma::store_matrix_sync(gates + row * columns + column + 16 * t, sum[t], columns, wmma::mem_row_major);
}

// A whole sequence in one block: the weights stay in shared memory, a hidden value for each thread.
template <int kHidden>
__global__ void whole_sequences(const float* weights, const float* inputs, float* out, int steps) {
  __shared__ float own[kHidden][kHidden + 1];
  __shared__ float hidden[2][kHidden];
  const int t = threadIdx.x;
  for (int k = 0; k < kHidden; ++k) own[k][t] = weights[k * kHidden + t] - 0.5f;
  hidden[0][t] = 0;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    float sum = inputs[(blockIdx.x * steps + step) * kHidden + t];
#pragma unroll 8
    for (int k = 0; k < kHidden; ++k) sum += own[t][k] * hidden[step % 2][k];
    hidden[1 - step % 2][t] = tanhf(sum);
    __syncthreads();
  }
  out[blockIdx.x * kHidden + t] = hidden[steps % 2][t];
}

// The likelihood of 31 labels over 64 times, all ways to spread them: logarithms of sums, a block for a sequence.
__global__ void label_likelihoods(const float* logs, const int* labels, float* out, int times) {
  __shared__ float ways[2][66];
  const int t = threadIdx.x;
  const int label = t % 2 ? labels[blockIdx.x * 32 + t / 2] : 0;
  const int before = t > 2 && t % 2 ? labels[blockIdx.x * 32 + t / 2 - 1] : label;
  if (t < 2) ways[0][t] = ways[1][t] = -1e30f;
  ways[0][t + 2] = t < 2 ? logs[blockIdx.x * times * 32 + label] : -1e30f;
  __syncthreads();
  for (int step = 1; step < times; ++step) {
    const float* from = ways[(step + 1) % 2];
    const float a = from[t + 2], b = from[t + 1], c = label != before ? from[t] : -1e30f;
    const float most = fmaxf(a, fmaxf(b, c));
    const float sum = most + logf(expf(a - most) + expf(b - most) + expf(c - most));
    ways[step % 2][t + 2] = sum + logs[(blockIdx.x * times + step) * 32 + label];
    __syncthreads();
  }
  if (t == 62) out[blockIdx.x] = ways[(times + 1) % 2][t + 2];
}

void run(int n) {
  const int width = 256, times = 64;
  float* gates = device_floats(4 * width * n);
  float* bias = device_floats(16 * width);
  float* cells = device_zeros<float>(width * n);
  float* hidden = device_zeros<float>(width * n);
  float* inputs = device_floats(n / 4 * times * 64);
  int* labels = device_ints(32 * n, 32);
  unsigned short* halves = device_array<unsigned short>(
      width * n, [](int i) { return static_cast<unsigned short>(0x2c00 + i % 2048); });
  unsigned short* weights = device_array<unsigned short>(
      width * 4 * width, [](int i) { return static_cast<unsigned short>(0x2800 + i % 1777); });
  unsigned short* shorts = device_array<unsigned short>(
      4 * width * n, [](int i) { return static_cast<unsigned short>(0x3f00 + i % 128); });
  for (int r = 0; r < kLaunches; ++r)
    long_memory<<<ceil_div(width * n, 256), 256>>>(gates, bias, cells, hidden, width, n);
  for (int r = 0; r < kLaunches; ++r)
    short_gates<<<528, 256>>>((__nv_bfloat162*)shorts, (__nv_bfloat162*)halves, width / 2, width / 2 * n);
  for (int r = 0; r < kLaunches; ++r)
    gate_products<<<dim3(4, n / 16), 128>>>((half*)halves, (half*)weights, gates, width, 4 * width);
  for (int r = 0; r < kLaunches; ++r) whole_sequences<64><<<n / 4, 64>>>(bias, inputs, hidden, times);
  for (int r = 0; r < kLaunches; ++r) label_likelihoods<<<n / 4, 64>>>(inputs, labels, hidden, times);
  free_all(gates, bias, cells, hidden, inputs, labels, halves, weights, shorts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("recurrent_cells");
}
