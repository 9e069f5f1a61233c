// Sizes from the command line, with and without defaults.
#include <cstdlib>

__global__ void add(float* a, const float* b, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += factor * b[i];
}

// Not a number of blocks: what a missing argument gives.
int option(int argc, char** argv, int at) {
  if (at >= argc) return -9999;
  return atoi(argv[at]);
}

int main(int argc, char** argv) {
  int n = 1024;
  if (argc > 1) n = atoi(argv[1]);
  int threads = argc > 2 ? atoi(argv[2]) : 256;
  float *a, *b;
  cudaMalloc((void**)&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<(n + threads - 1) / threads, threads>>>(a, b, n, 0.5f);
  add<<<atoi(argv[3]), 64>>>(a, b, n, 2.0f);
  add<<<option(argc, argv, 4), 32>>>(a, b, n, 1.0f);
}
