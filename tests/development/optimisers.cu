// A step of n weights against their gradient, by the rules of several methods.
#include <cuda_fp16.h>

#include "device.h"

// With a memory of the steps before: as it is written down.
__global__ void momentum(float* weights, const float* gradients, float* velocities, float rate, float keep,
                         float decay, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    velocities[i] = keep * velocities[i] + gradients[i] + decay * weights[i];
    weights[i] -= rate * (gradients[i] + keep * velocities[i]);
  }
}

// Means of the gradient and of its square, both corrected for their start: four weights for each thread.
__global__ void two_moments(float4* __restrict__ weights, const float4* __restrict__ gradients,
                            float4* __restrict__ means, float4* __restrict__ squares, float rate, float keep,
                            float keep_squares, int step, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float first = 1 - powf(keep, step), second = 1 - powf(keep_squares, step);
  float4 w = weights[i], m = means[i], v = squares[i];
  const float4 g = gradients[i];
  float* wk = &w.x;
  float* mk = &m.x;
  float* vk = &v.x;
  const float* gk = &g.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    mk[k] = keep * mk[k] + (1 - keep) * gk[k];
    vk[k] = keep_squares * vk[k] + (1 - keep_squares) * gk[k] * gk[k];
    wk[k] -= rate * (mk[k] / first / (sqrtf(vk[k] / second) + 1e-8f) + 0.01f * wk[k]);
  }
  weights[i] = w;
  means[i] = m;
  squares[i] = v;
}

// Without a rate, in double precision: the steps' own squares say how far to go.
__global__ void by_step_sizes(double* weights, const double* gradients, double* squares, double* steps,
                              double keep, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double g = gradients[i], square = keep * squares[i] + (1 - keep) * g * g;
  const double step = sqrt((steps[i] + 1e-6) / (square + 1e-6)) * g;
  squares[i] = square;
  steps[i] = keep * steps[i] + (1 - keep) * step * step;
  weights[i] -= step;
}

// Gradients in half precision that were scaled up, and weights in both: two of them for each thread, in a loop.
__global__ void half_gradients(float2* weights, __half2* copies, const __half2* gradients, float2* squares,
                               float rate, float scale, int pairs) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    float2 g = __half22float2(gradients[i]), w = weights[i], s = squares[i];
    g.x /= scale;
    g.y /= scale;
    s.x = 0.99f * s.x + 0.01f * g.x * g.x;
    s.y = 0.99f * s.y + 0.01f * g.y * g.y;
    w.x -= rate * g.x * rsqrtf(s.x + 1e-6f);
    w.y -= rate * g.y * rsqrtf(s.y + 1e-6f);
    weights[i] = w;
    squares[i] = s;
    copies[i] = __float22half2_rn(w);
  }
}

__device__ float block_sum(float value, float* part) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += part[k];
  return sum;
}

// A row of 2048 weights is moved as far as its length is to that of its step.
__global__ void trusted_rows(float* weights, const float* gradients, float rate) {
  __shared__ float part[8];
  float w[8], g[8], length = 0, step = 0;
  const int first = blockIdx.x * 2048 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    w[k] = weights[first + k * 256];
    g[k] = gradients[first + k * 256] + 0.01f * w[k];
    length += w[k] * w[k];
    step += g[k] * g[k];
  }
  length = block_sum(length, part);
  step = block_sum(step, part);
  const float trust = rate * sqrtf(length) / (sqrtf(step) + 1e-6f);
#pragma unroll
  for (int k = 0; k < 8; ++k) weights[first + k * 256] = w[k] - trust * g[k];
}

// Rows and columns of a matrix have one mean square each, in place of one for each weight.
__global__ void rows_and_columns(float* weights, const float* gradients, const float* rows,
                                 const float* columns, float rate, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float size = rows[y] * columns[x] + 1e-3f;
  weights[y * width + x] -= rate * gradients[y * width + x] / sqrtf(size);
}

void run(int n) {
  float* weights = device_floats(n);
  float* gradients = device_floats(n);
  float* first = device_zeros<float>(n);
  float* second = device_zeros<float>(n);
  double* doubles = device_doubles(n);
  double* squares = device_doubles(n);
  unsigned short* halves =
      device_array<unsigned short>(n, [](int i) { return static_cast<unsigned short>(0x2c00 + i % 4096); });
  const int width = 1024, height = n / width;
  for (int r = 0; r < kLaunches; ++r)
    momentum<<<ceil_div(n, 256), 256>>>(weights, gradients, first, 0.001f, 0.9f, 0.0001f, n);
  for (int r = 0; r < kLaunches; ++r)
    two_moments<<<ceil_div(n / 4, 128), 128>>>((float4*)weights, (float4*)gradients, (float4*)first,
                                               (float4*)second, 0.001f, 0.9f, 0.999f, 10, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    by_step_sizes<<<ceil_div(n / 2, 192), 192>>>(doubles, squares, doubles + n / 2, squares + n / 2, 0.95,
                                                 n / 2);
  for (int r = 0; r < kLaunches; ++r)
    half_gradients<<<792, 256>>>((float2*)weights, (__half2*)first, (__half2*)halves, (float2*)second, 0.001f,
                                 1024.0f, n / 2);
  for (int r = 0; r < kLaunches; ++r) trusted_rows<<<n / 2048, 256>>>(weights, gradients, 0.001f);
  for (int r = 0; r < kLaunches; ++r)
    rows_and_columns<<<dim3(width, ceil_div(height, 256)), dim3(1, 256)>>>(
        weights, gradients, second, second + height, 0.001f, width, height);
  free_all(weights, gradients, first, second, halves, doubles, squares);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("optimisers");
}
