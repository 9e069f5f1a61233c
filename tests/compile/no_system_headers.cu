// Compiled with -nostdinc: our own C headers are enough for a simple source.
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda.h>
#include <stdbool.h>
__global__ void kernel(float* a, int32_t n) {
  assert(n < INT_MAX);
  a[0] = std::sin(a[1]) + sinf(a[2]) + static_cast<float>(M_PI) + FLT_MAX;
  if (n == 3) printf("%d\n", n);
}
int main() {
  float* a = static_cast<float*>(malloc(sizeof(float)));
  kernel<<<1, 1>>>(a, static_cast<int32_t>(time(nullptr)));
  std::printf("%f %f\n", sin(2.0), sqrtf(3.0f));
  free(a);
}
