// What the programs of this folder share. Each takes the sizes as its arguments and launches each of its kernels
// kLaunches times for each of them: the first launch is the warm-up, and the others find the caches as it left them.
#pragma once

#include <cstring>

#include "../hardware/device.h"

#ifndef LAUNCHES
#define LAUNCHES 5
#endif
constexpr int kLaunches = LAUNCHES;

inline int* device_ints(int count, int below) {
  return device_array<int>(count, [below](int i) {
    return static_cast<int>((static_cast<unsigned>(i) * 2654435761u >> 7) % static_cast<unsigned>(below));
  });
}

// The bits of a number, for arrays of structures that are filled as whole numbers.
inline int bits_of(float value) {
  int bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline double* device_doubles(int count) {
  return device_array<double>(count, [](int i) { return (i % 1000) / 1000.0; });
}

// Numbers from zero to one that follow no order.
inline float hashed_unit(unsigned i) {
  i *= 2654435761u;
  i = (i ^ i >> 15) * 2246822519u;
  i = (i ^ i >> 13) * 3266489917u;
  return ((i ^ i >> 16) >> 8) / 16777216.0f;
}

// `count` elements of zero bytes.
template <class T>
T* device_zeros(int count) {
  T* device = nullptr;
  if (cudaMalloc((void**)&device, count * sizeof(T)) != cudaSuccess) {
    fprintf(stderr, "no memory for %d elements\n", count);
    exit(1);
  }
  cudaMemset(device, 0, count * sizeof(T));
  return device;
}

template <class... Pointers>
void free_all(Pointers... pointers) {
  (cudaFree(pointers), ...);
}
