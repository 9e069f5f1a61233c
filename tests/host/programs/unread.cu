// What cannot be read is listed, and never guessed.
#include "no_such_header.h"

__global__ void work(float* a, int n) { a[threadIdx.x] = n; }

typedef void (*Kernel)(float*, int);
Kernel choose();

void elsewhere(float* a) { work<<<1, 1>>>(a, 1); }

int main() {
  float* a;
  checkErrors(cudaMalloc(&a, 1024 * sizeof(float)));
  int n = from_somewhere(3);
  work<<<n, 256>>>(a, n);
  work<<<NOT_DEFINED, 256>>>(a, 5);
  Kernel kernel = choose();
  kernel<<<8, 8>>>(a, 8);
  dim3 grid = make_grid(n);
  work<<<grid, 32>>>(a, 9);
}
