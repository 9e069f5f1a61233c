// Few threads that wait: chains of loads over n words, of arithmetic, of stores and loads, of barriers.
#include "device.h"

__global__ void follow(const int* next, int* out, int steps) {
  int at = threadIdx.x + blockIdx.x * 32;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void through_memory(float* data, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < steps; ++k) data[i] = data[i] * 0.5f + 1;
}

__global__ void independent_chains(const float* in, float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], b = a + 1, c = a + 2, d = a + 3;
  for (int k = 0; k < steps; ++k) {
    a = a * 0.99f + 0.01f;
    b = b * 0.99f + 0.01f;
    c = c * 0.99f + 0.01f;
    d = d * 0.99f + 0.01f;
  }
  out[i] = a + b + c + d;
}

__global__ void barriers(float* data, int steps) {
  __shared__ float part[1024];
  const int t = threadIdx.x, other = t + 1 < blockDim.x ? t + 1 : 0;
  part[t] = data[blockIdx.x * blockDim.x + t];
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    const float value = part[other];
    __syncthreads();
    part[t] = value + 1;
  }
  data[blockIdx.x * blockDim.x + t] = part[t];
}

__global__ void conflicts(int* data, int stride, int steps) {
  __shared__ int part[1024];
  const int t = threadIdx.x;
  for (int i = t; i < 1024; i += blockDim.x) part[i] = (i + stride * 32) % 1024;
  __syncthreads();
  int at = t * stride % 1024;
  for (int k = 0; k < steps; ++k) at = part[at];
  data[blockIdx.x * blockDim.x + t] = at;
}

__global__ void nothing() {}

void run(int n) {
  // Steps of 33 words and a bit, so that each load is of another line.
  int* next = device_array<int>(n, [n](int i) { return static_cast<int>((i + 67LL * 33) % n); });
  float* data = device_floats(1 << 20);
  const int few = n / 4096 < 1024 ? n / 4096 : 1024;
  for (int r = 0; r < kLaunches; ++r) follow<<<1, 32>>>(next, (int*)data, 2000);
  for (int r = 0; r < kLaunches; ++r) follow<<<ceil_div(n, 16384), 64>>>(next, (int*)data, 100);
  for (int r = 0; r < kLaunches; ++r) through_memory<<<few, 128>>>(data, 50);
  for (int r = 0; r < kLaunches; ++r) independent_chains<<<few, 64>>>(data, data, 200);
  for (int r = 0; r < kLaunches; ++r) barriers<<<few, 128>>>(data, 100);
  for (int r = 0; r < kLaunches; ++r) barriers<<<few, 1024>>>(data, 100);
  for (int r = 0; r < kLaunches; ++r) conflicts<<<few, 32>>>((int*)data, 1, 100);
  for (int r = 0; r < kLaunches; ++r) conflicts<<<few, 64>>>((int*)data, 8, 100);
  for (int r = 0; r < kLaunches; ++r) conflicts<<<few, 128>>>((int*)data, 32, 100);
  for (int r = 0; r < kLaunches; ++r) nothing<<<few, 256>>>();
  free_all(next, data);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("chains");
}
