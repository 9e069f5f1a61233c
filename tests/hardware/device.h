// What the programs of this folder share: arrays on the device, and each case launched twice, so that the second
// launch finds the caches as the first one left them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRuns = 2;

inline int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

// An array of `count` elements on the device, element i being `value(i)`.
template <class T, class Value>
T* device_array(int count, Value value) {
  std::vector<T> host(count);
  for (int i = 0; i < count; ++i) host[i] = value(i);
  T* device = nullptr;
  if (cudaMalloc((void**)&device, count * sizeof(T)) != cudaSuccess) {
    fprintf(stderr, "no memory for %d elements\n", count);
    exit(1);
  }
  cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

inline float* device_floats(int count) {
  return device_array<float>(count, [](int i) { return static_cast<float>(i % 1000) / 1000; });
}

inline int finish(const char* name) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
