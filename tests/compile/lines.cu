#include <algorithm>
__device__ float own(float x) {
  return x * x;
}
__global__ void lines(float* a) {
  a[threadIdx.x] = std::max(own(a[1]), a[2]) +
                   sinf(a[3]);
}
