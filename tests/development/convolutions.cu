// Convolutions of lines, of images n wide and high, and of 16 channels of an image a quarter as wide and high.
#include "device.h"

__constant__ float mask_line[17];
__constant__ float mask_square[25];

__global__ void line_constant(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; ++k)
    if (i + k >= 0 && i + k < n) sum += mask_line[k + 8] * in[i + k];
  out[i] = sum;
}

__global__ void line_shared(const float* in, float* out, int radius, int n) {
  extern __shared__ float part[];
  const int first = blockIdx.x * blockDim.x - radius;
  for (int t = threadIdx.x; t < blockDim.x + 2 * radius; t += blockDim.x) {
    const int i = first + t;
    part[t] = i >= 0 && i < n ? in[i] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += mask_line[k % 17] * part[threadIdx.x + k];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sum;
}

__global__ void square_global(const float* in, const float* mask, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int v = -2; v <= 2; ++v)
    for (int u = -2; u <= 2; ++u) {
      const int i = min(max(x + u, 0), width - 1), j = min(max(y + v, 0), height - 1);
      sum += mask[(v + 2) * 5 + u + 2] * in[j * width + i];
    }
  out[y * width + x] = sum;
}

__global__ void square_shared(const float* in, float* out, int width, int height) {
  __shared__ float tile[20][20];
  const int left = blockIdx.x * 16 - 2, top = blockIdx.y * 16 - 2;
  for (int t = threadIdx.y * 16 + threadIdx.x; t < 400; t += 256) {
    const int x = left + t % 20, y = top + t / 20;
    tile[t / 20][t % 20] = x >= 0 && y >= 0 && x < width && y < height ? in[y * width + x] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int v = 0; v < 5; ++v)
#pragma unroll
    for (int u = 0; u < 5; ++u) sum += mask_square[v * 5 + u] * tile[threadIdx.y + v][threadIdx.x + u];
  const int x = left + 2 + threadIdx.x, y = top + 2 + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = sum;
}

__global__ void columns(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y < 8 || y >= height - 8) return;
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; ++k) sum += mask_line[k + 8] * in[(y + k) * width + x];
  out[y * width + x] = sum;
}

// 3 x 3 over all input channels; a thread makes a point of one output channel.
__global__ void channels_direct(const float* in, const float* weights, float* out, int channels, int width,
                                int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.z;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0;
  for (int c = 0; c < channels; ++c)
#pragma unroll
    for (int v = -1; v <= 1; ++v)
#pragma unroll
      for (int u = -1; u <= 1; ++u)
        sum +=
            weights[((to * channels + c) * 3 + v + 1) * 3 + u + 1] * in[(c * height + y + v) * width + x + u];
  out[(to * height + y) * width + x] = fmaxf(sum, 0);
}

void run(int n) {
  const int count = n * n, small = n / 4;
  float mask[25];
  for (int i = 0; i < 25; ++i) mask[i] = 1.0f / (i + 1);
  cudaMemcpyToSymbol(mask_line, mask, 17 * sizeof(float));
  cudaMemcpyToSymbol(mask_square, mask, 25 * sizeof(float));
  float* in = device_floats(count);
  float* out = device_zeros<float>(count);
  float* weights = device_floats(16 * 16 * 9);
  const dim3 square(16, 16), flat(32, 8), tall(64, 2);
  const dim3 squares(ceil_div(n, 16), ceil_div(n, 16));
  for (int r = 0; r < kLaunches; ++r) line_constant<<<ceil_div(count, 256), 256>>>(in, out, count);
  for (int r = 0; r < kLaunches; ++r)
    line_shared<<<ceil_div(count, 128), 128, (128 + 2 * 32) * sizeof(float)>>>(in, out, 32, count);
  for (int r = 0; r < kLaunches; ++r)
    square_global<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), flat>>>(in, weights, out, n, n);
  for (int r = 0; r < kLaunches; ++r) square_shared<<<squares, square>>>(in, out, n, n);
  for (int r = 0; r < kLaunches; ++r) columns<<<dim3(ceil_div(n, 64), ceil_div(n, 2)), tall>>>(in, out, n, n);
  for (int r = 0; r < kLaunches; ++r)
    channels_direct<<<dim3(ceil_div(small, 32), ceil_div(small, 8), 16), flat>>>(in, weights, out, 16, small,
                                                                                 small);
  free_all(in, out, weights);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("convolutions");
}
