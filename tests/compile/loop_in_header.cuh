#pragma once
__device__ inline float sum(const float* a, int n) {
  float s = 0;
  while (n-- > 0) s += a[n];
  return s;
}
